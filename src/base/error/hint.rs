//! Remedies for errors, as data that each language binding spells with its own names.

use std::borrow::Cow;
use std::fmt;

use super::{Error, ErrorKind, Report};

/// A call or an option that helps to resolve an error, and its effect. `to_string` uses the Rust names. Other languages
/// look up their own name by [`call`](Self::call).
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::<f32>::new(Shape { rows: 1, columns: 2 }, AllocationFlag::DoNotAllocate)?;
/// let error = table.rows::<f32>(..).unwrap_err();
/// let calls: Vec<&str> = error.hints().iter().map(|hint| hint.call()).collect();
/// assert_eq!(calls, ["allocate_data_memory", "set_array"]);
/// assert_eq!(error.hints()[0].to_string(), "`allocate_data_memory` allocates it");
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    call: &'static str,
    effect: Cow<'static, str>,
}

impl Hint {
    /// Creates a hint: `call` names a Rust call or option, and `effect` is a verb phrase that describes what it does.
    #[must_use]
    pub const fn new(call: &'static str, effect: &'static str) -> Self {
        Self { call, effect: Cow::Borrowed(effect) }
    }

    /// Creates a hint whose effect includes a value.
    #[cfg(feature = "csv")]
    pub(crate) fn with_effect(call: &'static str, effect: String) -> Self {
        Self { call, effect: Cow::Owned(effect) }
    }

    /// Returns the name of the call, the option or the feature in Rust.
    #[must_use]
    pub fn call(&self) -> &'static str {
        self.call
    }

    /// Returns the verb phrase that describes the effect.
    #[must_use]
    pub fn effect(&self) -> &str {
        &self.effect
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.call, self.effect)
    }
}

impl Error {
    /// Returns the hints; empty if there are none.
    #[must_use]
    pub fn hints(&self) -> &[Hint] {
        match &self.report {
            Report::Boxed(facts) if !facts.hints.is_empty() => &facts.hints,
            _ => hints_of(self.kind(), self.path().is_some()),
        }
    }

    /// Returns the error with an additional hint. An out-of-memory error takes none.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Error, ErrorKind, error::Hint};
    /// let error = Error::new(ErrorKind::TooFewRows { rows: 1, needed: 2 });
    /// let error = error.with_hint(Hint::new("push_row", "adds one"));
    /// assert_eq!(error.to_string(), "1 rows are too few: 2 are needed: `push_row` adds one");
    /// ```
    #[must_use]
    pub fn with_hint(mut self, hint: Hint) -> Self {
        if let Report::Boxed(facts) = &mut self.report {
            if facts.hints.is_empty() {
                facts.hints.extend_from_slice(hints_of(&facts.kind, facts.path.is_some()));
            }
            facts.hints.push(hint);
        }
        self
    }

    /// Returns the error with additional hints.
    #[cfg(feature = "csv")]
    pub(crate) fn with_hints(self, hints: Vec<Hint>) -> Self {
        hints.into_iter().fold(self, Self::with_hint)
    }
}

/// Returns the hints for a kind of error, which may concern a file.
fn hints_of(kind: &ErrorKind, is_of_file: bool) -> &'static [Hint] {
    const ALLOCATE: &[Hint] =
        &[Hint::new("allocate_data_memory", "allocates it"), Hint::new("set_array", "supplies it")];
    const SET_COLUMN: &[Hint] = &[Hint::new("set_column", "supplies them")];
    const CONVERT: &[Hint] = &[Hint::new("convert", "converts the table to one")];
    const LOAD_ANY: &[Hint] = &[Hint::new("files::load", "loads any kind")];
    const READ_ANY: &[Hint] = &[Hint::new("files::from_bytes", "reads any kind")];
    const FILL: &[Hint] =
        &[Hint::new("fill_missing", "replaces missing values"), Hint::new("drop_missing_rows", "leaves such rows out")];
    const IN_PLACE: &[Hint] = &[Hint::new("SaveOptions::in_place", "overwrites the file")];
    match kind {
        ErrorKind::NotAllocated => ALLOCATE,
        ErrorKind::ColumnNotSet { .. } => SET_COLUMN,
        ErrorKind::MixedElementTypes { .. } => CONVERT,
        ErrorKind::MissingValue { .. } => FILL,
        ErrorKind::TableKindMismatch { .. } if is_of_file => LOAD_ANY,
        ErrorKind::TableKindMismatch { .. } => READ_ANY,
        ErrorKind::RenameUnsupported { .. } => IN_PLACE,
        _ => &[],
    }
}
