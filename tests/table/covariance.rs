//! Covariance and correlation matrices: against exact arithmetic and NIST's certified values, and whatever order the
//! work is done in.

use std::path::Path;

use numeric_table::table::spi::{Region, TableId, Target};
use numeric_table::{
    CsrNumericTable, PackedSymmetricMatrix, Partial, SoaNumericTable, prelude::*, statistics::Covariance,
};
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_error, huge, numbered, shape};
use test_support::{SmallNumber, for_each_element};

fn of(table: &dyn NumericTable) -> Covariance {
    Covariance::compute(table).unwrap()
}

fn packed(matrix: &PackedSymmetricMatrix) -> &[f64] {
    matrix.packed().unwrap()
}

/// All numbers of a result, as bits.
fn bits_of(covariance: &Covariance) -> Vec<u64> {
    let products = covariance.cross_product().unwrap();
    covariance.means().iter().chain(packed(&products)).map(|value| value.to_bits()).collect()
}

/// Covariances of a sample, computed with integers of 128 bits.
fn exact(rows: &[Vec<i64>]) -> Vec<f64> {
    let (count, columns) = (rows.len() as i128, rows[0].len());
    let at = |row: &Vec<i64>, column: usize| i128::from(row[column] - rows[0][column]);
    let mut all = Vec::new();
    for i in 0..columns {
        for j in 0..=i {
            let sum = |of: &dyn Fn(&Vec<i64>) -> i128| rows.iter().map(of).sum::<i128>();
            let centred = count * sum(&|row| at(row, i) * at(row, j)) - sum(&|row| at(row, i)) * sum(&|row| at(row, j));
            all.push(centred as f64 / count as f64 / (count - 1) as f64);
        }
    }
    all
}

/// The largest difference, as a share of the larger of both variances.
fn error(found: &[f64], expected: &[f64], columns: usize) -> f64 {
    assert_eq!(found.len(), expected.len());
    let place = |i: usize, j: usize| i * (i + 1) / 2 + j;
    let places = (0..columns).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let errors = places.map(|(i, j)| {
        let scale = (expected[place(i, i)] * expected[place(j, j)]).sqrt();
        (found[place(i, j)] - expected[place(i, j)]).abs() / scale
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn every_number_of_a_small_table_of_every_type_is_right() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            let covariance = of(&numbered::<T>(5, 3, layout)); // each column has steps of 3
            assert_eq!((covariance.row_count(), covariance.column_count()), (5, 3));
            assert_eq!(covariance.means(), [7.0, 8.0, 9.0]);
            assert_eq!(packed(&covariance.cross_product().unwrap()), [90.0; 6]);
            assert_eq!(packed(&covariance.covariance().unwrap()), [22.5; 6]);
            assert_eq!(packed(&covariance.population_covariance().unwrap()), [18.0; 6]);
            let correlation = covariance.correlation().unwrap();
            assert_eq!(packed(&correlation), [1.0; 6]);
        }
    }
    for_each_element!(check);
}

#[test]
fn random_tables_agree_with_exact_arithmetic_however_large_the_values_are_beside_their_deviations() {
    let mut random = Random::new(7);
    for (rows, columns) in [(2, 1), (3, 2), (255, 7), (256, 8), (257, 9), (3000, 11), (260, 131)] {
        for offset in [0, 1_i64 << 20, 1_000_000_007, 1 << 50] {
            let table: Vec<Vec<i64>> = (0..rows)
                .map(|_| {
                    let common = random.below(2000) as i64;
                    (0..columns).map(|_| offset + common + random.below(1000) as i64).collect()
                })
                .collect();
            let values: Vec<f64> = table.iter().flatten().map(|&value| value as f64).collect();
            let table_of_floats = HomogenNumericTable::from_array(values, shape(rows, columns)).unwrap();
            let expected = exact(&table);
            let found = of(&table_of_floats).covariance().unwrap();
            let error = error(packed(&found), &expected, columns);
            assert!(error < 2e-14, "{rows} x {columns}, from {offset}: {error:e}");
            // The same without the offset, which is all that the two have not in common.
            let means = of(&table_of_floats).means();
            let mean = table.iter().map(|row| i128::from(row[0] - offset)).sum::<i128>() as f64 / rows as f64;
            assert!(((means[0] - offset as f64) - mean).abs() <= f64::EPSILON * means[0], "{means:?} {mean}");
        }
    }
}

#[test]
fn certified_variances_are_reached() {
    let from_file = |name: &str| -> Vec<f64> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/nist").join(name);
        std::fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
    };
    let alternating = |first: f64, others: [f64; 2]| -> Vec<f64> {
        std::iter::once(first).chain(others.into_iter().cycle().take(1000)).collect()
    };
    let sets = [
        ("Lew", from_file("lew.txt"), 277.332168044316, 1e-14),
        ("Mavro", from_file("mavro.txt"), 0.000429123454003053, 1e-12), // of which its own rounding costs most
        ("Michelso", from_file("michelso.txt"), 0.0790105478190518, 1e-12),
        ("NumAcc1", vec![10000001.0, 10000003.0, 10000002.0], 1.0, 0.0),
        ("NumAcc3", alternating(1000000.2, [1000000.1, 1000000.3]), 0.1, 1e-8),
        ("NumAcc4", alternating(10000000.2, [10000000.1, 10000000.3]), 0.1, 1e-7),
    ];
    for (name, values, deviation, reachable) in sets {
        // Beside it the same with the opposite sign: columns whose products do not cancel by chance.
        let rows: Vec<f64> = values.iter().flat_map(|&value| [value, 3.0, -value]).collect();
        let table = HomogenNumericTable::from_array(rows, shape(values.len(), 3)).unwrap();
        let found = of(&table).covariance().unwrap();
        let variance = deviation * deviation;
        for (row, column, expected) in [(0, 0, variance), (2, 0, -variance), (2, 2, variance)] {
            let error = (found.value::<f64>(row, column).unwrap() - expected).abs() / variance;
            assert!(error <= reachable * 2.0 + f64::EPSILON, "{name}: {error:e}");
        }
        assert_eq!(found.rows::<f64>(1..2).unwrap()[..], [0.0; 3]);
    }
}

#[test]
fn a_value_that_is_not_finite_makes_only_its_own_column_nan() {
    let mut random = Random::new(3);
    for columns in [3, 20, 140] {
        let values: Vec<f64> = (0..300 * columns).map(|_| random.below(1000) as f64).collect();
        let clean = HomogenNumericTable::from_array(values, shape(300, columns)).unwrap();
        let expected = of(&clean);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut table = clean.clone();
            table.set_value(270, 1, value).unwrap();
            let found = of(&table);
            let (found_matrix, expected_matrix) = (found.covariance().unwrap(), expected.covariance().unwrap());
            for i in 0..columns {
                assert_eq!(found.means()[i].is_nan(), i == 1);
                for j in 0..=i {
                    let found = found_matrix.value::<f64>(i, j).unwrap();
                    match i == 1 || j == 1 {
                        true => assert!(found.is_nan()),
                        false => assert_eq!(found, expected_matrix.value::<f64>(i, j).unwrap()),
                    }
                }
            }
            assert!(found.correlation().unwrap().value::<f64>(1, 1).unwrap().is_nan());
        }
    }
}

#[test]
fn equal_values_have_no_deviation_and_values_near_the_limits_have_means() {
    for value in [0.1, 1e9 + 0.3, -1e-300, f64::MAX, f64::MIN_POSITIVE / 4.0] {
        let table = HomogenNumericTable::full(shape(5001, 2), value).unwrap();
        let covariance = of(&table);
        assert_eq!(covariance.means(), [value; 2]);
        assert_eq!(packed(&covariance.covariance().unwrap()), [0.0; 3]);
        assert!(packed(&covariance.correlation().unwrap()).iter().all(|value| value.is_nan()));
    }
}

#[test]
fn correlations_of_very_small_and_very_large_values_are_right() {
    for (small, large) in [(1e-120, 1e120), (1e-140, 1e-140), (1e140, 1e140), (1.0, 1e-150)] {
        let rows = [[small, 3.0 * large], [2.0 * small, 5.0 * large], [3.0 * small, 4.0 * large]];
        let correlation = of(&HomogenNumericTable::from_rows(&rows).unwrap()).correlation().unwrap();
        let found = packed(&correlation);
        assert!(
            found[0] == 1.0 && (found[1] - 0.5).abs() < 1e-12 && found[2] == 1.0,
            "{small:e}, {large:e}: {found:?}"
        );
    }
}

#[test]
fn what_no_row_defines_is_nan() {
    let mut covariance = Covariance::new(2).unwrap();
    let all_nan = |matrix: PackedSymmetricMatrix| packed(&matrix).iter().all(|value| value.is_nan());
    assert!(covariance.means().iter().all(|mean| mean.is_nan()));
    assert!(all_nan(covariance.covariance().unwrap()) && all_nan(covariance.population_covariance().unwrap()));
    covariance.update_values(&[1_u8, 2]).unwrap();
    assert_eq!(covariance.means(), [1.0, 2.0]);
    assert!(all_nan(covariance.covariance().unwrap()) && all_nan(covariance.correlation().unwrap()));
    assert_eq!(packed(&covariance.population_covariance().unwrap()), [0.0; 3]);
    for layout in LAYOUTS {
        let no_columns = of(&HomogenNumericTable::full_with_layout(shape(3, 0), 1.0_f32, layout).unwrap());
        assert_eq!((no_columns.row_count(), packed(&no_columns.covariance().unwrap()).len()), (3, 0));
        let no_rows = of(&HomogenNumericTable::full_with_layout(shape(0, 3), 1.0_f32, layout).unwrap());
        assert_eq!((no_rows.row_count(), no_rows.column_count()), (0, 3));
    }
}

#[test]
fn merged_and_updated_results_are_those_of_all_rows() {
    let mut random = Random::new(11);
    let columns = 13;
    let rows: Vec<Vec<i64>> =
        (0..2000).map(|row| (0..columns).map(|_| 1_000_000 + row + random.below(100) as i64).collect()).collect();
    let values: Vec<f64> = rows.iter().flatten().map(|&value| value as f64).collect();
    let expected = exact(&rows);
    for step in [1, 3, 256, 1000] {
        let mut updated = Covariance::new(columns).unwrap();
        let mut merged = Covariance::new(columns).unwrap();
        for part in values.chunks(step * columns) {
            updated.update_values(part).unwrap();
            let table = HomogenNumericTable::from_array(part.to_vec(), shape(part.len() / columns, columns)).unwrap();
            merged.merge(&of(&table)).unwrap();
        }
        merged.merge(&Covariance::new(columns).unwrap()).unwrap();
        updated.update_values::<f32>(&[]).unwrap();
        for found in [updated, merged] {
            assert_eq!(found.row_count(), 2000);
            let error = error(packed(&found.covariance().unwrap()), &expected, columns);
            assert!(error < 1e-13, "by {step}: {error:e}");
        }
    }
}

#[test]
fn matrices_have_the_names_of_the_columns() {
    let features = [Feature::new(ElementType::U8).named("a").categorical(9), Feature::new(ElementType::U8).named("b")];
    let table = numbered::<u8>(4, 2, DataLayout::RowMajor).with_dictionary(features.into_iter().collect()).unwrap();
    let mut merged = Covariance::new(2).unwrap();
    merged.merge(&of(&table)).unwrap();
    for matrix in [of(&table).covariance().unwrap(), merged.correlation().unwrap()] {
        assert!(matrix.dictionary().names().eq([Some("a"), Some("b")]));
        assert_eq!(matrix.feature_type(0).unwrap(), FeatureType::Continuous);
    }
    let unnamed = of(&numbered::<u8>(4, 2, DataLayout::RowMajor)).covariance().unwrap();
    assert!(unnamed.dictionary().names().eq([None, None]));
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn errors_name_what_is_wrong_and_leave_everything_as_it_was() {
    let mut table = HomogenNumericTable::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(Covariance::compute(&table), ErrorKind::NotAllocated);
    table.allocate_data_memory().unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(Covariance::compute(&table), ErrorKind::BlockOutstanding { rows } if *rows == (1..2));
    drop(block);
    let mut covariance = of(&numbered::<u8>(4, 2, DataLayout::RowMajor));
    let before = bits_of(&covariance);
    assert_error!(covariance.update_values(&[1.0, 2.0, 3.0]), ErrorKind::NotWholeRows { values: 3, columns: 2 });
    assert_error!(covariance.merge(&Covariance::new(3).unwrap()), ErrorKind::LengthMismatch { expected: 2, actual: 3 });
    assert_eq!((covariance.row_count(), bits_of(&covariance)), (4, before));
    assert_error!(Covariance::new(usize::MAX), ErrorKind::OutOfMemory);
    assert_error!(
        Covariance::compute(&HomogenNumericTable::<u8>::full(shape(0, huge(60)), 0).unwrap()),
        ErrorKind::OutOfMemory
    );
    let mut many = Covariance::new(0).unwrap();
    let huge = of(&HomogenNumericTable::<u8>::full(shape(usize::MAX, 0), 0).unwrap());
    many.merge(&huge).unwrap();
    assert_error!(many.merge(&huge), ErrorKind::LimitExceeded { what: "counted rows", .. });
}

// --- the order of the work -----------------------------------------------------------------------------------------

/// Tables that several threads work on: with few columns, and with many.
fn large() -> [HomogenNumericTable<f32>; 3] {
    let mut random = Random::new(5);
    [(14_000, 40), (600, 300), (WIDE.rows, WIDE.columns)].map(|(rows, columns)| {
        let values: Vec<f32> = (0..rows * columns).map(|_| random.below(1 << 24) as f32 / 997.0).collect();
        HomogenNumericTable::from_array(values, shape(rows, columns)).unwrap()
    })
}

/// A table with many columns, whose rows are multiplied in three groups: two of 2048 rows, and a short block.
const WIDE: Shape = Shape { rows: 4107, columns: 129 };

#[test]
fn rows_that_are_read_ahead_give_the_same_bits_as_blocks_that_are_added_one_after_the_other() {
    let value = |row: usize, column: usize| ((row * 31 + column * column * 7) % 1009) as f32 / 7.0;
    let table = HomogenNumericTable::<f32>::from_fn(WIDE, value).unwrap();
    let mut expected = Covariance::new(WIDE.columns).unwrap();
    for rows in [0..1024, 1024..4096, 4096..WIDE.rows] {
        let part = HomogenNumericTable::from_fn(shape(rows.len(), WIDE.columns), |row, column| {
            value(rows.start + row, column)
        });
        Partial::update(&mut expected, &part.unwrap()).unwrap();
    }
    assert_eq!(bits_of(&of(&table)), bits_of(&expected));
}

/// Rows from `first` on cannot be read.
struct Ends {
    table: HomogenNumericTable<f32>,
    first: usize,
}

impl NumericTable for Ends {
    fn shape(&self) -> Shape {
        self.table.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.table.dictionary()
    }

    fn id(&self) -> TableId {
        self.table.id()
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<(), Error> {
        match region.rows.end > self.first {
            true => Err(Error::new(ErrorKind::LengthMismatch { expected: self.first, actual: region.rows.end })),
            false => self.table.read_region(region, target),
        }
    }
}

#[test]
fn the_first_error_of_rows_that_are_read_ahead_is_returned_and_nothing_is_added() {
    for (first, block_end) in [(100, 256), (2048, 2304), (3000, 3072), (4096, 4107)] {
        let table = Ends { table: HomogenNumericTable::full(WIDE, 1.5).unwrap(), first };
        let is_first =
            |error: &ErrorKind| matches!(error, ErrorKind::LengthMismatch { actual, .. } if *actual == block_end);
        let error = Covariance::compute(&table).unwrap_err();
        assert!(is_first(error.kind()), "{error}");
        let mut covariance = of(&HomogenNumericTable::<f32>::full(shape(3, WIDE.columns), 2.5).unwrap());
        let before = bits_of(&covariance);
        let error = Partial::update(&mut covariance, &table).unwrap_err();
        assert!(is_first(error.kind()), "{error}");
        assert_eq!((covariance.row_count(), bits_of(&covariance)), (3, before));
    }
}

#[test]
fn results_are_the_same_bits_in_both_layouts_and_of_other_kinds_and_types() {
    for table in large() {
        let expected = bits_of(&of(&table));
        let wide = table.convert::<f64>().unwrap();
        for layout in LAYOUTS {
            assert_eq!(bits_of(&of(&table.to_layout(layout).unwrap())), expected);
            assert_eq!(bits_of(&of(&wide.to_layout(layout).unwrap())), expected);
        }
        let columns = (0..table.column_count()).map(|column| ("", table.column::<f32>(column, ..).unwrap().to_vec()));
        assert_eq!(bits_of(&of(&SoaNumericTable::from_columns(columns).unwrap())), expected);
        assert_eq!(bits_of(&of(&CsrNumericTable::from_dense::<f32>(&table).unwrap())), expected);
        let mut updated = Covariance::new(table.column_count()).unwrap();
        updated.update_values(table.as_slice().unwrap()).unwrap();
        assert_eq!(bits_of(&updated), expected);
    }
}

#[cfg(feature = "rayon")]
#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    for table in large() {
        let of_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bits_of(&of(&table)))
        };
        let expected = of_threads(1);
        for threads in [2, 3, 8] {
            assert_eq!(of_threads(threads), expected);
        }
    }
}
