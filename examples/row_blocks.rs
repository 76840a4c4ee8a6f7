//! Blocks of rows, twice: with a descriptor, as in DAAL's Developer Guide, and by borrowing, as in idiomatic Rust.
//!
//! ```text
//! cargo run --release --example row_blocks
//! ```

mod common;

use common::{heading, load};
use numeric_table::prelude::*;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const ROWS_PER_BLOCK: usize = 64;

fn main() -> Result<()> {
    let mut table = load("breast_cancer.csv")?; // 569 x 30, stored as f64
    println!("breast_cancer.csv: {} of {}", table.shape(), table.element_type());
    print_rows(&mut table)?;
    print_sums(&mut table)?;
    print_writes(&table)?;
    print_who_copies(&mut table)?;
    print_refusals(&mut table)?;
    print_copy_on_write(&mut table)
}

/// Reads rows like the listing in the guide, line by line. In C++:
///
/// ```text
/// BlockDescriptor<float> block;
/// table.getBlockOfRows(firstReadRow, nReadRows, readOnly, block);
/// float *array = block.getBlockPtr();
/// ...
/// table.releaseBlockOfRows(block);
/// ```
fn read_with_descriptor(table: &mut HomogenNumericTable<f64>, first_row: usize, rows: usize) -> Result<Vec<f32>> {
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(first_row, rows, ReadWriteMode::ReadOnly, &mut block)?;
    let values = block.as_slice().to_vec();
    table.release_block_of_rows(&mut block)?;
    Ok(values)
}

/// Does the same by borrowing: the block borrows the table until it goes out of scope.
fn read_by_borrowing(table: &HomogenNumericTable<f64>, first_row: usize, rows: usize) -> Result<Vec<f32>> {
    Ok(table.rows::<f32>(first_row..first_row + rows)?.to_vec())
}

fn print_rows(table: &mut HomogenNumericTable<f64>) -> Result<()> {
    heading("Rows 100..104 of the f64 table as f32, first four columns");
    let one = read_with_descriptor(table, 100, 4)?;
    let other = read_by_borrowing(table, 100, 4)?;
    println!("{:<40}rows", "get_block_of_rows");
    for (one, other) in one.chunks(table.column_count()).zip(other.chunks(table.column_count())) {
        println!("{:<40}{}", aligned(&one[..4]), aligned(&other[..4]));
    }
    println!("equal: {}", one == other);
    Ok(())
}

fn aligned(values: &[f32]) -> String {
    values.iter().map(|value| format!("{value:>9}")).collect()
}

/// Adds the rows of a block to the sums of the columns.
fn add_rows(sums: &mut [f64], values: &[f64]) {
    for row in values.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// Sums with DAAL's loop. The descriptor reuses its buffer, and the last block ends at the last row.
fn sum_with_descriptor(table: &mut HomogenNumericTable<f32>) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; table.column_count()];
    let mut block = BlockDescriptor::<f64>::new();
    for first_row in (0..table.row_count()).step_by(ROWS_PER_BLOCK) {
        table.get_block_of_rows(first_row, ROWS_PER_BLOCK, ReadWriteMode::ReadOnly, &mut block)?;
        add_rows(&mut sums, block.as_slice());
        table.release_block_of_rows(&mut block)?;
    }
    Ok(sums)
}

/// Sums with an iterator of blocks that each have their own memory.
fn sum_row_blocks(table: &HomogenNumericTable<f32>) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; table.column_count()];
    for block in table.row_blocks::<f64>(ROWS_PER_BLOCK)? {
        add_rows(&mut sums, &block?);
    }
    Ok(sums)
}

/// Sums through a shared reference, with a descriptor whose buffer is allocated once. Several threads would use one
/// descriptor each.
fn sum_read_rows(table: &HomogenNumericTable<f32>) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; table.column_count()];
    let mut block = BlockDescriptor::new();
    for first_row in (0..table.row_count()).step_by(ROWS_PER_BLOCK) {
        let rows = first_row..table.row_count().min(first_row + ROWS_PER_BLOCK);
        add_rows(&mut sums, table.read_rows(rows, &mut block)?);
    }
    Ok(sums)
}

fn print_sums(table: &mut HomogenNumericTable<f64>) -> Result<()> {
    heading("Column sums in f64 of the same table stored as f32, 64 rows at a time");
    let mut table = table.convert::<f32>()?;
    let sums = [sum_with_descriptor(&mut table)?, sum_row_blocks(&table)?, sum_read_rows(&table)?];
    println!("{:<24}{:>20}{:>20}{:>20}", "", "get_block_of_rows", "row_blocks", "read_rows");
    for (column, feature) in table.dictionary().iter().enumerate().take(4) {
        let [one, two, three] = [0, 1, 2].map(|way| sums[way][column]);
        println!("{:<24}{one:>20.10}{two:>20.10}{three:>20.10}", feature.name.as_deref().unwrap_or_default());
    }
    println!("equal in all {} columns: {}", table.column_count(), sums[0] == sums[1] && sums[1] == sums[2]);
    Ok(())
}

/// Rounds to one decimal, through `f32` blocks, with DAAL's loop.
fn round_with_descriptor(table: &mut HomogenNumericTable<f64>) -> Result<()> {
    let mut block = BlockDescriptor::<f32>::new();
    for first_row in (0..table.row_count()).step_by(ROWS_PER_BLOCK) {
        table.get_block_of_rows(first_row, ROWS_PER_BLOCK, ReadWriteMode::ReadWrite, &mut block)?;
        block.as_mut_slice()?.iter_mut().for_each(round);
        table.release_block_of_rows(&mut block)?;
    }
    Ok(())
}

/// Does the same in disjoint blocks, on all cores.
fn round_in_parallel(table: &mut HomogenNumericTable<f64>) -> Result<()> {
    let round_block = |block: &mut BlockMut<'_, f32>| {
        block.iter_mut().for_each(round);
        Ok(())
    };
    Ok(table.par_update_row_blocks(ROWS_PER_BLOCK, round_block)?)
}

fn round(value: &mut f32) {
    *value = (*value * 10.0).round() / 10.0;
}

fn print_writes(table: &HomogenNumericTable<f64>) -> Result<()> {
    heading("Rounding to one decimal in f32 blocks: only what changed is written back");
    let [mut one, mut other] = [table.clone(), table.clone()]; // clones share memory until the first write
    round_with_descriptor(&mut one)?;
    round_in_parallel(&mut other)?;

    println!("{:<24}{:>12}{:>24}{:>24}", "row 0", "before", "get_block_of_rows", "par_update_row_blocks");
    for (column, feature) in table.dictionary().iter().enumerate().take(5) {
        let [before, one, other] = [table, &one, &other].map(|table| table.value::<f64>(0, column));
        let name = feature.name.as_deref().unwrap_or_default();
        println!("{name:<24}{:>12}{:>24}{:>24}", before?, one?, other?);
    }
    let pairs = || table.as_slice().into_iter().flatten().zip(one.as_slice().into_iter().flatten());
    let kept = pairs().filter(|(before, after)| before == after).count();
    let saved = pairs().filter(|(before, after)| before == after && f64::from(**before as f32) != **before).count();
    println!("{kept} of {} values did not change; f32 cannot hold {saved} of these", table.shape().element_count()?);
    println!("equal: {}", one == other);
    Ok(())
}

fn print_who_copies(table: &mut HomogenNumericTable<f64>) -> Result<()> {
    heading("What a block of 10 rows is: the table's own memory, or a copy in the descriptor's buffer");
    println!("{:<10}{:<14}{:<12}{:>16}{:>16}", "asked for", "mode", "zero-copy", "buffer, values", "first value");
    for mode in [ReadWriteMode::ReadOnly, ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
        print_block::<f64>(table, mode)?;
        print_block::<f32>(table, mode)?;
        print_block::<u8>(table, mode)?;
    }
    Ok(())
}

fn print_block<U: Element>(table: &mut HomogenNumericTable<f64>, mode: ReadWriteMode) -> Result<()> {
    let mut block = BlockDescriptor::<U>::new();
    table.get_block_of_rows(0, 10, mode, &mut block)?;
    let first = block.as_slice().first().copied().unwrap_or_default();
    println!("{:<10}{mode:<14}{:<12}{:>16}{first:>16}", U::TYPE, block.is_zero_copy(), block.capacity());
    Ok(()) // the block is dropped, not released: nothing is written
}

fn print_refusals(table: &mut HomogenNumericTable<f64>) -> Result<()> {
    heading("What is refused, and how it says so");
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(20, 10, ReadWriteMode::ReadWrite, &mut block)?;
    print_error("read while a writable block is out", table.rows::<f64>(0..1));
    print_error("get a second writable block", table.rows_mut::<f64>(40..50));
    print_error("release it as column values", table.release_block_of_column_values(&mut block));
    print_error("release it on another table", load("wine.csv")?.release_block_of_rows(&mut block));
    table.release_block_of_rows(&mut block)?;
    print_error("release it a second time", table.release_block_of_rows(&mut block));

    table.get_block_of_rows(20, 10, ReadWriteMode::ReadOnly, &mut block)?;
    print_error("write a read-only block", block.as_mut_slice());
    print_error("get rows past the end", table.get_block_of_rows(570, 1, ReadWriteMode::ReadOnly, &mut block));
    print_error("borrow rows past the end", table.rows::<f32>(560..570));

    let mut bytes = table.convert::<u8>()?;
    let mut block = bytes.rows_mut::<f32>(20..30)?;
    block.row_mut(3)[1] = 256.0;
    print_error("release 256 into a table of u8", block.release());
    Ok(())
}

fn print_error<T>(what: &str, result: Result<T, Error>) {
    match result {
        Ok(_) => println!("{what:<38}no error"),
        Err(error) => println!("{what:<38}{error}"),
    }
}

fn print_copy_on_write(table: &mut HomogenNumericTable<f64>) -> Result<()> {
    heading("Copy on write: a read-only block keeps what it showed");
    let mut block = BlockDescriptor::<f64>::new();
    table.read_rows(0..1, &mut block)?;
    println!("{:<30}{:>12}{:>12}{:>24}", "", "in block", "in table", "memory of the table");
    let line = |when: &str, table: &HomogenNumericTable<f64>| -> Result<()> {
        let (shown, stored) = (block.as_slice()[0], table.value::<f64>(0, 0)?);
        println!("{when:<30}{shown:>12}{stored:>12}{:>24}", table.data_memory_status());
        Ok(())
    };
    line("block is taken, zero-copy", table)?;
    table.set_value(0, 0, -1.0)?;
    line("value (0, 0) is set to -1", table)
}
