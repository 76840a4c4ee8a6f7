//! Statistics of columns, against those of the CPU.

use cuda_kernels_tests::Emulator;
use cuda_kernels_tests::base::element::Element;
use half::{bf16, f16};
use numeric_table::statistics::{BasicStatistics, ColumnStatistics};

use crate::source::{MERGE_ENTRY, group_rows, statistics_entry};
use crate::support::{Random, emulator, of_bits};

/// The moments of one column, as the kernels write them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moments {
    finite: u64,
    nan: u64,
    positive_infinities: u64,
    negative_infinities: u64,
    minimum: f64,
    maximum: f64,
    /// The number is the sum of both, of which the first is the nearest `f64`.
    sum: [f64; 2],
    centered: [f64; 2],
}

impl Moments {
    /// Returns whether no sum overflowed.
    fn is_finite(&self) -> bool {
        self.sum.iter().chain(&self.centered).all(|part| part.is_finite())
    }
}

/// The moments of the columns of a table in row-major order, computed in one layout.
fn moments<S: Element>(
    emulator: &Emulator,
    values: &[S],
    columns: usize,
    (is_column_major, is_scaled): (bool, bool),
    blocks: u32,
) -> Vec<Moments> {
    let rows = values.len() / columns;
    let by_columns = || (0..columns).flat_map(|column| values.iter().skip(column).step_by(columns).copied()).collect();
    let table: Vec<S> = if is_column_major { by_columns() } else { values.to_vec() };
    let (row_stride, column_stride) = if is_column_major { (1, rows) } else { (columns, 1) };
    let group_rows = group_rows(rows, columns, is_column_major);
    let groups = rows.div_ceil(group_rows);
    let mut parts = vec![Moments::default(); groups * columns];
    let mut all = vec![Moments::default(); columns];
    let shape = [row_stride as u64, column_stride as u64, rows as u64, columns as u64, group_rows as u64];
    let arguments = [&[table.as_ptr() as u64][..], &shape, &[u64::from(is_scaled), parts.as_mut_ptr() as u64]].concat();
    // SAFETY: the table has these rows and columns, `parts` has room for the columns of each group; the arguments are
    // those of `statistics_S`.
    unsafe { emulator.launch(emulator.kernel(&statistics_entry(S::TYPE)), blocks, true, &arguments) };
    let arguments = [parts.as_ptr() as u64, groups as u64, columns as u64, all.as_mut_ptr() as u64];
    // SAFETY: `all` has room for each column; the arguments are those of `statistics_merge`.
    unsafe { emulator.launch(emulator.kernel(MERGE_ENTRY), blocks, true, &arguments) };
    all
}

/// Compares the moments of a table with the statistics of the CPU: sums to the last digit, deviations to `tolerance`.
fn check<S: Element + numeric_table::Element>(emulator: &Emulator, values: &[S], columns: usize, tolerance: f64) {
    let mut expected = BasicStatistics::new(columns).unwrap();
    expected.update_values(values).unwrap();
    for is_column_major in [false, true] {
        let found = moments(emulator, values, columns, (is_column_major, false), 2);
        assert_eq!(
            format!("{found:?}"),
            format!("{:?}", moments(emulator, values, columns, (is_column_major, false), 5))
        );
        for (column, (found, expected)) in found.iter().zip(expected.per_column()).enumerate() {
            let name = <S as Element>::TYPE;
            compare(found, expected, tolerance, &format!("{name}, column {column} of {columns}"));
        }
    }
}

fn compare(found: &Moments, expected: &ColumnStatistics, tolerance: f64, name: &str) {
    let counts = (found.finite + found.positive_infinities + found.negative_infinities, found.nan);
    assert_eq!(counts, (expected.count(), expected.nan_count()), "{name}");
    assert_eq!(found.positive_infinities + found.negative_infinities, expected.infinity_count(), "{name}");
    assert!(found.is_finite(), "{name}: {found:?}");
    if found.finite == 0 {
        assert_eq!((found.minimum, found.maximum), (f64::INFINITY, f64::NEG_INFINITY));
        assert_eq!((found.sum, found.centered), ([0.0; 2], [0.0; 2]));
        return;
    }
    if expected.infinity_count() == 0 {
        assert_eq!((found.minimum, found.maximum), (expected.minimum(), expected.maximum()), "{name}");
        assert_eq!(found.sum[0] + found.sum[1], expected.sum(), "{name}: {found:?}");
        let (centered, wanted) = (found.centered[0] + found.centered[1], expected.sum_squares_centered());
        let error = (centered - wanted).abs();
        assert!(error <= tolerance * wanted, "{name}: {centered:e} is not {wanted:e}, error {:e}", error / wanted);
    }
}

#[test]
fn statistics_of_random_bits_are_those_of_the_cpu() {
    fn check_type<S: Element + numeric_table::Element>(emulator: &Emulator, random: &mut Random) {
        for (rows, columns) in [(1, 1), (3, 2), (17, 5), (700, 16), (300, 67), (9000, 1), (300, 3)] {
            // All bits, but of the exponents that are furthest from overflow in squares.
            let is_f64 = size_of::<S>() == 8 && <S as Element>::TYPE.to_string() == "f64";
            let mut pick = || match random.next() {
                bits if is_f64 => of_bits(bits & !(0xFFF << 52) | (bits >> 63) << 63 | (1000 + bits % 40) << 52),
                bits => of_bits(bits),
            };
            let values: Vec<S> = (0..rows * columns).map(|_| pick()).collect();
            check(emulator, &values, columns, 1e-14);
        }
    }

    let Some(emulator) = emulator() else { return };
    let mut random = Random(29);
    check_type::<i8>(emulator, &mut random);
    check_type::<u8>(emulator, &mut random);
    check_type::<i16>(emulator, &mut random);
    check_type::<u16>(emulator, &mut random);
    check_type::<i32>(emulator, &mut random);
    check_type::<u32>(emulator, &mut random);
    check_type::<i64>(emulator, &mut random);
    check_type::<u64>(emulator, &mut random);
    check_type::<f16>(emulator, &mut random);
    check_type::<bf16>(emulator, &mut random);
    check_type::<f32>(emulator, &mut random);
    check_type::<f64>(emulator, &mut random);
}

#[test]
fn nan_and_infinities_are_counted_and_left_out() {
    let Some(emulator) = emulator() else { return };
    let mut random = Random(31);
    for rare in [1, 2, 5, 100] {
        let mut pick = || match (random.below(rare), random.below(3)) {
            (0, 0) => f64::NAN,
            (0, 1) => f64::INFINITY,
            (0, _) => f64::NEG_INFINITY,
            _ => random.below(1000) as f64 / 7.0 + 1e6,
        };
        let values: Vec<f64> = (0..3000).map(|_| pick()).collect();
        check(emulator, &values, 3, 1e-14);
        check(emulator, &values.iter().map(|&value| value as f32).collect::<Vec<_>>(), 3, 1e-14);
        check(emulator, &values.iter().map(|&value| f16::from_f64(value)).collect::<Vec<_>>(), 1, 1e-14);
        // Only NaN is left out here, so that everything else is compared.
        let finite = |&value: &f64| if value.is_infinite() { f64::NAN } else { value };
        check(emulator, &values.iter().map(finite).collect::<Vec<_>>(), 2, 1e-14);
    }
    let empty = moments(emulator, &[f32::NAN; 600], 2, (false, false), 1);
    assert!(empty.iter().all(|column| (column.finite, column.nan) == (0, 300)));
}

/// Small deviations from large means, and first values that are far from the others.
#[test]
fn deviations_are_accurate_where_digits_cancel() {
    let Some(emulator) = emulator() else { return };
    let mut random = Random(37);
    for rows in [500, 20_000] {
        for mean in [0.0, 1e3, 1e9, 1e15, -1e12] {
            let values: Vec<f64> = (0..rows).map(|_| mean + random.below(1000) as f64 / 1000.0).collect();
            check(emulator, &values, 1, 1e-13);
            check(emulator, &values, 4, 1e-13);
            // The first values, and one row, far away.
            for outliers in [1, 8, 20] {
                let mut values = values.clone();
                values[..outliers].fill(mean + 1e7);
                values[rows / 2] = 0.0;
                check(emulator, &values, 1, 1e-13);
                check(emulator, &values, 4, 1e-13);
            }
        }
        let trend: Vec<f64> = (0..rows).map(|row| 1e8 + row as f64 * 0.1).collect();
        check(emulator, &trend, 1, 1e-13);
        let integers: Vec<i32> = (0..rows).map(|row| i32::MAX - (row as i32 * 7919) % 1000).collect();
        check(emulator, &integers, 2, 1e-13);
        let cancel: Vec<f64> = [1e16, 1.0, -1e16, 1e-3].into_iter().cycle().take(rows).collect();
        check(emulator, &cancel, 1, 1e-13);
    }
    for value in [0.1, -1e9, 1e300] {
        let equal = moments(emulator, &vec![value; 30_000], 1, (false, false), 2)[0];
        assert_eq!(equal.centered, [0.0; 2], "{value}");
    }
}

#[test]
fn sums_beyond_the_range_are_found_and_computed_at_a_smaller_scale() {
    let Some(emulator) = emulator() else { return };
    let (up, near) = (2_f64.powi(600), |a: f64, b: f64| ((a - b) / b).abs() < 1e-15);
    for values in [vec![f64::MAX, f64::MAX, -1e300, 3e307], vec![1e200, -1e200, 3e199]] {
        let found = moments(emulator, &values, 1, (false, false), 1)[0];
        assert!(!found.is_finite(), "{found:?}");
        let small = moments(emulator, &values, 1, (false, true), 1)[0];
        assert!(small.is_finite());
        let mut expected = BasicStatistics::new(1).unwrap();
        expected.update_values(&values).unwrap();
        let (expected, count) = (expected.column(0).unwrap(), values.len() as f64);
        assert_eq!((small.minimum, small.maximum), (expected.minimum(), expected.maximum()));
        assert!(near(small.sum[0] / count * up, expected.mean()), "{small:?}");
        let deviation = (small.centered[0] / (count - 1.0)).sqrt() * up;
        assert!(near(deviation, expected.standard_deviation()), "{small:?}");
    }
}

#[test]
fn data_sets_of_nist_are_as_accurate_as_on_the_cpu() {
    let Some(emulator) = emulator() else { return };
    for name in ["lew", "lottery", "mavro", "michelso"] {
        let text = std::fs::read_to_string(format!("../../data/nist/{name}.txt")).unwrap();
        let values: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
        check(emulator, &values, 1, 4e-15);
    }
    // NumAcc3 and NumAcc4: 1000000.1 and 10000000.1 with deviations of 0.1; the variance is 0.01 exactly.
    for base in [1_000_000.0, 10_000_000.0] {
        let values: Vec<f64> =
            (0..1001).map(|i| base + [0.2, 0.1, 0.3][if i == 0 { 0 } else { 1 + (i - 1) % 2 }]).collect();
        check(emulator, &values, 1, 1e-14);
    }
}

#[test]
fn halves_are_read_as_numbers() {
    let Some(emulator) = emulator() else { return };
    let values = [1.0, -3.0, 100.0].map(bf16::from_f32);
    let found = moments(emulator, &values, 1, (false, false), 1)[0];
    assert_eq!((found.minimum, found.maximum, found.sum[0]), (-3.0, 100.0, 98.0));
}
