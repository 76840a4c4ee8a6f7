//! Tables to and from objects with Arrow's PyCapsules: pyarrow, polars and others. Columns are shared where memory
//! allows. `capsules` reads and checks the input.

use std::sync::Arc;

use arrow_array::ffi::to_ffi;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, FixedSizeListArray, RecordBatch, RecordBatchIterator, StructArray, make_array};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields, Schema};
use numeric_table::{
    ElementType, FeatureType, HomogenNumericTable, MissingValues, NumericTable, SoaNumericTable, dictionary::TimeUnit,
    interop::CopyPolicy,
};
use numeric_table_arrow::prelude::*;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::base::boundary::methods;
use crate::base::element::with_type;
use crate::base::error::{OrRaise, TableError, TableTypeError, foreign};
use crate::doors::capsules::{self, Arrays};
use crate::doors::{Answer, Input};
use crate::table::Table;
use crate::table::describe::{label, set_name};

#[methods]
impl Table {
    /// Exports the columns to libraries that accept Arrow's PyCapsules: ``pyarrow.record_batch(table)``,
    /// ``polars.DataFrame(table)``. Points in time in seconds that polars does not have, in milliseconds, are refused.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema; // only a request: the consumer casts
        check_seconds(self, py)?; // this is the call of polars
        array(py, self)
    }

    /// Exports the columns to libraries that accept Arrow streams: ``pyarrow.table(table)``. Contiguously stored
    /// columns are not copied. Names and category labels are kept.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream(py, self)
    }
}

type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

fn batch(py: Python<'_>, table: &Table) -> PyResult<RecordBatch> {
    let table = table.read(py);
    let table = &**table;
    py.detach(|| table.to_record_batch()).or_raise()
}

/// Refuses points in time in seconds that polars, which stores milliseconds, does not have: it would wrap them.
pub(crate) fn check_seconds(table: &Table, py: Python<'_>) -> PyResult<()> {
    const LIMIT: i64 = i64::MAX / 1000;
    let table = table.read(py);
    let table = &**table;
    let is_beyond = |column: usize| -> numeric_table::Result<Option<(usize, i64)>> {
        let (values, validity) = table.column_with_validity(column, ..)?;
        let Ok(values) = values.downcast::<i64>() else { return Ok(None) };
        let is_missing = |row| validity.as_ref().is_some_and(|validity| validity.is_missing(row) == Some(true));
        let mut wrong = values.iter().copied().enumerate();
        Ok(wrong.find(|&(row, value)| !(-LIMIT..=LIMIT).contains(&value) && !is_missing(row)))
    };
    for (column, feature) in table.dictionary().iter().enumerate() {
        if feature.feature_type != FeatureType::Time(TimeUnit::Seconds) {
            continue;
        }
        if let Some((row, value)) = py.detach(|| is_beyond(column)).or_raise()? {
            let name = label(py, column, feature.name.as_deref())?.repr()?;
            return Err(TableError::new_err(format!(
                "column {name}, row {row}: polars has no point in time {value} s from 1970: its limits are -{LIMIT} s \
                 and {LIMIT} s; pyarrow.table(table) takes others"
            )));
        }
    }
    Ok(())
}

/// Returns capsules of a schema and of a struct with the columns.
fn array<'py>(py: Python<'py>, table: &Table) -> PyResult<Capsules<'py>> {
    let data = StructArray::from(batch(py, table)?).into_data();
    let (array, schema) = to_ffi(&data).map_err(|error| TableError::new_err(error.to_string()))?;
    let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
    Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
}

/// Returns a capsule of a stream with one batch.
fn stream<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = batch(py, table)?;
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// Returns a table of an object that exports Arrow data. Structs become a column for each field; lists of one length, a
/// row for each; other values, one column with their name. Declines an object that exports no Arrow data. Any other
/// failure is an error, and the object is not read in another way.
///
/// Shares memory with `copy=False` only. Arrow forbids writing exported memory, but pyarrow exports memory of NumPy
/// arrays, which their owner may write.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    let data = checked_by_pyarrow(input.data)?;
    let Some(Arrays { field, mut arrays }) = capsules::arrays(&data, check)? else { return Ok(Answer::Declined) };
    if arrays.is_empty() {
        arrays.push(ArrayData::new_empty(field.data_type()));
    }
    let policy = if input.copy == Some(false) { CopyPolicy::Never } else { CopyPolicy::Always };
    let options = ArrowOptions::new().copy(policy);
    data.py().detach(|| made(&field, arrays, options)).or_raise().map(Answer::Table)
}

fn made(field: &Field, arrays: Vec<ArrayData>, options: ArrowOptions) -> numeric_table::Result<Box<dyn NumericTable>> {
    match field.data_type() {
        DataType::Struct(_) => {
            let structs = arrays.into_iter().map(StructArray::from);
            Ok(Box::new(SoaNumericTable::from_struct_arrays(structs, options)?))
        }
        DataType::FixedSizeList(item, _) => {
            let lists = arrays.into_iter().map(FixedSizeListArray::from);
            let element = table_of_none(item)?.uniform_type().unwrap_or(ElementType::F64);
            with_type!(element, T => Ok(Box::new(HomogenNumericTable::<T>::from_fixed_size_lists(lists, options)?)))
        }
        _ => {
            let schema = Arc::new(Schema::new(vec![field.clone()]));
            let batch = |array: ArrayData| RecordBatch::try_new(schema.clone(), vec![make_array(array)]);
            let batches: Result<Vec<_>, _> = arrays.into_iter().map(batch).collect();
            let batches = batches.map_err(foreign)?;
            // Only a table with an array per column has missing values.
            let mut table = match batches.iter().any(|batch| batch.column(0).logical_null_count() > 0) {
                true => Box::new(SoaNumericTable::from_record_batches(batches, options)?),
                false => from_record_batches_any(batches, options)?,
            };
            if field.name().is_empty() {
                let mut dictionary = table.dictionary().clone();
                set_name(&mut dictionary, 0, None)?;
                table.set_dictionary(dictionary)?;
            }
            Ok(table)
        }
    }
}

/// Returns a table of one column without rows, or an error if tables do not support its type.
fn table_of_none(field: &Field) -> numeric_table::Result<Box<dyn NumericTable>> {
    from_record_batches_any([RecordBatch::new_empty(Arc::new(Schema::new(vec![field.clone()])))], ArrowOptions::new())
}

/// Refuses types that tables do not have, before an array is read.
fn check(field: &Field) -> PyResult<()> {
    let fields = match field.data_type() {
        DataType::Struct(fields) => fields.clone(),
        DataType::FixedSizeList(item, _) => Fields::from(vec![item.clone()]),
        _ => Fields::from(vec![field.clone()]),
    };
    let is_point = |of: &DataType| matches!(of, DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, None));
    if let Some(field) = fields.iter().find(|field| field.data_type().is_temporal() && !is_point(field.data_type())) {
        let (name, of) = (field.name(), field.data_type());
        let text = format!(
            "column {name:?} is of {of}: tables hold numbers, dates and timestamps without a time zone; cast it first"
        );
        return Err(TableTypeError::new_err(text));
    }
    if field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "arrow.fixed_shape_tensor") {
        return Err(TableTypeError::new_err("an array of tensors is not a table: to_numpy_ndarray() first"));
    }
    let none = RecordBatch::new_empty(Arc::new(Schema::new(fields)));
    SoaNumericTable::from_record_batches([none], ArrowOptions::new()).or_raise().map(drop)
}

/// Makes pyarrow check its own objects: it knows the length of its memory, which a capsule does not contain.
/// O(columns x chunks).
fn checked_by_pyarrow<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    let Some(pyarrow) = modules.get_item("pyarrow")? else { return Ok(data.clone()) };
    let is_one_of = |data: &Bound<'py, PyAny>, names: &[&str]| {
        for &name in names {
            // While pyarrow is being imported, its classes do not exist yet.
            if let Some(class) = pyarrow.getattr_opt(name)?
                && data.is_instance(&class)?
            {
                return Ok::<_, PyErr>(true);
            }
        }
        Ok(false)
    };
    // All batches of a reader are in memory together in any case.
    let is_reader = is_one_of(data, &["RecordBatchReader"])?;
    let data = if is_reader { data.call_method0("read_all")? } else { data.clone() };
    if is_one_of(&data, &["Table", "RecordBatch", "ChunkedArray", "Array"])? {
        data.call_method0("validate").map_err(|error| match error.is_instance_of::<PyValueError>(py) {
            true => TableError::new_err(format!("Arrow data cannot be read: {}", error.value(py))),
            false => error,
        })?;
    }
    Ok(data)
}
