//! `Table(...)`, and the columns that a table gets: objects of any kind that come in through the doors.

use numeric_table::{
    ConversionPolicy, ElementType, Error, ErrorKind, NumericTable, TableDescription, interop::CopyReason,
};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError, exception};
use crate::base::lists;
use crate::doors;
use crate::doors::columns::of_columns;
use crate::table::Table;
use crate::table::describe::renamed;
use crate::table::labels::has_labels;
use crate::table::reading::{converted, policy_of, stated};
use crate::table::surgery::beside;

/// Returns a table as it is, and a new one for anything else that `Table(x)` accepts.
pub(crate) fn table_of<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Table>> {
    match data.cast::<Table>() {
        Ok(table) => Ok(table.clone()),
        Err(_) => Bound::new(data.py(), Table::new(doors::table(data, None)?)),
    }
}

/// Returns a column with one value for all rows; `None` if this is not one value.
fn one_for_all(value: &Bound<'_, PyAny>, rows: usize) -> PyResult<Option<Box<dyn NumericTable>>> {
    let py = value.py();
    let found = py.import("numeric_table._columns")?.call_method1("one_for_all", (value, rows))?;
    found.cast::<Table>().ok().map(|table| table.get().snapshot(py)).transpose()
}

/// Returns a table in which words are the numbers that they spell, for a caller who has stated a type.
fn parsed(table: Box<dyn NumericTable>, py: Python<'_>) -> PyResult<Box<dyn NumericTable>> {
    if !table.dictionary().iter().any(has_labels) {
        return Ok(table);
    }
    let rows = table.row_count();
    let table = Bound::new(py, Table::new(table))?;
    let columns = py.import("numeric_table._columns")?.call_method1("parsed", (table,))?;
    of_columns(py, columns.cast::<PyList>()?, rows, None)
}

#[methods]
impl Table {
    #[new]
    #[pyo3(signature = (data, *, dtype = None, names = None, copy = None, policy = "saturate"))]
    fn from_python(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = lists::items_or_none)] names: Option<Vec<Option<String>>>,
        copy: Option<bool>,
        policy: &str,
    ) -> PyResult<Self> {
        let (policy, stated) = (policy_of(policy)?, stated(dtype)?);
        let rounds = policy != ConversionPolicy::Exact && stated.is_some_and(ElementType::is_float);
        let mut table = match data.cast::<Self>() {
            Ok(table) if copy != Some(true) => table.get().snapshot(py)?,
            Ok(table) => table.get().duplicate(py)?,
            Err(_) if stated.is_some() => parsed(doors::table_of(data, copy, rounds)?, py)?,
            Err(_) => doors::table_of(data, copy, rounds)?,
        };
        if let Some(element) = stated
            && table.uniform_type() != Some(element)
        {
            if copy == Some(false) {
                return Err(exception(Error::new(ErrorKind::CopyRequired { reason: CopyReason::ElementType })));
            }
            let whole = &*table;
            table = py.detach(|| converted(whole, element, policy)).or_raise()?;
        }
        if let Some(names) = names {
            let named = renamed(table.dictionary(), &names).or_raise()?;
            table.set_dictionary(named).or_raise()?;
        }
        Ok(Self::new(table))
    }

    /// Returns the table with a column appended, or with the column of this name replaced. ``values`` is an array, a
    /// table of one column, a pandas series, a sequence, or one value for all rows, of any type. If the types of the
    /// columns differ, the result has one array per column. In a sparse table, the column becomes sparse and takes the
    /// table's type, if this represents its values exactly.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1.5, 2.0], [3.0, 4.0]], names=["width", "height"])
    /// >>> wider = table.with_column("area", table["width"] * table["height"])
    /// >>> wider.names, wider["area"].tolist()
    /// (['width', 'height', 'area'], [3.0, 12.0])
    fn with_column(&self, py: Python<'_>, name: String, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let column = match values.cast::<Self>() {
            Ok(table) => table.get().snapshot(py)?,
            Err(_) => match one_for_all(values, self.len(py))? {
                Some(column) => column,
                None => doors::table(values, None)?,
            },
        };
        let found = column.column_count();
        if found != 1 {
            return Err(TableError::new_err(format!("a column has one value for each row, but this has {found}")));
        }
        let (table, column) = (self.snapshot(py)?, &*column);
        let table = &*table;
        py.detach(|| beside(table, name, column)).or_raise().map(Self::new)
    }
}
