//! Invented files of sparse tables: what they claim takes no memory, and what is in them takes a bounded multiple.

use std::io::Cursor;

use numeric_table::{
    CsrNumericTable,
    npz::NpzOptions,
    prelude::*,
    sparse::{LabeledRows, SvmlightIndices, SvmlightOptions},
};

use super::counting::measured;
use super::scratch::alone;

/// Reads something of so many bytes, and checks that memory is within a multiple of that, plus room for pieces.
#[track_caller]
fn in_limits<T>(
    name: &str,
    bytes: usize,
    multiple: usize,
    read: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    const ROOM: usize = 16 << 20; // pieces of text, and rows that any file may have
    let (result, peak, _) = measured(&|| name.to_owned(), read);
    assert!(peak <= multiple * bytes + ROOM, "{name}: {peak} bytes for {bytes}");
    result
}

#[test]
fn sizes_in_a_matrix_market_header_take_no_memory() {
    let _alone = alone();
    for size in [
        "coordinate real general\n18446744073709551615 3 18446744073709551615\n1 1 1\n",
        "coordinate pattern general\n1000000000000 3 1\n1 1\n",
        "coordinate integer symmetric\n1000000000000 1000000000000 0\n",
        "array real general\n18446744073709551615 18446744073709551615\n1\n",
        "array real skew-symmetric\n1000000000 1000000000\n1\n",
        "array integer general\n1000000000000 0\n",
    ] {
        let text = format!("%%MatrixMarket matrix {size}");
        let read = in_limits(size, text.len(), 30, || CsrNumericTable::read_mtx::<f64>(text.as_bytes()));
        assert!(read.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Text { .. })), "{size}");
    }
}

#[test]
fn the_shortest_texts_of_rows_and_values_take_a_bounded_multiple_of_their_length() {
    let _alone = alone();
    let from_zero = || SvmlightOptions::new().indices(SvmlightIndices::FromZero);
    let rows = "1\n".repeat(2 << 20);
    let read = in_limits("rows", rows.len(), 30, || LabeledRows::read_with::<f64>(rows.as_bytes(), from_zero()));
    assert_eq!(read.unwrap().features.row_count(), 2 << 20);
    let mut values = "1".to_owned();
    (0..1 << 19).for_each(|index| values += &format!(" {index}:1"));
    let read = in_limits("values", values.len(), 30, || LabeledRows::read_with::<f64>(values.as_bytes(), from_zero()));
    assert_eq!(read.unwrap().features.nnz(), 1 << 19);
    let line = "x".repeat(16 << 20);
    let read = in_limits("line", line.len(), 4, || LabeledRows::read_with::<f64>(line.as_bytes(), from_zero()));
    assert!(read.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Text { .. })));
}

/// A zip file of one stored member after another, with sizes that the directory claims.
fn zip(members: &[(&str, Vec<u8>, u32)]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes, claimed) in members {
        let checksum = crc32fast::hash(bytes).to_le_bytes();
        let (claimed, start) = (claimed.to_le_bytes(), (zip.len() as u32).to_le_bytes());
        let length = (name.len() as u16).to_le_bytes();
        let fields =
            [&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..], &checksum, &claimed, &claimed, &length, &[0, 0]].concat();
        zip.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), bytes].concat());
        directory.extend([b"PK\x01\x02\x14\0", &fields[..], &[0; 10], &start, name.as_bytes()].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let (size, start) = ((directory.len() as u32).to_le_bytes(), (zip.len() as u32).to_le_bytes());
    [&zip[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &size, &start, &[0, 0]].concat()
}

/// The bytes of a `.npy` file.
fn npy(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    [b"\x93NUMPY\x01\0\x76\0", format!("{text:<117}\n").as_bytes(), values].concat()
}

#[test]
fn rows_that_a_zip_file_of_columns_only_claims_take_no_memory() {
    let _alone = alone();
    let of_rows = |rows: i64| {
        let members = [
            ("format.npy", npy("|S3", "()", b"csc")),
            ("shape.npy", npy("<i8", "(2,)", &[rows, 1].map(i64::to_le_bytes).concat())),
            ("indptr.npy", npy("<i8", "(2,)", &[0_i64, 1].map(i64::to_le_bytes).concat())),
            ("indices.npy", npy("<i8", "(1,)", &[0; 8])),
            ("data.npy", npy("|u1", "(1,)", &[7])),
        ];
        zip(&members.map(|(name, bytes)| (name, bytes.clone(), bytes.len() as u32)))
    };
    for rows in [1 << 21, 1 << 28, 1 << 40, i64::MAX] {
        let bytes = of_rows(rows);
        let read = || CsrNumericTable::read_npz(Cursor::new(&bytes), NpzOptions::new());
        let error = in_limits("csc", bytes.len(), 2, read).unwrap_err().to_string();
        assert!(error.contains(&format!("{rows} rows are more than")) && error.contains("NpzOptions::max_rows"));
    }
    let bytes = of_rows(1 << 19);
    let read = || CsrNumericTable::read_npz(Cursor::new(&bytes), NpzOptions::new());
    assert_eq!(in_limits("csc", bytes.len(), 2, read).unwrap().row_count(), 1 << 19);
}

#[test]
fn sizes_in_a_zip_file_take_no_memory() {
    let _alone = alone();
    let whole = |bytes: Vec<u8>| (bytes.len() as u32, bytes);
    let (format_size, format) = whole(npy("|S3", "()", b"csr"));
    let shape = [1_i64 << 28, 5].map(i64::to_le_bytes).concat();
    let (shape_size, shape) = whole(npy("<i8", "(2,)", &shape));
    let indptr = npy("<i8", "(268435457,)", &[0; 64]);
    for claimed in [128 + 8 * ((1 << 28) + 1), u32::MAX, indptr.len() as u32] {
        let members = [
            ("format.npy", format.clone(), format_size),
            ("shape.npy", shape.clone(), shape_size),
            ("indptr.npy", indptr.clone(), claimed),
        ];
        let bytes = zip(&members);
        let read =
            in_limits("indptr", bytes.len(), 2, || CsrNumericTable::read_npz(Cursor::new(&bytes), NpzOptions::new()));
        assert!(read.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. })), "{read:?}");
    }
    // As many members as a directory can count, and none of them there.
    let mut end = b"PK\x05\x06\0\0\0\0\xFF\xFF\xFF\xFF".to_vec();
    end.extend([0; 10]);
    assert!(
        in_limits("none", end.len(), 2, || CsrNumericTable::read_npz(Cursor::new(&end), NpzOptions::new())).is_err()
    );
}
