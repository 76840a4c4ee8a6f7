//! A user's own kind of table that answers otherwise every time it is asked: what is written of it can be read, or
//! nothing is written.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use numeric_table::files::{self, SaveOptions, verify};
use numeric_table::prelude::*;
use numeric_table::table::spi::{Region, TableId, Target};
use test_support::tables::{assert_error, feature, shape};

type Result<T, E = Error> = std::result::Result<T, E>;

/// Answers, in turn; then the last one always, or all of them again and again.
struct Answers<T> {
    answers: Vec<T>,
    is_repeated: bool,
    asked: AtomicUsize,
}

impl<T> Answers<T> {
    fn new(answers: impl Into<Vec<T>>) -> Self {
        Self { answers: answers.into(), is_repeated: false, asked: AtomicUsize::new(0) }
    }

    fn next(&self) -> &T {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let index = if self.is_repeated { asked % self.answers.len() } else { asked.min(self.answers.len() - 1) };
        &self.answers[index]
    }
}

/// Has whatever values it is asked for: 7.
struct Fickle {
    shapes: Answers<Shape>,
    types: Answers<Option<ElementType>>,
    dictionaries: Answers<DataDictionary>,
    id: TableId,
    /// After so many reads, all fail.
    reads: AtomicUsize,
}

impl Fickle {
    fn new(shapes: impl Into<Vec<Shape>>) -> Self {
        let shapes = Answers::new(shapes);
        let dictionary = DataDictionary::uniform(feature::<i16>(), shapes.answers[0].columns);
        Self {
            shapes,
            types: Answers::new([Some(ElementType::I16)]),
            dictionaries: Answers::new([dictionary]),
            id: TableId::new(),
            reads: AtomicUsize::new(usize::MAX),
        }
    }
}

impl NumericTable for Fickle {
    fn shape(&self) -> Shape {
        *self.shapes.next()
    }

    fn uniform_type(&self) -> Option<ElementType> {
        *self.types.next()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.dictionaries.next()
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        let take = |reads: usize| reads.checked_sub(1);
        self.reads
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take)
            .map_err(|_| Error::new(ErrorKind::NotAllocated))?;
        target.fill_with(region, |_, _| 7_i16)
    }
}

/// A way to write a table as a file.
type Write = fn(&dyn NumericTable, &Path, bool) -> Result<()>;
/// A way to read a file, which must succeed: its shape.
type Read = fn(&Path) -> Shape;

fn options(in_place: bool) -> SaveOptions {
    SaveOptions::new().durable(false).in_place(in_place)
}

/// Every way to write a file, and to read it.
const WAYS: &[(Write, Read)] = &[
    (
        |table, path, in_place| table.save_with(path, options(in_place)),
        |path| {
            assert!(verify(path).unwrap());
            files::load(path).unwrap().shape()
        },
    ),
    #[cfg(feature = "npy")]
    (
        |table, path, in_place| table.save_npy_with(path, options(in_place)),
        |path| numeric_table::npy::load(path).unwrap().shape(),
    ),
    #[cfg(feature = "csv")]
    (
        |table, path, in_place| {
            table.write_csv_with(path, numeric_table::csv::CsvWriteOptions::new().durable(false).in_place(in_place))
        },
        |path| {
            let options = numeric_table::csv::CsvOptions::new().header(numeric_table::csv::CsvHeader::Automatic);
            numeric_table::csv::CsvSource::open_with(path, options).unwrap().load::<i16>().unwrap().shape()
        },
    ),
];

fn for_each_way(make: impl Fn() -> Fickle, check: impl Fn(Result<()>, Option<Shape>)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (write, read) in WAYS {
        std::fs::write(&path, "old").unwrap();
        let result = write(&make(), &path, false);
        if result.is_err() {
            assert_eq!(std::fs::read(&path).unwrap(), b"old");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let found = result.is_ok().then(|| read(&path));
        check(result, found);
    }
}

#[test]
fn a_table_is_asked_for_its_shape_once_and_again_when_it_has_been_read() {
    let (first, last) = (shape(3, 2), shape(2, 3));
    let pairs = [(first, last), (last, first), (shape(3, 2), shape(3, 0)), (shape(3, 2), shape(0, 2))];
    for (first, last) in pairs {
        for_each_way(
            || Fickle::new([first, last]),
            |result, _| {
                assert_error!(
                    result,
                    ErrorKind::ShapeMismatch { expected, actual: found } if (*expected, *found) == (first, last)
                )
            },
        );
        for_each_way(
            || Fickle::new([first, first, last]),
            |result, found| {
                result.unwrap();
                assert_eq!(found, Some(first));
            },
        );
    }
}

#[test]
fn what_is_written_of_a_table_that_changes_all_the_time_can_be_read_or_nothing_is_written() {
    let shapes = [shape(3, 2), shape(2, 3), shape(5, 2), shape(1, 2), shape(4, 1), shape(9, 9)];
    for count in 2..=shapes.len() {
        for start in 0..shapes.len() {
            let mut turned = shapes.to_vec();
            turned.rotate_left(start);
            turned.truncate(count);
            for_each_way(
                || {
                    let mut table = Fickle::new(turned.clone());
                    table.shapes.is_repeated = true;
                    table
                },
                |result, found| match result.map_err(Error::into_kind) {
                    Ok(()) => assert_eq!(found, Some(turned[0])),
                    Err(ErrorKind::ShapeMismatch { .. }) => {}
                    Err(other) => panic!("{turned:?}: {other:?}"),
                },
            );
        }
    }
}

#[test]
fn a_table_of_another_type_when_it_has_been_read_is_refused() {
    for_each_way(
        || {
            let mut table = Fickle::new([shape(3, 2)]);
            table.types = Answers::new([ElementType::I16, ElementType::F64].map(Some));
            table
        },
        |result, _| {
            assert_error!(
                result,
                ErrorKind::ElementTypeMismatch { expected: ElementType::I16, actual: ElementType::F64, .. }
            );
        },
    );
}

#[test]
fn a_dictionary_is_asked_for_once() {
    let named = |columns: usize| DataDictionary::uniform(feature::<i16>().named("a"), columns);
    for_each_way(
        || {
            let mut table = Fickle::new([shape(3, 2)]);
            table.dictionaries = Answers::new([named(2), named(5), named(0)]);
            table
        },
        |result, found| {
            result.unwrap();
            assert_eq!(found, Some(shape(3, 2)));
        },
    );
}

#[test]
fn a_table_whose_dictionary_has_another_number_of_columns_is_not_written() {
    for columns in [0, 1, 3] {
        let (folder, table) = (tempfile::tempdir().unwrap(), || {
            let mut table = Fickle::new([shape(3, 2)]);
            table.dictionaries = Answers::new([DataDictionary::uniform(feature::<i16>().named("a"), columns)]);
            table
        });
        let path = folder.path().join("file");
        let table: &dyn NumericTable = &table();
        assert_error!(table.save(&path), ErrorKind::DictionaryMismatch { columns: 2, .. });
        #[cfg(feature = "csv")]
        assert_error!(table.write_csv(&path), ErrorKind::DictionaryMismatch { columns: 2, .. });
        assert!(!path.exists());
    }
}

#[cfg(feature = "npy")]
#[test]
fn a_stream_of_a_table_that_changes_is_an_error() {
    let mut bytes = Vec::new();
    let table: &dyn NumericTable = &Fickle::new([shape(3, 2), shape(2, 3)]);
    assert_error!(table.write_npy(&mut bytes), ErrorKind::ShapeMismatch { .. });
}

#[test]
fn a_table_whose_first_values_cannot_be_read_leaves_an_old_file_that_is_written_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (write, _) in WAYS {
        let mut table = Fickle::new([shape(3, 2)]);
        table.reads = AtomicUsize::new(0);
        std::fs::write(&path, "old").unwrap();
        assert_error!(write(&table, &path, true), ErrorKind::NotAllocated);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        std::fs::remove_file(&path).unwrap();
        assert_error!(write(&table, &path, true), ErrorKind::NotAllocated);
        assert!(!path.exists());
    }
}

#[test]
fn statistics_of_a_table_whose_number_of_columns_changes_are_refused() {
    use numeric_table::statistics::{GroupStatistics, Histogram, HistogramBins, QuantileSketch};
    let bins = HistogramBins::uniform(0.0, 10.0, 2).unwrap();
    for (first, last) in [(2, 3), (2, 0), (3, 2)] {
        let table = || Fickle::new([shape(4, first), shape(4, last)]);
        let found = [
            Histogram::compute(&table(), &bins).map(drop),
            QuantileSketch::compute(&table()).map(drop),
            GroupStatistics::compute(&table(), 0, 8).map(drop),
        ];
        for found in found {
            assert_error!(found, ErrorKind::LengthMismatch { expected, actual: found } if (*expected, *found) == (first, last));
        }
    }
}

#[test]
fn rows_and_statistics_of_a_table_that_changes_are_answers_or_errors() {
    let shapes = [shape(3, 2), shape(2, 3), shape(3, 0), shape(0, 2), shape(3, 1), shape(0, 0), shape(3, 9)];
    let bins = numeric_table::statistics::HistogramBins::uniform(0.0, 9.0, 3).unwrap();
    type Call<'b> = &'b dyn Fn(&dyn NumericTable) -> Result<()>;
    let calls: [Call<'_>; 10] = [
        &|table| table.filter_rows_by(|_: &[f64]| true).map(drop),
        &|table| table.filter_by_column(0, |_: f64| true).map(drop),
        &|table| table.sort_by(0).map(drop),
        &|table| table.sample_rows(1, 1).map(drop),
        &|table| table.shuffle_rows(1).map(drop),
        &|table| table.split_rows(0.5, 1).map(drop),
        &|table| table.split_rows_by(0, 0.5, 1).map(drop),
        &|table| numeric_table::statistics::GroupStatistics::compute(table, 0, 8).map(drop),
        &|table| numeric_table::statistics::Histogram::compute(table, &bins).map(drop),
        &|table| numeric_table::statistics::Covariance::compute(table).map(drop),
    ];
    for (first, last) in shapes.iter().flat_map(|first| shapes.map(|last| (*first, last))) {
        for (times, call) in (1..5).flat_map(|times| calls.map(|call| (times, call))) {
            let mut answers = vec![first; times];
            answers.push(last);
            let _ = call(&Fickle::new(answers)); // no panic
        }
    }
    let changed = Fickle::new([shape(3, 2), shape(3, 0)]);
    let groups = numeric_table::statistics::GroupStatistics::compute(&changed, 0, 8);
    assert_error!(groups, ErrorKind::LengthMismatch { expected: 2, actual: 0 });
}
