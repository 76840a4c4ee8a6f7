//! Writing a value in the encoding of archives.
//!
//! The encoding is bincode's `legacy` configuration: integers and floating-point numbers have fixed widths and are
//! little-endian; lengths are `u64`; an optional value is the byte 0, or 1 and the value; a variant is its index as
//! `u32`; characters are UTF-8; structures, tuples and their names add nothing. A test compares
//! the bytes with those of bincode.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::failure::{Failure, MAX_DEPTH};
use crate::array::append_copy;

type Outcome = Result<(), Failure>;

/// An archive being written. Values arrive as one slice, which several threads copy.
pub(super) struct Encoder<'a> {
    bytes: &'a mut Vec<u8>,
    /// Number of levels of values within values that may still be entered.
    levels: usize,
}

impl<'a> Encoder<'a> {
    /// Creates an encoder that appends to `bytes`.
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, levels: MAX_DEPTH }
    }

    /// Returns an encoder for a value within the value.
    fn within(&mut self) -> Result<Encoder<'_>, Failure> {
        let levels = self.levels.checked_sub(1).ok_or(Failure::Depth)?;
        Ok(Encoder { bytes: self.bytes, levels })
    }
    fn put(&mut self, bytes: &[u8]) -> Outcome {
        append_copy(self.bytes, bytes).map_err(Failure::Refused)
    }

    fn put_length(&mut self, length: usize) -> Outcome {
        self.put(&(length as u64).to_le_bytes())
    }

    fn again(&mut self) -> Encoder<'_> {
        Encoder { bytes: self.bytes, levels: self.levels }
    }
}

macro_rules! numbers {
    ($($method:ident: $Number:ty),* $(,)?) => {$(
        fn $method(mut self, value: $Number) -> Outcome {
            self.put(&value.to_le_bytes())
        }
    )*};
}

impl Serializer for Encoder<'_> {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
        serialize_f32: f32, serialize_f64: f64,
    }

    fn serialize_bool(mut self, value: bool) -> Outcome {
        self.put(&[value.into()])
    }

    fn serialize_char(mut self, value: char) -> Outcome {
        self.put(value.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn serialize_str(self, value: &str) -> Outcome {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(mut self, value: &[u8]) -> Outcome {
        self.put_length(value.len())?;
        self.put(value)
    }

    fn serialize_none(mut self) -> Outcome {
        self.put(&[0])
    }

    fn serialize_some<V: Serialize + ?Sized>(mut self, value: &V) -> Outcome {
        self.put(&[1])?;
        value.serialize(self.within()?)
    }

    fn serialize_unit(self) -> Outcome {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Outcome {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Outcome {
        self.serialize_u32(index)
    }

    fn serialize_newtype_struct<V: Serialize + ?Sized>(mut self, _: &'static str, value: &V) -> Outcome {
        value.serialize(self.within()?)
    }

    fn serialize_newtype_variant<V: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &V,
    ) -> Outcome {
        self.again().serialize_u32(index)?;
        value.serialize(self.within()?)
    }

    fn serialize_seq(mut self, length: Option<usize>) -> Result<Self, Failure> {
        let length = length.ok_or_else(|| Failure::Message("a sequence has no length before its values".to_owned()))?;
        self.put_length(length)?;
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Failure> {
        self.serialize_seq(length)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Failure> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Failure> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Failure> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Failure> {
        self.again().serialize_u32(index)?;
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self, Failure> {
        self.serialize_tuple_variant(name, index, variant, length)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Values of sequences, tuples and structures follow each other.
macro_rules! values {
    ($($Trait:ident: $method:ident($($name:ident)?)),* $(,)?) => {$(
        impl $Trait for Encoder<'_> {
            type Ok = ();
            type Error = Failure;

            fn $method<V: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &V) -> Outcome {
                $(let _ = $name;)?
                value.serialize(self.within()?)
            }

            fn end(self) -> Outcome {
                Ok(())
            }
        }
    )*};
}
values! {
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(_name),
    SerializeStructVariant: serialize_field(_name),
}

impl SerializeMap for Encoder<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<V: Serialize + ?Sized>(&mut self, key: &V) -> Outcome {
        key.serialize(self.within()?)
    }

    fn serialize_value<V: Serialize + ?Sized>(&mut self, value: &V) -> Outcome {
        value.serialize(self.within()?)
    }

    fn end(self) -> Outcome {
        Ok(())
    }
}
