//! Values in either form, human-readable or binary.
//!
//! When serde reads ahead, it replays the input from a buffer that reports itself as human-readable in every format.
//! The replayed data reveal the form: bytes are not numbers, and the two forms share no field names. Formats that
//! really are human-readable contain the human-readable form, which is read as always.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{EnumAccessDeserializer, MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, DeserializeSeed, EnumAccess, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::dictionary::{PackedDictionary, ReadableDictionary, collect_features};
use super::{AnyBytes, FoundArray, FoundValues, NumberOrType, SerializedNumber, StoredType, collect, remember};
use crate::base::element::Element;
use crate::dictionary::{DataDictionary, Feature, collect_columns};

/// Values: numbers, or their bytes.
pub(super) struct AnyValues<T>(pub(super) PhantomData<T>);

impl<'de, T: Element> Visitor<'de> for AnyValues<T> {
    type Value = FoundValues<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a sequence of {} values", T::TYPE)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<FoundValues<'de, T>, A::Error> {
        numbers(None, sequence)
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<FoundValues<'de, T>, E> {
        AnyBytes.visit_borrowed_bytes(bytes).map(FoundValues::Bytes)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<FoundValues<'de, T>, E> {
        AnyBytes.visit_bytes(bytes).map(FoundValues::Bytes)
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<FoundValues<'de, T>, E> {
        AnyBytes.visit_byte_buf(bytes).map(FoundValues::Bytes)
    }
}

fn numbers<'de, T: Element, A: SeqAccess<'de>>(
    first: Option<SerializedNumber<T>>,
    sequence: A,
) -> Result<FoundValues<'de, T>, A::Error> {
    let numbers = collect(first, sequence)?;
    Ok(FoundValues::Numbers(numbers.into_iter().map(|number| number.0).collect())) // in place: the layouts are the same
}

/// An array: numbers, or the name of their type and their bytes, as a map or a sequence of both.
pub(super) struct AnyArrayForm<T>(pub(super) PhantomData<T>);

impl<'de, T: Element> Visitor<'de> for AnyArrayForm<T> {
    type Value = FoundValues<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a sequence of {} values", T::TYPE)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<FoundValues<'de, T>, A::Error> {
        match sequence.next_element::<NumberOrType<T>>()? {
            None => Ok(FoundValues::Numbers(Vec::new())),
            Some(NumberOrType::Number(first)) => numbers(Some(first), sequence),
            Some(NumberOrType::Type(element)) => {
                StoredType::<T>::of::<A::Error>(element)?;
                sequence.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &"an element type and values"))
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FoundValues<'de, T>, A::Error> {
        Ok(FoundArray::deserialize(MapAccessDeserializer::new(map))?.values)
    }
}

/// A dictionary: one of the two enum variants of [`ReadableDictionary`], or the fields of [`PackedDictionary`].
pub(super) struct AnyDictionary;

impl<'de> Visitor<'de> for AnyDictionary {
    type Value = DataDictionary;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a dictionary: \"uniform\" or \"each\"")
    }

    /// Other keys are skipped: if a dictionary is flattened into a user's structure, they are other fields of it. A
    /// format that drops the name of the variant `uniform` has its fields here.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DataDictionary, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            match &key[..] {
                "uniform" | "each" if found.is_some() => return Err(de::Error::custom("two dictionaries in one")),
                "uniform" => found = Some(map.next_value::<Uniform>()?.into_dictionary()),
                "each" => found = Some(map.next_value::<Each>()?.0),
                "feature" if found.is_none() => {
                    let rest = Rest { first: Some(key), rest: map };
                    return Ok(Uniform::deserialize(MapAccessDeserializer::new(rest))?.into_dictionary());
                }
                "is_uniform" if found.is_none() => {
                    let rest = Rest { first: Some(key), rest: map };
                    return PackedDictionary::deserialize(MapAccessDeserializer::new(rest))?.unpack();
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        found.ok_or_else(|| de::Error::custom("this is not a dictionary: it has neither \"uniform\" nor \"each\""))
    }

    /// A format that drops the name of the variant `each` has its features here.
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<DataDictionary, A::Error> {
        match sequence.next_element()? {
            Some(FlagOrFeature::Flag(flag)) => {
                let rest = Rest { first: Some(flag), rest: sequence };
                PackedDictionary::deserialize(SeqAccessDeserializer::new(rest))?.unpack()
            }
            Some(FlagOrFeature::Features(dictionary)) => Ok(dictionary),
            Some(FlagOrFeature::Feature(first)) => {
                let rest = std::iter::from_fn(|| sequence.next_element().transpose());
                collect_columns(std::iter::once(Ok(first)).chain(rest), remember)
            }
            None => collect_columns(std::iter::empty(), remember),
        }
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<DataDictionary, A::Error> {
        Ok(ReadableDictionary::deserialize(EnumAccessDeserializer::new(data))?.into_dictionary())
    }
}

/// The two variants of [`ReadableDictionary`]. In a format that does not name fields, their fields may be a sequence.
#[derive(Deserialize)]
struct Uniform {
    feature: Feature,
    count: usize,
}

impl Uniform {
    fn into_dictionary(self) -> DataDictionary {
        DataDictionary::uniform(self.feature, self.count)
    }
}

#[derive(Deserialize)]
struct Each(#[serde(deserialize_with = "collect_features")] DataDictionary);

/// The first item of a dictionary that is a sequence: of a packed dictionary, of features, or of a sequence of
/// features.
enum FlagOrFeature {
    Flag(bool),
    Feature(Feature),
    Features(DataDictionary),
}

impl<'de> Deserialize<'de> for FlagOrFeature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First;

        impl<'de> Visitor<'de> for First {
            type Value = FlagOrFeature;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a feature, or whether all are equal")
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<FlagOrFeature, E> {
                Ok(FlagOrFeature::Flag(flag))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FlagOrFeature, A::Error> {
                Feature::deserialize(MapAccessDeserializer::new(map)).map(FlagOrFeature::Feature)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<FlagOrFeature, A::Error> {
                collect_features(SeqAccessDeserializer::new(sequence)).map(FlagOrFeature::Features)
            }
        }
        deserializer.deserialize_any(First)
    }
}

/// A map or a sequence whose first key or item has been read.
struct Rest<I, A> {
    first: Option<I>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rest<String, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Rest<bool, A> {
    type Error = A::Error;

    fn next_element_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(item) => seed.deserialize(item.into_deserializer()).map(Some),
            None => self.rest.next_element_seed(seed),
        }
    }
}
