//! The library's errors as Python exceptions, with the same messages.

use std::fmt::Display;
use std::io;
use std::path::Path;

use numeric_table::{DataDictionary, Error, ErrorKind, error::Hint};
use numeric_table_execution::HandleError;
use pyo3::exceptions::{
    PyBaseException, PyException, PyFileNotFoundError, PyIndexError, PyKeyError, PyMemoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

use crate::base::boundary::function;
use crate::base::element;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use pyo3::{PyErrArguments, PyTypeInfo, create_exception};

create_exception!(numeric_table, TableError, PyValueError, "Values, shapes or names that do not fit.");
create_exception!(numeric_table, NotRepresentableError, TableError, "A value that a conversion policy refuses.");
create_exception!(numeric_table, MissingValueError, TableError, "A missing value where one is needed.");
create_exception!(numeric_table, CopyRequiredError, TableError, "`copy=False`, and memory that cannot be shared.");
create_exception!(numeric_table, TableIndexError, PyIndexError, "A row or a column past the end.");
create_exception!(numeric_table, TableTypeError, PyTypeError, "A table or a type that a call does not take.");
create_exception!(numeric_table, TableFileError, PyOSError, "A file that cannot be read or written.");
create_exception!(numeric_table, FormatError, TableFileError, "A file whose content is damaged, or not a table.");
create_exception!(numeric_table, DeviceError, PyRuntimeError, "A CUDA device that is missing, lost, or has failed.");

/// Returns the class of errors for a missing file: a [`TableFileError`] and Python's `FileNotFoundError`.
pub(crate) fn not_found(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let text = "A file that is not there: also a ``FileNotFoundError``.";
        let classes = (py.get_type::<TableFileError>(), py.get_type::<PyFileNotFoundError>());
        of_both(classes, "TableFileNotFoundError", text, PyDict::new(py))
    });
    class.map(|class| class.bind(py).clone())
}

/// Returns the class of errors for missing permission: a [`TableFileError`] and Python's `PermissionError`.
pub(crate) fn not_permitted(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let text = "A file that may not be read or written: also a ``PermissionError``.";
        let classes = (py.get_type::<TableFileError>(), py.get_type::<PyPermissionError>());
        of_both(classes, "TableFilePermissionError", text, PyDict::new(py))
    });
    class.map(|class| class.bind(py).clone())
}

/// Returns the class of errors for a name that no column has: a [`TableError`] and Python's `KeyError`, which prints
/// its message as it is.
pub(crate) fn no_column(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let text = "A name that no column has: also a ``KeyError``.";
        let members = PyDict::new(py);
        members.set_item("__str__", py.get_type::<PyException>().getattr("__str__")?)?;
        let classes = (py.get_type::<TableError>(), py.get_type::<PyKeyError>());
        of_both(classes, "TableKeyError", text, members)
    });
    class.map(|class| class.bind(py).clone())
}

fn of_both<'py>(
    classes: (Bound<'py, PyType>, Bound<'py, PyType>),
    name: &str,
    text: &str,
    members: Bound<'py, PyDict>,
) -> PyResult<Py<PyType>> {
    let py = members.py();
    members.set_item("__module__", "numeric_table")?;
    members.set_item("__doc__", text)?;
    let made = py.get_type::<PyType>().call1((name, classes, members))?;
    Ok(made.cast_into::<PyType>()?.unbind())
}

/// The content of a file error in Python: the number, if there is one, the system's message, and the file.
struct Refusal<'e> {
    source: &'e std::io::Error,
    path: &'e Path,
    reason: String,
}

impl<'e> Refusal<'e> {
    fn new(source: &'e std::io::Error, path: &'e Path) -> Self {
        let text = source.to_string();
        let number = source.raw_os_error().map(|number| format!(" (os error {number})"));
        let reason = number.and_then(|number| text.strip_suffix(&number).map(str::to_owned)).unwrap_or(text);
        Self { source, path, reason }
    }

    /// Returns the exception, with `said` before the system's message.
    fn raised(self, said: &str) -> PyErr {
        let Self { source, path, reason } = self;
        let reason = format!("{said}{reason}");
        let number = source.raw_os_error().or(match source.kind() {
            io::ErrorKind::NotFound => Some(2),
            io::ErrorKind::PermissionDenied => Some(13),
            io::ErrorKind::AlreadyExists => Some(17),
            io::ErrorKind::NotADirectory => Some(20),
            io::ErrorKind::IsADirectory => Some(21),
            _ => None,
        });
        let kind = source.kind();
        let own = path.as_os_str().to_owned();
        let Some(number) = number else {
            return in_file::<TableFileError>(format!("{}: {reason}", path.display()), path);
        };
        Python::attach(|py| {
            let class = match kind {
                io::ErrorKind::NotFound => not_found(py),
                io::ErrorKind::PermissionDenied => not_permitted(py),
                _ => Ok(py.get_type::<TableFileError>()),
            };
            match class {
                // Python finds its own error number for one of Windows.
                Ok(class) if cfg!(windows) && source.raw_os_error().is_some() => {
                    PyErr::from_type(class, (0, reason, own, number))
                }
                Ok(class) => PyErr::from_type(class, (number, reason, own)),
                Err(error) => error,
            }
        })
    }
}

/// An exception that is made when it is raised.
struct Later<F>(F);

impl<F: FnOnce(Python<'_>) -> PyErr + Send + Sync> PyErrArguments for Later<F> {
    fn arguments(self, py: Python<'_>) -> Py<PyAny> {
        (self.0)(py).into_value(py).into_any() // Python raises an exception that is its own argument as it is
    }
}

/// Returns an exception that is made when it is raised, not before. An object of Python that is made can start the
/// garbage collector, and so finalizers of the user, which may use the table of the call that fails: until the call has
/// released its lock, no exception exists. `PyErr::new` of PyO3 is as late.
fn later(make: impl FnOnce(Python<'_>) -> PyErr + Send + Sync + 'static) -> PyErr {
    PyErr::new::<PyBaseException, _>(Later(make))
}

/// Returns an exception with an attribute.
fn with_attribute<C: PyTypeInfo>(
    text: String,
    name: &'static str,
    value: impl for<'py> IntoPyObject<'py> + Send + Sync + 'static,
) -> PyErr {
    later(move |py| {
        let error = PyErr::new::<C, _>(text);
        match error.value(py).setattr(name, value) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

/// Returns an exception that has a file, and no error number.
fn in_file<C: PyTypeInfo>(text: String, path: &Path) -> PyErr {
    with_attribute::<C>(text, "filename", path.as_os_str().to_owned())
}

/// Makes file errors print their message if they have a file but no error number.
pub(crate) fn say(py: Python<'_>) -> PyResult<()> {
    let code = c"lambda self: OSError.__str__(self) if self.errno is not None or not self.args else str(self.args[0])";
    // Without globals of its own, the function would have those of the user's program, and keep them for ever.
    let globals = PyDict::new(py);
    globals.set_item("__builtins__", py.import("builtins")?)?;
    py.get_type::<TableFileError>().setattr("__str__", py.eval(code, Some(&globals), None)?)
}

/// The library's calls and options that its hints name, and their counterparts in Python. An option is a keyword. Calls
/// that are not listed have no counterpart.
const CALLS: [(&str, &str); 22] = [
    ("ConversionPolicy::Saturate", "policy='saturate'"),
    ("CsvOptions::column_type", "dtypes="),
    ("CsvOptions::decimal", "decimal="),
    ("CsvOptions::delimiter", "delimiter="),
    ("CsvOptions::kind", "categorical="),
    ("CsvOptions::max_buffered_bytes", "max_buffered_bytes="),
    ("CsvOptions::missing", "missing="),
    ("CsvOptions::missing_in", "missing="),
    ("CsvOptions::missing_texts", "na_values="),
    ("CsvOptions::thousands", "thousands="),
    ("CsvOptions::trailing_delimiter", "trailing_delimiter="),
    ("HomogenNumericTable::load_npy", "load_npy"),
    ("Shards::from_paths", "Shards([path])"),
    ("TimeUnit::Seconds", "the unit of seconds"),
    ("allocate_data_memory", "Table.zeros"),
    ("convert", "astype"),
    ("drop_missing_rows", "dropna"),
    ("files::load", "load"),
    ("fill_missing", "fillna"),
    ("load_any", "load"),
    ("load_cast", "astype"),
    ("load_npy_cast", "astype"),
];

/// Returns a text in which element types have the names of NumPy: `uint8` for `u8`. Names and values between quotation
/// marks stay as they are.
pub(crate) fn in_terms_of_numpy(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let (mut word, mut is_quoted, mut is_escaped) = (String::new(), false, false);
    for character in text.chars().chain(['\n']) {
        if !is_quoted && (character.is_alphanumeric() || character == '_') {
            word.push(character);
            continue;
        }
        match word.parse() {
            Ok(found_type) => found.push_str(element::name(found_type)),
            Err(_) => found.push_str(&word),
        }
        word.clear();
        found.push(character);
        if !is_escaped && character == '"' {
            is_quoted = !is_quoted;
        }
        is_escaped = is_quoted && !is_escaped && character == '\\';
    }
    found.pop(); // the end that is added
    found
}

/// Returns the message of an error without hints, in the terms of NumPy. The path of a file stays as it is.
fn message(error: &Error) -> String {
    let (message, kind) = (error.message().to_string(), error.kind().to_string());
    match (error.kind(), message.strip_suffix(&kind)) {
        (ErrorKind::Io { .. } | ErrorKind::RenameUnsupported { .. }, _) | (_, None) => message,
        (_, Some(path)) => format!("{path}{}", in_terms_of_numpy(&kind)),
    }
}

/// Returns the message of an error, with hints that name calls and keywords of Python.
fn sentence(error: &Error) -> String {
    let here = |hint: &Hint| {
        let (_, name) = CALLS.iter().find(|(call, _)| *call == hint.call())?;
        Some(format!("{name} {}", hint.effect()))
    };
    let hints: Vec<String> = error.hints().iter().filter_map(here).collect();
    match hints.is_empty() {
        true => message(error),
        false => format!("{}: {}", message(error), hints.join(", ")),
    }
}

/// Returns the names of the library's calls that hints may contain, for the tests.
#[function]
pub(crate) fn _calls_of_hints() -> Vec<(&'static str, &'static str)> {
    CALLS.to_vec()
}

/// The attribute of an exception that holds its message without hints, for more specific advice.
const MESSAGE: &str = "_message";

/// Replaces the library's hints with `advice` in a [`NotRepresentableError`]. Returns any other error unchanged.
pub(crate) fn with_advice(error: PyErr, advice: &dyn Display) -> PyErr {
    let advice = advice.to_string();
    later(move |py| {
        if !error.is_instance_of::<NotRepresentableError>(py) {
            return error;
        }
        let value = error.value(py);
        let said: PyResult<String> = value.getattr(MESSAGE).and_then(|message| message.extract());
        let text = said.unwrap_or_else(|_| value.to_string());
        NotRepresentableError::new_err(format!("{text}: {advice}"))
    })
}

/// Returns the exception for a name that no column has.
pub(crate) fn key_error(text: String) -> PyErr {
    later(move |py| match no_column(py) {
        Ok(class) => PyErr::from_type(class, text),
        Err(error) => error,
    })
}

/// Converts an error to an exception, which is made [`later`].
pub(crate) fn exception(error: Error) -> PyErr {
    let text = sentence(&error);
    let (path, message) = (error.path().map(Path::to_owned), message(&error));
    match error.into_kind() {
        ErrorKind::RowsOutOfRange { .. } | ErrorKind::ColumnOutOfRange { .. } | ErrorKind::OutOfRange { .. } => {
            TableIndexError::new_err(text)
        }
        ErrorKind::OutOfMemory => PyMemoryError::new_err(text),
        ErrorKind::ValueNotRepresentable { .. } => with_attribute::<NotRepresentableError>(text, MESSAGE, message),
        ErrorKind::MissingValue { .. } => MissingValueError::new_err(text),
        ErrorKind::UnknownName { what: "column", .. } => key_error(text),
        ErrorKind::CopyRequired { .. } => CopyRequiredError::new_err(text),
        ErrorKind::ReadOnlyTable | ErrorKind::MixedElementTypes { .. } => TableTypeError::new_err(text),
        ErrorKind::Format { .. } | ErrorKind::ShardChanged { .. } => match path {
            Some(path) => in_file::<FormatError>(text, &path),
            None => FormatError::new_err(text),
        },
        ErrorKind::Io { source } if path.is_some() => Refusal::new(&source, &path.unwrap_or_default()).raised(""),
        ErrorKind::RenameUnsupported { source } => Refusal::new(&source, &path.unwrap_or_default())
            .raised("the file cannot be replaced atomically, only written in place: "),
        _ => TableError::new_err(text),
    }
}

/// Converts an error of reading a table to an exception, which names the column of a missing value.
pub(crate) fn exception_in(error: Error, dictionary: &DataDictionary) -> PyErr {
    let &ErrorKind::MissingValue { row, column } = error.kind() else { return exception(error) };
    let name = dictionary.feature(column).ok().and_then(|feature| feature.name.as_deref());
    let name = name.map_or_else(String::new, |name| format!(" ({name:?})"));
    MissingValueError::new_err(format!(
        "the value at row {row}, column {column}{name} is missing, and integers have no NaN: fillna replaces missing \
         values, dropna leaves such rows out, to_masked keeps them, dtype=\"float64\" reads them as NaN"
    ))
}

/// Converts an error of a device to an exception.
fn of_device(error: HandleError) -> PyErr {
    let text = in_terms_of_numpy(&error.to_string());
    match error {
        HandleError::Library(error) => exception(error),
        HandleError::DeviceAlloc { .. } | HandleError::HostAlloc { .. } => PyMemoryError::new_err(text),
        HandleError::ReadOnly => TableTypeError::new_err(text),
        HandleError::LengthMismatch { .. } | HandleError::LengthOverflow | HandleError::WrongMemory(_) => {
            TableError::new_err(text)
        }
        _ => DeviceError::new_err(text),
    }
}

/// Returns the error for a failed call of Arrow.
pub(crate) fn foreign(source: arrow_schema::ArrowError) -> Error {
    Error::new(ErrorKind::Foreign { reason: format!("Arrow failed: {source}"), source: Box::new(source) })
}

/// `?` for results of the library.
pub(crate) trait OrRaise<V> {
    fn or_raise(self) -> PyResult<V>;
}

impl<V> OrRaise<V> for numeric_table::Result<V> {
    fn or_raise(self) -> PyResult<V> {
        self.map_err(exception)
    }
}

/// `?` for results of devices.
pub(crate) trait OrRaiseOfDevice<V> {
    fn or_raise_of_device(self) -> PyResult<V>;
}

impl<V> OrRaiseOfDevice<V> for Result<V, HandleError> {
    fn or_raise_of_device(self) -> PyResult<V> {
        self.map_err(of_device)
    }
}
