//! Results as tables: a row for each column or group, with its name, and a column for each statistic.

use std::collections::HashMap;

use numeric_table::dictionary::Categories;
use numeric_table::statistics::ColumnStatistics;
use numeric_table::table::Rejected;
use numeric_table::{DataDictionary, ElementType, Feature, NumericTable, Result, SoaNumericTable};
use pyo3::prelude::*;

use crate::results::columns::{COUNTS, Named};
use crate::table::reading::listed;

/// Returns the names of the columns of a result, `None` for a column without a name.
pub(crate) fn names(dictionary: Option<&DataDictionary>, columns: usize) -> PyResult<Vec<Option<String>>> {
    listed((0..columns).map(|column| name(dictionary, column).map(str::to_owned)), "columns")
}

fn name(dictionary: Option<&DataDictionary>, column: usize) -> Option<&str> {
    dictionary?.feature(column).ok()?.name.as_deref()
}

/// Returns the names of the columns of a result, and the index of a column without a name.
pub(crate) fn labels(dictionary: Option<&DataDictionary>, columns: usize) -> Vec<String> {
    (0..columns).map(|column| name(dictionary, column).map_or_else(|| column.to_string(), str::to_owned)).collect()
}

/// Creates a table with one column, of words. Words may be repeated.
pub(crate) fn of_words(name: &str, words: &[String]) -> Result<SoaNumericTable> {
    let (mut places, mut distinct) = (HashMap::new(), Vec::new());
    let code = |word| {
        *places.entry(word).or_insert_with(|| {
            distinct.push(word);
            distinct.len() as i32 - 1 // the columns of a table
        })
    };
    let codes: Vec<i32> = words.iter().map(String::as_str).map(code).collect();
    let feature = Feature::new(ElementType::I32).named(name).categorical(Categories::from_labels(&distinct)?);
    let mut table = SoaNumericTable::new();
    table.push_feature(feature, codes).map_err(Rejected::into_error)?;
    Ok(table)
}

/// Creates a table of counts and of other statistics, with a word in each row.
pub(crate) fn of(
    name: &str,
    words: &[String],
    statistics: &[ColumnStatistics],
    others: &[Named<f64>],
) -> Result<Box<dyn NumericTable>> {
    let mut table = of_words(name, words)?;
    for (name, count) in COUNTS {
        let counts: Vec<i64> = statistics.iter().map(|column| count(column) as i64).collect();
        table.push_column(name, counts).map_err(Rejected::into_error)?;
    }
    for (name, number) in others {
        let numbers: Vec<f64> = statistics.iter().map(number).collect();
        table.push_column(*name, numbers).map_err(Rejected::into_error)?;
    }
    Ok(Box::new(table))
}
