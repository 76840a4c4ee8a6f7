//! Another library of the process, which has allocated memory of a device and has a stream of its own: calls of the
//! driver, as PyTorch or CuPy make them.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

// Of the C library, which the standard library links.
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

macro_rules! driver {
    ($(fn $name:ident($($argument:ty),*) = $symbol:literal;)*) => {
        /// The functions of the driver.
        #[derive(Clone, Copy)]
        struct Driver {
            $($name: unsafe extern "C" fn($($argument),*) -> u32,)*
        }

        impl Driver {
            /// Returns the driver that this crate has loaded.
            fn find() -> &'static Self {
                static FOUND: OnceLock<Driver> = OnceLock::new();
                FOUND.get_or_init(|| {
                    let names = [c"libcuda.so", c"libcuda.so.1"];
                    // SAFETY: names end with a zero; this finds a library that is loaded already (RTLD_NOLOAD).
                    let open = |name: &CStr| unsafe { dlopen(name.as_ptr(), 1 | 4) };
                    let library = names.into_iter().map(open).find(|library| !library.is_null()).unwrap();
                    // SAFETY: the functions have these types, and the library is never closed.
                    unsafe {
                        Self { $($name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> u32>(
                            dlsym(library, $symbol.as_ptr()),
                        ),)* }
                    }
                })
            }
        }
    };
}

driver! {
    fn retain(*mut usize, c_int) = c"cuDevicePrimaryCtxRetain";
    fn release(c_int) = c"cuDevicePrimaryCtxRelease_v2";
    fn enter(usize) = c"cuCtxSetCurrent";
    fn create_stream(*mut usize, c_uint) = c"cuStreamCreate";
    fn destroy_stream(usize) = c"cuStreamDestroy_v2";
    fn synchronize(usize) = c"cuStreamSynchronize";
    fn create_event(*mut usize, c_uint) = c"cuEventCreate";
    fn destroy_event(usize) = c"cuEventDestroy_v2";
    fn record(usize, usize) = c"cuEventRecord";
    fn wait(usize, usize, c_uint) = c"cuStreamWaitEvent";
    fn allocate(*mut u64, usize) = c"cuMemAlloc_v2";
    fn allocate_managed(*mut u64, usize, c_uint) = c"cuMemAllocManaged";
    fn free(u64) = c"cuMemFree_v2";
    fn allocate_pinned(*mut u64, usize, c_uint) = c"cuMemHostAlloc";
    fn free_pinned(u64) = c"cuMemFreeHost";
    fn upload(u64, *const c_void, usize, usize) = c"cuMemcpyHtoDAsync_v2";
    fn download(*mut c_void, u64, usize, usize) = c"cuMemcpyDtoHAsync_v2";
    fn copy(u64, u64, usize, usize) = c"cuMemcpyDtoDAsync_v2";
}

fn check(code: u32) {
    assert_eq!(code, 0, "an error of the driver");
}

/// The library, with one stream.
pub(super) struct Other {
    driver: &'static Driver,
    device: c_int,
    context: usize,
    pub(super) stream: usize,
}

impl Other {
    pub(super) fn new(device: i32) -> Self {
        let driver = Driver::find();
        let (mut context, mut stream) = (0, 0);
        // SAFETY: what is written lives until the calls return.
        unsafe {
            check((driver.retain)(&mut context, device));
            check((driver.enter)(context));
            check((driver.create_stream)(&mut stream, 1));
        }
        Self { driver, device, context, stream }
    }

    fn enter(&self) -> &Driver {
        // SAFETY: the context is open.
        check(unsafe { (self.driver.enter)(self.context) });
        self.driver
    }

    pub(super) fn allocate(&self, bytes: usize) -> u64 {
        let mut address = 0;
        // SAFETY: the integer lives until the call returns.
        check(unsafe { (self.enter().allocate)(&mut address, bytes) });
        address
    }

    pub(super) fn allocate_managed(&self, bytes: usize) -> u64 {
        let mut address = 0;
        // SAFETY: as above.
        check(unsafe { (self.enter().allocate_managed)(&mut address, bytes, 1) });
        address
    }

    pub(super) fn allocate_pinned(&self, bytes: usize) -> u64 {
        let mut address = 0;
        // SAFETY: as above.
        check(unsafe { (self.enter().allocate_pinned)(&mut address, bytes, 0) });
        address
    }

    /// Frees memory after all work of the stream. Ignores the errors of a lost device.
    pub(super) fn free(&self, address: u64) {
        self.enter();
        // SAFETY: tests free what they have allocated, once.
        unsafe { (self.driver.free)(address) };
    }

    pub(super) fn free_pinned(&self, address: u64) {
        self.enter();
        // SAFETY: as above.
        unsafe { (self.driver.free_pinned)(address) };
    }

    /// Allocates memory with these values, which are there on return.
    pub(super) fn values<T: bytemuck::Pod>(&self, values: &[T]) -> u64 {
        let address = self.allocate(size_of_val(values));
        self.write(address, values);
        self.synchronize();
        address
    }

    /// Starts to write values that the driver reads before this returns.
    pub(super) fn write<T: bytemuck::Pod>(&self, address: u64, values: &[T]) {
        // SAFETY: the memory has as many bytes; values that are not registered are read before the call returns.
        check(unsafe { (self.enter().upload)(address, values.as_ptr().cast(), size_of_val(values), self.stream) });
    }

    /// Starts to copy bytes on the device.
    pub(super) fn copy(&self, target: u64, source: u64, bytes: usize) {
        // SAFETY: both have as many bytes.
        check(unsafe { (self.enter().copy)(target, source, bytes, self.stream) });
    }

    /// Reads values, after the work of the stream.
    pub(super) fn read<T: bytemuck::Pod>(&self, address: u64, count: usize) -> Vec<T> {
        let mut values = vec![T::zeroed(); count];
        // SAFETY: the memory has as many bytes, and the values are there until the work has ended.
        unsafe {
            check((self.enter().download)(values.as_mut_ptr().cast(), address, count * size_of::<T>(), self.stream));
        }
        self.synchronize();
        values
    }

    pub(super) fn synchronize(&self) {
        // SAFETY: the stream is alive.
        check(unsafe { (self.enter().synchronize)(self.stream) });
    }

    /// Returns an event of the work that the stream has now.
    pub(super) fn event(&self) -> usize {
        let mut event = 0;
        // SAFETY: the integer lives until the call returns; the stream and the event are alive.
        unsafe {
            check((self.enter().create_event)(&mut event, 2));
            check((self.driver.record)(event, self.stream));
        }
        event
    }

    /// Makes a stream wait for all work of this library, as the producer of a tensor does.
    pub(super) fn make_wait(&self, stream: usize) {
        let event = self.event();
        // SAFETY: both are alive; the driver keeps what a stream waits for.
        check(unsafe { (self.driver.wait)(stream, event, 0) });
        self.destroy_event(event);
    }

    pub(super) fn destroy_event(&self, event: usize) {
        // SAFETY: tests destroy an event once.
        check(unsafe { (self.enter().destroy_event)(event) });
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // SAFETY: each is given up once.
        unsafe {
            (self.driver.enter)(self.context);
            (self.driver.destroy_stream)(self.stream);
            (self.driver.enter)(0);
            (self.driver.release)(self.device);
        }
    }
}
