//! Errors of devices and handles.
//!
//! A device reports a [`DeviceError`]; a handle reports a [`HandleError`]. Codes are those of the device.

use numeric_table::{Error, ErrorKind, array::MemoryKind};

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

/// The difference between memory of another library, as the driver of a device reports it, and the caller's claim.
///
/// # Examples
/// ```
/// use numeric_table_execution::MemoryMismatch;
/// let mismatch = MemoryMismatch::Range { address: 0x7000, bytes: 800, available: 400 };
/// assert_eq!(mismatch.to_string(), "800 bytes at 0x7000 were claimed, and the allocation there has 400");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryMismatch {
    /// The memory is of another kind. The driver reports memory that it does not know as [`MemoryKind::Host`].
    #[error("the memory at {address:#x} was claimed as {claimed:?}, and is {actual:?}")]
    Kind {
        /// The first address.
        address: u64,
        /// The claimed kind.
        claimed: MemoryKind,
        /// The kind that the driver reports.
        actual: MemoryKind,
    },
    /// The memory belongs to another device.
    #[error("the memory at {address:#x} was claimed to be on device {claimed}, and is on device {actual}")]
    Device {
        /// The first address.
        address: u64,
        /// The number of the device that the memory was claimed to be on.
        claimed: u32,
        /// The number of the device that the driver reports.
        actual: u32,
    },
    /// The device cannot access the memory, although the driver knows it.
    #[error("the memory at {address:#x} cannot be accessed from device {device}")]
    Inaccessible {
        /// The first address.
        address: u64,
        /// The number of the device.
        device: u32,
    },
    /// The values do not lie inside an allocation.
    #[error("{bytes} bytes at {address:#x} were claimed, and the allocation there has {available}")]
    Range {
        /// The first address.
        address: u64,
        /// The number of bytes of the values.
        bytes: usize,
        /// The number of bytes from the address to the end of the allocation.
        available: usize,
    },
    /// The address is not a multiple of the size of a value.
    #[error("the address {address:#x} is not a multiple of {alignment} bytes")]
    Alignment {
        /// The first address.
        address: u64,
        /// The size of a value in bytes.
        alignment: usize,
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
    #[error("the results are {have} values, and at most {max} values are allowed")]
    TooManyValues {
        /// The number of values of the results: of rows, the number of rows times that of columns.
        have: usize,
        /// The largest number of values that is allowed.
        max: usize,
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
    /// Memory that another library has allocated is not what the caller claims.
    #[error(transparent)]
    WrongMemory(MemoryMismatch),
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
