//! The library's errors as exceptions of Python's, with the same sentences.

use std::io::ErrorKind;

use numeric_table::Error;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIndexError, PyMemoryError, PyOSError, PyPermissionError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

create_exception!(numeric_table, TableError, PyValueError, "Values, shapes or names that do not fit.");
create_exception!(numeric_table, NotRepresentableError, TableError, "A value that a conversion policy refuses.");
create_exception!(numeric_table, CopyRequiredError, TableError, "`copy=False`, and memory that cannot be shared.");
create_exception!(numeric_table, TableIndexError, PyIndexError, "A row or a column past the end.");
create_exception!(numeric_table, TableTypeError, PyTypeError, "A table or a type that a call does not take.");
create_exception!(numeric_table, TableFileError, PyOSError, "A file that cannot be read or written.");
create_exception!(numeric_table, FormatError, TableFileError, "A file whose content is damaged, or not a table.");

/// Returns the class of errors of a file that is not there: a [`TableFileError`], and Python's `FileNotFoundError`.
pub(crate) fn not_found(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let text = "A file that is not there: also a ``FileNotFoundError``.";
        of_both(&py.get_type::<PyFileNotFoundError>(), "TableFileNotFoundError", text)
    });
    class.map(|class| class.bind(py).clone())
}

/// Returns the class of errors of a file that may not be read or written: a [`TableFileError`], and Python's
/// `PermissionError`.
pub(crate) fn not_permitted(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let text = "A file that may not be read or written: also a ``PermissionError``.";
        of_both(&py.get_type::<PyPermissionError>(), "TableFilePermissionError", text)
    });
    class.map(|class| class.bind(py).clone())
}

fn of_both(class: &Bound<'_, PyType>, name: &str, text: &str) -> PyResult<Py<PyType>> {
    let py = class.py();
    let members = PyDict::new(py);
    members.set_item("__module__", "numeric_table")?;
    members.set_item("__doc__", text)?;
    let made = py.get_type::<PyType>().call1((name, (py.get_type::<TableFileError>(), class), members))?;
    Ok(made.cast_into::<PyType>()?.unbind())
}

fn of_file(source: &std::io::Error, text: String) -> PyErr {
    Python::attach(|py| {
        let class = match source.kind() {
            ErrorKind::NotFound => not_found(py),
            ErrorKind::PermissionDenied => not_permitted(py),
            _ => Ok(py.get_type::<TableFileError>()),
        };
        match (class, source.raw_os_error()) {
            (Ok(class), Some(number)) => PyErr::from_type(class, (number, text)),
            (Ok(class), None) => PyErr::from_type(class, text),
            (Err(error), _) => error,
        }
    })
}

/// Puts the names that options have here into advice, which names those of the library.
fn in_python(text: String) -> String {
    const NAMES: [(&str, &str); 10] = [
        ("has no NaN for them", "has no NaN for them: fill them first, or cast to floats"),
        ("and nothing is said about what to do then", "and missing= says what becomes of such values"),
        ("CsvOptions::delimiter(b", "delimiter=("),
        ("CsvOptions::decimal", "decimal="),
        ("CsvOptions::kind", "words="),
        ("CsvOptions::column_type", "dtypes="),
        ("CsvOptions::missing_texts", "missing_texts="),
        ("CsvOptions::missing_in", "missing="),
        ("CsvOptions::missing", "missing="),
        ("`load_any` and `from_bytes_any` read any kind", "load reads any kind, and astype makes one block of a table"),
    ];
    if !NAMES.iter().any(|(name, _)| text.contains(name)) {
        return text;
    }
    NAMES.iter().fold(text, |text, (name, here)| text.replace(name, here))
}

/// Returns the exception of an error.
pub(crate) fn exception(error: Error) -> PyErr {
    let text = in_python(error.to_string());
    match error {
        Error::RowsOutOfRange { .. }
        | Error::ColumnOutOfRange { .. }
        | Error::ColumnsOutOfRange { .. }
        | Error::ElementsOutOfRange { .. }
        | Error::CategoryOutOfRange { .. }
        | Error::ShardOutOfRange { .. } => TableIndexError::new_err(text),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        Error::ValueNotRepresentable { .. } => NotRepresentableError::new_err(text),
        Error::CopyRequired { .. } => CopyRequiredError::new_err(text),
        Error::UnknownColumn { .. } => TableError::new_err(text),
        Error::ReadOnlyTable | Error::MixedElementTypes { .. } => TableTypeError::new_err(text),
        Error::Format { .. } | Error::ShardChanged { .. } => FormatError::new_err(text),
        Error::Io { source, .. } => of_file(&source, text),
        _ => TableError::new_err(text),
    }
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
