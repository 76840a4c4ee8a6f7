//! Tables as lines of values, in the order of a file: what every format of whole tables is written from.
//!
//! A typed table is written from a view of it, which is transposed for a file that has columns contiguous; a table of
//! any other kind from [`AnyLines`], row by row. Writing is in [`crate::files::output`].

use std::ops::Range;

use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::Origin;
use crate::files::output::Lines;
use crate::table::{NumericTable, Region, TableView};
use crate::window::{AnySlice, AnySliceMut};

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

/// A table of any kind, row by row, in the shape that it had when it was asked. It is asked once: the answers of somebody's
/// own kind of table may differ.
pub(crate) struct AnyLines<'a> {
    table: &'a dyn NumericTable,
    shape: Shape,
}

impl<'a> AnyLines<'a> {
    /// # Errors
    /// Those of a table that cannot be read: nothing is allocated, or a writable block is out.
    pub(crate) fn new(table: &'a dyn NumericTable) -> Result<Self> {
        let shape = table.shape();
        table.borrow_region(&Region { rows: 0..shape.rows, columns: 0..shape.columns })?;
        Ok(Self { table, shape })
    }
}

impl<T: Element> Lines<T> for AnyLines<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn as_slice(&self) -> Option<&[T]> {
        None
    }

    fn read(&self, range: Range<usize>, target: &mut [T]) -> Result<()> {
        read_regions(self.shape.columns, range, target, |region, target| {
            self.table.read_region_over(region, AnySliceMut::new(target), ConversionPolicy::Saturate)
        })
    }

    fn check_unchanged(&self) -> Result<()> {
        match (self.table.shape(), self.table.element_type()) {
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
