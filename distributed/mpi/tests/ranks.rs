//! Compares jobs of several processes with one process, which must give the same bits, and checks what a killed job
//! leaves.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use numeric_table::prelude::*;
use numeric_table::{
    Partial,
    files::SaveOptions,
    shards::Shards,
    statistics::{BasicStatistics, Covariance},
};
use numeric_table_learning::{KMeansStep, LinearRegression};

/// Held while a job runs, because each waiting MPI process occupies a core.
static ONE_JOB: Mutex<()> = Mutex::new(());

/// Numbers of processes.
const RANKS: [usize; 3] = [1, 2, 4];

/// A job that is killed after five minutes, so that a test fails instead of hanging.
fn mpirun(ranks: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command.args(["300", "mpirun", "--bind-to", "none", "--oversubscribe", "-n", &ranks.to_string()]);
    command.arg(env!("CARGO_BIN_EXE_numeric-table-mpi")).args(arguments);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for a job and reads its output meanwhile. Otherwise 64 KiB of backtraces would block the job forever.
fn wait(job: Child) -> Output {
    let output = job.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(124), "the job hangs");
    output
}

fn run(ranks: usize, arguments: &[&str]) -> Output {
    let _one = ONE_JOB.lock().unwrap_or_else(PoisonError::into_inner);
    wait(mpirun(ranks, arguments).spawn().unwrap())
}

/// Shards of unequal lengths, one of them without rows, whose values do not add up exactly.
fn shards_in(folder: &Path, count: usize) -> Shards {
    for shard in 0..count {
        let rows = if shard == 2 { 0 } else { 100 + shard * 37 % 500 };
        let values = HomogenNumericTable::from_fn(Shape { rows, columns: 6 }, |row, column| {
            let place = ((shard * 1000 + row) * 6 + column) as u64 + 1;
            let mixed =
                place.wrapping_mul(6_364_136_223_846_793_005).rotate_left(29).wrapping_mul(1_442_695_040_888_963_407);
            (mixed >> 40) as f32 / 1e3 + (column * 1000) as f32
        });
        let path = folder.join(format!("part-{shard:04}.ntb"));
        values.unwrap().save_with(path, SaveOptions::new().durable(false)).unwrap();
    }
    Shards::open(folder).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn check<P: Partial>(program: &str, shards: &Shards, folder: &Path, empty: &P) {
    let expected = shards.reduce(empty).unwrap().to_bytes().unwrap();
    for ranks in RANKS {
        let out = folder.join("out");
        let output = run(ranks, &[program, text(folder), "--out", text(&out)]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read(&out).unwrap(), expected, "{program} on {ranks} ranks");
        fs::remove_file(out).unwrap();
    }
}

#[test]
fn rows_of_every_type_move_between_processes() {
    for ranks in RANKS {
        let output = run(ranks, &["check"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("all rows arrived, on {ranks} processes\n"));
    }
}

#[test]
fn moments_are_those_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards_in(folder.path(), 11);
    check("moments", &shards, folder.path(), &BasicStatistics::new(6).unwrap());
}

#[test]
fn covariances_are_those_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards_in(folder.path(), 11);
    check("covariance", &shards, folder.path(), &Covariance::new(6).unwrap());
}

#[test]
fn linear_regressions_are_those_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards_in(folder.path(), 11);
    check("regression", &shards, folder.path(), &LinearRegression::new(5, 1).unwrap());
}

#[test]
fn ten_steps_of_k_means_are_those_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards_in(folder.path(), 11);
    let mut step = KMeansStep::new(&shards.load_rows::<f64>(0..8).unwrap()).unwrap();
    for _ in 1..10 {
        step = KMeansStep::new(&shards.reduce(&step).unwrap().centroids().unwrap()).unwrap();
    }
    check("k-means", &shards, folder.path(), &step);
}

#[test]
fn there_may_be_more_processes_than_shards() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards_in(folder.path(), 1);
    check("moments", &shards, folder.path(), &BasicStatistics::new(6).unwrap());
}

/// Checks that a job ends with an error on all ranks, and that the ranks that did not fail name the one that did.
fn check_failure(output: &Output, ranks: usize, failed: Option<usize>, what: &str) {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{ranks} ranks");
    let lines: Vec<_> = errors.lines().filter(|line| line.starts_with("rank ")).collect();
    assert_eq!(lines.len(), ranks, "{errors}");
    assert!(lines.iter().all(|line| line.contains(what)), "{errors}");
    if let Some(failed) = failed {
        let named = lines.iter().filter(|line| line.contains(&format!(": rank {failed} failed: "))).count();
        assert_eq!(named, ranks - 1, "{errors}");
    }
}

#[test]
fn a_damaged_shard_ends_the_job_with_an_error_on_all_ranks() {
    for damaged in [0, 5, 8] {
        let folder = tempfile::tempdir().unwrap();
        shards_in(folder.path(), 9).save_manifest(folder.path().join(Shards::MANIFEST)).unwrap();
        let name = format!("part-{damaged:04}.ntb");
        fs::write(folder.path().join(&name), b"no table").unwrap();
        for ranks in RANKS {
            check_failure(&run(ranks, &["moments", text(folder.path())]), ranks, Some(damaged % ranks), &name);
        }
    }
}

#[test]
fn a_process_that_panics_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    shards_in(folder.path(), 9);
    for ranks in RANKS {
        let output = run(ranks, &["panic", text(folder.path())]);
        assert!(!output.status.success(), "{ranks} ranks");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("this process panics"), "{errors}");
    }
}

/// Shards with results that are too large to be sent before a process receives them. There are 300 different files, and
/// further names for them.
fn wide_shards_in(folder: &Path, count: usize) -> Shards {
    let path = |shard: usize| folder.join(format!("part-{shard:04}.ntb"));
    for shard in 0..300 {
        let values = HomogenNumericTable::from_fn(Shape { rows: 3, columns: 150 }, |row, column| {
            ((shard * 7 + row * 13 + column * column) % 101) as f32 * 0.1
        });
        values.unwrap().save_with(path(shard), SaveOptions::new().durable(false)).unwrap();
    }
    (300..count).for_each(|shard| fs::hard_link(path(shard % 300), path(shard)).unwrap());
    Shards::open(folder).unwrap()
}

#[test]
fn large_results_are_merged_in_runs() {
    let folder = tempfile::tempdir().unwrap();
    let shards = wide_shards_in(folder.path(), 4099);
    let empty = Covariance::new(150).unwrap();
    let runs: Vec<_> = shards.runs(&empty).collect();
    assert_eq!((runs.len(), &runs[0], &runs[2049]), (2050, &(0..2), &(4098..4099)));
    check("covariance", &shards, folder.path(), &empty);
}

#[test]
fn a_failure_among_large_results_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let mut shards = wide_shards_in(folder.path(), 300);
    let empty = Covariance::new(150).unwrap();
    assert_eq!(shards.runs(&empty).next(), Some(0..1));
    check("covariance", &shards, folder.path(), &empty);

    shards.save_manifest(folder.path().join(Shards::MANIFEST)).unwrap();
    for damaged in ["part-0003.ntb", "part-0299.ntb"] {
        let kept = fs::read(folder.path().join(damaged)).unwrap();
        fs::write(folder.path().join(damaged), &kept[..100]).unwrap();
        for ranks in RANKS {
            check_failure(&run(ranks, &["covariance", text(folder.path())]), ranks, None, damaged);
        }
        fs::write(folder.path().join(damaged), kept).unwrap();
    }
}

#[test]
fn processes_with_other_shards_or_without_any_end_with_an_error_on_all_ranks() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    shards_in(folder.path(), 5);
    shards_in(other.path(), 4);
    let program = env!("CARGO_BIN_EXE_numeric-table-mpi");
    let missing = other.path().join("missing");
    for (second, what) in [(other.path(), "different shards"), (&missing, "missing")] {
        let arguments = ["moments", text(folder.path()), ":", "-n", "1", program, "moments", text(second)];
        check_failure(&run(1, &arguments), 2, Some(1), what);
    }
}

/// The numbers of the saved results.
fn kept(folder: &Path) -> usize {
    let is_kept = |path: PathBuf| path.extension().is_some_and(|extension| extension == "partial");
    fs::read_dir(folder).map_or(0, |files| files.filter(|file| is_kept(file.as_ref().unwrap().path())).count())
}

#[test]
fn a_job_that_was_killed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards_in(folder.path(), 40);
    let (kept_in, out) = (folder.path().join("kept"), folder.path().join("out"));
    let arguments = ["slow", text(folder.path()), "--checkpoint", text(&kept_in), "--out", text(&out)];
    for ranks in [2, 4] {
        let one = ONE_JOB.lock().unwrap_or_else(PoisonError::into_inner);
        let mut job = mpirun(ranks, &arguments).spawn().unwrap();
        let mut errors = std::io::BufReader::new(job.stderr.take().unwrap());
        let killed = process_of_last_rank(&mut errors, ranks);
        while kept(&kept_in) < 6 {
            assert!(job.try_wait().unwrap().is_none(), "the job ended too early");
            thread::sleep(Duration::from_millis(2));
        }
        assert!(Command::new("kill").args(["-9", &killed]).status().unwrap().success());
        let drain = thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        assert!(!wait(job).status.success() && !out.exists());
        drain.join().unwrap().unwrap();
        drop(one);
        let before = kept(&kept_in);
        assert!((6..40).contains(&before), "{before}");
        let oldest = fs::metadata(kept_in.join("shard-000000000.partial")).unwrap().modified().unwrap();

        // On a different number of processes.
        let output = run(6 - ranks, &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(kept(&kept_in), 40);
        let now = fs::metadata(kept_in.join("shard-000000000.partial")).unwrap().modified().unwrap();
        assert_eq!(now, oldest, "the first shard was computed again");
        let bytes = fs::read(&out).unwrap();
        let expected = shards.reduce(&BasicStatistics::new(6).unwrap()).unwrap().to_bytes().unwrap();
        // The state is the same; the name before it and the checksum after it differ.
        let state = |bytes: &[u8], name: &str| bytes[24 + name.len()..bytes.len() - 4].to_vec();
        assert_eq!(state(&bytes, "slow-moments"), state(&expected, BasicStatistics::NAME));
        fs::remove_file(&out).unwrap();
        fs::remove_dir_all(&kept_in).unwrap();
    }
}

fn process_of_last_rank(errors: &mut impl std::io::BufRead, ranks: usize) -> String {
    let start = format!("rank {} is process ", ranks - 1);
    let mut line = String::new();
    while errors.read_line(&mut line).unwrap() > 0 {
        if let Some(process) = line.strip_prefix(&start) {
            return process.trim().to_owned();
        }
        line.clear();
    }
    panic!("the last rank has not said what process it is");
}

#[test]
fn kept_results_of_other_shards_and_prototypes_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards_in(folder.path(), 5);
    let (kept_in, out) = (folder.path().join("kept"), folder.path().join("out"));
    let program =
        |name| [name, text(folder.path()), "--checkpoint", text(&kept_in), "--out", text(&out)].map(str::to_owned);
    let run = |name| {
        let arguments = program(name);
        let output = run(2, &arguments.each_ref().map(String::as_str));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(&out).unwrap()
    };
    let statistics = |shards: &Shards| shards.reduce(&BasicStatistics::new(6).unwrap()).unwrap().to_bytes().unwrap();
    run("covariance");
    assert_eq!(run("moments"), statistics(&shards));

    // Other values in a file of the same shape, and a damaged result file.
    let path = folder.path().join("part-0001.ntb");
    let table = HomogenNumericTable::<f32>::load(&path).unwrap();
    let other = HomogenNumericTable::from_fn(table.shape(), |row, column| (row * column) as f32).unwrap();
    other.save(&path).unwrap();
    fs::write(kept_in.join("shard-000000003.partial"), b"NTSHARD\n").unwrap();
    assert_eq!(run("moments"), statistics(&Shards::open(folder.path()).unwrap()));

    // Without checksums of values, files of one shape cannot be distinguished, so no results are saved.
    for table in [table, other] {
        table.save_with(&path, SaveOptions::new().checksums(None)).unwrap();
        assert_eq!(run("moments"), statistics(&Shards::open(folder.path()).unwrap()));
    }
}
