//! Blocks of rows of the other kinds of tables, through one reused descriptor.

use std::hint::black_box;

use numeric_table::convert::cast;
use numeric_table::prelude::*;
use numeric_table::{
    AnyArray, AosNumericTable, MergedNumericTable, RowMergedNumericTable, SoaNumericTable, impl_record,
};

use crate::measure::Bench;
use crate::rows::size;

pub(crate) const COLUMNS: usize = 16;
const IN_RANGE: &str = "the block is in range";

type Boxed = Box<dyn NumericTable>;

/// A record of one type: 64 bytes.
#[derive(Clone, Copy)]
struct Wide {
    values: [f32; COLUMNS],
}

impl_record!(Wide { values });

/// A record of several types: 24 bytes, including four bytes of padding.
#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    category: i32,
    value: f64,
}

impl_record!(Point { x, y, category, value });

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    for rows in [1, 256, 8192].map(Some) {
        read::<f64>(bench, "soa/f32", rows, soa)?;
    }
    read::<f32>(bench, "soa/f32", Some(256), soa)?;
    read::<f64>(bench, "soa/mixed", Some(256), soa_of_four_types)?;
    written::<f64>(bench, "soa_written/f32", 256, soa)?;
    for rows in [Some(1), Some(256), None] {
        read::<f64>(bench, "aos/16_f32", rows, wide_records)?;
    }
    for rows in [Some(256), None] {
        read::<f64>(bench, "aos/mixed", rows, mixed_records)?;
    }
    for rows in [1, 256].map(Some) {
        read::<f32>(bench, "merged/2_tables/f32", rows, |bench| merged(bench, 2))?;
        read::<f64>(bench, "merged/2_tables/f32", rows, |bench| merged(bench, 2))?;
        read::<f32>(bench, "row_merged/1024_tables/f32", rows, |bench| row_merged(bench, 1024))?;
    }
    read::<f32>(bench, "merged/16_tables/f32", Some(256), |bench| merged(bench, 16))?;
    read::<f32>(bench, "row_merged/16_tables/f32", Some(256), |bench| row_merged(bench, 16))?;
    read::<f64>(bench, "row_merged/16_tables/f32", Some(256), |bench| row_merged(bench, 16))
}

/// Returns the value at a row and a column, the same in every table of this file.
pub(crate) fn value(row: usize, column: usize) -> f64 {
    ((row * COLUMNS + column) * 7 % 251) as f64 * 0.99
}

fn column<T: Element>(rows: usize, column: usize) -> Result<Array<T>, Error> {
    Array::from_fn(rows, |row| cast::<f64, T>(value(row, column)))
}

fn part(rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Result<Boxed, Error> {
    let shape = Shape { rows: rows.len(), columns: columns.len() };
    let place = |row: usize, column: usize| value(rows.start + row, columns.start + column) as f32;
    Ok(Box::new(HomogenNumericTable::from_fn(shape, place)?))
}

fn soa(bench: &Bench) -> Result<Boxed, Error> {
    let rows = bench.values() / COLUMNS;
    let columns = (0..COLUMNS).map(|index| Ok(("", column::<f32>(rows, index)?)));
    Ok(Box::new(SoaNumericTable::from_columns(columns.collect::<Result<Vec<_>, Error>>()?)?))
}

fn soa_of_four_types(bench: &Bench) -> Result<Boxed, Error> {
    let rows = bench.values() / COLUMNS;
    let columns: [AnyArray; 4] = [
        column::<f32>(rows, 0)?.into(),
        column::<f64>(rows, 1)?.into(),
        column::<i32>(rows, 2)?.into(),
        column::<i16>(rows, 3)?.into(),
    ];
    Ok(Box::new(SoaNumericTable::from_columns(columns.map(|column| ("", column)))?))
}

fn wide_records(bench: &Bench) -> Result<Boxed, Error> {
    let record = |row| Wide { values: std::array::from_fn(|column| value(row, column) as f32) };
    let records = (0..bench.values() / COLUMNS).map(record).collect::<Vec<_>>();
    Ok(Box::new(AosNumericTable::from_records(records)?))
}

fn mixed_records(bench: &Bench) -> Result<Boxed, Error> {
    let record = |row| Point {
        x: value(row, 0) as f32,
        y: value(row, 1) as f32,
        category: value(row, 2) as i32,
        value: value(row, 3),
    };
    let records = (0..bench.values() / COLUMNS).map(record).collect::<Vec<_>>();
    Ok(Box::new(AosNumericTable::from_records(records)?))
}

fn merged(bench: &Bench, tables: usize) -> Result<Boxed, Error> {
    let (rows, width) = (bench.values() / COLUMNS, COLUMNS / tables);
    let parts = (0..tables).map(|index| part(0..rows, index * width..(index + 1) * width));
    Ok(Box::new(MergedNumericTable::new(parts.collect::<Result<Vec<_>, _>>()?)?))
}

fn row_merged(bench: &Bench, tables: usize) -> Result<Boxed, Error> {
    let height = bench.values() / COLUMNS / tables;
    let parts = (0..tables).map(|index| part(index * height..(index + 1) * height, 0..COLUMNS));
    Ok(Box::new(RowMergedNumericTable::new(parts.collect::<Result<Vec<_>, _>>()?)?))
}

/// Calls `look` with each block of a table, through a reused descriptor.
pub(crate) fn walk<U: Element>(
    table: &mut dyn NumericTable,
    rows: usize,
    mode: ReadWriteMode,
    block: &mut BlockDescriptor<U>,
    look: &mut dyn FnMut(&mut BlockDescriptor<U>),
) {
    for first in (0..table.row_count()).step_by(rows) {
        table.get_block_of_rows(first, rows, mode, block).expect(IN_RANGE);
        look(block);
        table.release_block_of_rows(block).expect(IN_RANGE);
    }
}

/// Returns the name of a job: `kinds/soa/f32_to_f64/256_rows`.
pub(crate) fn name<U: Element>(kind: &str, rows: Option<usize>) -> String {
    format!("kinds/{kind}_to_{}/{}", U::TYPE, size(rows))
}

/// Checks all values of a table, read in blocks of the given number of rows.
pub(crate) fn check<U: Element>(
    job: &str,
    table: &mut dyn NumericTable,
    rows: usize,
    expected: impl Fn(usize, usize) -> f64,
) {
    let mut seen = 0;
    walk::<U>(table, rows, ReadWriteMode::ReadOnly, &mut BlockDescriptor::new(), &mut |block| {
        for (row, values) in block.row_range().zip(0..) {
            for (column, &found) in block.row(values).iter().enumerate() {
                assert!(found == cast::<f64, U>(expected(row, column)), "{job}: row {row}, column {column}");
                seen += 1;
            }
        }
    });
    assert_eq!(seen, table.row_count() * table.column_count(), "{job}");
}

/// Reads a table in blocks of the given number of rows, or as one block.
fn read<U: Element>(
    bench: &mut Bench,
    kind: &str,
    rows: Option<usize>,
    make: impl Fn(&Bench) -> Result<Boxed, Error>,
) -> Result<(), Error> {
    let job = name::<U>(kind, rows);
    if !bench.wants(&job) {
        return Ok(());
    }
    let mut table = make(bench)?;
    let types = table.dictionary().iter().map(|feature| feature.element_type).collect::<Vec<_>>();
    let rows = rows.unwrap_or(table.row_count());
    check::<U>(&job, &mut *table, rows, |row, column| match (types[column], value(row, column)) {
        (ElementType::F32, exact) => f64::from(exact as f32),
        (ElementType::F64, exact) => exact,
        (_, exact) => exact.trunc(),
    });
    let mut block = BlockDescriptor::<U>::new();
    let mut ours = || {
        walk(&mut *table, rows, ReadWriteMode::ReadOnly, &mut block, &mut |block| {
            black_box(block.as_slice());
        });
    };
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}

/// Changes one value of each block, and writes it back.
fn written<U: Element>(
    bench: &mut Bench,
    kind: &str,
    rows: usize,
    make: impl Fn(&Bench) -> Result<Boxed, Error>,
) -> Result<(), Error> {
    let job = name::<U>(kind, Some(rows));
    if !bench.wants(&job) {
        return Ok(());
    }
    let mut table = make(bench)?;
    let (mut pass, mut block) = (0.0, BlockDescriptor::<U>::new());
    let mut ours = || {
        pass = 1.0 - pass;
        walk(&mut *table, rows, ReadWriteMode::ReadWrite, &mut block, &mut |block| {
            block.as_mut_slice().expect("it is writable")[0] = cast::<f64, U>(pass);
        });
    };
    ours();
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    let first = table.value::<f64>(rows, 0)?;
    assert!(first == 0.0 || first == 1.0, "{job}");
    assert_eq!(table.value::<f32>(rows + 1, 2)?, value(rows + 1, 2) as f32, "{job}");
    Ok(())
}
