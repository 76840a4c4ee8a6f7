//! Faults 33 to 42, 60 and 65: archives.

use numeric_table::files;
use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use DataLayout::{ColumnMajor, RowMajor};

/// Fault 33: the magic number is never checked, and a `float` archive is read into a `double` table.
#[test]
fn foreign_bytes_and_other_types_are_refused() {
    let mut bytes = numbered::<f32>(2, 2, RowMajor).to_bytes().unwrap();
    assert_error!(
        HomogenNumericTable::<f64>::from_bytes(&bytes),
        ErrorKind::ElementTypeMismatch { expected: ElementType::F64, actual: ElementType::F32, .. }
    );
    for position in 0..8 {
        bytes[position] ^= 1;
        assert_error!(HomogenNumericTable::<f32>::from_bytes(&bytes), ErrorKind::Format { .. });
        assert_error!(files::from_bytes(&bytes), ErrorKind::Format { .. });
        bytes[position] ^= 1;
    }
    assert_error!(files::from_bytes(b"DAAL"), ErrorKind::Format { offset: 0, .. });
}

/// Fault 34: short archives leave values uninitialised.
#[test]
fn an_archive_that_is_cut_off_anywhere_is_refused() {
    let bytes = numbered::<f32>(3, 2, ColumnMajor).to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert_error!(HomogenNumericTable::<f32>::from_bytes(&bytes[..length]), ErrorKind::Format { .. });
        assert_error!(files::from_bytes(&bytes[..length]), ErrorKind::Format { .. });
    }
}

/// Fault 35: reading past the last block of an archive uses uninitialised bookkeeping.
#[test]
fn bytes_past_the_table_are_refused() {
    let mut bytes = numbered::<f32>(3, 2, RowMajor).to_bytes().unwrap();
    bytes.push(0);
    assert_error!(HomogenNumericTable::<f32>::from_bytes(&bytes), ErrorKind::Format { .. });
}

/// Returns the archive of a table of 251 x 3 bytes, with every 8-byte number 251 or 3 replaced in turn.
fn archives_with_other_sizes(size: u64) -> impl Iterator<Item = Vec<u8>> {
    let archive = HomogenNumericTable::full(shape(251, 3), 77_u8).unwrap().to_bytes().unwrap();
    let is_size = |bytes: &[u8]| bytes == 251_u64.to_le_bytes() || bytes == 3_u64.to_le_bytes();
    let positions: Vec<usize> = (0..archive.len() - 8).filter(|&at| is_size(&archive[at..at + 8])).collect();
    assert!(positions.len() >= 2, "rows and columns are somewhere in the archive");
    positions.into_iter().map(move |at| {
        let mut damaged = archive.clone();
        damaged[at..at + 8].copy_from_slice(&size.to_le_bytes());
        damaged
    })
}

/// Fault 39: `rows * columns * size` is not checked, and can wrap to 0.
#[test]
fn sizes_in_an_archive_that_overflow_are_refused() {
    for size in [u64::MAX, 1 << 63, (1 << 63) + 1, u64::MAX / 3 + 1, u64::MAX / 251 + 1] {
        for damaged in archives_with_other_sizes(size) {
            assert!(HomogenNumericTable::<u8>::from_bytes(&damaged).is_err());
            assert!(files::from_bytes(&damaged).is_err());
        }
    }
}

/// Fault 40: objects are made from the archive's tag and cast to whatever class is expected.
#[test]
fn an_archive_of_any_type_is_read_as_that_type_only() {
    fn read_as<S: SmallNumber, T: SmallNumber>() {
        let bytes = numbered::<S>(2, 2, RowMajor).to_bytes().unwrap();
        let read = HomogenNumericTable::<T>::from_bytes(&bytes);
        if S::TYPE == T::TYPE {
            assert_eq!(values_of(&read.unwrap()), numbers::<T>(2, 0..2));
        } else {
            assert_error!(
                read,
                ErrorKind::ElementTypeMismatch { expected, actual: found, .. } if (*expected, *found) == (T::TYPE, S::TYPE)
            );
        }
        assert_eq!(files::from_bytes(&bytes).unwrap().uniform_type(), Some(S::TYPE));
    }
    fn read_as_each<S: SmallNumber>() {
        for_each_element!(T => read_as::<S, T>());
    }
    for_each_element!(read_as_each);
}

/// Fault 41: 64 bytes per scalar: 10 x 11 floats, 440 bytes, take 4992.
#[test]
fn an_archive_is_hardly_larger_than_the_values() {
    let bytes = HomogenNumericTable::full(shape(10, 11), 1.0_f32).unwrap().to_bytes().unwrap();
    assert!(bytes.len() < 440 + 256, "{}", bytes.len());
}

/// Fault 42: categories may be lost.
#[test]
fn categories_survive_an_archive() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let species = feature::<f32>().named("species").categorical(3);
    table.set_dictionary(DataDictionary::from_features([species.clone(), feature::<f32>().ordinal()])).unwrap();
    let read = HomogenNumericTable::<f32>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!(*read.dictionary().feature(0).unwrap(), species);
    assert_eq!((read.category_count(0).unwrap(), read.feature_type(1).unwrap()), (Some(3), FeatureType::Ordinal));
}

/// Fault 60: a deserialised table is not validated.
#[test]
fn sizes_in_an_archive_that_do_not_fit_the_values_are_refused() {
    for size in [0, 1, 2, 4, 250, 252, 1 << 32] {
        for damaged in archives_with_other_sizes(size) {
            assert!(HomogenNumericTable::<u8>::from_bytes(&damaged).is_err());
        }
    }
}

/// Fault 65: archives have no version.
#[test]
fn an_archive_of_another_version_is_refused() {
    let mut bytes = numbered::<f32>(2, 2, RowMajor).to_bytes().unwrap();
    bytes[8..12].copy_from_slice(&99_u32.to_le_bytes()); // after the eight bytes of the magic number
    assert_error!(HomogenNumericTable::<f32>::from_bytes(&bytes), ErrorKind::Format { offset: 8, .. }, "99");
}
