//! Whole tables converted into new memory. The times include allocating and freeing it.

use criterion::Criterion;
use numeric_table::prelude::*;

use crate::limits::Copied;
use crate::rivals::{ArrowElement, Misfit, Plain, arrow_array, arrow_cast, arrow_values};
use crate::support::{MI, check, group, is_wanted, pair_name, shape_of, table};

const VALUES: usize = 16 * MI;
const COLUMNS: usize = 16;

pub(crate) fn fresh(criterion: &mut Criterion) {
    convert::<f32, f64>(criterion);
    convert::<f64, f32>(criterion);
    convert::<i32, f64>(criterion);
    convert::<f64, i32>(criterion);
    convert::<f32, i32>(criterion);
    convert::<i16, f32>(criterion);
    convert::<u8, f32>(criterion);
    convert::<f32, numeric_table::f16>(criterion);
}

fn convert<S: ArrowElement + Plain<D>, D: ArrowElement>(criterion: &mut Criterion) {
    let id = format!("fresh/{}/16_mi_values", pair_name::<S, D>());
    if !is_wanted(&id) {
        return;
    }
    let table = table::<S>(shape_of(VALUES, COLUMNS), DataLayout::RowMajor);
    let source = table.as_slice().expect("row-major");
    let bytes = source.len() * (size_of::<S>() + size_of::<D>());
    let mut group = group(criterion, id, bytes);

    let ours = || table.convert::<D>().expect("there is memory");
    check(source, ours().as_slice().expect("row-major"));
    group.bench_function("ours", |bencher| bencher.iter(ours));

    let naive = || source.iter().map(|source| source.plain()).collect::<Vec<D>>();
    check(source, &naive());
    group.bench_function("naive_loop", |bencher| bencher.iter(naive));

    group.bench_function("rayon_collect", |bencher| {
        bencher.iter(|| crate::rivals::rayon_collect::<S, D>(source));
    });

    {
        let view = crate::rivals::view2(source, table.row_count(), COLUMNS);
        let mapv = || view.mapv(|source| source.plain());
        check(source, mapv().as_slice().expect("row-major"));
        group.bench_function("ndarray_mapv", |bencher| bencher.iter(mapv));
    }
    {
        let array = arrow_array(source);
        check(source, arrow_values::<D>(&arrow_cast::<D>(&array, Misfit::Null)));
        group.bench_function("arrow_cast", |bencher| bencher.iter(|| arrow_cast::<D>(&array, Misfit::Null)));
    }
    let copied = Copied::like::<S, D>(source.len());
    group.bench_function("memcpy_fresh", |bencher| bencher.iter(|| copied.copy_fresh()));
    group.finish();
}
