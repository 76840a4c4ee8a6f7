//! Parquet files. Writes a table to a file, and reads the file as a table, as a table of some columns, a block at a time,
//! and into a table file without all of it in memory. Prints the time of each step. Accepts the number of rows as an
//! argument.
//!
//! ```text
//! cargo run --release -p more-examples --features parquet --example parquet
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::parquet::{ParquetSource, ParquetWriteOptions, save_parquet_with};

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

    println!("\nfrom a table: NaN is null in the file");
    let (time, _) = timed(|| Ok(save_parquet_with(&path, &table, ParquetWriteOptions::new().nan_to_null(true))?))?;
    report("written, with Snappy", time);
    println!("{:.1} MB in the file", path.metadata()?.len() as f64 / 1e6);

    println!("\ninto a table, columns in parallel");
    let options = ArrowOptions::new().nulls_to_nan(true).convert(ConversionPolicy::Checked);
    let source = ParquetSource::open(&path)?.options(options.clone());
    let (time, back) = timed(|| Ok(source.load_columns()?))?;
    report("each column of its own type", time);
    let (time, _) = timed(|| Ok(source.load::<f64>()?))?;
    report("all as f64, row by row", time);

    println!("\ntwo columns: the others are not decoded");
    let some = source.clone().options(options.columns(["distance", "fare"]));
    let (time, two) = timed(|| Ok(some.load::<f32>()?))?;
    report("distance and fare", time);
    println!("{}", two.display().max_rows(4));

    println!("\na block at a time, in memory that does not grow with the file");
    let (time, sum) = timed(|| {
        let mut sum = 0.0;
        for block in some.row_blocks::<f64>(64 << 10)? {
            sum += block?.as_slice()?.iter().step_by(2).sum::<f64>();
        }
        Ok(sum)
    })?;
    report("sum of the distances", time);
    println!("{:.1} on average", sum / rows.max(1) as f64);

    println!("\ninto a table file, which may be larger than memory");
    let (time, shape) = timed(|| Ok(source.save_to::<f32>(&ntb)?))?;
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
