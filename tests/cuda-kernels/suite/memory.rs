//! Filling, and copying columns and rows.

use cuda_kernels_tests::Emulator;
use cuda_kernels_tests::base::element::Element;
use half::bf16;

use crate::source::{Move, memory_entry};
use crate::support::{Random, bits_of, emulator, of_bits};

#[test]
fn every_alignment_and_length_is_filled() {
    fn check<T: Element>(emulator: &Emulator, random: &mut Random) {
        let kernel = emulator.kernel(&memory_entry(Move::Fill, T::TYPE));
        for _ in 0..60 {
            let (to, count) = (random.below(40), random.below(3000));
            let value = of_bits::<T>(random.next());
            let mut output = vec![T::default(); to + count + 20];
            let arguments = [output[to..].as_mut_ptr() as u64, count as u64, bits_of(value)];
            // SAFETY: the output has that number of values; the arguments are those of `fill_W`.
            unsafe { emulator.launch(kernel, random.below(3) as u32 + 1, false, &arguments) };
            for (i, &found) in output.iter().enumerate() {
                let wanted = if (to..to + count).contains(&i) { bits_of(value) } else { 0 };
                assert_eq!(bits_of(found), wanted, "{}: {count} from {to}, at {i}", T::TYPE);
            }
        }
    }

    let Some(emulator) = emulator() else { return };
    let mut random = Random(19);
    check::<u8>(emulator, &mut random);
    check::<bf16>(emulator, &mut random);
    check::<f32>(emulator, &mut random);
    check::<i64>(emulator, &mut random);
}

#[test]
fn values_are_counted_up_and_gathered() {
    fn check<T: Element>(emulator: &Emulator, random: &mut Random) {
        let count_up = emulator.kernel(&memory_entry(Move::CountUp, T::TYPE));
        let gather = emulator.kernel(&memory_entry(Move::Gather, T::TYPE));
        let mask = u64::MAX >> (64 - 8 * size_of::<T>());
        for round in 0..40 {
            let (count, blocks) = (random.below(3000), random.below(3) as u32 + 1);
            let (start, step) = (random.next(), random.next() >> random.below(64));
            let mut output = vec![T::default(); count + 3];
            let arguments = [output.as_mut_ptr() as u64, count as u64, start, step];
            // SAFETY: the output has that number of values; the arguments are those of `count_up_W`.
            unsafe { emulator.launch(count_up, blocks, false, &arguments) };
            for (i, &found) in output.iter().enumerate() {
                let wanted = if i < count { start.wrapping_add(step.wrapping_mul(i as u64)) & mask } else { 0 };
                assert_eq!(bits_of(found) & mask, wanted, "{}: {start} {step}, at {i}", T::TYPE);
            }

            let input: Vec<T> = (0..random.below(500) + 1).map(|_| of_bits(random.next())).collect();
            let mut indices: Vec<u64> = (0..count).map(|_| random.below(input.len()) as u64).collect();
            let mut first_wrong = u64::MAX;
            if round % 2 == 1 && count > 0 {
                for wrong in [input.len() as u64, u64::MAX] {
                    let place = random.below(count);
                    indices[place] = wrong;
                    first_wrong = first_wrong.min(place as u64);
                }
            }
            let mut refused = u64::MAX;
            let (from, to) = (input.as_ptr() as u64, output.as_mut_ptr() as u64);
            let chosen = [indices.as_ptr() as u64, count as u64];
            let arguments = [from, input.len() as u64, chosen[0], chosen[1], to, &raw mut refused as u64];
            // SAFETY: the output has as many values as there are indices; the arguments are those of `gather_W`.
            unsafe { emulator.launch(gather, blocks, false, &arguments) };
            assert_eq!(refused, first_wrong);
            for (&found, &index) in output.iter().zip(&indices) {
                let wanted = input.get(index as usize).map_or(0, |&value| bits_of(value));
                assert_eq!(bits_of(found), wanted, "{}: index {index}", T::TYPE);
            }
        }
    }

    let Some(emulator) = emulator() else { return };
    let mut random = Random(23);
    check::<u8>(emulator, &mut random);
    check::<bf16>(emulator, &mut random);
    check::<f32>(emulator, &mut random);
    check::<i64>(emulator, &mut random);
}

#[test]
fn columns_and_rows_of_both_layouts_are_copied() {
    fn check<T: Element>(emulator: &Emulator, random: &mut Random) {
        let columns_kernel = emulator.kernel(&memory_entry(Move::GatherColumns, T::TYPE));
        let rows_kernel = emulator.kernel(&memory_entry(Move::GatherRows, T::TYPE));
        for round in 0..24 {
            let (rows, columns) = (random.below(200), random.below(30) + 1);
            let is_column_major = round % 2 == 1;
            let place = |row: usize, column: usize, (rows, columns): (usize, usize)| match is_column_major {
                true => column * rows + row,
                false => row * columns + column,
            };
            let input: Vec<T> = (0..rows * columns).map(|_| of_bits(random.next())).collect();
            let blocks = random.below(3) as u32 + 1;
            let table = [input.as_ptr() as u64, rows as u64, columns as u64, u64::from(is_column_major)];

            let selected: Vec<usize> = (0..random.below(40)).map(|_| random.below(columns)).collect();
            let mut output = vec![T::default(); rows * selected.len()];
            let rest = [selected.as_ptr() as u64, selected.len() as u64, output.as_mut_ptr() as u64];
            // SAFETY: the columns are those of the table, and the output has room for them; the arguments are those of
            // `gather_columns_W`.
            unsafe { emulator.launch(columns_kernel, blocks, false, &[&table[..], &rest].concat()) };
            for row in 0..rows {
                for (i, &column) in selected.iter().enumerate() {
                    let found = output[place(row, i, (rows, selected.len()))];
                    assert_eq!(bits_of(found), bits_of(input[place(row, column, (rows, columns))]));
                }
            }

            let first = random.below(rows + 1);
            let count = random.below(rows - first + 1);
            let mut output = vec![T::default(); count * columns];
            let rest = [first as u64, count as u64, output.as_mut_ptr() as u64];
            // SAFETY: the rows are those of the table, and the output has room for them; the arguments are those of
            // `gather_rows_W`.
            unsafe { emulator.launch(rows_kernel, blocks, false, &[&table[..], &rest].concat()) };
            for row in 0..count {
                for column in 0..columns {
                    let found = output[place(row, column, (count, columns))];
                    assert_eq!(bits_of(found), bits_of(input[place(first + row, column, (rows, columns))]));
                }
            }
        }
    }

    let Some(emulator) = emulator() else { return };
    let mut random = Random(23);
    check::<i8>(emulator, &mut random);
    check::<i16>(emulator, &mut random);
    check::<u32>(emulator, &mut random);
    check::<f64>(emulator, &mut random);
}
