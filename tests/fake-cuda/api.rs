//! The exported functions: those of the driver's that the adapter calls, with their names and parameters.
//!
//! Source: the CUDA driver API, version 13.0.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};

use crate::control::{count_call, dawdle};
use crate::device::{check_current, current, current_handle, device, devices, place, set_current};
use crate::memory::Form;
use crate::module::{FUNCTIONS, MODULES, Module};
use crate::stream::{EVENTS, Event, STREAMS, Stream};
use crate::{
    Answer, Code, INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, NOT_READY, Table, control, host, kernels, setting,
};

/// What the driver calls a device, a pool, and an address on a device.
type Number = c_int;
type Address = u64;
/// A handle of an object: never read or written as an address.
type Handle = *mut c_void;

/// Exported functions. Each counts its call, fails if that was asked for, and is delayed for a moment. Those after
/// `freeing` do their work even if they fail.
///
/// # Safety
/// That of every driver: pointers are null or valid for what is written or read there.
macro_rules! exports {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $body:block)* freeing: $(fn $free:ident($only:ident: $its:ty $(, $more:ident: $other:ty)*) $work:block)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> Code {
            let answer = count_call(stringify!($name)).and_then(|()| $body);
            dawdle();
            answer.err().unwrap_or(0)
        })*
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $free($only: $its $(, $more: $other)*) -> Code {
            let asked = count_call(stringify!($free));
            let answer: Answer = (|| $work)();
            dawdle();
            asked.and(answer).err().unwrap_or(0)
        })*
    };
}

/// Writes an answer where the caller wants it.
fn put<V>(target: *mut V, value: V) -> Answer {
    if target.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: it is not null, and the caller of the exported function promises that it is valid.
    unsafe { target.write(value) };
    Ok(())
}

fn as_handle(number: usize) -> Handle {
    std::ptr::without_provenance_mut(number)
}

/// A stream of the current context. 0 and 1 are its legacy default stream, and 2 is that of each thread, which is one
/// for all threads here.
fn stream_of(handle: Handle) -> Answer<Arc<Stream>> {
    if handle.addr() <= 2 {
        return Ok(current()?.default_stream(handle.addr() / 2));
    }
    let stream = STREAMS.get(handle.addr())?;
    check_current(&stream.device, "a stream")?;
    Ok(stream)
}

/// An event of the current context.
fn event_of(handle: Handle) -> Answer<Arc<Event>> {
    let event = EVENTS.get(handle.addr())?;
    check_current(&event.device, "an event")?;
    Ok(event)
}

fn take<V>(table: &Table<V>, handle: Handle, what: &str) -> Answer<Arc<V>> {
    table.remove(handle.addr()).inspect_err(|_| control::violation(&format!("{what} is destroyed that is none")))
}

/// A pointer that is given to another thread.
struct Sent<P>(P);

// SAFETY: what it points at is memory that the program has lent to the driver until the work has ended.
unsafe impl<P> Send for Sent<P> {}

impl<P> Sent<P> {
    fn get(self) -> P {
        self.0
    }
}

exports! {
    fn cuInit(flags: c_uint) {
        if flags == 0 { Ok(()) } else { Err(INVALID_VALUE) }
    }
    fn cuDriverGetVersion(version: *mut c_int) { put(version, 13_000) }
    fn cuDeviceGetCount(count: *mut c_int) { put(count, devices().len() as c_int) }
    fn cuDeviceGet(number: *mut Number, ordinal: c_int) { device(ordinal).and_then(|_| put(number, ordinal)) }
    fn cuDeviceGetName(name: *mut c_char, length: c_int, number: Number) {
        device(number)?;
        let text = format!("Fake device {number}\0");
        if name.is_null() || (length as usize) < text.len() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: there is room for the text, as the caller says.
        unsafe { name.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
        Ok(())
    }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, number: Number) {
        device(number)?;
        match attribute {
            16 => put(value, 4), // multiprocessors
            83 => put(value, 1), // managed memory
            89 => put(value, setting("FAKE_CUDA_CONCURRENT", 1) as c_int), // which both sides may use at a time
            115 => put(value, setting("FAKE_CUDA_POOLS", 1) as c_int), // memory pools
            _ => Err(INVALID_VALUE),
        }
    }
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, number: Number) {
        device(number).and_then(|device| put(pool, as_handle(device.context())))
    }
    fn cuMemPoolSetAttribute(pool: Handle, attribute: c_uint, value: *mut c_void) {
        let is_pool = devices().iter().any(|device| device.context() == pool.addr());
        if is_pool && attribute == 4 && !value.is_null() { Ok(()) } else { Err(INVALID_VALUE) }
    }
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, number: Number) {
        let device = device(number)?;
        device.check()?;
        device.retained.fetch_add(1, SeqCst);
        put(context, as_handle(device.context()))
    }
    fn cuCtxGetCurrent(context: *mut Handle) { put(context, as_handle(current_handle())) }
    fn cuCtxSetCurrent(context: Handle) { set_current(context.addr()) }
    fn cuCtxSynchronize() {
        let device = current()?;
        device.allow_synchronizing()?;
        device.finish();
        device.check()
    }
    fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) {
        current()?;
        put(mode, 0) // the mode of every thread at first; no stream is ever captured
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let device = current()?;
        device.check()?;
        let all = device.limit.load(SeqCst);
        put(free, all.saturating_sub(device.used.load(SeqCst)))?;
        put(total, all)
    }

    fn cuStreamCreate(stream: *mut Handle, _flags: c_uint) {
        let device = current()?;
        device.check()?;
        put(stream, as_handle(Stream::start(device)))
    }
    fn cuStreamSynchronize(stream: Handle) {
        let stream = stream_of(stream)?;
        stream.mark().wait();
        stream.device.check()
    }
    fn cuStreamWaitEvent(stream: Handle, event: Handle, _flags: c_uint) {
        let (stream, event) = (stream_of(stream)?, event_of(event)?);
        stream.device.check()?;
        let point = crate::lock(&event.point).clone();
        point.into_iter().for_each(|point| stream.wait_for(point));
        Ok(())
    }
    fn cuEventCreate(event: *mut Handle, _flags: c_uint) {
        let device = current()?;
        device.check()?;
        let (handle, _) = EVENTS.add(|_| Event { device: device.clone(), point: Mutex::default() });
        put(event, as_handle(handle))
    }
    fn cuEventRecord(event: Handle, stream: Handle) {
        let (stream, event) = (stream_of(stream)?, event_of(event)?);
        stream.device.check()?;
        *crate::lock(&event.point) = Some(stream.mark());
        Ok(())
    }
    fn cuEventSynchronize(event: Handle) {
        let event = event_of(event)?;
        let point = crate::lock(&event.point).clone();
        point.into_iter().for_each(|point| point.wait());
        event.device.check()
    }
    fn cuEventQuery(event: Handle) {
        let event = event_of(event)?;
        event.device.check()?;
        let point = crate::lock(&event.point).clone();
        if point.is_none_or(|point| point.is_reached()) { Ok(()) } else { Err(NOT_READY) }
    }

    fn cuMemAllocAsync(address: *mut Address, count: usize, stream: Handle) {
        let stream = stream_of(stream)?;
        stream.device.check()?;
        let (found, block) = stream.device.allocate(count, Form::Pool)?;
        stream.work(move |_| { block.arrive(); Ok(()) });
        put(address, found)
    }
    fn cuMemAlloc_v2(address: *mut Address, count: usize) {
        let device = current()?;
        device.check()?;
        let (found, block) = device.allocate(count, Form::Plain)?;
        block.arrive();
        put(address, found)
    }
    fn cuMemAllocManaged(address: *mut Address, count: usize, flags: c_uint) {
        let device = current()?;
        device.check()?;
        if !(1..=2).contains(&flags) {
            return Err(INVALID_VALUE);
        }
        let (found, block) = device.allocate(count, Form::Managed)?;
        block.arrive();
        put(address, found)
    }
    fn cuMemHostAlloc(address: *mut Handle, count: usize, flags: c_uint) {
        let device = current()?;
        device.check()?;
        if flags > 7 {
            return Err(INVALID_VALUE);
        }
        let (found, block) = device.allocate(count, Form::Pinned)?;
        block.arrive();
        put(address, std::ptr::with_exposed_provenance_mut(found as usize))
    }
    fn cuMemPrefetchAsync(address: Address, count: usize, number: Number, stream: Handle) {
        let stream = stream_of(stream)?;
        stream.device.check()?;
        if number != -1 {
            device(number)?;
        }
        let end = address.checked_add(count as u64).ok_or(INVALID_VALUE)?;
        let found = place(address).filter(|place| place.form == Form::Managed);
        let found = found.filter(|place| count > 0 && end <= place.start + place.count as u64);
        if found.is_none() || setting("FAKE_CUDA_CONCURRENT", 1) == 0 {
            control::violation("a prefetch of what is not managed memory, or on a device that cannot");
            return Err(INVALID_VALUE);
        }
        stream.work(|_| Ok(()));
        Ok(())
    }
    fn cuPointerGetAttributes(
        count: c_uint, attributes: *const c_uint, data: *mut *mut c_void, address: Address
    ) {
        let context = current()?;
        if count == 0 || attributes.is_null() || data.is_null() {
            return Err(INVALID_VALUE);
        }
        let registered = host::place(address as usize);
        // What an address is that the driver does not know: every attribute is zero, but for the device.
        let (mut memory_type, mut managed, mut ordinal, mut start, mut size, mut form) = (0, 0, -2, 0, 0, None);
        let mut for_kernels = address;
        if let Some(place) = place(address) {
            (memory_type, managed) = match place.form {
                Form::Pinned => (1, 0),
                Form::Managed => (2, 1),
                _ => (2, 0),
            };
            (ordinal, start, size) = (place.device as c_int, place.start, place.count);
            form = Some(place.form);
            if memory_type == 2 && managed == 0 && place.device != context.index {
                for_kernels = 0; // no device can access the memory of another one
            }
        } else if let Some((first, bytes, device)) = registered {
            (memory_type, ordinal, start, size) = (1, device as c_int, first as u64, bytes);
        }
        for index in 0..count as usize {
            // SAFETY: the caller promises as many attributes, and as many places.
            let (attribute, target) = unsafe { (attributes.add(index).read(), data.add(index).read()) };
            match attribute {
                2 => put(target.cast::<c_uint>(), memory_type)?,
                3 => put(target.cast::<u64>(), if memory_type == 0 { 0 } else { for_kernels })?,
                8 => put(target.cast::<c_uint>(), managed)?,
                9 => put(target.cast::<c_int>(), ordinal)?,
                10 => put(target.cast::<u8>(), u8::from(form == Some(Form::Plain)))?,
                11 => put(target.cast::<u64>(), start)?,
                12 => put(target.cast::<usize>(), size)?,
                17 => put(target.cast::<usize>(), if form == Some(Form::Pool) { context.context() } else { 0 })?,
                _ => return Err(INVALID_VALUE),
            }
        }
        Ok(())
    }
    fn cuMemcpyHtoDAsync_v2(target: Address, source: *const c_void, count: usize, stream: Handle) {
        let stream = stream_of(stream)?;
        stream.device.check()?;
        stream.device.check_range(target, count)?;
        stream.device.copied[0].fetch_add(count, SeqCst);
        if let Some(pending) = host::begin(source.addr(), count) {
            let source = Sent(source.cast::<u8>());
            stream.work(move |device| pending.go(|| {
                // SAFETY: the program keeps the memory until the copy has ended; it is still registered.
                let bytes = unsafe { std::slice::from_raw_parts(source.get(), count) }.to_vec();
                let _ = device.write(target, count, |block| block.copy_from_slice(&bytes));
            }));
            return Ok(());
        }
        // SAFETY: the caller promises that so many bytes are there to be read until the call returns.
        let bytes = unsafe { std::slice::from_raw_parts(source.cast::<u8>(), count) }.to_vec();
        stream.work(move |device| device.write(target, count, |block| block.copy_from_slice(&bytes)));
        Ok(())
    }
    fn cuMemcpyDtoHAsync_v2(target: *mut c_void, source: Address, count: usize, stream: Handle) {
        let stream = stream_of(stream)?;
        stream.device.check()?;
        stream.device.check_range(source, count)?;
        stream.device.copied[1].fetch_add(count, SeqCst);
        let target = target.cast::<u8>();
        // SAFETY: the caller promises that so many bytes may be written from now on.
        unsafe { target.write_bytes(0xEE, count) };
        if let Some(pending) = host::begin(target.addr(), count) {
            let target = Sent(target);
            stream.work(move |device| {
                let bytes = device.read(source, count)?;
                // SAFETY: the program keeps the memory until the copy has ended; it is still registered.
                pending.go(|| unsafe { target.get().copy_from_nonoverlapping(bytes.as_ptr(), count) })
            });
            return Ok(());
        }
        let arrived = Arc::new(Mutex::new(Vec::new()));
        let to = arrived.clone();
        stream.work(move |device| {
            *crate::lock(&to) = device.read(source, count)?;
            Ok(())
        });
        stream.mark().wait();
        let bytes = crate::lock(&arrived);
        if bytes.len() == count {
            // SAFETY: as above, and the call has not returned.
            unsafe { target.copy_from_nonoverlapping(bytes.as_ptr(), count) };
        }
        stream.device.check()
    }
    fn cuMemcpyDtoDAsync_v2(target: Address, source: Address, count: usize, stream: Handle) {
        let stream = stream_of(stream)?;
        stream.device.check()?;
        stream.device.check_range(source, count)?;
        stream.device.check_range(target, count)?;
        stream.device.copied[2].fetch_add(count, SeqCst);
        stream.work(move |device| {
            let bytes = device.read(source, count)?;
            device.write(target, count, |block| block.copy_from_slice(&bytes))
        });
        Ok(())
    }
    fn cuMemHostRegister_v2(first: *mut c_void, count: usize, _flags: c_uint) {
        let device = current()?;
        device.check()?;
        host::register(first.addr(), count, device.index)
    }

    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) {
        let device = current()?;
        device.check()?;
        if image.is_null() {
            return Err(INVALID_IMAGE);
        }
        // SAFETY: the caller promises a text that ends with a zero: other images are not given to this driver.
        let text = unsafe { CStr::from_ptr(image.cast()) }.to_str().map_err(|_| INVALID_IMAGE)?;
        let loaded = Module::load(device.index, text)?;
        put(module, as_handle(MODULES.add(|_| loaded).0))
    }
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        let found = MODULES.get(module.addr())?;
        check_current(&devices()[found.device], "a module")?;
        if name.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller promises a text that ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| INVALID_VALUE)?;
        let kernel = found.function(module.addr(), name)?;
        put(function, as_handle(FUNCTIONS.add(|_| kernel).0))
    }
    fn cuLaunchKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared: c_uint, stream: Handle, parameters: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        let (function, stream) = (FUNCTIONS.get(function.addr())?, stream_of(stream)?);
        let running = MODULES.get(function.module)?.running.clone();
        stream.device.check()?;
        let threads = u64::from(block_x) * u64::from(block_y) * u64::from(block_z);
        let has_size = [grid_x, grid_y, grid_z].iter().all(|&blocks| blocks > 0) && (1..=1024).contains(&threads);
        if !has_size || shared > 48 << 10 || parameters.is_null() || !extra.is_null() {
            return Err(INVALID_VALUE);
        }
        if function.device != stream.device.index {
            return Err(INVALID_HANDLE);
        }
        let arguments = function.sizes.iter().enumerate().map(|(index, &size)| {
            let mut value = [0; size_of::<u64>()];
            // SAFETY: the caller promises a pointer to each parameter of the kernel, to as many bytes as it has.
            unsafe {
                let parameter = parameters.add(index).read().cast::<u8>();
                value.as_mut_ptr().copy_from_nonoverlapping(parameter, size);
            }
            u64::from_le_bytes(value)
        });
        let (arguments, kernel) = (arguments.collect::<Vec<_>>(), function.kernel);
        running.fetch_add(1, SeqCst);
        stream.work(move |device| kernels::run(device, kernel, &arguments));
        stream.always(move |_| _ = running.fetch_sub(1, SeqCst));
        Ok(())
    }

    freeing:

    fn cuDevicePrimaryCtxRelease_v2(number: Number) { device(number)?.release() }
    fn cuStreamDestroy_v2(stream: Handle) {
        let stream = take(&STREAMS, stream, "a stream")?;
        stream.close();
        stream.device.check()
    }
    fn cuEventDestroy_v2(event: Handle) { take(&EVENTS, event, "an event")?.device.check() }
    fn cuMemFreeAsync(address: Address, stream: Handle) {
        let stream = stream_of(stream)?;
        stream.device.give_up(address)?;
        stream.always(move |device| device.free(address));
        stream.device.check()
    }
    fn cuMemFree_v2(address: Address) {
        let device = current()?;
        device.give_up(address)?;
        device.finish();
        device.free(address);
        device.check()
    }
    fn cuMemFreeHost(first: *mut c_void) {
        let device = current()?;
        let address = first.addr() as Address;
        if !place(address).is_some_and(|place| place.form == Form::Pinned && place.start == address) {
            control::violation("a free of what is not pinned memory");
            return Err(INVALID_VALUE);
        }
        device.give_up(address)?;
        device.finish();
        device.free(address);
        device.check()
    }
    fn cuMemHostUnregister(first: *mut c_void) {
        let device = current()?;
        host::unregister(first.addr())?;
        device.check()
    }
    fn cuModuleUnload(module: Handle) {
        let module = take(&MODULES, module, "a module")?;
        if module.running.load(SeqCst) > 0 && devices()[module.device].check().is_ok() {
            control::violation("a module is unloaded while a kernel of it is running");
        }
        Ok(())
    }
}
