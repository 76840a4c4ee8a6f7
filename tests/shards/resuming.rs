//! Going on with a table of which some files were written.

use std::fs;
use std::path::Path;

use numeric_table::{
    prelude::*,
    shards::{Shards, ShardsWriter},
};

use crate::support::{counting, fast, text};

fn resume(folder: &Path) -> Result<ShardsWriter<f64>, Error> {
    ShardsWriter::resume_with(folder, 2, None, fast())
}

fn put(writer: &ShardsWriter<f64>, index: usize) {
    let mut shard = writer.shard(index).unwrap();
    shard.append_table(&counting(index * 6, 3, 2)).unwrap();
    shard.finish().unwrap();
}

/// A folder with some of the files of a table, of a writer that did not finish.
fn interrupted(indices: &[usize]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let writer = ShardsWriter::create_with(folder.path(), 2, None, fast()).unwrap();
    indices.iter().for_each(|&index| put(&writer, index));
    folder
}

#[test]
fn a_table_that_was_half_written_is_finished_with_the_missing_files_only() {
    let folder = interrupted(&[0, 3, 4]);
    let kept = fs::metadata(folder.path().join("part-000003.ntb")).unwrap().modified().unwrap();
    for other in ["part-1.ntb", "part-0000005.ntb", "part-+00005.ntb", ".part-000005.ntb", "part-000005.ntb.old"] {
        fs::write(folder.path().join(other), "not a shard").unwrap();
    }
    let writer = resume(folder.path()).unwrap();
    assert_eq!(writer.missing(6), [1, 2, 5]);
    assert_eq!(writer.missing(usize::MAX).len(), 999_997);
    let begun = writer.shard(2).unwrap();
    assert_eq!(writer.missing(6), [1, 5]); // it is being written
    drop(begun);
    assert!(text(writer.shard(3)).ends_with("part-000003.ntb: the file is finished"));
    writer.missing(6).into_iter().for_each(|index| put(&writer, index));
    assert!(writer.missing(6).is_empty());
    let shards = writer.finish().unwrap();
    assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), counting(0, 18, 2).as_slice().unwrap());
    assert!(Shards::open(folder.path()).unwrap().verify().unwrap());
    assert_eq!(fs::metadata(folder.path().join("part-000003.ntb")).unwrap().modified().unwrap(), kept);
    assert!(text(resume(folder.path())).contains("the folder already has a table"));
}

#[test]
fn a_damaged_file_has_to_be_written_again_before_the_table_is_finished() {
    let good = fs::read(interrupted(&[1]).path().join("part-000001.ntb")).unwrap();
    for damage in [0, 30, 70, 4096, good.len() - 1, good.len()] {
        let folder = interrupted(&[0, 1, 2]);
        let path = folder.path().join("part-000001.ntb");
        let mut bytes = good.clone();
        match bytes.get_mut(damage) {
            Some(byte) => *byte ^= 1,
            None => bytes.truncate(4100),
        }
        fs::write(&path, bytes).unwrap();
        let writer = resume(folder.path()).unwrap();
        assert_eq!(writer.missing(3), [1]);
        assert!(text(writer.finish()).ends_with("part-000001.ntb: the file was started but not finished"));
        let writer = resume(folder.path()).unwrap();
        put(&writer, 1);
        let shards = writer.finish().unwrap();
        assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), counting(0, 9, 2).as_slice().unwrap());
    }
}

#[test]
fn files_of_other_columns_are_not_resumed_and_stay() {
    let folder = interrupted(&[0]);
    let other = folder.path().join("part-000001.ntb");
    counting(0, 3, 5).save_with(&other, fast()).unwrap();
    let before = fs::read(&other).unwrap();
    let found = text(resume(folder.path()));
    assert!(found.ends_with("part-000001.ntb: table 1 does not match table 0: expected 2 columns, found 5"), "{found}");
    let found = text(ShardsWriter::<f32>::resume(folder.path(), 2, None));
    assert!(found.contains("part-000000.ntb: table 0 does not fit: column 0 has values of f64"), "{found}");
    assert_eq!(fs::read(&other).unwrap(), before);
    fs::remove_file(&other).unwrap();
    fs::create_dir(&other).unwrap(); // what is no file is not looked at
    assert_eq!(resume(folder.path()).unwrap().missing(2), [1]);
}

#[test]
fn a_folder_that_is_new_or_empty_is_resumed_from_the_beginning() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["", "new"] {
        assert_eq!(resume(&folder.path().join(name)).unwrap().missing(2), [0, 1]);
    }
    let taken = folder.path().join("file");
    fs::write(&taken, "").unwrap();
    assert!(resume(&taken).is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. })));
}

#[test]
fn a_file_of_a_newer_version_is_an_error_and_not_written_again() {
    let folder = interrupted(&[0, 1]);
    let path = folder.path().join("part-000001.ntb");
    let mut newer = fs::read(&path).unwrap();
    newer[8] = 200; // the major version
    let checksum = crc32fast::hash(&newer[..60]);
    newer[60..64].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, &newer).unwrap();
    assert!(text(resume(folder.path())).contains("a newer version of the library reads it"));
    assert_eq!(fs::read(&path).unwrap(), newer);
}
