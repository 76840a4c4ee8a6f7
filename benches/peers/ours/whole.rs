//! Whole tables: columns, transposes, conversion into and filling of new memory.

use std::hint::black_box;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type};
use arrow_array::{Array as _, Float32Array};

use numeric_table::prelude::*;

use crate::measure::Bench;
use crate::memory_copy::{MemoryCopy, parallel_parts};
use crate::plain::check;
use crate::rows::sample_table;

const COLUMNS: usize = 16;
const IN_RANGE: &str = "the block is in range";
const MEMORY: &str = "the result fits in memory";

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    columns_one_after_another(bench)?;
    columns_at_once(bench)?;
    fresh(bench)?;
    transpose(bench)?;
    fill(bench)?;
    memory(bench)
}

/// Returns the values of a row-major table in column-major order.
fn by_columns(table: &HomogenNumericTable<f32>) -> Result<Vec<f32>, Error> {
    let values = table.as_slice()?;
    Ok((0..COLUMNS).flat_map(|column| values.iter().skip(column).step_by(COLUMNS)).copied().collect())
}

fn columns_one_after_another(bench: &mut Bench) -> Result<(), Error> {
    let job = "columns/f32_to_f64/one_after_another";
    if !bench.wants(job) {
        return Ok(());
    }
    let mut table = sample_table::<f32>(bench, COLUMNS)?;
    let rows = table.row_count();
    let mut block = BlockDescriptor::<f64>::new();
    let mut walk = |look: &mut dyn FnMut(&[f64])| {
        for column in 0..COLUMNS {
            let mode = ReadWriteMode::ReadOnly;
            table.get_block_of_column_values(column, 0, rows, mode, &mut block).expect(IN_RANGE);
            look(block.as_slice());
            table.release_block_of_column_values(&mut block).expect(IN_RANGE);
        }
    };
    let mut seen = Vec::new();
    walk(&mut |values| seen.extend_from_slice(values));
    check(job, &by_columns(&sample_table(bench, COLUMNS)?)?, &seen);
    let mut look = |values: &[f64]| {
        black_box(values[0]);
    };
    bench.compare(job, 1, &mut [("ours", &mut || walk(&mut look))]);
    Ok(())
}

/// Returns the transposed table: the memory of a row-major table, shared as a column-major one. No copy.
fn transposed(table: &HomogenNumericTable<f32>) -> Result<HomogenNumericTable<f32>, Error> {
    let Shape { rows, columns } = table.shape();
    let shape = Shape { rows: columns, columns: rows };
    HomogenNumericTable::from_array_with_layout(table.array()?.clone(), shape, DataLayout::ColumnMajor)
}

/// Reads all columns into one block, in column-major order: transposed and converted in one pass.
fn all_columns_at_once(
    transposed: &mut HomogenNumericTable<f32>,
    block: &mut BlockDescriptor<f64>,
    look: impl FnOnce(&[f64]),
) -> Result<(), Error> {
    transposed.get_block_of_rows(0, COLUMNS, ReadWriteMode::ReadOnly, block)?;
    look(block.as_slice());
    transposed.release_block_of_rows(block)
}

fn columns_at_once(bench: &mut Bench) -> Result<(), Error> {
    let job = "columns/f32_to_f64/at_once";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let expected = by_columns(&table)?;
    let mut transposed = transposed(&table)?;
    let mut block = BlockDescriptor::<f64>::new();
    all_columns_at_once(&mut transposed, &mut block, |values| check(job, &expected, values))?;
    bench.compare(
        job,
        1,
        &mut [("ours", &mut || {
            let look = |values: &[f64]| {
                black_box(values[0]);
            };
            all_columns_at_once(&mut transposed, &mut block, look).expect(IN_RANGE);
        })],
    );
    Ok(())
}

/// Times a conversion into new memory.
fn fresh(bench: &mut Bench) -> Result<(), Error> {
    let job = "fresh/f32_to_f64";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let values = table.as_slice()?;
    let arrow = Float32Array::from(values.to_vec());
    let arrow_cast = || arrow_cast::cast(&arrow, &Float64Type::DATA_TYPE).expect("f32 becomes f64");
    check(job, values, table.convert::<f64>()?.as_slice()?);
    let cast = arrow_cast();
    assert_eq!(cast.null_count(), 0);
    check("arrow", values, cast.as_primitive::<Float64Type>().values());
    drop(cast);
    let view = table.view()?.as_ndarray()?;
    bench.compare(
        job,
        1,
        &mut [
            ("ours", &mut || {
                black_box(table.convert::<f64>().expect(MEMORY));
            }),
            ("loop", &mut || {
                black_box(values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>());
            }),
            ("ndarray", &mut || {
                black_box(view.mapv(f64::from));
            }),
            ("arrow", &mut || {
                black_box(arrow_cast());
            }),
        ],
    );
    Ok(())
}

fn transpose(bench: &mut Bench) -> Result<(), Error> {
    let job = "transpose/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let expected = by_columns(&table)?;
    check(job, &expected, table.to_layout(DataLayout::ColumnMajor)?.as_slice()?);
    let view = table.view()?.as_ndarray()?;
    bench.compare(
        job,
        1,
        &mut [
            ("ours", &mut || {
                black_box(table.to_layout(DataLayout::ColumnMajor).expect(MEMORY));
            }),
            ("ndarray", &mut || {
                black_box(view.t().as_standard_layout());
            }),
        ],
    );
    Ok(())
}

fn fill(bench: &mut Bench) -> Result<(), Error> {
    let job = "fill/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let shape = Shape { rows: bench.values() / COLUMNS, columns: COLUMNS };
    let table = HomogenNumericTable::full(shape, 3.0_f32)?;
    assert!(table.as_slice()?.iter().all(|&value| value == 3.0));
    drop(table);
    bench.compare(
        job,
        1,
        &mut [
            ("ours", &mut || {
                black_box(HomogenNumericTable::full(shape, black_box(3.0_f32)).expect(MEMORY));
            }),
            ("loop", &mut || {
                black_box(vec![black_box(3.0_f32); shape.rows * shape.columns]);
            }),
        ],
    );
    Ok(())
}

/// Measures the limits of memory: untouched zeros, and copies by one thread and by two.
fn memory(bench: &mut Bench) -> Result<(), Error> {
    let values = bench.values();
    let job = "zeros/f32";
    if bench.wants(job) {
        assert!(Array::<f32>::zeros(values)?.iter().all(|&value| value == 0.0));
        let shape = Shape { rows: values / COLUMNS, columns: COLUMNS };
        let new = || HomogenNumericTable::<f32>::new(shape, AllocationFlag::DoAllocate).expect(MEMORY);
        bench.compare(
            job,
            1,
            &mut [("ours", &mut || {
                black_box(new());
            })],
        );
    }
    for (job, threads) in [("memcpy/1_thread", 1), ("memcpy/2_threads", 2)] {
        if threads <= parallel_parts() && bench.wants(job) {
            let mut copy = MemoryCopy::moving(values * 2 * size_of::<f32>())?;
            bench.compare(job, 1, &mut [("memcpy", &mut copy.contender(1, threads)?)]);
        }
    }
    Ok(())
}
