//! Saves into a file system in memory (tmpfs) that gets full, and of files that get too large: errors, not signals.
//!
//! The tests start themselves in a process with such a file system of its own (`unshare`, `mount`), or with a limit on
//! the size of files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use numeric_table::{
    files::{self, SaveOptions},
    prelude::*,
};
use test_support::tables::shape;
use test_support::test_name;

/// Set in the process that a test runs in: the folder to save into.
const CHILD: &str = "NUMERIC_TABLE_FULL_MEMORY_TEST";

const MI: usize = 1 << 20;

/// Runs a test in a process that a command of the shell starts as `"$@"`. The folder is `$0`.
fn under(command: &str, name: &str, test: impl FnOnce(&Path)) {
    if let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) {
        return test(&folder);
    }
    let folder = tempfile::tempdir().unwrap();
    let result = Command::new("sh")
        .args(["-c", command])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test_name!(name), "--nocapture", "--test-threads=1"])
        .env(CHILD, folder.path())
        .output()
        .unwrap();
    let printed = [result.stdout, result.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(result.status.success() && printed[0].contains("1 passed"), "{}: {}", result.status, printed.concat());
}

/// Runs a test in a process that sees a file system of 8 MiB, in memory, which nobody else sees. Skips it where that is
/// not allowed.
fn in_small_memory(name: &str, test: impl FnOnce(&Path)) {
    const MOUNT: &str = r#"mount -t tmpfs -o size=8m tmpfs "$0""#;
    let allowed = || {
        let folder = tempfile::tempdir().unwrap();
        let tried = Command::new("unshare").args(["-rm", "sh", "-c", MOUNT]).arg(folder.path()).output();
        tried.is_ok_and(|tried| tried.status.success())
    };
    if std::env::var_os(CHILD).is_none() && !allowed() {
        eprintln!("skipped: {name}: no file system may be mounted here");
        return;
    }
    under(&format!(r#"exec unshare -rm sh -c '{MOUNT} && exec "$@"' "$0" "$@""#), name, test);
}

fn save(table: &dyn NumericTable, path: &Path, options: SaveOptions) -> Result<(), Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    pool.install(|| table.save_with(path, options))
}

fn table(rows: usize) -> HomogenNumericTable<u8> {
    HomogenNumericTable::full(shape(rows, 1), 7_u8).unwrap()
}

#[track_caller]
fn check(result: Result<(), Error>, kind: io::ErrorKind, path: &Path) {
    let is_expected = result.as_ref().is_err_and(|error| {
        matches!(error.kind(), ErrorKind::Io { source } if source.kind() == kind) && error.path() == Some(path)
    });
    assert!(is_expected, "{result:?}");
    assert_eq!(files::load(path).unwrap().shape(), shape(3, 1), "the old file");
}

#[test]
fn a_table_that_memory_has_no_room_for_is_an_error() {
    in_small_memory("a_table_that_memory_has_no_room_for_is_an_error", |folder| {
        let path = folder.join("table.ntb");
        table(3).save(&path).unwrap();
        for options in [SaveOptions::new(), SaveOptions::new().checksums(None)] {
            check(save(&table(16 * MI), &path, options), io::ErrorKind::StorageFull, &path);
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "something is left behind");
        }
        save(&table(6 * MI), &path, SaveOptions::new()).unwrap(); // and what fits is saved
        assert_eq!(files::load(&path).unwrap().shape(), shape(6 * MI, 1));
    });
}

#[test]
fn memory_that_gets_full_while_a_table_is_saved_is_an_error() {
    in_small_memory("memory_that_gets_full_while_a_table_is_saved_is_an_error", |folder| {
        let path = folder.join("table.ntb");
        let other = folder.join("other");
        table(3).save(&path).unwrap();
        let new = table(6 * MI);
        // Somebody else takes all but so much of it, when the save has begun.
        for left in (0..56).map(|step| step * 100 * 1024) {
            let taken = other.clone();
            let options = SaveOptions::new().on_progress(move |progress| {
                if progress.done == 0 {
                    fs::write(&taken, vec![1; 8 * MI - 64 * 1024 - left]).unwrap();
                }
            });
            check(save(&new, &path, options), io::ErrorKind::StorageFull, &path);
            fs::remove_file(&other).unwrap();
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "{left}: something is left behind");
        }
        save(&new, &path, SaveOptions::new()).unwrap();
        assert_eq!(files::load(&path).unwrap().rows::<u8>(..).unwrap()[..], new.rows::<u8>(..).unwrap()[..]);
    });
}

#[test]
fn a_file_that_may_not_get_so_large_is_an_error() {
    // In blocks of 512 bytes, or of 1024: 2 MiB, or 4.
    under(r#"trap "" XFSZ && ulimit -f 4096 && exec "$@""#, "a_file_that_may_not_get_so_large_is_an_error", |folder| {
        let memory = tempfile::tempdir_in("/dev/shm").ok();
        for folder in [Some(folder), memory.as_ref().map(|memory| memory.path())].into_iter().flatten() {
            let path = folder.join("table.ntb");
            table(3).save(&path).unwrap();
            check(save(&table(6 * MI), &path, SaveOptions::new()), io::ErrorKind::FileTooLarge, &path);
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "something is left behind");
        }
    });
}
