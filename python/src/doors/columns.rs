//! Columns that Python code has prepared: those of frames, masked arrays, dictionaries, arrays of objects, strings or
//! dates. The module `_columns` has that code.

use numeric_table::{
    Error, ErrorKind, Feature, FeatureType, HomogenNumericTable, MissingValues, NumericTable, Shape, SoaNumericTable,
    TableDescription, array::Validity, dictionary::Categories, table::Rejected,
};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::base::error::{OrRaise, TableError, TableTypeError};
use crate::base::lists;
use crate::doors;
use crate::table::Table;
use crate::table::labels::UNITS;

/// A name, the values, a mask of the missing ones, category labels, whether these are ordered, and NumPy's name of a
/// unit of time. The values are an array, or a table of one column, which has all of this but the name.
type Column<'py> =
    (Option<String>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<Vec<String>>, bool, Option<String>);

/// Returns a table of an object that the module `_columns` takes apart; `None` if it declines.
pub(crate) fn of_parts(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Option<Box<dyn NumericTable>>> {
    let py = data.py();
    let found = py.import("numeric_table._columns")?.call_method1("columns_of", (data, copy))?;
    let Some((columns, rows)) = found.extract::<Option<(Bound<'_, PyList>, usize)>>()? else { return Ok(None) };
    of_columns(py, &columns, rows, copy).map(Some)
}

/// Returns a table of columns that Python code has prepared. `copy` is that of [`doors::table`], for each column.
pub(crate) fn of_columns(
    py: Python<'_>,
    columns: &Bound<'_, PyList>,
    rows: usize,
    copy: Option<bool>,
) -> PyResult<Box<dyn NumericTable>> {
    let mut table = SoaNumericTable::new();
    for column in columns {
        let (name, values, mask, words, is_ordered, unit): Column<'_> = column.extract()?;
        if let Ok(one) = values.cast::<Table>() {
            let one = one.get().snapshot(py)?;
            let (values, validity) = one.column_with_validity(0, ..).or_raise()?;
            let feature = Feature { name, ..one.dictionary().feature(0).or_raise()?.clone() };
            table.push_nullable(feature, values, validity).map_err(Rejected::into_error).or_raise()?;
            continue;
        }
        let values = doors::vector(&values, copy)?;
        let mut feature = Feature { name, ..Feature::new(values.element_type()) };
        if let Some(words) = words {
            feature = feature.categorical(Categories::from_labels(words).or_raise()?);
            feature = if is_ordered { feature.ordinal() } else { feature };
        }
        if let Some(unit) = unit {
            let found = UNITS.iter().find(|(_, name)| *name == unit).map(|&(unit, _)| FeatureType::Time(unit));
            let wrong = || TableTypeError::new_err(format!("tables do not support times in the unit {unit:?}"));
            feature.feature_type = found.ok_or_else(wrong)?;
        }
        let validity = mask.map(|mask| validity_of(&mask)).transpose()?;
        table.push_nullable(feature, values, validity).map_err(Rejected::into_error).or_raise()?;
    }
    if columns.is_empty() {
        let empty = HomogenNumericTable::<f64>::zeros(Shape { rows, columns: 0 });
        return Ok(Box::new(empty.or_raise()?));
    }
    let found = table.row_count();
    if found != rows {
        return Err(Error::new(ErrorKind::LengthMismatch { expected: rows, actual: found })).or_raise();
    }
    Ok(Box::new(table))
}

/// Returns the bitmap of a mask, a vector of booleans that are true where a value is missing.
fn validity_of(mask: &Bound<'_, PyAny>) -> PyResult<Validity> {
    let dimensions: usize = mask.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Err(TableError::new_err(format!("a mask of one dimension is required, but this has {dimensions}")));
    }
    let is_missing = lists::truths(mask)?;
    Validity::from_fn(is_missing.len(), |row| is_missing.get(row) == Some(&false)).or_raise()
}
