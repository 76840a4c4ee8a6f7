//! What columns are called and mean, in an Arrow schema and in a dictionary.
//!
//! Arrow's fields must have names, and know nothing of categories: what is lacking is in their metadata, under `PREFIX`.
//! A schema of somebody else's has no such metadata; all of its columns are continuous.

use std::collections::HashMap;

use arrow_schema::{DataType, Field, Schema};

use crate::base::element::ElementType;
use crate::base::error::{Error, Result};
use crate::dictionary::{DataDictionary, Feature, FeatureType};

/// A column that the table gives no name has one in Arrow, its number, and here as well: if somebody renames it, it has a name.
const UNNAMED: &str = "numeric-table.unnamed";
/// `categorical` or `ordinal`.
const FEATURE_TYPE: &str = "numeric-table.feature_type";
const CATEGORY_COUNT: &str = "numeric-table.category_count";

/// What Arrow takes for a column without values, about: its field, its array, its buffer.
const COLUMN_BYTES: usize = 512;

/// Describes columns of one type.
///
/// # Errors
/// [`Error::OutOfMemory`] if there is no room for so many columns, with or without values.
pub(super) fn to_schema(dictionary: &DataDictionary, data_type: &DataType, columns: usize) -> Result<Schema> {
    let bytes = columns.saturating_mul(COLUMN_BYTES);
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    let field = |column: usize| {
        let feature = dictionary.feature(column)?;
        let mut metadata = HashMap::new();
        let name = feature.name.clone().unwrap_or_else(|| {
            let name = format!("column_{column}");
            metadata.insert(UNNAMED.to_owned(), name.clone());
            name
        });
        if feature.feature_type != FeatureType::Continuous {
            metadata.insert(FEATURE_TYPE.to_owned(), feature.feature_type.to_string());
        }
        if let Some(count) = feature.category_count {
            metadata.insert(CATEGORY_COUNT.to_owned(), count.to_string());
        }
        Ok(Field::new(name, data_type.clone(), false).with_metadata(metadata))
    };
    Ok(Schema::new((0..columns).map(field).collect::<Result<Vec<_>>>()?))
}

/// Describes the columns of a table of some element type.
pub(super) fn to_dictionary(schema: &Schema, element_type: ElementType) -> DataDictionary {
    DataDictionary::from_features(schema.fields().iter().map(|field| {
        let metadata = field.metadata();
        let feature_type = match metadata.get(FEATURE_TYPE).map(String::as_str) {
            Some("categorical") => FeatureType::Categorical,
            Some("ordinal") => FeatureType::Ordinal,
            _ => FeatureType::Continuous,
        };
        Feature {
            name: (metadata.get(UNNAMED) != Some(field.name())).then(|| field.name().clone()),
            element_type,
            feature_type,
            category_count: metadata.get(CATEGORY_COUNT).and_then(|count| count.parse().ok()),
        }
    }))
}
