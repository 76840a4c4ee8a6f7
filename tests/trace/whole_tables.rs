//! Tables made of tables: converted, in another layout, selected, sorted, joined, appended; and statistics.

use numeric_table::prelude::*;
use numeric_table::statistics::BasicStatistics;
use numeric_table::trace::CopyKind;
use numeric_table::{CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, SoaNumericTable, table::Triangle};
use test_support::tables::*;

use super::{NOTHING, copies};
use CopyKind::{Converted, Gathered, Grown, Selected};
use DataLayout::{ColumnMajor, RowMajor};

fn columns() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_column("a", Array::from(vec![3.0_f32, 1.0, 2.0])).unwrap();
    table.push_column("b", Array::from(vec![1_u8, 2, 3])).unwrap();
    table
}

#[test]
fn converting_shares_what_needs_no_copy() {
    for layout in LAYOUTS {
        let table = numbered::<f32>(4, 3, layout);
        assert_eq!(copies(|| table.convert::<f32>().unwrap()), NOTHING);
        assert_eq!(copies(|| table.to_layout(layout).unwrap()), NOTHING);
        assert_eq!(copies(|| table.convert::<f64>().unwrap()), [(Converted, 1, 96)]);
        let other = if layout == RowMajor { ColumnMajor } else { RowMajor };
        assert_eq!(copies(|| table.to_layout(other).unwrap()), [(Gathered, 1, 48)]);
        assert_eq!(copies(|| table.convert_to::<i8>(other, ConversionPolicy::Saturate).unwrap()), [(Converted, 1, 12)]);
        let any: &dyn NumericTable = &table;
        assert_eq!(copies(|| any.convert::<f32>().unwrap()), NOTHING);
        assert_eq!(copies(|| any.to_table().unwrap()), NOTHING);
        assert_eq!(copies(|| any.convert::<u16>().unwrap()), [(Converted, 1, 24)]);
    }
    let columns = columns();
    assert_eq!(copies(|| columns.to_columns().unwrap()), NOTHING);
    assert_eq!(copies(|| columns.convert::<f64>().unwrap()), [(Converted, 1, 48)]);
    let merged = MergedNumericTable::new([
        numbered::<i16>(2, 2, RowMajor).into_dyn(),
        numbered::<i16>(2, 1, RowMajor).into_dyn(),
    ])
    .unwrap();
    assert_eq!(copies(|| merged.convert::<i16>().unwrap()), [(Gathered, 1, 12)]);
}

#[test]
fn sparse_and_packed_tables_are_converted_and_transposed() {
    let dense = HomogenNumericTable::from_rows(&[[0.0_f32, 7.0], [0.0, 0.0], [8.0, 0.0]]).unwrap();
    let bytes = 4 * 4 + 2 * 4; // offsets, indices
    let mut sparse = None;
    assert_eq!(copies(|| sparse = CsrNumericTable::from_dense::<f32>(&dense).ok()), [(Gathered, 1, bytes + 2 * 4)]);
    assert_eq!(copies(|| CsrNumericTable::from_dense::<f64>(&dense).unwrap()), [(Converted, 1, bytes + 2 * 8)]);
    let sparse = sparse.unwrap();
    assert_eq!(copies(|| sparse.slice_rows(..2).unwrap()), NOTHING);
    assert_eq!(copies(|| sparse.to_dense::<f32>().unwrap()), [(Gathered, 1, 24)]);
    assert_eq!(copies(|| sparse.transpose().unwrap()), [(Gathered, 1, 3 * 4 + 2 * 4 + 2 * 4)]);
    let square = HomogenNumericTable::from_rows(&[[1_i16, 2], [2, 3]]).unwrap();
    let mut packed = None;
    let order =
        |triangle| move |table: &HomogenNumericTable<i16>| PackedSymmetricMatrix::from_full(table, triangle, RowMajor);
    assert_eq!(copies(|| packed = order(Triangle::Lower)(&square).ok()), [(Gathered, 1, 6)]);
    assert_eq!(copies(|| packed.as_ref().unwrap().rows::<i16>(..).unwrap().len()), [(Gathered, 1, 8)]);
}

#[test]
fn rows_that_are_chosen_are_a_new_table_and_ranges_are_not() {
    let table = numbered::<f32>(5, 3, RowMajor);
    let two = [(Selected, 1, 24)];
    assert_eq!(copies(|| table.take_rows(&[4, 0]).unwrap()), two);
    assert_eq!(copies(|| table.filter_rows(&[true, false, false, true, false]).unwrap()), two);
    assert_eq!(copies(|| table.filter_by_column(0, |value: f32| value > 9.0).unwrap()), [(Gathered, 1, 20), two[0]]);
    assert_eq!(copies(|| table.filter_rows_by(|row: &[f32]| row[0] > 9.0).unwrap()), two); // rows are in place
    assert_eq!(copies(|| table.sample_rows(2, 1).unwrap()), two);
    assert_eq!(copies(|| table.sort_by(0).unwrap()), [(Gathered, 1, 20), (Selected, 1, 60)]); // of the key column
    assert_eq!(copies(|| table.select_rows(1..3).unwrap()), NOTHING);
    assert_eq!(copies(|| table.select_columns([2, 0]).unwrap()), NOTHING);
    let columns = columns();
    assert_eq!(copies(|| columns.take_rows(&[2, 2]).unwrap()), [(Selected, 1, 10)]);
    assert_eq!(copies(|| columns.sort_by(0).unwrap()), [(Selected, 1, 15)]); // the key column is in place
    let sparse = CsrNumericTable::try_new(shape(2, 4), vec![0, 1, 3], vec![3, 0, 1], vec![1_i16, 2, 3]).unwrap();
    assert_eq!(copies(|| sparse.take_rows(&[1]).unwrap()), [(Selected, 1, 2 * 4 + 2 * 4 + 2 * 2)]); // all three arrays
}

#[test]
fn appended_tables_are_read_and_moved() {
    let mut columns = columns();
    columns.reserve_rows(10).unwrap();
    let other = columns.clone();
    columns.reserve_rows(10).unwrap();
    // Each column of the other table is read, and then copied to its place.
    assert_eq!(copies(|| columns.append_table(&other).unwrap()), [(CopyKind::Staged, 2, 15), (Grown, 2, 15)]);
}

#[test]
fn statistics_read_floating_point_rows_in_place() {
    let table = numbered::<f64>(40, 3, RowMajor);
    assert_eq!(copies(|| BasicStatistics::compute(&table).unwrap()), NOTHING);
    let table = numbered::<f32>(40, 3, RowMajor); // widened while they are read
    assert_eq!(copies(|| BasicStatistics::compute(&table).unwrap()), NOTHING);
    let table = numbered::<i16>(40, 3, RowMajor);
    assert_eq!(copies(|| BasicStatistics::compute(&table).unwrap()), [(Converted, 1, 40 * 3 * 8)]); // into a buffer
}
