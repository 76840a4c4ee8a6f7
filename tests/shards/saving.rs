//! Manifests that are there when one is saved, and what a refused save leaves.

use std::fs;
use std::path::Path;

use numeric_table::{
    files::SaveOptions,
    prelude::*,
    shards::{Shards, ShardsWriter},
};

use crate::support::{counted_parts, fast, text};

/// The names in a folder, hidden ones too, in order.
fn names(folder: &Path) -> Vec<String> {
    let name = |item: std::io::Result<fs::DirEntry>| item.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn what_another_one_has_appended_is_not_lost_when_a_manifest_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1, 2, 3], 1);
    let manifest = folder.path().join("shards.ntm");
    let mut one = Shards::from_paths([&paths[0]]).unwrap();
    one.save_manifest(&manifest).unwrap();
    let mut other = Shards::open(folder.path()).unwrap();
    other.append([&paths[1]]).unwrap();
    let before = fs::read(&manifest).unwrap();
    let found = text(one.save_manifest(&manifest));
    let expected = "part-0001.ntb: the manifest lists the file, but the table to save does not contain it";
    assert!(found.ends_with(expected), "{found}");
    assert_eq!(fs::read(&manifest).unwrap(), before);
    // More files, or the same in another order, lose nothing.
    Shards::from_paths([&paths[2], &paths[1], &paths[0]]).unwrap().save_manifest(&manifest).unwrap();
    let expected = [3.0, 4.0, 5.0, 1.0, 2.0, 0.0];
    assert_eq!(Shards::open(folder.path()).unwrap().load::<f64>().unwrap().as_slice().unwrap(), expected);
    // Fewer, by intent.
    let new = folder.path().join("new.ntm");
    Shards::from_paths([&paths[2]]).unwrap().save_manifest(&new).unwrap();
    fs::rename(&new, &manifest).unwrap();
    assert_eq!(Shards::open(folder.path()).unwrap().shard_count(), 1);
}

#[test]
fn of_tables_that_are_saved_at_the_same_time_one_is_there_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1; 8], 1);
    let save = |paths: &[std::path::PathBuf]| {
        let mut shards = Shards::from_paths(paths).unwrap();
        shards.save_manifest_with(folder.path().join("shards.ntm"), fast()).map(|()| shards)
    };
    let saved: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = paths.chunks(2).map(|own| scope.spawn(|| save(own))).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap().ok()).collect()
    });
    assert_eq!(saved.len(), 1);
    let opened = Shards::open(folder.path()).unwrap();
    assert!(opened.files().map(|file| file.path).eq(saved[0].files().map(|file| file.path)));
}

#[test]
fn after_a_manifest_was_saved_files_are_appended_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1, 2, 3], 1);
    let mut shards = Shards::from_paths([&paths[0]]).unwrap();
    shards.append([&paths[1]]).unwrap(); // in memory
    assert!(!folder.path().join("shards.ntm").exists());
    shards.save_manifest(folder.path().join("first.ntm")).unwrap();
    shards.save_manifest(folder.path().join("shards.ntm")).unwrap();
    shards.append([&paths[2]]).unwrap();
    assert_eq!(shards.shape().rows, 6);
    assert_eq!(Shards::open(folder.path()).unwrap().shape().rows, 6);
    assert_eq!(Shards::open(folder.path().join("first.ntm")).unwrap().shape().rows, 3);
}

#[test]
fn a_refused_save_leaves_nothing_behind() {
    let [folder, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let paths = counted_parts(folder.path(), &[1, 2], 1);
    let other = counted_parts(elsewhere.path(), &[3], 1);
    fs::write(folder.path().join("notes.txt"), "no manifest").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere.ntm", folder.path().join("link.ntm")).unwrap();
    let before = names(folder.path());
    let mut shards = Shards::from_paths(&paths).unwrap();
    let twice = Shards::from_paths([&paths[0], &paths[0]]).unwrap();
    for mut refused in [Shards::from_paths(&other).unwrap(), twice] {
        assert!(
            refused
                .save_manifest(folder.path().join("shards.ntm"))
                .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }))
        );
    }
    let notes = text(shards.save_manifest(folder.path().join("notes.txt")));
    assert!(notes.ends_with("notes.txt: bad format at byte 0: this is not a manifest of table files"), "{notes}");
    assert!(text(shards.save_manifest(&paths[0])).contains("this is a table file, not a manifest"));
    fs::create_dir(elsewhere.path().join("empty")).unwrap();
    assert!(
        shards
            .save_manifest(elsewhere.path().join("empty"))
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }))
    );
    #[cfg(unix)]
    assert!(
        shards
            .save_manifest(folder.path().join("link.ntm"))
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }))
    );
    assert_eq!(names(folder.path()), before);
    assert_eq!(names(elsewhere.path()), ["empty", "part-0000.ntb"]);
    // A refused table is not that of the manifest.
    shards.append([&paths[0]]).unwrap();
    assert_eq!(names(folder.path()), before);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_a_manifest_to_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let writer = ShardsWriter::<u8>::create_with(folder.path(), 1, None, fast()).unwrap();
    writer.shard(0).unwrap().finish().unwrap();
    std::os::unix::fs::symlink("nowhere.ntm", folder.path().join("shards.ntm")).unwrap();
    assert!(text(ShardsWriter::<u8>::create(folder.path(), 1, None)).contains("the folder already has a table"));
    assert!(text(writer.finish()).contains("the folder already has a table"));
    assert_eq!(names(folder.path()), ["part-000000.ntb", "shards.ntm"]);
}

#[cfg(unix)]
#[test]
fn a_manifest_is_written_in_place_where_the_options_say_so() {
    use std::os::unix::fs::MetadataExt;
    let in_place = || SaveOptions::new().durable(false).in_place(true);
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1, 2], 1);
    let manifest = folder.path().join("shards.ntm");
    let number = || fs::metadata(&manifest).unwrap().ino();
    let mut shards = Shards::from_paths([&paths[0]]).unwrap();
    shards.save_manifest_with(&manifest, in_place()).unwrap();
    let first = number();
    shards.save_manifest_with(&manifest, in_place()).unwrap();
    shards.append_with([&paths[1]], in_place()).unwrap();
    assert_eq!(number(), first);
    assert_eq!(Shards::open(&manifest).unwrap().load::<f64>().unwrap().as_slice().unwrap(), [0.0, 1.0, 2.0]);
    shards.save_manifest_with(&manifest, fast()).unwrap();
    assert_ne!(number(), first);
}
