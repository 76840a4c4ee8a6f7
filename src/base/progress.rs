//! Progress of long calls, and its callbacks.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The progress of a long call, in bytes of values. Calls that read or write a file count in the file's element type,
/// calls that compute statistics in the types of the table's columns.
///
/// # Examples
/// ```
/// use numeric_table::files::Progress;
/// let progress = Progress { done: 1 << 20, total: Some(4 << 20) };
/// assert_eq!(progress.total.map(|total| progress.done * 100 / total), Some(25)); // percent
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of bytes read, written or processed so far.
    pub done: u64,
    /// The total number of bytes; `None` if unknown, for example while a table is streamed into a file.
    pub total: Option<u64>,
}

/// A progress callback; none by default.
#[derive(Clone, Default)]
pub struct Hook(Option<Arc<dyn Fn(Progress) + Send + Sync>>);

impl Hook {
    /// Makes a hook of a callback.
    pub fn new(hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hook)))
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Hook" } else { "None" })
    }
}

/// Counts the bytes of several threads. Only one thread at a time calls the hook, each time with a larger count.
///
/// No lock is held while the hook runs. It may do parallel work itself, and a thread that waits for that work may run
/// another task of the counted call. Threads do not wait for a running hook either: they only add to the count.
#[derive(Debug)]
pub struct Meter {
    hook: Hook,
    total: Option<u64>,
    state: Mutex<MeterState>,
}

#[derive(Debug, Default)]
struct MeterState {
    /// The number of bytes counted.
    done: u64,
    /// The count that was last reported to the hook.
    told: u64,
    /// Whether a thread is calling the hook. It stays set until everything is reported, or forever if the hook panics.
    is_telling: bool,
}

impl Meter {
    /// Creates a meter at 0 and reports that to the hook.
    pub fn start(hook: &Hook, total: impl Into<Option<u64>>) -> Self {
        let new = Self { hook: hook.clone(), total: total.into(), state: Mutex::default() };
        if let Some(hook) = &new.hook.0 {
            hook(Progress { done: 0, total: new.total });
        }
        new
    }

    /// Counts more bytes, and reports that to the hook.
    pub fn add(&self, bytes: u64) {
        let Some(hook) = &self.hook.0 else { return };
        let mut state = self.state();
        state.done += bytes;
        if state.is_telling {
            return; // the thread that calls the hook looks again
        }
        state.is_telling = true;
        while state.told < state.done {
            state.told = state.done;
            let progress = Progress { done: state.done, total: self.total };
            drop(state);
            hook(progress);
            state = self.state();
        }
        state.is_telling = false;
    }

    fn state(&self) -> MutexGuard<'_, MeterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // nothing panics while it is locked
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{OnceLock, mpsc};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_thread_that_gets_back_to_counting_while_it_tells_does_not_wait_for_itself() {
        static METER: OnceLock<Meter> = OnceLock::new();
        let (told, hears) = mpsc::channel();
        let hook = Hook::new(move |progress| {
            if progress.done == 1 {
                METER.get().unwrap().add(2); // like a task that is run while the hook waits for work of its own
            }
            told.send(progress.done).unwrap();
        });
        METER.set(Meter::start(&hook, 3)).unwrap();
        std::thread::spawn(|| METER.get().unwrap().add(1));
        for expected in [0, 1, 3] {
            assert_eq!(hears.recv_timeout(Duration::from_secs(60)), Ok(expected));
        }
    }

    #[test]
    fn a_hook_that_has_panicked_is_not_called_again() {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let told = calls.clone();
        let hook = Hook::new(move |progress| {
            told.lock().unwrap().push(progress.done);
            assert!(progress.done < 2, "enough");
        });
        let meter = Meter::start(&hook, None);
        meter.add(1);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| meter.add(1))).is_err());
        meter.add(1);
        assert_eq!(*calls.lock().unwrap(), [0, 1, 2]);
    }
}
