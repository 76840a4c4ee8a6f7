//! Compares one process with one thread, two with one thread each, and one with two threads, on the same shards, in one
//! run.
//!
//! 256 MiB of `f32` in eight files, in memory (`/dev/shm`) if there is such a folder. Times are those of the call of
//! `reduce`, without the start of the processes: the shortest of some. *Limit*: two independent processes at the same
//! time, with one half of the files each. Any loss there is due to memory or the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use numeric_table::files::SaveOptions;
use numeric_table::prelude::*;

const SHARDS: usize = 8;
const COLUMNS: usize = 16;
const PROGRAMS: [&str; 4] = ["moments", "covariance", "regression", "k-means"];

/// Options that bind processes to cores, and the number of processes.
const ONE: [&str; 4] = ["--bind-to", "core", "-n", "1"];
const TWO: [&str; 4] = ["--bind-to", "core", "-n", "2"];
const THREADS: [&str; 4] = ["--bind-to", "none", "-n", "1"];

fn main() {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let (rows, repeats) = if is_test { (100, "2") } else { (1 << 19, "15") };
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder");
    let halves = [0, 1].map(|half| folder.path().join(format!("half-{half}")));
    let all = folder.path().join("all");
    save(&all, &halves, rows);
    println!("program      1 process  2 processes          1 process, 2 threads  limit");
    for program in PROGRAMS {
        let time = |how: [&str; 4], folder: &Path| seconds(start(how, program, folder, repeats));
        let (one, two, threads) = (time(ONE, &all), time(TWO, &all), time(THREADS, &all));
        // Binds each to its own core: mpirun would bind both to the first.
        let cores = ["0", "1"].map(|core| ["--cpu-set", core, "-n", "1"]);
        let both = [0, 1].map(|half| start(cores[half], program, &halves[half], repeats));
        let limit = both.map(seconds).into_iter().fold(0.0, f64::max);
        let ratio = |other: f64| format!("{:7.1} ms ({:.2} x)", other * 1e3, one / other);
        println!("{program:11} {:7.1} ms  {}  {}  {}", one * 1e3, ratio(two), ratio(threads), ratio(limit));
    }
}

/// Saves shards, and links to each half of them.
fn save(all: &Path, halves: &[PathBuf; 2], rows: usize) {
    [all, &halves[0], &halves[1]].into_iter().for_each(|folder| fs::create_dir(folder).expect("a folder"));
    for shard in 0..SHARDS {
        let values = HomogenNumericTable::from_fn(Shape { rows, columns: COLUMNS }, |row, column| {
            ((shard * 31 + row * 7919 + column * column) % 1013) as f32 * 0.37
        });
        let name = format!("part-{shard:04}.ntb");
        values.and_then(|values| values.save_with(all.join(&name), SaveOptions::new().durable(false))).expect("saved");
        fs::hard_link(all.join(&name), halves[shard * 2 / SHARDS].join(&name)).expect("linked");
    }
}

fn start(how: [&str; 4], program: &str, folder: &Path, repeats: &str) -> Child {
    let mut command = Command::new("mpirun");
    command.args(how).arg(env!("CARGO_BIN_EXE_numeric-table-mpi")).arg(program).arg(folder).args(["--time", repeats]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("mpirun")
}

/// Returns the time printed by a program.
fn seconds(job: Child) -> f64 {
    let output = job.wait_with_output().expect("an end");
    let text = String::from_utf8(output.stdout).expect("text");
    let seconds = text.lines().find_map(|line| line.strip_prefix("shortest time: ")?.strip_suffix(" s")?.parse().ok());
    seconds.unwrap_or_else(|| panic!("{}: {text}", output.status))
}
