//! Errors of this crate: kinds of `numeric-table` with the facts of Arrow.

use arrow_schema::ArrowError;
use numeric_table::{
    AnyValue, ElementType, Error, ErrorKind,
    error::{Difference, Hint},
};

/// Returns the error of a column that a table or Arrow cannot hold.
pub(crate) fn unsupported(column: Option<usize>, name: Option<String>, reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported { target: "Arrow", row: None, column, name, reason: reason.into() })
}

/// Returns the error of an element type that Arrow does not have.
pub(crate) fn unsupported_type(element: ElementType) -> Error {
    Error::new(ErrorKind::UnsupportedElementType { element, target: "Arrow" })
}

/// Returns the error of a call of Arrow that failed.
pub(crate) fn failed(source: ArrowError) -> Error {
    Error::new(ErrorKind::Foreign { reason: format!("Arrow failed: {source}"), source: source.into() })
}

/// Returns the error of values that do not have the element type that was expected.
pub(crate) fn type_mismatch(expected: ElementType, found: ElementType) -> Error {
    Error::new(ErrorKind::ElementTypeMismatch { expected, actual: found, column: None })
}

/// Returns the error of a value that a conversion refuses.
pub(crate) fn not_representable(row: usize, column: usize, value: AnyValue, target: ElementType) -> Error {
    Error::new(ErrorKind::ValueNotRepresentable { row, column, value, target })
        .with_hint(Hint::new("ConversionPolicy::Saturate", "accepts it in calls that take a policy"))
}

/// Returns the error of a batch that does not fit a table.
pub(crate) fn unequal(table: usize, column: Option<usize>, difference: Difference, reason: String) -> Error {
    Error::new(ErrorKind::UnequalTables { table, column, difference, reason })
}
