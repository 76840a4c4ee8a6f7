//! The results of `table[key]`: rows, columns, values, tables with some of them.

use numeric_table::table::spi::Region;
use numeric_table::{TableDescription, TableSelection};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::slice::PySliceIndices;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple};

use crate::base::error::{OrRaise, TableIndexError, TableTypeError};
use crate::base::lists;
use crate::table::Table;
use crate::table::labels::lacks_integers;
use crate::table::reading::{index, listed, places};
use crate::table::together::select;

/// Returns the items that a key selects.
pub(crate) fn item<'py>(py: Python<'py>, whole: &Table, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let count = whole.len(py);
    if let Ok(pair) = key.cast::<PyTuple>() {
        if pair.len() != 2 {
            return Err(TableIndexError::new_err(format!("a table has two dimensions, not {}", pair.len())));
        }
        return part(py, whole, &pair.get_item(0)?, &pair.get_item(1)?);
    }
    if key.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("a boolean does not select a row: pass one for each row"));
    }
    if key.is(py.Ellipsis()) {
        return Ok(some_rows(py, whole, key)?.into_any());
    }
    if key.is_instance_of::<PyString>() {
        return whole.shown_column(py, key);
    }
    if let Ok(slice) = key.cast::<PySlice>() {
        let found = slice_of(slice, count)?;
        let table = if found.step == 1 {
            let start = usize::try_from(found.start).unwrap_or(0);
            whole.sliced(py, start..start + found.slicelength)?
        } else {
            whole.taken(py, &slice_places(&found, "rows")?)?
        };
        return Ok(Bound::new(py, table)?.into_any());
    }
    if let Ok(place) = key.extract::<isize>() {
        let row = index(place, count, "row")?;
        if let Some(values) = whole.shown_row(py, row, None)? {
            return Ok(values);
        }
        return whole.number_row(py, row);
    }
    let (array, kind) = vector_of(py, key, "rows or columns")?;
    let table = match &*kind {
        "b" => {
            let is_kept = lists::truths(&array)?;
            let table = whole.read(py);
            let table = &**table;
            Table::new(py.detach(|| table.filter_rows(&is_kept)).or_raise()?)
        }
        "i" | "u" => {
            let rows = row_places(&array, count)?;
            whole.taken(py, &rows)?
        }
        "U" | "T" | "O" if &*kind != "O" || are_words(key)? => {
            let columns = some_columns(py, whole, key)?;
            let table = whole.read(py);
            let table = &**table;
            Table::new(py.detach(|| select(table, &columns)).or_raise()?)
        }
        _ if array.getattr("size")?.extract::<usize>()? == 0 => whole.taken(py, &[])?,
        _ => return Err(PyTypeError::new_err("rows are selected by numbers or booleans, columns by names")),
    };
    Ok(Bound::new(py, table)?.into_any())
}

pub(crate) fn is_number(key: &Bound<'_, PyAny>) -> bool {
    !key.is_instance_of::<PyBool>()
        && !key.is_instance_of::<PySlice>()
        && !key.is_instance_of::<PyList>()
        && key.extract::<isize>().is_ok()
}

/// Returns the items that a key of rows and a key of columns select together: a value, a column, a row, or a table.
fn part<'py>(
    py: Python<'py>,
    whole: &Table,
    rows: &Bound<'py, PyAny>,
    columns: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let is_name = columns.is_instance_of::<PyString>();
    if is_name || is_number(columns) {
        let column = whole.column_index(py, columns)?;
        if is_number(rows) {
            let row = index(rows.extract()?, whole.len(py), "row")?;
            return whole.shown_value(py, row, column);
        }
        let chosen = some_rows(py, whole, rows)?;
        return chosen.get().shown_column(py, column.into_pyobject(py)?.as_any());
    }
    if is_number(rows) {
        let columns_of_row = some_columns(py, whole, columns)?;
        let row = index(rows.extract()?, whole.len(py), "row")?;
        if let Some(values) = whole.shown_row(py, row, Some(&columns_of_row))? {
            return Ok(values);
        }
        if whole.read(py).uniform_type().is_some() {
            let region = Region { rows: row..row + 1, columns: 0..whole.column_count(py) };
            if !lacks_integers(&**whole.read(py), &region)? {
                return whole.number_row(py, row)?.get_item(columns_of_row);
            }
        }
        // Of these columns only: the others may have no common type with them.
        let row = whole.sliced(py, row..row + 1)?;
        let chosen = Table::new(select(&**row.read(py), &columns_of_row).or_raise()?);
        return item(py, &chosen, 0_usize.into_pyobject(py)?.as_any());
    }
    let chosen = some_rows(py, whole, rows)?;
    if columns.is(py.Ellipsis()) {
        return Ok(chosen.into_any());
    }
    let columns = some_columns(py, whole, columns)?;
    let table = chosen.get().read(py);
    let table = &**table;
    let selected = py.detach(|| select(table, &columns)).or_raise()?;
    Ok(Bound::new(py, Table::new(selected))?.into_any())
}

/// Returns a flag for each row: whether a key selects it. The key is an index, a slice, or an array of indices or
/// booleans.
pub(crate) fn row_flags(py: Python<'_>, whole: &Table, key: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    let count = whole.len(py);
    if key.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("rows have no names"));
    }
    let chosen = if key.is(py.Ellipsis()) {
        places(0..count)?
    } else if is_number(key) {
        vec![index(key.extract()?, count, "row")?]
    } else if let Ok(slice) = key.cast::<PySlice>() {
        slice_places(&slice_of(slice, count)?, "rows")?
    } else {
        let (array, kind) = vector_of(py, key, "rows")?;
        match &*kind {
            "b" => return flags_of(&array, count, "rows"),
            "i" | "u" => row_places(&array, count)?,
            _ if array.getattr("size")?.extract::<usize>()? == 0 => Vec::new(),
            _ => return Err(PyTypeError::new_err("rows are selected by numbers or booleans")),
        }
    };
    let mut flags = listed((0..count).map(|_| false), "rows")?;
    chosen.into_iter().for_each(|row| flags[row] = true);
    Ok(flags)
}

/// Returns a table of the rows that a key other than a number selects.
fn some_rows<'py>(py: Python<'py>, whole: &Table, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Table>> {
    if rows.is(py.Ellipsis()) {
        return Bound::new(py, Table::new(whole.snapshot(py)?));
    }
    if rows.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("rows have no names"));
    }
    Ok(item(py, whole, rows)?.cast_into::<Table>()?)
}

/// A table whose columns a key selects.
pub(crate) trait Columns {
    /// Returns the number of columns.
    fn count(&self, py: Python<'_>) -> PyResult<usize>;
    /// Returns the index of the column of a name.
    fn named(&self, py: Python<'_>, name: &str) -> PyResult<usize>;
}

impl Columns for Table {
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.read(py).column_count())
    }

    fn named(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.read(py).dictionary().try_index_of(name).or_raise()
    }
}

/// Returns the index of a column that is given by its name, or by its index from either end.
pub(crate) fn column(py: Python<'_>, whole: &impl Columns, key: &Bound<'_, PyAny>) -> PyResult<usize> {
    match key.cast::<PyString>() {
        Ok(name) => whole.named(py, &name.to_string()),
        // With no lock held: the index may be a user's object.
        Err(_) => match key.extract() {
            Ok(place) => index(place, whole.count(py)?, "column"),
            Err(_) if key.is_instance_of::<PyInt>() => Err(not_a_key(key, "columns")?),
            Err(error) if error.is_instance_of::<PyTypeError>(py) && !key.hasattr("__index__")? => {
                Err(PyTypeError::new_err(format!("a column is its name or its index, not {}", key.repr()?)))
            }
            Err(error) => Err(error),
        },
    }
}

/// Returns the indices of the columns that a key selects: one, or several.
pub(crate) fn columns(py: Python<'_>, whole: &impl Columns, key: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    match key.is_instance_of::<PyString>() || is_number(key) {
        true => Ok(vec![column(py, whole, key)?]),
        false => some_columns(py, whole, key),
    }
}

/// Returns the indices of the columns that a key selects: a slice, names, numbers, booleans.
fn some_columns(py: Python<'_>, whole: &impl Columns, columns: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let count = whole.count(py)?;
    if columns.is(py.Ellipsis()) {
        return listed(0..count, "columns");
    }
    if let Ok(slice) = columns.cast::<PySlice>() {
        return slice_places(&slice_of(slice, count)?, "columns");
    }
    let (array, kind) = vector_of(py, columns, "columns")?;
    if kind == "U" || kind == "T" || (kind == "O" && are_words(columns)?) {
        return columns.try_iter()?.map(|name| column(py, whole, &name?)).collect();
    }
    match &*kind {
        "b" => {
            let is_chosen = flags_of(&array, count, "columns")?;
            Ok((0..count).filter(|&column| is_chosen[column]).collect())
        }
        "i" | "u" => lists::places(&array, |number| index(number, count, "column")),
        _ if array.getattr("size")?.extract::<usize>()? == 0 => Ok(Vec::new()),
        _ => Err(PyTypeError::new_err("columns are selected by names, numbers or booleans")),
    }
}

/// Returns what a slice selects of a number of rows or columns.
pub(crate) fn slice_of(slice: &Bound<'_, PySlice>, count: usize) -> PyResult<PySliceIndices> {
    slice.indices(isize::try_from(count).unwrap_or(isize::MAX))
}

/// Returns the positions that a slice selects.
pub(crate) fn slice_places(found: &PySliceIndices, of: &str) -> PyResult<Vec<usize>> {
    listed((0..found.slicelength).map(|i| (found.start + i as isize * found.step) as usize), of)
}

/// Returns a key of several rows or columns as a NumPy vector, and the kind of its items.
pub(crate) fn vector_of<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    of: &str,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let array = py.import("numpy")?.call_method1("asarray", (key,))?;
    let kind = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if array.getattr("ndim")?.extract::<usize>()? == 0 {
        return Err(not_a_key(key, of)?);
    }
    if array.getattr("ndim")?.extract::<usize>()? != 1 {
        return Err(TableIndexError::new_err(format!("a selection of {of} has one dimension")));
    }
    Ok((array, kind))
}

/// Returns the error for a key that selects nothing.
fn not_a_key(key: &Bound<'_, PyAny>, of: &str) -> PyResult<PyErr> {
    if key.is_instance_of::<PyInt>() {
        return Ok(TableIndexError::new_err(format!("there is no index {} of {of}", key.repr()?)));
    }
    let integers = key.is_instance_of::<PyFloat>() && key.call_method0("is_integer")?.is_truthy()?;
    let advice = if integers { ": int(...) makes an index of it" } else { "" };
    Ok(PyTypeError::new_err(format!(
        "{of} are selected by an index, a slice, a name, or a list or an array of these or of booleans, not by \
         {}{advice}",
        key.repr()?
    )))
}

/// Returns the index of the column for a call that takes one. A list of one column is that column.
pub(crate) fn only_column(py: Python<'_>, whole: &Table, key: &Bound<'_, PyAny>, call: &str) -> PyResult<usize> {
    if !key.is_instance_of::<PyList>() && !key.is_instance_of::<PyTuple>() {
        return column(py, whole, key);
    }
    match columns(py, whole, key)?[..] {
        [column] => Ok(column),
        ref several => Err(TableTypeError::new_err(format!(
            "{call} takes one column, not {}: to_pandas().{call}({}) takes several",
            several.len(),
            key.repr()?
        ))),
    }
}

/// Returns the indices of rows in a NumPy vector of integers. Refuses what was a column of booleans, which tables store
/// as bytes.
fn row_places(array: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<usize>> {
    let size: usize = array.getattr("size")?.extract()?;
    let is_of_bytes = array.getattr("itemsize")?.extract::<usize>()? == 1;
    if is_of_bytes
        && size == count
        && count > 1
        && array.call_method0("max")?.le(1)?
        && array.call_method0("min")?.ge(0)?
    {
        let text =
            "bytes of 0 or 1, one for each row, may be flags or indices: == 1 makes flags of them, astype(int) indices";
        return Err(TableIndexError::new_err(text));
    }
    lists::places(array, |place| index(place, count, "row"))
}

/// Returns the values of a NumPy vector of booleans, with one for each row or column.
pub(crate) fn flags_of(array: &Bound<'_, PyAny>, count: usize, of: &str) -> PyResult<Vec<bool>> {
    let flags = lists::truths(array)?;
    match flags.len() == count {
        true => Ok(flags),
        false => Err(TableIndexError::new_err(format!("{} booleans do not match {count} {of}", flags.len()))),
    }
}

/// Returns whether all items are strings, and there is at least one.
fn are_words(items: &Bound<'_, PyAny>) -> PyResult<bool> {
    let words = items.try_iter()?.map(|item| Ok(item?.is_instance_of::<PyString>())).collect::<PyResult<Vec<_>>>()?;
    Ok(!words.is_empty() && words.into_iter().all(|is_word| is_word))
}
