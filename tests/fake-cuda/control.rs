//! What tests ask for: faults, limits, and counts.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char};
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::device::{device, devices};
use crate::memory::Form;
use crate::stream::{Chance, EVENTS, STREAMS};
use crate::{Answer, Code, host, lock};

static VIOLATIONS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static DELAYS: OnceLock<AtomicUsize> = OnceLock::new();

/// Notes that the program did what no program may do.
pub(crate) fn violation(what: &str) {
    eprintln!("fake CUDA driver: {what}");
    lock(&VIOLATIONS).push(what.to_owned());
    if crate::setting("FAKE_CUDA_STRICT", 0) != 0 {
        std::process::abort();
    }
}

fn delay_level() -> &'static AtomicUsize {
    DELAYS.get_or_init(|| AtomicUsize::new(crate::setting("FAKE_CUDA_DELAYS", 1)))
}

pub(crate) fn delays() -> usize {
    delay_level().load(SeqCst)
}

/// A fault that a thread has asked for: for its own calls only, so that tests can run side by side.
struct Fault {
    /// The function that it is for; empty: any.
    function: String,
    /// How many calls are good before.
    after: u64,
    code: Code,
}

thread_local! {
    static FAULT: RefCell<Option<Fault>> = const { RefCell::new(None) };
    static REFUSES_PAGES: Cell<bool> = const { Cell::new(false) };
    static CHANCE: RefCell<Option<Chance>> = const { RefCell::new(None) };
}

/// Whether the calling thread has asked for registrations to be refused.
pub(crate) fn refuses_pages() -> bool {
    REFUSES_PAGES.get()
}

/// Counts a call of the calling thread. Returns the error that it has asked for.
pub(crate) fn count_call(function: &str) -> Answer {
    FAULT.with_borrow_mut(|fault| match fault {
        Some(found) if found.function.is_empty() || found.function == function => {
            if found.after > 0 {
                found.after -= 1;
                return Ok(());
            }
            let code = found.code;
            *fault = None;
            Err(code)
        }
        _ => Ok(()),
    })
}

/// Delays the calling thread for a moment, or not.
pub(crate) fn dawdle() {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    CHANCE.with_borrow_mut(|chance| {
        chance.get_or_insert_with(|| Chance::new(!(THREADS.fetch_add(1, SeqCst) as u64) >> 1, false)).delay();
    });
}

/// Makes a call of the calling thread fail: of the function of this name, or of any if it is null or empty; after so
/// many good ones; with this code. Functions that free something free it all the same. The code 0 takes the wish back.
/// Returns 1 if there was a wish that had not come true, else 0.
///
/// # Safety
/// The name is null, or a string that ends with a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn fake_cuda_fail(function: *const c_char, after: u64, code: Code) -> u64 {
    let function = match function.is_null() {
        true => String::new(),
        // SAFETY: the caller's promise.
        false => unsafe { CStr::from_ptr(function) }.to_string_lossy().into_owned(),
    };
    let fault = (code != 0).then_some(Fault { function, after, code });
    u64::from(FAULT.replace(fault).is_some())
}

/// Does what a test asks for; `which` is a device, if that matters. Returns `u64::MAX` for what it does not know.
///
/// | command | does |
/// | --- | --- |
/// | 0, 1, 2, 3, 4 | returns the number of blocks, bytes in use, registrations, events, streams |
/// | 5 | returns the number of violations, of all devices |
/// | 6 | returns the number of shares of the primary context |
/// | 7, 8, 9 | returns the number of bytes that were copied to the device, from it, and on it |
/// | 10 | the device fails after `value >> 32` more pieces of work, with the code `value & 0xFFFF_FFFF` |
/// | 11 | sets the number of bytes of a device; returns what it was |
/// | 12 | refuses to register memory on the calling thread (`value` 1), or does not (0) |
/// | 13 | sets the delays of the process: 0, 1 or 2; returns what they were |
/// | 14 | returns the number of devices |
/// | 15 | maps two pieces of memory of `value` bytes each, one after the other; returns the address |
/// | 16 | unmaps the piece at an address |
/// | 17 | refuses to wait for all work of a device (`value` 1), or does not (0); returns how often it has refused |
#[unsafe(no_mangle)]
extern "C" fn fake_cuda_control(command: u32, which: i32, value: u64) -> u64 {
    const UNKNOWN: u64 = u64::MAX;
    let Ok(device) = device(which) else { return UNKNOWN };
    let count = match command {
        0 => device.block_count(),
        1 => device.used.load(SeqCst),
        2 => host::count(device.index),
        3 => EVENTS.count(|event| event.device.index == device.index),
        4 => STREAMS.count(|stream| stream.device.index == device.index),
        5 => lock(&VIOLATIONS).len(),
        6 => device.retained.load(SeqCst),
        7..=9 => device.copied[command as usize - 7].load(SeqCst),
        10 => {
            device.fails_with.store(value as u32, SeqCst);
            device.fails_after.store((value >> 32) as i64, SeqCst);
            0
        }
        11 => device.limit.swap(value as usize, SeqCst),
        12 => usize::from(REFUSES_PAGES.replace(value != 0)),
        13 => delay_level().swap(value as usize, SeqCst),
        14 => devices().len(),
        15 => {
            let pieces = [(); 2].map(|()| device.allocate(value as usize, Form::Mapped));
            let [Ok((first, a)), Ok((_, b))] = pieces else { return UNKNOWN };
            [a, b].iter().for_each(|block| block.arrive());
            return first;
        }
        16 => {
            let is_there = device.give_up(value).is_ok();
            device.free(value);
            usize::from(is_there)
        }
        17 => {
            device.refuses_synchronizing.store(value != 0, SeqCst);
            device.refused.load(SeqCst)
        }
        _ => return UNKNOWN,
    };
    count as u64
}
