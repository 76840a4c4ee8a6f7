//! NaN from float to float, bit for bit: every payload bit, either sign, quiet and signaling, at any place in memory.

use super::memory::{are_same, memory};
use super::*;

const FLOATS: [ElementType; 4] = [ElementType::F32, ElementType::F64, ElementType::F16, ElementType::Bf16];

const OFFSETS: usize = 64;

/// Lengths near the widths of registers and the numbers of values that are converted at a time.
const LENGTHS: [usize; 22] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 192, 200];

/// The number of elements that are checked around the written ones.
const GUARDS: usize = 64;

const CALLS: [Call; 7] = [
    Call::Read,
    Call::ReadOver,
    Call::ReadRows { old: OldValues::Lost, gap: 0 },
    Call::ReadRows { old: OldValues::Kept, gap: 0 },
    Call::ToArray,
    Call::Write { keep_unchanged: false },
    Call::Write { keep_unchanged: true },
];

/// Returns all NaNs of a 16-bit float. For a wider float, returns those with one payload bit, with all bits but one,
/// with all bits above or below one, and random ones, signaling and quiet, of either sign. Returns none for an integer.
pub(super) fn nans<T: Element>(random: &mut Random) -> Vec<T> {
    let Some(infinity) = infinity(T::TYPE) else { return Vec::new() };
    let bits_in_all = 8 * size_of::<T>() as u32;
    let (sign, fraction_bits) = (1 << (bits_in_all - 1), infinity.trailing_zeros());
    let all = (1_u64 << fraction_bits) - 1;
    let payloads: Vec<u64> = if size_of::<T>() == 2 {
        (1..=all).collect()
    } else {
        let single = (0..fraction_bits).map(|bit| 1 << bit);
        let some = single.flat_map(|bit: u64| [bit, all ^ bit, bit - 1, all ^ (bit - 1)]);
        some.chain((0..100).map(|_| random.next() & all)).chain([all]).collect()
    };
    let quiet = 1 << (fraction_bits - 1);
    let both = payloads.into_iter().flat_map(|payload| [payload, payload | quiet]).filter(|&payload| payload != 0);
    both.flat_map(|payload| [infinity | payload, sign | infinity | payload]).map(from_bits).collect()
}

/// Returns NaNs in random order, so that neighbors differ in every part.
fn mixed<S: Element>(count: usize, random: &mut Random) -> Vec<S> {
    let nans = nans::<S>(random);
    (0..count).map(|_| nans[random.below(nans.len())]).collect()
}

macro_rules! for_every_pair_of_floats {
    ($test:ident($($argument:expr),*)) => {
        for source in FLOATS {
            for target in FLOATS {
                match_element!(source, S => $test::<S>(target, $($argument),*));
            }
        }
    };
}

#[test]
fn a_nan_is_converted_alike_at_every_offset_and_in_every_length() {
    fn test<S: Element>(target: ElementType, levels: &[Level], random: &mut Random) {
        let span = OFFSETS + LENGTHS[LENGTHS.len() - 1] + GUARDS;
        for policy in POLICIES {
            let answers = Answers::new(target, policy, mixed::<S>(span, random));
            let mut memory = memory(target, span + 2 * GUARDS);
            for &level in levels {
                with_level(level, || {
                    for (offset, length) in (0..OFFSETS).flat_map(|offset| LENGTHS.map(|length| (offset, length))) {
                        let geometry = [shape(1, length, 1, 1), shape(length, 1, 1, 1)][random.below(2)];
                        let call = CALLS[random.below(CALLS.len())];
                        let at = GUARDS + random.below(OFFSETS);
                        answers.run(Case { call, geometry, start: offset, at }, &mut *memory);
                    }
                });
            }
        }
    }
    let (levels, mut random) = (levels(), Random(0x5EED_0A01));
    for_every_pair_of_floats!(test(&levels, &mut random));
}

/// Windows that are cut into tiles and transposed.
const GEOMETRIES: [Geometry; 8] = [
    shape(70, 1, 2, 1),
    shape(1, 70, 1, 9),
    shape(33, 5, 5, 1),
    shape(33, 5, 7, 1),
    shape(33, 17, 1, 33),
    shape(17, 33, 1, 19),
    shape(90, 91, 1, 90),
    shape(3, 1100, 1, 3),
];

#[test]
fn a_nan_is_converted_alike_at_every_distance_and_in_every_layout() {
    fn test<S: Element>(target: ElementType, levels: &[Level], random: &mut Random) {
        let span = GEOMETRIES.map(span).into_iter().max().unwrap_or(0);
        let answers = Answers::new(target, ConversionPolicy::Exact, mixed::<S>(span, random));
        let mut memory = memory(target, span + GUARDS);
        for (&level, geometry) in levels.iter().flat_map(|level| GEOMETRIES.map(|geometry| (level, geometry))) {
            with_level(level, || {
                for call in CALLS {
                    answers.run(Case { call, geometry, start: 0, at: 0 }, &mut *memory);
                }
                answers.report(geometry, 0); // a truncated payload is not a loss
            });
        }
    }
    let (levels, mut random) = (levels(), Random(0x5EED_0A02));
    for_every_pair_of_floats!(test(&levels, &mut random));
}

#[cfg(feature = "rayon")]
#[test]
fn a_nan_is_converted_alike_by_any_number_of_threads() {
    fn test<S: Element>(target: ElementType, random: &mut Random) {
        let count = crate::base::parallel::MIN_BYTES / (size_of::<S>() + target.size_in_bytes()) * 9 / 8;
        let nans = mixed::<S>(4099, random);
        let answers = Answers::new(target, ConversionPolicy::Checked, nans.into_iter().cycle().take(count).collect());
        let mut memory = memory(target, count);
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for call in [Call::ReadOver, Call::Write { keep_unchanged: true }] {
                let case = Case { call, geometry: shape(1, count, 1, 1), start: 0, at: 0 };
                pool.install(|| answers.run(case, &mut *memory));
            }
        }
    }
    let mut random = Random(0x5EED_0A03);
    for_every_pair_of_floats!(test(&mut random));
}

/// Writes back a block of `U` that shows the NaNs of a table. Half of them are unchanged, the others have one changed
/// bit.
fn write_back<T: Element, U: Element>(levels: &[Level], random: &mut Random) {
    for (geometry, &level) in
        GEOMETRIES.into_iter().flat_map(|geometry| levels.iter().map(move |level| (geometry, level)))
    {
        let before = mixed::<T>(span(geometry), random);
        let shown: Vec<U> = offsets(geometry).map(|place| number::convert(before[place])).collect();
        let lowest_bit = |value: U| {
            let mut bits = [0; 8];
            bits[..size_of::<U>()].copy_from_slice(bytemuck::bytes_of(&value));
            from_bits::<U>(u64::from_le_bytes(bits) ^ 1)
        };
        let block: Vec<U> =
            shown.iter().map(|&value| if random.below(2) == 0 { value } else { lowest_bit(value) }).collect();
        let mut expected = before.clone();
        for ((place, &new), shown) in offsets(geometry).zip(&block).zip(&shown) {
            if !new.is_same(*shown) {
                expected[place] = number::convert(new);
            }
        }
        for policy in POLICIES {
            let mut values = before.clone();
            let rule = WriteRule { policy, keep_unchanged: true };
            with_level(level, || {
                let window = WindowMut::new(&mut values, geometry).unwrap();
                T::write(window, AnySlice::new(&block), rule, Origin::default()).unwrap();
            });
            assert!(are_same(&values, &expected), "{} in {}, {level:?}, {policy}, {geometry:?}", U::TYPE, T::TYPE);
        }
    }
}

#[test]
fn a_stored_nan_keeps_its_bits_unless_the_block_changed_a_bit_of_what_it_showed() {
    let (levels, mut random) = (levels(), Random(0x5EED_0A04));
    write_back::<f64, f32>(&levels, &mut random);
    write_back::<f64, half::f16>(&levels, &mut random);
    write_back::<f64, half::bf16>(&levels, &mut random);
    write_back::<f32, f64>(&levels, &mut random);
    write_back::<f32, half::f16>(&levels, &mut random);
    write_back::<f32, half::bf16>(&levels, &mut random);
    write_back::<half::f16, f32>(&levels, &mut random);
    write_back::<half::bf16, half::f16>(&levels, &mut random);
    write_back::<half::f16, half::bf16>(&levels, &mut random);
}
