//! What shares the values of a table with Arrow takes no memory that grows with the table.
//!
//! The only test of its program, whose allocator counts: few bytes are counted, and nothing else runs meanwhile.

#[path = "../../../../tests/memory_limits/counting.rs"]
mod counting;

use counting::measured;
use numeric_table::prelude::*;
use numeric_table_arrow::prelude::*;

const ROWS: [usize; 2] = [10, 100_000];

/// Makes a call on a small and on a large table; both must take the same memory, and little.
fn check<I>(call: &str, make: impl Fn(Shape) -> I, pass: impl Fn(I)) {
    let peaks = ROWS.map(|rows| {
        let input = make(Shape { rows, columns: 4 });
        measured(&|| call.to_owned(), || pass(input)).1
    });
    assert!(peaks[0].abs_diff(peaks[1]) < 64 && peaks[1] < 16 << 10, "{call}: {peaks:?} bytes");
}

fn table(layout: DataLayout) -> impl Fn(Shape) -> HomogenNumericTable<f32> {
    move |shape| HomogenNumericTable::full_with_layout(shape, 1.5, layout).unwrap()
}

#[test]
fn what_is_not_copied_takes_no_memory_that_grows_with_the_table() {
    let (rows, columns) = (table(DataLayout::RowMajor), table(DataLayout::ColumnMajor));

    // What a copy would take is seen.
    let wide = rows(Shape { rows: ROWS[1], columns: 4 });
    let (_, copy, _) = measured(&|| "copy".to_owned(), || wide.to_record_batch().unwrap());
    assert!(copy >= ROWS[1] * 16, "{copy} bytes");

    check("a record batch from a table", &columns, |table| drop(table.to_record_batch().unwrap()));
    check("lists from a table", &rows, |table| drop(table.to_fixed_size_list().unwrap()));
    check(
        "a table from lists",
        |shape| rows(shape).to_fixed_size_list().unwrap(),
        |lists| drop(HomogenNumericTable::<f32>::from_fixed_size_list(&lists).unwrap()),
    );
    check(
        "a table from a record batch of one column",
        |shape| rows(Shape { columns: 1, ..shape }).to_record_batch().unwrap(),
        |batch| drop(HomogenNumericTable::<f32>::from_record_batch(&batch).unwrap()),
    );
}
