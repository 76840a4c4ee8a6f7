//! How far a call has got, and whom to tell.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How far a call that reads or writes a file has got, in bytes of values: those of the file, of the type that it holds.
///
/// # Examples
/// ```
/// use numeric_table::Progress;
/// let progress = Progress { done: 1 << 20, total: Some(4 << 20) };
/// assert_eq!(progress.total.map(|total| progress.done * 100 / total), Some(25)); // percent
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that have been read or written.
    pub done: u64,
    /// Bytes that there are to read or write; `None` if nobody knows, as while a table is streamed into a file.
    pub total: Option<u64>,
}

/// Whom to tell; nobody by default.
#[derive(Clone, Default)]
pub(super) struct Hook(Option<Arc<dyn Fn(Progress) + Send + Sync>>);

impl Hook {
    pub(super) fn new(hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hook)))
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Hook" } else { "None" })
    }
}

/// Counts what several threads do. The hook is called by one of them at a time, and never with less than before.
#[derive(Debug)]
pub(super) struct Meter {
    hook: Hook,
    total: Option<u64>,
    done: Mutex<u64>,
}

impl Meter {
    /// Begins at 0, and says so.
    pub(super) fn start(hook: &Hook, total: impl Into<Option<u64>>) -> Self {
        let new = Self { hook: hook.clone(), total: total.into(), done: Mutex::new(0) };
        new.add(0);
        new
    }

    pub(super) fn add(&self, bytes: u64) {
        if let Some(hook) = &self.hook.0 {
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner); // a number is never half-changed
            *done += bytes;
            hook(Progress { done: *done, total: self.total });
        }
    }
}
