//! Tests that need a process of their own: limits of memory or time, memory that nobody else takes, saves that are
//! killed.
//!
//! Each starts this program again, for itself alone.

#[cfg(feature = "rayon")]
mod busy_pools;
#[cfg(feature = "rayon")]
mod ends;
#[cfg(all(unix, feature = "csv", feature = "npy"))]
mod every_call;
#[cfg(all(target_os = "linux", feature = "rayon"))]
mod full_memory;
#[cfg(unix)]
mod kill_saves;
#[cfg(all(unix, feature = "csv", feature = "npy"))]
mod leftovers;
#[cfg(target_os = "linux")]
mod memory;
