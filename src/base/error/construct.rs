//! Constructors of errors that are returned from several places.

use super::{Difference, Error, ErrorKind, Hint, SparseFault};
use crate::base::element::ElementType;
use crate::base::text::excerpt;
use crate::base::value::AnyValue;

impl Error {
    /// Returns the error of a value that a conversion rejects.
    pub(crate) fn not_representable(row: usize, column: usize, value: AnyValue, target: ElementType) -> Self {
        Self::new(ErrorKind::ValueNotRepresentable { row, column, value, target })
            .with_hint(Hint::new("ConversionPolicy::Saturate", "accepts it in calls that take a policy"))
    }

    /// Returns a [`ParameterOutOfRange`](ErrorKind::ParameterOutOfRange).
    pub(crate) fn parameter(name: &'static str, value: f64, allowed: &'static str) -> Self {
        Self::new(ErrorKind::ParameterOutOfRange { name: name.into(), value, allowed: allowed.into() })
    }

    /// Returns the error of a block size of zero rows, which would never reach the end of the table.
    pub(crate) fn empty_blocks() -> Self {
        Self::parameter("the number of rows of a block", 0.0, "at least 1 is needed")
    }

    /// Returns the error of joining an empty list of tables.
    pub(crate) fn no_tables() -> Self {
        Self::parameter("the number of tables", 0.0, "at least 1 is needed")
    }

    /// Returns an [`OutOfRange`](ErrorKind::OutOfRange) of one index.
    pub(crate) fn index_out_of_range(what: &'static str, index: usize, count: usize) -> Self {
        Self::new(ErrorKind::OutOfRange { what, range: index..index.saturating_add(1), count })
    }

    /// Returns the error of values that are not contiguous, where one slice is needed.
    pub(crate) fn not_contiguous() -> Self {
        Self::new(ErrorKind::MemoryLayout { reason: "the values are not contiguous in memory".to_owned() })
    }

    /// Returns the error of a table whose number of columns differs from the first.
    pub(crate) fn unequal_columns(table: usize, expected: usize, found: usize) -> Self {
        unequal(table, None, Difference::Columns, format!("expected {expected} columns, found {found}"))
    }

    /// Returns the error of a table whose number of rows differs from the first.
    pub(crate) fn unequal_rows(table: usize, expected: usize, found: usize) -> Self {
        unequal(table, None, Difference::Rows, format!("expected {expected} rows, found {found}"))
    }

    /// Returns the error of a column whose element type differs from the first table.
    pub(crate) fn unequal_types(table: usize, column: usize, expected: ElementType, found: ElementType) -> Self {
        let reason = format!("column {column} has values of {found} instead of {expected}");
        unequal(table, Some(column), Difference::ElementType, reason)
    }

    /// Returns the error of a column whose name belongs to another column of table 0.
    pub(crate) fn named_elsewhere(table: usize, column: usize, name: &str) -> Self {
        let reason = format!(
            "column {column} has the name {:?}, which belongs to another column of table 0",
            excerpt(name.as_bytes())
        );
        unequal(table, Some(column), Difference::Name, reason)
    }

    /// Returns the error of a column whose categories have different labels, or the same labels in a different order.
    pub(crate) fn unequal_categories(table: usize, column: usize) -> Self {
        let reason = format!("column {column} has categories without labels or with different labels");
        unequal(table, Some(column), Difference::Categories, reason)
    }

    /// Returns the error of a column whose description differs from the first table.
    pub(crate) fn unequal_features(table: usize, column: usize, part: &'static str) -> Self {
        unequal(table, Some(column), Difference::Description, format!("column {column} has a different {part}"))
    }

    /// Returns a [`LimitExceeded`](ErrorKind::LimitExceeded).
    pub(crate) fn limit(what: &'static str, found: usize, limit: usize) -> Self {
        Self::new(ErrorKind::LimitExceeded { what, actual: found as u128, limit: limit as u64 })
    }

    /// Returns a [`RecordLayout`](ErrorKind::RecordLayout).
    pub(crate) fn record_layout(column: Option<usize>, reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::RecordLayout { column, reason: reason.into() })
    }

    /// Returns a [`SparseStructure`](ErrorKind::SparseStructure).
    pub(crate) fn sparse_structure(
        fault: SparseFault,
        row: Option<usize>,
        position: Option<usize>,
        reason: String,
    ) -> Self {
        Self::new(ErrorKind::SparseStructure { fault, row, position, reason })
    }

    /// Returns the error of an unsupported element type for indices, which `part` names.
    pub(crate) fn not_an_index(part: &str, found: ElementType) -> Self {
        let reason = format!("the {part} are {found}: expected i32, u32, i64 or u64");
        Self::sparse_structure(SparseFault::Type, None, None, reason)
    }

    /// Returns an [`Unsupported`](ErrorKind::Unsupported).
    #[cfg(any(feature = "csv", feature = "npy"))]
    pub(crate) fn unsupported(
        target: &'static str,
        column: Option<usize>,
        name: Option<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Unsupported { target, row: None, column, name, reason: reason.into() })
    }

    /// Returns a [`NotCombinable`](ErrorKind::NotCombinable).
    pub(crate) fn not_combinable(reason: String) -> Self {
        Self::new(ErrorKind::NotCombinable { reason })
    }

    /// Returns the error of a category value that is not a valid index.
    pub(crate) fn not_a_category(row: usize, column: usize, value: f64, categories: usize) -> Self {
        let what = if value.is_nan() { "is missing" } else { "is not a valid category" };
        let reason = match categories.checked_sub(1) {
            Some(last) => format!("{what}: expected an integer from 0 to {last}"),
            None => format!("{what}: there are no categories"),
        };
        Self::new(ErrorKind::ValueNotAllowed { row, column, value, reason })
    }
}

fn unequal(table: usize, column: Option<usize>, difference: Difference, reason: String) -> Error {
    Error::new(ErrorKind::UnequalTables { table, column, difference, reason })
}
