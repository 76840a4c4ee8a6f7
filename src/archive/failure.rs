//! Why a value cannot be encoded or decoded; [`super::encode`](super::encode()) and [`super::decode`](super::decode())
//! make errors of it.

use std::fmt;

use crate::base::error::Error;

/// Maximum depth of values within values. A type that contains itself could otherwise overflow the stack: one byte of a
/// hostile archive is enough for each level.
pub(super) const MAX_DEPTH: usize = 256;

#[derive(Debug)]
pub(super) enum Failure {
    /// The bytes end before the value does.
    End { missing: usize },
    /// Values within values exceed [`MAX_DEPTH`].
    Depth,
    /// A length that no memory can hold.
    Length,
    /// The caller's value, or the format, refuses.
    Message(String),
    /// Memory for the archive cannot be allocated.
    Refused(Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End { missing } => write!(f, "the archive is cut off: missing bytes: {missing} or more"),
            Self::Depth => write!(f, "values are nested more than {MAX_DEPTH} deep"),
            Self::Length => f.write_str("a length in the archive exceeds the address space"),
            Self::Message(reason) => f.write_str(reason),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl serde::ser::Error for Failure {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self::Message(message.to_string())
    }
}

impl serde::de::Error for Failure {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self::Message(message.to_string())
    }
}
