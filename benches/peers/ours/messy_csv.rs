//! The CSV file of mixed types of `messy_rows`, with 300,000 rows: about 16 MB.
//!
//! The file is the same for all programs: `compare.py` creates it once, by `--write-messy-csv PATH`, and passes its
//! path in `MESSY_CSV`. Without that, it is created here.

use std::collections::HashMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use numeric_table::SoaNumericTable;
use numeric_table::prelude::*;
use tempfile::TempDir;

use crate::measure::Bench;
use crate::messy_rows::{self, Row, open};

const DISK: &str = "the temporary folder can be read and written";
const FILE: &str = "the file is as it was made";

/// Returns the number of days from 1970 to the date of a row, by counting.
fn days(row: &Row) -> i32 {
    let [year, month, day] = row.date;
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let of_years: i64 = (1970..year).map(|year| 365 + i64::from(is_leap(year))).sum();
    let lengths = [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let of_months: i64 = lengths[..month as usize - 1].iter().sum();
    i32::try_from(of_years + of_months + day - 1).expect("it is a day of this century or the last")
}

fn rows(bench: &Bench) -> usize {
    if bench.is_small() { 5_000 } else { 300_000 }
}

/// Writes the file.
pub(crate) fn write_file(bench: &Bench, path: &Path) -> std::io::Result<()> {
    fs::write(path, messy_rows::text(rows(bench)))?;
    fs::File::open(path)?.sync_all()
}

/// Returns the path of the file, and the folder that removes it if it was created here.
fn file(bench: &Bench) -> (PathBuf, Option<TempDir>) {
    if let Some(path) = std::env::var_os("MESSY_CSV") {
        return (path.into(), None);
    }
    let folder = tempfile::tempdir().expect(DISK);
    let path = folder.path().join("messy.csv");
    write_file(bench, &path).expect(DISK);
    (path, Some(folder))
}

/// Checks every value and the categories, which are in order of first appearance.
fn check(bench: &Bench, table: &SoaNumericTable) -> Result<(), Error> {
    let rows: Vec<Row> = (0..rows(bench)).map(Row::new).collect();
    let (mut places, mut answers) = (HashMap::new(), HashMap::new());
    let (prices, counts) = (table.nullable_column(3)?.0, table.nullable_column(4)?.0);
    let (prices, counts) = (prices.downcast_ref::<f64>().expect(FILE), counts.downcast_ref::<i64>().expect(FILE));
    let is_missing = |column: usize, row: usize| table.is_missing(row, column);
    for (index, row) in rows.iter().enumerate() {
        let code = |codes: &mut HashMap<String, usize>, word: String| {
            let next = codes.len();
            *codes.entry(word).or_insert(next)
        };
        assert_eq!(table.column_slice::<i64>(0)?[index], row.id);
        assert_eq!(table.column_slice::<i32>(1)?[index], days(row));
        assert_eq!(usize::from(table.column_slice::<u16>(2)?[index]), code(&mut places, row.word()));
        assert_eq!((is_missing(3, index)?, is_missing(4, index)?), (row.price.is_none(), row.count.is_none()));
        assert!(row.price.is_none_or(|price| prices[index].to_bits() == price.to_bits()));
        assert!(row.count.is_none_or(|count| counts[index] == i64::from(count)));
        assert_eq!(usize::from(table.column_slice::<u8>(5)?[index]), code(&mut answers, row.answer.to_owned()));
    }
    assert_eq!((table.row_count(), table.category_count(2)?), (rows.len(), Some(places.len())));
    Ok(())
}

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    let jobs = ["csv/messy/load_typed", "csv/messy/describe", "csv/messy/write"];
    if !jobs.iter().any(|job| bench.wants(job)) {
        return Ok(());
    }
    let (path, _folder) = file(bench);
    let table = open(&path)?.load_typed()?;
    check(bench, &table)?;
    let [load_job, describe_job, write_job] = jobs;
    let mut load = || drop(black_box(open(&path).and_then(|source| source.load_typed()).expect(FILE)));
    if bench.wants(load_job) {
        bench.compare(load_job, 1, &mut [("ours", &mut load)]);
    }
    if bench.wants(describe_job) {
        let describe = || open(&path).and_then(|source| source.describe()).expect(FILE);
        assert_eq!(describe().rows, table.row_count());
        let mut describe = || drop(black_box(describe()));
        bench.compare(describe_job, 1, &mut [("ours", &mut describe), ("load_typed", &mut load)]);
    }
    if bench.wants(write_job) {
        let folder = tempfile::tempdir().expect(DISK);
        let written = folder.path().join("table.csv");
        let write = || table.write_csv_with(&written, messy_rows::write_options()).expect(DISK);
        write();
        assert!(fs::read(&written).expect(DISK) == fs::read(&path).expect(DISK), "the file differs");
        bench.compare(write_job, 1, &mut [("ours", &mut || write())]);
    }
    Ok(())
}
