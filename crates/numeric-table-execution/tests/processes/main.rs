//! Tests that need a process of their own: limits of memory or time, memory that no other test uses.
//!
//! Each starts this program again, for itself alone.

#[cfg(feature = "rayon")]
mod busy_pools;
#[cfg(feature = "rayon")]
#[path = "../../../../tests/processes/ends.rs"]
mod ends;
#[cfg(unix)]
mod every_call;
#[cfg(all(target_os = "linux", feature = "mmap"))] // without `mmap` zeros are written
mod execution_memory;
