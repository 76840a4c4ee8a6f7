//! Faults 28 to 32: dictionaries, and the layout.

use numeric_table::prelude::*;
use test_support::tables::*;

use DataLayout::RowMajor;

/// Fault 28: where all features are equal, setting one changes all; the last column wins.
#[test]
fn setting_one_of_equal_features_changes_one() {
    let mut dictionary = numbered::<f32>(2, 3, RowMajor).dictionary().clone();
    dictionary.set_feature(2, feature::<f32>().categorical(4)).unwrap();
    let types: Vec<_> = dictionary.iter().map(|feature| feature.feature_type).collect();
    assert_eq!(types, [FeatureType::Continuous, FeatureType::Continuous, FeatureType::Categorical]);
}

/// Fault 30: the CSV loader writes features that say `int` into a table of `float`.
#[test]
fn a_feature_of_another_type_is_refused() {
    let mut table = numbered::<f32>(2, 3, RowMajor);
    let mut dictionary = table.dictionary().clone();
    dictionary.set_feature(1, feature::<i32>().categorical(4)).unwrap();
    assert_error!(
        table.set_dictionary(dictionary),
        ErrorKind::DictionaryMismatch { actual: Some((1, ElementType::I32)), .. }
    );
}

/// Fault 31: equal features of no columns: lookup, check and serialisation dereference null.
#[test]
fn equal_features_of_no_columns_are_an_ordinary_dictionary() {
    let dictionary = DataDictionary::uniform(feature::<f32>(), 0);
    assert_error!(dictionary.feature(0), ErrorKind::ColumnOutOfRange { column: 0, column_count: 0 });
    let table = HomogenNumericTable::<f32>::from_dictionary(dictionary).unwrap();
    let bytes = table.to_bytes().unwrap();
    assert_eq!(HomogenNumericTable::<f32>::from_bytes(&bytes).unwrap(), table);
}

/// Fault 32: `create()` leaves the layout unknown, for good.
#[test]
fn every_table_has_a_layout_from_the_start() {
    let mut table = HomogenNumericTable::<f32>::default();
    assert_eq!(table.data_layout(), RowMajor);
    table.resize(3).unwrap();
    table.set_array(Vec::new(), 3).unwrap();
    assert_eq!(table.data_layout(), RowMajor);
}
