//! CSV files as structures of arrays: what is refused, and the types that are stated.

use numeric_table::{
    bf16,
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSource},
    f16,
    prelude::*,
};
use test_support::tables::{assert_error, shape};
use test_support::{SmallNumber, for_each_element};

use super::source;
use super::typed::{F64, I64, U8, assert_column, error, nan, plain, typed, types};

#[test]
fn no_whole_number_is_rounded_silently() {
    let state = "`CsvOptions::column_type` can set a type, such as f64, which rounds";
    let why = "is an integer that f64 does not hold, and the column needs f64 for";
    let id = "9007199254740993";
    let expected = |line: usize, cause: &str| format!("line {line}, column 0 (id): {id:?} {why} {cause}: {state}");
    let text = |rows: &str| format!("id,x\n{rows}");
    assert_eq!(error(&text(&format!("{id},1\n0.5,2\n")), nan()), expected(2, "\"0.5\" on line 3"));
    assert_eq!(error(&text(&format!("0.5,1\n{id},2\n")), nan()), expected(3, "\"0.5\" on line 2"));
    assert_eq!(error(&text(&format!("1,1\n{id},1\n,2\n")), nan()), expected(3, "the missing value on line 4"));
    // Beyond the first records, and before or after them.
    let rows = "1,1\n".repeat(300);
    assert_eq!(error(&text(&format!("{rows}{id},1\n{rows}1e3,2\n")), nan()), expected(302, "\"1e3\" on line 603"));
    assert_eq!(error(&text(&format!("0.5,1\n{rows}{id},1\n")), nan()), expected(303, "\"0.5\" on line 2"));
    let range = format!("is an integer that f64 does not hold, and no integer type holds the whole column: {state}");
    let huge = "123456789012345678901234567890";
    assert_eq!(error(&format!("1\n{huge}\n"), nan()), format!("line 2, column 0: {huge:?} {range}"));
    let (least, most) = ("-9223372036854775807", "18446744073709551615");
    assert_eq!(error(&format!("{most}\n{least}\n"), nan()), format!("line 1, column 0: {most:?} {range}"));
    // What f64 holds is no loss, and what is stated is not silent.
    assert_column(&plain("9007199254740992\n0.5\n"), 0, &[9_007_199_254_740_992.0, 0.5]);
    assert_column(&plain("36893488147419103232\n1\n"), 0, &[36_893_488_147_419_103_232.0, 1.0]);
    let stated = nan().column_type(0, F64);
    assert_column(&typed(&format!("{id}\n0.5\nNA\n"), stated).unwrap(), 0, &[9_007_199_254_740_992.0, 0.5, f64::NAN]);
}

#[test]
fn numbers_beyond_f64_and_words_among_numbers_are_errors() {
    for text in ["1e400\n", "1\n1e400\n", "0.5\n-1e400\n"] {
        assert!(error(text, nan()).contains("1e400\" is not representable as f64"), "{text}");
    }
    let many = "9".repeat(400);
    assert!(error(&format!("1\n{many}\n"), nan()).contains("is not representable as f64"));
    let rows = "1,1\n".repeat(300);
    let found = error(&format!("a,b\n{rows}x,1\n"), nan());
    assert!(found.starts_with("line 302, column 0 (a): \"x\" is not a number in a column of numbers"), "{found}");
    assert_eq!(error(&format!("a,b\n{rows}1\n"), nan()), "line 302: \"1\" has 1 field, not 2");
    assert_eq!(
        error("a\n1\nx\n", nan().kind(0, CsvColumnKind::Continuous)),
        "line 3, column 0 (a): \"x\" is not a number"
    );
}

#[test]
fn the_first_error_in_the_file_is_the_one_that_is_given() {
    let id = "9007199254740993";
    let numbers = || nan().kind(.., CsvColumnKind::Continuous);
    let first = |text: &str| error(text, numbers());
    assert!(first(&format!("{id},1\n0.5,2\nx,3\n")).starts_with("line 1, column 0"));
    assert!(first(&format!("1,{id}\n{id},0.5\n0.5,2\nx,3\n")).starts_with("line 1, column 1"));
    assert!(first(&format!("0.5,1\nx,1\n{id},2\n")).starts_with("line 2, column 0"));
    // What comes after an error says nothing.
    assert!(first(&format!("{id},1\nx,2\n0.5,3\n")).starts_with("line 2, column 0: \"x\""));
    let long = format!("0.5\n{id}\n{}\n", "7".repeat(30));
    assert!(error(&long, numbers().max_record_bytes(20)).starts_with("line 2, column 0"));
    let long = format!("1\n2\n{}\n", "7".repeat(30));
    assert!(error(&long, numbers().max_record_bytes(20)).contains("begins a record of more than 20 bytes"));
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "32 bits refuse the shape")]
fn no_memory_is_taken_for_rows_that_are_not_there() {
    let mut text = vec!["x"; 10_000].join(",");
    text += &"\n1".repeat(1_000_000);
    assert_eq!(error(&text, CsvOptions::new()), "line 2: \"1\" has 1 field, not 10000");
}

#[test]
fn very_many_columns_and_categories_are_columns() {
    let columns = 50_000;
    let row = |value: &str| vec![value; columns].join(",") + "\n";
    let table = plain(&(row("1") + &row("2.5")));
    assert_eq!((table.shape(), table.uniform_type()), (shape(2, columns), Some(F64)));
    let text: String = "w\n".to_owned() + &(0..4096).map(|word| format!("w{word}\n")).collect::<String>();
    let table = typed(&text, CsvOptions::new().kind(0, CsvColumnKind::OneHot)).unwrap();
    assert_eq!((table.shape(), table.uniform_type()), (shape(4096, 4096), Some(U8)));
    assert_eq!(table.rows::<u8>(77..78).unwrap().iter().position(|&value| value == 1), Some(77));
    let too_many = error(&(text + "more\n"), CsvOptions::new().kind(0, CsvColumnKind::OneHot));
    assert!(too_many.contains("is one category more than 4096"), "{too_many}");
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error_or_another_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changing.csv");
    for changed in
        ["1,2,3,4,5,6\n", "\n\n\n\n\n\n\n\n\n\n\n\n", "1,2\n3,4\n5,x\n", "1\n2\n3\n4\n5\n6\n", "\"1,2\n3,4\n5,6"]
    {
        std::fs::write(&path, "1,2\n3,4\n5,6\n").unwrap();
        let source = CsvSource::open(&path).unwrap();
        assert_eq!(source.load_typed().unwrap().row_count(), 3);
        std::fs::write(&path, changed).unwrap();
        assert_error!(source.load_typed(), ErrorKind::Text { .. });
    }
    std::fs::write(&path, "1,2\n").unwrap(); // shorter than it was
    let source = CsvSource::open(&path).unwrap();
    std::fs::write(&path, "1\n").unwrap();
    assert_error!(source.load_typed(), ErrorKind::Io { .. });
}

// --- stated types --------------------------------------------------------------------------------------------------

#[test]
fn every_type_can_be_stated() {
    fn check<T: SmallNumber>() {
        let options = || CsvOptions::new().header(CsvHeader::No).column_type(.., T::TYPE).column_type(1, I64);
        let table = typed("0,7,x\n1,8,y\n2,9,x\n", options()).unwrap();
        assert_eq!(types(&table), [T::TYPE, I64, T::TYPE]);
        assert_column(&table, 0, &T::counting(3));
        assert_column(&table, 2, &[0, 1, 0].map(T::small));
        assert_column(&typed("+0,1,2\n 1 ,1,2\n20e-1,1,2\n", options()).unwrap(), 0, &T::counting(3));
        let hot = typed("0,7,x\n1,8,y\n", options().kind(2, CsvColumnKind::OneHot)).unwrap();
        assert_column(&hot, 3, &[0, 1].map(T::small));
        let custom = CsvColumnKind::custom(|text| Ok(text.len() as f64));
        assert_column(&typed("a,1,2\naa,1,2\n", options().kind(0, custom)).unwrap(), 0, &[1, 2].map(T::small));
        let missing = options().missing(CsvMissing::Value(3.0));
        assert_column(&typed("NA,1,2\n1,1,2\n", missing).unwrap(), 0, &[3, 1].map(T::small));
    }
    for_each_element!(check);
    let halves = CsvOptions::new().column_type(0, ElementType::F16).column_type(1, ElementType::Bf16);
    let table = typed("0.5,0.25\n1.5,3\n", halves).unwrap();
    assert_column(&table, 0, &[f16::from_f32(0.5), f16::from_f32(1.5)]);
    assert_column(&table, 1, &[bf16::from_f32(0.25), bf16::from_f32(3.0)]);
}

#[test]
fn what_a_stated_type_does_not_hold_is_an_error_under_the_policy() {
    let text = "age,x\n31,1\n310,2\n1.5,3\n";
    let options = || CsvOptions::new().column_type("age", U8);
    assert_eq!(error(text, options()), "line 3, column 0 (age): \"310\" is not representable as u8");
    assert_eq!(error("age\n1\n-1\n", options()), "line 3, column 0 (age): \"-1\" is not representable as u8");
    assert_eq!(error("age\n1\n1.5\n", options()), "line 3, column 0 (age): \"1.5\" is not representable as u8");
    let table = typed(text, options().policy(ConversionPolicy::Saturate)).unwrap();
    assert_column(&table, 0, &[31_u8, 255, 1]);
    assert_eq!(
        error("age\n1\nNA\n", nan().column_type(0, U8)),
        "line 3, column 0 (age): \"NA\" is missing, and u8 has no NaN"
    );
    let overflow = "1\n9223372036854775808\n";
    assert_eq!(
        error(overflow, CsvOptions::new().column_type(0, I64)),
        "line 2, column 0: \"9223372036854775808\" is not representable as i64"
    );
    let words: String = (0..300).map(|word| format!("w{word}\n")).collect();
    let found = error(&words, CsvOptions::new().header(CsvHeader::No).column_type(0, U8));
    assert_eq!(found, "line 257, column 0: \"w256\" is category 256, an index that u8 does not hold");
    let missing = options().missing(CsvMissing::Value(300.0));
    assert_eq!(error(text, missing), "invalid CSV option: u8 does not hold 300, which replaces missing values");
    assert_error!(
        source(text, CsvOptions::new().column_type("aage", U8)),
        ErrorKind::CsvOption { .. },
        "similar names: \"age\""
    );
    assert_eq!(
        types(&typed("a,b\n1,2\n", CsvOptions::new().column_type("b", U8).exclude_columns("b")).unwrap()),
        [I64]
    );
    // Other calls do not ask for it.
    assert_eq!(
        source("300\n", CsvOptions::new().column_type(0, U8)).unwrap().load::<i16>().unwrap().as_slice().unwrap(),
        [300]
    );
}
