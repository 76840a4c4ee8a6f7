//! Tables end to end whose categories have words: refused, or recoded.

use numeric_table::{
    CsrNumericTable, RowMergedNumericTable, SoaNumericTable, dictionary::Categories, prelude::*, table::by_ref,
};
use test_support::tables::assert_error;

type Table<T> = HomogenNumericTable<T>;

fn words(list: &[&str]) -> Categories {
    Categories::from_labels(list).unwrap()
}

/// A column without words, and one with.
fn table<T: Element>(values: &[[T; 2]], list: &[&str]) -> Table<T> {
    let features =
        [Feature::new(T::TYPE).named("size"), Feature::new(T::TYPE).named("colour").categorical(words(list))];
    Table::from_rows(values).unwrap().with_dictionary(features.into_iter().collect()).unwrap()
}

#[test]
fn tables_whose_words_differ_are_not_joined_end_to_end() {
    let first = table(&[[1_u8, 0]], &["red", "blue"]);
    let plain = Table::from_rows(&[[3_u8, 1]]).unwrap();
    for list in [&["blue", "red"][..], &["red"], &["red", "blue", "green"]] {
        let other = table(&[[2_u8, 0]], list);
        assert_error!(
            first.vstack(&[&plain, &other]),
            ErrorKind::UnequalTables { table: 2, column: Some(1), .. },
            "categories"
        );
        assert_error!(
            RowMergedNumericTable::new([by_ref(&first), by_ref(&other)]),
            ErrorKind::UnequalTables { table: 1, column: Some(1), .. },
            "categories"
        );
        let mut grown = first.clone();
        assert_error!(
            grown.append_table(&other),
            ErrorKind::UnequalTables { table: 1, column: Some(1), .. },
            "categories"
        );
        assert_eq!(grown, first);
        let mut columns = first.to_columns().unwrap();
        assert_error!(
            columns.append_table(&other),
            ErrorKind::UnequalTables { table: 1, column: Some(1), .. },
            "categories"
        );
        assert_eq!(columns.row_count(), 1);
    }
    // Words are not made up for a table that has none, nor lost by one that has.
    assert_error!(plain.vstack(&[&first]), ErrorKind::UnequalTables { table: 1, column: Some(1), .. }, "categories");
    let same = first.vstack(&[&plain, &first]).unwrap();
    assert_eq!(same.rows::<u8>(..).unwrap()[..], [1, 0, 3, 1, 1, 0]);
    assert_eq!(same.dictionary(), first.dictionary());
}

#[test]
fn columns_of_the_same_names_in_another_order_are_not_joined_end_to_end() {
    let named = |values: [[f32; 2]; 1], names: [&str; 2]| {
        let mut table = Table::from_rows(&values).unwrap();
        table.set_names(names).unwrap();
        table
    };
    let (first, turned) = (named([[1.0, 2.0]], ["a", "b"]), named([[3.0, 4.0]], ["b", "a"]));
    let error = first.vstack(&[&turned]).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"table 1 does not match table 0: column 0 has the name "b", which belongs to another column of table 0"#
    );
    let mut grown = first.clone();
    assert_error!(
        grown.append_table(&turned),
        ErrorKind::UnequalTables { table: 1, column: Some(0), .. },
        "another column"
    );
    assert_eq!(grown, first);
    let in_order = turned.select_columns(["a", "b"]).unwrap();
    let both = first.vstack(&[&in_order]).unwrap();
    assert_eq!(both.rows::<f32>(..).unwrap()[..], [1.0, 2.0, 4.0, 3.0]);
    // Other names are no other order.
    grown.append_table(&named([[5.0, 6.0]], ["a", "c"])).unwrap();
    grown.append_table(&Table::from_rows(&[[7.0_f32, 8.0]]).unwrap()).unwrap();
    assert_eq!(grown.shape().rows, 3);
}

#[test]
fn sparse_rows_with_other_words_are_not_added() {
    let sparse = |list: &[&str]| {
        let dense = table(&[[1_u8, 1]], list);
        let mut sparse = CsrNumericTable::from_dense::<u8>(&dense).unwrap();
        sparse.set_dictionary(dense.dictionary().clone()).unwrap();
        sparse
    };
    let (mut first, other) = (sparse(&["red", "blue"]), sparse(&["blue", "red"]));
    assert_error!(first.append_table(&other), ErrorKind::UnequalTables { table: 1, column: Some(1), .. }, "categories");
    assert_eq!(first.row_count(), 1);
    first.append_table(&first.clone()).unwrap();
    assert_eq!(first.rows::<u8>(..).unwrap()[..], [1, 1, 1, 1]);
}

#[test]
fn recoding_keeps_the_words_of_the_first_table_and_adds_new_ones_in_order() {
    let first = table(&[[10_u8, 1], [11, 0]], &["red", "blue"]);
    let second = table(&[[12_u8, 0], [13, 2]], &["green", "", "red"]);
    let third = table(&[[14_u8, 1]], &["red", "blue"]);
    let all = first.vstack_unified(&[&second, &third]).unwrap();
    assert_eq!(all.rows::<u8>(..).unwrap()[..], [10, 1, 11, 0, 12, 2, 13, 0, 14, 1]);
    let feature = all.dictionary().feature(1).unwrap();
    assert_eq!(feature.categories, Some(words(&["red", "blue", "green", ""])));
    assert_eq!((feature.name.as_deref(), all.uniform_type()), (Some("colour"), Some(ElementType::U8)));
    assert!(all.names().eq([Some("size"), Some("colour")]));
    // Nothing is recoded where nothing differs: the tables are shown as they are.
    let same = first.vstack_unified(&[&third]).unwrap();
    assert!(same.rows::<u8>(..2).unwrap().is_zero_copy());
}

#[test]
fn a_word_means_the_same_before_and_after_recoding() {
    let lists = [vec!["a", "b", "c"], vec!["c", "x", "a", "b"], vec!["y"], vec!["b", "a", "z", "y", "c"]];
    let tables: Vec<_> = lists
        .iter()
        .enumerate()
        .map(|(seed, list)| {
            let rows: Vec<[i16; 2]> = (0..50).map(|row| [row, (row * 7 + seed as i16) % list.len() as i16]).collect();
            table(&rows, list)
        })
        .collect();
    let others: Vec<_> = tables[1..].iter().map(|table| table as &dyn NumericTable).collect();
    let all = tables[0].vstack_unified(&others).unwrap();
    let feature = all.dictionary().feature(1).unwrap();
    for row in 0..all.row_count() {
        let (table, own) = (&tables[row / 50], row % 50);
        let word = table.dictionary().feature(1).unwrap().label(table.value::<u16>(own, 1).unwrap() as usize);
        assert_eq!(feature.label(all.value::<u16>(row, 1).unwrap() as usize), word);
        assert_eq!(all.value::<i16>(row, 0).unwrap(), own as i16);
    }
}

#[test]
fn a_type_that_does_not_hold_all_indices_gives_way_to_a_larger_one() {
    let names = |prefix: &str| (0..200).map(|word| format!("{prefix}{word}")).collect::<Vec<_>>();
    let of = |prefix: &str, element| {
        let feature = Feature::new(element).categorical(Categories::from_labels(names(prefix)).unwrap());
        let mut table =
            SoaNumericTable::from_dictionary(DataDictionary::uniform(feature, 1), 2, AllocationFlag::DoAllocate)
                .unwrap();
        table.set_value(1, 0, 199.0_f64).unwrap();
        table
    };
    for (one, other, expected) in [
        (ElementType::U8, ElementType::U8, ElementType::U16),
        (ElementType::U8, ElementType::I64, ElementType::U16),
        (ElementType::I32, ElementType::I32, ElementType::I32),
        (ElementType::F32, ElementType::U8, ElementType::F32),
        (ElementType::Bf16, ElementType::Bf16, ElementType::F32),
        (ElementType::F16, ElementType::F16, ElementType::F16),
    ] {
        let (one, other) = (of("a", one), of("b", other));
        let all = one.vstack_unified(&[&other]).unwrap();
        assert_eq!(all.column_type(0).unwrap(), expected);
        assert_eq!(all.column::<f64>(0, ..).unwrap()[..], [0.0, 199.0, 200.0, 399.0]);
    }
}

#[test]
fn values_without_a_word_are_refused_with_their_row_in_the_result_and_nan_stays() {
    let first = table(&[[1.0_f32, 0.0], [2.0, f32::NAN]], &["red"]);
    let good = table(&[[3.0_f32, f32::NAN], [4.0, 0.0]], &["blue"]);
    let all = first.vstack_unified(&[&good]).unwrap();
    let column = all.column::<f32>(1, ..).unwrap();
    assert!(column[1].is_nan() && column[2].is_nan() && column[0] == 0.0 && column[3] == 1.0);
    for value in [1.0, -1.0, 0.5, f32::INFINITY] {
        let bad = table(&[[3.0, 0.0], [4.0, value]], &["blue"]);
        let error = first.vstack_unified(&[&bad]).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::ValueNotAllowed { row: 3, column: 1, reason, .. } if reason.contains("categor")
            ),
            "{error}"
        );
    }
    let plain = Table::from_rows(&[[1.0_f32, 0.0]]).unwrap();
    assert_error!(
        first.vstack_unified(&[&good, &plain]),
        ErrorKind::UnequalTables { table: 2, column: Some(1), .. },
        "categories"
    );
    let narrow = Table::from_rows(&[[1.0_f32]]).unwrap();
    assert_error!(first.vstack_unified(&[&narrow]), ErrorKind::UnequalTables { table: 1, .. }, "columns");
}

#[test]
fn tables_without_rows_bring_their_words() {
    let none: [[u8; 2]; 0] = [];
    let (first, second) = (table(&none, &["red"]), table(&[[1_u8, 0]], &["blue"]));
    let all = first.vstack_unified(&[&second]).unwrap();
    assert_eq!(all.rows::<u8>(..).unwrap()[..], [1, 1]);
    let back = second.vstack_unified(&[&first]).unwrap();
    assert_eq!(back.dictionary().feature(1).unwrap().categories, Some(words(&["blue", "red"])));
}

#[test]
fn tables_with_too_many_rows_together_are_refused_in_plain_words() {
    let many = Table::<f32>::new(Shape { rows: usize::MAX, columns: 0 }, AllocationFlag::DoAllocate).unwrap();
    let error = many.vstack(&[&many]).unwrap_err();
    let expected = format!("a table of {} x 0 values exceeds the address space", usize::MAX);
    assert_eq!(error.to_string(), expected);
}

#[test]
fn times_of_another_unit_do_not_follow() {
    use numeric_table::{dictionary::TimeUnit, files::TableWriter};
    let times = |unit: Option<TimeUnit>| -> SoaNumericTable {
        let mut table = SoaNumericTable::new();
        let feature = Feature::new(ElementType::I64).named("t");
        table.push_column("t", vec![1_i64]).unwrap();
        table.set_dictionary([unit.map_or(feature.clone(), |unit| feature.time(unit))].into_iter().collect()).unwrap();
        table
    };
    let (seconds, millis) = (times(Some(TimeUnit::Seconds)), times(Some(TimeUnit::Milliseconds)));
    let plain = times(None);
    let refused = |result: Result<(), Error>| {
        assert_error!(result, ErrorKind::UnequalTables { table: 1, column: Some(0), .. }, "has a different");
    };
    for first in [&seconds, &plain] {
        refused(first.vstack(&[&millis]).map(drop));
        refused(RowMergedNumericTable::new([by_ref(first), by_ref(&millis)]).map(drop));
        let mut grown = first.clone();
        refused(grown.append_table(&millis));
        assert_eq!(grown.row_count(), 1);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut writer =
        TableWriter::<i64>::create(folder.path().join("times.ntb"), 1, seconds.dictionary().clone()).unwrap();
    refused(writer.append_table(&millis));
    for same in [&seconds, &plain] {
        assert_eq!(seconds.vstack(&[same]).unwrap().row_count(), 2);
        writer.append_table(same).unwrap();
    }
}
