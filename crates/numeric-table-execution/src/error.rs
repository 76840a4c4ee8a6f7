//! Errors of devices and handles.
//!
//! A device reports a [`DeviceError`]; a handle reports a [`HandleError`]. Codes are those of the device.

use numeric_table::{Error, ErrorKind};

/// An error that a device reports.
///
/// # Examples
/// ```
/// use numeric_table_execution::{DeviceError, HandleError};
/// assert!(matches!(HandleError::from(DeviceError::Lost), HandleError::DeviceLost));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The device does not have enough free memory.
    #[error("the device refused {bytes} bytes")]
    OutOfMemory {
        /// The number of bytes that were requested.
        bytes: usize,
        /// The number of bytes that are free, if the device knows.
        free: Option<usize>,
    },
    /// The device is lost permanently, with all values in its memory.
    #[error("the device is lost")]
    Lost,
    /// The device, or a library that it needs, is missing. Another device can be used instead.
    #[error("the device is not available: {what} is missing")]
    Unavailable {
        /// The missing part.
        what: &'static str,
    },
    /// Work that was started earlier has failed, which is reported now.
    #[error("{what} failed earlier (code {code})")]
    Earlier {
        /// The device's own error code.
        code: u32,
        /// What failed.
        what: &'static str,
    },
    /// This call failed.
    #[error("{what} failed (code {code})")]
    Failed {
        /// The device's own error code.
        code: u32,
        /// What failed.
        what: &'static str,
    },
}

/// An error of a handle, a device array, a device table or a stream.
///
/// When a call returns one of these, every copy that was valid before is still valid, except the copies on a lost
/// device.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, HandleError, HostSerial};
/// let nothing = ArrayHandle::<f32, _>::empty(&HostSerial);
/// assert!(matches!(nothing.read_portal(), Err(HandleError::NoValidData)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// Neither side has valid values.
    #[error("neither the control nor the execution side has valid data")]
    NoValidData,
    /// The container is borrowed for reading only.
    #[error("the container is read-only")]
    ReadOnly,
    /// The container cannot change its size.
    #[error("the container has {have} values and cannot have {want}")]
    FixedSize {
        /// The number of values that the container has.
        have: usize,
        /// The number of values that were requested.
        want: usize,
    },
    /// A computation has more results than it is allowed.
    #[error("there are {have} results, and at most {most} are allowed")]
    TooManyValues {
        /// The number of results.
        have: usize,
        /// The largest number that is allowed.
        most: usize,
    },
    /// Two lengths that should be equal are not.
    #[error("lengths differ: there are {have} values, and {want} were asked for")]
    LengthMismatch {
        /// The actual number of values.
        have: usize,
        /// The number of values that were requested.
        want: usize,
    },
    /// The values have more bytes than can be addressed.
    #[error("the values have more bytes than can be addressed")]
    LengthOverflow,
    /// An allocation on the control side failed.
    #[error("out of memory: {bytes} bytes were refused on the control side")]
    HostAlloc {
        /// The number of bytes that were requested.
        bytes: usize,
    },
    /// An allocation on the device failed, even after all idle copies there were freed.
    #[error("out of memory: {bytes} bytes were refused on the device")]
    DeviceAlloc {
        /// The number of bytes that were requested.
        bytes: usize,
        /// The number of bytes that are free, if the device knows.
        free: Option<usize>,
    },
    /// This call failed on the device.
    #[error(transparent)]
    Device(DeviceError),
    /// Work that was started by an earlier call has failed, which is reported now.
    #[error(transparent)]
    EarlierFault(DeviceError),
    /// The device is lost, and with it every execution copy. Control copies are unchanged.
    #[error("the device is lost, with its copies")]
    DeviceLost,
    /// A view was passed to another device than the one whose memory it refers to.
    #[error("the view shows the memory of another device")]
    WrongDevice,
    /// An error of the table or the conversion.
    #[error(transparent)]
    Library(Error),
}

impl From<DeviceError> for HandleError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::OutOfMemory { bytes, free } => Self::DeviceAlloc { bytes, free },
            DeviceError::Lost => Self::DeviceLost,
            DeviceError::Earlier { .. } => Self::EarlierFault(error),
            DeviceError::Failed { .. } | DeviceError::Unavailable { .. } => Self::Device(error),
        }
    }
}

impl From<Error> for HandleError {
    fn from(error: Error) -> Self {
        match (error.refused_bytes(), error.kind()) {
            (Some(bytes), _) => Self::HostAlloc { bytes },
            (_, ErrorKind::SizeOverflow { .. }) => Self::LengthOverflow,
            _ => Self::Library(error),
        }
    }
}
