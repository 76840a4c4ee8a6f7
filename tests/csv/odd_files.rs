//! Odd CSV files: what comes of each of them is written out here. What Python makes of others is in `python`.

use numeric_table::{
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSource, CsvTrailing},
    prelude::*,
};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn load(text: &[u8], options: CsvOptions) -> Result<HomogenNumericTable<f64>, Error> {
    CsvSource::from_bytes_with(text.to_vec(), options)?.load()
}

/// Asserts the columns' names, the number of rows and the values of a text, read whole and in blocks of one row.
fn check(text: impl AsRef<[u8]>, options: CsvOptions, names: &[&str], rows: usize, values: &[f64]) {
    let text = text.as_ref();
    let shown = String::from_utf8_lossy(text).into_owned();
    let source = CsvSource::from_bytes_with(text.to_vec(), options).unwrap();
    let table = source.load::<f64>().unwrap_or_else(|error| panic!("{shown:?}: {error}"));
    let found: Vec<&str> = source.names().map(Option::unwrap_or_default).collect();
    assert_eq!((found, table.row_count()), (names.to_vec(), rows), "{shown:?}");
    let is_same = |found: &[f64], expected: &[f64]| {
        let mut pairs = found.iter().zip(expected);
        found.len() == expected.len()
            && pairs.all(|(one, other)| one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan()))
    };
    assert!(is_same(&table.rows::<f64>(0..rows).unwrap(), values), "{shown:?}: {table:?}");
    let (mut blocks, mut found) = (source.row_blocks::<f64>(1).unwrap(), Vec::new());
    while let Some(block) = blocks.next_block().unwrap() {
        found.extend_from_slice(&block);
    }
    assert!(is_same(&found, values), "{shown:?}, row by row");
}

fn check_error(text: impl AsRef<[u8]>, options: CsvOptions, message: &str) {
    let text = text.as_ref();
    let error = match load(text, options) {
        Err(error) => error.to_string(),
        Ok(table) => panic!("{:?} gave {table:?}", String::from_utf8_lossy(text)),
    };
    assert_eq!(error, message, "{:?}", String::from_utf8_lossy(text));
}

fn options() -> CsvOptions {
    CsvOptions::new().missing(CsvMissing::Nan)
}

fn no_header() -> CsvOptions {
    options().header(CsvHeader::No)
}

#[test]
fn lines_end_in_every_way_or_not_at_all() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["a,b", "1,2", "3,4"].join(end);
        for end in ["", end, &end.repeat(3)] {
            check(text.clone() + end, options(), &["a", "b"], 2, &[1., 2., 3., 4.]);
        }
    }
    check("1,2\n3,4\r\n5,6\r7,8", options(), &["", ""], 4, &[1., 2., 3., 4., 5., 6., 7., 8.]);
    check("\n\r\n\ra\n\n\n1\r\r2\n\r\n", options(), &["a"], 2, &[1., 2.]);
}

#[test]
fn files_may_be_empty_or_a_header() {
    for text in ["", "\n", "\r\n\n\r", "\u{FEFF}", "\u{FEFF}\n"] {
        check(text, options(), &[], 0, &[]);
    }
    for text in ["a,b", "a,b\n", "\u{FEFF}a,b\r\n\r\n", "\n\na,b"] {
        check(text, options(), &["a", "b"], 0, &[]);
    }
    check("1", options(), &[""], 1, &[1.0]);
    check(",", no_header(), &["", ""], 1, &[NAN, NAN]);
    check(",", options(), &["", ""], 0, &[]); // no number among them: names, all missing
}

#[test]
fn a_mark_of_utf_8_is_no_text() {
    check("\u{FEFF}a\n1\n", options(), &["a"], 1, &[1.0]);
    check("\u{FEFF}\"a\"\n1\n", options(), &["a"], 1, &[1.0]);
    check("\u{FEFF}1\n", options(), &[""], 1, &[1.0]);
    check_error(
        b"\xFF\xFEa\0\n\0",
        options(),
        "line 1: \"\\u{feff}\" begins a file in UTF-16, but only UTF-8 can be read",
    );
}

#[test]
fn the_first_record_is_a_header_if_none_of_its_fields_is_a_number() {
    check("a,b\n1,2\n", options(), &["a", "b"], 1, &[1., 2.]);
    check("a,1\nb,2\n", options(), &["", ""], 2, &[0., 1., 1., 2.]);
    check("a,b\n1,2\n", no_header().kind(.., CsvColumnKind::Categorical), &["", ""], 2, &[0., 0., 1., 1.]);
    check("2023,2024\n1,2\n", options().header(CsvHeader::Yes), &["2023", "2024"], 1, &[1., 2.]);
    check("a,,a\n1,2,3\n", options(), &["a", "", "a"], 1, &[1., 2., 3.]);
    check(" a ,\" b \"\n1,2\n", options(), &["a", " b "], 1, &[1., 2.]);
    check("\"a\nb\",\"c,\"\"d\"\"\"\n1,2\n", options(), &["a\nb", "c,\"d\""], 1, &[1., 2.]);
    check_error(b"a,\xFF\n1,2\n", options(), "line 1, column 1: \"\u{FFFD}\" is not UTF-8");
    check_error(
        "a,\"b\n1,2\n",
        options(),
        "line 1, column 1: \"\\\"b\\n1,2\\n\" begins with a quote that is not closed",
    );
}

#[test]
fn quotes_protect_what_is_in_them() {
    let text = "n,w\n\"1\",\"a,b\"\n\" 2 \",\"a\nb\"\n3,\"say \"\"so\"\"\"\n4,a\"b\n5,\"a\"b\n6,\"a,b\"\n7,\"\"\"\"\n";
    let source = CsvSource::from_bytes_with(text.as_bytes().to_vec(), options()).unwrap();
    let names = ["a,b", "a\nb", "say \"so\"", "a\"b", "ab", "\""];
    assert_eq!(source.categories(1).unwrap().unwrap(), names);
    check(text, options(), &["n", "w"], 7, &[1., 0., 2., 1., 3., 2., 4., 3., 5., 4., 6., 0., 7., 5.]);
    let unquoted = options().quote(None).kind(0, CsvColumnKind::Categorical);
    check("a\n\"1\n", unquoted, &["a"], 1, &[0.0]);
    check_error(
        "a\n1\n\"2\n3\n",
        options(),
        "line 3, column 0 (a): \"\\\"2\\n3\\n\" begins with a quote that is not closed",
    );
    check_error(
        "a\n1\n\"2\"\"\n",
        options(),
        "line 3, column 0 (a): \"\\\"2\\\"\\\"\\n\" begins with a quote that is not closed",
    );
}

#[test]
fn rows_of_another_length_are_errors() {
    let strict = || options().columns(0);
    check_error("a,b\n1,2\n3\n", strict(), "line 3: \"3\" has 1 field, not 2");
    check_error("a,b\n1,2\n3,4,5\n", strict(), "line 3: \"3,4,5\" has 3 fields, not 2");
    check_error("a,b\r\n\r\n1,2\r\n3,4,5,\r\n", strict(), "line 4: \"3,4,5,\" has 4 fields, not 2");
    check_error(
        "a,b\n\"1\n2\",3\n4\n",
        strict().kind(0, CsvColumnKind::Categorical),
        "line 4: \"4\" has 1 field, not 2",
    );
    check_error("a,b\r1,2\r\r3", strict(), "line 4: \"3\" has 1 field, not 2");
    let long = format!("a,b\n{}\n", "1".repeat(100));
    check_error(long, strict(), &format!("line 2: \"{}...\" has 1 field, not 2", "1".repeat(37)));
    // A row that would be left out must have the right length all the same.
    check_error("a,b\nNA\n", options().missing(CsvMissing::SkipRow), "line 2: \"NA\" has 1 field, not 2");
    check_error("a,b\nNA,2,3\n", options().missing(CsvMissing::SkipRow), "line 2: \"NA,2,3\" has 3 fields, not 2");
}

#[test]
fn the_first_error_in_the_file_is_the_one_that_is_given() {
    let numbers = || CsvOptions::new().kind(.., CsvColumnKind::Continuous);
    check_error("a,b\n1,x\ny,2\n", numbers(), "line 2, column 1 (b): \"x\" is not a number");
    check_error("a,b\n1,2\n1,2,3\ny,2\n", numbers(), "line 3: \"1,2,3\" has 3 fields, not 2");
    check_error(
        "1,2\n,x\n",
        numbers(),
        "line 2, column 0: \"\" is missing: `CsvOptions::missing` sets how missing values are treated",
    );
    check_error("a\n1e400\n", numbers(), "line 2, column 0 (a): \"1e400\" is not representable as f64");
}

#[test]
fn words_must_be_utf_8() {
    check_error(b"a\nw\nx\n\xFF\xFEy\n", options(), "line 4, column 0 (a): \"\u{FFFD}\u{FFFD}y\" is not UTF-8");
    check(b"a,b\n1,\xFF\n", options().columns("a"), &["a", "b"], 1, &[1.0]); // nobody looks at it
}

#[test]
fn blank_fields_are_missing() {
    check("a,b,c\n,1,\n2,,NA\n", options(), &["a", "b", "c"], 2, &[NAN, 1., NAN, 2., NAN, NAN]);
    check("a,b\n  ,\t\n", options(), &["a", "b"], 1, &[NAN, NAN]);
    check("a\n\"\"\n\n1\n", options(), &["a"], 2, &[NAN, 1.0]);
    let error = "line 2, column 1 (b): \"\" is missing: `CsvOptions::missing` sets how missing values are treated";
    check_error("a,b\n1,\n", CsvOptions::new(), error);
    // Other spellings of "missing" are words, unless one says so.
    check("a\nw\nnull\n", options(), &["a"], 2, &[0.0, 1.0]);
    check("a\n1\nnull\n", options().missing_texts(["null"]), &["a"], 2, &[1.0, NAN]);
    check("a\nw\nNA\n", options().missing_texts(["null"]), &["a"], 2, &[0.0, 1.0]);
}

#[test]
fn a_line_of_spaces_is_a_row_only_where_there_is_one_column() {
    check("a,b\n1,2\n   \n\t\n3,4\n", options(), &["a", "b"], 2, &[1., 2., 3., 4.]);
    check("a\n1\n   \n2\n", options(), &["a"], 3, &[1., NAN, 2.]);
}

#[test]
fn delimiters_at_the_ends_of_lines_make_no_column() {
    let names = ["a", "b"];
    check("a,b,\n1,2,\n3,4,\n5,6", options(), &names, 3, &[1., 2., 3., 4., 5., 6.]);
    check("a,b\n1,2,\n3,4,\n", options().trailing_delimiter(CsvTrailing::Yes), &names, 2, &[1., 2., 3., 4.]);
    check("1,2,\n3,4", no_header().trailing_delimiter(CsvTrailing::Yes), &["", ""], 2, &[1., 2., 3., 4.]);
    check("1,2,\n3,4,\n", options(), &["", "", ""], 2, &[1., 2., NAN, 3., 4., NAN]); // nobody says that they do
}

#[test]
fn numbers_may_be_written_in_every_way() {
    let cases = [
        ("0", 0.),
        ("-0", -0.),
        ("+1", 1.),
        ("1.", 1.),
        (".5", 0.5),
        ("-.5e1", -5.),
        ("1e3", 1000.),
        ("1E+03", 1000.),
        ("1e-3", 0.001),
        ("00012", 12.),
        ("  7\t", 7.),
        ("\"8\"", 8.),
        ("\" 9 \"", 9.),
        ("nan", NAN),
        ("NaN", NAN),
        ("-NAN", NAN),
        ("inf", INF),
        ("-inf", -INF),
        ("+Infinity", INF),
        ("INFINITY", INF),
        ("5e-324", 5e-324),
        ("2e-324", 0.),
        ("-1e-400", -0.),
        ("1.7976931348623157e308", f64::MAX),
        ("2.2250738585072014e-308", 2.2250738585072014e-308),
        ("9007199254740993", 9_007_199_254_740_992.),
        ("0.1", 0.1),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        ("1e0000000000000000000001", 10.),
        ("0e999999999999999999999", 0.),
    ];
    for (text, value) in cases {
        check(format!("{text},1\n"), no_header().kind(.., CsvColumnKind::Continuous), &["", ""], 1, &[value, 1.]);
        check(format!("1\r\n{text}"), no_header().kind(.., CsvColumnKind::Continuous), &[""], 2, &[1., value]);
    }
    for text in [
        "1e", "1e+", "e5", ".", "+", "-", "--1", "1-", "1 2", "1.2.3", "0x10", "1_000", "infinit", "nano", "1f", "١",
        "1,5e",
    ] {
        let field = text.split(',').next_back().unwrap();
        let error = load(format!("{text}\n").as_bytes(), no_header().kind(.., CsvColumnKind::Continuous)).unwrap_err();
        assert!(error.to_string().contains(&format!("{field:?} is not a number")), "{error}");
    }
}

#[test]
fn very_long_lines_are_lines() {
    let columns = 60_000;
    let row: Vec<String> = (0..columns).map(|column| format!("{column}.5")).collect();
    let text = format!("{0}\n{0}\r\n{0}", row.join(","));
    let values: Vec<f64> = (0..3 * columns).map(|index| (index % columns) as f64 + 0.5).collect();
    check(text, no_header().max_columns(columns), &vec![""; columns], 3, &values);
    let word = "w".repeat(1_000_000);
    check(format!("a,b\n1,\"{word}\n\"\n2,{word}\n3,{word}\n"), options(), &["a", "b"], 3, &[1., 0., 2., 1., 3., 1.]);
    let error = load(format!("a\n{word}\n").as_bytes(), options().kind(0, CsvColumnKind::Continuous)).unwrap_err();
    assert_eq!(error.to_string(), format!("line 2, column 0 (a): \"{}...\" is not a number", &word[..37]));
}

#[test]
fn comments_and_other_delimiters_are_what_one_says() {
    let text = "#x\na;b\n# 1;2\n3;4\n#5;6";
    check(text, options().delimiter(b';').comment(b'#'), &["a", "b"], 1, &[3., 4.]);
    check("1\t2\n\t3\n", no_header().delimiter(b'\t'), &["", ""], 2, &[1., 2., NAN, 3.]);
    check("1 2\n3 4\n", no_header().delimiter(b' '), &["", ""], 2, &[1., 2., 3., 4.]);
    check("1|'a|b'\n", no_header().delimiter(b'|').quote(Some(b'\'')), &["", ""], 1, &[1., 0.]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_size_the_system_gives_as_0_is_read_to_its_end() {
    let path = "/proc/self/status";
    assert_eq!(std::fs::metadata(path).unwrap().len(), 0);
    let options =
        CsvOptions::new().delimiter(b'\t').header(CsvHeader::No).columns(0).kind(.., CsvColumnKind::Categorical);
    let first_line = CsvSource::open_with("/proc/self/statm", CsvOptions::new().delimiter(b' ')).unwrap();
    assert_eq!(first_line.load::<u64>().unwrap().shape(), test_support::tables::shape(1, 7));
    // Lines have different numbers of fields: that is an error, not an empty table.
    let error = CsvSource::open_with(path, options).and_then(|source| source.load::<u8>()).unwrap_err();
    assert!(error.to_string().starts_with("/proc/self/status: line "), "{error}");
    // A file that really is empty is an empty table.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.csv");
    std::fs::write(&path, "").unwrap();
    assert!(CsvSource::open(&path).unwrap().load::<u8>().unwrap().shape().is_empty());
}
