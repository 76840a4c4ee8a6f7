//! DAAL's distributed samples, as one program: `mpirun -n 4 numeric-table-mpi moments FOLDER`.
//!
//! Each job computes one result over the shards in a folder, on all processes, and prints it on rank 0. `--out FILE`
//! writes the result to a file as bytes. `--checkpoint FOLDER` saves the results of shards until the job has ended.
//! `--time N` computes the result N more times, and prints the shortest time. `slow` computes the moments and sleeps in
//! between, so that a test can kill it. `panic` computes them until the last process panics. `check` moves rows of
//! every element type between the processes and checks that all arrive.

use std::io::Write;
use std::path::PathBuf;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use numeric_table::prelude::*;
use numeric_table::{
    Error, Partial, Result, bf16, f16,
    shards::Shards,
    statistics::{BasicStatistics, Covariance},
};
use numeric_table_learning::{KMeansStep, LinearRegression};
use numeric_table_mpi::{
    ReduceOptions, Transfer, all_or_none, gather_rows, reduce, reduce_all, scatter_rows, share_cores, shift_rows,
};

/// Numbers of clusters and of steps of k-means.
const CLUSTERS: usize = 8;
const STEPS: usize = 10;

const USAGE: &str = "numeric-table-mpi moments|covariance|k-means|regression|slow|panic FOLDER [--checkpoint FOLDER] \
                     [--out FILE] [--time N], or numeric-table-mpi check";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threading = mpi::Threading::Funneled;
    let (universe, _) = mpi::initialize_with_threading(threading).ok_or("MPI was initialized before")?;
    let world = universe.world();
    share_cores(&world)?;
    let outcome = run(&world);
    if let Err(error) = &outcome {
        // In one piece, because other ranks write to the same terminal.
        let line = format!("rank {}: {error}\n", world.rank());
        std::io::stderr().write_all(line.as_bytes())?;
    }
    drop(universe); // can end MPI, because an error on one rank is an error on all
    std::process::exit(outcome.is_err().into());
}

/// The parsed command line.
struct Job<'w> {
    world: &'w SimpleCommunicator,
    shards: Shards,
    checkpoint: Option<PathBuf>,
    out: Option<PathBuf>,
    /// Number of additional computations of the result.
    repeats: usize,
}

fn run(world: &SimpleCommunicator) -> Result<()> {
    let mut words = std::env::args().skip(1);
    let program = words.next().ok_or_else(|| Error::other(USAGE))?;
    if program == "check" {
        return check(world);
    }
    let folder = words.next().ok_or_else(|| Error::other(USAGE))?;
    let (mut checkpoint, mut out, mut repeats) = (None, None, 0);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| Error::other(USAGE))?;
        match word.as_str() {
            "--checkpoint" => checkpoint = Some(PathBuf::from(value)),
            "--out" => out = Some(PathBuf::from(value)),
            "--time" => repeats = value.parse().map_err(|_| Error::other(USAGE))?,
            _ => return Err(Error::other(USAGE)),
        }
    }
    let job = Job { world, shards: all_or_none(world, Shards::open(&folder))?, checkpoint, out, repeats };
    let columns = job.shards.shape().columns;
    match program.as_str() {
        "moments" => job.answer(&BasicStatistics::new(columns)?, |statistics| Ok(statistics.to_string())),
        "covariance" => job.answer(&Covariance::new(columns)?, |covariance| Ok(covariance.covariance()?.to_string())),
        "k-means" => job.k_means(),
        "regression" => {
            let features = columns.checked_sub(1).ok_or_else(|| Error::other("no column is left for the target"))?;
            job.answer(&LinearRegression::new(features, 1)?, |regression| {
                let model = regression.solve()?;
                let (intercept, r_squared) = (model.intercepts()[0], model.r_squared()[0]);
                Ok(format!("intercept {intercept}, R squared {r_squared}\n{}", model.coefficients()?))
            })
        }
        "slow" => {
            let line = format!("rank {} is process {}\n", world.rank(), std::process::id());
            std::io::stderr().write_all(line.as_bytes()).map_err(|source| Error::new(ErrorKind::Io { source }))?;
            job.answer(&Slow(BasicStatistics::new(columns)?), |slow| Ok(slow.0.to_string()))
        }
        "panic" => {
            let panics = world.rank() + 1 == world.size();
            job.answer(&Panic { moments: BasicStatistics::new(columns)?, panics }, |_| Ok(String::new()))
        }
        _ => Err(Error::other(USAGE)),
    }
}

/// Moments whose computation panics on one process.
#[derive(serde::Serialize, serde::Deserialize)]
struct Panic {
    moments: BasicStatistics,
    #[serde(skip)]
    panics: bool,
}

impl Partial for Panic {
    const NAME: &'static str = "panic";

    fn new_like(&self) -> Result<Self> {
        Ok(Self { moments: self.moments.new_like()?, panics: self.panics })
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        assert!(!self.panics, "this process panics");
        self.moments.update(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.moments.merge(&other.moments)
    }
}

/// Moments whose computation is slow.
#[derive(serde::Serialize, serde::Deserialize)]
struct Slow(BasicStatistics);

impl Partial for Slow {
    const NAME: &'static str = "slow-moments";

    fn new_like(&self) -> Result<Self> {
        self.0.new_like().map(Self)
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        std::thread::sleep(std::time::Duration::from_millis(150));
        self.0.update(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.0.merge(&other.0)
    }
}

impl Job<'_> {
    /// Computes a result on all processes, and prints and saves it on the first.
    fn answer<P: Partial>(&self, empty: &P, show: impl Fn(&P) -> Result<String>) -> Result<()> {
        let options = ReduceOptions::new();
        let options = self.checkpoint.as_ref().map_or(options.clone(), |folder| options.checkpoint(folder));
        let found = reduce(self.world, &self.shards, empty, &options)?;
        self.time(|| reduce(self.world, &self.shards, empty, &options).map(drop))?;
        all_or_none(self.world, found.map_or(Ok(()), |found| self.show(&found, show)))
    }

    /// Ten steps of k-means, from the first rows; every process computes the centroids of the next step.
    fn k_means(&self) -> Result<()> {
        let clusters = CLUSTERS.min(self.shards.shape().rows);
        let mut step =
            all_or_none(self.world, self.shards.load_rows::<f64>(0..clusters).and_then(|rows| KMeansStep::new(&rows)))?;
        for number in 0..STEPS {
            let options = match &self.checkpoint {
                Some(folder) => ReduceOptions::new().checkpoint(folder.join(format!("step-{number}"))),
                None => ReduceOptions::new(),
            };
            let found = reduce_all(self.world, &self.shards, &step, &options)?;
            if number == 0 {
                self.time(|| reduce_all(self.world, &self.shards, &step, &options).map(drop))?;
            }
            let shown = match number + 1 == STEPS && self.world.rank() == 0 {
                true => self.show(&found, |found| Ok(format!("inertia {:e}\n{}", found.inertia(), found.centroids()?))),
                false => Ok(()),
            };
            all_or_none(self.world, shown)?;
            step = all_or_none(self.world, found.centroids().and_then(|centroids| KMeansStep::new(&centroids)))?;
        }
        Ok(())
    }

    /// Prints the shortest time of some calls.
    fn time(&self, call: impl Fn() -> Result<()>) -> Result<()> {
        let mut shortest = f64::INFINITY;
        for _ in 0..self.repeats {
            self.world.barrier();
            let begin = std::time::Instant::now();
            call()?;
            shortest = shortest.min(begin.elapsed().as_secs_f64());
        }
        if self.repeats > 0 && self.world.rank() == 0 {
            println!("shortest time: {shortest} s");
        }
        Ok(())
    }

    fn show<P: Partial>(&self, found: &P, show: impl Fn(&P) -> Result<String>) -> Result<()> {
        println!("{} rows on {} processes\n{}", self.shards.shape().rows, self.world.size(), show(found)?);
        match &self.out {
            Some(path) => std::fs::write(path, found.to_bytes()?).map_err(|source| Error::io(path, source)),
            None => Ok(()),
        }
    }
}

/// Moves rows of every element type, in both layouts, to all processes, around the ring, and back.
fn check(world: &SimpleCommunicator) -> Result<()> {
    check_type::<f32>(world)?;
    check_type::<f64>(world)?;
    check_type::<i8>(world)?;
    check_type::<i16>(world)?;
    check_type::<i32>(world)?;
    check_type::<i64>(world)?;
    check_type::<u8>(world)?;
    check_type::<u16>(world)?;
    check_type::<u32>(world)?;
    check_type::<u64>(world)?;
    check_type::<f16>(world)?;
    check_type::<bf16>(world)?;
    check_failures(world)?;
    if world.rank() == 0 {
        println!("all rows arrived, on {} processes", world.size());
    }
    Ok(())
}

fn check_type<T: Transfer>(world: &SimpleCommunicator) -> Result<()> {
    let (size, rank) = (world.size(), world.rank());
    for (rows, columns) in [(0, 3), (1, 1), (2, 2), (7, 3), (1000, 5), (70_000, 17)] {
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            let values =
                HomogenNumericTable::from_fn(Shape { rows, columns }, |row, column| ((row * 7 + column) % 101) as u8)?;
            let mut whole = values.convert::<T>()?.to_layout(layout)?;
            let names = (0..columns).map(|column| format!("c{column}"));
            whole.set_dictionary(whole.dictionary().with_names(names)?)?;
            for root in [0, size - 1] {
                let part = scatter_rows(world, root, (rank == root).then_some(&whole))?;
                let mut seen = part.row_count();
                let mut moving = part.slice_rows(..)?;
                for _ in 1..size {
                    moving = shift_rows(world, &moving, 1)?;
                    seen += moving.row_count();
                }
                same(seen, rows, "rows that went around")?;
                let back = gather_rows(world, root, &shift_rows(world, &moving, 1)?)?;
                same(back.is_some(), rank == root, "a table at the root only")?;
                if let Some(back) = back {
                    same(back.to_layout(layout)? == whole, true, "the rows that came back")?;
                }
            }
        }
    }
    Ok(())
}

/// Checks that an error of one process is an error of all, and that the next call works.
fn check_failures(world: &SimpleCommunicator) -> Result<()> {
    let (size, rank) = (world.size(), world.rank());
    let columns = if rank == size - 1 && size > 1 { 3 } else { 2 };
    let rows = HomogenNumericTable::<f32>::zeros(Shape { rows: 4, columns })?;
    same(gather_rows(world, 0, &rows).is_err(), size > 1, "an error of unequal columns")?;
    same(scatter_rows::<f32, _>(world, 0, None).is_err(), true, "an error of a missing table")?;
    check_type::<f32>(world)
}

fn same<V: PartialEq + std::fmt::Debug>(found: V, expected: V, what: &str) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::other(format!("{what}: {found:?} instead of {expected:?}"))),
    }
}
