//! Numbers in computed results: single ones, many of one type, and lists of compound items.
//!
//! They are the fields of the serialized structures of results. In binary formats numbers keep their bits, and many
//! numbers are one `serialize_bytes` like the values of an array, but without the name of their type.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FoundValues, SerializedNumber, SerializedValues, remember};
use crate::base::element::Element;
use crate::base::error::Error;
use crate::base::room::filled;

/// One number.
#[derive(Clone, Copy)]
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => SerializedNumber(self.0).serialize(serializer),
            false => serializer.serialize_f64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.is_human_readable() {
            true => Ok(Self(SerializedNumber::deserialize(deserializer)?.0)),
            false => f64::deserialize(deserializer).map(Self),
        }
    }
}

/// Numbers of one type. Deserialized ones are owned and use exactly as much memory as needed.
pub struct Numbers<'a, T: Element>(
    /// The numbers.
    pub Cow<'a, [T]>,
);

impl<T: Element> Serialize for Numbers<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SerializedValues(&self.0).serialize(serializer)
    }
}

impl<'de, T: Element> Deserialize<'de> for Numbers<'_, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = match FoundValues::<T>::deserialize(deserializer)? {
            FoundValues::Numbers(numbers) => numbers,
            FoundValues::Bytes(bytes) => from_little_endian(&bytes.0)?,
        };
        Ok(Self(Cow::Owned(numbers)))
    }
}

fn from_little_endian<T: Element, E: de::Error>(bytes: &[u8]) -> Result<Vec<T>, E> {
    let (count, rest) = (bytes.len() / size_of::<T>(), bytes.len() % size_of::<T>());
    if rest > 0 {
        return Err(E::custom(format_args!("{} bytes are not a whole number of {} values", bytes.len(), T::TYPE)));
    }
    let mut numbers = filled(count, T::default()).map_err(remember)?;
    let target: &mut [u8] = bytemuck::cast_slice_mut(&mut numbers);
    target.copy_from_slice(bytes);
    if cfg!(target_endian = "big") {
        target.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    Ok(numbers)
}

/// A list whose stated length is not trusted. Reading it takes up to 2.5 times the memory of its items.
pub(crate) struct List<'a, I: Clone>(pub(crate) Cow<'a, [I]>);

impl<I: Serialize + Clone> Serialize for List<'_, I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&*self.0)
    }
}

impl<'de, I: Deserialize<'de> + Clone> Deserialize<'de> for List<'_, I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Cow::Owned(list_of(deserializer, |item, _| Ok(item))?)))
    }
}

/// Deserializes a list and converts each item. A conversion may depend on the previous results.
pub(crate) fn list_of<'de, D: Deserializer<'de>, I: Deserialize<'de>, M>(
    deserializer: D,
    make: impl FnMut(I, &[M]) -> Result<M, &'static str>,
) -> Result<Vec<M>, D::Error> {
    struct Items<I, M, F>(F, PhantomData<(I, M)>);

    impl<'de, I: Deserialize<'de>, M, F: FnMut(I, &[M]) -> Result<M, &'static str>> Visitor<'de> for Items<I, M, F> {
        type Value = Vec<M>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Vec<M>, A::Error> {
            let mut made = Vec::new();
            while let Some(item) = sequence.next_element()? {
                if made.len() == made.capacity() {
                    let more = (made.len() / 2).max(16);
                    let bytes = (made.len() + more).saturating_mul(size_of::<M>());
                    made.try_reserve_exact(more).map_err(|_| remember(Error::out_of_memory(bytes)))?;
                }
                made.push((self.0)(item, &made).map_err(de::Error::custom)?);
            }
            Ok(made)
        }
    }
    deserializer.deserialize_seq(Items(make, PhantomData))
}
