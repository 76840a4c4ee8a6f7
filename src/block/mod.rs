//! Blocks of a table: values that algorithms read and write in the element type of their choice.
//!
//! DAAL's form, a descriptor that the caller owns and reuses, is in `descriptor`. Rust's form, blocks that borrow the
//! table, is in `borrowed`. `cuts` cuts tables into blocks of rows. The calls that return blocks, one trait for every
//! kind of table, are in `access`. The calls that edit a block in a closure are in `update`. `fill` writes one value to
//! many positions. The values of a block, borrowed or converted, are in `values`. `pool` has buffers for blocks that
//! several threads read from a file. Semantics: DAAL `getBlockOfRows`, `getBlockOfColumnValues` and their releases;
//! differences are listed on [`BlockDescriptor`].

mod access;
mod borrowed;
mod cuts;
mod descriptor;
mod fill;
mod named;
#[cfg(feature = "rayon")]
mod pool;
mod update;
mod values;

pub use crate::base::mode::{BlockKind, ReadWriteMode};
pub use access::BlockAccess;
pub use borrowed::{Block, BlockMut};
#[cfg(feature = "rayon")]
pub(crate) use cuts::Cuts;
pub use descriptor::BlockDescriptor;
pub use named::NamedColumns;
#[cfg(feature = "rayon")]
pub(crate) use pool::{Pool, Pooled};
pub use update::BlockUpdate;
#[cfg(feature = "rayon")]
pub(crate) use values::Buffer;
