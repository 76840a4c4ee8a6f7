//! `bench`: how fast this machine reads, converts and saves a file.

use std::time::Instant;

use numeric_table::files::TableReader;
use numeric_table::statistics::BasicStatistics;
use numeric_table::{ConversionPolicy, Partial};
use serde_json::{Value, json};

use crate::args::BenchArgs;
use crate::cells::Cell;
use crate::failure::{Failure, Outcome};
use crate::format::Format;
use crate::input::{Body, Input};
use crate::output::Output;
use crate::print::{self, Grid, short, size};

pub(crate) fn run(args: &BenchArgs, json: bool) -> Outcome {
    if args.repeat == 0 {
        return Err(Failure::usage("--repeat needs at least 1"));
    }
    let input = Input::open(&args.input)?;
    let dictionary = input.dictionary()?;
    let folder = tempfile::tempdir()?;
    let mut rows = 0;
    let read = time(args.repeat, || {
        rows = 0;
        for block in input.blocks()? {
            rows += block?.shape().rows;
        }
        Ok(())
    })?;
    let row_bytes: usize = dictionary.iter().map(|feature| feature.element_type.size_in_bytes()).sum();
    let bytes = (rows * row_bytes) as u64;
    let mut jobs = vec![("read", read, bytes)];
    let statistics = time(args.repeat, || {
        let mut sum = BasicStatistics::new(dictionary.len())?;
        for block in input.blocks()? {
            sum.merge(&sum.new_like()?.compute_over(&*block?)?)?;
        }
        Ok(())
    })?;
    jobs.push(("read and summarize", statistics, bytes));
    for (what, format, name) in [
        ("convert to a table file", Format::Ntb, "table.ntb"),
        ("convert to Parquet", Format::Parquet, "table.parquet"),
        ("convert to CSV", Format::Csv, "table.csv"),
    ] {
        let path = folder.path().join(name);
        let output = Output { policy: ConversionPolicy::Checked, ..Output::new(path, format) };
        let seconds = time(args.repeat, || output.write(input.blocks()?, &dictionary).map(drop))?;
        jobs.push((what, seconds, bytes));
    }
    let table = folder.path().join("table.ntb");
    if let Ok(reader) = TableReader::open(&table) {
        let bytes = std::fs::metadata(&table)?.len();
        jobs.push(("verify the table file", time(args.repeat, || Ok(reader.verify().map(drop)?))?, bytes));
    }
    if let Body::Loaded(_) = input.body {
        print::note("the input is in memory: reading it from the disk is not measured")?;
    }
    let rate = |bytes: u64, seconds: f64| size((bytes as f64 / seconds.max(1e-9)) as u64);
    if json {
        let jobs: Vec<Value> = jobs
            .iter()
            .map(|&(what, seconds, bytes)| json!({ "job": what, "seconds": seconds, "bytes": bytes }))
            .collect();
        return print::json(&json!({
            "rows": rows,
            "columns": dictionary.len(),
            "threads": rayon::current_num_threads(),
            "jobs": jobs,
        }));
    }
    let mut grid = Grid::new(["job", "milliseconds", "per second"]).left([0]);
    for (what, seconds, bytes) in jobs {
        let milliseconds = Cell::Number(short(seconds * 1e3));
        grid.push(vec![Cell::Text(what.to_owned()), milliseconds, Cell::Text(rate(bytes, seconds))]);
    }
    grid.print()
}

/// Returns the shortest time of some runs, in seconds.
fn time(runs: usize, mut work: impl FnMut() -> Outcome) -> Outcome<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
