//! The life cycle of a table: load, describe, standardize, check, save, verify, map, compare.
//!
//! Values are stored as `f32` and processed as `f64`, a block of rows at a time, on all cores.
//!
//! ```text
//! cargo run --release --example pipeline                   # data/iris.csv
//! cargo run --release --example pipeline data/wine.csv     # or any other CSV file; words become categories
//! ```

#[path = "common/standardize.rs"]
mod standardize;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use numeric_table::{csv::CsvSource, files::verify, prelude::*, statistics::BasicStatistics};
use standardize::standardize;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// The tolerance for mean 0 and deviation 1 of a standardized feature. Storing it as `f32` rounds at about 6e-8.
const TOLERANCE: f64 = 1e-6;

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).map_or_else(default_path, PathBuf::from);
    let mut clock = Clock::default();

    let source = clock.time("open the CSV file", || CsvSource::open(&path))?;
    let mut table: HomogenNumericTable<f32> = clock.time("load it", || source.load())?;
    let before = clock.time("measure every column", || BasicStatistics::compute(&table))?;
    println!("{}\n\n{table}", path.file_name().unwrap_or_default().display());
    print_categories(&source, &table)?;
    println!("\nbefore\n\n{before}");

    clock.time("standardize, in f64 blocks", || standardize(&mut table, &before))?;
    let after = clock.time("measure again", || BasicStatistics::compute(&table))?;
    println!("\nafter\n\n{after}");
    check_standardized(&table, &after)?;

    let folder = tempfile::Builder::new().prefix("numeric-table-").tempdir()?; // removed when `main` returns
    let file = folder.path().join("standardized.ntb");
    clock.time("save to a table file", || table.save(&file))?;
    clock.time("verify its checksums", || verify(&file))?;
    let copy = clock.time("map it", || map(&file))?;
    let identical = clock.time("compare bit for bit", || is_identical(&table, &copy))?;
    println!("\nsaved: {} bytes, {} of them values", file.metadata()?.len(), copy.array()?.size_in_bytes());

    clock.print();
    println!("\nidentical: {}", if identical { "yes" } else { "no" });
    if identical { Ok(()) } else { Err("the mapped table is not the one that was saved".into()) }
}

fn default_path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/iris.csv"))
}

/// Prints the names of the categories.
fn print_categories(source: &CsvSource, table: &HomogenNumericTable<f32>) -> Result<()> {
    for (column, feature) in table.dictionary().iter().enumerate() {
        if let Some(categories) = source.categories(column)? {
            let indexed = categories.iter().enumerate().map(|(index, name)| format!("{index} {name}"));
            println!("\n{}: {}", name_of(feature), indexed.collect::<Vec<_>>().join(", "));
        }
    }
    Ok(())
}

/// Checks that every continuous column with values has mean 0, and deviation 1 unless all its values are equal.
fn check_standardized(table: &HomogenNumericTable<f32>, statistics: &BasicStatistics) -> Result<()> {
    for (feature, column) in table.dictionary().iter().zip(statistics.per_column()) {
        let (mean, deviation) = (column.mean(), column.population_standard_deviation());
        let is_standard = mean.abs() <= TOLERANCE && (deviation == 0.0 || (deviation - 1.0).abs() <= TOLERANCE);
        if feature.feature_type == FeatureType::Continuous && table.row_count() > 0 && !is_standard {
            return Err(format!("{} has mean {mean} and deviation {deviation}", name_of(feature)).into());
        }
    }
    Ok(())
}

/// Maps the file as the memory of a table: values are read when they are accessed.
fn map(path: &Path) -> Result<HomogenNumericTable<f32>> {
    // SAFETY: the file is in a folder of this program, which does not write to it again.
    Ok(unsafe { HomogenNumericTable::map(path) }?)
}

/// Compares shape, layout, dictionary and the bits of every value: -0.0 differs from 0.0, and a NaN equals itself.
fn is_identical(one: &HomogenNumericTable<f32>, other: &HomogenNumericTable<f32>) -> Result<bool> {
    let mut pairs = one.as_slice()?.iter().zip(other.as_slice()?);
    Ok(one.shape() == other.shape()
        && one.data_layout() == other.data_layout()
        && one.dictionary() == other.dictionary()
        && pairs.all(|(one, other)| one.to_bits() == other.to_bits()))
}

fn name_of(feature: &Feature) -> &str {
    feature.name.as_deref().unwrap_or("(no name)")
}

/// The time of each step, in order.
#[derive(Default)]
struct Clock(Vec<(&'static str, Duration)>);

impl Clock {
    fn time<R>(&mut self, step: &'static str, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.0.push((step, start.elapsed()));
        result
    }

    fn print(&self) {
        println!("\n{:<28}{:>12}", "step", "time, ms");
        for (step, time) in &self.0 {
            println!("{step:<28}{:>12.3}", time.as_secs_f64() * 1e3);
        }
    }
}
