//! Fields found in blocks of bytes are those found byte by byte, and the fast path finds the values that are extracted.

use proptest::prelude::*;

use super::super::categories::Categories;
use super::super::syntax::Fit;
use super::*;

const PARTS: &[&str] = &[
    "a",
    "red",
    "12.5",
    "a word of a few letters",
    ",",
    ",",
    ",",
    "\"blue, green\"",
    "\"two \"\"words\"\" in quotes\"",
    "\"red\"",
    ",\"",
    "\",",
    "\"",
    "\"\"",
    "\"a\nb\"",
    " ",
    "\n",
    "\r\n",
    "\n\n",
    "\r",
];

/// Returns text in which quotes are often where fields begin and end.
fn long_texts() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop::collection::vec(prop::sample::select(PARTS), 0..120);
    parts.prop_map(|parts| parts.concat().into_bytes())
}

/// The same rules, but comments could follow fields, which nothing finds in blocks.
fn byte_by_byte(syntax: &Syntax) -> Syntax {
    Syntax::new(syntax.delimiter, syntax.quote, Some(1), true)
}

fn fit(syntax: &Syntax, text: &[u8], start: usize, columns: usize) -> (u8, usize, Vec<usize>) {
    let mut ends = Vec::new();
    let (kind, place) = match syntax.fit(text, start, columns, &mut ends) {
        Fit::Right(end) => (0, end),
        Fit::NotTrailing(end) => (1, end),
        Fit::Wrong => (2, 0),
        Fit::Unclosed(at) => (3, at),
    };
    (kind, place, ends)
}

fn check_ends(text: &[u8], quote: Option<u8>) {
    let mut syntax = Syntax::new(b',', quote, None, false);
    for is_trailing in [false, true] {
        syntax.is_trailing = is_trailing;
        let mut slow = byte_by_byte(&syntax);
        slow.is_trailing = is_trailing;
        for start in (0..text.len()).step_by(5) {
            for is_all in [false, true] {
                assert_eq!(syntax.record_end(text, start, is_all), slow.record_end(text, start, is_all));
            }
            for columns in [1, 2, 5, 30] {
                assert_eq!(fit(&syntax, text, start, columns), fit(&slow, text, start, columns));
            }
        }
    }
}

fn check_words(text: &[u8]) {
    let syntax = Syntax::new(b',', Some(b'"'), None, false);
    let words = Categories::of(&["a", "red", "", "blue, green", "two \"words\" in quotes", "a\nb", "12.5"]).unwrap();
    let mut scratch = Vec::new();
    for start in 0..text.len() {
        let Some((index, length)) = syntax.fast_word(&text[start..], &words) else { continue };
        let field = syntax.field(text, start, &mut scratch);
        assert!(field.is_closed && field.end == start + length);
        assert_eq!(words.index_of(field.text), Some(index));
    }
    assert_eq!(syntax.fast_word(b"\"blue, green\",1", &words), Some((3, 13)));
    assert_eq!(syntax.fast_word(b"red\n", &words), Some((1, 3)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ends_found_in_blocks_are_those_found_byte_by_byte(text in long_texts()) {
        check_ends(&text, Some(b'"'));
        check_ends(&text, None);
    }

    #[test]
    fn words_that_the_fast_path_finds_are_those_of_the_fields(text in long_texts()) {
        check_words(&text);
    }

    #[test]
    fn long_files_are_divided_as_their_records_are(text in long_texts()) {
        let syntax = Syntax::new(b',', Some(b'"'), None, false);
        let records = our_records(&syntax, &text);
        let input = memory(text.clone());
        for step in [1, 7, 40, 64, 100, 333] {
            let survey = Survey::new(&syntax, &input, 0, step).unwrap();
            assert_eq!(survey.rows(), records.len(), "cut after {step} bytes");
            for piece in survey.pieces() {
                let bytes = &text[piece.bytes.start as usize..piece.bytes.end as usize];
                assert_eq!(our_records(&syntax, bytes), records[piece.rows], "cut after {step} bytes");
            }
        }
    }
}
