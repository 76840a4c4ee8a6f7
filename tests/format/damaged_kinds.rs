//! The name of a table's kind in files and archives: unknown ones, damaged ones, and such that end too early. All
//! checksums are right, so that nothing else is found.
//!
//! Source of the rules: `src/format/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use numeric_table::{
    files::{self, TableReader, verify},
    prelude::*,
};

use crate::support::with_header;

type Table<T> = HomogenNumericTable<T>;

/// The name of a file in a folder that goes away.
struct Scratch {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("file"), _folder: folder }
    }
}

/// A header and an archive begin with these; in an archive, the length has eight bytes.
const NAME: &[u8] = b"homogeneous";
/// Where a file has the length of the name, and the name.
const FILE: [u64; 2] = [64, 65];
/// Where an archive has them.
const ARCHIVE: [u64; 2] = [12, 20];

fn golden(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/v2").join(name)).unwrap()
}

/// The golden file with another header, and what follows from that.
fn file_with(header: &[u8]) -> Vec<u8> {
    with_header(&golden("i16_row_major.ntb"), |old| *old = header.to_vec())
}

/// The whole header of the golden file.
fn header() -> Vec<u8> {
    let file = golden("i16_row_major.ntb");
    let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    file[64..64 + length].to_vec()
}

/// The golden file with other bytes in the place of the kind: the length, as stated, and the name.
fn file_of_kind(length: u8, name: &[u8]) -> Vec<u8> {
    file_with(&[&[length], name, &header()[1 + NAME.len()..]].concat())
}

fn archive_of_kind(length: u64, name: &[u8]) -> Vec<u8> {
    let archive = golden("i16_row_major.archive");
    [&archive[..12], &length.to_le_bytes(), name, &archive[20 + NAME.len()..]].concat()
}

/// Reads a file with every reader, all of which must refuse it for the same reason.
#[track_caller]
fn refusal_of_file(scratch: &Scratch, bytes: &[u8]) -> (u64, String) {
    let path = &scratch.path;
    fs::write(path, bytes).unwrap();
    let results = vec![
        TableReader::open(path).map(drop),
        files::load(path).map(drop),
        verify(path).map(drop),
        Table::<i16>::load(path).map(drop),
        Table::<f32>::load(path).map(drop), // the type is never looked at
        Table::<f64>::load_cast(path).map(drop),
        // SAFETY: nobody else knows the file, and it is written to when no map is left.
        #[cfg(feature = "mmap")]
        unsafe { Table::<i16>::map(path) }.map(drop),
    ];
    let refusals = results.into_iter().map(|result| {
        match result.map_err(|error| (error.path().map(Path::to_owned), error.into_kind())) {
            Err((Some(named), ErrorKind::Format { offset, reason })) if named == *path => (offset, reason),
            other => panic!("{other:?}"),
        }
    });
    same(refusals.collect())
}

#[track_caller]
fn refusal_of_archive(bytes: &[u8]) -> (u64, String) {
    let results = [
        files::from_bytes(bytes).map(drop),
        Table::<i16>::from_bytes(bytes).map(drop),
        Table::<f32>::from_bytes(bytes).map(drop),
    ];
    same(results.into_iter().map(refusal_of_bytes).collect())
}

fn refusal_of_bytes(result: Result<(), Error>) -> (u64, String) {
    match result.map_err(|error| (error.path().is_some(), error.into_kind())) {
        Err((false, ErrorKind::Format { offset, reason })) => (offset, reason),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn same(mut refusals: Vec<(u64, String)>) -> (u64, String) {
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    refusals.remove(0)
}

/// A kind in a file and in an archive: both are refused for the same reason, at the byte of the name or, if there is
/// none, at the length.
#[track_caller]
fn assert_refused(scratch: &Scratch, name: &[u8], byte: Option<u64>, expected: &str) {
    let at = |[length, name]: [u64; 2]| byte.map_or(length, |byte| name + byte);
    let in_file = refusal_of_file(scratch, &file_of_kind(name.len() as u8, name));
    assert_eq!(in_file, (at(FILE), expected.to_owned()));
    let in_archive = refusal_of_archive(&archive_of_kind(name.len() as u64, name));
    assert_eq!(in_archive, (at(ARCHIVE), expected.to_owned()));
}

fn no_letter(byte: u8) -> String {
    format!(
        "the name of the table's kind contains the byte {byte:#04x}, which is not a lower-case ASCII letter, digit or \
         hyphen"
    )
}

#[test]
fn what_these_tests_put_together_is_read_if_it_is_honest() {
    let scratch = Scratch::new();
    fs::write(&scratch.path, file_of_kind(11, NAME)).unwrap();
    assert_eq!(fs::read(&scratch.path).unwrap(), golden("i16_row_major.ntb"));
    assert!(verify(&scratch.path).unwrap());
    assert_eq!(archive_of_kind(11, NAME), golden("i16_row_major.archive"));
}

#[test]
fn an_unknown_kind_is_named_by_every_reader() {
    let scratch = Scratch::new();
    let longest = "k".repeat(64);
    for name in ["triangle", "homogeneou", "homogeneous2", "custom", "a", "0", "-", "csr-0-based", &*longest] {
        let expected = format!("unknown kind of table: {name}; a newer library may know it");
        assert_refused(&scratch, name.as_bytes(), Some(0), &expected);
    }
}

#[test]
fn lengths_that_no_name_has_are_refused_at_the_length() {
    let scratch = Scratch::new();
    assert_refused(&scratch, b"", None, "the name of the table's kind is empty");
    for length in 65..=255 {
        let expected = format!("the name of the table's kind has {length} bytes, and at most 64 are allowed");
        assert_refused(&scratch, &vec![b'k'; length], None, &expected);
    }
    for length in [256, 1 << 16, 1 << 32, i64::MAX as u64, 1 << 63, u64::MAX - 19, u64::MAX] {
        let expected = format!("the name of the table's kind has {length} bytes, and at most 64 are allowed");
        assert_eq!(refusal_of_archive(&archive_of_kind(length, NAME)), (ARCHIVE[0], expected));
    }
}

#[test]
fn every_wrong_byte_at_every_place_of_the_name_is_found_there() {
    let scratch = Scratch::new();
    for place in 0..NAME.len() {
        for byte in 0..=u8::MAX {
            let mut name = NAME.to_vec();
            name[place] = byte;
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' => {
                    let found = refusal_or_none(&archive_of_kind(11, &name));
                    let text = str::from_utf8(&name).unwrap();
                    let expected = format!("unknown kind of table: {text}; a newer library may know it");
                    assert_eq!(found, (name != NAME).then_some((ARCHIVE[1], expected)));
                }
                _ if byte % 16 == 3 => assert_refused(&scratch, &name, Some(place as u64), &no_letter(byte)),
                _ => {
                    let found = refusal_of_archive(&archive_of_kind(11, &name));
                    assert_eq!(found, (ARCHIVE[1] + place as u64, no_letter(byte)));
                }
            }
        }
    }
    assert_refused(&scratch, "dreieck-größe".as_bytes(), Some(10), &no_letter(0xc3));
    assert_refused(&scratch, b"tri\x1b[2Jangle", Some(3), &no_letter(0x1b));
    assert_refused(&scratch, &[0xff; 64], Some(0), &no_letter(0xff));
}

fn refusal_or_none(archive: &[u8]) -> Option<(u64, String)> {
    files::from_bytes(archive).is_err().then(|| refusal_of_archive(archive))
}

#[test]
fn every_wrong_length_of_a_name_is_refused() {
    let scratch = Scratch::new();
    let left = header().len() - 1;
    for length in (0..=u8::MAX).filter(|&length| length != 11) {
        let (offset, reason) = refusal_of_file(&scratch, &file_of_kind(length, NAME));
        let expected = match length {
            0 => (64, "is empty".to_owned()),
            1..=10 => (65, format!("unknown kind of table: {};", &"homogeneous"[..length.into()])),
            // Behind the name is the element id, 8.
            12..=64 if usize::from(length) <= left => (76, "the byte 0x08".to_owned()),
            12..=64 => (64, format!("has {length} bytes, but the header ends after {left} of them")),
            _ => (64, "at most 64 are allowed".to_owned()),
        };
        assert!(offset == expected.0 && reason.contains(&expected.1), "{length}: byte {offset}: {reason}");
        let (offset, reason) = refusal_of_archive(&archive_of_kind(length.into(), NAME));
        let expected = match length {
            0 => (12, "is empty".to_owned()),
            1..=10 => (20, format!("unknown kind of table: {};", &"homogeneous"[..length.into()])),
            // Behind the name is the length of the element type's, 3.
            12..=64 => (31, "the byte 0x03".to_owned()),
            _ => (12, "at most 64 are allowed".to_owned()),
        };
        assert!(offset == expected.0 && reason.contains(&expected.1), "{length}: byte {offset}: {reason}");
    }
}

#[test]
fn a_header_that_ends_anywhere_is_refused() {
    let scratch = Scratch::new();
    let header = header();
    for length in 0..header.len() {
        let (offset, reason) = refusal_of_file(&scratch, &file_with(&header[..length]));
        let expected = match length {
            0 => "the header ends within a field".to_owned(),
            1..12 => {
                format!("the name of the table's kind has 11 bytes, but the header ends after {} of them", length - 1)
            }
            _ => "the header ends within a field".to_owned(),
        };
        assert_eq!(reason, expected, "{length}");
        let is_in_kind = length < 12;
        assert!(
            if is_in_kind { offset == 64 } else { (76..=64 + length as u64).contains(&offset) },
            "{length}: {offset}"
        );
    }
}

#[test]
fn an_archive_that_ends_anywhere_is_refused_at_its_end() {
    for version in ["v1", "v2"] {
        let archive = golden(&format!("../{version}/i16_row_major.archive"));
        for length in 8..archive.len() {
            let results = [
                files::from_bytes(&archive[..length]).map(drop),
                Table::<i16>::from_bytes(&archive[..length]).map(drop),
            ];
            let (offset, reason) = same(results.into_iter().map(refusal_of_bytes).collect());
            assert!(reason.starts_with("the archive is cut off: missing bytes: "), "{length}: {reason}");
            assert_eq!(offset, length as u64);
        }
    }
}

#[test]
fn a_file_of_version_1_says_no_kind_and_one_of_version_5_is_refused() {
    let scratch = Scratch::new();
    let mut file = golden("i16_row_major.ntb");
    for (version, offset, expected) in [
        (1, 64, "unknown element type: 11"), // the length of the name
        (
            5,
            8,
            "format version 5.0, and this library reads versions 1.0 to 4.0; a newer version of the library reads it",
        ),
    ] {
        file[8] = version;
        let sum = crc32fast::hash(&file[..60]);
        file[60..64].copy_from_slice(&sum.to_le_bytes());
        let (found, reason) = refusal_of_file(&scratch, &file);
        assert!(found == offset && reason.contains(expected), "byte {found}: {reason}");
    }
}
