//! Faults 19 to 27: conversion, and types.

use numeric_table::prelude::*;
use test_support::tables::*;

use AllocationFlag::DoAllocate;
use DataLayout::RowMajor;

/// Fault 19: floats that do not fit in an integer are undefined behaviour, and differ between machines.
#[test]
fn every_float_has_a_defined_integer() {
    let table = HomogenNumericTable::from_rows(&[[f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300, -0.9]]).unwrap();
    assert_eq!(&table.rows::<i32>(0..1).unwrap()[..], [0, i32::MAX, i32::MIN, i32::MAX, 0]);
    assert_eq!(&table.rows::<u8>(0..1).unwrap()[..], [0, 255, 0, 255, 0]);
    assert_eq!(&table.rows::<u64>(0..1).unwrap()[..], [0, u64::MAX, 0, u64::MAX, 0]);
    assert_error!(
        table.convert_with::<i64>(ConversionPolicy::Checked),
        ErrorKind::ValueNotRepresentable { column: 0, .. }
    );
}

/// Fault 20: `convertToHomogen` goes through `float`, even from `int64` to `int64`, and keeps the source's dictionary.
#[test]
fn conversion_of_a_table_is_direct_and_describes_the_result() {
    let table = HomogenNumericTable::from_rows(&[[(1_i64 << 24) + 1, (1 << 53) + 1]]).unwrap();
    assert_eq!(table.convert::<i64>().unwrap().as_slice().unwrap(), [16_777_217, 9_007_199_254_740_993]);
    let converted = table.convert::<u64>().unwrap();
    assert_eq!(converted.as_slice().unwrap(), [16_777_217, 9_007_199_254_740_993]);
    assert_eq!(*converted.dictionary(), DataDictionary::uniform(feature::<u64>(), 2));
    let none = HomogenNumericTable::<i64>::new(shape(3, 0), DoAllocate).unwrap();
    assert_eq!(none.convert::<f32>().unwrap().shape(), shape(3, 0));
}

/// Fault 21: blocks are `double`, `float` or `int` only.
#[test]
fn integers_of_64_bits_are_read_and_written_exactly() {
    let mut table = HomogenNumericTable::from_rows(&[[i64::MAX, i64::MIN, (1 << 53) + 1]]).unwrap();
    assert_eq!(&table.rows::<i64>(0..1).unwrap()[..], [i64::MAX, i64::MIN, 9_007_199_254_740_993]);
    table.rows_mut::<u64>(0..1).unwrap()[2] = i64::MAX as u64 - 1;
    assert_eq!(table.as_slice().unwrap(), [i64::MAX, i64::MIN, i64::MAX - 1]);
}

/// Fault 25: `char` is labelled signed and is not, on some machines.
#[test]
fn signed_and_unsigned_bytes_are_two_types() {
    let signed = HomogenNumericTable::from_rows(&[[-1_i8]]).unwrap();
    let unsigned = HomogenNumericTable::from_rows(&[[255_u8]]).unwrap();
    assert_eq!((signed.value::<f64>(0, 0).unwrap(), unsigned.value::<f64>(0, 0).unwrap()), (-1.0, 255.0));
    assert_eq!((ElementType::I8.id(), ElementType::U8.id()), (6, 7));
}

/// Fault 26: two functions of one name return different type numbers; one knows three types.
#[test]
fn every_type_has_one_number() {
    fn number_of<T: Element>() -> u8 {
        T::TYPE.id()
    }
    let numbers = [
        number_of::<f32>(),
        number_of::<f64>(),
        number_of::<i32>(),
        number_of::<u32>(),
        number_of::<i64>(),
        number_of::<u64>(),
        number_of::<i8>(),
        number_of::<u8>(),
        number_of::<i16>(),
        number_of::<u16>(),
    ];
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]); // DAAL's `IndexNumType`
}

/// Fault 27: `assign(double)` cannot express every value of a 64-bit table.
#[test]
fn assign_takes_every_64_bit_value() {
    let mut table = numbered::<i64>(2, 2, RowMajor);
    table.fill((1_i64 << 53) + 1).unwrap();
    assert_eq!(table.as_slice().unwrap(), [9_007_199_254_740_993; 4]);
}
