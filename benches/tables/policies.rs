//! The cost of checking values that all pass: each policy, compared with code a user would write, and the report alone.

use std::hint::black_box;

use criterion::Criterion;
use numeric_table::convert::{convert_slice, report_slice};
use numeric_table::prelude::*;

use crate::limits::{Copied, Threads, read};
use crate::rivals::{ArrowElement, Misfit, Plain, arrow_array, arrow_cast, naive_loop};
use crate::support::{MI, check, group, is_wanted, memory, pair_name, sized, values_mut, whole, written};

const SIZES: [(&str, usize); 2] = [("4096_values", 4096), ("16_mi_values", 16 * MI)];

pub(crate) fn policies(criterion: &mut Criterion) {
    policy::<f64, i32>(criterion, |value| value > -2_147_483_649.0 && value < 2_147_483_648.0);
    policy::<f64, f32>(criterion, |value| (value as f32).is_finite() || !value.is_finite());
    policy::<i64, f64>(criterion, |_| true);
    policy::<f32, u8>(criterion, |value| value > -1.0 && value < 256.0);
    policy::<i32, i16>(criterion, |value| i16::try_from(value).is_ok());
}

pub(crate) fn reports(criterion: &mut Criterion) {
    report::<f64, i32>(criterion);
    report::<f64, f32>(criterion);
    report::<i64, f64>(criterion);
}

/// Measures a pair of types. `fits` returns whether `Checked` permits a value.
fn policy<S: ArrowElement + Plain<D>, D: ArrowElement + Plain<S>>(criterion: &mut Criterion, fits: impl Fn(S) -> bool) {
    for (name, values) in SIZES {
        let id = format!("policies/{}/{name}", pair_name::<S, D>());
        if !is_wanted(&id) {
            continue;
        }
        let source = memory(sized(values), whole::<S>);
        let mut target = written::<D>(source.len());
        let target = values_mut(&mut target);
        let bytes = source.len() * (size_of::<S>() + size_of::<D>());
        let mut group = group(criterion, id, bytes);

        for policy in [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact] {
            target.fill(D::default());
            convert_slice(&source, target, policy).expect("every value fits");
            check(&*source, target);
            group.bench_function(format!("ours_{policy}"), |bencher| {
                bencher.iter(|| {
                    convert_slice(black_box(&source), target, policy).expect("every value fits");
                    black_box(&mut *target);
                });
            });
        }
        group.bench_function("naive_loop", |bencher| {
            bencher.iter(|| {
                naive_loop(black_box(&source[..]), target);
                black_box(&mut *target);
            });
        });
        group.bench_function("naive_loop_checked", |bencher| {
            bencher.iter(|| {
                assert_eq!(naive_try_loop(black_box(&source[..]), target, &fits), Ok(()));
                black_box(&mut *target);
            });
        });
        group.bench_function("naive_loop_exact", |bencher| {
            let comes_back = |value: S| Plain::<S>::plain(Plain::<D>::plain(value)) == value;
            bencher.iter(|| {
                assert_eq!(naive_try_loop(black_box(&source[..]), target, comes_back), Ok(()));
                black_box(&mut *target);
            });
        });
        group.bench_function("ndarray_zip", |bencher| {
            let view = crate::rivals::view2(&source, 1, source.len());
            let mut target = crate::rivals::view2_mut(target, 1, source.len());
            bencher.iter(|| {
                crate::rivals::ndarray_zip(black_box(view), target.view_mut());
                black_box(&mut target);
            });
        });
        {
            let array = arrow_array(&source);
            group.bench_function("arrow_cast", |bencher| bencher.iter(|| arrow_cast::<D>(&array, Misfit::Null)));
            group.bench_function("arrow_cast_checked", |bencher| {
                bencher.iter(|| arrow_cast::<D>(&array, Misfit::Error));
            });
        }
        let mut copied = Copied::like::<S, D>(source.len());
        group.bench_function("memcpy", |bencher| bencher.iter(|| copied.copy()));
        group.finish();
    }
}

/// Stops at the first value that does not fit, and returns its index.
fn naive_try_loop<S: Plain<D>, D: Element>(
    source: &[S],
    target: &mut [D],
    fits: impl Fn(S) -> bool,
) -> Result<(), usize> {
    for (index, (target, &source)) in target.iter_mut().zip(source).enumerate() {
        if !fits(source) {
            return Err(index);
        }
        *target = source.plain();
    }
    Ok(())
}

fn report<S: Plain<D>, D: Plain<S>>(criterion: &mut Criterion) {
    for (name, values) in SIZES {
        let id = format!("reports/{}/{name}", pair_name::<S, D>());
        if !is_wanted(&id) {
            continue;
        }
        let source = memory(sized(values), whole::<S>);
        let bytes = size_of_val(&source[..]);
        let mut group = group(criterion, id, bytes);

        let report = report_slice::<S, D>(&source);
        assert_eq!((report.values, report.lost()), (source.len(), 0));
        group.bench_function("ours_slice", |bencher| {
            bencher.iter(|| report_slice::<S, D>(black_box(&source)));
        });

        let shape = Shape { rows: source.len() / 16, columns: 16 };
        let table = HomogenNumericTable::from_array(source.clone(), shape).expect("the lengths agree");
        let report = table.conversion_report::<D>().expect("allocated");
        assert_eq!((report.values, report.lost()), (source.len(), 0));
        group.bench_function("ours_table", |bencher| {
            bencher.iter(|| black_box(&table).conversion_report::<D>().expect("allocated"));
        });

        let is_lost = |&&value: &&S| Plain::<S>::plain(Plain::<D>::plain(value)) != value;
        group.bench_function("naive_loop", |bencher| {
            bencher.iter(|| black_box(&source).iter().filter(is_lost).count());
        });
        {
            let view = crate::rivals::view2(&source, 1, source.len());
            group.bench_function("ndarray_fold", |bencher| {
                bencher.iter(|| black_box(view).fold(0, |lost, value| lost + usize::from(is_lost(&value))));
            });
        }
        let words = memory(bytes / 8, |index| index as u64);
        let threads = Threads::for_bytes(bytes);
        group.bench_function("read", |bencher| bencher.iter(|| read(black_box(&words), threads)));
        group.finish();
    }
}
