//! Missing values: nulls of Arrow become gaps of a table and nulls again, in memory, in streams and in files.
//!
//! Cells are compared as bits, so that the value of every type, NaN included, must come back as it was.

mod export;
mod files;
mod import;
mod model;
mod streams;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array as ArrowArray, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use numeric_table::array::Validity;
use numeric_table::prelude::*;
use test_support::bits::{Random, bits, from_bits};
use test_support::for_each_element;

/// A value as bits, or a gap.
pub(crate) type Cell = Option<u64>;

/// Number of types that [`array_of`] makes: all element types but `bf16`.
pub(crate) const KINDS: usize = 11;

/// Evaluates a body with `P`, the Arrow type of a number below [`KINDS`].
macro_rules! match_kind {
    ($kind:expr, $P:ident => $body:expr) => {
        match_kind! { @each $kind, $P, $body; 0 Float16Type, 1 Float32Type, 2 Float64Type, 3 Int8Type, 4 Int16Type,
            5 Int32Type, 6 Int64Type, 7 UInt8Type, 8 UInt16Type, 9 UInt32Type, 10 UInt64Type }
    };
    (@each $kind:expr, $P:ident, $body:expr; $($number:literal $arrow:ident),*) => {
        match $kind {
            $($number => { type $P = $arrow; $body })*
            other => panic!("no kind {other}"),
        }
    };
}

/// Creates an array of cells with a null buffer. What is stored under a null is a number, and not zero.
pub(crate) fn array_of(kind: usize, cells: &[Cell]) -> ArrayRef {
    match_kind!(kind, P => {
        let values: ScalarBuffer<_> = cells.iter().map(|cell| from_bits(cell.unwrap_or(77))).collect();
        let nulls = NullBuffer::from(cells.iter().map(Option::is_some).collect::<Vec<_>>());
        Arc::new(PrimitiveArray::<P>::new(values, Some(nulls)))
    })
}

/// Returns the cells of an Arrow array of numbers.
pub(crate) fn cells_of(array: &dyn ArrowArray) -> Vec<Cell> {
    for kind in 0..KINDS {
        match_kind!(kind, P => if let Some(array) = array.as_primitive_opt::<P>() {
            return array.iter().map(|value| value.map(bits)).collect();
        });
    }
    panic!("an array of {}", array.data_type());
}

/// Returns the cells of a column of a table, in its own type.
pub(crate) fn column_cells(table: &dyn NumericTable, column: usize) -> Vec<Cell> {
    let (array, validity) = table.column_with_validity(column, ..).unwrap();
    let is_present = |row| validity.as_ref().is_none_or(|validity| validity.is_present(row).unwrap());
    let mut cells = Vec::new();
    for_each_element!(T => if let Some(values) = array.downcast_ref::<T>() {
        cells.extend(values.iter().enumerate().map(|(row, &value)| is_present(row).then(|| bits(value))));
    });
    assert_eq!(cells.len(), table.row_count());
    cells
}

/// Returns random cells of a type, of which about `gaps` in 8 are missing.
pub(crate) fn random_cells(random: &mut Random, kind: usize, count: usize, gaps: usize) -> Vec<Cell> {
    (0..count).map(|_| (random.below(8) >= gaps).then(|| any_bits(random, kind))).collect()
}

/// Returns the bits of a random value of a type.
fn any_bits(random: &mut Random, kind: usize) -> u64 {
    match_kind!(kind, P => bits(random.values::<<P as arrow_array::ArrowPrimitiveType>::Native>(1)[0]))
}

/// A batch of nullable fields named by their number.
pub(crate) fn batch_of(columns: Vec<ArrayRef>) -> RecordBatch {
    let names = (0..columns.len()).map(|column| column.to_string());
    let field = |(name, column): (String, &ArrayRef)| Field::new(name, column.data_type().clone(), true);
    let fields: Vec<Field> = names.zip(&columns).map(field).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Returns the addresses of the values and of the first byte of the bitmap of an Arrow array.
pub(crate) fn arrow_addresses(array: &dyn ArrowArray) -> (usize, Option<usize>) {
    let data = array.to_data();
    let width = data.data_type().primitive_width().unwrap();
    let bitmap = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let bitmap = bitmap.map(|nulls| nulls.validity().as_ptr().addr() + nulls.offset() / 8);
    (data.buffers()[0].as_ptr().addr() + data.offset() * width, bitmap)
}

/// Returns the addresses of the values and of the bitmap of a column.
pub(crate) fn table_addresses(table: &numeric_table::SoaNumericTable, column: usize) -> (usize, Option<usize>) {
    let (array, validity) = table.nullable_column(column).unwrap();
    let mut found = 0;
    for_each_element!(T => if let Some(values) = array.downcast_ref::<T>() {
        found = values.as_ptr().addr();
    });
    (found, validity.map(|validity: &Validity| validity.bits().as_ptr().addr()))
}
