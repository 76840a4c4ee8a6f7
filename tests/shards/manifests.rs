//! The file that lists the others: its bytes, what is refused, and paths.

use std::fs;
use std::path::Path;

use numeric_table::{dictionary::Categories, prelude::*, shards::Shards};

use crate::support::{counted_parts, counting, fast, folded, text};
use test_support::tables::huge;

/// Two files in a folder, one of them in another folder, and their manifest.
fn example(folder: &Path) -> Vec<u8> {
    fs::create_dir(folder.join("b")).unwrap();
    counting(0, 3, 2).convert::<f32>().unwrap().save_with(folder.join("a.ntb"), fast()).unwrap();
    counting(0, 0, 2).convert::<f32>().unwrap().save_with(folder.join("b/c.ntb"), fast()).unwrap();
    let mut shards = Shards::from_paths([folder.join("a.ntb"), folder.join("b/c.ntb")]).unwrap();
    let path = folder.join(Shards::MANIFEST);
    shards.save_manifest(&path).unwrap();
    fs::read(path).unwrap()
}

/// The manifest of these files, put together from the description of the format.
pub(crate) fn by_hand(count: u64, files: &[(&str, u64, u64, u32, u32)]) -> Vec<u8> {
    let mut bytes = b"\x89NTM\r\n\x1a\n".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(count.to_le_bytes());
    bytes.push(1); // one feature for all columns
    bytes.extend(2_u64.to_le_bytes());
    bytes.extend(32_u64.to_le_bytes());
    bytes.extend([0, 2, 0]); // f32, continuous, neither name nor categories
    bytes.extend([0; 29]);
    bytes.extend(0_u64.to_le_bytes());
    for (path, rows, size, header, values) in files {
        bytes.extend((path.len() as u64).to_le_bytes());
        bytes.extend(path.bytes());
        bytes.extend(rows.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(header.to_le_bytes());
        bytes.extend(values.to_le_bytes());
    }
    with_sum(bytes)
}

fn with_sum(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// What a table file states: size, checksum of its header, checksum of its checksums.
fn stated(path: &Path) -> (u64, u32, u32) {
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let end = (number(16) + number(24)).next_multiple_of(8);
    let header = u32::from_le_bytes(bytes[40..44].try_into().unwrap());
    (bytes.len() as u64, header, crc32fast::hash(&bytes[end + 8..]))
}

#[test]
fn the_bytes_are_those_of_the_description() {
    let folder = tempfile::tempdir().unwrap();
    let found = example(folder.path());
    let [a, c] = ["a.ntb", "b/c.ntb"].map(|name| stated(&folder.path().join(name)));
    assert_eq!(found, by_hand(2, &[("a.ntb", 3, a.0, a.1, a.2), ("b/c.ntb", 0, c.0, c.1, c.2)]));
    assert_eq!((found.len(), a.0, c.0), (161, 4132, 4104));
}

#[test]
fn the_golden_manifest_is_read_for_ever() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/shards");
    let shards = Shards::open(&folder).unwrap();
    assert_eq!(shards.shape(), Shape { rows: 5, columns: 2 });
    assert_eq!(shards.load::<i16>().unwrap().as_slice().unwrap(), [0, 0, 1, -1, 0, -2, 1, -3, 0, -4]);
    let kind = shards.dictionary().feature(0).unwrap();
    assert_eq!((kind.name.as_deref(), kind.label(1)), (Some("kind"), Some("yes")));
    assert!(shards.verify().unwrap());
    assert!(shards.files().map(|file| file.rows).eq([0..2, 2..2, 2..5]));
}

#[test]
#[ignore = "makes the golden files, once"]
fn make_the_golden_manifest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/shards");
    let kind =
        Feature::new(ElementType::I16).named("kind").categorical(Categories::from_labels(["no", "yes"]).unwrap());
    let names = DataDictionary::from_features([kind, Feature::new(ElementType::I16).named("size")]);
    let writer = numeric_table::shards::ShardsWriter::<i16>::create(&folder, 2, names).unwrap();
    for (index, rows) in [0..2, 2..2, 2..5].into_iter().enumerate() {
        let mut shard = writer.shard(index).unwrap();
        rows.for_each(|row: i16| shard.append(&[row % 2, -row]).unwrap());
        shard.finish().unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn a_manifest_is_opened_without_the_files_and_after_its_folder_was_moved() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old");
    fs::create_dir(&old).unwrap();
    counted_parts(&old, &[2, 0, 3], 2);
    let expected = Shards::open(&old).unwrap().load::<f64>().unwrap();
    Shards::open(&old).unwrap().save_manifest(old.join("shards.ntm")).unwrap();
    let new = folder.path().join("new");
    fs::rename(&old, &new).unwrap();
    assert_eq!(Shards::open(&new).unwrap().load::<f64>().unwrap(), expected);
    fs::remove_file(new.join("part-0002.ntb")).unwrap();
    let shards = Shards::open(&new).unwrap();
    assert_eq!(shards.shape(), Shape { rows: 5, columns: 2 });
    assert_eq!(shards.load_rows::<f64>(..2).unwrap(), expected.slice_rows(..2).unwrap().convert().unwrap());
    assert!(text(shards.load::<f64>()).contains("part-0002.ntb"));
}

#[test]
fn files_that_a_manifest_does_not_list_are_not_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1, 2, 3], 1);
    Shards::from_paths([&paths[2], &paths[0]]).unwrap().save_manifest(folder.path().join("shards.ntm")).unwrap();
    let shards = Shards::open(folder.path()).unwrap();
    assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), [3.0, 4.0, 5.0, 0.0]);
    assert_eq!(folded(&shards).rows, 4);
}

#[cfg(unix)]
#[test]
fn a_manifest_that_is_a_link_is_that_of_the_folder_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let paths = counted_parts(&data, &[1, 2], 1);
    Shards::from_paths([&paths[0]]).unwrap().save_manifest(data.join("shards.ntm")).unwrap();
    let link = folder.path().join("link.ntm");
    std::os::unix::fs::symlink("data/shards.ntm", &link).unwrap();
    let mut shards = Shards::open(&link).unwrap();
    shards.append([&paths[1]]).unwrap();
    assert!(link.is_symlink());
    assert_eq!(Shards::open(&data).unwrap().load::<f64>().unwrap().as_slice().unwrap(), [0.0, 1.0, 2.0]);
    // A manifest that is gone is not the same as none.
    std::os::unix::fs::symlink("nowhere.ntm", folder.path().join("shards.ntm")).unwrap();
    counting(0, 1, 1).save_with(folder.path().join("a.ntb"), fast()).unwrap();
    assert!(Shards::open(folder.path()).is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. })));
    // A folder reached by a link is the folder.
    std::os::unix::fs::symlink("data", folder.path().join("other")).unwrap();
    shards.save_manifest(folder.path().join("other/again.ntm")).unwrap();
    assert_eq!(Shards::open(data.join("again.ntm")).unwrap().shape().rows, 3);
}

#[test]
fn files_elsewhere_and_files_that_are_there_twice_are_refused() {
    let [folder, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let paths = counted_parts(folder.path(), &[1, 2], 1);
    let mut shards = Shards::from_paths(&paths).unwrap();
    let found = text(shards.save_manifest(elsewhere.path().join("shards.ntm")));
    assert!(found.ends_with("part-0000.ntb: the file is not in the folder of the manifest"), "{found}");
    assert!(!elsewhere.path().join("shards.ntm").exists());
    let mut twice = Shards::from_paths([&paths[0], &paths[1], &paths[1]]).unwrap();
    let found = text(twice.save_manifest(folder.path().join("shards.ntm")));
    assert!(found.ends_with("part-0001.ntb: the file is in the manifest already"), "{found}");
    assert!(
        shards
            .save_manifest(folder.path().join("none/shards.ntm"))
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }))
    );
    assert!(shards.save_manifest(folder.path()).is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. })));
}

#[test]
fn every_changed_bit_and_every_missing_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let good = example(folder.path());
    let path = folder.path().join(Shards::MANIFEST);
    for place in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[place] ^= 1 << bit;
            fs::write(&path, bytes).unwrap();
            let found = Shards::open(&path);
            assert!(
                found.as_ref().is_err_and(
                    |error| matches!(error.kind(), ErrorKind::Format { .. }) && error.path().unwrap() == path
                ),
                "{place} {found:?}"
            );
        }
        fs::write(&path, &good[..place]).unwrap();
        assert!(
            Shards::open(folder.path()).is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. })),
            "{place}"
        );
    }
    let mut longer = good.clone();
    longer.push(0);
    fs::write(&path, longer).unwrap();
    assert!(Shards::open(&path).is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. })));
}

#[test]
fn no_change_with_the_checksum_that_belongs_to_it_does_more_than_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let good = example(folder.path());
    let path = folder.path().join("changed.ntm");
    for place in 0..good.len() - 4 {
        for value in [0, 1, 2, 0x7F, 0x80, 0xFF, b'/', b'.'] {
            let mut bytes = good[..good.len() - 4].to_vec();
            bytes[place] = value;
            fs::write(&path, with_sum(bytes)).unwrap();
            if let Ok(shards) = Shards::open(&path) {
                let (rows, verified) = (shards.shape().rows, shards.verify());
                assert!(verified.is_err() || rows == 3, "{place} {value}");
                let _ = shards.reduce(&crate::support::Trace::default());
                let _ = shards.load_rows::<f32>(..rows.min(4));
            }
        }
    }
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "32 bits refuse some numbers earlier, with another message")]
fn what_no_writer_writes_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shards.ntm");
    let a = ("a.ntb", 3, 4132, 1, 2);
    let cases: [(Vec<u8>, &str); 13] = [
        (by_hand(0, &[]), "byte 16: the manifest states 0 files, but has room for 1 to 0"),
        (by_hand(u64::MAX, &[a]), "byte 16: the manifest states 18446744073709551615 files, but has room for 1 to 1"),
        (by_hand(1, &[a, a]), "byte 118: bytes after the last file: 37"),
        (by_hand(1, &[("../a.ntb", 3, 4132, 1, 2)]), "byte 81: the path of a file leads out of the folder"),
        (by_hand(1, &[("/a.ntb", 3, 4132, 1, 2)]), "byte 81: the path of a file leads out of the folder"),
        (by_hand(1, &[("", 3, 4132, 1, 2)]), "byte 81: the path of a file leads out of the folder"),
        (by_hand(2, &[a, a]), "byte 118: the file \"a.ntb\" is in the manifest already"),
        (by_hand(2, &[a, ("b", u64::MAX - 2, 1, 1, 1)]), "byte 118: the files have more rows than can be counted"),
        (b"\x89NTB\r\n\x1a\n and a table".to_vec(), "byte 0: this is a table file, not a manifest"),
        (b"5.1,3.5\n".to_vec(), "byte 0: this is not a manifest of table files"),
        (Vec::new(), "byte 0: the manifest is cut off within its first 8 bytes"),
        (with_sum([b"\x89NTM\r\n\x1a\n\x03", &[0; 40][..]].concat()), "byte 8: the manifest has version 3"),
        (with_sum([b"\x89NTM\r\n\x1a\n\x01\0\0\0\x01", &[0; 40][..]].concat()), "byte 12: reserved bytes are not zero"),
    ];
    for (bytes, expected) in cases {
        fs::write(&path, bytes).unwrap();
        let found = text(Shards::open(&path));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn rows_that_no_file_has_are_found_before_they_are_worked_on() {
    let folder = tempfile::tempdir().unwrap();
    example(folder.path());
    let (size, header, values) = stated(&folder.path().join("a.ntb"));
    let manifest = by_hand(1, &[("a.ntb", huge(60) as u64, size, header, values)]);
    fs::write(folder.path().join("shards.ntm"), manifest).unwrap();
    let shards = Shards::open(folder.path()).unwrap();
    assert_eq!(shards.shape().rows, huge(60));
    let changed =
        |found: Error| matches!(found.kind(), ErrorKind::ShardChanged { part: "number of rows", actual: 3, .. });
    assert!(changed(shards.reduce(&crate::support::Trace::default()).unwrap_err()));
    assert!(changed(shards.load_rows::<f32>(5..7).unwrap_err()));
    assert!(changed(shards.verify().unwrap_err()));
    assert!(
        shards
            .load::<f32>()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfMemory | ErrorKind::SizeOverflow { .. }))
    );
    let mut blocks = shards.row_blocks::<f32>(2).unwrap();
    assert!(changed(blocks.next_block().unwrap_err()));
}
