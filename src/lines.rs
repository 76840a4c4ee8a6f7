//! Tables as lines of values, in the order of a file: what every format of whole tables is written from.
//!
//! A table in one piece of memory is written from that, column by column if it is column-major; any other row by row. Writing
//! is in [`crate::files::output`].

use std::ops::Range;

use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::files::output::Lines;
use crate::table::{DataLayout, NumericTable, Region, TableView, Target};
use crate::window::{AnySlice, AnySliceMut, AnyWindow};

/// Values of another type are converted.
impl<T: Element, S: Element> Lines<T> for TableView<'_, S> {
    fn shape(&self) -> Shape {
        self.shape()
    }

    fn as_slice(&self) -> Option<&[T]> {
        AnySlice::new(self.as_slice()?).downcast()
    }

    fn read(&self, range: Range<usize>, target: &mut [T]) -> Result<()> {
        read_regions(self.shape().columns, range, target, |region, target| {
            self.region(region)?.read_over(AnySliceMut::new(target), ConversionPolicy::Saturate, Origin::default())
        })
    }
}

/// A table of any kind, in the shape that it had when it was asked. It is asked once: the answers of somebody's own kind of
/// table may differ.
pub(crate) struct AnyLines<'a> {
    table: &'a (dyn NumericTable + 'a),
    /// The shape of the table.
    shape: Shape,
    /// In which order of its values the lines run.
    layout: DataLayout,
    /// All values, a line in each row, if they are in one piece of memory.
    window: Option<AnyWindow<'a>>,
}

impl<'a> AnyLines<'a> {
    /// Sees a table row by row.
    ///
    /// # Errors
    /// Those of a table that cannot be read: nothing is allocated, or a writable block is out.
    pub(crate) fn by_rows(table: &'a (dyn NumericTable + 'a)) -> Result<Self> {
        let shape = table.shape();
        let window = table.piece(0, 0)?.and_then(|piece| piece.window_of(&Region::whole(shape)));
        Ok(Self { table, shape, layout: DataLayout::RowMajor, window })
    }

    /// Sees a table in the order of its memory: column by column, if it is in one piece of memory and column-major.
    ///
    /// # Errors
    /// As [`by_rows`](Self::by_rows).
    pub(crate) fn in_order(table: &'a (dyn NumericTable + 'a)) -> Result<Self> {
        let lines = Self::by_rows(table)?;
        Ok(match (lines.window, table.data_layout()) {
            (Some(window), layout @ DataLayout::ColumnMajor) => {
                Self { layout, window: Some(window.transposed()), ..lines }
            }
            _ => lines,
        })
    }

    /// The shape of the table: lines are rows or columns of it.
    #[cfg(feature = "npy")]
    pub(crate) fn table_shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn layout(&self) -> DataLayout {
        self.layout
    }
}

impl<T: Element> Lines<T> for AnyLines<'_> {
    fn shape(&self) -> Shape {
        let Shape { rows, columns } = self.shape;
        match self.layout {
            DataLayout::RowMajor => self.shape,
            DataLayout::ColumnMajor => Shape { rows: columns, columns: rows },
        }
    }

    fn as_slice(&self) -> Option<&[T]> {
        self.window?.as_slice()?.downcast()
    }

    fn read(&self, range: Range<usize>, target: &mut [T]) -> Result<()> {
        let columns = Lines::<T>::shape(self).columns;
        read_regions(columns, range, target, |region, target| match self.window {
            Some(window) => {
                let part = window.cut(region.rows.clone(), region.columns.clone());
                kernel::read_over(part, AnySliceMut::new(target), ConversionPolicy::Saturate, region.origin())
            }
            None => {
                let target = Target::new(AnySliceMut::new(target), region.shape(), ConversionPolicy::Saturate)?;
                self.table.read_region(region, target.over())
            }
        })
    }

    fn check_unchanged(&self) -> Result<()> {
        match (self.table.shape(), self.table.one_type()?) {
            (shape, _) if shape != self.shape => Err(Error::ShapeMismatch { expected: self.shape, found: shape }),
            (_, found) if found != T::TYPE => Err(Error::element_type_mismatch(T::TYPE, found)),
            _ => Ok(()),
        }
    }
}

/// Reads consecutive values of a table of so many columns, region by region: the end of a row, whole rows, and the start
/// of one.
fn read_regions<T>(
    columns: usize,
    range: Range<usize>,
    mut target: &mut [T],
    read: impl Fn(&Region, &mut [T]) -> Result<()>,
) -> Result<()> {
    let mut at = range.start;
    while at < range.end {
        let (row, column, left) = (at / columns, at % columns, range.end - at);
        let region = if column == 0 && left >= columns {
            Region { rows: row..row + left / columns, columns: 0..columns }
        } else {
            Region { rows: row..row + 1, columns: column..columns.min(column + left) }
        };
        let count = region.shape().element_count()?;
        let (now, later) = target.split_at_mut(count);
        read(&region, now)?;
        (target, at) = (later, at + count);
    }
    Ok(())
}
