//! Rows of tables and of table files that are read a block at a time, in any layout, into memory of any type.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::TableReader;
use crate::array::AnyArray;
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::storage::stored::Stored;
use crate::table::csr::cells::StoredCells;
use crate::table::missing::has_missing;
use crate::table::{DataLayout, MemoryStatus, NumericTable, Region, Shape, Target, Token, array_of};
use crate::window::{AnySliceMut, AnyWindow};

/// A source of rows: a table of any kind, or a table file.
pub trait HasRows {
    /// Borrows the rows. Fails only when they are read.
    fn row_source(&self) -> Box<dyn RowSource + '_>;
}

impl<N: NumericTable + ?Sized> HasRows for N {
    fn row_source(&self) -> Box<dyn RowSource + '_> {
        Box::new(TableSource(self))
    }
}

impl HasRows for TableReader {
    fn row_source(&self) -> Box<dyn RowSource + '_> {
        Box::new(FileSource { reader: self, stored: Mutex::new(Stored::new(self.element_type())) })
    }
}

/// Ranges of columns that are stored in one type each, in order.
pub type ColumnTypes = Vec<(Range<usize>, ElementType)>;

/// Rows that are read a block at a time.
pub trait RowSource {
    /// Returns whether there are values to read.
    fn is_allocated(&self) -> bool;

    /// Returns the number of rows and columns.
    fn shape(&self) -> Shape;

    /// Returns the element type of all columns, if they have one.
    fn uniform_type(&self) -> Option<ElementType>;

    /// Returns the layout in which rows are read fastest.
    fn data_layout(&self) -> DataLayout;

    /// Returns memory of these rows, one after another, in this type, if there is such memory to share.
    ///
    /// # Errors
    /// Those of the table; [`ErrorKind::LengthMismatch`] if it lends other memory.
    fn shared(&self, rows: &Range<usize>, element: ElementType) -> Result<Option<AnyArray>>;

    /// Returns the stored cells of these rows, if all others are zero, and the source has them as they are stored.
    fn stored_cells(&self, rows: &Range<usize>) -> Option<StoredCells<'_>> {
        let _ = rows;
        None
    }

    /// Returns the columns of these rows as ranges of columns that are stored in one type each, if there are several
    /// types and the source stores them.
    ///
    /// # Errors
    /// Those of the table.
    fn column_types(&self, rows: &Range<usize>) -> Result<Option<ColumnTypes>> {
        let _ = rows;
        Ok(None)
    }

    /// Reads some rows of one column of those that [`column_types`](Self::column_types) returns. Returns whether it did:
    /// a source without such columns does not.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    fn read_column(
        &self,
        rows: &Range<usize>,
        column: usize,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
    ) -> Result<bool> {
        let _ = (rows, column, target, policy);
        Ok(false)
    }

    /// Reads rows, one after another, into memory whose old values are not needed. Errors name the place in the source.
    ///
    /// # Errors
    /// Those of reading the table or the file; [`ErrorKind::ValueNotRepresentable`].
    fn read(&self, rows: &Range<usize>, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()>;

    /// Reads rows in a layout. Errors may name another place.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    fn read_in(
        &self,
        rows: &Range<usize>,
        layout: DataLayout,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
    ) -> Result<()>;
}

/// Reads rows, and turns them into columns.
fn read_columns(
    source: &dyn RowSource,
    rows: &Range<usize>,
    target: AnySliceMut<'_>,
    policy: ConversionPolicy,
) -> Result<()> {
    let mut plain = AnyArray::zeros(target.element_type(), target.len())?;
    source.read(rows, plain.need_mutable_data()?, policy)?;
    let window = AnyWindow::of_rows(plain.as_slice(), rows.len(), source.shape().columns);
    kernel::read_over(window.transposed(), target, ConversionPolicy::Saturate, Origin::default())
}

/// The rows of a table.
struct TableSource<'t, N: ?Sized>(&'t N);

impl<N: NumericTable + ?Sized> TableSource<'_, N> {
    fn region(&self, rows: &Range<usize>) -> Region {
        Region { rows: rows.clone(), columns: 0..self.shape().columns }
    }
}

impl<N: NumericTable + ?Sized> RowSource for TableSource<'_, N> {
    fn is_allocated(&self) -> bool {
        self.0.data_memory_status() != MemoryStatus::NotAllocated
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }

    /// Integers with missing values are not read in their own type, which has no NaN.
    fn uniform_type(&self) -> Option<ElementType> {
        let element = self.0.uniform_type();
        element.filter(|element| element.is_float() || !has_missing(self.0).unwrap_or(true))
    }

    fn data_layout(&self) -> DataLayout {
        self.0.data_layout()
    }

    fn shared(&self, rows: &Range<usize>, element: ElementType) -> Result<Option<AnyArray>> {
        let region = self.region(rows);
        let Some((array, range)) = array_of(self.0, &region, element)? else { return Ok(None) };
        let (expected, found) = (region.shape().element_count()?, range.len());
        if expected != found {
            return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
        }
        array.slice(range).map(Some)
    }

    fn read(&self, rows: &Range<usize>, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
        let region = self.region(rows);
        self.0.read_region(&region, Target::new(target, region.shape(), policy)?.allow_partial_write())
    }

    fn stored_cells(&self, rows: &Range<usize>) -> Option<StoredCells<'_>> {
        self.0.stored_cells(rows, Token::new())
    }

    fn column_types(&self, rows: &Range<usize>) -> Result<Option<ColumnTypes>> {
        if self.0.uniform_type().is_some() || rows.is_empty() {
            return Ok(None);
        }
        let (columns, mut first) = (self.shape().columns, 0);
        let mut found = ColumnTypes::new();
        while first < columns {
            let Some(piece) = self.0.piece(rows.start, first)? else { return Ok(None) }; // they are computed
            let Region { rows: piece_rows, columns: piece_columns } = piece.region();
            if !piece_columns.contains(&first) || piece_rows.start > rows.start || piece_rows.end < rows.end {
                return Ok(None); // the types of other rows may be others
            }
            let (next, element) = (piece_columns.end.min(columns), piece.element_type());
            match found.last_mut() {
                Some((last, stored)) if *stored == element => last.end = next,
                _ => found.push((first..next, element)),
            }
            first = next;
        }
        Ok(Some(found))
    }

    fn read_column(
        &self,
        rows: &Range<usize>,
        column: usize,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
    ) -> Result<bool> {
        let region = Region { rows: rows.clone(), columns: column..column.saturating_add(1) };
        let target = Target::new(target, region.shape(), policy)?.allow_partial_write();
        self.0.read_region(&region, target).map(|()| true)
    }

    fn read_in(
        &self,
        rows: &Range<usize>,
        layout: DataLayout,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
    ) -> Result<()> {
        if layout == DataLayout::RowMajor {
            return self.read(rows, target, policy);
        }
        match self.0.piece(rows.start, 0)?.and_then(|piece| piece.window_of(&self.region(rows))) {
            Some(window) => kernel::read_over(window.transposed(), target, policy, Origin::default()),
            None => read_columns(self, rows, target, policy),
        }
    }
}

/// The rows of a table file.
struct FileSource<'t> {
    reader: &'t TableReader,
    stored: Mutex<Stored>,
}

impl RowSource for FileSource<'_> {
    fn is_allocated(&self) -> bool {
        true
    }

    fn shape(&self) -> Shape {
        self.reader.shape()
    }

    fn uniform_type(&self) -> Option<ElementType> {
        Some(self.reader.element_type())
    }

    fn data_layout(&self) -> DataLayout {
        self.reader.data_layout()
    }

    fn shared(&self, _rows: &Range<usize>, _element: ElementType) -> Result<Option<AnyArray>> {
        Ok(None)
    }

    fn read(&self, rows: &Range<usize>, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
        let (element, stored) =
            (target.element_type(), &mut *self.stored.lock().unwrap_or_else(PoisonError::into_inner));
        if element == self.reader.element_type() || policy == ConversionPolicy::Saturate {
            return self.reader.read_into(rows.clone(), target, stored, None);
        }
        let mut plain = AnyArray::zeros(self.reader.element_type(), target.len())?;
        self.reader.read_into(rows.clone(), plain.need_mutable_data()?, stored, None)?;
        let window = AnyWindow::of_rows(plain.as_slice(), rows.len(), self.shape().columns);
        kernel::read_over(window, target, policy, Origin { row: rows.start, ..Origin::default() })
    }

    fn read_in(
        &self,
        rows: &Range<usize>,
        layout: DataLayout,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
    ) -> Result<()> {
        match layout {
            DataLayout::RowMajor => self.read(rows, target, policy),
            DataLayout::ColumnMajor => read_columns(self, rows, target, policy),
        }
    }
}
