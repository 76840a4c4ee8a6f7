//! Readers of record batches into tables and table files, without holding all batches.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, UInt8Array};
use arrow_array::{RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use numeric_table::{
    SoaNumericTable,
    files::{SaveOptions, TableWriter},
    interop::{CopyPolicy, CopyReason},
    prelude::*,
};
use numeric_table_arrow::prelude::*;
use test_support::tables::{LAYOUTS, assert_error, shape};

use super::mixed::{arrow_address, assert_shared, batch};

type Table<T> = HomogenNumericTable<T>;

/// Two columns, whose values are the row, and a seventh of it.
fn numbers(rows: std::ops::Range<i64>) -> RecordBatch {
    batch(vec![
        ("a", Arc::new(Int64Array::from_iter_values(rows.clone()))),
        ("b", Arc::new(Float64Array::from_iter_values(rows.map(|row| row as f64 / 7.0)))),
    ])
}

/// Reads batches that are made as they are asked for, and counts how many of them there are at a time.
struct Counted {
    rows: i64,
    step: i64,
    next: i64,
    alive: Rc<Cell<usize>>,
    most: Rc<Cell<usize>>,
    made: Vec<std::sync::Weak<dyn arrow_array::Array>>,
}

impl Counted {
    fn new(rows: i64, step: i64) -> Self {
        Self { rows, step, next: 0, alive: Rc::default(), most: Rc::default(), made: Vec::new() }
    }
}

impl Iterator for Counted {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.made.retain(|batch| batch.strong_count() > 0);
        self.alive.set(self.made.len());
        self.most.set(self.most.get().max(self.made.len()));
        if self.next == self.rows {
            return None;
        }
        let end = self.rows.min(self.next + self.step);
        let batch = numbers(self.next..end);
        self.made.push(Arc::downgrade(batch.column(0)));
        self.next = end;
        Some(Ok(batch))
    }
}

impl RecordBatchReader for Counted {
    fn schema(&self) -> SchemaRef {
        numbers(0..0).schema()
    }
}

#[test]
fn tables_of_readers_are_those_of_all_their_batches() {
    let options = ArrowOptions::new().convert(ConversionPolicy::Saturate);
    let rows = 2_500_000; // more than are taken together
    let whole = numbers(0..rows);
    for layout in LAYOUTS {
        let options = options.clone().layout(layout);
        let expected = Table::<f32>::from_record_batches([&whole], options.clone()).unwrap();
        for (step, expected_rows) in [(1_000_000, 0), (300_007, 100), (8_192, rows as usize)] {
            let options = options.clone().expected_rows(expected_rows);
            let table = Table::<f32>::read_record_batches(Counted::new(rows, step), options).unwrap();
            assert_eq!((table.shape(), table.data_layout()), (expected.shape(), layout));
            assert_eq!(table.dictionary(), expected.dictionary());
            assert!(table == expected, "batches of {step} rows");
        }
    }
    let expected = SoaNumericTable::from_record_batch(&whole).unwrap().to_record_batch().unwrap();
    for (step, expected_rows) in [(1_000_000, 0), (300_007, rows as usize)] {
        let options = ArrowOptions::new().expected_rows(expected_rows);
        let table = SoaNumericTable::read_record_batches(Counted::new(rows, step), options).unwrap();
        assert!(table.to_record_batch().unwrap() == expected, "batches of {step} rows");
    }
}

#[test]
fn batches_are_dropped_as_they_have_been_read() {
    let options = || ArrowOptions::new().convert(ConversionPolicy::Saturate);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    // 30 batches of 200,000 values: some 10 of them are taken together.
    let reader = || Counted::new(3_000_000, 100_000);
    let (one, two, three) = (reader(), reader(), reader());
    let most = [&one, &two, &three].map(|reader| reader.most.clone());
    Table::<f32>::read_record_batches(one, options()).unwrap();
    SoaNumericTable::read_record_batches(two, options()).unwrap();
    TableWriter::<f32>::save_record_batches(&path, three, options()).unwrap();
    for most in most {
        assert!((5..=12).contains(&most.get()), "{} batches at a time", most.get());
    }
}

#[test]
fn one_batch_with_rows_is_shared_and_several_are_not() {
    let (whole, empty) = (numbers(0..1000), numbers(0..0));
    let never = ArrowOptions::new().copy(CopyPolicy::Never);
    let reader = |batches: Vec<RecordBatch>| RecordBatchIterator::new(batches.into_iter().map(Ok), empty.schema());
    let table =
        SoaNumericTable::read_record_batches(reader(vec![empty.clone(), whole.clone()]), never.clone()).unwrap();
    assert_shared(&table, &whole);
    let one = never.clone().columns(["b"]);
    let table = Table::<f64>::read_record_batches(reader(vec![whole.clone()]), one).unwrap();
    assert_eq!(table.as_slice().unwrap().as_ptr().addr(), arrow_address(whole.column(1)));
    let large = numbers(0..2_000_000);
    assert_shared(&SoaNumericTable::read_record_batches(reader(vec![large.clone()]), never.clone()).unwrap(), &large);
    for batches in [vec![whole.clone(), whole.clone()], vec![large.clone(), whole.clone()]] {
        assert_error!(
            SoaNumericTable::read_record_batches(reader(batches), never.clone()),
            ErrorKind::CopyRequired { reason: CopyReason::Layout }
        );
    }
}

#[test]
fn errors_say_in_which_batch_and_which_row_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    std::fs::write(&path, "old").unwrap();
    let checked = || ArrowOptions::new().convert(ConversionPolicy::Checked);
    // The first row that does not fit is 2^31, but its batch is one of many.
    let first = 1_500_000_i64;
    let reader = || {
        let batches = (0..15).map(move |part| {
            let rows = part * 200_000..(part + 1) * 200_000;
            let values = rows.map(|row| if row == first { 1 << 40 } else { row });
            Ok(batch(vec![("a", Arc::new(Int64Array::from_iter_values(values)) as ArrayRef)]))
        });
        RecordBatchIterator::new(batches, batch(vec![("a", Arc::new(Int64Array::from(vec![0])) as ArrayRef)]).schema())
    };
    let expected = "the value 1099511627776 at row 1500000, column 0 is not representable as i32: \
         `ConversionPolicy::Saturate` accepts it in calls that take a policy";
    for layout in LAYOUTS {
        let error = Table::<i32>::read_record_batches(reader(), checked().layout(layout)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let asked = ArrowOptions::new().column_type("a", ElementType::I32);
    assert_eq!(SoaNumericTable::read_record_batches(reader(), asked).unwrap_err().to_string(), expected);
    let error = TableWriter::<i32>::save_record_batches(&path, reader(), checked()).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old", "the old file stays");

    let torn = [Ok(numbers(0..2)), Err(ArrowError::ParseError("torn".to_owned()))];
    let torn = RecordBatchIterator::new(torn, numbers(0..0).schema());
    assert_error!(TableWriter::<f64>::save_record_batches(&path, torn, checked()), ErrorKind::Foreign { .. });
    let other = [numbers(0..2_200_000), numbers(0..1), numbers(0..1).project(&[1, 0]).unwrap()].map(Ok);
    let other = RecordBatchIterator::new(other, numbers(0..0).schema());
    let error = TableWriter::<f64>::save_record_batches(&path, other, checked()).unwrap_err().to_string();
    assert_eq!(error, "Arrow column 0 (a): in batch 2: its name is b");
}

#[test]
fn readers_without_rows_or_without_columns_are_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let checked = || ArrowOptions::new().convert(ConversionPolicy::Checked);
    for batches in [vec![], vec![Ok(numbers(0..0)), Ok(numbers(3..3))]] {
        let reader = RecordBatchIterator::new(batches, numbers(0..0).schema());
        let saved = TableWriter::<u8>::save_record_batches(&path, reader, checked()).unwrap();
        assert_eq!(saved, shape(0, 2));
        assert!(Table::<u8>::load(&path).unwrap().names().eq([Some("a"), Some("b")]));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(7));
    let rows = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap();
    let reader = || RecordBatchIterator::new([Ok(rows.clone()), Ok(rows.clone())], rows.schema());
    assert_eq!(Table::<u8>::read_record_batches(reader(), checked()).unwrap().shape(), shape(14, 0));
    assert_eq!(SoaNumericTable::read_record_batches(reader(), checked()).unwrap().shape(), shape(14, 0));
    assert_error!(
        TableWriter::<u8>::save_record_batches(&path, reader(), checked()),
        ErrorKind::NotWholeRows { values: 0, columns: 0 }
    );
    // As many as the number of rows is expected to be, and more than memory has.
    let reader = RecordBatchIterator::new([Ok(numbers(0..2_200_000)), Ok(numbers(0..1))], numbers(0..0).schema());
    let options = checked().expected_rows(usize::MAX);
    assert_error!(Table::<u8>::read_record_batches(reader, options), ErrorKind::SizeOverflow { .. });
}

#[test]
fn a_file_takes_columns_nulls_and_truth_values_as_a_table_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let batch = batch(vec![
        ("note", Arc::new(arrow_array::BinaryArray::from(vec![&b"x"[..]; 3]))),
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("count", Arc::new(UInt8Array::from(vec![7, 8, 9]))),
    ]);
    let options = ArrowOptions::new().columns(["count", "truth"]).nulls_to(-1).convert(ConversionPolicy::Exact);
    let reader = RecordBatchIterator::new([Ok(batch.slice(0, 2)), Ok(batch.slice(2, 1))], batch.schema());
    let save = SaveOptions::new().durable(false);
    TableWriter::<i16>::save_record_batches_with(&path, reader, options.clone(), save).unwrap();
    let table = Table::<i16>::load(&path).unwrap();
    assert_eq!(table.as_slice().unwrap(), [7, 1, 8, -1, 9, 0]);
    assert!(table.names().eq([Some("count"), Some("truth")]));

    let mut writer = TableWriter::<i16>::create(&path, 2, None).unwrap();
    writer.append(&[1_i16, 2]).unwrap();
    writer.append_record_batch(&batch, &options).unwrap();
    assert_error!(
        writer.append_record_batch(&batch, &ArrowOptions::new().columns([2])),
        ErrorKind::UnequalTables { .. },
        "columns"
    );
    let refused = options.clone().columns(["note", "truth"]);
    assert_error!(
        writer.append_record_batch(&batch, &refused),
        ErrorKind::Unsupported { target: "Arrow", column: Some(0), .. }
    );
    writer.append_record_batch(&batch.slice(2, 1), &options).unwrap();
    writer.finish().unwrap();
    let table = Table::<i16>::load(&path).unwrap();
    assert_eq!(table.as_slice().unwrap(), [1, 2, 7, 1, 8, -1, 9, 0, 9, 0]);
}
