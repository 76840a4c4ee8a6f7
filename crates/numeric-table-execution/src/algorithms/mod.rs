//! Algorithms on arrays: reductions, scans, selections, sorting, histograms.
//!
//! This file has the trait that every device implements. `launched` implements it for devices that run closures, with
//! `sorting` and `reduced`; `closures` has the algorithms that take closures.

mod closures;
mod launched;
mod reduced;
mod sorting;

use numeric_table::convert::ConversionPolicy;
use numeric_table::{Element, Error, ErrorKind};

pub use closures::ClosureAlgorithms;
#[cfg(feature = "cuda")]
pub(crate) use reduced::{Accumulate, BLOCK, RANGE};
pub(crate) use reduced::{Greatest, Least, Total, WideTotal, WrappingTotal, with_accumulator};

use super::kernels::check_length;
use super::memory::ExecutionMemory;
use super::{ArrayHandle, Container, DeviceAdapter, HandleError, Kernels, View};

/// The operations of [`Algorithms::reduce`] and of scans.
///
/// # Examples
/// ```
/// use numeric_table_execution::{Algorithms, HostParallel, Reduction};
/// let values = [3_i8, -1, 100, 100];
/// assert_eq!(HostParallel.reduce(&values[..], Reduction::Sum)?, -54); // 202 - 256
/// assert_eq!(HostParallel.reduce(&values[..], Reduction::Min)?, -1);
/// assert_eq!(HostParallel.reduce(&[f32::NAN][..], Reduction::Max)?, f32::NEG_INFINITY);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// The sum, beginning with 0. Sums of integers wrap around: they are modulo 2^bits of the type. Sums of `f16`,
    /// `bf16` and `f32` are computed as `f32`, and those of `f64` as `f64`, in the fixed order that [`Algorithms`]
    /// describes; each result is rounded to the type once. A result that is NaN is the constant `NAN` of the type.
    Sum,
    /// The smallest value. NaNs are ignored, and -0 is smaller than 0. Of nothing: infinity, or the largest integer of
    /// the type. Source: `minimumNumber` of IEEE 754-2019.
    Min,
    /// The largest value. NaNs are ignored, and 0 is larger than -0. Of nothing: negative infinity, or the smallest
    /// integer of the type. Source: `maximumNumber` of IEEE 754-2019.
    Max,
}

/// Algorithms on arrays, on every device: [`Kernels`] requires them. Results are the same on every device, bit for bit,
/// and for any number of threads. Only results cross to the program: a number, or nothing.
///
/// **The order of sums.** 16 values that follow one another are a run, 16 runs a group, 16 groups a block of 4096
/// values, and 256 blocks a range. Runs add their values in order, beginning with 0; then groups add the sums of their
/// runs, blocks those of their groups, ranges those of their blocks, and in the end ranges are added. A total of a scan
/// is the sum of the ranges before, plus (that of the blocks before in its range, plus (that of the groups, plus (that
/// of the runs, plus that of the values))). The last inclusive total therefore equals the reduction.
///
/// [`ClosureAlgorithms`] has reductions, scans and selections with operations that are closures.
///
/// Source: Dax and its successors, `DeviceAdapterAlgorithm`: `Reduce`, `ScanInclusive`, `ScanExclusive`, `CopyIf` with
/// a stencil, `Unique`, `SortByKey`.
///
/// # Errors
/// Those of [`ArrayHandle::prepare_for_output`]; [`HandleError::DeviceAlloc`] if the device does not have the temporary
/// memory, which is allocated before an output is prepared; [`HandleError::WrongDevice`] for inputs of another device,
/// and for outputs, which keep their values; what the device reports. An error of a kernel leaves arbitrary values in the
/// output.
///
/// # Examples
/// ```
/// use numeric_table_execution::{Algorithms, ArrayHandle, EmulatedDevice, HandleError, HostParallel, Kernels};
/// use numeric_table_execution::Reduction;
///
/// /// The largest half of the values, in ascending order, and their sum.
/// fn largest<D: Kernels>(device: &D, values: Vec<f32>) -> Result<(Vec<f32>, f32), HandleError> {
///     let half = values.len() / 2;
///     let values = ArrayHandle::from_container(device, values);
///     let mut order = ArrayHandle::<u64, _>::empty(device);
///     device.sort_indices(values.prepare_for_input()?, &mut order)?;
///     let mut sorted = ArrayHandle::<f32, _>::empty(device);
///     let room = sorted.prepare_for_output(values.len())?;
///     device.gather(values.prepare_for_input()?, order.prepare_for_input()?, room)?;
///     let largest = sorted.read_portal()?[half..].to_vec();
///     let there = ArrayHandle::from_container(device, &largest[..]);
///     let sum = device.reduce(there.prepare_for_input()?, Reduction::Sum)?;
///     Ok((largest, sum))
/// }
/// let values = vec![3.0, -1.0, 2.5, -5.0];
/// assert_eq!(largest(&HostParallel, values.clone())?, (vec![2.5, 3.0], 5.5));
/// assert_eq!(largest(&EmulatedDevice::new(), values)?, (vec![2.5, 3.0], 5.5)); // or `Cuda::new(0)?`
/// # Ok::<(), HandleError>(())
/// ```
pub trait Algorithms: DeviceAdapter {
    /// Combines all values.
    ///
    /// Cost: one pass. Temporary memory: 8 bytes at most for 4096 values.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// See [`Reduction`].
    fn reduce<T: Element>(&self, input: View<'_, T, Self>, operation: Reduction) -> Result<T, HandleError>;

    /// Writes the combination of each value with all values before it: of a sum, the running total.
    ///
    /// Cost: two passes over the input, one over the output. Temporary memory: 24 bytes at most for 4096 values.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel, Reduction};
    /// let values = ArrayHandle::from_container(&HostParallel, vec![3_i32, 1, 2]);
    /// let mut totals = ArrayHandle::<i32, _>::empty(&HostParallel);
    /// HostParallel.scan_inclusive(values.prepare_for_input()?, Reduction::Sum, &mut totals)?;
    /// assert_eq!(totals.read_portal()?, [3, 4, 6]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn scan_inclusive<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        operation: Reduction,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<(), HandleError>;

    /// Writes the combination of all values before each value: of a sum of counts, where each begins. The first result
    /// is the combination of nothing.
    ///
    /// Cost: that of [`scan_inclusive`](Self::scan_inclusive).
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel, Reduction};
    /// let counts = ArrayHandle::from_container(&HostParallel, vec![3_u32, 1, 2]);
    /// let mut offsets = ArrayHandle::<u32, _>::empty(&HostParallel);
    /// HostParallel.scan_exclusive(counts.prepare_for_input()?, Reduction::Sum, &mut offsets)?;
    /// assert_eq!(offsets.read_portal()?, [0, 3, 4]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn scan_exclusive<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        operation: Reduction,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<(), HandleError>;

    /// Writes the values whose flag is not 0, in their order. Returns their number.
    ///
    /// Cost: two passes over the flags, one over the values.
    ///
    /// # Errors
    /// Those of the trait; [`HandleError::LengthMismatch`] unless there is one flag for each value.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel};
    /// let values = ArrayHandle::from_container(&HostParallel, vec![2.5_f32, 3.5, 4.5]);
    /// let mut kept = ArrayHandle::<f32, _>::empty(&HostParallel);
    /// assert_eq!(HostParallel.copy_flagged(values.prepare_for_input()?, &[1, 0, 1][..], &mut kept)?, 2);
    /// assert_eq!(kept.read_portal()?, [2.5, 4.5]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn copy_flagged<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        flags: View<'_, u8, Self>,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<usize, HandleError>;

    /// Writes the values that differ from the value before them: of sorted values, each different value once. NaNs
    /// count as equal, and 0 and -0 as well. Returns their number.
    ///
    /// Cost: two passes over the values.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel};
    /// let values = ArrayHandle::from_container(&HostParallel, vec![1_u8, 1, 2, 2, 2, 1]);
    /// let mut different = ArrayHandle::<u8, _>::empty(&HostParallel);
    /// assert_eq!(HostParallel.unique(values.prepare_for_input()?, &mut different)?, 3);
    /// assert_eq!(different.read_portal()?, [1, 2, 1]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn unique<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<usize, HandleError>;

    /// Writes the indices that sort keys: in ascending order, NaNs last, equal keys in their order; 0 and -0 are equal.
    /// [`Kernels::gather`] then sorts any arrays by these keys.
    ///
    /// Cost: on devices that run closures, O(n log n), with 16 bytes of temporary memory for each key. On a CUDA
    /// device, a radix sort: one pass for each byte of the key type, with 16 bytes for each key, or 24 for keys of 8
    /// bytes and 4 for keys of one byte, and at most 8 MiB for counts.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel};
    /// let keys = ArrayHandle::from_container(&HostParallel, vec![2.5_f32, f32::NAN, -1.0]);
    /// let mut order = ArrayHandle::<u64, _>::empty(&HostParallel);
    /// HostParallel.sort_indices(keys.prepare_for_input()?, &mut order)?;
    /// assert_eq!(order.read_portal()?, [2, 0, 1]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn sort_indices<K: Element, C: Container<u64>>(
        &self,
        keys: View<'_, K, Self>,
        output: &mut ArrayHandle<u64, Self, C>,
    ) -> Result<(), HandleError>;

    /// Sorts values by their keys, and the keys: as [`sort_indices`](Self::sort_indices) does.
    ///
    /// Both results are computed before one of them replaces anything, in temporary memory of their size and 8 bytes
    /// for each key beside that of [`sort_indices`](Self::sort_indices), and the call waits for them. Memory of another
    /// library is written in place; other device memory is replaced.
    ///
    /// # Errors
    /// Those of the trait; [`HandleError::LengthMismatch`]; [`HandleError::ReadOnly`]. Keys and values are unchanged
    /// after any error. The exception is memory of other libraries: if the device fails while sorted values are copied
    /// to it, its content is arbitrary.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, EmulatedDevice};
    /// let device = EmulatedDevice::new();
    /// let mut keys = ArrayHandle::from_container(&device, vec![3_u8, 1, 2]);
    /// let mut values = ArrayHandle::from_container(&device, vec![0.3_f64, 0.1, 0.2]);
    /// device.sort_by_key(&mut keys, &mut values)?;
    /// assert_eq!((keys.read_portal()?, values.read_portal()?), (&[1, 2, 3][..], &[0.1, 0.2, 0.3][..]));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn sort_by_key<K: Element, V: Element, A: Container<K>, B: Container<V>>(
        &self,
        keys: &mut ArrayHandle<K, Self, A>,
        values: &mut ArrayHandle<V, Self, B>,
    ) -> Result<(), HandleError>
    where
        Self: Kernels,
    {
        let count = keys.len();
        if values.len() != count {
            return Err(HandleError::LengthMismatch { have: values.len(), want: count });
        }
        keys.check_writable()?;
        values.check_writable()?;
        let mut order = ArrayHandle::<u64, Self>::empty(self);
        self.sort_indices(keys.prepare_for_input()?, &mut order)?;
        let sorted_keys = arranged(self, keys, &order)?;
        let sorted_values = arranged(self, values, &order)?;
        drop(order);
        self.synchronize()?; // a kernel that failed is reported before its results are used

        // Asked once: another thread may drop the clone that shares the values at any time.
        let (keeps_keys, keeps_values) = (keys.keeps_memory(), values.keeps_memory());
        // Everything that can fail comes before anything is written: this may copy shared values.
        if keeps_keys {
            keys.prepare_in_place()?;
        }
        if keeps_values {
            values.prepare_in_place()?;
        }
        if keeps_keys {
            self.convert(sorted_keys.prepare_for_input()?, keys.prepare_in_place()?, ConversionPolicy::Saturate)?;
        }
        if keeps_values {
            self.convert(sorted_values.prepare_for_input()?, values.prepare_in_place()?, ConversionPolicy::Saturate)?;
        }
        if !keeps_keys {
            keys.replace_memory(sorted_keys);
        }
        if !keeps_values {
            values.replace_memory(sorted_values);
        }
        Ok(())
    }

    /// Counts the values between edges, which ascend: bin `i` has those from `edges[i]` on and below `edges[i + 1]`,
    /// and the last bin also those that are the last edge. Other values and NaNs are not counted. Values are compared as
    /// `f64`.
    ///
    /// Cost: one pass, O(log n) for each value and n edges. Temporary memory: on devices that run closures, 8 bytes for
    /// each value or each bin, whichever are more, and at most 512 for each bin; on a CUDA device, 8 for each edge.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::ParameterOutOfRange`] in [`HandleError::Library`] for fewer than two edges, and
    /// for the first edge that is NaN or not above the one before it.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel};
    /// let values = ArrayHandle::from_container(&HostParallel, vec![0.5_f32, 1.0, 2.0, 7.0, f32::NAN]);
    /// let mut counts = ArrayHandle::<u64, _>::empty(&HostParallel);
    /// HostParallel.histogram(values.prepare_for_input()?, &[0.0, 1.0, 2.0], &mut counts)?;
    /// assert_eq!(counts.read_portal()?, [1, 2]);
    /// let error = HostParallel.histogram(values.prepare_for_input()?, &[0.0, 2.0, 1.5], &mut counts).unwrap_err();
    /// assert_eq!(error.to_string(), "edge 2 is 1.5: it must be above edge 1, 2");
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn histogram<T: Element, C: Container<u64>>(
        &self,
        input: View<'_, T, Self>,
        edges: &[f64],
        output: &mut ArrayHandle<u64, Self, C>,
    ) -> Result<(), HandleError>;
}

/// Returns the values of a handle in an order, in memory of the same kind.
fn arranged<D: Kernels, T: Element, C: Container<T>>(
    device: &D,
    values: &ArrayHandle<T, D, C>,
    order: &ArrayHandle<u64, D>,
) -> Result<ArrayHandle<T, D>, HandleError> {
    let mut arranged = ArrayHandle::<T, D>::empty_with_kind(device, values.memory_kind())?;
    let room = arranged.prepare_for_output(values.len())?;
    device.gather(values.prepare_for_input()?, order.prepare_for_input()?, room)?;
    Ok(arranged)
}

/// Checks the edges of a histogram, and returns the number of bins.
pub(crate) fn bins_between(edges: &[f64]) -> Result<usize, HandleError> {
    let wrong = |name: String, value, allowed: String| {
        Err(Error::new(ErrorKind::ParameterOutOfRange { name: name.into(), value, allowed: allowed.into() }).into())
    };
    if edges.len() < 2 {
        return wrong("the number of edges".into(), edges.len() as f64, "at least 2 are needed".into());
    }
    if edges[0].is_nan() {
        return wrong("edge 0".into(), edges[0], "it must be a number".into());
    }
    match edges.windows(2).position(|pair| pair[0].partial_cmp(&pair[1]) != Some(std::cmp::Ordering::Less)) {
        None => Ok(edges.len() - 1),
        Some(before) => {
            let allowed = format!("it must be above edge {before}, {}", edges[before]);
            wrong(format!("edge {}", before + 1), edges[before + 1], allowed)
        }
    }
}

/// Checks that there is one flag for each value.
pub(crate) fn check_flags<T: Element, D: DeviceAdapter>(
    input: &View<'_, T, D>,
    flags: &View<'_, u8, D>,
) -> Result<(), HandleError> {
    check_length::<u8, D>(flags, <D::Memory as ExecutionMemory>::count(input))
}
