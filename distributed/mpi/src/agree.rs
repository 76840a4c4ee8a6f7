//! Errors that all processes return when one of them fails.

use mpi::traits::*;
use numeric_table::{Error, Result};

use crate::wire::{receive_bytes, send_bytes};

pub(crate) const TAG: mpi::Tag = 7341;

/// The error that all other processes return when one has failed.
#[derive(Debug, thiserror::Error)]
#[error("rank {rank} failed: {message}")]
pub struct RankError {
    /// The rank of the process in the communicator.
    pub rank: i32,
    /// Its error.
    pub message: String,
}

impl RankError {
    pub(crate) fn error(rank: i32, message: &str) -> Error {
        Error::other(Self { rank, message: message.to_owned() })
    }
}

/// Aborts the job if the process panics, because the others would wait forever.
pub(crate) struct AbortOnPanic<'w, C: Communicator>(pub(crate) &'w C);

impl<C: Communicator> Drop for AbortOnPanic<'_, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abort(101);
        }
    }
}

/// Returns the value of this process if all processes succeeded. Otherwise returns its own error, or the error of the
/// first rank that failed, in a [`RankError`] that names it. Collective.
///
/// Use it for work that a process does between collective calls and that may fail on one process alone (opening files,
/// reading options). If a process returned early while the others continued, they would wait forever.
///
/// # Errors
/// The error of this process. If another process failed: an error of the kind
/// [`Other`](numeric_table::ErrorKind::Other) that holds a [`RankError`].
///
/// # Examples
/// ```no_run
/// use mpi::traits::*;
/// use numeric_table::shards::Shards;
/// use numeric_table_mpi::all_or_none;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let universe = mpi::initialize().ok_or("MPI was initialized before")?;
/// let shards = all_or_none(&universe.world(), Shards::open("measurements"))?; // succeeds on all machines, or on none
/// # Ok(())
/// # }
/// ```
pub fn all_or_none<C: Communicator, T>(world: &C, mine: Result<T>) -> Result<T> {
    let (rank, size) = (world.rank(), world.size());
    let mut flags = vec![0_u8; size as usize];
    world.all_gather_into(&u8::from(mine.is_err()), &mut flags[..]);
    let Some(failed) = flags.iter().position(|&flag| flag != 0) else { return mine };
    let failed = failed as i32;
    let text = mine.as_ref().err().map(ToString::to_string).unwrap_or_default();
    if rank == failed {
        (0..size).filter(|&other| other != failed).for_each(|other| {
            send_bytes(&world.process_at_rank(other), TAG, text.as_bytes());
        });
        return mine;
    }
    let message = receive_bytes(&world.process_at_rank(failed), TAG);
    mine?;
    Err(RankError::error(failed, &String::from_utf8_lossy(&message?)))
}

/// Broadcasts bytes from a rank. Collective.
pub(crate) fn broadcast<C: Communicator>(world: &C, root: i32, bytes: Option<Vec<u8>>) -> Result<Vec<u8>> {
    if world.rank() == root {
        let bytes = bytes.unwrap_or_default();
        (0..world.size()).filter(|&other| other != root).for_each(|other| {
            send_bytes(&world.process_at_rank(other), TAG, &bytes);
        });
        return Ok(bytes);
    }
    receive_bytes(&world.process_at_rank(root), TAG)
}
