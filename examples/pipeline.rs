//! The whole life of a table: load, describe, measure, standardize, check, save, verify, map, compare.
//!
//! Values are stored as `f32` and computed with as `f64`, a block of rows at a time, on all cores.
//!
//! ```text
//! cargo run --release --example pipeline                   # data/iris.csv
//! cargo run --release --example pipeline data/wine.csv     # or any other CSV file; words become categories
//! ```

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use numeric_table::{CsvSource, RowBlock, RowBlockMut, prelude::*, verify};
#[cfg(feature = "rayon")]
use rayon::iter::ParallelIterator;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Rows that one task works on: few, so that even 150 rows make several blocks.
const ROWS_PER_BLOCK: usize = 32;

/// How far a standardized feature may be from mean 0 and deviation 1. Storing it as `f32` rounds at about 6e-8.
const TOLERANCE: f64 = 1e-6;

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).map_or_else(default_path, PathBuf::from);
    let mut clock = Clock::default();

    let (mut table, classes) = clock.time("load the CSV file", || load(&path))?;
    let before = clock.time("measure, in f64 blocks", || measure(&table))?;
    clock.time("standardize, in f64 blocks", || standardize(&mut table, &before))?;
    let after = clock.time("measure again", || measure(&table))?;
    check_standardized(&table, &after)?;

    let folder = tempfile::Builder::new().prefix("numeric-table-").tempdir()?; // removed when `main` returns
    let file = folder.path().join("standardized.ntb");
    clock.time("save to a table file", || table.save(&file))?;
    clock.time("verify its checksums", || verify(&file))?;
    let copy = clock.time("map it", || map(&file))?;
    let identical = clock.time("compare bit for bit", || is_identical(&table, &copy))?;

    println!("{:<11}{}", "source", path.file_name().unwrap_or_default().display());
    println!("{:<11}{}", "classes", if classes.is_empty() { "none".to_owned() } else { classes.join(", ") });
    println!("{:<11}{}", "table", summary(&table));
    println!("{:<11}{} bytes, {} of them values", "file", file.metadata()?.len(), copy.array()?.size_in_bytes());
    println!("{:<11}{}", "mapped", summary(&copy));
    print_features(&table, &before, &after);
    clock.print();
    println!("\nidentical: {}", if identical { "yes" } else { "no" });
    if identical { Ok(()) } else { Err("the mapped table is not the one that was saved".into()) }
}

fn default_path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/data/iris.csv"))
}

/// Reads a CSV file into a table. Columns of words become category indices; the words come back as well, column by column.
fn load(path: &Path) -> Result<(HomogenNumericTable<f32>, Vec<String>)> {
    let source = CsvSource::open(path)?;
    let table = source.load()?;
    let mut classes = Vec::new();
    for column in 0..table.column_count() {
        classes.extend_from_slice(source.categories(column)?.unwrap_or_default());
    }
    Ok((table, classes))
}

/// Measures every column, in parallel. Blocks are added up in their order, so that every run gives the same digits.
fn measure(table: &HomogenNumericTable<f32>) -> Result<Vec<Moments>> {
    #[cfg(feature = "rayon")]
    let blocks = table.par_row_blocks::<f64>(ROWS_PER_BLOCK)?;
    #[cfg(not(feature = "rayon"))]
    let blocks = table.row_blocks::<f64>(ROWS_PER_BLOCK)?;

    let parts = blocks.map(|block| Ok(measure_block(&block?))).collect::<Result<Vec<_>, Error>>()?;
    let mut columns = vec![Moments::default(); table.column_count()];
    for part in parts {
        columns.iter_mut().zip(part).for_each(|(column, part)| column.add(part));
    }
    Ok(columns)
}

fn measure_block(block: &RowBlock<f64>) -> Vec<Moments> {
    let mut columns = vec![Moments::default(); block.column_count()];
    for row in block.iter_rows() {
        columns.iter_mut().zip(row).for_each(|(column, &value)| column.add(Moments::of(value)));
    }
    columns
}

/// Gives every continuous column mean 0 and deviation 1, in parallel, in the memory of the table.
fn standardize(table: &mut HomogenNumericTable<f32>, moments: &[Moments]) -> Result<()> {
    let scales = table.dictionary().iter().zip(moments).map(|(feature, moments)| match feature.feature_type {
        FeatureType::Continuous => (moments.mean, moments.scale()),
        _ => (0.0, 1.0), // changes nothing, and so nothing is written
    });
    let scales: Vec<(f64, f64)> = scales.collect();

    #[cfg(feature = "rayon")]
    let blocks = table.par_row_blocks_mut::<f64>(ROWS_PER_BLOCK)?;
    #[cfg(not(feature = "rayon"))]
    let mut blocks = table.row_blocks_mut::<f64>(ROWS_PER_BLOCK)?;

    Ok(blocks.try_for_each(|block| standardize_block(block?, &scales))?)
}

fn standardize_block(mut block: RowBlockMut<f64>, scales: &[(f64, f64)]) -> Result<(), Error> {
    for row in block.iter_rows_mut() {
        row.iter_mut().zip(scales).for_each(|(value, (mean, scale))| *value = (*value - mean) / scale);
    }
    block.release() // back to f32, the whole block or nothing
}

/// Makes sure that every continuous column has mean 0, and deviation 1 unless all its values are equal.
fn check_standardized(table: &HomogenNumericTable<f32>, moments: &[Moments]) -> Result<()> {
    for (feature, moments) in table.dictionary().iter().zip(moments) {
        let (mean, deviation) = (moments.mean, moments.deviation());
        let is_standard = mean.abs() <= TOLERANCE && (deviation == 0.0 || (deviation - 1.0).abs() <= TOLERANCE);
        if feature.feature_type == FeatureType::Continuous && !is_standard {
            return Err(format!("{} has mean {mean} and deviation {deviation}", name_of(feature)).into());
        }
    }
    Ok(())
}

/// Takes the file for the memory of a table: nothing is read before somebody looks at it.
#[cfg(feature = "mmap")]
fn map(path: &Path) -> Result<HomogenNumericTable<f32>> {
    // SAFETY: the file lies in a folder of this program, which does not write to it again.
    Ok(unsafe { HomogenNumericTable::map(path) }?)
}

/// Loads the file, since it cannot be mapped.
#[cfg(not(feature = "mmap"))]
fn map(path: &Path) -> Result<HomogenNumericTable<f32>> {
    Ok(HomogenNumericTable::load(path)?)
}

/// Compares shape, layout, dictionary and the bits of every value: -0.0 is not 0.0 here, and a NaN equals itself.
fn is_identical(one: &HomogenNumericTable<f32>, other: &HomogenNumericTable<f32>) -> Result<bool> {
    let mut pairs = one.as_slice()?.iter().zip(other.as_slice()?);
    Ok(one.shape() == other.shape()
        && one.data_layout() == other.data_layout()
        && one.dictionary() == other.dictionary()
        && pairs.all(|(one, other)| one.to_bits() == other.to_bits()))
}

/// What is known of a column, or of a part of it: how many values, their mean, and the squares of what is left.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    /// Sum of (value - mean)^2.
    squares: f64,
}

impl Moments {
    fn of(value: f64) -> Self {
        Self { count: 1.0, mean: value, squares: 0.0 }
    }

    /// Adds another part, one value or a whole block, without ever subtracting large sums (Welford 1962; Chan, Golub
    /// and LeVeque 1979).
    fn add(&mut self, other: Self) {
        let count = self.count + other.count;
        let distance = other.mean - self.mean;
        self.mean += distance * (other.count / count);
        self.squares += other.squares + distance * distance * (self.count * other.count / count);
        self.count = count;
    }

    /// The standard deviation of all values, not the estimate from a sample.
    fn deviation(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }

    /// What to divide by: a column of equal values is only moved to 0.
    fn scale(&self) -> f64 {
        if self.deviation() > 0.0 { self.deviation() } else { 1.0 }
    }
}

/// How long each step took, in the order of the steps.
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

fn summary(table: &HomogenNumericTable<f32>) -> String {
    let (shape, layout, status) = (table.shape(), table.data_layout(), table.data_memory_status());
    format!("{shape} of {}, {layout}, {status}", table.element_type())
}

fn name_of(feature: &Feature) -> &str {
    feature.name.as_deref().unwrap_or("(no name)")
}

/// Prints the dictionary, and what was measured before and after standardizing.
fn print_features(table: &HomogenNumericTable<f32>, before: &[Moments], after: &[Moments]) {
    let width = table.dictionary().iter().map(|feature| name_of(feature).len()).max().unwrap_or(0).max(7);
    println!("\n{:<width$}  {:<4}  {:<17}{:>26}{:>26}", "", "", "", "before", "after");
    println!(
        "{:<width$}  {:<4}  {:<17}{:>13}{:>13}{:>13}{:>13}",
        "feature", "type", "kind", "mean", "deviation", "mean", "deviation"
    );
    for ((feature, before), after) in table.dictionary().iter().zip(before).zip(after) {
        let kind = match feature.category_count {
            Some(count) => format!("{} of {count}", feature.feature_type),
            None => feature.feature_type.to_string(),
        };
        let measured = match feature.feature_type {
            FeatureType::Continuous => [
                format!("{:.6}", before.mean),
                format!("{:.6}", before.deviation()),
                format!("{:.1e}", after.mean),
                format!("{:.6}", after.deviation()),
            ],
            _ => ["-"; 4].map(str::to_owned), // the mean of category indices says nothing
        };
        let measured: String = measured.iter().map(|cell| format!("{cell:>13}")).collect();
        println!("{:<width$}  {:<4}  {kind:<17}{measured}", name_of(feature), feature.element_type);
    }
}
