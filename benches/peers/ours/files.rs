//! Table files, in a temporary folder, and archives in memory.
//!
//! Jobs time transfers between memory and the system's page cache. Only durable jobs include the disk. Each job has its
//! own folder, which is removed before it is flushed, and files are flushed to the disk before they are read.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::PathBuf;

use bincode::config::legacy;
use numeric_table::files::{SaveOptions, TableReader, TableWriter, verify};
use numeric_table::prelude::*;
use tempfile::TempDir;

use crate::measure::Bench;
use crate::plain::{Plain, check};
use crate::rows::sample_table;

pub(super) const COLUMNS: usize = 16;
/// Number of rows of a block in a stream.
const BLOCK_ROWS: usize = 8192;
/// Size of the large mapped file, as a multiple of the small one.
const LARGE: usize = 16;
pub(super) const DISK: &str = "the temporary folder can be read and written";
const MEMORY: &str = "the result fits in memory";

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    let options = SaveOptions::new().durable(false);
    save(bench, "files/save/f32", options.clone())?;
    save(bench, "files/save_without_checksums/f32", options.checksums(None))?;
    save(bench, "files/save_durable/f32", SaveOptions::new())?;
    load(bench)?;
    load_cast(bench)?;
    verify_file(bench)?;
    {
        map(bench, "files/map/first_row/f32/64_MiB", 1)?;
        map(bench, "files/map/first_row/f32/1_GiB", LARGE)?;
    }
    stream_write(bench)?;
    stream_read(bench)?;
    write_limit(bench)?;
    read_limit(bench)?;
    to_bytes(bench)?;
    from_bytes(bench)
}

/// Returns the path of a file that does not exist yet, and the folder that removes it.
pub(super) fn new_path() -> (PathBuf, TempDir) {
    let folder = tempfile::tempdir().expect(DISK);
    (folder.path().join("table"), folder)
}

/// Times saving a table, after checking the saved file.
pub(super) fn time_save(
    bench: &mut Bench,
    job: &str,
    table: &HomogenNumericTable<f32>,
    save: impl Fn(),
    load: impl Fn() -> HomogenNumericTable<f32>,
) -> Result<(), Error> {
    save();
    check(job, table.as_slice()?, load().as_slice()?);
    bench.compare(job, 1, &mut [("ours", &mut || save())]);
    Ok(())
}

/// Times loading a table, after checking the loaded values.
pub(super) fn time_load<T: Element>(
    bench: &mut Bench,
    job: &str,
    table: &HomogenNumericTable<f32>,
    load: impl Fn() -> HomogenNumericTable<T>,
) -> Result<(), Error>
where
    f32: Plain<T>,
{
    check(job, table.as_slice()?, load().as_slice()?);
    bench.compare(
        job,
        1,
        &mut [("ours", &mut || {
            black_box(load());
        })],
    );
    Ok(())
}

/// Times mapping a file, reading a row, and unmapping it, after checking all of that row.
pub(super) fn time_map(
    bench: &mut Bench,
    job: &str,
    (row, expected): (usize, &[f32]),
    map: impl Fn() -> HomogenNumericTable<f32>,
) {
    let first_row = |look: &mut dyn FnMut(&[f32])| {
        look(&map().rows::<f32>(row..row + 1).expect("the file has the row"));
    };
    first_row(&mut |values| check(job, expected, values));
    bench.compare(
        job,
        1,
        &mut [("ours", &mut || {
            first_row(&mut |values| {
                black_box(values[0]);
            });
        })],
    );
}

/// Returns the sample table, and a file of it on the disk.
fn saved(bench: &Bench) -> Result<(HomogenNumericTable<f32>, PathBuf, TempDir), Error> {
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, folder) = new_path();
    table.save(&path)?;
    Ok((table, path, folder))
}

/// Times saving over an existing file, which is replaced.
fn save(bench: &mut Bench, job: &str, options: SaveOptions) -> Result<(), Error> {
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, _folder) = new_path();
    let save = || table.save_with(&path, options.clone()).expect(DISK);
    time_save(bench, job, &table, save, || HomogenNumericTable::load(&path).expect(DISK))
}

fn load(bench: &mut Bench) -> Result<(), Error> {
    let job = "files/load/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let (table, path, _folder) = saved(bench)?;
    time_load(bench, job, &table, || HomogenNumericTable::<f32>::load(&path).expect(DISK))
}

fn load_cast(bench: &mut Bench) -> Result<(), Error> {
    let job = "files/load_cast/f32_to_f64";
    if !bench.wants(job) {
        return Ok(());
    }
    let (table, path, _folder) = saved(bench)?;
    time_load(bench, job, &table, || HomogenNumericTable::<f64>::load_cast(&path).expect(DISK))
}

fn verify_file(bench: &mut Bench) -> Result<(), Error> {
    let job = "files/verify/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let (_, path, _folder) = saved(bench)?;
    let whole = fs::read(&path).expect(DISK);
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(&path, damaged).expect(DISK);
    assert!(verify(&path).is_err(), "{job}: the damage is found");
    fs::write(&path, whole).and_then(|()| File::open(&path)?.sync_all()).expect(DISK);
    let verify = || assert!(verify(&path).expect(DISK), "{job}: the file has checksums");
    bench.compare(job, 1, &mut [("ours", &mut || verify())]);
    Ok(())
}

/// Times mapping a file with `times` copies of the sample table, reading a row in the middle, and unmapping it.
fn map(bench: &mut Bench, job: &str, times: usize) -> Result<(), Error> {
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, _folder) = new_path();
    let mut writer = TableWriter::<f32>::create_with(&path, COLUMNS, None, SaveOptions::new().durable(false))?;
    (0..times).try_for_each(|_| writer.append(table.as_slice()?))?;
    let row = writer.shape().rows / 2;
    writer.finish()?;
    let expected = row % table.row_count();
    let expected = table.rows::<f32>(expected..expected + 1)?;
    // SAFETY: only this function uses the path, and it does not write to the file while it is mapped.
    time_map(bench, job, (row, &expected), || unsafe { HomogenNumericTable::map(&path) }.expect(DISK));
    Ok(())
}

fn stream_write(bench: &mut Bench) -> Result<(), Error> {
    let job = "files/stream_write/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let values = table.as_slice()?;
    let (path, _folder) = new_path();
    let write = || -> Result<(), Error> {
        let mut writer = TableWriter::<f32>::create_with(&path, COLUMNS, None, SaveOptions::new().durable(false))?;
        values.chunks(BLOCK_ROWS * COLUMNS).try_for_each(|block| writer.append(block))?;
        writer.finish()
    };
    write()?;
    check(job, values, HomogenNumericTable::<f32>::load(&path)?.as_slice()?);
    bench.compare(job, 1, &mut [("ours", &mut || write().expect(DISK))]);
    Ok(())
}

fn stream_read(bench: &mut Bench) -> Result<(), Error> {
    let job = "files/stream_read/f32_to_f64";
    if !bench.wants(job) {
        return Ok(());
    }
    let (table, path, _folder) = saved(bench)?;
    let read = |look: &mut dyn FnMut(&[f64])| -> Result<(), Error> {
        let reader = TableReader::open(&path)?;
        let mut blocks = reader.row_blocks::<f64>(BLOCK_ROWS)?;
        while let Some(block) = blocks.next_block()? {
            look(&block);
        }
        Ok(())
    };
    let mut seen = Vec::new();
    read(&mut |values| seen.extend_from_slice(values))?;
    check(job, table.as_slice()?, &seen);
    let mut look = |values: &[f64]| {
        black_box(values[0]);
    };
    bench.compare(job, 1, &mut [("ours", &mut || read(&mut look).expect(DISK))]);
    Ok(())
}

/// Measures the limit of one thread: writing the same number of bytes over a file, in one call.
fn write_limit(bench: &mut Bench) -> Result<(), Error> {
    let job = "files/limit/write";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let bytes: &[u8] = bytemuck::cast_slice(table.as_slice()?);
    let (path, _folder) = new_path();
    let write = || fs::write(&path, bytes).expect(DISK);
    write();
    assert!(fs::read(&path).expect(DISK) == bytes, "{job}: other bytes");
    bench.compare(job, 1, &mut [("plain write", &mut || write())]);
    Ok(())
}

/// Measures the limit of one thread: reading the same number of bytes into existing memory.
fn read_limit(bench: &mut Bench) -> Result<(), Error> {
    let job = "files/limit/read";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let bytes: &[u8] = bytemuck::cast_slice(table.as_slice()?);
    let (path, _folder) = new_path();
    fs::write(&path, bytes).and_then(|()| File::open(&path)?.sync_all()).expect(DISK);
    let mut buffer = Array::full(bytes.len(), 1_u8)?;
    let buffer = buffer.mutable_data()?;
    let read = |buffer: &mut [u8]| File::open(&path).and_then(|mut file| file.read_exact(buffer)).expect(DISK);
    read(buffer);
    assert!(buffer == bytes, "{job}: other bytes");
    bench.compare(job, 1, &mut [("plain read", &mut || read(black_box(&mut *buffer)))]);
    Ok(())
}

fn to_bytes(bench: &mut Bench) -> Result<(), Error> {
    let job = "archive/to_bytes/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let values = table.as_slice()?.to_vec();
    let encode = || bincode::serde::encode_to_vec(&values, legacy()).expect(MEMORY);
    let payload: &[u8] = bytemuck::cast_slice(&values);
    assert!(table.to_bytes()?.ends_with(payload), "{job}: other values");
    assert!(encode()[size_of::<u64>()..] == *payload, "bincode: other values");
    bench.compare(
        job,
        1,
        &mut [
            ("ours", &mut || {
                black_box(table.to_bytes().expect(MEMORY));
            }),
            ("bincode", &mut || {
                black_box(encode());
            }),
        ],
    );
    Ok(())
}

fn from_bytes(bench: &mut Bench) -> Result<(), Error> {
    let job = "archive/from_bytes/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let bytes = table.to_bytes()?;
    let encoded = bincode::serde::encode_to_vec(table.as_slice()?, legacy()).expect(MEMORY);
    let read = || HomogenNumericTable::<f32>::from_bytes(black_box(&bytes)).expect(MEMORY);
    let decode = || bincode::serde::decode_from_slice::<Vec<f32>, _>(black_box(&encoded), legacy()).expect(MEMORY).0;
    assert!(read() == table, "{job}: another table");
    check("bincode", table.as_slice()?, &decode());
    bench.compare(
        job,
        1,
        &mut [
            ("ours", &mut || {
                black_box(read());
            }),
            ("bincode", &mut || {
                black_box(decode());
            }),
        ],
    );
    Ok(())
}
