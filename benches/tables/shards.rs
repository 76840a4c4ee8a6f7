//! Tables of many files: partial results over all rows, compared with one table in memory; opening; and merging.
//!
//! Files are in memory, `/dev/shm`, if there is such a folder, to measure the library and not the disk.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};

use criterion::Criterion;
use numeric_table::prelude::*;
use numeric_table::{
    Partial,
    files::SaveOptions,
    shards::Shards,
    statistics::{BasicStatistics, Covariance, GramMatrix},
};
use numeric_table_learning::KMeansStep;

use crate::support::{MI, group, is_test, is_wanted, ragged, shape_of};

const COLUMNS: usize = 16;
const SHARDS: usize = 8;

/// Returns a new folder, in memory if possible, which is removed when it is dropped.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder")
}

/// Saves a table in parts.
fn save(table: &HomogenNumericTable<f32>, folder: &Path) -> Vec<PathBuf> {
    let rows = table.shape().rows / SHARDS;
    let part = |shard: usize| {
        let path = folder.join(format!("part-{shard:05}.ntb"));
        let part = table.slice_rows(shard * rows..(shard + 1) * rows).expect("these rows");
        part.save_with(&path, SaveOptions::new().durable(false)).expect("saved");
        path
    };
    (0..SHARDS).map(part).collect()
}

pub(crate) fn shards(criterion: &mut Criterion) {
    reduce(criterion);
    open(criterion);
    merge(criterion);
}

/// `reduce`: 512 MiB of `f32`, in one table in memory, in eight files that are read, and in eight mapped files.
fn reduce(criterion: &mut Criterion) {
    if !is_wanted("shards/reduce") {
        return;
    }
    let shape = shape_of(128 * MI, COLUMNS);
    let table = HomogenNumericTable::from_fn(shape, |row, column| ragged::<f32>(row * 7 + column)).expect("a table");
    let folder = folder();
    let paths = save(&table, folder.path());
    let shards = Shards::from_paths(&paths).expect("the files");
    let columns = shape.columns;
    beside(criterion, "moments", &table, &shards, &BasicStatistics::new(columns).expect("room"));
    beside(criterion, "covariance", &table, &shards, &Covariance::new(columns).expect("room"));
    beside(criterion, "gram_matrix", &table, &shards, &GramMatrix::new(columns).expect("room"));
    beside(
        criterion,
        "k_means_8",
        &table,
        &shards,
        &KMeansStep::new(&table.slice_rows(..8).expect("rows")).expect("room"),
    );
    read_only(criterion, &paths, shape.rows * columns * size_of::<f32>());
}

fn beside<P: Partial>(
    criterion: &mut Criterion,
    name: &str,
    table: &HomogenNumericTable<f32>,
    shards: &Shards,
    empty: &P,
) {
    let id = format!("shards/reduce/{name}");
    if !is_wanted(&id) {
        return;
    }
    let bytes = |found: P| found.to_bytes().expect("bytes");
    let found = bytes(shards.reduce(empty).expect("the files"));
    // SAFETY: the files are this program's own, and stay as they are.
    let mapped = || unsafe { shards.reduce_mapped(empty) }.expect("the files");
    assert!(found == bytes(mapped()), "{id}");
    let mut group = group(criterion, id, table.shape().rows * table.shape().columns * size_of::<f32>());
    group.bench_function("in_memory", |bencher| {
        bencher.iter(|| black_box(empty.compute_over(table).expect("computed")))
    });
    group.bench_function("read", |bencher| bencher.iter(|| black_box(shards.reduce(empty).expect("computed"))));
    group.bench_function("mapped", |bencher| bencher.iter(|| black_box(mapped())));
    group.finish();
}

/// The limit: reads the bytes of the files, a megabyte at a time, by two threads. Compared with a table in memory,
/// reading adds this time to the work of all threads.
fn read_only(criterion: &mut Criterion, paths: &[PathBuf], bytes: usize) {
    if !is_wanted("shards/reduce/limit") {
        return;
    }
    let read = |paths: &[PathBuf]| {
        let mut buffer = vec![0_u8; MI];
        for path in paths {
            let mut file = File::open(path).expect("a file");
            while file.read(&mut buffer).expect("read") > 0 {}
        }
    };
    let (first, last) = paths.split_at(paths.len() / 2);
    let mut group = group(criterion, "shards/reduce/limit", bytes);
    group.bench_function("read_by_two_threads", |bencher| bencher.iter(|| rayon::join(|| read(first), || read(last))));
    group.finish();
}

/// `open`: 10,000 files with a manifest, and by reading each header.
fn open(criterion: &mut Criterion) {
    if !is_wanted("shards/open") {
        return;
    }
    let (folder, count) = (folder(), if is_test() { 20 } else { 10_000 });
    let table = HomogenNumericTable::from_fn(Shape { rows: 8, columns: COLUMNS }, |row, column| {
        ragged::<f32>(row * 7 + column)
    });
    let table = table.expect("a table");
    for shard in 0..count {
        let path = folder.path().join(format!("part-{shard:05}.ntb"));
        table.save_with(path, SaveOptions::new().durable(false)).expect("saved");
    }
    let pattern = folder.path().join("part-*.ntb");
    Shards::from_glob(&pattern).and_then(|mut all| all.save_manifest(folder.path().join("shards.ntm"))).expect("saved");
    let mut group = criterion.benchmark_group(format!("shards/open/{count}_files"));
    let opened = |shards: numeric_table::Result<Shards>| assert_eq!(shards.expect("opened").shard_count(), count);
    group.bench_function("manifest", |bencher| bencher.iter(|| opened(Shards::open(folder.path()))));
    group.bench_function("every_file", |bencher| bencher.iter(|| opened(Shards::from_glob(&pattern))));
    group.finish();
}

/// `merge`: the work of the merging process for each result it receives.
fn merge(criterion: &mut Criterion) {
    merging(criterion, "moments/16_columns", &BasicStatistics::new(16).expect("room"), 16);
    merging(criterion, "covariance/1000_columns", &Covariance::new(1000).expect("room"), 1000);
}

fn merging<P: Partial>(criterion: &mut Criterion, name: &str, empty: &P, columns: usize) {
    let id = format!("shards/merge/{name}");
    if !is_wanted(&id) {
        return;
    }
    let rows = HomogenNumericTable::from_fn(Shape { rows: 64, columns }, |row, column| ragged::<f32>(row * 7 + column));
    let sent = empty.compute_over(&rows.expect("a table")).and_then(|found| found.to_bytes()).expect("bytes");
    let mut all = empty.new_like().expect("room");
    let mut group = group(criterion, id, sent.len());
    let mut receive = || all.merge(&P::from_bytes(&sent).expect("its own bytes")).expect("the same prototype");
    group.bench_function("received_and_merged", |bencher| bencher.iter(&mut receive));
    group.finish();
}
