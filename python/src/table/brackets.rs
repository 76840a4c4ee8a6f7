//! What users of NumPy, pandas and polars type first: `table[...]`, rows and columns as arrays, `columns`, `in`,
//! `copy`, `drop`.

use numeric_table::TableDescription;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple};

use crate::base::boundary::methods;
use crate::base::elsewhere::no_attribute;
use crate::base::error::{OrRaise, TableTypeError};
use crate::base::lists;
use crate::base::numbers;
use crate::table::Table;
use crate::table::choose;
use crate::table::describe::{labels, names, renamed};
use crate::table::reading::{listed, numpy_of, policy_of, require_shared, stated};

#[methods]
impl Table {
    /// ``table[3]`` is a row, ``table[2:5]`` a table of rows that shares the memory, ``table["a"]`` a column,
    /// ``table[["a", "b"]]`` a table of columns, ``table[mask]`` and ``table[numbers]`` tables of those rows,
    /// ``table[3, "a"]`` a value, and ``table[rows, columns]`` the given columns of the given rows.
    ///
    /// Columns of categories with labels are arrays of these ``str``, with ``None`` where a value is missing; columns
    /// of dates and times are arrays of ``datetime64``, with NaT. A row is an array if all of its columns are numbers,
    /// otherwise a tuple: of Python numbers, ``str`` and ``datetime64``, with ``None`` where a value is missing.
    /// A missing number is NaN in an array. Missing integers make it an array of float64, if that represents the others
    /// exactly; otherwise they are an error. So comparisons with a missing value are false, except for ``!=``. A column
    /// of dates compares with ``datetime.date``, ``datetime64`` and texts in ISO 8601. :meth:`column`, :meth:`rows` and
    /// arrays of the table have the stored numbers.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table({"city": ["Rome", "Oslo", None], "size": [3, 1, 2]})
    /// >>> table["city"]
    /// array(['Rome', 'Oslo', None], dtype=object)
    /// >>> table[0], table[table["city"] == "Oslo"]["size"]
    /// (('Rome', 3), array([1]))
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        choose::item(py, self, key)
    }

    /// Returns rows as a read-only NumPy array of any type. It shares the table's memory if that has the right type and
    /// order; otherwise it is a copy. ``copy=True`` returns a writable copy; ``copy=False`` raises
    /// :class:`CopyRequiredError` if a copy is required.
    ///
    /// ``policy`` states how to treat values that the type cannot represent: ``"saturate"`` takes the nearest value (0
    /// for NaN in an integer type), ``"checked"`` and ``"exact"`` raise :class:`NotRepresentableError`, the latter also
    /// where precision is lost. The default is ``"saturate"``, or ``"exact"`` for columns of several types without a
    /// stated ``dtype``.
    ///
    /// >>> import numpy as np, numeric_table as nt
    /// >>> table = nt.Table([[1.5, 300.0], [2.5, -1.0]])
    /// >>> table.rows(0, 2, dtype="uint8")
    /// array([[  1, 255],
    ///        [  2,   0]], dtype=uint8)
    /// >>> table.rows(copy=True).flags.writeable
    /// True
    #[pyo3(signature = (start = 0, stop = None, dtype = None, *, policy = None, copy = None))]
    pub(crate) fn rows<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::row)] start: usize,
        #[pyo3(from_py_with = numbers::end)] stop: Option<usize>,
        dtype: Option<&Bound<'py, PyAny>>,
        policy: Option<&str>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = self.wanted(py, dtype, policy)?;
        let table = self.read(py);
        let stop = stop.unwrap_or(table.row_count());
        if copy == Some(false) {
            require_shared(&**table, start..stop, 0..table.column_count(), wanted.element)?;
        }
        let share = wanted.rows(py, &**table, start..stop)?;
        drop(table);
        numpy_of(py, share, copy)
    }

    /// Returns the stored numbers of a column, given its name or index, as a NumPy array. It is read-only, and shares
    /// the table's memory if possible. ``copy=True`` returns a writable copy; ``copy=False`` raises
    /// :class:`CopyRequiredError` if a copy is required.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1, 2], [3, 4]]).column(1, dtype="float32")
    /// array([2., 4.], dtype=float32)
    #[pyo3(signature = (key, dtype = None, *, policy = "saturate", copy = None))]
    fn column<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        dtype: Option<&Bound<'py, PyAny>>,
        policy: &str,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            let (column, stated) = (self.column_index(py, key)?, stated(dtype)?);
            let table = self.read(py);
            let element = stated.map_or_else(|| table.column_type(column).or_raise(), Ok)?;
            require_shared(&**table, 0..table.row_count(), column..column + 1, element)?;
        }
        let array = self.column_array(py, key, dtype, policy_of(policy)?)?;
        if copy == Some(true) { array.call_method0("copy") } else { Ok(array) }
    }

    /// The labels of the columns: their names, and the index of a column without a name. Can be set, as ``names`` can.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1, 2]], names=["a", None])
    /// >>> table.columns
    /// ['a', 1]
    /// >>> table.columns = ["x", "y"]
    /// >>> table.names
    /// ['x', 'y']
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let names = names(self.read(py).dictionary())?;
        labels(py, names)
    }

    #[setter]
    fn set_columns(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = lists::items)] columns: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let name = |(column, label): (usize, Bound<'_, PyAny>)| {
            if label.is_none() {
                return Ok(None);
            }
            if let Ok(name) = label.cast::<PyString>() {
                return Ok(Some(name.to_str()?.to_owned()));
            }
            match label.extract::<usize>() {
                Ok(number) if number == column && !label.is_instance_of::<PyBool>() => Ok(None),
                _ => {
                    let text = format!("the label of column {column} is a name or {column}, not {}", label.repr()?);
                    Err(PyTypeError::new_err(text))
                }
            }
        };
        let names = columns.into_iter().enumerate().map(name).collect::<PyResult<Vec<_>>>()?;
        let mut table = self.write(py);
        let named = renamed(table.dictionary(), &names).or_raise()?;
        table.set_dictionary(named).or_raise()
    }

    /// Whether a column has this label: a name, or the index of a column without a name.
    fn __contains__(&self, py: Python<'_>, label: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(name) = label.cast::<PyString>() {
            let name = name.to_string_lossy();
            return Ok(self.read(py).dictionary().index_of(&name).is_some());
        }
        if label.is_instance_of::<PyBool>() || !label.hasattr("__index__")? {
            return Ok(false);
        }
        let Ok(column) = label.extract::<usize>() else { return Ok(false) };
        Ok(self.read(py).dictionary().feature(column).is_ok_and(|feature| feature.name.is_none()))
    }

    /// Returns a table with the same values in new memory. ``copy.copy(table)`` shares the memory until either is
    /// written.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1, 2]])
    /// >>> table.copy() == table
    /// True
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.duplicate(py).map(Self::new)
    }

    /// Returns all columns except some, given by their names or indices, as :meth:`drop_columns` does:
    /// ``table.drop("a", "b")``, ``table.drop(["a", "b"])`` or ``table.drop(columns="a")``.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table({"a": [1], "b": [2], "c": [3]}).drop("a", "c").names
    /// ['b']
    #[pyo3(signature = (*labels, columns = None, axis = None))]
    fn drop<'py>(
        slf: &Bound<'py, Self>,
        labels: &Bound<'py, PyTuple>,
        columns: Option<Bound<'py, PyAny>>,
        axis: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let (py, this) = (slf.py(), slf.get());
        if let Some(axis) = axis
            && !(axis.eq(1)? || axis.eq("columns")?)
        {
            let text = "drop removes columns (axis=1): rows have no labels; table[mask] and table[numbers] choose rows";
            return Err(TableTypeError::new_err(text));
        }
        let keys = match columns {
            Some(_) if !labels.is_empty() => {
                return Err(PyTypeError::new_err("drop takes labels or columns=, not both"));
            }
            Some(columns) => vec![columns],
            None => labels.iter().collect(),
        };
        let mut dropped = Vec::new();
        for key in &keys {
            dropped.extend(choose::columns(py, this, key)?);
        }
        dropped.sort_unstable();
        let mut rest = listed(0..this.column_count(py), "columns")?;
        rest.retain(|column| dropped.binary_search(column).is_err());
        this.selected(py, &rest)
    }

    /// Raises :class:`AttributeError`. For a name from pandas or NumPy, the message says what to write instead.
    fn __getattr__(slf: &Bound<'_, Self>, name: &Bound<'_, PyString>) -> PyResult<()> {
        let name = &*name.to_string_lossy();
        if name == "__dataframe__" {
            // Its getter has refused.
            let unnamed = slf.get().read(slf.py()).dictionary().names().position(|name| name.is_none());
            let column = unnamed.unwrap_or_default();
            let text = format!("__dataframe__ requires names, and column {column} has none: set table.columns");
            return Err(PyAttributeError::new_err(text));
        }
        Err(no_attribute(slf.as_any(), name)?)
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = key.repr()?;
        Err(TableTypeError::new_err(format!(
            "a table has no assignment table[{key}] = ...: table = table.with_column(\"a\", values) replaces or adds a \
             column, and with table.write_rows(start, stop) as block: writes values"
        )))
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = key.repr()?;
        Err(TableTypeError::new_err(format!(
            "a table has no del table[{key}]: table = table.drop(\"a\") drops a column"
        )))
    }
}
