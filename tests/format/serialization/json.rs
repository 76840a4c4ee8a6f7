//! JSON: the text, and texts that are refused.

use numeric_table::prelude::*;
use numeric_table::{bf16, f16};
use test_support::bits::is_nan;
use test_support::for_each_element;

use super::{Table, from_json};

#[test]
fn a_table_as_json_is_this_very_text() {
    let mut table = Table::from_rows(&[[0.1_f32, f32::NAN], [f32::NEG_INFINITY, -0.0], [f32::INFINITY, 3.0]]).unwrap();
    let uniform = concat!(
        r#"{"element_type":"f32","layout":"row_major","rows":3,"columns":2,"#,
        r#""dictionary":{"uniform":{"feature":{"name":null,"element_type":"f32","feature_type":"continuous","#,
        r#""category_count":null},"count":2}},"#,
        r#""values":[0.1,"NaN","-Infinity",-0.0,"Infinity",3.0]}"#,
    );
    assert_eq!(serde_json::to_string(&table).unwrap(), uniform);

    let feature = || Feature::new(ElementType::F32);
    let named = [feature().named("é"), feature().categorical(3)].into_iter().collect();
    table.set_dictionary(named).unwrap();
    table.resize(1).unwrap();
    let each = concat!(
        r#"{"element_type":"f32","layout":"row_major","rows":1,"columns":2,"dictionary":{"each":["#,
        r#"{"name":"é","element_type":"f32","feature_type":"continuous","category_count":null},"#,
        r#"{"name":null,"element_type":"f32","feature_type":"categorical","category_count":3}]},"#,
        r#""values":[0.1,"NaN"]}"#,
    );
    assert_eq!(serde_json::to_string(&table).unwrap(), each);
}

#[test]
fn the_members_of_a_json_table_may_come_in_any_order() {
    let text = concat!(
        r#"{"values":[1,2],"dictionary":{"each":[{"element_type":"u8"},{"element_type":"u8"}]},"#,
        r#""columns":2,"rows":1,"layout":"column_major","element_type":"u8"}"#,
    );
    assert_eq!(from_json::<Table<u8>>(text).unwrap().as_slice().unwrap(), [1, 2]);
}

#[test]
fn json_has_integers_with_all_their_digits_and_floats_with_the_fewest() {
    fn text<T: Element>(values: &[T]) -> String {
        serde_json::to_string(&Array::from(values.to_vec())).unwrap()
    }
    assert_eq!(text(&[u64::MAX, 0]), "[18446744073709551615,0]");
    assert_eq!(text(&[i64::MIN, i64::MAX]), "[-9223372036854775808,9223372036854775807]");
    assert_eq!(text(&[i8::MIN, i8::MAX]), "[-128,127]");
    assert_eq!(text(&[0.1_f64, -0.0]), "[0.1,-0.0]");
    assert_eq!(text(&[0.1_f32]), "[0.1]");
    assert_eq!(text(&[f16::from_bits(0x2E66)]), "[0.099975586]");
}

#[test]
fn null_is_read_as_nan_by_floats_and_refused_by_integers() {
    fn check<T: Element>() {
        match from_json::<Array<T>>("[null]") {
            Ok(array) => assert!(T::TYPE.is_float() && is_nan(array[0])),
            Err(_) => assert!(!T::TYPE.is_float()),
        }
    }
    for_each_element!(check);
}

#[test]
fn names_of_non_finite_floats_are_refused_by_integers() {
    fn check<T: Element>() {
        for name in ["NaN", "Infinity", "-Infinity"] {
            let read = from_json::<Array<T>>(&format!("[\"{name}\"]"));
            assert_eq!(read.is_ok(), T::TYPE.is_float(), "{name} as {}", T::TYPE);
        }
    }
    for_each_element!(check);
}

#[test]
fn json_numbers_that_the_type_does_not_have_are_refused() {
    fn refuses<T: Element>(numbers: &[&str]) {
        for number in numbers {
            assert!(from_json::<Array<T>>(&format!("[{number}]")).is_err(), "{number} was read as {}", T::TYPE);
        }
    }
    refuses::<i8>(&["128", "-129", "0.5"]);
    refuses::<u8>(&["300", "-1", "1.5", "-0.5"]);
    refuses::<i16>(&["32768", "-32769"]);
    refuses::<u16>(&["65536", "-1"]);
    refuses::<i32>(&["1.5", "2147483648", "-2147483649", "1e10"]);
    refuses::<u32>(&["4294967296", "-1"]);
    refuses::<i64>(&["9223372036854775808", "1e19", "-1e19", "0.1"]);
    refuses::<u64>(&["18446744073709551616", "-1"]);
    refuses::<f16>(&["65520", "1e6", "-65520.0"]);
    refuses::<bf16>(&["3.4e38", "-1e39"]);
    refuses::<f32>(&["1e39", "-1e39", "3.4028236e38"]);
    refuses::<f64>(&["1e309", "-1e999"]);
}

/// JSON readers hand on as `f64` what has a fraction or does not fit in 64 bits: the integer meant is gone by then.
#[test]
fn json_integers_that_went_through_a_rounded_float_are_refused() {
    for number in ["-9223372036854775809", "9007199254740993.0"] {
        assert!(from_json::<Array<i64>>(&format!("[{number}]")).is_err(), "{number} was read as another number");
    }
}

#[test]
fn json_values_that_are_no_numbers_are_refused() {
    fn check<T: Element>() {
        for text in
            ["[\"1\"]", "[\"\"]", "[\"nan\"]", "[\"inf\"]", "[true]", "[[1]]", "[{}]", "{}", "1", "\"NaN\"", "null"]
        {
            assert!(from_json::<Array<T>>(text).is_err(), "{text} was read as {}", T::TYPE);
        }
    }
    for_each_element!(check);
}

#[test]
fn a_json_decimal_is_rounded_to_the_nearest_float() {
    assert_eq!(from_json::<Array<f32>>("[16777217, 0.1]").unwrap()[..], [16_777_216.0, 0.1]);
    assert_eq!(from_json::<Array<f64>>("[9007199254740993]").unwrap()[0], 9_007_199_254_740_992.0);
    assert_eq!(from_json::<Array<f16>>("[0.1, 65519.9]").unwrap()[..], [f16::from_bits(0x2E66), f16::MAX]);
}

#[test]
fn a_json_table_that_contradicts_itself_is_refused() {
    let good = serde_json::to_string(&Table::from_rows(&[[1.5_f32, 2.0], [3.0, 4.0]]).unwrap()).unwrap();
    assert!(from_json::<Table<f32>>(&good).is_ok());
    let damages = [
        ("\"rows\":2", "\"rows\":3"),
        ("\"rows\":2", "\"rows\":-2"),
        ("\"rows\":2", "\"rows\":1152921504606846976"),
        ("\"rows\":2,\"columns\":2", "\"rows\":4294967296,\"columns\":4294967297"),
        ("\"columns\":2", "\"columns\":1"),
        ("\"rows\":2,", ""),
        ("\"rows\":2", "\"rows\":2,\"rows\":2"),
        ("\"rows\":2", "\"rows\":2,\"stride\":2"),
        ("row_major", "diagonal"),
        ("\"layout\":\"row_major\",", ""),
        ("\"count\":2", "\"count\":3"),
        ("continuous", "circular"),
        ("\"element_type\":\"f32\",\"layout\"", "\"element_type\":\"f64\",\"layout\""),
        ("\"element_type\":\"f32\",\"feature_type\"", "\"element_type\":\"f64\",\"feature_type\""),
        ("1.5", "1.5,1.5"),
        ("[1.5,", "["),
        ("1.5", "\"one\""),
    ];
    for (from, to) in damages {
        let damaged = good.replacen(from, to, 1);
        assert_ne!(damaged, good);
        assert!(from_json::<Table<f32>>(&damaged).is_err(), "{damaged}");
    }
}

#[test]
fn a_json_table_of_another_element_type_is_refused_by_naming_both() {
    let text = serde_json::to_string(&Table::from_rows(&[[1_u8, 2]]).unwrap()).unwrap();
    let error = from_json::<Table<f32>>(&text).unwrap_err().to_string();
    assert!(error.contains("u8") && error.contains("f32"), "{error}");
}
