//! Sequences that are computed: their values are not in memory.

use std::fmt;
use std::marker::PhantomData;

use numeric_table::Element;
use numeric_table::convert::{ConversionPolicy, convert_slice};

use super::pack::visit;
use super::{Sequence, pack, packed_bytes, range_of};
use crate::device_table::in_rows_from;
use crate::{DeviceArray, HandleError, Kernels};

/// One value, a number of times. A device writes it: nothing crosses.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice};
/// use numeric_table_execution::sequence::Constant;
/// let device = EmulatedDevice::new();
/// let weights = ArrayHandle::from_sequence(&device, Constant::new(0.5_f64, 1000));
/// weights.prepare_for_input()?;
/// assert_eq!((device.stats().uploads.bytes, weights.get_values(&[999])?), (0, vec![0.5]));
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Constant<T> {
    value: T,
    count: usize,
}

impl<T: Element> Constant<T> {
    /// Creates a sequence of `count` values. The number is checked when memory is needed.
    ///
    /// # Examples
    /// See the type.
    pub fn new(value: T, count: usize) -> Self {
        Self { value, count }
    }
}

impl<T: Element> Sequence for Constant<T> {
    type Value = T;

    fn count(&self) -> usize {
        self.count
    }

    fn read(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
        range_of(first, target.len(), self.count)?;
        target.fill(self.value);
        Ok(())
    }

    fn bytes_to_copy<D: Kernels>(&self, _count: usize) -> usize {
        0
    }

    fn prepare<D: Kernels>(&self, device: &D, count: usize) -> Result<DeviceArray<T, D>, HandleError> {
        range_of(0, count, self.count)?;
        DeviceArray::full(device, count, self.value)
    }
}

/// A start, and numbers at a distance from each other: indices, or, with [`Cast`], coordinates. A device computes them:
/// nothing crosses.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice};
/// use numeric_table_execution::sequence::{Cast, Counting};
/// let device = EmulatedDevice::new();
/// let down = ArrayHandle::from_sequence(&device, Counting::new(10, -3, 4)?);
/// assert_eq!(down.read_portal()?, [10, 7, 4, 1]);
/// let indices = ArrayHandle::from_sequence(&device, Cast::<_, f32>::new(Counting::indices(1000)));
/// indices.prepare_for_input()?;
/// assert_eq!((device.stats().uploads.bytes, indices.get_values(&[999])?), (0, vec![999.0]));
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// Invariant: no value overflows, except indices from 2^63 on, for which there is not enough memory.
    start: i64,
    step: i64,
    count: usize,
}

impl Counting {
    /// Creates the sequence `start`, `start + step`, `start + 2 * step` and so on, of `count` values.
    ///
    /// # Errors
    /// [`HandleError::LengthOverflow`] if the last value is not an `i64`.
    ///
    /// # Examples
    /// See the type.
    pub fn new(start: i64, step: i64, count: usize) -> Result<Self, HandleError> {
        let last = i128::from(start) + i128::from(step) * (count.saturating_sub(1) as i128);
        i64::try_from(last).map_err(|_| HandleError::LengthOverflow)?;
        Ok(Self { start, step, count })
    }

    /// Creates the sequence of the indices of `count` values: from 0 on.
    ///
    /// # Examples
    /// See the type.
    pub fn indices(count: usize) -> Self {
        Self { start: 0, step: 1, count }
    }
}

impl Sequence for Counting {
    type Value = i64;

    fn count(&self) -> usize {
        self.count
    }

    fn read(&self, first: usize, target: &mut [i64]) -> Result<(), HandleError> {
        range_of(first, target.len(), self.count)?;
        count_up(target, first, self.start, self.step);
        Ok(())
    }

    fn bytes_to_copy<D: Kernels>(&self, _count: usize) -> usize {
        0
    }

    fn prepare<D: Kernels>(&self, device: &D, count: usize) -> Result<DeviceArray<i64, D>, HandleError> {
        range_of(0, count, self.count)?;
        let mut values = DeviceArray::allocate(device, count)?;
        device.count_up(values.view_mut()?, self.start, self.step)?;
        Ok(values)
    }
}

/// Writes the values of a counting sequence from index `first` on.
pub(crate) fn count_up(target: &mut [i64], first: usize, start: i64, step: i64) {
    let start = start.wrapping_add(step.wrapping_mul(first as i64));
    target.iter_mut().zip(0_i64..).for_each(|(value, index)| *value = start.wrapping_add(step.wrapping_mul(index)));
}

/// The values that a closure returns for their indices: for example a field of records. They are packed.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice};
/// use numeric_table_execution::sequence::FromFn;
/// struct Particle { mass: f32, name: &'static str }
/// let particles = [Particle { mass: 1.5, name: "a" }, Particle { mass: 2.5, name: "b" }];
/// let device = EmulatedDevice::new();
/// let masses = ArrayHandle::from_sequence(&device, FromFn::new(particles.len(), |i| particles[i].mass));
/// masses.prepare_for_input()?;
/// assert_eq!((device.stats().uploads.bytes, masses.read_portal()?), (8, &[1.5, 2.5][..]));
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy)]
pub struct FromFn<F> {
    count: usize,
    value: F,
}

impl<F> FromFn<F> {
    /// Creates a sequence of the values of a closure for the indices from 0 to `count`.
    ///
    /// # Examples
    /// See the type.
    pub fn new<T: Element>(count: usize, value: F) -> Self
    where
        F: Fn(usize) -> T + Send + Sync,
    {
        Self { count, value }
    }
}

impl<T: Element, F: Fn(usize) -> T + Send + Sync> Sequence for FromFn<F> {
    type Value = T;

    fn count(&self) -> usize {
        self.count
    }

    fn read(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
        let indices = range_of(first, target.len(), self.count)?;
        target.iter_mut().zip(indices).for_each(|(value, index)| *value = (self.value)(index));
        Ok(())
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").field("count", &self.count).finish_non_exhaustive()
    }
}

/// The values of a sequence, converted to another element type on the side where fewer bytes cross.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice};
/// use numeric_table_execution::sequence::Cast;
/// let device = EmulatedDevice::new();
/// let wide = ArrayHandle::from_sequence(&device, Cast::<_, f64>::new(&[1_i16, 2, 3][..]));
/// wide.prepare_for_input()?;
/// let narrow = ArrayHandle::from_sequence(&device, Cast::<_, u8>::new(&[1.9_f64, -1.0, 300.0][..]));
/// narrow.prepare_for_input()?;
/// assert_eq!(device.stats().uploads.bytes, 6 + 3);
/// assert_eq!((wide.read_portal()?, narrow.read_portal()?), (&[1.0, 2.0, 3.0][..], &[1, 0, 255][..]));
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Cast<S, T> {
    values: S,
    policy: ConversionPolicy,
    target: PhantomData<fn() -> T>,
}

impl<S: Sequence, T: Element> Cast<S, T> {
    /// Creates a sequence of values under [`ConversionPolicy::Saturate`].
    ///
    /// # Examples
    /// See the type.
    pub fn new(values: S) -> Self {
        Self::with_policy(values, ConversionPolicy::Saturate)
    }

    /// Creates a sequence of values under a policy.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::ConversionPolicy;
    /// use numeric_table_execution::{ArrayHandle, HostSerial};
    /// use numeric_table_execution::sequence::Cast;
    /// let bytes = Cast::<_, u8>::with_policy(&[1.0_f32, 300.0][..], ConversionPolicy::Checked);
    /// let error = ArrayHandle::from_sequence(&HostSerial, bytes).prepare_for_input().unwrap_err();
    /// assert!(error.to_string().starts_with("the value 300 at row 1, column 0 is not representable as u8"));
    /// ```
    pub fn with_policy(values: S, policy: ConversionPolicy) -> Self {
        Self { values, policy, target: PhantomData }
    }

    fn is_converted_there<D: Kernels>(&self, count: usize) -> bool {
        self.values.bytes_to_copy::<D>(count) < packed_bytes::<T, D>(count)
    }
}

impl<S: Sequence, T: Element> Sequence for Cast<S, T> {
    type Value = T;

    fn count(&self) -> usize {
        self.values.count()
    }

    fn read(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
        visit(&self.values, first, target.len(), |offset, values| {
            convert_slice(values, &mut target[offset..offset + values.len()], self.policy)
                .map_err(|error| in_rows_from(first + offset, error))
        })
    }

    fn bytes_to_copy<D: Kernels>(&self, count: usize) -> usize {
        self.values.bytes_to_copy::<D>(count).min(packed_bytes::<T, D>(count))
    }

    fn prepare<D: Kernels>(&self, device: &D, count: usize) -> Result<DeviceArray<T, D>, HandleError> {
        if !self.is_converted_there::<D>(count) {
            return pack(self, device, count);
        }
        let values = self.values.prepare(device, count)?;
        let mut converted = DeviceArray::allocate(device, count)?;
        device.convert(values.view()?, converted.view_mut()?, self.policy)?;
        Ok(converted)
    }
}

/// The values that a closure returns for those of a sequence. Devices that run closures compute them from the values of
/// the sequence, if fewer bytes cross; otherwise they are packed.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice};
/// use numeric_table_execution::sequence::{Counting, Transformed};
/// let device = EmulatedDevice::new();
/// let squares = Transformed::new(Counting::indices(1000), |index| (index * index) as f32);
/// let squares = ArrayHandle::from_sequence(&device, squares);
/// squares.prepare_for_input()?;
/// assert_eq!((device.stats().uploads.bytes, squares.get_values(&[7])?), (0, vec![49.0]));
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Transformed<S, F> {
    values: S,
    change: F,
}

impl<S: Sequence, F> Transformed<S, F> {
    /// Creates a sequence from another one and a closure, which must always return the same for the same value.
    ///
    /// # Examples
    /// See the type.
    pub fn new<T: Element>(values: S, change: F) -> Self
    where
        F: Fn(S::Value) -> T + Send + Sync,
    {
        Self { values, change }
    }
}

impl<S: Sequence, T: Element, F: Fn(S::Value) -> T + Send + Sync> Sequence for Transformed<S, F> {
    type Value = T;

    fn count(&self) -> usize {
        self.values.count()
    }

    fn read(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
        visit(&self.values, first, target.len(), |offset, values| {
            let target = target[offset..].iter_mut();
            target.zip(values).for_each(|(target, &value)| *target = (self.change)(value));
            Ok(())
        })
    }

    fn bytes_to_copy<D: Kernels>(&self, count: usize) -> usize {
        let packed = packed_bytes::<T, D>(count);
        if D::RUNS_CLOSURES { self.values.bytes_to_copy::<D>(count).min(packed) } else { packed }
    }

    fn prepare<D: Kernels>(&self, device: &D, count: usize) -> Result<DeviceArray<T, D>, HandleError> {
        if !D::RUNS_CLOSURES || self.values.bytes_to_copy::<D>(count) >= packed_bytes::<T, D>(count) {
            return pack(self, device, count);
        }
        let values = self.values.prepare(device, count)?;
        let mut changed = DeviceArray::allocate(device, count)?;
        device.map(values.view()?, changed.view_mut()?, &|values: &[S::Value], changed: &mut [T]| {
            values.iter().zip(changed).for_each(|(&value, changed)| *changed = (self.change)(value));
        })?;
        Ok(changed)
    }
}

impl<S: fmt::Debug, F> fmt::Debug for Transformed<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transformed").field("values", &self.values).finish_non_exhaustive()
    }
}
