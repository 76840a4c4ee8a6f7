//! Code that the examples share: loading the data sets of `data/`, and printing headings.

use std::error::Error;
use std::path::Path;

use numeric_table::{
    csv::{CsvOptions, CsvSource},
    prelude::*,
};

/// Reads the numeric columns of a file of `data/` into a table with named columns. The class, a column of words, is
/// excluded; `pipeline.rs` shows how to keep it.
pub(crate) fn load(file: &str) -> Result<HomogenNumericTable<f64>, Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = package.ancestors().map(|folder| folder.join("data")).find(|data| data.is_dir());
    let path = folder.ok_or("no folder `data`")?.join(file);
    let dictionary = CsvSource::open(&path)?.dictionary(ElementType::F64)?;
    let features = dictionary.iter().enumerate();
    let classes = features.filter(|(_, feature)| feature.feature_type == FeatureType::Categorical);
    let classes: Vec<usize> = classes.map(|(column, _)| column).collect();
    Ok(CsvSource::open_with(&path, CsvOptions::new().exclude_columns(classes))?.load()?)
}

/// Prints a heading.
pub(crate) fn heading(text: &str) {
    println!("\n{text}\n{}", "-".repeat(text.chars().count()));
}
