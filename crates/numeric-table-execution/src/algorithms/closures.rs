//! Algorithms whose operations are closures, on devices that run closures.

use numeric_table::Element;

use super::reduced::BLOCK;
use crate::memory::ExecutionMemory;
use crate::{ArrayHandle, Container, HandleError, Launch, View};

/// Reductions, scans and selections with operations that are closures, on every device that runs closures. Results are
/// the same on every such device, bit for bit, and for any number of threads. Only results cross to the program: a
/// number, or nothing.
///
/// [`Algorithms`](crate::Algorithms) has sums, minima and maxima, and selections by flags, on every device.
///
/// **The order of combination.** Blocks of 4096 values are combined in order, and then their results, in order. Each
/// block begins with `initial`, and so does the whole: `initial` must not change what it is combined with. It is 0 for
/// a sum, 1 for a product, the largest value for a minimum. If it does change something, it does so once for each block
/// and once more.
///
/// Source: Dax and its successors, `DeviceAdapterAlgorithm`: `Reduce`, `ScanInclusive`, `ScanExclusive`, `CopyIf`.
///
/// # Errors
/// Those of [`ArrayHandle::prepare_for_output`] and [`Launch::launch`].
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, ClosureAlgorithms, DeviceAdapter, EmulatedDevice};
/// let device = EmulatedDevice::new();
/// let values = ArrayHandle::from_container(&device, vec![3.0_f32, -1.0, 2.0, -5.0]);
/// let mut positive = ArrayHandle::<f32, _>::empty(&device);
/// device.copy_if(values.prepare_for_input()?, |value| value > 0.0, &mut positive)?;
/// assert_eq!(device.reduce_with(positive.prepare_for_input()?, 1.0, |a, b| a * b)?, 6.0);
/// assert_eq!(positive.read_portal()?, [3.0, 2.0]);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
pub trait ClosureAlgorithms: Launch {
    /// Combines all values. Without values, the result is `initial`, which is 0 for a sum; the trait says what it must
    /// be.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// See the trait.
    fn reduce_with<T: Element>(
        &self,
        input: View<'_, T, Self>,
        initial: T,
        combine: impl Fn(T, T) -> T + Sync,
    ) -> Result<T, HandleError> {
        let count = <Self::Memory as ExecutionMemory>::count(&input);
        let blocks = reduce_blocks(self, input, count, initial, &combine)?;
        let mut result = ArrayHandle::<T, Self>::empty(self);
        self.launch([blocks.prepare_for_input()?], result.prepare_for_output(1)?, 1, |_, [blocks], result| {
            result.fill(blocks.iter().fold(initial, |sum, &value| combine(sum, value)));
        })?;
        Ok(result.get_values(&[0])?.first().copied().unwrap_or(initial))
    }

    /// Writes the combination of each value with all values before it: of a sum, the running total. `initial` comes
    /// before all values; it is 0 for a sum.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, ClosureAlgorithms, HostParallel};
    /// let values = ArrayHandle::from_container(&HostParallel, vec![3_i32, 1, 2]);
    /// let mut totals = ArrayHandle::<i32, _>::empty(&HostParallel);
    /// HostParallel.scan_inclusive_with(values.prepare_for_input()?, 0, |a, b| a + b, &mut totals)?;
    /// assert_eq!(totals.read_portal()?, [3, 4, 6]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn scan_inclusive_with<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        initial: T,
        combine: impl Fn(T, T) -> T + Sync,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<(), HandleError> {
        scan(self, input, initial, &combine, output, true)
    }

    /// Writes the combination of all values before each value: of a sum of counts, where each begins. `initial` comes
    /// before all values, and is the first result; it is 0 for a sum.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, ClosureAlgorithms, HostParallel};
    /// let counts = ArrayHandle::from_container(&HostParallel, vec![3_u32, 1, 2]);
    /// let mut offsets = ArrayHandle::<u32, _>::empty(&HostParallel);
    /// HostParallel.scan_exclusive_with(counts.prepare_for_input()?, 0, |a, b| a + b, &mut offsets)?;
    /// assert_eq!(offsets.read_portal()?, [0, 3, 4]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn scan_exclusive_with<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        initial: T,
        combine: impl Fn(T, T) -> T + Sync,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<(), HandleError> {
        scan(self, input, initial, &combine, output, false)
    }

    /// Writes the values for which a closure returns `true`, in their order. Returns their number.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// See the trait.
    fn copy_if<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        keep: impl Fn(T) -> bool + Sync,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<usize, HandleError> {
        select(self, input, no_flags(self)?.prepare_for_input()?, &|values, _, index| keep(values[index]), output)
    }
}

impl<D: Launch> ClosureAlgorithms for D {}

/// Combines the values of each block.
fn reduce_blocks<D: Launch, T: Element>(
    device: &D,
    input: View<'_, T, D>,
    count: usize,
    initial: T,
    combine: &(impl Fn(T, T) -> T + Sync),
) -> Result<ArrayHandle<T, D>, HandleError> {
    let mut blocks = ArrayHandle::<T, D>::empty(device);
    let number = count.div_ceil(BLOCK);
    device.launch([input], blocks.prepare_for_output(number)?, number, |chosen, [values], results| {
        for (block, result) in chosen.zip(results) {
            let values = &values[block * BLOCK..count.min((block + 1) * BLOCK)];
            *result = values.iter().fold(initial, |sum, &value| combine(sum, value));
        }
    })?;
    Ok(blocks)
}

fn scan<D: Launch, T: Element, C: Container<T>>(
    device: &D,
    input: View<'_, T, D>,
    initial: T,
    combine: &(impl Fn(T, T) -> T + Sync),
    output: &mut ArrayHandle<T, D, C>,
    is_inclusive: bool,
) -> Result<(), HandleError> {
    output.check_device(device)?;
    let count = <D::Memory as ExecutionMemory>::count(&input);
    let blocks = reduce_blocks(device, input.clone(), count, initial, combine)?;
    let mut before = ArrayHandle::<T, D>::empty(device);
    let number = blocks.len();
    device.launch([blocks.prepare_for_input()?], before.prepare_for_output(number)?, 1, |_, [blocks], before| {
        let mut sum = initial;
        for (before, &block) in before.iter_mut().zip(blocks) {
            *before = sum;
            sum = combine(sum, block);
        }
    })?;
    let inputs = (input, before.prepare_for_input()?);
    device.launch(inputs, output.prepare_for_output(count)?, count, |chosen, (values, before), results| {
        let mut rest = results;
        let blocks = chosen.start / BLOCK..chosen.end.div_ceil(BLOCK);
        for (block, &before) in blocks.clone().zip(&before[blocks]) {
            let (start, end) = (block * BLOCK, chosen.end.min((block + 1) * BLOCK));
            let wanted = start.max(chosen.start);
            let (results, others) = rest.split_at_mut(end - wanted);
            // As for the whole block, whichever part of it is wanted.
            let mut sum = values[start..wanted].iter().fold(initial, |sum, &value| combine(sum, value));
            for (result, &value) in results.iter_mut().zip(&values[wanted..end]) {
                let next = combine(sum, value);
                *result = combine(before, if is_inclusive { next } else { sum });
                sum = next;
            }
            rest = others;
        }
    })
}

/// Returns flags for a selection that does not use them.
pub(super) fn no_flags<D: Launch>(device: &D) -> Result<ArrayHandle<u8, D>, HandleError> {
    let mut flags = ArrayHandle::empty(device);
    flags.prepare_for_output(0)?;
    Ok(flags)
}

/// What chooses an index: the values and the flags are given with it.
type Keep<'k, T> = dyn Fn(&[T], &[u8], usize) -> bool + Sync + 'k;

/// Writes the values at the indices that `keep` chooses.
pub(super) fn select<D: Launch, T: Element, C: Container<T>>(
    device: &D,
    input: View<'_, T, D>,
    flags: View<'_, u8, D>,
    keep: &Keep<'_, T>,
    output: &mut ArrayHandle<T, D, C>,
) -> Result<usize, HandleError> {
    output.check_device(device)?;
    let count = <D::Memory as ExecutionMemory>::count(&input);
    let blocks = count.div_ceil(BLOCK);
    let mut found = ArrayHandle::<u64, D>::empty(device);
    let inputs = (input.clone(), flags.clone());
    device.launch(inputs, found.prepare_for_output(blocks)?, blocks, |chosen, (values, flags), found| {
        for (block, found) in chosen.zip(found) {
            let indices = block * BLOCK..count.min((block + 1) * BLOCK);
            *found = indices.filter(|&index| keep(values, flags, index)).count() as u64;
        }
    })?;
    // The number of values up to the end of each block.
    let mut ends = ArrayHandle::<u64, D>::empty(device);
    scan(device, found.prepare_for_input()?, 0, &|sum: u64, value: u64| sum.wrapping_add(value), &mut ends, true)?;
    let all = match blocks {
        0 => 0,
        blocks => ends.get_values(&[blocks - 1])?.first().copied().unwrap_or(0),
    };
    let all = usize::try_from(all).unwrap_or(usize::MAX).min(count);
    let inputs = (input, flags, ends.prepare_for_input()?);
    device.launch(inputs, output.prepare_for_output(all)?, all, |chosen, (values, flags, ends), results| {
        let wanted = chosen.start as u64;
        let block = ends.partition_point(|&end| end <= wanted);
        let before = if block == 0 { 0 } else { ends[block - 1] };
        let indices = (block * BLOCK..count).filter(|&index| keep(values, flags, index));
        let indices = indices.skip((wanted - before) as usize);
        results.iter_mut().zip(indices).for_each(|(result, index)| *result = values[index]);
    })?;
    Ok(all)
}
