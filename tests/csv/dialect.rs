//! What people's files are like: comments after fields, decimal commas, separators of thousands.

use numeric_table::{
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSource, CsvWriteOptions},
    prelude::*,
};
use test_support::SmallNumber;
use test_support::bits::{Random, special_values};
use test_support::for_each_element;
use test_support::tables::{shape, values_of};

use super::typed::{F64, I64, assert_column, nan, typed, types};
use super::{Table, assert_values, load, source, written};

fn german() -> CsvOptions {
    CsvOptions::new().delimiter(b';').decimal(',').thousands('.')
}

fn error(text: &str, options: CsvOptions) -> String {
    load::<f64>(text, options).unwrap_err().to_string()
}

fn refusal(options: CsvOptions) -> String {
    let error = source("1\n", options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::CsvOption { .. }), "{error:?}");
    error.to_string()
}

// --- comments ------------------------------------------------------------------------------------------------------

#[test]
fn a_comment_ends_a_line_unless_it_is_in_quotes() {
    let options = || CsvOptions::new().inline_comment(b'#');
    let text = "# head\na,b # names, and more\n1,2#x\n  # only a comment\n3,4 #\r\n5,\"6\"#,\"\r7,8\n# tail";
    let table = load::<f64>(text, options()).unwrap();
    assert_values(&table, &[1., 2., 3., 4., 5., 6., 7., 8.]);
    assert_eq!(table.dictionary().index_of("b"), Some(1));
    let words = source("w,n\n\"a#b\",1 # c\nd#e,2\n", options()).unwrap();
    assert_eq!(error("w,n\n\"a#b\",1 # c\nd#e,2\n", options()), "line 3: \"d#e,2\" has 1 field, not 2");
    assert!(words.load::<u8>().is_err());
    let words = source("w,n\n\"a#b\",1 # c\nd,2\n", options()).unwrap();
    assert_eq!(words.categories(0).unwrap().unwrap(), ["a#b", "d"]);
    // Only at the beginning of a line, unless the option says otherwise.
    let lines = options().comment(b'#');
    assert_eq!(source("w\n#x\na#b\n", lines.clone()).unwrap().categories(0).unwrap().unwrap(), ["a#b"]);
    assert!(error("1,2 # x\n", lines.kind(.., CsvColumnKind::Continuous)).contains("\"2 # x\" is not a number"));
}

#[test]
fn a_word_in_quotes_is_the_same_with_a_comment_after_it() {
    let options = CsvOptions::new().inline_comment(b'#');
    let text = "w,\"v\" # words\nred,\"a\" # in quotes\n\"red\",a # not\n\"red\" ,\"a\" \t# c\n\"re\"d,\"say \"\"a\"\"\"  #\nred,\"a\" b #\n";
    let words = source(text, options).unwrap();
    assert_eq!(words.categories(0).unwrap().unwrap(), ["red", "red "]); // spaces before a delimiter stay, as in Python
    assert_eq!(words.categories(1).unwrap().unwrap(), ["a", "say \"a\"", "a b"]);
    assert_eq!(words.load::<u8>().unwrap().dictionary().index_of("v"), Some(1));
}

#[test]
fn a_line_of_spaces_and_a_comment_is_a_gap_in_a_single_column() {
    let options = nan().inline_comment(b'#').header(CsvHeader::No);
    assert_values(&load::<f64>("1 # a\n # b\n# c\n2", options).unwrap(), &[1., f64::NAN, 2.]);
}

#[test]
fn errors_after_comments_name_their_lines() {
    let options = CsvOptions::new().inline_comment(b'#').kind(.., CsvColumnKind::Continuous);
    assert_eq!(error("1,2 # x\n3,y # z\n", options.clone()), "line 2, column 1: \"y\" is not a number");
    assert_eq!(error("1,2 # x\n3 # 4,5\n", options.clone()), "line 2: \"3 # 4,5\" has 1 field, not 2");
    let long = format!("1,2 #{}\n", "x".repeat(100));
    assert!(error(&long, options.max_record_bytes(50)).contains("begins a record of more than 50 bytes"));
    // A delimiter at the end of lines, and a comment after it.
    let trailing = CsvOptions::new().inline_comment(b'#').trailing_delimiter(numeric_table::csv::CsvTrailing::Yes);
    assert_values(&load::<f64>("1,2, # x\n3,4,#\n5,6 # y", trailing).unwrap(), &[1., 2., 3., 4., 5., 6.]);
}

// --- numbers -------------------------------------------------------------------------------------------------------

#[test]
fn decimal_commas_and_thousands_are_read_in_every_type() {
    fn check<T: SmallNumber>() {
        let table = load::<T>("a;b\n1.000;2\n\"0.003\";-0,0e0\n", german().policy(ConversionPolicy::Saturate));
        assert!(table.unwrap_err().to_string().contains("line 3, column 0 (a): \"0.003\" is not a number"));
    }
    for_each_element!(check);
    let table = load::<f64>("a;b\n1.234.567,5;-,25\n +12 ; 1.000e-3\n", german()).unwrap();
    assert_values(&table, &[1_234_567.5, -0.25, 12., 1.]);
    let table = load::<u16>("60.000;\"65.535\"\n", german()).unwrap();
    assert_values(&table, &[60_000, 65_535]);
    let blocks = source("1,5;2\n1.000;nan\n", german()).unwrap();
    let mut blocks = blocks.row_blocks::<f32>(1).unwrap();
    assert_eq!(blocks.next_block().unwrap().unwrap()[..], [1.5, 2.0]);
    assert!(blocks.next_block().unwrap().unwrap()[1].is_nan());
}

#[test]
fn every_separator_of_thousands_is_read() {
    for separator in ['.', ',', ' ', '\'', '\u{2019}', '\u{A0}', '\u{202F}'] {
        let decimal = if separator == ',' { '.' } else { ',' };
        let options = CsvOptions::new().delimiter(b';').decimal(decimal).thousands(separator);
        let text = format!("1{separator}234{separator}567{decimal}5;\"12{separator}345\"\n");
        assert_values(&load::<f64>(&text, options.clone()).unwrap(), &[1_234_567.5, 12_345.0]);
        for wrong in ["1S23", "1234S567", "S123", "1S234S5", "1S2345", "1S", "1SS234", "1D234S567", "0S123"] {
            if separator == ' ' && (wrong.starts_with('S') || wrong.ends_with('S')) {
                continue; // spaces around a field are not part of it
            }
            let wrong = wrong.replace('S', &separator.to_string()).replace('D', &decimal.to_string());
            let error = error(&format!("1;2\n1;{wrong}\n"), options.clone());
            assert!(error.starts_with("line 2, column 1: "), "{wrong}: {error}");
        }
    }
}

#[test]
fn numbers_in_another_spelling_are_refused_and_not_misread() {
    let form = "is not a number: expected ',' before the decimals and '.' between groups of three digits";
    assert_eq!(error("1,5;2\n1.5;2\n", german()), format!("line 2, column 0: \"1.5\" {form}"));
    // Not even when all of them are: they are no words.
    assert_eq!(error("a;b\n1;1.5\n2;2.5\n", german()), format!("line 2, column 1 (b): \"1.5\" {form}"));
    let comma = CsvOptions::new().delimiter(b';').decimal(',');
    let form = "is not a number: expected ',' before the decimals and nothing between the digits";
    assert_eq!(error("a;b\n1;1.5\n", comma.clone()), format!("line 2, column 1 (b): \"1.5\" {form}"));
    assert!(error("1;x\n2;3\n", comma.clone()).contains("\"x\" is not a number in a column of numbers"));
    assert!(error("1|2\n", comma).contains("`CsvOptions::delimiter` with '|'"));
}

#[test]
fn whole_numbers_keep_their_type_in_any_spelling() {
    let text = "id;size;big\n1.000;1,5;9.007.199.254.740.993\n-2.000;;7\n";
    let table = typed(text, german().missing(CsvMissing::Nan)).unwrap();
    assert_eq!(types(&table), [I64, F64, I64]);
    assert_column(&table, 0, &[1000_i64, -2000]);
    assert_column(&table, 1, &[1.5, f64::NAN]);
    assert_column(&table, 2, &[9_007_199_254_740_993_i64, 7]);
    let rounded = typed("9.007.199.254.740.993;1\n0,5;2\n", german()).unwrap_err().to_string();
    assert!(rounded.starts_with("line 1, column 0: \"9.007.199.254.740.993\" is an integer that f64"), "{rounded}");
    assert!(rounded.contains("for \"0,5\" on line 2"), "{rounded}");
    // What stands for a missing value is not in the spelling of the file.
    let options = german().missing(CsvMissing::Value(1.5)).column_type(0, ElementType::F32);
    assert_column(&typed("1,25;1\n;2\n", options).unwrap(), 0, &[1.25_f32, 1.5]);
}

#[test]
fn separators_that_clash_are_named() {
    let both = |one: &str, other: &str| format!("cannot be both {one} and {other}");
    let new = CsvOptions::new;
    for (options, expected) in [
        (new().decimal(','), both("delimiter", "decimal separator")),
        (new().delimiter(b';').quote(Some(b',')).decimal(','), both("quote", "decimal separator")),
        (new().delimiter(b';').comment(b',').decimal(','), both("comment", "decimal separator")),
        (new().thousands('.'), both("decimal separator", "thousands separator")),
        (new().delimiter(b';').decimal(',').thousands(','), both("decimal separator", "thousands separator")),
        (new().quote(Some(b'\'')).thousands('\''), both("quote", "thousands separator")),
        (new().comment(b'\'').thousands('\''), both("comment", "thousands separator")),
        (new().quote(None).thousands(','), both("delimiter", "thousands separator")),
        (new().delimiter(b' ').quote(None).thousands(' '), both("delimiter", "thousands separator")),
        (new().decimal('x'), "'x' cannot be the decimal separator".to_owned()),
        (new().thousands('_'), "'_' cannot be the thousands separator".to_owned()),
    ] {
        let error = refusal(options);
        assert!(error.contains(&expected), "{error}");
    }
    // In quotes, the delimiter separates thousands.
    assert_values(&load::<f64>("\"1,234\",5\n", new().thousands(',')).unwrap(), &[1234., 5.]);
}

#[test]
fn decimal_commas_are_written_and_read_back_bit_for_bit() {
    fn check<T: SmallNumber>() {
        let mut values = special_values::<T>();
        values.extend(Random::new(T::TYPE.id().into()).values::<T>(300));
        values.truncate(values.len() / 3 * 3);
        let table =
            Table::from_array_with_layout(values.clone(), shape(values.len() / 3, 3), DataLayout::RowMajor).unwrap();
        let text = written(&table, CsvWriteOptions::new().delimiter(b';').decimal(','));
        assert!(!text.contains('.'));
        let options = CsvOptions::new().delimiter(b';').decimal(',').header(CsvHeader::No);
        let back = load::<T>(&text, options.kind(.., CsvColumnKind::Continuous)).unwrap();
        assert_values(&back, &values_of(&table));
    }
    for_each_element!(check);
}

#[test]
fn the_decimal_separator_is_quoted_where_it_is_the_delimiter() {
    let table = Table::from_rows(&[[1.5, 2.0], [-1e-7, f64::NAN]]).unwrap();
    assert_eq!(written(&table, CsvWriteOptions::new().decimal(',')), "\"1,5\",2\n-1e-7,NaN\n");
    let mixed: &dyn NumericTable = &numeric_table::SoaNumericTable::from_columns([
        ("a", numeric_table::AnyArray::from(vec![1_i64])),
        ("b", numeric_table::AnyArray::from(vec![0.5_f32])),
    ])
    .unwrap();
    let mut text = Vec::new();
    mixed.write_csv_to(&mut text, CsvWriteOptions::new().decimal(',')).unwrap();
    assert_eq!(text, b"a,b\n1,\"0,5\"\n");
    let error = table.write_csv_to(Vec::new(), CsvWriteOptions::new().decimal('x')).unwrap_err();
    assert!(error.to_string().contains("'x' cannot be the decimal separator"));
    assert!(CsvSource::from_bytes(text).is_ok());
}
