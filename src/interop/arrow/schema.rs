//! Conversion between the dictionary of a table and an Arrow schema.
//!
//! Arrow's fields must have names, and have no categories: the rest of a feature is in their metadata, under keys that
//! begin with `numeric-table`. Schemas from other sources have no such metadata; all of their columns are continuous.

use std::collections::HashMap;

use arrow_schema::{Field, Fields, Schema};

use super::options::ArrowExportOptions;
use super::types::data_type;
use crate::base::element::ElementType;
use crate::base::error::{Error, Result};
use crate::dictionary::{Categories, DataDictionary, Feature, FeatureType};

/// The generated Arrow name of a column without a name. If the field is renamed, the two differ, and the column has a
/// name.
const UNNAMED: &str = "numeric-table.unnamed";
/// `categorical` or `ordinal`.
const FEATURE_TYPE: &str = "numeric-table.feature_type";
const CATEGORY_COUNT: &str = "numeric-table.category_count";

/// Approximate number of bytes of an Arrow column without values: its field, array and buffer.
const COLUMN_BYTES: usize = 512;

/// Creates the schema of a table's columns.
///
/// # Errors
/// [`Error::OutOfMemory`] if there is not enough memory for the columns, even without values;
/// [`Error::UnsupportedElementType`] for `bf16`, if all columns have that type; else [`Error::Arrow`] for the first
/// column that has.
pub(super) fn to_schema(dictionary: &DataDictionary, columns: usize, options: ArrowExportOptions) -> Result<Schema> {
    let bytes = columns.saturating_mul(COLUMN_BYTES);
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    let is_mixed = dictionary.uniform_type().is_none();
    let field = |column: usize| {
        let feature = dictionary.feature(column)?;
        let data_type = data_type(feature.element_type).map_err(|error| match is_mixed {
            true => {
                let name = feature.name.clone().unwrap_or_default();
                Error::Arrow { column, name, reason: format!("{} is not a type of Arrow", feature.element_type) }
            }
            false => error,
        })?;
        let mut metadata = HashMap::new();
        let name = feature.name.clone().unwrap_or_else(|| {
            let name = format!("column_{column}");
            metadata.insert(UNNAMED.to_owned(), name.clone());
            name
        });
        if feature.feature_type != FeatureType::Continuous {
            metadata.insert(FEATURE_TYPE.to_owned(), feature.feature_type.to_string());
        }
        if let Some(count) = feature.category_count() {
            metadata.insert(CATEGORY_COUNT.to_owned(), count.to_string());
        }
        let is_nullable = options.has_null_for_nan && feature.element_type.is_float();
        Ok(Field::new(name, data_type, is_nullable).with_metadata(metadata))
    };
    Ok(Schema::new((0..columns).map(field).collect::<Result<Vec<_>>>()?))
}

/// Creates the dictionary of a table, whose column `i` has the type `element_type(i)`.
pub(super) fn to_dictionary(fields: &Fields, element_type: impl Fn(usize) -> ElementType) -> DataDictionary {
    DataDictionary::from_features(fields.iter().enumerate().map(|(column, field)| {
        let metadata = field.metadata();
        let feature_type = match metadata.get(FEATURE_TYPE).map(String::as_str) {
            Some("categorical") => FeatureType::Categorical,
            Some("ordinal") => FeatureType::Ordinal,
            _ => FeatureType::Continuous,
        };
        Feature {
            name: (metadata.get(UNNAMED) != Some(field.name())).then(|| field.name().clone()),
            element_type: element_type(column),
            feature_type,
            categories: metadata.get(CATEGORY_COUNT).and_then(|count| count.parse().ok()).map(Categories::new),
        }
    }))
}
