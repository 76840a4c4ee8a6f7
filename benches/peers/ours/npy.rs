//! NumPy's files, in a folder among the system's temporary files.

use std::hint::black_box;

use numeric_table::prelude::*;
use tempfile::TempDir;

use crate::measure::Bench;
use crate::plain::check;
use crate::rows::sample_table;

const COLUMNS: usize = 16;
const DISK: &str = "the temporary folder can be read and written";

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    save(bench)?;
    load(bench)?;
    #[cfg(feature = "mmap")]
    map(bench)?;
    Ok(())
}

fn new_path() -> (std::path::PathBuf, TempDir) {
    let folder = tempfile::tempdir().expect(DISK);
    (folder.path().join("table.npy"), folder)
}

/// Over a file that is there: the new one takes its place.
fn save(bench: &mut Bench) -> Result<(), Error> {
    let job = "npy/save/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, _folder) = new_path();
    let options = numeric_table::SaveOptions::new().durable(false);
    let save = || table.save_npy_with(&path, options.clone()).expect(DISK);
    save();
    check(job, table.as_slice()?, HomogenNumericTable::<f32>::load_npy(&path)?.as_slice()?);
    bench.compare(job, 1, &mut [("ours", &mut || save())]);
    Ok(())
}

fn load(bench: &mut Bench) -> Result<(), Error> {
    let job = "npy/load/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, _folder) = new_path();
    table.save_npy(&path)?;
    let load = || HomogenNumericTable::<f32>::load_npy(&path).expect(DISK);
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

/// Maps a file, looks at a row in the middle, and lets go of it.
#[cfg(feature = "mmap")]
fn map(bench: &mut Bench) -> Result<(), Error> {
    let job = "npy/map/first_row/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, _folder) = new_path();
    table.save_npy(&path)?;
    let row = table.row_count() / 2;
    let first_row = |look: &mut dyn FnMut(&[f32])| {
        // SAFETY: only this function knows the path, and it writes nothing before the map is gone.
        let mapped = unsafe { HomogenNumericTable::<f32>::map_npy(&path) }.expect(DISK);
        look(&mapped.rows::<f32>(row..row + 1).expect("the file has the row"));
    };
    let expected = table.rows::<f32>(row..row + 1)?;
    first_row(&mut |values| check(job, &expected, values));
    bench.compare(
        job,
        1,
        &mut [("ours", &mut || {
            first_row(&mut |values| {
                black_box(values[0]);
            });
        })],
    );
    Ok(())
}
