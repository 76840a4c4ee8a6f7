//! A CUDA driver without a device: a library with the functions of `libcuda.so` that the adapter calls, which keeps
//! "device memory" in memory of its own and runs kernels as Rust code. For tests, on machines without a GPU.
//!
//! What it is strict about, so that a mistake of the adapter shows:
//!
//! * Addresses on the device are no addresses of the program, and are never used twice. Every access is checked against
//!   the blocks that are alive in the order of the streams; one outside of them is an "illegal address", and the
//!   context is unusable from then on. Memory is filled with nonsense when it is allocated.
//! * Streams have a thread each, with pseudo-random delays, so that work has no order unless the program
//!   orders it. Calls are delayed too, on the thread that makes them.
//! * A copy from or to memory that is registered is made by the thread of the stream, at its time: a source that is
//!   changed too early arrives changed. What a copy will write is filled with nonsense when the copy is asked for.
//!   Other memory is read, or written, before the call returns, as the driver's documentation has it.
//! * Handles are numbers. One that does not exist, of another kind, or of a context that is not current is an error.
//! * What no program may do is a *violation*, which is kept for the tests to find: an access outside of a block or
//!   before its allocation, a block freed twice, memory unregistered while it is copied, a call without a context.
//!
//! `api` has the exported functions; `device`: devices and their blocks, which are in `memory`; `stream`: streams and
//! events; `host`: registered memory; `module`: modules, and the kernels that are known; `kernels` and
//! `algorithms`: what they do; `control`: faults on demand, and counts, for tests.
//!
//! Environment: `FAKE_CUDA_DEVICES` (2), `FAKE_CUDA_MEMORY` (bytes of each device, 1 GiB), `FAKE_CUDA_SEED`,
//! `FAKE_CUDA_DELAYS` (0: none, 1: short, 2: long), `FAKE_CUDA_POOLS` (0: devices without `cuMemAllocAsync`),
//! `FAKE_CUDA_CONCURRENT` (0: managed memory is for one side at a time), `FAKE_CUDA_STRICT` (1: a violation ends the
//! process).

mod algorithms;
mod api;
mod control;
mod device;
mod host;
mod kernels;
mod memory;
mod module;
mod sparse;
mod stream;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An error of the driver: a `CUresult`.
type Code = u32;
type Answer<V = ()> = Result<V, Code>;

const INVALID_VALUE: Code = 1;
const OUT_OF_MEMORY: Code = 2;
const INVALID_DEVICE: Code = 101;
const INVALID_IMAGE: Code = 200;
const INVALID_CONTEXT: Code = 201;
const INVALID_HANDLE: Code = 400;
const NOT_FOUND: Code = 500;
const NOT_READY: Code = 600;
const ILLEGAL_ADDRESS: Code = 700;
const ALREADY_REGISTERED: Code = 712;
const NOT_REGISTERED: Code = 713;
const NOT_PERMITTED: Code = 800;
const CAPTURE_UNSUPPORTED: Code = 900;

fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The objects of one kind that are alive, by their handles. No two objects of any kind ever have the same handle.
struct Table<V>(Mutex<Option<HashMap<usize, Arc<V>>>>);

impl<V> Table<V> {
    const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn add(&self, make: impl FnOnce(usize) -> V) -> (usize, Arc<V>) {
        static NEXT: AtomicUsize = AtomicUsize::new(0x1001);
        let handle = NEXT.fetch_add(1, Relaxed);
        let object = Arc::new(make(handle));
        lock(&self.0).get_or_insert_default().insert(handle, object.clone());
        (handle, object)
    }

    fn get(&self, handle: usize) -> Answer<Arc<V>> {
        lock(&self.0).as_ref().and_then(|table| table.get(&handle).cloned()).ok_or(INVALID_HANDLE)
    }

    fn remove(&self, handle: usize) -> Answer<Arc<V>> {
        lock(&self.0).as_mut().and_then(|table| table.remove(&handle)).ok_or(INVALID_HANDLE)
    }

    fn count(&self, is_counted: impl Fn(&V) -> bool) -> usize {
        lock(&self.0).as_ref().map_or(0, |table| table.values().filter(|object| is_counted(object)).count())
    }
}

/// A number of the environment.
fn setting(name: &str, default: usize) -> usize {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")),
        Err(_) => default,
    }
}
