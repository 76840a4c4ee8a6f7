//! Counts of allocations and of copies between the two sides.

use std::fmt;
use std::ops::Sub;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use numeric_table::internal::record;
use numeric_table::trace::CopyKind;

/// The number of calls and bytes of one kind of work.
///
/// # Examples
/// ```
/// use numeric_table_execution::TransferTotals;
/// assert_eq!(TransferTotals { calls: 2, bytes: 64 }.to_string(), "2 x, 64 bytes");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferTotals {
    /// Number of calls.
    pub calls: usize,
    /// Number of bytes of all calls together.
    pub bytes: usize,
}

/// Counts of the allocations and copies of a device since it was created. Always zero on devices that share memory.
///
/// The difference of two values counts the work in between. Arguments of kernels are not counted, also if they are many,
/// such as the numbers of chosen columns.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter, TransferTotals};
/// let device = EmulatedDevice::new();
/// let handle = ArrayHandle::from_container(&device, vec![1.0_f32, 2.0, 3.0]);
/// handle.prepare_for_input()?;
/// let before = device.stats();
/// assert_eq!(before.uploads, TransferTotals { calls: 1, bytes: 12 });
/// handle.prepare_for_input()?; // the copy is kept
/// assert_eq!(device.stats() - before, Default::default());
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferStats {
    /// Successful allocations of device memory.
    pub allocations: TransferTotals,
    /// Copies from control to execution memory.
    pub uploads: TransferTotals,
    /// Copies from execution to control memory.
    pub downloads: TransferTotals,
    /// Copies within execution memory.
    pub duplicates: TransferTotals,
}

impl Sub for TransferTotals {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(earlier.calls), //
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

impl Sub for TransferStats {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            allocations: self.allocations - earlier.allocations,
            uploads: self.uploads - earlier.uploads,
            downloads: self.downloads - earlier.downloads,
            duplicates: self.duplicates - earlier.duplicates,
        }
    }
}

impl fmt::Display for TransferTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x, {} bytes", self.calls, self.bytes)
    }
}

impl fmt::Display for TransferStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocations, uploads, downloads, duplicates } = self;
        write!(f, "up {uploads}; down {downloads}; on the device {duplicates}; allocated {allocations}")
    }
}

/// Counts one kind of work, from any thread.
#[derive(Debug, Default)]
struct TransferCounter {
    calls: AtomicUsize,
    bytes: AtomicUsize,
}

impl TransferCounter {
    fn add(&self, bytes: usize) {
        self.calls.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }

    fn get(&self) -> TransferTotals {
        TransferTotals { calls: self.calls.load(Relaxed), bytes: self.bytes.load(Relaxed) }
    }
}

/// Counts allocations and copies, from any thread.
#[derive(Debug, Default)]
pub(super) struct Counters {
    allocations: TransferCounter,
    uploads: TransferCounter,
    downloads: TransferCounter,
    duplicates: TransferCounter,
}

impl Counters {
    pub(super) fn allocated(&self, bytes: usize) {
        self.allocations.add(bytes);
    }

    pub(super) fn uploaded(&self, bytes: usize) {
        self.uploads.add(bytes);
        record(CopyKind::Uploaded, bytes);
    }

    pub(super) fn downloaded(&self, bytes: usize) {
        self.downloads.add(bytes);
        record(CopyKind::Downloaded, bytes);
    }

    pub(super) fn duplicated(&self, bytes: usize) {
        self.duplicates.add(bytes);
        record(CopyKind::OnDevice, bytes);
    }

    pub(super) fn get(&self) -> TransferStats {
        TransferStats {
            allocations: self.allocations.get(),
            uploads: self.uploads.get(),
            downloads: self.downloads.get(),
            duplicates: self.duplicates.get(),
        }
    }
}
