//! What the examples share: the data sets of `data/` as tables, and a heading.

use std::error::Error;
use std::path::Path;

use numeric_table::prelude::*;

/// Reads the numbers of a file of `data/` into a table with named columns. A last column of words, the class, is left
/// out; `pipeline.rs` shows how to keep it.
pub(crate) fn load(file: &str) -> Result<HomogenNumericTable<f64>, Box<dyn Error>> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data"));
    let mut reader = csv::Reader::from_path(folder.join(file))?;
    let names = reader.headers()?.clone();
    let records = reader.records().collect::<Result<Vec<_>, _>>()?;
    let is_number = |field: &&str| field.parse::<f64>().is_ok();
    let columns = match records.first().and_then(|record| record.iter().next_back()).filter(is_number) {
        Some(_) => names.len(),
        None => names.len().saturating_sub(1),
    };
    let fields = records.iter().flat_map(|record| record.iter().take(columns));
    let values = fields.map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    let mut table = HomogenNumericTable::from_array(values, Shape { rows: records.len(), columns })?;
    let features = names.iter().take(columns).map(|name| Feature::new(ElementType::F64).named(name));
    table.set_dictionary(features.collect())?;
    Ok(table)
}

/// Prints what the next lines are about.
pub(crate) fn heading(text: &str) {
    println!("\n{text}\n{}", "-".repeat(text.chars().count()));
}
