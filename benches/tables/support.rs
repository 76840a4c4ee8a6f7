//! What every group needs: sizes, data, tables, the comparison with the scalar rule, and how long to measure.

use std::sync::OnceLock;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use numeric_table::convert::cast;
use numeric_table::prelude::*;

pub(crate) const MI: usize = 1 << 20;

/// Rows per block that stand for the whole table.
pub(crate) const ALL_ROWS: usize = usize::MAX;

/// Short measurements: there are many of them. The command line overrides.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(150))
        .nresamples(2000)
        .configure_from_args()
}

/// Begins a group that reads and writes `bytes` in each iteration.
pub(crate) fn group(criterion: &mut Criterion, id: impl Into<String>, bytes: usize) -> BenchmarkGroup<'_, WallTime> {
    let mut group = criterion.benchmark_group(id);
    group.throughput(Throughput::Bytes(bytes as u64));
    group
}

/// Begins a group that hands out memory and moves none: `blocks` of them in each iteration.
pub(crate) fn group_of_blocks(
    criterion: &mut Criterion,
    id: impl Into<String>,
    blocks: usize,
) -> BenchmarkGroup<'_, WallTime> {
    let mut group = criterion.benchmark_group(id);
    group.throughput(Throughput::Elements(blocks as u64));
    group
}

/// Whether nothing is measured: everything runs once, or is only listed. Criterion's own rule, which it does not publish.
pub(crate) fn is_test() -> bool {
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    has("--test") || has("--list") || !has("--bench")
}

/// Whether the filter on the command line permits ids that begin with `path`. A filter that is no such path permits all:
/// Criterion looks at it again.
pub(crate) fn is_wanted(path: &str) -> bool {
    let is_path = |argument: &String| {
        let mut segments = argument.split('/');
        let is_group = segments.next().is_some_and(|first| crate::GROUPS.iter().any(|&(group, _)| group == first));
        let is_plain = argument.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '/');
        is_group && is_plain && segments.next().is_some()
    };
    static FILTER: OnceLock<Option<String>> = OnceLock::new();
    let filter = FILTER.get_or_init(|| std::env::args().skip(1).find(is_path));
    filter.as_deref().is_none_or(|filter| filter.starts_with(path) || path.starts_with(filter))
}

/// The number of values to measure with; in test mode, a small one.
pub(crate) fn sized(values: usize) -> usize {
    if is_test() { values.min(16 << 10) } else { values }
}

/// A shape of about `values` values.
pub(crate) fn shape_of(values: usize, columns: usize) -> Shape {
    Shape { rows: sized(values) / columns, columns }
}

/// The name of a pair of types in ids.
pub(crate) fn pair_name<S: Element, D: Element>() -> String {
    format!("{}_to_{}", S::TYPE, D::TYPE)
}

/// The name of a number of columns in ids.
pub(crate) fn columns_name(columns: usize) -> String {
    if columns == 1 { "1_column".into() } else { format!("{columns}_columns") }
}

/// The name of a number of rows in ids.
pub(crate) fn rows_name(rows: usize) -> String {
    match rows {
        1 => "1_row".into(),
        ALL_ROWS => "all_rows".into(),
        rows => format!("{rows}_rows"),
    }
}

/// A value from 0 to 252, in steps of a quarter if the type has them: nothing is out of any type's range.
pub(crate) fn ragged<T: Element>(index: usize) -> T {
    cast((index % 1009) as f64 * 0.25)
}

/// A whole number from 0 to 250 (to 126 if the type ends at 127): every type holds it exactly.
pub(crate) fn whole<T: Element>(index: usize) -> T {
    let end = if T::TYPE == ElementType::I8 { 127 } else { 251 };
    cast((index % end) as u8)
}

/// Memory of the library, written: what all rivals that reuse memory work on, so that only the code differs.
pub(crate) fn memory<T: Element>(count: usize, value: impl Fn(usize) -> T + Sync) -> Array<T> {
    Array::from_fn(count, value).expect("there is memory")
}

/// Zeros, written.
pub(crate) fn written<T: Element>(count: usize) -> Array<T> {
    memory(count, |_| T::default())
}

/// A table of [`ragged`] values.
pub(crate) fn table<T: Element>(shape: Shape, layout: DataLayout) -> HomogenNumericTable<T> {
    let values = memory(shape.rows * shape.columns, ragged);
    HomogenNumericTable::from_array_in(values, shape, layout).expect("the array has the length of the shape")
}

/// Borrows the values of memory that nobody shares.
pub(crate) fn values_mut<T>(array: &mut Array<T>) -> &mut [T] {
    array.mutable_data().expect("nobody shares it")
}

/// Compares converted values with the scalar rule.
pub(crate) fn check<'s, S: Element, D: Element>(source: impl IntoIterator<Item = &'s S>, converted: &[D]) {
    let mut count = 0;
    for (index, (&source, &converted)) in source.into_iter().zip(converted).enumerate() {
        assert_eq!(cast::<S, D>(source), converted, "value {index}, from {source} of {}", S::TYPE);
        count += 1;
    }
    assert_eq!(count, converted.len(), "there are as many values");
}
