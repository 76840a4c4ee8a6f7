//! The columns of a file that is created: their types, names and meaning, and what becomes of values that do not fit.

use numeric_table::{ConversionPolicy, DataDictionary, ElementType, Feature};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::base::error::{OrRaise, with_advice};
use crate::base::numbers;
use crate::files::csv::Csv;
use crate::files::reader::Reader;
use crate::table::Table;

/// Returns the policy for values that the type of a file cannot represent. If the caller has stated no type for it,
/// they keep their precision or are refused.
pub(crate) fn policy_of_file(is_stated: bool) -> ConversionPolicy {
    if is_stated { ConversionPolicy::Checked } else { ConversionPolicy::Exact }
}

/// Adds advice to the error of a refused value, for a caller who has stated no type for the file.
pub(crate) fn advise(error: PyErr) -> PyErr {
    with_advice(error, &"pass dtype= where the file is created")
}

/// Returns the type and the description of the columns of a new file.
pub(crate) fn described(
    columns: &Bound<'_, PyAny>,
    element: Option<ElementType>,
) -> PyResult<(ElementType, DataDictionary)> {
    let py = columns.py();
    let (found, dictionary) = if let Ok(table) = columns.cast::<Table>() {
        let found = table.get().common_type(py)?;
        (found, table.get().read(py).dictionary().clone())
    } else if let Ok(reader) = columns.cast::<Reader>() {
        (reader.get().element(), reader.get().dictionary().clone())
    } else if let Ok(source) = columns.cast::<Csv>() {
        (source.get().element(), source.get().dictionary(py)?)
    } else {
        let element = element.unwrap_or(ElementType::F64);
        return Ok((element, named(columns, element)?));
    };
    let element = element.unwrap_or(found);
    Ok((element, dictionary.with_element_type(element).or_raise()?))
}

/// Describes columns that are given by their number or their names.
fn named(columns: &Bound<'_, PyAny>, element: ElementType) -> PyResult<DataDictionary> {
    let feature = Feature::new(element);
    let is_number = columns.hasattr("__index__")? && !columns.hasattr("__len__")?;
    if is_number && !columns.is_instance_of::<PyBool>() {
        return Ok(DataDictionary::uniform(feature, numbers::count(columns)?));
    }
    if columns.is_instance_of::<PyString>() || columns.len().is_err() {
        return Err(PyTypeError::new_err("columns must be a number, names, a table, a reader or a source"));
    }
    let name = |name: PyResult<Bound<'_, PyAny>>| {
        let feature = feature.clone();
        Ok(match name?.extract::<Option<String>>()? {
            Some(name) => feature.named(name),
            None => feature,
        })
    };
    let features = columns.try_iter()?.map(name).collect::<PyResult<Vec<_>>>()?;
    Ok(DataDictionary::from_features(features))
}
