//! The library's errors as exceptions of Python's, with the same sentences.

use numeric_table::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;

create_exception!(numeric_table, TableError, PyValueError, "Values, shapes or names that do not fit.");
create_exception!(numeric_table, NotRepresentableError, TableError, "A value that a conversion policy refuses.");
create_exception!(numeric_table, CopyRequiredError, TableError, "`copy=False`, and memory that cannot be shared.");
create_exception!(numeric_table, TableIndexError, PyIndexError, "A row or a column past the end.");
create_exception!(numeric_table, TableTypeError, PyTypeError, "A table or a type that a call does not take.");
create_exception!(numeric_table, TableFileError, PyOSError, "A file that cannot be read or written.");
create_exception!(numeric_table, FormatError, TableFileError, "A file whose content is damaged, or not a table.");

/// Returns the exception of an error.
pub(crate) fn exception(error: Error) -> PyErr {
    let text = error.to_string();
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
        Error::Io { source, .. } => match source.raw_os_error() {
            // `OSError(number, text)` makes a `FileNotFoundError` and its like; ours says which file.
            Some(number) if source.kind() == std::io::ErrorKind::NotFound => {
                pyo3::exceptions::PyFileNotFoundError::new_err((number, text))
            }
            Some(number) => TableFileError::new_err((number, text)),
            None => TableFileError::new_err(text),
        },
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
