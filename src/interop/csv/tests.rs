//! Results do not depend on where a file is divided. The model is the `csv` crate.

use proptest::prelude::*;

use super::batches::Batches;
use super::input::Input;
use super::survey::Survey;
use super::syntax::Syntax;
use super::*;
use crate::base::error::{ErrorKind, Result};
use crate::block::BlockAccess;
use crate::table::soa::SoaNumericTable;
use crate::table::{HomogenNumericTable, NumericTable, TableDescription};

mod blocks;
mod dialect;
mod gaps;

fn memory(bytes: Vec<u8>) -> Input {
    Input::memory(bytes, CsvOptions::new().memory).unwrap()
}

/// Returns the records as the model reads them.
fn model_records(text: &[u8], comment: Option<u8>) -> Vec<Vec<Vec<u8>>> {
    let mut reader = ::csv::ReaderBuilder::new();
    let mut reader = reader.has_headers(false).flexible(true).comment(comment).from_reader(text);
    reader.byte_records().map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
}

/// Returns the records as the syntax reads them; `None` for a field whose quotes are not closed.
fn our_records(syntax: &Syntax, text: &[u8]) -> Vec<Vec<Option<Vec<u8>>>> {
    let (mut records, mut at, mut scratch) = (Vec::new(), syntax.skip_blank(text, 0), Vec::new());
    while at < text.len() {
        let end = syntax.record_end(text, at, true).unwrap();
        let mut record = Vec::new();
        loop {
            let field = syntax.field(text, at, &mut scratch);
            assert_eq!(syntax.field_end(text, at), field.is_closed.then_some(field.end));
            record.push(field.is_closed.then(|| field.text.to_vec()));
            at = field.end + 1;
            if text.get(field.end) != Some(&syntax.delimiter) {
                break;
            }
        }
        assert!(end == at.min(text.len()) || (end == at + 1 && text[at] == b'\n'));
        records.push(record);
        at = syntax.skip_blank(text, end);
    }
    records
}

fn texts(alphabet: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(alphabet), 0..50)
}

fn check_records(text: &[u8], comment: Option<u8>) {
    let syntax = Syntax::new(b',', Some(b'"'), comment, false);
    let ours = our_records(&syntax, text);
    let model = model_records(text, comment);
    assert_eq!(ours.len(), model.len());
    for (ours, model) in ours.iter().zip(&model) {
        assert_eq!(ours.len(), model.len());
        for (ours, model) in ours.iter().zip(model) {
            assert!(ours.as_ref().is_none_or(|ours| ours == model), "{ours:?} is not {model:?}");
        }
    }
    let input = memory(text.to_vec());
    for step in 1..text.len() + 3 {
        let survey = Survey::new(&syntax, &input, 0, step).unwrap();
        assert_eq!(survey.rows(), model.len(), "cut after {step} bytes");
        let (mut next, mut rows) = (0, 0);
        for piece in survey.runs().concat() {
            assert_eq!((piece.bytes.start, piece.rows.start), (next, rows));
            let bytes = &text[piece.bytes.start as usize..piece.bytes.end as usize];
            let range = piece.rows.clone();
            assert_eq!(our_records(&syntax, bytes), ours[range], "cut after {step} bytes, at {:?}", piece.bytes);
            (next, rows) = (piece.bytes.end, piece.rows.end);
        }
        assert_eq!((next, rows), (text.len() as u64, ours.len()));

        let (mut batches, mut read) = (Batches::new(0), Vec::new());
        while batches.fill(&syntax, &input, step).unwrap() {
            let bytes = batches.bytes(&input);
            read.extend(our_records(&syntax, bytes));
            let length = bytes.len();
            batches.advance(length);
        }
        assert_eq!(read, ours);
    }
}

/// Returns the configuration of these tests: 500 cases, or more if `PROPTEST_CASES` says so.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.max(500), failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn records_are_those_of_the_csv_crate_wherever_the_file_is_cut(text in texts(b"a1,,\"\"\n\n\r")) {
        check_records(&text, None);
    }

    #[test]
    fn comments_are_those_of_the_csv_crate(mut text in texts(b"a,\"\n\n##")) {
        text.push(b'\n'); // the crate takes a comment without a line end for a record
        check_records(&text, Some(b'#'));
    }

    #[test]
    fn values_are_those_of_a_plain_model_wherever_the_file_is_cut(
        width in 1..4_usize,
        fields in prop::collection::vec(prop::sample::select(FIELDS), 0..40),
        end in prop::sample::select(&["\n", "\r\n", "\r"][..]),
        words in 0..3_usize,
        skip in any::<bool>(),
    ) {
        let fields: Vec<&str> =
            fields.into_iter().filter(|field| words > 0 || field.parse::<f64>().is_ok() || MISSING.contains(field)).collect();
        let mut text: String = "x,y,z"[..2 * width - 1].to_owned() + end;
        for row in fields.chunks(width) {
            text += &row.join(",");
            text += end;
        }
        check_values(&text, width, if skip { CsvMissing::SkipRow } else { CsvMissing::Nan });
    }
}

const MISSING: &[&str] = &["\"\"", "NA", "\"NA\""];
const FIELDS: &[&str] = &[
    "1",
    "-2.5",
    "-7",
    "9007199254740993",
    "9223372036854775808",
    "1e3",
    "0.1",
    " 7 ",
    "\"8\"",
    "123456789012345678901234567890",
    "1e-400",
    "nan",
    "-inf",
    "\"\"",
    "NA",
    "\"NA\"",
    "red",
    "blue",
    "\"a,b\"",
    "\"a\"\"b\"",
    "\"a\nb\"",
    "a\"b",
];

/// The text of a field, and whether it is in quotes.
type ModelField<'a> = (&'a str, bool);

/// Returns which fields are in quotes: those that begin with one.
fn quoted_fields(text: &str) -> Vec<Vec<bool>> {
    let (syntax, text) = (Syntax::new(b',', Some(b'"'), None, false), text.as_bytes());
    let (mut records, mut at) = (Vec::new(), syntax.skip_blank(text, 0));
    while at < text.len() {
        let (next, mut record) = (syntax.record_end(text, at, true).unwrap(), Vec::new());
        while at < next {
            record.push(text[at] == b'"');
            at = syntax.field_end(text, at).unwrap_or(next) + 1;
        }
        records.push(record);
        at = syntax.skip_blank(text, next);
    }
    records
}

/// Returns the expected values, or a part of the expected error: the error of a word among numbers, or else of a short
/// row.
fn model_values(text: &str, width: usize, missing: CsvMissing) -> Result<Vec<f64>, &'static str> {
    let records = model_records(text.as_bytes(), None);
    let records: Vec<Vec<String>> = records[1..]
        .iter()
        .map(|record| record.iter().map(|field| String::from_utf8(field.clone()).unwrap().trim().to_owned()).collect())
        .collect();
    let right: Vec<Vec<ModelField<'_>>> = records
        .iter()
        .zip(quoted_fields(text).into_iter().skip(1))
        .take_while(|(record, _)| record.len() == width)
        .map(|(record, is_quoted)| record.iter().map(String::as_str).zip(is_quoted).collect())
        .collect();
    let is_short = right.len() < records.len();
    // A missing text in quotes counts while kinds are decided: a column of only such fields has words.
    let may_be_missing = |&(field, _): &ModelField<'_>| field.is_empty() || field == "NA";
    let must_be_missing = |field: &ModelField<'_>| may_be_missing(field) && !field.1;
    let skips = missing == CsvMissing::SkipRow;
    let counts = |record: &&Vec<ModelField<'_>>| !skips || !record.iter().any(must_be_missing);
    let has = |column: usize, test: &dyn Fn(&ModelField<'_>) -> bool| {
        right.iter().filter(counts).any(|record| test(&record[column]))
    };
    let is_number = |field: &ModelField<'_>| !may_be_missing(field) && field.0.parse::<f64>().is_ok();
    let has_words: Vec<bool> =
        (0..width).map(|column| !has(column, &is_number) && has(column, &|field| !must_be_missing(field))).collect();
    let is_missing = |column: usize, field: &ModelField<'_>| match has_words[column] {
        true => must_be_missing(field),
        false => may_be_missing(field),
    };
    let stays = |record: &&Vec<ModelField<'_>>| {
        !skips || !record.iter().enumerate().any(|(column, field)| is_missing(column, field))
    };
    let kept: Vec<&Vec<ModelField<'_>>> = right.iter().filter(stays).collect();
    let mut values = vec![0.0; kept.len() * width];
    for (column, &has_words) in has_words.iter().enumerate() {
        let fields = || {
            kept.iter()
                .map(|record| Some(record[column]).filter(|field| !is_missing(column, field)).map(|field| field.0))
        };
        let is_number = |field: &str| field.parse::<f64>().is_ok();
        if !has_words && !fields().flatten().all(is_number) {
            return Err("is not a number in a column of numbers, the first being");
        }
        let mut words: Vec<&str> = Vec::new();
        for (row, field) in fields().enumerate() {
            values[row * width + column] = match field {
                None => f64::NAN,
                Some(field) if !has_words => field.parse().unwrap(),
                Some(field) => {
                    let known = words.iter().position(|word| *word == field);
                    known.unwrap_or_else(|| {
                        words.push(field);
                        words.len() - 1
                    }) as f64
                }
            };
        }
    }
    if is_short { Err("field") } else { Ok(values) }
}

/// Returns the result of reading in a comparable form: the bits of the values, or the text of the error.
fn outcome(result: Result<Vec<f64>>) -> Result<Vec<u64>, String> {
    let canonical = |value: &f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
    result.map(|values| values.iter().map(canonical).collect()).map_err(|error| error.to_string())
}

/// Returns the ids of the types of all columns, and all values.
fn typed_values(table: SoaNumericTable) -> Vec<f64> {
    let types = table.dictionary().iter().map(|feature| f64::from(feature.element_type.id()));
    types.chain(table.rows::<f64>(..).unwrap().iter().copied()).collect()
}

fn check_values(text: &str, width: usize, missing: CsvMissing) {
    let model = model_values(text, width, missing);
    let options = CsvOptions::new().header(CsvHeader::Yes).missing(missing);
    let source = |step| CsvSource::new(memory(text.as_bytes().to_vec()), options.clone(), step).unwrap();
    let values = |table: HomogenNumericTable<f64>| table.as_slice().unwrap().to_vec();
    let expected = outcome(source(1 << 20).load::<f64>().map(values));
    match (&model, &expected) {
        (Ok(model), Ok(_)) => assert_eq!(&outcome(Ok(model.clone())), &expected),
        (Err(part), Err(error)) => assert!(error.contains(part), "{error}"),
        _ => panic!("{expected:?}, and the model says {model:?}"),
    }
    let typed = |step| outcome(source(step).load_typed().map(typed_values));
    let expected_typed = typed(1 << 20);
    if let (Ok(found), Ok(floats)) = (&expected_typed, &expected) {
        assert_eq!(found[width..], floats[..], "{text:?}");
    }
    for step in 1..text.len().min(25) {
        assert_eq!(outcome(source(step).load::<f64>().map(values)), expected, "cut after {step} bytes");
        assert_eq!(typed(step), expected_typed, "{text:?} in columns, cut after {step} bytes");
        let source = source(step);
        let blocks = || -> Result<Vec<f64>> {
            let (mut blocks, mut values) = (source.row_blocks::<f64>(step)?, Vec::new());
            while let Some(block) = blocks.next_block()? {
                assert_eq!(block.row_range().start * width, values.len());
                values.extend_from_slice(&block);
            }
            Ok(values)
        };
        assert_eq!(outcome(blocks()), expected, "in blocks of {step} rows");
    }
}

#[test]
fn a_file_may_be_cut_within_the_line_end_of_a_comment() {
    let text = b"1\r\n#\r\n\n#2\r\n\r\n3\r\n#";
    let syntax = Syntax::new(b',', Some(b'"'), Some(b'#'), false);
    for step in 1..text.len() {
        let survey = Survey::new(&syntax, &memory(text.to_vec()), 0, step).unwrap();
        assert_eq!(survey.rows(), 2, "cut after {step} bytes");
    }
}

/// Returns the result of reading a text in pieces of `step` bytes, which must be the same for all calls. Missing values
/// are errors, unless the options set something else.
fn read(text: &str, options: &CsvOptions, step: usize) -> Result<Vec<u64>, String> {
    let strict = options.clone().missing(CsvMissing::Error);
    let options = if options.missing.is_empty() { &strict } else { options };
    let open = || CsvSource::new(memory(text.as_bytes().to_vec()), options.clone(), step);
    let load = || open()?.load::<f64>().map(|table| table.rows(0..table.row_count()).unwrap().to_vec());
    let in_blocks = || -> Result<Vec<f64>> {
        let (source, mut values) = (open()?, Vec::new());
        let mut blocks = source.row_blocks::<f64>(3)?;
        while let Some(block) = blocks.next_block()? {
            values.extend_from_slice(&block);
        }
        Ok(values)
    };
    let loaded = outcome(load());
    let typed = open().and_then(|source| source.load_typed()).map(|table| table.rows(..).unwrap().to_vec());
    assert_eq!(outcome(typed), loaded, "in columns, cut after {step} bytes");
    assert_eq!(outcome(in_blocks()), loaded, "in blocks, cut after {step} bytes");
    loaded
}

fn check_read(text: &str, options: &CsvOptions, expected: Result<&[f64], &str>) {
    let expected = match expected {
        Ok(values) => outcome(Ok(values.to_vec())),
        Err(message) => Err(message.to_owned()),
    };
    for step in (1..text.len().min(60) + 2).chain([1 << 20]) {
        assert_eq!(read(text, options, step), expected, "{text:?} cut after {step} bytes");
    }
}

#[test]
fn a_column_whose_first_word_comes_late_is_categorical_if_it_has_no_number() {
    let (mut text, mut expected) = ("a,b\n".to_owned(), Vec::new());
    for row in 0..3 * SAMPLE {
        text += &format!("NA,{row}\n");
        expected.extend([f64::NAN, row as f64]);
    }
    text += "late,1\nlater,2\n";
    expected.extend([0.0, 1.0, 1.0, 2.0]);
    check_read(&text, &CsvOptions::new().missing(CsvMissing::Nan), Ok(&expected));
    let skipping = CsvOptions::new().missing(CsvMissing::SkipRow);
    check_read(&text, &skipping, Ok(&[0.0, 1.0, 1.0, 2.0]));
    // 8 bits do not hold this many indices: the first category past the limit is the error.
    let words: String = (0..3 * SAMPLE).map(|row| format!("w{row}\n")).collect();
    for step in [64, 1000, 1 << 20] {
        let source = CsvSource::new(memory(format!("a\n{words}").into_bytes()), CsvOptions::new(), step).unwrap();
        let error = source.load::<u8>().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Text { line: 258, column: Some(0), .. }), "{error}");
    }
}

#[test]
fn a_word_among_numbers_is_the_error_wherever_it_is_and_the_file_is_cut() {
    let reason = |number: &str, line: usize| {
        format!(
            "is not a number in a column of numbers, the first being {number:?} on line {line}: \
             `CsvOptions::missing_texts` can make the word mean a missing value, `CsvOptions::missing` sets how \
             missing values are treated, `CsvOptions::kind` can read the whole column as words"
        )
    };
    let numbers: String = (0..3 * SAMPLE).map(|row| format!("{row},{}.5\n", row % 7)).collect();
    let words: String = (0..3 * SAMPLE).map(|row| format!("w{},{row}\n", row % 7)).collect();
    let gaps = "NA,1\n".repeat(3 * SAMPLE);
    let cases = [
        (format!("a,b\n{numbers}777.5x,1\n8,y\n"), 302, "777.5x", reason("0", 2)),
        (format!("a,b\nN/A,1\n{numbers}"), 2, "N/A", reason("0", 3)),
        (format!("a,b\n{words}42,1\n"), 2, "w0", reason("42", 302)), // either of them may be the intended kind
        (format!("a,b\n{gaps}1,1\nlate,2\n"), 303, "late", reason("1", 302)),
        (format!("a,b\n{gaps}late,1\n1,2\n"), 302, "late", reason("1", 303)),
        // A record of the wrong shape and the text after it decide nothing: the record is the error.
        (format!("a,b\n{numbers}1,2,3\nx,1\n"), 302, "1,2,3", "has 3 fields, not 2".to_owned()),
        (format!("a,b\n{words}1\n2,3\n"), 302, "1", "has 1 field, not 2".to_owned()),
        ("a,b,c\n1,2,3\nx,3\n".to_owned(), 3, "x,3", "has 2 fields, not 3".to_owned()), // a field is missing
    ];
    let options = CsvOptions::new().missing(CsvMissing::Nan);
    for (text, line, shown, reason) in cases {
        let column = if reason.starts_with("has") { "" } else { ", column 0 (a)" };
        check_read(&text, &options, Err(&format!("line {line}{column}: {shown:?} {reason}")));
    }
    // Words in a skipped row do not count.
    check_read("a,b\nx,NA\n1,2\n", &CsvOptions::new().missing(CsvMissing::SkipRow), Ok(&[1.0, 2.0]));
    // Too many words, one of them a number, are not too many categories; those of another column are.
    let few = CsvOptions::new().max_categories(2);
    check_read("a,b\nu,k\nv,l\nw,k\nx,l\n1,k\n", &few, Err(&format!("line 2, column 0 (a): \"u\" {}", reason("1", 6))));
    let expected = "line 5, column 1 (b): \"m\" is one category more than 2, which is the limit";
    check_read("a,b\nu,k\nv,l\nw,k\nx,m\n1,k\n", &few, Err(expected));
}

#[test]
fn lines_of_spaces_are_skipped_wherever_the_file_is_cut() {
    let options = CsvOptions::new().missing(CsvMissing::Nan);
    let text = "  \n \t\na,b\n   \n1,2\n \r\n\t\r  \n  3,4\n\n \n5,6 \n   ";
    check_read(text, &options, Ok(&[1., 2., 3., 4., 5., 6.]));
    check_read(
        text,
        &options.clone().header(CsvHeader::Yes).kind(.., CsvColumnKind::Continuous),
        Ok(&[1., 2., 3., 4., 5., 6.]),
    );
    // In a file of one column they are missing values, except before the header.
    check_read(" \na\n1\n  \n\n2\n ", &options, Ok(&[1., f64::NAN, 2., f64::NAN]));
    check_read(" \n1\n\n2\n", &options, Ok(&[f64::NAN, 1., 2.]));
    // Tabs that separate fields are not spaces, and a line with a delimiter is not a line of spaces.
    check_read("a\tb\n\t\n  \n1\t2\n", &options.clone().delimiter(b'\t'), Ok(&[f64::NAN, f64::NAN, 1., 2.]));
    check_read("a,b\n , \n1,2\n", &options, Ok(&[f64::NAN, f64::NAN, 1., 2.]));
    let long = format!("a,b\n1,2\n{}\n3,4\n", " ".repeat(30));
    check_read(&long, &options, Ok(&[1., 2., 3., 4.]));
    let reason = "line 3: \"                              \" begins a record of more than 20 bytes, which is the limit";
    check_read(&long, &options.max_record_bytes(20), Err(reason));
}

#[test]
fn delimiters_at_the_ends_of_lines_are_ignored_wherever_the_file_is_cut() {
    let automatic = CsvOptions::new;
    let yes = || CsvOptions::new().trailing_delimiter(CsvTrailing::Yes);
    let values = [1., 2., 3., 4., 5., 6.];
    let six: Result<&[f64], &str> = Ok(&values);
    for end in ["\n", "\r\n", "\r"] {
        let text = |lines: &str| lines.replace('\n', end);
        check_read(&text("a,b,\n1,2,\n3,4,\n5,6,\n"), &automatic(), six);
        check_read(&text("a,b,\n1,2, \n\n3,4,\n5,6"), &automatic(), six);
        check_read(&text("a,b,\n1,2,\n3,4,\n5,6\n\n  \n"), &automatic(), six);
        check_read(&text("1,2,\n3,4,\n5,6\n"), &yes(), six);
        check_read(&text("a,b\n1,2,\n3,4,\n  \n5,6,"), &yes(), six);
    }
    check_read("a,b,\n1,2\n", &automatic(), Ok(&[1., 2.])); // the last line, and the first
    check_read("a,\n1,\n2,\n \n3,\n", &automatic(), Ok(&[1., 2., 3.]));
    let skipping = yes().missing(CsvMissing::SkipRow);
    check_read("1,2,\nNA,4,\n5,6,\n,7\n", &skipping, Ok(&[1., 2., 5., 6.]));
    check_read("a,b,\nx,2,\ny,4,\nx,6", &automatic(), Ok(&[0., 2., 1., 4., 0., 6.]));

    let no_delimiter = "has 2 fields and no delimiter at the end, which only the last line may omit";
    let not_empty = "has 3 fields instead of 2 and a delimiter at the end: `CsvOptions::trailing_delimiter` can make \
         the text after it a column";
    for (text, options, line, shown, reason) in [
        ("a,b,\n1,2,\n3,4\n5,6,\n", automatic(), 3, "3,4", no_delimiter),
        ("a,b,\n1,2\n3,4\n", automatic(), 2, "1,2", no_delimiter),
        ("a,b,\nx,2,\ny,4\n\n7,6,\n", automatic(), 3, "y,4", no_delimiter),
        ("a,b,\n1,2,\n3,4,7\n5,6,\n", automatic(), 3, "3,4,7", not_empty),
        ("a,b,\n1,2,\n3,4,\"\"\n5,6,\n", automatic(), 3, "3,4,\"\"", not_empty),
        ("a,b,\n1,2,\n3,4,,\n5,6,\n", automatic(), 3, "3,4,,", "has 4 fields, not 2"),
        ("a,b,\n1,2,\n3,\n5,6,\n", automatic(), 3, "3,", no_delimiter),
        ("a,b,\n1,2,\n3\n5,6,\n", automatic(), 3, "3", "has 1 field, not 2"),
        ("a,b,\n1,2,\nNA,4\n5,6,\n", automatic().missing(CsvMissing::SkipRow), 3, "NA,4", no_delimiter),
        ("a,b\n1,2\n", yes().header(CsvHeader::No), 1, "a,b", no_delimiter),
        (
            "a,b\n1,2,\n3,4,\n",
            automatic(),
            2,
            "1,2,",
            "has 3 fields, not 2; the last is empty: `CsvOptions::trailing_delimiter` can ignore it on every line",
        ),
    ] {
        check_read(text, &options, Err(&format!("line {line}: {shown:?} {reason}")));
    }
    let missing = "line 1, column 2: \"\" is missing: `CsvOptions::missing` sets how missing values are treated, \
                   `CsvOptions::trailing_delimiter` can ignore a delimiter at the end of every line";
    check_read("1,2,\n3,4,\n", &automatic(), Err(missing));
    // A last column without a name is still a column, if the first row has a value in it, or if the options say so.
    check_read("a,\n1,2\n3,4\n5,6\n", &automatic(), six);
    let no = automatic().trailing_delimiter(CsvTrailing::No).missing(CsvMissing::Nan);
    check_read("a,\n1,\n3,4\n", &no, Ok(&[1., f64::NAN, 3., 4.]));
}

#[test]
fn a_record_or_comment_that_is_too_long_is_an_error_wherever_the_file_is_cut() {
    let long = "7".repeat(30);
    let quoted = "1\n\"2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n"; // not closed
    let (limit, comment) = ("begins a record of more than 20 bytes, which is the limit", format!("#{long}"));
    let cases = [
        (format!("1\n22\n{long}\n3\n"), 3, &*long, limit),
        (format!("1\n\n\"2\n{long}\"\n3\n"), 3, "\"2", limit),
        (quoted.to_owned(), 2, "\"2", limit),
        (format!("1\n#c\r\n\r\n{comment}\r\n2\n"), 4, &comment, limit),
        (format!("{long}\n1\n"), 1, &long, limit),
        (format!("1\n{long}"), 2, &long, limit),
        (format!("1\nx\n{long}\n"), 2, "x", "is not a number"), // an earlier error comes first
    ];
    let options = || CsvOptions::new().header(CsvHeader::No).kind(.., CsvColumnKind::Continuous).comment(b'#');
    let open =
        |text: &str, step| CsvSource::new(memory(text.as_bytes().to_vec()), options().max_record_bytes(20), step);
    let in_blocks = |source: CsvSource| -> Result<usize> {
        let (mut blocks, mut rows) = (source.row_blocks::<f64>(2)?, 0);
        while let Some(block) = blocks.next_block()? {
            rows += block.row_range().len();
        }
        Ok(rows)
    };
    for step in (1..70).chain([1 << 20]) {
        for (text, line, shown, reason) in &cases {
            let expected = format!("line {line}{}: {shown:?} {reason}", if *shown == "x" { ", column 0" } else { "" });
            let loaded = open(text, step).and_then(|source| source.load::<f64>());
            assert_eq!(loaded.unwrap_err().to_string(), expected, "cut after {step} bytes");
            let error = open(text, step).and_then(in_blocks).unwrap_err();
            assert_eq!(error.to_string(), expected, "in blocks, cut after {step} bytes");
        }
        let just_right = "1234567890123456789\n#234567890123456789\n";
        assert_eq!(open(just_right, step).unwrap().load::<f64>().unwrap().row_count(), 1);
        assert_eq!(open(just_right, step).and_then(in_blocks).unwrap(), 1);
    }
}

#[test]
fn the_first_category_too_many_is_the_error_wherever_the_file_is_cut() {
    let text = "a,b\nx,k\ny,k\nx,l\nz,m\ny,n\nw,o\n";
    for step in 1..text.len() + 1 {
        let open = |options: CsvOptions| {
            CsvSource::new(memory(text.as_bytes().to_vec()), options.max_categories(3), step).unwrap()
        };
        for kind in [CsvColumnKind::Automatic, CsvColumnKind::Categorical, CsvColumnKind::OneHot] {
            let source = open(CsvOptions::new().kind(.., kind));
            let expected = "line 6, column 1 (b): \"n\" is one category more than 3, which is the limit";
            assert_eq!(source.load::<u8>().unwrap_err().to_string(), expected);
            assert_eq!(source.row_blocks::<u8>(1).unwrap_err().to_string(), expected);
            assert_eq!(source.categories(0).unwrap_err().to_string(), expected);
        }
        // One column has too many words from the first record, the other one a word among numbers at the end.
        let late = CsvSource::new(
            memory(b"0,p\n1,p\nx,q\n".to_vec()),
            CsvOptions::new().header(CsvHeader::No).max_categories(0),
            step,
        );
        let error = late.unwrap().load::<u8>().unwrap_err();
        assert!(error.to_string().starts_with("line 1, column 1: \"p\" is one category more than 0"), "{error}");
        let stated = open(CsvOptions::new().categories("b", ["k", "l", "m", "n", "o"]).columns("b"));
        assert_eq!(stated.load::<u8>().unwrap().as_slice().unwrap(), [0, 0, 1, 2, 3, 4]);
    }
}
