//! Tables of different element types in one pipeline that does not depend on the types.
//!
//! ```text
//! cargo run --release --example dynamic_tables
//! ```

mod common;

use common::{heading, load};
use numeric_table::{f16, files, prelude::*};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const ROWS_PER_BLOCK: usize = 128;

fn main() -> Result<()> {
    let mut tables: Vec<(&str, Box<dyn NumericTable>)> = vec![
        ("digits.csv", Box::new(load("digits.csv")?.convert::<u8>()?)),
        ("wine.csv", Box::new(load("wine.csv")?)),
        ("iris.csv", Box::new(load("iris.csv")?.convert::<f32>()?)),
        ("breast_cancer.csv", Box::new(load("breast_cancer.csv")?.convert::<f16>()?)),
    ];
    print_tables(&tables);
    print_pipeline(&mut tables)?;
    print_zero_copy(&tables)
}

fn print_tables(tables: &[(&str, Box<dyn NumericTable>)]) {
    heading("One vector of tables");
    println!("{:<20}{:<14}{:<6}{:<12}memory", "data", "shape", "type", "layout");
    for (name, table) in tables {
        let (shape, layout) = (table.shape().to_string(), table.data_layout());
        println!("{name:<20}{shape:<14}{:<6}{layout:<12}{}", type_of(&**table), table.data_memory_status());
    }
}

/// Returns the name of the type of all columns.
fn type_of(table: &dyn NumericTable) -> &'static str {
    table.uniform_type().map_or("mixed", ElementType::name)
}

/// Computes statistics of every table, clips and saves it. Nothing here depends on the stored types.
fn print_pipeline(tables: &mut [(&str, Box<dyn NumericTable>)]) -> Result<()> {
    heading("Values more than 3 deviations from the mean of their column are moved there, as near as the type has it");
    println!(
        "{:<20}{:<6}{:>10}{:>10}{:>14}{:>14}{:>10}  read back as",
        "data", "type", "values", "clipped", "worst before", "worst after", "archive"
    );
    for (name, table) in tables {
        let columns = measure(&**table)?;
        let before = worst(&**table, &columns)?;
        let clipped = clip(&mut **table, &columns, 3.0)?;
        let after = worst(&**table, &columns)?;
        let archive = table.to_bytes()?;
        let copy = files::from_bytes(&archive)?;
        println!(
            "{name:<20}{:<6}{:>10}{clipped:>10}{before:>14.3}{after:>14.3}{:>10}  {}, {}",
            type_of(&**table),
            table.shape().element_count()?,
            archive.len(),
            type_of(&*copy),
            if copy.to_bytes()? == archive { "the same archive again" } else { "another archive" },
        );
    }
    Ok(())
}

/// Mean and standard deviation of a column.
struct Column {
    mean: f64,
    deviation: f64,
}

impl Column {
    /// Returns the distance of a value from the mean, in deviations; 0 in a column of equal values.
    fn distance(&self, value: f64) -> f64 {
        if self.deviation > 0.0 { (value - self.mean).abs() / self.deviation } else { 0.0 }
    }
}

/// Computes mean and deviation of every column in two passes: means first, then distances from them.
fn measure(table: &dyn NumericTable) -> Result<Vec<Column>> {
    let means = column_means(table, |_, value| value)?;
    let variances = column_means(table, |column, value| (value - means[column]).powi(2))?;
    Ok(means.iter().zip(variances).map(|(&mean, variance)| Column { mean, deviation: variance.sqrt() }).collect())
}

/// Returns the mean of `f(column, value)` over each column.
fn column_means(table: &dyn NumericTable, f: impl Fn(usize, f64) -> f64) -> Result<Vec<f64>> {
    let mut means = vec![0.0; table.column_count()];
    for block in table.row_blocks::<f64>(ROWS_PER_BLOCK)? {
        for row in block?.iter_rows() {
            for (column, (mean, &value)) in means.iter_mut().zip(row).enumerate() {
                *mean += f(column, value) / table.row_count() as f64;
            }
        }
    }
    Ok(means)
}

/// Returns the largest distance of a value from the mean of its column, in deviations.
fn worst(table: &dyn NumericTable, columns: &[Column]) -> Result<f64> {
    let mut worst = 0.0_f64;
    for block in table.row_blocks::<f64>(ROWS_PER_BLOCK)? {
        for row in block?.iter_rows() {
            worst = row.iter().zip(columns).map(|(&value, column)| column.distance(value)).fold(worst, f64::max);
        }
    }
    Ok(worst)
}

/// Moves outliers to `limit` deviations from the mean, as near as the stored type allows, and returns their number.
/// Other values are not rewritten.
fn clip(table: &mut dyn NumericTable, columns: &[Column], limit: f64) -> Result<usize> {
    let mut clipped = 0;
    table.update_row_blocks::<f64>(ROWS_PER_BLOCK, |block| {
        for row in block.iter_rows_mut() {
            for (value, column) in row.iter_mut().zip(columns) {
                if column.distance(*value) > limit {
                    *value = column.mean + (limit * column.deviation).copysign(*value - column.mean);
                    clipped += 1;
                }
            }
        }
        Ok(())
    })?;
    Ok(clipped)
}

fn print_zero_copy(tables: &[(&str, Box<dyn NumericTable>)]) -> Result<()> {
    heading("Rows 0..100 as ...: the table's own memory, or a converted copy");
    println!("{:<20}{:<6}{:>11}{:>11}{:>11}{:>11}", "data", "type", "u8", "f16", "f32", "f64");
    for (name, table) in tables {
        let table = &**table;
        let kinds = [kind::<u8>(table)?, kind::<f16>(table)?, kind::<f32>(table)?, kind::<f64>(table)?];
        let kinds: String = kinds.iter().map(|kind| format!("{kind:>11}")).collect();
        println!("{name:<20}{:<6}{kinds}", type_of(table));
    }
    Ok(())
}

fn kind<U: Element>(table: &dyn NumericTable) -> Result<&'static str> {
    Ok(if table.rows::<U>(0..100)?.is_zero_copy() { "zero-copy" } else { "converted" })
}
