//! The target of reading a region.

use super::{Region, Shape, TableView};
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, OldValues, Origin};
use crate::window::{AnyRows, AnySlice, AnySliceMut, AnyWindow, Geometry, Window};

/// The number of values to compute at a time.
const COMPUTED: usize = 1024;

/// The destination of [`NumericTable::read_region`](super::NumericTable::read_region): memory, its element type, and
/// the conversion policy.
///
/// Tables with values in memory do not need to use it. A table that computes its values writes them with
/// [`fill_with`](Self::fill_with).
///
/// # Examples
/// ```
/// use numeric_table::{array::AnySliceMut, prelude::*, table::spi::{Region, Target}};
/// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
/// let mut values = [0.0_f32; 2];
/// let target = Target::new(AnySliceMut::new(&mut values), Shape { rows: 2, columns: 1 }, ConversionPolicy::Exact)?;
/// table.read_region(&Region { rows: 0..2, columns: 1..2 }, target)?;
/// assert_eq!(values, [2.0, 4.0]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct Target<'t> {
    pub(super) values: AnyRows<'t>,
    pub(super) policy: ConversionPolicy,
    pub(super) old: OldValues,
}

impl<'t> Target<'t> {
    /// Creates a target that writes to `values`, row by row of a shape. The old values are kept until all new values
    /// have passed the policy's check.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`], [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySliceMut, prelude::*, table::spi::Target};
    /// let (mut values, shape) = ([0_u8; 5], Shape { rows: 3, columns: 2 });
    /// assert!(Target::new(AnySliceMut::new(&mut values), shape, ConversionPolicy::Saturate).is_err());
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new(values: AnySliceMut<'t>, shape: Shape, policy: ConversionPolicy) -> Result<Self> {
        let (expected, found) = (shape.element_count()?, values.len());
        if expected != found {
            return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
        }
        let values = AnyRows::new(values.into_room(), shape.rows, shape.columns);
        Ok(Self { values, policy, old: OldValues::Kept })
    }

    /// Returns the target without preserving the old values. After an error the memory may hold any values; in return,
    /// a checking policy takes one pass and not two.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySliceMut, prelude::*, table::spi::Target};
    /// let mut values = [0_u8; 6];
    /// let target = Target::new(AnySliceMut::new(&mut values), Shape { rows: 3, columns: 2 }, ConversionPolicy::Exact)?;
    /// assert_eq!(target.allow_partial_write().shape(), Shape { rows: 3, columns: 2 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub fn allow_partial_write(self) -> Self {
        Self { old: OldValues::Lost, ..self }
    }

    /// Returns the number of rows and columns to write.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySliceMut, prelude::*, table::spi::Target};
    /// let (mut values, shape) = ([0_u8; 6], Shape { rows: 3, columns: 2 });
    /// assert_eq!(Target::new(AnySliceMut::new(&mut values), shape, ConversionPolicy::Exact)?.shape(), shape);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn shape(&self) -> Shape {
        Shape { rows: self.values.rows(), columns: self.values.columns() }
    }

    /// Returns the element type to convert to.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySliceMut, prelude::*, table::spi::Target};
    /// let mut values = [0_u8; 2];
    /// let target = Target::new(AnySliceMut::new(&mut values), Shape { rows: 2, columns: 1 }, ConversionPolicy::Exact)?;
    /// assert_eq!(target.element_type(), ElementType::U8);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn element_type(&self) -> ElementType {
        self.values.element_type()
    }

    /// Returns whether values may be written before all of them are known to pass the policy.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn can_be_lost(&self) -> bool {
        self.old == OldValues::Lost || self.policy == ConversionPolicy::Saturate
    }

    /// Returns whether the values are few enough for one thread, and may be written before all of them are known to pass
    /// the policy: they are then read in one pass, and again from the beginning only if one is refused.
    pub(super) fn is_one_pass(&self) -> bool {
        parallel::task_count(self.values.size_in_bytes().saturating_mul(2)) == 1 && self.can_be_lost()
    }

    /// Checks that the region lies inside a table and has the shape of this target.
    ///
    /// # Errors
    /// Those of [`Region::check`]; [`ErrorKind::ShapeMismatch`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn check(&self, region: &Region, table: Shape) -> Result<()> {
        region.check(table)?;
        let (expected, found) = (region.shape(), self.shape());
        if expected == found { Ok(()) } else { Err(Error::new(ErrorKind::ShapeMismatch { expected, actual: found })) }
    }

    /// Converts the values of a view, which contains the values of the region.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`]; [`ErrorKind::ValueNotRepresentable`] with the position in the table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySliceMut, prelude::*, table::spi::{Region, Target}};
    /// let (mut values, shape) = ([0_u8; 2], Shape { rows: 2, columns: 1 });
    /// let target = Target::new(AnySliceMut::new(&mut values), shape, ConversionPolicy::Checked)?;
    /// let view = TableView::new(&[7.0_f32, 8.0], shape, DataLayout::RowMajor)?;
    /// target.read(&Region { rows: 10..12, columns: 3..4 }, view)?;
    /// assert_eq!(values, [7, 8]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn read<T: Element>(self, region: &Region, values: TableView<'_, T>) -> Result<()> {
        let (expected, found) = (self.shape(), values.shape());
        if expected != found {
            return Err(Error::new(ErrorKind::ShapeMismatch { expected, actual: found }));
        }
        kernel::read_rows(AnyWindow::new(values.window()), self.values, self.policy, region.origin(), self.old)
    }

    /// Converts the values of a region, given as a contiguous row-major slice of memory of the given size in bytes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read_rows(self, region: &Region, values: AnySlice<'_>, memory: impl FnOnce() -> usize) -> Result<()> {
        let (expected, found) = (region.shape(), self.shape());
        if expected != found {
            return Err(Error::new(ErrorKind::ShapeMismatch { expected, actual: found }));
        }
        let window = AnyWindow::of_rows(values, expected.rows, expected.columns);
        kernel::read_rows_of(memory, window, self.values, self.policy, region.origin(), self.old)
    }

    /// Converts computed values. Calls `value` with each row and column of the region, in any order, in several threads
    /// for large regions. Calls it twice for each value if values are checked before they are written.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`]; [`ErrorKind::ValueNotRepresentable`] for the first refused value in row-major
    /// order.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySliceMut, prelude::*, table::spi::{Region, Target}};
    /// let (mut values, shape) = ([0_u8; 4], Shape { rows: 2, columns: 2 });
    /// let target = Target::new(AnySliceMut::new(&mut values), shape, ConversionPolicy::Checked)?;
    /// target.fill_with(&Region { rows: 5..7, columns: 0..2 }, |row, column| (10 * row + column) as f64)?;
    /// assert_eq!(values, [50, 51, 60, 61]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn fill_with<S: Element>(self, region: &Region, value: impl Fn(usize, usize) -> S + Sync) -> Result<()> {
        let (expected, found) = (region.shape(), self.shape());
        if expected != found {
            return Err(Error::new(ErrorKind::ShapeMismatch { expected, actual: found }));
        }
        if found.is_empty() {
            return Ok(()); // rows without columns may be too numerous to iterate
        }
        let (target_type, policy) = (self.element_type(), self.policy);
        let tasks = parallel::task_count(self.values.size_in_bytes().saturating_mul(2));
        let mut policy = policy;
        if self.old == OldValues::Kept && policy != ConversionPolicy::Saturate {
            let check = |window: AnyWindow<'_>, _: AnyRows<'_>, at| kernel::check(window, target_type, policy, at);
            let nothing = || AnyRows::new(AnySliceMut::new::<u8>(&mut []).into_room(), 0, 0);
            let bands = parallel::cut(region.clone(), found.rows, tasks, |region, rows| {
                region.split_at_row(region.rows.start + rows)
            });
            let outcomes = parallel::map(bands, |band| compute(&band, &value, nothing(), &check));
            outcomes.into_iter().fold(Ok(()), Result::and)?;
            policy = ConversionPolicy::Saturate; // all have passed, unless `value` now returns other values
        }
        let put =
            |window: AnyWindow<'_>, rows: AnyRows<'_>, at| kernel::read_rows(window, rows, policy, at, OldValues::Lost);
        let bands = parallel::cut((region.clone(), self.values), found.rows, tasks, |(region, values), rows| {
            let (first, rest) = region.split_at_row(region.rows.start + rows);
            let (head, tail) = values.split_at(true, rows);
            ((first, head), (rest, tail))
        });
        let outcomes = parallel::map(bands, |(region, values)| compute(&region, &value, values, &put));
        outcomes.into_iter().fold(Ok(()), Result::and)
    }
}

/// Computes the values of a region in batches, and calls `put` with each batch and its rows of the target, if there are
/// any.
fn compute<S: Element>(
    region: &Region,
    value: &(impl Fn(usize, usize) -> S + Sync),
    mut target: AnyRows<'_>,
    put: &dyn Fn(AnyWindow<'_>, AnyRows<'_>, Origin) -> Result<()>,
) -> Result<()> {
    let Shape { rows, columns } = region.shape();
    let (width, height) = (columns.min(COMPUTED), (COMPUTED / columns.max(1)).max(1));
    let mut values = [S::default(); COMPUTED];
    for row in (0..rows).step_by(height) {
        for column in (0..columns).step_by(width.max(1)) {
            let (band, part) = (row..rows.min(row + height), column..columns.min(column + width));
            let mut places = band.clone().flat_map(|row| part.clone().map(move |column| (row, column)));
            for (slot, (row, column)) in values.iter_mut().zip(&mut places) {
                *slot = value(region.rows.start + row, region.columns.start + column);
            }
            let geometry = Geometry { rows: band.len(), columns: part.len(), row_stride: part.len(), column_stride: 1 };
            let Some(window) = Window::new(&values[..], geometry) else { continue }; // never: they fit
            let origin = Origin { row: region.rows.start + row, column: region.columns.start + column };
            let rows = if target.rows() == 0 { target.reborrow() } else { target.cut(band, part) };
            put(AnyWindow::new(window), rows, origin)?;
        }
    }
    Ok(())
}
