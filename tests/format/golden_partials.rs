//! Bytes of partial results, one of each kind: every machine computes and reads these bytes, with any byte order and
//! any width of addresses.
//!
//! These bytes belong to one version. After a change of what is written, or of a result, remove the files of the kind:
//! `cargo test --test format golden_partials -- --ignored` makes new ones.

use std::path::{Path, PathBuf};

use numeric_table::statistics::{
    BasicStatistics, Covariance, GramMatrix, GroupStatistics, Histogram, HistogramBins, QuantileSketch,
};
use numeric_table::{Partial, Result, SoaNumericTable, bf16, prelude::*};

const ROWS: i32 = 300;

/// A category, then numbers whose sums are rounded, large and small ones, and with `gaps` some missing values.
fn table(gaps: bool) -> SoaNumericTable {
    let numbers = || (0..ROWS).map(f64::from);
    let mut table = SoaNumericTable::new();
    let categories: Vec<u8> = (0..ROWS).map(|row| (row % 3) as u8).collect();
    table.push_feature(Feature::new(ElementType::U8).categorical(3), categories).unwrap();
    table.push_column("sevenths", numbers().map(|number| (number - 100.0) / 7.0).collect::<Vec<_>>()).unwrap();
    let thirds = numbers().map(|number| match number as i32 {
        17 => f32::NAN,
        100 => f32::INFINITY,
        number => 1e20 / (number as f32 * 3.0 - 100.0),
    });
    table.push_column("thirds", thirds.collect::<Vec<_>>()).unwrap();
    let whole = (0..i64::from(ROWS)).map(|row| (row * row * row) << 20 | row);
    if gaps {
        table.push_optional("whole", whole.map(|number| (number % 5 != 2).then_some(number))).unwrap();
    } else {
        table.push_column("whole", whole.collect::<Vec<_>>()).unwrap();
    }
    table.push_column("half", numbers().map(|number| bf16::from_f64(number / 11.0)).collect::<Vec<_>>()).unwrap();
    table
}

/// A result of a table, merged of two pieces that were computed apart.
fn merged<P: Partial>(new: Result<P>, gaps: bool) -> P {
    let (mut all, table) = (new.unwrap(), table(gaps));
    let mut rest = all.new_like().unwrap();
    all.update(&*table.select_rows(..131).unwrap()).unwrap();
    rest.update(&*table.select_rows(131..).unwrap()).unwrap();
    all.merge(&rest).unwrap();
    all
}

/// The name of a file, the bytes that are computed today, and a function that reads bytes and writes them again.
type Golden = (String, Vec<u8>, fn(&[u8]) -> Result<Vec<u8>>);

fn results() -> Vec<Golden> {
    fn push<P: Partial>(all: &mut Vec<Golden>, gaps: bool, new: Result<P>) {
        let name = format!("{}{}", P::NAME, if gaps { "-gaps" } else { "" });
        all.push((name, merged(new, gaps).to_bytes().unwrap(), |bytes| P::from_bytes(bytes)?.to_bytes()));
    }
    let (mut results, columns) = (Vec::new(), table(false).column_count());
    let all = &mut results;
    for gaps in [false, true] {
        push(all, gaps, BasicStatistics::new(columns));
        push(all, gaps, Covariance::new(columns));
        push(all, gaps, Histogram::new(columns, &HistogramBins::uniform(-10.0, 30.0, 7).unwrap()));
        push(all, gaps, QuantileSketch::with_capacity(columns, 32));
        push(all, gaps, GroupStatistics::new(columns, 0, 3));
        push(all, gaps, GramMatrix::new(columns));
    }
    results
}

fn path_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/golden/partials/{name}.bytes"))
}

#[test]
#[ignore = "the files are there"]
fn make_the_golden_partials() {
    for (name, bytes, _) in results() {
        if !path_of(&name).exists() {
            std::fs::create_dir_all(path_of(&name).parent().unwrap()).unwrap();
            std::fs::write(path_of(&name), bytes).unwrap();
        }
    }
}

#[test]
fn golden_partial_results_have_the_same_bytes_on_every_machine() {
    for (name, bytes, read_and_write) in results() {
        let golden = std::fs::read(path_of(&name)).unwrap();
        assert!(bytes == golden, "{name} is computed otherwise");
        assert!(read_and_write(&golden).unwrap() == golden, "{name} is read otherwise");
    }
}
