//! Sparse tables: dense and sparse blocks of rows, and columns.

use std::hint::black_box;

use numeric_table::convert::cast;
use numeric_table::prelude::*;
use numeric_table::{CsrNumericTable, table::Rejected};

use crate::kinds::{self, check, name, walk};
use crate::measure::Bench;

/// The number of columns, in groups of ten: a row stores one value per group.
const COLUMNS: usize = 100;
const STORED: usize = 10;
const GROUP: usize = COLUMNS / STORED;
const ROWS: usize = 256;
const IN_RANGE: &str = "the block is in range";

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    dense::<f32>(bench)?;
    dense::<f64>(bench)?;
    sparse::<f32>(bench)?;
    sparse::<f64>(bench)?;
    columns::<f32>(bench)
}

/// The column of a stored value.
fn column(row: usize, group: usize) -> usize {
    group * GROUP + (row * 7 + group) % GROUP
}

/// The value at a row and a column, stored as `f32` or zero.
fn value(row: usize, at: usize) -> f64 {
    if column(row, at / GROUP) == at { f64::from(kinds::value(row, at) as f32) } else { 0.0 }
}

/// Returns a table of `f32`, with 64-bit offsets and indices as in DAAL.
fn table(bench: &Bench) -> Result<CsrNumericTable, Error> {
    let shape = Shape { rows: bench.values() / kinds::COLUMNS, columns: COLUMNS };
    let at = |index: usize| (index / STORED, column(index / STORED, index % STORED));
    let offsets = Array::from_fn(shape.rows + 1, |row| (row * STORED) as u64)?;
    let indices = Array::from_fn(shape.rows * STORED, |index| at(index).1 as u64)?;
    let values = Array::from_fn(shape.rows * STORED, |index| kinds::value(at(index).0, at(index).1) as f32)?;
    CsrNumericTable::try_new(shape, offsets, indices, values).map_err(Rejected::into_error)
}

/// Reads blocks of rows with their zeros.
fn dense<U: Element>(bench: &mut Bench) -> Result<(), Error> {
    let job = name::<U>("csr/f32", Some(ROWS));
    if !bench.wants(&job) {
        return Ok(());
    }
    let mut table = table(bench)?;
    check::<U>(&job, &mut table, ROWS, value);
    let mut block = BlockDescriptor::<U>::new();
    let mut ours = || {
        walk(&mut table, ROWS, ReadWriteMode::ReadOnly, &mut block, &mut |block| {
            black_box(block.as_slice());
        });
    };
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}

/// Reads blocks of rows without their zeros: offsets, indices and values.
fn sparse<U: Element>(bench: &mut Bench) -> Result<(), Error> {
    let job = name::<U>("csr/sparse/f32", Some(ROWS));
    if !bench.wants(&job) {
        return Ok(());
    }
    let table = table(bench)?;
    let row_count = table.row_count();
    let blocks = || (0..row_count).step_by(ROWS).map(|first| first..row_count.min(first + ROWS));
    let mut rows = 0;
    for block in blocks().map(|rows| table.sparse_rows::<U>(rows).expect(IN_RANGE)) {
        for (row, (indices, values)) in block.row_range().zip(block.iter_rows()) {
            assert!(indices.iter().eq((0..STORED).map(|group| column(row, group))), "{job}: row {row}");
            let expected = indices.iter().map(|column| cast::<f64, U>(value(row, column)));
            assert!(expected.eq(values.iter().copied()), "{job}: row {row}");
            rows += 1;
        }
    }
    assert_eq!(rows, row_count, "{job}");
    let mut ours = || {
        for rows in blocks() {
            let block = table.sparse_rows::<U>(rows).expect(IN_RANGE);
            black_box((block.values(), block.offsets().get(1), block.indices().get(0)));
        }
    };
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}

/// Reads each column with its zeros.
fn columns<U: Element>(bench: &mut Bench) -> Result<(), Error> {
    let job = name::<U>("csr/columns/f32", None);
    if !bench.wants(&job) {
        return Ok(());
    }
    let table = table(bench)?;
    let mut block = BlockDescriptor::<U>::new();
    for column in 0..COLUMNS {
        let values = table.read_column(column, .., &mut block)?;
        assert_eq!(values.len(), table.row_count(), "{job}");
        for (row, &found) in values.iter().enumerate() {
            assert!(found == cast::<f64, U>(value(row, column)), "{job}: row {row}, column {column}");
        }
    }
    let mut ours = || {
        for column in 0..COLUMNS {
            black_box(table.read_column(column, .., &mut block).expect(IN_RANGE));
        }
    };
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}
