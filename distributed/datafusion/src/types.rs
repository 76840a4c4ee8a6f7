//! Element types as types of Arrow, and dictionaries as schemas.

use std::collections::HashSet;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::error::{DataFusionError, Result};
use numeric_table::{DataDictionary, ElementType, Error, ErrorKind};

/// `match_arrow!(element_type, P => body)`: `body`, a `numeric_table::Result`, compiled for the primitive type of Arrow
/// that columns of each element type have. It is that of the same values, and of `bf16`, which Arrow lacks, `f32`.
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

/// Makes an error of the library one of DataFusion, whose source it is.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

fn data_type(element: ElementType) -> numeric_table::Result<DataType> {
    use datafusion::arrow::datatypes::ArrowPrimitiveType;
    match_arrow!(element, P => Ok(P::DATA_TYPE))
}

/// Creates the schema of columns: their names, `column_0` and so on for those without one. No column has nulls.
///
/// # Errors
/// [`DataFusionError::Plan`] if two columns have the same name, by which SQL could not tell them apart.
pub(crate) fn schema_of(dictionary: &DataDictionary) -> Result<Schema> {
    let (mut names, mut fields) = (HashSet::new(), Vec::new());
    for (column, feature) in dictionary.iter().enumerate() {
        let name = feature.name.clone().unwrap_or_else(|| format!("column_{column}"));
        if !names.insert(name.clone()) {
            return Err(DataFusionError::Plan(format!("column {column} is not the first with the name {name:?}")));
        }
        fields.push(Field::new(name, data_type(feature.element_type).map_err(external)?, false));
    }
    Ok(Schema::new(fields))
}
