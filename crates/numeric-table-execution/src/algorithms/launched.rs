//! The algorithms of devices that run closures.
//!
//! Each is a few launches. Arrays are divided into blocks of a fixed number of values, so results do not depend on the
//! number of threads, even if an operation is not associative, as the addition of floating-point numbers is not.

use numeric_table::convert::{ConversionPolicy, convert_slice};
use numeric_table::{Element, Error};

use super::closures::{no_flags, select};
use super::reduced::{BLOCK, reduce, scan};
use super::sorting::{order, sort_indices};
use super::{Algorithms, Reduction, bins_between, check_flags, with_accumulator};
use crate::memory::ExecutionMemory;
use crate::{ArrayHandle, Container, HandleError, Launch, View};

/// Number of parts of an array that are counted separately, at most.
const MAX_PARTS: usize = 64;

impl<D: Launch> Algorithms for D {
    fn reduce<T: Element>(&self, input: View<'_, T, D>, operation: Reduction) -> Result<T, HandleError> {
        with_accumulator!(operation, T, accumulator => reduce(self, input, accumulator))
    }

    fn scan_inclusive<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, D>,
        operation: Reduction,
        output: &mut ArrayHandle<T, D, C>,
    ) -> Result<(), HandleError> {
        with_accumulator!(operation, T, accumulator => scan(self, input, accumulator, output, true))
    }

    fn scan_exclusive<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, D>,
        operation: Reduction,
        output: &mut ArrayHandle<T, D, C>,
    ) -> Result<(), HandleError> {
        with_accumulator!(operation, T, accumulator => scan(self, input, accumulator, output, false))
    }

    fn copy_flagged<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, D>,
        flags: View<'_, u8, D>,
        output: &mut ArrayHandle<T, D, C>,
    ) -> Result<usize, HandleError> {
        check_flags::<T, D>(&input, &flags)?;
        select(self, input, flags, &|_, flags, index| flags[index] != 0, output)
    }

    fn unique<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T, D>,
        output: &mut ArrayHandle<T, D, C>,
    ) -> Result<usize, HandleError> {
        let differs =
            |values: &[T], _: &[u8], index: usize| index == 0 || order(values[index - 1], values[index]).is_ne();
        select(self, input, no_flags(self)?.prepare_for_input()?, &differs, output)
    }

    fn sort_indices<K: Element, C: Container<u64>>(
        &self,
        keys: View<'_, K, D>,
        output: &mut ArrayHandle<u64, D, C>,
    ) -> Result<(), HandleError> {
        sort_indices(self, keys, output)
    }

    fn histogram<T: Element, C: Container<u64>>(
        &self,
        input: View<'_, T, D>,
        edges: &[f64],
        output: &mut ArrayHandle<u64, D, C>,
    ) -> Result<(), HandleError> {
        output.check_device(self)?;
        let bins = bins_between(edges)?;
        let count = <D::Memory as ExecutionMemory>::count(&input);
        // Each part has a count for each bin: together not more than there are values, or bins.
        let parts = count.div_ceil(BLOCK).min(count / bins).clamp(1, MAX_PARTS);
        let share = count.div_ceil(parts);
        let mut of_parts = ArrayHandle::<u64, D>::empty(self);
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
