//! A job that was started twice: of a table that is finished, no file is replaced.

use std::fs;
use std::path::Path;

use numeric_table::{
    files::SaveOptions,
    prelude::*,
    shards::{Shards, ShardsWriter},
};

use crate::support::{counted_parts, counting, fast, text};

fn create(folder: &Path, options: SaveOptions) -> ShardsWriter<f32> {
    ShardsWriter::create_with(folder, 1, None, options).unwrap()
}

fn put(writer: &ShardsWriter<f32>, index: usize, value: f32) -> Result<(), Error> {
    let mut shard = writer.shard(index)?;
    shard.append(&[value])?;
    shard.finish()
}

/// The values of the table, each file of which must be the one that the manifest means.
fn values(folder: &Path) -> Vec<f32> {
    let shards = Shards::open(folder).unwrap();
    assert!(shards.verify().unwrap());
    shards.load::<f32>().unwrap().as_slice().unwrap().to_vec()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort_by_key(|name| (name == "part-000005.ntb", name.clone()));
    names
}

#[test]
fn a_file_that_the_manifest_lists_is_not_replaced() {
    for (first, second) in [(false, false), (false, true), (true, false), (true, true)] {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = [first, second].map(|in_place| fast().in_place(in_place));
        let [mine, theirs] = [first, second].map(|options| create(folder.path(), options));
        put(&mine, 0, 1.0).unwrap();
        let mut begun = theirs.shard(0).unwrap(); // before the table is there
        put(&mine, 1, 2.0).unwrap();
        mine.finish().unwrap();
        let before = names(folder.path());

        let outcome = begun.append(&[7.0_f32]).and_then(|()| begun.finish());
        let found = text(outcome);
        assert!(found.ends_with("part-000000.ntb: the manifest lists the file, so it is not replaced"), "{found}");
        let found = text(theirs.shard(1));
        assert!(found.ends_with("part-000001.ntb: the manifest lists the file, so it is not replaced"), "{found}");
        assert_eq!(values(folder.path()), [1.0, 2.0]);

        put(&theirs, 5, 9.0).unwrap(); // a file of no table
        assert!(text(theirs.finish()).contains("not finished"));
        assert_eq!(values(folder.path()), [1.0, 2.0]);
        assert_eq!(names(folder.path()), [&before[..], &["part-000005.ntb".to_owned()]].concat());
    }
}

#[test]
fn a_writer_that_is_dropped_removes_no_file_of_another_one() {
    for in_place in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let [mine, theirs] = [fast().in_place(in_place), fast().in_place(true)].map(|it| create(folder.path(), it));
        let begun = theirs.shard(0).unwrap();
        put(&mine, 0, 1.0).unwrap();
        mine.finish().unwrap();
        drop(begun);
        assert_eq!(values(folder.path()), [1.0]);
    }
}

#[test]
fn two_writers_in_place_do_not_write_one_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let [mine, theirs] = [(); 2].map(|()| create(folder.path(), fast().in_place(true)));
    let [mut my, mut their] = [&mine, &theirs].map(|writer| writer.shard(0).unwrap());
    their.append(&[7.0_f32]).unwrap();
    assert!(text(my.append(&[1.0_f32])).ends_with("part-000000.ntb: another writer is writing the file"));
    their.append(&[8.0_f32]).unwrap();
    their.finish().unwrap();
    theirs.finish().unwrap();
    drop(my);
    assert_eq!(values(folder.path()), [7.0, 8.0]);
}

#[test]
fn a_file_of_a_killed_attempt_is_replaced_as_long_as_no_manifest_lists_it() {
    let folder = tempfile::tempdir().unwrap();
    let killed = create(folder.path(), fast());
    [0, 1, 7].iter().for_each(|&index| put(&killed, index, 9.0).unwrap());
    drop(killed);
    let again = create(folder.path(), fast());
    [1, 0].iter().for_each(|&index| put(&again, index, index as f32).unwrap());
    again.finish().unwrap();
    assert_eq!(values(folder.path()), [0.0, 1.0]);
}

#[test]
fn a_table_is_not_finished_with_a_file_that_another_writer_has_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [mine, theirs] = [(); 2].map(|()| create(folder.path(), fast()));
    put(&mine, 0, 1.0).unwrap();
    put(&mine, 1, 2.0).unwrap();
    put(&theirs, 1, 3.0).unwrap();
    let found = text(mine.finish());
    assert!(found.contains("part-000001.ntb: the file was replaced: its checksum of the values is"), "{found}");
    assert!(!folder.path().join(Shards::MANIFEST).exists());
    put(&theirs, 0, 4.0).unwrap();
    theirs.finish().unwrap();
    assert_eq!(values(folder.path()), [4.0, 3.0]);
}

#[test]
fn a_file_that_was_replaced_since_it_was_looked_at_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[2, 2], 2);
    let manifest = folder.path().join(Shards::MANIFEST);
    let mut shards = Shards::from_paths([&paths[0]]).unwrap();
    counting(5, 2, 2).save_with(&paths[0], fast()).unwrap();
    let found = text(shards.save_manifest(&manifest));
    assert!(found.contains("part-0000.ntb: the file was replaced"), "{found}");
    assert!(!manifest.exists());
    let mut shards = Shards::from_paths([&paths[0]]).unwrap();
    shards.save_manifest(&manifest).unwrap();
    // A listed file that is missing by now does not keep others from being added.
    fs::remove_file(&paths[0]).unwrap();
    shards.append([&paths[1]]).unwrap();
    shards.save_manifest(&manifest).unwrap();
    assert_eq!(Shards::open(folder.path()).unwrap().shard_count(), 2);
}

#[test]
fn of_writers_in_two_threads_at_most_one_has_the_table_and_all_of_it() {
    const FILES: usize = 3;
    let mut finished = 0;
    for _ in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let outcomes = std::thread::scope(|scope| {
            // Both before either ends: a folder that has its table is refused.
            let writers = [1.0, 2.0].map(|value| (create(folder, fast()), value));
            let jobs = writers.map(|(writer, value)| {
                scope.spawn(move || {
                    (0..FILES).try_for_each(|index| put(&writer, index, value))?;
                    writer.finish().map(|_| value)
                })
            });
            jobs.map(|job| job.join().unwrap())
        });
        let winners: Vec<f32> = outcomes.into_iter().filter_map(Result::ok).collect();
        assert!(winners.len() <= 1);
        finished += winners.len();
        match winners.first() {
            Some(&value) => assert_eq!(values(folder), [value; FILES]),
            None => assert!(!folder.join(Shards::MANIFEST).exists()),
        }
    }
    assert!(finished > 0, "no table was finished");
}
