//! CSV files of numbers: 10 columns, about 200 MB.
//!
//! The file is the same for all programs: `compare.py` creates it once, by `--write-csv PATH`, and passes its path in
//! `NUMBERS_CSV`. Without that, it is created here.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use numeric_table::csv::{CsvSource, CsvWriteOptions};
use numeric_table::prelude::*;
use tempfile::TempDir;

use crate::measure::Bench;
use crate::plain::check;

const COLUMNS: usize = 10;
const DISK: &str = "the temporary folder can be read and written";
const FILE: &str = "the file is as it was made";

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    load(bench)?;
    write(bench)?;
    read_limit(bench)
}

/// Returns the value at an index. Its shortest text has 16 or 17 digits in even columns, and two decimals in odd ones.
fn value(index: usize) -> f64 {
    let hash = (index as u64).wrapping_mul(2_654_435_761) & 0xFFFF_FFFF;
    let column = index % COLUMNS;
    if column.is_multiple_of(2) {
        (hash % 1_000_003) as f64 / (7.0 * 10_f64.powi(column as i32))
    } else {
        (hash % 200_001) as f64 / 100.0 - 1000.0
    }
}

/// Writes the file, with a header.
pub(crate) fn write_file(bench: &Bench, path: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("column {column}")).collect();
    write!(file, "{}", names.join(","))?;
    for index in 0..rows(bench) * COLUMNS {
        file.write_all(if index.is_multiple_of(COLUMNS) { b"\n" } else { b"," })?;
        match index % 2 {
            0 => write!(file, "{}", value(index))?,
            _ => write!(file, "{:.2}", value(index))?,
        }
    }
    file.write_all(b"\n")?;
    file.into_inner()?.sync_all()
}

fn rows(bench: &Bench) -> usize {
    bench.values() / COLUMNS
}

/// Returns the path of the file, and the folder that removes it if it was created here.
fn numbers(bench: &Bench) -> (PathBuf, Option<TempDir>) {
    if let Some(path) = std::env::var_os("NUMBERS_CSV") {
        return (path.into(), None);
    }
    let folder = tempfile::tempdir().expect(DISK);
    let path = folder.path().join("numbers.csv");
    write_file(bench, &path).expect(DISK);
    (path, Some(folder))
}

/// Returns the values as written in the file, where those of two decimals are rounded.
fn expected(bench: &Bench) -> Vec<f64> {
    let rounded = |index: usize| (value(index) * 100.0).round() / 100.0;
    (0..rows(bench) * COLUMNS)
        .map(|index| if index.is_multiple_of(2) { value(index) } else { rounded(index) })
        .collect()
}

fn load(bench: &mut Bench) -> Result<(), Error> {
    let job = "csv/load/f64";
    if !bench.wants(job) {
        return Ok(());
    }
    let (path, _folder) = numbers(bench);
    let load = || CsvSource::open(&path)?.load::<f64>();
    check(job, &expected(bench), load()?.as_slice()?);
    bench.compare(
        job,
        1,
        &mut [("ours", &mut || {
            black_box(load().expect(FILE));
        })],
    );
    Ok(())
}

fn write(bench: &mut Bench) -> Result<(), Error> {
    let job = "csv/write/f64";
    if !bench.wants(job) {
        return Ok(());
    }
    let shape = Shape { rows: rows(bench), columns: COLUMNS };
    let table = HomogenNumericTable::from_array(expected(bench), shape)?;
    let folder = tempfile::tempdir().expect(DISK);
    let path = folder.path().join("table.csv");
    let write = || table.write_csv_with(&path, CsvWriteOptions::new().durable(false)).expect(DISK);
    write();
    check(job, table.as_slice()?, CsvSource::open(&path)?.load::<f64>()?.as_slice()?);
    bench.compare(job, 1, &mut [("ours", &mut || write())]);
    Ok(())
}

/// Measures the limit of one thread: reading the bytes into existing memory.
fn read_limit(bench: &mut Bench) -> Result<(), Error> {
    let job = "csv/limit/read";
    if !bench.wants(job) {
        return Ok(());
    }
    let (path, _folder) = numbers(bench);
    let length = std::fs::metadata(&path).expect(DISK).len();
    let mut buffer = Array::full(usize::try_from(length).expect("it fits in memory"), 1_u8)?;
    let buffer = buffer.mutable_data()?;
    let read = |buffer: &mut [u8]| File::open(&path).and_then(|mut file| file.read_exact(buffer)).expect(DISK);
    bench.compare(job, 1, &mut [("plain read", &mut || read(black_box(&mut *buffer)))]);
    Ok(())
}
