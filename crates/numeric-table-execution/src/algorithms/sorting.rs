//! Sorting indices by keys on devices that run closures: sorted runs, which are merged. A launch divides its outputs
//! equally, so each part of the output finds its input by a binary search.

use std::cmp::Ordering;
use std::ops::Range;

use numeric_table::Element;
use numeric_table::convert::ConversionPolicy;

use crate::memory::ExecutionMemory;
use crate::{ArrayHandle, Container, HandleError, Kernels, Launch, View};

/// Number of values of a run that one thread sorts.
const RUN: usize = 1 << 15;

/// The order of keys: NaNs last, and equal to each other.
pub(super) fn order<K: Element>(one: K, other: K) -> Ordering {
    let is_nan = |key: K| key.partial_cmp(&key).is_none();
    one.partial_cmp(&other).unwrap_or_else(|| is_nan(one).cmp(&is_nan(other)))
}

/// Writes the indices that sort keys.
pub(super) fn sort_indices<D: Launch, K: Element, C: Container<u64>>(
    device: &D,
    keys: View<'_, K, D>,
    output: &mut ArrayHandle<u64, D, C>,
) -> Result<(), HandleError> {
    output.check_device(device)?;
    let count = <D::Memory as ExecutionMemory>::count(&keys);
    let mut order = sorted_runs(device, keys.clone(), count)?;
    let mut merged = ArrayHandle::<u64, D>::empty(device);
    let mut width = RUN;
    while width < count {
        merge_runs(device, keys.clone(), &order, width, &mut merged)?;
        std::mem::swap(&mut order, &mut merged);
        width = width.saturating_mul(2);
    }
    let sorted = <D::Memory as ExecutionMemory>::part(order.prepare_for_input()?, 0..count);
    device.convert(sorted, output.prepare_for_output(count)?, ConversionPolicy::Saturate)
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
