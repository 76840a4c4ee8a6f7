//! Fields that are read on a fast path become what they become on the slow one.
//!
//! Strings that mean a missing value and occur nowhere, among them a number and a date, turn the fast path off for
//! numbers and dates. Words are collected while rows are read, unless a scan of the file has found them before.

use numeric_table::SoaNumericTable;
use numeric_table::csv::CsvMissing;
use numeric_table::dictionary::TimeUnit;
use proptest::prelude::*;

use super::*;

const NUMBERS: &[&str] = &[
    "7",
    "-3",
    "0",
    "1700000000123",
    "12345678",
    "9007199254740993",
    "18446744073709551615",
    "2.5",
    "-0",
    "1e3",
    "",
    "NA",
    " 4",
    "\"5\"",
    "x",
    "9223372036854775807",
    "00000000000000000001",
];
const DATES: &[&str] =
    &["2024-02-29", "1999-12-31", "0001-01-01", "2023-02-29", "2024-1-1", "2024-02-29T00:00Z", "", "\"2024-03-01\""];
const WORDS: &[&str] = &[
    "red",
    "\"red\"",
    "\"Zürich, 4\"",
    "\"a \"\"b\"\"\"",
    " red ",
    "\" red\"",
    "green",
    "",
    "NA",
    "\"NA\"",
    "\"\"",
    "\"x\"y",
    "7",
];

/// Returns what is loaded and described, or the errors. `is_scanned`: the words are known before.
fn outcome(text: &str, options: CsvOptions, is_scanned: bool) -> (String, String) {
    let source = || -> Result<CsvSource, Error> {
        let source = source(text, options.clone())?;
        if is_scanned {
            let _ = source.categories(0); // an error is found again
        }
        Ok(source)
    };
    let shown = |table: SoaNumericTable| {
        let mut shown = format!("{:?}", table.dictionary());
        for column in 0..table.column_count() {
            shown += &format!(" {:?}", table.column_slice::<i64>(column).ok());
            shown += &format!(" {:?}", table.column_slice::<u64>(column).ok());
            for row in 0..table.row_count() {
                shown += &format!(" {:?}", table.value::<f64>(row, column).map(f64::to_bits));
                shown += &format!(" {:?} {:?}", table.is_missing(row, column), table.value::<i64>(row, column).ok());
            }
        }
        shown
    };
    let words = |source: &CsvSource| format!("{:?}", source.categories(2).map_err(|error| error.to_string()));
    let load = || {
        let source = source()?;
        let table = source.load_typed()?;
        Ok::<_, Error>(shown(table) + &words(&source))
    };
    let describe = || {
        let source = source()?;
        let description = source.describe()?;
        Ok::<_, Error>(format!("{description:#}") + &words(&source))
    };
    (load().unwrap_or_else(|error| error.to_string()), describe().unwrap_or_else(|error| error.to_string()))
}

/// The words of rows that several tasks read, one of which has a gap.
#[test]
fn words_are_numbered_in_order_of_first_appearance() {
    let word = |row: usize| format!("\"word, {}\"", row * row % 4_999);
    let mut text = "number,day,word,other\n".to_owned();
    for row in 0..60_000 {
        let word = if row == 50_000 { String::new() } else { word(row) };
        text += &format!("{row},2024-02-29,{word},{}\n", ["yes", "no"][row / 7 % 2]);
    }
    let (mut expected, mut codes) = (Vec::new(), std::collections::HashMap::new());
    for row in 0..60_000 {
        let next = codes.len();
        expected.push(*codes.entry(word(row)).or_insert(next) as f64);
    }
    expected[50_000] = f64::NAN;
    let options = CsvOptions::new().missing(CsvMissing::Nan).kind("day", CsvColumnKind::Time(TimeUnit::Days));
    for is_scanned in [false, true] {
        let source = source(&text, options.clone()).unwrap();
        if is_scanned {
            source.categories(0).unwrap();
        }
        let table = source.load_typed().unwrap();
        let found = table.column_slice::<f64>(2).unwrap();
        assert!(found.iter().zip(&expected).all(|(found, expected)| found.to_bits() == expected.to_bits()));
        assert_eq!(table.category_count(2).unwrap(), Some(codes.len()));
        assert_eq!(table.column_slice::<u8>(3).unwrap()[..8], [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(table.column_slice::<i64>(0).unwrap()[59_999], 59_999);
    }
    assert_eq!(outcome(&text, options.clone(), false), outcome(&text, options, true));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_path_and_the_slow_path_agree(
        rows in prop::collection::vec(any::<[u8; 3]>(), 1..60),
        odd in (0..250_u8, 0..250_u8, 0..250_u8),
        repeats in prop::sample::select(&[1_usize, 150][..]),
        most in prop::sample::select(&[2_usize, 1000][..]),
        missing in prop::sample::select(
            &[CsvMissing::Keep, CsvMissing::Error, CsvMissing::Nan, CsvMissing::Value(3.0)][..]
        ),
    ) {
        let pick = |texts: &'static [&'static str], choice: u8, usual: usize, odd: u8| {
            let count = if choice > odd { texts.len() } else { usual };
            texts[usize::from(choice) % count]
        };
        let mut text = "number,day,word\n".to_owned();
        // The first rows, which decide about the rest, are usual.
        for _ in 0..repeats {
            text += "7,2024-02-29,\"Zürich, 4\"\n";
        }
        for [number, day, word] in rows {
            let number = pick(NUMBERS, number, 5, odd.0);
            let day = pick(DATES, day, 2, odd.1);
            let word = pick(WORDS, word, 3, odd.2);
            text += &format!("{number},{day},{word}\n");
        }
        let day = CsvColumnKind::Time(TimeUnit::Days);
        let options = CsvOptions::new().max_categories(most).missing(missing).kind("day", day);
        let slow = options.clone().missing_texts(["", "NA", "4444444444", "1234-05-06"]);
        let expected = outcome(&text, slow, true);
        prop_assert_eq!(&outcome(&text, options.clone(), false), &expected, "{}", &text);
        prop_assert_eq!(&outcome(&text, options, true), &expected, "{}", &text);
    }
}
