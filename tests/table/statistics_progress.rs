//! What is told of calls that compute statistics: bytes from 0 to all of them, one at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use numeric_table::{
    CsrNumericTable, Partial, SoaNumericTable,
    files::Progress,
    prelude::*,
    statistics::{
        BasicStatistics, Covariance, GroupStatistics, Histogram, HistogramBins, QuantileSketch, Quantiles,
        StatisticsOptions,
    },
};
use test_support::tables::{LAYOUTS, shape};

/// Everything that a hook was told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Progress>>>);

impl Told {
    fn options(&self) -> StatisticsOptions {
        StatisticsOptions::new().on_progress(self.hook())
    }

    // The lock is not to be had if another thread is here at the same time.
    fn hook(&self) -> impl Fn(Progress) + Send + Sync + 'static {
        let told = self.0.clone();
        move |progress| told.try_lock().expect("twice at a time").push(progress)
    }

    /// Takes what was told of one call, which must begin at 0, always go on, and end at `length`.
    #[track_caller]
    fn check(&self, what: &str, length: u64) -> usize {
        let told = std::mem::take(&mut *self.0.lock().unwrap());
        let total = Some(length);
        assert_eq!(told.first(), Some(&Progress { done: 0, total }), "{what}");
        assert_eq!(told.last(), Some(&Progress { done: length, total }), "{what}");
        assert!(told.is_sorted_by(|one, next| one.done < next.done && one.total == next.total), "{what}: {told:?}");
        told.len()
    }
}

fn statistics(columns: usize) -> BasicStatistics {
    BasicStatistics::new(columns).unwrap()
}

/// Makes every call that reports progress.
#[track_caller]
fn check(table: &dyn NumericTable, length: u64, least: usize) {
    let told = Told::default();
    let bins = HistogramBins::uniform(0.0, 5.0, 3).unwrap();
    let columns = table.column_count();
    let calls: [(&str, &dyn Fn()); 8] = [
        ("partial statistics", &|| drop(statistics(columns).compute_over_with_progress(table, told.hook()).unwrap())),
        ("partial histogram", &|| {
            let partial = Histogram::new(columns, &bins).unwrap();
            assert_eq!(
                partial.compute_over_with_progress(table, told.hook()).unwrap().to_bytes().unwrap(),
                partial.compute_over(table).unwrap().to_bytes().unwrap()
            );
        }),
        ("basic", &|| drop(BasicStatistics::compute_with(table, told.options()).unwrap())),
        ("covariance", &|| drop(Covariance::compute_with(table, told.options()).unwrap())),
        ("quantiles", &|| drop(Quantiles::compute_with(table, &[0.5], told.options()).unwrap())),
        ("sketch", &|| drop(QuantileSketch::compute_with(table, told.options()).unwrap())),
        ("histogram", &|| drop(Histogram::compute_with(table, &bins, told.options()).unwrap())),
        ("groups", &|| drop(GroupStatistics::compute_with(table, 0, 2, told.options()).unwrap())),
    ];
    for (what, call) in calls {
        call();
        let times = told.check(what, length);
        assert!(times >= least, "{what}: {times} calls");
    }
}

#[test]
fn every_kind_of_statistics_counts_the_bytes_of_the_values() {
    for layout in LAYOUTS {
        check(&HomogenNumericTable::<u16>::full_with_layout(shape(5, 3), 1, layout).unwrap(), 30, 2);
        check(
            &HomogenNumericTable::<f64>::full_with_layout(shape(40_000, 33), 1.0, layout).unwrap(),
            40_000 * 33 * 8,
            3,
        );
        check(&HomogenNumericTable::<u16>::full_with_layout(shape(0, 3), 1, layout).unwrap(), 0, 1);
    }
    let wide = HomogenNumericTable::<u8>::full(shape(70, 300), 1).unwrap();
    check(&wide, 70 * 300, 2);
    let columns = SoaNumericTable::from_columns([("a", vec![1_u8; 3000]), ("b", vec![0; 3000])]).unwrap();
    check(&columns, 6000, 2);
    check(&CsrNumericTable::from_dense::<u8>(&wide).unwrap(), 70 * 300, 2);
}

#[test]
fn columns_of_several_types_are_counted_in_their_own() {
    let bytes = SoaNumericTable::from_columns([("a", vec![1_u8; 3000])]).unwrap();
    let words = SoaNumericTable::from_columns([("b", vec![1_f64; 3000])]).unwrap();
    let table = numeric_table::MergedNumericTable::new([
        numeric_table::table::by_ref(&bytes),
        numeric_table::table::by_ref(&words),
    ])
    .unwrap();
    check(&table, 27_000, 2);
}

#[test]
fn a_hook_that_panics_ends_the_call() {
    let table = HomogenNumericTable::<u8>::full(shape(100, 3), 1).unwrap();
    let options = StatisticsOptions::new().on_progress(|progress| assert!(progress.done == 0, "enough"));
    let call = || Covariance::compute_with(&table, options).map(drop);
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    let hook = |progress: Progress| assert!(progress.done == 0, "enough");
    let call = || statistics(3).compute_over_with_progress(&table, hook).map(drop);
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
}
