//! CSV files that are not what they seem, and what errors say of them: words among numbers, other delimiters and
//! points, the file, and names that nobody should have to see.

use numeric_table::{
    csv::{CsvColumnKind, CsvMissing, CsvOptions, CsvSource},
    prelude::*,
};
use test_support::tables::values_of;

fn source(text: &str, options: CsvOptions) -> Result<CsvSource, Error> {
    CsvSource::from_bytes_with(text.as_bytes().to_vec(), options)
}

fn load<T: Element>(text: &str, options: CsvOptions) -> Result<HomogenNumericTable<T>, Error> {
    source(text, options)?.load()
}

#[track_caller]
fn assert_values<T: Element>(table: &HomogenNumericTable<T>, expected: &[T]) {
    assert_eq!(values_of(table), expected);
}

#[test]
fn one_word_in_a_column_of_numbers_is_an_error_unless_one_says_what_the_column_is() {
    let mut text = "a,b\n".to_owned();
    (0..1000).for_each(|row| text += &format!("{row},{}.5\n", row % 9));
    text += "1001,777.5x\n";
    let error = load::<f64>(&text, CsvOptions::new()).unwrap_err().to_string();
    assert!(error.starts_with("line 1002, column 1 (b): \"777.5x\" is not a number"), "{error}");
    for call in ["\"0.5\" on line 2", "`CsvOptions::missing_texts`", "`CsvOptions::missing`", "`CsvOptions::kind`"] {
        assert!(error.contains(call), "{error}");
    }
    let skipping = CsvOptions::new().missing_texts(["777.5x"]).missing(CsvMissing::SkipRow);
    assert_eq!(load::<f64>(&text, skipping).unwrap().row_count(), 1000);

    let text = "a\n1\n2.5\nx\n1\n";
    let options = |kind| CsvOptions::new().kind(0, kind);
    let source = source(text, options(CsvColumnKind::Categorical)).unwrap();
    assert_values(&source.load::<u8>().unwrap(), &[0, 1, 2, 0]);
    assert_eq!(source.categories(0).unwrap().unwrap(), ["1", "2.5", "x"]);
    assert_values(&load::<u8>(text, options(CsvColumnKind::OneHot)).unwrap(), &[1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0]);
    let stated = CsvOptions::new().categories(0, ["x", "1", "2.5"]);
    assert_values(&load::<u8>(text, stated).unwrap(), &[1, 2, 0, 1]);
    let error = load::<f64>(text, options(CsvColumnKind::Continuous)).unwrap_err();
    assert_eq!(error.to_string(), "line 4, column 0 (a): \"x\" is not a number");
}

#[test]
fn texts_that_others_take_for_numbers_are_no_words() {
    let error = |text: &str, options: CsvOptions| load::<f64>(text, options).unwrap_err().to_string();
    let semicolons = || CsvOptions::new().delimiter(b';');
    let comma = "is not a number: expected a decimal point and no commas: `CsvOptions::decimal` can set \
                 a decimal comma, `CsvOptions::thousands` can set commas as thousands separators, \
                 `CsvOptions::delimiter` sets what separates fields, `CsvOptions::kind` can read it as a word or by a \
                 function";
    let expected = format!("line 2, column 1 (b): \"1,5\" {comma}");
    assert_eq!(error("a;b\n1;1,5\n2;2,5\n", semicolons()), expected);
    assert_eq!(error("a;b\n1;1,5\n2;x\n", semicolons()), expected);
    assert_eq!(error("a;b\n1;1,5\n2;x\n", semicolons().kind(.., CsvColumnKind::Continuous)), expected);
    assert_eq!(error("1,5;2,5\n3,5;4,5\n", semicolons()), format!("line 1, column 0: \"1,5\" {comma}")); // no header
    assert_eq!(
        error("a\n\"-1,234.5e3\"\n", CsvOptions::new()),
        format!("line 2, column 0 (a): \"-1,234.5e3\" {comma}")
    );
    let words = semicolons().kind("b", CsvColumnKind::Categorical);
    assert_values(&load::<u8>("a;b\n1;1,5\n2;2,5\n", words).unwrap(), &[1, 0, 2, 1]);
    let german = CsvColumnKind::custom(|text| text.replace(',', ".").parse().map_err(|_| "is not a number".to_owned()));
    assert_values(&load::<f32>("1,5;2,5\n", semicolons().kind(.., german)).unwrap(), &[1.5, 2.5]);

    // Semicolons where commas are expected, and commas as points: the numbers are in the wrong columns.
    let several = |separator: char| {
        format!(
            "is not a number but several, separated by {separator:?}: `CsvOptions::delimiter` with {separator:?} \
             splits them into fields, `CsvOptions::kind` can read them as a word"
        )
    };
    let expected = format!("line 1, column 1: \"5;2\" {}", several(';'));
    assert_eq!(error("1,5;2,5\n3,5;4,5\n", CsvOptions::new()), expected);
    for separator in [';', '\t', '|', ' '] {
        let text = format!("1{separator}2\n3{separator}4\n");
        let shown = format!("1{separator}2");
        assert_eq!(error(&text, CsvOptions::new()), format!("line 1, column 0: {shown:?} {}", several(separator)));
        assert_values(&load::<u8>(&text, CsvOptions::new().delimiter(separator as u8)).unwrap(), &[1, 2, 3, 4]);
    }
}

#[test]
fn a_delimiter_in_every_line_of_the_only_column_is_an_error() {
    for (separator, wrong) in [(';', b','), ('\t', b','), ('|', b','), (',', b';')] {
        let text = "name;size\nBob;1.5\n\nNA\nAnn;tall\n\"Ed; Jr\";3\n".replace(';', &separator.to_string());
        let options = || CsvOptions::new().delimiter(wrong).missing(CsvMissing::SkipRow);
        let error = load::<f64>(&text, options()).unwrap_err().to_string();
        let (name, shown) = (format!("name{separator}size"), format!("Bob{separator}1.5"));
        let name = if separator == '\t' { "name\\tsize" } else { &name };
        let expected = format!(
            "line 2, column 0 ({name}): {shown:?} contains {separator:?}, like every line of the file, which has \
             one column: `CsvOptions::delimiter` with {separator:?} makes several columns, `CsvOptions::kind` can \
             read it as words"
        );
        assert_eq!(error, expected);
        assert_values(&load::<u8>(&text, options().kind(0, CsvColumnKind::Categorical)).unwrap(), &[0, 1, 2]);
    }
    // Not in the header, not in all words, or in quotes, it is a character of words.
    for text in ["name\na;b\nc;d\n", "a;b\nc;d\ne\n", "a;b\n\"c;d\"\n\"e;f\"\n"] {
        assert_eq!(load::<u8>(text, CsvOptions::new()).unwrap().category_count(0).unwrap(), Some(2), "{text}");
    }
}

#[test]
fn numbers_in_the_first_rows_make_blocks_of_a_file_that_is_read_once() {
    let mut text = "a,b\n".to_owned();
    (0..300).for_each(|row| text += &format!("{row},1\n"));
    let source = source(&(text + "x,1\n"), CsvOptions::new()).unwrap();
    let mut blocks = source.row_blocks::<f64>(100).unwrap();
    assert_eq!(blocks.next_block().unwrap().unwrap()[..4], [0.0, 1.0, 1.0, 1.0]); // the word is not seen yet
    let error = (0..3).find_map(|_| blocks.next_block().err()).unwrap();
    assert!(error.to_string().starts_with("line 302, column 0 (a): \"x\" is not a number"), "{error}");
}

#[test]
fn errors_name_the_file_that_they_are_about() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.csv");
    std::fs::write(&path, "a,b\n1,2\n3\n").unwrap();
    let named = |error: Error| error.to_string().strip_prefix(&format!("{}: ", path.display())).map(str::to_owned);
    let source = CsvSource::open(&path).unwrap();
    let expected = Some("line 3: \"3\" has 1 field, not 2".to_owned());
    assert_eq!(named(source.load::<f64>().unwrap_err()), expected);
    assert!(
        source
            .load::<f64>()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Text { .. }) && error.path().unwrap() == path)
    );
    assert_eq!(source.row_blocks::<f64>(2).unwrap().next_block().err().and_then(named), expected);
    let expected = Some("invalid CSV option: no column has the name \"aa\"; similar names: \"a\"".to_owned());
    assert_eq!(named(CsvSource::open_with(&path, CsvOptions::new().columns("aa")).unwrap_err()), expected);
    let large = CsvOptions::new().missing(CsvMissing::Value(300.0));
    let large = CsvSource::open_with(&path, large).unwrap();
    let expected = "invalid CSV option: u8 does not hold 300, which replaces missing values";
    assert_eq!(named(large.load::<u8>().unwrap_err()).unwrap(), expected);
    assert_eq!(large.row_blocks::<u8>(1).err().and_then(named).unwrap(), expected);
    std::fs::write(&path, "\"a\n1,2\n").unwrap();
    assert!(named(CsvSource::open(&path).unwrap_err()).unwrap().starts_with("line 1, column 0: "));
    std::fs::write(&path, b"\xFF\xFE").unwrap();
    assert!(named(CsvSource::open(&path).unwrap_err()).unwrap().starts_with("line 1: "));
    let small = CsvOptions::new().max_record_bytes(1);
    assert!(named(CsvSource::open_with(&path, small).unwrap_err()).unwrap().starts_with("line 1: "));

    assert!(
        load::<f64>("a\nx\n1\n", CsvOptions::new())
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Text { .. }) && error.path().is_none())
    );
    let read = CsvSource::from_reader(&b"a\nx\n1\n"[..]).unwrap();
    assert!(
        read.load::<f64>().is_err_and(|error| matches!(error.kind(), ErrorKind::Text { .. }) && error.path().is_none())
    );
    assert!(
        load::<f64>("a\n1\n", CsvOptions::new().columns(9))
            .is_err_and(|error| matches!(error.kind(), ErrorKind::CsvOption { .. }) && error.path().is_none())
    );
}

#[cfg(unix)]
#[test]
fn errors_name_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let is_made = std::process::Command::new("mkfifo").arg(&path).status().is_ok_and(|status| status.success());
    if !is_made {
        println!("skipped: there is no mkfifo");
        return;
    }
    let writer = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, "a\nx\n1\n").unwrap()
    });
    let source = CsvSource::open(&path).unwrap();
    writer.join().unwrap();
    assert!(
        source.load::<f64>().is_err_and(
            |error| matches!(error.kind(), ErrorKind::Text { line: 2, .. }) && error.path().unwrap() == path
        )
    );
}

#[test]
fn names_and_reasons_in_errors_are_short_and_do_no_harm_to_a_terminal() {
    let error = |name: &str| {
        let text = format!("\"{name}\"\n1\nx\n");
        load::<f64>(&text, CsvOptions::new().kind(0, CsvColumnKind::Continuous)).unwrap_err()
    };
    let expected = "line 4, column 0 (\\u{1b}[31mred\\nline): \"x\" is not a number";
    assert_eq!(error("\x1b[31mred\nline").to_string(), expected);
    let long = error(&"n".repeat(5 << 20));
    assert_eq!(long.to_string(), format!("line 3, column 0 ({}...): \"x\" is not a number", "n".repeat(37)));
    assert!(format!("{long:?}").len() < 1000);
    assert!(error(&"\u{202E}".repeat(100)).to_string().len() < 100);

    let name = "\x1b".repeat(1 << 20);
    for options in [CsvOptions::new().columns(name.clone()), CsvOptions::new().columns("n".repeat(1 << 20))] {
        let error = load::<f64>(&format!("{name},{name}\n1,2\n"), options).unwrap_err().to_string();
        assert!(error.len() < 1000 && !error.contains('\x1b'), "{error}");
    }
    let echo = CsvOptions::new().kind(0, CsvColumnKind::custom(|text| Err(format!("may not be {text}"))));
    let error = load::<f64>(&format!("a\n{name}\n"), echo).unwrap_err().to_string();
    assert!(error.len() < 1000 && !error.contains('\x1b') && error.contains("may not be \\u{1b}"), "{error}");
}
