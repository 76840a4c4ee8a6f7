//! Slices converted into existing memory: 4096 values, which stay in the cache, and 16 Mi, which exceed it.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use half::slice::HalfFloatSliceExt;
use numeric_table::convert::convert_slice;
use numeric_table::prelude::*;
use numeric_table::{bf16, f16};

use crate::limits::Copied;
use crate::rivals::{ArrowElement, Misfit, Plain, arrow_array, arrow_cast, naive_loop};
use crate::support::{MI, check, group, is_wanted, memory, pair_name, ragged, sized, values_mut, written};

type Group<'g> = BenchmarkGroup<'g, WallTime>;

/// Additional rivals of one pair of types.
type More<S, D> = fn(&mut Group<'_>, &[S], &mut [D]);

pub(crate) fn reused(criterion: &mut Criterion) {
    // Floats to floats.
    pair::<f32, f64>(criterion, &[arrow]);
    pair::<f64, f32>(criterion, &[arrow]);
    // Half precision.
    pair::<f32, f16>(
        criterion,
        &[arrow, |group, source, target| {
            half_slice(group, source, target, |source, target| target.convert_from_f32_slice(source));
        }],
    );
    pair::<f16, f32>(
        criterion,
        &[arrow, |group, source, target| {
            half_slice(group, source, target, |source, target| source.convert_to_f32_slice(target));
        }],
    );
    pair::<f64, f16>(
        criterion,
        &[arrow, |group, source, target| {
            half_slice(group, source, target, |source, target| target.convert_from_f64_slice(source));
        }],
    );
    pair::<f16, f64>(
        criterion,
        &[arrow, |group, source, target| {
            half_slice(group, source, target, |source, target| source.convert_to_f64_slice(target));
        }],
    );
    pair::<f32, bf16>(
        criterion,
        &[|group, source, target| {
            half_slice(group, source, target, |source, target| target.convert_from_f32_slice(source));
        }],
    );
    pair::<bf16, f32>(
        criterion,
        &[|group, source, target| {
            half_slice(group, source, target, |source, target| source.convert_to_f32_slice(target));
        }],
    );
    // Floats to integers.
    pair::<f32, i32>(criterion, &[arrow]);
    pair::<f32, u8>(criterion, &[arrow]);
    pair::<f64, i32>(criterion, &[arrow]);
    pair::<f64, i64>(criterion, &[arrow]);
    // Integers to floats.
    pair::<u8, f32>(criterion, &[arrow]);
    pair::<i16, f32>(criterion, &[arrow]);
    pair::<i32, f64>(criterion, &[arrow]);
    pair::<i64, f64>(criterion, &[arrow]);
}

fn pair<S: Plain<D>, D: Element>(criterion: &mut Criterion, more: &[More<S, D>]) {
    for (name, values) in [("4096_values", 4096), ("16_mi_values", sized(16 * MI))] {
        let id = format!("reused/{}/{name}", pair_name::<S, D>());
        if !is_wanted(&id) {
            continue;
        }
        let source = memory(values, ragged::<S>);
        let mut target = written::<D>(values);
        let target = values_mut(&mut target);
        let bytes = values * (size_of::<S>() + size_of::<D>());
        let mut group = group(criterion, id, bytes);

        convert_slice(&source, target, ConversionPolicy::Saturate).expect("as many values");
        check(&*source, target);
        group.bench_function("ours", |bencher| {
            bencher.iter(|| {
                convert_slice(black_box(&source), target, ConversionPolicy::Saturate).expect("as many values");
                black_box(&mut *target);
            });
        });

        naive_loop(&source, target);
        check(&*source, target);
        group.bench_function("naive_loop", |bencher| {
            bencher.iter(|| {
                naive_loop(black_box(&source[..]), target);
                black_box(&mut *target);
            });
        });

        group.bench_function("ndarray_zip", |bencher| {
            let view = crate::rivals::view2(&source, 1, values);
            let mut target = crate::rivals::view2_mut(target, 1, values);
            bencher.iter(|| {
                crate::rivals::ndarray_zip(black_box(view), target.view_mut());
                black_box(&mut target);
            });
        });

        for more in more {
            more(&mut group, &source, target);
        }

        let mut copied = Copied::like::<S, D>(values);
        group.bench_function("memcpy", |bencher| bencher.iter(|| copied.copy()));
        group.finish();
    }
}

/// Measures Arrow, which allocates. With many values, that job is measured in the group `fresh`.
fn arrow<S: ArrowElement, D: ArrowElement>(group: &mut Group<'_>, source: &[S], _: &mut [D]) {
    if source.len() <= 4096 {
        let array = arrow_array(source);
        group.bench_function("arrow_cast", |bencher| bencher.iter(|| arrow_cast::<D>(&array, Misfit::Null)));
    }
}

/// Measures the slice functions of the crate `half`.
fn half_slice<S: Element, D: Element>(
    group: &mut Group<'_>,
    source: &[S],
    target: &mut [D],
    convert: impl Fn(&[S], &mut [D]),
) {
    convert(source, target);
    check(source, target);
    group.bench_function("half_slice", |bencher| {
        bencher.iter(|| {
            convert(black_box(source), target);
            black_box(&mut *target);
        });
    });
}
