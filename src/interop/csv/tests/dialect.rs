//! Results with comments after fields, other spellings, times and samples do not depend on where a file is divided.

use proptest::prelude::*;

use super::*;
use crate::dictionary::TimeUnit;

/// Removes comments after fields and at the beginning of lines, byte by byte, and the spaces between quotes and a
/// comment, which belong to neither.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let (mut kept, mut at) = (Vec::new(), 0);
    let mut is_start = true; // of a field
    let mut quoted = None; // the end of the field's quotes
    while at < text.len() {
        match text[at] {
            b'"' if is_start => {
                let rest = &text[at + 1..];
                let mut length = 0;
                while length < rest.len() && (rest[length] != b'"' || rest.get(length + 1) == Some(&b'"')) {
                    length += if rest[length] == b'"' { 2 } else { 1 };
                }
                let end = (at + length + 2).min(text.len());
                kept.extend_from_slice(&text[at..end]);
                (at, is_start, quoted) = (end, false, Some(kept.len()));
            }
            b'#' => {
                if let Some(end) = quoted {
                    let spaces = kept[end..].iter().rev().take_while(|&&byte| byte == b' ').count();
                    kept.truncate(kept.len() - spaces);
                }
                at += text[at..].iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
                is_start = false;
            }
            byte => {
                kept.push(byte);
                (at, is_start) = (at + 1, matches!(byte, b',' | b'\n' | b'\r'));
                quoted = quoted.filter(|_| !is_start);
            }
        }
    }
    kept
}

fn outcome<T>(result: Result<T>, show: impl Fn(T) -> String) -> String {
    result.map_or_else(|error| error.to_string(), show)
}

/// Returns the result of reading a text, as text.
fn everything(text: &[u8], options: &CsvOptions, step: usize) -> [String; 4] {
    let open = || CsvSource::new(memory(text.to_vec()), options.clone(), step);
    let blocks = || {
        let (source, mut shown) = (open()?, String::new());
        let mut blocks = source.row_blocks::<f64>(2)?;
        while let Some(block) = blocks.next_block()? {
            block.iter().for_each(|value| shown.push_str(&format!("{value:?} ")));
        }
        Ok(shown)
    };
    let values = |table: HomogenNumericTable<f64>| {
        table.rows::<f64>(..).unwrap().iter().map(|value| format!("{value:?} ")).collect()
    };
    [
        outcome(open().and_then(|source| source.load::<f64>()), values),
        outcome(blocks(), |shown| shown),
        outcome(open().and_then(|source| source.load_typed()), |table| {
            let types: Vec<_> = (0..table.column_count()).map(|column| table.column_type(column).unwrap()).collect();
            format!(
                "{types:?} {:?}",
                table.rows::<f64>(..).unwrap().iter().map(|v| format!("{v:?}")).collect::<Vec<_>>()
            )
        }),
        outcome(open().and_then(|source| source.describe()), |description| {
            let types: Vec<_> = description.columns.iter().filter_map(|column| column.element_type).collect();
            format!("{types:?} {description:#}")
        }),
    ]
}

fn check(text: &[u8], options: &CsvOptions) {
    let expected = everything(text, options, PIECE_BYTES);
    assert_eq!(expected[0], expected[1], "whole and in blocks");
    // The description matches the table of `load_typed`, and fails where it does.
    let types = |shown: &str| shown.split_once(']').map_or(shown.to_owned(), |(types, _)| types.to_owned());
    assert_eq!(types(&expected[2]), types(&expected[3]));
    for step in 1..text.len() + 2 {
        assert_eq!(everything(text, options, step), expected, "cut after {step} bytes");
    }
}

/// Checks that a text with comments is read as one without.
fn check_comments(text: &[u8]) {
    let inline = Syntax::new(b',', Some(b'"'), Some(b'#'), true);
    let plain = Syntax::new(b',', Some(b'"'), None, false);
    let stripped = without_comments(text);
    let (mut ours, mut at, mut scratch) = (Vec::new(), inline.skip_blank(text, 0), Vec::new());
    while at < text.len() {
        let end = inline.record_end(text, at, true).unwrap();
        let mut record = Vec::new();
        loop {
            let field = inline.field(text, at, &mut scratch);
            record.push(field.is_closed.then(|| field.text.to_vec()));
            at = field.end + 1;
            if text.get(field.end) != Some(&b',') {
                break;
            }
        }
        ours.push(record);
        at = inline.skip_blank(text, end);
    }
    assert_eq!(ours, our_records(&plain, &stripped));
    check(text, &CsvOptions::new().inline_comment(b'#').missing(CsvMissing::Nan));
}

#[test]
fn lines_that_are_empty_but_for_a_comment_are_no_rows() {
    check_comments(b"\n1");
    check_comments(b"#\n1");
}

#[test]
fn spaces_between_quotes_and_a_comment_are_of_neither() {
    check_comments(b"\"1 \" #x");
    check_comments(b"\"\"\n #");
    check_comments(b"\"1\r\" #x\n1,\"x\" ,\"1\" 1 #");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))] // each of them cuts its text after any number of bytes

    #[test]
    fn comments_are_as_if_they_were_not_there(
        text in prop::collection::vec(prop::sample::select(&b"1x,,\"# \n\n\r"[..]), 0..32),
    ) {
        check_comments(&text);
    }

    #[test]
    fn other_spellings_are_read_wherever_the_file_is_cut(
        text in prop::collection::vec(prop::sample::select(&b"1230;;.,\"- \n\n"[..]), 0..32),
    ) {
        let options = CsvOptions::new().delimiter(b';').decimal(',').thousands('.').missing(CsvMissing::Nan);
        check(&text, &options);
        check(&text, &options.missing(CsvMissing::Value(0.0)).thousands(' ').header(CsvHeader::No));
    }

    #[test]
    fn samples_decide_wherever_the_file_is_cut(
        text in prop::collection::vec(prop::sample::select(&b"17,,.x\n\n\n"[..]), 0..32),
        rows in 1_usize..5,
        missing in prop::sample::select(&[CsvMissing::Error, CsvMissing::Nan, CsvMissing::SkipRow][..]),
    ) {
        for sample in [CsvSample::First(rows), CsvSample::Spread(rows)] {
            check(&text, &CsvOptions::new().sample(sample).missing(missing));
        }
    }

    #[test]
    fn times_are_read_wherever_the_file_is_cut(
        days in prop::collection::vec((-800_000_i64..3_000_000, 0_i64..86_400, prop::bool::weighted(0.9)), 0..6),
        missing in prop::sample::select(
            &[CsvMissing::Error, CsvMissing::Nan, CsvMissing::SkipRow, CsvMissing::Value(0.5)][..]
        ),
    ) {
        let mut text = String::from("day,time\n");
        for (day, second, is_there) in days {
            let date = crate::base::calendar::show_date(day);
            let time = format!("{:02}:{:02}:{:02}.007", second / 3600, second / 60 % 60, second % 60);
            text += &if is_there { format!("{date},{date}T{time}Z\n") } else { format!(",{date} {time}\n") };
        }
        for unit in [TimeUnit::Milliseconds, TimeUnit::Nanoseconds, TimeUnit::Seconds] {
            let days = CsvColumnKind::Time(TimeUnit::Days);
            let options = CsvOptions::new().kind("day", days).kind("time", CsvColumnKind::Time(unit));
            check(text.as_bytes(), &options.missing(missing));
        }
    }
}
