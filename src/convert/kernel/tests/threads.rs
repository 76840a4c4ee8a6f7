//! Windows that are cut into tasks: results, errors and reports equal those of one thread, and those of the rule.

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::memory::{are_same, memory};
use super::*;
use crate::base::parallel::MIN_BYTES;

/// Returns pools of one thread, of two, and of more threads than a machine is likely to have cores.
fn pools() -> [ThreadPool; 3] {
    [1, 2, 7].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
}

/// Pairs of all widths, to and from floats and integers, and one of equal types.
const PAIRS: [(ElementType, ElementType); 8] = [
    (ElementType::F64, ElementType::F32),
    (ElementType::F32, ElementType::U8),
    (ElementType::I64, ElementType::F16),
    (ElementType::Bf16, ElementType::I32),
    (ElementType::U8, ElementType::F64),
    (ElementType::U16, ElementType::I16),
    (ElementType::I8, ElementType::U8),
    (ElementType::U32, ElementType::U32),
];

/// Returns two of the pairs if not all are tested.
fn pairs() -> impl Iterator<Item = (ElementType, ElementType)> {
    PAIRS.into_iter().take(if tries_every_pair() { PAIRS.len() } else { 2 })
}

/// Returns windows of about `count` values, enough to be cut: tall, wide and square, with every kind of stride.
fn geometries(count: usize) -> [Geometry; 8] {
    let (long, side) = (count / 3, count.isqrt() + 1);
    [
        shape(count, 1, 1, 1),
        shape(count, 1, 5, 1),
        shape(1, count, 1, 3),
        shape(long, 3, 3 + 1, 1),
        shape(long, 3, 1, long),
        shape(3, long, 1, 3 + 2),
        shape(3, long, long + 7, 1),
        shape(side, side + 1, 1, side),
    ]
}

/// Returns values that every policy permits.
fn permitted<S: Element>(target: ElementType, count: usize, random: &mut Random) -> Vec<S> {
    // A pattern of prime length: no two tasks, tiles or cache lines have the same values.
    let pattern = Answers::<S>::random(target, ConversionPolicy::Exact, 4099, usize::MAX, random).values;
    pattern.iter().copied().cycle().take(count).collect()
}

fn refused_values<S: Element>(target: ElementType, random: &mut Random) -> Vec<S> {
    let wild = Answers::<S>::random(target, ConversionPolicy::Checked, 100, 1, random);
    (0..100).filter(|&index| wild.is_refused(index)).map(|index| wild.values[index]).collect()
}

/// Returns offsets of elements in several parts, for any way of cutting the window, but not the first element. The
/// first one in memory differs from the first one in row-major order if the two orders differ.
fn scattered(geometry: Geometry) -> [usize; 5] {
    let Geometry { rows, columns, row_stride, column_stride } = geometry;
    let (last_row, last_column) = (rows - 1, columns - 1);
    let positions = [
        (last_row, if rows == 1 { last_column / 2 } else { 0 }),
        (last_row * 3 / 4, last_column / 3),
        (rows / 2, last_column / 2),
        (rows / 3, last_column),
        (last_row, last_column),
    ];
    positions.map(|(row, column)| row * row_stride + column * column_stride)
}

#[test]
fn large_windows_are_converted_alike_by_any_number_of_threads() {
    fn test<S: Element>(target: ElementType, pools: &[ThreadPool], random: &mut Random) {
        let count = MIN_BYTES / (size_of::<S>() + target.size_in_bytes()) * 9 / 8;
        for geometry in geometries(count) {
            let count = geometry.rows * geometry.columns;
            let wild = (0..4099).map(|_| value(random)).collect::<Vec<S>>();
            let wild: Vec<S> = wild.into_iter().cycle().take(span(geometry)).collect();
            let answers = Answers::new(target, ConversionPolicy::Saturate, wild);
            let (mut dense, mut strided) = (memory(target, count), memory(target, span(geometry)));
            for pool in pools {
                pool.install(|| {
                    let case = |call| Case { call, geometry, start: 0, at: 0 };
                    answers.run(case([Call::Read, Call::ReadOver, Call::ToArray][random.below(3)]), &mut *dense);
                    let call = Call::Write { keep_unchanged: random.below(2) == 0 };
                    answers.run(case(call), &mut *strided);
                });
            }
        }
    }
    let (pools, mut random) = (pools(), Random(0x5EED_0301));
    for (source, target) in pairs() {
        match_element!(source, S => test::<S>(target, &pools, &mut random));
    }
}

#[test]
fn the_first_of_several_refused_values_is_named_by_any_number_of_threads() {
    fn test<S: Element>(target: ElementType, pools: &[ThreadPool], random: &mut Random) {
        // Checks read the source only.
        let count = MIN_BYTES / size_of::<S>() * 9 / 8;
        let (refused, permitted) = (refused_values::<S>(target, random), permitted::<S>(target, 5 * count, random));
        if refused.is_empty() {
            return;
        }
        for geometry in geometries(count) {
            let mut values = permitted[..span(geometry)].to_vec();
            for (place, offender) in scattered(geometry).into_iter().zip(refused.iter().cycle()) {
                values[place] = *offender;
            }
            let policy = [ConversionPolicy::Checked, ConversionPolicy::Exact][random.below(2)];
            let answers = Answers::new(target, policy, values);
            let mut memory = memory(target, span(geometry));
            for pool in pools {
                pool.install(|| {
                    let call = CALLS[random.below(CALLS.len())];
                    answers.run(Case { call, geometry, start: 0, at: 0 }, &mut *memory);
                });
            }
        }
    }
    let (pools, mut random) = (pools(), Random(0x5EED_0302));
    for (source, target) in [PAIRS[0], PAIRS[1], PAIRS[2]] {
        match_element!(source, S => test::<S>(target, &pools, &mut random));
    }
}

#[test]
fn reports_on_large_windows_are_the_same_for_any_number_of_threads() {
    fn test<S: Element>(target: ElementType, pools: &[ThreadPool], random: &mut Random) {
        let count = MIN_BYTES / size_of::<S>() * 9 / 8;
        for geometry in geometries(count) {
            let mut values = permitted::<S>(target, span(geometry), random);
            for place in scattered(geometry) {
                values[place] = value(random);
            }
            let answers = Answers::new(target, ConversionPolicy::Saturate, values);
            pools.iter().for_each(|pool| pool.install(|| answers.report(geometry, 0)));
        }
    }
    let (pools, mut random) = (pools(), Random(0x5EED_0303));
    for (source, target) in [PAIRS[0], PAIRS[1], PAIRS[2]] {
        match_element!(source, S => test::<S>(target, &pools, &mut random));
    }
}

#[test]
fn a_window_is_converted_alike_just_below_and_above_the_size_that_is_cut() {
    let (pools, mut random) = (pools(), Random(0x5EED_0304));
    for count in [MIN_BYTES / 2 - 1, MIN_BYTES / 2, MIN_BYTES / 2 + 1, MIN_BYTES / 2 + 65] {
        let wild = (0..count).map(|_| random.next() as i8).collect();
        let answers = Answers::<i8>::new(ElementType::U8, ConversionPolicy::Saturate, wild);
        let mut memory = memory(ElementType::U8, count);
        for pool in &pools {
            for call in [Call::ReadOver, Call::ToArray, Call::Write { keep_unchanged: false }] {
                let case = Case { call, geometry: shape(1, count, 1, 1), start: 0, at: 0 };
                pool.install(|| answers.run(case, &mut *memory));
            }
        }
    }
}

/// A table of `f64` with fractions that a block of `i16` does not show.
#[test]
fn a_large_block_changes_only_what_was_changed_whatever_the_number_of_threads() {
    let pools = pools();
    let count = MIN_BYTES / (size_of::<f64>() + size_of::<i16>()) * 9 / 8;
    for geometry in geometries(count) {
        let before: Vec<f64> = (0..span(geometry)).map(|index| (index % 30_011) as f64 + 0.25).collect();
        let places: Vec<usize> = offsets(geometry).collect();
        let shown = |place: usize| before[place] as i16;
        // One in three values is changed.
        let mut block: Vec<i16> = places.iter().map(|&place| shown(place) - i16::from(place % 3 == 1)).collect();
        let mut expected = before.clone();
        for (&place, &value) in places.iter().zip(&block).filter(|&(&place, &value)| value != shown(place)) {
            expected[place] = value.into();
        }
        let rule = WriteRule { policy: ConversionPolicy::Exact, keep_unchanged: true };
        for pool in &pools {
            let mut values = before.clone();
            let window = WindowMut::new(&mut values, geometry).unwrap();
            pool.install(|| f64::write(window, AnySlice::new(&block), rule, Origin::default())).unwrap();
            assert!(are_same(&values, &expected), "{geometry:?}");
        }
        // A table of i8 that is shown as i16, and cannot hold two of the values: writing is all or nothing.
        let before = vec![7_i8; span(geometry)];
        let refused = places.len() * 2 / 3;
        block.iter_mut().for_each(|value| *value = 7);
        block[refused] = 128;
        *block.last_mut().unwrap() = -129;
        block[0] = 8;
        for (pool, keep_unchanged) in pools.iter().zip([true, false, true]) {
            let mut values = before.clone();
            let window = WindowMut::new(&mut values, geometry).unwrap();
            let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged };
            let result = pool.install(|| i8::write(window, AnySlice::new(&block), rule, Origin::default()));
            let Err(ErrorKind::ValueNotRepresentable { row, column, .. }) = result.map_err(Error::into_kind) else {
                panic!("{geometry:?}")
            };
            assert_eq!((row, column), (refused / geometry.columns, refused % geometry.columns), "{geometry:?}");
            assert!(values == before, "{geometry:?}");
        }
    }
}

#[test]
fn large_windows_are_converted_alike_at_every_level_by_several_threads() {
    let (pools, mut random) = (pools(), Random(0x5EED_0305));
    let count = MIN_BYTES / (size_of::<f32>() + size_of::<u16>()) * 9 / 8;
    let answers = Answers::<f32>::random(ElementType::Bf16, ConversionPolicy::Saturate, count, 1, &mut random);
    let mut memory = memory(ElementType::Bf16, count);
    let pool = &pools[2];
    for level in levels() {
        for call in [Call::ReadOver, Call::ToArray, Call::Write { keep_unchanged: true }] {
            let case = Case { call, geometry: shape(1, count, 1, 1), start: 0, at: 0 };
            pool.install(|| with_level(level, || answers.run(case, &mut *memory)));
        }
    }
}
