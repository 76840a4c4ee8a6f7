//! Standardizing in place, and the means and deviations for it, against the rules of the CPU.

use cuda_kernels_tests::Emulator;
use cuda_kernels_tests::base::element::Element;
use cuda_kernels_tests::number::Number;
use half::{bf16, f16};
use numeric_table::statistics::BasicStatistics;

use crate::source::{DEVIATIONS_ENTRY, standardize_entry};
use crate::support::{Random, bits_of, emulators, of_bits, some_values};

const WORDS: usize = BasicStatistics::WORDS;
const NAN: u64 = 0x7FF8_0000_0000_0000;

/// The bits of a number; of any NaN, those that the kernels write.
fn number_bits(number: f64) -> u64 {
    if number.is_nan() { NAN } else { number.to_bits() }
}

/// What the rule says of a value: its bits.
fn expected<T: Element>(value: T, [mean, deviation]: [f64; 2]) -> u64 {
    let of = |number: f64| if size_of::<T>() == 8 { number.to_bits() } else { bits_of(T::nearest(number.exact())) };
    let number = if size_of::<T>() == 8 { f64::from_bits(bits_of(value)) } else { f64::nearest(value.exact()) };
    let divisor = if deviation == 0.0 { 1.0 } else { deviation };
    let quotient = (number - mean) / divisor;
    match () {
        () if number.is_nan() => bits_of(value),
        () if (number - mean).is_infinite() => {
            of(f64::from_bits(number_bits((number / 2.0 - mean / 2.0) / divisor * 2.0)))
        }
        () => of(f64::from_bits(number_bits(quotient))),
    }
}

#[test]
fn every_value_is_standardized_by_the_rule_and_no_other_is_written() {
    fn check<T: Element>(emulator: &Emulator, random: &mut Random) {
        let kernel = emulator.kernel(&standardize_entry(T::TYPE));
        let (values, numbers) = (some_values::<T>(), some_values::<f64>());
        for _ in 0..150 {
            let (rows, columns) = match random.below(4) {
                0 => (random.below(3), random.below(2000)),
                1 => (random.below(2000), random.below(3)),
                _ => (random.below(60), random.below(60)),
            };
            let pairs: Vec<[f64; 2]> = (0..columns)
                .map(|_| match random.below(4) {
                    0 => [numbers[random.below(numbers.len())], numbers[random.below(numbers.len())]],
                    1 => [numbers[random.below(numbers.len())], 0.0],
                    2 => [random.below(1000) as f64 / 7.0, random.below(1000) as f64 / 3.0],
                    _ => [1e308 * (random.below(37) as f64 / 10.0 - 1.8), 1e308 * (random.below(18) as f64 / 10.0)],
                })
                .collect();
            let (start, count) = (random.below(20), rows * columns);
            let before: Vec<T> = (0..start + count + 20).map(|_| values[random.below(values.len())]).collect();
            let (mut after, is_column_major, blocks) =
                (before.clone(), random.below(2) == 1, random.below(3) as u32 + 1);
            let address = after[start..].as_mut_ptr() as u64;
            let layout = u64::from(is_column_major);
            let arguments = [address, rows as u64, columns as u64, layout, pairs.as_ptr() as u64];
            // SAFETY: there are values of this shape from `start` on, and two numbers for each column; the arguments are
            // those of `standardize_T`.
            unsafe { emulator.launch(kernel, blocks, false, &arguments) };
            for (place, (&before, &after)) in before.iter().zip(&after).enumerate() {
                let wanted = match place.checked_sub(start).filter(|&index| index < count) {
                    Some(index) if is_column_major => expected(before, pairs[index / rows]),
                    Some(index) => expected(before, pairs[index % columns]),
                    None => bits_of(before),
                };
                let name = T::TYPE;
                assert_eq!(bits_of(after), wanted, "{name}, {rows} x {columns} from {start}, at {place}: {before:?}");
            }
        }
    }

    let mut random = Random(43);
    for emulator in emulators() {
        check::<f16>(emulator, &mut random);
        check::<bf16>(emulator, &mut random);
        check::<f32>(emulator, &mut random);
        check::<f64>(emulator, &mut random);
    }
}

/// Compares the means and deviations of the kernel with those of the library, of the same words.
fn check_words(emulator: &Emulator, plain: &[u64], scaled: &[u64]) {
    let columns = plain.len() / WORDS;
    for blocks in [1, 3] {
        let mut found = vec![[1.0_f64; 2]; columns + 1];
        let arguments = [plain.as_ptr() as u64, scaled.as_ptr() as u64, columns as u64, found.as_mut_ptr() as u64];
        // SAFETY: there are ten words for each column at both places, and room for two numbers; the arguments are those
        // of `means_and_deviations`.
        unsafe { emulator.launch(emulator.kernel(DEVIATIONS_ENTRY), blocks, false, &arguments) };
        for (column, (plain, scaled)) in plain.chunks(WORDS).zip(scaled.chunks(WORDS)).enumerate() {
            let expected = BasicStatistics::from_words(plain, scaled, plain[..4].iter().sum()).unwrap();
            let expected = expected.column(0).unwrap();
            let wanted = [expected.mean(), expected.population_standard_deviation()].map(number_bits);
            assert_eq!(found[column].map(f64::to_bits), wanted, "{:?}, not {expected:?}", found[column]);
        }
        assert_eq!(found[columns], [1.0; 2]);
    }
}

#[test]
fn means_and_deviations_are_those_of_the_library_of_the_same_moments() {
    let huge = |i: usize| f64::MAX * (1.0 - (i % 7) as f64 / 10.0);
    let columns: [&dyn Fn(usize) -> f64; 9] = [
        &|i| i as f64 * 0.1,
        &|i| 1e9 + (i % 13) as f64 * 1e-3,
        &|i| if i % 3 == 0 { f64::NAN } else { -1e-310 * i as f64 },
        &|_| 0.1,
        &huge,
        &|i| huge(i) * if i % 2 == 0 { 1.0 } else { -1.0 },
        &|i| if i == 1 { f64::INFINITY } else { 1.0 },
        &|i| [f64::NEG_INFINITY, 2.0, f64::INFINITY][i % 3],
        &|_| f64::NAN,
    ];
    for emulator in emulators() {
        for rows in [0, 1, 2, 3, 100] {
            let mut statistics = BasicStatistics::new(columns.len()).unwrap();
            let values: Vec<f64> = (0..rows).flat_map(|row| columns.iter().map(move |column| column(row))).collect();
            statistics.update_values(&values).unwrap();
            let [plain, scaled]: [Vec<u64>; 2] =
                [false, true].map(|is_scaled| statistics.to_words(is_scaled).collect());
            check_words(emulator, &plain, &scaled);
        }
        // Any sums that moments can have. Scaled ones are arbitrary unless a part of the plain ones is not finite.
        let (mut random, mut plains, mut scaleds, mut overflows) = (Random(47), Vec::new(), Vec::new(), 0);
        while plains.len() < 4000 * WORDS {
            let mut sum = |is_negative: bool| {
                let high = f64::from_bits(random.next() >> 1);
                let low = high * 2_f64.powi(-54 - random.below(40) as i32);
                match random.below(4) {
                    0 => [f64::INFINITY, f64::NAN],
                    1 => [high, f64::NAN],
                    _ if is_negative && random.below(2) == 0 => [-high, low],
                    _ => [high, low],
                }
            };
            let [mut plain, mut scaled] = [(); 2].map(|()| {
                let [[a, b], [c, d]] = [sum(true), sum(false)].map(|parts| parts.map(f64::to_bits));
                [0, 0, 0, 0, 0, 0, a, b, c, d]
            });
            plain[0] = (random.next() >> random.below(64) >> 1).max(1); // without values, sums are 0
            scaled[4] = random.next();
            plain[5] = 1.0_f64.to_bits();
            if BasicStatistics::from_words(&plain, &scaled, plain[0]).is_some() {
                overflows += usize::from(!f64::from_bits(plain[6]).is_finite());
                plains.extend(plain);
                scaleds.extend(scaled);
            }
        }
        assert!(overflows > 100);
        check_words(emulator, &plains, &scaleds);
    }
}

#[test]
fn halves_are_rounded_once() {
    // 1 + 2^-11 + 2^-25 is just above a tie of f16, which rounding to f32 first would make one.
    let value = f16::from_f64(2.0);
    let pair = [2.0 - (1.0 + 2_f64.powi(-11) + 2_f64.powi(-25)), 1.0];
    assert_eq!(f16::from_bits(expected(value, pair) as u16), f16::from_f64(1.0 + 2_f64.powi(-10)));
    assert_eq!(of_bits::<f64>(expected(f64::MAX, [-f64::MAX, f64::MAX])), 2.0);
    assert_eq!(of_bits::<f64>(expected(f64::MAX, [-f64::MAX / 2.0, f64::MAX])), 1.5);
}
