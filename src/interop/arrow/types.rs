//! The Arrow types of element types, and the arrays of their values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::DataType;
use bytes::Bytes;

use crate::array::{AnyArray, Array};
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, Result};
use crate::window::AnySlice;

/// Evaluates a body with `P`, the Arrow type of the same values, for all element types but `bf16`.
macro_rules! match_arrow {
    ($element_type:expr, $P:ident => $body:expr, none => $none:expr) => {
        match_arrow! { @arms $element_type, $P, $body, $none; F32 Float32Type, F64 Float64Type, I8 Int8Type, I16 Int16Type,
            I32 Int32Type, I64 Int64Type, U8 UInt8Type, U16 UInt16Type, U32 UInt32Type, U64 UInt64Type, F16 Float16Type }
    };
    (@arms $element_type:expr, $P:ident, $body:expr, $none:expr; $($variant:ident $arrow:ident),*) => {
        match $element_type {
            $(ElementType::$variant => { type $P = $arrow; $body })*
            ElementType::Bf16 => $none,
        }
    };
}

/// Returns the Arrow type of an element type.
///
/// # Errors
/// [`Error::UnsupportedElementType`] for `bf16`.
pub(super) fn data_type(element: ElementType) -> Result<DataType> {
    match_arrow!(element, P => Ok(P::DATA_TYPE), none => Err(Error::UnsupportedElementType { element, target: "Arrow" }))
}

/// Returns the element type of an Arrow type, if it has one.
pub(super) fn element_type(data_type: &DataType) -> Option<ElementType> {
    let is_it = |&element: &ElementType| match_arrow!(element, P => *data_type == P::DATA_TYPE, none => false);
    ElementType::ALL.iter().copied().find(is_it)
}

/// Returns what is wrong with a column of a type that is no element type.
pub(super) fn no_element_type(data_type: &DataType) -> String {
    format!("{data_type} is not an element type of tables")
}

/// Creates an Arrow array of values, which keeps their memory alive. No copy.
///
/// # Errors
/// [`Error::UnsupportedElementType`] for `bf16`.
pub(super) fn to_arrow<T: Element>(values: Array<T>) -> Result<ArrayRef> {
    fn make<P: ArrowPrimitiveType>(bytes: Array<u8>) -> ArrayRef {
        let count = bytes.len() / size_of::<P::Native>();
        let values = match count {
            0 => ScalarBuffer::from(Vec::new()),
            _ => ScalarBuffer::new(Buffer::from(Bytes::from_owner(bytes)), 0, count),
        };
        Arc::new(PrimitiveArray::<P>::new(values, None))
    }
    let bytes = values.reinterpret::<u8>()?;
    let unsupported = Error::UnsupportedElementType { element: T::TYPE, target: "Arrow" };
    match_arrow!(T::TYPE, P => Ok(make::<P>(bytes)), none => Err(unsupported))
}

/// Shares the values of an Arrow array, and keeps its memory alive. Values of nulls are arbitrary. Returns `None` if
/// its type is not an element type.
pub(super) fn share(array: &dyn arrow_array::Array) -> Option<AnyArray> {
    match_arrow!(element_type(array.data_type())?, P => {
        Some(AnyArray::new(Array::from_owner(array.as_primitive_opt::<P>()?.values().clone())))
    }, none => None)
}

/// Borrows the values of an Arrow array. Values of nulls are arbitrary. Returns `None` if its type is not an element
/// type.
pub(super) fn values(array: &dyn arrow_array::Array) -> Option<AnySlice<'_>> {
    match_arrow!(element_type(array.data_type())?, P => {
        Some(AnySlice::new::<<P as ArrowPrimitiveType>::Native>(array.as_primitive_opt::<P>()?.values()))
    }, none => None)
}
