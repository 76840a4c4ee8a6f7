//! Tables as lines of values in the order of a file: the source for all formats that store whole tables.
//!
//! A table in one block of memory is written from that block, column by column if it is column-major. Any other table
//! is written row by row. Writing is in [`crate::storage::output`].

use std::ops::Range;

use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::storage::output::Lines;
use crate::table::content::{Column, Values};
use crate::table::{DataLayout, NumericTable, Region, Target};
use crate::window::{AnySlice, AnySliceMut, AnyWindow};

/// The rows of a window.
impl Lines for AnyWindow<'_> {
    fn shape(&self) -> Shape {
        Shape { rows: self.rows(), columns: self.columns() }
    }

    fn as_slice(&self, element: ElementType) -> Option<AnySlice<'_>> {
        self.as_slice().filter(|values| values.element_type() == element)
    }

    fn read(&self, range: Range<usize>, target: AnySliceMut<'_>) -> Result<()> {
        read_regions(self.columns(), range, target, &|region, target| {
            let part = self.cut(region.rows.clone(), region.columns.clone());
            kernel::read_over(part, target, ConversionPolicy::Saturate, Origin::default())
        })
    }
}

/// A table of any kind, with its shape at the time of creation. The shape is queried only once, because a user-defined
/// table may change its answer.
pub(crate) struct AnyLines<'a> {
    table: &'a (dyn NumericTable + 'a),
    /// The shape of the table.
    shape: Shape,
    /// The order of the lines: the rows or the columns of the table.
    layout: DataLayout,
    /// All values, one line per row of the window, if they are in one block of memory.
    window: Option<AnyWindow<'a>>,
    /// The policy for values of another type.
    policy: ConversionPolicy,
}

impl<'a> AnyLines<'a> {
    /// Creates lines from the rows of a table.
    ///
    /// # Errors
    /// The errors of an unreadable table: it is not allocated, or a writable block of it is outstanding.
    pub(crate) fn by_rows(table: &'a (dyn NumericTable + 'a)) -> Result<Self> {
        let shape = table.shape();
        let window = table.piece(0, 0)?.and_then(|piece| piece.window_of(&Region::whole(shape)));
        Ok(Self { table, shape, layout: DataLayout::RowMajor, window, policy: ConversionPolicy::Saturate })
    }

    /// Returns the lines with another policy for values of another type. Errors report positions in the table.
    pub(crate) fn with_policy(self, policy: ConversionPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Creates lines in the order of the table's memory: its columns if it is one column-major block of memory,
    /// otherwise its rows.
    ///
    /// # Errors
    /// The errors of [`by_rows`](Self::by_rows).
    pub(crate) fn in_order(table: &'a (dyn NumericTable + 'a)) -> Result<Self> {
        let lines = Self::by_rows(table)?;
        Ok(match (lines.window, table.data_layout()) {
            (Some(window), layout @ DataLayout::ColumnMajor) => {
                Self { layout, window: Some(window.transposed()), ..lines }
            }
            _ => lines,
        })
    }

    /// Returns the shape of the table, for lines of either order.
    pub(crate) fn table_shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn layout(&self) -> DataLayout {
        self.layout
    }

    /// Checks that the shape of the table has not changed since the lines were created.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`].
    pub(crate) fn check_shape(&self) -> Result<()> {
        let (expected, found) = (self.shape, self.table.shape());
        if expected == found { Ok(()) } else { Err(Error::new(ErrorKind::ShapeMismatch { expected, actual: found })) }
    }
}

impl Lines for AnyLines<'_> {
    fn shape(&self) -> Shape {
        let Shape { rows, columns } = self.shape;
        match self.layout {
            DataLayout::RowMajor => self.shape,
            DataLayout::ColumnMajor => Shape { rows: columns, columns: rows },
        }
    }

    fn as_slice(&self, element: ElementType) -> Option<AnySlice<'_>> {
        self.window?.as_slice().filter(|values| values.element_type() == element)
    }

    fn read(&self, range: Range<usize>, target: AnySliceMut<'_>) -> Result<()> {
        read_regions(Lines::shape(self).columns, range, target, &|region, target| match self.window {
            Some(window) => {
                let part = window.cut(region.rows.clone(), region.columns.clone());
                kernel::read_over(part, target, self.policy, region.origin())
            }
            None => {
                let target = Target::new(target, region.shape(), self.policy)?;
                self.table.read_region(region, target.allow_partial_write())
            }
        })
    }

    fn check_unchanged(&self, element: ElementType) -> Result<()> {
        self.check_shape()?;
        let found = self.table.one_type()?;
        if found == element { Ok(()) } else { Err(Error::element_type_mismatch(element, found)) }
    }
}

/// The values of a table that consists of several arrays, one line for each array.
impl Lines for Values<'_> {
    fn shape(&self) -> Shape {
        Shape { rows: self.len(), columns: 1 }
    }

    fn as_slice(&self, element: ElementType) -> Option<AnySlice<'_>> {
        match self {
            Self::Array(array) if array.element_type() == element => Some(array.as_slice()),
            Self::Array(_) | Self::Column(_) | Self::Nullable(_) => None,
        }
    }

    fn read(&self, rows: Range<usize>, target: AnySliceMut<'_>) -> Result<()> {
        match self {
            Self::Array(array) => {
                let window = AnyWindow::of_rows(array.as_slice(), array.len(), 1).cut(rows, 0..1);
                kernel::read_over(window, target, ConversionPolicy::Saturate, Origin::default())
            }
            Self::Nullable(column) => {
                let array = column.array_of(&rows)?;
                let window = AnyWindow::of_rows(array.as_slice(), array.len(), 1);
                kernel::read_over(window, target, ConversionPolicy::Saturate, Origin::default())
            }
            Self::Column(Column { table, column, .. }) => {
                let region = Region { rows, columns: *column..column + 1 };
                let target = Target::new(target, region.shape(), ConversionPolicy::Saturate)?;
                table.read_region(&region, target.allow_partial_write())
            }
        }
    }

    fn check_unchanged(&self, _: ElementType) -> Result<()> {
        match self {
            Self::Array(_) => Ok(()),
            Self::Column(column) | Self::Nullable(column) => column.check_unchanged(),
        }
    }
}

/// Reads consecutive values of a table of `columns` columns, region by region: the end of a row, complete rows, and the
/// start of a row.
fn read_regions(
    columns: usize,
    range: Range<usize>,
    target: AnySliceMut<'_>,
    read: &dyn Fn(&Region, AnySliceMut<'_>) -> Result<()>,
) -> Result<()> {
    let (mut at, mut rest) = (range.start, target);
    while at < range.end {
        let (row, column, left) = (at / columns, at % columns, range.end - at);
        let region = if column == 0 && left >= columns {
            Region { rows: row..row + left / columns, columns: 0..columns }
        } else {
            Region { rows: row..row + 1, columns: column..columns.min(column + left) }
        };
        let count = region.shape().element_count()?;
        let (now, later) = rest.split_at(count);
        read(&region, now)?;
        (rest, at) = (later, at + count);
    }
    Ok(())
}
