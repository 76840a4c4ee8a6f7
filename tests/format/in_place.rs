//! Files that are written in place: what is refused changes nothing, as everywhere; the old content goes with the first
//! byte.

use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

use numeric_table::{
    files::{SaveOptions, TableWriter},
    prelude::*,
};
use test_support::tables::{assert_error, feature, numbered, shape};

type Table<T> = HomogenNumericTable<T>;

const OLD: &[u8] = b"old content, which nobody has asked to lose";

fn in_place() -> SaveOptions {
    SaveOptions::new().durable(false).in_place(true)
}

struct Target {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Target {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        Self { _folder: folder, path }
    }

    /// Makes sure that a call that is refused changes nothing, whether there is a file or not.
    fn assert_refused<T>(&self, write: impl Fn(&Path) -> Result<T, Error>) -> Error {
        assert!(write(&self.path).is_err());
        assert!(!self.path.exists());
        fs::write(&self.path, OLD).unwrap();
        let refused = write(&self.path).map(drop).unwrap_err();
        assert_eq!(fs::read(&self.path).unwrap(), OLD);
        fs::remove_file(&self.path).unwrap();
        refused
    }
}

#[test]
fn a_save_that_is_refused_leaves_the_old_file() {
    let target = Target::new();
    let mut table = Table::<f32>::new(shape(2, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(
        Err::<(), _>(target.assert_refused(|path| table.save_with(path, in_place()))),
        ErrorKind::NotAllocated
    );
    table.allocate_data_memory().unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    let any: &dyn NumericTable = &table;
    for refused in [
        target.assert_refused(|path| table.save_with(path, in_place())),
        target.assert_refused(|path| any.save_with(path, in_place())),
    ] {
        assert!(matches!(refused.kind(), ErrorKind::BlockOutstanding { .. }), "{refused:?}");
    }
    let mut named = numbered::<f32>(2, 2, DataLayout::RowMajor);
    let long = ["a", "b"].map(|name| feature::<f32>().named(name.repeat(9 << 20)));
    named.set_dictionary(long.into_iter().collect()).unwrap();
    let refused = target.assert_refused(|path| named.save_with(path, in_place())).to_string();
    let words = format!("{}: bad format at byte 64: the dictionary would take ", target.path.display());
    assert!(refused.starts_with(&words), "{refused}");
    let refused =
        target.assert_refused(|path| TableWriter::<f32>::create_with(path, 2, named.dictionary().clone(), in_place()));
    assert!(refused.to_string().starts_with(&words), "{refused}");
}

#[cfg(feature = "npy")]
#[test]
fn a_numpy_file_that_is_refused_leaves_the_old_file() {
    let target = Target::new();
    let mut table = Table::<f32>::new(shape(2, 2), AllocationFlag::DoNotAllocate).unwrap();
    let refused = target.assert_refused(|path| table.save_npy_with(path, in_place()));
    assert!(matches!(refused.kind(), ErrorKind::NotAllocated), "{refused:?}");
    table.allocate_data_memory().unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    let refused = target.assert_refused(|path| table.save_npy_with(path, in_place()));
    assert!(matches!(refused.kind(), ErrorKind::BlockOutstanding { .. }), "{refused:?}");
    let other = numbered::<numeric_table::bf16>(2, 2, DataLayout::RowMajor);
    let refused = target.assert_refused(|path| other.save_npy_with(path, in_place()));
    assert!(matches!(refused.kind(), ErrorKind::UnsupportedElementType { .. }), "{refused:?}");
}

#[cfg(feature = "csv")]
#[test]
fn a_csv_file_that_is_refused_leaves_the_old_file() {
    use numeric_table::csv::CsvWriteOptions;
    let target = Target::new();
    let options = || CsvWriteOptions::new().durable(false).in_place(true);
    let mut table = Table::<f32>::new(shape(2, 2), AllocationFlag::DoNotAllocate).unwrap();
    let refused = target.assert_refused(|path| table.write_csv_with(path, options().header(true)));
    assert!(matches!(refused.kind(), ErrorKind::NotAllocated), "{refused:?}");
    table.allocate_data_memory().unwrap();
    let any: &dyn NumericTable = &table;
    for (bad, words) in [
        (options().delimiter(b'1'), "invalid CSV option"),
        (options().categories(2, ["a"]), "column 2 is out of range"),
        (options().header(true).categories(0, Vec::<String>::new()), "not an index of 0 categories"), // the first value
    ] {
        for refused in [
            target.assert_refused(|path| table.write_csv_with(path, bad.clone())),
            target.assert_refused(|path| any.write_csv_with(path, bad.clone())),
        ] {
            assert!(refused.to_string().contains(words), "{refused}");
        }
    }
    let rows = Table::<f32>::full(shape(2, 0), 0.0).unwrap();
    let refused = target.assert_refused(|path| rows.write_csv_with(path, options()));
    assert!(matches!(refused.kind(), ErrorKind::Unsupported { target: "CSV", .. }), "{refused:?}");
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    let refused = target.assert_refused(|path| table.write_csv_with(path, options().header(true)));
    assert!(matches!(refused.kind(), ErrorKind::BlockOutstanding { .. }), "{refused:?}");
}

#[test]
fn a_writer_that_is_dropped_before_it_has_written_leaves_the_old_file() {
    let target = Target::new();
    let create = |path: &Path| TableWriter::<u8>::create_with(path, 2, None, in_place());
    target.assert_refused(|path| {
        drop(create(path)?);
        Err::<(), _>(Error::other("refused")) // what has been dropped is refused
    });
    target.assert_refused(|path| create(path)?.append(&[1_u8, 2, 3]));
    target.assert_refused(|path| create(path)?.append(&[1.0, 256.0]));
    target.assert_refused(|path| {
        let wrong = DataDictionary::uniform(feature::<f32>(), 2);
        TableWriter::<u8>::create_with(path, 2, wrong, in_place())
    });
}

#[test]
fn a_hook_that_panics_before_anything_is_written_leaves_the_old_file() {
    let target = Target::new();
    fs::write(&target.path, OLD).unwrap();
    let options = in_place().on_progress(|_| panic!("too early"));
    let table = numbered::<u8>(2, 2, DataLayout::RowMajor);
    assert!(std::panic::catch_unwind(AssertUnwindSafe(|| table.save_with(&target.path, options))).is_err());
    assert_eq!(fs::read(&target.path).unwrap(), OLD);
}

#[test]
fn a_writer_that_has_written_empties_the_file_and_nothing_of_the_old_content_is_left() {
    let target = Target::new();
    let long = Table::<u8>::full(shape(100_000, 2), 9).unwrap();
    long.save_with(&target.path, in_place()).unwrap();
    let mut writer = TableWriter::<u8>::create_with(&target.path, 2, None, in_place()).unwrap();
    assert_eq!(Table::<u8>::load(&target.path).unwrap(), long); // nothing has been written
    assert!(writer.append(&[1.0, -1.0]).is_err());
    assert_eq!(Table::<u8>::load(&target.path).unwrap(), long); // nor now
    writer.append(&[1_u8, 2]).unwrap();
    assert_error!(Table::<u8>::load(&target.path), ErrorKind::Format { offset: 0, .. });
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&target.path).unwrap().as_slice().unwrap(), [1, 2]);

    let mut writer = TableWriter::<u8>::create_with(&target.path, 2, None, in_place()).unwrap();
    writer.append(&[1_u8, 2]).unwrap();
    drop(writer);
    assert_eq!(fs::read(&target.path).unwrap(), b"");
}

#[test]
fn a_writer_without_rows_replaces_a_longer_file() {
    let target = Target::new();
    for checksums in [None, Some(16)] {
        fs::write(&target.path, [7; 100_000]).unwrap();
        let options = in_place().checksums(checksums);
        TableWriter::<u8>::create_with(&target.path, 2, None, options).unwrap().finish().unwrap();
        assert_eq!(Table::<u8>::load(&target.path).unwrap().shape(), shape(0, 2));
    }
}

#[cfg(feature = "csv")]
#[test]
fn a_csv_file_without_lines_replaces_a_longer_one() {
    let target = Target::new();
    let options = numeric_table::csv::CsvWriteOptions::new().durable(false).in_place(true);
    fs::write(&target.path, OLD).unwrap();
    numbered::<u8>(1, 2, DataLayout::RowMajor).write_csv_with(&target.path, options.clone()).unwrap();
    assert_eq!(fs::read(&target.path).unwrap(), b"1,2\n");
    Table::<u8>::full(shape(0, 2), 0).unwrap().write_csv_with(&target.path, options).unwrap();
    assert_eq!(fs::read(&target.path).unwrap(), b"");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_written_is_an_error_at_once() {
    let target = Target::new();
    let missing = target.path.join("missing");
    let created = TableWriter::<u8>::create_with(&missing, 2, None, in_place());
    assert!(
        created
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == missing)
    );
}
