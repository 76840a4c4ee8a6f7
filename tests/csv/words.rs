//! Words, missing words, and dates, written and read again: what is a word and what is missing.

use numeric_table::{
    AnyArray, SoaNumericTable,
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvWriteOptions},
    dictionary::{Categories, TimeUnit},
    prelude::*,
};

use super::{source, written};

/// The words of a column, as its dictionary has them; `None` for a missing one.
fn words(table: &dyn NumericTable, column: usize) -> Vec<Option<String>> {
    let feature = table.dictionary().feature(column).unwrap().clone();
    let codes = table.column::<f64>(column, ..).unwrap().to_vec();
    codes.into_iter().map(|code| (!code.is_nan()).then(|| feature.label(code as usize).unwrap().to_owned())).collect()
}

fn table_of(columns: Vec<(&str, AnyArray)>, features: Vec<Feature>) -> SoaNumericTable {
    let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let mut table = SoaNumericTable::from_columns(columns).unwrap();
    let features = features.into_iter().zip(names).map(|(feature, name)| feature.named(name));
    table.set_dictionary(features.collect()).unwrap();
    table
}

fn text_of(table: &dyn NumericTable, options: CsvWriteOptions) -> String {
    let mut text = Vec::new();
    table.write_csv_to(&mut text, options).unwrap();
    String::from_utf8(text).unwrap()
}

fn nan() -> CsvOptions {
    CsvOptions::new().missing(CsvMissing::Nan)
}

const WORDS: [&str; 8] = ["", "NA", "NaN", "a,b", "say \"a\"", "two\nlines", "\u{e9}t\u{e9}", " space"];

#[test]
fn words_that_a_reader_takes_for_missing_are_written_so_that_they_are_words() {
    let categories = || Categories::from_labels(WORDS).unwrap();
    let codes: Vec<f64> = (0..WORDS.len()).map(|code| code as f64).chain([f64::NAN, 1.0]).collect();
    for is_only in [true, false] {
        let mut columns = vec![("word", AnyArray::from(codes.clone()))];
        let mut features = vec![Feature::new(ElementType::F64).categorical(categories())];
        if !is_only {
            columns.insert(0, ("n", AnyArray::from(vec![1_u8; codes.len()])));
            features.insert(0, Feature::new(ElementType::U8));
        }
        let table = table_of(columns, features);
        let at = usize::from(!is_only);
        for options in
            [CsvWriteOptions::new(), CsvWriteOptions::new().missing(""), CsvWriteOptions::new().missing("NA")]
        {
            let text = text_of(&table, options);
            assert!(text.contains("\"\"\n") && text.contains("\"NA\"\n"), "{text}");
            let source = source(&text, nan().kind("word", CsvColumnKind::Categorical)).unwrap();
            for back in [&source.load_typed().unwrap() as &dyn NumericTable, &source.load::<f32>().unwrap()] {
                assert_eq!(words(back, at), words(&table, at), "{text}");
            }
            assert_eq!(source.describe().unwrap().columns[at].gaps, 1, "{text}");
        }
        // Among words, `NaN` is meant to be a number: that is an error, and not a guess.
        let error = source(&text_of(&table, CsvWriteOptions::new()), nan()).unwrap().load_typed().unwrap_err();
        assert!(error.to_string().contains("is not a number in a column of numbers, the first being \"NaN\""));
    }
}

#[test]
fn a_text_that_means_missing_is_a_word_in_quotes_unless_the_column_has_numbers() {
    let load = |text: &str, options: CsvOptions| source(text, options).unwrap().load_typed().unwrap();
    let named = |text: &str| words(&load(text, nan()), 0);
    let some = |word: &str| Some(word.to_owned());
    assert_eq!(named("w,n\nred,1\n\"\",2\n,3\n\"NA\",4\nNA,5\n"), [some("red"), some(""), None, some("NA"), None]);
    assert_eq!(named("w,n\n\"\",1\n\"NA\",2\n"), [some(""), some("NA")], "nothing but such words");
    // Numbers have no words: a file may have quotes around every field.
    let numbers = load("a,b\n\"1\",\"\"\n\"\",\"2\"\n\"NA\",\"3\"\n", nan());
    assert_eq!(numbers.column_slice::<f64>(0).unwrap()[0], 1.0);
    assert!(numbers.column_slice::<f64>(0).unwrap()[1..].iter().all(|value| value.is_nan()));
    let time = nan().kind(0, CsvColumnKind::Time(TimeUnit::Days));
    assert!(load("d\n\"2024-02-29\"\n\"\"\n", time).column_slice::<f64>(0).unwrap()[1].is_nan());
    let all = nan().quoted_missing(true);
    assert_eq!(words(&load("w,n\nred,1\n\"\",2\n", all), 0), [some("red"), None]);
}

#[test]
fn what_a_text_in_quotes_is_depends_on_all_fields_of_the_column_and_not_on_the_first() {
    let late = |last: &str| format!("w,n\n{}{last},1\n", ",1\n".repeat(150));
    for text in [late("\"\""), late("\"NA\""), late("red")] {
        let source = source(&text, nan()).unwrap();
        let table = source.load_typed().unwrap();
        assert_eq!(table.category_count(0).unwrap(), Some(1), "{text:?}");
        assert_eq!(table.column_slice::<f64>(0).unwrap()[150], 0.0);
        let mut blocks = source.row_blocks::<f64>(151).unwrap();
        assert_eq!(blocks.next_block().unwrap().unwrap()[300], 0.0);
        assert_eq!(self::source(&text, nan()).unwrap().describe().unwrap().columns[0].gaps, 150);
    }
    for last in ["\"NA\",1\n7", "7,1\n\"\""] {
        let text = late(last);
        let table = source(&text, nan()).unwrap().load_typed().unwrap();
        assert_eq!(table.category_count(0).unwrap(), None, "{text:?}");
        assert_eq!(table.column_slice::<f64>(0).unwrap().iter().filter(|value| value.is_nan()).count(), 151);
    }
    // A row that is left out has no words.
    let skip = CsvOptions::new().missing(CsvMissing::SkipRow);
    for text in ["a,w\n\"\",x\n1,y\n", "a,w\n1,y\n\"\",x\n", &format!("a,w\n\"\",x\n{}1,y\n", ",z\n".repeat(150))] {
        let source = source(text, skip.clone()).unwrap();
        assert_eq!(source.load_typed().unwrap().rows::<f64>(..).unwrap()[..], [1.0, 0.0], "{text:?}");
        assert_eq!(source.categories(1).unwrap().unwrap(), ["y"], "{text:?}");
    }
    let kept = source("a,w\n\"\",x\nb,y\n,z\n", skip).unwrap().load::<u8>().unwrap();
    assert_eq!(kept.as_slice().unwrap(), [0, 0, 1, 1], "the empty word is no gap");
}

#[test]
fn a_missing_word_is_never_an_empty_line_nor_a_trailing_delimiter() {
    let word = || Feature::new(ElementType::F64).categorical(Categories::from_labels(["a"]).unwrap());
    let mut table = HomogenNumericTable::from_rows(&[[1.0, f64::NAN], [2.0, 0.0]]).unwrap();
    table.set_dictionary([Feature::new(ElementType::F64).named("n"), word()].into_iter().collect()).unwrap();
    let text = written(&table, CsvWriteOptions::new().missing(""));
    assert_eq!(text, "n,\n1,NA\n2,a\n");
    let back = source(&text, nan()).unwrap().load_typed().unwrap();
    assert_eq!(words(&back, 1), [None, Some("a".to_owned())]);
    let named = [Feature::new(ElementType::F64).named("n"), word().named("w")];
    table.set_dictionary(named.into_iter().collect()).unwrap();
    assert_eq!(written(&table, CsvWriteOptions::new().missing("")), "n,w\n1,\n2,a\n");
    let error = table.write_csv_to(Vec::new(), CsvWriteOptions::new().missing("a,b")).unwrap_err();
    assert!(error.to_string().contains("\"a,b\" would be in quotes, so it would be a word"), "{error}");
    // A word that is the text for missing ones is in quotes.
    assert_eq!(written(&table, CsvWriteOptions::new().missing("a")), "n,w\n1,a\n2,\"a\"\n");
}

#[test]
fn dates_are_written_as_they_were_read() {
    let text = "day,second,nano,gap\n2024-02-29,2024-02-29T12:34:56Z,1969-12-31T23:59:59.999999999Z,2000-01-01\n\
                -000044-03-15,1969-12-31T23:59:59Z,2262-04-11T00:00:00.000000000Z,\n";
    let options = nan()
        .header(CsvHeader::Yes)
        .kind(0, CsvColumnKind::Time(TimeUnit::Days))
        .kind(1, CsvColumnKind::Time(TimeUnit::Seconds))
        .kind(2, CsvColumnKind::Time(TimeUnit::Nanoseconds))
        .kind(3, CsvColumnKind::Time(TimeUnit::Days));
    let table = source(text, options.clone()).unwrap().load_typed().unwrap();
    let days = table.dictionary().feature(0).unwrap();
    assert_eq!((days.feature_type, days.element_type), (FeatureType::Time(TimeUnit::Days), ElementType::I32));
    assert_eq!(text_of(&table, CsvWriteOptions::new()), text);
    let numbers = text_of(&table, CsvWriteOptions::new().times(false));
    assert!(numbers.starts_with("day,second,nano,gap\n19782,1709210096,-1,10957\n"), "{numbers}");
    // In tables of one type as well.
    let dates = "a,b\n2024-02-29,1\n1969-12-31,2\n";
    let options = CsvOptions::new().kind("a", CsvColumnKind::Time(TimeUnit::Days));
    assert_eq!(written(&source(dates, options).unwrap().load::<f32>().unwrap(), CsvWriteOptions::new()), dates);
}

#[test]
fn a_number_that_is_no_date_is_refused_with_its_place() {
    let table_with = |value: f64| {
        table_of(
            vec![("n", AnyArray::from(vec![1_u8; 2])), ("day", AnyArray::from(vec![0.0, value]))],
            vec![Feature::new(ElementType::U8), Feature::new(ElementType::F64).time(TimeUnit::Days)],
        )
    };
    for value in [0.5, f64::INFINITY, 1e9, -1e300, 9_223_372_036_854_775_807.0] {
        let table = table_with(value);
        let error = table.write_csv_to(Vec::new(), CsvWriteOptions::new()).unwrap_err().to_string();
        let expected = "at row 1, column 1 is not a number of days that has a date: `CsvWriteOptions::times`";
        assert!(error.contains(expected), "{error}");
        assert!(table.write_csv_to(Vec::new(), CsvWriteOptions::new().times(false)).is_ok());
    }
    assert_eq!(text_of(&table_with(f64::NAN), CsvWriteOptions::new()), "n,day\n1,1970-01-01\n1,\n");
}

#[test]
fn dates_stay_dates_in_files_archives_and_json() {
    let source =
        source("d,n\n2024-02-29,1\n", CsvOptions::new().kind("d", CsvColumnKind::Time(TimeUnit::Days))).unwrap();
    let table = source.load_typed().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dates.ntb");
    table.save(&path).unwrap();
    let json = serde_json::to_string(&table).unwrap();
    assert!(json.contains(r#""feature_type":{"time":"days"}"#), "{json}");
    let backs = [
        SoaNumericTable::load(&path).unwrap(),
        SoaNumericTable::from_bytes(&table.to_bytes().unwrap()).unwrap(),
        serde_json::from_str(&json).unwrap(),
    ];
    for back in backs {
        assert_eq!(back.dictionary().feature(0).unwrap().feature_type, FeatureType::Time(TimeUnit::Days));
        assert_eq!(serde_json::to_string(&back).unwrap(), json);
    }
}
