//! Element types as Arrow types, and dictionaries as schemas.

use std::collections::HashSet;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::error::{DataFusionError, Result};
use numeric_table::{DataDictionary, ElementType, Error, ErrorKind};

/// `match_arrow!(element_type, P => body)`: `body`, a `numeric_table::Result`, compiled for Arrow's primitive type `P`
/// for each element type. It is the type of the same values, or `f32` for `bf16`, which Arrow lacks.
macro_rules! match_arrow {
    ($element:expr, $P:ident => $body:expr) => {
        match_arrow!(@ $element, $P, $body;
            F32 Float32Type, F64 Float64Type, F16 Float16Type, Bf16 Float32Type,
            I8 Int8Type, I16 Int16Type, I32 Int32Type, I64 Int64Type,
            U8 UInt8Type, U16 UInt16Type, U32 UInt32Type, U64 UInt64Type)
    };
    (@ $element:expr, $P:ident, $body:expr; $($variant:ident $native:ident),*) => {
        match $element {
            $(numeric_table::ElementType::$variant => {
                type $P = datafusion::arrow::datatypes::$native;
                $body
            })*
            element => Err(Error::new(ErrorKind::UnsupportedElementType { element, target: "DataFusion" })),
        }
    };
}
pub(crate) use match_arrow;

/// Converts an error of the library to one of DataFusion, with the library's error as its source.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

fn data_type(element: ElementType) -> numeric_table::Result<DataType> {
    use datafusion::arrow::datatypes::ArrowPrimitiveType;
    match_arrow!(element, P => Ok(P::DATA_TYPE))
}

/// Creates the schema of columns: their names, or `column_0` and so on for columns without one. Columns
/// that are nullable may have nulls.
///
/// # Errors
/// [`DataFusionError::Plan`] if two columns have the same name, since SQL could not distinguish them.
pub(crate) fn schema_of(dictionary: &DataDictionary) -> Result<Schema> {
    let (mut names, mut fields) = (HashSet::new(), Vec::new());
    for (column, feature) in dictionary.iter().enumerate() {
        let name = feature.name.clone().unwrap_or_else(|| format!("column_{column}"));
        if !names.insert(name.clone()) {
            return Err(DataFusionError::Plan(format!("column {column} is not the first with the name {name:?}")));
        }
        fields.push(Field::new(name, data_type(feature.element_type).map_err(external)?, feature.nullable));
    }
    Ok(Schema::new(fields))
}
