//! The data dictionary: what it says of each column, how it travels with a table, and that the two never disagree.
//!
//! What is asked for is what DAAL asks of `getDictionary`, `resetDictionary`, `getFeatureType` and
//! `getNumberOfCategories`. Tests that oneDAL has as well name their file in its source tree.

use numeric_table::prelude::*;
use numeric_table::{dictionary::PmmlType, files};
use test_support::bits::Random;
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::{ColumnMajor, RowMajor};

/// A named, an ordinal and a categorical column of the element type `T`.
fn mixed<T: Element>() -> DataDictionary {
    DataDictionary::from_features([
        feature::<T>().named("length"),
        feature::<T>().named("grade").ordinal(),
        feature::<T>().named("species").categorical(3),
    ])
}

/// A 2 x 3 table of `T` that is described by [`mixed`].
fn described<T: SmallNumber>(layout: DataLayout) -> HomogenNumericTable<T> {
    let mut table = numbered::<T>(2, 3, layout);
    table.set_dictionary(mixed::<T>()).unwrap();
    table
}

// --- features ------------------------------------------------------------------------------------------------------

#[test]
fn a_feature_is_continuous_and_without_a_name_unless_told_otherwise() {
    let feature = Feature::new(ElementType::F32);
    assert_eq!(
        (feature.name.clone(), feature.feature_type, feature.category_count()),
        (None, FeatureType::Continuous, None)
    );
}

/// DAAL knows the PMML type of `int`, `float` and `double` only.
#[test]
fn pmml_types_and_sizes_of_all_element_types() {
    let expected = [
        (ElementType::F32, PmmlType::Float, 4),
        (ElementType::F64, PmmlType::Double, 8),
        (ElementType::I32, PmmlType::Integer, 4),
        (ElementType::U32, PmmlType::Integer, 4),
        (ElementType::I64, PmmlType::Integer, 8),
        (ElementType::U64, PmmlType::Integer, 8),
        (ElementType::I8, PmmlType::Integer, 1),
        (ElementType::U8, PmmlType::Integer, 1),
        (ElementType::I16, PmmlType::Integer, 2),
        (ElementType::U16, PmmlType::Integer, 2),
        (ElementType::F16, PmmlType::Float, 2),
        (ElementType::Bf16, PmmlType::Float, 2),
    ];
    assert_eq!(expected.map(|(element, ..)| element), ElementType::ALL);
    for (element, pmml_type, size) in expected {
        let feature = Feature::new(element);
        assert_eq!((feature.pmml_type(), feature.type_size()), (pmml_type, size), "{element}");
    }
}

#[test]
fn builders_set_one_thing_each() {
    let feature = Feature::new(ElementType::U8).named("species").categorical(3);
    assert_eq!(feature.name.as_deref(), Some("species"));
    assert_eq!((feature.feature_type, feature.category_count()), (FeatureType::Categorical, Some(3)));
    assert_eq!(feature.ordinal().feature_type, FeatureType::Ordinal);
}

#[test]
fn feature_and_pmml_types_display_as_words() {
    let types = [FeatureType::Categorical, FeatureType::Ordinal, FeatureType::Continuous];
    assert_eq!(types.map(|kind| kind.to_string()), ["categorical", "ordinal", "continuous"]);
    let types = [PmmlType::Float, PmmlType::Double, PmmlType::Integer];
    assert_eq!(types.map(|kind| kind.to_string()), ["float", "double", "integer"]);
}

// --- dictionaries --------------------------------------------------------------------------------------------------

#[test]
fn a_uniform_dictionary_says_the_same_of_every_column() {
    let pixel = Feature::new(ElementType::U8).named("pixel").ordinal();
    let dictionary = DataDictionary::uniform(pixel.clone(), 4);
    assert_eq!((dictionary.len(), dictionary.is_uniform(), dictionary.is_empty()), (4, true, false));
    assert!((0..4).all(|column| *dictionary.feature(column).unwrap() == pixel));
    assert_eq!(dictionary.iter().len(), 4);
}

#[test]
fn a_dictionary_of_features_says_of_each_column_its_own() {
    let dictionary = mixed::<f32>();
    assert_eq!((dictionary.len(), dictionary.is_uniform()), (3, false));
    let names: Vec<_> = dictionary.iter().map(|feature| feature.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["length", "grade", "species"]);
    assert_eq!(mixed::<f32>().iter().cloned().collect::<DataDictionary>(), dictionary);
}

#[test]
fn a_column_outside_has_no_feature() {
    for dictionary in [DataDictionary::uniform(feature::<f32>(), 3), mixed::<f32>()] {
        for column in [3, usize::MAX] {
            assert_error!(
                dictionary.feature(column),
                ErrorKind::ColumnOutOfRange { column: found, column_count: 3 } if *found == column
            );
            assert_error!(dictionary.clone().set_feature(column, feature::<f32>()), ErrorKind::ColumnOutOfRange { .. });
        }
    }
}

#[test]
fn a_uniform_dictionary_equals_one_that_lists_the_same_for_each_column() {
    let each = DataDictionary::from_features([feature::<f32>(), feature::<f32>()]);
    let uniform = DataDictionary::uniform(feature::<f32>(), 2);
    assert_eq!(uniform, each);
    assert_eq!(each, uniform);
    let mut made_equal = DataDictionary::from_features([feature::<f32>(), feature::<f32>().ordinal()]);
    made_equal.set_feature(1, feature::<f32>()).unwrap();
    assert_eq!((&uniform, &made_equal), (&made_equal, &uniform));
    assert_ne!(uniform, DataDictionary::from_features([feature::<f32>(), feature::<f32>().ordinal()]));
    assert_ne!(uniform, DataDictionary::uniform(feature::<f32>(), 3));
    assert_ne!(uniform, DataDictionary::uniform(feature::<f64>(), 2));
}

#[test]
fn a_dictionary_is_uniform_if_all_features_that_it_is_made_of_are_equal() {
    for feature in [feature::<f32>(), feature::<f32>().named("pixel"), feature::<f32>().categorical(2)] {
        for count in [1, 2, 1000] {
            let each = DataDictionary::from_features(vec![feature.clone(); count]);
            assert_eq!((each.len(), each.is_uniform()), (count, true));
            let other = DataDictionary::from_features(
                vec![feature.clone(); count].into_iter().chain([feature.clone().ordinal()]),
            );
            assert_eq!((other.len(), other.is_uniform()), (count + 1, false));
        }
    }
    assert!(!DataDictionary::from_features([]).is_uniform());
}

/// Equal features share what they are stored in.
#[test]
fn setting_features_in_any_order_changes_no_other_column() {
    let mut random = Random::new(11);
    let kinds = [
        feature::<f32>(),
        feature::<f32>().ordinal(),
        feature::<f64>(),
        feature::<f32>().named("a"),
        feature::<f32>().named(""),
        feature::<f32>().categorical(2),
        feature::<f32>().named("a").categorical(2),
    ];
    for round in 0..50 {
        let count = 1 + random.below(6);
        let mut expected: Vec<Feature> = (0..count).map(|_| kinds[random.below(kinds.len())].clone()).collect();
        let mut dictionary: DataDictionary = expected.iter().cloned().collect();
        for step in 0..40 {
            let kept = (random.below(2) == 0).then(|| dictionary.clone()); // shares the memory
            let (column, feature) = (random.below(count), &kinds[random.below(kinds.len())]);
            let before = expected.clone();
            expected[column] = feature.clone();
            dictionary.set_feature(column, feature.clone()).unwrap();
            assert!(dictionary.iter().eq(&expected), "round {round}, step {step}");
            assert!(kept.is_none_or(|kept| kept.iter().eq(&before)), "round {round}, step {step}");
            let retyped = dictionary.with_element_type(ElementType::I8).unwrap();
            assert!(
                retyped
                    .iter()
                    .zip(&expected)
                    .all(|(found, old)| *found == Feature { element_type: ElementType::I8, ..old.clone() })
            );
            let first = expected.iter().position(|feature| feature.name.as_deref() == Some("a"));
            assert_eq!(dictionary.index_of("a"), first);
            assert_eq!(dictionary, expected.iter().cloned().collect());
            assert_eq!(round_trip(&dictionary), dictionary);
        }
    }
}

#[test]
fn dictionaries_of_no_columns_are_equal() {
    let none = DataDictionary::from_features([]);
    assert_eq!(none, DataDictionary::uniform(feature::<f32>(), 0));
    assert_eq!(DataDictionary::uniform(feature::<f64>(), 0), DataDictionary::uniform(feature::<f32>(), 0));
    assert_eq!((none.len(), none.is_empty(), none.iter().count()), (0, true, 0));
}

/// In DAAL it changes all columns.
#[test]
fn setting_one_feature_of_a_uniform_dictionary_changes_that_one() {
    let mut dictionary = DataDictionary::uniform(feature::<f32>(), 3);
    let untouched = dictionary.clone();
    dictionary.set_feature(1, feature::<f32>().named("width")).unwrap();
    let names: Vec<_> = dictionary.iter().map(|feature| feature.name.as_deref()).collect();
    assert_eq!((names, dictionary.is_uniform()), (vec![None, Some("width"), None], false));
    assert_eq!(untouched, DataDictionary::uniform(feature::<f32>(), 3));
}

#[test]
fn setting_the_feature_that_is_there_keeps_a_dictionary_uniform() {
    let mut dictionary = DataDictionary::uniform(feature::<f32>(), usize::MAX);
    dictionary.set_feature(7, feature::<f32>()).unwrap();
    assert!(dictionary.is_uniform());
}

#[test]
fn setting_a_feature_of_a_clone_leaves_the_original() {
    let original = mixed::<f32>();
    let mut clone = original.clone();
    clone.set_feature(0, feature::<f32>().named("other")).unwrap();
    assert_eq!((original.index_of("length"), clone.index_of("length")), (Some(0), None));
    assert_eq!(clone.index_of("species"), Some(2));
}

#[test]
fn names_are_looked_up_exactly_and_the_first_wins() {
    let names = ["a", "b", "", "a"].map(|name| feature::<f32>().named(name));
    let dictionary = DataDictionary::from_features(names.into_iter().chain([feature::<f32>()]));
    assert_eq!(["a", "b", "", "A", "c"].map(|name| dictionary.index_of(name)), [Some(0), Some(1), Some(2), None, None]);
    assert_eq!(DataDictionary::uniform(feature::<f32>().named("pixel"), 5).index_of("pixel"), Some(0));
    assert_eq!(DataDictionary::uniform(feature::<f32>().named("pixel"), 0).index_of("pixel"), None);
}

#[test]
fn a_uniform_dictionary_is_small_however_many_columns_it_has() {
    for count in [1_000_000, usize::MAX] {
        let dictionary = DataDictionary::uniform(feature::<f32>().named("pixel"), count);
        assert_eq!((dictionary.len(), dictionary.feature(count - 1).unwrap().name.as_deref()), (count, Some("pixel")));
        assert_eq!(dictionary, dictionary.clone());
        assert_eq!(dictionary.with_element_type(ElementType::I8).unwrap().feature(7).unwrap().type_size(), 1);
        assert!(serde_json::to_string(&dictionary).unwrap().len() < 500);
    }
}

#[test]
fn a_feature_per_column_that_memory_cannot_hold_is_an_error_and_nothing_changes() {
    let mut dictionary = DataDictionary::uniform(feature::<f32>(), usize::MAX);
    assert_error!(dictionary.set_feature(0, feature::<f32>().named("x")), ErrorKind::OutOfMemory);
    assert_eq!(dictionary, DataDictionary::uniform(feature::<f32>(), usize::MAX));
}

#[test]
fn another_element_type_keeps_names_and_meanings() {
    assert_eq!(mixed::<f32>().with_element_type(ElementType::Bf16).unwrap(), mixed::<numeric_table::bf16>());
}

// --- dictionaries of tables ----------------------------------------------------------------------------------------

fn default_dictionary_fits<T: SmallNumber>() {
    for layout in LAYOUTS {
        let table = numbered::<T>(2, 3, layout);
        assert_eq!(*table.dictionary(), DataDictionary::uniform(feature::<T>(), 3));
        assert!(table.dictionary().is_uniform());
    }
}

/// DAAL's guide: "automatically constructed using the parameters provided to the constructor".
#[test]
fn a_dictionary_is_made_where_none_is_given() {
    for_each_element!(default_dictionary_fits);
    let tables = [
        HomogenNumericTable::<f32>::new(shape(0, 3), DoNotAllocate).unwrap(),
        HomogenNumericTable::new(shape(2, 3), DoAllocate).unwrap(),
        HomogenNumericTable::full(shape(2, 3), 1.0).unwrap(),
        HomogenNumericTable::from_rows(&[[1.0, 2.0, 3.0]]).unwrap(),
    ];
    for table in tables {
        assert_eq!(*table.dictionary(), DataDictionary::uniform(feature::<f32>(), 3));
    }
    assert!(HomogenNumericTable::<f32>::default().dictionary().is_empty());
}

#[test]
fn a_table_of_a_million_columns_has_a_small_dictionary() {
    let table = HomogenNumericTable::<u8>::new(shape(1, 1_000_000), DoAllocate).unwrap();
    assert!(table.dictionary().is_uniform());
    assert_eq!(table.feature_type(999_999).unwrap(), FeatureType::Continuous);
    let table = HomogenNumericTable::<u8>::new(shape(0, usize::MAX), DoAllocate).unwrap();
    assert_eq!(table.dictionary().len(), usize::MAX);
}

#[test]
fn feature_types_and_category_counts_are_those_of_the_dictionary() {
    let table = described::<f32>(RowMajor);
    let types = [FeatureType::Continuous, FeatureType::Ordinal, FeatureType::Categorical];
    assert_eq!([0, 1, 2].map(|column| table.feature_type(column).unwrap()), types);
    assert_eq!([0, 1, 2].map(|column| table.category_count(column).unwrap()), [None, None, Some(3)]);
}

/// DAAL: "continuous", and `(size_t)-1` categories.
#[test]
fn feature_type_and_category_count_of_a_column_outside_are_errors() {
    let table = described::<f32>(RowMajor);
    for column in [3, usize::MAX] {
        assert_error!(table.feature_type(column), ErrorKind::ColumnOutOfRange { column_count: 3, .. });
        assert_error!(table.category_count(column), ErrorKind::ColumnOutOfRange { column_count: 3, .. });
    }
}

/// In DAAL this changes the shape, and the memory stays as it was.
#[test]
fn a_dictionary_of_another_length_is_refused_and_nothing_changes() {
    for layout in LAYOUTS {
        let mut table = described::<f32>(layout);
        let before = (state_of(&table), table.dictionary().clone());
        for count in [0, 2, 4, usize::MAX] {
            assert_error!(
                table.set_dictionary(DataDictionary::uniform(feature::<f32>(), count)),
                ErrorKind::DictionaryMismatch { features, columns: 3, element: ElementType::F32, actual: None }
                    if *features == count
            );
        }
        assert_eq!((state_of(&table), table.dictionary().clone()), before);
    }
}

#[test]
fn a_dictionary_of_another_element_type_is_refused_and_nothing_changes() {
    let mut table = described::<f32>(RowMajor);
    let mut wrong = mixed::<f32>();
    wrong.set_feature(1, feature::<i32>()).unwrap();
    assert_error!(
        table.set_dictionary(wrong),
        ErrorKind::DictionaryMismatch { features: 3, columns: 3, actual: Some((1, ElementType::I32)), .. }
    );
    assert_error!(
        table.set_dictionary(DataDictionary::uniform(feature::<f64>(), 3)),
        ErrorKind::DictionaryMismatch { actual: Some((0, ElementType::F64)), .. }
    );
    assert_eq!(*table.dictionary(), mixed::<f32>());
}

#[test]
fn a_dictionary_of_no_columns_fits_a_table_without_columns_only() {
    let mut table = HomogenNumericTable::<f32>::new(shape(3, 0), DoAllocate).unwrap();
    table.set_dictionary(DataDictionary::from_features([])).unwrap();
    table.set_dictionary(DataDictionary::uniform(feature::<i64>(), 0)).unwrap(); // says nothing of any column
    table.reset_dictionary().unwrap();
    assert_eq!(*table.dictionary(), DataDictionary::uniform(feature::<f32>(), 0));
    assert_error!(
        table.set_dictionary(DataDictionary::uniform(feature::<f32>(), 1)),
        ErrorKind::DictionaryMismatch { .. }
    );
}

#[test]
fn reset_dictionary_forgets_names_and_meanings() {
    let mut table = described::<f32>(ColumnMajor);
    table.reset_dictionary().unwrap();
    assert_eq!(*table.dictionary(), DataDictionary::uniform(feature::<f32>(), 3));
}

#[test]
fn a_dictionary_taken_from_a_table_is_a_copy_and_the_tables_does_not_change() {
    let table = described::<f32>(RowMajor);
    let mut copy = table.dictionary().clone();
    copy.set_feature(0, feature::<f64>().named("other")).unwrap();
    assert_eq!(*table.dictionary(), mixed::<f32>());
}

#[test]
fn dictionaries_are_set_and_read_through_dyn() {
    let mut table: Box<dyn NumericTable> = Box::new(numbered::<f32>(2, 3, RowMajor));
    table.set_dictionary(mixed::<f32>()).unwrap();
    assert_eq!(table.dictionary().index_of("species"), Some(2));
    assert_error!(table.set_dictionary(mixed::<f64>()), ErrorKind::DictionaryMismatch { .. });
    table.reset_dictionary().unwrap();
    assert_eq!(table.dictionary().index_of("species"), None);
}

// --- dictionaries travel -------------------------------------------------------------------------------------------

#[test]
fn a_dictionary_travels_with_a_clone_and_each_has_its_own() {
    let mut table = described::<f32>(RowMajor);
    let clone = table.clone();
    table.reset_dictionary().unwrap();
    assert_eq!(*clone.dictionary(), mixed::<f32>());
}

#[test]
fn a_dictionary_travels_with_a_slice() {
    for layout in LAYOUTS {
        let table = described::<f32>(layout);
        assert_eq!(*table.slice_rows(1..2).unwrap().dictionary(), mixed::<f32>());
        assert_eq!(*table.slice_rows(0..0).unwrap().dictionary(), mixed::<f32>());
        assert_eq!(*table.slice_rows(1..2).unwrap().to_compact().unwrap().dictionary(), mixed::<f32>());
    }
}

#[test]
fn a_dictionary_travels_to_another_layout() {
    for (from, to) in LAYOUTS.into_iter().flat_map(|from| LAYOUTS.map(|to| (from, to))) {
        assert_eq!(*described::<f32>(from).to_layout(to).unwrap().dictionary(), mixed::<f32>());
    }
}

fn dictionary_travels_to<U: SmallNumber>() {
    for layout in LAYOUTS {
        let table = described::<f32>(layout);
        assert_eq!(*table.convert::<U>().unwrap().dictionary(), mixed::<U>());
        assert_eq!(*table.convert_with::<U>(ConversionPolicy::Exact).unwrap().dictionary(), mixed::<U>());
    }
}

/// The result of DAAL's `convertToHomogen` has the source's types and sizes.
#[test]
fn a_dictionary_travels_through_a_conversion_with_the_new_element_type() {
    for_each_element!(dictionary_travels_to);
}

#[test]
fn a_dictionary_stays_through_everything_that_happens_to_the_memory() {
    let mut table = described::<f32>(RowMajor);
    table.resize(1).unwrap();
    table.resize(9).unwrap();
    table.set_array(vec![1.0; 3], 1).unwrap();
    let _shared = table.clone();
    table.fill(5.0).unwrap(); // copy on write
    table.free_data_memory().unwrap();
    table.allocate_data_memory().unwrap();
    assert_eq!(*table.dictionary(), mixed::<f32>());
}

#[test]
fn a_dictionary_travels_through_an_archive() {
    for layout in LAYOUTS {
        let bytes = described::<i16>(layout).to_bytes().unwrap();
        assert_eq!(*HomogenNumericTable::<i16>::from_bytes(&bytes).unwrap().dictionary(), mixed::<i16>());
        assert_eq!(*files::from_bytes(&bytes).unwrap().dictionary(), mixed::<i16>());
    }
}

#[test]
fn a_uniform_dictionary_stays_small_in_an_archive() {
    let table = HomogenNumericTable::<u8>::new(shape(1, 100_000), DoAllocate).unwrap();
    let bytes = table.to_bytes().unwrap();
    assert!(bytes.len() < 100_000 + 500, "{}", bytes.len());
    assert!(HomogenNumericTable::<u8>::from_bytes(&bytes).unwrap().dictionary().is_uniform());
}

// --- the peer's tests ----------------------------------------------------------------------------------------------

/// oneDAL `table/test/common.cpp`: feature and data type at -1 and n are out of range, at 0 fine. -1 cannot be written.
#[test]
fn metadata_is_checked_at_the_ends() {
    let table = numbered::<f32>(2, 3, RowMajor);
    assert_eq!(table.feature_type(0).unwrap(), FeatureType::Continuous);
    assert_eq!(table.dictionary().feature(0).unwrap().element_type, ElementType::F32);
    assert_error!(table.feature_type(3), ErrorKind::ColumnOutOfRange { .. });
    assert_error!(table.dictionary().feature(3), ErrorKind::ColumnOutOfRange { .. });
}

/// oneDAL `table/test/common.cpp`: metadata of an empty table; `domain_error` there.
#[test]
fn empty_metadata_has_no_column_at_all() {
    let table = HomogenNumericTable::<f32>::default();
    assert_error!(table.feature_type(0), ErrorKind::ColumnOutOfRange { column: 0, column_count: 0 });
    assert_error!(table.dictionary().feature(0), ErrorKind::ColumnOutOfRange { column: 0, column_count: 0 });
}

fn round_trip(dictionary: &DataDictionary) -> DataDictionary {
    let text = serde_json::to_string(dictionary).unwrap();
    let from_text: DataDictionary = serde_json::from_str(&text).unwrap();
    let bytes = bincode::serde::encode_to_vec(dictionary, bincode::config::legacy()).unwrap();
    let (from_bytes, used): (DataDictionary, usize) =
        bincode::serde::decode_from_slice(&bytes, bincode::config::legacy()).unwrap();
    assert_eq!((&from_text, used), (&from_bytes, bytes.len()));
    from_text
}

/// oneDAL `table/test/common_serialization.cpp`: empty metadata.
#[test]
fn empty_metadata_round_trips() {
    for dictionary in [DataDictionary::from_features([]), DataDictionary::uniform(feature::<f32>(), 0)] {
        assert!(round_trip(&dictionary).is_empty());
    }
}

/// oneDAL `table/test/common_serialization.cpp`: five columns of mixed data and feature types.
#[test]
fn mixed_metadata_round_trips_exactly() {
    let dictionary = DataDictionary::from_features([
        feature::<f32>().named("ratio"),
        feature::<f64>(),
        feature::<i32>().ordinal(),
        feature::<u8>().categorical(usize::MAX),
        feature::<i64>().named("größe \"quoted\"\n").categorical(0),
    ]);
    assert_eq!(round_trip(&dictionary), dictionary);
}

fn default_feature_of<T: SmallNumber>() {
    let table = numbered::<T>(1, 1, RowMajor);
    assert_eq!(table.feature_type(0).unwrap(), FeatureType::Continuous);
}

/// oneDAL `table/test/table_adapter.cpp` and `table/detail/test`: default metadata from types. There integers are
/// ordinal; here every column is continuous, as in DAAL, until somebody says otherwise.
#[test]
fn default_feature_types_are_those_of_daal() {
    for_each_element!(default_feature_of);
}
