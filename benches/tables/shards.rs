//! Tables of many files: partial results over all rows, compared with one table in memory; verification; opening; and
//! merging.
//!
//! Files are in memory (`/dev/shm`) if there is such a file system, else in the temporary folder. The environment
//! variable `NUMERIC_TABLE_BENCH_FOLDER` sets another. On a disk, they are in the system's cache.

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

use crate::support::{MI, folder, group, is_test, is_wanted, ragged, shape_of};

const COLUMNS: usize = 16;
const SHARDS: usize = 8;

/// Saves a table in parts of the same number of rows.
fn save(table: &HomogenNumericTable<f32>, parts: usize, folder: &Path) -> Vec<PathBuf> {
    let rows = table.shape().rows / parts;
    let part = |shard: usize| {
        let path = folder.join(format!("part-{shard:05}.ntb"));
        let part = table.slice_rows(shard * rows..(shard + 1) * rows).expect("these rows");
        part.save_with(&path, SaveOptions::new().durable(false)).expect("saved");
        path
    };
    (0..parts).map(part).collect()
}

pub(crate) fn shards(criterion: &mut Criterion) {
    reduce(criterion);
    verified(criterion);
    open(criterion);
    merge(criterion);
}

/// `reduce`: 512 MiB of `f32`, in one table in memory, in eight files that are read, in eight files that each call maps,
/// and in eight files that stay mapped between calls.
fn reduce(criterion: &mut Criterion) {
    if !is_wanted("shards/reduce") {
        return;
    }
    let shape = shape_of(128 * MI, COLUMNS);
    let table = HomogenNumericTable::from_fn(shape, |row, column| ragged::<f32>(row * 7 + column)).expect("a table");
    let folder = folder();
    let paths = save(&table, SHARDS, folder.path());
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
    // SAFETY: as above.
    let kept = unsafe { shards.map() }.expect("the files");
    let mut group = group(criterion, id, table.shape().rows * table.shape().columns * size_of::<f32>());
    group.bench_function("in_memory", |bencher| {
        bencher.iter(|| black_box(empty.compute_over(table).expect("computed")))
    });
    group.bench_function("read", |bencher| bencher.iter(|| black_box(shards.reduce(empty).expect("computed"))));
    group.bench_function("mapped", |bencher| bencher.iter(|| black_box(mapped())));
    group.bench_function("kept_mapped", |bencher| {
        bencher.iter(|| black_box(empty.compute_over(&kept).expect("computed")))
    });
    group.finish();
}

/// The limit: reads the bytes of the files by two threads, in pieces of the size of a block. Compared with a table in
/// memory, reading adds this time to the work of all threads.
fn read_only(criterion: &mut Criterion, paths: &[PathBuf], bytes: usize) {
    if !is_wanted("shards/reduce/limit") {
        return;
    }
    let read = |paths: &[PathBuf]| {
        let mut buffer = vec![0_u8; MI / 2];
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

/// `verified`: 256 MiB of `f32`, in 4 and in 64 files, read without and with verification.
fn verified(criterion: &mut Criterion) {
    if !is_wanted("shards/verified") {
        return;
    }
    let shape = shape_of(64 * MI, COLUMNS);
    let table = HomogenNumericTable::from_fn(shape, |row, column| ragged::<f32>(row * 7 + column)).expect("a table");
    for parts in [4, 64] {
        let folder = folder();
        let paths = save(&table, parts, folder.path());
        let shards = || Shards::from_paths(&paths).expect("the files");
        let [plain, checked] = [shards(), shards().with_verification(true)];
        let empty = BasicStatistics::new(COLUMNS).expect("room");
        let blocks = |shards: &Shards, rows| {
            let mut blocks = shards.row_blocks::<f32>(rows).expect("room");
            while let Some(block) = blocks.next_block().expect("the files") {
                black_box(&block[0]);
            }
        };
        type Work<'a> = &'a dyn Fn(&Shards);
        let rows = shape.rows;
        let all_but_one = |shards: &Shards| drop(black_box(shards.load_rows::<f32>(1..).expect("the files")));
        let one = |shards: &Shards| drop(black_box(shards.load_rows::<f32>(rows / 2..rows / 2 + 1).expect("the file")));
        let jobs: [(&str, Work<'_>); 5] = [
            ("reduce_moments", &|shards| drop(black_box(shards.reduce(&empty).expect("computed")))),
            ("blocks_of_1000_rows", &|shards| blocks(shards, 1000)),
            ("blocks_of_65536_rows", &|shards| blocks(shards, 65_536)),
            ("load_all_rows_but_one", &all_but_one),
            ("load_one_row", &one),
        ];
        for (name, work) in jobs {
            let bytes = rows * COLUMNS * size_of::<f32>();
            let mut group = group(criterion, format!("shards/verified/{name}/{parts}_files"), bytes);
            group.bench_function("without", |bencher| bencher.iter(|| work(&plain)));
            group.bench_function("with", |bencher| bencher.iter(|| work(&checked)));
            group.finish();
        }
        let mut group = group(criterion, format!("shards/verified/verify/{parts}_files"), rows * COLUMNS * 4);
        group.bench_function("verify", |bencher| bencher.iter(|| plain.verify().expect("undamaged")));
        group.finish();
    }
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
