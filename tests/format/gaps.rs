//! Missing values in files and archives: version 4 of both, which only tables with nullable columns need; the golden
//! files of that version; and bitmaps that are damaged or made to deceive.
//!
//! `cargo test --test format gaps -- --ignored` made the golden files, which must not happen again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use numeric_table::array::Validity;
use numeric_table::dictionary::Categories;
use numeric_table::{
    CsrNumericTable, SoaNumericTable,
    files::{self, SaveOptions, TableReader, verify},
    prelude::*,
    shards::Shards,
};
use test_support::assert_error;
use test_support::gaps::{assert_same_cells, gaps_of_every_type};

use crate::support::{fast, scratch, with_header};

/// Columns without a value, with all values, without gaps but nullable, with labels, with a bitmap that begins inside a
/// byte, and with NaN beside gaps.
fn mixed() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_optional("none", [None::<i64>; 9]).unwrap();
    table.push_column("all", (0..9).collect::<Vec<i16>>()).unwrap();
    table.push_optional("nullable", (0..9_u8).map(Some)).unwrap();
    let labels = Categories::from_labels(["red", "grün"]).unwrap();
    let colors = Feature::new(ElementType::U8).named("color").categorical(labels);
    let flags = [true, false, true, true, true, true, true, true, false];
    let validity = Validity::from_flags(&flags).unwrap();
    table.push_nullable(colors, vec![0_u8, 1, 1, 0, 1, 0, 0, 1, 1], Some(validity)).unwrap();
    let validity = Validity::new(vec![0b1011_0111_u8, 0b1101_1110], 3, 9).unwrap();
    let feature = Feature::new(ElementType::F64);
    let values = vec![1.0, f64::NAN, 3.0, 4.0, 5.0, f64::NAN, 7.0, 8.0, 9.0];
    table.push_nullable(feature, values, Some(validity)).unwrap();
    table
}

fn no_rows() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [None::<f32>; 0]).unwrap();
    table.push_optional("b", [None::<u64>; 0]).unwrap();
    table
}

/// A homogeneous table has all its values, even if its columns are nullable.
fn homogeneous() -> HomogenNumericTable<i16> {
    let feature = Feature::new(ElementType::I16).named("a").nullable();
    let features = [feature, Feature::new(ElementType::I16)];
    let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, -6]]).unwrap();
    table.with_dictionary(features.into_iter().collect()).unwrap()
}

fn tables() -> [(&'static str, Box<dyn NumericTable>); 4] {
    [
        ("every-type", Box::new(gaps_of_every_type(21))),
        ("mixed", Box::new(mixed())),
        ("no-rows", Box::new(no_rows())),
        ("homogeneous", Box::new(homogeneous())),
    ]
}

fn golden(name: &str, extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/golden/v4/{name}.{extension}"))
}

fn save(table: &dyn NumericTable, path: &Path) {
    table.save_with(path, SaveOptions::new().durable(false).checksums(Some(16))).unwrap();
}

#[test]
#[ignore = "the files are there, and stay as they are"]
fn make_the_golden_files() {
    for (name, table) in tables() {
        let [file, archive, text] = ["ntb", "archive", "json"].map(|extension| golden(name, extension));
        assert!(!file.exists() && !archive.exists() && !text.exists());
        save(&*table, &file);
        fs::write(archive, table.to_bytes().unwrap()).unwrap();
        fs::write(text, serde_json::to_string(&table).unwrap()).unwrap();
    }
    let manifest = golden("mixed", "ntm");
    assert!(!manifest.exists());
    fs::write(manifest, manifest_of_mixed()).unwrap();
}

/// The manifest of a copy of the golden file in another folder.
fn manifest_of_mixed() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let [file, manifest] = ["mixed.ntb", "mixed.ntm"].map(|name| folder.path().join(name));
    // Not `fs::copy`, which Miri does not have.
    fs::write(&file, fs::read(golden("mixed", "ntb")).unwrap()).unwrap();
    Shards::from_paths([file]).unwrap().save_manifest(&manifest).unwrap();
    fs::read(manifest).unwrap()
}

#[test]
fn the_golden_manifest_of_a_table_with_gaps_is_read_and_written_today_as_it_was() {
    let manifest = golden("mixed", "ntm");
    let bytes = fs::read(&manifest).unwrap();
    assert_eq!(bytes[..12], *b"\x89NTM\r\n\x1a\n\x02\0\0\0");
    assert_eq!(manifest_of_mixed(), bytes);
    let shards = Shards::open(&manifest).unwrap();
    assert_eq!(shards.dictionary(), mixed().dictionary());
    assert!(shards.verify().unwrap());
}

#[test]
fn golden_files_with_gaps_are_read_and_written_today_as_they_were() {
    let (_folder, new) = scratch();
    for (name, table) in tables() {
        let [file, archive, text] = ["ntb", "archive", "json"].map(|extension| golden(name, extension));
        save(&*table, &new);
        let (bytes, archive) = (fs::read(&file).unwrap(), fs::read(&archive).unwrap());
        assert_eq!(([bytes[8], archive[8]], verify(&file).unwrap()), ([4, 4], true), "{name}");
        assert!(fs::read(&new).unwrap() == bytes && table.to_bytes().unwrap() == archive, "{name}");
        let text = fs::read_to_string(&text).unwrap();
        assert_eq!(serde_json::to_string(&table).unwrap(), text, "{name}");
        let from_text: Box<dyn NumericTable> = serde_json::from_str(&text).unwrap();
        for found in [files::load(&file).unwrap(), files::from_bytes(&archive).unwrap(), from_text] {
            assert_eq!(found.kind(), table.kind());
            assert_same_cells(&*found, &*table);
        }
    }
}

#[test]
fn python_reads_gaps() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3");
        return;
    }
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/read_ntb.py");
    for (name, table) in tables() {
        let output = Command::new("python3").arg(&reader).arg(golden(name, "ntb")).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let Shape { rows, columns } = table.shape();
        let lines = text.lines().collect::<Vec<_>>();
        assert_eq!(lines.len(), 1 + columns + rows);
        for (line, feature) in lines[1..].iter().zip(table.dictionary()) {
            assert_eq!(line.ends_with("\tnullable"), feature.nullable, "{line}");
        }
        for (row, line) in lines[1 + columns..].iter().enumerate() {
            for (column, value) in line.split(' ').enumerate() {
                match table.is_missing(row, column).unwrap() {
                    true => assert_eq!(value, "None"),
                    false => {
                        let expected = table.column::<f64>(column, row..row + 1).unwrap()[0];
                        let found = value.parse::<f64>().unwrap();
                        assert!(found == expected || (found.is_nan() && expected.is_nan()), "{name}: {line}");
                    }
                }
            }
        }
    }
}

/// The check of a version in every release so far: it comes first, and all of them stop at 3 or earlier.
#[test]
fn libraries_that_do_not_know_gaps_refuse_the_version_by_name() {
    for (name, _) in tables() {
        let (file, archive) = (fs::read(golden(name, "ntb")).unwrap(), fs::read(golden(name, "archive")).unwrap());
        assert_eq!(file[..12], *b"\x89NTB\r\n\x1a\n\x04\0\0\0");
        assert_eq!(archive[..12], *b"NUMTABLE\x04\0\0\0");
    }
}

#[test]
fn without_nullable_columns_files_keep_their_version() {
    let (_folder, path) = scratch();
    let mut table = mixed();
    for column in 0..table.column_count() {
        let (array, _) = table.nullable_column(column).unwrap();
        let array = array.clone();
        table.set_nullable_column(column, array, None).unwrap();
    }
    let features = table.dictionary().iter().map(|feature| Feature { nullable: false, ..feature.clone() });
    let mut plain = SoaNumericTable::new();
    for (column, feature) in features.enumerate() {
        plain.push_feature(feature, table.array(column).unwrap().clone()).unwrap();
    }
    plain.save_with(&path, fast()).unwrap();
    assert_eq!([fs::read(&path).unwrap()[8], plain.to_bytes().unwrap()[8]], [3, 3]); // it has labels
    plain.remove_column(3).unwrap();
    plain.save_with(&path, fast()).unwrap();
    assert_eq!([fs::read(&path).unwrap()[8], plain.to_bytes().unwrap()[8]], [2, 2]);
    assert!(!serde_json::to_string(&plain).unwrap().contains("\"nullable\":"));
    table.save_with(&path, fast()).unwrap();
    assert_eq!([fs::read(&path).unwrap()[8], table.to_bytes().unwrap()[8]], [4, 4]); // nullable, without gaps
}

#[test]
fn readers_of_homogeneous_tables_refuse_files_with_gaps_by_kind() {
    let (_folder, path) = scratch();
    gaps_of_every_type(3).save_with(&path, fast()).unwrap();
    let mismatch = |error: Error| {
        assert!(error.hints().iter().any(|hint| hint.call() == "files::load"), "{error}");
        matches!(error.kind(), ErrorKind::TableKindMismatch { expected: "homogeneous", actual: "structure-of-arrays" })
    };
    assert!(mismatch(TableReader::open(&path).unwrap_err()));
    assert!(mismatch(HomogenNumericTable::<f64>::load(&path).unwrap_err()));
    assert_error!(CsrNumericTable::load(&path), ErrorKind::TableKindMismatch { .. });
}

// --- damaged bitmaps ---------------------------------------------------------------------------------------------

/// Two columns of 11 rows: `i16` with gaps, and `u8`. The file has three arrays; the third one is the bitmap.
fn small() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", (0..11_i16).map(|row| (row != 4).then_some(row))).unwrap();
    table.push_column("b", vec![7_u8; 11]).unwrap();
    table
}

/// Where the parts of the header are: the settings and the list of arrays, after the kind's name, rows and columns.
const SETTINGS_AT: usize = 1 + 19 + 8 + 8;
const ARRAYS_AT: usize = SETTINGS_AT + 8 + 16;
/// Where the bitmap is among the values.
const BITMAP_AT: usize = 4096 + 128;

/// Reads a file with every reader of its kind, and returns the reason for which all of them refuse it.
#[track_caller]
fn refusal(bytes: &[u8]) -> String {
    let (_folder, path) = scratch();
    fs::write(&path, bytes).unwrap();
    let results = [
        files::load(&path).map(drop),
        SoaNumericTable::load(&path).map(drop),
        HomogenNumericTable::<f64>::load_cast(&path).map(drop),
    ];
    let reasons = results.map(|result| match result.map_err(|error| (error.path().is_some(), error.into_kind())) {
        Err((true, ErrorKind::Format { reason, .. })) => reason,
        other => panic!("{other:?}"),
    });
    assert!(reasons.iter().all(|reason| *reason == reasons[0]), "{reasons:?}");
    reasons.into_iter().next().unwrap()
}

/// The small table's file, without checksums of values, with another header and another bitmap.
fn file_with(change: impl FnOnce(&mut Vec<u8>), bitmap: [u8; 2]) -> Vec<u8> {
    let (_folder, path) = scratch();
    small().save_with(&path, fast().checksums(None)).unwrap();
    let mut bytes = with_header(&fs::read(&path).unwrap(), change);
    assert_eq!(bytes.len(), BITMAP_AT + 2);
    bytes[BITMAP_AT..].copy_from_slice(&bitmap);
    bytes
}

const BITMAP: [u8; 2] = [0b1110_1111, 0b111];

fn put(header: &mut [u8], at: usize, number: u64) {
    header[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

fn sum_of(bitmap: [u8; 2]) -> u64 {
    crc32fast::hash(&bitmap).into()
}

#[test]
fn a_file_that_is_put_together_honestly_is_read() {
    let (_folder, path) = scratch();
    fs::write(&path, file_with(|_| {}, BITMAP)).unwrap();
    assert_same_cells(&*files::load(&path).unwrap(), &small());
    let other = [0b1111_1110, 0b011];
    fs::write(&path, file_with(|header| put(header, SETTINGS_AT + 16, sum_of(other)), other)).unwrap();
    assert_eq!(files::load(&path).unwrap().missing_count(0).unwrap(), 2); // counted, whatever the file says
    let none = [0xff, 0b111];
    fs::write(&path, file_with(|header| put(header, SETTINGS_AT + 16, sum_of(none)), none)).unwrap();
    let found = files::load(&path).unwrap();
    assert!(!found.has_missing().unwrap() && found.dictionary().feature(0).unwrap().nullable);
}

#[test]
fn damaged_bitmaps_are_found_without_checksums_of_values() {
    for bit in 0..16 {
        let mut bitmap = BITMAP;
        bitmap[bit / 8] ^= 1 << (bit % 8);
        let reason = refusal(&file_with(|_| {}, bitmap));
        assert!(reason.contains("the checksum of the bitmap of column 0 does not match"), "{reason}");
    }
    let past_the_end = [BITMAP[0], 0b1111];
    let reason = refusal(&file_with(|header| put(header, SETTINGS_AT + 16, sum_of(past_the_end)), past_the_end));
    assert!(reason.contains("the bitmap of column 0 has bits past row 11"), "{reason}");
}

#[test]
fn settings_that_lie_are_refused() {
    type Change = Box<dyn Fn(&mut Vec<u8>)>;
    let number = |at: usize, value: u64| -> Change { Box::new(move |header| put(header, at, value)) };
    // The flag of the first feature: after its type, a name of one byte, feature type, and no categories.
    let nullable_at = ARRAYS_AT + 8 + 3 * 9 + 9 + 1 + (1 + 8 + 1) + 1 + 1;
    let cases: Vec<(Change, &str)> = vec![
        (number(SETTINGS_AT + 8, 1), "column 1 has a bitmap but is not nullable"),
        (number(SETTINGS_AT + 8, 2), "the bitmap of column 2 is not in the order of 2 columns"),
        (number(SETTINGS_AT + 8, u64::MAX), "is not in the order of 2 columns"),
        (number(SETTINGS_AT + 16, 1 << 32), "the checksum of the bitmap of column 0 does not match"),
        (number(SETTINGS_AT, u64::MAX), "the header ends within a field"),
        (number(28, 3), "the dictionary describes 2 columns instead of 3"),
        (number(20, 3), "the bitmap of column 0 has 2 bytes, but 3 rows take 1"),
        (number(20, 17), "the bitmap of column 0 has 2 bytes, but 17 rows take 3"),
        (Box::new(move |header| header[nullable_at] = 2), "a nullable column has flag 2, not 0 or 1"),
        (Box::new(move |header| header[nullable_at] = 0), "2 settings, but this kind has 0"),
        (Box::new(|header| header[ARRAYS_AT + 8 + 18] = 6), "the bitmap of column 0 has values of i8"),
        (
            Box::new(|header| {
                header.drain(SETTINGS_AT + 16..SETTINGS_AT + 24);
                put(header, SETTINGS_AT, 1);
            }),
            "1 settings, but each bitmap has two",
        ),
        (
            Box::new(|header| {
                header.drain(SETTINGS_AT + 8..SETTINGS_AT + 24);
                put(header, SETTINGS_AT, 0);
            }),
            "3 arrays for 2 columns",
        ),
        (
            Box::new(|header| {
                let again = header[SETTINGS_AT + 8..SETTINGS_AT + 24].to_vec();
                header.splice(SETTINGS_AT + 24..SETTINGS_AT + 24, again);
                put(header, SETTINGS_AT, 4);
            }),
            "3 arrays for 2 columns and 2 bitmaps",
        ),
    ];
    for (index, (change, expected)) in cases.into_iter().enumerate() {
        let reason = refusal(&file_with(change, BITMAP));
        assert!(reason.contains(expected), "{index}: {reason}");
    }
}

#[test]
fn arrays_of_bitmaps_with_wrong_lengths_are_refused_before_anything_is_allocated() {
    for length in [0, 1, 3, 1 << 40, u64::MAX / 2, u64::MAX] {
        let reason = refusal(&file_with(|header| put(header, ARRAYS_AT + 8 + 19, length), BITMAP));
        assert!(reason.contains("the arrays do not take the 130 bytes"), "{length}: {reason}");
    }
}

#[test]
fn files_with_gaps_that_end_anywhere_or_have_a_flipped_bit_are_refused() {
    let (_folder, path) = scratch();
    let table = small();
    table.save_with(&path, fast().checksums(Some(16))).unwrap();
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        assert_error!(files::load(&path), ErrorKind::Format { .. });
    }
    let header_end = 64 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    for at in (0..header_end).chain(4096..bytes.len()) {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            fs::write(&path, damaged).unwrap();
            // Bytes between the values and the checksums are ignored.
            match files::load(&path) {
                Err(error) => assert!(matches!(error.kind(), ErrorKind::Format { .. }), "{at}: {error:?}"),
                Ok(found) => {
                    assert!((BITMAP_AT + 2..BITMAP_AT + 8).contains(&at), "{at}");
                    assert_same_cells(&*found, &table);
                }
            }
        }
    }
}

#[test]
fn archives_that_end_anywhere_or_are_damaged_never_become_another_number_of_gaps() {
    let table = small();
    let bytes = table.to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert_error!(files::from_bytes(&bytes[..length]), ErrorKind::Format { .. });
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // The values of an archive have no checksum, but its bitmaps do.
            if let Ok(found) = files::from_bytes(&damaged) {
                assert_eq!((found.shape(), found.missing_count(0).unwrap()), (table.shape(), 1), "{at}");
                assert!(found.is_missing(4, 0).unwrap());
            }
        }
    }
}

#[test]
fn a_nullable_flag_on_other_kinds_is_kept_and_their_values_are_all_present() {
    let (_folder, path) = scratch();
    let shape = Shape { rows: 2, columns: 3 };
    let mut sparse = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![2, 0], vec![1.5_f32, 2.5]).unwrap();
    sparse.set_dictionary(DataDictionary::uniform(Feature::new(ElementType::F32).nullable(), 3)).unwrap();
    sparse.save_with(&path, fast()).unwrap();
    for found in [files::load(&path).unwrap(), files::from_bytes(&sparse.to_bytes().unwrap()).unwrap()] {
        assert_eq!((found.kind(), found.dictionary()), (sparse.kind(), sparse.dictionary()));
        assert!(!found.has_missing().unwrap());
    }
}
