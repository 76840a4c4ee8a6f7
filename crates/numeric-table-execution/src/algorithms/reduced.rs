//! Reductions and scans on devices that run closures, in the order that [`Algorithms`](super::Algorithms) describes.

use numeric_table::convert::cast;
use numeric_table::{Element, ElementType};

use crate::memory::ExecutionMemory;
use crate::{ArrayHandle, Container, HandleError, Launch, View};

/// Number of values of a run, of runs of a group, and of groups of a block.
const RUN: usize = 16;
/// Number of values of a group.
const GROUP: usize = RUN * RUN;
/// Number of values of a block.
pub(crate) const BLOCK: usize = RUN * GROUP;
/// Number of blocks of a range.
pub(crate) const RANGE: usize = 256;

/// How the results of an operation on values of a type are kept and combined.
pub(crate) trait Accumulate<T: Element>: Copy + Sync {
    /// The type of results before they are rounded.
    type Kept: Element;

    /// The result of nothing, which changes nothing that it is combined with.
    fn nothing(self) -> Self::Kept;
    fn take(self, value: T) -> Self::Kept;
    fn combine(self, one: Self::Kept, other: Self::Kept) -> Self::Kept;
    fn give(self, result: Self::Kept) -> T;
}

/// Sums of integers, modulo 2^64: the lowest bits count.
#[derive(Clone, Copy)]
pub(crate) struct WrappingTotal;
/// Sums of types of up to 32 bits that are floats.
#[derive(Clone, Copy)]
pub(crate) struct Total;
/// Sums of `f64`.
#[derive(Clone, Copy)]
pub(crate) struct WideTotal;
/// Minima, as numbers of the same order.
#[derive(Clone, Copy)]
pub(crate) struct Least;
/// Maxima, as numbers of the same order.
#[derive(Clone, Copy)]
pub(crate) struct Greatest;

/// Evaluates the body with the accumulator of an operation on values of a type.
macro_rules! with_accumulator {
    ($operation:expr, $T:ty, $accumulator:ident => $body:expr) => {
        match ($operation, <$T as numeric_table::Element>::TYPE) {
            ($crate::Reduction::Sum, numeric_table::ElementType::F64) => {
                let $accumulator = $crate::algorithms::WideTotal;
                $body
            }
            ($crate::Reduction::Sum, element) if element.is_float() => {
                let $accumulator = $crate::algorithms::Total;
                $body
            }
            ($crate::Reduction::Sum, _) => {
                let $accumulator = $crate::algorithms::WrappingTotal;
                $body
            }
            ($crate::Reduction::Min, _) => {
                let $accumulator = $crate::algorithms::Least;
                $body
            }
            ($crate::Reduction::Max, _) => {
                let $accumulator = $crate::algorithms::Greatest;
                $body
            }
        }
    };
}
pub(crate) use with_accumulator;

impl<T: Element> Accumulate<T> for WrappingTotal {
    type Kept = u64;

    fn nothing(self) -> u64 {
        0
    }

    fn take(self, value: T) -> u64 {
        bits_of(value)
    }

    fn combine(self, one: u64, other: u64) -> u64 {
        one.wrapping_add(other)
    }

    fn give(self, result: u64) -> T {
        of_bits(result)
    }
}

impl<T: Element> Accumulate<T> for Total {
    type Kept = f32;

    fn nothing(self) -> f32 {
        0.0
    }

    fn take(self, value: T) -> f32 {
        cast(value)
    }

    fn combine(self, one: f32, other: f32) -> f32 {
        one + other
    }

    fn give(self, result: f32) -> T {
        cast(if result.is_nan() { f32::from_bits(0x7FC0_0000) } else { result })
    }
}

impl<T: Element> Accumulate<T> for WideTotal {
    type Kept = f64;

    fn nothing(self) -> f64 {
        0.0
    }

    fn take(self, value: T) -> f64 {
        cast(value)
    }

    fn combine(self, one: f64, other: f64) -> f64 {
        one + other
    }

    fn give(self, result: f64) -> T {
        cast(if result.is_nan() { f64::from_bits(0x7FF8_0000_0000_0000) } else { result })
    }
}

impl<T: Element> Accumulate<T> for Least {
    type Kept = u64;

    fn nothing(self) -> u64 {
        u64::MAX
    }

    fn take(self, value: T) -> u64 {
        ordered(value).unwrap_or(u64::MAX)
    }

    fn combine(self, one: u64, other: u64) -> u64 {
        one.min(other)
    }

    fn give(self, result: u64) -> T {
        value_of::<T>(result)
    }
}

impl<T: Element> Accumulate<T> for Greatest {
    type Kept = u64;

    fn nothing(self) -> u64 {
        0
    }

    fn take(self, value: T) -> u64 {
        ordered(value).unwrap_or(0)
    }

    fn combine(self, one: u64, other: u64) -> u64 {
        one.max(other)
    }

    fn give(self, result: u64) -> T {
        value_of::<T>(result)
    }
}

/// The bits of a value, in the lowest ones.
fn bits_of<T: Element>(value: T) -> u64 {
    match size_of::<T>() {
        1 => bytemuck::cast::<T, u8>(value).into(),
        2 => bytemuck::cast::<T, u16>(value).into(),
        4 => bytemuck::cast::<T, u32>(value).into(),
        _ => bytemuck::cast(value),
    }
}

/// The value of the lowest bits.
fn of_bits<T: Element>(bits: u64) -> T {
    match size_of::<T>() {
        1 => bytemuck::cast(bits as u8),
        2 => bytemuck::cast(bits as u16),
        4 => bytemuck::cast(bits as u32),
        _ => bytemuck::cast(bits),
    }
}

/// The highest bit of a type.
const fn sign<T: Element>() -> u64 {
    1 << (8 * size_of::<T>() - 1)
}

/// The bits of infinity of a type of floats.
const fn infinity<T: Element>() -> u64 {
    match T::TYPE {
        ElementType::F64 => 0x7FF0_0000_0000_0000,
        ElementType::F32 => 0x7F80_0000,
        ElementType::F16 => 0x7C00,
        _ => 0x7F80,
    }
}

/// Returns a number that is smaller than that of another value exactly if the value is; -0 is smaller than 0. `None`
/// for NaN.
fn ordered<T: Element>(value: T) -> Option<u64> {
    let (bits, sign) = (bits_of(value), sign::<T>());
    if T::TYPE.is_float() {
        let number = if bits & sign == 0 { bits | sign } else { !bits & (sign | (sign - 1)) };
        return (bits & (sign - 1) <= infinity::<T>()).then_some(number);
    }
    Some(if T::TYPE.is_signed() { bits ^ sign } else { bits })
}

/// Returns the value of a number of [`ordered`]. For numbers beyond all of these: the last value, or an infinity.
fn value_of<T: Element>(number: u64) -> T {
    let sign = sign::<T>();
    let mask = sign | (sign - 1);
    if T::TYPE.is_float() {
        let top = infinity::<T>() | sign;
        let number = number.clamp(!top & mask, top);
        return of_bits(if number & sign == 0 { !number & mask } else { number ^ sign });
    }
    let number = number.min(mask);
    of_bits(if T::TYPE.is_signed() { number ^ sign } else { number })
}

/// Combines the values of a run.
fn run_of<T: Element, A: Accumulate<T>>(accumulator: A, values: &[T]) -> A::Kept {
    let combine = |sum, &value| accumulator.combine(sum, accumulator.take(value));
    values.iter().fold(accumulator.nothing(), combine)
}

/// Combines the values of a block.
fn block_of<T: Element, A: Accumulate<T>>(accumulator: A, values: &[T]) -> A::Kept {
    let group_of = |values: &[T]| {
        let runs = values.chunks(RUN).map(|values| run_of(accumulator, values));
        runs.fold(accumulator.nothing(), |sum, run| accumulator.combine(sum, run))
    };
    values.chunks(GROUP).map(group_of).fold(accumulator.nothing(), |sum, group| accumulator.combine(sum, group))
}

/// Combines the values of each block.
fn blocks_of<D: Launch, T: Element, A: Accumulate<T>>(
    device: &D,
    input: View<'_, T, D>,
    count: usize,
    accumulator: A,
) -> Result<ArrayHandle<A::Kept, D>, HandleError> {
    let mut blocks = ArrayHandle::<A::Kept, D>::empty(device);
    let number = count.div_ceil(BLOCK);
    device.launch([input], blocks.prepare_for_output(number)?, number, |chosen, [values], results| {
        for (block, result) in chosen.zip(results) {
            *result = block_of(accumulator, &values[block * BLOCK..count.min((block + 1) * BLOCK)]);
        }
    })?;
    Ok(blocks)
}

/// Combines all values.
pub(super) fn reduce<D: Launch, T: Element, A: Accumulate<T>>(
    device: &D,
    input: View<'_, T, D>,
    accumulator: A,
) -> Result<T, HandleError> {
    let count = <D::Memory as ExecutionMemory>::count(&input);
    let blocks = blocks_of(device, input, count, accumulator)?;
    let mut result = ArrayHandle::<A::Kept, D>::empty(device);
    device.launch([blocks.prepare_for_input()?], result.prepare_for_output(1)?, 1, |_, [blocks], result| {
        let add = |blocks: &[A::Kept]| {
            blocks.iter().fold(accumulator.nothing(), |sum, &block| accumulator.combine(sum, block))
        };
        let ranges = blocks.chunks(RANGE).map(add);
        result.fill(ranges.fold(accumulator.nothing(), |sum, range| accumulator.combine(sum, range)));
    })?;
    Ok(accumulator.give(result.get_values(&[0])?.first().copied().unwrap_or(accumulator.nothing())))
}

/// Writes the totals up to each value, with or without it.
pub(super) fn scan<D: Launch, T: Element, A: Accumulate<T>, C: Container<T>>(
    device: &D,
    input: View<'_, T, D>,
    accumulator: A,
    output: &mut ArrayHandle<T, D, C>,
    is_inclusive: bool,
) -> Result<(), HandleError> {
    output.check_device(device)?;
    let combine = |one, other| accumulator.combine(one, other);
    let count = <D::Memory as ExecutionMemory>::count(&input);
    let blocks = blocks_of(device, input.clone(), count, accumulator)?;
    // Of each block: the ranges before, and the blocks before in its range.
    let mut before = ArrayHandle::<A::Kept, D>::empty(device);
    let room = before.prepare_for_output(blocks.len().checked_mul(2).ok_or(HandleError::LengthOverflow)?)?;
    device.launch([blocks.prepare_for_input()?], room, 1, |_, [blocks], before| {
        let mut ranges = accumulator.nothing();
        for (blocks, before) in blocks.chunks(RANGE).zip(before.chunks_mut(2 * RANGE)) {
            let mut sum = accumulator.nothing();
            for (&block, before) in blocks.iter().zip(before.chunks_exact_mut(2)) {
                before.copy_from_slice(&[ranges, sum]);
                sum = combine(sum, block);
            }
            ranges = combine(ranges, sum);
        }
    })?;
    let inputs = (input, before.prepare_for_input()?);
    device.launch(inputs, output.prepare_for_output(count)?, count, |chosen, (values, before), mut rest| {
        for (block, before) in before.chunks_exact(2).enumerate().skip(chosen.start / BLOCK) {
            let (start, end) = (block * BLOCK, chosen.end.min((block + 1) * BLOCK));
            if start >= chosen.end {
                break;
            }
            // From the beginning of the block, whichever part of it is wanted.
            let skipped = chosen.start.saturating_sub(start);
            let (results, others) = rest.split_at_mut(end - start - skipped);
            let before = |sum| combine(before[0], combine(before[1], sum));
            scan_block(accumulator, &values[start..end], is_inclusive, skipped, results, before);
            rest = others;
        }
    })
}

/// Writes the totals of a block, without the first ones.
fn scan_block<T: Element, A: Accumulate<T>>(
    accumulator: A,
    values: &[T],
    is_inclusive: bool,
    mut skipped: usize,
    results: &mut [T],
    before: impl Fn(A::Kept) -> A::Kept,
) {
    let combine = |one, other| accumulator.combine(one, other);
    let mut results = results.iter_mut();
    let mut groups = accumulator.nothing();
    for group in values.chunks(GROUP) {
        let mut runs = accumulator.nothing();
        for run in group.chunks(RUN) {
            let mut sum = accumulator.nothing();
            for &value in run {
                let next = combine(sum, accumulator.take(value));
                if skipped > 0 {
                    skipped -= 1;
                } else if let Some(result) = results.next() {
                    let total = combine(runs, if is_inclusive { next } else { sum });
                    *result = accumulator.give(before(combine(groups, total)));
                }
                sum = next;
            }
            runs = combine(runs, sum);
        }
        groups = combine(groups, runs);
    }
}
