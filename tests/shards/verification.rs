//! Values that are damaged on the disk, and tables that compare checksums while they are read.

use std::fs;
use std::path::{Path, PathBuf};

use numeric_table::{
    files::{SaveOptions, TableReader, TableWriter},
    prelude::*,
    shards::Shards,
    statistics::BasicStatistics,
};

use crate::support::{Trace, counting, fast, in_columns, text};

/// Rows of each file, and bytes per checksum: a chunk ends within a row, and within a value of it.
const ROWS: usize = 40;
const CHUNK: usize = 100;

fn options() -> SaveOptions {
    fast().checksums(Some(CHUNK as u32))
}

/// Two files of three columns, and their manifest.
fn two_files(layout: DataLayout) -> (tempfile::TempDir, [PathBuf; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let paths = [0, 1].map(|file| {
        let path = folder.path().join(format!("part-{file}.ntb"));
        let table = counting(file * ROWS * 3, ROWS, 3).to_layout(layout).unwrap();
        table.save_with(&path, options()).unwrap();
        path
    });
    Shards::open(folder.path()).unwrap().save_manifest(folder.path().join("shards.ntm")).unwrap();
    (folder, paths)
}

fn flip(path: &Path, byte: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[4096 + byte] ^= 4;
    fs::write(path, bytes).unwrap();
}

fn blocks(shards: &Shards, rows: usize) -> Result<Vec<f64>, Error> {
    let (mut blocks, mut values) = (shards.row_blocks::<f64>(rows)?, Vec::new());
    while let Some(block) = blocks.next_block()? {
        values.extend(block.iter());
    }
    Ok(values)
}

/// What every call says that reads all rows.
fn outcomes(shards: &Shards) -> Vec<Result<(), Error>> {
    let mut all = vec![
        shards.load_rows::<f64>(..).map(drop),
        shards.load_rows::<f32>(..).map(drop),
        blocks(shards, 7).map(drop),
        blocks(shards, 1000).map(drop),
        shards.reduce(&Trace::default()).map(drop),
        shards.reduce(&BasicStatistics::new(3).unwrap()).map(drop),
        (0..2).try_for_each(|shard| shards.reduce_shard(shard, &Trace::default()).map(drop)),
        shards.reduce_shards(0..2, &Trace::default()).map(drop),
        shards.load::<f64>().map(drop),
        shards.load_cast::<f32>().map(drop),
        shards.verify().map(drop),
    ];
    #[cfg(feature = "mmap")]
    {
        // SAFETY: no other program knows the files.
        all.push(unsafe { shards.map() }.map(drop));
        // SAFETY: as above.
        all.push(unsafe { shards.reduce_mapped(&Trace::default()) }.map(drop));
    }
    all.push(Ok(()));
    all
}

#[test]
fn with_verification_every_call_finds_a_flipped_bit_and_names_the_file_and_the_chunk() {
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        for byte in [0, 99, 100, 333, 955, 959] {
            let (folder, paths) = two_files(layout);
            let open = || Shards::open(folder.path()).unwrap();
            assert!(outcomes(&open().with_verification(true)).iter().all(Result::is_ok));
            flip(&paths[1], byte);
            let plain = outcomes(&open());
            let count = plain.len() - 1;
            let is_found: Vec<bool> = plain.iter().map(Result::is_err).collect();
            assert_eq!(is_found[..8], [false; 8]); // so that is what the other calls are for
            assert_eq!(is_found[8..11], [true; 3]);
            for outcome in outcomes(&open().with_verification(true)).into_iter().take(count) {
                let found = text(outcome);
                let place = format!("the checksum of chunk {} (of 10)", byte / CHUNK);
                assert!(found.contains("part-1.ntb: bad format at byte") && found.contains(&place), "{found}");
            }
            assert!(outcomes(&open().with_verification(true).with_verification(false))[0].is_ok());
        }
    }
}

#[test]
fn rows_of_whole_chunks_are_read_from_a_damaged_file() {
    let (folder, paths) = two_files(DataLayout::RowMajor);
    flip(&paths[1], 333); // in chunk 3, which has bytes of rows 12 to 16
    let shards = Shards::open(folder.path()).unwrap().with_verification(true);
    let expected = |rows: std::ops::Range<usize>| (rows.start * 3..rows.end * 3).map(|i| i as f64).collect::<Vec<_>>();
    for rows in [0..ROWS + 12, ROWS + 17..2 * ROWS, 3..4, 5..5] {
        assert_eq!(shards.load_rows::<f64>(rows.clone()).unwrap().as_slice().unwrap(), expected(rows));
    }
    for row in ROWS + 12..ROWS + 17 {
        assert!(text(shards.load_rows::<f64>(row..row + 1)).contains("chunk 3 (of 10)"));
    }
    let mut blocks = shards.row_blocks::<f64>(10).unwrap();
    for start in [0, 10, 20, 30, 40] {
        assert_eq!(blocks.next_block().unwrap().unwrap()[..], expected(start..start + 10));
    }
    assert!(blocks.next_block().is_err());
    flip(&paths[1], 333); // repaired
    assert_eq!(blocks.next_block().unwrap().unwrap()[..], expected(50..60));
}

#[test]
fn with_verification_a_file_of_other_values_is_another_file_to_every_call() {
    let (folder, paths) = two_files(DataLayout::RowMajor);
    let shards = Shards::open(folder.path()).unwrap();
    counting(1, ROWS, 3).save_with(&paths[1], options()).unwrap();
    assert!(shards.load_rows::<f64>(..).is_ok() && blocks(&shards, 7).is_ok());
    let outcomes = outcomes(&shards.with_verification(true));
    let count = outcomes.len() - 1;
    for outcome in outcomes.into_iter().take(count) {
        let found = text(outcome);
        assert!(found.contains("part-1.ntb: the file was replaced: its checksum of the values is"), "{found}");
    }
}

#[test]
fn with_verification_files_without_checksums_are_refused_unless_they_have_no_values() {
    let folder = tempfile::tempdir().unwrap();
    let [none, empty] = ["none.ntb", "empty.ntb"].map(|name| folder.path().join(name));
    counting(0, 5, 3).save_with(&none, fast().checksums(None)).unwrap();
    counting(0, 0, 3).save_with(&empty, fast().checksums(None)).unwrap();
    let shards = Shards::from_paths([&empty]).unwrap().with_verification(true);
    assert!(outcomes(&Shards::from_paths([&empty, &empty]).unwrap().with_verification(true)).iter().all(Result::is_ok));
    assert_eq!(shards.load_rows::<f64>(..).unwrap().shape(), Shape { rows: 0, columns: 3 });
    let columns = folder.path().join("columns.ntb");
    in_columns(&counting(0, 5, 3)).save_with(&columns, fast().checksums(None)).unwrap();
    for path in [&none, &columns] {
        let shards = Shards::from_paths([&empty, path]).unwrap().with_verification(true);
        for found in [text(shards.load_rows::<f64>(..)), text(blocks(&shards, 2)), text(shards.load::<f64>())] {
            assert!(found.contains(&*path.to_string_lossy()), "{found}");
            assert!(found.ends_with("the file has no checksums of its values"), "{found}");
        }
    }
    assert!(text(TableReader::open(&none).unwrap().with_verification(true)).contains("none.ntb"));
}

#[test]
fn tables_of_other_kinds_are_compared_as_they_are_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("columns.ntb");
    in_columns(&counting(0, 50, 3)).save_with(&path, options()).unwrap();
    for is_verified in [false, true] {
        let shards = Shards::from_paths([&path]).unwrap().with_verification(is_verified);
        assert_eq!(blocks(&shards, 7).unwrap(), counting(0, 50, 3).as_slice().unwrap());
        flip(&path, 5);
        for found in [text(shards.load_rows::<f64>(3..4)), text(shards.reduce(&Trace::default()))] {
            assert!(found.contains("columns.ntb: bad format") && found.contains("chunk 0"), "{found}");
        }
        flip(&path, 5);
    }
}

#[test]
fn a_reader_compares_a_chunk_once_and_rows_are_copied_from_whole_chunks_only() {
    let (folder, paths) = two_files(DataLayout::RowMajor);
    let reader = TableReader::open(&paths[0]).unwrap().with_verification(true).unwrap();
    reader.load_rows::<f64>(..5).unwrap(); // bytes 0 to 119: chunks 0 and 1
    flip(&paths[0], 199);
    flip(&paths[0], 200);
    assert_eq!(reader.load_rows::<f64>(..8).unwrap().as_slice().unwrap()[..3], [0.0, 1.0, 2.0]);
    assert!(text(reader.load_rows::<f64>(8..9)).contains("chunk 2 (of 10)"));
    let copy = folder.path().join("copy.ntb");
    let mut writer = TableWriter::<f64>::create_with(&copy, 3, None, options()).unwrap();
    assert!(text(writer.copy_rows(&reader, ..)).contains("part-0.ntb: bad format"));
    assert!(text(writer.copy_rows(&reader, 9..12)).contains("chunk 2 (of 10)")); // fewer bytes than a chunk has
    writer.copy_rows(&reader, ..4).unwrap();
    assert_eq!(writer.shape().rows, 4);
    let reader = reader.with_verification(true).unwrap(); // from the beginning
    assert!(text(reader.load_rows::<f64>(6..7)).contains("chunk 1 (of 10)"));
}

#[test]
fn rows_that_begin_and_end_within_chunks_are_those_of_the_file_whichever_chunks_were_compared_before() {
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        let (_folder, paths) = two_files(layout);
        let open = || TableReader::open(&paths[0]).unwrap().with_verification(true).unwrap();
        let expected =
            |rows: std::ops::Range<usize>| (rows.start * 3..rows.end * 3).map(|i| i as f64).collect::<Vec<_>>();
        for first in [0..1, 7..8, 16..24, 39..40] {
            let reader = open();
            assert_eq!(reader.load_rows::<f64>(first.clone()).unwrap().as_slice().unwrap(), expected(first.clone()));
            for start in (0..ROWS).step_by(3) {
                for end in [start + 1, start + 5, start + 17, ROWS] {
                    let rows = start..end.min(ROWS);
                    assert_eq!(
                        reader.load_rows::<f64>(rows.clone()).unwrap().as_slice().unwrap(),
                        expected(rows.clone())
                    );
                    let fresh = open().load_rows::<f32>(rows.clone()).unwrap();
                    assert!(fresh.as_slice().unwrap().iter().map(|&value| f64::from(value)).eq(expected(rows)));
                }
            }
        }
    }
}

#[test]
fn large_rows_that_several_threads_read_are_compared_in_all_element_types() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.ntb");
    let values: Vec<f32> = (0..3 << 20).map(|i| i as f32).collect();
    let shape = Shape { rows: 3 << 14, columns: 64 };
    Table::from_array(values, shape).unwrap().save_with(&path, fast()).unwrap();
    let shards = Shards::from_paths([&path]).unwrap().with_verification(true);
    let table = shards.load_rows::<f64>(1..).unwrap();
    assert_eq!((table.value::<f64>(0, 0).unwrap(), table.row_count()), (64.0, shape.rows - 1));
    flip(&path, (12 << 20) - 1); // the last byte
    let found = text(shards.load_rows::<f64>(1..));
    assert!(found.contains("large.ntb: bad format at byte") && found.contains("chunk 11 (of 12)"), "{found}");
    assert!(text(shards.reduce(&BasicStatistics::new(64).unwrap())).contains("chunk 11 (of 12)"));
    assert!(text(blocks(&shards, 5000)).contains("chunk 11 (of 12)"));
}
