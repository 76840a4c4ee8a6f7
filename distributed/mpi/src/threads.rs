//! Sharing the cores of one machine between processes.

use mpi::traits::*;

/// Divides the cores of each machine among its processes, and sets the size of the global rayon pool accordingly.
/// Returns the number of threads. Collective; call it once, before using rayon.
///
/// `mpirun` binds each process to one core unless it is given `--bind-to none`.
///
/// # Errors
/// Rayon's error if its pool was built before.
///
/// # Examples
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Funneled).ok_or("MPI was initialized before")?;
/// let threads = numeric_table_mpi::share_cores(&universe.world())?;
/// # Ok(())
/// # }
/// ```
pub fn share_cores<C: Communicator>(world: &C) -> Result<usize, rayon::ThreadPoolBuildError> {
    let here = world.split_shared(world.rank());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = (cores / here.size() as usize).max(1);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map(|()| threads)
}
