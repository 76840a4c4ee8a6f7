//! The methods of `DeviceTable`, and of tables that are copied to a device.

use numeric_table::{ConversionPolicy, DataLayout, Shape, statistics::BasicStatistics};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::methods;
use crate::base::element;
use crate::base::error::{OrRaise, OrRaiseOfDevice, TableTypeError};
use crate::base::lists;
use crate::base::numbers;
use crate::device;
use crate::device::foreign::{self, stream_object, stream_of};
use crate::device::table::{DeviceTable, Form};
use crate::device::values::uploaded;
use crate::results::columns::Statistics;
use crate::results::{Partial, state};
use crate::table::Table;
use crate::table::choose;
use crate::table::describe::names;
use crate::table::gaps;
use crate::table::reading::{layout_of, order_of, policy_of, stated};

#[methods]
impl DeviceTable {
    /// Creates a table of the memory of a tensor of PyTorch, an array of CuPy, or any object with ``__dlpack__`` or
    /// ``__cuda_array_interface__``, of one dimension (a column) or two. Nothing is copied: writes of the table show in
    /// the tensor. Values that are not stored row by row or column by column without gaps raise
    /// :class:`CopyRequiredError`. ``copy=True`` copies on the device.
    ///
    /// ``names`` are those of the columns; without them, a table of another ``DeviceTable`` has its names. The tensor is
    /// kept until the last work of the device on the table has ended.
    #[staticmethod]
    #[pyo3(signature = (tensor, *, copy = false, names = None))]
    fn from_dlpack(
        tensor: &Bound<'_, PyAny>,
        copy: bool,
        #[pyo3(from_py_with = lists::items_or_none)] names: Option<Vec<Option<String>>>,
    ) -> PyResult<Self> {
        let table = foreign::table(tensor, copy)?;
        let own = tensor.cast::<Self>().map(|other| other.get().dictionary(tensor.py()));
        table.described(own.ok().transpose()?, names)
    }

    /// The numbers of rows and columns.
    #[getter]
    fn shape(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let Shape { rows, columns } = self.form(py)?.shape;
        Ok((rows, columns))
    }

    /// The number of dimensions, which is 2.
    #[getter]
    fn ndim(&self) -> usize {
        2
    }

    /// The number of values.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<usize> {
        let Shape { rows, columns } = self.form(py)?.shape;
        Ok(rows.saturating_mul(columns))
    }

    /// The number of bytes of all values.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.size(py)?.saturating_mul(self.form(py)?.element.size_in_bytes()))
    }

    /// The type of the values, a NumPy ``dtype``.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::dtype(py, self.form(py)?.element)
    }

    /// ``"C"`` if the values are stored row by row, ``"F"`` if they are stored column by column.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(order_of(self.form(py)?.layout))
    }

    /// The names of the columns, ``None`` for a column without a name.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        names(&self.dictionary(py)?)
    }

    /// The device, as PyTorch names it: ``"cuda:0"``.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("cuda:{}", number_of(&self.form(py)?)))
    }

    /// Whether the values belong to a tensor that must not be written.
    #[getter]
    fn is_read_only(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.form(py)?.is_read_only)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.form(py)?.shape.rows)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let form = self.form(py)?;
        let Shape { rows, columns } = form.shape;
        let order = order_of(form.layout);
        let (name, number) = (element::name(form.element), number_of(&form));
        Ok(format!("<DeviceTable: {rows} x {columns} {name}, order {order:?}, on cuda:{number}>"))
    }

    /// Returns a table of this type and order, converted on the device: the same table if it has them.
    #[pyo3(signature = (dtype, *, policy = "saturate", order = None))]
    fn astype(slf: Bound<'_, Self>, dtype: &Bound<'_, PyAny>, policy: &str, order: Option<&str>) -> PyResult<Py<Self>> {
        let (py, element, policy) = (slf.py(), element::of_object(dtype)?, policy_of(policy)?);
        let form = slf.get().form(py)?;
        let layout = order.map_or(Ok(form.layout), layout_of)?;
        if (element, layout) == (form.element, form.layout) {
            return Ok(slf.unbind());
        }
        Py::new(py, slf.get().converted(py, element, layout, policy)?)
    }

    /// Returns a table with the values stored row by row (``"C"``) or column by column (``"F"``), transposed on the
    /// device: the same table if it has this order.
    fn to_order(slf: Bound<'_, Self>, order: &str) -> PyResult<Py<Self>> {
        let (py, layout) = (slf.py(), layout_of(order)?);
        let form = slf.get().form(py)?;
        if layout == form.layout {
            return Ok(slf.unbind());
        }
        Py::new(py, slf.get().converted(py, form.element, layout, ConversionPolicy::Saturate)?)
    }

    /// Returns a copy of some columns on the device, given as to :meth:`Table.select_columns`, in this order.
    fn select_columns(&self, py: Python<'_>, columns: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.selected(py, &choose::columns(py, self, columns)?)
    }

    /// Copies rows from the device to a NumPy array of any type. No other rows are transferred.
    #[pyo3(signature = (start = 0, stop = None, dtype = None, *, policy = "saturate"))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::row)] start: usize,
        #[pyo3(from_py_with = numbers::end)] stop: Option<usize>,
        dtype: Option<&Bound<'py, PyAny>>,
        policy: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (form, policy) = (self.form(py)?, policy_of(policy)?);
        let element = stated(dtype)?.unwrap_or(form.element);
        let table = self.downloaded(py, start..stop.unwrap_or(form.shape.rows), element, policy)?;
        table.all(py, element)?.into_numpy(py)
    }

    /// Copies the table from the device, with the names of its columns.
    fn to_table(&self, py: Python<'_>) -> PyResult<Table> {
        let form = self.form(py)?;
        self.downloaded(py, 0..form.shape.rows, form.element, ConversionPolicy::Saturate)
    }

    /// Returns the statistics of each column, computed on the device: 160 bytes are transferred for each.
    pub(crate) fn statistics(&self, py: Python<'_>) -> PyResult<Py<Statistics>> {
        Py::new(py, Partial::new(self.summary(py)?).of_class(Statistics))
    }

    /// Standardizes each column in place, on the device: subtracts its mean, and divides by its population standard
    /// deviation, like scikit-learn's ``StandardScaler``. With ``statistics``, those of other rows, such as the rows for
    /// training: of as many columns with the same names, and of at least one row, otherwise :class:`TableError` is
    /// raised and nothing is written. Nothing is copied: if the table was made of a tensor, the tensor has the new
    /// values when this returns.
    ///
    /// The values are of a floating-point type. NaN values stay as they are, and do not count. A column whose statistics
    /// have an infinity, or no value, becomes NaN.
    #[pyo3(signature = (statistics = None))]
    fn standardize(&self, py: Python<'_>, statistics: Option<&Bound<'_, Statistics>>) -> PyResult<()> {
        let statistics = statistics.map(|found| state::<BasicStatistics>(found)).transpose()?;
        self.standardized(py, statistics.as_deref())
    }

    /// Makes later work on the table wait for the work that a stream of another library has now: a stream of PyTorch or
    /// CuPy, or the number of its handle. Work in the default stream needs no such call.
    fn wait_for(&self, py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<()> {
        self.wait(py, stream_object(stream)?)
    }

    /// Waits until all work of the device has ended that was asked for through this package.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        self.finish(py)
    }

    /// Refuses to copy the values implicitly.
    #[pyo3(signature = (dtype = None, *, copy = None))]
    fn __array__(&self, dtype: Option<&Bound<'_, PyAny>>, copy: Option<bool>) -> PyResult<()> {
        let _ = (dtype, copy);
        Err(TableTypeError::new_err(
            "the values are in the memory of a CUDA device: rows() and to_table() copy them to the program",
        ))
    }

    /// Refuses to copy or pickle the table implicitly.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(TableTypeError::new_err(
            "tables on a CUDA device are neither pickled nor copied implicitly: to_table() copies them to the program",
        ))
    }

    /// The type and the number of the device.
    fn __dlpack_device__(&self, py: Python<'_>) -> PyResult<(i32, u32)> {
        let form = self.form(py)?;
        Ok((form.device_type, number_of(&form)))
    }

    /// Exports the memory to libraries that accept DLPack: ``torch.from_dlpack(table)``. Nothing is copied, unless with
    /// ``copy=True`` on the device. The consumer's stream waits for the work on the table.
    #[pyo3(signature = (stream = None, *, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (stream, form) = (stream_of(stream)?, self.form(py)?);
        let own = (form.device_type, number_of(&form) as i32);
        if dl_device.is_some_and(|device| device != own) {
            let text = format!("the table is on the device {own:?}: to_table() copies it to the program");
            return Err(PyBufferError::new_err(text));
        }
        let is_copied = copy == Some(true);
        let owner = match is_copied {
            true => self.converted(py, form.element, form.layout, ConversionPolicy::Saturate)?.lent(py, stream)?,
            false => self.lent(py, stream)?,
        };
        if max_version.is_some_and(|(major, _)| major >= 1) {
            return owner.capsule(py, is_copied);
        }
        if owner.is_read_only() {
            return Err(PyBufferError::new_err(
                "the values are read-only, which DLPack cannot express before version 1.0: pass max_version=(1, 0)",
            ));
        }
        owner.old_capsule(py)
    }

    /// The memory for libraries without DLPack, when the work on the table has ended.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let form = self.form(py)?;
        let dtype = element::dtype(py, form.element)?;
        let owner = self.lent(py, None)?;
        self.finish(py)?;
        let Shape { rows, columns } = form.shape;
        let size = form.element.size_in_bytes();
        let found = PyDict::new(py);
        found.set_item("shape", (rows, columns))?;
        found.set_item("typestr", dtype.getattr("str")?)?;
        found.set_item("data", (owner.address(), owner.is_read_only()))?;
        match form.layout {
            DataLayout::RowMajor => found.set_item("strides", py.None())?,
            DataLayout::ColumnMajor => found.set_item("strides", (size, rows * size))?,
        }
        found.set_item("stream", py.None())?; // there is nothing to wait for
        found.set_item("version", 3)?;
        Ok(found)
    }
}

fn number_of(form: &Form) -> u32 {
    numeric_table_execution::DeviceAdapter::id(&form.device).index
}

#[methods]
impl Table {
    /// Copies the table to the memory of a CUDA device, as values of one type, in the given order (``"C"`` or ``"F"``)
    /// or its own. Values are converted on the side where fewer bytes are transferred. ``device`` is a number, or
    /// ``"cuda:1"``.
    ///
    /// The driver is loaded by the first such call. Without a device, it raises :class:`DeviceError`.
    #[pyo3(signature = (device = None, dtype = None, *, order = None, policy = None))]
    fn to_device(
        &self,
        py: Python<'_>,
        device: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        order: Option<&str>,
        policy: Option<&str>,
    ) -> PyResult<DeviceTable> {
        let ordinal = device.map_or(Ok(0), device::ordinal)?;
        let layout = order.map(layout_of).transpose()?;
        let wanted = self.wanted(py, dtype, policy)?;
        gaps::refuse(&**self.read(py), "a device").or_raise()?;
        let device = device::open(py, ordinal)?;
        let table = self.steady(py)?;
        let table = table.table();
        gaps::refuse(table, "a device").or_raise()?;
        let dictionary = table.dictionary().with_element_type(wanted.element).or_raise()?;
        let upload = || uploaded(table, wanted.element, layout, wanted.policy, &device);
        let values = py.detach(upload).or_raise_of_device().map_err(|error| wanted.advise(error))?;
        Ok(DeviceTable::new(values, dictionary))
    }
}
