//! Sequences: values on the control side that are not one slice, and how a device gets them.
//!
//! Source: Dax creates an `ArrayHandle` from begin and end iterators of "an array or array-like structure"; VTK-m and
//! Viskores call such structures fancy array handles. This file has the trait and sequences in memory; `computed` has
//! those that are computed, `arranged` those that arrange the values of others, `column` the columns of tables, `lazy`
//! the container of a handle of them, `pack` what copies them, and `scatter` targets that are not one slice.

mod arranged;
mod column;
mod computed;
mod lazy;
mod pack;
mod scatter;

use std::ops::Range;

use numeric_table::table::TableView;
use numeric_table::{Array, Element, Error, ErrorKind};

pub use arranged::{Chunked, Permuted, Zipped};
pub use column::{TableColumn, TableColumnMut};
pub(super) use computed::count_up;
pub use computed::{Cast, Constant, Counting, FromFn, Transformed};
pub use lazy::Lazy;
pub use pack::pack;
pub use scatter::SequenceMut;

use super::memory::ExecutionMemory;
use super::{DeviceArray, HandleError, Kernels};

/// Values that are read by their index, and need not be one slice: strided, in chunks, or computed.
///
/// [`ArrayHandle::from_sequence`](super::ArrayHandle::from_sequence) creates a handle from one. For a kernel, a device
/// with memory of its own gets the values in the cheapest way: those that it can compute do not cross, and only the
/// requested values of a strided or permuted sequence do. On a device that shares the program's memory, and for
/// [`read_portal`](super::ArrayHandle::read_portal), all threads write the values to one slice, the first time that
/// something asks for it.
///
/// | sequence | values | bytes that cross to a device, for `n` values |
/// | --- | --- | --- |
/// | `&[T]`, `Vec<T>`, [`Array<T>`](numeric_table::Array) | those | those of `n` values |
/// | [`TableView<T>`](numeric_table::table::TableView) | those of a window, row by row; a column of a row-major table is one | those of `n` values |
/// | [`TableColumn`] | a column of any kind of table, as values of any type | those of `n` values, in the narrower of both types |
/// | [`FromFn`] | a closure's, by index: for example a field of records | those of `n` values |
/// | [`Chunked`] | those of sequences end to end | those of `n` values |
/// | [`Constant`], [`Counting`] | one value; a start and a step | 0 |
/// | [`Cast`] | those of a sequence, converted | those of the sequence, or of `n` values if they are fewer |
/// | [`Transformed`] | a closure's, by value | the same, on devices that run closures |
/// | [`Permuted`] | those of a sequence at the indices of another one | those of both, or of `n` values if they are fewer or the sequence has many more than `n` |
/// | [`Zipped`] | those of sequences in turn | those of `n` values |
///
/// # Implementing it
/// [`count`](Self::count) and [`read`](Self::read) suffice. A sequence must always return the same values, and must
/// not call the handle that has it: the handle is locked while values are read.
///
/// # Examples
/// ```
/// use numeric_table::{DataLayout, Shape, table::TableView};
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice, HandleError, Kernels};
/// use numeric_table_execution::sequence::{Constant, Sequence};
///
/// fn sum<D: Kernels, S: Sequence<Value = f32>>(device: &D, values: S) -> Result<f64, HandleError> {
///     let values = ArrayHandle::from_sequence(device, values);
///     let mut copy = ArrayHandle::<f64, D>::empty(device);
///     device.convert(values.prepare_for_input()?, copy.prepare_for_output(values.len())?, Default::default())?;
///     Ok(copy.read_portal()?.iter().sum())
/// }
///
/// let device = EmulatedDevice::new();
/// let table = [1.0_f32, 20.0, 3.0, 40.0]; // 2 x 2, row by row
/// let table = TableView::new(&table, Shape { rows: 2, columns: 2 }, DataLayout::RowMajor)?;
/// assert_eq!(sum(&device, table.slice_columns(1..2)?)?, 60.0);
/// assert_eq!(device.stats().uploads.bytes, 8); // that column
/// assert_eq!(sum(&device, Constant::new(1.5, 1000))?, 1500.0);
/// assert_eq!(device.stats().uploads.bytes, 8);
/// # Ok::<(), HandleError>(())
/// ```
pub trait Sequence: Send + Sync {
    /// The type of the values.
    type Value: Element;

    /// Returns the number of values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::sequence::{Constant, Sequence};
    /// assert_eq!(Constant::new(1.5_f32, 7).count(), 7);
    /// ```
    fn count(&self) -> usize;

    /// Writes the values from index `first` on to `target`. Several threads call it at the same time.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] in [`HandleError::Library`]; those of the sequence. The target is arbitrary then.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::sequence::{Counting, Sequence};
    /// let mut values = [0; 2];
    /// Counting::new(10, 5, 7)?.read(2, &mut values)?;
    /// assert_eq!(values, [20, 25]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn read(&self, first: usize, target: &mut [Self::Value]) -> Result<(), HandleError>;

    /// Borrows values that lie in memory one after another, beginning with index `first`: as many as there are, or
    /// none. By default, none.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::sequence::{Chunked, Sequence};
    /// let chunks = Chunked::new(vec![&[1, 2][..], &[3, 4, 5]])?;
    /// assert_eq!((chunks.run(1), chunks.run(2)), (&[2][..], &[3, 4, 5][..]));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn run(&self, _first: usize) -> &[Self::Value] {
        &[]
    }

    /// Returns the number of bytes that [`prepare`](Self::prepare) copies to a device of this type.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::sequence::{Cast, Sequence};
    /// use numeric_table_execution::{EmulatedDevice, HostSerial};
    /// let wide = Cast::<_, f64>::new(&[1_i8, 2, 3][..]);
    /// assert_eq!((wide.bytes_to_copy::<EmulatedDevice>(3), wide.bytes_to_copy::<HostSerial>(3)), (3, 0));
    /// ```
    fn bytes_to_copy<D: Kernels>(&self, count: usize) -> usize
    where
        Self: Sized,
    {
        packed_bytes::<Self::Value, D>(count)
    }

    /// Returns an array of the first `count` values on a device. By default, [`pack`]s them. A handle refuses an array
    /// of another length or device.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] in [`HandleError::Library`]; those of [`read`](Self::read); those of
    /// [`DeviceArray::allocate`]; what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::sequence::{Cast, Sequence};
    /// use numeric_table_execution::{DeviceAdapter, EmulatedDevice};
    /// let device = EmulatedDevice::new();
    /// let wide = Cast::<_, f64>::new(&[1_i8, 2, 3][..]).prepare(&device, 2)?;
    /// assert_eq!((&wide.to_array()?[..], device.stats().uploads.bytes), (&[1.0, 2.0][..], 2));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn prepare<D: Kernels>(&self, device: &D, count: usize) -> Result<DeviceArray<Self::Value, D>, HandleError>
    where
        Self: Sized,
    {
        pack(self, device, count)
    }
}

/// Returns the number of bytes of values that are copied to a device.
fn packed_bytes<T: Element, D: Kernels>(count: usize) -> usize {
    if <D::Memory as ExecutionMemory>::IS_SHARED { 0 } else { count.saturating_mul(size_of::<T>()) }
}

/// Returns the error of a range that is not inside of a sequence.
fn outside(range: Range<usize>, count: usize) -> HandleError {
    Error::new(ErrorKind::OutOfRange { what: "elements", range, count }).into()
}

/// Returns the range of a number of values from an index on, which are inside of a sequence.
///
/// # Errors
/// [`ErrorKind::OutOfRange`].
fn range_of(first: usize, length: usize, count: usize) -> Result<Range<usize>, HandleError> {
    let range = first..first.saturating_add(length);
    if length <= count && first <= count - length { Ok(range) } else { Err(outside(range, count)) }
}

/// Implements the trait for memory of values one after another.
macro_rules! slices {
    ($($owner:ty),*) => {$(
        impl<T: Element> Sequence for $owner {
            type Value = T;

            fn count(&self) -> usize {
                self.len()
            }

            fn read(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
                target.copy_from_slice(&self[range_of(first, target.len(), self.len())?]);
                Ok(())
            }

            fn run(&self, first: usize) -> &[T] {
                self.get(first..).unwrap_or(&[])
            }
        }
    )*};
}

slices!(&[T], Vec<T>, Array<T>);

/// The values of a window, row by row. A column of a row-major table is a strided sequence.
impl<T: Element> Sequence for TableView<'_, T> {
    type Value = T;

    fn count(&self) -> usize {
        self.shape().element_count().unwrap_or(usize::MAX) // a view that exists has a number of values
    }

    fn read(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
        range_of(first, target.len(), Sequence::count(self))?;
        let columns = self.shape().columns.max(1);
        let (mut row, mut column, mut rest) = (first / columns, first % columns, target);
        if let ([target], Some(value)) = (&mut *rest, self.value(row, column)) {
            *target = value;
            return Ok(());
        }
        while !rest.is_empty() {
            // Some rows, or a part of one.
            let (rows, width) = match rest.len() / columns {
                rows if column == 0 && rows > 0 => (rows, columns),
                _ => (1, rest.len().min(columns - column)),
            };
            let (part, others) = rest.split_at_mut(rows * width);
            let window = self.slice_rows(row..row + rows)?.slice_columns(column..column + width)?;
            window.convert_into(part, Default::default())?;
            (row, column) = if column + width == columns { (row + rows, 0) } else { (row, column + width) };
            rest = others;
        }
        Ok(())
    }

    fn run(&self, first: usize) -> &[T] {
        if let Some(values) = self.as_slice() {
            return values.get(first..).unwrap_or(&[]);
        }
        let columns = self.shape().columns.max(1);
        self.row(first / columns).and_then(|row| row.get(first % columns..)).unwrap_or(&[])
    }
}

/// The methods that forward to another sequence.
macro_rules! forward {
    ($value:ty) => {
        type Value = $value;

        fn count(&self) -> usize {
            (**self).count()
        }

        fn read(&self, first: usize, target: &mut [$value]) -> Result<(), HandleError> {
            (**self).read(first, target)
        }

        fn run(&self, first: usize) -> &[$value] {
            (**self).run(first)
        }
    };
}

impl<S: Sequence> Sequence for &S {
    forward!(S::Value);

    fn bytes_to_copy<D: Kernels>(&self, count: usize) -> usize {
        (**self).bytes_to_copy::<D>(count)
    }

    fn prepare<D: Kernels>(&self, device: &D, count: usize) -> Result<DeviceArray<S::Value, D>, HandleError> {
        (**self).prepare(device, count)
    }
}

/// A sequence whose type is not known: its values are packed.
impl<T: Element> Sequence for &(dyn Sequence<Value = T> + '_) {
    forward!(T);
}

/// A sequence whose type is not known: its values are packed.
impl<T: Element> Sequence for Box<dyn Sequence<Value = T> + '_> {
    forward!(T);
}
