//! Whether values are copied at the boundary of the library, and why they must be.

use std::fmt;

use super::error::{Error, ErrorKind, Result};

/// Whether values may, may not or must be copied when they enter or leave the library.
///
/// Source: the array API's `copy` keyword (`False`, `None`, `True`), which NumPy 2 also has.
///
/// # Examples
/// ```
/// # #[cfg(feature = "npy")] {
/// use numeric_table::{interop::CopyPolicy, prelude::*};
/// let mut bytes = Vec::new();
/// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.write_npy(&mut bytes)?;
/// let bytes = Array::copy_of(&bytes)?; // the library's memory is aligned for every element type
/// let shared = HomogenNumericTable::<i16>::from_npy(bytes.clone(), CopyPolicy::Never)?;
/// assert!(shared.array()?.shares_memory_with(&bytes));
/// let copied = HomogenNumericTable::<i16>::from_npy(bytes.clone(), CopyPolicy::Always)?;
/// assert!(!copied.array()?.shares_memory_with(&bytes));
/// # }
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CopyPolicy {
    /// Share the memory, or fail with [`ErrorKind::CopyRequired`](crate::ErrorKind::CopyRequired) and the reason.
    Never,
    /// Share the memory if possible, otherwise copy.
    #[default]
    IfNeeded,
    /// Copy, so that the result does not share memory.
    Always,
}

impl CopyPolicy {
    /// Returns whether to copy. `reason` is the reason why the values cannot be used in place, if there is one.
    ///
    /// # Errors
    /// [`ErrorKind::CopyRequired`] under [`Never`](Self::Never), if there is a reason.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{interop::{CopyPolicy, CopyReason}, prelude::*};
    /// let reason = Some(CopyReason::Layout);
    /// assert!(!CopyPolicy::IfNeeded.copies(None)? && CopyPolicy::IfNeeded.copies(reason)?);
    /// let error = CopyPolicy::Never.copies(reason).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::CopyRequired { reason: CopyReason::Layout }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn copies(self, reason: Option<CopyReason>) -> Result<bool> {
        match (self, reason) {
            (Self::Never, Some(reason)) => Err(Error::new(ErrorKind::CopyRequired { reason })),
            (Self::Always, _) | (Self::IfNeeded, Some(_)) => Ok(true),
            (_, None) => Ok(false),
        }
    }
}

/// Why values cannot be used in place.
///
/// # Examples
/// ```
/// use numeric_table::interop::CopyReason;
/// assert_eq!(CopyReason::ByteOrder.to_string(), "the bytes of each value are in the opposite order");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyReason {
    /// The values are not aligned for their type.
    Alignment,
    /// The bytes of each value are not in this machine's byte order.
    ByteOrder,
    /// The values are not contiguous in the required order.
    Layout,
    /// The values are borrowed and do not live long enough.
    Lifetime,
    /// The values have a different element type.
    ElementType,
    /// Some values are missing and need a replacement.
    Nulls,
}

impl fmt::Display for CopyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Alignment => "the values are not aligned for their type",
            Self::ByteOrder => "the bytes of each value are in the opposite order",
            Self::Layout => "the values are not contiguous in the order that is needed",
            Self::Lifetime => "the values are borrowed and do not live long enough",
            Self::ElementType => "the values are of another element type",
            Self::Nulls => "some values are missing and need a replacement",
        })
    }
}
