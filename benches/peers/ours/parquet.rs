//! Parquet files: 1 Mi rows of 16 columns of `f32`, with Snappy and without dictionaries.
//!
//! The file is the same for all programs: `compare.py` creates it once, by `--write-parquet PATH`, and passes its path
//! in
//! `NUMBERS_PARQUET`. Without that, it is created here. With `--load-parquet PATH`, it is loaded once, for
//! `parquet_memory.py`.

use std::hint::black_box;
use std::path::Path;

use numeric_table::prelude::*;
use numeric_table_arrow::parquet::{ParquetSource, save_parquet};

use crate::measure::Bench;
use crate::plain::check;

const COLUMNS: usize = 16;
const DISK: &str = "the temporary folder can be read and written";
const FILE: &str = "the file is as it was made";

fn table(bench: &Bench) -> Result<HomogenNumericTable<f32>, Error> {
    let shape = Shape { rows: bench.values() / COLUMNS, columns: COLUMNS };
    let value = |row: usize, column: usize| {
        let hash = ((row * COLUMNS + column) as u64).wrapping_mul(2_654_435_761) & 0xFFFF_FFFF;
        (hash % 1_000_003) as f32 / 7.0
    };
    HomogenNumericTable::from_fn(shape, value)
}

/// Writes the file.
pub(crate) fn write_file(bench: &Bench, path: &Path) -> Result<(), Error> {
    save_parquet(path, &table(bench)?)
}

/// Loads the file once, and prints the seconds that it took.
pub(crate) fn load_once(path: &Path) -> Result<(), Error> {
    let start = std::time::Instant::now();
    black_box(ParquetSource::open(path)?.load::<f32>()?);
    println!("{}", start.elapsed().as_secs_f64());
    Ok(())
}

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    let job = "parquet/load/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let folder = tempfile::tempdir().expect(DISK);
    let path = match std::env::var_os("NUMBERS_PARQUET") {
        Some(path) => path.into(),
        None => {
            let path = folder.path().join("numbers.parquet");
            write_file(bench, &path)?;
            path
        }
    };
    let load = || ParquetSource::open(&path)?.load::<f32>();
    check(job, table(bench)?.as_slice()?, load()?.as_slice()?);
    bench.compare(
        job,
        1,
        &mut [("ours", &mut || {
            black_box(load().expect(FILE));
        })],
    );
    Ok(())
}
