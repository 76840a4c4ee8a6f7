//! Rows sorted by a column of numbers that look random, into new memory.

use std::hint::black_box;

use numeric_table::convert::cast;
use numeric_table::prelude::*;

use crate::measure::Bench;

const COLUMNS: usize = 16;

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    sort::<f32>(bench, DataLayout::RowMajor, "f32/16_columns/row_major")?;
    sort::<f32>(bench, DataLayout::ColumnMajor, "f32/16_columns/column_major")?;
    sort::<f64>(bench, DataLayout::RowMajor, "f64/16_columns/row_major")?;
    sort::<i64>(bench, DataLayout::ColumnMajor, "i64/16_columns/column_major")
}

/// Returns a number that looks random, with 24 bits that differ.
fn random(row: usize, column: usize) -> u64 {
    let mut bits = (row * COLUMNS + column) as u64;
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits >> 40
}

fn sort<T: Element>(bench: &mut Bench, layout: DataLayout, name: &str) -> Result<(), Error> {
    let job = format!("order/sort/{name}");
    if !bench.wants(&job) {
        return Ok(());
    }
    let rows = bench.values() / COLUMNS;
    let value = |row, column| cast::<u64, T>(random(row, column));
    let table = HomogenNumericTable::from_fn(Shape { rows, columns: COLUMNS }, value)?.to_layout(layout)?;
    let mut expected: Vec<usize> = (0..rows).collect();
    expected.sort_by_key(|&row| random(row, 0)); // stable
    let sorted = table.sort_by(0)?;
    for at in (0..rows).step_by(997) {
        let row = sorted.rows::<T>(at..at + 1)?;
        assert!((0..COLUMNS).all(|column| row[column] == value(expected[at], column)), "{job}: row {at}");
    }
    drop(sorted);
    let mut ours = || drop(black_box(table.sort_by(0).expect("there is memory")));
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}
