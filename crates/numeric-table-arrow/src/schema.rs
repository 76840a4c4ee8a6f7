//! Conversion between the dictionary of a table and an Arrow schema.
//!
//! Arrow's fields must have names and have no categories. Their metadata holds the rest of a feature, under keys that
//! begin with `numeric-table`. Columns of schemas from other sources, without such metadata, are continuous.

use std::collections::HashMap;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit as ArrowUnit};
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::{
    DataDictionary, ElementType, Error, Feature, FeatureType, Result,
    dictionary::{Categories, TimeUnit},
};

use crate::error::unsupported;
use crate::options::ArrowExportOptions;
use crate::types::data_type;
use crate::words::words_type;

/// The generated Arrow name of a column without a name. If the name of the field differs from it, the field was
/// renamed, and the column has a name.
const UNNAMED: &str = "numeric-table.unnamed";
/// `categorical` or `ordinal`.
const FEATURE_TYPE: &str = "numeric-table.feature_type";
const CATEGORY_COUNT: &str = "numeric-table.category_count";
/// The element type of a column of words, which its Arrow type does not determine.
const ELEMENT_TYPE: &str = "numeric-table.element_type";
/// `true` for a column whose values may be missing. Other programs make all fields nullable, so that alone says
/// nothing.
const NULLABLE: &str = "numeric-table.nullable";

/// Approximate number of bytes of an Arrow column without values: its field, array and buffer.
const COLUMN_BYTES: usize = 512;

/// Creates the schema of a table's columns.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] if there is not enough memory for the columns, even without values;
/// [`ErrorKind::UnsupportedElementType`] for `bf16`, if all columns have that type; else [`ErrorKind::Unsupported`] for
/// the first column that has.
pub(crate) fn to_schema(dictionary: &DataDictionary, columns: usize, options: ArrowExportOptions) -> Result<Schema> {
    let bytes = columns.saturating_mul(COLUMN_BYTES);
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| Error::out_of_memory(bytes))?;
    let is_mixed = dictionary.uniform_type().is_none();
    let field = |column: usize| {
        let feature = dictionary.feature(column)?;
        let words = words_of(feature, options);
        let numbers = || {
            data_type(feature.element_type).map_err(|error| match is_mixed {
                true => {
                    let name = feature.name.clone().unwrap_or_default();
                    unsupported(Some(column), Some(name), format!("{} is not a type of Arrow", feature.element_type))
                }
                false => error,
            })
        };
        let time = time_type(feature);
        let data_type = match (words, &time) {
            (Some(words), _) => words_type(words),
            (None, Some(time)) => time.clone(),
            (None, None) => numbers()?,
        };
        let mut metadata = HashMap::new();
        let name = feature.name.clone().unwrap_or_else(|| {
            let name = format!("column_{column}");
            metadata.insert(UNNAMED.to_owned(), name.clone());
            name
        });
        if feature.feature_type != FeatureType::Continuous && time.is_none() {
            metadata.insert(FEATURE_TYPE.to_owned(), feature.feature_type.to_string());
        }
        if words.is_some() {
            metadata.insert(ELEMENT_TYPE.to_owned(), feature.element_type.to_string());
        } else if let Some(count) = feature.category_count() {
            metadata.insert(CATEGORY_COUNT.to_owned(), count.to_string());
        }
        if feature.nullable {
            metadata.insert(NULLABLE.to_owned(), true.to_string());
        }
        // A missing word is always null.
        let is_nullable =
            feature.nullable || (options.has_null_for_nan || words.is_some()) && feature.element_type.is_float();
        let is_ordered = words.is_some() && feature.feature_type == FeatureType::Ordinal;
        Ok(Field::new(name, data_type, is_nullable).with_metadata(metadata).with_dict_is_ordered(is_ordered))
    };
    Ok(Schema::new((0..columns).map(field).collect::<Result<Vec<_>>>()?))
}

/// Returns the Arrow type of dates and times with the unit of a column, if the column has dates or times.
fn time_type(feature: &Feature) -> Option<DataType> {
    let FeatureType::Time(unit) = feature.feature_type else { return None };
    let stamp = |unit| Some(DataType::Timestamp(unit, None));
    match (unit, feature.element_type) {
        (TimeUnit::Days, ElementType::I32) => Some(DataType::Date32),
        (TimeUnit::Seconds, ElementType::I64) => stamp(ArrowUnit::Second),
        (TimeUnit::Milliseconds, ElementType::I64) => stamp(ArrowUnit::Millisecond),
        (TimeUnit::Microseconds, ElementType::I64) => stamp(ArrowUnit::Microsecond),
        (TimeUnit::Nanoseconds, ElementType::I64) => stamp(ArrowUnit::Nanosecond),
        _ => None,
    }
}

/// Returns the unit of an Arrow type of dates and times.
fn time_unit(data_type: &DataType) -> Option<TimeUnit> {
    match data_type {
        DataType::Date32 => Some(TimeUnit::Days),
        DataType::Date64 | DataType::Timestamp(ArrowUnit::Millisecond, _) => Some(TimeUnit::Milliseconds),
        DataType::Timestamp(ArrowUnit::Second, _) => Some(TimeUnit::Seconds),
        DataType::Timestamp(ArrowUnit::Microsecond, _) => Some(TimeUnit::Microseconds),
        DataType::Timestamp(ArrowUnit::Nanosecond, _) => Some(TimeUnit::Nanoseconds),
        _ => None,
    }
}

/// Returns the categories of a column that is exported as words.
pub(crate) fn words_of(feature: &Feature, options: ArrowExportOptions) -> Option<&Categories> {
    feature.categories.as_ref().filter(|categories| options.has_labels && categories.has_labels())
}

/// Returns the element type of a column of words in the table that it was exported from, if the schema has it.
pub(crate) fn had_type(field: &Field) -> Option<ElementType> {
    field.metadata().get(ELEMENT_TYPE)?.parse().ok()
}

/// Returns whether values of a column could be missing in the table that it was exported from.
pub(crate) fn was_nullable(field: &Field) -> bool {
    field.is_nullable() && field.metadata().get(NULLABLE).is_some_and(|value| value == "true")
}

/// Returns the kind of quantity of a column, without its words.
fn feature_type(field: &Field) -> FeatureType {
    match field.metadata().get(FEATURE_TYPE).map(String::as_str) {
        Some("categorical") => FeatureType::Categorical,
        Some("ordinal") => FeatureType::Ordinal,
        Some(name) => TimeUnit::ALL
            .iter()
            .map(|&unit| FeatureType::Time(unit))
            .find(|time| time.to_string() == name)
            .unwrap_or(FeatureType::Continuous),
        None => time_unit(field.data_type()).map_or(FeatureType::Continuous, FeatureType::Time),
    }
}

/// Returns whether the next batch may continue a column: whether both have the same unit of time, if any.
pub(crate) fn times_follow(first: &Field, next: &Field) -> bool {
    let without_zone = |field: &Field| match field.data_type() {
        DataType::Timestamp(unit, _) => DataType::Timestamp(*unit, None), // instants, whatever the zone
        other => other.clone(),
    };
    let (is_time, next_type) = (matches!(feature_type(next), FeatureType::Time(_)), without_zone(next));
    let has_unit = is_time || next_type.is_temporal();
    !has_unit || (feature_type(first) == feature_type(next) && (is_time || without_zone(first) == next_type))
}

/// Returns whether an Arrow column can be appended to a table's column: whether their units of time agree.
pub(crate) fn is_time_of(field: &Field, feature: &Feature) -> bool {
    let found = feature_type(field);
    !matches!(found, FeatureType::Time(_)) || found == feature.feature_type
}

/// Creates the dictionary of a table, whose column `i` has the type `element_type(i)`.
pub(crate) fn to_dictionary(
    fields: &Fields,
    element_type: impl Fn(usize) -> ElementType,
    is_nullable: impl Fn(usize) -> bool,
) -> DataDictionary {
    DataDictionary::from_features(fields.iter().enumerate().map(|(column, field)| {
        let (metadata, feature_type) = (field.metadata(), feature_type(field));
        Feature {
            name: (metadata.get(UNNAMED) != Some(field.name())).then(|| field.name().clone()),
            element_type: element_type(column),
            feature_type,
            categories: metadata.get(CATEGORY_COUNT).and_then(|count| count.parse().ok()).map(Categories::new),
            nullable: is_nullable(column),
        }
    }))
}
