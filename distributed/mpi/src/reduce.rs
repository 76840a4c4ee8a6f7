//! Partial results of shards, merged in their order.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use mpi::request::scope;
use mpi::traits::*;
use numeric_table::{Error, ErrorKind, Partial, Result, shards::Shards};
use rayon::prelude::*;

use crate::agree::{AbortOnPanic, RankError, all_or_none, broadcast};
use crate::checkpoint::{Checkpoint, identity};
use crate::wire::{receive_bytes, send_bytes};

/// The rank that merges.
const ROOT: i32 = 0;
/// Tag of results of runs, of errors, and of end markers.
const ANSWER: mpi::Tag = 7342;
/// Tag of the stop request.
const STOP: mpi::Tag = 7343;
/// Tag of the outcome.
const OUTCOME: mpi::Tag = 7344;

/// Maximum number of results of one rank that wait at rank 0 for their turn.
const WINDOW: usize = 4;
/// Approximate number of bytes of all results that wait there, and of the results that a rank computes at a time.
const HELD_BYTES: usize = 256 << 20;
/// The interval at which rank 0 checks for arrived messages.
const PAUSE: Duration = Duration::from_micros(100);

/// First byte of a message to rank 0.
const RESULT: u8 = 0;
const FAILED: u8 = 1;
const END: u8 = 2;

/// Options of [`reduce`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ReduceOptions {
    checkpoint: Option<PathBuf>,
}

impl ReduceOptions {
    /// Creates the default options: no results are saved.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a folder, shared by all processes, in which the result of each shard is saved. If a killed job runs again
    /// with the same shards and the same prototype, it does not compute these results again. The final result is the
    /// same, bit for bit. The folder is created if it does not exist, and stays. Only one job at a time may use it.
    pub fn checkpoint(self, folder: impl Into<PathBuf>) -> Self {
        Self { checkpoint: Some(folder.into()) }
    }
}

/// Computes a partial result over all rows of shards. Rank `i % size` computes run `i` of [`Shards::runs`], and rank 0
/// merges the runs in order. A run is a single shard unless there are very many or results are large. Returns the
/// result on rank 0, and `None` elsewhere.
///
/// The result equals that of [`Shards::reduce`] in one process, bit for bit, for any number of processes and threads,
/// provided that its bytes represent it completely. Each process uses rayon's threads
/// ([`share_cores`](crate::share_cores)). It computes two runs per thread at a time, or fewer if results are large: up
/// to 256 MiB, and at least one. At rank 0, up to four results of each other process wait for their turn, about 256 MiB
/// in total. Beyond that, the processes wait.
///
/// Source: distributed processing in DAAL, step 1 on local nodes, step 2 on the master node.
///
/// # Errors
/// Those of [`Shards::reduce`] on the rank where they happened, and [`RankError`] (in [`ErrorKind::Other`]) on all
/// others. After the first error, all ranks finish their current runs and stop.
///
/// # Examples
/// ```no_run
/// use mpi::traits::*;
/// use numeric_table::{shards::Shards, statistics::Covariance};
/// use numeric_table_mpi::{ReduceOptions, all_or_none, reduce};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Funneled).ok_or("MPI was initialized before")?;
/// let world = universe.world();
/// let shards = all_or_none(&world, Shards::open("measurements"))?;
/// let empty = Covariance::new(shards.shape().columns)?;
/// if let Some(covariance) = reduce(&world, &shards, &empty, &ReduceOptions::new())? {
///     println!("{}", covariance.correlation()?); // on rank 0
/// }
/// # Ok(())
/// # }
/// ```
pub fn reduce<P: Partial, C: Communicator>(
    world: &C,
    shards: &Shards,
    empty: &P,
    options: &ReduceOptions,
) -> Result<Option<P>> {
    let world = &world.duplicate(); // separates these messages from the caller's
    let _guard = AbortOnPanic(world);
    let opened = options.checkpoint.as_deref().map(|folder| Checkpoint::open(folder, shards, empty)).transpose();
    let same = all_or_none(world, opened.and_then(|opened| Ok((opened, prototype_of(shards, empty)?))));
    let (checkpoint, prototype) = same?;
    let asked = broadcast(world, ROOT, Some(prototype.clone()));
    let is_same = asked.and_then(|asked| match asked == prototype {
        true => Ok(()),
        false => Err(Error::other("this rank has different shards or a different prototype than rank 0")),
    });
    if world.rank() == ROOT {
        checkpoint.iter().for_each(Checkpoint::clean);
    }
    all_or_none(world, is_same)?;
    let runs: Vec<_> = shards.runs(empty).collect();
    let answer = |run: usize| match &checkpoint {
        Some(folder) => folder.reduce(shards, runs[run].clone(), empty),
        None => shards.reduce_shards(runs[run].clone(), empty),
    };
    let at_once = (HELD_BYTES / empty.size_in_bytes().max(1)).clamp(1, 2 * rayon::current_num_threads());
    let mine: Vec<usize> = (world.rank() as usize..runs.len()).step_by(world.size() as usize).collect();
    let answers = mine.chunks(at_once).map(|some| some.par_iter().map(|&run| answer(run)).collect::<Vec<_>>());
    match world.rank() {
        ROOT => merge(world, runs.len(), empty, answers).map(Some),
        _ => contribute(world, answers).map(|()| None),
    }
}

/// Computes a partial result as [`reduce`] does, and returns it on all ranks.
///
/// # Errors
/// Those of [`reduce`].
///
/// # Examples
/// ```no_run
/// use mpi::traits::*;
/// use numeric_table::shards::Shards;
/// use numeric_table_learning::KMeansStep;
/// use numeric_table_mpi::{ReduceOptions, all_or_none, reduce_all};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Funneled).ok_or("MPI was initialized before")?;
/// let world = universe.world();
/// let shards = all_or_none(&world, Shards::open("measurements"))?;
/// let mut step = all_or_none(&world, shards.load_rows::<f64>(0..8).and_then(|rows| KMeansStep::new(&rows)))?;
/// for _ in 0..10 {
///     let found = reduce_all(&world, &shards, &step, &ReduceOptions::new())?;
///     step = all_or_none(&world, found.centroids().and_then(|centroids| KMeansStep::new(&centroids)))?;
/// }
/// # Ok(())
/// # }
/// ```
pub fn reduce_all<P: Partial, C: Communicator>(
    world: &C,
    shards: &Shards,
    empty: &P,
    options: &ReduceOptions,
) -> Result<P> {
    let found = reduce(world, shards, empty, options)?;
    let world = &world.duplicate();
    let _guard = AbortOnPanic(world);
    let bytes = all_or_none(world, found.as_ref().map(P::to_bytes).transpose())?;
    let bytes = broadcast(world, ROOT, bytes);
    all_or_none(world, bytes.and_then(|bytes| found.map_or_else(|| P::from_bytes(&bytes), Ok)))
}

/// Returns the bytes that all ranks must agree on.
fn prototype_of<P: Partial>(shards: &Shards, empty: &P) -> Result<Vec<u8>> {
    let mut bytes = empty.new_like()?.to_bytes()?;
    shards.files().for_each(|file| bytes.extend(identity(&file)));
    Ok(bytes)
}

/// The work of rank 0: computes its own runs in a separate thread, and merges the results of all ranks in order.
fn merge<P: Partial, C: Communicator>(
    world: &C,
    count: usize,
    empty: &P,
    answers: impl Iterator<Item = Vec<Result<P>>> + Send,
) -> Result<P> {
    let (size, is_stopped) = (world.size() as usize, AtomicBool::new(false));
    let ranks = || (0..size).map(|rank| Rank { has_ended: rank == 0, waiting: VecDeque::new() });
    let mut others = Others { world, ranks: ranks().collect(), held: 0 };
    let outcome = thread::scope(|scope| {
        let (sender, own) = sync_channel(1);
        let is_stopped = &is_stopped;
        scope.spawn(move || {
            for some in answers {
                // The receiver is gone because it has failed.
                if sender.send(some).is_err() || is_stopped.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let merged = (|| {
            let (mut all, mut mine) = (empty.new_like()?, VecDeque::new());
            for run in 0..count {
                let rank = run % size;
                while rank == 0 && mine.is_empty() {
                    match own.recv_timeout(PAUSE) {
                        Ok(some) => mine.extend(some),
                        Err(RecvTimeoutError::Timeout) => others.receive(rank)?,
                        Err(RecvTimeoutError::Disconnected) => {
                            return Err(Error::other("the work of rank 0 ended early"));
                        }
                    }
                }
                let own = if rank == 0 { mine.pop_front() } else { None };
                let found = own.unwrap_or_else(|| others.next::<P>(rank))?;
                all.merge(&found)?;
            }
            Ok(all)
        })();
        is_stopped.store(merged.is_err(), Ordering::Relaxed);
        merged
    });
    others.close(outcome)
}

/// A rank that sends results to rank 0.
struct Rank {
    /// Messages that arrived before their turn.
    waiting: VecDeque<Vec<u8>>,
    /// Whether the rank has sent its end marker.
    has_ended: bool,
}

/// All ranks; rank 0 sends no messages.
struct Others<'w, C> {
    world: &'w C,
    ranks: Vec<Rank>,
    /// Total number of waiting bytes.
    held: usize,
}

impl<C: Communicator> Others<'_, C> {
    /// Receives arrived messages: from each rank up to the limit, and in any case the next one of the rank `turn`.
    /// Other messages are not received yet, and their senders wait.
    fn receive(&mut self, turn: usize) -> Result<()> {
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            let source = self.world.process_at_rank(number as i32);
            while !rank.has_ended
                && (rank.waiting.len() < WINDOW && self.held < HELD_BYTES || number == turn && rank.waiting.is_empty())
                && source.immediate_probe_with_tag(ANSWER).is_some()
            {
                let bytes = receive_bytes(&source, ANSWER)?;
                match bytes.first() {
                    Some(&END) => rank.has_ended = true,
                    _ => {
                        self.held += bytes.len();
                        rank.waiting.push_back(bytes);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the next result of a rank.
    fn next<P: Partial>(&mut self, number: usize) -> Result<P> {
        loop {
            self.receive(number)?;
            let rank = &mut self.ranks[number];
            let (name, next) = (number as i32, rank.waiting.pop_front());
            self.held -= next.as_ref().map_or(0, Vec::len);
            match next.as_deref().map(<[u8]>::split_first) {
                Some(Some((&RESULT, answer))) => return P::from_bytes(answer),
                Some(Some((_, text))) => return Err(RankError::error(name, &String::from_utf8_lossy(text))),
                Some(None) => return Err(RankError::error(name, "it sent an empty message")),
                None if rank.has_ended => return Err(RankError::error(name, "it ended before its work was complete")),
                None => thread::sleep(PAUSE),
            }
        }
    }

    /// Waits until all ranks have ended, and sends them the outcome.
    fn close<P>(self, outcome: Result<P>) -> Result<P> {
        let others = || (1..self.world.size()).map(|rank| self.world.process_at_rank(rank));
        let mut end = Vec::from([u8::from(outcome.is_err())]);
        if let Err(error) = &outcome {
            let failed = match error.kind() {
                ErrorKind::Other { source } => source.downcast_ref::<RankError>(),
                _ => None,
            };
            end.extend(failed.map_or(ROOT, |failed| failed.rank).to_le_bytes());
            end.extend(failed.map_or_else(|| error.to_string(), |failed| failed.message.clone()).bytes());
        }
        let order = 0_u8;
        scope(|scope| {
            let stopped = others().filter(|_| outcome.is_err());
            let orders: Vec<_> = stopped.map(|other| other.immediate_send_with_tag(scope, &order, STOP)).collect();
            for (other, rank) in others().zip(&self.ranks[1..]) {
                let is_end = |bytes: Result<Vec<u8>>| bytes.is_ok_and(|bytes| bytes.first() == Some(&END));
                while !rank.has_ended && !is_end(receive_bytes(&other, ANSWER)) {}
            }
            others().for_each(|other| send_bytes(&other, OUTCOME, &end));
            orders.into_iter().for_each(|order| order.wait_without_status());
        });
        outcome
    }
}

/// The work of any other rank.
fn contribute<P: Partial, C: Communicator>(world: &C, answers: impl Iterator<Item = Vec<Result<P>>>) -> Result<()> {
    let root = world.process_at_rank(ROOT);
    let own = send_answers(&root, answers);
    send_bytes(&root, ANSWER, &[END]);
    let outcome = receive_bytes(&root, OUTCOME)?;
    match outcome.split_first() {
        Some((1, failure)) => {
            root.receive_with_tag::<u8>(STOP); // even if it did not arrive in time
            own?;
            let (rank, text) = failure.split_first_chunk().unwrap_or((&[0; 4], &[]));
            Err(RankError::error(i32::from_le_bytes(*rank), &String::from_utf8_lossy(text)))
        }
        _ => own,
    }
}

/// Sends results until all are sent, one is an error, or rank 0 requests a stop.
fn send_answers<P: Partial>(
    root: &(impl Source + Destination),
    answers: impl Iterator<Item = Vec<Result<P>>>,
) -> Result<()> {
    for some in answers {
        for answer in some {
            match answer.and_then(|answer| answer.to_bytes()) {
                Ok(bytes) => send_bytes(root, ANSWER, &[&[RESULT][..], &bytes].concat()),
                Err(error) => {
                    send_bytes(root, ANSWER, &[&[FAILED][..], error.to_string().as_bytes()].concat());
                    return Err(error);
                }
            }
        }
        if root.immediate_probe_with_tag(STOP).is_some() {
            return Ok(());
        }
    }
    Ok(())
}
