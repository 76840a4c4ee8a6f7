//! Tables of numbers on many processes, through MPI.
//!
//! * [`reduce`]: a [`Partial`](numeric_table::Partial) result of all rows of [`Shards`](numeric_table::Shards), each
//!   shard by one of the processes, merged in the order of the shards: the same bits as
//!   [`Shards::reduce`](numeric_table::Shards::reduce) in one process. With a folder for the results of single shards,
//!   a job that was killed goes on where it was.
//! * [`scatter_rows`], [`gather_rows`], [`shift_rows`]: rows of tables from one process to all, from all to one, and
//!   around a ring, from memory to memory in MPI's own types.
//!
//! All of them are collective: every process of the communicator calls them, with arguments that belong together. If one
//! process fails, all of them return an error, which names its rank, and none waits for ever. (A process that panics in
//! one of them, or is killed, ends the job, as MPI has it.) What a process does by itself before such a call, and may
//! fail, goes through [`all_or_none`].
//!
//! Only the thread that calls them talks to MPI: `Threading::Funneled` is enough.
//!
//! ```no_run
//! use mpi::traits::*;
//! use numeric_table::{BasicStatistics, Shards};
//! use numeric_table_mpi::{ReduceOptions, all_or_none, reduce};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Funneled).ok_or("MPI was initialized before")?;
//! let world = universe.world();
//! let shards = all_or_none(&world, Shards::open("measurements"))?;
//! let empty = BasicStatistics::new(shards.shape().columns)?;
//! let options = ReduceOptions::new().checkpoint("measurements.partial");
//! if let Some(statistics) = reduce(&world, &shards, &empty, &options)? {
//!     println!("{statistics}"); // on rank 0
//! }
//! # Ok(())
//! # }
//! ```

mod agree;
mod checkpoint;
mod reduce;
mod rows;
mod threads;
mod wire;

pub use agree::{RankError, all_or_none};
pub use reduce::{ReduceOptions, reduce, reduce_all};
pub use rows::{gather_rows, scatter_rows, shift_rows};
pub use threads::share_cores;
pub use wire::{Transfer, Wire};
