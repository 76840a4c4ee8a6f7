//! What only CUDA devices have: on a device that is there, or on a driver that takes the place of NVIDIA's
//! (`tests/fake-cuda`; `.ci/cuda` runs these tests on it), which fails on demand and counts what is alive.
//!
//! Without a driver, tests of a device say that they were skipped; with `NT_REQUIRE_CUDA=1` they fail.

mod adopted;
mod algorithms;
mod claims;
mod devices;
mod faults;
mod interface;
mod kinds;
mod other;
mod pages;
mod programs;
mod random;
mod release;
mod tensors;

use std::ffi::{CString, c_char};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::*;

/// Returns whether there is a device. If there must be one, there is.
pub(crate) fn is_there() -> bool {
    match Cuda::new(0) {
        Ok(_) => true,
        Err(HandleError::Device(error @ DeviceError::Unavailable { .. })) => {
            let is_required = std::env::var("NT_REQUIRE_CUDA").is_ok_and(|value| value == "1");
            assert!(!is_required, "{error}");
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// Returns from a test if the device is missing.
macro_rules! need_device {
    () => {
        if !crate::cuda::is_there() {
            return;
        }
    };
}
use need_device;

/// What the fake driver exports beside the functions of a driver.
#[derive(Clone, Copy)]
struct Fake {
    control: extern "C" fn(u32, i32, u64) -> u64,
    fail: unsafe extern "C" fn(*const c_char, u64, u32) -> u64,
}

/// The number of blocks, bytes, registrations, events and streams of a device, and of shares of its context.
type Alive = [u64; 6];
const NOTHING: Alive = [0; 6];

/// The number of an error of the driver that says nothing about the device: `CUDA_ERROR_INVALID_VALUE`.
const INVALID_VALUE: u32 = 1;
/// `CUDA_ERROR_LAUNCH_FAILED`, after which the device does nothing any more.
const LAUNCH_FAILED: u32 = 719;

impl Fake {
    /// Returns the driver that is loaded, if it is the fake one.
    fn find() -> Option<Self> {
        static FOUND: OnceLock<Option<Fake>> = OnceLock::new();
        let found = *FOUND.get_or_init(Self::look);
        if found.is_none() {
            eprintln!("skipped: this needs the fake driver");
        }
        found
    }

    #[cfg(not(target_os = "linux"))]
    fn look() -> Option<Self> {
        None
    }

    #[cfg(target_os = "linux")]
    fn look() -> Option<Self> {
        use std::ffi::{CStr, c_int, c_void};

        // Of the C library, which the standard library links.
        unsafe extern "C" {
            fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
            fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
        }
        const RTLD_LAZY: c_int = 1;
        const RTLD_NOLOAD: c_int = 4;
        // SAFETY: the name ends with a zero; this finds a library that is loaded already, and runs nothing of it.
        let library = unsafe { dlopen(c"libcuda.so".as_ptr(), RTLD_LAZY | RTLD_NOLOAD) };
        let find = |name: &CStr| {
            // SAFETY: the library is never closed, and the name ends with a zero.
            let function = if library.is_null() { library } else { unsafe { dlsym(library, name.as_ptr()) } };
            if function.is_null() { None } else { Some(function) }
        };
        let [control, fail] = [c"fake_cuda_control", c"fake_cuda_fail"];
        // SAFETY: the types are those of the functions of these names.
        unsafe {
            Some(Self {
                control: std::mem::transmute::<*mut c_void, extern "C" fn(u32, i32, u64) -> u64>(find(control)?),
                fail: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char, u64, u32) -> u64>(find(
                    fail,
                )?),
            })
        }
    }

    /// Makes a call of this thread fail, of one function or of any, after the given number of successful ones.
    fn fail(self, function: &str, after: u64, code: u32) {
        let name = CString::new(function).unwrap();
        // SAFETY: the name ends with a zero.
        unsafe { (self.fail)(name.as_ptr(), after, code) };
    }

    /// Takes a wish for a failure back. Returns whether it had come true.
    fn has_failed(self) -> bool {
        // SAFETY: no name.
        unsafe { (self.fail)(std::ptr::null(), 0, 0) == 0 }
    }

    fn alive(self, device: i32) -> Alive {
        [0, 1, 2, 3, 4, 6].map(|what| (self.control)(what, device, 0))
    }

    fn violations(self) -> u64 {
        (self.control)(5, 0, 0)
    }

    /// Makes a device fail after the given number of further pieces of work.
    fn lose(self, device: i32, after: u64) {
        (self.control)(10, device, after << 32 | u64::from(LAUNCH_FAILED));
    }

    /// Sets the number of bytes of a device.
    fn limit(self, device: i32, bytes: u64) -> Setting {
        Setting { fake: self, command: 11, device, before: (self.control)(11, device, bytes) }
    }

    /// Refuses to register memory on this thread.
    fn refuse_pages(self) -> Setting {
        Setting { fake: self, command: 12, device: 0, before: (self.control)(12, 0, 1) }
    }

    /// Refuses to wait for all work of a device, as while a stream of it is captured.
    fn refuse_synchronizing(self, device: i32) -> Setting {
        (self.control)(17, device, 1);
        Setting { fake: self, command: 17, device, before: 0 }
    }
}

/// A setting of the fake driver, which is as before when this is dropped, also by a test that fails.
#[must_use]
struct Setting {
    fake: Fake,
    command: u32,
    device: i32,
    before: u64,
}

impl Drop for Setting {
    fn drop(&mut self) {
        (self.fake.control)(self.command, self.device, self.before);
    }
}

/// Long delays of the fake driver, as long as any test has one of these.
#[must_use]
struct Slow(Option<Fake>);

/// The number of tests that want long delays, and the level of delays without them.
static SLOW: Mutex<(usize, u64)> = Mutex::new((0, 0));

impl Slow {
    fn start() -> Self {
        let fake = Fake::find();
        if let Some(fake) = fake {
            let mut slow = SLOW.lock().unwrap_or_else(PoisonError::into_inner);
            if slow.0 == 0 {
                slow.1 = (fake.control)(13, 0, 2);
            }
            slow.0 += 1;
        }
        Self(fake)
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        let Some(fake) = self.0 else { return };
        let mut slow = SLOW.lock().unwrap_or_else(PoisonError::into_inner);
        slow.0 -= 1;
        if slow.0 == 0 {
            (fake.control)(13, 0, slow.1);
        }
    }
}

/// A device that one test at a time has for itself, to count what is alive, and to lose it.
const LONELY: i32 = 1;

/// Waits for the other tests of the lonely device.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Alone {
    fake: Fake,
    violations: u64,
    _guard: MutexGuard<'static, ()>,
}

/// A failure that a test wished for, and that did not come true, is not that of the next one on this thread.
impl Drop for Alone {
    fn drop(&mut self) {
        self.fake.has_failed();
    }
}

impl Alone {
    /// Waits for the other tests of the device. Returns `None` without the fake driver.
    fn wait() -> Option<Self> {
        if !is_there() {
            return None;
        }
        let fake = Fake::find()?;
        let guard = one_at_a_time();
        let alone = Self { fake, violations: fake.violations(), _guard: guard };
        alone.check_alive();
        Some(alone)
    }

    fn open(&self) -> Cuda {
        Cuda::new(LONELY as usize).unwrap()
    }

    /// Checks that nothing leaked, and that the driver has not complained. A block that was not freed when the last
    /// share of the device goes is a complaint.
    fn check(&self) {
        self.check_alive();
        assert_eq!(self.fake.violations(), self.violations);
    }

    /// Checks that nothing leaked. Another thread that ends a registration may keep the streams for a moment.
    fn check_alive(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.fake.alive(LONELY) != NOTHING && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(self.fake.alive(LONELY), NOTHING, "blocks, bytes, registrations, events, streams, shares");
    }
}
