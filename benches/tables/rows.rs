//! Blocks of rows in a requested type, through one reused descriptor: the main job of the crate.

use std::hint::black_box;
use std::ops::Range;

use criterion::Criterion;
use numeric_table::prelude::*;

use crate::limits::Copied;
use crate::rivals::{ArrowElement, Misfit, Plain, arrow_array, arrow_cast, arrow_values, naive_loop};
use crate::support::{
    ALL_ROWS, MI, check, columns_name, group, group_of_blocks, is_wanted, pair_name, rows_name, shape_of, table,
};
use crate::support::{values_mut, written};

const VALUES: usize = 4 * MI;
const COLUMNS: [usize; 4] = [1, 4, 16, 128];
const ROWS: [usize; 4] = [1, 256, 8192, ALL_ROWS];

/// Maximum number of blocks: enough to measure the cost per block of small blocks.
const MAX_BLOCKS: usize = 64 << 10;

pub(crate) fn rows(criterion: &mut Criterion) {
    converted::<f32, f64>(criterion);
    converted::<f64, f32>(criterion);
    converted::<i32, f64>(criterion);
    converted::<f64, i32>(criterion);
    converted::<f32, i32>(criterion);
    converted::<i16, f32>(criterion);
    converted::<u8, f32>(criterion);
    same_type::<f32>(criterion);
}

/// The rows of a table, divided into blocks.
pub(crate) struct Cut {
    row_count: usize,
    rows: usize,
}

impl Cut {
    pub(crate) fn new(row_count: usize, rows: usize) -> Self {
        let rows = rows.min(row_count);
        Self { row_count: row_count.min(rows.saturating_mul(MAX_BLOCKS)), rows }
    }

    /// Returns the number of rows of all blocks together.
    pub(crate) fn row_count(&self) -> usize {
        self.row_count
    }

    /// Returns the number of rows of the largest block.
    pub(crate) fn block_rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn count(&self) -> usize {
        self.row_count.div_ceil(self.rows)
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let Self { row_count, rows } = *self;
        (0..row_count).step_by(rows).map(move |first| first..(first + rows).min(row_count))
    }
}

fn id<S: Element, D: Element>(columns: usize, rows: usize) -> String {
    format!("rows/{}/{}/{}", pair_name::<S, D>(), columns_name(columns), rows_name(rows))
}

fn converted<S: ArrowElement + Plain<D>, D: ArrowElement>(criterion: &mut Criterion) {
    for columns in COLUMNS {
        if !is_wanted(&format!("rows/{}/{}", pair_name::<S, D>(), columns_name(columns))) {
            continue;
        }
        let table = table::<S>(shape_of(VALUES, columns), DataLayout::RowMajor);
        for rows in ROWS {
            converted_blocks::<S, D>(criterion, &table, rows);
        }
    }
}

fn converted_blocks<S: ArrowElement + Plain<D>, D: ArrowElement>(
    criterion: &mut Criterion,
    table: &HomogenNumericTable<S>,
    rows: usize,
) {
    let columns = table.column_count();
    let id = id::<S, D>(columns, rows);
    if !is_wanted(&id) {
        return;
    }
    let cut = Cut::new(table.row_count(), rows);
    let values = cut.row_count() * columns;
    let source = &table.as_slice().expect("row-major")[..values];
    let mut group = group(criterion, id, values * (size_of::<S>() + size_of::<D>()));

    let mut block = BlockDescriptor::<D>::new();
    for rows in cut.blocks() {
        let expected = &source[rows.start * columns..rows.end * columns];
        check(expected, table.read_rows(rows, &mut block).expect("in range"));
    }
    group.bench_function("ours", |bencher| {
        bencher.iter(|| {
            for rows in cut.blocks() {
                black_box(table.read_rows(rows, &mut block).expect("in range"));
            }
        });
    });

    let mut memory = written::<D>(cut.block_rows() * columns);
    let target = values_mut(&mut memory);
    let last = source.chunks(target.len()).next_back().unwrap_or_default();
    let naive = |target: &mut [D]| {
        for source in source.chunks(target.len()) {
            naive_loop(source, &mut target[..source.len()]);
            black_box(&mut *target);
        }
    };
    naive(target);
    check(last, &target[..last.len()]);
    group.bench_function("naive_loop", |bencher| bencher.iter(|| naive(target)));

    {
        use crate::rivals::{ndarray_zip, view2, view2_mut};
        let view = view2(source, cut.row_count(), columns);
        let zip = |target: &mut [D]| {
            let mut target = view2_mut(target, cut.block_rows(), columns);
            for rows in cut.blocks() {
                let part = target.slice_mut(ndarray::s![..rows.len(), ..]);
                ndarray_zip(view.slice(ndarray::s![rows, ..]), part);
                black_box(&mut target);
            }
        };
        target.fill(D::default());
        zip(target);
        check(last, &target[..last.len()]);
        group.bench_function("ndarray_zip", |bencher| bencher.iter(|| zip(target)));
    }

    if columns == 16 {
        let array = arrow_array(source);
        check(source, arrow_values::<D>(&arrow_cast::<D>(&array, Misfit::Null)));
        group.bench_function("arrow_cast", |bencher| {
            bencher.iter(|| {
                for rows in cut.blocks() {
                    let block = array.slice(rows.start * columns, rows.len() * columns);
                    black_box(arrow_cast::<D>(&block, Misfit::Null));
                }
            });
        });
    }

    let mut copied = Copied::in_blocks::<S, D>(values, cut.block_rows() * columns);
    group.bench_function("memcpy", |bencher| bencher.iter(|| copied.copy()));
    group.finish();
}

/// Measures blocks of the stored type, which are the table's own memory. `memcpy` is the copy that they avoid.
fn same_type<T: ArrowElement>(criterion: &mut Criterion) {
    for columns in COLUMNS {
        let table = table::<T>(shape_of(VALUES, columns), DataLayout::RowMajor);
        for rows in ROWS {
            let id = id::<T, T>(columns, rows);
            if !is_wanted(&id) {
                continue;
            }
            let cut = Cut::new(table.row_count(), rows);
            let values = cut.row_count() * columns;
            let source = &table.as_slice().expect("row-major")[..values];
            let mut group = group_of_blocks(criterion, id, cut.count());

            let mut block = BlockDescriptor::<T>::new();
            for rows in cut.blocks() {
                let expected = &source[rows.start * columns..rows.end * columns];
                assert_eq!(table.read_rows(rows, &mut block).expect("in range").as_ptr(), expected.as_ptr());
            }
            group.bench_function("ours", |bencher| {
                bencher.iter(|| {
                    for rows in cut.blocks() {
                        black_box(table.read_rows(rows, &mut block).expect("in range"));
                    }
                });
            });
            group.bench_function("slice", |bencher| {
                bencher.iter(|| {
                    for rows in cut.blocks() {
                        black_box(&source[rows.start * columns..rows.end * columns]);
                    }
                });
            });
            {
                let view = crate::rivals::view2(source, cut.row_count(), columns);
                group.bench_function("ndarray_slice", |bencher| {
                    bencher.iter(|| {
                        for rows in cut.blocks() {
                            black_box(view.slice(ndarray::s![rows, ..]));
                        }
                    });
                });
            }
            if columns == 16 {
                let array = arrow_array(source);
                group.bench_function("arrow_slice", |bencher| {
                    bencher.iter(|| {
                        for rows in cut.blocks() {
                            black_box(array.slice(rows.start * columns, rows.len() * columns));
                        }
                    });
                });
            }
            let mut copied = Copied::in_blocks::<T, T>(values, cut.block_rows() * columns);
            group.bench_function("memcpy", |bencher| bencher.iter(|| copied.copy()));
            group.finish();
        }
    }
}
