//! The CUDA driver: whether it is there, and what its answers mean.
//!
//! `cudarc` loads the driver's library when a function of it is called first, and panics if there is none. So nothing in
//! this module calls it before [`require`] has found the library. Errors are numbers here: `cudarc` asks the driver for
//! their texts, which it cannot do without one.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaContext, DriverError, sys};

use crate::execution::DeviceError;

/// The oldest version of the driver's interface that has all functions that this adapter calls: 11.3.
const OLDEST: i32 = 11_030;

/// Returns a function of the driver's library, to be called without `cudarc`: its error codes are an enumeration there,
/// of which a code that a newer driver returns is no valid value. `None` if the driver has no such function.
///
/// # Safety
/// The library was found by [`require`], and `F` is a pointer to a function of the type that the driver API says.
pub(super) unsafe fn function<F: Copy>(name: &str) -> Option<F> {
    // SAFETY: the caller's promise; the library is never closed.
    unsafe { sys::culib().get::<F>(name.as_bytes()).ok().map(|found| *found) }
}

/// Checks that there is a driver, and that it is new enough.
fn require() -> Result<(), DeviceError> {
    static FOUND: OnceLock<Result<(), &'static str>> = OnceLock::new();
    let look = || {
        // SAFETY: loading a library runs its initializers; this one is the driver's, which every program that uses CUDA
        // loads.
        if !unsafe { sys::is_culib_present() } {
            return Err("the library of the CUDA driver");
        }
        let mut version: c_int = 0;
        // SAFETY: the library was found. The function's type is that of the driver API; the pointer is to an integer that
        // lives until the call returns.
        let answer = unsafe {
            function::<unsafe extern "C" fn(*mut c_int) -> u32>("cuDriverGetVersion").map(|call| call(&mut version))
        };
        match answer {
            Some(0) if version >= OLDEST => Ok(()),
            Some(0) => Err("a CUDA driver of version 11.3 or newer"),
            _ => Err("a CUDA driver that answers"),
        }
    };
    FOUND.get_or_init(look).map_err(|what| DeviceError::Unavailable { what })
}

/// Returns the number of devices.
pub(super) fn count() -> Result<usize, DeviceError> {
    require()?;
    let count = CudaContext::device_count().map_err(unavailable)?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Opens the primary context of a device.
pub(super) fn context(ordinal: usize) -> Result<Arc<CudaContext>, DeviceError> {
    if ordinal >= count()? {
        return Err(DeviceError::Unavailable { what: "a CUDA device of this number" });
    }
    CudaContext::new(ordinal).map_err(unavailable)
}

/// Returns whether the compiler of kernels is there.
pub(super) fn has_compiler() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    // SAFETY: as that of `require`: the library is the compiler's.
    *FOUND.get_or_init(|| unsafe { cudarc::nvrtc::sys::is_culib_present() })
}

/// Returns what an error of the driver means before there is a device.
fn unavailable(error: DriverError) -> DeviceError {
    match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => DeviceError::Unavailable { what: "a CUDA device" },
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceError::OutOfMemory { bytes: 0, free: None },
        _ => failed("opening a CUDA device")(error),
    }
}

/// Returns how an error is told of a call that is made while a device is opened.
pub(super) fn failed(what: &'static str) -> impl Fn(DriverError) -> DeviceError {
    move |error| DeviceError::Failed { code: error.0 as u32, what }
}

/// Returns whether a device has no memory left.
pub(super) fn is_out_of_memory(error: DriverError) -> bool {
    error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY
}

/// Returns whether nothing can be done on the device any more, by this process, after an error.
///
/// Source: the CUDA driver API, `CUresult`: errors that leave the process "in an inconsistent state".
pub(super) fn is_fatal(error: DriverError) -> bool {
    use sys::CUresult as E;
    matches!(
        error.0,
        E::CUDA_ERROR_DEINITIALIZED
            | E::CUDA_ERROR_DEVICE_UNAVAILABLE
            | E::CUDA_ERROR_ECC_UNCORRECTABLE
            | E::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | E::CUDA_ERROR_CONTAINED
            | E::CUDA_ERROR_ILLEGAL_ADDRESS
            | E::CUDA_ERROR_LAUNCH_TIMEOUT
            | E::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | E::CUDA_ERROR_ASSERT
            | E::CUDA_ERROR_HARDWARE_STACK_ERROR
            | E::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | E::CUDA_ERROR_MISALIGNED_ADDRESS
            | E::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | E::CUDA_ERROR_INVALID_PC
            | E::CUDA_ERROR_LAUNCH_FAILED
            | E::CUDA_ERROR_TENSOR_MEMORY_LEAK
            | E::CUDA_ERROR_SYSTEM_NOT_READY
            | E::CUDA_ERROR_EXTERNAL_DEVICE
            | E::CUDA_ERROR_UNKNOWN
    )
}

/// Makes the device's pool keep the memory that is freed, for the next allocation, until the process ends or needs it.
/// By default, the driver gives all of it back whenever the program waits.
pub(super) fn keep_freed_memory(context: &CudaContext) -> Result<(), DeviceError> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let mut all = u64::MAX;
    type PoolOf = unsafe extern "C" fn(*mut sys::CUmemoryPool, sys::CUdevice) -> u32;
    type SetAttribute = unsafe extern "C" fn(sys::CUmemoryPool, u32, *mut c_void) -> u32;
    let kept = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD as u32;
    let mut pool: sys::CUmemoryPool = std::ptr::null_mut();
    // SAFETY: the library was found, before the context was made, and the types are those of the driver API. The device's
    // number is one that the driver gave; the pool is the device's own, and lives as long as it; the attribute's type is an
    // integer of 64 bits.
    let code = unsafe {
        let pool_of = function::<PoolOf>("cuDeviceGetDefaultMemPool");
        match pool_of.zip(function::<SetAttribute>("cuMemPoolSetAttribute")) {
            None => return Ok(()), // an older driver, which has no pools
            Some((pool_of, set)) => match pool_of(&raw mut pool, context.cu_device()) {
                0 => set(pool, kept, (&raw mut all).cast()),
                code => code,
            },
        }
    };
    if code == 0 { Ok(()) } else { Err(DeviceError::Failed { code, what: "setting up a memory pool" }) }
}
