//! The cost of a call with little work: one row, one value, a few values.

use std::hint::black_box;

use criterion::Criterion;
use numeric_table::convert::{cast, convert_slice};
use numeric_table::prelude::*;

use crate::rivals::{ArrowElement, Misfit, Plain, arrow_array, arrow_cast, naive_loop};
use crate::support::{check, group, memory, pair_name, ragged, values_mut, written};

const COLUMNS: usize = 16;
const ROWS: usize = 64;

/// The row that is read; hidden from the compiler by `black_box`.
const ROW: usize = 7;

pub(crate) fn overhead(criterion: &mut Criterion) {
    one_row_same_type(criterion);
    one_row_converted(criterion);
    one_value(criterion);
    for values in [1, 4, 16, 64] {
        few_values::<f32, f64>(criterion, values);
        few_values::<f64, i32>(criterion, values);
        few_values::<u8, f32>(criterion, values);
    }
}

fn table() -> HomogenNumericTable<f32> {
    crate::support::table(Shape { rows: ROWS, columns: COLUMNS }, DataLayout::RowMajor)
}

/// Gets a row and releases it, as DAAL programs do; returns the sum of two of its values.
fn daal_style<U: Element + std::ops::Add<Output = U>>(
    table: &mut HomogenNumericTable<f32>,
    block: &mut BlockDescriptor<U>,
) -> U {
    table.get_block_of_rows(black_box(ROW), 1, ReadWriteMode::ReadOnly, block).expect("in range");
    let sum = block.as_slice()[0] + block.as_slice()[COLUMNS - 1];
    table.release_block_of_rows(block).expect("of this table");
    sum
}

fn one_row_same_type(criterion: &mut Criterion) {
    let mut table = table();
    let expected: Vec<f32> = table.as_slice().expect("row-major")[ROW * COLUMNS..][..COLUMNS].to_vec();
    let mut block = BlockDescriptor::<f32>::new();
    assert_eq!(&table.rows::<f32>(ROW..ROW + 1).expect("in range")[..], expected);
    assert_eq!(table.read_rows(ROW..ROW + 1, &mut block).expect("in range"), expected);
    assert_eq!(daal_style(&mut table, &mut block), expected[0] + expected[COLUMNS - 1]);
    let mut group = group(criterion, "overhead/one_row_of_16/f32_to_f32", COLUMNS * 4);

    group.bench_function("ours_borrowed", |bencher| {
        bencher.iter(|| black_box(&table.rows::<f32>(black_box(ROW)..ROW + 1).expect("in range")[..])[0]);
    });
    group.bench_function("ours_descriptor", |bencher| {
        bencher.iter(|| black_box(table.read_rows(black_box(ROW)..ROW + 1, &mut block).expect("in range"))[0]);
    });
    group.bench_function("ours_daal_style", |bencher| bencher.iter(|| daal_style(&mut table, &mut block)));

    let source = table.as_slice().expect("row-major");
    group.bench_function("slice", |bencher| {
        bencher.iter(|| black_box(&source[black_box(ROW) * COLUMNS..][..COLUMNS])[0]);
    });
    {
        let view = crate::rivals::view2(source, ROWS, COLUMNS);
        group.bench_function("ndarray_row", |bencher| bencher.iter(|| black_box(view.row(black_box(ROW)))[0]));
    }
    let array = arrow_array(source);
    group.bench_function("arrow_slice", |bencher| {
        bencher.iter(|| black_box(array.slice(black_box(ROW) * COLUMNS, COLUMNS)).value(0));
    });
    let mut copy = [0.0; COLUMNS];
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| {
            copy.copy_from_slice(&source[black_box(ROW) * COLUMNS..][..COLUMNS]);
            black_box(&mut copy)[0]
        });
    });
    group.finish();
}

fn one_row_converted(criterion: &mut Criterion) {
    let mut table = table();
    let expected: Vec<f64> =
        table.as_slice().expect("row-major")[ROW * COLUMNS..][..COLUMNS].iter().map(|&v| cast(v)).collect();
    let mut block = BlockDescriptor::<f64>::new();
    assert_eq!(&table.rows::<f64>(ROW..ROW + 1).expect("in range")[..], expected);
    assert_eq!(table.read_rows(ROW..ROW + 1, &mut block).expect("in range"), expected);
    assert_eq!(daal_style(&mut table, &mut block), expected[0] + expected[COLUMNS - 1]);
    let mut group = group(criterion, "overhead/one_row_of_16/f32_to_f64", COLUMNS * 12);

    group.bench_function("ours_borrowed", |bencher| {
        bencher.iter(|| black_box(&table.rows::<f64>(black_box(ROW)..ROW + 1).expect("in range")[..])[0]);
    });
    group.bench_function("ours_descriptor", |bencher| {
        bencher.iter(|| black_box(table.read_rows(black_box(ROW)..ROW + 1, &mut block).expect("in range"))[0]);
    });
    group.bench_function("ours_descriptor_any_table", |bencher| {
        let table: &dyn NumericTable = black_box(&table);
        bencher.iter(|| black_box(table.read_rows(black_box(ROW)..ROW + 1, &mut block).expect("in range"))[0]);
    });
    group.bench_function("ours_daal_style", |bencher| bencher.iter(|| daal_style(&mut table, &mut block)));

    let source = table.as_slice().expect("row-major");
    let mut target = [0.0_f64; COLUMNS];
    group.bench_function("naive_loop", |bencher| {
        bencher.iter(|| {
            naive_loop(&source[black_box(ROW) * COLUMNS..][..COLUMNS], &mut target);
            black_box(&mut target)[0]
        });
    });
    {
        let view = crate::rivals::view2(source, ROWS, COLUMNS);
        let mut target = ndarray::Array1::<f64>::zeros(COLUMNS);
        group.bench_function("ndarray_zip", |bencher| {
            bencher.iter(|| {
                target.zip_mut_with(&view.row(black_box(ROW)), |target, source| *target = source.plain());
                black_box(&mut target)[0]
            });
        });
    }
    let array = arrow_array(source);
    group.bench_function("arrow_cast", |bencher| {
        bencher.iter(|| arrow_cast::<f64>(&array.slice(black_box(ROW) * COLUMNS, COLUMNS), Misfit::Null));
    });
    let (from, mut to) = ([0_u8; COLUMNS * 6], [0_u8; COLUMNS * 6]);
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to)[0]
        });
    });
    group.finish();
}

fn one_value(criterion: &mut Criterion) {
    let mut table = table();
    let stored = table.as_slice().expect("row-major")[ROW * COLUMNS + 3];
    assert_eq!(table.value::<f32>(ROW, 3).expect("in range"), stored);
    assert_eq!(table.value::<f64>(ROW, 3).expect("in range"), cast::<f32, f64>(stored));

    let mut reading = group(criterion, "overhead/value/f32_to_f32", 4);
    reading.bench_function("ours", |bencher| bencher.iter(|| table.value::<f32>(black_box(ROW), 3)));
    let source = table.as_slice().expect("row-major");
    reading.bench_function("slice", |bencher| bencher.iter(|| source[black_box(ROW) * COLUMNS + 3]));
    {
        let view = crate::rivals::view2(source, ROWS, COLUMNS);
        reading.bench_function("ndarray_index", |bencher| bencher.iter(|| view[(black_box(ROW), 3)]));
    }
    reading.finish();

    let mut reading = group(criterion, "overhead/value/f32_to_f64", 12);
    reading.bench_function("ours", |bencher| bencher.iter(|| table.value::<f64>(black_box(ROW), 3)));
    let source = table.as_slice().expect("row-major");
    reading.bench_function("slice", |bencher| bencher.iter(|| f64::from(source[black_box(ROW) * COLUMNS + 3])));
    {
        let view = crate::rivals::view2(source, ROWS, COLUMNS);
        reading.bench_function("ndarray_index", |bencher| bencher.iter(|| f64::from(view[(black_box(ROW), 3)])));
    }
    reading.finish();

    table.set_value(ROW, 3, 2.5_f64).expect("fits");
    assert_eq!(table.value::<f32>(ROW, 3).expect("in range"), 2.5);
    let mut writing = group(criterion, "overhead/set_value/f32_to_f32", 4);
    writing.bench_function("ours", |bencher| {
        bencher.iter(|| table.set_value(black_box(ROW), 3, black_box(2.5_f32)).expect("fits"));
    });
    writing.bench_function("slice", |bencher| {
        let target = table.as_mut_slice().expect("row-major");
        bencher.iter(|| black_box(&mut *target)[black_box(ROW) * COLUMNS + 3] = black_box(2.5_f32));
    });
    writing.finish();

    let mut writing = group(criterion, "overhead/set_value/f64_to_f32", 12);
    writing.bench_function("ours", |bencher| {
        bencher.iter(|| table.set_value(black_box(ROW), 3, black_box(2.5_f64)).expect("fits"));
    });
    writing.bench_function("slice", |bencher| {
        let target = table.as_mut_slice().expect("row-major");
        bencher.iter(|| black_box(&mut *target)[black_box(ROW) * COLUMNS + 3] = black_box(2.5_f64) as f32);
    });
    writing.finish();
}

fn few_values<S: ArrowElement + Plain<D>, D: ArrowElement>(criterion: &mut Criterion, values: usize) {
    let source = memory(values, ragged::<S>);
    let mut target = written::<D>(values);
    let target = values_mut(&mut target);
    let bytes = values * (size_of::<S>() + size_of::<D>());
    let plural = if values == 1 { "value" } else { "values" };
    let mut group = group(criterion, format!("overhead/slice/{}/{values}_{plural}", pair_name::<S, D>()), bytes);

    convert_slice(&source, target, ConversionPolicy::Saturate).expect("as many values");
    check(&*source, target);
    group.bench_function("ours", |bencher| {
        bencher.iter(|| {
            convert_slice(black_box(&source), target, ConversionPolicy::Saturate).expect("as many values");
            black_box(&mut *target);
        });
    });
    group.bench_function("naive_loop", |bencher| {
        bencher.iter(|| {
            naive_loop(black_box(&source[..]), target);
            black_box(&mut *target);
        });
    });
    group.bench_function("ndarray_zip", |bencher| {
        let view = ndarray::ArrayView1::from(&source[..]);
        let mut target = ndarray::ArrayViewMut1::from(&mut *target);
        bencher.iter(|| {
            target.zip_mut_with(&black_box(view), |target, source| *target = source.plain());
            black_box(&mut target);
        });
    });
    let array = arrow_array(&source);
    group.bench_function("arrow_cast", |bencher| bencher.iter(|| arrow_cast::<D>(&array, Misfit::Null)));
    let half = bytes.div_ceil(2);
    let (from, mut to) = ([0_u8; 1024], [0_u8; 1024]);
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| {
            to[..black_box(half)].copy_from_slice(&black_box(&from)[..half]);
            black_box(&mut to);
        });
    });
    group.finish();
}
