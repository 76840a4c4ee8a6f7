//! Columns beside those of a table, without a copy, and owning copies of any table.
//!
//! `part` selects columns of one table; `merged` joins tables side by side.

use super::borrow::by_ref;
use super::part::TablePart;
use super::{
    HomogenNumericTable, MemoryStatus, MergedNumericTable, NumericTable, Region, Rejected, SoaNumericTable, missing,
};
use crate::array::{AnyArray, Validity};
use crate::base::element::match_element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::room::with_room;
use crate::convert::ConversionPolicy;
use crate::dictionary::{DataDictionary, Feature};

/// Appends a column to the table, or replaces the one of this name.
pub(super) fn with_column<'t>(
    table: &'t (dyn NumericTable + 't),
    name: impl Into<String>,
    array: impl Into<AnyArray>,
) -> Result<MergedNumericTable<'t>, Rejected<AnyArray>> {
    let array = array.into();
    with_feature(table, Feature::new(array.element_type()).named(name), array)
}

/// Like `with_column`, with a description of the column.
pub(super) fn with_feature<'t>(
    table: &'t (dyn NumericTable + 't),
    feature: Feature,
    array: impl Into<AnyArray>,
) -> Result<MergedNumericTable<'t>, Rejected<AnyArray>> {
    with_nullable(table, feature, array, None)
}

/// Like `with_feature`, with a validity bitmap.
pub(super) fn with_nullable<'t>(
    table: &'t (dyn NumericTable + 't),
    feature: Feature,
    array: impl Into<AnyArray>,
    validity: Option<Validity>,
) -> Result<MergedNumericTable<'t>, Rejected<AnyArray>> {
    let array = array.into();
    beside(table, feature, array.clone(), validity).map_err(|error| Rejected::new(array, error))
}

fn beside<'t>(
    table: &'t (dyn NumericTable + 't),
    feature: Feature,
    array: AnyArray,
    validity: Option<Validity>,
) -> Result<MergedNumericTable<'t>> {
    let shape = table.shape();
    let lengths = [Some(array.len()), validity.as_ref().map(Validity::len)];
    if let Some(actual) = lengths.into_iter().flatten().find(|&found| found != shape.rows) {
        return Err(Error::new(ErrorKind::LengthMismatch { expected: shape.rows, actual }));
    }
    let replaced = feature.name.as_deref().and_then(|name| table.dictionary().index_of(name));
    let new = table_of(NewColumn { feature, array, validity })?;
    match replaced {
        Some(column) => with_replaced(table, [(column, new)]),
        None => MergedNumericTable::new([by_ref(table), new]),
    }
}

/// Tables side by side.
pub(super) fn hstack<'s>(
    table: &'s (dyn NumericTable + 's),
    others: &[&'s (dyn NumericTable + 's)],
) -> Result<MergedNumericTable<'s>> {
    MergedNumericTable::new(std::iter::once(by_ref(table)).chain(others.iter().copied().map(by_ref)))
}

/// Copies a table of any kind into one that owns its values. One with nullable columns becomes a structure of arrays.
pub(super) fn to_table(table: &(dyn NumericTable + '_)) -> Result<Box<dyn NumericTable>> {
    if let Some(element) = table.uniform_type().filter(|_| !table.dictionary().has_nullable()) {
        return match_element!(element, T => {
            Ok(HomogenNumericTable::<T>::of_table(table, ConversionPolicy::Saturate)?.into_dyn())
        });
    }
    Ok(Box::new(to_columns(table)?))
}

/// Copies the columns into a structure of arrays.
pub(super) fn to_columns(table: &(dyn NumericTable + '_)) -> Result<SoaNumericTable> {
    let (shape, dictionary) = (table.shape(), table.dictionary().clone());
    dictionary.check_count(shape.columns, || table.uniform_type())?;
    let mut columns = with_room(shape.columns)?;
    for (column, feature) in dictionary.iter().enumerate() {
        columns.push(missing::column_of(table, column, &(0..shape.rows), feature.element_type)?);
    }
    SoaNumericTable::of_nullable_arrays(dictionary, shape.rows, columns, MemoryStatus::InternallyAllocated)
}

/// A column that stands beside those of a table, or in place of one.
pub(super) struct NewColumn {
    pub(super) feature: Feature,
    pub(super) array: AnyArray,
    /// Which values are present; `None` if all are.
    pub(super) validity: Option<Validity>,
}

/// Returns a table of one column.
fn table_of<'t>(column: NewColumn) -> Result<Box<dyn NumericTable + 't>> {
    let NewColumn { feature, array, validity } = column;
    let (rows, feature) = (array.len(), Feature { element_type: array.element_type(), ..feature });
    let (dictionary, owner) = (DataDictionary::uniform(feature, 1), MemoryStatus::UserAllocated);
    Ok(Box::new(SoaNumericTable::of_nullable_arrays(dictionary, rows, vec![(array, validity)], owner)?))
}

/// Returns a table in which some columns, in ascending order, are replaced by tables of one column.
fn with_replaced<'t>(
    table: &'t (dyn NumericTable + 't),
    columns: impl IntoIterator<Item = (usize, Box<dyn NumericTable + 't>)>,
) -> Result<MergedNumericTable<'t>> {
    let shape = table.shape();
    let part = |columns| {
        let part = TablePart::new(table, Region { rows: 0..shape.rows, columns })?;
        Ok::<_, Error>(Box::new(part) as Box<dyn NumericTable + 't>)
    };
    let (mut parts, mut next) = (Vec::new(), 0);
    for (column, new) in columns {
        if next < column {
            parts.push(part(next..column)?);
        }
        parts.push(new);
        next = column + 1;
    }
    if next < shape.columns {
        parts.push(part(next..shape.columns)?);
    }
    MergedNumericTable::new(parts)
}

/// Returns a table in which new columns replace some, in ascending order; the table itself if there are none.
pub(super) fn with_columns_replaced<'t>(
    table: &'t (dyn NumericTable + 't),
    columns: Vec<(usize, NewColumn)>,
) -> Result<Box<dyn NumericTable + 't>> {
    if columns.is_empty() {
        return Ok(by_ref(table));
    }
    let new = columns.into_iter().map(|(column, new)| Ok((column, table_of(new)?)));
    Ok(Box::new(with_replaced(table, new.collect::<Result<Vec<_>>>()?)?))
}
