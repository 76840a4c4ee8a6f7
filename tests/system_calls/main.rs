//! Every call of the operating system that saving, sharding, reading and mapping make, made to fail once; a disk that
//! gets full at every byte; and a power failure at every moment.
//!
//! This program defines the calls of the C library that touch files (`shim`), so that the library under test, which is
//! linked to the same program, calls them instead. Only files of one folder at a time, which a test watches, are
//! treated in a special way. The tests of this program therefore run one after the other.
//!
//! | environment | meaning |
//! | --- | --- |
//! | `NUMERIC_TABLE_FAULTS=10` | ten times as many random power failures, and a full disk at every byte of every format |

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    feature = "csv",
    feature = "npy",
    feature = "mmap",
    not(numeric_table_sanitized), // which defines the same calls
    not(miri),
))]

mod each_call;
mod full_disk;
mod jobs;
mod power_loss;
mod shim;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much more than the gate asks for.
fn effort() -> usize {
    std::env::var("NUMERIC_TABLE_FAULTS").map_or(1, |number| number.parse().expect("a number"))
}

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The paths of all files below a folder.
fn listing(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            found.extend(listing(&path));
        }
        found.insert(path.to_str().unwrap().to_owned());
    }
    found
}
