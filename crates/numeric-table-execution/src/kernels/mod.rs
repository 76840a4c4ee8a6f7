//! Kernels that every device has.
//!
//! This file has the trait and what checks arguments; `launched` has the kernels of devices that run closures, with
//! `sparse` and `columns` for two of them, and `standardize` the rule for standardized values, which the other devices
//! follow.

mod columns;
mod launched;
mod sparse;
mod standardize;

#[cfg(feature = "cuda")]
pub(super) use columns::check_into_columns;
pub use sparse::SparseRows;
#[cfg(feature = "cuda")]
pub(super) use sparse::wrong_row;
pub(super) use sparse::{Numbers, narrowest};

use std::ops::Range;

use numeric_table::convert::ConversionPolicy;
use numeric_table::table::spi::Region;
use numeric_table::{DataLayout, Element, Error, ErrorKind, Shape, statistics::BasicStatistics};

pub(super) use self::standardize::{check_deviations, check_standardize, check_standardized, mean_and_deviation};
use super::memory::ExecutionMemory;
use super::{Algorithms, DeviceAdapter, DeviceError, HandleError, View, ViewMut};

/// The kernels that tables need on a device. Results are the same on every device, bit for bit. The exception is the
/// sums of [`moments`](Self::moments), whose last digits may differ: each device adds in another order.
///
/// Tables are views of `rows * columns` values in a layout. A device that runs Rust closures has these kernels through
/// [`Launch`](super::Launch); any other device implements them, and [`Algorithms`].
///
/// # Errors
/// [`HandleError::LengthMismatch`] if the lengths of views do not match, before anything is written;
/// [`HandleError::WrongDevice`] if a view belongs to another device; what the device reports. After any other error,
/// the output is arbitrary.
///
/// # Examples
/// ```
/// use numeric_table::Shape;
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError, Kernels};
/// let device = EmulatedDevice::new();
/// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]); // 2 x 3, row by row
/// let mut columns = ArrayHandle::<i16, _>::empty(&device);
/// device.transpose(table.prepare_for_input()?, Shape { rows: 2, columns: 3 }, columns.prepare_for_output(6)?)?;
/// assert_eq!(columns.read_portal()?, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), HandleError>(())
/// ```
pub trait Kernels: DeviceAdapter + Algorithms {
    /// Sets all values of the output to one value.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f32, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(2)?, 7.0)?;
    /// assert_eq!(handle.read_portal()?, [7.0, 7.0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn fill<T: Element>(&self, output: ViewMut<'_, T, Self>, value: T) -> Result<(), HandleError>;

    /// Converts values from any element type to any other, as [`convert_slice`](numeric_table::convert::convert_slice)
    /// does.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::ValueNotRepresentable`] in [`HandleError::Library`], with the index of the
    /// first refused value as its row.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let input = ArrayHandle::from_container(&device, vec![1.9_f32, -7.0, 1e9]);
    /// let mut bytes = ArrayHandle::<u8, _>::empty(&device);
    /// device.convert(input.prepare_for_input()?, bytes.prepare_for_output(3)?, Default::default())?;
    /// assert_eq!(bytes.read_portal()?, [1, 0, 255]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn convert<S: Element, T: Element>(
        &self,
        input: View<'_, S, Self>,
        output: ViewMut<'_, T, Self>,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError>;

    /// Converts a region of a table into a table of its shape, in a layout, of any element type: rows and columns are
    /// cut, turned and converted in one pass.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::RowsOutOfRange`], [`ErrorKind::OutOfRange`], [`ErrorKind::ColumnOutOfRange`] in
    /// [`HandleError::Library`]; [`ErrorKind::ValueNotRepresentable`] in it, with the first refused value in row-major
    /// order, at its position in the table.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::spi::Region};
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]); // 2 x 3, row by row
    /// let mut part = ArrayHandle::<f32, _>::empty(&device);
    /// let from = (table.prepare_for_input()?, Shape { rows: 2, columns: 3 }, DataLayout::RowMajor);
    /// let to = (part.prepare_for_output(4)?, DataLayout::ColumnMajor);
    /// device.convert_region(from, &Region { rows: 0..2, columns: 1..3 }, to, ConversionPolicy::Saturate)?;
    /// assert_eq!(part.read_portal()?, [2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn convert_region<S: Element, T: Element>(
        &self,
        from: (View<'_, S, Self>, Shape, DataLayout),
        region: &Region,
        to: (ViewMut<'_, T, Self>, DataLayout),
        policy: ConversionPolicy,
    ) -> Result<(), HandleError>;

    /// Converts a table into some columns of a larger table with the same rows, from column `first_column` on. Other
    /// columns keep their values.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::OutOfRange`] in [`HandleError::Library`] if the larger table has fewer columns;
    /// [`ErrorKind::ValueNotRepresentable`] in it, with the first refused value of the columns in row-major order, at
    /// its position in the larger table.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let column = ArrayHandle::from_container(&device, vec![7_i16, 8]);
    /// let mut table = ArrayHandle::from_container(&device, vec![1.5_f32, 2.5, 3.5, 4.5, 5.5, 6.5]); // 2 x 3
    /// let from = (column.prepare_for_input()?, Shape { rows: 2, columns: 1 }, DataLayout::RowMajor);
    /// let to = (table.prepare_in_place()?, Shape { rows: 2, columns: 3 }, DataLayout::RowMajor);
    /// device.convert_into_columns(from, to, 1, ConversionPolicy::Saturate)?;
    /// assert_eq!(table.read_portal()?, [1.5, 7.0, 3.5, 4.5, 8.0, 6.5]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn convert_into_columns<S: Element, T: Element>(
        &self,
        from: (View<'_, S, Self>, Shape, DataLayout),
        to: (ViewMut<'_, T, Self>, Shape, DataLayout),
        first_column: usize,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError>;

    /// Writes sparse rows as a dense table in a layout: their values, and zeros everywhere else.
    ///
    /// Cost: O(rows * columns) for the zeros, and a write for each value. Values to be converted as well are converted
    /// first, with [`convert`](Self::convert): zeros are those of every type.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::SparseStructure`] in [`HandleError::Library`] with the first row whose offsets
    /// or indices are not as [`SparseRows`] requires.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels, SparseRows};
    /// let device = EmulatedDevice::new();
    /// let offsets = ArrayHandle::from_container(&device, vec![0_u32, 2, 2, 3]);
    /// let indices = ArrayHandle::from_container(&device, vec![0_u16, 3, 1]);
    /// let values = ArrayHandle::from_container(&device, vec![1.5_f32, 2.5, 3.5]);
    /// let (offsets, indices) = (offsets.prepare_for_input()?, indices.prepare_for_input()?);
    /// let rows = SparseRows::<f32, EmulatedDevice>::new::<u32, u16>(offsets, indices, values.prepare_for_input()?)?;
    /// let mut dense = ArrayHandle::<f32, _>::empty(&device);
    /// let to = (dense.prepare_for_output(12)?, Shape { rows: 3, columns: 4 }, DataLayout::RowMajor);
    /// device.sparse_to_dense(rows, to)?;
    /// assert_eq!(dense.read_portal()?, [1.5, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0, 3.5, 0.0, 0.0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn sparse_to_dense<T: Element>(
        &self,
        from: SparseRows<'_, T, Self>,
        to: (ViewMut<'_, T, Self>, Shape, DataLayout),
    ) -> Result<(), HandleError>;

    /// Converts a row-major table to column-major order. (A column-major table is the row-major table of the swapped
    /// shape.)
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// See the trait.
    fn transpose<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        output: ViewMut<'_, T, Self>,
    ) -> Result<(), HandleError> {
        let (from, to) = ((input, shape, DataLayout::RowMajor), (output, DataLayout::ColumnMajor));
        self.convert_region(from, &Region::whole(shape), to, ConversionPolicy::Saturate)
    }

    /// Copies columns of a table into a table of those columns, in the same layout. A column may be selected more than
    /// once.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::ColumnOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]);
    /// let mut chosen = ArrayHandle::<i16, _>::empty(&device);
    /// let (shape, output) = (Shape { rows: 2, columns: 3 }, chosen.prepare_for_output(4)?);
    /// device.gather_columns(table.prepare_for_input()?, shape, DataLayout::RowMajor, &[2, 0], output)?;
    /// assert_eq!(chosen.read_portal()?, [3, 1, 6, 4]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn gather_columns<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        layout: DataLayout,
        columns: &[usize],
        output: ViewMut<'_, T, Self>,
    ) -> Result<(), HandleError>;

    /// Copies rows of a table into a table of those rows, in the same layout.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::RowsOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]); // 3 x 2, column by column
    /// let mut chosen = ArrayHandle::<i16, _>::empty(&device);
    /// let (shape, output) = (Shape { rows: 3, columns: 2 }, chosen.prepare_for_output(4)?);
    /// device.gather_rows(table.prepare_for_input()?, shape, DataLayout::ColumnMajor, 1..3, output)?;
    /// assert_eq!(chosen.read_portal()?, [2, 3, 5, 6]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn gather_rows<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        layout: DataLayout,
        rows: Range<usize>,
        output: ViewMut<'_, T, Self>,
    ) -> Result<(), HandleError>;

    /// Writes `start`, `start + step`, `start + 2 * step` and so on, which wrap around.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut indices = ArrayHandle::<i64, _>::empty(&device);
    /// device.count_up(indices.prepare_for_output(3)?, 10, -2)?;
    /// assert_eq!(indices.read_portal()?, [10, 8, 6]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn count_up(&self, output: ViewMut<'_, i64, Self>, start: i64, step: i64) -> Result<(), HandleError>;

    /// Copies the values at some indices, in the order of the indices.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::OutOfRange`] in [`HandleError::Library`], with the first index that is too
    /// large.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let points = ArrayHandle::from_container(&device, vec![1.5_f32, 2.5, 3.5]);
    /// let cells = ArrayHandle::from_container(&device, vec![0_u64, 1, 1, 2]);
    /// let mut values = ArrayHandle::<f32, _>::empty(&device);
    /// device.gather(points.prepare_for_input()?, cells.prepare_for_input()?, values.prepare_for_output(4)?)?;
    /// assert_eq!(values.read_portal()?, [1.5, 2.5, 2.5, 3.5]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn gather<T: Element>(
        &self,
        input: View<'_, T, Self>,
        indices: View<'_, u64, Self>,
        output: ViewMut<'_, T, Self>,
    ) -> Result<(), HandleError>;

    /// Whether the device runs closures, as those that implement [`Launch`](super::Launch) do.
    #[doc(hidden)]
    const RUNS_CLOSURES: bool = false;

    /// Runs a closure on values of two arrays of one length, if the device runs closures.
    ///
    /// # Errors
    /// Those of the trait; [`DeviceError::Unavailable`].
    #[doc(hidden)]
    fn map<S: Element, T: Element>(
        &self,
        _input: View<'_, S, Self>,
        _output: ViewMut<'_, T, Self>,
        _change: &(dyn Fn(&[S], &mut [T]) + Sync),
    ) -> Result<(), HandleError> {
        Err(DeviceError::Unavailable { what: "a compiler of closures" }.into())
    }

    /// Computes the moments of each column of a table: for [`DeviceStatistics`](super::DeviceStatistics), which says
    /// what they are good for. Of each column, ten words are written to each output: the number of finite values, of
    /// NaN, of infinities, and of negative infinities; then, as bits of `f64`, the minimum and maximum of the finite
    /// values, their sum, and the sum of their squared deviations from their mean, each sum in two parts. In the second
    /// output, sums are those of the values times 2^-600; they count where those of the first one overflow, and
    /// otherwise are arbitrary.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let column = ArrayHandle::from_container(&device, vec![1.0_f32, f32::NAN, 5.0]);
    /// let mut plain = ArrayHandle::<u64, _>::empty(&device);
    /// let mut scaled = ArrayHandle::<u64, _>::empty(&device);
    /// let (shape, outputs) = (Shape { rows: 3, columns: 1 }, [plain.prepare_for_output(10)?, scaled.prepare_for_output(10)?]);
    /// device.moments(column.prepare_for_input()?, shape, DataLayout::RowMajor, outputs)?;
    /// let words = plain.read_portal()?;
    /// assert_eq!((words[0], words[1], f64::from_bits(words[6])), (2, 1, 6.0));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn moments<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        layout: DataLayout,
        outputs: [ViewMut<'_, u64, Self>; 2],
    ) -> Result<(), HandleError>;

    /// Computes the mean and the population standard deviation of each column, of the two outputs of
    /// [`moments`](Self::moments): two numbers for each column, one after the other. They are those of
    /// [`BasicStatistics`], bit for bit, of the same moments; an undefined one is the positive NaN without payload.
    /// Words that are not those of moments give arbitrary numbers.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// See [`standardize`](Self::standardize).
    fn means_and_deviations(
        &self,
        moments: [View<'_, u64, Self>; 2],
        output: ViewMut<'_, f64, Self>,
    ) -> Result<(), HandleError>;

    /// Standardizes the columns of a table in place: every value becomes `(value - mean) / deviation`, of the mean and
    /// the deviation of its column in `means_and_deviations`.
    /// [`DeviceTable::standardize`](super::DeviceTable::standardize) is this kernel after two others.
    ///
    /// Computed in `f64`, and rounded once to the element type. A deviation of 0 divides by 1. A difference that
    /// exceeds the range of `f64` is computed at half its size, so that the quotient is right. A NaN keeps its bits;
    /// every other value whose result is NaN becomes the positive NaN without payload.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::UnsupportedElementType`] in [`HandleError::Library`] unless `T` is a
    /// floating-point type, before anything is written.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut table = ArrayHandle::from_container(&device, vec![1.0_f32, 7.0, 3.0, 7.0]); // 2 x 2, row by row
    /// let [mut plain, mut scaled] = [(); 2].map(|()| ArrayHandle::<u64, _>::empty(&device));
    /// let mut found = ArrayHandle::<f64, _>::empty(&device);
    /// let (shape, layout) = (Shape { rows: 2, columns: 2 }, DataLayout::RowMajor);
    /// let outputs = [plain.prepare_for_output(20)?, scaled.prepare_for_output(20)?];
    /// device.moments(table.prepare_for_input()?, shape, layout, outputs)?;
    /// let moments = [plain.prepare_for_input()?, scaled.prepare_for_input()?];
    /// device.means_and_deviations(moments, found.prepare_for_output(4)?)?;
    /// device.standardize(table.prepare_in_place()?, shape, layout, found.prepare_for_input()?)?;
    /// assert_eq!(found.read_portal()?, [2.0, 1.0, 7.0, 0.0]);
    /// assert_eq!(table.read_portal()?, [-1.0, 0.0, 1.0, 0.0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn standardize<T: Element>(
        &self,
        values: ViewMut<'_, T, Self>,
        shape: Shape,
        layout: DataLayout,
        means_and_deviations: View<'_, f64, Self>,
    ) -> Result<(), HandleError>;
}

/// Returns the error of an index that is too large.
pub(super) fn no_element(index: u64, count: usize) -> Error {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    Error::new(ErrorKind::OutOfRange { what: "elements", range: index..index.saturating_add(1), count })
}

/// Checks the arguments of [`Kernels::moments`].
pub(super) fn check_moments<T: Element, D: DeviceAdapter>(
    input: &View<'_, T, D>,
    shape: Shape,
    outputs: &[ViewMut<'_, u64, D>; 2],
) -> Result<(), HandleError> {
    check_table::<T, D>(input, shape)?;
    let words = shape.columns.checked_mul(BasicStatistics::WORDS).ok_or(HandleError::LengthOverflow)?;
    outputs.iter().try_for_each(|output| check_count::<u64, D>(output, words))
}

/// Returns the number of values of a table, and checks that a view has that number.
pub(super) fn check_table<T: Element, D: DeviceAdapter>(
    view: &View<'_, T, D>,
    shape: Shape,
) -> Result<usize, HandleError> {
    let want = shape.element_count()?;
    check_length::<T, D>(view, want).map(|()| want)
}

/// Checks that a view for reading has a number of values.
pub(super) fn check_length<T: Element, D: DeviceAdapter>(
    view: &View<'_, T, D>,
    want: usize,
) -> Result<(), HandleError> {
    let have = <D::Memory as ExecutionMemory>::count(view);
    if have == want { Ok(()) } else { Err(HandleError::LengthMismatch { have, want }) }
}

pub(super) fn check_count<T: Element, D: DeviceAdapter>(
    view: &ViewMut<'_, T, D>,
    want: usize,
) -> Result<(), HandleError> {
    let have = <D::Memory as ExecutionMemory>::count_mut(view);
    if have == want { Ok(()) } else { Err(HandleError::LengthMismatch { have, want }) }
}

/// Checks the arguments of [`Kernels::gather_columns`].
pub(super) fn check_columns<T: Element, D: DeviceAdapter>(
    input: &View<'_, T, D>,
    shape: Shape,
    columns: &[usize],
    output: &ViewMut<'_, T, D>,
) -> Result<(), HandleError> {
    check_table::<T, D>(input, shape)?;
    if let Some(&column) = columns.iter().find(|&&column| column >= shape.columns) {
        return Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count: shape.columns }).into());
    }
    check_count::<T, D>(output, Shape { columns: columns.len(), ..shape }.element_count()?)
}

/// Checks the arguments of [`Kernels::convert_region`].
pub(super) fn check_region<S: Element, T: Element, D: DeviceAdapter>(
    input: &View<'_, S, D>,
    shape: Shape,
    region: &Region,
    output: &ViewMut<'_, T, D>,
) -> Result<(), HandleError> {
    check_table::<S, D>(input, shape)?;
    region.check(shape)?;
    check_count::<T, D>(output, region.shape().element_count()?)
}

/// Checks the arguments of [`Kernels::gather_rows`].
pub(super) fn check_rows<T: Element, D: DeviceAdapter>(
    input: &View<'_, T, D>,
    shape: Shape,
    rows: &Range<usize>,
    output: &ViewMut<'_, T, D>,
) -> Result<(), HandleError> {
    check_table::<T, D>(input, shape)?;
    Region { rows: rows.clone(), columns: 0..shape.columns }.check(shape)?;
    check_count::<T, D>(output, rows.len() * shape.columns)
}
