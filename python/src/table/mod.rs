//! `Table`: a table of any kind, shared by all Python threads.

#[forbid(unsafe_code)]
pub(crate) mod blocks;
#[forbid(unsafe_code)]
pub(crate) mod brackets;
#[forbid(unsafe_code)]
pub(crate) mod choose;
#[forbid(unsafe_code)]
pub(crate) mod describe;
#[forbid(unsafe_code)]
pub(crate) mod gaps;
#[forbid(unsafe_code)]
pub(crate) mod html;
#[forbid(unsafe_code)]
pub(crate) mod labels;
#[forbid(unsafe_code)]
pub(crate) mod missing;
#[forbid(unsafe_code)]
pub(crate) mod ordering;
#[forbid(unsafe_code)]
mod plots;
#[forbid(unsafe_code)]
pub(crate) mod reading;
#[forbid(unsafe_code)]
pub(crate) mod sparse;
#[forbid(unsafe_code)]
pub(crate) mod surgery;
#[forbid(unsafe_code)]
pub(crate) mod together;

use std::sync::RwLock;

use numeric_table::{
    CsrNumericTable, ElementType, HomogenNumericTable, NumericTable, Shape, SoaNumericTable, TableDescription,
    TableOutput,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::methods;
use crate::base::element::{self, with_type};
use crate::base::error::{OrRaise, in_terms_of_numpy};
use crate::base::lists;
use crate::base::numbers;
use crate::table::blocks::{BlockWriter, RowBlocks};
use crate::table::describe::{names, renamed};
use crate::table::reading::{check_shape, converted, layout_of, listed, order_of, policy_of};

/// A table of numbers: rows are observations, columns are features, in one shared block of memory or in one array per
/// column.
///
/// ``Table(data, *, dtype=None, names=None, copy=None, policy="saturate")`` accepts an array, a masked array, a buffer,
/// rows of numbers, a dictionary of columns, a SciPy sparse array, a pandas frame, or an object that exports Arrow
/// columns or DLPack tensors. Masked values, ``None`` among numbers, nulls and NA are missing values. In rows of
/// numbers, an integer beside floats that float64 cannot represent is an error, unless ``dtype`` is a floating-point
/// type. With ``dtype``, words are parsed as numbers; a word that is not a number is an error with its row.
///
/// ``copy=None`` shares immutable memory, and copies any other. ``copy=False`` always shares, or raises
/// :class:`CopyRequiredError`: the caller promises that no code writes the memory as long as the table, or an array of
/// its values, exists. For a sparse array, it shares the values, and always copies writable indices. ``copy=True``
/// always copies.
///
/// >>> import numpy as np, numeric_table as nt
/// >>> table = nt.Table(np.array([[1, 2], [3, 4], [5, 6]], dtype="int16"), names=["a", "b"])
/// >>> table.shape, table.dtype, table.names
/// ((3, 2), dtype('int16'), ['a', 'b'])
/// >>> np.asarray(table, dtype="float32")[2]
/// array([5., 6.], dtype=float32)
/// >>> table["b"]
/// array([2, 4, 6], dtype=int16)
#[pyclass(frozen, module = "numeric_table", name = "Table", weakref)]
pub(crate) struct Table(pub(crate) RwLock<Box<dyn NumericTable>>);

#[methods]
impl Table {
    /// Creates a table of zeros. ``order`` is ``"C"``, row by row, or ``"F"``, column by column.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table.zeros(3, 2, dtype="uint8").nbytes
    /// 6
    #[staticmethod]
    #[pyo3(signature = (rows, columns, *, dtype = None, order = "C"))]
    fn zeros(
        #[pyo3(from_py_with = numbers::count)] rows: usize,
        #[pyo3(from_py_with = numbers::count)] columns: usize,
        dtype: Option<&Bound<'_, PyAny>>,
        order: &str,
    ) -> PyResult<Self> {
        let element = dtype.map_or(Ok(ElementType::F64), element::of_object)?;
        let layout = layout_of(order)?;
        let shape = Shape { rows, columns };
        check_shape(shape)?;
        with_type!(element, T => {
            Ok(Self::new(Box::new(HomogenNumericTable::full_with_layout(shape, T::default(), layout).or_raise()?)))
        })
    }

    /// The numbers of rows and columns.
    #[getter]
    fn shape(&self, py: Python<'_>) -> (usize, usize) {
        let table = self.read(py);
        (table.row_count(), table.column_count())
    }

    /// The number of dimensions, which is 2.
    #[getter]
    fn ndim(&self) -> usize {
        2
    }

    /// The number of values.
    #[getter]
    fn size(&self, py: Python<'_>) -> usize {
        let Shape { rows, columns } = self.read(py).shape();
        rows.saturating_mul(columns)
    }

    /// The number of bytes of all values; for a sparse table, of the stored values and their indices.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        self.bytes(py)
    }

    /// The type of the values, a NumPy ``dtype``. For columns of several types, one that can represent them all.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::dtype(py, self.common_type(py)?)
    }

    /// The type of each column.
    #[getter]
    fn dtypes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let types = listed(self.read(py).dictionary().iter().map(|feature| feature.element_type), "columns")?;
        types.into_iter().map(|element| element::dtype(py, element)).collect()
    }

    /// ``"C"`` if the values are stored row by row, ``"F"`` if they are stored column by column.
    #[getter]
    fn order(&self, py: Python<'_>) -> &'static str {
        order_of(self.read(py).data_layout())
    }

    /// The names of the columns, ``None`` for a column without a name.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        names(self.read(py).dictionary())
    }

    #[setter]
    fn set_names(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = lists::items)] names: Vec<Option<String>>,
    ) -> PyResult<()> {
        let mut table = self.write(py);
        let named = renamed(table.dictionary(), &names).or_raise()?;
        table.set_dictionary(named).or_raise()
    }

    /// The kind of table: ``"homogeneous"``, ``"structure-of-arrays"``, ``"csr"`` and so on.
    #[getter]
    fn kind(&self, py: Python<'_>) -> String {
        self.read(py).kind().to_string()
    }

    /// Whether only some values are stored, and all others are zero.
    #[getter]
    fn is_sparse(&self, py: Python<'_>) -> bool {
        sparse::of(&**self.read(py)).is_some()
    }

    /// The number of stored values, including stored zeros; for a dense table, the number of all values.
    #[getter]
    fn nnz(&self, py: Python<'_>) -> usize {
        let table = self.read(py);
        let Shape { rows, columns } = table.shape();
        sparse::of(&**table).map_or(rows.saturating_mul(columns), CsrNumericTable::nnz)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.len(py)
    }

    /// Returns an iterator over the rows in blocks of ``n``, each a NumPy array; the last may be shorter.
    ///
    /// >>> import numeric_table as nt
    /// >>> [block.sum() for block in nt.Table([[1, 2], [3, 4], [5, 6]]).row_blocks(2, dtype="float64")]
    /// [np.float64(10.0), np.float64(11.0)]
    #[pyo3(signature = (n, dtype = None, *, policy = None))]
    fn row_blocks(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = numbers::count)] n: usize,
        dtype: Option<&Bound<'_, PyAny>>,
        policy: Option<&str>,
    ) -> PyResult<RowBlocks> {
        let wanted = slf.get().wanted(slf.py(), dtype, policy)?;
        RowBlocks::new(slf.unbind(), n, wanted)
    }

    /// Calls ``f(block)`` with blocks of ``n`` rows, on all threads, and returns the results in the order of the
    /// blocks. Blocks are converted while other threads run Python. NumPy operations in ``f`` run in parallel.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1, 2], [3, 4], [5, 6]]).par_map_blocks(lambda block: int(block.sum()), 2)
    /// [10, 11]
    #[pyo3(signature = (f, n, dtype = None, *, policy = None))]
    fn par_map_blocks(
        slf: Bound<'_, Self>,
        f: Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::count)] n: usize,
        dtype: Option<&Bound<'_, PyAny>>,
        policy: Option<&str>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let wanted = slf.get().wanted(slf.py(), dtype, policy)?;
        crate::table::blocks::par_map(&slf, f.unbind(), n, wanted)
    }

    /// Returns a context manager with a writable array of rows. The end of the ``with`` block writes the array to the
    /// table; an exception discards it. Values out of range for the table's type raise :class:`NotRepresentableError`,
    /// and nothing is written. Fractions are truncated in integer columns. Unchanged values keep their full precision.
    /// For columns of several types without a stated ``dtype``, a value that the type of the block cannot represent
    /// raises this error at the beginning of the block.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1, 2], [3, 4]])
    /// >>> with table.write_rows(0, 2, dtype="float32") as block:
    /// ...     block *= 10
    /// >>> table.rows().tolist()
    /// [[10, 20], [30, 40]]
    #[pyo3(signature = (start = 0, stop = None, dtype = None))]
    fn write_rows(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = numbers::row)] start: usize,
        #[pyo3(from_py_with = numbers::end)] stop: Option<usize>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<BlockWriter> {
        let py = slf.py();
        let wanted = slf.get().wanted(py, dtype, None)?;
        let stop = stop.unwrap_or(slf.get().len(py));
        Ok(BlockWriter::new(slf.unbind(), start..stop, wanted))
    }

    /// Reports the losses of a conversion to a type, value by value, as a ``dict`` of counts.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1.5, 300.0]]).conversion_report("uint8")["above_range"]
    /// 1
    fn conversion_report<'py>(&self, py: Python<'py>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let element = element::of_object(dtype)?;
        let table = self.snapshot(py)?;
        let report = py.detach(|| together::report(&*table, element)).or_raise()?;
        let found = PyDict::new(py);
        found.set_item("values", report.values)?;
        found.set_item("lost", report.lost())?;
        found.set_item("nan_to_int", report.nan_to_int)?;
        found.set_item("below_range", report.below_range)?;
        found.set_item("above_range", report.above_range)?;
        found.set_item("overflow_to_infinity", report.overflow_to_infinity)?;
        found.set_item("inexact", report.inexact)?;
        found.set_item("first", report.first)?;
        Ok(found)
    }

    /// Returns a table of this type: the same table if it has that type, otherwise a copy. A table with one array per
    /// column (``kind``) becomes a single block, which :func:`map` and :func:`open` require of files. A sparse table
    /// stays sparse. Missing values stay missing, and such a table has one array per column.
    #[pyo3(signature = (dtype, *, policy = "saturate"))]
    fn astype(slf: Bound<'_, Self>, dtype: &Bound<'_, PyAny>, policy: &str) -> PyResult<Py<Self>> {
        let (py, element, policy) = (slf.py(), element::of_object(dtype)?, policy_of(policy)?);
        let table = slf.get().read(py);
        if table.uniform_type() == Some(element) && table.downcast_ref::<SoaNumericTable>().is_none() {
            drop(table);
            return Ok(slf.unbind());
        }
        let whole = &**table;
        let converted = py.detach(|| converted(whole, element, policy)).or_raise()?;
        drop(table);
        Py::new(py, Self::new(converted))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        if std::ptr::eq(self, other.get()) {
            return Ok(true.into_pyobject(py)?.to_owned().into_any().unbind());
        }
        let (one, two) = (self.snapshot(py)?, other.get().snapshot(py)?);
        let (one, two) = (&*one, &*two);
        let is_equal = one.shape() == two.shape()
            && together::are_described_alike(one.dictionary(), two.dictionary())
            && py.detach(|| together::are_equal(one, two)).or_raise()?;
        Ok(is_equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.snapshot(py).map(Self::new)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__copy__(py) // a write to either copies first
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let text = self.read(py).display().to_string();
        let (heading, values) = text.split_once('\n').unwrap_or((&text, ""));
        let heading = in_terms_of_numpy(heading);
        if text.contains('\n') { format!("{heading}\n{values}") } else { heading }
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        crate::table::html::table(&**self.read(py)).or_raise()
    }
}
