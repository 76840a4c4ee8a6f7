//! The meaning of the driver's answers, and the memory pool of a device.

use std::sync::Arc;

use super::api::{self, Code};
use super::objects::Context;
use crate::DeviceError;

/// Returns the driver, if there is one that is new enough.
fn require() -> Result<&'static api::Driver, DeviceError> {
    api::driver().map_err(|what| DeviceError::Unavailable { what })
}

/// Returns the number of devices.
pub(super) fn count() -> Result<usize, DeviceError> {
    let count = Context::count(require()?).map_err(unavailable)?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Opens the primary context of a device.
pub(super) fn context(ordinal: usize) -> Result<Arc<Context>, DeviceError> {
    if ordinal >= count()? {
        return Err(DeviceError::Unavailable { what: "a CUDA device of this number" });
    }
    let context = Context::open(require()?, ordinal).map_err(unavailable)?;
    context.keep_freed_memory().map_err(failed("setting up a memory pool"))?;
    Ok(context)
}

/// Returns what an error of the driver means before there is a device.
fn unavailable(error: Code) -> DeviceError {
    match error {
        Code::NO_DEVICE => DeviceError::Unavailable { what: "a CUDA device" },
        Code::OUT_OF_MEMORY => DeviceError::OutOfMemory { bytes: 0, free: None },
        _ => failed("opening a CUDA device")(error),
    }
}

/// Returns how to report an error of a call that opens a device.
pub(super) fn failed(what: &'static str) -> impl Fn(Code) -> DeviceError {
    move |Code(code)| DeviceError::Failed { code, what }
}

/// Returns whether nothing can be done on the device any more, by this process, after an error.
///
/// Source: the CUDA driver API, `CUresult`: errors that leave the process "in an inconsistent state".
pub(super) fn is_fatal(Code(code): Code) -> bool {
    FATAL.contains(&code)
}

const FATAL: [u32; 19] = [
    4,   // CUDA_ERROR_DEINITIALIZED
    46,  // CUDA_ERROR_DEVICE_UNAVAILABLE
    214, // CUDA_ERROR_ECC_UNCORRECTABLE
    220, // CUDA_ERROR_NVLINK_UNCORRECTABLE
    226, // CUDA_ERROR_CONTAINED
    700, // CUDA_ERROR_ILLEGAL_ADDRESS
    702, // CUDA_ERROR_LAUNCH_TIMEOUT
    709, // CUDA_ERROR_CONTEXT_IS_DESTROYED
    710, // CUDA_ERROR_ASSERT
    714, // CUDA_ERROR_HARDWARE_STACK_ERROR
    715, // CUDA_ERROR_ILLEGAL_INSTRUCTION
    716, // CUDA_ERROR_MISALIGNED_ADDRESS
    717, // CUDA_ERROR_INVALID_ADDRESS_SPACE
    718, // CUDA_ERROR_INVALID_PC
    719, // CUDA_ERROR_LAUNCH_FAILED
    721, // CUDA_ERROR_TENSOR_MEMORY_LEAK
    802, // CUDA_ERROR_SYSTEM_NOT_READY
    911, // CUDA_ERROR_EXTERNAL_DEVICE
    999, // CUDA_ERROR_UNKNOWN
];
