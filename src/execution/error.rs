//! What can go wrong between the control and the execution side, as facts.
//!
//! A device reports a [`DeviceError`]; a handle reports a [`HandleError`]. Codes are the device's, texts are ours.

use crate::base::error::Error;

/// What a device reports.
///
/// # Examples
/// ```
/// use numeric_table::execution::{DeviceError, HandleError};
/// assert!(matches!(HandleError::from(DeviceError::Lost), HandleError::DeviceLost));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The device has no room.
    #[error("the device refused {bytes} bytes")]
    OutOfMemory {
        /// The number of bytes that were asked for.
        bytes: usize,
        /// The number of bytes that are free, if the device knows.
        free: Option<usize>,
    },
    /// The device is gone, for good, with all that it held.
    #[error("the device is lost")]
    Lost,
    /// Work that was started earlier has failed, and it shows now.
    #[error("{what} failed earlier (code {code})")]
    Earlier {
        /// The device's own number.
        code: u32,
        /// What failed.
        what: &'static str,
    },
    /// This call failed.
    #[error("{what} failed (code {code})")]
    Failed {
        /// The device's own number.
        code: u32,
        /// What failed.
        what: &'static str,
    },
}

/// Why a handle, a device array, a device table or a stream could not do what it was asked.
///
/// Whenever a call returns one of these, every copy that was valid before is valid still; only a lost device takes its
/// copies with it.
///
/// # Examples
/// ```
/// use numeric_table::execution::{ArrayHandle, HandleError, Serial};
/// let nothing = ArrayHandle::<f32, _>::empty(&Serial);
/// assert!(matches!(nothing.read_portal(), Err(HandleError::NoValidData)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// Neither side has data.
    #[error("neither the control nor the execution side has valid data")]
    NoValidData,
    /// The container was lent for reading only.
    #[error("the container is read-only")]
    ReadOnly,
    /// The container cannot change its size.
    #[error("the container has {have} values and cannot have {want}")]
    FixedSize {
        /// The number of values that the container has.
        have: usize,
        /// The number of values that were asked for.
        want: usize,
    },
    /// Two lengths that should be equal are not.
    #[error("lengths differ: there are {have} values, and {want} were asked for")]
    LengthMismatch {
        /// The number of values that there are.
        have: usize,
        /// The number of values that were asked for.
        want: usize,
    },
    /// So many values have more bytes than can be addressed.
    #[error("so many values have more bytes than can be addressed")]
    LengthOverflow,
    /// The system did not give the control side memory.
    #[error("out of memory: {bytes} bytes were refused on the control side")]
    HostAlloc {
        /// The number of bytes that were asked for.
        bytes: usize,
    },
    /// The device did not give memory, even after all idle copies there were freed.
    #[error("out of memory: {bytes} bytes were refused on the device")]
    DeviceAlloc {
        /// The number of bytes that were asked for.
        bytes: usize,
        /// The number of bytes that are free, if the device knows.
        free: Option<usize>,
    },
    /// The device failed at this call.
    #[error(transparent)]
    Device(DeviceError),
    /// Work that was started by an earlier call has failed, and it shows now.
    #[error(transparent)]
    EarlierFault(DeviceError),
    /// The device is gone, and with it every execution copy. Control copies are as they were.
    #[error("the device is lost, with its copies")]
    DeviceLost,
    /// A view was given to another device than the one whose memory it shows.
    #[error("the view shows the memory of another device")]
    WrongDevice,
    /// The table or the conversion refused.
    #[error(transparent)]
    Library(Error),
}

impl From<DeviceError> for HandleError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::OutOfMemory { bytes, free } => Self::DeviceAlloc { bytes, free },
            DeviceError::Lost => Self::DeviceLost,
            DeviceError::Earlier { .. } => Self::EarlierFault(error),
            DeviceError::Failed { .. } => Self::Device(error),
        }
    }
}

impl From<Error> for HandleError {
    fn from(error: Error) -> Self {
        match error {
            Error::OutOfMemory { bytes } => Self::HostAlloc { bytes },
            Error::SizeOverflow { .. } => Self::LengthOverflow,
            other => Self::Library(other),
        }
    }
}
