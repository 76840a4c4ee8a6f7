//! Blocks of rows through one reused descriptor, as DAAL's programs read and write a table: get, access, release.

use std::hint::black_box;

use half::f16;
use numeric_table::convert::cast;
use numeric_table::prelude::*;

use crate::measure::Bench;
use crate::plain::{Plain, check, pair, plain_loop, sample_values};

const IN_RANGE: &str = "the block is in range";

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    for columns in [16, 128] {
        read_blocks::<f32, f64>(bench, columns, Some(256))?;
        for rows in [Some(8192), None] {
            read_blocks::<f32, f64>(bench, columns, rows)?;
            read_blocks::<i16, f32>(bench, columns, rows)?;
            read_blocks::<u8, f32>(bench, columns, rows)?;
            read_blocks::<f64, i32>(bench, columns, rows)?;
            read_blocks::<f32, i32>(bench, columns, rows)?;
        }
    }
    for rows in [Some(256), Some(8192), None] {
        checked_blocks::<f64, f32>(bench, rows)?;
        checked_blocks::<f64, i32>(bench, rows)?;
        checked_blocks::<f32, i32>(bench, rows)?;
        checked_blocks::<i32, i16>(bench, rows)?;
        checked_blocks::<f32, f16>(bench, rows)?;
    }
    for rows in [Some(256), Some(8192), None] {
        same_type_blocks(bench, rows)?;
    }
    for rows in [256, 8192] {
        write_back::<f32, f64>(bench, rows)?;
        write_back::<f64, f32>(bench, rows)?;
    }
    one_row::<f64>(bench, "one_row/f32_to_f64/descriptor")?;
    one_row::<f32>(bench, "one_row/f32/descriptor")?;
    one_borrowed_row(bench)?;
    one_row_written::<f64>(bench, "one_row_written/f32_to_f64/descriptor")?;
    one_row_written::<f32>(bench, "one_row_written/f32/descriptor")?;
    one_borrowed_row_written(bench)?;
    one_value_written(bench)
}

/// Creates a table with the number of values in a large job.
pub(crate) fn sample_table<S: Element>(bench: &Bench, columns: usize) -> Result<HomogenNumericTable<S>, Error> {
    let shape = Shape { rows: bench.values() / columns, columns };
    HomogenNumericTable::from_array(sample_values::<S>(bench.values())?, shape)
}

/// Returns the name of a block size.
pub(crate) fn size(rows: Option<usize>) -> String {
    rows.map_or("whole".to_owned(), |rows| format!("{rows}_rows"))
}

/// Reads a table from its first row to its last, and calls `look` with each block.
fn read<S: Element, U: Element>(
    table: &mut HomogenNumericTable<S>,
    rows_per_block: usize,
    block: &mut BlockDescriptor<U>,
    mut look: impl FnMut(&[U]),
) {
    for first in (0..table.row_count()).step_by(rows_per_block) {
        table.get_block_of_rows(first, rows_per_block, ReadWriteMode::ReadOnly, block).expect(IN_RANGE);
        look(block.as_slice());
        table.release_block_of_rows(block).expect(IN_RANGE);
    }
}

fn check_blocks<S: Plain<U>, U: Element>(job: &str, table: &mut HomogenNumericTable<S>, rows_per_block: usize) {
    let mut seen = Vec::new();
    read(table, rows_per_block, &mut BlockDescriptor::<U>::new(), |values| seen.extend_from_slice(values));
    check(job, table.as_slice().expect("the table is allocated"), &seen);
}

fn read_blocks<S: Plain<U>, U: Element>(bench: &mut Bench, columns: usize, rows: Option<usize>) -> Result<(), Error> {
    let job = format!("rows/{}/{columns}_columns/{}", pair::<S, U>(), size(rows));
    if !bench.wants(&job) {
        return Ok(());
    }
    let mut table = sample_table::<S>(bench, columns)?;
    let rows_per_block = rows.unwrap_or(table.row_count()).min(table.row_count());
    check_blocks::<S, U>(&job, &mut table, rows_per_block);
    let source = sample_values::<S>(bench.values())?;
    let mut target = Array::<U>::zeros(rows_per_block * columns)?;
    let target = target.mutable_data()?;
    let mut block = BlockDescriptor::<U>::new();
    bench.compare(
        &job,
        1,
        &mut [
            ("ours", &mut || {
                read(&mut table, rows_per_block, &mut block, |values| {
                    black_box(values[0]);
                })
            }),
            ("loop", &mut || {
                for source in source.chunks(rows_per_block * columns) {
                    plain_loop(source, &mut target[..source.len()]);
                    black_box(&mut *target);
                }
            }),
        ],
    );
    Ok(())
}

/// Times checking for values that do not fit, when all of them fit.
fn checked_blocks<S: Plain<U>, U: Element>(bench: &mut Bench, rows: Option<usize>) -> Result<(), Error> {
    let job = format!("checked/{}/16_columns/{}", pair::<S, U>(), size(rows));
    if !bench.wants(&job) {
        return Ok(());
    }
    let mut table = sample_table::<S>(bench, 16)?;
    let rows_per_block = rows.unwrap_or(table.row_count()).min(table.row_count());
    check_blocks::<S, U>(&job, &mut table, rows_per_block);
    let mut saturated = table.clone();
    let mut blocks = [ConversionPolicy::Checked, ConversionPolicy::Saturate].map(BlockDescriptor::<U>::with_policy);
    let [block, saturated_block] = &mut blocks;
    let look = |values: &[U]| {
        black_box(values[0]);
    };
    bench.compare(
        &job,
        1,
        &mut [
            ("ours", &mut || read(&mut table, rows_per_block, block, look)),
            ("saturate", &mut || read(&mut saturated, rows_per_block, saturated_block, look)),
        ],
    );
    Ok(())
}

/// Times blocks that need no conversion, which are the table's own memory.
fn same_type_blocks(bench: &mut Bench, rows: Option<usize>) -> Result<(), Error> {
    let job = format!("rows/f32/16_columns/{}", size(rows));
    if !bench.wants(&job) {
        return Ok(());
    }
    let mut table = sample_table::<f32>(bench, 16)?;
    let rows_per_block = rows.unwrap_or(table.row_count());
    check_blocks::<f32, f32>(&job, &mut table, rows_per_block);
    let mut block = BlockDescriptor::<f32>::new();
    bench.compare(
        &job,
        1,
        &mut [("ours", &mut || {
            read(&mut table, rows_per_block, &mut block, |values| {
                black_box(values[0]);
            })
        })],
    );
    Ok(())
}

/// Times changing one value of each block of 16 columns.
fn write_back<S: Plain<U>, U: Element>(bench: &mut Bench, rows_per_block: usize) -> Result<(), Error> {
    let job = format!("write_back/{}/16_columns/{rows_per_block}_rows", pair::<S, U>());
    if !bench.wants(&job) {
        return Ok(());
    }
    let columns = 16;
    let mut table = sample_table::<S>(bench, columns)?;
    let mut block = BlockDescriptor::<U>::new();
    let mut pass = 0_u8; // a different value in each pass
    let mut change = |table: &mut HomogenNumericTable<S>, pass: u8| {
        for first in (0..table.row_count()).step_by(rows_per_block) {
            table.get_block_of_rows(first, rows_per_block, ReadWriteMode::ReadWrite, &mut block).expect(IN_RANGE);
            block.as_mut_slice().expect("the block is writable")[0] = cast(pass);
            table.release_block_of_rows(&mut block).expect("the value fits");
        }
    };
    change(&mut table, 100);
    let mut expected = sample_values::<S>(bench.values())?;
    let written = cast::<u8, S>(100);
    expected.mutable_data()?.chunks_mut(rows_per_block * columns).for_each(|block| block[0] = written);
    assert!(table.as_slice()? == &expected[..], "{job}: one value of each block changes, and no other");
    bench.compare(
        &job,
        1,
        &mut [("ours", &mut || {
            pass ^= 1;
            change(&mut table, pass);
        })],
    );
    Ok(())
}

/// Times reading all rows of a table, one at a time.
fn one_row<U: Element>(bench: &mut Bench, job: &str) -> Result<(), Error>
where
    f32: Plain<U>,
{
    if !bench.wants(job) {
        return Ok(());
    }
    let mut table = sample_table::<f32>(bench, 16)?;
    check_blocks::<f32, U>(job, &mut table, 1);
    let mut block = BlockDescriptor::<U>::new();
    bench.compare(
        job,
        table.row_count(),
        &mut [("ours", &mut || {
            read(&mut table, 1, &mut block, |values| {
                black_box(values[0]);
            })
        })],
    );
    Ok(())
}

fn one_borrowed_row(bench: &mut Bench) -> Result<(), Error> {
    let job = "one_row/f32/borrowed";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, 16)?;
    let walk = |look: &mut dyn FnMut(&[f32])| -> Result<(), Error> {
        (0..table.row_count()).try_for_each(|row| table.rows::<f32>(row..row + 1).map(|block| look(&block)))
    };
    let mut seen = Vec::new();
    walk(&mut |values| seen.extend_from_slice(values))?;
    check(job, table.as_slice()?, &seen);
    bench.compare(
        job,
        table.row_count(),
        &mut [("ours", &mut || {
            for row in 0..table.row_count() {
                black_box(table.rows::<f32>(row..row + 1).expect(IN_RANGE)[0]);
            }
        })],
    );
    Ok(())
}

/// Times changing the first value of every row, one row at a time, to a different value in each pass.
fn one_row_written<U: Element>(bench: &mut Bench, job: &str) -> Result<(), Error>
where
    f32: Plain<U>,
{
    let mut block = BlockDescriptor::<U>::new();
    each_row_written(bench, job, &mut |table, pass| {
        for row in 0..table.row_count() {
            table.get_block_of_rows(row, 1, ReadWriteMode::ReadWrite, &mut block)?;
            block.as_mut_slice()?[0] = cast(pass);
            table.release_block_of_rows(&mut block)?;
        }
        Ok(())
    })
}

fn one_borrowed_row_written(bench: &mut Bench) -> Result<(), Error> {
    each_row_written(bench, "one_row_written/f32/borrowed", &mut |table, pass| {
        for row in 0..table.row_count() {
            let mut block = table.rows_mut::<f32>(row..row + 1)?;
            block[0] = f32::from(pass);
            block.release()?;
        }
        Ok(())
    })
}

fn one_value_written(bench: &mut Bench) -> Result<(), Error> {
    each_row_written(bench, "one_value_written/f32", &mut |table, pass| {
        (0..table.row_count()).try_for_each(|row| table.set_value(row, 0, f32::from(pass)))
    })
}

/// A function that writes a number to the first column of each row.
type WriteRows<'a> = &'a mut dyn FnMut(&mut HomogenNumericTable<f32>, u8) -> Result<(), Error>;

/// Times `write`, which writes its number to the first column of each row.
fn each_row_written(bench: &mut Bench, job: &str, write: WriteRows<'_>) -> Result<(), Error> {
    if !bench.wants(job) {
        return Ok(());
    }
    let mut table = sample_table::<f32>(bench, 16)?;
    let mut expected = sample_values::<f32>(bench.values())?;
    write(&mut table, 100)?;
    expected.mutable_data()?.chunks_mut(16).for_each(|row| row[0] = 100.0);
    assert!(table.as_slice()? == &expected[..], "{job}: the first value of each row changes, and no other");
    let mut pass = 0_u8;
    bench.compare(
        job,
        table.row_count(),
        &mut [("ours", &mut || {
            pass ^= 1;
            write(&mut table, pass).expect("the rows are in range, and the value fits");
        })],
    );
    Ok(())
}
