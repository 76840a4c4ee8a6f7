//! Parquet files, through the `parquet` crate and Arrow's record batches. Writes a table to a file, and reads the file
//! as a table, as a table of some columns, and into a table file without all of it in memory. Prints the time of each
//! step, and the time to decode the file and discard the values. Accepts the number of rows as an argument.
//!
//! ```text
//! cargo run --release -p more-examples --features parquet --example parquet
//! ```

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use numeric_table::{AnyArray, SoaNumericTable, files::TableWriter, prelude::*};
use numeric_table_arrow::prelude::*;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

fn main() -> Result<(), Box<dyn Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(2_000_000), |rows| rows.parse())?;
    let folder = tempfile::tempdir()?; // removed when `main` returns
    let (path, ntb) = (folder.path().join("trips.parquet"), folder.path().join("trips.ntb"));
    let table = trips(rows)?;
    let bytes: usize = table.dictionary().iter().map(|feature| rows * feature.element_type.size_in_bytes()).sum();
    println!("{rows} rows of {} columns, {:.1} MB of values", table.column_count(), bytes as f64 / 1e6);
    let report = |what: &str, time: Duration| {
        let seconds = time.as_secs_f64();
        println!("{what:<42} {:>7.1} ms {:>7.1} M rows/s", 1e3 * seconds, rows as f64 / 1e6 / seconds);
    };

    println!("\nfrom a table: columns are Arrow's without a copy, and NaN is null in the file");
    let (time, length) = timed(|| write(&table, &path))?;
    report("written, with Snappy", time);
    println!("{:.1} MB in the file", length as f64 / 1e6);

    println!("\ninto a table, batch by batch");
    let (time, _) = timed(|| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path)?)?.build()?;
        Ok(reader.map(|batch| batch.map(|batch| batch.num_rows())).sum::<Result<usize, _>>()?)
    })?;
    report("decoded and thrown away", time);
    let (time, back) = timed(|| {
        let options = ArrowOptions::new().nulls_to_nan(true).expected_rows(rows);
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path)?)?.build()?;
        Ok(SoaNumericTable::read_record_batches(reader, options)?)
    })?;
    report("each column of its own type", time);
    let (time, _) = timed(|| {
        let options = ArrowOptions::new().nulls_to_nan(true).convert(ConversionPolicy::Checked).expected_rows(rows);
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path)?)?.build()?;
        Ok(HomogenNumericTable::<f64>::read_record_batches(reader, options)?)
    })?;
    report("all as f64, row by row", time);

    println!("\ntwo columns: what is not asked for is not even decoded");
    let (time, two) = timed(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&path)?)?;
        let mask = ProjectionMask::columns(builder.parquet_schema(), ["distance", "fare"]);
        let options = ArrowOptions::new().nulls_to_nan(true).expected_rows(rows);
        Ok(HomogenNumericTable::<f32>::read_record_batches(builder.with_projection(mask).build()?, options)?)
    })?;
    report("distance and fare", time);
    println!("{}", two.display().max_rows(4));

    println!("\ninto a table file, which may be larger than memory");
    let (time, shape) = timed(|| {
        let options = ArrowOptions::new().nulls_to_nan(true).convert(ConversionPolicy::Checked);
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path)?)?.build()?;
        Ok(TableWriter::<f32>::save_record_batches(&ntb, reader, options)?)
    })?;
    report("saved as f32", time);
    println!("{shape} in {:.1} MB", ntb.metadata()?.len() as f64 / 1e6);

    assert_eq!(back.shape(), table.shape());
    for column in 0..table.column_count() {
        let [before, after] = [&table, &back].map(|table| table.column::<f64>(column, ..));
        let (before, after) = (before?, after?);
        assert!(before.iter().zip(after.iter()).all(|(a, b)| a == b || (a.is_nan() && b.is_nan())), "column {column}");
    }
    Ok(())
}

/// Writes a table to a Parquet file, and returns the length of the file.
fn write(table: &SoaNumericTable, path: &Path) -> Result<u64, Box<dyn Error>> {
    let batch = table.to_record_batch_with(ArrowExportOptions::new().nan_to_null(true))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(File::create(path)?, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(path.metadata()?.len())
}

/// Creates a table of trips, with typical columns of several types.
fn trips(rows: usize) -> Result<SoaNumericTable, numeric_table::Error> {
    let noise = |row: usize| (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40; // 24 bits
    let start = |row: usize| 1_700_000_000_000 + 900 * row as i64;
    let fare = |row: usize| if row.is_multiple_of(97) { f32::NAN } else { 250.0 + (noise(row) >> 8) as f32 / 100.0 };
    SoaNumericTable::from_columns([
        ("start", AnyArray::from(Array::from_fn(rows, start)?)),
        ("passengers", AnyArray::from(Array::from_fn(rows, |row| (noise(row) % 6) as u8)?)),
        ("distance", AnyArray::from(Array::from_fn(rows, |row| noise(row + 1) as f32 / 1e6)?)),
        ("fare", AnyArray::from(Array::from_fn(rows, fare)?)),
        ("latitude", AnyArray::from(Array::from_fn(rows, |row| 40.0 + noise(row + 2) as f64 / 1e8)?)),
        ("longitude", AnyArray::from(Array::from_fn(rows, |row| -74.0 + noise(row + 3) as f64 / 1e8)?)),
    ])
}

/// Returns the duration and the result of a call.
fn timed<R>(work: impl FnOnce() -> Result<R, Box<dyn Error>>) -> Result<(Duration, R), Box<dyn Error>> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed(), result))
}
