//! Memory for 64 MiB of values: allocated, filled, and freed. Throughput counts the bytes that are written, if any are.

use std::hint::black_box;

use arrow_array::Float32Array;
use criterion::Criterion;
use numeric_table::prelude::*;

use crate::limits::{Threads, write};
use crate::support::{MI, group, group_of_blocks, sized, values_mut, written};

const VALUES: usize = 16 * MI;
const COLUMNS: usize = 16;

pub(crate) fn fill(criterion: &mut Criterion) {
    let values = sized(VALUES);
    let shape = Shape { rows: values / COLUMNS, columns: COLUMNS };
    zeros(criterion, values, shape);
    full(criterion, values, shape);
    from_fn(criterion, values);
}

fn new_table(shape: Shape) -> HomogenNumericTable<f32> {
    HomogenNumericTable::new(shape, AllocationFlag::DoAllocate).expect("there is memory")
}

/// Untouched zeros may cost nothing. The second group shows their cost when they are written.
fn zeros(criterion: &mut Criterion, values: usize, shape: Shape) {
    assert!(new_table(shape).as_slice().expect("allocated").iter().all(|&value| value == 0.0));
    let mut untouched = group_of_blocks(criterion, "fill/zeros/64_mib", 1);
    untouched.bench_function("ours", |bencher| bencher.iter(|| new_table(shape)));
    untouched.bench_function("vec", |bencher| bencher.iter(|| vec![0.0_f32; black_box(values)]));
    untouched.bench_function("ndarray", |bencher| {
        bencher.iter(|| ndarray::Array2::<f32>::zeros(black_box((shape.rows, shape.columns))));
    });
    untouched.finish();

    let mut touched = group(criterion, "fill/zeros_then_written/64_mib", values * 4);
    touched.bench_function("ours", |bencher| {
        bencher.iter(|| {
            let mut table = new_table(shape);
            table.as_mut_slice().expect("row-major").fill(black_box(1.5));
            table
        });
    });
    touched.bench_function("vec", |bencher| {
        bencher.iter(|| {
            let mut vec = vec![0.0_f32; black_box(values)];
            vec.fill(black_box(1.5));
            vec
        });
    });
    touched.bench_function("ndarray", |bencher| {
        bencher.iter(|| {
            let mut array = ndarray::Array2::<f32>::zeros(black_box((shape.rows, shape.columns)));
            array.fill(black_box(1.5));
            array
        });
    });
    let mut bytes = written::<u8>(values * 4);
    touched.bench_function("write", |bencher| {
        bencher.iter(|| write(black_box(values_mut(&mut bytes)), Threads::One));
    });
    touched.finish();
}

fn full(criterion: &mut Criterion, values: usize, shape: Shape) {
    let ours = || HomogenNumericTable::full(shape, black_box(1.5_f32)).expect("there is memory");
    assert!(ours().as_slice().expect("allocated").iter().all(|&value| value == 1.5));
    let mut group = group(criterion, "fill/full/64_mib", values * 4);
    group.bench_function("ours", |bencher| bencher.iter(ours));
    group.bench_function("vec", |bencher| bencher.iter(|| vec![black_box(1.5_f32); values]));
    group.bench_function("ndarray", |bencher| {
        bencher.iter(|| ndarray::Array2::from_elem((shape.rows, shape.columns), black_box(1.5_f32)));
    });
    group.bench_function("arrow", |bencher| {
        bencher.iter(|| Float32Array::from_value(black_box(1.5), values));
    });
    limits(&mut group, values * 4);
    group.finish();
}

fn from_fn(criterion: &mut Criterion, values: usize) {
    let value = |index: usize| index as f32 * 0.5;
    let ours = || Array::from_fn(values, value).expect("there is memory");
    assert!(ours().iter().enumerate().all(|(index, &found)| found == value(index)));
    let mut group = group(criterion, "fill/from_fn/64_mib", values * 4);
    group.bench_function("ours", |bencher| bencher.iter(ours));
    group.bench_function("vec", |bencher| bencher.iter(|| (0..black_box(values)).map(value).collect::<Vec<_>>()));
    group.bench_function("ndarray", |bencher| {
        bencher.iter(|| ndarray::Array1::from_shape_fn(black_box(values), value));
    });
    group.bench_function("arrow", |bencher| {
        bencher.iter(|| Float32Array::from_iter_values((0..black_box(values)).map(value)));
    });
    limits(&mut group, values * 4);
    group.finish();
}

/// Measures writing the same number of bytes: into newly allocated memory, and into existing memory.
fn limits(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>, bytes: usize) {
    let threads = Threads::for_bytes(bytes);
    group.bench_function("write_fresh", |bencher| {
        bencher.iter(|| {
            let mut fresh = Array::<u8>::zeros(bytes).expect("there is memory");
            write(values_mut(&mut fresh), threads);
            fresh
        });
    });
    let mut bytes = written::<u8>(bytes);
    group.bench_function("write", |bencher| bencher.iter(|| write(black_box(values_mut(&mut bytes)), threads)));
}
