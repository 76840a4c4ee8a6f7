//! Columns of the same table in both layouts: which blocks are the table's own memory, and how changes are written
//! back.
//!
//! ```text
//! cargo run --release --example columns
//! ```

mod common;

use common::{heading, load};
use numeric_table::prelude::*;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
type Digits = HomogenNumericTable<u8>;

/// Columns 0..64 are the pixels of an image of 8 x 8, from 0 to 16. The last column is the digit in the image.
const PIXELS_PER_LINE: usize = 8;
const DIGIT: usize = 64;

fn main() -> Result<()> {
    let by_rows: Digits = load("digits.csv")?.convert_with(ConversionPolicy::Exact)?; // fails if a value would change
    let by_columns = by_rows.to_layout(DataLayout::ColumnMajor)?;
    println!("digits.csv: {} of {}", by_rows.shape(), by_rows.element_type());
    println!("row-major table equal to its column-major copy: {}", yes_no(by_rows == by_columns));

    print_who_copies(&by_rows, &by_columns)?;
    print_statistics(&by_rows, &by_columns)?;
    print_mean_image(&by_columns, 0)?;
    print_ink_of_lines(&by_rows)?;
    print_write_back(by_rows, by_columns)
}

/// Columns are contiguous in a column-major table, and rows in a row-major one; a block of another type is a converted
/// copy.
fn print_who_copies(by_rows: &Digits, by_columns: &Digits) -> Result<()> {
    heading("Is the block the table's own memory?");
    println!("{:<24}{:>16}{:>16}", "block", by_rows.data_layout(), by_columns.data_layout());
    for ((name, by_rows), (_, by_columns)) in zero_copy_blocks(by_rows)?.into_iter().zip(zero_copy_blocks(by_columns)?)
    {
        println!("{name:<24}{:>16}{:>16}", yes_no(by_rows), yes_no(by_columns));
    }
    Ok(())
}

fn zero_copy_blocks(table: &Digits) -> Result<[(&'static str, bool); 4]> {
    let all = 0..table.row_count();
    Ok([
        ("column 28 as u8", table.column::<u8>(28, all.clone())?.is_zero_copy()),
        ("column 28 as f32", table.column::<f32>(28, all)?.is_zero_copy()),
        ("rows 0..100 as u8", table.rows::<u8>(0..100)?.is_zero_copy()),
        ("rows 0..100 as f32", table.rows::<f32>(0..100)?.is_zero_copy()),
    ])
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

#[derive(PartialEq)]
struct Statistics {
    smallest: u8,
    largest: u8,
    mean: f64,
}

/// Computes statistics of one column. The caller chooses the type of a block: `u8` for the extremes, `f64` for the
/// mean.
fn measure(table: &Digits, column: usize) -> Result<Statistics> {
    let all = 0..table.row_count();
    let values = table.column::<u8>(column, all.clone())?;
    let ends = values.iter().min().zip(values.iter().max());
    let (&smallest, &largest) = ends.ok_or("the table has no rows")?;
    let mean = table.column::<f64>(column, all)?.iter().sum::<f64>() / table.row_count() as f64;
    Ok(Statistics { smallest, largest, mean })
}

fn print_statistics(by_rows: &Digits, by_columns: &Digits) -> Result<()> {
    heading("The fourth line of pixels, column by column");
    println!("{:<12}{:>6}{:>6}{:>10}{:>22}", "column", "min", "max", "mean", "same in both layouts");
    for column in 3 * PIXELS_PER_LINE..4 * PIXELS_PER_LINE {
        let found = measure(by_rows, column)?;
        let Statistics { smallest, largest, mean } = found;
        let name = by_rows.dictionary().feature(column)?.name.as_deref().unwrap_or_default();
        let same = yes_no(found == measure(by_columns, column)?);
        println!("{name:<12}{smallest:>6}{largest:>6}{mean:>10.4}{same:>22}");
    }
    Ok(())
}

/// Reads the columns of a column-major table, all of them zero-copy.
fn print_mean_image(table: &Digits, digit: u8) -> Result<()> {
    heading(&format!("The mean of all images of a {digit}"));
    let all = 0..table.row_count();
    let digits = table.column::<u8>(DIGIT, all.clone())?;
    let count = digits.iter().filter(|&&shown| shown == digit).count();
    for column in 0..DIGIT {
        let pixels = table.column::<u8>(column, all.clone())?;
        let chosen = pixels.iter().zip(&digits[..]).filter(|&(_, &shown)| shown == digit);
        let sum: u32 = chosen.map(|(&pixel, _)| u32::from(pixel)).sum();
        let end = if (column + 1).is_multiple_of(PIXELS_PER_LINE) { "\n" } else { "" };
        print!("{:>6.1}{end}", f64::from(sum) / count as f64);
    }
    println!("{count} images");
    Ok(())
}

/// Reads all columns at once, in another type: transposed and converted in one pass.
fn print_ink_of_lines(by_rows: &Digits) -> Result<()> {
    heading("Mean of each line of pixels, from all columns as f64");
    let columns = by_rows.convert_to::<f64>(DataLayout::ColumnMajor, ConversionPolicy::Saturate)?;
    let pixels = columns.as_slice()?[..DIGIT * columns.row_count()].chunks(PIXELS_PER_LINE * columns.row_count());
    for (line, values) in pixels.enumerate() {
        println!("line {line}: {:.3}", values.iter().sum::<f64>() / values.len() as f64);
    }
    Ok(())
}

fn print_write_back(mut by_rows: Digits, mut by_columns: Digits) -> Result<()> {
    heading("Writing column 28 as f32, and back to u8");
    println!("{:<38}{:>8}{:>26}", "", "mean", "same in both layouts");
    let mut line = |what: &str, change: &dyn Fn(f32) -> f32| -> Result<()> {
        write_column(&mut by_rows, 28, change)?;
        write_column(&mut by_columns, 28, change)?;
        println!("{what:<38}{:>8.3}{:>26}", measure(&by_rows, 28)?.mean, yes_no(by_rows == by_columns));
        Ok(())
    };
    line("as it was", &|pixel| pixel)?;
    line("inverted: 16 - pixel", &|pixel| 16.0 - pixel)?;
    line("halved: truncated toward zero", &|pixel| pixel / 2.0)?;
    if let Err(error) = line("lowered: pixel - 4", &|pixel| pixel - 4.0) {
        println!("{:<41}{error}", "lowered: pixel - 4");
    }
    line("after that", &|pixel| pixel)
}

/// Changes one column through a block of `f32`; if a value does not fit, the column is unchanged.
fn write_column(table: &mut Digits, column: usize, change: &dyn Fn(f32) -> f32) -> Result<()> {
    table.update_column::<f32, _>(column, .., |block| {
        block.iter_mut().for_each(|value| *value = change(*value));
        Ok(())
    })?;
    Ok(())
}
