//! Algorithms on devices that run closures: reductions, scans, selections, sorting, histograms.
//!
//! Each is a few launches. Arrays are divided into blocks of a fixed number of values, so results do not depend on the
//! number of threads, even if an operation is not associative, as the addition of floating-point numbers is not. A
//! launch divides its outputs equally, so where blocks have results of different lengths, each part of the output finds
//! its input by a binary search.

use std::cmp::Ordering;
use std::ops::Range;

use numeric_table::convert::{ConversionPolicy, convert_slice};
use numeric_table::{Element, Error, ErrorKind};

use super::memory::ExecutionMemory;
use super::{ArrayHandle, Container, HandleError, Kernels, Launch, View};

/// Number of values of a block.
const BLOCK: usize = 4096;
/// Number of values of a run that one thread sorts.
const RUN: usize = 1 << 15;
/// Number of parts of an array that are counted separately, at most.
const PARTS: usize = 64;

/// Algorithms on arrays, on every device that runs closures. Results are the same on every device, bit for bit, and for
/// any number of threads. Only results cross to the program: a number, or nothing.
///
/// Source: Dax and its successors, `DeviceAdapterAlgorithm`: `Reduce`, `ScanInclusive`, `ScanExclusive`, `CopyIf`,
/// `Unique`, `SortByKey`.
///
/// # Errors
/// Those of [`ArrayHandle::prepare_for_output`] and [`Launch::launch`].
///
/// # Examples
/// ```
/// use numeric_table_execution::{Algorithms, ArrayHandle, DeviceAdapter, EmulatedDevice};
/// let device = EmulatedDevice::new();
/// let values = ArrayHandle::from_container(&device, vec![3.0_f32, -1.0, 2.0, -5.0]);
/// let mut positive = ArrayHandle::<f32, _>::empty(&device);
/// device.copy_if(values.prepare_for_input()?, |value| value > 0.0, &mut positive)?;
/// assert_eq!(device.reduce(positive.prepare_for_input()?, 0.0, |a, b| a + b)?, 5.0);
/// assert_eq!(positive.read_portal()?, [3.0, 2.0]);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
pub trait Algorithms: Launch {
    /// Combines all values, beginning with `first`. Blocks of 4096 values are combined in order, and then their results,
    /// in order; `first` is the initial value of each block and of the whole, so it must not change what it is combined
    /// with: 0 for a sum.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// See the trait.
    fn reduce<T: Element>(
        &self,
        input: View<'_, T, Self>,
        first: T,
        combine: impl Fn(T, T) -> T + Sync,
    ) -> Result<T, HandleError> {
        let count = <Self::Memory as ExecutionMemory>::count(&input);
        let blocks = reduce_blocks(self, input, count, first, &combine)?;
        let mut result = ArrayHandle::<T, Self>::empty(self);
        self.launch([blocks.prepare_for_input()?], result.prepare_for_output(1)?, 1, |_, [blocks], result| {
            result.fill(blocks.iter().fold(first, |sum, &value| combine(sum, value)));
        })?;
        Ok(result.get_values(&[0])?.first().copied().unwrap_or(first))
    }

    /// Writes the combination of each value with all values before it: of a sum, the running total.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel};
    /// let values = ArrayHandle::from_container(&HostParallel, vec![3_i32, 1, 2]);
    /// let mut totals = ArrayHandle::<i32, _>::empty(&HostParallel);
    /// HostParallel.scan_inclusive(values.prepare_for_input()?, 0, |a, b| a + b, &mut totals)?;
    /// assert_eq!(totals.read_portal()?, [3, 4, 6]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn scan_inclusive<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        first: T,
        combine: impl Fn(T, T) -> T + Sync,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<(), HandleError> {
        scan(self, input, first, &combine, output, true)
    }

    /// Writes the combination of all values before each value: of a sum of counts, where each begins.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel};
    /// let counts = ArrayHandle::from_container(&HostParallel, vec![3_u32, 1, 2]);
    /// let mut offsets = ArrayHandle::<u32, _>::empty(&HostParallel);
    /// HostParallel.scan_exclusive(counts.prepare_for_input()?, 0, |a, b| a + b, &mut offsets)?;
    /// assert_eq!(offsets.read_portal()?, [0, 3, 4]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn scan_exclusive<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, Self>,
        first: T,
        combine: impl Fn(T, T) -> T + Sync,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<(), HandleError> {
        scan(self, input, first, &combine, output, false)
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
        select(self, input, &|values, index| keep(values[index]), output)
    }

    /// Writes the values that differ from the value before them: of sorted values, each different value once. NaNs count
    /// as equal. Returns their number.
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
    ) -> Result<usize, HandleError> {
        let differs = |values: &[T], index: usize| index == 0 || order(values[index - 1], values[index]).is_ne();
        select(self, input, &differs, output)
    }

    /// Writes the indices that sort keys: in ascending order, NaNs last, equal keys in their order.
    /// [`Kernels::gather`](crate::Kernels::gather) then sorts any arrays by these keys.
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
    ) -> Result<(), HandleError> {
        let count = <Self::Memory as ExecutionMemory>::count(&keys);
        let mut order = sorted_runs(self, keys.clone(), count)?;
        let mut merged = ArrayHandle::<u64, Self>::empty(self);
        let mut width = RUN;
        while width < count {
            merge_runs(self, keys.clone(), &order, width, &mut merged)?;
            std::mem::swap(&mut order, &mut merged);
            width = width.saturating_mul(2);
        }
        let sorted = <Self::Memory as ExecutionMemory>::part(order.prepare_for_input()?, 0..count);
        self.convert(sorted, output.prepare_for_output(count)?, ConversionPolicy::Saturate)
    }

    /// Sorts values by their keys, and the keys: as [`sort_indices`](Self::sort_indices) does.
    ///
    /// # Errors
    /// Those of the trait; [`HandleError::LengthMismatch`], [`HandleError::ReadOnly`] before anything is written.
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
    ) -> Result<(), HandleError> {
        let count = keys.len();
        if values.len() != count {
            return Err(HandleError::LengthMismatch { have: values.len(), want: count });
        }
        keys.check_writable()?;
        values.check_writable()?;
        let mut order = ArrayHandle::<u64, Self>::empty(self);
        self.sort_indices(keys.prepare_for_input()?, &mut order)?;
        arrange(self, keys, &order)?;
        arrange(self, values, &order)
    }

    /// Counts the values between edges, which ascend: bin `i` has those from `edges[i]` on and below `edges[i + 1]`, and
    /// the last bin also those that are the last edge. Other values and NaNs are not counted.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::ParameterOutOfRange`] in [`HandleError::Library`] for fewer than two edges, and
    /// edges that do not ascend.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Algorithms, ArrayHandle, HostParallel};
    /// let values = ArrayHandle::from_container(&HostParallel, vec![0.5_f32, 1.0, 2.0, 7.0, f32::NAN]);
    /// let mut counts = ArrayHandle::<u64, _>::empty(&HostParallel);
    /// HostParallel.histogram(values.prepare_for_input()?, &[0.0, 1.0, 2.0], &mut counts)?;
    /// assert_eq!(counts.read_portal()?, [1, 2]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn histogram<T: Element, C: Container<u64>>(
        &self,
        input: View<'_, T, Self>,
        edges: &[f64],
        output: &mut ArrayHandle<u64, Self, C>,
    ) -> Result<(), HandleError> {
        let ascend = edges.windows(2).all(|pair| pair[0] < pair[1]);
        if edges.len() < 2 || !ascend {
            return Err(Error::new(ErrorKind::ParameterOutOfRange {
                name: "the edges of bins".into(),
                value: edges.len() as f64,
                allowed: "at least two, which ascend, are needed".into(),
            })
            .into());
        }
        let (count, bins) = (<Self::Memory as ExecutionMemory>::count(&input), edges.len() - 1);
        let parts = count.div_ceil(BLOCK).clamp(1, PARTS);
        let share = count.div_ceil(parts);
        let mut of_parts = ArrayHandle::<u64, Self>::empty(self);
        let room = of_parts.prepare_for_output(parts.checked_mul(bins).ok_or(HandleError::LengthOverflow)?)?;
        self.launch([input], room, parts, |parts, [values], counts| {
            counts.fill(0);
            for (part, counts) in parts.zip(counts.chunks_exact_mut(bins)) {
                let end = share.saturating_mul(part + 1).min(count);
                count_between(&values[share.saturating_mul(part).min(end)..end], edges, counts)?;
            }
            Ok::<_, Error>(())
        })?;
        self.launch(
            [of_parts.prepare_for_input()?],
            output.prepare_for_output(bins)?,
            bins,
            |chosen, [counts], sums| {
                for (bin, sum) in chosen.zip(sums) {
                    *sum = counts[bin..].iter().step_by(bins).sum();
                }
            },
        )
    }
}

impl<D: Launch> Algorithms for D {}

/// The order of keys: NaNs last, and equal to each other.
fn order<K: Element>(one: K, other: K) -> Ordering {
    let is_nan = |key: K| key.partial_cmp(&key).is_none();
    one.partial_cmp(&other).unwrap_or_else(|| is_nan(one).cmp(&is_nan(other)))
}

/// Combines the values of each block.
fn reduce_blocks<D: Launch, T: Element>(
    device: &D,
    input: View<'_, T, D>,
    count: usize,
    first: T,
    combine: &(impl Fn(T, T) -> T + Sync),
) -> Result<ArrayHandle<T, D>, HandleError> {
    let mut blocks = ArrayHandle::<T, D>::empty(device);
    let number = count.div_ceil(BLOCK);
    device.launch([input], blocks.prepare_for_output(number)?, number, |chosen, [values], results| {
        for (block, result) in chosen.zip(results) {
            let values = &values[block * BLOCK..count.min((block + 1) * BLOCK)];
            *result = values.iter().fold(first, |sum, &value| combine(sum, value));
        }
    })?;
    Ok(blocks)
}

fn scan<D: Launch, T: Element, C: Container<T>>(
    device: &D,
    input: View<'_, T, D>,
    first: T,
    combine: &(impl Fn(T, T) -> T + Sync),
    output: &mut ArrayHandle<T, D, C>,
    is_inclusive: bool,
) -> Result<(), HandleError> {
    let count = <D::Memory as ExecutionMemory>::count(&input);
    let blocks = reduce_blocks(device, input.clone(), count, first, combine)?;
    let mut before = ArrayHandle::<T, D>::empty(device);
    let number = blocks.len();
    device.launch([blocks.prepare_for_input()?], before.prepare_for_output(number)?, 1, |_, [blocks], before| {
        let mut sum = first;
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
            let mut sum = values[start..wanted].iter().fold(first, |sum, &value| combine(sum, value));
            for (result, &value) in results.iter_mut().zip(&values[wanted..end]) {
                let next = combine(sum, value);
                *result = combine(before, if is_inclusive { next } else { sum });
                sum = next;
            }
            rest = others;
        }
    })
}

/// Writes the values at the indices that `keep` chooses.
fn select<D: Launch, T: Element, C: Container<T>>(
    device: &D,
    input: View<'_, T, D>,
    keep: &(dyn Fn(&[T], usize) -> bool + Sync),
    output: &mut ArrayHandle<T, D, C>,
) -> Result<usize, HandleError> {
    let count = <D::Memory as ExecutionMemory>::count(&input);
    let blocks = count.div_ceil(BLOCK);
    let mut found = ArrayHandle::<u64, D>::empty(device);
    device.launch([input.clone()], found.prepare_for_output(blocks)?, blocks, |chosen, [values], found| {
        for (block, found) in chosen.zip(found) {
            let indices = block * BLOCK..count.min((block + 1) * BLOCK);
            *found = indices.filter(|&index| keep(values, index)).count() as u64;
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
    let inputs = (input, ends.prepare_for_input()?);
    device.launch(inputs, output.prepare_for_output(all)?, all, |chosen, (values, ends), results| {
        let wanted = chosen.start as u64;
        let block = ends.partition_point(|&end| end <= wanted);
        let before = if block == 0 { 0 } else { ends[block - 1] };
        let indices = (block * BLOCK..count).filter(|&index| keep(values, index)).skip((wanted - before) as usize);
        results.iter_mut().zip(indices).for_each(|(result, index)| *result = values[index]);
    })?;
    Ok(all)
}

/// Returns the indices of keys, each run of them sorted, and indices after the last run that stand for nothing.
fn sorted_runs<D: Launch, K: Element>(
    device: &D,
    keys: View<'_, K, D>,
    count: usize,
) -> Result<ArrayHandle<u64, D>, HandleError> {
    let mut runs = ArrayHandle::<u64, D>::empty(device);
    let number = count.div_ceil(RUN);
    let room = number.checked_mul(RUN).ok_or(HandleError::LengthOverflow)?;
    device.launch([keys], runs.prepare_for_output(room)?, number, |chosen, [keys], runs| {
        for (run, indices) in chosen.zip(runs.chunks_exact_mut(RUN)) {
            let end = count.min((run + 1) * RUN) - run * RUN;
            indices.iter_mut().zip(run * RUN..).for_each(|(index, place)| *index = place as u64);
            indices[..end].sort_by(|&one, &other| order(keys[one as usize], keys[other as usize]));
        }
    })?;
    Ok(runs)
}

/// Merges pairs of sorted runs of `width` indices.
fn merge_runs<D: Launch, K: Element>(
    device: &D,
    keys: View<'_, K, D>,
    runs: &ArrayHandle<u64, D>,
    width: usize,
    merged: &mut ArrayHandle<u64, D>,
) -> Result<(), HandleError> {
    let count = <D::Memory as ExecutionMemory>::count(&keys);
    let room = runs.len();
    let inputs = (keys, runs.prepare_for_input()?);
    device.launch(inputs, merged.prepare_for_output(room)?, room, |chosen, (keys, runs), merged| {
        let mut rest = merged;
        let mut place = chosen.start;
        while !rest.is_empty() {
            let pair = place / width.saturating_mul(2) * width.saturating_mul(2);
            let (middle, end) = (count.min(pair.saturating_add(width)), count.min(pair.saturating_add(2 * width)));
            if place >= end {
                rest.fill(0); // after the last run
                break;
            }
            let (part, others) = rest.split_at_mut(rest.len().min(end - place));
            merge(keys, &runs[pair..middle], &runs[middle..end], place - pair, part);
            (place, rest) = (place + part.len(), others);
        }
    })
}

/// Writes the values of two sorted runs from a place of the merged run on.
fn merge<K: Element>(keys: &[K], one: &[u64], other: &[u64], place: usize, merged: &mut [u64]) {
    let key = |index: u64| keys[index as usize];
    // The number of values of the first run among those before the place: equal keys of the first run come first.
    let mut bounds: Range<usize> = place.saturating_sub(other.len())..place.min(one.len());
    while !bounds.is_empty() {
        let middle = bounds.start + bounds.len() / 2;
        match order(key(one[middle]), key(other[place - middle - 1])) {
            Ordering::Greater => bounds.end = middle,
            _ => bounds.start = middle + 1,
        }
    }
    let (mut one, mut other) = (&one[bounds.start..], &other[place - bounds.start..]);
    for target in merged {
        let takes_one = match (one.first(), other.first()) {
            (Some(&one), Some(&other)) => order(key(one), key(other)).is_le(),
            (one, _) => one.is_some(),
        };
        let from = if takes_one { &mut one } else { &mut other };
        if let Some((&first, others)) = from.split_first() {
            (*target, *from) = (first, others);
        }
    }
}

/// Puts the values of a handle in an order.
fn arrange<D: Launch, T: Element, C: Container<T>>(
    device: &D,
    values: &mut ArrayHandle<T, D, C>,
    order: &ArrayHandle<u64, D>,
) -> Result<(), HandleError> {
    let mut arranged = ArrayHandle::<T, D>::empty(device);
    let room = arranged.prepare_for_output(values.len())?;
    device.gather(values.prepare_for_input()?, order.prepare_for_input()?, room)?;
    let count = values.len();
    device.convert(arranged.prepare_for_input()?, values.prepare_for_output(count)?, ConversionPolicy::Saturate)
}

/// Counts values between edges.
fn count_between<T: Element>(values: &[T], edges: &[f64], counts: &mut [u64]) -> Result<(), Error> {
    const AT_ONCE: usize = 256;
    let last = edges.len() - 1;
    for values in values.chunks(AT_ONCE) {
        let mut wide = [0.0_f64; AT_ONCE];
        let wide = &mut wide[..values.len()];
        convert_slice(values, wide, ConversionPolicy::Saturate)?;
        for &value in wide.iter() {
            let above = edges.partition_point(|&edge| edge <= value);
            let bin = if value == edges[last] { last } else { above };
            if (1..=last).contains(&bin) {
                counts[bin - 1] += 1;
            }
        }
    }
    Ok(())
}
