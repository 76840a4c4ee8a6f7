//! Errors that several modules return.

use numeric_table::{Error, ErrorKind};

/// Returns an [`ErrorKind::ParameterOutOfRange`].
pub(crate) fn parameter(name: &'static str, value: f64, allowed: &'static str) -> Error {
    Error::new(ErrorKind::ParameterOutOfRange { name: name.into(), value, allowed: allowed.into() })
}

/// Returns an [`ErrorKind::NotCombinable`].
pub(crate) fn not_combinable(reason: String) -> Error {
    Error::new(ErrorKind::NotCombinable { reason })
}
