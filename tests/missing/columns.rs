//! Columns with bitmaps: reading around gaps, writing over them, filling and dropping them.

use numeric_table::array::Validity;
use numeric_table::prelude::*;
use numeric_table::table::FillMissing;
use numeric_table::{AnyArray, RowMergedNumericTable, SoaNumericTable};
use test_support::tables::assert_error;

const BIG: i64 = (1 << 53) + 1;

/// Two columns: `count` of `i64` with gaps in rows 1 and 4, `share` of `f32` with a gap in row 0 and NaN in row 2.
fn sample() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_optional("count", [Some(BIG), None, Some(-7), Some(0), None]).unwrap();
    table.push_optional("share", [None, Some(0.5_f32), Some(f32::NAN), Some(-1.0), Some(2.0)]).unwrap();
    table
}

pub(crate) fn optional<T: Element>(table: &dyn NumericTable, column: usize) -> Vec<Option<T>> {
    let (values, validity) = table.column_with_validity(column, ..).unwrap();
    let values = values.downcast_ref::<T>().unwrap().to_vec();
    let is_present = |row| validity.as_ref().is_none_or(|validity| validity.is_present(row).unwrap());
    values.into_iter().enumerate().map(|(row, value)| is_present(row).then_some(value)).collect()
}

fn same(left: &[f64], right: &[f64]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

#[test]
fn floats_show_gaps_as_nan_and_integers_refuse_them_by_place() {
    let table = sample();
    let nan = f64::NAN;
    let expected = [BIG as f64, nan, nan, 0.5, -7.0, nan, 0.0, -1.0, nan, 2.0];
    assert!(same(&table.rows::<f64>(..).unwrap(), &expected));
    for policy in [ConversionPolicy::Checked, ConversionPolicy::Saturate] {
        assert!(same(&table.rows_with::<f64>(.., policy).unwrap(), &expected));
    }
    assert!(same(&table.column::<f64>(0, 1..3).unwrap(), &[nan, -7.0]));
    assert_error!(table.rows::<i64>(..), ErrorKind::MissingValue { row: 0, column: 1 });
    assert_error!(table.column::<i64>(0, ..), ErrorKind::MissingValue { row: 1, column: 0 });
    assert_eq!(table.column::<i64>(0, 2..4).unwrap()[..], [-7, 0]);
    assert_eq!(table.column::<i64>(0, 0..1).unwrap()[..], [BIG]);
    let error = table.rows::<i32>(..).unwrap_err();
    assert!(error.hints().iter().any(|hint| hint.call() == "fill_missing"));
    assert_eq!(error.place().unwrap().row, Some(0));
}

#[test]
fn a_value_under_a_gap_is_never_read_or_checked() {
    let mut table = SoaNumericTable::new();
    let validity = Validity::from_flags(&[true, false, true]).unwrap();
    let feature = Feature::new(ElementType::F64).named("a");
    table.push_nullable(feature, vec![1.0, f64::MAX, 3.0], Some(validity)).unwrap();
    let block = table.rows_with::<f32>(.., ConversionPolicy::Checked).unwrap(); // f64::MAX overflows f32
    assert!(block[0] == 1.0 && block[1].is_nan() && block[2] == 3.0);
    assert_error!(table.array(0), ErrorKind::MissingValue { row: 1, column: 0 });
    assert_error!(table.column_slice::<f64>(0), ErrorKind::MissingValue { row: 1, column: 0 });
    assert_error!(table.column_slice_mut::<f64>(0), ErrorKind::MissingValue { row: 1, column: 0 });
    assert!(!table.column::<f64>(0, ..).unwrap().is_zero_copy());
    assert!(table.piece(0, 0).unwrap().is_none());
    assert_eq!(optional::<f64>(&table, 0), [Some(1.0), None, Some(3.0)]);
}

#[test]
fn what_a_block_showed_and_did_not_change_stays() {
    let mut table = sample();
    table.update_rows::<f64, _>(.., |_| Ok(())).unwrap();
    assert_eq!(optional::<i64>(&table, 0), [Some(BIG), None, Some(-7), Some(0), None]);
    assert_eq!(table.missing_count("share").unwrap(), 1);
    table
        .update_rows::<f64, _>(.., |block| {
            block.row_mut(1)[0] = 12.0; // over a gap
            block.row_mut(2)[0] = f64::NAN; // a gap in a column of integers
            block.row_mut(3)[1] = f64::NAN; // a value in a column of floats
            Ok(())
        })
        .unwrap();
    assert_eq!(optional::<i64>(&table, 0), [Some(BIG), Some(12), None, Some(0), None]);
    assert_eq!(table.missing_count("share").unwrap(), 1);
    assert!(table.rows::<f32>(3..4).unwrap()[1].is_nan() && !table.is_missing(3, "share").unwrap());
}

#[test]
fn a_number_over_a_gap_is_written_even_if_it_equals_what_is_stored_there() {
    let mut table = SoaNumericTable::new();
    let validity = Validity::from_flags(&[false, true]).unwrap();
    table.push_nullable(Feature::new(ElementType::I64), vec![BIG, 5], Some(validity)).unwrap();
    table.set_value(0, 0, BIG as f64).unwrap(); // 2^53: what 2^53 + 1 converts to
    assert_eq!(optional::<i64>(&table, 0), [Some(1 << 53), Some(5)]);
}

#[test]
fn a_refused_write_changes_nothing() {
    let mut table = sample();
    let before = [optional::<i64>(&table, 0), vec![None]];
    let refused = table.update_rows::<f64, _>(.., |block| {
        block.row_mut(0)[0] = f64::NAN;
        block.row_mut(1)[0] = 3.0;
        block.row_mut(4)[0] = 1e300;
        Ok(())
    });
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 4, column: 0, .. });
    assert_eq!(optional::<i64>(&table, 0), before[0]);
}

#[test]
fn nan_makes_a_gap_in_nullable_integers_only() {
    let mut table = SoaNumericTable::new();
    table.push_feature(Feature::new(ElementType::I32).nullable(), vec![1, 2]).unwrap();
    table.push_feature(Feature::new(ElementType::I32), vec![3, 4]).unwrap();
    table.set_value(1, 0, f64::NAN).unwrap();
    assert_eq!(optional::<i32>(&table, 0), [Some(1), None]);
    assert_error!(table.set_value(1, 1, f64::NAN), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. });
    table.push_row(&[f64::NAN, 5.0]).unwrap();
    table.append(&[6.0, 7.0, f64::NAN, 8.0]).unwrap();
    assert_eq!(optional::<i32>(&table, 0), [Some(1), None, None, Some(6), None]);
    assert_error!(table.push_row(&[1.0, f64::NAN]), ErrorKind::ValueNotRepresentable { row: 5, column: 1, .. });
    assert_eq!(table.row_count(), 5);
}

#[test]
fn clones_are_independent_and_removed_columns_take_their_gaps_along() {
    let mut table = sample();
    let before = table.clone();
    table.set_missing(3, "count").unwrap();
    assert_eq!(before.missing_count("count").unwrap(), 2);
    assert_eq!(table.missing_count("count").unwrap(), 3);
    assert!(table.set_column(0, vec![1_u8; 5]).map(|old| old.is_some()).unwrap());
    assert_eq!(table.missing_count("count").unwrap(), 0);
    let mut table = before;
    assert_error!(table.remove_column(0), ErrorKind::MissingValue { row: 1, column: 0 });
    table.fill_missing("count", FillMissing::value(1)).unwrap();
    table.remove_column(0).unwrap();
    assert_eq!(optional::<f32>(&table, 0)[0], None);
    table.resize(7).unwrap();
    assert_eq!(optional::<f32>(&table, 0)[5..], [Some(0.0), Some(0.0)]);
    table.resize(1).unwrap();
    assert_eq!(optional::<f32>(&table, 0), [None]);
    table.resize(3).unwrap();
    assert_eq!(optional::<f32>(&table, 0), [None, Some(0.0), Some(0.0)]);
}

#[test]
fn filling_is_exact_and_all_or_nothing() {
    let mut table = sample();
    assert_error!(
        table.fill_missing(.., FillMissing::value(1e30)),
        ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. }
    );
    assert_eq!((table.missing_count(0).unwrap(), table.missing_count(1).unwrap()), (2, 1));
    let mut filled = table.clone();
    assert_eq!(filled.fill_missing(.., FillMissing::Previous).unwrap(), 2); // row 0 of `share` has none before it
    assert_eq!(filled.column_slice::<i64>(0).unwrap(), [BIG, BIG, -7, 0, 0]);
    assert_eq!(filled.missing_count(1).unwrap(), 1);
    let mut filled = table.clone();
    assert_eq!(filled.fill_missing(.., FillMissing::Next).unwrap(), 2);
    assert_eq!(optional::<i64>(&filled, 0), [Some(BIG), Some(-7), Some(-7), Some(0), None]);
    let mut filled = table.clone();
    filled.fill_missing("share", FillMissing::Mean).unwrap();
    assert_eq!(filled.column_slice::<f32>(1).unwrap()[0], 0.5);
    let mut large = SoaNumericTable::new(); // their sum overflows
    large.push_optional("a", [Some(f64::MAX), None, Some(f64::MAX), Some(f64::NAN)]).unwrap();
    large.push_optional("b", [Some(f64::INFINITY), None, Some(f64::MAX), Some(f64::MAX)]).unwrap();
    large.fill_missing(.., FillMissing::Mean).unwrap();
    assert_eq!((large.value::<f64>(1, 0).unwrap(), large.value::<f64>(1, 1).unwrap()), (f64::MAX, f64::INFINITY));
    filled.fill_missing("count", FillMissing::Median).unwrap();
    assert_eq!(filled.column_slice::<i64>(0).unwrap(), [BIG, 0, -7, 0, 0]);
    let mut filled = table.clone();
    filled.fill_missing("share", FillMissing::value(f64::NAN)).unwrap();
    assert!(!filled.has_missing().unwrap() || filled.missing_count("share").unwrap() == 0);
    assert!(filled.column_slice::<f32>(1).unwrap()[0].is_nan());
    let none = SoaNumericTable::from_columns([("a", AnyArray::from(vec![1_u8]))]).unwrap();
    assert_eq!(none.clone().fill_missing(.., FillMissing::Mean).unwrap(), 0);
    let mut empty = SoaNumericTable::new();
    empty.push_optional("a", [None::<u8>, None]).unwrap();
    assert_eq!(empty.fill_missing(.., FillMissing::Median).unwrap(), 0);
    assert_eq!(empty.missing_count(0).unwrap(), 2);
}

#[test]
fn views_and_merged_tables_show_the_gaps_of_their_parts() {
    let table = sample();
    let part = table.select_rows(1..4).unwrap();
    assert_eq!(optional::<i64>(&*part, 0), [None, Some(-7), Some(0)]);
    assert_error!(part.rows::<i64>(..), ErrorKind::MissingValue { row: 0, column: 0 });
    let columns = table.select_columns(["share", "count"]).unwrap();
    assert_eq!(optional::<i64>(&columns, 1), [Some(BIG), None, Some(-7), Some(0), None]);
    assert_eq!(columns.missing_count("share").unwrap(), 1);
    let plain = HomogenNumericTable::from_rows(&[[1_i64], [2]]).unwrap();
    let all = table.select_columns(0..1).unwrap();
    let stacked = plain.vstack(&[&all, &plain]).unwrap();
    let expected = [Some(1), Some(2), Some(BIG), None, Some(-7), Some(0), None, Some(1), Some(2)];
    assert_eq!(optional::<i64>(&stacked, 0), expected);
    assert!(stacked.dictionary().feature(0).unwrap().nullable);
    assert_eq!(stacked.missing_count(0).unwrap(), 2);
    let row = stacked.rows::<f64>(2..5).unwrap().to_vec();
    assert!(same(&row, &[BIG as f64, f64::NAN, -7.0]));
    assert_error!(stacked.rows::<i64>(..), ErrorKind::MissingValue { row: 3, column: 0 });
}

#[test]
fn merged_tables_write_gaps_into_their_parts_or_change_nothing() {
    let other = SoaNumericTable::from_columns([("b", vec![1_u8; 5])]).unwrap();
    let mut merged = numeric_table::MergedNumericTable::new([
        Box::new(sample()) as Box<dyn NumericTable>,
        Box::new(other) as Box<dyn NumericTable>,
    ])
    .unwrap();
    merged
        .update_rows::<f64, _>(.., |block| {
            block.row_mut(0)[0] = f64::NAN;
            block.row_mut(1)[0] = 4.0;
            block.row_mut(1)[2] = 9.0;
            Ok(())
        })
        .unwrap();
    assert_eq!(optional::<i64>(&merged, 0), [None, Some(4), Some(-7), Some(0), None]);
    assert_eq!(merged.column::<u8>(2, ..).unwrap()[..], [1, 9, 1, 1, 1]);
    let refused = merged.update_rows::<f64, _>(.., |block| {
        block.row_mut(0)[0] = 1.0;
        block.row_mut(4)[2] = 300.0;
        Ok(())
    });
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 4, column: 2, .. });
    assert_eq!(optional::<i64>(&merged, 0), [None, Some(4), Some(-7), Some(0), None]);
    assert_error!(merged.set_dictionary(sample().dictionary().clone()), ErrorKind::DictionaryMismatch { .. });

    let parts = [sample(), sample()].map(|table| Box::new(table) as Box<dyn NumericTable>);
    let mut long = RowMergedNumericTable::new(parts).unwrap();
    long.set_missing(5, "count").unwrap();
    assert_eq!(long.missing_count("count").unwrap(), 5);
    assert_eq!(long.fill_missing("count", FillMissing::Previous).unwrap(), 5);
    assert_eq!(long.column::<i64>(0, ..).unwrap()[..], [BIG, BIG, -7, 0, 0, 0, 0, -7, 0, 0]);
}

#[test]
fn homogeneous_tables_cannot_have_gaps() {
    let mut table = HomogenNumericTable::from_rows(&[[1.0_f32], [f32::NAN]]).unwrap();
    assert!(!table.has_missing().unwrap() && !table.is_missing(1, 0).unwrap());
    let error = table.set_missing(0, 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ReadOnlyTable) && error.hints()[0].call() == "to_columns");
    let converted = sample().convert::<f64>().unwrap();
    assert!(!converted.dictionary().has_nullable());
    assert_error!(sample().convert::<i64>(), ErrorKind::MissingValue { .. });
}

#[test]
fn homogeneous_tables_refuse_to_append_gaps() {
    let mut gaps = SoaNumericTable::new();
    gaps.push_optional("a", [Some(1.0_f64), Some(2.0), Some(3.0)]).unwrap();
    gaps.push_optional("b", [Some(4.0_f32), None, Some(f32::NAN)]).unwrap();
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        let mut table = HomogenNumericTable::from_rows(&[[0.5, 1.5]]).unwrap().to_layout(layout).unwrap();
        let error = table.append_table(&gaps).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::MissingValue { row: 1, column: 1 }));
        let calls: Vec<_> = error.hints().iter().map(|hint| hint.call()).collect();
        assert!(["fill_missing", "convert"].iter().all(|call| calls.contains(call)), "{calls:?}");
        assert!(same(&table.rows::<f64>(..).unwrap(), &[0.5, 1.5]));
        // Rows without gaps are appended, and NaN as a value.
        table.append_table(&*gaps.select_rows(2..3).unwrap()).unwrap();
        assert!(same(&table.rows::<f64>(..).unwrap(), &[0.5, 1.5, 3.0, f64::NAN]));
        table.append_table(&gaps.convert::<f64>().unwrap()).unwrap();
        assert!(same(&table.rows::<f64>(3..4).unwrap(), &[2.0, f64::NAN]));
    }
    let mut counts = HomogenNumericTable::from_rows(&[[1_u8, 2]]).unwrap();
    assert_error!(counts.append_table(&gaps), ErrorKind::MissingValue { row: 1, column: 1 });
    assert_eq!(counts.as_slice().unwrap(), [1, 2]);
}

#[test]
fn blocks_of_rows_are_edited_one_at_a_time() {
    let mut table = sample();
    let error = table.row_blocks_mut::<f64>(2).map(drop).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ReadOnlyTable));
    assert_eq!(error.hints()[0].call(), "update_row_blocks");
    table
        .update_row_blocks::<f64>(2, |block| {
            block.iter_mut().for_each(|value| *value = if value.is_nan() { 1.0 } else { *value });
            Ok(())
        })
        .unwrap();
    assert!(!table.has_missing().unwrap());
    let mut table = sample();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_column_values(0, 0, 5, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(block.as_slice()[1].is_nan() && !block.is_zero_copy());
    block.as_mut_slice().unwrap()[4] = 4.0;
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(optional::<i64>(&table, 0), [Some(BIG), None, Some(-7), Some(0), Some(4)]);
    let mut block = BlockDescriptor::<i64>::new();
    let read = table.get_block_of_column_values(0, 0, 5, ReadWriteMode::ReadWrite, &mut block);
    assert_error!(read, ErrorKind::MissingValue { row: 1, column: 0 });
    table.get_block_of_column_values(0, 0, 5, ReadWriteMode::WriteOnly, &mut block).unwrap();
    block.as_mut_slice().unwrap().fill(3);
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(table.column_slice::<i64>(0).unwrap(), [3; 5]);
}

#[test]
fn names_and_dictionaries_keep_the_flag() {
    let mut table = sample();
    table.reset_dictionary().unwrap();
    assert!(table.dictionary().feature(0).unwrap().nullable);
    assert_eq!(table.missing_count(0).unwrap(), 2);
}

/// Two columns of which `x` has a gap in the first table only, and `y` is missing where the tables meet.
fn stacked_parts() -> [Box<dyn NumericTable>; 2] {
    let mut first = SoaNumericTable::new();
    first.push_optional("x", [None, Some(1_i32), Some(2)]).unwrap();
    first.push_optional("y", [Some(1_i32), Some(2), None]).unwrap();
    let mut second = SoaNumericTable::new();
    second.push_optional("x", [Some(3_i32), Some(4)]).unwrap();
    second.push_optional("y", [None, Some(5_i32)]).unwrap();
    [Box::new(first), Box::new(second)]
}

#[test]
fn gaps_of_other_columns_do_not_matter_to_a_write_over_several_tables() {
    let mut table = RowMergedNumericTable::new(stacked_parts()).unwrap();
    assert_eq!(table.fill_missing("y", FillMissing::value(7)).unwrap(), 2);
    assert_eq!(table.column::<i32>(1, ..).unwrap()[..], [1, 2, 7, 7, 5]);
    table
        .update_column::<f64, _>(1, .., |column| {
            column.iter_mut().for_each(|value| *value += 1.0);
            Ok(())
        })
        .unwrap();
    assert_eq!(table.column::<i32>(1, ..).unwrap()[..], [2, 3, 8, 8, 6]);
    assert_eq!(optional::<i32>(&table, 0), [None, Some(1), Some(2), Some(3), Some(4)]);

    let mut table = SoaNumericTable::new();
    table.push_optional("a", [None, Some(1_u8)]).unwrap();
    table.push_column("b", vec![1_i32, 2]).unwrap();
    table.push_column("c", vec![1.0_f32, 2.0]).unwrap();
    table
        .update_rows::<f64, _>(1.., |block| {
            block.row_mut(0)[1..].copy_from_slice(&[5.0, 6.0]);
            Ok(())
        })
        .unwrap();
    let (whole, share) = (table.column_slice::<i32>(1).unwrap(), table.column_slice::<f32>(2).unwrap());
    assert_eq!((whole, share), (&[1, 5][..], &[1.0, 6.0][..]));
}

#[test]
fn a_lent_part_keeps_the_other_parts_from_getting_gaps() {
    let part = || SoaNumericTable::from_columns([("a", vec![1_i32, 2, 3])]).unwrap();
    let mut table =
        RowMergedNumericTable::new([part(), part()].map(|part| Box::new(part) as Box<dyn NumericTable>)).unwrap();
    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_column_values(0, 3, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(block.is_zero_copy());
    assert_error!(table.set_missing_where("a", &[true; 6]), ErrorKind::BlockOutstanding { .. });
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(table.missing_count("a").unwrap(), 0);
    table.set_missing_where("a", &[true; 6]).unwrap();
    assert_eq!(table.missing_count("a").unwrap(), 6);
}

#[test]
fn a_lent_column_does_not_block_writes_of_others_with_gaps() {
    let mut table = sample();
    table.push_column("plain", vec![1_i32; 5]).unwrap();
    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_column_values(2, 0, 5, ReadWriteMode::ReadWrite, &mut block).unwrap();
    table.set_value(1, 0, 5).unwrap();
    assert_eq!(table.fill_missing("count", FillMissing::value(6)).unwrap(), 1);
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(table.column_slice::<i64>(0).unwrap(), [BIG, 5, -7, 0, 6]);
}

#[test]
fn nan_makes_gaps_under_every_policy() {
    use numeric_table::array::AnySlice;
    use numeric_table::convert::WriteRule;
    use numeric_table::table::spi::Region;
    for policy in [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact] {
        let mut table = SoaNumericTable::new();
        table.push_feature(Feature::new(ElementType::I32).nullable(), vec![1, 2]).unwrap();
        let rule = WriteRule { policy, keep_unchanged: false };
        let column = Region { rows: 0..2, columns: 0..1 };
        table.write_region(&column, AnySlice::new(&[f64::NAN, 5.0]), rule).unwrap();
        assert_eq!(optional::<i32>(&table, 0), [None, Some(5)], "{policy}");
    }
}

#[test]
fn a_million_writes_over_gaps_and_appended_rows_take_no_time_for_the_other_rows() {
    let rows = 1 << 20;
    let mut table = SoaNumericTable::new();
    table
        .push_nullable(Feature::new(ElementType::I32), vec![0_i32; rows], Some(Validity::all_missing(rows).unwrap()))
        .unwrap();
    for row in (0..rows).step_by(3) {
        table.set_value(row, 0, row as f64).unwrap(); // a copy of the bitmap for each would be 45 GB
    }
    for row in (0..rows).step_by(6) {
        table.set_missing(row, 0).unwrap();
    }
    for _ in 0..100_000 {
        table.push_row(&[f64::NAN]).unwrap();
    }
    let expected = (0..rows).filter(|row| row % 3 != 0 || row % 6 == 0).count() + 100_000;
    assert_eq!(table.missing_count(0).unwrap(), expected);
    let filled = table.fill_missing(0, FillMissing::value(-1)).unwrap();
    assert_eq!((filled, table.missing_count(0).unwrap()), (expected, 0));
    assert_eq!(table.column_slice::<i32>(0).unwrap()[..5], [-1, -1, -1, 3, -1]);
}
