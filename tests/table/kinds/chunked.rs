//! Columns in chunks, of several types: oneDAL's heterogeneous tables, as structures of arrays end to end.

use numeric_table::prelude::*;
use numeric_table::{AnyArray, RowMergedNumericTable, SoaNumericTable};

use super::Boxed;

/// Rows of five columns, `u64 f32 i32 i64 i16`, of which a cell is the sum of its row and its column.
fn rows_of(rows: std::ops::Range<usize>) -> Boxed {
    fn column<T: Element>(rows: std::ops::Range<usize>, column: usize, cast: fn(f64) -> T) -> AnyArray {
        AnyArray::from(rows.map(|row| cast((row + column) as f64)).collect::<Vec<T>>())
    }
    let columns = [
        column::<u64>(rows.clone(), 0, |value| value as u64),
        column::<f32>(rows.clone(), 1, |value| value as f32),
        column::<i32>(rows.clone(), 2, |value| value as i32),
        column::<i64>(rows.clone(), 3, |value| value as i64),
        column::<i16>(rows, 4, |value| (value as i64 % 30_000) as i16),
    ];
    Box::new(SoaNumericTable::from_columns(columns.map(|array| ("", array))).unwrap())
}

fn in_chunks(rows: usize, ends: &[usize]) -> RowMergedNumericTable<'static> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let ends = ends.iter().copied().chain([rows]);
    RowMergedNumericTable::new(starts.zip(ends).map(|(start, end)| rows_of(start..end))).unwrap()
}

#[test]
fn rows_of_chunked_columns_are_interleaved() {
    let part = |floats: &[f32], shorts: &[i16]| -> Boxed {
        let columns = [("", AnyArray::from(floats.to_vec())), ("", shorts.to_vec().into())];
        Box::new(SoaNumericTable::from_columns(columns).unwrap())
    };
    let parts = [part(&[0.0], &[1]), part(&[2.0, 4.0], &[3, 5]), part(&[6.0, 8.0, 10.0], &[7, 9, 11])];
    let table = RowMergedNumericTable::new(parts).unwrap();
    assert_eq!(table.rows::<f32>(1..5).unwrap()[..], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    assert_eq!(table.column::<i64>(1, ..).unwrap()[..], [1, 3, 5, 7, 9, 11]);
}

/// oneDAL copies such rows 10 MB at a time, to the wrong places from the second time on.
#[test]
fn rows_of_any_number_of_chunks_are_right_to_the_last() {
    for (rows, ends) in
        [(777, &[1, 300][..]), (1027, &[1024]), (1029, &[]), (7777, &[777, 7776]), (400_000, &[131_071])]
    {
        let table = in_chunks(rows, ends);
        let middle = 3..rows - 3;
        let found = table.rows::<f32>(middle.clone()).unwrap();
        for (row, values) in middle.zip(found.iter_rows()) {
            let short = ((row + 4) % 30_000) as f32;
            assert_eq!(values, [row as f32, (row + 1) as f32, (row + 2) as f32, (row + 3) as f32, short]);
        }
        let column = table.column::<f64>(3, 2..rows - 1).unwrap();
        assert!(column.iter().enumerate().all(|(index, &value)| value == (index + 5) as f64));
    }
}
