//! What oneDAL's own tests of serialization say, and an example of DAAL. Comments name the file in oneDAL's source
//! tree.

use numeric_table::files;
use numeric_table::prelude::*;
use test_support::bits::{Random, bits, is_nan};

use super::{Table, formats, through_bincode, through_bincode_reader};

/// oneDAL `array_serialization.cpp`: empty array; 1, 10 and 1000 values of int32, float and double.
#[test]
fn arrays_of_several_lengths_come_back_equal_and_mutable() {
    fn check<T: Element>() {
        for count in [0, 1, 10, 1000] {
            // Integers as a source of floats would not be oneDAL's values; bits that are NaN would not be equal.
            let values: Vec<T> = Random::new(count as u64).values(count);
            let values: Vec<T> = values.into_iter().filter(|&value| !is_nan(value)).collect();
            let array = Array::from(values);
            let mut found = through_bincode(&array);
            assert_eq!(found, array);
            let address = found.as_ptr();
            assert_eq!(found.mutable_data().unwrap().as_ptr(), address);
        }
    }
    check::<i32>();
    check::<f32>();
    check::<f64>();
}

/// oneDAL `array_serialization.cpp`: a float or double archive read as int32. Bare arrays carry a type in JSON only, so
/// that this is about tables.
#[test]
fn a_float_archive_is_not_read_as_int32() {
    let single = Table::from_rows(&[[1.5_f32]]).unwrap().to_bytes().unwrap();
    let double = Table::from_rows(&[[1.5_f64]]).unwrap().to_bytes().unwrap();
    assert!(
        Table::<i32>::from_bytes(&single)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ElementTypeMismatch { .. }))
    );
    assert!(
        Table::<i32>::from_bytes(&double)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ElementTypeMismatch { .. }))
    );
}

/// oneDAL `homogen_serialization.cpp`: empty table; 1/10/1000 x 1/10/100 of float, double and int32, with the typed and
/// the base class on either side.
#[test]
fn homogeneous_tables_come_back_whether_their_type_is_known_or_not() {
    fn check<T: Element>() {
        for (rows, columns) in [(0, 0), (1, 1), (10, 10), (1000, 100), (1, 100), (1000, 1)] {
            let values: Vec<T> = Random::new(7).values(rows * columns);
            let typed = Table::from_array(values.clone(), Shape { rows, columns }).unwrap();
            let base: &dyn NumericTable = &typed;
            for bytes in [typed.to_bytes().unwrap(), base.to_bytes().unwrap()] {
                let found = Table::<T>::from_bytes(&bytes).unwrap();
                assert_eq!(found.shape(), Shape { rows, columns });
                assert!(
                    found.as_slice().unwrap().iter().zip(&values).all(|(&found, &value)| bits(found) == bits(value))
                );
                let found = files::from_bytes(&bytes).unwrap();
                let found = found.rows::<T>(0..rows).unwrap();
                assert_eq!(found.len(), values.len());
                assert!(found.iter().zip(&values).all(|(&found, &value)| bits(found) == bits(value)));
            }
        }
    }
    check::<f32>();
    check::<f64>();
    check::<i32>();
}

/// oneDAL `common_serialization.cpp`: empty metadata; five columns of mixed data types and feature types.
#[test]
fn metadata_comes_back_exactly() {
    let mixed = DataDictionary::from_features([
        Feature::new(ElementType::F32).ordinal(),
        Feature::new(ElementType::F64).categorical(4),
        Feature::new(ElementType::I32),
        Feature::new(ElementType::I64).ordinal(),
        Feature::new(ElementType::F32).named("ratio"),
    ]);
    for dictionary in [DataDictionary::from_features([]), mixed] {
        for through in formats::<DataDictionary>() {
            assert_eq!(through(&dictionary), dictionary);
        }
    }
}

/// oneDAL `archives.cpp`: an array of 100 values; an archive that is cut in half.
#[test]
fn half_an_archive_is_an_error() {
    let array = Array::from((0..100).collect::<Vec<i32>>());
    assert_eq!(through_bincode_reader(&array), array);
    let bytes = Table::from_array(array, Shape { rows: 10, columns: 10 }).unwrap().to_bytes().unwrap();
    assert!(
        Table::<i32>::from_bytes(&bytes[..bytes.len() / 2])
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. }))
    );
}

/// DAAL `examples/.../serialization.cpp`: text to table to bytes to fresh table, which prints the same.
#[test]
fn a_table_from_text_prints_the_same_after_it_was_in_an_archive() {
    fn print(table: &dyn NumericTable) -> String {
        let mut text = String::new();
        for block in table.row_blocks::<f64>(2).unwrap() {
            for row in block.unwrap().iter_rows() {
                text += &format!("{row:?}\n");
            }
        }
        text
    }
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_reader("5.1,-3.5,0\n1e-3,4,7.25\n8,9,1e300\n".as_bytes());
    let rows: Vec<[f64; 3]> = reader.deserialize().collect::<Result<_, _>>().unwrap();
    let table = Table::from_rows(&rows).unwrap();
    let fresh = Table::<f64>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!(print(&fresh), "[5.1, -3.5, 0.0]\n[0.001, 4.0, 7.25]\n[8.0, 9.0, 1e300]\n");
}
