//! Some rows and columns of files that may be larger than memory: `reader[:3, "a"]`. In memory are the result
//! and one part of a file at a time.

use std::ops::Range;

use numeric_table::{NumericTable, Result, TableCombination, TableConversion, TableSelection};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PySlice, PyString, PyTuple};

use crate::base::error::TableIndexError;
use crate::base::lists;
use crate::base::progress::{look, watch};
use crate::table::Table;
use crate::table::choose::{self, Columns};
use crate::table::reading::{index, owned};

/// The number of bytes of a file that are read at a time.
const WINDOW: usize = 4 << 20;

/// Rows in files.
pub(crate) trait Stored: Columns + Sync {
    fn row_count(&self) -> usize;

    /// Returns the number of bytes of a row.
    fn row_bytes(&self) -> usize;

    /// Loads consecutive rows.
    fn load(&self, rows: Range<usize>) -> Result<Box<dyn NumericTable>>;
}

/// The rows that a key selects.
enum Rows {
    One(usize),
    Range(Range<usize>),
    Listed(Vec<usize>),
}

impl Rows {
    fn of(py: Python<'_>, key: &Bound<'_, PyAny>, count: usize) -> PyResult<Self> {
        if key.is(py.Ellipsis()) {
            return Ok(Self::Range(0..count));
        }
        if let Ok(slice) = key.cast::<PySlice>() {
            let found = choose::slice_of(slice, count)?;
            if found.step == 1 {
                let start = usize::try_from(found.start).unwrap_or(0);
                return Ok(Self::Range(start..start + found.slicelength));
            }
            return Ok(Self::Listed(choose::slice_places(&found, "rows")?));
        }
        if key.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err("a boolean does not select a row: pass one for each row"));
        }
        if let Ok(place) = key.extract::<isize>() {
            return Ok(Self::One(index(place, count, "row")?));
        }
        let (array, kind) = choose::vector_of(py, key, "rows")?;
        match &*kind {
            "b" => {
                let flags = choose::flags_of(&array, count, "rows")?;
                Ok(Self::Listed((0..count).filter(|&row| flags[row]).collect()))
            }
            "i" | "u" => Ok(Self::Listed(lists::places(&array, |place| index(place, count, "row"))?)),
            _ if array.len()? == 0 => Ok(Self::Listed(Vec::new())),
            _ => Err(PyTypeError::new_err("rows are selected by numbers or booleans, columns by names")),
        }
    }
}

/// Returns the items that a key selects, as those of a table.
pub(crate) fn item<'py>(py: Python<'py>, stored: &impl Stored, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let all = PyEllipsis::get(py).to_owned().into_any();
    let (row_key, column_key) = if let Ok(pair) = key.cast::<PyTuple>() {
        if pair.len() != 2 {
            return Err(TableIndexError::new_err(format!("a table has two dimensions, not {}", pair.len())));
        }
        (pair.get_item(0)?, Some(pair.get_item(1)?))
    } else if is_of_columns(key)? {
        (all.clone(), Some(key.clone()))
    } else {
        (key.clone(), None)
    };
    let rows = Rows::of(py, &row_key, stored.row_count())?;
    let column_key = column_key.filter(|key| !key.is(py.Ellipsis()));
    let columns = column_key.as_ref().map(|key| choose::columns(py, stored, key)).transpose()?;
    let part = watch(py, None, None, || load(stored, &rows, columns.as_deref()))?;
    let table = Bound::new(py, Table::new(part))?.into_any();
    // A row, a column or a value of these: as that of a table.
    let is_row = matches!(rows, Rows::One(_));
    let is_one = |key: &Bound<'_, PyAny>| key.is_instance_of::<PyString>() || choose::is_number(key);
    let is_column = column_key.as_ref().is_some_and(is_one);
    match (is_row, is_column) {
        (true, true) => table.get_item((0, 0)),
        (true, false) => table.get_item(0),
        (false, true) => table.get_item((all, 0)),
        (false, false) => Ok(table),
    }
}

/// Returns whether a key that is not a pair selects columns: a name, or a list of names.
fn is_of_columns(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    if key.is_instance_of::<PyString>() {
        return Ok(true);
    }
    if key.is_instance_of::<PySlice>() || !key.hasattr("__len__")? || key.len()? == 0 {
        return Ok(false);
    }
    Ok(key.get_item(0).is_ok_and(|first| first.is_instance_of::<PyString>()))
}

/// Loads some rows and columns, reading a few parts of a file at a time.
fn load(stored: &impl Stored, rows: &Rows, columns: Option<&[usize]>) -> Result<Box<dyn NumericTable>> {
    let chosen = |part: Box<dyn NumericTable>| match columns {
        Some(columns) => owned_columns(&*part, columns),
        None => Ok(part),
    };
    let at_once = (WINDOW / stored.row_bytes().max(1)).max(1);
    match rows {
        Rows::One(row) => chosen(stored.load(*row..*row + 1)?),
        Rows::Range(rows) if columns.is_none() || rows.len() <= at_once => chosen(stored.load(rows.clone())?),
        Rows::Range(rows) => {
            let mut parts = Vec::new();
            for start in rows.clone().step_by(at_once) {
                look();
                parts.push(chosen(stored.load(start..rows.end.min(start + at_once))?)?);
            }
            joined(parts)
        }
        Rows::Listed(list) => {
            let mut order: Vec<usize> = (0..list.len()).collect();
            let is_sorted = list.is_sorted();
            if !is_sorted {
                order.sort_by_key(|&place| list[place]);
            }
            let (mut parts, mut rest) = (Vec::new(), &order[..]);
            while let Some(&first) = rest.first() {
                look();
                let start = list[first];
                let count = rest.partition_point(|&place| list[place] - start < at_once);
                let (here, others) = rest.split_at(count);
                let end = list[here[count - 1]] + 1;
                let part = chosen(stored.load(start..end)?)?;
                let own: Vec<usize> = here.iter().map(|&place| list[place] - start).collect();
                parts.push(part.take_rows(&own)?);
                rest = others;
            }
            if parts.is_empty() {
                return chosen(stored.load(0..0)?);
            }
            let sorted = joined(parts)?;
            if is_sorted {
                return Ok(sorted);
            }
            let mut places = vec![0; order.len()];
            order.iter().enumerate().for_each(|(at, &place)| places[place] = at);
            sorted.take_rows(&places)
        }
    }
}

fn owned_columns(part: &dyn NumericTable, columns: &[usize]) -> Result<Box<dyn NumericTable>> {
    owned(&part.select_columns(columns)?, part)
}

pub(crate) fn joined(mut parts: Vec<Box<dyn NumericTable>>) -> Result<Box<dyn NumericTable>> {
    if parts.len() == 1 {
        return Ok(parts.swap_remove(0));
    }
    let parts: Vec<&dyn NumericTable> = parts.iter().map(|part| &**part).collect();
    parts[0].vstack(&parts[1..])?.to_table()
}
