//! What writers of every format leave when they are killed in the middle of a file: listed once they are dead, removed,
//! and not before.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use numeric_table::table::spi::{Region, TableId, Target};
use numeric_table::{files, prelude::*, shards::Shards};
use test_support::test_name;

/// Set in a child: the folder that it writes to.
const CHILD: &str = "NUMERIC_TABLE_LEFTOVERS_CHILD";

type Result<T> = std::result::Result<T, Error>;

/// A table whose last row nobody ever gets.
struct Endless {
    id: TableId,
    dictionary: DataDictionary,
}

const SHAPE: Shape = Shape { rows: 200_000, columns: 2 };

impl NumericTable for Endless {
    fn shape(&self) -> Shape {
        SHAPE
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        if region.rows.end == SHAPE.rows {
            std::thread::sleep(Duration::from_secs(600)); // the test kills the program long before
        }
        target.fill_with(region, |row, column| row as f32 + column as f32)
    }
}

fn endless() -> Endless {
    Endless { id: TableId::new(), dictionary: DataDictionary::uniform(Feature::new(ElementType::F32), SHAPE.columns) }
}

/// Writes a file of this name, without end.
fn write(folder: &Path, name: &str) -> Result<()> {
    let (path, table) = (folder.join(name), endless());
    let table: &dyn NumericTable = &table;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => table.save_npy(path),
        Some("csv") => table.write_csv(path),
        Some("ntb") => table.save(path),
        _ => unreachable!("{name}"),
    }
}

/// A child that never ends by itself: killed at the latest when it is dropped.
struct Killed(Child);

impl Killed {
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const NAMES: [&str; 3] = ["a.ntb", "b.npy", "c.csv"];

fn temporaries(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "tmp")).collect()
}

#[test]
fn what_killed_writers_of_any_format_leave_is_listed_when_they_are_dead_and_removed() {
    if let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) {
        let folder = &folder;
        std::thread::scope(|scope| {
            for name in NAMES {
                scope.spawn(move || write(folder, name).unwrap());
            }
        });
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let old = Table::from_rows(&[[1_i16, 2]]).unwrap();
    old.save(folder.join("a.ntb")).unwrap();
    // What looks like a leftover and is none.
    fs::create_dir(folder.join(".0123456789abcdef.ntb.tmp")).unwrap();
    std::os::unix::fs::symlink("a.ntb", folder.join(".0123456789abcde0.ntb.tmp")).unwrap();
    for name in ["0123456789abcdef.ntb.tmp", ".123456789abcdef.ntb.tmp", ".0123456789abcdeg.ntb.tmp", "a.ntm.lock"] {
        fs::write(folder.join(name), "kept").unwrap();
    }
    fs::write(folder.join(".other.ntm.lock"), "not empty").unwrap();
    let (before, similar) = (fs::read_dir(folder).unwrap().count(), temporaries(folder).len());

    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &test_name!("what_killed_writers_of_any_format_leave_is_listed_when_they_are_dead_and_removed"),
        ])
        .env(CHILD, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = Killed(child.unwrap());
    let begun = Instant::now();
    while temporaries(folder).len() < similar + NAMES.len() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the child writes nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    // A file has its name for a moment before it has its lock.
    while !files::leftovers(folder).unwrap().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "files of a living program are listed");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), before + NAMES.len());
    child.kill();
    fs::write(folder.join(".shards.ntm.lock"), "").unwrap(); // as a killed append leaves it
    let left = files::leftovers(folder).unwrap();
    assert_eq!(left.len(), NAMES.len() + 1);
    assert!(left.is_sorted_by_key(|left| left.path().to_owned()));
    for left in left {
        assert!(left.clone().remove().unwrap());
        assert!(!left.remove().unwrap());
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), before);
    assert_eq!(Shards::from_paths([folder.join("a.ntb")]).unwrap().shape(), old.shape());
}

#[test]
fn leftovers_are_removed_while_other_threads_start_programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".0123456789abcdef.ntb.tmp");
    let ended = AtomicBool::new(false);
    // Until it runs its own program, a child has all files open that were open when it was forked.
    let start_programs = || {
        while !ended.load(Relaxed) {
            assert!(Command::new("true").status().unwrap().success());
        }
    };
    let remove_files = || {
        let _end = EndOnDrop(&ended);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(1) {
            fs::write(&path, [0; 100]).unwrap();
            let left = files::leftovers(folder.path()).unwrap();
            assert_eq!(left.len(), 1);
            assert!(left.into_iter().all(|left| left.remove().unwrap()));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(start_programs);
        scope.spawn(start_programs);
        remove_files();
    });
}

/// Says that the work has ended, also by a panic.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn a_folder_that_is_none_has_no_list() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert!(
        files::leftovers(&missing)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == missing)
    );
    fs::write(&missing, "").unwrap();
    assert!(files::leftovers(&missing).is_err());
}
