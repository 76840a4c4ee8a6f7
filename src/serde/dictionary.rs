//! `Serialize` and `Deserialize` for dictionaries and features.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::either::AnyDictionary;
use super::{Bytes, remember};
use crate::base::element::ElementType;
use crate::dictionary::{
    Categories, CategoriesView, DataDictionary, EncodedLabels, Feature, FeatureType, FeatureView, collect_columns,
    from_views,
};

/// A dictionary in a human-readable format.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReadableDictionary<'a> {
    Uniform {
        feature: Cow<'a, Feature>,
        count: usize,
    },
    #[serde(serialize_with = "list_features", deserialize_with = "collect_features")]
    Each(DataDictionary),
}

fn list_features<S: Serializer>(dictionary: &DataDictionary, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(dictionary.listed())
}

pub(super) fn collect_features<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DataDictionary, D::Error> {
    struct FeatureSequence;

    impl<'de> Visitor<'de> for FeatureSequence {
        type Value = DataDictionary;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence of features")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<DataDictionary, A::Error> {
            collect_columns(std::iter::from_fn(|| sequence.next_element().transpose()), remember)
        }
    }
    deserializer.deserialize_seq(FeatureSequence)
}

/// A dictionary in a binary format: one record of 32 bytes per stored feature, and the concatenated names in order.
///
/// A record contains: element id, feature type, flags (1: has a name, 2: has a category count, 4: has labels, 8: is
/// nullable), five zeros; category count, start and length of the name, as `u64`. The labels follow the name, each as
/// its length, a `u64`, and its bytes. A record is as large as the decoded feature, within a factor of two, so no
/// archive makes its reader allocate much more memory than its own size.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedDictionary<'a> {
    is_uniform: bool,
    count: u64,
    #[serde(borrow)]
    records: Bytes<'a>,
    #[serde(borrow)]
    names: Bytes<'a>,
}

const RECORD_BYTES: usize = 32;

impl Serialize for DataDictionary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let listed = self.listed();
        if serializer.is_human_readable() {
            let feature = listed.clone().next().filter(|_| self.is_uniform()).map(Cow::Borrowed);
            return match feature {
                Some(feature) => ReadableDictionary::Uniform { feature, count: self.len() },
                None => ReadableDictionary::Each(self.clone()),
            }
            .serialize(serializer);
        }
        let (mut records, mut names) = (Vec::new(), Vec::new());
        let name_bytes = listed.clone().map(size_of_texts).sum();
        records.try_reserve_exact(listed.len() * RECORD_BYTES).map_err(serde::ser::Error::custom)?;
        names.try_reserve_exact(name_bytes).map_err(serde::ser::Error::custom)?;
        for feature in listed {
            let name = feature.name.as_deref();
            let categories = feature.categories.as_ref();
            let has_labels = categories.is_some_and(Categories::has_labels);
            let flags = [name.is_some(), categories.is_some(), has_labels, feature.nullable];
            let flags = (0..).zip(flags).fold(0, |all, (bit, flag)| all | u8::from(flag) << bit);
            records.extend([feature.element_type.id(), feature.feature_type.id(), flags, 0, 0, 0, 0, 0]);
            records.extend((feature.category_count().unwrap_or(0) as u64).to_le_bytes());
            records.extend((names.len() as u64).to_le_bytes());
            records.extend((name.unwrap_or("").len() as u64).to_le_bytes());
            names.extend(name.unwrap_or("").bytes());
            if let Some(categories) = categories {
                EncodedLabels::append(&mut names, categories);
            }
        }
        let [records, names] = [records, names].map(|bytes| Bytes(Cow::Owned(bytes)));
        PackedDictionary { is_uniform: self.is_uniform(), count: self.len() as u64, records, names }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DataDictionary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(AnyDictionary),
            false => PackedDictionary::deserialize(deserializer)?.unpack(),
        }
    }
}

impl ReadableDictionary<'_> {
    pub(super) fn into_dictionary(self) -> DataDictionary {
        match self {
            Self::Uniform { feature, count } => DataDictionary::uniform(feature.into_owned(), count),
            Self::Each(dictionary) => dictionary,
        }
    }
}

impl PackedDictionary<'_> {
    pub(super) fn unpack<E: de::Error>(self) -> Result<DataDictionary, E> {
        let packed = self;
        let count = usize::try_from(packed.count).map_err(de::Error::custom)?;
        let stored = if packed.is_uniform { 1 } else { count };
        let (records, rest) = packed.records.0.as_chunks::<RECORD_BYTES>();
        if records.len() != stored || !rest.is_empty() {
            let bytes = packed.records.0.len();
            return Err(de::Error::custom(format_args!("{bytes} bytes of records do not match {stored} features")));
        }
        let (names, mut end) = (&packed.names.0, 0);
        for record in records {
            if let Some(CategoriesView::Encoded(words)) = read_feature::<E>(record, names, &mut end)?.categories {
                words.check_distinct().map_err(remember)?;
            }
        }
        if end < names.len() {
            return Err(de::Error::custom(format_args!("bytes after the last feature's name: {}", names.len() - end)));
        }
        let mut end = 0;
        let mut features = records.iter().map(move |record| read_feature(record, names, &mut end));
        if !packed.is_uniform {
            return from_views(features, remember);
        }
        match features.next() {
            Some(feature) => Ok(DataDictionary::uniform(feature?.to_feature().map_err(remember)?, count)),
            None => Err(de::Error::custom("the feature of all columns is missing")),
        }
    }
}

/// Reads one feature. Its name must begin where the previous one ends, so names never share bytes.
fn read_feature<'a, E: de::Error>(
    record: &[u8; RECORD_BYTES],
    names: &'a [u8],
    end: &mut usize,
) -> Result<FeatureView<'a>, E> {
    let [element, kind, flags, 0, 0, 0, 0, 0, numbers @ ..] = record else {
        return Err(E::custom("a feature record has bytes that should be zero"));
    };
    let element_type = ElementType::from_id(*element)
        .ok_or_else(|| E::custom(format_args!("{element} is not the id of an element type")))?;
    let feature_type =
        FeatureType::from_id(*kind).ok_or_else(|| E::custom(format_args!("{kind} is not the id of a feature type")))?;
    let number = |index: usize| {
        let (numbers, _) = numbers.as_chunks::<8>();
        usize::try_from(u64::from_le_bytes(numbers[index])).map_err(E::custom)
    };
    let (categories, start, length) = (number(0)?, number(1)?, number(2)?);
    let name = start.checked_add(length).and_then(|end| names.get(start..end)).filter(|_| start == *end);
    let name = name.ok_or_else(|| E::custom("a feature's name does not begin where the previous one ends"))?;
    let name = std::str::from_utf8(name).map_err(E::custom)?;
    *end = start + length;
    let [has_name, has_categories, has_labels, nullable] = [1, 2, 4, 8].map(|flag| flags & flag != 0);
    let contradicts =
        (!has_name && !name.is_empty()) || (!has_categories && categories != 0) || (has_labels && categories == 0);
    if flags & !15 != 0 || contradicts {
        return Err(E::custom("a feature record contradicts itself"));
    }
    let categories = if has_labels {
        let words = EncodedLabels::new(categories as u64, &names[*end..])
            .map_err(|at| E::custom(format_args!("byte {} of the names is not part of a label", *end + at)))?;
        *end += words.size();
        Some(CategoriesView::Encoded(words))
    } else {
        has_categories.then_some(CategoriesView::Count(categories))
    };
    Ok(FeatureView { name: has_name.then_some(name), element_type, feature_type, categories, nullable })
}

/// Returns the size in bytes of the name and the labels of a feature in a binary format.
pub(crate) fn size_of_texts(feature: &Feature) -> usize {
    let words = feature.categories.as_ref().map_or(0, EncodedLabels::size_of);
    feature.name.as_ref().map_or(0, String::len).saturating_add(words)
}

/// Five fields; in a human-readable format four if the categories have no labels, and one more if the column is
/// nullable. Binary formats do not name fields and cannot have another one, so a nullable feature is an error there; as
/// part of a dictionary it is not.
impl Serialize for Feature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = self.categories.as_ref().filter(|categories| categories.has_labels()).map(Words);
        let is_readable = serializer.is_human_readable();
        if self.nullable && !is_readable {
            let reason = "binary formats cannot hold a nullable feature by itself: serialize a dictionary of it";
            return Err(serde::ser::Error::custom(reason));
        }
        let is_short = words.is_none() && is_readable;
        let count = if is_short { 4 } else { 5 } + usize::from(self.nullable);
        let mut fields = serializer.serialize_struct("Feature", count)?;
        fields.serialize_field("name", &self.name)?;
        fields.serialize_field("element_type", &self.element_type)?;
        fields.serialize_field("feature_type", &self.feature_type)?;
        fields.serialize_field("category_count", &self.category_count())?;
        match is_short {
            true => fields.skip_field("categories")?,
            false => fields.serialize_field("categories", &words)?,
        }
        match self.nullable {
            true => fields.serialize_field("nullable", &true)?,
            false => fields.skip_field("nullable")?,
        }
        fields.end()
    }
}

/// The labels of categories as a list.
struct Words<'a>(&'a Categories);

impl Serialize for Words<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.labels())
    }
}

/// All fields that a feature in a human-readable format may have.
#[derive(Deserialize)]
#[serde(rename = "Feature", deny_unknown_fields)]
struct FoundFeature {
    #[serde(default)]
    name: Option<String>,
    element_type: ElementType,
    #[serde(default)]
    feature_type: FeatureType,
    #[serde(default)]
    category_count: Option<usize>,
    #[serde(default)]
    categories: Option<FoundWords>,
    #[serde(default)]
    nullable: bool,
}

/// The fields of a feature in a binary format, which may not name them.
#[derive(Deserialize)]
#[serde(rename = "Feature", deny_unknown_fields)]
struct PackedFeature {
    #[serde(default)]
    name: Option<String>,
    element_type: ElementType,
    #[serde(default)]
    feature_type: FeatureType,
    #[serde(default)]
    category_count: Option<usize>,
    #[serde(default)]
    categories: Option<FoundWords>,
}

impl<'de> Deserialize<'de> for Feature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = match deserializer.is_human_readable() {
            true => FoundFeature::deserialize(deserializer)?,
            false => {
                let packed = PackedFeature::deserialize(deserializer)?;
                let PackedFeature { name, element_type, feature_type, category_count, categories } = packed;
                FoundFeature { name, element_type, feature_type, category_count, categories, nullable: false }
            }
        };
        let categories = match (found.category_count, found.categories) {
            (Some(count), Some(FoundWords(words))) if count != words.len() => {
                let words = words.len();
                return Err(de::Error::custom(format_args!("{count} categories are stated, but {words} are listed")));
            }
            (_, Some(FoundWords(words))) => Some(words),
            (count, None) => count.map(Categories::new),
        };
        let FoundFeature { name, element_type, feature_type, nullable, .. } = found;
        Ok(Self { name, element_type, feature_type, categories, nullable })
    }
}

/// Categories from a list of labels.
struct FoundWords(Categories);

impl<'de> Deserialize<'de> for FoundWords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = FoundWords;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence of words")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<FoundWords, A::Error> {
                let words = std::iter::from_fn(|| sequence.next_element::<Cow<'_, str>>().transpose());
                Categories::try_from_labels(words, remember).map(FoundWords)
            }
        }
        deserializer.deserialize_seq(List)
    }
}
