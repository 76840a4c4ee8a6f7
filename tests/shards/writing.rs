//! Several writers at once, and appending.

use std::fs;

use numeric_table::{
    files::TableWriter,
    prelude::*,
    shards::{Shards, ShardsWriter},
};

use crate::support::{counted_parts, counting, fast, text};

#[test]
fn threads_write_files_that_become_a_table_in_the_order_of_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let writer = ShardsWriter::<i32>::create_with(folder.path(), 2, None, fast()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                for index in (0..6).rev().map(|round| round * 4 + thread) {
                    let mut shard = writer.shard(index * 3).unwrap();
                    for row in 0..index {
                        shard.append(&[index as f64, row as f64]).unwrap();
                    }
                    assert_eq!(shard.shape().rows, index);
                    shard.finish().unwrap();
                }
            });
        }
    });
    assert!(!folder.path().join("shards.ntm").exists());
    let shards = writer.finish().unwrap();
    let expected: Vec<i32> = (0..24).flat_map(|index| (0..index).flat_map(move |row| [index, row])).collect();
    assert_eq!(shards.load::<i32>().unwrap().as_slice().unwrap(), expected);
    let opened = Shards::open(folder.path()).unwrap();
    assert!(opened.files().eq(shards.files()));
    assert!(opened.files().last().unwrap().path.ends_with("part-000069.ntb"));
    assert!(opened.verify().unwrap());
}

#[test]
fn a_file_that_is_begun_is_finished_before_the_table_is() {
    let folder = tempfile::tempdir().unwrap();
    let create = || ShardsWriter::<f32>::create_with(folder.path(), 2, None, fast()).unwrap();
    let writer = create();
    writer.shard(0).unwrap().finish().unwrap();
    drop(writer.shard(1).unwrap());
    assert!(text(writer.finish()).ends_with("part-000001.ntb: the file was started but not finished"));
    assert!(!folder.path().join("shards.ntm").exists());

    let writer = create(); // the folder has a file of the attempt before
    drop(writer.shard(1).unwrap());
    let mut again = writer.shard(1).unwrap(); // begun once more
    assert!(text(writer.shard(1)).ends_with("the file is being written"));
    again.append(&[1_u8, 2]).unwrap();
    again.finish().unwrap();
    assert!(text(writer.shard(1)).ends_with("the file is finished"));
    assert!(text(writer.shard(1_000_000)).ends_with("the largest number of a file is 999999"));
    let shards = writer.finish().unwrap();
    assert_eq!(shards.load::<f32>().unwrap().as_slice().unwrap(), [1.0, 2.0]); // without that of the first attempt
    let again = text(ShardsWriter::<f32>::create(folder.path(), 2, None));
    assert!(again.ends_with("the folder already has a table: `Shards::append` adds files"), "{again}");
}

#[test]
fn a_writer_without_files_or_with_another_description_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let writer = ShardsWriter::<f32>::create(folder.path(), 2, None).unwrap();
    assert!(writer.finish().is_err_and(
        |error| matches!(error.kind(), ErrorKind::ParameterOutOfRange { name, .. } if name.contains("number of tables"))
    ));
    let other = DataDictionary::uniform(Feature::new(ElementType::F64), 2);
    let found = ShardsWriter::<f32>::create(folder.path(), 2, other);
    assert!(found.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::DictionaryMismatch { .. })));
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(
        ShardsWriter::<f32>::create(folder.path().join("file"), 2, None)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }))
    );
}

#[test]
fn a_table_that_is_finished_meanwhile_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [mine, theirs] = [0, 1].map(|index| {
        let writer = ShardsWriter::<f32>::create_with(folder.path(), 1, None, fast()).unwrap();
        let mut shard = writer.shard(index).unwrap();
        shard.append(&[index as u8]).unwrap();
        shard.finish().unwrap();
        writer
    });
    theirs.finish().unwrap();
    assert!(text(mine.finish()).contains("the folder already has a table"));
    assert_eq!(Shards::open(folder.path()).unwrap().load::<f32>().unwrap().as_slice().unwrap(), [1.0]);
    let mut shards = Shards::open(folder.path()).unwrap();
    shards.append([folder.path().join("part-000000.ntb")]).unwrap();
    assert_eq!(shards.load::<f32>().unwrap().as_slice().unwrap(), [1.0, 0.0]);
}

#[test]
fn all_files_are_appended_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1, 2, 3], 2);
    let wide = folder.path().join("wide.ntb");
    counting(0, 1, 3).save_with(&wide, fast()).unwrap();
    let manifest = folder.path().join("shards.ntm");
    Shards::from_paths([&paths[0]]).unwrap().save_manifest(&manifest).unwrap();
    let before = fs::read(&manifest).unwrap();
    let mut shards = Shards::open(folder.path()).unwrap();
    let missing = folder.path().join("missing.ntb");
    for refused in [&wide, &missing, &paths[1], &paths[0]] {
        assert!(shards.append([&paths[1], &paths[2], refused]).is_err());
        assert_eq!((shards.shard_count(), &fs::read(&manifest).unwrap()), (1, &before));
    }
    shards.append([&paths[2], &paths[1]]).unwrap();
    let expected = [0.0, 1.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), expected);
    assert_eq!(Shards::open(&manifest).unwrap().load::<f64>().unwrap().as_slice().unwrap(), expected);
    shards.append([] as [&str; 0]).unwrap();
    assert_eq!(shards.shard_count(), 3);
}

#[test]
fn what_others_have_appended_since_stays() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1, 2, 3], 1);
    Shards::from_paths([&paths[0]]).unwrap().save_manifest(folder.path().join("shards.ntm")).unwrap();
    let [mut one, mut other] = [(); 2].map(|()| Shards::open(folder.path()).unwrap());
    one.append([&paths[1]]).unwrap();
    other.append([&paths[2]]).unwrap();
    assert_eq!((one.shape().rows, other.shape().rows), (3, 6));
    assert_eq!(Shards::open(folder.path()).unwrap().shape().rows, 6);
}

#[test]
fn without_a_manifest_files_are_appended_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1, 2], 1);
    let mut shards = Shards::from_paths([&paths[1]]).unwrap();
    shards.append([&paths[0], &paths[0]]).unwrap();
    assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), [1.0, 2.0, 0.0, 0.0]);
    assert!(!folder.path().join("shards.ntm").exists());
}

#[test]
fn an_unfinished_file_is_no_part_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    counted_parts(folder.path(), &[1, 2], 2);
    let mut writer = TableWriter::<f64>::create_with(folder.path().join("part-0002.ntb"), 2, None, fast()).unwrap();
    writer.append(&[7.0, 8.0]).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3); // a file under another name is there
    assert_eq!(Shards::open(folder.path()).unwrap().shape().rows, 3);
    writer.finish().unwrap();
    assert_eq!(Shards::open(folder.path()).unwrap().shape().rows, 4);
}
