//! Injected failures.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use crate::DeviceError;
use crate::control::lock;

/// The calls at which a device fails.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) allocation: Fuse,
    pub(super) upload: Fuse,
    pub(super) download: Fuse,
    pub(super) kernel: Fuse,
    is_lost: AtomicBool,
    /// A failure that has not been reported yet.
    pending: Mutex<Option<DeviceError>>,
}

impl Faults {
    pub(super) fn lose(&self) {
        self.is_lost.store(true, SeqCst);
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(SeqCst)
    }

    /// Checks that the device is not lost.
    pub(super) fn check(&self) -> Result<(), DeviceError> {
        if self.is_lost() { Err(DeviceError::Lost) } else { Ok(()) }
    }

    /// Records a failure, which is reported by the next call that waits.
    pub(super) fn fail_later(&self, error: DeviceError) {
        *lock(&self.pending) = Some(error);
    }

    /// Waits: checks that the device is not lost, and reports a pending failure.
    pub(super) fn settle(&self) -> Result<(), DeviceError> {
        self.check()?;
        lock(&self.pending).take().map_or(Ok(()), Err)
    }
}

/// Fails one call: the n-th after it was armed.
#[derive(Debug, Default)]
pub(super) struct Fuse(AtomicUsize);

impl Fuse {
    pub(super) fn arm(&self, after: usize) {
        self.0.store(after.saturating_add(1), SeqCst);
    }

    /// Counts a call. Returns whether it is the one that fails.
    pub(super) fn blows(&self) -> bool {
        self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) == Ok(1)
    }

    /// Counts a call. Returns an error if it is the one that fails.
    pub(super) fn check(&self, what: &'static str) -> Result<(), DeviceError> {
        if self.blows() { Err(DeviceError::Failed { code: 1, what }) } else { Ok(()) }
    }
}
