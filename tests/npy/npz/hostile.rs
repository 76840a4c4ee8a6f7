//! Files that are damaged, or made to harm.

use std::fs;
use std::io::Cursor;

use numeric_table::npz::{self, NpzOptions, NpzReader};
use numeric_table::prelude::*;
use test_support::tables::assert_error;

use super::{ByHand, by_hand, names, npy, options, read, zip};
use crate::Table;

fn bytes(count: usize) -> Vec<u8> {
    npy("|u1", &format!("({count},)"), &vec![7; count])
}

fn refusal(members: &[ByHand]) -> String {
    read(zip(members)).map(drop).unwrap_err().to_string()
}

#[test]
fn members_that_are_no_arrays_are_left_out() {
    let members = ["x.npy", "readme.txt", "folder/", "npy", ".npy"].map(|name| by_hand(name, bytes(2), 0));
    let mut file = read(zip(&members)).unwrap();
    assert_eq!(names(&file), ["x", ""]);
    assert_eq!(file.load::<u8>("").unwrap().as_slice().unwrap(), [7, 7]);
    assert!(
        file.load::<u8>("readme.txt")
            .is_err_and(
                |error| matches!(error.kind(), ErrorKind::UnknownName { what: "array", .. }) && error.path().is_none()
            )
    );
}

#[test]
fn two_members_of_one_name_are_refused() {
    let twice = [by_hand("x.npy", bytes(2), 0), by_hand("y.npy", bytes(2), 8), by_hand("x.npy", bytes(3), 8)];
    assert!(refusal(&twice).contains("two members have the name \"x.npy\""));
    // One in UTF-8 and one in code page 437.
    let (mut one, mut other) = (by_hand("é.npy", bytes(2), 0), by_hand("", bytes(2), 0));
    one.flags = 1 << 11;
    other.name = b"\x82.npy".to_vec();
    assert!(refusal(&[one.clone(), other.clone()]).contains("two arrays have the name \"é\""));
    assert_eq!(names(&read(zip(&[other])).unwrap()), ["é"]);
    one.name = b"\xFF.npy".to_vec();
    assert!(refusal(&[one]).contains("is not UTF-8"));
}

#[test]
fn members_that_share_bytes_are_refused() {
    let mut members = ["a.npy", "b.npy", "c.npy"].map(|name| by_hand(name, bytes(1000), 0));
    assert_eq!(read(zip(&members)).unwrap().len(), 3);
    members[2].start = Some(0);
    assert!(refusal(&members).contains("where another part begins"));
    members[2].start = Some(100);
    assert!(refusal(&members).contains("where another part begins"));
    members[2].start = Some(5000);
    assert!(refusal(&members).contains("where another part begins"));
    members[2].start = Some(u32::MAX - 1);
    assert!(refusal(&members).contains("where another part begins"));
}

#[test]
fn encrypted_members_and_other_methods_are_refused_by_name_and_the_rest_is_loaded() {
    let mut members = ["secret.npy", "odd.npy", "x.npy"].map(|name| by_hand(name, bytes(3), 0));
    members[0].flags = 1;
    members[1].method = 93;
    let mut file = read(zip(&members)).unwrap();
    let error = file.load_any("secret").unwrap_err().to_string();
    assert!(error.contains("the member \"secret.npy\" is encrypted"), "{error}");
    let error = file.load_any("odd").unwrap_err().to_string();
    assert!(error.contains("the member \"odd.npy\" is compressed by method 93, not 0 or 8"), "{error}");
    assert_eq!(file.load::<u8>("x").unwrap().row_count(), 3);
}

#[test]
fn sizes_that_compressed_bytes_cannot_become_are_refused() {
    let huge = npy("|u1", "(1099511627776,)", &[7]);
    for (method, expected) in [(0, "is stored, but has two different sizes"), (8, "bytes, which cannot become")] {
        let mut member = by_hand("x.npy", huge.clone(), method);
        member.size = 128 + (1 << 40);
        let mut file = read(zip(&[member])).unwrap();
        for error in [file.load_any("x").unwrap_err(), file.describe("x").map(drop).unwrap_err()] {
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
    // What zeros really become is read.
    let zeros = npy("|u1", "(10000000,)", &vec![0; 10_000_000]);
    let mut file = read(zip(&[by_hand("x.npy", zeros, 8)])).unwrap();
    let described = file.describe("x").unwrap();
    assert!(described.compressed_size * 1000 < described.size);
    assert_eq!(file.load::<u8>("x").unwrap().row_count(), 10_000_000);
}

#[test]
fn what_the_header_says_has_the_size_of_the_member() {
    for method in [0, 8] {
        for (array, expected) in [
            (npy("|u1", "(3,)", &[7, 7]), "the file is cut off"),
            (npy("|u1", "(1,)", &[7, 7]), "bytes after the array: 1"),
            (b"\x93NUMPY\x01\0\xFF\xFF".to_vec(), "it is cut off within its header"),
            (b"PK\x03\x04 twice".to_vec(), "this is a zip file"),
            (vec![], "it is empty"),
        ] {
            let error = read(zip(&[by_hand("x.npy", array, method)])).unwrap().load_any("x").unwrap_err().to_string();
            assert!(error.contains("in \"x.npy\": ") && error.contains(expected), "{error}");
        }
    }
    let mut more = by_hand("x.npy", bytes(100), 8);
    more.size = 128 + 50;
    more.bytes[60..128].copy_from_slice(&bytes(50)[60..128]);
    let error = read(zip(&[more])).unwrap().load_any("x").unwrap_err().to_string();
    assert!(error.contains("a member is damaged, or larger than the directory declares"), "{error}");
}

#[test]
fn bytes_after_the_directory_and_directories_that_lie_are_refused() {
    let whole = zip(&[by_hand("x.npy", bytes(3), 0), by_hand("y.npy", bytes(3), 0)]);
    let end = whole.len() - 22;
    for (at, value, expected) in [
        (10, 1, "follow the last entry of the directory"),
        (10, 3, "the directory is cut off"),
        (12, 0xFF, "lies outside the file"),
        (16, 0, "the signature of a directory entry is missing"),
    ] {
        let mut damaged = whole.clone();
        damaged[end + at] = value;
        let error = read(damaged).map(drop).unwrap_err().to_string();
        assert!(error.contains(expected), "{error} at {at}");
    }
}

#[test]
fn no_damage_is_taken_for_other_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays.npz");
    let x = Table::from_rows(&[[1.5_f32, 2.5], [-1.0, 0.0]]).unwrap();
    for is_compressed in [false, true] {
        npz::save_with(&path, &[("x", &x)], options().compressed(is_compressed)).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            assert!(read(whole[..length].to_vec()).is_err(), "cut off at {length}");
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x08, 0x80, 0xFF] {
                let mut damaged = whole.clone();
                damaged[at] ^= flip;
                if let Ok(table) = read(damaged).and_then(|mut file| file.load::<f32>("x")) {
                    assert_eq!(table, x, "byte {at}"); // dates, versions, padding
                }
            }
        }
    }
}

#[test]
fn errors_name_the_file_and_long_names_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays.npz");
    assert_error!(NpzReader::open(&path), ErrorKind::Io { .. });
    assert_error!(NpzReader::open(folder.path()), ErrorKind::Io { .. });
    fs::write(&path, b"PK\x03\x04").unwrap();
    assert!(
        NpzReader::open(&path)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. }) && error.path().unwrap() == path)
    );
    let long = "x".repeat(60_000);
    fs::write(&path, zip(&[by_hand(&format!("{long}.npy"), npy("|u1", "(3,)", &[]), 0)])).unwrap();
    let mut file = NpzReader::open(&path).unwrap();
    let error = file.load_any(&long).unwrap_err();
    assert!(error.to_string().len() < 400 + path.as_os_str().len(), "{error}");
    assert!(matches!(error.kind(), ErrorKind::Format { .. }) && error.path() == Some(path.as_path()));
    assert!(
        file.load_any(&long[1..])
            .is_err_and(|error| matches!(error.kind(), ErrorKind::UnknownName { what: "array", .. })
                && error.path().unwrap() == path)
    );
    let mut file = NpzReader::new(Cursor::new(zip(&[by_hand("ab.npy", bytes(2), 8)])), NpzOptions::new()).unwrap();
    let error = file.load::<f32>("ab").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ElementTypeMismatch { .. }) && error.path().is_none());
    assert!(error.to_string().ends_with(": `load_cast` converts"));
    assert_error!(
        file.load::<u8>("AB"),
        ErrorKind::UnknownName { what: "array", near, .. } if near == "; similar names: \"ab\""
    );
}
