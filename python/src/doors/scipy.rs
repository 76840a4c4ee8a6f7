//! Conversion from and to SciPy's sparse arrays, in compressed sparse rows. SciPy itself is imported only to create one
//! of its arrays.

use numeric_table::table::{CsrParts, Rejected};
use numeric_table::{
    AnyArray, Array, ConversionPolicy, CsrNumericTable, Element, ElementType, Error, ErrorKind, NumericTable, Shape,
    TableConversion, error::SparseFault, interop::CopyReason, sparse::Indices,
};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::methods;
use crate::base::element::{self, with_type};
use crate::base::error::{CopyRequiredError, OrRaise, TableError, TableTypeError, exception};
use crate::base::lists;
use crate::base::share::Share;
use crate::doors::{self, Answer, Input};
use crate::table::Table;
use crate::table::reading::{Wanted, check_shape};
use crate::table::sparse;

#[methods]
impl Table {
    /// Returns a read-only ``scipy.sparse.csr_array``. A sparse table shares its memory if its type is the requested
    /// one. For a dense table, the nonzero values are copied. SciPy has no arrays of ``float16`` and ``bfloat16``:
    /// request another type. ``copy=True`` returns a writable copy; ``copy=False`` raises :class:`CopyRequiredError` if
    /// the values must be copied.
    ///
    /// ``policy`` is that of :meth:`rows`.
    #[pyo3(signature = (dtype = None, *, policy = None, copy = None))]
    fn to_scipy<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        policy: Option<&str>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = self.wanted(py, dtype, policy)?;
        let Wanted { element, policy, .. } = wanted;
        if matches!(element, ElementType::F16 | ElementType::Bf16) {
            let text = format!(
                "SciPy has no sparse arrays of {}: request another type (dtype=\"float32\")",
                element::name(element)
            );
            return Err(TableTypeError::new_err(text));
        }
        let table = self.snapshot(py)?;
        let table = &*table;
        if copy == Some(false) && sparse::of(table).is_none_or(|sparse| sparse.values().element_type() != element) {
            let reason = if sparse::of(table).is_some() { CopyReason::ElementType } else { CopyReason::Layout };
            return Err(exception(Error::new(ErrorKind::CopyRequired { reason })));
        }
        let made = py.detach(|| with_numbers(sparse_of(table, element, policy)?)).or_raise();
        let (made, offsets, indices) = made.map_err(|error| wanted.advise(error))?;
        let shape = made.shape();
        let CsrParts { offsets: own_offsets, indices: own_indices, values } = made.into_parts();
        let lend = |own: AnyArray, converted: Option<AnyArray>| lent(py, converted.unwrap_or(own));
        let (values, indices, offsets) = (lent(py, values)?, lend(own_indices, indices)?, lend(own_offsets, offsets)?);
        let options = PyDict::new(py);
        options.set_item("shape", (shape.rows, shape.columns))?;
        options.set_item("copy", copy == Some(true))?;
        let array =
            py.import("scipy.sparse")?.call_method("csr_array", ((values, indices, offsets),), Some(&options))?;
        array.setattr("has_canonical_format", true)?; // SciPy would look for it
        Ok(array)
    }
}

/// Converts a table to a sparse one of a type.
fn sparse_of(
    table: &dyn NumericTable,
    element: ElementType,
    policy: ConversionPolicy,
) -> numeric_table::Result<CsrNumericTable> {
    match sparse::of(table) {
        Some(sparse) if sparse.values().element_type() == element => Ok(sparse.clone()),
        Some(sparse) => sparse::converted(sparse, element, policy),
        None => with_type!(element, T => match policy {
            ConversionPolicy::Saturate => CsrNumericTable::from_dense::<T>(table),
            _ => CsrNumericTable::from_dense::<T>(&table.convert_with::<T>(policy)?),
        }),
    }
}

/// Returns a table whose offsets and indices have a type that SciPy supports, the same for both. Converts them if they
/// have another type.
fn with_numbers(
    table: CsrNumericTable,
) -> numeric_table::Result<(CsrNumericTable, Option<AnyArray>, Option<AnyArray>)> {
    let (offsets, indices) = (table.offsets(), table.indices());
    let is_one_type = offsets.element_type() == indices.element_type();
    let index = match offsets.element_type() {
        ElementType::I32 if is_one_type => ElementType::I32,
        _ => ElementType::I64,
    };
    let (offsets, indices) = (numbers(&offsets, index)?, numbers(&indices, index)?);
    Ok((table, offsets, indices))
}

/// Converts offsets or indices to a type; `None` if they already have it.
fn numbers(numbers: &Indices<'_>, index: ElementType) -> numeric_table::Result<Option<AnyArray>> {
    match index {
        _ if numbers.element_type() == index => Ok(None),
        ElementType::I32 => numbers.to_array::<i32>(0).map(|array| Some(array.into())),
        _ => numbers.to_array::<i64>(0).map(|array| Some(array.into())),
    }
}

/// Returns a read-only NumPy array over values.
fn lent(py: Python<'_>, array: AnyArray) -> PyResult<Bound<'_, PyAny>> {
    share(array)?.into_numpy(py)
}

pub(crate) fn share(array: AnyArray) -> PyResult<Share> {
    with_type!(array.element_type(), T => Ok(Share::vector(typed::<T>(array)?)))
}

fn typed<T: Element>(array: AnyArray) -> PyResult<Array<T>> {
    array.downcast::<T>().map_err(|_| TableTypeError::new_err("an array of another type"))
}

/// Creates a table from a SciPy sparse array or matrix, or from an object that converts to sparse rows (`tocsr`);
/// declines any other object. Unsorted or repeated cells are sorted and added up in new memory, as SciPy does.
///
/// `copy` is that of [`doors::table`], for the values. Offsets and indices must not change after their check, or rows
/// could not be read any more. A promise not to write them is not enough: even with `copy=False`, they are shared only
/// if no other code can write them.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    let (data, copy) = (input.data, input.copy);
    let py = data.py();
    if !data.hasattr("tocsr")? {
        return Ok(Answer::Declined);
    }
    let is_in_rows = match data.getattr_opt("format")? {
        Some(format) => format.eq("csr")?,
        None => false,
    };
    let rows = if is_in_rows {
        data.clone()
    } else if copy == Some(false) {
        return Err(CopyRequiredError::new_err("a copy is required: the values are not in compressed sparse rows"));
    } else {
        data.call_method0("tocsr")?
    };
    let counts = lists::items::<usize>(&rows.getattr("shape")?).map_err(|error| wrong_shape(py, &error))?;
    let [rows_count, columns] = counts[..] else {
        return Err(TableError::new_err(format!("a table has two dimensions, but this has {}", counts.len())));
    };
    let shape = Shape { rows: rows_count, columns };
    check_shape(shape)?;
    let part = |name: &str, copy: Option<bool>| doors::vector(&rows.getattr(name)?, copy);
    let of_places = copy.filter(|&copies| copies);
    let parts = CsrParts {
        offsets: part("indptr", of_places)?,
        indices: part("indices", of_places)?,
        values: part("data", copy)?,
    };
    let parts = without_surplus(parts)?;
    let made = py.detach(|| {
        let CsrParts { offsets, indices, values } = parts;
        let made = match copy {
            Some(false) => CsrNumericTable::try_new(shape, offsets, indices, values),
            _ => CsrNumericTable::from_unsorted(shape, offsets, indices, values),
        };
        made.map_err(Rejected::into_error)
    });
    match made {
        Ok(table) => Ok(Answer::Table(Box::new(table))),
        Err(error) if copy == Some(false) && is_unsorted(&error) => {
            Err(CopyRequiredError::new_err(format!("a copy is required: {error}")))
        }
        Err(error) => Err(exception(error)),
    }
}

fn wrong_shape(py: Python<'_>, error: &PyErr) -> PyErr {
    let is_number = error.is_instance_of::<PyOverflowError>(py) || error.is_instance_of::<PyValueError>(py);
    let is_known = is_number || error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyIndexError>(py);
    let text = format!("a shape is two counts: {}", error.value(py));
    if is_known { TableError::new_err(text) } else { error.clone_ref(py) }
}

/// Removes surplus elements: SciPy permits indices and values beyond the last offset.
fn without_surplus(parts: CsrParts) -> PyResult<CsrParts> {
    let last = |array: &AnyArray| match array.element_type() {
        ElementType::I32 => usize::try_from(*array.downcast_ref::<i32>()?.last()?).ok(),
        ElementType::I64 => usize::try_from(*array.downcast_ref::<i64>()?.last()?).ok(),
        ElementType::U32 => usize::try_from(*array.downcast_ref::<u32>()?.last()?).ok(),
        ElementType::U64 => usize::try_from(*array.downcast_ref::<u64>()?.last()?).ok(),
        _ => None,
    };
    let Some(end) = last(&parts.offsets) else { return Ok(parts) };
    let CsrParts { offsets, indices, values } = parts;
    Ok(CsrParts { offsets, indices: cut(indices, end)?, values: cut(values, end)? })
}

fn cut(array: AnyArray, end: usize) -> PyResult<AnyArray> {
    if array.len() <= end {
        return Ok(array);
    }
    with_type!(array.element_type(), T => Ok(typed::<T>(array)?.slice(..end).or_raise()?.into()))
}

/// Returns whether the indices of a sparse array are not in the order that a table requires.
fn is_unsorted(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SparseStructure { fault: SparseFault::NotAscending, .. })
}
