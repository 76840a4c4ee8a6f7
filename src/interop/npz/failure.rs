//! Errors from reading a zip file of arrays.

use std::io;

use crate::base::error::{Error, ErrorKind};
use crate::base::text::excerpt;

/// Converts an error of the zip file's source.
pub(in crate::interop) fn failed(source: std::io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => Error::format(0, "it is cut off, or became shorter while it was read"),
        // The decompressor reports these.
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            Error::format(0, "its compressed bytes are damaged")
        }
        _ => Error::stream(source),
    }
}

/// Adds the member `name.npy` to an error about it; converts an error of the source.
pub(in crate::interop) fn within(error: Error, name: &str) -> Error {
    let error = match (error.path(), error.kind()) {
        (None, ErrorKind::Io { .. }) => match error.into_kind() {
            ErrorKind::Io { source } => failed(source),
            other => Error::new(other),
        },
        _ => error,
    };
    error.map_kind(|kind| match kind {
        ErrorKind::Format { offset, reason } => {
            let member = excerpt(format!("{name}.npy").as_bytes());
            ErrorKind::Format { offset, reason: format!("in {member:?}: {reason}") }
        }
        other => other,
    })
}
