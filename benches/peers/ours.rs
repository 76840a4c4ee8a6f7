//! Times this crate at the jobs that `daal_bench.cpp` and `numpy_bench.py` time, and the Rust peers beside it: the plain
//! loop, `ndarray`, `arrow`, `half`, `bincode`, and memcpy and plain files as the limit.
//!
//! Prints a line `job<TAB>peer<TAB>seconds` for each; `compare.py` makes a table of them all. Answers are checked before
//! anything is timed. Arguments are parts of the names of jobs; without any, all jobs run. Without `--bench`, or with
//! `--test`, every job runs once, small, and nothing is timed; with `--quick` it is small and timed: a smoke test.

#[cfg(feature = "csv")]
#[path = "ours/csv.rs"]
mod csv;
#[path = "ours/files.rs"]
mod files;
#[path = "ours/measure.rs"]
mod measure;
#[path = "ours/memory_copy.rs"]
mod memory_copy;
#[cfg(feature = "npy")]
#[path = "ours/npy.rs"]
mod npy;
#[path = "ours/plain.rs"]
mod plain;
#[path = "ours/rows.rs"]
mod rows;
#[path = "ours/slices.rs"]
mod slices;
#[path = "ours/whole.rs"]
mod whole;

fn main() -> Result<(), numeric_table::Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut bench = measure::Bench::from_arguments(arguments.iter().cloned());
    #[cfg(feature = "csv")]
    if let Some(at) = arguments.iter().position(|argument| argument == "--write-csv") {
        let path = arguments.get(at + 1).expect("a path follows");
        csv::write_file(&bench, path.as_ref()).expect("the path can be written");
        return Ok(());
    }
    rows::run(&mut bench)?;
    whole::run(&mut bench)?;
    slices::run(&mut bench)?;
    files::run(&mut bench)?;
    #[cfg(feature = "csv")]
    csv::run(&mut bench)?;
    #[cfg(feature = "npy")]
    npy::run(&mut bench)?;
    bench.finish();
    Ok(())
}
