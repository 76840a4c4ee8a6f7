//! The functions of the CUDA driver and of its compiler of kernels (NVRTC) that this adapter calls.
//!
//! The libraries are loaded when they are asked for first, and never closed. An answer is a number, [`Code`], and no
//! enumeration: a newer driver has codes that this library does not know, and they are as valid as the others.
//!
//! Source: the CUDA driver API and NVRTC, version 13.0. All functions of the driver have been there since version 11.3.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::Library;

/// An answer of the driver (`CUresult`) or of its compiler (`nvrtcResult`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Code(pub(super) u32);

impl Code {
    /// What a call answers that has done its work.
    pub(super) const SUCCESS: Self = Self(0);
    /// The device has no memory left.
    pub(super) const OUT_OF_MEMORY: Self = Self(2);
    /// No device was found.
    pub(super) const NO_DEVICE: Self = Self(100);
    /// The work has not ended yet.
    pub(super) const NOT_READY: Self = Self(600);

    /// Returns the code of a call that has failed as an error.
    pub(super) fn check(self) -> Result<(), Self> {
        if self == Self::SUCCESS { Ok(()) } else { Err(self) }
    }
}

/// An object of the driver: a context, a stream, an event, a module, a function or a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Handle(*mut c_void);

impl Handle {
    /// The handle of no object.
    pub(super) const NULL: Self = Self(std::ptr::null_mut());

    /// Returns the handle as a number.
    pub(super) fn number(self) -> usize {
        self.0.expose_provenance()
    }

    /// Returns the handle of an object of another library.
    pub(super) fn of_other(number: usize) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(number))
    }
}

// SAFETY: this program never looks at what a handle points to. The driver's functions may be called by any thread.
unsafe impl Send for Handle {}
// SAFETY: as above: several threads may call the driver with the same handle at once.
unsafe impl Sync for Handle {}

/// An address in the memory of a device.
pub(super) type Address = u64;

/// A table of the functions of a library.
macro_rules! functions {
    ($(#[$about:meta])* $table:ident { $(fn $function:ident($($argument:ty),*) -> $answer:ty = $symbol:literal;)* }) => {
        $(#[$about])*
        pub(super) struct $table {
            $(pub(super) $function: unsafe extern "system" fn($($argument),*) -> $answer,)*
        }

        impl $table {
            /// Finds the functions; `None` if one of them is not there.
            ///
            /// # Safety
            /// The library is the one that the table is of, and is never closed.
            unsafe fn of(library: &Library) -> Option<Self> {
                Some(Self {
                    // SAFETY: the caller's promise: the library has functions of these names and types.
                    $($function: *unsafe { library.get($symbol) }.ok()?,)*
                })
            }
        }
    };
}

functions! {
    /// The functions of the driver.
    Driver {
        fn init(c_uint) -> Code = b"cuInit\0";
        fn version(*mut c_int) -> Code = b"cuDriverGetVersion\0";
        fn device_count(*mut c_int) -> Code = b"cuDeviceGetCount\0";
        fn device(*mut c_int, c_int) -> Code = b"cuDeviceGet\0";
        fn device_name(*mut c_char, c_int, c_int) -> Code = b"cuDeviceGetName\0";
        fn device_attribute(*mut c_int, c_uint, c_int) -> Code = b"cuDeviceGetAttribute\0";
        fn device_pool(*mut Handle, c_int) -> Code = b"cuDeviceGetDefaultMemPool\0";
        fn set_pool_attribute(Handle, c_uint, *mut c_void) -> Code = b"cuMemPoolSetAttribute\0";
        fn retain_context(*mut Handle, c_int) -> Code = b"cuDevicePrimaryCtxRetain\0";
        fn release_context(c_int) -> Code = b"cuDevicePrimaryCtxRelease_v2\0";
        fn current_context(*mut Handle) -> Code = b"cuCtxGetCurrent\0";
        fn set_current_context(Handle) -> Code = b"cuCtxSetCurrent\0";
        fn synchronize_context() -> Code = b"cuCtxSynchronize\0";
        fn exchange_capture_mode(*mut c_uint) -> Code = b"cuThreadExchangeStreamCaptureMode\0";
        fn memory_info(*mut usize, *mut usize) -> Code = b"cuMemGetInfo_v2\0";

        fn create_stream(*mut Handle, c_uint) -> Code = b"cuStreamCreate\0";
        fn destroy_stream(Handle) -> Code = b"cuStreamDestroy_v2\0";
        fn synchronize_stream(Handle) -> Code = b"cuStreamSynchronize\0";
        fn wait_for_event(Handle, Handle, c_uint) -> Code = b"cuStreamWaitEvent\0";
        fn create_event(*mut Handle, c_uint) -> Code = b"cuEventCreate\0";
        fn destroy_event(Handle) -> Code = b"cuEventDestroy_v2\0";
        fn record_event(Handle, Handle) -> Code = b"cuEventRecord\0";
        fn synchronize_event(Handle) -> Code = b"cuEventSynchronize\0";
        fn query_event(Handle) -> Code = b"cuEventQuery\0";

        fn allocate(*mut Address, usize) -> Code = b"cuMemAlloc_v2\0";
        fn free(Address) -> Code = b"cuMemFree_v2\0";
        fn allocate_in(*mut Address, usize, Handle) -> Code = b"cuMemAllocAsync\0";
        fn free_in(Address, Handle) -> Code = b"cuMemFreeAsync\0";
        fn upload(Address, *const c_void, usize, Handle) -> Code = b"cuMemcpyHtoDAsync_v2\0";
        fn download(*mut c_void, Address, usize, Handle) -> Code = b"cuMemcpyDtoHAsync_v2\0";
        fn copy(Address, Address, usize, Handle) -> Code = b"cuMemcpyDtoDAsync_v2\0";
        fn register(*mut c_void, usize, c_uint) -> Code = b"cuMemHostRegister_v2\0";
        fn unregister(*mut c_void) -> Code = b"cuMemHostUnregister\0";
        fn allocate_managed(*mut Address, usize, c_uint) -> Code = b"cuMemAllocManaged\0";
        fn prefetch(Address, usize, c_int, Handle) -> Code = b"cuMemPrefetchAsync\0";
        fn allocate_pinned(*mut *mut c_void, usize, c_uint) -> Code = b"cuMemHostAlloc\0";
        fn free_pinned(*mut c_void) -> Code = b"cuMemFreeHost\0";
        fn pointer_attributes(c_uint, *const c_uint, *mut *mut c_void, Address) -> Code = b"cuPointerGetAttributes\0";

        fn load_module(*mut Handle, *const c_void) -> Code = b"cuModuleLoadData\0";
        fn unload_module(Handle) -> Code = b"cuModuleUnload\0";
        fn find_function(*mut Handle, Handle, *const c_char) -> Code = b"cuModuleGetFunction\0";
        fn launch(
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
        ) -> Code = b"cuLaunchKernel\0";
    }
}

functions! {
    /// The functions of the compiler.
    Compiler {
        fn create(*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> Code
            = b"nvrtcCreateProgram\0";
        fn destroy(*mut Handle) -> Code = b"nvrtcDestroyProgram\0";
        fn compile(Handle, c_int, *const *const c_char) -> Code = b"nvrtcCompileProgram\0";
        fn log_size(Handle, *mut usize) -> Code = b"nvrtcGetProgramLogSize\0";
        fn log(Handle, *mut c_char) -> Code = b"nvrtcGetProgramLog\0";
        fn code_size(Handle, *mut usize) -> Code = b"nvrtcGetPTXSize\0";
        fn code(Handle, *mut c_char) -> Code = b"nvrtcGetPTX\0";
    }
}

/// The file names of the driver's library.
const DRIVER: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so", "libcuda.so.1"] };

/// The file names of the compiler's library: that of a development package, and those of versions 13, 12 and 11.
const COMPILER: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"]
} else {
    &["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"]
};

/// Loads the first library that is there, for the rest of the process.
fn load(names: &[&str]) -> Option<&'static Library> {
    // SAFETY: loading a library runs its initializers; these are NVIDIA's, which every program that uses CUDA runs.
    let library = names.iter().find_map(|name| unsafe { Library::new(*name) }.ok())?;
    Some(Box::leak(Box::new(library)))
}

/// Returns the driver. An error says what is missing.
pub(super) fn driver() -> Result<&'static Driver, &'static str> {
    static FOUND: OnceLock<Result<Driver, &'static str>> = OnceLock::new();
    let look = || {
        let library = load(DRIVER).ok_or("the library of the CUDA driver")?;
        // SAFETY: the library is the driver's, and stays.
        let driver = unsafe { Driver::of(library) }.ok_or(TOO_OLD)?;
        let mut version: c_int = 0;
        // SAFETY: the integer lives until the call returns. This function may be called before `cuInit`.
        match unsafe { (driver.version)(&mut version) } {
            Code::SUCCESS if version >= OLDEST => Ok(driver),
            Code::SUCCESS => Err(TOO_OLD),
            _ => Err("a CUDA driver that answers"),
        }
    };
    FOUND.get_or_init(look).as_ref().map_err(|what| *what)
}

/// The oldest version of the driver's interface that has all functions: 11.3.
const OLDEST: c_int = 11_030;
const TOO_OLD: &str = "a CUDA driver of version 11.3 or newer";

/// Returns the compiler, if it is there.
pub(super) fn compiler() -> Option<&'static Compiler> {
    static FOUND: OnceLock<Option<Compiler>> = OnceLock::new();
    // SAFETY: the library is the compiler's, and stays.
    FOUND.get_or_init(|| unsafe { Compiler::of(load(COMPILER)?) }).as_ref()
}
