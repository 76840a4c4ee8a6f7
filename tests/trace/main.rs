//! The record of copies: how many bytes each call copies, and why; and that calls in place copy nothing.

#[cfg(all(feature = "npy", feature = "csv", feature = "mmap"))]
mod files;
mod reads;
mod scopes;
mod threads;
mod whole_tables;
mod writes;

use numeric_table::prelude::*;
use numeric_table::trace::{CopyKind, TraceReport, copies_of};

/// The kinds of a report, with the number of copies and their bytes.
fn listed(report: &TraceReport) -> Vec<(CopyKind, u64, u64)> {
    report.iter().map(|(kind, copies)| (kind, copies.count, copies.bytes)).collect()
}

/// The copies that a call makes.
fn copies<R>(work: impl FnOnce() -> R) -> Vec<(CopyKind, u64, u64)> {
    listed(&copies_of(work).1)
}

/// What a call that copies nothing records.
const NOTHING: [(CopyKind, u64, u64); 0] = [];

/// An edit that writes the first value of a block.
fn set<U: Element>(value: U) -> impl Fn(&mut BlockMut<'_, U>) -> Result<(), Error> + Send + Sync {
    move |block| {
        block[0] = value;
        Ok(())
    }
}
