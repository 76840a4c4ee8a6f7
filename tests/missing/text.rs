//! CSV, NumPy and sparse files: gaps come back from what can hold them, and are refused by name by what cannot.

mod arrays;
mod csv_gaps;
mod csv_round_trips;

use numeric_table::SoaNumericTable;
use numeric_table::prelude::*;

/// The values of a column; `None` for missing ones. Panics if the column has another type.
fn optional<T: Element>(table: &dyn NumericTable, column: usize) -> Vec<Option<T>> {
    let (values, validity) = table.column_with_validity(column, ..).unwrap();
    let values = values.downcast_ref::<T>().unwrap_or_else(|| panic!("column {column} is {}", values.element_type()));
    let is_present = |row: usize| validity.as_ref().is_none_or(|validity| validity.is_present(row).unwrap());
    values.iter().enumerate().map(|(row, &value)| is_present(row).then_some(value)).collect()
}

/// A table of one column with gaps.
fn one<T: Element>(values: impl IntoIterator<Item = Option<T>>) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", values).unwrap();
    table
}
