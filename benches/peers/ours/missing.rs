//! Columns with missing values: one value in ten, at random.

use std::hint::black_box;

use numeric_table::array::Validity;
use numeric_table::prelude::*;
use numeric_table::statistics::BasicStatistics;
use numeric_table::{AnyArray, Array, SoaNumericTable};

use crate::measure::Bench;
use crate::statistics::value;

const COLUMNS: usize = 16;
const BLOCK_ROWS: usize = 8192;

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    statistics(bench, |value| value)?;
    statistics(bench, |value| value as i64)?;
    read(bench, "f64", |value| value)?;
    read(bench, "f32_to_f64", |value| value as f32)?;
    read(bench, "i64_to_f64", |value| value as i64)
}

/// Returns whether a value is present, as `numpy_bench.py` does.
fn is_present(row: usize, column: usize) -> bool {
    let at = (row * COLUMNS + column + 1) as u64;
    !(at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40).is_multiple_of(10)
}

fn rows(bench: &Bench) -> usize {
    if bench.is_small() { 3000 } else { 1 << 20 }
}

/// Creates the same columns with and without gaps.
fn tables<T: Element>(rows: usize, of: impl Fn(f64) -> T) -> Result<[SoaNumericTable; 2], Error> {
    let (mut with, mut without) = (SoaNumericTable::new(), SoaNumericTable::new());
    for column in 0..COLUMNS {
        let values = Array::from((0..rows).map(|row| of(value(row, column))).collect::<Vec<T>>());
        let validity = Validity::from_fn(rows, |row| is_present(row, column))?;
        let feature = Feature::new(T::TYPE).named(format!("{column}"));
        with.push_nullable(feature, AnyArray::from(values.clone()), Some(validity)).map_err(|it| it.error)?;
        without.push_column(format!("{column}"), values)?;
    }
    Ok([with, without])
}

fn statistics<T: Element>(bench: &mut Bench, of: impl Fn(f64) -> T) -> Result<(), Error> {
    let job = format!("statistics/missing/{}/{COLUMNS}_columns", T::TYPE);
    if !bench.wants(&job) {
        return Ok(());
    }
    let [with, without] = tables(rows(bench), of)?;
    let found = *BasicStatistics::compute(&with)?.column(3)?;
    let values = without.column::<f64>(3, ..)?;
    let present = || (0..values.len()).filter(|&row| is_present(row, 3)).map(|row| values[row]);
    assert_eq!(found.count(), present().count() as u64, "{job}");
    assert_eq!(found.maximum(), present().fold(0.0, f64::max), "{job}");
    assert!((found.mean() * found.count() as f64 / present().sum::<f64>() - 1.0).abs() < 1e-12, "{job}");
    let mut ours = || drop(black_box(BasicStatistics::compute(&with)));
    let mut complete = || drop(black_box(BasicStatistics::compute(&without)));
    bench.compare(&job, 1, &mut [("ours", &mut ours), ("no gaps", &mut complete)]);
    Ok(())
}

fn read<T: Element>(bench: &mut Bench, pair: &str, of: impl Fn(f64) -> T) -> Result<(), Error> {
    let job = format!("missing/read/{pair}/{COLUMNS}_columns/{BLOCK_ROWS}_rows");
    if !bench.wants(&job) {
        return Ok(());
    }
    let [mut with, mut without] = tables(rows(bench), of)?;
    let block = with.rows::<f64>(100..200)?;
    for row in 100..200 {
        for column in 0..COLUMNS {
            let found = block[(row - 100) * COLUMNS + column];
            let expected = without.value::<f64>(row, column)?;
            assert!(if is_present(row, column) { found == expected } else { found.is_nan() }, "{job}");
        }
    }
    drop(block);
    let all = |table: &mut SoaNumericTable, block: &mut BlockDescriptor<f64>| {
        for first in (0..table.row_count()).step_by(BLOCK_ROWS) {
            table.get_block_of_rows(first, BLOCK_ROWS, ReadWriteMode::ReadOnly, block).expect("the block is in range");
            black_box(block.as_slice()[0]);
            table.release_block_of_rows(block).expect("the block was read");
        }
    };
    let mut blocks = [BlockDescriptor::new(), BlockDescriptor::new()];
    let [block, other] = &mut blocks;
    let (mut ours, mut complete) = (|| all(&mut with, block), || all(&mut without, other));
    bench.compare(&job, 1, &mut [("ours", &mut ours), ("no gaps", &mut complete)]);
    Ok(())
}
