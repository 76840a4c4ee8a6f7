//! Errors of reading a zip file of arrays.

use std::io::ErrorKind;

use crate::base::error::Error;
use crate::base::text::excerpt;

/// Makes an error of the zip file's source.
pub(in crate::interop) fn failed(source: std::io::Error) -> Error {
    match source.kind() {
        ErrorKind::UnexpectedEof => Error::format(0, "it is cut off, or became shorter while it was read"),
        // What the decompressor reports.
        ErrorKind::InvalidInput | ErrorKind::InvalidData => Error::format(0, "its compressed bytes are damaged"),
        _ => Error::Stream { source },
    }
}

/// Names the member `name.npy` that an error is about, and an error of the source.
pub(in crate::interop) fn within(error: Error, name: &str) -> Error {
    let error = match error {
        Error::Stream { source } => failed(source),
        error => error,
    };
    match error {
        Error::Format { path, offset, reason } => {
            let member = excerpt(format!("{name}.npy").as_bytes());
            Error::Format { path, offset, reason: format!("in {member:?}: {reason}") }
        }
        error => error,
    }
}
