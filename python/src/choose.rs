//! What `table[key]` returns: rows, columns, values, tables of some of them.

use numeric_table::table::Region;
use numeric_table::{ConversionPolicy, NumericTable};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString, PyTuple};

use crate::element::with_type;
use crate::error::{OrRaise, TableIndexError};
use crate::reading::{index, read};
use crate::table::Table;

/// Returns what a key chooses.
pub(crate) fn item<'py>(py: Python<'py>, whole: &Table, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let count = whole.len(py);
    if let Ok(pair) = key.cast::<PyTuple>() {
        if pair.len() != 2 {
            return Err(TableIndexError::new_err(format!("a table has two dimensions, not {}", pair.len())));
        }
        let (row, column) = (pair.get_item(0)?, whole.column_index(py, &pair.get_item(1)?)?);
        if let Ok(place) = row.extract::<isize>() {
            let row = index(place, count, "row")?;
            let table = whole.read(py);
            let region = Region { rows: row..row + 1, columns: column..column + 1 };
            let element = table.column_type(column).or_raise()?;
            let value = with_type!(element, T => read::<T>(py, &**table, &region, ConversionPolicy::Saturate)?);
            return value.into_numpy(py)?.get_item((0, 0));
        }
        let rows = item(py, whole, &row)?;
        return rows.cast::<Table>()?.get().column_array(
            py,
            column.into_pyobject(py)?.as_any(),
            None,
            ConversionPolicy::Saturate,
        );
    }
    if key.is_instance_of::<PyString>() {
        return whole.column_array(py, key, None, ConversionPolicy::Saturate);
    }
    if let Ok(slice) = key.cast::<PySlice>() {
        let found = slice.indices(isize::try_from(count).unwrap_or(isize::MAX))?;
        let table = if found.step == 1 {
            let start = usize::try_from(found.start).unwrap_or(0);
            whole.sliced(py, start..start + found.slicelength)?
        } else {
            let places = (0..found.slicelength as isize).map(|i| (found.start + i * found.step) as usize);
            whole.taken(py, &places.collect::<Vec<_>>())?
        };
        return Ok(Bound::new(py, table)?.into_any());
    }
    if let Ok(place) = key.extract::<isize>() {
        let row = index(place, count, "row")?;
        let element = whole.common_type(py)?;
        let share = Table::rows_of(py, &**whole.read(py), row..row + 1, element, ConversionPolicy::Saturate)?;
        return share.into_numpy(py)?.call_method1("reshape", (-1,));
    }
    let array = py.import("numpy")?.call_method1("asarray", (key,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if array.getattr("ndim")?.extract::<usize>()? != 1 {
        return Err(TableIndexError::new_err("a choice of rows or columns has one dimension"));
    }
    let table = match &*kind {
        "b" => {
            let is_kept: Vec<bool> = array.extract()?;
            let table = whole.read(py);
            let table = &**table;
            Table::new(py.detach(|| table.filter_rows(&is_kept)).or_raise()?)
        }
        "i" | "u" => {
            let places: Vec<isize> = array.extract()?;
            let rows = places.into_iter().map(|place| index(place, count, "row")).collect::<PyResult<Vec<_>>>()?;
            whole.taken(py, &rows)?
        }
        "U" => {
            let columns = key.try_iter()?.map(|name| whole.column_index(py, &name?)).collect::<PyResult<Vec<_>>>()?;
            let table = whole.read(py);
            let table = &**table;
            Table::new(py.detach(|| table.select_columns(&columns[..])?.as_dyn().to_table()).or_raise()?)
        }
        _ if array.getattr("size")?.extract::<usize>()? == 0 => whole.taken(py, &[])?,
        _ => return Err(PyTypeError::new_err("rows are chosen by numbers or truth values, columns by names")),
    };
    Ok(Bound::new(py, table)?.into_any())
}
