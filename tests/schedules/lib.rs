//! What several threads share, under schedules that shuttle chooses: the crew of a parallel call, results in order, the
//! slot of a lease, and copies to a device that are started ahead.
//!
//! `build.rs` copies the source of the library's modules into this crate, and replaces the locks, atomics and threads of
//! the standard library by those of shuttle. This file has stand-ins for what the modules use: a pool that starts a
//! thread for each task, an error type, and a device that only counts what it is told.
//! shuttle lets one thread run at a time, and chooses the next one at each lock and atomic. So it tries sequentially
//! consistent orders only: weaker orders of memory are for Miri and ThreadSanitizer.
//!
//! `NUMERIC_TABLE_SCHEDULES` sets the number of random schedules for each test, 300 by default.

#![allow(dead_code, unused_imports, clippy::all)]

#[cfg(test)]
mod suite;

/// What the modules take from `std::sync`.
pub(crate) mod sync {
    pub(crate) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

    pub(crate) mod atomic {
        pub(crate) use shuttle::sync::atomic::*;
    }

    /// The standard library's, with a point before each call at which another thread may go on.
    #[derive(Debug, Default)]
    pub(crate) struct OnceLock<T>(std::sync::OnceLock<T>);

    impl<T> OnceLock<T> {
        pub(crate) const fn new() -> Self {
            Self(std::sync::OnceLock::new())
        }

        pub(crate) fn get(&self) -> Option<&T> {
            point();
            self.0.get()
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            point();
            self.0.set(value)
        }

        pub(crate) fn take(&mut self) -> Option<T> {
            self.0.take()
        }
    }

    fn point() {
        if !std::thread::panicking() {
            shuttle::thread::sleep(std::time::Duration::ZERO); // lets others go on, without a claim that they should
        }
    }
}

/// A pool with a thread for each task.
pub(crate) mod pool {
    pub(crate) fn spawn(task: impl FnOnce() + Send + 'static) {
        shuttle::thread::spawn(task);
    }

    /// Any number is allowed: it only says which index a thread begins with.
    pub(crate) fn current_thread_index() -> Option<usize> {
        Some(1)
    }
}

pub(crate) mod base {
    pub(crate) mod error {
        pub(crate) type Result<T> = std::result::Result<T, usize>;
    }

    pub(crate) mod trace {
        pub(crate) struct TraceContext;

        impl TraceContext {
            pub(crate) fn current() -> Self {
                Self
            }

            pub(crate) fn run<R>(&self, work: impl FnOnce() -> R) -> R {
                work()
            }
        }
    }

    pub(crate) mod crew {
        include!(concat!(env!("OUT_DIR"), "/src_base_crew.rs"));

        pub(crate) fn call_share(count: usize, threads: usize, takes_own: bool, work: &(dyn Fn(usize) + Sync)) {
            share(count, threads, takes_own, work);
        }
    }

    pub(crate) mod ahead {
        include!(concat!(env!("OUT_DIR"), "/src_base_ahead.rs"));

        pub(crate) fn call_in_order<P: Send, R: Send>(
            pieces: impl Iterator<Item = P>,
            threads: usize,
            window: usize,
            work: impl Fn(P) -> Result<R> + Sync,
            put: impl FnMut(R) -> Result<()>,
        ) -> Result<()> {
            in_order(pieces, threads, window, work, put)
        }
    }
}

pub(crate) mod table {
    pub(crate) mod error {
        /// What the library's error says; its own cannot be made outside of it.
        #[derive(Debug)]
        pub(crate) struct Error(pub(crate) ErrorKind);

        #[derive(Debug)]
        pub(crate) enum ErrorKind {
            WrongTable,
            BlockOutstanding { rows: std::ops::Range<usize> },
        }

        impl Error {
            pub(crate) fn new(kind: ErrorKind) -> Self {
                Self(kind)
            }
        }

        pub(crate) type Result<T> = std::result::Result<T, Error>;
    }

    pub(crate) mod lease {
        include!(concat!(env!("OUT_DIR"), "/src_table_lease.rs"));

        /// The memory of a table, for the tests.
        pub(crate) struct Lender(Memory<Array<u8>>);

        impl Lender {
            pub(crate) fn new(values: Vec<u8>) -> Self {
                Self(Memory::new(Array::from(values)))
            }

            pub(crate) fn lend(&mut self, lease: &mut Lease) -> Result<()> {
                let count = self.0.array()?.len();
                self.0.lend(&Region { rows: 0..count, columns: 0..1 }, Some(0..count), lease)
            }

            pub(crate) fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
                self.0.take_back(lease)
            }

            pub(crate) fn values(&self) -> Option<Vec<u8>> {
                self.0.array().ok().map(|array| array.to_vec())
            }

            pub(crate) fn write(&mut self, at: usize, value: u8) -> bool {
                let Ok(array) = self.0.array_mut() else { return false };
                array.need_mutable_data().unwrap()[at] = value;
                true
            }

            pub(crate) fn share(&self) -> Self {
                Self(self.0.share())
            }
        }
    }
}

/// A device whose queue only counts: the number of an event is that of the copies that were enqueued before it.
pub(crate) mod device {
    use crate::sync::atomic::{AtomicU64, Ordering::SeqCst};

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Event(pub(crate) u64);

    impl Event {
        pub(crate) const DONE: Self = Self(0);
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) enum Engine {
        Copy,
        Compute,
        Control,
    }

    pub(crate) trait DeviceAdapter {
        fn queue(&self) -> &Queue;
    }

    #[derive(Default)]
    pub(crate) struct Queue {
        /// Copies that are enqueued.
        pub(crate) copies: AtomicU64,
        /// The copies that later kernels, and the control side, have waited for.
        pub(crate) compute: AtomicU64,
        pub(crate) control: AtomicU64,
    }

    impl Queue {
        pub(crate) fn record(&self, engine: Engine) -> Event {
            assert_eq!(engine, Engine::Copy);
            Event(self.copies.load(SeqCst))
        }

        pub(crate) fn wait(&self, engine: Engine, event: Event) {
            match engine {
                Engine::Compute => self.compute.fetch_max(event.0, SeqCst),
                Engine::Control => self.control.fetch_max(event.0, SeqCst),
                Engine::Copy => 0,
            };
        }
    }

    #[derive(Default)]
    pub(crate) struct Device(pub(crate) Queue);

    impl DeviceAdapter for Device {
        fn queue(&self) -> &Queue {
            &self.0
        }
    }
}

pub(crate) mod handle {
    pub(crate) mod ahead {
        include!(concat!(env!("OUT_DIR"), "/src_handle_ahead.rs"));

        /// A handle whose copy is on the device or is not, for the tests.
        #[derive(Default)]
        pub(crate) struct Handle {
            ahead: Ahead,
            /// As the lock of the device's copy: the number of the copy, 0 if it was complete when it was made.
            copy: crate::sync::Mutex<Option<u64>>,
        }

        impl Handle {
            /// `ArrayHandle::prefetch`.
            pub(crate) fn prefetch(&self, device: &crate::device::Device) {
                let _starting = self.ahead.begin();
                let mut copy = self.copy.lock().unwrap();
                if copy.is_none() {
                    *copy = Some(device.queue().copies.fetch_add(1, crate::sync::atomic::Ordering::SeqCst) + 1);
                }
                drop(copy);
                self.ahead.started(device.queue().record(Engine::Copy));
            }

            /// What a kernel does first: it finds the copy, or makes it and waits, and then waits for copies that were
            /// started ahead. Returns the number of the copy.
            pub(crate) fn use_on(&self, device: &crate::device::Device) -> u64 {
                let copy = *self.copy.lock().unwrap().get_or_insert(0);
                self.ahead.join(device);
                copy
            }

            pub(crate) fn finish(&self, device: &crate::device::Device) {
                self.ahead.finish(device);
            }

            pub(crate) fn share(&self, device: &crate::device::Device) -> Self {
                let copy = *self.copy.lock().unwrap();
                Self { ahead: self.ahead.share(device), copy: crate::sync::Mutex::new(copy) }
            }
        }
    }
}
