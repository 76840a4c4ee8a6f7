//! The error type of the library.
//!
//! A caller's mistake, a failed allocation or a damaged archive is an [`Error`]. A broken invariant of this library is
//! a panic. Messages are lower case and include the index and the limit.

mod cause;
mod construct;
mod hint;
mod kind;
mod place;
#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::base::element::ElementType;
use crate::base::text::escaped;
pub use cause::{Difference, SparseFault, Unsolvable};
pub use hint::Hint;
pub use kind::ErrorKind;
pub use place::Place;

/// The result of fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, with the requested value and the limit.
///
/// [`kind`](Self::kind) returns what happened, with its facts. [`place`](Self::place), [`path`](Self::path) and
/// [`line`](Self::line) return where it happened, and [`hints`](Self::hints) returns possible remedies. `to_string`
/// formats all of it on one line.
///
/// A call that returns an error leaves everything unchanged unless its documentation says otherwise. An error is 16
/// bytes wide. An out-of-memory error allocates nothing.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0]])?;
/// let error = table.rows::<f64>(1..3).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 2, .. }));
/// assert_eq!(error.to_string(), "rows 1..3 are out of range: the table has 2 rows");
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct Error {
    report: Report,
}

/// Running out of memory must not need memory, so only the other errors are boxed.
enum Report {
    OutOfMemory { bytes: usize },
    Boxed(Box<Facts>),
}

struct Facts {
    kind: ErrorKind,
    path: Option<PathBuf>,
    hints: Vec<Hint>,
}

impl Error {
    /// Creates an error of the given kind, for your own table kinds and algorithms.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// fn first_of(values: &[f64]) -> numeric_table::Result<f64> {
    ///     values.first().copied().ok_or_else(|| Error::new(ErrorKind::TooFewRows { rows: 0, needed: 1 }))
    /// }
    /// assert_eq!(first_of(&[]).unwrap_err().to_string(), "0 rows are too few: 1 are needed");
    /// ```
    #[cold]
    pub fn new(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::OutOfMemory => Self::out_of_memory(0),
            kind => Self { report: Report::Boxed(Box::new(Facts { kind, path: None, hints: Vec::new() })) },
        }
    }

    /// Returns the error of an allocation that the system refused. Allocates nothing.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Error, ErrorKind};
    /// let error = Error::out_of_memory(1 << 40);
    /// assert!(matches!(error.kind(), ErrorKind::OutOfMemory));
    /// assert_eq!(error.to_string(), "out of memory: could not allocate 1099511627776 bytes");
    /// ```
    #[must_use]
    pub const fn out_of_memory(bytes: usize) -> Self {
        Self { report: Report::OutOfMemory { bytes } }
    }

    /// Wraps any error or message, so that a closure can return it as the library's [`Result`]. An error of the library
    /// is returned unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// let result = table.update_rows::<f64, _>(.., |block| {
    ///     block[0] = "1.2.3".parse().map_err(Error::other)?;
    ///     Ok(())
    /// });
    /// let error = result.unwrap_err();
    /// let ErrorKind::Other { source } = error.kind() else { panic!("no number") };
    /// assert!(source.is::<std::num::ParseFloatError>());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn other(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => Self::new(ErrorKind::Other { source }),
        }
    }

    /// Returns what went wrong, with its facts.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// let error = table.value::<u8>(0, 2).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        match &self.report {
            Report::OutOfMemory { .. } => &ErrorKind::OutOfMemory,
            Report::Boxed(facts) => &facts.kind,
        }
    }

    /// Returns the kind by value, without path and hints, for example to extract the error of the system or of another
    /// library.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Error, ErrorKind};
    /// let error = Error::io("a.ntb", std::io::ErrorKind::NotFound.into());
    /// let ErrorKind::Io { source } = error.into_kind() else { panic!("another kind") };
    /// assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    /// ```
    #[must_use]
    pub fn into_kind(self) -> ErrorKind {
        match self.report {
            Report::OutOfMemory { .. } => ErrorKind::OutOfMemory,
            Report::Boxed(facts) => facts.kind,
        }
    }

    /// Returns the error with a different kind and the same file.
    #[cfg(feature = "npz")]
    pub(crate) fn map_kind(self, change: impl FnOnce(ErrorKind) -> ErrorKind) -> Self {
        match self.report {
            Report::OutOfMemory { .. } => self,
            Report::Boxed(mut facts) => {
                facts.kind = change(facts.kind);
                Self { report: Report::Boxed(facts) }
            }
        }
    }

    /// Returns the file that the error is about, as the caller named it, or the object of a store.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let error = HomogenNumericTable::<f32>::load("no/such.ntb").unwrap_err();
    /// assert_eq!(error.path().unwrap().to_str(), Some("no/such.ntb"));
    /// ```
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.report {
            Report::OutOfMemory { .. } => None,
            Report::Boxed(facts) => facts.path.as_deref(),
        }
    }

    /// Returns the number of bytes that the system refused, zero if it is unknown; `None` if the error is not about
    /// memory.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Error;
    /// assert_eq!(Error::out_of_memory(64).refused_bytes(), Some(64));
    /// assert_eq!(Error::other("no memory").refused_bytes(), None);
    /// ```
    #[must_use]
    pub fn refused_bytes(&self) -> Option<usize> {
        match self.report {
            Report::OutOfMemory { bytes } => Some(bytes),
            Report::Boxed(_) => None,
        }
    }

    /// Returns the line of a text file, counted from 1, that the error is about.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "csv")] {
    /// use numeric_table::csv::CsvSource;
    /// let error = CsvSource::from_bytes(&b"a\n1\nx\n"[..])?.load::<f64>().unwrap_err();
    /// assert_eq!(error.line(), Some(3));
    /// # }
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match self.kind() {
            ErrorKind::Text { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// Returns the message without the [`hints`](Self::hints), which other languages spell with their own names.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Error, ErrorKind};
    /// let error = Error::new(ErrorKind::ColumnNotSet { column: 2 });
    /// assert_eq!(error.message().to_string(), "column 2 has no values yet");
    /// assert_eq!(error.to_string(), "column 2 has no values yet: `set_column` supplies them");
    /// ```
    #[must_use]
    pub fn message(&self) -> impl fmt::Display + '_ {
        Message(self)
    }

    /// Returns the error with the file that it is about, unless it already has one or is an out-of-memory error.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Error, ErrorKind};
    /// let error = Error::new(ErrorKind::TooFewRows { rows: 1, needed: 2 }).in_file("a.ntb");
    /// assert_eq!(error.to_string(), "a.ntb: 1 rows are too few: 2 are needed");
    /// ```
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<Path>) -> Self {
        if let Report::Boxed(facts) = &mut self.report {
            facts.path.get_or_insert_with(|| file.as_ref().to_owned());
        }
        self
    }

    /// Adds the file to an error of writing it. An error about the written table stays the same.
    pub(crate) fn in_written_file(self, file: impl AsRef<Path>) -> Self {
        match self.kind() {
            ErrorKind::Format { .. } | ErrorKind::Io { .. } => self.in_file(file),
            _ => self,
        }
    }

    /// Returns the error with a file, if there is one.
    pub(crate) fn in_some_file(self, file: Option<impl AsRef<Path>>) -> Self {
        match file {
            Some(file) => self.in_file(file),
            None => self,
        }
    }

    /// Returns the error of a file that the system failed to read or write.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Error;
    /// let error = Error::io("a.ntb", std::io::ErrorKind::PermissionDenied.into());
    /// assert_eq!(error.to_string(), "a.ntb: permission denied");
    /// ```
    pub fn io(file: impl AsRef<Path>, source: io::Error) -> Self {
        Self::stream(source).in_file(file)
    }

    /// Returns the error of a reader or writer that the caller passed in.
    pub(crate) fn stream(source: io::Error) -> Self {
        Self::new(ErrorKind::Io { source })
    }

    /// Returns a [`Format`](ErrorKind::Format) error without a path: [`in_file`](Self::in_file) adds it.
    pub(crate) fn format(offset: u64, reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Format { offset, reason: reason.into() })
    }

    /// Returns an [`ElementTypeMismatch`](ErrorKind::ElementTypeMismatch) of an entire table.
    pub(crate) fn element_type_mismatch(expected: ElementType, found: ElementType) -> Self {
        Self::new(ErrorKind::ElementTypeMismatch { expected, actual: found, column: None })
    }
}

/// Returns a path as shown in a message: on one line, and quoted if it is empty.
fn shown(path: &Path) -> String {
    match path.display().to_string() {
        empty if empty.is_empty() => "\"\"".to_owned(),
        path => escaped(path.chars()),
    }
}

/// The message of an error without its hints.
struct Message<'e>(&'e Error);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.report, self.0.path()) {
            (Report::OutOfMemory { bytes: 0 }, _) => f.write_str("out of memory"),
            (Report::OutOfMemory { bytes }, _) => write!(f, "out of memory: could not allocate {bytes} bytes"),
            (Report::Boxed(facts), Some(path)) => write!(f, "{}: {}", shown(path), facts.kind),
            (Report::Boxed(facts), None) => match &facts.kind {
                ErrorKind::Io { source } => write!(f, "the stream failed: {source}"),
                kind => kind.fmt(f),
            },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Message(self).fmt(f)?;
        for (index, hint) in self.hints().iter().enumerate() {
            write!(f, "{}{hint}", if index == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}

/// Formats the message, because `main` prints a returned error this way; `{:#?}` formats the fields.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.report {
            _ if !f.alternate() => write!(f, "{self}"),
            Report::OutOfMemory { bytes } => f.debug_struct("OutOfMemory").field("bytes", bytes).finish(),
            Report::Boxed(facts) => {
                let Facts { kind, path, hints } = &**facts;
                f.debug_struct("Error").field("kind", kind).field("path", path).field("hints", hints).finish()
            }
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.kind().source()
    }
}
