//! Pickles of tables.

use numeric_table::table::CsrParts;
use numeric_table::{AnyArray, CsrNumericTable, DataLayout, NumericTable, Shape, TableOutput};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError};
use crate::base::memory;
use crate::doors::scipy::share;
use crate::table::Table;
use crate::table::reading::{check_shape, order_of};
use crate::table::sparse;

#[methods]
impl Table {
    /// Pickles the table with its dictionary. From protocol 5 on, values are out of band if the pickler supports it.
    fn __reduce_ex__<'py>(slf: Bound<'py, Self>, protocol: i32) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (slf.py(), slf.get());
        let sparse = sparse::of(&**this.read(py)).cloned();
        if protocol >= 5
            && let Some(sparse) = sparse
        {
            let Shape { rows, columns } = sparse.shape();
            let (buffers, description) = pickled(py, &sparse)?;
            let arguments = (buffers, rows, columns, "C", description);
            return (py.get_type::<Self>().getattr("_rebuild")?, arguments).into_pyobject(py);
        }
        let element = this.read(py).uniform_type();
        if protocol >= 5
            && let Some(element) = element
            && this.is_shared(py, element)?
        {
            let order = order_of(this.read(py).data_layout());
            let Shape { rows, columns } = this.read(py).shape();
            let description = this.sliced(py, 0..0)?;
            let description = description.read(py).to_bytes().or_raise()?;
            let share = Bound::new(py, this.all(py, element)?)?;
            let buffer = py.import("pickle")?.call_method1("PickleBuffer", (share,))?;
            let arguments = (buffer, rows, columns, order, memory::python_bytes(py, &description)?);
            return (py.get_type::<Self>().getattr("_rebuild")?, arguments).into_pyobject(py);
        }
        let table = this.read(py);
        let whole = &**table;
        let bytes = py.detach(|| whole.to_bytes()).or_raise()?;
        drop(table);
        (py.get_type::<Self>().getattr("_from_bytes")?, (memory::python_bytes(py, &bytes)?,)).into_pyobject(py)
    }

    /// Creates a table from the values and the description of another one.
    #[staticmethod]
    fn _rebuild(
        values: &Bound<'_, PyAny>,
        rows: usize,
        columns: usize,
        order: &str,
        description: &[u8],
    ) -> PyResult<Self> {
        let described = numeric_table::files::from_bytes(description).or_raise()?;
        if let Some(described) = sparse::of(&*described) {
            return unpickled(values, rows, described).map(Self::new);
        }
        let element = described.uniform_type().ok_or_else(|| TableError::new_err("columns of several types"))?;
        check_shape(Shape { rows, columns })?;
        let layout = if order == "F" { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
        let mut table = memory::of_bytes(values, element, Shape { rows, columns }, layout)?;
        table.set_dictionary(described.dictionary().clone()).or_raise()?;
        Ok(Self::new(table))
    }

    #[staticmethod]
    fn _from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| numeric_table::files::from_bytes(bytes)).or_raise().map(Self::new)
    }
}

/// Returns the parts of a pickle of protocol 5: buffers of the three arrays, and a description without rows.
fn pickled<'py>(py: Python<'py>, table: &CsrNumericTable) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyBytes>)> {
    let description = table.slice_rows(..0).or_raise()?;
    let whole: &dyn NumericTable = &description;
    let description = memory::python_bytes(py, &whole.to_bytes().or_raise()?)?;
    let buffer_type = py.import("pickle")?.getattr("PickleBuffer")?;
    let CsrParts { offsets, indices, values } = table.clone().into_parts();
    let buffer = |array: AnyArray| buffer_type.call1((Bound::new(py, share(array)?)?,));
    Ok((PyTuple::new(py, [buffer(offsets)?, buffer(indices)?, buffer(values)?])?, description))
}

/// Creates a table from the result of [`pickled`].
fn unpickled(buffers: &Bound<'_, PyAny>, rows: usize, described: &CsrNumericTable) -> PyResult<Box<dyn NumericTable>> {
    let (offsets, indices, values): (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>) = buffers.extract()?;
    let parts = CsrParts {
        offsets: memory::array_of_bytes(&offsets, described.offsets().element_type())?,
        indices: memory::array_of_bytes(&indices, described.indices().element_type())?,
        values: memory::array_of_bytes(&values, described.values().element_type())?,
    };
    let shape = Shape { rows, columns: described.shape().columns };
    let dictionary = described.dictionary().clone();
    let made = buffers.py().detach(|| sparse::described(shape, parts, dictionary));
    Ok(Box::new(made.or_raise()?))
}
