//! CSV files: columns of numbers and words, missing values, errors with positions, files larger than memory, and
//! writing.
//!
//! ```text
//! cargo run --release --example csv_files
//! ```

use std::path::Path;

use numeric_table::{
    csv::{CsvColumnKind, CsvMissing, CsvOptions, CsvSource, CsvWriteOptions},
    prelude::*,
};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const CITIES: &str = "\
city,founded,area km2,climate
Oslo,1040,454,cold
\"Vitoria, Gasteiz\",1181,276.8,mild
Quito,1534,NA,mild
Perth,1829,6417.9,warm
";

fn main() -> Result<()> {
    println!("\nnumbers stay numbers, words become category indices");
    show(CsvOptions::new().missing(CsvMissing::Nan))?;

    println!("\nsome columns, one of them one-hot, without rows that have gaps");
    let chosen =
        CsvOptions::new().exclude_columns("city").kind("climate", CsvColumnKind::OneHot).missing(CsvMissing::SkipRow);
    show(chosen)?;

    println!("\na column that a function reads");
    let century = CsvColumnKind::custom(|text| match text.parse::<f64>() {
        Ok(year) => Ok((year / 100.0).ceil()),
        Err(_) => Err("is no year".to_owned()),
    });
    show(CsvOptions::new().columns(["founded"]).kind("founded", century))?;

    println!("\nwhat does not fit is an error that says where");
    for (name, options) in [
        ("a gap", CsvOptions::new()),
        ("words where numbers should be", CsvOptions::new().kind(.., CsvColumnKind::Continuous)),
        ("an unknown category", CsvOptions::new().exclude_columns("area km2").categories("climate", ["cold", "warm"])),
        ("no such column", CsvOptions::new().columns(["population"])),
    ] {
        match CsvSource::from_bytes_with(CITIES.as_bytes(), options).and_then(|source| source.load::<f32>()) {
            Ok(table) => println!("{name}: {}", table.shape()),
            Err(error) => println!("{name}: {error}"),
        }
    }
    let years = CsvOptions::new().columns(["founded"]);
    let error = CsvSource::from_bytes_with(CITIES.as_bytes(), years)?.load::<u8>().err();
    println!("years in 8 bits: {}", error.map_or("fine".to_owned(), |error| error.to_string()));

    println!("\na file larger than memory, in one buffer");
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits.csv"));
    let source = CsvSource::open_with(path, CsvOptions::new().kind(.., CsvColumnKind::Continuous))?; // read once
    let (mut blocks, mut count, mut sum) = (source.row_blocks::<u8>(500)?, 0, 0_u64);
    while let Some(block) = blocks.next_block()? {
        count += 1;
        sum += block.iter().map(|&value| u64::from(value)).sum::<u64>();
    }
    println!("digits.csv: {count} blocks of at most 500 rows, sum of all values {sum}");

    println!("\nwriting: the shortest digits that are read back as the same values");
    let table = CsvSource::from_bytes(CITIES.as_bytes())?.load_typed()?;
    table.write_csv_to(std::io::stdout(), CsvWriteOptions::new().delimiter(b';').missing("NA"))?;
    Ok(())
}

/// Prints the table read from the text, and the names of its categories.
fn show(options: CsvOptions) -> Result<()> {
    let source = CsvSource::from_bytes_with(CITIES.as_bytes(), options)?;
    let table = source.load::<f32>()?;
    for (column, feature) in table.dictionary().iter().enumerate() {
        let name = feature.name.as_deref().unwrap_or_default();
        let values = table.column::<f32>(column, 0..table.row_count())?;
        let categories = match source.categories(column)? {
            Some(names) => format!(" of {names:?}"),
            None => String::new(),
        };
        println!("{name:<15}{:<12} {:?}{categories}", feature.feature_type.to_string(), &values[..]);
    }
    Ok(())
}
