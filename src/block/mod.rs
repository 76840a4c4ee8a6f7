//! Blocks of a table: what algorithms read and write, in the element type that they ask for.
//!
//! DAAL's way, a descriptor that the caller owns and reuses, is in `descriptor`; Rust's way, blocks that borrow the
//! table, in `borrowed`; how tables are cut into them in `cuts`. The calls that make them, one trait for every
//! kind of table, are in `access`; those that edit one in a closure, in `update`. Values that are either borrowed or
//! converted, which all of them have inside, are in `values`.
//! Semantics: DAAL `getBlockOfRows`, `getBlockOfColumnValues` and their releases; differences are listed on
//! [`BlockDescriptor`].

mod access;
mod borrowed;
mod cuts;
mod descriptor;
mod fill;
mod update;
mod values;

pub use access::BlockAccess;
pub use borrowed::{Block, BlockMut};
pub use descriptor::BlockDescriptor;
pub use update::BlockUpdate;
