//! Tables with missing values, and the comparison of two of them without the values under their gaps.

use numeric_table::prelude::*;
use numeric_table::{Element, SoaNumericTable, bf16, f16};

use crate::SmallNumber;

/// The bytes of the values of a column; `None` for missing ones.
pub fn cells(table: &dyn NumericTable, column: usize) -> Vec<Option<Vec<u8>>> {
    let (array, validity) = table.column_with_validity(column, ..).unwrap();
    let is_present = |row| validity.as_ref().is_none_or(|validity| validity.is_present(row).unwrap());
    macro_rules! bytes_of {
        ($($T:ty)*) => {
            $(if let Some(values) = array.downcast_ref::<$T>() {
                let values = values.iter().map(|value| value.to_le_bytes().to_vec()).enumerate();
                return values.map(|(row, value)| is_present(row).then_some(value)).collect();
            })*
        };
    }
    bytes_of!(f32 f64 i32 u32 i64 u64 i8 u8 i16 u16 f16 bf16);
    panic!("an unknown element type");
}

/// Asserts that two tables have the same descriptions of columns, values and gaps.
#[track_caller]
pub fn assert_same_cells(found: &dyn NumericTable, expected: &dyn NumericTable) {
    assert_eq!((found.shape(), found.dictionary()), (expected.shape(), expected.dictionary()));
    for column in 0..expected.shape().columns {
        assert_eq!(cells(found, column), cells(expected, column), "column {column}");
    }
}

/// A column of every element type, all with gaps: at both ends, on both sides of a byte, and in runs.
pub fn gaps_of_every_type(rows: usize) -> SoaNumericTable {
    fn push<T: Element + SmallNumber>(table: &mut SoaNumericTable, rows: usize) {
        let column = table.column_count();
        let has_gap = |row: usize| {
            (row + column).is_multiple_of(5) || (7..=8 + column % 3).contains(&(row % 64)) || row + 1 == rows
        };
        let value = |row: usize| T::small((row % 100) as u8 + 1);
        table.push_optional(T::TYPE.name(), (0..rows).map(|row| (!has_gap(row)).then(|| value(row)))).unwrap();
    }
    let mut table = SoaNumericTable::new();
    push::<f32>(&mut table, rows);
    push::<f64>(&mut table, rows);
    push::<i32>(&mut table, rows);
    push::<u32>(&mut table, rows);
    push::<i64>(&mut table, rows);
    push::<u64>(&mut table, rows);
    push::<i8>(&mut table, rows);
    push::<u8>(&mut table, rows);
    push::<i16>(&mut table, rows);
    push::<u16>(&mut table, rows);
    push::<f16>(&mut table, rows);
    push::<bf16>(&mut table, rows);
    table
}
