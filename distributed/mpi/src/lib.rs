//! Numeric tables on many processes, through MPI.
//!
//! * [`reduce`]: a [`Partial`](numeric_table::Partial) result over all rows of [`Shards`](numeric_table::shards::Shards). Each
//!   shard is computed by one process, and results are merged in the order of the shards, with the same bits as
//!   [`Shards::reduce`](numeric_table::shards::Shards::reduce) in one process. With a folder for the results of single shards,
//!   a killed job can resume.
//! * [`scatter_rows`], [`gather_rows`], [`shift_rows`]: move rows of tables from one process to all, from all to one,
//!   and around a ring, from memory to memory in MPI's own types.
//!
//! All of them are collective: every process of the communicator calls them with matching arguments. If one process
//! fails, all of them return an error that names its rank, and none waits forever. (If a process panics in one of them
//! or is killed, the job ends, as usual with MPI.) Use [`all_or_none`] for work that a process does by itself before
//! such a call and that may fail.
//!
//! Only the calling thread uses MPI: `Threading::Funneled` is enough.
//!
//! ```no_run
//! use mpi::traits::*;
//! use numeric_table::{shards::Shards, statistics::BasicStatistics};
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
