//! Arrow's PyCapsules: tables to and from pyarrow and polars, columns shared where memory allows.

use std::ptr::NonNull;

use arrow_array::ffi::to_ffi;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array as _, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use numeric_table::{ArrowOptions, CopyPolicy, NumericTable, SoaNumericTable};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{OrRaise, TableError, TableTypeError};
use crate::table::Table;

type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

fn batch(py: Python<'_>, table: &Table) -> PyResult<RecordBatch> {
    let table = table.read(py);
    let table = &**table;
    py.detach(|| table.to_record_batch()).or_raise()
}

/// Returns capsules of a schema and of a struct of the columns.
pub(crate) fn array<'py>(py: Python<'py>, table: &Table) -> PyResult<Capsules<'py>> {
    let data = StructArray::from(batch(py, table)?).into_data();
    let (array, schema) = to_ffi(&data).map_err(|error| TableError::new_err(error.to_string()))?;
    let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
    Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
}

/// Returns a capsule of a stream of one batch.
pub(crate) fn stream<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = batch(py, table)?;
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// Returns a table of what lends a stream of batches; `None` if it lends none, or one of something else than columns.
///
/// Shares memory with `copy=False` only: Arrow's rule is that nobody writes what is lent, but pyarrow lends memory of NumPy's
/// arrays, which are written.
pub(crate) fn table(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Option<Box<dyn NumericTable>>> {
    let py = data.py();
    if !data.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let capsule = data.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast_into::<PyCapsule>().map_err(|_| PyTypeError::new_err("no capsule of a stream"))?;
    let pointer: NonNull<std::ffi::c_void> = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream, which is moved out: what remains says that it was released.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr().cast()) };
    let Ok(reader) = reader else { return Ok(None) }; // of values that are no struct: a single column
    let schema = reader.schema();
    if let Some(field) = schema.fields().iter().find(|field| field.data_type().is_temporal()) {
        let (name, of) = (field.name(), field.data_type());
        let text =
            format!("column {name:?} is of {of}: tables hold numbers, so say which (cast to whole numbers first)");
        return Err(TableTypeError::new_err(text));
    }
    let batches: Vec<RecordBatch> =
        py.detach(|| reader.collect::<Result<_, _>>()).map_err(|error| TableError::new_err(error.to_string()))?;
    let batches = if batches.is_empty() { vec![RecordBatch::new_empty(schema)] } else { batches };
    let policy = if copy == Some(false) { CopyPolicy::Never } else { CopyPolicy::Always };
    let options = ArrowOptions::new().copy(policy).nulls_to_nan(true);
    Ok(Some(Box::new(py.detach(|| SoaNumericTable::from_record_batches(batches, options)).or_raise()?)))
}
