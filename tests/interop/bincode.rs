//! Arrays, dictionaries and tables as fields of types that bincode encodes.

use std::fmt::Debug;

use bincode::config::{Config, legacy, standard};
use bincode::{BorrowDecode, Decode, Encode, decode_from_slice, encode_to_vec};
use numeric_table::{CsrNumericTable, SoaNumericTable, prelude::*};
use serde::Serialize;
use test_support::tables::LAYOUTS;

/// What all types with the feature have.
trait Encoded: Encode + Decode<()> + for<'de> BorrowDecode<'de, ()> + Serialize + PartialEq + Debug {}
impl<V: Encode + Decode<()> + for<'de> BorrowDecode<'de, ()> + Serialize + PartialEq + Debug> Encoded for V {}

/// Checks that a value comes back, and that its bytes are those that serde's traits give.
fn check(value: &impl Encoded) {
    fn through<V: Encoded>(value: &V, config: impl Config) {
        let bytes = encode_to_vec(value, config).unwrap();
        assert_eq!(bytes, bincode::serde::encode_to_vec(value, config).unwrap());
        let (found, consumed): (V, usize) = decode_from_slice(&bytes, config).unwrap();
        assert_eq!((&found, consumed), (value, bytes.len()));
        let (found, _): (V, usize) = bincode::borrow_decode_from_slice(&bytes, config).unwrap();
        assert_eq!(&found, value);
        assert!(decode_from_slice::<V, _>(&bytes[..bytes.len() - 1], config).is_err());
    }
    through(value, standard());
    through(value, legacy());
}

#[test]
fn arrays_dictionaries_and_tables_are_encoded_as_through_serde() {
    check(&ElementType::Bf16);
    check(&Shape { rows: 3, columns: 2 });
    check(&Array::from(vec![1_i16, -2, 3]));
    check(&Feature::new(ElementType::F32).named("width"));
    for layout in LAYOUTS {
        let table = HomogenNumericTable::from_array_with_layout(
            vec![1.5_f64, 2.5, -0.5, 4.0, 5.0, 6.0],
            Shape { rows: 3, columns: 2 },
            layout,
        )
        .unwrap();
        check(table.dictionary());
        check(&table);
    }
}

#[test]
fn tables_of_other_kinds_come_back_as_their_kind() {
    let columns = SoaNumericTable::from_columns([("count", vec![3_u16, 1])]).unwrap();
    let dense = HomogenNumericTable::from_rows(&[[0_i32, 7, 0], [0, 0, 9]]).unwrap();
    let sparse = CsrNumericTable::from_dense::<i32>(&dense).unwrap();
    for table in [&columns as &dyn NumericTable, &dense, &sparse] {
        let bytes = encode_to_vec(table, standard()).unwrap();
        let (found, _): (Box<dyn NumericTable>, usize) = decode_from_slice(&bytes, standard()).unwrap();
        assert_eq!(found.rows::<f64>(..).unwrap()[..], table.rows::<f64>(..).unwrap()[..]);
        assert_eq!(found.kind(), table.kind());
    }
    let bytes = encode_to_vec(&sparse, legacy()).unwrap();
    let (found, _): (CsrNumericTable, usize) = decode_from_slice(&bytes, legacy()).unwrap();
    assert_eq!(found.rows::<i32>(..).unwrap()[..], [0, 7, 0, 0, 0, 9]);
}

#[test]
fn hostile_bytes_are_errors_with_a_limit_and_when_they_are_borrowed() {
    fn try_all<V: Encoded>(value: &V, config: impl Config) {
        let limited = legacy().with_limit::<{ 1 << 16 }>();
        let bytes = encode_to_vec(value, config).unwrap();
        for at in 0..bytes.len() {
            for (byte, count) in [(0xff, 1), (0xff, 8), (0x3f, 8), (0x7f, 8), (0xfc, 1), (0xfd, 1)] {
                let mut bytes = bytes.clone();
                bytes[at..].iter_mut().take(count).for_each(|target| *target = byte);
                let _ = decode_from_slice::<V, _>(&bytes, limited);
                let _ = decode_from_slice::<V, _>(&bytes, standard().with_limit::<{ 1 << 16 }>());
                let _ = bincode::borrow_decode_from_slice::<V, _>(&bytes, config);
            }
        }
    }
    let columns = SoaNumericTable::from_columns([("count", vec![3_u16, 1]), ("next", vec![4, 5])]).unwrap();
    let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5], [3.5, 4.5]]).unwrap();
    for value in [columns.dictionary(), table.dictionary()] {
        try_all(value, legacy());
        try_all(value, standard());
    }
    try_all(&table, legacy());
    try_all(&table, standard());
    try_all(&Array::from(vec![1_u8, 2, 3]), legacy());
    try_all(&ElementType::F32, legacy());
    let bytes = encode_to_vec(&columns, legacy()).unwrap();
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff);
        let _ = decode_from_slice::<SoaNumericTable, _>(&bytes, legacy().with_limit::<{ 1 << 16 }>());
        let _ = bincode::borrow_decode_from_slice::<SoaNumericTable, _>(&bytes, legacy());
    }
}
