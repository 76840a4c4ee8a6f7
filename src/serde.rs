//! `Serialize` and `Deserialize` for element types, arrays, dictionaries and tables.
//!
//! Binary formats get values as one `serialize_bytes` of little-endian data, behind the name of their element type;
//! human-readable formats get numbers, with `"NaN"`, `"Infinity"` and `"-Infinity"` as strings, since JSON has no such
//! numbers. Neither has a version or the name of a table's kind: whoever reads one says the type, and so the kind. What is
//! written here never changes, because readers refuse members that they do not know, and binary formats do not name any.
//! Archives put a version and the kind in front of it.
//!
//! Deserialization trusts nothing: counts, products and types are checked before memory is taken, and what is borrowed from
//! the input is not copied before it has been checked.

mod dictionary;

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
use crate::dictionary::DataDictionary;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Shape};

/// No sequence reserves room for more elements than this before it has seen them.
const TRUSTED_HINT: usize = 4096;

thread_local! {
    /// The bytes that were refused last: the errors of formats are texts, and cannot say so to a program.
    static REFUSED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Makes an error of a format, and remembers it if memory was refused.
fn remember<E: de::Error>(error: Error) -> E {
    if let Error::OutOfMemory { bytes } = error {
        REFUSED.set(Some(bytes));
    }
    E::custom(error)
}

/// Returns the refusal of memory that this thread's last decoding has failed for, if it has, and forgets it.
pub(crate) fn take_refusal() -> Option<Error> {
    REFUSED.take().map(|bytes| Error::OutOfMemory { bytes })
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

/// One number in a human-readable format.
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
        struct AnyNumber<T>(PhantomData<T>);

        impl<T: Element> AnyNumber<T> {
            /// Integers must be in range, and floats must not become infinite; a decimal may be rounded to a float.
            fn number<E: de::Error>(number: Exact) -> Result<SerializedNumber<T>, E> {
                match T::loss(number) {
                    Loss::None => Ok(SerializedNumber(T::nearest(number))),
                    Loss::Inexact if T::TYPE.is_float() => Ok(SerializedNumber(T::nearest(number))),
                    _ => match number {
                        Exact::Integer(value) => Err(E::custom(format_args!("{value} is not a value of {}", T::TYPE))),
                        Exact::Float(value) => Err(E::custom(format_args!("{value} is not a value of {}", T::TYPE))),
                    },
                }
            }
        }

        impl<T: Element> Visitor<'_> for AnyNumber<T> {
            type Value = SerializedNumber<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a value of {}", T::TYPE)
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<SerializedNumber<T>, E> {
                Self::number(Exact::Integer(value.into()))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<SerializedNumber<T>, E> {
                Self::number(Exact::Integer(value.into()))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<SerializedNumber<T>, E> {
                if !T::TYPE.is_float() && value.abs() >= MAX_EXACT_INTEGER {
                    let element = T::TYPE;
                    return Err(E::custom(format_args!(
                        "{value:e} may have lost digits before it came to be {element}"
                    )));
                }
                let value = if T::TYPE == ElementType::F32 { decimal_to_f32(value) } else { value };
                Self::number(Exact::Float(value))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<SerializedNumber<T>, E> {
                let value = match name {
                    "NaN" => f64::NAN,
                    "Infinity" => f64::INFINITY,
                    "-Infinity" => f64::NEG_INFINITY,
                    _ => return Err(E::invalid_value(de::Unexpected::Str(name), &self)),
                };
                Self::number(Exact::Float(value))
            }

            /// What other writers put in the place of a NaN.
            fn visit_unit<E: de::Error>(self) -> Result<SerializedNumber<T>, E> {
                Self::number(Exact::Float(f64::NAN))
            }
        }
        deserializer.deserialize_any(AnyNumber(PhantomData))
    }
}

/// From here on an `f64` may stand for several integers: a format that read a decimal into it has rounded.
const MAX_EXACT_INTEGER: f64 = (1_u64 << 53) as f64;

/// Rounds the decimal that an `f64` was read from to an `f32`, once.
///
/// Formats hand over decimals as `f64`. Where that is exactly between two `f32`, the decimal itself decides: it is, for
/// what this crate has written, the shortest one that leads to this `f64`.
fn decimal_to_f32(value: f64) -> f64 {
    let near = value as f32;
    let other = if f64::from(near) < value { near.next_up() } else { near.next_down() };
    let is_between = (f64::from(near) + f64::from(other)) / 2.0 == value; // exact: the sum has 25 bits
    if is_between { value.to_string().parse::<f32>().map_or(value, f64::from) } else { value }
}

/// A slice of values, in either kind of format.
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

/// The bytes of values as files have them. Free on little-endian machines.
fn to_little_endian<T: Element>(values: &[T]) -> Cow<'_, [u8]> {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    let mut swapped = bytes.to_vec();
    swapped.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    Cow::Owned(swapped)
}

/// Bytes that are borrowed from the input where the format can lend them.
struct Bytes<'de>(Cow<'de, [u8]>);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
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
                owned
                    .try_reserve_exact(bytes.len())
                    .map_err(|_| remember(Error::OutOfMemory { bytes: bytes.len() }))?;
                owned.extend_from_slice(bytes);
                Ok(Bytes(Cow::Owned(owned)))
            }

            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Bytes<'de>, E> {
                Ok(Bytes(Cow::Owned(bytes)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Bytes<'de>, A::Error> {
                Ok(Bytes(Cow::Owned(collect(sequence)?)))
            }
        }
        // Not `deserialize_byte_buf`: some formats allocate what a hostile length asks for before they look.
        deserializer.deserialize_bytes(AnyBytes)
    }
}

/// Collects a sequence whose length nobody vouches for.
fn collect<'de, I: Deserialize<'de>, A: SeqAccess<'de>>(mut sequence: A) -> Result<Vec<I>, A::Error> {
    let mut items = Vec::new();
    items.try_reserve(sequence.size_hint().unwrap_or(0).min(TRUSTED_HINT)).map_err(de::Error::custom)?;
    while let Some(item) = sequence.next_element()? {
        items.try_reserve(1).map_err(de::Error::custom)?;
        items.push(item);
    }
    Ok(items)
}

/// Values that are not yet in an array of their own, in either kind of format.
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
        struct Numbers<T>(PhantomData<T>);

        impl<'de, T: Element> Visitor<'de> for Numbers<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a sequence of {} values", T::TYPE)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Vec<T>, A::Error> {
                let numbers: Vec<SerializedNumber<T>> = collect(sequence)?;
                Ok(numbers.into_iter().map(|number| number.0).collect()) // in place: the layouts are the same
            }
        }
        if deserializer.is_human_readable() {
            Ok(Self::Numbers(deserializer.deserialize_seq(Numbers(PhantomData))?))
        } else {
            Ok(Self::Bytes(Bytes::deserialize(deserializer)?))
        }
    }
}

/// The element type of values, which must be `T`.
struct StoredType<T>(PhantomData<T>);

impl<'de, T: Element> Deserialize<'de> for StoredType<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (found, expected) = (ElementType::deserialize(deserializer)?, T::TYPE);
        if found != expected {
            return Err(de::Error::custom(Error::element_type_mismatch(expected, found)));
        }
        Ok(Self(PhantomData))
    }
}

/// Writes the elements that the array shows, and nothing else of its block; binary formats get their type first.
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
    _element_type: StoredType<T>, // first, so that values of another type are not even looked at
    #[serde(borrow)]
    values: FoundValues<'a, T>,
}

/// The array is new: owned and mutable. Binary formats must hold the same element type, human-readable ones numbers that it
/// has.
impl<'de, T: Element> Deserialize<'de> for Array<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = match deserializer.is_human_readable() {
            true => FoundValues::deserialize(deserializer)?,
            false => FoundArray::deserialize(deserializer)?.values,
        };
        values.into_array()
    }
}

/// Writes the shape, the dictionary, and the values that the table shows in the order of its layout.
impl<T: Element> Serialize for HomogenNumericTable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let whole;
        let values = match self.as_slice() {
            Ok(values) => values,
            Err(crate::base::error::Error::NotContiguous) => {
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

/// The table is new: internally allocated.
impl<'de, T: Element> Deserialize<'de> for HomogenNumericTable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = FoundTable::<T>::deserialize(deserializer)?;
        let size = |size: u64| usize::try_from(size).map_err(de::Error::custom);
        let shape = Shape { rows: size(found.rows)?, columns: size(found.columns)? };
        let count = shape.element_count_of(T::TYPE).map_err(de::Error::custom)?;
        let bytes = found.values.size_in_bytes();
        if bytes != count * size_of::<T>() {
            let element = T::TYPE;
            return Err(de::Error::custom(format_args!("{bytes} bytes are not the values of {shape} {element}")));
        }
        found.dictionary.check(shape.columns, T::TYPE).map_err(de::Error::custom)?;
        let table = HomogenNumericTable::internal(found.values.into_array()?, shape, found.layout);
        table.described_by(found.dictionary).map_err(de::Error::custom)
    }
}
