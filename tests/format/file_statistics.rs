//! Statistics of files: those of their tables, bit for bit.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use numeric_table::{files::TableReader, prelude::*, statistics::BasicStatistics};
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_error, feature, numbered, shape};
use test_support::{SmallNumber, for_each_element};

use crate::support::{Table, fast, scratch};

/// All numbers of all columns, digit by digit, and what is printed.
fn digits(statistics: &BasicStatistics) -> String {
    format!("{:?} {} {statistics:#}", statistics.per_column(), statistics.row_count())
}

#[test]
fn of_any_type_and_layout_they_are_those_of_the_table() {
    fn check<T: SmallNumber>() {
        let (_folder, path) = scratch();
        for layout in LAYOUTS {
            let mut table = numbered::<T>(9, 3, layout);
            let features = ["a", "b", "c"].map(|name| feature::<T>().named(name));
            table.set_dictionary(DataDictionary::from_features(features)).unwrap();
            table.save_with(&path, fast()).unwrap();
            let statistics = BasicStatistics::compute_file(&TableReader::open(&path).unwrap()).unwrap();
            assert_eq!(digits(&statistics), digits(&BasicStatistics::compute(&table).unwrap()));
            assert!(statistics.to_string().contains("\nb "), "{statistics}");
        }
    }
    for_each_element!(check);
}

/// Values of very different sizes, with a value here and there that is not finite.
fn rough(random: &mut Random, rows: usize, columns: usize) -> Table<f32> {
    let mut values: Vec<f32> =
        (0..rows * columns).map(|_| random.below(1 << 24) as f32 / [997.0, 0.003, 1e6][random.below(3)]).collect();
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        let at = random.below(values.len());
        values[at] = value;
    }
    Table::from_array(values, shape(rows, columns)).unwrap()
}

#[test]
fn of_files_of_any_size_they_are_the_bits_of_the_tables_statistics() {
    let (_folder, path) = scratch();
    let mut random = Random::new(17);
    for (rows, columns) in
        [(1, 1), (1024, 2), (1025, 2), (40_000, 1), (70_000, 35), (33_000, 16), (5000, 600), (3, 30_000), (2500, 1100)]
    {
        let table = rough(&mut random, rows, columns);
        let expected = digits(&BasicStatistics::compute(&table).unwrap());
        for layout in LAYOUTS {
            table.to_layout(layout).unwrap().save_with(&path, fast()).unwrap();
            let found = digits(&BasicStatistics::compute_file(&TableReader::open(&path).unwrap()).unwrap());
            assert!(found == expected, "{rows} x {columns} {layout:?}");
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn they_are_the_same_bits_on_any_number_of_threads() {
    let (_folder, path) = scratch();
    let table = rough(&mut Random::new(18), 70_000, 35);
    let expected = digits(&BasicStatistics::compute(&table).unwrap());
    table.save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(digits(&pool.install(|| BasicStatistics::compute_file(&reader).unwrap())) == expected);
    }
}

#[test]
fn of_empty_files_they_count_the_rows() {
    let (_folder, path) = scratch();
    for (rows, columns) in [(0, 0), (0, 4), (5, 0), (usize::MAX, 0)] {
        Table::<f32>::new(shape(rows, columns), AllocationFlag::DoAllocate).unwrap().save_with(&path, fast()).unwrap();
        let statistics = BasicStatistics::compute_file(&TableReader::open(&path).unwrap()).unwrap();
        assert_eq!((statistics.row_count(), statistics.per_column().len()), (rows as u64, columns));
        assert!(statistics.per_column().iter().all(|column| column.count() == 0));
    }
}

#[test]
fn a_file_that_has_become_shorter_is_an_error() {
    let (_folder, path) = scratch();
    for layout in LAYOUTS {
        rough(&mut Random::new(19), 70_000, 35).to_layout(layout).unwrap().save_with(&path, fast()).unwrap();
        let reader = TableReader::open(&path).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(9_000_000).unwrap();
        let refused = BasicStatistics::compute_file(&reader);
        assert_error!(refused, ErrorKind::Format { .. }, "shorter");
    }
}

#[test]
fn progress_ends_at_the_bytes_of_the_file() {
    let (_folder, path) = scratch();
    for layout in LAYOUTS {
        rough(&mut Random::new(20), 70_000, 35).to_layout(layout).unwrap().save_with(&path, fast()).unwrap();
        let done = Arc::new(AtomicU64::new(0));
        let told = done.clone();
        let reader = TableReader::open(&path).unwrap();
        let reader = reader.on_progress(move |progress| told.store(progress.done, Ordering::SeqCst));
        BasicStatistics::compute_file(&reader).unwrap();
        assert_eq!(done.load(Ordering::SeqCst), 70_000 * 35 * 4);
    }
}
