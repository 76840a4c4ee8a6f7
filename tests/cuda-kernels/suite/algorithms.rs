//! Sorting, selecting, counting and adding up values of every type, against the rules that they follow.

use std::cmp::Ordering;

use cuda_kernels_tests::Emulator;
use cuda_kernels_tests::base::element::Element;
use half::{bf16, f16};
use numeric_table::ElementType;

use crate::source::{DIGITS, SORT_TILE};
use crate::support::{Random, bits_of, emulators, of_bits, some_values};

/// Calls a macro's function for every element type.
macro_rules! each_type {
    ($check:ident($($argument:expr),*)) => {
        each_type!(@ $check ($($argument),*) f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16)
    };
    (@ $check:ident $arguments:tt $($T:ident)*) => { $(each_type!(@call $check $arguments $T);)* };
    (@call $check:ident ($($argument:expr),*) $T:ident) => { $check::<$T>($($argument),*) };
}

/// The order of the sort: NaNs last, and equal to each other.
fn order<T: PartialOrd + Copy>(one: T, other: T) -> Ordering {
    let is_nan = |value: T| value.partial_cmp(&value).is_none();
    one.partial_cmp(&other).unwrap_or_else(|| is_nan(one).cmp(&is_nan(other)))
}

/// The argument of a type: its number.
fn kind<T: Element>() -> u64 {
    T::TYPE.id().into()
}

/// Converts a value by the rule. Equal types keep all bits.
fn cast<S: Element, T: Element>(value: S) -> T {
    if S::TYPE == T::TYPE { of_bits(bits_of(value)) } else { T::nearest(value.exact()) }
}

fn at<V>(values: &mut [V]) -> u64 {
    values.as_mut_ptr() as u64
}

/// Launches a kernel whose threads wait for one another.
fn run(emulator: &Emulator, name: &str, blocks: u32, arguments: &[u64]) {
    // SAFETY: the callers give the arguments of the kernel, with memory of the lengths that its comment says.
    unsafe { emulator.launch(emulator.kernel(name), blocks, true, arguments) }
}

/// Parts of an array: the number of values of one, and how many there are.
fn parts_of(random: &mut Random, count: usize) -> (usize, usize) {
    let span = (random.below(2) + 1) * SORT_TILE;
    (span, count.div_ceil(span).max(1))
}

fn add_up(emulator: &Emulator, counts: &mut [u64], rows: usize, blocks: u32) -> Vec<u64> {
    let mut totals = vec![0; rows];
    let parts = counts.len() / rows;
    run(emulator, "offsets", blocks, &[at(counts), rows as u64, parts as u64, at(&mut totals)]);
    totals
}

#[test]
fn indices_are_sorted_by_keys() {
    fn check<T: Element + PartialOrd>(emulator: &Emulator, random: &mut Random) {
        for round in 0..if T::TYPE == ElementType::F32 { 3 } else { 2 } {
            let count = [1, 2100 + random.below(500), 5000][round];
            let blocks = random.below(3) as u32 + 1;
            let mut values: Vec<T> = some_values::<T>().into_iter().take(count).collect();
            let few = values[..values.len().min(20)].to_vec();
            values.iter_mut().step_by(3).for_each(|value| *value = few[random.below(few.len())]);
            match size_of::<T>() {
                8 => sort::<T, u64>(emulator, random, &mut values, blocks),
                _ => sort::<T, u32>(emulator, random, &mut values, blocks),
            }
        }
    }

    fn sort<T: Element + PartialOrd, W: Copy + Default>(
        emulator: &Emulator,
        random: &mut Random,
        values: &mut [T],
        blocks: u32,
    ) {
        let (count, width) = (values.len(), size_of::<W>());
        let (span, parts) = parts_of(random, count);
        let [mut keys, mut other_keys] = [(); 2].map(|()| vec![W::default(); count]);
        let [mut indices, mut other] = [(); 2].map(|()| vec![0_u64; count]);
        run(emulator, &format!("sort_keys_{width}"), blocks, &[at(values), count as u64, kind::<T>(), at(&mut keys)]);
        for pass in 0..size_of::<T>() {
            let is_last = pass + 1 == size_of::<T>();
            let mut counts = vec![0; DIGITS * parts];
            let sizes = [count as u64, 8 * pass as u64, span as u64, parts as u64];
            let arguments = [&[at(&mut keys)][..], &sizes, &[at(&mut counts)]].concat();
            run(emulator, &format!("digit_counts_{width}"), blocks, &arguments);
            let mut totals = add_up(emulator, &mut counts, DIGITS, blocks);
            assert_eq!(totals.iter().sum::<u64>(), count as u64);
            let from = if pass == 0 { 0 } else { at(&mut indices) };
            let to = [if is_last { 0 } else { at(&mut other_keys) }, at(&mut other)];
            let arguments = [&[at(&mut keys), from][..], &sizes, &[at(&mut counts), at(&mut totals)], &to].concat();
            run(emulator, &format!("digit_scatter_{width}"), blocks, &arguments);
            std::mem::swap(&mut keys, &mut other_keys);
            std::mem::swap(&mut indices, &mut other);
        }
        let mut expected: Vec<u64> = (0..count as u64).collect();
        expected.sort_by(|&one, &other| order(values[one as usize], values[other as usize]));
        assert!(indices == expected, "{} {count}", T::TYPE);
    }

    let mut random = Random(29);
    for emulator in emulators() {
        each_type!(check(emulator, &mut random));
    }
}

#[test]
fn values_are_selected_by_flags_and_where_they_differ() {
    fn check<T: Element + PartialOrd>(emulator: &Emulator, random: &mut Random) {
        for round in 0..6 {
            let count = [1, 1024, 4000 + random.below(2000)][round / 2];
            let blocks = random.below(3) as u32 + 1;
            let (span, parts) = parts_of(random, count);
            let mut values: Vec<T> = some_values::<T>().into_iter().take(count).collect();
            for index in 1..count {
                if random.below(2) == 0 {
                    values[index] = values[index - 1];
                }
            }
            let mut flags: Vec<u8> = (0..count).map(|_| random.below(3) as u8).collect();
            let is_by_flags = round % 2 == 0;
            let from = [at(&mut values), if is_by_flags { at(&mut flags) } else { 0 }, count as u64, kind::<T>()];
            let sizes = [span as u64, parts as u64];
            let mut counts = vec![0; parts];
            run(emulator, "select_counts", blocks, &[&from[..], &sizes, &[at(&mut counts)]].concat());
            let found = add_up(emulator, &mut counts, 1, blocks)[0] as usize;
            let is_chosen = |&index: &usize| match is_by_flags {
                true => flags[index] != 0,
                false => index == 0 || order(values[index - 1], values[index]).is_ne(),
            };
            let expected: Vec<u64> = (0..count).filter(is_chosen).map(|index| bits_of(values[index])).collect();
            assert_eq!(found, expected.len(), "{} {count}", T::TYPE);
            let room = if round > 3 { found / 2 } else { found }; // nothing is written beyond it
            let mut output = vec![T::default(); found + 1];
            let to = [at(&mut counts), at(&mut output), room as u64];
            run(emulator, "select_copy", blocks, &[&from[..], &sizes, &to].concat());
            for (index, &value) in output.iter().enumerate() {
                assert_eq!(bits_of(value), if index < room { expected[index] } else { 0 }, "{} {index}", T::TYPE);
            }
        }
    }

    let mut random = Random(31);
    for emulator in emulators() {
        each_type!(check(emulator, &mut random));
    }
}

#[test]
fn values_are_counted_between_edges() {
    fn check<T: Element>(emulator: &Emulator, random: &mut Random) {
        let mut values = some_values::<T>();
        values.truncate(3000);
        let wide = |&value: &T| cast::<T, f64>(value);
        // Few bins, and more than a block counts by itself.
        let few = vec![f64::NEG_INFINITY, -1.0, -0.0, 1.0, 1e3, f64::INFINITY];
        let many: Vec<f64> = (0..3000).map(|edge| f64::from(edge) * 0.5 - 100.0).collect();
        for mut edges in [few, many] {
            let mut counts = vec![1_u64; edges.len() - 1];
            let last = counts.len();
            let arguments = [at(&mut values), values.len() as u64, kind::<T>(), at(&mut edges), last as u64];
            let blocks = random.below(3) as u32 + 1;
            run(emulator, "histogram", blocks, &[&arguments[..], &[at(&mut counts)]].concat());
            let mut expected = vec![1_u64; last];
            for value in values.iter().map(wide) {
                let above = edges.partition_point(|&edge| edge <= value);
                let bin = if value == edges[last] { last } else { above };
                if (1..=last).contains(&bin) {
                    expected[bin - 1] += 1;
                }
            }
            assert_eq!(counts, expected, "{}", T::TYPE);
        }
    }

    let mut random = Random(37);
    for emulator in emulators() {
        each_type!(check(emulator, &mut random));
    }
}

/// A number of results, in parts of 16, 256 and 4096.
fn tree<A: Copy>(values: &[A], part: usize, nothing: A, combine: &impl Fn(A, A) -> A) -> A {
    let of_part = |values: &[A]| if part == 1 { values[0] } else { tree(values, part / 16, nothing, combine) };
    values.chunks(part).map(of_part).fold(nothing, combine)
}

/// Compares reductions and scans whose results are kept as `A`.
#[derive(Clone, Copy)]
struct Kept<A> {
    name: &'static str,
    operation: u64,
    nothing: A,
}

impl<A: Copy + Default + PartialEq + std::fmt::Debug> Kept<A> {
    fn check<T: Element>(
        self,
        emulator: &Emulator,
        random: &mut Random,
        take: impl Fn(T) -> A,
        combine: impl Fn(A, A) -> A,
        give: impl Fn(A) -> T,
    ) {
        let Self { name, operation, nothing } = self;
        let count = 9000 + random.below(500);
        let mut values: Vec<T> = (0..count).map(|index| some(random, index)).collect();
        let kept: Vec<A> = values.iter().map(|&value| take(value)).collect();
        let (blocks, range) = (random.below(3) as u32 + 1, 2);
        let mut sums = vec![A::default(); count.div_ceil(4096)];
        let from = [at(&mut values), count as u64, kind::<T>(), operation];
        run(emulator, &format!("reduce_{name}"), blocks, &[&from[..], &[at(&mut sums)]].concat());
        let expected: Vec<A> = kept.chunks(4096).map(|block| tree(block, 256, nothing, &combine)).collect();
        let is_same = |one: A, other: A| bits_of(give(one)) == bits_of(give(other));
        assert!(sums.iter().zip(&expected).all(|(&one, &other)| is_same(one, other)), "{} {name}", T::TYPE);

        let add_up = |sums: &mut [A], range: usize| {
            let mut before = vec![A::default(); sums.len()];
            let mut totals = vec![A::default(); sums.len().div_ceil(range)];
            let sizes = [sums.len() as u64, range as u64, operation];
            let arguments = [&[at(sums)][..], &sizes, &[at(&mut before), at(&mut totals)]].concat();
            run(emulator, &format!("combine_{name}"), blocks, &arguments);
            for (range, (before, &total)) in sums.chunks(range).zip(before.chunks(range).zip(&totals)) {
                let mut sum = nothing;
                for (&value, &before) in range.iter().zip(before) {
                    assert!(is_same(before, sum), "{} {name}", T::TYPE);
                    sum = combine(sum, value);
                }
                assert!(is_same(total, sum), "{} {name}", T::TYPE);
            }
            (before, totals)
        };
        let (mut before, mut of_ranges) = add_up(&mut sums, range);
        let all = of_ranges.len();
        let (mut before_range, _) = add_up(&mut of_ranges, all);

        for is_exclusive in [false, true] {
            let mut output = vec![T::default(); count];
            let to = [u64::from(is_exclusive), at(&mut before), at(&mut before_range), range as u64, at(&mut output)];
            run(emulator, &format!("scan_{name}"), blocks, &[&from[..], &to].concat());
            for (index, &found) in output.iter().enumerate() {
                let place = if is_exclusive { index } else { index + 1 };
                let block = index / 4096;
                // Of the values up to this one: those in its run, then the runs, then the groups before.
                let (run, group) = (index / 16 * 16, index / 256 * 256);
                let mut total = tree(&kept[run..place], 1, nothing, &combine);
                total = combine(tree(&kept[group..run], 16, nothing, &combine), total);
                total = combine(tree(&kept[block * 4096..group], 256, nothing, &combine), total);
                total = combine(before_range[block / range], combine(before[block], total));
                assert_eq!(bits_of(found), bits_of(give(total)), "{} {name} {index}: {found:?}", T::TYPE);
            }
        }
    }
}

/// Returns a random value. Most floats are small enough for a sum of all not to overflow.
fn some<T: Element>(random: &mut Random, index: usize) -> T {
    if index % 1000 == 999 {
        return of_bits(random.next());
    }
    cast(random.below(4000) as f64 / 7.0 - 250.0)
}

#[test]
fn reductions_and_scans_have_one_order() {
    fn integers<T: Element>(emulator: &Emulator, random: &mut Random) {
        let kept = Kept { name: "words", operation: 0, nothing: 0_u64 };
        kept.check::<T>(emulator, random, bits_of, u64::wrapping_add, of_bits);
    }

    fn halves<T: Element>(emulator: &Emulator, random: &mut Random) {
        let kept = Kept { name: "f32", operation: 0, nothing: 0_f32 };
        let give = |sum: f32| cast::<f32, T>(if sum.is_nan() { f32::from_bits(0x7FC0_0000) } else { sum });
        kept.check::<T>(emulator, random, cast::<T, f32>, |one, other| one + other, give);
    }

    /// Extremes: results are kept as numbers of the order of values.
    fn extremes<T: Element + PartialOrd>(emulator: &Emulator, random: &mut Random) {
        let sign = 1_u64 << (8 * size_of::<T>() - 1);
        let mask = sign | (sign - 1);
        let (is_float, is_signed) = (T::TYPE.is_float(), T::TYPE.is_signed());
        let infinity = bits_of::<T>(cast(f64::INFINITY));
        let ordered = move |bits: u64| match (is_float, bits & sign != 0) {
            (true, true) => bits ^ mask,
            _ if is_signed => bits ^ sign,
            _ => bits,
        };
        for (operation, nothing) in [(1, u64::MAX), (2, 0)] {
            let take = |value: T| match value.partial_cmp(&value) {
                None => nothing,
                Some(_) => ordered(bits_of(value)),
            };
            let give = |number: u64| {
                let ends = if is_float { [ordered(infinity | sign), ordered(infinity)] } else { [0, mask] };
                let number = number.clamp(ends[0], ends[1]);
                of_bits::<T>(match (is_float, number & sign != 0) {
                    (true, false) => number ^ mask,
                    _ if is_signed => number ^ sign,
                    _ => number,
                })
            };
            let combine = |one: u64, other: u64| if operation == 1 { one.min(other) } else { one.max(other) };
            Kept { name: "words", operation, nothing }.check::<T>(emulator, random, take, combine, give);
        }
    }

    let mut random = Random(43);
    for emulator in emulators() {
        each_type!(@ integers (emulator, &mut random) i8 u8 i16 u16 i32 u32 i64 u64);
        each_type!(@ halves (emulator, &mut random) f16 bf16 f32);
        each_type!(extremes(emulator, &mut random));
        let give = |sum: f64| if sum.is_nan() { f64::from_bits(0x7FF8_0000_0000_0000) } else { sum };
        let kept = Kept { name: "f64", operation: 0, nothing: 0_f64 };
        kept.check::<f64>(emulator, &mut random, |value| value, |one, other| one + other, give);
    }
}
