//! The library's errors as exceptions of Python's, with the same sentences.

use std::io::ErrorKind;
use std::path::Path;

use numeric_table::Error;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIndexError, PyMemoryError, PyOSError, PyPermissionError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

use crate::boundary::function;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use pyo3::{PyTypeInfo, create_exception};

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

/// What Python's own errors of files say: the number, if there is one, the words of the system, and the file.
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

    /// Returns the exception, with `said` before the words of the system.
    fn raised(self, said: &str) -> PyErr {
        let Self { source, path, reason } = self;
        let reason = format!("{said}{reason}");
        let number = source.raw_os_error().or(match source.kind() {
            ErrorKind::NotFound => Some(2),
            ErrorKind::PermissionDenied => Some(13),
            ErrorKind::AlreadyExists => Some(17),
            ErrorKind::NotADirectory => Some(20),
            ErrorKind::IsADirectory => Some(21),
            _ => None,
        });
        let kind = source.kind();
        let own = path.as_os_str().to_owned();
        let Some(number) = number else {
            return in_file::<TableFileError>(format!("{}: {reason}", path.display()), path);
        };
        Python::attach(|py| {
            let class = match kind {
                ErrorKind::NotFound => not_found(py),
                ErrorKind::PermissionDenied => not_permitted(py),
                _ => Ok(py.get_type::<TableFileError>()),
            };
            match class {
                // Of a number of Windows, Python finds its own.
                Ok(class) if cfg!(windows) && source.raw_os_error().is_some() => {
                    PyErr::from_type(class, (0, reason, own, number))
                }
                Ok(class) => PyErr::from_type(class, (number, reason, own)),
                Err(error) => error,
            }
        })
    }
}

/// Returns an exception that has a file, and no number.
fn in_file<C: PyTypeInfo>(text: String, path: &Path) -> PyErr {
    Python::attach(|py| {
        let error = PyErr::new::<C, _>(text);
        match error.value(py).setattr("filename", path.as_os_str()) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

/// Has errors of files without a number, which have a file nevertheless, say their text.
pub(crate) fn say(py: Python<'_>) -> PyResult<()> {
    let code = c"lambda self: OSError.__str__(self) if self.errno is not None or not self.args else str(self.args[0])";
    py.get_type::<TableFileError>().setattr("__str__", py.eval(code, None, None)?)
}

/// Advice of the library, and what it is here: the longer ones first. Options of CSV of other names than these are keywords.
const NAMES: [(&str, &str); 35] = [
    ("has no NaN for them", "has no NaN for them: fill them first, or cast to floats"),
    ("and nothing is said about what to do then", "and missing= says what becomes of such values"),
    ("CsvOptions::delimiter(b", "delimiter=("),
    ("CsvOptions::kind", "words="),
    ("CsvOptions::column_type", "dtypes="),
    ("CsvOptions::missing_in", "missing="),
    ("TimeUnit::Seconds and finer units keep the time", "seconds and finer units keep the time"),
    ("which the feature `csv-compressed` reads", "which has to be decompressed first"),
    (": `load_any` and `from_bytes_any` read any kind", ": load reads any kind, and astype makes one block of a table"),
    ("`allocate_data_memory` allocates it, `set_array` supplies it", "Table.zeros has some"),
    ("one element type is needed, which `convert` makes", "one element type is needed, which astype makes"),
    (": `set_column` supplies them", ""),
    ("; `load_as` converts", "; load and astype convert"),
    ("and CsvOptions::sample has decided", "and the first rows have decided"),
    ("the most that CsvOptions::max_decompression_ratio permits, which is", "which is the limit:"),
    ("the most that CsvOptions::max_decompressed_bytes permits", "which is the limit"),
    (": CsvWriteOptions::times(false) writes numbers", ""),
    (
        "this is an archive of `to_bytes`; `from_bytes` reads it",
        "this is an archive, as pickles have them, and no file",
    ),
    ("there is no file before `finish`", "the file is not written yet"),
    ("there is no table before `finish`", "the table is not written yet"),
    ("; several arrays in one file are read by `read_npy`", "; a file has one array"),
    ("`load` reads it", "load reads it"),
    ("perhaps .npz: `NpzReader` reads those", "perhaps .npz, which numpy.load reads"),
    ("`AosNumericTable::load_npy` reads it", "numpy.load reads it"),
    ("`HomogenNumericTable::load_npy` reads it", "load_npy reads it"),
    ("`Shards::of_files` opens it", "Shards([path]) opens it"),
    ("`Shards::append` adds files", "ShardsWriter begins a new folder"),
    ("`uniform` or `each`", "'uniform' or 'each'"),
    ("neither `uniform` nor `each`", "neither 'uniform' nor 'each'"),
    (": `#[repr(align(8))]` helps", ""),
    ("`release` it, or use `update_rows` or `update_column`", "write_rows writes it back"),
    ("`release` it", "write_rows writes it back"),
    ("`{Self}` is not", "it is not"),
    ("of type `{Self}`", "of this type"),
    ("`{converter}` converts", "astype converts"),
];

/// Puts the names that calls and options have here into advice, which names those of the library.
fn in_python(text: String) -> String {
    let is_plain = ["`", "Csv", "TimeUnit", "nothing is said", "has no NaN"].iter().all(|part| !text.contains(part));
    if is_plain {
        return text;
    }
    const OPTION: &str = "CsvOptions::";
    let mut text = NAMES.iter().fold(text, |text, (name, here)| text.replace(name, here));
    while let Some(start) = text.find(OPTION) {
        let name = start + OPTION.len();
        let is_end = |character: char| !character.is_ascii_alphanumeric() && character != '_';
        let end = text[name..].find(is_end).map_or(text.len(), |length| name + length);
        text = format!("{}{}={}", &text[..start], &text[name..end], &text[end..]);
    }
    text
}

/// Returns what becomes of a sentence of the library: for the tests, which have all of them.
#[function]
pub(crate) fn _in_python(text: String) -> String {
    in_python(text)
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
        Error::Format { path: Some(path), .. } | Error::ShardChanged { path, .. } => {
            in_file::<FormatError>(text, &path)
        }
        Error::Format { path: None, .. } => FormatError::new_err(text),
        Error::Io { path, source } => Refusal::new(&source, &path).raised(""),
        Error::RenameUnsupported { path, source } => {
            Refusal::new(&source, &path).raised("the file cannot be replaced at once, only written in place: ")
        }
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
