//! The driver's objects: the context of a device, its streams, events, modules and functions, each with an owner that
//! destroys it.
//!
//! Calls that need a current context make theirs the thread's first. What fails when an object is dropped is not
//! reported: a fatal error comes again at the next call, and the caller of a drop cannot act on another.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use super::api::{Address, Code, Driver, Handle};

/// The primary context of a device, which all programs in the process share.
pub(super) struct Context {
    pub(super) driver: &'static Driver,
    ordinal: usize,
    device: c_int,
    handle: Handle,
    has_pools: bool,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("ordinal", &self.ordinal).finish_non_exhaustive()
    }
}

/// Attributes of devices: `CUdevice_attribute`.
const MULTIPROCESSORS: c_uint = 16;
const HAS_POOLS: c_uint = 115;
/// An attribute of pools: how many bytes that were freed a pool keeps.
const RELEASE_THRESHOLD: c_uint = 4;
/// A stream that does not wait for the default stream.
const NON_BLOCKING: c_uint = 1;
/// An event that measures no time.
const WITHOUT_TIMING: c_uint = 2;
/// A mode of a thread, whose calls do not disturb a capture of a stream by another thread.
const RELAXED: c_uint = 2;
/// Registered memory is that of every context.
pub(super) const PORTABLE: c_uint = 1;

impl Context {
    /// Returns the number of devices.
    pub(super) fn count(driver: &'static Driver) -> Result<c_int, Code> {
        let mut count = 0;
        // SAFETY: the integer lives until the call returns.
        unsafe {
            (driver.init)(0).check()?;
            (driver.device_count)(&mut count).check()?;
        }
        Ok(count)
    }

    /// Opens the context of a device.
    pub(super) fn open(driver: &'static Driver, ordinal: usize) -> Result<Arc<Self>, Code> {
        let number = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        let (mut device, mut handle) = (0, Handle::NULL);
        // SAFETY: what is written lives until the calls return.
        unsafe {
            (driver.init)(0).check()?;
            (driver.device)(&mut device, number).check()?;
            (driver.retain_context)(&mut handle, device).check()?;
        }
        let mut context = Self { driver, ordinal, device, handle, has_pools: false };
        context.enter()?;
        context.has_pools = context.attribute(HAS_POOLS)? > 0;
        Ok(Arc::new(context))
    }

    /// Makes this the context of the calling thread.
    pub(super) fn enter(&self) -> Result<(), Code> {
        let mut current = Handle::NULL;
        // SAFETY: the handle lives until the call returns; the context is open.
        unsafe {
            match (self.driver.current_context)(&mut current) {
                Code::SUCCESS if current == self.handle => Ok(()),
                _ => (self.driver.set_current_context)(self.handle).check(),
            }
        }
    }

    /// Returns the number of the device.
    pub(super) fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Returns whether memory is allocated and freed in the order of streams.
    pub(super) fn has_pools(&self) -> bool {
        self.has_pools
    }

    /// Returns an attribute of the device.
    pub(super) fn attribute(&self, attribute: c_uint) -> Result<c_int, Code> {
        let mut value = 0;
        // SAFETY: the integer lives until the call returns.
        unsafe { (self.driver.device_attribute)(&mut value, attribute, self.device) }.check()?;
        Ok(value)
    }

    /// Returns the number of multiprocessors.
    pub(super) fn multiprocessors(&self) -> Result<u32, Code> {
        Ok(u32::try_from(self.attribute(MULTIPROCESSORS)?).unwrap_or(1).max(1))
    }

    /// Returns the name of the device.
    pub(super) fn name(&self) -> Result<String, Code> {
        let mut name = [0_u8; 256];
        // SAFETY: the array has so many bytes, and lives until the call returns.
        unsafe { (self.driver.device_name)(name.as_mut_ptr().cast(), name.len() as c_int, self.device) }.check()?;
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    /// Returns the number of bytes of memory that are free, and of all.
    pub(super) fn memory_info(&self) -> Result<(usize, usize), Code> {
        self.enter()?;
        let (mut free, mut all) = (0, 0);
        // SAFETY: the integers live until the call returns.
        unsafe { (self.driver.memory_info)(&mut free, &mut all) }.check()?;
        Ok((free, all))
    }

    /// Makes the device's pool keep the memory that is freed, for the next allocation, until the process ends or needs
    /// it. By default, the driver gives all of it back whenever the program waits.
    pub(super) fn keep_freed_memory(&self) -> Result<(), Code> {
        if !self.has_pools {
            return Ok(());
        }
        let (mut pool, mut all) = (Handle::NULL, u64::MAX);
        // SAFETY: what is written or read lives until the calls return. The pool is the device's own, and lives as long
        // as it; this attribute is an integer of 64 bits.
        unsafe {
            (self.driver.device_pool)(&mut pool, self.device).check()?;
            (self.driver.set_pool_attribute)(pool, RELEASE_THRESHOLD, (&raw mut all).cast()).check()
        }
    }

    /// Waits, on the calling thread, for all work in the context, also that of other libraries.
    pub(super) fn synchronize(&self) -> Result<(), Code> {
        self.enter()?;
        // SAFETY: the context is current.
        unsafe { (self.driver.synchronize_context)() }.check()
    }

    /// Lets the calling thread look at events while another thread captures a stream, for a graph. Otherwise, the driver
    /// would refuse the look, and end that capture with an error.
    pub(super) fn relax_capture(&self) -> Result<(), Code> {
        self.enter()?;
        let mut mode = RELAXED;
        // SAFETY: the integer lives until the call returns.
        unsafe { (self.driver.exchange_capture_mode)(&mut mode) }.check()
    }

    /// Allocates memory, in the order of the whole device.
    pub(super) fn allocate(&self, bytes: usize) -> Result<Address, Code> {
        self.enter()?;
        let mut address = 0;
        // SAFETY: the integer lives until the call returns.
        unsafe { (self.driver.allocate)(&mut address, bytes) }.check()?;
        Ok(address)
    }

    /// Frees memory.
    ///
    /// # Safety
    /// [`allocate`](Self::allocate) of this context gave the address. Nothing uses the memory, now or later.
    pub(super) unsafe fn free(&self, address: Address) -> Result<(), Code> {
        self.enter()?;
        // SAFETY: the caller's promise.
        unsafe { (self.driver.free)(address) }.check()
    }

    /// Registers memory of the program, which is neither read nor written nor moved.
    pub(super) fn register(&self, address: usize, bytes: usize) -> Result<(), Code> {
        self.enter()?;
        // SAFETY: the driver looks at the pages of the range only, and refuses what is not memory of the program.
        unsafe { (self.driver.register)(address as *mut c_void, bytes, PORTABLE) }.check()
    }

    /// Ends a registration.
    ///
    /// # Safety
    /// No copy of the memory is going on.
    pub(super) unsafe fn unregister(&self, address: usize) -> Result<(), Code> {
        self.enter()?;
        // SAFETY: the caller's promise; the driver refuses an address that is not registered.
        unsafe { (self.driver.unregister)(address as *mut c_void) }.check()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was retained once, and all objects of it have a share of it.
        let _ = unsafe { (self.driver.release_context)(self.device) };
    }
}

/// A stream: work that the device does in its order.
pub(super) struct Stream {
    context: Arc<Context>,
    handle: Handle,
}

impl Stream {
    /// Creates a stream.
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Code> {
        context.enter()?;
        let mut handle = Handle::NULL;
        // SAFETY: the handle lives until the call returns.
        unsafe { (context.driver.create_stream)(&mut handle, NON_BLOCKING) }.check()?;
        Ok(Self { context: context.clone(), handle })
    }

    /// Returns the handle as a number, for another library.
    pub(super) fn number(&self) -> usize {
        self.handle.number()
    }

    /// Waits, on the calling thread, for all work.
    pub(super) fn synchronize(&self) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the stream is alive.
        unsafe { (self.context.driver.synchronize_stream)(self.handle) }.check()
    }

    /// Makes later work wait for an event.
    pub(super) fn wait(&self, event: &Event) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: both are alive.
        unsafe { (self.context.driver.wait_for_event)(self.handle, event.handle, 0) }.check()
    }

    /// Makes later work wait for an event of another library.
    ///
    /// # Safety
    /// The handle is that of an event of this device that is alive.
    pub(super) unsafe fn wait_for_other(&self, event: Handle) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the stream is alive.
        unsafe { (self.context.driver.wait_for_event)(self.handle, event, 0) }.check()
    }

    /// Allocates memory: it may be used in this stream, and after this work in others.
    pub(super) fn allocate(&self, bytes: usize) -> Result<Address, Code> {
        self.context.enter()?;
        let mut address = 0;
        // SAFETY: the integer lives until the call returns; the stream is alive.
        unsafe { (self.context.driver.allocate_in)(&mut address, bytes, self.handle) }.check()?;
        Ok(address)
    }

    /// Starts to move managed memory to the device.
    ///
    /// # Safety
    /// As many bytes at the address are managed memory, which is not freed until this work has ended.
    pub(super) unsafe fn prefetch(&self, address: Address, bytes: usize) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the stream is alive.
        unsafe { (self.context.driver.prefetch)(address, bytes, self.context.device, self.handle) }.check()
    }

    /// Frees memory after the work of this stream.
    ///
    /// # Safety
    /// [`allocate`](Self::allocate) of a stream of this context gave the address. When this stream has done the work that
    /// it has now, nothing uses the memory any more.
    pub(super) unsafe fn free(&self, address: Address) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the stream is alive.
        unsafe { (self.context.driver.free_in)(address, self.handle) }.check()
    }

    /// Starts a copy to the device.
    ///
    /// # Safety
    /// As many bytes at the target are memory of this device. Until this work has ended, the target is not freed, and
    /// the source stays where it is and is not written.
    pub(super) unsafe fn upload(&self, target: Address, source: &[u8]) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the stream is alive.
        unsafe { (self.context.driver.upload)(target, source.as_ptr().cast(), source.len(), self.handle) }.check()
    }

    /// Starts a copy from the device.
    ///
    /// # Safety
    /// As many bytes at the source are memory of this device. Until this work has ended, the source is not freed, and
    /// the target stays where it is and is neither read nor written.
    pub(super) unsafe fn download(&self, target: &mut [u8], source: Address) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the stream is alive.
        unsafe { (self.context.driver.download)(target.as_mut_ptr().cast(), source, target.len(), self.handle) }.check()
    }

    /// Starts a copy on the device.
    ///
    /// # Safety
    /// As many bytes at both addresses are memory of this device, and are not freed until this work has ended.
    pub(super) unsafe fn copy(&self, target: Address, source: Address, bytes: usize) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the stream is alive.
        unsafe { (self.context.driver.copy)(target, source, bytes, self.handle) }.check()
    }

    /// Launches a kernel on a grid of blocks of threads, with bytes of shared memory that it does not declare itself.
    ///
    /// # Safety
    /// The kernel has as many parameters as there are, or fewer, each of the type of its value, of eight bytes or of
    /// fewer: the first ones count. With them it uses memory of this device only, which is not freed until this work
    /// has ended.
    pub(super) unsafe fn launch(
        &self,
        function: &Function,
        blocks: (u32, u32, u32),
        threads: (u32, u32, u32),
        shared_bytes: u32,
        parameters: &[u64],
    ) -> Result<(), Code> {
        self.context.enter()?;
        let mut parameters: Vec<*mut c_void> =
            parameters.iter().map(|value| std::ptr::from_ref(value).cast_mut().cast()).collect();
        let (grid, block) = (blocks, threads);
        // SAFETY: the caller's promise. The driver copies the parameters before the call returns, and writes none.
        // Stream and function are alive, and the device unloads no function while it runs: see the drop of `Module`.
        let launched = unsafe {
            (self.context.driver.launch)(
                function.handle,
                grid.0,
                grid.1,
                grid.2,
                block.0,
                block.1,
                block.2,
                shared_bytes,
                self.handle,
                parameters.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        launched.check()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: the stream is destroyed once. The driver does the rest of its work before.
        let _ = unsafe { (self.context.driver.destroy_stream)(self.handle) };
    }
}

/// A point in the work of a stream.
pub(super) struct Event {
    context: Arc<Context>,
    handle: Handle,
}

impl Event {
    /// Creates an event that no stream has yet.
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Code> {
        context.enter()?;
        let mut handle = Handle::NULL;
        // SAFETY: the handle lives until the call returns.
        unsafe { (context.driver.create_event)(&mut handle, WITHOUT_TIMING) }.check()?;
        Ok(Self { context: context.clone(), handle })
    }

    /// Makes this the end of the work that a stream has now.
    pub(super) fn record(&self, stream: &Stream) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: both are alive.
        unsafe { (self.context.driver.record_event)(self.handle, stream.handle) }.check()
    }

    /// Makes this the end of the work that a stream of another library has now.
    ///
    /// # Safety
    /// The handle is that of a stream of this device that is alive.
    pub(super) unsafe fn record_in_other(&self, stream: Handle) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the event is alive.
        unsafe { (self.context.driver.record_event)(self.handle, stream) }.check()
    }

    /// Makes later work of a stream of another library wait.
    ///
    /// # Safety
    /// The handle is that of a stream of this device that is alive.
    pub(super) unsafe fn hold_other(&self, stream: Handle) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the event is alive.
        unsafe { (self.context.driver.wait_for_event)(stream, self.handle, 0) }.check()
    }

    /// Waits, on the calling thread, until the work has ended.
    pub(super) fn synchronize(&self) -> Result<(), Code> {
        self.context.enter()?;
        // SAFETY: the event is alive.
        unsafe { (self.context.driver.synchronize_event)(self.handle) }.check()
    }

    /// Returns whether the work has ended.
    pub(super) fn has_ended(&self) -> Result<bool, Code> {
        self.context.enter()?;
        // SAFETY: the event is alive.
        match unsafe { (self.context.driver.query_event)(self.handle) } {
            Code::NOT_READY => Ok(false),
            answer => answer.check().map(|()| true),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: the event is destroyed once. The driver keeps it for streams that wait for it.
        let _ = unsafe { (self.context.driver.destroy_event)(self.handle) };
    }
}

/// Kernels that are loaded. They are unloaded when the device has nothing to do any more: it may be running one of
/// them.
pub(super) struct Module {
    context: Arc<Context>,
    handle: Handle,
}

impl Module {
    /// Loads kernels in the device's assembly language (PTX).
    pub(super) fn new(context: &Arc<Context>, code: &CStr) -> Result<Arc<Self>, Code> {
        context.enter()?;
        let mut handle = Handle::NULL;
        // SAFETY: the text ends with a zero, and the handle lives until the call returns.
        unsafe { (context.driver.load_module)(&mut handle, code.as_ptr().cast()) }.check()?;
        Ok(Arc::new(Self { context: context.clone(), handle }))
    }

    /// Returns a kernel.
    pub(super) fn function(self: &Arc<Self>, name: &CStr) -> Result<Function, Code> {
        self.context.enter()?;
        let mut handle = Handle::NULL;
        let name: *const c_char = name.as_ptr();
        // SAFETY: the name ends with a zero, the module is alive, and the handle lives until the call returns.
        unsafe { (self.context.driver.find_function)(&mut handle, self.handle, name) }.check()?;
        Ok(Function { handle, _module: self.clone() })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let driver = self.context.driver;
        let wait = || self.context.synchronize();
        if wait().or_else(|_| wait()).is_ok() {
            // SAFETY: the module is unloaded once, and the device runs none of its kernels.
            let _ = unsafe { (driver.unload_module)(self.handle) };
        }
    }
}

/// A kernel that is loaded, with its module.
pub(super) struct Function {
    handle: Handle,
    _module: Arc<Module>,
}
