//! What can be streamed to a device: tables of any kind, and table files.

use std::ops::Range;
use std::sync::Mutex;

use crate::array::AnyArray;
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::execution::control::lock;
use crate::files::stored::Stored;
use crate::format::TableReader;
use crate::table::{DataLayout, NumericTable, Region, Shape, Target, array_of};
use crate::window::{AnySliceMut, AnyWindow};

/// Rows that are read a block at a time.
pub(super) trait RowSource {
    /// Returns the number of rows and columns.
    fn shape(&self) -> Shape;

    /// Returns the element type of all columns, if they have one.
    fn uniform_type(&self) -> Option<ElementType>;

    /// Returns the layout in which rows are read fastest.
    fn data_layout(&self) -> DataLayout;

    /// Returns memory of these rows, one after another, in this type, if there is such memory to share.
    fn shared(&self, rows: &Range<usize>, element: ElementType) -> Result<Option<AnyArray>>;

    /// Reads rows, one after another, into memory whose old values are not needed. Errors name the place in the source.
    fn read(&self, rows: &Range<usize>, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()>;

    /// Reads rows in a layout. Errors may name another place.
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
        if let Some(window) = self.window(rows)? {
            return kernel::read_over(window.transposed(), target, policy, Origin::default());
        }
        let mut plain = AnyArray::zeros(target.element_type(), target.len())?;
        self.read(rows, plain.need_mutable_data()?, policy)?;
        let window = AnyWindow::of_rows(plain.as_slice(), rows.len(), self.shape().columns);
        kernel::read_over(window.transposed(), target, ConversionPolicy::Saturate, Origin::default())
    }

    /// Returns the memory of these rows, if it is one window.
    fn window(&self, _rows: &Range<usize>) -> Result<Option<AnyWindow<'_>>> {
        Ok(None)
    }
}

/// The rows of a table.
pub(super) struct TableSource<'t, N: ?Sized>(pub(super) &'t N);

impl<N: NumericTable + ?Sized> TableSource<'_, N> {
    fn region(&self, rows: &Range<usize>) -> Region {
        Region { rows: rows.clone(), columns: 0..self.shape().columns }
    }
}

impl<N: NumericTable + ?Sized> RowSource for TableSource<'_, N> {
    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn uniform_type(&self) -> Option<ElementType> {
        self.0.uniform_type()
    }

    fn data_layout(&self) -> DataLayout {
        self.0.data_layout()
    }

    fn shared(&self, rows: &Range<usize>, element: ElementType) -> Result<Option<AnyArray>> {
        let region = self.region(rows);
        let Some((array, range)) = array_of(self.0, &region, element)? else { return Ok(None) };
        let (expected, found) = (region.shape().element_count()?, range.len());
        if expected != found {
            return Err(Error::new(ErrorKind::LengthMismatch { expected, found }));
        }
        array.slice(range).map(Some)
    }

    fn read(&self, rows: &Range<usize>, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
        let region = self.region(rows);
        self.0.read_region(&region, Target::new(target, region.shape(), policy)?.over())
    }

    fn window(&self, rows: &Range<usize>) -> Result<Option<AnyWindow<'_>>> {
        let piece = self.0.piece(rows.start, 0)?;
        Ok(piece.and_then(|piece| piece.window_of(&self.region(rows))))
    }
}

/// The rows of a table file, and memory for decoding them.
pub(super) struct FileSource<'t> {
    reader: &'t TableReader,
    stored: Mutex<Stored>,
}

impl<'t> FileSource<'t> {
    pub(super) fn new(reader: &'t TableReader) -> Self {
        Self { reader, stored: Mutex::new(Stored::new(reader.element_type())) }
    }
}

impl RowSource for FileSource<'_> {
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
        let (element, stored) = (target.element_type(), &mut *lock(&self.stored));
        if element == self.reader.element_type() || policy == ConversionPolicy::Saturate {
            return self.reader.read_into(rows.clone(), target, stored, None);
        }
        let mut plain = AnyArray::zeros(self.reader.element_type(), target.len())?;
        self.reader.read_into(rows.clone(), plain.need_mutable_data()?, stored, None)?;
        let window = AnyWindow::of_rows(plain.as_slice(), rows.len(), self.shape().columns);
        kernel::read_over(window, target, policy, Origin { row: rows.start, ..Origin::default() })
    }
}
