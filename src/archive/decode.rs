//! Reading a value in the encoding of archives, which [`super::encode`] describes.
//!
//! Strings and bytes are borrowed from the input, after their length has been compared with the bytes that are left.
//! The hint for the length of a sequence never exceeds these bytes.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::failure::{Failure, MAX_DEPTH};

/// The bytes of an archive that have not been read.
pub(super) struct Decoder<'de> {
    bytes: &'de [u8],
    /// Number of levels that may still be entered.
    levels: usize,
}

impl<'de> Decoder<'de> {
    pub(super) fn new(bytes: &'de [u8]) -> Self {
        Self { bytes, levels: MAX_DEPTH }
    }

    /// Returns the number of bytes that have not been read.
    pub(super) fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Reads a value within a value.
    fn within<V>(&mut self, read: impl FnOnce(&mut Self) -> Result<V, Failure>) -> Result<V, Failure> {
        let levels = self.levels.checked_sub(1);
        self.levels = levels.ok_or(Failure::Depth)?;
        let value = read(self)?;
        self.levels += 1;
        Ok(value)
    }

    fn take(&mut self, count: usize) -> Result<&'de [u8], Failure> {
        let Some((taken, rest)) = self.bytes.split_at_checked(count) else {
            return Err(Failure::End { missing: count - self.bytes.len() });
        };
        self.bytes = rest;
        Ok(taken)
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let Some((taken, rest)) = self.bytes.split_first_chunk() else {
            return Err(Failure::End { missing: N - self.bytes.len() });
        };
        self.bytes = rest;
        Ok(*taken)
    }

    fn take_length(&mut self) -> Result<usize, Failure> {
        let length = u64::from_le_bytes(self.take_array()?);
        usize::try_from(length).ok().filter(|&length| isize::try_from(length).is_ok()).ok_or(Failure::Length)
    }

    fn take_counted(&mut self) -> Result<&'de [u8], Failure> {
        let length = self.take_length()?;
        self.take(length)
    }

    fn take_str(&mut self) -> Result<&'de str, Failure> {
        std::str::from_utf8(self.take_counted()?).map_err(|error| damaged(format_args!("a string: {error}")))
    }

    /// Reads one byte that must be 0 or 1.
    fn take_flag(&mut self, what: &str) -> Result<bool, Failure> {
        match self.take_array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(damaged(format_args!("{what} is {other}; expected 0 or 1"))),
        }
    }

    /// Reads a character: as many bytes as its first one says.
    fn take_char(&mut self) -> Result<char, Failure> {
        let width = match self.bytes.first() {
            None => return Err(Failure::End { missing: 1 }),
            Some(0..=0x7f) => 1,
            Some(0..=0xdf) => 2,
            Some(0..=0xef) => 3,
            Some(_) => 4,
        };
        let bytes = self.take(width)?;
        let text = std::str::from_utf8(bytes).map_err(|error| damaged(format_args!("a character: {error}")))?;
        text.chars().next().ok_or(Failure::End { missing: 1 })
    }

    fn values(&mut self, count: usize) -> Values<'_, 'de> {
        Values { decoder: self, count }
    }
}

fn damaged(reason: impl std::fmt::Display) -> Failure {
    Failure::Message(format!("the archive is damaged: {reason}"))
}

/// What only a format that names its values can say.
fn unnamed<V>(what: &str) -> Result<V, Failure> {
    Err(Failure::Message(format!("archives hold values without their names and types, so {what} cannot be read")))
}

macro_rules! numbers {
    ($($method:ident, $visit:ident: $Number:ty),* $(,)?) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            visitor.$visit(<$Number>::from_le_bytes(self.take_array()?))
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Decoder<'de> {
    type Error = Failure;

    numbers! {
        deserialize_i8, visit_i8: i8, deserialize_i16, visit_i16: i16, deserialize_i32, visit_i32: i32,
        deserialize_i64, visit_i64: i64, deserialize_i128, visit_i128: i128,
        deserialize_u8, visit_u8: u8, deserialize_u16, visit_u16: u16, deserialize_u32, visit_u32: u32,
        deserialize_u64, visit_u64: u64, deserialize_u128, visit_u128: u128,
        deserialize_f32, visit_f32: f32, deserialize_f64, visit_f64: f64,
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Failure> {
        unnamed("a value of any type")
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Failure> {
        unnamed("a field's name")
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Failure> {
        unnamed("an ignored value")
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_bool(self.take_flag("a boolean")?)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_char(self.take_char()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_borrowed_str(self.take_str()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_borrowed_bytes(self.take_counted()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.take_flag("the byte before an optional value")? {
            false => visitor.visit_none(),
            true => self.within(|decoder| visitor.visit_some(decoder)),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        self.within(|decoder| visitor.visit_newtype_struct(decoder))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let count = self.take_length()?;
        visitor.visit_seq(self.values(count))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_seq(self.values(count))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_seq(self.values(count))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let count = self.take_length()?;
        visitor.visit_map(self.values(count))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_seq(self.values(fields.len()))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_enum(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Values that follow each other: of a sequence, a tuple, a structure or a map.
struct Values<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    count: usize,
}

impl<'de> SeqAccess<'de> for Values<'_, 'de> {
    type Error = Failure;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Failure> {
        match self.count.checked_sub(1) {
            None => Ok(None),
            Some(rest) => {
                self.count = rest;
                self.decoder.within(|decoder| seed.deserialize(decoder)).map(Some)
            }
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.count.min(self.decoder.remaining()))
    }
}

impl<'de> MapAccess<'de> for Values<'_, 'de> {
    type Error = Failure;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Failure> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        self.decoder.within(|decoder| seed.deserialize(decoder))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.count.min(self.decoder.remaining()))
    }
}

impl<'de> EnumAccess<'de> for &mut Decoder<'de> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Failure> {
        let index = u32::from_le_bytes(self.take_array()?);
        Ok((seed.deserialize(index.into_deserializer())?, self))
    }
}

impl<'de> VariantAccess<'de> for &mut Decoder<'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Failure> {
        self.within(|decoder| seed.deserialize(decoder))
    }

    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_seq(self.values(count))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_seq(self.values(fields.len()))
    }
}
