//! Tables: with strides, and transposed.

use cuda_kernels_tests::Emulator;
use cuda_kernels_tests::base::element::Element;
use half::{bf16, f16};

use crate::source::{Form, convert_entry};
use crate::support::{Random, bits_of, each_pair, emulators, permits, some_values};

/// Returns a table of random values, and what the rule says of them: bits, and whether a policy refuses them.
fn table<S: Element, T: Element>(
    pool: &[S],
    count: usize,
    policy: i32,
    random: &mut Random,
) -> (Vec<S>, Vec<u64>, Vec<bool>) {
    // Mostly small integers, which fit everywhere: so that the first refused value may be anywhere.
    let small: Vec<S> =
        (0..100_i128).map(|value| S::nearest(cuda_kernels_tests::number::Exact::Integer(value))).collect();
    let rare = random.below(3000) + 1;
    let pick = |random: &mut Random| match random.below(rare) {
        0 => pool[random.below(pool.len())],
        _ => small[random.below(small.len())],
    };
    let input: Vec<S> = (0..count).map(|_| pick(random)).collect();
    let expected = |&value: &S| if S::TYPE == T::TYPE { bits_of(value) } else { bits_of(T::nearest(value.exact())) };
    let refused = input.iter().map(|value| !permits(policy, T::loss(value.exact()))).collect();
    let expected = input.iter().map(expected).collect();
    (input, expected, refused)
}

#[test]
fn tables_of_any_shape_are_transposed() {
    fn check<S: Element, T: Element>(emulator: &Emulator, random: &mut Random, shapes: &[(usize, usize)]) {
        let kernel = emulator.kernel(&convert_entry(Form::Transposed, S::TYPE, T::TYPE));
        let pool = some_values();
        for &(rows, columns) in shapes {
            let policy = random.below(3) as i32;
            let (input, expected, losses) = table::<S, T>(&pool, rows * columns, policy, random);
            // Also where no word begins.
            let (from, to) = (random.below(4), random.below(4));
            let mut padded = vec![S::default(); from];
            padded.extend(&input);
            let mut output = vec![T::default(); to + rows * columns + 4];
            let mut refused = u64::MAX;
            let (at, out) = (padded[from..].as_ptr() as u64, output[to..].as_mut_ptr() as u64);
            let arguments = [at, out, rows as u64, columns as u64, policy as u64, &raw mut refused as u64];
            // SAFETY: both sides have that number of values; the arguments are those of `convert_transposed_{S}_{T}`.
            unsafe { emulator.launch(kernel, random.below(4) as u32 + 1, true, &arguments) };
            let place = format!("{} to {}, {rows} x {columns}, {from}, {to}", S::TYPE, T::TYPE);
            let first = losses.iter().position(|&is_refused| is_refused).map_or(u64::MAX, |index| index as u64);
            assert_eq!(refused, first, "{place}, policy {policy}");
            for column in 0..columns {
                for row in 0..rows {
                    let found = bits_of(output[to + column * rows + row]);
                    assert_eq!(found, expected[row * columns + column], "{place}: at {row}, {column}");
                }
            }
            let around = output[..to].iter().chain(&output[to + rows * columns..]);
            assert!(around.into_iter().all(|&value| bits_of(value) == 0), "{place}: written outside");
        }
    }

    for emulator in emulators() {
        let mut random = Random(13);
        each_pair!(check, emulator, &mut random, &[(300, 16), (37, 5), (70, 131), (3, 700)]);
        let widths = [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 100, 128, 130, 257];
        let heights = [0, 1, 2, 3, 5, 16, 31, 32, 63, 64, 65, 127, 129, 500];
        let shapes: Vec<_> = heights.into_iter().flat_map(|rows| widths.map(|columns| (rows, columns))).collect();
        check::<u8, u8>(emulator, &mut random, &shapes);
        check::<f32, i16>(emulator, &mut random, &shapes);
        check::<i16, u8>(emulator, &mut random, &shapes);
        check::<u8, i16>(emulator, &mut random, &shapes);
        check::<f32, f32>(emulator, &mut random, &shapes);
        check::<u8, f64>(emulator, &mut random, &shapes);
        let tall = [(9000, 1), (9000, 2), (5000, 3), (1, 9000), (2, 6000), (40, 5000)];
        check::<f64, f32>(emulator, &mut random, &tall);
        check::<f16, u8>(emulator, &mut random, &tall);
    }
}

#[test]
fn tables_with_any_strides_are_converted() {
    fn check<S: Element, T: Element>(emulator: &Emulator, random: &mut Random) {
        let kernel = emulator.kernel(&convert_entry(Form::Strided, S::TYPE, T::TYPE));
        let pool = some_values();
        for round in 0..12 {
            let (rows, columns) = match round {
                0 => (random.below(3000) + 1, random.below(3) + 1),
                1 => (random.below(3) + 1, random.below(3000) + 1),
                _ => (random.below(40), random.below(40)),
            };
            let policy = random.below(3) as i32;
            let (input, expected, losses) = table::<S, T>(&pool, rows * columns, policy, random);
            let (from, to) = (Places::random(rows, columns, random), Places::random(rows, columns, random));
            let mut source = vec![S::default(); from.room];
            let mut output = vec![T::default(); to.room];
            for row in 0..rows {
                for column in 0..columns {
                    source[from.at(row, column)] = input[row * columns + column];
                }
            }
            let mut refused = u64::MAX;
            // SAFETY: the first value lies in the slice, or there is none.
            let (at, out) = unsafe { (source.as_ptr().add(from.first), output.as_mut_ptr().add(to.first)) };
            let shape = [rows as u64, columns as u64, policy as u64, &raw mut refused as u64];
            let sides = [at as u64, from.row as u64, from.column as u64, out as u64, to.row as u64, to.column as u64];
            // SAFETY: all places lie in the slices; the arguments are those of `convert_strided_{S}_{T}`.
            unsafe { emulator.launch(kernel, random.below(4) as u32 + 1, false, &[&sides[..], &shape].concat()) };
            let place = format!("{} to {}, {rows} x {columns}, {from:?}, {to:?}", S::TYPE, T::TYPE);
            let first = losses.iter().position(|&is_refused| is_refused).map_or(u64::MAX, |index| index as u64);
            assert_eq!(refused, first, "{place}, policy {policy}");
            let mut wanted = vec![0; to.room];
            for row in 0..rows {
                for column in 0..columns {
                    wanted[to.at(row, column)] = expected[row * columns + column];
                }
            }
            assert!(output.iter().map(|&value| bits_of(value)).eq(wanted), "{place}");
        }
    }

    for emulator in emulators() {
        each_pair!(check, emulator, &mut Random(17));
    }
}

/// Places of a table's values, no two of them the same. Strides may be negative.
#[derive(Debug)]
struct Places {
    first: usize,
    row: i64,
    column: i64,
    room: usize,
}

impl Places {
    fn random(rows: usize, columns: usize, random: &mut Random) -> Self {
        let near = random.below(3) as i64 + 1;
        let is_row_major = random.below(2) == 0;
        let far = near * if is_row_major { columns } else { rows } as i64 + random.below(3) as i64;
        let (row, column) = if is_row_major { (far, near) } else { (near, far) };
        let mut sign = || if random.below(2) == 0 { 1 } else { -1 };
        let (row, column) = (row * sign(), column * sign());
        let last = |count: usize, stride: i64| count.saturating_sub(1) as i64 * stride;
        let (down, right) = (last(rows, row), last(columns, column));
        let first = (-down).max(0) + (-right).max(0);
        let room = first + down.max(0) + right.max(0) + 1;
        Self { first: first as usize, row, column, room: room as usize }
    }

    fn at(&self, row: usize, column: usize) -> usize {
        (self.first as i64 + row as i64 * self.row + column as i64 * self.column) as usize
    }
}
