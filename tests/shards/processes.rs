//! Several programs on one table: none loses what another one adds, and one that is killed leaves a table.
//!
//! A test starts itself as a child.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use numeric_table::{
    files,
    prelude::*,
    shards::{Shards, ShardsWriter},
};
use test_support::bits::Random;
use test_support::test_name;

use crate::support::{counted_parts, counting, fast};

/// Set in a child: the folder of the table.
const CHILD: &str = "NUMERIC_TABLE_SHARDS_CHILD";

/// Rows of each file that is appended.
const ROWS: usize = 3;

/// Starts a test in a process of its own.
fn start(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &test_name!(test), "--nocapture", "--test-threads=1"])
        .env(CHILD, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn folder_of_child() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

fn append_one(folder: &Path, name: &str) {
    let path = folder.join(format!("{name}.ntb"));
    counting(7, ROWS, 2).save_with(&path, fast()).unwrap();
    Shards::open(folder).unwrap().append([&path]).unwrap();
}

fn table(folder: &Path) {
    let paths = counted_parts(folder, &[ROWS], 2);
    Shards::from_paths(&paths).unwrap().save_manifest(folder.join("shards.ntm")).unwrap();
}

#[test]
fn programs_and_threads_that_append_at_once_lose_nothing() {
    let own = std::process::id();
    if let Some(folder) = folder_of_child() {
        (0..20).for_each(|round| append_one(&folder, &format!("{own}-{round}")));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let children = [(); 3].map(|()| start("programs_and_threads_that_append_at_once_lose_nothing", folder.path()));
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let folder = folder.path();
            let append = move |round| append_one(folder, &format!("{own}-{thread}-{round}"));
            scope.spawn(move || (0..20).for_each(append));
        }
    });
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let shards = Shards::open(folder.path()).unwrap();
    assert_eq!(shards.shard_count(), 1 + 3 * 20 + 2 * 20);
    assert_eq!(shards.shape(), Shape { rows: shards.shard_count() * ROWS, columns: 2 });
    assert!(shards.verify().unwrap());
}

#[test]
fn a_program_that_is_killed_leaves_the_table_as_it_was_or_with_its_files() {
    if let Some(folder) = folder_of_child() {
        for round in 0.. {
            append_one(&folder, &format!("{}-{round}", std::process::id()));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let (mut random, mut before) = (Random::new(7), 1);
    for _ in 0..8 {
        let mut child = start("a_program_that_is_killed_leaves_the_table_as_it_was_or_with_its_files", folder.path());
        let begun = Instant::now();
        while Shards::open(folder.path()).unwrap().shard_count() == before {
            assert!(begun.elapsed() < Duration::from_secs(60), "the child appends nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_micros(random.below(20_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let shards = Shards::open(folder.path()).unwrap();
        assert!(shards.shard_count() > before && shards.verify().unwrap());
        assert_eq!(shards.shape().rows, shards.shard_count() * ROWS);
        before = shards.shard_count();
        append_one(folder.path(), &format!("parent-{before}")); // the lock ended with the child
        before += 1;
    }
    fs::remove_file(folder.path().join("shards.ntm")).unwrap();
    // What they have left is known, and was in nobody's way.
    for left in files::leftovers(folder.path()).unwrap() {
        assert!(left.remove().unwrap());
    }
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.starts_with('.')));
    // Files of killed programs are whole or hidden.
    assert!(Shards::open(folder.path()).unwrap().shard_count() >= before);
}

/// Writes a table of three files of this value, as a job does. Returns whether it got the table.
fn write_job(folder: &Path, value: f32) -> bool {
    let write = || {
        let writer = ShardsWriter::<f32>::create_with(folder, 1, None, fast())?;
        for index in 0..3 {
            let mut shard = writer.shard(index)?;
            shard.append(&[value])?;
            shard.finish()?;
        }
        writer.finish()
    };
    write().is_ok()
}

#[test]
fn a_file_that_another_program_has_listed_meanwhile_is_not_replaced() {
    if let Some(folder) = folder_of_child() {
        let writer = ShardsWriter::<f32>::create_with(&folder, 1, None, fast()).unwrap();
        let mut begun = writer.shard(0).unwrap();
        begun.append(&[7.0_f32]).unwrap();
        fs::write(folder.join("ready"), "").unwrap();
        while !folder.join(Shards::MANIFEST).exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(begun.finish().unwrap_err().to_string().contains("the manifest lists the file"));
        assert!(writer.shard(1).is_err());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = start("a_file_that_another_program_has_listed_meanwhile_is_not_replaced", folder.path());
    let begun = Instant::now();
    while !folder.path().join("ready").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the child begins nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(write_job(folder.path(), 1.0));
    assert!(child.wait().unwrap().success());
    let shards = Shards::open(folder.path()).unwrap();
    assert!(shards.verify().unwrap());
    assert_eq!(shards.load::<f32>().unwrap().as_slice().unwrap(), [1.0; 3]);
}

#[test]
fn of_programs_that_write_one_table_at_once_at_most_one_gets_it_and_all_of_it() {
    const ROUNDS: usize = 60;
    let round = |folder: &Path, round: usize| folder.join(format!("round-{round}"));
    let jobs = |folder: &Path, value: f32| {
        let write = |index: usize| write_job(&round(folder, index), value);
        (0..ROUNDS).filter(|&index| write(index)).collect::<Vec<_>>()
    };
    if let Some(folder) = folder_of_child() {
        jobs(&folder, 2.0);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = start("of_programs_that_write_one_table_at_once_at_most_one_gets_it_and_all_of_it", folder.path());
    while !round(folder.path(), 0).exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let mine = jobs(folder.path(), 1.0);
    assert!(child.wait().unwrap().success());
    let mut tables = 0;
    for index in 0..ROUNDS {
        let folder = round(folder.path(), index);
        if folder.join(Shards::MANIFEST).exists() {
            let shards = Shards::open(&folder).unwrap();
            assert!(shards.verify().unwrap());
            let value = if mine.contains(&index) { 1.0 } else { 2.0 };
            assert_eq!(shards.load::<f32>().unwrap().as_slice().unwrap(), [value; 3]);
            tables += 1;
        }
    }
    println!("{} of {tables} tables are this program's", mine.len());
}

#[test]
fn what_a_killed_writer_has_left_is_removed_and_the_table_is_finished() {
    let put = |writer: &ShardsWriter<f64>, index: usize| {
        let mut shard = writer.shard(index).unwrap();
        shard.append_table(&counting(index * ROWS * 2, ROWS, 2)).unwrap();
        shard
    };
    if let Some(folder) = folder_of_child() {
        let writer = ShardsWriter::<f64>::create_with(&folder, 2, None, fast()).unwrap();
        [0, 2].iter().for_each(|&index| put(&writer, index).finish().unwrap());
        let _begun = [1, 3].map(|index| put(&writer, index));
        fs::write(folder.join("ready"), "").unwrap();
        std::thread::sleep(Duration::from_secs(60)); // and is killed long before
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut child = start("what_a_killed_writer_has_left_is_removed_and_the_table_is_finished", folder);
    let begun = Instant::now();
    while !folder.join("ready").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the child writes nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(files::leftovers(folder).unwrap().len(), 0); // it is alive
    child.kill().unwrap();
    child.wait().unwrap();
    let left = files::leftovers(folder).unwrap();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|left| left.size_in_bytes() > 0 && left.path().exists()));
    for left in left {
        assert!(left.remove().unwrap());
    }
    let writer = ShardsWriter::<f64>::resume_with(folder, 2, None, fast()).unwrap();
    assert_eq!(writer.missing(4), [1, 3]);
    writer.missing(4).into_iter().for_each(|index| put(&writer, index).finish().unwrap());
    let shards = writer.finish().unwrap();
    assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), counting(0, 4 * ROWS, 2).as_slice().unwrap());
    assert_eq!(files::leftovers(folder).unwrap().len(), 0);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 4 + 1 + 1); // files, manifest, and what the child said
}
