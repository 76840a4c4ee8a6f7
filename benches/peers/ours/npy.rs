//! NumPy files, in a temporary folder.

use numeric_table::prelude::*;

use crate::files::time_map;
use crate::files::{COLUMNS, DISK, new_path, time_load, time_save};
use crate::measure::Bench;
use crate::rows::sample_table;

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    save(bench)?;
    load(bench)?;
    map(bench)?;
    Ok(())
}

/// Times saving over an existing file, which is replaced.
fn save(bench: &mut Bench) -> Result<(), Error> {
    let job = "npy/save/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, _folder) = new_path();
    let options = numeric_table::files::SaveOptions::new().durable(false);
    let save = || table.save_npy_with(&path, options.clone()).expect(DISK);
    time_save(bench, job, &table, save, || HomogenNumericTable::load_npy(&path).expect(DISK))
}

fn load(bench: &mut Bench) -> Result<(), Error> {
    let job = "npy/load/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, _folder) = new_path();
    table.save_npy(&path)?;
    time_load(bench, job, &table, || HomogenNumericTable::<f32>::load_npy(&path).expect(DISK))
}

/// Times mapping a file, reading a row in the middle, and unmapping it.
fn map(bench: &mut Bench) -> Result<(), Error> {
    let job = "npy/map/first_row/f32";
    if !bench.wants(job) {
        return Ok(());
    }
    let table = sample_table::<f32>(bench, COLUMNS)?;
    let (path, _folder) = new_path();
    table.save_npy(&path)?;
    let row = table.row_count() / 2;
    let expected = table.rows::<f32>(row..row + 1)?;
    // SAFETY: only this function uses the path, and it does not write to the file while it is mapped.
    time_map(bench, job, (row, &expected), || unsafe { HomogenNumericTable::map_npy(&path) }.expect(DISK));
    Ok(())
}
