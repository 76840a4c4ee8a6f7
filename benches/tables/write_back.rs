//! Writable blocks in a type other than the stored one: acquired, changed in one of three ways, and released.
//!
//! Throughput counts the bytes that a conversion to the block's type and one back read and write. The library reads
//! more, because it does not rewrite unchanged values, and checks a complete block before it writes any of it.

use std::hint::black_box;

use criterion::Criterion;
use numeric_table::convert::cast;
use numeric_table::prelude::*;

use crate::limits::{Copied, memcpy};
use crate::rivals::{ArrowElement, Misfit, Plain, arrow_array, arrow_cast, naive_loop};
use crate::rows::Cut;
use crate::support::{ALL_ROWS, MI, group, is_wanted, memory, ragged, rows_name, shape_of, values_mut, whole, written};

const VALUES: usize = 4 * MI;
const COLUMNS: usize = 16;

pub(crate) fn write_back(criterion: &mut Criterion) {
    for rows in [8192, ALL_ROWS] {
        for change in [Change::Nothing, Change::One, Change::All] {
            pair::<f32>(criterion, rows, change, ragged);
            pair::<i64>(criterion, rows, change, |index| {
                if index % 1000 == 999 { (1 << 53) + 1 } else { whole(index) } // no f64 is equal to the first
            });
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Nothing,
    One,
    All,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "change_nothing",
            Self::One => "change_one",
            Self::All => "change_all",
        }
    }

    fn apply(self, block: &mut [f64]) {
        let count = match self {
            Self::Nothing => 0,
            Self::One => 1,
            Self::All => block.len(),
        };
        for value in &mut block[..count] {
            *value = 1.0 - *value;
        }
    }

    /// Changes the values of a table like a released block, by the scalar rule.
    fn expect<S: Element>(self, values: &mut [S], block: usize) {
        for block in values.chunks_mut(block) {
            let mut shown: Vec<f64> = block.iter().map(|&value| cast(value)).collect();
            self.apply(&mut shown);
            for (value, shown) in block.iter_mut().zip(shown) {
                if cast::<S, f64>(*value) != shown {
                    *value = cast(shown);
                }
            }
        }
    }
}

fn pair<S: ArrowElement + Plain<f64>>(criterion: &mut Criterion, rows: usize, change: Change, value: fn(usize) -> S)
where
    f64: Plain<S>,
{
    let id = format!("write_back/{}_as_f64/{}/{}", S::TYPE, rows_name(rows), change.name());
    if !is_wanted(&id) {
        return;
    }
    let shape = shape_of(VALUES, COLUMNS);
    let values = shape.rows * shape.columns;
    let mut table = HomogenNumericTable::from_array(memory(values, value), shape).expect("the lengths agree");
    let cut = Cut::new(shape.rows, rows);
    let block_values = cut.block_rows() * COLUMNS;
    let mut group = group(criterion, id, 2 * values * (size_of::<S>() + 8));

    let through_rows = |table: &mut HomogenNumericTable<S>| {
        for rows in cut.blocks() {
            let mut block = table.rows_mut::<f64>(rows).expect("in range");
            change.apply(&mut block);
            block.release().expect("every value fits");
        }
    };
    let mut descriptor = BlockDescriptor::<f64>::new();
    let mut through_descriptor = |table: &mut HomogenNumericTable<S>| {
        for rows in cut.blocks() {
            let (first, count, mode) = (rows.start, rows.len(), ReadWriteMode::ReadWrite);
            table.get_block_of_rows(first, count, mode, &mut descriptor).expect("in range");
            change.apply(descriptor.as_mut_slice().expect("writable"));
            table.release_block_of_rows(&mut descriptor).expect("every value fits");
        }
    };

    let mut expected = table.as_slice().expect("row-major").to_vec();
    change.expect(&mut expected, block_values);
    through_rows(&mut table);
    assert!(table.as_slice().expect("row-major") == expected);
    change.expect(&mut expected, block_values);
    through_descriptor(&mut table);
    assert!(table.as_slice().expect("row-major") == expected);
    group.bench_function("ours", |bencher| bencher.iter(|| through_rows(&mut table)));
    group.bench_function("ours_descriptor", |bencher| bencher.iter(|| through_descriptor(&mut table)));

    let source = table.as_mut_slice().expect("row-major");
    let mut shown = written::<f64>(block_values);
    let shown = values_mut(&mut shown);
    group.bench_function("naive_loop", |bencher| {
        bencher.iter(|| {
            for source in source.chunks_mut(block_values) {
                let shown = &mut shown[..source.len()];
                naive_loop(source, shown);
                change.apply(shown);
                naive_loop(black_box(&*shown), source);
            }
        });
    });
    group.bench_function("ndarray_zip", |bencher| {
        use crate::rivals::{ndarray_zip, view2, view2_mut};
        bencher.iter(|| {
            for source in source.chunks_mut(block_values) {
                let (rows, shown) = (source.len() / COLUMNS, &mut shown[..source.len()]);
                ndarray_zip(view2(source, rows, COLUMNS), view2_mut(shown, rows, COLUMNS));
                change.apply(shown);
                ndarray_zip(view2(shown, rows, COLUMNS), view2_mut(source, rows, COLUMNS));
            }
        });
    });
    if matches!(change, Change::Nothing) {
        // To f64 and back. Arrow arrays are immutable: changing values would need one more copy.
        let array = arrow_array(source);
        group.bench_function("arrow_cast", |bencher| {
            bencher.iter(|| {
                for rows in cut.blocks() {
                    let block = array.slice(rows.start * COLUMNS, rows.len() * COLUMNS);
                    black_box(arrow_cast::<S>(&arrow_cast::<f64>(&block, Misfit::Error), Misfit::Error));
                }
            });
        });
    }

    let Copied { mut source, mut target, threads } = Copied::in_blocks::<S, f64>(values, block_values);
    let (source, target) = (values_mut(&mut source), values_mut(&mut target));
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| {
            for source in source.chunks_mut(target.len()) {
                let target = &mut target[..source.len()];
                memcpy(source, target, threads);
                memcpy(black_box(&*target), source, threads);
            }
        });
    });
    group.finish();
}
