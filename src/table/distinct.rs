//! The distinct values of a column: how often each occurs, and which of them a row has.

use super::few_values;
use super::order::{self, Order, Sorted};
use super::part::ColumnKey;
use super::take::take_rows;
use super::tiling::lent_or_read;
use super::{NumericTable, Region, Rejected, SoaNumericTable, TableConversion, TableDescription, TableSelection};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::room::{filled, with_room};

/// The rows of a value.
#[derive(Clone, Copy)]
pub(super) struct Value {
    /// The first of them.
    pub(super) row: usize,
    pub(super) count: usize,
    pub(super) is_missing: bool,
}

/// Returns the distinct values of a column, in ascending order, and after them the missing one; and the place of each
/// row's value among them, if asked for.
fn values_of(table: &(dyn NumericTable + '_), column: usize, codes: Option<&mut Vec<i32>>) -> Result<Vec<Value>> {
    const BY_LABEL: Order = Order { is_descending: false, is_by_label: true };
    let (keys, validity) = order::keys_of(table, column, BY_LABEL)?;
    let codes = match codes {
        None => &mut [][..],
        Some(codes) => {
            *codes = filled(keys.len(), 0)?;
            codes
        }
    };
    if let Some(values) = few_values::distinct(&keys, validity.as_ref(), codes)? {
        return Ok(values);
    }
    let sorted = Sorted::of(keys, validity)?;
    let mut values: Vec<Value> = Vec::new();
    sorted.try_for_each_class(|class| {
        let bytes = values.len().saturating_add(1).saturating_mul(size_of::<Value>());
        values.try_reserve(1).map_err(|_| Error::out_of_memory(bytes))?;
        values.push(Value { row: class.row(0), count: class.len(), is_missing: class.is_missing() });
        Ok(())
    })?;
    if !codes.is_empty() {
        i32::try_from(values.len()).map_err(|_| Error::limit("distinct values", values.len(), i32::MAX as usize))?;
        let mut code = 0;
        sorted.try_for_each_class(|class| {
            (0..class.len()).for_each(|place| codes[class.row(place)] = code);
            code += 1;
            Ok(())
        })?;
    }
    Ok(values)
}

/// Returns whether the value of a row is NaN. It must not be missing.
fn is_nan(table: &(dyn NumericTable + '_), row: usize, column: usize) -> Result<bool> {
    if !table.column_type(column)?.is_float() {
        return Ok(false);
    }
    let region = Region { rows: row..row + 1, columns: column..column + 1 };
    let mut value = [0.0_f64];
    let values: &[f64] = lent_or_read(table, &region, || Ok(&mut value))?;
    Ok(values[0].is_nan())
}

/// Removes the values that are missing or NaN, the last ones.
fn keep_numbers(table: &(dyn NumericTable + '_), column: usize, values: &mut Vec<Value>) -> Result<()> {
    values.pop_if(|last| last.is_missing);
    if let Some(last) = values.last()
        && is_nan(table, last.row, column)?
    {
        values.pop();
    }
    Ok(())
}

/// Returns the distinct values of a column and the number of rows with each, the most frequent first.
pub(super) fn value_counts(
    table: &(dyn NumericTable + '_),
    column: impl ColumnKey,
    includes_missing: bool,
) -> Result<SoaNumericTable> {
    let column = column.column_in(table.dictionary())?;
    let mut values = values_of(table, column, None)?;
    if !includes_missing {
        keep_numbers(table, column, &mut values)?;
    }
    values.sort_by_key(|value| std::cmp::Reverse(value.count)); // stable: equal counts keep the order of the values
    let (mut rows, mut counts) = (with_room(values.len())?, with_room(values.len())?);
    rows.extend(values.iter().map(|value| value.row));
    counts.extend(values.iter().map(|value| value.count as i64)); // rows in memory
    let own = table.select_columns(column..column + 1)?;
    let mut counted = take_rows(&own, &rows)?.to_columns()?;
    let name = if table.dictionary().feature(column)?.name.as_deref() == Some("count") { "counts" } else { "count" };
    counted.push_column(name, counts).map_err(Rejected::into_error)?;
    Ok(counted)
}

/// The values of a column as numbers from 0, in ascending order of the values.
#[derive(Debug)]
pub struct DistinctValues {
    /// The number of the value of each row; -1 if it is missing or NaN.
    pub codes: Vec<i32>,
    /// The first row of each value.
    pub first_rows: Vec<usize>,
}

/// Numbers the distinct values of a column.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] for more than 2^31 - 1 values; [`ErrorKind::ColumnOutOfRange`],
/// [`ErrorKind::UnknownName`], [`ErrorKind::OutOfMemory`]; those of reading the table.
pub fn distinct_values(table: &(dyn NumericTable + '_), column: impl ColumnKey) -> Result<DistinctValues> {
    let column = column.column_in(table.dictionary())?;
    let mut codes = Vec::new();
    let mut values = values_of(table, column, Some(&mut codes))?;
    let all = values.len();
    keep_numbers(table, column, &mut values)?;
    if values.len() < all {
        let kept = values.len() as i32; // `codes` are the places
        parallel::for_each_chunk_mut(&mut codes, &|_, chunk| {
            chunk.iter_mut().filter(|code| **code >= kept).for_each(|code| *code = -1);
        });
    }
    let mut first_rows = with_room(values.len())?;
    first_rows.extend(values.iter().map(|value| value.row));
    Ok(DistinctValues { codes, first_rows })
}
