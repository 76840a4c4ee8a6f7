//! Code shared by all groups: sizes, data, tables, the comparison with the scalar rule, and measuring times.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use numeric_table::convert::cast;
use numeric_table::prelude::*;

pub(crate) const MI: usize = 1 << 20;

/// The number of rows per block that stands for the complete table.
pub(crate) const ALL_ROWS: usize = usize::MAX;

/// Creates a configuration for short measurements, since there are many. The command line overrides it.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(150))
        .nresamples(2000)
        .configure_from_args()
}

/// Starts a group that reads and writes `bytes` in each iteration.
pub(crate) fn group(criterion: &mut Criterion, id: impl Into<String>, bytes: usize) -> BenchmarkGroup<'_, WallTime> {
    let mut group = criterion.benchmark_group(id);
    group.throughput(Throughput::Bytes(bytes as u64));
    group
}

/// Starts a group that lends `blocks` blocks of memory in each iteration, without copying.
pub(crate) fn group_of_blocks(
    criterion: &mut Criterion,
    id: impl Into<String>,
    blocks: usize,
) -> BenchmarkGroup<'_, WallTime> {
    let mut group = criterion.benchmark_group(id);
    group.throughput(Throughput::Elements(blocks as u64));
    group
}

/// Returns whether nothing is measured, because everything runs once or is only listed. Criterion uses the same rule,
/// but does not export it.
pub(crate) fn is_test() -> bool {
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    has("--test") || has("--list") || !has("--bench")
}

/// Returns whether the filter on the command line permits ids that begin with `path`. A filter that is not such a path
/// permits all, and Criterion applies it again.
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

/// Returns the number of values to measure with, which is small in test mode.
pub(crate) fn sized(values: usize) -> usize {
    if is_test() { values.min(16 << 10) } else { values }
}

/// Returns a shape of about `values` values.
pub(crate) fn shape_of(values: usize, columns: usize) -> Shape {
    Shape { rows: sized(values) / columns, columns }
}

/// Returns the name of a pair of types in ids.
pub(crate) fn pair_name<S: Element, D: Element>() -> String {
    format!("{}_to_{}", S::TYPE, D::TYPE)
}

/// Returns the name of a number of columns in ids.
pub(crate) fn columns_name(columns: usize) -> String {
    if columns == 1 { "1_column".into() } else { format!("{columns}_columns") }
}

/// Returns the name of a number of rows in ids.
pub(crate) fn rows_name(rows: usize) -> String {
    match rows {
        1 => "1_row".into(),
        ALL_ROWS => "all_rows".into(),
        rows => format!("{rows}_rows"),
    }
}

/// Returns a value from 0 to 252, in steps of a quarter if the type has fractions, within the range of all types in
/// use.
pub(crate) fn ragged<T: Element>(index: usize) -> T {
    cast((index % 1009) as f64 * 0.25)
}

/// Returns an integer from 0 to 250 (to 126 for `i8`), which every type represents exactly.
pub(crate) fn whole<T: Element>(index: usize) -> T {
    let end = if T::TYPE == ElementType::I8 { 127 } else { 251 };
    cast((index % end) as u8)
}

/// Allocates and writes memory of the library. All rivals that reuse memory use it, so that only the code differs.
pub(crate) fn memory<T: Element>(count: usize, value: impl Fn(usize) -> T + Sync) -> Array<T> {
    Array::from_fn(count, value).expect("there is memory")
}

/// Allocates zeros that have been written.
pub(crate) fn written<T: Element>(count: usize) -> Array<T> {
    memory(count, |_| T::default())
}

/// Creates a table of [`ragged`] values.
pub(crate) fn table<T: Element>(shape: Shape, layout: DataLayout) -> HomogenNumericTable<T> {
    let values = memory(shape.rows * shape.columns, ragged);
    HomogenNumericTable::from_array_with_layout(values, shape, layout).expect("the array has the length of the shape")
}

/// Borrows the values of unshared memory.
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

/// Creates a folder for files, which is removed when it is dropped: in memory (`/dev/shm`) if there is such a file
/// system, else in the temporary folder, or in the folder that `NUMERIC_TABLE_BENCH_FOLDER` names.
pub(crate) fn folder() -> tempfile::TempDir {
    let place = match std::env::var_os("NUMERIC_TABLE_BENCH_FOLDER") {
        Some(folder) => folder.into(),
        None if Path::new("/dev/shm").is_dir() => PathBuf::from("/dev/shm"),
        None => std::env::temp_dir(),
    };
    tempfile::tempdir_in(place).expect("the folder can be written to")
}
