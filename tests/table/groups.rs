//! Statistics of groups of rows: beside tables of the rows of each group.

use numeric_table::{
    Partial,
    dictionary::{Categories, TimeUnit},
    prelude::*,
    statistics::{BasicStatistics, GroupStatistics, MissingCategories, QuantileSketch, StatisticsOptions},
};
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_error, shape};

/// Rows of a category, a value that belongs to it, and one that is sometimes NaN.
fn rows_of(count: usize, categories: usize) -> Vec<[f64; 3]> {
    let mut random = Random::new(8);
    let row = |_| {
        let category = random.below(categories);
        let gap = if random.below(50) == 0 { f64::NAN } else { random.below(100) as f64 };
        [1e6 * category as f64 + random.below(1000) as f64, category as f64, gap]
    };
    (0..count).map(row).collect()
}

/// The statistics of the rows of one category.
fn by_definition(rows: &[[f64; 3]], category: usize) -> BasicStatistics {
    let rows: Vec<[f64; 3]> = rows.iter().filter(|row| row[1] == category as f64).copied().collect();
    BasicStatistics::compute(
        &HomogenNumericTable::from_array(rows.as_flattened().to_vec(), shape(rows.len(), 3)).unwrap(),
    )
    .unwrap()
}

#[track_caller]
fn check(groups: &GroupStatistics, rows: &[[f64; 3]], categories: usize) {
    assert_eq!((groups.category_count(), groups.row_count()), (categories, rows.len() as u64));
    let near = |found: f64, expected: f64| {
        found == expected || (found.is_nan() && expected.is_nan()) || (found / expected - 1.0).abs() < 1e-12
    };
    for category in 0..categories {
        let (found, expected) = (groups.group(category).unwrap(), by_definition(rows, category));
        assert_eq!(found.row_count(), expected.row_count());
        assert_eq!(groups.row_count_of(category).unwrap(), expected.row_count());
        for (column, (found, expected)) in found.per_column().iter().zip(expected.per_column()).enumerate() {
            assert_eq!(groups.column(category, column).unwrap(), found);
            assert_eq!((found.count(), found.nan_count()), (expected.count(), expected.nan_count()));
            if expected.count() > 0 {
                assert_eq!((found.minimum(), found.maximum()), (expected.minimum(), expected.maximum()));
            }
            assert!(near(found.mean(), expected.mean()) && near(found.variance(), expected.variance()));
        }
    }
}

#[test]
fn groups_have_the_statistics_of_their_rows() {
    for (count, categories) in [(0, 3), (1, 1), (500, 7), (3000, 2000), (40_000, 3)] {
        let rows = rows_of(count, categories);
        let table = HomogenNumericTable::from_array(rows.as_flattened().to_vec(), shape(count, 3)).unwrap();
        for layout in LAYOUTS {
            check(
                &GroupStatistics::compute(&table.to_layout(layout).unwrap(), 1, categories).unwrap(),
                &rows,
                categories,
            );
        }
        let mut updated = GroupStatistics::new(3, 1, categories).unwrap();
        let mut merged = GroupStatistics::new(3, 1, categories).unwrap();
        for part in rows.chunks(count.div_ceil(3).max(1)) {
            updated.update_values(part.as_flattened()).unwrap();
            let mut other = GroupStatistics::new(3, 1, categories).unwrap();
            other.update_values(part.as_flattened()).unwrap();
            merged.merge(&other).unwrap();
        }
        check(&updated, &rows, categories);
        check(&merged, &rows, categories);
    }
}

#[cfg(feature = "rayon")]
#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    let rows = rows_of(100_000, 5);
    let table = HomogenNumericTable::from_array(rows.as_flattened().to_vec(), shape(100_000, 3)).unwrap();
    let of_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let groups = pool.install(|| GroupStatistics::compute(&table, 1, 5).unwrap());
        (0..5).flat_map(|category| groups.group(category).unwrap().per_column().to_vec()).collect::<Vec<_>>()
    };
    let expected = of_threads(1);
    for threads in [2, 3, 8] {
        assert_eq!(of_threads(threads), expected);
    }
}

#[test]
fn the_first_value_that_is_no_category_is_named_and_nothing_is_added() {
    let mut groups = GroupStatistics::new(2, 0, 3).unwrap();
    groups.update_values(&[2, 7, 0, 9]).unwrap();
    for value in [-1.0, 3.0, 0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e-300] {
        let error = groups.update_values(&[1.0, 5.0, value, 5.0, 9.0, 5.0]).unwrap_err();
        let ErrorKind::ValueNotAllowed { row: 1, column: 0, value: named, .. } = *error.kind() else {
            panic!("{error:?}")
        };
        assert!(named == value || named.is_nan() && value.is_nan());
    }
    assert_eq!((groups.row_count(), groups.row_count_of(1).unwrap(), groups.column(2, 1).unwrap().sum()), (2, 0, 7.0));
    groups.update_values(&[-0.0, 1.0]).unwrap(); // is zero

    // In a table that several threads work on, it is the first one, too.
    let mut rows = rows_of(60_000, 3);
    for row in [59_000, 41_234, 41_235] {
        rows[row][1] = 3.0;
    }
    let table = HomogenNumericTable::from_array(rows.as_flattened().to_vec(), shape(60_000, 3)).unwrap();
    let error = GroupStatistics::compute(&table, 1, 3).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value 3 at row 41234, column 1 is not a valid category: expected an integer from 0 to 2"
    );
    let error = GroupStatistics::compute(&table, 1, 0).unwrap_err();
    assert!(error.to_string().ends_with("row 0, column 1 is not a valid category: there are no categories"), "{error}");
}

#[test]
fn groups_that_do_not_fit_are_refused_and_nothing_is_added() {
    let table = HomogenNumericTable::from_rows(&[[0_u8, 1, 2], [1, 4, 5]]).unwrap();
    let mut groups = GroupStatistics::compute(&table, 0, 2).unwrap();
    assert_error!(GroupStatistics::compute(&table, 3, 2), ErrorKind::ColumnOutOfRange { column: 3, column_count: 3 });
    assert_error!(GroupStatistics::new(0, 0, 2), ErrorKind::ColumnOutOfRange { column: 0, column_count: 0 });
    assert_error!(groups.update_values(&[0, 1]), ErrorKind::NotWholeRows { values: 2, .. });
    let new = |columns, by, categories| GroupStatistics::new(columns, by, categories).unwrap();
    assert_error!(groups.merge(&new(3, 0, 3)), ErrorKind::ShapeMismatch { .. });
    assert_error!(groups.merge(&new(4, 0, 2)), ErrorKind::ShapeMismatch { .. });
    assert_error!(groups.merge(&new(3, 1, 2)), ErrorKind::NotCombinable { .. }, "grouped");
    assert_error!(
        groups.group(2),
        ErrorKind::OutOfRange { what: "categories", range, count: 2, .. } if range.start == 2
    );
    assert_error!(groups.row_count_of(usize::MAX), ErrorKind::OutOfRange { what: "categories", count: 2, .. });
    assert_error!(groups.column(0, 3), ErrorKind::ColumnOutOfRange { column: 3, column_count: 3 });
    assert_error!(GroupStatistics::new(2, 0, usize::MAX), ErrorKind::OutOfMemory);
    let empty = HomogenNumericTable::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(GroupStatistics::compute(&empty, 0, 2), ErrorKind::NotAllocated);
    assert_eq!(
        (groups.row_count(), groups.means().unwrap().as_slice().unwrap()),
        (2, &[0.0, 1.0, 2.0, 1.0, 4.0, 5.0][..])
    );
}

#[test]
fn results_have_the_numbers_and_names_of_the_columns_of_the_table() {
    let names = ["a", "kind", "b"].map(|name| Feature::new(ElementType::U8).named(name));
    let table = HomogenNumericTable::from_rows(&[[1_u8, 0, 2], [4, 1, 5]]).unwrap();
    let table = table.with_dictionary(names.into_iter().collect()).unwrap();
    let mut merged = GroupStatistics::new(3, 1, 2).unwrap();
    merged.merge(&GroupStatistics::compute(&table, 1, 2).unwrap()).unwrap();
    assert!(merged.means().unwrap().dictionary().names().eq([Some("a"), Some("kind"), Some("b")]));
    assert_eq!((merged.column(1, "b").unwrap().mean(), merged.column(1, 2).unwrap().mean()), (5.0, 5.0));
    assert_eq!((merged.column(1, "kind").unwrap().mean(), merged.column(0, 0).unwrap().mean()), (1.0, 1.0));
    assert_error!(merged.column(0, "c"), ErrorKind::UnknownName { what: "column", .. });
    assert_error!(GroupStatistics::new(3, 1, 2).unwrap().column(0, "a"), ErrorKind::UnknownName { what: "column", .. });
    assert!(merged.group(1).unwrap().to_string().lines().nth(3).unwrap().starts_with("b "));
    // A table with nothing but categories: they are counted.
    let only = GroupStatistics::compute(&HomogenNumericTable::from_rows(&[[1_u8], [1]]).unwrap(), 0, 2).unwrap();
    assert_eq!((only.row_count_of(1).unwrap(), only.means().unwrap().shape()), (2, shape(2, 1)));
}

/// Lengths of leaves of two species, one of which is missing.
fn leaves() -> HomogenNumericTable<f64> {
    let species = Feature::new(ElementType::F64).named("species");
    let species = species.categorical(Categories::from_labels(["setosa", "virginica"]).unwrap());
    let [length, width] = ["length", "width"].map(|name| Feature::new(ElementType::F64).named(name));
    let rows = [[5.0, 0.0, 2.0], [7.0, 1.0, 3.5], [9.0, f64::NAN, 1.5], [6.0, 1.0, 3.0], [4.0, f64::NAN, 0.5]];
    let table = HomogenNumericTable::from_rows(&rows).unwrap();
    table.with_dictionary([length, species, width].into_iter().collect()).unwrap()
}

#[test]
fn rows_without_a_category_are_refused_left_out_or_a_group_of_their_own() {
    let table = leaves();
    let error = GroupStatistics::compute(&table, "species", None).unwrap_err();
    assert_error!(
        GroupStatistics::compute(&table, 1, None),
        ErrorKind::ValueNotAllowed { row: 2, column: 1, .. },
        "missing"
    );
    assert_eq!(error.to_string(), "the value NaN at row 2, column 1 is missing: expected an integer from 0 to 1");

    let empty = GroupStatistics::for_table(&table, "species", None).unwrap();
    let skip = empty.clone().missing(MissingCategories::Skip).unwrap();
    let group = empty.clone().missing(MissingCategories::Group).unwrap();
    let (skipped, grouped) = (skip.compute_over(&table).unwrap(), group.compute_over(&table).unwrap());
    assert_eq!((skipped.category_count(), skipped.row_count(), skipped.skipped_rows()), (2, 3, 2));
    assert_eq!((grouped.category_count(), grouped.row_count(), grouped.skipped_rows()), (3, 5, 0));
    assert_eq!((grouped.column(2, "length").unwrap().mean(), grouped.row_count_of(2).unwrap()), (6.5, 2));
    let means = grouped.means().unwrap();
    assert!(means.as_slice().unwrap()[..6] == [5.0, 0.0, 2.0, 6.5, 1.0, 3.25] && means.as_slice().unwrap()[7].is_nan());
    for groups in [&skipped, &grouped] {
        let mut parts = groups.new_like().unwrap();
        for rows in [0..2, 2..5] {
            let part = GroupStatistics::from_bytes(
                &groups.new_like().unwrap().compute_over(&table.slice_rows(rows).unwrap()).unwrap().to_bytes().unwrap(),
            );
            parts.merge(&part.unwrap()).unwrap();
        }
        assert_eq!(parts.to_bytes().unwrap(), groups.to_bytes().unwrap());
        assert_eq!(GroupStatistics::from_bytes(&parts.to_bytes().unwrap()).unwrap().to_string(), groups.to_string());
    }
    let mut other = skip.clone();
    assert_error!(other.merge(&empty), ErrorKind::NotCombinable { .. }, "missing categories");
    assert_error!(other.merge(&grouped), ErrorKind::ShapeMismatch { .. });
    assert_error!(skipped.clone().missing(MissingCategories::Group), ErrorKind::ParameterOutOfRange { value: 5.0, .. });
    let back = group.missing(MissingCategories::Refuse).unwrap();
    assert_eq!(back.category_count(), 2);
    // Other values that are no categories are an error all the same.
    for mut groups in [skip, grouped] {
        assert_error!(
            groups.update_values(&[1.0, 2.0, 1.0]),
            ErrorKind::ValueNotAllowed { row: 0, column: 1, value: 2.0, .. },
            "categor"
        );
    }
}

#[test]
fn groups_are_printed_with_their_words_and_means_keep_them() {
    let groups = GroupStatistics::for_table(&leaves(), "species", None).unwrap();
    let groups = groups.missing(MissingCategories::Group).unwrap().compute_over(&leaves()).unwrap();
    let lines = ["           rows  length  width", "setosa        1     5.0   2.00", "virginica     2     6.5   3.25"];
    assert_eq!(groups.to_string(), [&lines[..], &["missing       2     6.5   1.00"]].concat().join("\n"));
    let means = groups.means().unwrap();
    assert_eq!(means.dictionary().feature(1).unwrap().label(1), Some("virginica"));
    let printed = means.display().to_string();
    assert!(printed.contains("setosa") && printed.contains("virginica"), "{printed}");
    // Without words, numbers; many groups and columns are cut.
    let plain = GroupStatistics::new(30, 0, 100).unwrap();
    let printed = plain.to_string();
    assert!(printed.lines().count() == 42 && printed.lines().next().unwrap().contains("..."), "{printed}");
    assert_eq!(format!("{plain:#}").lines().count(), 101);
}

#[test]
fn columns_of_words_have_no_means_to_print() {
    let word = || Feature::new(ElementType::F64).categorical(Categories::from_labels(["x", "y"]).unwrap());
    let features = [word().named("species"), word().named("kind"), Feature::new(ElementType::F64).named("length")];
    let table = HomogenNumericTable::from_rows(&[[0.0, 1.0, 5.0], [1.0, 0.0, 6.0]]).unwrap();
    let table = table.with_dictionary(features.into_iter().collect()).unwrap();
    let printed = GroupStatistics::compute(&table, "species", None).unwrap().to_string();
    assert_eq!(printed, "   rows  length\nx     1     5.0\ny     1     6.0");
}

#[test]
fn columns_that_are_not_printed_leave_dots_wherever_the_groups_are() {
    let rows = [[1.0; 20], [0.0; 20]];
    let table = HomogenNumericTable::from_rows(&rows).unwrap();
    for by in 0..20 {
        let printed = GroupStatistics::compute(&table, by, 2).unwrap().to_string();
        assert!(printed.lines().all(|line| line.contains("..")), "{by}: {printed}");
    }
}

#[test]
fn results_of_other_words_names_or_units_are_not_merged() {
    let table = |words: &[&str], names: [&str; 2]| {
        let city = Feature::new(ElementType::F64).named(names[0]).categorical(Categories::from_labels(words).unwrap());
        let temperature = Feature::new(ElementType::F64).named(names[1]);
        let table = HomogenNumericTable::from_rows(&[[0.0, 1.0], [1.0, 10.0]]).unwrap();
        table.with_dictionary([city, temperature].into_iter().collect()).unwrap()
    };
    let (here, turned) = (table(&["Oslo", "Bergen"], ["city", "t"]), table(&["Bergen", "Oslo"], ["city", "t"]));
    let (longer, renamed) = (table(&["Oslo", "Bergen", "Tromso"], ["city", "t"]), table(&["Oslo"], ["t", "city"]));
    let groups = |table: &HomogenNumericTable<f64>| GroupStatistics::compute(table, 0, 3).unwrap();
    let statistics = |table: &HomogenNumericTable<f64>| BasicStatistics::compute(table).unwrap();
    for (other, words) in [(&turned, "categories"), (&renamed, "another column")] {
        let (mut mine, mut all) = (groups(&here), statistics(&here));
        let errors = [
            mine.merge(&groups(other)).unwrap_err(),
            mine.update(other).unwrap_err(),
            all.merge(&statistics(other)).unwrap_err(),
            all.update(other).unwrap_err(),
        ];
        for error in errors {
            assert!(
                matches!(
                    error.kind(),
                    ErrorKind::UnequalTables { table: 1, column: Some(0), reason, .. } if reason.contains(words)
                ),
                "{error}"
            );
        }
        assert_eq!(mine.to_bytes().unwrap(), groups(&here).to_bytes().unwrap());
        assert_eq!(all.to_bytes().unwrap(), statistics(&here).to_bytes().unwrap());
    }
    let mut mine = groups(&here);
    mine.merge(&groups(&longer)).unwrap(); // its words go on where these end
    mine.update(&HomogenNumericTable::from_rows(&[[0.0, 3.0]]).unwrap()).unwrap(); // nothing is known of these
    assert_eq!(mine.row_count(), 5);

    let (mut sketch, mut other) = (QuantileSketch::new(2).unwrap(), QuantileSketch::new(2).unwrap());
    sketch.update_with(&here, StatisticsOptions::new()).unwrap();
    other.update_with(&renamed, StatisticsOptions::new()).unwrap();
    assert_error!(sketch.merge(&other), ErrorKind::UnequalTables { .. }, "another column");
    assert_error!(
        sketch.update_with(&renamed, StatisticsOptions::new()),
        ErrorKind::UnequalTables { .. },
        "another column"
    );
    assert_error!(sketch.update(&renamed), ErrorKind::UnequalTables { .. }, "another column");
    assert_eq!(sketch.row_count(), 2);

    let times = |unit| {
        let table = HomogenNumericTable::from_rows(&[[1_i64]]).unwrap();
        table.with_dictionary([Feature::new(ElementType::I64).time(unit)].into_iter().collect()).unwrap()
    };
    let mut seconds = BasicStatistics::compute(&times(TimeUnit::Seconds)).unwrap();
    let millis = BasicStatistics::compute(&times(TimeUnit::Milliseconds)).unwrap();
    assert_error!(seconds.merge(&millis), ErrorKind::UnequalTables { .. }, "has a different");
}
