//! Saving 512 MiB of `f32`, with checksums and without waiting for a disk, by 1, 2, 4, ... threads up to the number of
//! cores. The limits of the machine are the same bytes written to a file by `pwrite` and through a mapping, and copied
//! in memory.
//!
//! The file is in memory (`/dev/shm`) if there is such a file system, else in the temporary folder. The environment
//! variable `NUMERIC_TABLE_BENCH_FOLDER` sets another. The file does not exist before it is written, and its removal is
//! not timed. Saving with one thread is the rival of saving with more.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use criterion::{BatchSize, Criterion};
use memmap2::MmapOptions;
use numeric_table::files::{SaveOptions, verify};
use numeric_table::prelude::*;
use rayon::prelude::*;

use crate::limits::{Threads, memcpy};
use crate::support::{MI, folder, group, is_wanted, shape_of, table, values_mut, written};

const COLUMNS: usize = 16;
/// Number of bytes that the limits write at a time, as in the library.
const PIECE: usize = 4 << 20;

pub(crate) fn saves(criterion: &mut Criterion) {
    let id = "save/f32/512_mib";
    if !is_wanted(id) {
        return;
    }
    let table = table::<f32>(shape_of(512 * MI / size_of::<f32>(), COLUMNS), DataLayout::RowMajor);
    let bytes: &[u8] = bytemuck::cast_slice(table.as_slice().expect("it is in memory"));
    let folder = folder();
    let path = &folder.path().join("table.ntb");
    let save = |checksums| {
        let options = SaveOptions::new().durable(false).checksums(checksums);
        table.save_with(path, options).expect("there is room");
    };
    let remove = || fs::remove_file(path).unwrap_or_default();

    let mut group = group(criterion, id, bytes.len());
    for threads in numbers_of_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
        let name = if threads == 1 { "1_thread".to_owned() } else { format!("{threads}_threads") };
        pool.install(|| save(Some(1 << 20)));
        assert!(verify(path).expect("it can be read"));
        let each = BatchSize::PerIteration;
        group.bench_function(&*name, |bencher| {
            pool.install(|| bencher.iter_batched(remove, |()| save(Some(1 << 20)), each))
        });
        group.bench_function(format!("{name}_without_checksums"), |bencher| {
            pool.install(|| bencher.iter_batched(remove, |()| save(None), each))
        });
        group.bench_function(format!("mapped_{name}"), |bencher| {
            pool.install(|| bencher.iter_batched(remove, |()| write_mapped(path, bytes), each))
        });
    }
    group.bench_function("pwrite_1_thread", |bencher| {
        bencher.iter_batched(remove, |()| write(path, bytes), BatchSize::PerIteration)
    });
    let mut target: Array<u8> = written(bytes.len());
    for (name, threads) in [("memcpy_1_thread", Threads::One), ("memcpy_all_threads", Threads::All)] {
        group.bench_function(name, |bencher| bencher.iter(|| memcpy(bytes, values_mut(&mut target), threads)));
    }
    group.finish();
}

/// Returns 1, 2, 4, ... and the number of threads of the machine.
fn numbers_of_threads() -> Vec<usize> {
    let all = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let powers = std::iter::successors(Some(1), |threads| Some(threads * 2));
    powers.take_while(|&threads| threads < all).chain([all]).collect()
}

fn new_file(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).create_new(true).open(path).expect("the folder can be written to")
}

/// Writes a file by one thread.
fn write(path: &Path, bytes: &[u8]) {
    let mut file = new_file(path);
    bytes.chunks(PIECE).for_each(|piece| file.write_all(piece).expect("there is room"));
}

/// Writes a file through a mapping, by all threads of the pool.
fn write_mapped(path: &Path, bytes: &[u8]) {
    let file = new_file(path);
    file.set_len(bytes.len() as u64).expect("the file can be so long");
    // SAFETY: the file is new, in a folder of this program, and nobody else knows it.
    let mut map = unsafe { MmapOptions::new().map_mut(&file) }.expect("files can be mapped");
    map.par_chunks_mut(PIECE).zip(bytes.par_chunks(PIECE)).for_each(|(target, piece)| target.copy_from_slice(piece));
}
