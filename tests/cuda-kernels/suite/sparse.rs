//! Sparse rows as dense ones.

use cuda_kernels_tests::Emulator;
use cuda_kernels_tests::base::element::Element;
use half::bf16;

use crate::source::sparse_entry;
use crate::support::{Random, bits_of, emulators, of_bits};

/// Numbers in a width, at an address that is a multiple of it.
struct Numbers {
    words: Vec<u64>,
    width: usize,
}

impl Numbers {
    fn new(numbers: &[u64], width: usize) -> Self {
        let mut words = vec![0_u64; numbers.len() * width / 8 + 1];
        for (at, &number) in numbers.iter().enumerate() {
            let first = at * width;
            words[first / 8] |= (number & u64::MAX >> (64 - 8 * width)) << (first % 8 * 8);
        }
        Self { words, width }
    }

    fn arguments(&self) -> [u64; 2] {
        [self.words.as_ptr() as u64, self.width as u64]
    }
}

#[test]
fn sparse_rows_of_any_shape_are_scattered_and_wrong_ones_reported() {
    fn check<T: Element>(emulator: &Emulator, random: &mut Random) {
        let kernel = emulator.kernel(&sparse_entry(T::TYPE));
        for round in 0..60 {
            let (rows, columns) = (random.below(60), random.below(if round % 3 == 0 { 300 } else { 20 }));
            let (offset_width, index_width) = ([2, 4, 8][random.below(3)], [2, 4, 8][random.below(3)]);
            let is_column_major = random.below(2);
            let (mut offsets, mut indices) = (vec![0_u64], Vec::new());
            for _ in 0..rows {
                let share = random.below(5);
                indices.extend((0..columns as u64).filter(|_| random.below(4) < share));
                offsets.push(indices.len() as u64);
            }
            let count = indices.len();
            let values: Vec<T> = (0..count).map(|_| of_bits(random.next())).collect();
            // Of some tables, a row is made wrong: in every way.
            let mut expected = u64::MAX;
            let mut has_wrong = false;
            if round % 2 == 1 && count > 0 {
                has_wrong = true;
                match random.below(3) {
                    0 => offsets[rows] = count as u64 + 1,
                    1 => indices[random.below(count)] = columns as u64 + random.below(3) as u64,
                    _ => {
                        let (from, to) = (random.below(count), random.below(count));
                        indices[to] = indices[from];
                    }
                }
            }
            let mut dense = vec![0_u64; rows * columns];
            let mut is_clear = true;
            for row in 0..rows {
                let (start, end) = (offsets[row], offsets[row + 1]);
                let found = &indices[start as usize..count.min(end as usize)];
                let faults = [
                    end > count as u64,
                    found.iter().any(|&column| column >= columns as u64),
                    found.windows(2).any(|pair| pair[0] >= pair[1] && pair[1] < columns as u64),
                ];
                if let Some(fault) = faults.iter().position(|&is_wrong| is_wrong) {
                    expected = expected.min(4 * row as u64 + fault as u64);
                    is_clear &= !faults[2]; // a cell may be written twice
                }
                for (&column, value) in found.iter().zip(&values[start as usize..]) {
                    if column < columns as u64 {
                        let column = column as usize;
                        let place = if is_column_major == 0 { row * columns + column } else { column * rows + row };
                        dense[place] = bits_of(*value);
                    }
                }
            }
            assert!(has_wrong || expected == u64::MAX);

            let (offsets, indices) = (Numbers::new(&offsets, offset_width), Numbers::new(&indices, index_width));
            let to = random.below(4);
            for lanes in [1, 4, 32] {
                let mut output = vec![T::default(); to + rows * columns + 4];
                let mut refused = u64::MAX;
                let is_reported = lanes != 4;
                let report = if is_reported { &raw mut refused as u64 } else { 0 };
                let sizes = [values.as_ptr() as u64, count as u64, rows as u64, columns as u64, lanes];
                let out = [is_column_major as u64, output[to..].as_mut_ptr() as u64, report];
                let arguments = [&offsets.arguments()[..], &indices.arguments(), &sizes, &out].concat();
                // SAFETY: there is an offset more than rows, as many indices as values, and room for all cells; the
                // arguments are those of `sparse_to_dense_W`.
                unsafe { emulator.launch(kernel, random.below(3) as u32 + 1, false, &arguments) };
                assert_eq!(refused, if is_reported { expected } else { u64::MAX }, "{rows} x {columns}");
                if is_clear {
                    let found = output[to..].iter().map(|&value| bits_of(value)).take(dense.len());
                    assert!(found.eq(dense.iter().copied()), "{}: {rows} x {columns}", T::TYPE);
                }
                let around = output[..to].iter().chain(&output[to + rows * columns..]);
                assert!(around.into_iter().all(|&value| bits_of(value) == 0), "written outside");
            }
        }
    }

    for emulator in emulators() {
        let mut random = Random(29);
        check::<u8>(emulator, &mut random);
        check::<bf16>(emulator, &mut random);
        check::<f32>(emulator, &mut random);
        check::<i64>(emulator, &mut random);
    }
}

#[test]
fn numbers_that_are_garbage_write_nothing_outside() {
    for emulator in emulators() {
        let (kernel, mut random) = (emulator.kernel(&sparse_entry(f32::TYPE)), Random(31));
        for _ in 0..200 {
            let (rows, columns, count) = (random.below(20), random.below(20), random.below(50));
            let width = [1, 2, 4, 8][random.below(4)];
            let limit = random.below(64);
            let garbage = |count: usize, random: &mut Random| -> Vec<u64> {
                (0..count).map(|_| random.next() >> limit).collect()
            };
            let offsets = Numbers::new(&garbage(rows + 1, &mut random), width);
            let indices = Numbers::new(&garbage(count, &mut random), width);
            let values = vec![1.5_f32; count];
            let (mut output, mut refused) = (vec![0.0_f32; rows * columns + 8], u64::MAX);
            let sizes = [values.as_ptr() as u64, count as u64, rows as u64, columns as u64, 1 << random.below(6)];
            let out = [random.below(2) as u64, output[4..].as_mut_ptr() as u64, &raw mut refused as u64];
            let arguments = [&offsets.arguments()[..], &indices.arguments(), &sizes, &out].concat();
            // SAFETY: as above; the kernel takes any numbers.
            unsafe { emulator.launch(kernel, 2, false, &arguments) };
            let around = output[..4].iter().chain(&output[4 + rows * columns..]);
            assert!(around.into_iter().all(|&value| value == 0.0), "written outside");
        }
    }
}
