//! Saves that are killed: whatever moment `SIGKILL` comes, the path holds the old table or the new one, whole.
//!
//! A test starts itself as a child that saves without end and says before and after each save what it does; kills it
//! after a random time; looks at what is there; and starts the next one on the same path. `NUMERIC_TABLE_KILLS=2000` is
//! how often, for each test.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use numeric_table::{
    files::{self, SaveOptions, TableWriter, verify},
    prelude::*,
};
use test_support::bits::Random;
use test_support::tables::shape;
use test_support::test_name;

type Table<T> = HomogenNumericTable<T>;

/// Set in a child: the path that it saves to, and which of the two tables it saves first.
const CHILD: &str = "NUMERIC_TABLE_KILL_TEST";
const FIRST: &str = "NUMERIC_TABLE_KILL_TEST_FIRST";

/// What a child says; nothing else that a test prints has these bytes.
const READY: u8 = 1;
const BEGIN: u8 = 2;
const END: u8 = 3;

fn say(byte: u8) {
    let mut out = std::io::stdout().lock(); // not `print!`, which the harness may keep
    out.write_all(&[byte]).and_then(|()| out.flush()).unwrap(); // fails if the parent is gone: so goes the child
}

/// Two tables that differ in everything: of some MiB each, one of them saved by several threads; or of some bytes.
struct Pair {
    first: Table<f32>,
    second: Table<i16>,
}

impl Pair {
    fn large() -> Self {
        Self::new(shape(30_000, 50), shape(999, 1001))
    }

    fn small() -> Self {
        Self::new(shape(3, 2), shape(2, 5))
    }

    fn new(first: Shape, second: Shape) -> Self {
        let count = |shape: Shape| 0..shape.element_count().unwrap() as u32;
        let values: Vec<f32> = count(first).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 8) as f32).collect();
        let first = Table::from_array(values, first).unwrap();
        let values: Vec<i16> = count(second).map(|i| (i.wrapping_mul(0x85EB_CA6B) >> 16) as i16).collect();
        let features = (0..second.columns).map(|i| Feature::new(ElementType::I16).named(format!("column {i}")));
        let dictionary = DataDictionary::from_features(features);
        let mut second = Table::from_array_with_layout(values, second, DataLayout::ColumnMajor).unwrap();
        second.set_dictionary(dictionary).unwrap();
        Self { first, second }
    }

    fn save(&self, which: usize, path: &Path, options: SaveOptions) {
        match which {
            0 => self.first.save_with(path, options).unwrap(),
            _ => self.second.save_with(path, options).unwrap(),
        }
    }

    /// Which of the two the path holds, if any. Anything else there is a failure.
    #[track_caller]
    fn found_at(&self, path: &Path) -> Option<usize> {
        if !path.exists() {
            return None;
        }
        assert!(verify(path).unwrap(), "without checksums");
        let any = files::load(path).unwrap();
        match any.downcast_ref::<Table<f32>>() {
            Some(table) => assert_eq!(table, &self.first),
            None => {
                let table = any.downcast_ref::<Table<i16>>().unwrap();
                assert!(table == &self.second && table.data_layout() == DataLayout::ColumnMajor);
            }
        }
        Some(usize::from(any.uniform_type() == Some(ElementType::I16)))
    }
}

/// A child that is killed at the latest when it is dropped.
struct Saver {
    child: Child,
    output: ChildStdout,
}

impl Saver {
    /// Starts this test in a process of its own, and waits until it has made its tables.
    fn start(test: &str, path: &Path, first: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &test_name!(test), "--nocapture", "--test-threads=1"])
            .env(CHILD, path)
            .env(FIRST, first.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let mut saver = Self { child, output };
        let mut byte = [0];
        while byte != [READY] {
            saver.output.read_exact(&mut byte).expect("the child ended before it was ready");
        }
        saver
    }

    /// Kills it. Returns how many saves it has begun and ended.
    fn kill(mut self) -> (usize, usize) {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "the child ended by itself: {status}");
        let mut said = Vec::new();
        self.output.read_to_end(&mut said).unwrap();
        let count = |byte: u8| said.iter().filter(|&&said| said == byte).count();
        (count(BEGIN), count(END))
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Removes what a killed save has left. Returns whether there was anything. Nothing else may be there.
#[track_caller]
fn remove_temporary(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let others: Vec<String> = entries.filter(|name| name != "table.ntb").collect();
    let is_temporary = |name: &String| {
        let digits = name.strip_prefix('.').and_then(|name| name.strip_suffix(".ntb.tmp"));
        digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    assert!(others.len() <= 1 && others.iter().all(is_temporary), "{others:?}");
    // The program is dead, and the system has given its locks back.
    let left = files::leftovers(folder).unwrap();
    assert!(
        left.iter().map(|left| left.path().to_owned()).eq(others.iter().map(|name| folder.join(name))),
        "{others:?} {left:?}"
    );
    left.into_iter().for_each(|left| assert!(left.remove().unwrap()));
    !others.is_empty()
}

fn child_path() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// Counts kills: as many as were asked for, and more until one has landed in the middle of a save.
fn is_enough(kills: usize, landed: &Landed) -> bool {
    let wanted = std::env::var("NUMERIC_TABLE_KILLS").map_or(25, |number| number.parse().unwrap());
    kills >= wanted && (landed.old_with_temporary > 0 || kills >= 20 * wanted)
}

/// Where kills landed, and what was found then.
#[derive(Debug, Default)]
struct Landed {
    between_saves: usize,
    /// In the middle of a save: a temporary was there, and the old table.
    old_with_temporary: usize,
    /// In a save that had not created its temporary yet (or, of a writer, had removed it already).
    old_without_temporary: usize,
    /// In a save that had put the new table in its place already.
    new: usize,
    first_table: usize,
    second_table: usize,
    nothing: usize,
}

impl Landed {
    fn count_found(&mut self, found: Option<usize>) {
        match found {
            Some(0) => self.first_table += 1,
            Some(_) => self.second_table += 1,
            None => self.nothing += 1,
        }
    }
}

/// Kills saves of two tables, in turn, without end, after at most so long.
fn kill_saves(test: &str, pair: &Pair, longest: Duration, options: SaveOptions) {
    kill_saves_in(tempfile::tempdir, test, pair, longest, options);
}

fn kill_saves_in(
    new_folder: impl FnOnce() -> std::io::Result<tempfile::TempDir>,
    test: &str,
    pair: &Pair,
    longest: Duration,
    options: SaveOptions,
) {
    if let Some(path) = child_path() {
        let first: usize = std::env::var(FIRST).unwrap().parse().unwrap();
        say(READY);
        for save in first.. {
            say(BEGIN);
            pair.save(save % 2, &path, options.clone());
            say(END);
        }
    }
    let folder = new_folder().unwrap();
    let path = folder.path().join("table.ntb");
    let mut random = Random::new(5);
    let mut landed = Landed::default();
    let mut old = None;
    let mut kill = 0;
    while !is_enough(kill, &landed) {
        kill += 1;
        let first = old.map_or(0, |old: usize| 1 - old);
        let saver = Saver::start(test, &path, first);
        std::thread::sleep(Duration::from_nanos(random.below(longest.as_nanos() as usize) as u64));
        let (begun, ended) = saver.kill();

        let before = if ended == 0 { old } else { Some((first + ended - 1) % 2) };
        let has_temporary = remove_temporary(folder.path());
        let found = pair.found_at(&path);
        let place = format!("kill {kill}: {begun} saves begun, {ended} ended, temporary: {has_temporary}");
        if begun == ended {
            assert!(found == before && !has_temporary, "{place}: {found:?} is there, not {before:?}");
            landed.between_saves += 1;
        } else {
            assert_eq!(begun, ended + 1);
            let new = Some((first + ended) % 2);
            match has_temporary {
                true if found == before => landed.old_with_temporary += 1,
                false if found == before => landed.old_without_temporary += 1,
                false if found == new => landed.new += 1,
                _ => panic!("{place}: {found:?} is there, which was {before:?}"),
            }
        }
        landed.count_found(found);
        old = found;
    }
    println!("{kill} kills in {test}: {landed:?}");
    assert!(landed.old_with_temporary > 0, "no kill landed in the middle of a save");
}

#[test]
fn a_killed_save_of_a_large_table_leaves_the_old_or_the_new_one() {
    let test = "a_killed_save_of_a_large_table_leaves_the_old_or_the_new_one";
    kill_saves(test, &Pair::large(), Duration::from_millis(40), SaveOptions::new().durable(false));
}

/// There, several threads write to one file through a mapping.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_save_into_memory_leaves_the_old_or_the_new_table() {
    if !Path::new("/dev/shm").is_dir() {
        eprintln!("skipped: there is no file system in memory");
        return;
    }
    let test = "a_killed_save_into_memory_leaves_the_old_or_the_new_table";
    let folder = || tempfile::tempdir_in("/dev/shm");
    kill_saves_in(folder, test, &Pair::large(), Duration::from_millis(150), SaveOptions::new().durable(false));
}

#[test]
fn a_killed_durable_save_leaves_the_old_or_the_new_table() {
    let test = "a_killed_durable_save_leaves_the_old_or_the_new_table";
    kill_saves(test, &Pair::large(), Duration::from_millis(40), SaveOptions::new());
}

#[test]
fn a_killed_save_of_a_small_table_leaves_the_old_or_the_new_one() {
    let test = "a_killed_save_of_a_small_table_leaves_the_old_or_the_new_one";
    kill_saves(test, &Pair::small(), Duration::from_millis(5), SaveOptions::new().durable(false));
}

#[test]
fn a_writer_that_is_killed_before_it_finishes_changes_nothing() {
    let test = "a_writer_that_is_killed_before_it_finishes_changes_nothing";
    let pair = Pair::small();
    if let Some(path) = child_path() {
        let block = vec![1.5_f32; 1000 * 8];
        say(READY);
        loop {
            say(BEGIN);
            let mut writer = TableWriter::<f64>::create(&path, 8, None).unwrap();
            for _ in 0..100 {
                writer.append(&block).unwrap();
            }
            drop(writer);
            say(END);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let mut random = Random::new(6);
    let mut landed = Landed::default();
    let mut kill = 0;
    while !is_enough(kill, &landed) {
        kill += 1;
        let old = (kill % 3).checked_sub(1); // no table, the first, the second
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        old.into_iter().for_each(|old| pair.save(old, &path, SaveOptions::new().durable(false)));
        let saver = Saver::start(test, &path, 0);
        std::thread::sleep(Duration::from_micros(random.below(10_000) as u64));
        let (begun, ended) = saver.kill();
        match remove_temporary(folder.path()) {
            true => landed.old_with_temporary += 1,
            false if begun > ended => landed.old_without_temporary += 1,
            false => landed.between_saves += 1,
        }
        let found = pair.found_at(&path);
        assert_eq!(found, old, "kill {kill}: {begun} streams begun, {ended} dropped");
        landed.count_found(found);
    }
    println!("{kill} kills in {test}: {landed:?}");
    assert!(landed.old_with_temporary > 0, "no kill landed in the middle of a stream");
}
