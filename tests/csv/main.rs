//! Tables from CSV files, and CSV files from tables.

#![cfg(feature = "csv")]

mod compressed;
mod described;
mod dialect;
mod fast_path;
mod load;
mod mistakes;
mod odd_files;
mod python;
mod sample;
mod times;
mod typed;
mod typed_errors;
mod words;
mod write;

use numeric_table::{
    csv::{CsvColumnKind, CsvHeader, CsvOptions, CsvSource, CsvWriteOptions},
    prelude::*,
};
use test_support::bits::is_same;
use test_support::tables::values_of;

type Table<T> = HomogenNumericTable<T>;

fn source(text: &str, options: CsvOptions) -> Result<CsvSource, Error> {
    CsvSource::from_bytes_with(text.as_bytes().to_vec(), options)
}

fn load<T: Element>(text: &str, options: CsvOptions) -> Result<Table<T>, Error> {
    source(text, options)?.load()
}

/// Loads numbers without a header.
fn numbers<T: Element>(text: &str) -> Result<Table<T>, Error> {
    load(text, CsvOptions::new().header(CsvHeader::No).kind(.., CsvColumnKind::Continuous))
}

#[track_caller]
fn assert_values<T: Element>(table: &Table<T>, expected: &[T]) {
    let values = values_of(table);
    assert_eq!(values.len(), expected.len());
    for (index, (&value, &expected)) in values.iter().zip(expected).enumerate() {
        assert!(is_same(value, expected), "value {index} is {value:?}, not {expected:?}");
    }
}

fn written<T: Element>(table: &Table<T>, options: CsvWriteOptions) -> String {
    let mut text = Vec::new();
    table.write_csv_to(&mut text, options).unwrap();
    String::from_utf8(text).unwrap()
}
