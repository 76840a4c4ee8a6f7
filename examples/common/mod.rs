//! What the examples share: the data sets of `data/` as tables, and a heading.

use std::error::Error;
use std::path::Path;

use numeric_table::{CsvOptions, CsvSource, prelude::*};

/// Reads the numbers of a file of `data/` into a table with named columns. A column of words, the class, is left out;
/// `pipeline.rs` shows how to keep it.
pub(crate) fn load(file: &str) -> Result<HomogenNumericTable<f64>, Box<dyn Error>> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).join(file);
    let dictionary = CsvSource::open(&path)?.dictionary(ElementType::F64)?;
    let features = dictionary.iter().enumerate();
    let classes = features.filter(|(_, feature)| feature.feature_type == FeatureType::Categorical);
    let classes: Vec<usize> = classes.map(|(column, _)| column).collect();
    Ok(CsvSource::open_with(&path, CsvOptions::new().without(classes))?.load()?)
}

/// Prints what the next lines are about.
pub(crate) fn heading(text: &str) {
    println!("\n{text}\n{}", "-".repeat(text.chars().count()));
}
