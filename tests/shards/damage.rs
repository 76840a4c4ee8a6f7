//! Files that are missing, damaged, cut off or others than the manifest means.

use std::fs;
use std::path::PathBuf;

use numeric_table::{prelude::*, shards::Shards};

use crate::support::{Trace, counted_parts, counting, fast, text};

/// Files, and the table that their manifest describes.
fn manifested(rows: &[usize]) -> (tempfile::TempDir, Vec<PathBuf>, Shards) {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), rows, 2);
    Shards::open(folder.path()).unwrap().save_manifest(folder.path().join("shards.ntm")).unwrap();
    let shards = Shards::open(folder.path()).unwrap();
    (folder, paths, shards)
}

/// The errors of all calls that read all rows.
fn errors(shards: &Shards) -> Vec<String> {
    let all = vec![
        text(shards.verify()),
        text(shards.load::<f64>()),
        text(shards.load_rows::<f32>(..)),
        text(shards.reduce(&Trace::default())),
    ];
    #[cfg(feature = "mmap")]
    let all = {
        let mut all = all;
        // SAFETY: nobody else knows the files.
        all.push(text(unsafe { shards.map() }.map(drop)));
        all
    };
    all
}

#[test]
fn a_missing_file_a_cut_file_and_one_of_other_rows_are_named() {
    type Change = fn(&PathBuf);
    let changes: [(Change, &str); 5] = [
        (|path| fs::remove_file(path).unwrap(), "o such file"),
        (|path| fs::write(path, &fs::read(path).unwrap()[..4100]).unwrap(), "the file is cut off"),
        (
            |path| counting(0, 1, 2).save_with(path, fast()).unwrap(),
            "the file was replaced: its size in bytes is 4124, and should be 4140",
        ),
        (
            |path| counting(0, 1, 4).save_with(path, fast()).unwrap(),
            "the file was replaced: its number of rows is 1, and should be 2",
        ),
        (
            |path| counting(0, 2, 2).convert::<i64>().unwrap().save_with(path, fast()).unwrap(),
            "table 1 does not match table 0: column 0 has values of i64 instead of f64",
        ),
    ];
    for (change, expected) in changes {
        let (_folder, paths, shards) = manifested(&[2, 2, 2]);
        change(&paths[1]);
        for found in errors(&shards) {
            assert!(found.contains("part-0001.ntb") && found.contains(expected), "{found}");
        }
        assert_eq!(shards.load_rows::<u8>(4..6).unwrap().as_slice().unwrap(), [8, 9, 10, 11]);
    }
}

#[test]
fn a_file_of_the_same_shape_and_other_names_or_values_is_found() {
    let (_folder, paths, shards) = manifested(&[2, 2]);
    counting(0, 2, 2).to_layout(DataLayout::ColumnMajor).unwrap().save_with(&paths[1], fast()).unwrap();
    for found in errors(&shards) {
        assert!(found.contains("part-0001.ntb: the file was replaced: its checksum of the header is"), "{found}");
    }
    counting(0, 2, 2).save_with(&paths[1], fast()).unwrap(); // other values
    for found in [text(shards.verify()), text(shards.load::<f64>()), text(shards.reduce(&Trace::default()))] {
        assert!(found.contains("part-0001.ntb: the file was replaced: its checksum of the values is"), "{found}");
    }
    counting(4, 2, 2).save_with(&paths[1], fast()).unwrap(); // the same again
    assert!(shards.verify().unwrap());
}

#[test]
fn the_first_damaged_file_is_the_one_that_is_named() {
    let (_folder, paths, shards) = manifested(&[2; 50]);
    for index in [41, 23, 24] {
        let mut bytes = fs::read(&paths[index]).unwrap();
        bytes[4096 + 9] ^= 1;
        fs::write(&paths[index], bytes).unwrap();
    }
    for found in [text(shards.verify()), text(shards.load::<f64>())] {
        assert!(found.contains("part-0023.ntb: bad format at byte 4096: the checksum of chunk 0"), "{found}");
    }
    fs::remove_file(&paths[7]).unwrap();
    assert!(text(shards.verify()).contains("part-0007.ntb"));
}

#[test]
fn files_without_checksums_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[2, 3], 2);
    assert!(Shards::from_paths(&paths).unwrap().verify().unwrap());
    counting(0, 2, 2).save_with(&paths[0], fast().checksums(None)).unwrap();
    let shards = Shards::from_paths(&paths).unwrap();
    assert!(!shards.verify().unwrap());
    assert_eq!(shards.reduce(&Trace::default()).unwrap().rows, 5);
}

#[test]
fn a_block_that_failed_is_tried_again() {
    let (folder, paths, shards) = manifested(&[2, 2]);
    let away = folder.path().join("away");
    fs::rename(&paths[1], &away).unwrap();
    let mut blocks = shards.row_blocks::<f64>(3).unwrap();
    assert!(text(blocks.next_block().map(drop)).contains("part-0001.ntb"));
    fs::rename(&away, &paths[1]).unwrap();
    assert_eq!(blocks.next_block().unwrap().unwrap()[..], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(blocks.next_block().unwrap().unwrap()[..], [6.0, 7.0]);
}

#[test]
fn every_error_about_a_damaged_file_names_it() {
    let (folder, paths, shards) = manifested(&[3, 3]);
    let good = fs::read(&paths[1]).unwrap();
    let header_end = 64 + u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
    let mut seen = 0;
    for place in (0..header_end).chain(4096..good.len()) {
        for with_sums in [false, true] {
            let mut bytes = good.clone();
            bytes[place] ^= 5;
            if with_sums {
                // A file that somebody has made: the checksums of preamble and header belong to them.
                let header = crc32fast::hash(&bytes[64..header_end]);
                bytes[40..44].copy_from_slice(&header.to_le_bytes());
                let preamble = crc32fast::hash(&bytes[..60]);
                bytes[60..64].copy_from_slice(&preamble.to_le_bytes());
            }
            fs::write(&paths[1], bytes).unwrap();
            let mut blocks = shards.row_blocks::<f64>(4).unwrap();
            let mut all = vec![
                Shards::from_paths(&paths).map(drop),
                Shards::from_glob(folder.path().join("part-*.ntb")).map(drop),
                blocks.next_block().map(drop),
                shards.load_rows::<f32>(..).map(drop),
                shards.load_cast::<f32>().map(drop),
                shards.reduce(&Trace::default()).map(drop),
                shards.verify().map(drop),
                shards.clone().with_verification(true).load_rows::<f64>(4..).map(drop),
            ];
            if let Ok(found) = Shards::from_paths(&paths) {
                all.extend([found.load::<f64>().map(drop), found.load_rows::<f64>(..).map(drop)]);
                all.push(Shards::open(folder.path()).unwrap().append([&paths[1]])); // it is there
            }
            #[cfg(feature = "mmap")]
            // SAFETY: no other program knows the files.
            all.push(unsafe { shards.map() }.map(drop));
            for error in all.into_iter().filter_map(Result::err) {
                assert!(error.to_string().contains("part-0001.ntb"), "byte {place}: {error}");
                seen += 1;
            }
        }
    }
    assert!(seen > 1000, "{seen}");
}
