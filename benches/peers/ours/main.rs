//! Times this crate at the jobs of `daal_bench.cpp` and `numpy_bench.py`, together with the Rust peers: the plain loop,
//! `ndarray`, `arrow`, `half`, `bincode`, and memcpy and plain files as the limit.
//!
//! Prints a line `job<TAB>peer<TAB>seconds` for each; `compare.py` combines them in a table. Results are checked before
//! timing. Arguments are parts of job names; without any, all jobs run. Without `--bench`, or with `--test`, every job
//! runs once at small size, untimed. With `--quick` it runs at small size, timed: a smoke test.

mod csv;
mod files;
mod kinds;
mod learning;
mod measure;
mod memory_copy;
mod messy_csv;
mod messy_rows;
mod missing;
mod npy;
mod order;
mod packed;
mod parquet;
mod plain;
mod rows;
mod slices;
mod sparse;
mod statistics;
mod surgery;
mod whole;

fn main() -> Result<(), numeric_table::Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut bench = measure::Bench::from_arguments(arguments.iter().cloned());
    if let Some(at) = arguments.iter().position(|argument| argument == "--write-csv") {
        let path = arguments.get(at + 1).expect("a path follows");
        csv::write_file(&bench, path.as_ref()).expect("the path can be written");
        return Ok(());
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--write-messy-csv") {
        let path = arguments.get(at + 1).expect("a path follows");
        messy_csv::write_file(&bench, path.as_ref()).expect("the path can be written");
        return Ok(());
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--write-parquet") {
        return parquet::write_file(&bench, arguments.get(at + 1).expect("a path follows").as_ref());
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--load-parquet") {
        return parquet::load_once(arguments.get(at + 1).expect("a path follows").as_ref());
    }
    rows::run(&mut bench)?;
    whole::run(&mut bench)?;
    kinds::run(&mut bench)?;
    sparse::run(&mut bench)?;
    packed::run(&mut bench)?;
    surgery::run(&mut bench)?;
    order::run(&mut bench)?;
    slices::run(&mut bench)?;
    files::run(&mut bench)?;
    csv::run(&mut bench)?;
    messy_csv::run(&mut bench)?;
    npy::run(&mut bench)?;
    parquet::run(&mut bench)?;
    statistics::run(&mut bench)?;
    missing::run(&mut bench)?;
    learning::run(&mut bench)?;
    bench.finish();
    Ok(())
}
