//! Kinds and types by some of the rows.

use numeric_table::{
    ElementType,
    csv::{CsvColumnKind, CsvMissing, CsvOptions, CsvSample},
    prelude::*,
};

use super::source;
use super::typed::{F64, I64, U8, assert_column, error, typed, types};

fn first(rows: usize) -> CsvOptions {
    CsvOptions::new().sample(CsvSample::First(rows))
}

#[test]
fn a_sample_decides_and_a_later_value_that_does_not_fit_is_an_error() {
    let numbers = "a\n1\n2\nx\n";
    let shown = "\"x\" is not a number in a column of numbers, the first being \"1\" on line 2";
    assert!(error(numbers, first(2)).starts_with(&format!("line 4, column 0 (a): {shown}")));
    let words = error("a\nx\ny\n3\n", first(2));
    assert!(
        words.starts_with("line 4, column 0 (a): \"3\" is a number, but the sampled rows made the column"),
        "{words}"
    );
    let fraction = error("a\n1\n2\n3.5\n", first(2));
    assert_eq!(fraction, "line 4, column 0 (a): \"3.5\" is not representable as i64");
    let gap = error("a\n1\n2\nNA\n", first(2).missing(CsvMissing::Nan));
    assert_eq!(gap, "line 4, column 0 (a): \"NA\" is missing, and i64 has no NaN");
    let rounded = error("a\n0.5\n2\n9007199254740993\n", first(1));
    assert!(rounded.starts_with("line 4, column 0 (a): \"9007199254740993\" is an integer that f64"), "{rounded}");
    // Nothing but gaps in the sample: numbers of f64.
    let nothing = error("a,b\n,1\n9007199254740993,2\n", first(1).missing(CsvMissing::SkipRow));
    assert!(
        nothing.ends_with(
            "the sampled rows made the column f64: `CsvOptions::column_type` can set a type, such \
                 as f64, which rounds"
        ),
        "{nothing}"
    );
}

#[test]
fn what_fits_the_sample_is_read_as_it_says() {
    let text = "i,f,w,s\n1,1.5,red,7\n2,2,blue,8\n3,3,grey,9\n";
    let table = typed(text, first(1).column_type("s", ElementType::U8)).unwrap();
    assert_eq!(types(&table), [I64, F64, U8, U8]);
    assert_column(&table, 2, &[0_u8, 1, 2]); // words are those of the whole file
    // All rows say f64 of a column whose first rows are whole, and whole of one whose first is not.
    assert_eq!(types(&typed("1.5\n2\n", first(5)).unwrap()), [F64]);
    assert_eq!(types(&typed("2.0\n2\n", first(1)).unwrap()), [F64]);
    assert_eq!(types(&typed("18446744073709551615\n2\n", first(1)).unwrap()), [ElementType::U64]);
    let numbers = source("a\nx\n3\n", first(1).kind("a", CsvColumnKind::Categorical)).unwrap();
    assert_eq!(numbers.categories(0).unwrap().unwrap(), ["x", "3"]); // a stated kind needs no sample
}

#[test]
fn a_spread_sample_looks_at_the_first_and_the_last_row() {
    let spread = |rows| CsvOptions::new().sample(CsvSample::Spread(rows));
    let mut text = String::from("a\n");
    (0..1000).for_each(|row| text += &format!("{row}\n"));
    assert_eq!(types(&typed(&text, spread(2)).unwrap()), [I64]);
    let last = text.clone() + "0.5\n";
    assert_eq!(types(&typed(&last, spread(2)).unwrap()), [F64]);
    assert_eq!(types(&typed(&last, spread(10_000)).unwrap()), [F64]);
    assert_eq!(error(&last, spread(1)), "line 1002, column 0 (a): \"0.5\" is not representable as i64");
    // Row 500 of 1001 is the middle of three.
    let middle = text.replace("\n500\n", "\n0.25\n") + "1000\n";
    assert_eq!(types(&typed(&middle, spread(3)).unwrap()), [F64]);
    assert!(error(&middle, spread(2)).starts_with("line 502, column 0 (a): \"0.25\""));
    assert_eq!(typed("a\n", spread(3)).unwrap().row_count(), 0);
}

#[test]
fn numbers_by_a_sample_are_streamed_without_a_scan_of_the_file() {
    // The first 100 rows are gaps: without the sample, the kind of the column is open.
    let text = format!("a,b\n{}1,2\n", "NA,1\n".repeat(150));
    let source = source(&text, first(1).missing(CsvMissing::Nan)).unwrap();
    let mut blocks = source.row_blocks::<f64>(1000).unwrap();
    assert_eq!(blocks.next_block().unwrap().unwrap().row_range(), 0..151);
}

#[test]
fn a_sample_of_no_rows_is_refused() {
    for sample in [CsvSample::First(0), CsvSample::Spread(0)] {
        let error = source("1\n", CsvOptions::new().sample(sample)).unwrap_err();
        assert!(error.to_string().contains("a sample must have at least one row"), "{error}");
    }
}
