//! Small tables whose values are known without the library, and a check of errors.

use std::ops::Range;

use numeric_table::prelude::*;

use crate::SmallNumber;

/// Asserts that a call fails with an error whose kind matches a pattern, and with the given words in its message.
#[macro_export]
macro_rules! assert_error {
    ($call:expr, $pattern:pat $(if $guard:expr)? $(, $words:literal)?) => {
        match $call {
            Err(error) => match error.kind() {
                $pattern $(if $guard)? => {
                    $(assert!(error.to_string().contains($words), "{} failed with {error}", stringify!($call));)?
                }
                _ => panic!("{} failed with another error: {error:?}", stringify!($call)),
            },
            Ok(_) => panic!("{} succeeded", stringify!($call)),
        }
    };
}
pub use crate::assert_error;

/// Checks that a call on arrays of a device fails with an error of a pattern, and with a condition if there is one.
#[macro_export]
macro_rules! assert_fault {
    ($call:expr, $pattern:pat $(if $guard:expr)?) => {
        match $call {
            Err($pattern) $(if $guard)? => {}
            Err(other) => panic!("{} failed with another error: {other:?}", stringify!($call)),
            Ok(_) => panic!("{} succeeded", stringify!($call)),
        }
    };
}
pub use crate::assert_fault;

pub const LAYOUTS: [DataLayout; 2] = [DataLayout::RowMajor, DataLayout::ColumnMajor];
pub const MODES: [ReadWriteMode; 3] = [ReadWriteMode::ReadOnly, ReadWriteMode::WriteOnly, ReadWriteMode::ReadWrite];
pub const POLICIES: [ConversionPolicy; 3] =
    [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact];

/// Returns a large number: 2 to the power of `bits` where `usize` has 64 bits, and of half of it where it has 32.
pub const fn huge(bits: u32) -> usize {
    1 << (bits * usize::BITS / 64)
}

pub fn shape(rows: usize, columns: usize) -> Shape {
    Shape { rows, columns }
}

/// The value of [`numbered`] at a position: 1, 2, 3 ... row by row; never 0.
pub fn number<T: SmallNumber>(columns: usize, row: usize, column: usize) -> T {
    T::small(u8::try_from(row * columns + column + 1).unwrap())
}

/// A table of user memory that counts 1, 2, 3 ... row by row, whatever the layout; for at most 127 values.
pub fn numbered<T: SmallNumber>(rows: usize, columns: usize, layout: DataLayout) -> HomogenNumericTable<T> {
    let values: Vec<T> = match layout {
        DataLayout::RowMajor => (0..rows * columns).map(|i| number(columns, i / columns, i % columns)).collect(),
        _ => (0..rows * columns).map(|i| number(columns, i % rows, i / rows)).collect(),
    };
    HomogenNumericTable::from_array_with_layout(values, shape(rows, columns), layout).unwrap()
}

/// The values of [`numbered`] in some rows, row by row.
pub fn numbers<T: SmallNumber>(columns: usize, rows: Range<usize>) -> Vec<T> {
    rows.flat_map(|row| (0..columns).map(move |column| number(columns, row, column))).collect()
}

/// All values, row by row, each looked up by itself.
pub fn values_of<T: Element>(table: &HomogenNumericTable<T>) -> Vec<T> {
    let view = table.view().unwrap();
    let Shape { rows, columns } = view.shape();
    (0..rows).flat_map(|row| (0..columns).map(move |column| view.value(row, column).unwrap())).collect()
}

/// What must not change when a call fails: sizes, status, layout, values, and where they are.
pub fn state_of<T: Element>(table: &HomogenNumericTable<T>) -> (Shape, MemoryStatus, DataLayout, Vec<T>, usize) {
    let place = table.array().map_or(0, |array| address(array));
    (table.shape(), table.data_memory_status(), table.data_layout(), values_of(table), place)
}

/// Where a slice begins in memory.
pub fn address<T>(slice: &[T]) -> usize {
    slice.as_ptr().addr()
}

/// A feature of the element type `T`.
pub fn feature<T: Element>() -> Feature {
    Feature::new(T::TYPE)
}
