//! Crafted files whose numbers claim more than they have: each is an error or a table, within little memory.
//!
//! The allocator counts, so that a claim of gigabytes shows even where the system lends them.

#[path = "../../../../tests/memory_limits/counting.rs"]
mod counting;
mod ipc;
mod parquet;
mod thrift;

use std::sync::{Mutex, MutexGuard, PoisonError};

use counting::measured;

/// Number of bytes that a call may take for a file of some hundred bytes.
const MOST: usize = 8 << 20;

/// Runs something alone, and checks its memory.
fn small<R>(name: &str, run: impl FnOnce() -> R) -> R {
    let (result, peak, _) = measured(&|| name.to_owned(), run);
    assert!(peak < MOST, "{name}: {peak} bytes");
    result
}

/// The allocator counts the bytes of all threads, so tests run one after another.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
