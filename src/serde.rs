//! `Serialize` and `Deserialize` for element types, arrays, dictionaries and tables.
//!
//! In binary formats, values are the name of their element type followed by one `serialize_bytes` of little-endian
//! data. In human-readable formats they are numbers, with `"NaN"`, `"Infinity"` and `"-Infinity"` as strings because
//! JSON has no such numbers. Neither form contains a version. A homogeneous table does not contain the name of its
//! kind, which the deserialized type implies; other kinds, and tables of any kind, are in `content`, and their missing
//! values in `gaps`. This encoding never changes, because readers refuse unknown fields and binary formats do not name
//! fields. Archives prefix it with a version and the kind.
//!
//! Deserialization treats input as untrusted: counts, products and types are checked before memory is allocated, and
//! borrowed input is not copied before it has been checked.
//!
//! For internally tagged and untagged enums and flattened fields, serde reads ahead into a buffer that reports itself
//! as human-readable in every format. Where a human-readable form is expected, the binary form is therefore also
//! accepted; see `either`.

pub(crate) mod content;
pub(crate) mod dictionary;
mod either;
mod gaps;
pub(crate) mod numbers;

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::array::Array;
use crate::base::element::{Element, ElementType};
use crate::base::error::Error;
use crate::base::number::{Exact, Loss};
use crate::base::value::AnyValue;
use crate::dictionary::DataDictionary;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Shape, TableDescription};

/// Maximum number of elements for which a size hint reserves memory.
const TRUSTED_HINT: usize = 4096;

thread_local! {
    /// The size in bytes of the last failed allocation: errors of serde formats are strings and cannot carry it.
    static REFUSED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Converts an error to a format's error, and remembers it if it is a failed allocation.
pub fn remember<E: de::Error>(error: Error) -> E {
    if let Some(bytes) = error.refused_bytes() {
        REFUSED.set(Some(bytes));
    }
    E::custom(error)
}

/// Like [`remember`], for serialization.
pub fn refused<E: serde::ser::Error>(error: Error) -> E {
    if let Some(bytes) = error.refused_bytes() {
        REFUSED.set(Some(bytes));
    }
    E::custom(error)
}

/// Returns and clears the failed allocation of this thread's last encoding or decoding, if there was one.
pub(crate) fn take_refusal() -> Option<Error> {
    REFUSED.take().map(Error::out_of_memory)
}

impl Serialize for ElementType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ElementType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = ElementType;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an element type")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<ElementType, E> {
                name.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Name)
    }
}

/// A number in a human-readable format.
struct SerializedNumber<T>(T);

impl<T: Element> Serialize for SerializedNumber<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.exact() {
            Exact::Integer(value) => match i64::try_from(value) {
                Ok(value) => serializer.serialize_i64(value),
                Err(_) => serializer.serialize_u64(value as u64), // integers have at most 64 bits
            },
            Exact::Float(value) if value.is_nan() => serializer.serialize_str("NaN"),
            Exact::Float(f64::INFINITY) => serializer.serialize_str("Infinity"),
            Exact::Float(f64::NEG_INFINITY) => serializer.serialize_str("-Infinity"),
            Exact::Float(value) if T::TYPE == ElementType::F64 => serializer.serialize_f64(value),
            Exact::Float(value) => serializer.serialize_f32(value as f32), // exact for f32, f16 and bf16
        }
    }
}

impl<'de, T: Element> Deserialize<'de> for SerializedNumber<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(AnyNumber(PhantomData))? {
            NumberOrType::Number(number) => Ok(number),
            NumberOrType::Type(element) => {
                let name = de::Unexpected::Str(element.name());
                Err(de::Error::invalid_value(name, &AnyNumber::<T>(PhantomData)))
            }
        }
    }
}

/// The first item of a sequence: a number, or the name of a type, followed by the values in one piece.
enum NumberOrType<T> {
    Number(SerializedNumber<T>),
    Type(ElementType),
}

impl<'de, T: Element> Deserialize<'de> for NumberOrType<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyNumber(PhantomData))
    }
}

struct AnyNumber<T>(PhantomData<T>);

impl<T: Element> AnyNumber<T> {
    /// Converts a number to `T`. Integers must be in range, and floats must not overflow to infinity. A decimal may be
    /// rounded to a float.
    fn number<E: de::Error>(number: Exact) -> Result<NumberOrType<T>, E> {
        let is_permitted = match T::loss(number) {
            Loss::None => true,
            Loss::Inexact => T::TYPE.is_float(),
            _ => false,
        };
        match number {
            _ if is_permitted => Ok(NumberOrType::Number(SerializedNumber(T::nearest(number)))),
            Exact::Integer(value) => Err(E::custom(format_args!("{value} is not a value of {}", T::TYPE))),
            Exact::Float(value) => {
                Err(E::custom(format_args!("{} is not a value of {}", AnyValue::from(value), T::TYPE)))
            }
        }
    }
}

impl<T: Element> Visitor<'_> for AnyNumber<T> {
    type Value = NumberOrType<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of {}", T::TYPE)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<NumberOrType<T>, E> {
        Self::number(Exact::Integer(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<NumberOrType<T>, E> {
        Self::number(Exact::Integer(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<NumberOrType<T>, E> {
        if !T::TYPE.is_float() && value.abs() >= MAX_EXACT_INTEGER {
            let element = T::TYPE;
            return Err(E::custom(format_args!("{value:e} may have lost digits before its conversion to {element}")));
        }
        let value = if T::TYPE == ElementType::F32 { decimal_to_f32(value) } else { value };
        Self::number(Exact::Float(value))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<NumberOrType<T>, E> {
        let value = match name {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => match name.parse() {
                Ok(element) => return Ok(NumberOrType::Type(element)),
                Err(_) => return Err(E::invalid_value(de::Unexpected::Str(name), &self)),
            },
        };
        Self::number(Exact::Float(value))
    }

    /// Accepts `null`, which other programs write for a NaN.
    fn visit_unit<E: de::Error>(self) -> Result<NumberOrType<T>, E> {
        Self::number(Exact::Float(f64::NAN))
    }
}

/// From here on, several integers round to the same `f64`, so a format that parsed a decimal may have rounded it.
const MAX_EXACT_INTEGER: f64 = (1_u64 << 53) as f64;

/// Rounds the decimal that was parsed as an `f64` to an `f32`, only once.
///
/// Formats pass decimals as `f64`. If that is exactly between two `f32`, the decimal itself decides the rounding. In
/// data written by this crate, it is the shortest decimal that parses to this `f64`.
fn decimal_to_f32(value: f64) -> f64 {
    let near = value as f32;
    let other = if f64::from(near) < value { near.next_up() } else { near.next_down() };
    let is_between = (f64::from(near) + f64::from(other)) / 2.0 == value; // exact: the sum has 25 bits
    if is_between { value.to_string().parse::<f32>().map_or(value, f64::from) } else { value }
}

/// A slice of values, for binary and human-readable formats.
struct SerializedValues<'a, T>(&'a [T]);

impl<T: Element> Serialize for SerializedValues<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(&to_little_endian(self.0));
        }
        let mut sequence = serializer.serialize_seq(Some(self.0.len()))?;
        for &value in self.0 {
            sequence.serialize_element(&SerializedNumber(value))?;
        }
        sequence.end()
    }
}

/// Returns the little-endian bytes of values. Borrows on little-endian machines.
fn to_little_endian<T: Element>(values: &[T]) -> Cow<'_, [u8]> {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    let mut swapped = bytes.to_vec();
    swapped.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    Cow::Owned(swapped)
}

/// Bytes, borrowed from the input if the format supports that.
struct Bytes<'de>(Cow<'de, [u8]>);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not `deserialize_byte_buf`: some formats allocate the claimed length before they check it.
        deserializer.deserialize_bytes(AnyBytes)
    }
}

struct AnyBytes;

impl<'de> Visitor<'de> for AnyBytes {
    type Value = Bytes<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Bytes<'de>, E> {
        Ok(Bytes(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes<'de>, E> {
        let mut owned = Vec::new();
        owned.try_reserve_exact(bytes.len()).map_err(|_| remember(Error::out_of_memory(bytes.len())))?;
        owned.extend_from_slice(bytes);
        Ok(Bytes(Cow::Owned(owned)))
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Bytes<'de>, E> {
        Ok(Bytes(Cow::Owned(bytes)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Bytes<'de>, A::Error> {
        Ok(Bytes(Cow::Owned(collect(None, sequence)?)))
    }
}

/// Collects a sequence whose stated length is not trusted, after its first item if that has already been read.
fn collect<'de, I: Deserialize<'de>, A: SeqAccess<'de>>(first: Option<I>, mut sequence: A) -> Result<Vec<I>, A::Error> {
    let mut items = Vec::new();
    items.try_reserve(sequence.size_hint().unwrap_or(0).min(TRUSTED_HINT) + 1).map_err(de::Error::custom)?;
    items.extend(first);
    while let Some(item) = sequence.next_element()? {
        items.try_reserve(1).map_err(de::Error::custom)?;
        items.push(item);
    }
    Ok(items)
}

/// Deserialized values from a binary or human-readable format that are not yet an array.
enum FoundValues<'de, T> {
    Bytes(Bytes<'de>),
    Numbers(Vec<T>),
}

impl<T: Element> FoundValues<'_, T> {
    fn size_in_bytes(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.0.len(),
            Self::Numbers(numbers) => size_of_val(&numbers[..]),
        }
    }

    fn into_array<E: de::Error>(self) -> Result<Array<T>, E> {
        match self {
            Self::Bytes(bytes) => Array::from_little_endian(&bytes.0).map_err(remember),
            Self::Numbers(numbers) => Ok(Array::from(numbers)),
        }
    }
}

impl<'de: 'a, 'a, T: Element> Deserialize<'de> for FoundValues<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(either::AnyValues(PhantomData)),
            false => Ok(Self::Bytes(Bytes::deserialize(deserializer)?)),
        }
    }
}

/// The name of an element type, which must be the name of `T`.
struct StoredType<T>(PhantomData<T>);

impl<'de, T: Element> Deserialize<'de> for StoredType<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(ElementType::deserialize(deserializer)?)
    }
}

impl<T: Element> StoredType<T> {
    fn of<E: de::Error>(found: ElementType) -> Result<Self, E> {
        match T::TYPE {
            expected if found == expected => Ok(Self(PhantomData)),
            expected => Err(E::custom(Error::element_type_mismatch(expected, found))),
        }
    }
}

/// Serializes only the elements of the array, not the rest of its memory block; in binary formats after their type.
impl<T: Element> Serialize for Array<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return SerializedValues(self).serialize(serializer);
        }
        let mut array = serializer.serialize_struct("Array", 2)?;
        array.serialize_field("element_type", &T::TYPE)?;
        array.serialize_field("values", &SerializedValues(self))?;
        array.end()
    }
}

/// An array in a binary format.
#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Element"), deny_unknown_fields)]
struct FoundArray<'a, T> {
    #[serde(rename = "element_type")]
    _element_type: StoredType<T>, // first, so that values of another type are not read at all
    #[serde(borrow)]
    values: FoundValues<'a, T>,
}

/// The new array is owned and mutable. Binary formats must hold the same element type; human-readable ones must hold
/// numbers that `T` can represent.
impl<'de, T: Element> Deserialize<'de> for Array<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(either::AnyArrayForm(PhantomData))?,
            false => FoundArray::deserialize(deserializer)?.values,
        };
        values.into_array()
    }
}

/// Serializes the shape, the dictionary, and the values of the table in the order of its layout.
impl<T: Element> Serialize for HomogenNumericTable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let whole;
        let values = match self.as_slice() {
            Ok(values) => values,
            Err(error) if matches!(error.kind(), crate::base::error::ErrorKind::MemoryLayout { .. }) => {
                whole = self.to_compact().map_err(S::Error::custom)?;
                whole.as_slice().map_err(S::Error::custom)?
            }
            Err(error) => return Err(S::Error::custom(error)),
        };
        let mut table = serializer.serialize_struct("HomogenNumericTable", 6)?;
        table.serialize_field("element_type", &T::TYPE)?;
        table.serialize_field("layout", &self.data_layout())?;
        table.serialize_field("rows", &(self.row_count() as u64))?;
        table.serialize_field("columns", &(self.column_count() as u64))?;
        table.serialize_field("dictionary", self.dictionary())?;
        table.serialize_field("values", &SerializedValues(values))?;
        table.end()
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Element"), deny_unknown_fields)]
struct FoundTable<'a, T> {
    #[serde(rename = "element_type")]
    _element_type: StoredType<T>, // first, as in `FoundArray`
    layout: DataLayout,
    rows: u64,
    columns: u64,
    dictionary: DataDictionary,
    #[serde(borrow)]
    values: FoundValues<'a, T>,
}

/// The new table is internally allocated.
impl<'de, T: Element> Deserialize<'de> for HomogenNumericTable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = FoundTable::<T>::deserialize(deserializer)?;
        let size = |size: u64| usize::try_from(size).map_err(de::Error::custom);
        let shape = Shape { rows: size(found.rows)?, columns: size(found.columns)? };
        let count = shape.element_count_of(T::TYPE).map_err(de::Error::custom)?;
        let bytes = found.values.size_in_bytes();
        if bytes != count * size_of::<T>() {
            let element = T::TYPE;
            return Err(de::Error::custom(format_args!("{bytes} bytes do not match {shape} values of {element}")));
        }
        found.dictionary.check(shape.columns, T::TYPE).map_err(de::Error::custom)?;
        let table = HomogenNumericTable::internal(found.values.into_array()?, shape, found.layout);
        table.with_dictionary(found.dictionary).map_err(de::Error::custom)
    }
}
