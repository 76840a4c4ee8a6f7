//! The bytes of an archive, and archives that are refused.

use numeric_table::prelude::*;
use numeric_table::{dictionary::Categories, files};
use test_support::for_each_element;

use super::{Table, assert_same, hex, is_bitwise_same};

#[test]
fn an_archive_has_these_very_bytes() {
    let golden = hex(concat!(
        "4e554d5441424c45 02000000",               // NUMTABLE, version 2
        "0b00000000000000 686f6d6f67656e656f7573", // homogeneous
        "0300000000000000 693136",                 // i16
        "0300000000000000 693136",                 // the table's own element type
        "01000000",                                // column-major
        "0200000000000000 0300000000000000",       // 2 rows, 3 columns
        "00 0300000000000000",                     // not uniform, 3 features
        "6000000000000000",                        // 96 bytes of records
        "08 02 01 0000000000 0000000000000000 0000000000000000 0200000000000000", // i16, continuous, named
        "08 00 02 0000000000 0300000000000000 0200000000000000 0000000000000000", // categorical, 3 categories
        "08 01 03 0000000000 0700000000000000 0200000000000000 0200000000000000", // ordinal, 7 categories, named
        "0400000000000000 7831 c3a9",              // names: x1, é
        "0c00000000000000 0100 feff 0201 0400 0000 ff7f", // values, column by column
    ));
    let values = vec![1_i16, -2, 0x0102, 4, 0, i16::MAX];
    let mut table =
        Table::from_array_with_layout(values, Shape { rows: 2, columns: 3 }, DataLayout::ColumnMajor).unwrap();
    let feature = || Feature::new(ElementType::I16);
    let last = Feature { categories: Some(Categories::new(7)), ..feature().named("é").ordinal() };
    table.set_dictionary([feature().named("x1"), feature().categorical(3), last].into_iter().collect()).unwrap();
    assert_eq!(table.to_bytes().unwrap(), golden);
    assert_same(&Table::from_bytes(&golden).unwrap(), &table, is_bitwise_same);
    // Version 1 names no kind, and stays readable.
    let version_1 = [&b"NUMTABLE\x01\0\0\0"[..], &golden[31..]].concat();
    assert_same(&Table::from_bytes(&version_1).unwrap(), &table, is_bitwise_same);
    assert_eq!(files::from_bytes(&version_1).unwrap().to_bytes().unwrap(), golden);
}

#[test]
fn an_archive_of_another_element_type_is_refused_by_naming_both() {
    fn check<Stored: Element, Asked: Element>() {
        let bytes = Table::<Stored>::new(Shape { rows: 2, columns: 2 }, AllocationFlag::DoAllocate).unwrap().to_bytes();
        match Table::<Asked>::from_bytes(&bytes.unwrap()).map_err(Error::into_kind) {
            Ok(_) => assert_eq!(Stored::TYPE, Asked::TYPE),
            Err(ErrorKind::ElementTypeMismatch { expected, actual: found, .. }) => {
                assert_eq!((expected, found), (Asked::TYPE, Stored::TYPE));
                assert_ne!(expected, found);
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    for_each_element!(Stored => for_each_element!(Asked => check::<Stored, Asked>()));
}

#[test]
fn an_archive_of_another_version_is_refused_by_naming_it_and_those_that_are_read() {
    let mut bytes = Table::from_rows(&[[1_u8]]).unwrap().to_bytes().unwrap();
    for (version, advice) in [(5, "; a newer version of the library reads it"), (0, "")] {
        bytes[8] = version;
        let expected = format!("the archive has version {version}, and this library reads versions 1 to 4{advice}");
        for error in [files::from_bytes(&bytes).map(drop), Table::<u8>::from_bytes(&bytes).map(drop)] {
            assert!(error.as_ref().is_err_and(
                |error| matches!(error.kind(), ErrorKind::Format { offset: 8, reason, .. } if *reason == expected)
            ));
        }
    }
}

#[test]
fn bytes_past_the_table_are_an_error_at_their_position() {
    let mut bytes = Table::from_rows(&[[1_u8]]).unwrap().to_bytes().unwrap();
    let end = bytes.len() as u64;
    bytes.push(0);
    assert!(
        Table::<u8>::from_bytes(&bytes)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Format { offset, .. } if *offset == end))
    );
}
