//! `.npz` files: what is written is read back, and damaged and invented files are refused.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use numeric_table::{CsrNumericTable, bf16, files::SaveOptions, npz::NpzOptions, prelude::*};
use test_support::bits::special_values;
use test_support::for_each_element;
use test_support::tables::{assert_error, huge, shape};

use super::{golden, message, parts_of};

fn read(bytes: Vec<u8>) -> Result<CsrNumericTable, Error> {
    CsrNumericTable::read_npz(Cursor::new(bytes), NpzOptions::new())
}

/// The bytes of a `.npy` file of version 1.
fn npy(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{text:<117}\n");
    [b"\x93NUMPY\x01\0\x76\0", header.as_bytes(), values].concat()
}

fn numbers(numbers: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    npy("<i8", &format!("({},)", numbers.len()), &bytes)
}

type Members = Vec<(&'static str, Vec<u8>)>;

/// A matrix of one row and two columns, both stored.
fn members() -> Members {
    vec![
        ("indices.npy", numbers(&[0, 1])),
        ("indptr.npy", numbers(&[0, 2])),
        ("format.npy", npy("|S3", "()", b"csr")),
        ("shape.npy", numbers(&[1, 2])),
        ("data.npy", npy("|u1", "(2,)", &[7, 8])),
    ]
}

/// A zip file, whose directory says of the size of a member what `size` says.
fn zip_with(members: &Members, method: u16, size: impl Fn(&str, usize) -> u64) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let compressed = match method {
            8 => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            _ => bytes.clone(),
        };
        let mut fields = Vec::new();
        for word in [45_u16, 0, method, 0, 0x21] {
            fields.extend(word.to_le_bytes());
        }
        fields.extend(crc32fast::hash(bytes).to_le_bytes());
        fields.extend([0xFF; 8]); // both sizes are in the extra field
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend(20_u16.to_le_bytes());
        let mut extra = b"\x01\0\x10\0".to_vec();
        extra.extend(size(name, bytes.len()).to_le_bytes());
        extra.extend((compressed.len() as u64).to_le_bytes());
        let start = zip.len() as u32;
        zip.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), &extra, &compressed].concat());
        directory.extend(
            [b"PK\x01\x02\x14\0", &fields[..], &[0; 10], &start.to_le_bytes(), name.as_bytes(), &extra].concat(),
        );
    }
    let (count, length) = (members.len() as u16, directory.len() as u32);
    let [start, length, count] =
        [(zip.len() as u32).to_le_bytes().to_vec(), length.to_le_bytes().to_vec(), count.to_le_bytes().to_vec()];
    [zip, directory, b"PK\x05\x06\0\0\0\0".to_vec(), count.clone(), count, length, start, vec![0, 0]].concat()
}

fn zip(members: &Members) -> Vec<u8> {
    zip_with(members, 8, |_, size| size as u64)
}

/// The file with one member replaced.
fn with(name: &'static str, bytes: Vec<u8>) -> Vec<u8> {
    let mut members = members();
    members.iter_mut().find(|member| member.0 == name).unwrap().1 = bytes;
    zip(&members)
}

#[test]
fn what_is_written_is_read_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.npz");
    for_each_element!(T => if T::TYPE != ElementType::Bf16 {
        for is_compressed in [false, true] {
            let values = special_values::<T>();
            let count = values.len();
            let indices: Vec<u64> = (0..count as u64).collect();
            let table = CsrNumericTable::try_new(shape(3, count), vec![0_u32, 1, 1, count as u32], indices, values.clone()).unwrap();
            let options = NpzOptions::new().compressed(is_compressed).save(SaveOptions::new().durable(false));
            table.save_npz_with(&path, options).unwrap();
            let back = CsrNumericTable::load_npz(&path).unwrap();
            assert_eq!((back.shape(), back.indices().element_type()), (table.shape(), ElementType::I32));
            assert!(back.indices().iter().eq(table.indices().iter()) && back.offsets().iter().eq(table.offsets().iter()));
            let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
            assert_eq!(bytes(back.values_slice::<T>().unwrap()), bytes(&values));
        }
    });
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "32 bits have no number of columns that is too large")]
fn tables_of_any_shape_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.npz");
    for (rows, columns) in [(0, 0), (0, 5), (3, 0), (2, huge(40))] {
        let (offsets, none) = (vec![0_i64; rows + 1], Vec::<i64>::new());
        let table = CsrNumericTable::try_new(shape(rows, columns), offsets, none, Vec::<f32>::new()).unwrap();
        table.save_npz(&path).unwrap();
        let back = CsrNumericTable::load_npz(&path).unwrap();
        let wide = if columns > i32::MAX as usize { ElementType::I64 } else { ElementType::I32 };
        assert_eq!((back.shape(), back.nnz(), back.offsets().element_type()), (table.shape(), 0, wide));
    }
    fs::write(&path, "old").unwrap();
    let huge =
        CsrNumericTable::try_new(shape(1, usize::MAX), vec![0, 0], Vec::<i32>::new(), Vec::<f32>::new()).unwrap();
    assert_error!(huge.save_npz(&path), ErrorKind::LimitExceeded { limit, .. } if *limit == i64::MAX as u64);
    let brain = CsrNumericTable::try_new(shape(1, 1), vec![0, 1], vec![0], vec![bf16::ONE]).unwrap();
    assert_error!(
        brain.save_npz(&path),
        ErrorKind::UnsupportedElementType { element: ElementType::Bf16, target: "NumPy" }
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_file_made_by_hand_is_read_stored_and_deflated() {
    for method in [0, 8] {
        let table = read(zip_with(&members(), method, |_, size| size as u64)).unwrap();
        assert_eq!(parts_of::<u8>(&table), (vec![0, 2], vec![0, 1], vec![7, 8]));
    }
    let wide_text = npy("<U3", "()", b"c\0\0\0s\0\0\0c\0\0\0"); // text as Python 3 has it
    let mut members = members();
    members[2].1 = wide_text;
    members[3].1 = numbers(&[2, 1]);
    members.push(("_is_array.npy", b"anything".to_vec())); // others are not looked at
    assert_eq!(read(zip(&members)).unwrap().shape(), shape(2, 1));
}

#[test]
fn every_member_is_checked_against_the_others() {
    for (bytes, expected) in [
        (with("shape.npy", numbers(&[2, 2])), "in \"indptr.npy\": 2 x 1 values, but 3 are needed"),
        (with("shape.npy", numbers(&[-1, 2])), "in \"shape.npy\": these are not numbers of rows and columns"),
        (with("shape.npy", numbers(&[1, 2, 3])), "in \"shape.npy\": 3 x 1 values, but 2 are needed"),
        (
            with("shape.npy", npy("<f8", "(2,)", &[0; 16])),
            "in \"shape.npy\": these are not numbers of rows and columns",
        ),
        (with("shape.npy", numbers(&[1, i64::MAX])), ""),
        (with("indptr.npy", numbers(&[0, -2])), "in \"indptr.npy\": the last number is not a number of values"),
        (
            with("indptr.npy", npy("<f8", "(2,)", &[0; 16])),
            "in \"indptr.npy\": the last number is not a number of values",
        ),
        (with("indptr.npy", numbers(&[0, 3])), "in \"indices.npy\": 2 x 1 values, but 3 are needed"),
        (with("indptr.npy", numbers(&[1, 2])), "the first row offset is 1, not 0"),
        (
            with("indices.npy", numbers(&[0, 2])),
            "the column indices have 2 at position 1, in row 0: 0 to 1 are allowed",
        ),
        (
            with("indices.npy", numbers(&[-1, 1])),
            "the column indices have -1 at position 0, in row 0: 0 to 1 are allowed",
        ),
        (with("indices.npy", npy("|u1", "(2,)", &[0, 1])), "the column indices are u8: expected i32, u32, i64 or u64"),
        (with("data.npy", npy("|u1", "(3,)", &[7, 8, 9])), "in \"data.npy\": 3 x 1 values, but 2 are needed"),
        (with("data.npy", npy("|u1", "(2,)", &[7, 8, 9])), "bytes after the array: 1"),
        (with("data.npy", npy("|u1", "(2,)", &[7])), "the file is cut off"),
        (with("data.npy", npy("|O", "(2,)", &[7])), "Python objects, which are never loaded"),
        (with("format.npy", npy("|S3", "()", b"lil")), "the format is \"lil\""),
        (with("format.npy", npy("|S300", "()", b"csr")), "a text that is too long for a name"),
        (with("format.npy", npy("<i8", "()", &[0; 8])), "this is not a single text"),
        (with("format.npy", npy("|S3", "()", b"cs")), "cut off"),
    ] {
        match (read(bytes), expected) {
            (Ok(table), "") => assert_eq!(table.column_count(), i64::MAX as usize),
            (Err(error), _) => {
                let error = error.to_string();
                assert!(error.contains(expected), "{error:?} is not {expected:?}");
            }
            (Ok(_), _) => panic!("accepted: {expected}"),
        }
    }
    for (name, _) in members() {
        let mut fewer = members();
        fewer.retain(|member| member.0 != name);
        assert!(message(read(zip(&fewer))).contains(&format!("the member {name:?} is missing")));
    }
}

#[test]
fn what_is_no_zip_file_is_refused() {
    for bytes in [&b""[..], b"PK", b"\x93NUMPY\x01\0", &[0; 100_000], b"PK\x05\x06"] {
        assert!(message(read(bytes.to_vec())).contains("this is not a zip file, or it is cut off"));
    }
    let folder = tempfile::tempdir().unwrap();
    assert_error!(CsrNumericTable::load_npz(folder.path()), ErrorKind::Io { .. });
    assert_error!(CsrNumericTable::load_npz(folder.path().join("nothing.npz")), ErrorKind::Io { .. });
    for method in [1, 9, 12, 99] {
        let error = message(read(zip_with(&members(), method, |_, size| size as u64)));
        assert!(error.contains(&format!("is compressed by method {method}, not 0 or 8")), "{error}");
    }
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "32 bits refuse some numbers earlier, with another message")]
fn sizes_that_are_only_claimed_are_not_believed() {
    for claimed in [u64::MAX, u64::MAX / 2, 1 << 40, 300, 10, 0] {
        for method in [0, 8] {
            let size = |name: &str, size: usize| if name == "data.npy" { claimed } else { size as u64 };
            assert!(read(zip_with(&members(), method, size)).is_err(), "{claimed} by {method}");
        }
    }
    // A header and a directory that agree, and bytes that are not there.
    let lie = npy("<f8", "(1099511627776,)", &[]);
    let mut members = members();
    members[1].1 = numbers(&[0, 1 << 40]);
    members[0].1 = npy("<i8", "(1099511627776,)", &[]);
    members[4].1 = lie;
    let size = |name: &str, size: usize| match name {
        "indices.npy" | "data.npy" => 128 + (8 << 40),
        _ => size as u64,
    };
    let expected = "the member \"indices.npy\" has";
    assert!(message(read(zip_with(&members, 8, size))).contains(expected));
}

#[test]
fn what_grows_past_the_limit_is_refused() {
    let zeros = vec![0; 4 << 20];
    let mut members = members();
    members[0].1 = npy("<i4", "(1048576,)", &zeros);
    let bytes = zip(&members);
    assert!(bytes.len() < 20_000);
    let limited = |limit| CsrNumericTable::read_npz(Cursor::new(bytes.clone()), NpzOptions::new().max_bytes(limit));
    assert!(message(limited(1 << 20)).contains("`NpzOptions::max_bytes` sets the limit"));
    assert!(message(limited(u64::MAX)).contains("1048576 x 1 values, but 2 are needed"));
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "32 bits refuse some numbers earlier, with another message")]
fn rows_past_the_limit_are_refused_in_both_formats() {
    let matrix = |format: &[u8; 3], rows: i64, offsets: &[i64]| {
        zip(&vec![
            ("format.npy", npy("|S3", "()", format)),
            ("shape.npy", numbers(&[rows, 1])),
            ("indptr.npy", numbers(offsets)),
            ("indices.npy", numbers(&[0])),
            ("data.npy", npy("|u1", "(1,)", &[7])),
        ])
    };
    for bytes in [matrix(b"csr", 3, &[0, 1, 1, 1]), matrix(b"csc", 3, &[0, 1])] {
        let limited = |rows| CsrNumericTable::read_npz(Cursor::new(bytes.clone()), NpzOptions::new().max_rows(rows));
        let table = limited(3).unwrap();
        assert_eq!((table.shape(), parts_of::<u8>(&table)), (shape(3, 1), (vec![0, 1, 1, 1], vec![0], vec![7])));
        let expected = "in \"shape.npy\": 3 rows are more than 2: `NpzOptions::max_rows` allows more";
        assert!(message(limited(2)).contains(expected));
    }
    // Without a limit, that of a file whose columns are stored depends on its length.
    let rows = (1 << 20) + 4096;
    let bytes = matrix(b"csc", rows, &[0, 1]);
    assert!(bytes.len() as i64 * 8 > 4096);
    assert_eq!(read(bytes).unwrap().row_count() as i64, rows);
    let bytes = matrix(b"csc", i64::MAX, &[0, 1]);
    let limit = (1 << 20) + 8 * bytes.len();
    assert!(message(read(bytes)).contains(&format!("9223372036854775807 rows are more than {limit}:")));
    // Offsets are bytes of the file: those of many empty rows are read without a limit.
    let mut offsets = vec![1; 3_000_000];
    offsets[0] = 0;
    assert_eq!(read(matrix(b"csr", 2_999_999, &offsets)).unwrap().row_count(), 2_999_999);
}

#[test]
fn no_damage_is_taken_for_another_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.npz");
    for is_compressed in [false, true] {
        golden::<f32>().save_npz_with(&path, NpzOptions::new().compressed(is_compressed)).unwrap();
        let whole = fs::read(&path).unwrap();
        let expected = parts_of::<f32>(&read(whole.clone()).unwrap());
        for length in 0..whole.len() {
            assert!(read(whole[..length].to_vec()).is_err(), "cut off at {length}");
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x80, 0xFF] {
                let mut damaged = whole.clone();
                damaged[at] ^= flip;
                if let Ok(table) = read(damaged) {
                    assert_eq!(parts_of::<f32>(&table), expected, "byte {at}"); // dates, versions, padding
                }
            }
        }
    }
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.npz");
    fs::write(&path, with("data.npy", npy("|u1", "(2,)", &[7]))).unwrap();
    let named: &Path = &path;
    assert!(
        CsrNumericTable::load_npz(named)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. }) && error.path().unwrap() == named)
    );
}
