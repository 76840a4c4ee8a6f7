//! Files of known values.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use numeric_table::{AnyArray, HomogenNumericTable, SoaNumericTable, prelude::*};
use numeric_table_arrow::parquet::ParquetSource;
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// Creates a table of `columns` columns.
pub(crate) fn from_values<T: Element>(values: Vec<T>, columns: usize) -> HomogenNumericTable<T> {
    let rows = values.len() / columns;
    HomogenNumericTable::from_array(values, Shape { rows, columns }).unwrap()
}

/// Returns a table of `rows` rows and 3 columns, whose values are 0, 1, 2 ...
pub(crate) fn numbered(rows: usize) -> HomogenNumericTable<f32> {
    from_values((0..3 * rows).map(|value| value as f32).collect(), 3)
}

/// Returns a table whose columns have four types.
pub(crate) fn mixed(rows: usize) -> SoaNumericTable {
    SoaNumericTable::from_columns([
        ("id", AnyArray::from((0..rows as i64).collect::<Vec<_>>())),
        ("small", AnyArray::from((0..rows).map(|row| (row % 251) as u8).collect::<Vec<_>>())),
        ("share", AnyArray::from((0..rows).map(|row| row as f32 / 4.0).collect::<Vec<_>>())),
        ("size", AnyArray::from((0..rows).map(|row| row as f64 * 0.5 - 3.0).collect::<Vec<_>>())),
    ])
    .unwrap()
}

/// Writes columns with the `parquet` crate.
pub(crate) fn write(path: &Path, columns: Vec<(&str, ArrayRef)>, properties: WriterProperties) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

pub(crate) fn array(values: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(values)
}

pub(crate) fn open(path: &Path) -> ParquetSource {
    ParquetSource::open(path).unwrap()
}

/// Returns a path in a folder that is removed when the first is dropped.
pub(crate) fn file() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.parquet");
    (folder, path)
}

pub(crate) fn exact() -> numeric_table_arrow::ArrowOptions {
    numeric_table_arrow::ArrowOptions::new().convert(ConversionPolicy::Exact)
}
