//! Files of several arrays, and SciPy's of sparse matrices: whatever is in them is read or refused within the limits;
//! what is read can be written, compressed or not, and is read again.
//!
//! The first byte of an input chooses whether checksums are made right, the rest is the file.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use numeric_table::{
    BlockAccess, CsrNumericTable, Element, ElementType, Error, ErrorKind, NumericTable, TableDescription,
    files::SaveOptions,
    npz::{NpzOptions, NpzReader, NpzWriter},
};
use numeric_table_fuzz::with_element;

/// What the arrays of a file may have together, and rows that it may have: what a request for memory is allowed.
const BYTES: u64 = 1 << 20;
const ROWS: usize = 1 << 16;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, file)) = data.split_first() else { return };
    let mut file = file.to_vec();
    if choice % 2 == 1 {
        repair(&mut file);
    }
    match read(&file) {
        Ok(table) => with_element!(table.values().element_type(), T => check_accepted::<T>(&table)),
        Err(error) => check_refused(&error),
    }
    check_arrays(file);
});

/// Lists, describes and loads all arrays; writes those that were read, which are read again.
fn check_arrays(file: Vec<u8>) {
    let length = file.len();
    let mut reader = match NpzReader::new(Cursor::new(file), options()) {
        Ok(reader) => reader,
        Err(error) => return check_refused(&error),
    };
    let names: Vec<String> = reader.names().map(str::to_owned).collect();
    assert!(names.len() == reader.len() && names.len() <= length / 46);
    let mut tables = Vec::new();
    for name in names.iter().take(16) {
        let described = reader.describe(name);
        match reader.load_any(name) {
            Ok(table) => {
                let described = described.unwrap();
                assert!(described.size <= BYTES && described.shape == table.shape());
                assert_eq!(&described.dictionary, table.dictionary());
                tables.push((name, table));
            }
            Err(error) => check_refused(&error),
        }
    }
    match reader.load_all_columns() {
        Ok(table) => assert!(table.column_count() == names.len()),
        Err(error) => check_refused(&error),
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays.npz");
    for is_compressed in [false, true] {
        let mut writer = NpzWriter::create_with(&path, options().compressed(is_compressed)).unwrap();
        let mut written = Vec::new();
        for (name, table) in &tables {
            match writer.add(name, &**table) {
                Ok(_) => written.push((name, table)),
                // Names that NumPy has, and no longer permits; names of fields that contain both quotation marks.
                Err(error) => check_refused(&error),
            }
        }
        writer.finish().unwrap();
        let mut reader = NpzReader::open(&path).unwrap();
        assert_eq!(reader.len(), written.len());
        for (name, table) in written {
            let found = reader.load_any(name).unwrap();
            assert_eq!((found.shape(), found.uniform_type()), (table.shape(), table.uniform_type()));
            assert_eq!(bytes_of(&*found), bytes_of(&**table));
        }
    }
}

/// The bytes of all values, as `f64`, NaN as one of them.
fn bytes_of(table: &dyn NumericTable) -> Vec<u64> {
    let values = if table.shape().is_empty() { Vec::new() } else { table.rows::<f64>(..).unwrap().to_vec() };
    values.into_iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
}

fn options() -> NpzOptions {
    NpzOptions::new().max_bytes(BYTES).max_rows(ROWS).save(SaveOptions::new().durable(false))
}

fn read(file: &[u8]) -> Result<CsrNumericTable, Error> {
    CsrNumericTable::read_npz(Cursor::new(file), options())
}

/// Makes the checksums of stored members what the directory should say: those of their bytes. Others are left alone, as
/// is everything that is no zip file.
fn repair(file: &mut [u8]) {
    let number = |file: &[u8], at: usize, count: usize| {
        let bytes = file.get(at..at.checked_add(count)?)?;
        Some(bytes.iter().rev().fold(0_usize, |number, &byte| number << 8 | usize::from(byte)))
    };
    let entries = (0..file.len()).filter(|&at| file[at..].starts_with(b"PK\x01\x02")).collect::<Vec<_>>();
    for at in entries {
        let checksum = (|| {
            let true = number(file, at + 10, 2)? == 0 else { return None }; // stored, not compressed
            let (size, start) = (number(file, at + 20, 4)?, number(file, at + 42, 4)?);
            let head = number(file, start.checked_add(26)?, 2)? + number(file, start.checked_add(28)?, 2)?;
            let start = start + 30 + head;
            Some(crc32fast::hash(file.get(start..start.checked_add(size)?)?))
        })();
        if let (Some(checksum), Some(place)) = (checksum, file.get_mut(at + 16..at + 20)) {
            place.copy_from_slice(&checksum.to_le_bytes());
        }
    }
}

/// Only the file can be wrong, or what it says of a matrix.
fn check_refused(error: &Error) {
    match error.kind() {
        ErrorKind::Io { .. } | ErrorKind::OutOfMemory => panic!("{error:?}"),
        _ => assert!(!error.to_string().is_empty()),
    }
}

/// Shape, offsets, indices and the bits of all values.
type Parts = ((usize, usize), Vec<usize>, Vec<usize>, Vec<u8>);

fn parts<T: Element>(table: &CsrNumericTable) -> Parts {
    let shape = table.shape();
    let values = bytemuck::cast_slice(table.values_slice::<T>().unwrap()).to_vec();
    ((shape.rows, shape.columns), table.offsets().iter().collect(), table.indices().iter().collect(), values)
}

fn check_accepted<T: Element>(table: &CsrNumericTable) {
    let expected = parts::<T>(table);
    assert!(table.row_count() <= ROWS && T::TYPE != ElementType::Bf16);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.npz");
    for is_compressed in [false, true] {
        match table.save_npz_with(&path, options().compressed(is_compressed)).map_err(Error::into_kind) {
            // NumPy's integers of a shape have a sign.
            Err(ErrorKind::ValueNotRepresentable { target: ElementType::I64, .. }) => {
                return assert!(table.column_count() > i64::MAX as usize);
            }
            saved => saved.unwrap(),
        }
        assert_eq!(parts::<T>(&CsrNumericTable::load_npz(&path).unwrap()), expected);
    }
}
