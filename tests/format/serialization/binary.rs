//! The size and the bytes of binary formats, and how often they are called.

use std::fmt;

use numeric_table::prelude::*;
use serde::ser::{Impossible, Serialize, SerializeStruct, Serializer};
use test_support::bits::{bits, special_values};
use test_support::for_each_element;

use super::{LAYOUTS, Table, hex};

// --- size and form of binary data ----------------------------------------------------------------------------------

#[test]
fn an_archive_of_a_uniform_table_without_names_is_at_most_256_bytes_larger_than_its_values() {
    fn check<T: Element>() {
        for (rows, columns) in [(1, 1), (100, 3), (3, 10_000)] {
            for layout in LAYOUTS {
                let table =
                    Table::<T>::new_with_layout(Shape { rows, columns }, AllocationFlag::DoAllocate, layout).unwrap();
                let size = table.to_bytes().unwrap().len();
                assert!(size <= rows * columns * size_of::<T>() + 256, "{size} bytes for {rows} x {columns}");
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn binary_formats_get_the_values_of_a_table_in_one_call_as_little_endian_bytes() {
    let table = Table::from_rows(&[[0x0102_u16, 0x0304, 0x0506], [7, 8, 0xFFFE]]).unwrap();
    let mut calls = Calls::default();
    table.serialize(&mut calls).unwrap();
    let payload = [2, 1, 4, 3, 6, 5, 7, 0, 8, 0, 0xFE, 0xFF];
    assert_eq!(calls.bytes.iter().filter(|bytes| bytes[..] == payload).count(), 1);
    assert!(calls.scalars < 10, "{} calls for single values", calls.scalars);
}

#[test]
fn the_number_of_calls_does_not_grow_with_the_table() {
    fn calls(table: &impl Serialize) -> (usize, usize) {
        let mut calls = Calls::default();
        table.serialize(&mut calls).unwrap();
        (calls.bytes.len(), calls.scalars)
    }
    let small = Table::from_rows(&[[1_i32]]).unwrap();
    let dictionary = (0..200).map(|column| Feature::new(ElementType::I32).named(column.to_string())).collect();
    let mut large = Table::full_with_layout(Shape { rows: 300, columns: 200 }, 1_i32, LAYOUTS[1]).unwrap();
    large.set_dictionary(dictionary).unwrap();
    assert_eq!(calls(&large), calls(&small));
    assert_eq!(calls(&large.slice_rows(5..9).unwrap()), calls(&small));
}

#[test]
fn binary_formats_get_the_name_of_the_element_type_and_all_values_of_an_array_in_one_call() {
    fn check<T: Element>() {
        let values = special_values::<T>();
        let mut calls = Calls::default();
        Array::from(values.clone()).serialize(&mut calls).unwrap();
        let payload: Vec<u8> =
            values.iter().flat_map(|&value| bits(value).to_le_bytes()[..size_of::<T>()].to_vec()).collect();
        assert_eq!((calls.bytes, calls.scalars), (vec![payload], 1));
    }
    for_each_element!(check);
}

#[test]
fn an_array_as_bincode_has_these_very_bytes() {
    let golden = hex(concat!(
        "0300000000000000 693136",         // i16
        "0600000000000000 0100 feff ff7f", // 6 bytes of values
    ));
    let array = Array::from(vec![1_i16, -2, i16::MAX]);
    assert_eq!(bincode::serde::encode_to_vec(&array, bincode::config::legacy()).unwrap(), golden);
    let (found, _) = bincode::serde::borrow_decode_from_slice(&golden, bincode::config::legacy()).unwrap();
    assert_eq!(Array::<i16>::as_slice(&found), &array[..]);
}

#[test]
fn an_array_of_one_element_type_is_not_read_as_one_of_another() {
    fn check<S: Element, T: Element>() {
        for values in [special_values::<S>(), Vec::new()] {
            let bytes = bincode::serde::encode_to_vec(Array::from(values), bincode::config::standard()).unwrap();
            let config = bincode::config::standard();
            let borrowed = bincode::serde::borrow_decode_from_slice::<Array<T>, _>(&bytes, config).map(|found| found.0);
            let read = bincode::serde::decode_from_std_read::<Array<T>, _, _>(&mut &bytes[..], config);
            for found in [borrowed, read] {
                if S::TYPE == T::TYPE {
                    assert!(found.is_ok());
                } else {
                    let text = format!("the element type is {}, not {}", S::TYPE, T::TYPE);
                    assert!(found.unwrap_err().to_string().contains(&text));
                }
            }
        }
    }
    for_each_element!(S => for_each_element!(T => check::<S, T>()));
}

#[test]
fn bytes_that_are_no_whole_number_of_values_are_refused() {
    let bytes = hex("0300000000000000 663634 0c00000000000000 0000803f 0000803f 0000803f"); // f64: 12 bytes
    let read = bincode::serde::borrow_decode_from_slice::<Array<f64>, _>(&bytes, bincode::config::legacy());
    assert!(read.unwrap_err().to_string().contains("12 bytes are not a whole number of f64 values"));
}

// --- a binary serde format that only notes how it is called --------------------------------------------------------

#[derive(Debug, Default)]
struct Calls {
    bytes: Vec<Vec<u8>>,
    scalars: usize,
}

macro_rules! count_scalars {
    ($($method:ident: $value:ty;)*) => {
        $(fn $method(self, _: $value) -> Result<(), fmt::Error> {
            self.scalars += 1;
            Ok(())
        })*
    };
}

type Never = Impossible<(), fmt::Error>;

/// Structs, scalars and bytes; whatever a bulk format should not be asked for is an error.
impl Serializer for &mut Calls {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Self;
    type SerializeStructVariant = Never;

    count_scalars! {
        serialize_bool: bool; serialize_char: char; serialize_str: &str;
        serialize_i8: i8; serialize_i16: i16; serialize_i32: i32; serialize_i64: i64;
        serialize_u8: u8; serialize_u16: u16; serialize_u32: u32; serialize_u64: u64;
        serialize_f32: f32; serialize_f64: f64; serialize_unit_struct: &'static str;
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), fmt::Error> {
        self.bytes.push(bytes.to_vec());
        Ok(())
    }

    fn serialize_none(self) -> Result<(), fmt::Error> {
        self.serialize_bool(false)
    }

    fn serialize_some<V: Serialize + ?Sized>(self, value: &V) -> Result<(), fmt::Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), fmt::Error> {
        self.serialize_bool(false)
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), fmt::Error> {
        self.serialize_u32(index)
    }

    fn serialize_newtype_struct<V: Serialize + ?Sized>(self, _: &'static str, value: &V) -> Result<(), fmt::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<V: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &V,
    ) -> Result<(), fmt::Error> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_tuple(self, _: usize) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }
}

impl SerializeStruct for &mut Calls {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_field<V: Serialize + ?Sized>(&mut self, _: &'static str, value: &V) -> Result<(), fmt::Error> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), fmt::Error> {
        Ok(())
    }
}
