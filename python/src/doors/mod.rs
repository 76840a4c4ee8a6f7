//! The ways of values into tables and out of them: objects of NumPy, other libraries, and Python itself.
//!
//! Each file knows one kind of guest, in both directions: a function `from`, which makes a table of an object or declines
//! it, and the methods of `Table` that export it. [`DOORS`] lists them. `columns` puts together columns that Python code
//! has prepared, `capsules` reads Arrow's C structures, and `construct` is `Table(...)` itself.

#[forbid(unsafe_code)]
pub(crate) mod arrays;
#[forbid(unsafe_code)]
pub(crate) mod arrow;
pub(crate) mod capsules;
#[forbid(unsafe_code)]
pub(crate) mod columns;
#[forbid(unsafe_code)]
pub(crate) mod construct;
#[forbid(unsafe_code)]
pub(crate) mod devices;
pub(crate) mod dlpack;
#[forbid(unsafe_code)]
pub(crate) mod exports;
#[forbid(unsafe_code)]
pub(crate) mod frames;
#[forbid(unsafe_code)]
pub(crate) mod mappings;
#[forbid(unsafe_code)]
pub(crate) mod masked;
#[forbid(unsafe_code)]
pub(crate) mod pickle;
#[forbid(unsafe_code)]
pub(crate) mod scipy;
#[forbid(unsafe_code)]
pub(crate) mod sequences;

use numeric_table::{AnyArray, NumericTable};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::element;
use crate::base::error::{CopyRequiredError, TableError, TableTypeError};
use crate::base::memory;

/// An object that is to become a table, and how.
pub(crate) struct Input<'a, 'py> {
    pub(crate) data: &'a Bound<'py, PyAny>,
    /// `Some(true)` copies, `None` shares memory that is immutable, `Some(false)` shares any memory with a suitable order,
    /// and the caller promises not to write it.
    pub(crate) copy: Option<bool>,
    /// Whether the caller wants integers beside floats as rounded floats.
    pub(crate) rounds: bool,
    /// Whether it is an array of NumPy.
    pub(crate) is_array: bool,
    /// Whether its class is `numpy.ndarray`, and not a subclass.
    pub(crate) is_plain_array: bool,
}

/// What a door does with an object. An error ends the search: the object is the door's, but cannot be a table.
pub(crate) enum Answer {
    Table(Box<dyn NumericTable>),
    Declined,
}

impl From<Option<Box<dyn NumericTable>>> for Answer {
    fn from(table: Option<Box<dyn NumericTable>>) -> Self {
        table.map_or(Self::Declined, Self::Table)
    }
}

type Door = fn(&Input<'_, '_>) -> PyResult<Answer>;

/// The doors, in the order in which an object tries them. The last one accepts all that NumPy converts to an array, and
/// says what tables do not support.
const DOORS: [Door; 10] = [
    masked::from,
    arrays::from,
    frames::from,
    mappings::from,
    scipy::from,
    arrow::from,
    arrays::from_buffer,
    devices::from,
    dlpack::from,
    sequences::from,
];

/// Creates a table of an object. `copy` is that of [`Input`].
pub(crate) fn table(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Box<dyn NumericTable>> {
    table_of(data, copy, false)
}

/// Like [`table`]. `rounds` is that of [`Input`].
pub(crate) fn table_of(data: &Bound<'_, PyAny>, copy: Option<bool>, rounds: bool) -> PyResult<Box<dyn NumericTable>> {
    let class = data.py().import("numpy")?.getattr("ndarray")?;
    let (is_array, is_plain_array) = (data.is_instance(&class)?, data.get_type().is(&class));
    let input = Input { data, copy, rounds, is_array, is_plain_array };
    for door in DOORS {
        if let Answer::Table(table) = door(&input)? {
            return Ok(table);
        }
    }
    Err(TableTypeError::new_err("a table is made of an array, a buffer, a frame, columns, or rows of numbers"))
}

/// Creates an array of a vector of values, by the rules of [`table`].
pub(crate) fn vector(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<AnyArray> {
    let dimensions: usize = data.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Err(TableError::new_err(format!("an array of one dimension is required, but this has {dimensions}")));
    }
    element::of_object(&data.getattr("dtype")?)?; // others would be more than an array, or not this one
    let is_plain_array = data.get_type().is(&data.py().import("numpy")?.getattr("ndarray")?);
    memory::values_of(&*if is_plain_array { memory::of_array(data, copy)? } else { table(data, copy)? })
}

/// Makes NumPy convert an object to an array, by one of its functions.
fn array_by<'py>(input: &Input<'_, 'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = input.data.py();
    let (numpy, options) = (py.import("numpy")?, PyDict::new(py));
    let is_shared = input.copy == Some(false);
    if is_shared {
        options.set_item("copy", false)?;
    }
    let array = numpy.call_method(function, (input.data,), Some(&options));
    let array = array.map_err(|error| match is_shared && error.is_instance_of::<PyValueError>(py) {
        true => CopyRequiredError::new_err(format!("a copy is required: {}", error.value(py))),
        false => error,
    })?;
    match array.is_instance(&numpy.getattr("ndarray")?)? {
        true => Ok(array),
        false => Err(TableTypeError::new_err("NumPy cannot convert this object to an array")),
    }
}
