//! Columns with missing values. In human-readable formats, a missing value is `null` in the list of values; in binary
//! formats, bitmaps are further arrays of the content of a table.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, EnumAccess, SeqAccess, VariantAccess, Visitor};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::content::{NAMES, Variant};
use super::{AnyBytes, AnyNumber, Bytes, FoundValues, NumberOrType, SerializedNumber, TRUSTED_HINT, refused, remember};
use crate::array::{AnyArray, Validity};
use crate::base::element::{Element, match_element};
use crate::base::number::Exact;
use crate::table::content::Values;

/// A column, and which of its values are present if any is missing.
pub(super) struct WithNulls<'a>(pub(super) &'a Values<'a>, pub(super) Option<&'a Validity>);

/// Serializes the values like an array, with `null` for missing ones.
impl Serialize for WithNulls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(values, Some(validity)) = self else { return self.0.serialize(serializer) };
        let array = values.to_array().map_err(refused)?;
        if array.len() != validity.len() {
            return Err(S::Error::custom("the table changed while it was serialized"));
        }
        let element = array.element_type();
        match_element!(element, T => {
            let values = ValuesWithNulls(array.as_slice().as_slice::<T>(), validity);
            serializer.serialize_newtype_variant("AnyArray", element.id().into(), element.name(), &values)
        })
    }
}

struct ValuesWithNulls<'a, T>(&'a [T], &'a Validity);

impl<T: Element> Serialize for ValuesWithNulls<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(values, validity) = self;
        let mut sequence = serializer.serialize_seq(Some(values.len()))?;
        for (rows, is_present) in validity.runs() {
            for value in &values[rows] {
                match is_present {
                    true => sequence.serialize_element(&SerializedNumber(*value))?,
                    false => sequence.serialize_element(&None::<()>)?,
                }
            }
        }
        sequence.end()
    }
}

/// A deserialized array. Values that were `null` are NaN, or zero in an array of integers.
pub(super) struct FoundColumn {
    pub(super) array: AnyArray,
    /// Which values were not `null`, if any was.
    pub(super) validity: Option<Validity>,
}

impl<'de> Deserialize<'de> for FoundColumn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyColumn;

        impl<'de> Visitor<'de> for AnyColumn {
            type Value = FoundColumn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("values under the name of their element type")
            }

            fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<FoundColumn, A::Error> {
                let (Variant(element), values) = data.variant()?;
                match_element!(element, T => {
                    let NullableValues { values, validity }: NullableValues<'de, T> = values.newtype_variant()?;
                    Ok(FoundColumn { array: AnyArray::new(values.into_array::<A::Error>()?), validity })
                })
            }
        }
        deserializer.deserialize_enum("AnyArray", NAMES, AnyColumn)
    }
}

/// Values from a binary or human-readable format, and which of them were not `null`.
struct NullableValues<'de, T> {
    values: FoundValues<'de, T>,
    validity: Option<Validity>,
}

impl<'de, T> From<Bytes<'de>> for NullableValues<'de, T> {
    fn from(bytes: Bytes<'de>) -> Self {
        Self { values: FoundValues::Bytes(bytes), validity: None }
    }
}

impl<'de: 'a, 'a, T: Element> Deserialize<'de> for NullableValues<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(AnyNullableValues(PhantomData)),
            false => Bytes::deserialize(deserializer).map(Self::from),
        }
    }
}

/// Values: numbers and nulls, or bytes.
struct AnyNullableValues<T>(PhantomData<T>);

impl<'de, T: Element> Visitor<'de> for AnyNullableValues<T> {
    type Value = NullableValues<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a sequence of {} values", T::TYPE)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<NullableValues<'de, T>, A::Error> {
        let (mut numbers, mut validity) = (Vec::new(), None::<Validity>);
        let hint = sequence.size_hint().unwrap_or(0).min(TRUSTED_HINT);
        numbers.try_reserve(hint).map_err(de::Error::custom)?;
        while let Some(NullableNumber(number)) = sequence.next_element::<NullableNumber<T>>()? {
            if number.is_none() && validity.is_none() {
                validity = Some(Validity::all_present(numbers.len()).map_err(remember)?);
            }
            if let Some(validity) = &mut validity {
                validity.append(1, number.is_some()).map_err(remember)?;
            }
            numbers.try_reserve(1).map_err(de::Error::custom)?;
            numbers.push(number.unwrap_or_else(|| T::nearest(Exact::Float(f64::NAN))));
        }
        Ok(NullableValues { values: FoundValues::Numbers(numbers), validity })
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<NullableValues<'de, T>, E> {
        AnyBytes.visit_borrowed_bytes(bytes).map(NullableValues::from)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<NullableValues<'de, T>, E> {
        AnyBytes.visit_bytes(bytes).map(NullableValues::from)
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<NullableValues<'de, T>, E> {
        AnyBytes.visit_byte_buf(bytes).map(NullableValues::from)
    }
}

/// A number, or `None` for `null`.
struct NullableNumber<T>(Option<T>);

impl<'de, T: Element> Deserialize<'de> for NullableNumber<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyNullableNumber(PhantomData))
    }
}

struct AnyNullableNumber<T>(PhantomData<T>);

impl<T: Element> AnyNullableNumber<T> {
    fn number<E: de::Error>(found: NumberOrType<T>) -> Result<NullableNumber<T>, E> {
        match found {
            NumberOrType::Number(SerializedNumber(number)) => Ok(NullableNumber(Some(number))),
            NumberOrType::Type(element) => {
                Err(E::invalid_value(de::Unexpected::Str(element.name()), &AnyNumber::<T>(PhantomData)))
            }
        }
    }
}

impl<T: Element> Visitor<'_> for AnyNullableNumber<T> {
    type Value = NullableNumber<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AnyNumber::<T>(PhantomData).expecting(f)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<NullableNumber<T>, E> {
        AnyNumber(PhantomData).visit_i64(value).and_then(Self::number)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<NullableNumber<T>, E> {
        AnyNumber(PhantomData).visit_u64(value).and_then(Self::number)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<NullableNumber<T>, E> {
        AnyNumber(PhantomData).visit_f64(value).and_then(Self::number)
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<NullableNumber<T>, E> {
        AnyNumber(PhantomData).visit_str(name).and_then(Self::number)
    }

    fn visit_unit<E: de::Error>(self) -> Result<NullableNumber<T>, E> {
        Ok(NullableNumber(None))
    }

    fn visit_none<E: de::Error>(self) -> Result<NullableNumber<T>, E> {
        Ok(NullableNumber(None))
    }
}
