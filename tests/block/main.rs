//! Blocks of rows and of column values: what they show, what they write back, when they are the table's own memory,
//! what is refused, and what sharing means for them.
//!
//! What is asked for is what DAAL asks of `getBlockOfRows` and `getBlockOfColumnValues`. Where DAAL does otherwise, the
//! comment of the test says so.

mod borrowed;
mod clones_and_leases;
mod copy_on_write;
mod get;
mod in_place;
mod kept_values;
mod lease;
mod modes;
mod policies;
mod release;
mod row_blocks;
mod threads;
mod updates;
mod values;

use std::ops::Range;

fn backwards() -> Range<usize> {
    Range { start: 2, end: 1 }
}
