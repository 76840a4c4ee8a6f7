//! What is told of calls that read and write files: bytes from 0 to all of them, one at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use numeric_table::{
    files::{Progress, SaveOptions, TableReader, TableWriter},
    prelude::*,
};
use test_support::tables::{LAYOUTS, shape};

type Table<T> = HomogenNumericTable<T>;

/// Everything that a hook was told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Progress>>>);

impl Told {
    fn hook(&self) -> impl Fn(Progress) + Send + Sync + 'static {
        let told = self.0.clone();
        // Not to be had if another thread is here at the same time.
        move |progress| told.try_lock().expect("the hook is called twice at a time").push(progress)
    }

    /// Takes what was told of one call, which must begin at 0, always go on, and end at `length`. Returns the number of
    /// calls.
    #[track_caller]
    fn check(&self, length: u64, total: Option<u64>) -> usize {
        let told = std::mem::take(&mut *self.0.lock().unwrap());
        assert_eq!(told.first(), Some(&Progress { done: 0, total }));
        assert_eq!(told.last(), Some(&Progress { done: length, total }));
        assert!(told.is_sorted_by(|one, next| one.done < next.done && one.total == next.total), "{told:?}");
        told.len()
    }
}

fn options(told: &Told) -> SaveOptions {
    SaveOptions::new().durable(false).on_progress(told.hook())
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    (folder, path)
}

#[test]
fn whole_tables_are_counted_in_bytes_of_the_file() {
    let (_folder, path) = scratch();
    let told = Told::default();
    for layout in LAYOUTS {
        for rows in [0, 5, 3 << 20] {
            let table = Table::<u16>::new_with_layout(shape(rows, 3), AllocationFlag::DoAllocate, layout).unwrap();
            let length = rows as u64 * 6;
            table.save_with(&path, options(&told)).unwrap();
            let saved = told.check(length, Some(length));
            assert!(rows < 1 << 20 || saved > 4, "{saved} calls"); // a bar that moves
            let any: &dyn NumericTable = &table;
            any.save_with(&path, options(&told)).unwrap();
            told.check(length, Some(length));

            let reader = TableReader::open(&path).unwrap().on_progress(told.hook());
            assert!(told.0.lock().unwrap().is_empty()); // opening is no such call
            assert_eq!(reader.load::<u16>().unwrap(), table);
            told.check(length, Some(length));
            assert_eq!(reader.load_cast::<f32>().unwrap().shape(), table.shape());
            told.check(length, Some(length));
            assert_eq!(reader.load_any().unwrap().shape(), table.shape());
            told.check(length, Some(length));
            assert!(reader.verify().unwrap());
            told.check(length, Some(length));
        }
    }
}

#[test]
fn calls_on_a_file_without_checksums_end_at_the_total_too() {
    let (_folder, path) = scratch();
    let told = Told::default();
    for (rows, columns) in [(0, 3), (3, 0), (1, 1), (5000, 3)] {
        let table = Table::<u16>::new(shape(rows, columns), AllocationFlag::DoAllocate).unwrap();
        let length = (rows * columns * 2) as u64;
        table.save_with(&path, options(&told).checksums(None)).unwrap();
        told.check(length, Some(length));
        let reader = TableReader::open(&path).unwrap().on_progress(told.hook());
        assert!(!reader.verify().unwrap());
        assert_eq!(told.check(length, Some(length)), if length == 0 { 1 } else { 2 });
        reader.load::<u16>().unwrap();
        told.check(length, Some(length));
        reader.load_cast::<f64>().unwrap();
        told.check(length, Some(length));
        let mut blocks = reader.row_blocks::<f32>(7).unwrap();
        while blocks.next_block().unwrap().is_some() {}
        told.check(length, Some(length));
    }
}

#[test]
fn streams_are_counted_in_bytes_of_the_file() {
    let (_folder, path) = scratch();
    let told = Told::default();
    for layout in LAYOUTS {
        let rows = 700_000;
        let table = Table::<u16>::new_with_layout(shape(rows, 3), AllocationFlag::DoAllocate, layout).unwrap();
        table.save_with(&path, SaveOptions::new().durable(false)).unwrap();
        let reader = TableReader::open(&path).unwrap().on_progress(told.hook());

        reader.load_rows::<f64>(100..rows).unwrap();
        let length = (rows as u64 - 100) * 6;
        told.check(length, Some(length));
        reader.load_rows::<u16>(7..7).unwrap();
        told.check(0, Some(0));

        let mut blocks = reader.row_blocks::<f64>(100_000).unwrap();
        while blocks.next_block().unwrap().is_some() {}
        assert_eq!(told.check(rows as u64 * 6, Some(rows as u64 * 6)), 8);
    }
    let mut writer = TableWriter::<u16>::create_with(&path, 3, None, options(&told)).unwrap();
    for _ in 0..4 {
        writer.append(&[1.0_f32; 9]).unwrap();
    }
    assert!(writer.append(&[70_000.0_f32; 3]).is_err()); // nothing is appended, and nothing told
    writer.finish().unwrap();
    assert_eq!(told.check(4 * 18, None), 5);
}

#[test]
fn a_hook_that_panics_leaves_the_old_file() {
    let (folder, path) = scratch();
    let table = Table::<u16>::new(shape(3 << 20, 3), AllocationFlag::DoAllocate).unwrap();
    let old = Table::from_rows(&[[1_u16, 2, 3]]).unwrap();
    old.save(&path).unwrap();
    for limit in [0, 1, 9 << 20] {
        let options = SaveOptions::new().on_progress(move |progress| assert!(progress.done < limit));
        let result = catch_unwind(AssertUnwindSafe(|| table.save_with(&path, options)));
        assert!(result.is_err());
        assert_eq!(Table::load(&path).unwrap(), old);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

/// A thread that waits for the hook's own parallel work may take up another part of the save that the hook is about.
#[cfg(feature = "rayon")]
#[test]
fn a_hook_may_save_tables_itself() {
    let (_folder, path) = scratch();
    let table = Arc::new(Table::<u16>::new(shape(2 << 20, 1), AllocationFlag::DoAllocate).unwrap());
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        for _ in 0..20 {
            let (other, other_path) = (table.clone(), path.with_extension("other"));
            let options = SaveOptions::new().durable(false).on_progress(move |progress| {
                if progress.done > 0 {
                    other.save_with(&other_path, SaveOptions::new().durable(false)).unwrap();
                }
            });
            pool.install(|| table.save_with(&path, options)).unwrap();
        }
        done.send(()).unwrap();
    });
    is_done.recv_timeout(std::time::Duration::from_secs(100)).expect("the save waits for ever");
}
