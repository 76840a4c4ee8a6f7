//! Conversion to the other layout, in new memory, to the same or another element type.

use std::hint::black_box;

use criterion::Criterion;
use numeric_table::prelude::*;

use crate::limits::Copied;
use crate::rivals::Plain;
use crate::support::{MI, check, group, is_test, is_wanted, pair_name, table};

const SHAPES: [(&str, Shape); 3] = [
    ("1_mi_x_16", Shape { rows: MI, columns: 16 }),
    ("4096_x_4096", Shape { rows: 4096, columns: 4096 }),
    ("16_x_1_mi", Shape { rows: 16, columns: MI }),
];

pub(crate) fn transposes(criterion: &mut Criterion) {
    use DataLayout::{ColumnMajor, RowMajor};
    for (name, shape) in SHAPES {
        let shape =
            if is_test() { Shape { rows: shape.rows.min(300), columns: shape.columns.min(300) } } else { shape };
        for to in [ColumnMajor, RowMajor] {
            transpose::<f32, f32>(criterion, name, shape, to, to_layout);
        }
        transpose::<f64, f64>(criterion, name, shape, ColumnMajor, to_layout);
        transpose::<u8, u8>(criterion, name, shape, ColumnMajor, to_layout);
        transpose::<f32, f64>(criterion, name, shape, ColumnMajor, convert_to_layout);
        transpose::<f64, f32>(criterion, name, shape, ColumnMajor, convert_to_layout);
    }
}

fn to_layout<T: Element>(table: &HomogenNumericTable<T>, layout: DataLayout) -> HomogenNumericTable<T> {
    table.to_layout(layout).expect("there is memory")
}

/// Converts and changes the layout in one call.
fn convert_to_layout<S: Element, D: Element>(
    table: &HomogenNumericTable<S>,
    layout: DataLayout,
) -> HomogenNumericTable<D> {
    table.convert_to::<D>(layout, ConversionPolicy::Saturate).expect("there is memory")
}

fn transpose<S: Plain<D>, D: Element>(
    criterion: &mut Criterion,
    shape_name: &str,
    shape: Shape,
    to: DataLayout,
    ours: fn(&HomogenNumericTable<S>, DataLayout) -> HomogenNumericTable<D>,
) {
    // The source has `outer` runs of `inner` values, rows or columns; the target has `inner` runs of `outer` values.
    let (from, to_name, outer, inner) = match to {
        DataLayout::ColumnMajor => (DataLayout::RowMajor, "to_column_major", shape.rows, shape.columns),
        DataLayout::RowMajor => (DataLayout::ColumnMajor, "to_row_major", shape.columns, shape.rows),
    };
    let id = format!("transposes/{}/{shape_name}/{to_name}", pair_name::<S, D>());
    if !is_wanted(&id) {
        return;
    }
    let table = table::<S>(shape, from);
    let source = table.as_slice().expect("allocated");
    let bytes = source.len() * (size_of::<S>() + size_of::<D>());
    let mut group = group(criterion, id, bytes);

    let expected = || (0..inner).flat_map(|first| source[first..].iter().step_by(inner));
    check(expected(), ours(&table, to).as_slice().expect("allocated"));
    group.bench_function("ours", |bencher| bencher.iter(|| ours(black_box(&table), to)));

    let naive = || {
        let mut target = vec![D::default(); source.len()];
        for (first, target) in target.chunks_exact_mut(outer).enumerate() {
            for (run, target) in target.iter_mut().enumerate() {
                *target = source[run * inner + first].plain();
            }
        }
        target
    };
    check(expected(), &naive());
    group.bench_function("naive_loop", |bencher| bencher.iter(naive));

    {
        let view = crate::rivals::view2(source, outer, inner).reversed_axes();
        let zip = || {
            let mut target = ndarray::Array2::from_elem(view.dim(), D::default());
            crate::rivals::ndarray_zip(view, target.view_mut());
            target
        };
        check(expected(), zip().as_slice().expect("row-major"));
        group.bench_function("ndarray_zip", |bencher| bencher.iter(zip));
    }

    let copied = Copied::like::<S, D>(source.len());
    group.bench_function("memcpy_fresh", |bencher| bencher.iter(|| copied.copy_fresh()));
    group.finish();
}
