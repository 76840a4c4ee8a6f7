//! Missing values: finding, filling, dropping and making them, and NumPy's masked arrays.
//!
//! NaN is a value, which is not missing. Only the calls named as in pandas (`isna`, `fillna`, `dropna`) treat it as a
//! missing value, as pandas does.

use std::ops::Range;

use numeric_table::{
    Feature, MissingValues, NumericTable, Result, Shape, SoaNumericTable, TableConversion, TableDescription,
    table::FillMissing,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyMapping};

use crate::base::boundary::methods;
use crate::base::element::with_type;
use crate::base::error::{OrRaise, TableError, TableTypeError, with_advice};
use crate::base::share::Share;
use crate::table::Table;
use crate::table::choose;
use crate::table::describe::label;
use crate::table::gaps::{self, Fill};
use crate::table::labels::{has_labels, shows_numbers, unit_name_of};
use crate::table::reading::{Wanted, listed};
use crate::table::sparse;

#[methods]
impl Table {
    /// Whether any value is missing. NaN is not.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1, 2], [None, 4]]).has_missing
    /// True
    #[getter]
    fn has_missing(&self, py: Python<'_>) -> PyResult<bool> {
        let table = self.read(py);
        table.has_missing().or_raise()
    }

    /// Returns the number of missing values of each column, as a dictionary, or of one column, given its name or index.
    /// The keys are the names of the columns, or their indices if a name is missing or ambiguous. NaN is not counted.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1, 2], [None, 4]], names=["a", "b"])
    /// >>> table.missing_count(), table.missing_count("a")
    /// ({'a': 1, 'b': 0}, 1)
    #[pyo3(signature = (column = None))]
    fn missing_count<'py>(&self, py: Python<'py>, column: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(column) = column {
            let column = self.column_index(py, column)?;
            let count = self.read(py).missing_count(column).or_raise()?;
            return Ok(count.into_pyobject(py)?.into_any());
        }
        let counts = {
            let table = self.read(py);
            let columns = listed(0..table.column_count(), "columns")?;
            let of = |column| Ok((table.dictionary().feature(column)?.name.clone(), table.missing_count(column)?));
            columns.into_iter().map(of).collect::<Result<Vec<_>>>().or_raise()?
        };
        let found = PyDict::new(py);
        for (column, (name, count)) in counts.into_iter().enumerate() {
            match name {
                Some(name) if !found.contains(&name)? => found.set_item(name, count)?,
                _ => found.set_item(column, count)?,
            }
        }
        Ok(found.into_any())
    }

    /// Returns where values are missing or NaN, as an array of booleans in the table's shape, or of one column. As in
    /// pandas, NaN counts; :meth:`missing` does not count it.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1, 2.5], [None, float("nan")]]).isna().tolist()
    /// [[False, False], [True, True]]
    #[pyo3(signature = (column = None))]
    fn isna<'py>(&self, py: Python<'py>, column: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        self.flags(py, column, Flags { counts_nan: true, is_inverse: false })
    }

    /// Returns where values are neither missing nor NaN: the opposite of :meth:`isna`.
    #[pyo3(signature = (column = None))]
    fn notna<'py>(&self, py: Python<'py>, column: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        self.flags(py, column, Flags { counts_nan: true, is_inverse: true })
    }

    /// Returns where values are missing, as an array of booleans in the table's shape, or of one column. NaN is a
    /// value.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1, 2.5], [None, float("nan")]]).missing().tolist()
    /// [[False, False], [True, False]]
    #[pyo3(signature = (column = None))]
    fn missing<'py>(&self, py: Python<'py>, column: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        self.flags(py, column, Flags { counts_nan: false, is_inverse: false })
    }

    /// Returns the table with other values in place of missing ones and of NaN: one value, a dictionary with a value for
    /// each of some columns, or a ``method``: ``"ffill"`` takes the last value before, ``"bfill"`` the next one after,
    /// ``"mean"`` and ``"median"`` those of each column of numbers, rounded for integers. One value fills the columns of
    /// its kind, and the others keep their gaps: a number fills columns of numbers, a text columns of words that have
    /// it as a label, a ``datetime.date`` or a ``datetime64`` columns of dates. In a dictionary, a column of words takes
    /// one of its labels, the index of one, or a new label; a column of dates takes a date, or a text in ISO 8601; a
    /// number there is refused, and so is a text in a column of numbers. Each column keeps its type: a value that it
    /// cannot represent raises :class:`NotRepresentableError`. Other columns share their memory.
    /// ``fillna(float("nan"))`` makes missing floating-point values NaN.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1, 2.5], [None, None], [4, 7.5]], names=["a", "b"])
    /// >>> table.fillna({"a": -1}).fillna(method="mean").rows().tolist()
    /// [[1.0, 2.5], [-1.0, 5.0], [4.0, 7.5]]
    #[pyo3(signature = (value = None, *, method = None))]
    fn fillna(&self, py: Python<'_>, value: Option<&Bound<'_, PyAny>>, method: Option<&str>) -> PyResult<Self> {
        let fills = self.fills(py, value, method)?;
        let table = self.steady(py)?;
        let table = table.table();
        let advice = "columns of integers take integers in their range";
        let filled = py.detach(|| gaps::filled(table, &fills)).or_raise();
        filled.map(Self::new).map_err(|error| with_advice(error, &advice))
    }

    /// Returns the rows without missing values and NaN, in all columns or in the given ones.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1, None], [None, 3], [4, 5]], names=["a", "b"])
    /// >>> len(table.dropna()), len(table.dropna("a"))
    /// (1, 2)
    #[pyo3(signature = (columns = None))]
    fn dropna(&self, py: Python<'_>, columns: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let columns = match columns {
            Some(columns) => choose::columns(py, self, columns)?,
            None => listed(0..self.column_count(py), "columns")?,
        };
        let table = self.steady(py)?;
        let table = table.table();
        py.detach(|| gaps::dropped(table, &columns)).or_raise().map(Self::new)
    }

    /// Marks values of a column as missing, in place. ``rows`` is an index, a slice, or an array of indices or
    /// booleans. A table in one block becomes one with an array per column, which can have missing values.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[-1, 2], [3, 4]], names=["a", "b"])
    /// >>> table.set_missing(table["a"] < 0, "a")
    /// >>> table.missing_count()
    /// {'a': 1, 'b': 0}
    fn set_missing(&self, py: Python<'_>, rows: &Bound<'_, PyAny>, column: &Bound<'_, PyAny>) -> PyResult<()> {
        let column = self.column_index(py, column)?;
        let is_missing = choose::row_flags(py, self, rows)?;
        let mut guard = self.write(py);
        let old = {
            let table = &mut *guard;
            let mark = || {
                if sparse::of(&**table).is_some() {
                    return Ok(None);
                }
                if table.downcast_ref::<SoaNumericTable>().is_some() {
                    table.set_missing_where(column, &is_missing)?;
                    return Ok(Some(None));
                }
                let mut columns = table.to_columns()?;
                columns.set_missing_where(column, &is_missing)?;
                Ok(Some(Some(std::mem::replace(table, Box::new(columns)))))
            };
            py.detach(mark).or_raise()?
        };
        drop(guard);
        match old {
            None => Err(TableTypeError::new_err("sparse tables have no missing values: Table(table.rows()) is dense")),
            Some(old) => {
                drop(old); // with no lock held: its memory may be a user's
                Ok(())
            }
        }
    }

    /// Returns the values of a column in its own type, and the mask of the missing ones, if there are any.
    fn _values_and_mask<'py>(
        &self,
        py: Python<'py>,
        column: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        self.values_and_mask(py, column)
    }
}

/// Which values an array of booleans marks.
#[derive(Clone, Copy)]
struct Flags {
    counts_nan: bool,
    is_inverse: bool,
}

/// Values, and the mask of the missing ones, if there are any.
pub(crate) type Masked<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

impl Table {
    fn flags<'py>(
        &self,
        py: Python<'py>,
        column: Option<&Bound<'py, PyAny>>,
        which: Flags,
    ) -> PyResult<Bound<'py, PyAny>> {
        let column = column.map(|column| self.column_index(py, column)).transpose()?;
        let flags = {
            let table = self.steady(py)?;
            let table = table.table();
            let columns = column.map_or(0..table.column_count(), |column| column..column + 1);
            Marks::of(py, table, columns, which)?
        };
        flags.into_numpy(py, column.is_some())
    }

    pub(crate) fn values_and_mask<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Masked<'py>> {
        let (values, marks) = {
            let table = self.steady(py)?;
            let table = table.table();
            let (values, validity) = py.detach(|| table.column_with_validity(column, ..)).or_raise()?;
            let has_mask = validity.is_some_and(|validity| validity.has_missing());
            (values, has_mask.then(|| Marks::of(py, table, column..column + 1, MISSING)).transpose()?)
        };
        let share = with_type!(values.element_type(), T => match values.downcast::<T>() {
            Ok(values) => Share::vector(values),
            Err(values) => return Err(TableError::new_err(format!("a column of {}", values.element_type()))), // never
        });
        Ok((share.into_numpy(py)?, marks.map(|marks| marks.into_numpy(py, true)).transpose()?))
    }

    /// Returns all values in one type, with 0 where one is missing, and the mask.
    pub(crate) fn whole_and_mask<'py>(&self, py: Python<'py>, wanted: Wanted) -> PyResult<Masked<'py>> {
        let (share, marks) = {
            let table = self.steady(py)?;
            let table = table.table();
            let rows = 0..table.row_count();
            if table.has_missing().or_raise()? {
                let without = py.detach(|| gaps::with_zeros(table)).or_raise()?;
                let marks = Marks::of(py, table, 0..table.column_count(), MISSING)?;
                (wanted.rows(py, &without, rows)?, Some(marks))
            } else {
                (wanted.rows(py, table, rows)?, None)
            }
        };
        Ok((share.into_numpy(py)?, marks.map(|marks| marks.into_numpy(py, false)).transpose()?))
    }

    /// Evaluates the caller's replacements, for columns in ascending order.
    fn fills(
        &self,
        py: Python<'_>,
        value: Option<&Bound<'_, PyAny>>,
        method: Option<&str>,
    ) -> PyResult<Vec<(usize, Fill)>> {
        let all = |fill: Fill| {
            let mut columns = listed(0..self.column_count(py), "columns")?;
            if fill.is_number() {
                let table = self.read(py);
                columns.retain(|&column| table.dictionary().feature(column).is_ok_and(shows_numbers));
            }
            Ok::<_, PyErr>(columns.into_iter().map(|column| (column, fill.clone())).collect())
        };
        let value = match (value, method) {
            (Some(_), Some(_)) | (None, None) => {
                return Err(PyTypeError::new_err("fillna takes either a value or a method"));
            }
            (None, Some(method)) => {
                let fill = match method {
                    "ffill" | "previous" => FillMissing::Previous,
                    "bfill" | "next" => FillMissing::Next,
                    "mean" => FillMissing::Mean,
                    "median" => FillMissing::Median,
                    _ => {
                        let text = format!("a method is 'ffill', 'bfill', 'mean' or 'median', not {method:?}");
                        return Err(TableError::new_err(text));
                    }
                };
                return all(Fill::By(fill));
            }
            (Some(value), None) => value,
        };
        let features = |columns: &dyn Fn(&Feature) -> bool| {
            let table = self.read(py);
            let found = table.dictionary().iter().cloned().enumerate().filter(|(_, feature)| columns(feature));
            found.collect::<Vec<_>>()
        };
        let Ok(values) = value.cast::<PyMapping>() else {
            if is_point(value)? {
                let dates = features(&|feature| unit_name_of(feature).is_some());
                return dates
                    .iter()
                    .map(|(column, feature)| Ok((*column, fill_of(*column, feature, value)?)))
                    .collect();
            }
            let fill = Fill::of(value)?;
            if let Fill::Label(label) = &fill {
                let words = features(&has_labels);
                if words.is_empty() {
                    let text = "a text for all columns fills those of words, and there is none: fillna({\"day\": \
                                \"2024-02-29\"}) fills a column of dates, fillna(0) columns of numbers";
                    return Err(TableError::new_err(format!("{label:?} fills no column: {text}")));
                }
                return Ok(words.into_iter().map(|(column, _)| (column, fill.clone())).collect());
            }
            return all(fill);
        };
        let mut fills = Vec::new();
        for item in &values.items()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let column = self.column_index(py, &key)?;
            let feature = self.read(py).dictionary().feature(column).or_raise()?.clone();
            fills.push((column, fill_of(column, &feature, &value)?));
        }
        fills.sort_by_key(|&(column, _)| column);
        if let Some(pair) = fills.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(TableError::new_err(format!("column {} gets two values", pair[0].0)));
        }
        Ok(fills)
    }
}

/// Returns whether a value is a point in time.
fn is_point(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.py().import("numeric_table._shown")?.call_method1("is_point", (value,))?.is_truthy()
}

/// Parses the replacement for one column. A column of words gets a new label if it has to; one of dates takes points in
/// time only, and one of numbers takes numbers only.
fn fill_of(column: usize, feature: &Feature, value: &Bound<'_, PyAny>) -> PyResult<Fill> {
    let name = label(value.py(), column, feature.name.as_deref())?;
    if let Some(unit) = unit_name_of(feature) {
        let module = value.py().import("numeric_table._shown")?;
        let count: i64 = module.call_method1("count_of", (name, value, unit))?.extract()?;
        return Ok(Fill::By(FillMissing::Value(count.into())));
    }
    if is_point(value)? {
        let text = format!("column {} has no dates, which {} could fill", name.repr()?, value.repr()?);
        return Err(TableTypeError::new_err(text));
    }
    match Fill::of(value)? {
        Fill::Label(label) if !has_labels(feature) => {
            let text = format!("column {} has no words, which {label:?} could fill: pass a number", name.repr()?);
            Err(TableTypeError::new_err(text))
        }
        Fill::Label(label) => Ok(Fill::NewLabel(label)),
        fill => Ok(fill),
    }
}

/// Only missing values.
const MISSING: Flags = Flags { counts_nan: false, is_inverse: false };

/// The flags of the rows of some columns, one column after another.
struct Marks<'py> {
    bytes: Bound<'py, PyByteArray>,
    shape: Shape,
}

impl<'py> Marks<'py> {
    /// Marks the values of a table, which may be locked: no object is made that Python's garbage collector tracks.
    fn of(py: Python<'py>, table: &dyn NumericTable, columns: Range<usize>, which: Flags) -> PyResult<Self> {
        let shape = Shape { rows: table.row_count(), columns: columns.len() };
        let fill = |bytes: &mut [u8]| {
            for (column, flags) in columns.zip(bytes.chunks_exact_mut(shape.rows.max(1))) {
                gaps::mark(table, column, which.counts_nan, flags)?;
                if which.is_inverse {
                    flags.iter_mut().for_each(|flag| *flag ^= 1);
                }
            }
            Ok(())
        };
        let count = shape.element_count().or_raise()?;
        let bytes = PyByteArray::new_with(py, count, |bytes| py.detach(|| fill(bytes)).or_raise())?;
        Ok(Self { bytes, shape })
    }

    /// Returns an array of booleans: of one column, or of columns side by side.
    fn into_numpy(self, py: Python<'py>, is_vector: bool) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(py);
        match is_vector {
            true => options.set_item("shape", (self.shape.rows,))?,
            false => options.set_item("shape", (self.shape.rows, self.shape.columns))?,
        }
        options.set_item("dtype", "bool")?;
        options.set_item("buffer", self.bytes)?;
        options.set_item("order", "F")?;
        py.import("numpy")?.call_method("ndarray", (), Some(&options))
    }
}
