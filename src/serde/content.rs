//! `Serialize` and `Deserialize` for arrays whose type is known only at run time, and for tables of every kind.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, EnumAccess, VariantAccess, Visitor};
use serde::ser::{Error as _, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::gaps::{FoundColumn, WithNulls};
use super::{FoundValues, SerializedValues, refused, remember};
use crate::array::AnyArray;
use crate::base::element::{ElementType, match_element, with_elements};
use crate::base::error::{Error, ErrorKind};
use crate::base::room::with_room;
use crate::dictionary::DataDictionary;
use crate::table::content::{Content, FoundContent, Stored, Values, with_stored_kinds};
use crate::table::{NumericTable, Shape, TableKind};

macro_rules! names {
    (() [$(($Variant:ident, $Element:ty, $name:literal, $id:literal))*]) => { &[$($name),*] };
}

/// The names of all element types: the variants of an array.
pub(super) const NAMES: &[&str] = with_elements!(names());

/// Serializes the elements as the only variant of an enum. The variant has the name of their type, and in binary
/// formats its [`id`](ElementType::id).
///
/// ```
/// use numeric_table::AnyArray;
/// let array = AnyArray::from(vec![1.5_f32, f32::NAN]);
/// assert_eq!(serde_json::to_string(&array)?, r#"{"f32":[1.5,"NaN"]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
impl Serialize for AnyArray {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (element, values) = (self.element_type(), self.as_slice());
        let id = element.id().into();
        match_element!(element, T => {
            serializer.serialize_newtype_variant("AnyArray", id, element.name(), &SerializedValues(values.as_slice::<T>()))
        })
    }
}

/// The new array is owned and mutable.
impl<'de> Deserialize<'de> for AnyArray {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValues;

        impl<'de> Visitor<'de> for AnyValues {
            type Value = AnyArray;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("values under the name of their element type")
            }

            fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<AnyArray, A::Error> {
                let (Variant(element), values) = data.variant()?;
                match_element!(element, T => {
                    let values: FoundValues<'de, T> = values.newtype_variant()?;
                    Ok(AnyArray::new(values.into_array::<A::Error>()?))
                })
            }
        }
        deserializer.deserialize_enum("AnyArray", NAMES, AnyValues)
    }
}

/// The variant of an array: by name, or by id.
pub(super) struct Variant(pub(super) ElementType);

impl<'de> Deserialize<'de> for Variant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrId;

        impl Visitor<'_> for NameOrId {
            type Value = Variant;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name or the id of an element type")
            }

            fn visit_u64<E: de::Error>(self, id: u64) -> Result<Variant, E> {
                let element = u8::try_from(id).ok().and_then(ElementType::from_id);
                element.map(Variant).ok_or_else(|| E::custom(format_args!("{id} is not the id of an element type")))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Variant, E> {
                name.parse().map(Variant).map_err(E::custom)
            }

            fn visit_bytes<E: de::Error>(self, name: &[u8]) -> Result<Variant, E> {
                self.visit_str(std::str::from_utf8(name).map_err(E::custom)?)
            }
        }
        deserializer.deserialize_identifier(NameOrId)
    }
}

/// Columns are copied one at a time.
impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_array().map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// The columns of a table, and bitmaps of missing values as further arrays.
struct Columns<'a> {
    content: &'a Content<'a>,
    bitmaps: Vec<Values<'a>>,
    /// Whether missing values are `null`.
    has_nulls: bool,
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { content: Content { values, gaps, .. }, bitmaps, has_nulls } = self;
        let validity = |column: usize| match has_nulls {
            true => gaps.binary_search_by_key(&column, |(column, _)| *column).ok().map(|at| &gaps[at].1),
            false => None,
        };
        let columns = values.iter().enumerate().map(|(column, values)| WithNulls(values, validity(column)));
        serializer.collect_seq(columns.chain(bitmaps.iter().map(|bitmap| WithNulls(bitmap, None))))
    }
}

/// Serializes the parts of a table, after the name of its kind.
impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let has_nulls = serializer.is_human_readable();
        let (of_bitmaps, bitmaps) = match has_nulls {
            true => (Vec::new(), Vec::new()),
            false => self.bitmaps().map_err(refused)?,
        };
        let mut settings = self.settings.clone();
        settings.extend(of_bitmaps);
        let mut table = serializer.serialize_struct("NumericTable", 6)?;
        table.serialize_field("kind", self.kind.name())?;
        table.serialize_field("rows", &(self.shape.rows as u64))?;
        table.serialize_field("columns", &(self.shape.columns as u64))?;
        table.serialize_field("settings", &settings)?;
        table.serialize_field("dictionary", &self.dictionary)?;
        table.serialize_field("arrays", &Columns { content: self, bitmaps, has_nulls })?;
        table.end()
    }
}

/// The deserialized parts of a table of any kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FoundTable<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    rows: u64,
    columns: u64,
    settings: Vec<u64>,
    dictionary: DataDictionary,
    arrays: Vec<FoundColumn>,
}

impl FoundTable<'_> {
    /// Returns the unchecked content.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the number of rows or columns exceeds the integer range of this machine, or if a value
    /// is `null` in a column of integers that is not nullable; [`ErrorKind::OutOfMemory`].
    pub(crate) fn into_content(self) -> Result<FoundContent, Error> {
        let Self { kind, rows, columns, settings, dictionary, arrays: found } = self;
        let too_large = |_| Error::format(0, format!("{rows} x {columns} values are too many for this machine"));
        let shape =
            Shape { rows: rows.try_into().map_err(too_large)?, columns: columns.try_into().map_err(too_large)? };
        let has_columns = kind == TableKind::STRUCTURE_OF_ARRAYS.name();
        let (mut arrays, mut gaps) = (with_room(found.len())?, Vec::new());
        for (index, FoundColumn { array, validity }) in found.into_iter().enumerate() {
            let element = array.element_type();
            match validity {
                Some(validity) if has_columns && dictionary.is_nullable(index) => {
                    gaps.try_reserve(1).map_err(|_| Error::out_of_memory(size_of_val(&gaps)))?;
                    gaps.push((index, validity));
                }
                Some(_) if !element.is_float() => {
                    let reason = format!("null is not a value of {element}, and array {index} is not nullable");
                    return Err(Error::format(0, reason));
                }
                _ => {} // of floating-point numbers, for which other programs write null for NaN
            }
            arrays.push(array);
        }
        Ok(FoundContent { shape, settings, dictionary, arrays, gaps })
    }

    /// Creates a table of the recorded kind.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    pub(crate) fn into_table(self) -> Result<Box<dyn NumericTable>, Error> {
        let kind = self.kind.clone().into_owned();
        let unknown = || Err(Error::format(0, format!("unknown kind of table: {kind:?}; a newer library may know it")));
        self.into_content()?.into_table(&kind).unwrap_or_else(unknown)
    }

    /// Creates a table of a known kind.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    fn into_kind<K: Stored>(self) -> Result<K, Error> {
        if self.kind != K::KIND.name() {
            let found = &self.kind;
            return Err(Error::format(0, format!("the table is of kind {found:?}, not {}", K::KIND)));
        }
        self.into_content()?.into_kind()
    }
}

/// Returns the reason of an error, for formats that report their own positions.
fn reason<E: de::Error>(error: Error) -> E {
    match error.kind() {
        ErrorKind::Format { reason, .. } => E::custom(reason),
        _ => remember(error),
    }
}

/// Serializes the table with the name of its kind. A table of an unnamed kind is serialized by its visible content.
///
/// ```
/// use numeric_table::{SoaNumericTable, prelude::*};
/// let table = SoaNumericTable::from_columns([("count", vec![3_u16, 1])])?;
/// let table: Box<dyn NumericTable> = Box::new(table);
/// let text = serde_json::to_string(&table)?;
/// assert!(text.starts_with(r#"{"kind":"structure-of-arrays","rows":2,"columns":1"#));
/// let back: Box<dyn NumericTable> = serde_json::from_str(&text)?;
/// assert_eq!(back.downcast_ref::<SoaNumericTable>().unwrap().column_slice::<u16>(0)?, [3, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for dyn NumericTable + '_ {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Content::of_any(self).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// The new table is internally allocated.
impl<'de> Deserialize<'de> for Box<dyn NumericTable> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FoundTable::deserialize(deserializer)?.into_table().map_err(reason)
    }
}

macro_rules! stored_kinds {
    ($(($Kind:ty, $($page:tt)*)),*) => {$(
        /// Serializes the table with the name of its kind.
        impl Serialize for $Kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.content().map_err(S::Error::custom)?.serialize(serializer)
            }
        }

        /// The new table is internally allocated. A table of another kind is an error.
        impl<'de> Deserialize<'de> for $Kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                FoundTable::deserialize(deserializer)?.into_kind().map_err(reason)
            }
        }
    )*};
}
with_stored_kinds!(stored_kinds);
