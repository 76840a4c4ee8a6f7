//! Reads and writes at every offset, in every length and with every stride: results do not depend on them, and nothing
//! else is touched.

use super::memory::memory;
use super::*;

const OFFSETS: usize = 64;
const LENGTHS: usize = 201;
const STRIDES: usize = 10;

/// The number of elements that are checked around the written ones.
const GUARDS: usize = 64;

/// The number of elements between two rows of a target that is wider than the window.
const GAP: usize = 5;

/// One in this number of rejected values is kept, so that most short windows are accepted and most long ones are not.
const RARITY: usize = 100;

/// A window, its start in the values, and its start in the memory.
type Place = (Geometry, usize, usize);

/// Returns each offset with a few lengths, and each length with a few offsets. The offset in the memory takes every
/// value as well.
fn lines_at_every_offset(random: &mut Random) -> Vec<Place> {
    let mut all = Vec::new();
    for offset in 0..OFFSETS {
        for length in [1, 17, 64, 70 + random.below(131)] {
            all.push((line(length, 1, random), offset, (offset * 29 + length) % OFFSETS));
        }
    }
    for length in (0..LENGTHS).flat_map(|length| [length, length]) {
        all.push((line(length, 1, random), random.below(OFFSETS), random.below(OFFSETS)));
    }
    all
}

/// Returns each stride with each length, at a random offset.
fn lines_of_every_stride(random: &mut Random) -> Vec<Place> {
    let strides_and_lengths = (2..STRIDES).flat_map(|stride| (0..LENGTHS).map(move |length| (stride, length)));
    strides_and_lengths
        .map(|(stride, length)| (line(length, stride, random), random.below(OFFSETS), random.below(OFFSETS)))
        .collect()
}

/// Returns a few rows and columns in either layout, with and without gaps.
fn rectangles(random: &mut Random) -> Vec<Place> {
    let mut all = Vec::new();
    for (rows, columns) in [(0, 3), (3, 0), (2, 33), (33, 2), (7, 7), (70, 3), (3, 70)] {
        for gap in [0, 1, 3] {
            for geometry in [shape(rows, columns, columns + gap, 1), shape(rows, columns, 1, rows + gap)] {
                all.push((geometry, random.below(OFFSETS), random.below(OFFSETS)));
            }
        }
    }
    all
}

/// Returns elements `stride` apart: a column or a row.
fn line(length: usize, stride: usize, random: &mut Random) -> Geometry {
    if random.below(2) == 0 { shape(length, 1, stride, 1) } else { shape(1, length, 1, stride) }
}

/// Runs one of the calls at each place, for every pair at every level. Uses every policy if the elements are
/// contiguous, otherwise the policies in turn.
fn test(calls: &[Call], places: impl Fn(&mut Random) -> Vec<Place>, seed: u64) {
    fn test_pair<S: Element>(
        target: ElementType,
        calls: &[Call],
        places: &[Place],
        levels: &[Level],
        random: &mut Random,
    ) {
        let room = |geometry: Geometry| span(geometry).max(geometry.rows * (geometry.columns + GAP));
        let span = places.iter().map(|&(geometry, start, at)| start.max(at) + GUARDS + room(geometry)).max().unwrap();
        for (turn, policy) in POLICIES.into_iter().enumerate() {
            let answers = Answers::<S>::random(target, policy, span, RARITY, random);
            let mut memory = memory(target, span + GUARDS);
            for (turn, &level) in (turn..).zip(levels) {
                with_level(level, || {
                    for (turn, &(geometry, start, at)) in (turn..).zip(places) {
                        if geometry.is_row_major_contiguous() || turn.is_multiple_of(POLICIES.len()) {
                            let call = calls[random.below(calls.len())];
                            answers.run(Case { call, geometry, start, at: GUARDS + at }, &mut *memory);
                        }
                    }
                });
            }
        }
    }
    let (levels, mut random) = (levels(), Random(seed));
    let places = places(&mut random);
    for_every_pair!(test_pair(calls, &places, &levels, &mut random));
}

#[test]
fn a_value_is_read_alike_at_every_offset_and_in_every_length() {
    let rows = [OldValues::Lost, OldValues::Kept].map(|old| Call::ReadRows { old, gap: 0 });
    test(&[Call::Read, Call::ReadOver, rows[0], rows[1]], lines_at_every_offset, 0x5EED_0101);
}

#[test]
fn a_value_is_read_alike_at_every_distance_and_in_every_length() {
    test(&[Call::Read, Call::ReadOver, Call::ToArray, Call::Check], lines_of_every_stride, 0x5EED_0102);
}

#[test]
fn a_value_is_read_alike_into_part_of_every_row() {
    let calls = [(OldValues::Lost, 1), (OldValues::Lost, GAP), (OldValues::Kept, 1), (OldValues::Kept, GAP)];
    let calls = calls.map(|(old, gap)| Call::ReadRows { old, gap });
    test(&calls, lines_at_every_offset, 0x5EED_0105);
    test(&calls, lines_of_every_stride, 0x5EED_0106);
    test(&calls, rectangles, 0x5EED_0107);
}

/// Reads values that are checked before the first is written, around the sizes at which the last block is converted
/// first.
fn test_blocks<S: Element>(target: ElementType, levels: &[Level], random: &mut Random) {
    let moved = size_of::<S>() + target.size_in_bytes();
    for length in [(32 << 10) / moved, (32 << 10) / moved + 1, (50 << 10) / moved, (64 << 10) / moved + 1] {
        let policy = [ConversionPolicy::Checked, ConversionPolicy::Exact][random.below(2)];
        let pattern = Answers::<S>::random(target, policy, 1009, usize::MAX, random).values;
        let wild = Answers::<S>::random(target, policy, 100, 1, random);
        let refused = (0..100).find(|&index| wild.is_refused(index)).map(|index| wild.values[index]);
        for place in [None, Some(0), Some(length - 1)] {
            let mut values: Vec<S> = pattern.iter().copied().cycle().take(length).collect();
            if let (Some(place), Some(refused)) = (place, refused) {
                values[place] = refused;
            }
            let (answers, mut memory) = (Answers::new(target, policy, values), memory(target, length + GUARDS));
            for &level in levels {
                let call = [Call::Read, Call::ReadRows { old: OldValues::Kept, gap: 0 }][random.below(2)];
                let case = Case { call, geometry: line(length, 1, random), start: 0, at: random.below(GUARDS) };
                with_level(level, || answers.run(case, &mut *memory));
            }
        }
    }
}

#[test]
fn values_that_are_checked_first_are_read_alike_in_any_number_of_blocks() {
    let (levels, mut random) = (levels(), Random(0x5EED_0108));
    for_every_pair!(test_blocks(&levels, &mut random));
}

#[test]
fn a_value_is_written_alike_at_every_offset_and_in_every_length() {
    test(&WRITES, lines_at_every_offset, 0x5EED_0103);
}

#[test]
fn a_value_is_written_alike_at_every_distance_and_in_every_length() {
    test(&WRITES, lines_of_every_stride, 0x5EED_0104);
}

const WRITES: [Call; 2] = [Call::Write { keep_unchanged: false }, Call::Write { keep_unchanged: true }];
