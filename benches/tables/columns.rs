//! Single columns of tables in both layouts, and rows of column-major tables.

use std::hint::black_box;

use criterion::Criterion;
use numeric_table::prelude::*;

use crate::limits::Copied;
use crate::rivals::{ArrowElement, Misfit, Plain, arrow_array, arrow_cast, arrow_values, naive_loop};
use crate::rows::Cut;
use crate::support::{ALL_ROWS, MI, check, group, group_of_blocks, is_wanted, pair_name, rows_name, shape_of, table};
use crate::support::{values_mut, written};

/// Larger than the caches, to measure strided access.
const VALUES: usize = 16 * MI;
const COLUMNS: usize = 16;

pub(crate) fn columns(criterion: &mut Criterion) {
    of_row_major::<f32, f32>(criterion);
    of_row_major::<f32, f64>(criterion);
    of_row_major::<f64, f32>(criterion);
    same_type_of_column_major::<f32>(criterion);
    of_column_major::<f32, f64>(criterion);
    of_column_major::<f64, f32>(criterion);
    rows_of_column_major::<f32, f32>(criterion);
    rows_of_column_major::<f32, f64>(criterion);
}

/// Reads one column through a descriptor, as DAAL does, which reuses memory.
fn read_column<'b, S: Element, D: Element>(
    table: &mut HomogenNumericTable<S>,
    column: usize,
    block: &'b mut BlockDescriptor<D>,
) -> &'b [D] {
    let rows = table.row_count();
    table.get_block_of_column_values(column, 0, rows, ReadWriteMode::ReadOnly, block).expect("in range");
    block.as_slice()
}

/// Converts each column in turn.
fn zip_each<'c, S: Plain<D>, D: Element>(
    columns: impl IntoIterator<Item = ndarray::ArrayView1<'c, S>>,
    target: &mut [D],
) {
    let mut target = ndarray::ArrayViewMut1::from(target);
    for column in columns {
        target.zip_mut_with(&column, |target, source| *target = source.plain());
        black_box(&mut target);
    }
}

fn of_row_major<S: Plain<D>, D: Element>(criterion: &mut Criterion) {
    let id = format!("columns/{}/of_row_major", pair_name::<S, D>());
    if !is_wanted(&id) {
        return;
    }
    let mut table = table::<S>(shape_of(VALUES, COLUMNS), DataLayout::RowMajor);
    let rows = table.row_count();
    let bytes = rows * COLUMNS * (size_of::<S>() + size_of::<D>());
    let mut group = group(criterion, id, bytes);

    let mut block = BlockDescriptor::<D>::new();
    for column in 0..COLUMNS {
        read_column(&mut table, column, &mut block);
        check(table.as_slice().expect("row-major").iter().skip(column).step_by(COLUMNS), block.as_slice());
        block.discard();
    }
    group.bench_function("ours", |bencher| {
        bencher.iter(|| {
            for column in 0..COLUMNS {
                black_box(read_column(&mut table, column, &mut block));
            }
        });
    });
    drop(block);

    let source = table.as_slice().expect("row-major");
    let mut memory = written::<D>(rows);
    let target = values_mut(&mut memory);
    let last = || source.iter().skip(COLUMNS - 1).step_by(COLUMNS);
    let naive = |target: &mut [D]| {
        for column in 0..COLUMNS {
            for (target, row) in target.iter_mut().zip(source.chunks_exact(COLUMNS)) {
                *target = row[column].plain();
            }
            black_box(&mut *target);
        }
    };
    naive(target);
    check(last(), target);
    group.bench_function("naive_loop", |bencher| bencher.iter(|| naive(target)));
    {
        let view = crate::rivals::view2(source, rows, COLUMNS);
        let zip = |target: &mut [D]| zip_each(view.columns(), target);
        target.fill(D::default());
        zip(target);
        check(last(), target);
        group.bench_function("ndarray_zip", |bencher| bencher.iter(|| zip(target)));
    }
    let mut copied = Copied::in_blocks::<S, D>(rows * COLUMNS, rows);
    group.bench_function("memcpy", |bencher| bencher.iter(|| copied.copy()));
    group.finish();
}

fn same_type_of_column_major<T: ArrowElement>(criterion: &mut Criterion) {
    let id = format!("columns/{}/of_column_major", pair_name::<T, T>());
    if !is_wanted(&id) {
        return;
    }
    let mut table = table::<T>(shape_of(VALUES, COLUMNS), DataLayout::ColumnMajor);
    let rows = table.row_count();
    let mut group = group_of_blocks(criterion, id, COLUMNS);

    let mut block = BlockDescriptor::<T>::new();
    for column in 0..COLUMNS {
        let address = read_column(&mut table, column, &mut block).as_ptr();
        assert_eq!(address, table.as_slice().expect("column-major")[column * rows..].as_ptr());
    }
    group.bench_function("ours", |bencher| {
        bencher.iter(|| {
            for column in 0..COLUMNS {
                black_box(read_column(&mut table, column, &mut block));
            }
        });
    });
    let source = table.as_slice().expect("column-major");
    group.bench_function("slice", |bencher| {
        bencher.iter(|| {
            for column in 0..COLUMNS {
                black_box(&source[column * rows..(column + 1) * rows]);
            }
        });
    });
    {
        let view = crate::rivals::view2(source, COLUMNS, rows);
        group.bench_function("ndarray_slice", |bencher| {
            bencher.iter(|| {
                for column in 0..COLUMNS {
                    black_box(view.row(column));
                }
            });
        });
    }
    let mut copied = Copied::in_blocks::<T, T>(rows * COLUMNS, rows);
    group.bench_function("memcpy", |bencher| bencher.iter(|| copied.copy()));
    group.finish();
}

fn of_column_major<S: ArrowElement + Plain<D>, D: ArrowElement>(criterion: &mut Criterion) {
    let id = format!("columns/{}/of_column_major", pair_name::<S, D>());
    if !is_wanted(&id) {
        return;
    }
    let mut table = table::<S>(shape_of(VALUES, COLUMNS), DataLayout::ColumnMajor);
    let rows = table.row_count();
    let bytes = rows * COLUMNS * (size_of::<S>() + size_of::<D>());
    let mut group = group(criterion, id, bytes);

    let mut block = BlockDescriptor::<D>::new();
    for column in 0..COLUMNS {
        read_column(&mut table, column, &mut block);
        check(&table.as_slice().expect("column-major")[column * rows..][..rows], block.as_slice());
    }
    group.bench_function("ours", |bencher| {
        bencher.iter(|| {
            for column in 0..COLUMNS {
                black_box(read_column(&mut table, column, &mut block));
            }
        });
    });

    let source = table.as_slice().expect("column-major");
    let mut memory = written::<D>(rows);
    let target = values_mut(&mut memory);
    let last = &source[(COLUMNS - 1) * rows..];
    let naive = |target: &mut [D]| {
        for source in source.chunks_exact(rows) {
            naive_loop(source, target);
            black_box(&mut *target);
        }
    };
    naive(target);
    check(last, target);
    group.bench_function("naive_loop", |bencher| bencher.iter(|| naive(target)));
    {
        let view = crate::rivals::view2(source, COLUMNS, rows);
        let zip = |target: &mut [D]| zip_each(view.rows(), target);
        target.fill(D::default());
        zip(target);
        check(last, target);
        group.bench_function("ndarray_zip", |bencher| bencher.iter(|| zip(target)));
    }
    {
        let array = arrow_array(source);
        check(source, arrow_values::<D>(&arrow_cast::<D>(&array, Misfit::Null)));
        group.bench_function("arrow_cast", |bencher| {
            bencher.iter(|| {
                for column in 0..COLUMNS {
                    black_box(arrow_cast::<D>(&array.slice(column * rows, rows), Misfit::Null));
                }
            });
        });
    }
    let mut copied = Copied::in_blocks::<S, D>(rows * COLUMNS, rows);
    group.bench_function("memcpy", |bencher| bencher.iter(|| copied.copy()));
    group.finish();
}

fn rows_of_column_major<S: Plain<D>, D: Element>(criterion: &mut Criterion) {
    let path = format!("columns/{}/rows_of_column_major", pair_name::<S, D>());
    if !is_wanted(&path) {
        return;
    }
    let table = table::<S>(shape_of(VALUES, COLUMNS), DataLayout::ColumnMajor);
    let row_count = table.row_count();
    let source = table.as_slice().expect("column-major");
    for rows in [256, 8192, ALL_ROWS] {
        let id = format!("{path}/{}", rows_name(rows));
        if !is_wanted(&id) {
            continue;
        }
        let cut = Cut::new(row_count, rows);
        let mut group = group(criterion, id, row_count * COLUMNS * (size_of::<S>() + size_of::<D>()));

        let mut block = BlockDescriptor::<D>::new();
        for rows in cut.blocks() {
            let expected = rows.clone().flat_map(|row| source[row..].iter().step_by(row_count));
            check(expected, table.read_rows(rows, &mut block).expect("in range"));
        }
        group.bench_function("ours", |bencher| {
            bencher.iter(|| {
                for rows in cut.blocks() {
                    black_box(table.read_rows(rows, &mut block).expect("in range"));
                }
            });
        });

        let mut memory = written::<D>(cut.block_rows() * COLUMNS);
        let target = values_mut(&mut memory);
        let first_of_last = (cut.count() - 1) * cut.block_rows();
        let last = || (first_of_last..row_count).flat_map(|row| source[row..].iter().step_by(row_count));
        let last_count = (row_count - first_of_last) * COLUMNS;
        let naive = |target: &mut [D]| {
            for rows in cut.blocks() {
                for (row, target) in rows.zip(target.chunks_exact_mut(COLUMNS)) {
                    for (column, target) in target.iter_mut().enumerate() {
                        *target = source[column * row_count + row].plain();
                    }
                }
                black_box(&mut *target);
            }
        };
        naive(target);
        check(last(), &target[..last_count]);
        group.bench_function("naive_loop", |bencher| bencher.iter(|| naive(target)));
        {
            use crate::rivals::{ndarray_zip, view2, view2_mut};
            let view = view2(source, COLUMNS, row_count).reversed_axes();
            let zip = |target: &mut [D]| {
                let mut target = view2_mut(target, cut.block_rows(), COLUMNS);
                for rows in cut.blocks() {
                    let part = target.slice_mut(ndarray::s![..rows.len(), ..]);
                    ndarray_zip(view.slice(ndarray::s![rows, ..]), part);
                    black_box(&mut target);
                }
            };
            target.fill(D::default());
            zip(target);
            check(last(), &target[..last_count]);
            group.bench_function("ndarray_zip", |bencher| bencher.iter(|| zip(target)));
        }
        let mut copied = Copied::in_blocks::<S, D>(row_count * COLUMNS, cut.block_rows() * COLUMNS);
        group.bench_function("memcpy", |bencher| bencher.iter(|| copied.copy()));
        group.finish();
    }
}
