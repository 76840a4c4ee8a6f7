//! Row blocks in another element type, whole tables, and one row: beside the naive loop, `ndarray`, and the limit.
//!
//! Ids read as a path: `rows/f32_to_f64/16_columns/256_rows/...`. Throughput counts bytes read and written.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use numeric_table::prelude::*;

/// 4 Mi values: larger than the second-level cache, small enough to run everywhere.
const VALUES: usize = 4 << 20;
const COLUMNS: usize = 16;

fn table() -> HomogenNumericTable<f32> {
    let shape = Shape { rows: VALUES / COLUMNS, columns: COLUMNS };
    let values = Array::from_fn(VALUES, |i| i as f32 * 0.5);
    values.and_then(|values| HomogenNumericTable::from_array(values, shape)).expect("the table fits in memory")
}

fn row_blocks(criterion: &mut Criterion) {
    let table = table();
    let source = table.as_slice().expect("the table is allocated");
    for rows in [256, 8192, table.row_count()] {
        let mut group = criterion.benchmark_group(format!("rows/f32_to_f64/{COLUMNS}_columns/{rows}_rows"));
        group.throughput(Throughput::Bytes((VALUES * 12) as u64));
        let mut block = BlockDescriptor::<f64>::new();
        let blocks = (0..table.row_count()).step_by(rows).map(|first| first..(first + rows).min(table.row_count()));
        let last = table.row_count() - 1;
        assert_eq!(
            table.read_rows(last..last + 1, &mut block).expect("in range")[COLUMNS - 1],
            f64::from(source[VALUES - 1])
        );
        group.bench_function(BenchmarkId::from_parameter("read_rows"), |bencher| {
            bencher.iter(|| {
                for rows in blocks.clone() {
                    black_box(table.read_rows(rows, &mut block).expect("in range"));
                }
            });
        });
        let mut target = vec![0.0_f64; rows * COLUMNS];
        group.bench_function(BenchmarkId::from_parameter("naive_loop"), |bencher| {
            bencher.iter(|| {
                for source in source.chunks(rows * COLUMNS) {
                    target.iter_mut().zip(source).for_each(|(target, &value)| *target = f64::from(value));
                    black_box(&mut target);
                }
            });
        });
        // The limit: as many bytes read and written, by memcpy, with the same reuse of a small target.
        let bytes = vec![1_u8; VALUES * 6];
        let mut copy = vec![0_u8; rows * COLUMNS * 6];
        group.bench_function(BenchmarkId::from_parameter("memcpy"), |bencher| {
            bencher.iter(|| {
                for bytes in bytes.chunks(copy.len()) {
                    copy[..bytes.len()].copy_from_slice(bytes);
                    black_box(&mut copy);
                }
            });
        });
        group.finish();
    }
}

fn fresh_conversion(criterion: &mut Criterion) {
    let table = table();
    let mut group = criterion.benchmark_group("convert/f32_to_f64/fresh");
    group.throughput(Throughput::Bytes((VALUES * 12) as u64));
    group.bench_function("convert", |bencher| bencher.iter(|| table.convert::<f64>().expect("fits")));
    #[cfg(feature = "ndarray")]
    {
        let view = table.view().and_then(|view| view.as_ndarray()).expect("the table is allocated");
        group.bench_function("ndarray_mapv", |bencher| bencher.iter(|| view.mapv(f64::from)));
    }
    group.finish();
}

fn one_row(criterion: &mut Criterion) {
    let table = table();
    let mut group = criterion.benchmark_group("rows/one_row_of_16");
    group.bench_function("borrowed", |bencher| {
        bencher.iter(|| black_box(&table.rows::<f32>(black_box(7)..8).expect("in range")[..])[0]);
    });
    let mut block = BlockDescriptor::<f32>::new();
    group.bench_function("descriptor_same_type", |bencher| {
        bencher.iter(|| table.read_rows(black_box(7)..8, &mut block).expect("in range")[0]);
    });
    let mut block = BlockDescriptor::<f64>::new();
    group.bench_function("descriptor_converted", |bencher| {
        bencher.iter(|| table.read_rows(black_box(7)..8, &mut block).expect("in range")[0]);
    });
    group.finish();
}

criterion_group!(benches, row_blocks, fresh_conversion, one_row);
criterion_main!(benches);
