//! The Arrow types of element types, and the arrays of their values.
//!
//! Arrow stores dates, times of day, timestamps, durations and intervals of months as integers. Tables have the same
//! integers; units and time zones are in Arrow's schema.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use bytes::Bytes;
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::{AnyArray, Array, Element, ElementType, Result, array::AnySlice, error::Hint};

use crate::error::unsupported_type;
use crate::words::{Refusal, valid_where};

/// Evaluates a body with `P`, the Arrow type of the same values, for all element types but `bf16`.
macro_rules! match_arrow {
    ($element_type:expr, $P:ident => $body:expr, none => $none:expr) => {
        match_arrow! { @arms $element_type, $P, $body, $none; F32 Float32Type, F64 Float64Type, I8 Int8Type, I16 Int16Type,
            I32 Int32Type, I64 Int64Type, U8 UInt8Type, U16 UInt16Type, U32 UInt32Type, U64 UInt64Type, F16 Float16Type }
    };
    (@arms $element_type:expr, $P:ident, $body:expr, $none:expr; $($variant:ident $arrow:ident),*) => {
        match $element_type {
            $(ElementType::$variant => { type $P = $arrow; $body })*
            _ => $none, // `bf16`
        }
    };
}

/// Returns the Arrow type of an element type.
///
/// # Errors
/// [`ErrorKind::UnsupportedElementType`] for `bf16`.
pub(crate) fn data_type(element: ElementType) -> Result<DataType> {
    match_arrow!(element, P => Ok(P::DATA_TYPE), none => Err(unsupported_type(element)))
}

/// Evaluates a body with the values of an array that Arrow stores as numbers. Evaluates to `None` for any other array.
macro_rules! with_values {
    ($array:expr, $values:ident => $body:expr) => {
        with_values! { @each $array, $values, $body; Float32Type Float64Type Int8Type Int16Type Int32Type Int64Type
            UInt8Type UInt16Type UInt32Type UInt64Type Float16Type Date32Type Date64Type Time32SecondType
            Time32MillisecondType Time64MicrosecondType Time64NanosecondType TimestampSecondType
            TimestampMillisecondType TimestampMicrosecondType TimestampNanosecondType DurationSecondType
            DurationMillisecondType DurationMicrosecondType DurationNanosecondType IntervalYearMonthType }
    };
    (@each $array:expr, $values:ident, $body:expr; $($arrow:ident)*) => {{
        $(if let Some(array) = $array.as_primitive_opt::<$arrow>() {
            let $values = array.values();
            return Some($body);
        })*
        None
    }};
}

/// Returns the element type of the values that Arrow stores for a type, if there is one.
pub(crate) fn element_type(data_type: &DataType) -> Option<ElementType> {
    match data_type {
        DataType::Date32 | DataType::Time32(_) | DataType::Interval(IntervalUnit::YearMonth) => Some(ElementType::I32),
        DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => {
            Some(ElementType::I64)
        }
        _ => {
            let is_it = |&element: &ElementType| match_arrow!(element, P => *data_type == P::DATA_TYPE, none => false);
            ElementType::ALL.iter().copied().find(is_it)
        }
    }
}

/// Returns the reason of the error for a column of an unsupported type.
pub(crate) fn no_element_type(data_type: &DataType) -> Refusal {
    let hint = Hint::new("ArrowOptions::columns", "chooses other columns");
    Refusal::Hinted(format!("{data_type} is not an element type of tables"), hint)
}

/// Creates an Arrow array that shares the memory of values and keeps it alive.
///
/// # Errors
/// [`ErrorKind::UnsupportedElementType`] for `bf16`.
pub(crate) fn to_arrow<T: Element>(values: Array<T>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    fn make<P: ArrowPrimitiveType>(bytes: Array<u8>, nulls: Option<NullBuffer>) -> ArrayRef {
        let count = bytes.len() / size_of::<P::Native>();
        let values = match count {
            0 => ScalarBuffer::from(Vec::new()),
            _ => ScalarBuffer::new(Buffer::from(Bytes::from_owner(bytes)), 0, count),
        };
        Arc::new(PrimitiveArray::<P>::new(values, nulls))
    }
    let nulls = nulls.filter(|nulls| nulls.len() == values.len()); // always: they were made of the values
    let bytes = values.reinterpret::<u8>()?;
    match_arrow!(T::TYPE, P => Ok(make::<P>(bytes, nulls)), none => Err(unsupported_type(T::TYPE)))
}

/// Reinterprets an array of integers as dates or times that Arrow stores as these integers, on the same memory.
/// Returns any other array unchanged.
pub(crate) fn of_type(array: ArrayRef, data_type: &DataType) -> ArrayRef {
    fn cast<F: ArrowPrimitiveType, T: ArrowPrimitiveType<Native = F::Native>>(array: &ArrayRef) -> Option<ArrayRef> {
        Some(Arc::new(array.as_primitive_opt::<F>()?.reinterpret_cast::<T>()))
    }
    let same = match data_type {
        DataType::Date32 => cast::<Int32Type, Date32Type>(&array),
        DataType::Timestamp(TimeUnit::Second, _) => cast::<Int64Type, TimestampSecondType>(&array),
        DataType::Timestamp(TimeUnit::Millisecond, _) => cast::<Int64Type, TimestampMillisecondType>(&array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => cast::<Int64Type, TimestampMicrosecondType>(&array),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => cast::<Int64Type, TimestampNanosecondType>(&array),
        _ => None,
    };
    same.unwrap_or(array)
}

/// Returns nulls at the positions of NaNs, or `None` without NaNs.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn nulls_of_nans<T: Element>(values: &[T]) -> Result<Option<NullBuffer>> {
    if !T::TYPE.is_float() {
        return Ok(None);
    }
    valid_where(values.len(), |row| values[row].eq(&values[row]))
}

/// Returns an array that shares the values of an Arrow array and keeps its memory alive. Values at nulls are arbitrary.
/// Returns `None` for an array of an unsupported type.
pub(crate) fn share(array: &dyn arrow_array::Array) -> Option<AnyArray> {
    with_values!(array, values => AnyArray::new(Array::from_owner(values.clone())))
}

/// Borrows the values of an Arrow array. Values at nulls are arbitrary. Returns `None` for an unsupported type.
pub(crate) fn values(array: &dyn arrow_array::Array) -> Option<AnySlice<'_>> {
    with_values!(array, values => AnySlice::new(&values[..]))
}
