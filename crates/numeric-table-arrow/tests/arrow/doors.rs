//! What each way out of the library and back in keeps: missing values, words, dates, truth values, and whole numbers
//! that `f64` does not hold, through every pair of doors. The table is on `docs/formats.md`, "What each door keeps".
//!
//! A door keeps what a column is, keeps its values as numbers, or refuses with the reason. It never changes anything. A
//! new ability of a door changes a line of [`EXPECTED`], and nothing else here.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::{Array as ArrowArray, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt64Array};
use numeric_table::{
    AnyArray, CsrNumericTable, SoaNumericTable, bf16,
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSource, CsvWriteOptions},
    dictionary::{Categories, TimeUnit},
    files::{self, SaveOptions},
    npy,
    npz::{self, NpzReader},
    prelude::*,
    shards::Shards,
    sparse::LabeledRows,
};
use numeric_table_arrow::prelude::*;

/// What becomes of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// It is the same: values, name, words, unit of time.
    Kept,
    /// Its values are the same numbers; what they mean stays behind, since the format has no place for it.
    Numbers,
    /// It is refused, on the way out or in, with these words.
    Refused(&'static str),
}

use Outcome::*;

/// A way out and back in.
#[derive(Clone, Copy)]
struct Door {
    name: &'static str,
    /// Whether names of columns travel.
    has_names: bool,
    trip: fn(&SoaNumericTable) -> Result<SoaNumericTable, Error>,
}

const DOORS: [Door; 7] = [
    Door { name: "Arrow", has_names: true, trip: by_arrow },
    Door { name: "CSV", has_names: true, trip: by_csv },
    Door { name: "`.npy`", has_names: false, trip: by_npy },
    Door { name: "`.npz`", has_names: true, trip: by_npz },
    Door { name: "`.ntb`", has_names: true, trip: by_table_file },
    Door { name: "archive", has_names: true, trip: by_archive },
    Door { name: "JSON", has_names: true, trip: by_json },
];

/// A kind of column, a table of one, and what becomes of it at each of [`DOORS`].
type Line = (&'static str, fn() -> SoaNumericTable, [Outcome; DOORS.len()]);

const EXPECTED: [Line; 9] = [
    ("NaN among floats", floats, [Kept, Kept, Kept, Kept, Kept, Kept, Kept]),
    ("words", words, [Kept, Kept, Numbers, Numbers, Kept, Kept, Kept]),
    ("missing words", missing_words, [Kept, Kept, Numbers, Numbers, Kept, Kept, Kept]),
    ("dates", dates, [Kept, Kept, Numbers, Numbers, Kept, Kept, Kept]),
    ("missing dates", missing_dates, [Kept, Kept, Numbers, Numbers, Kept, Kept, Kept]),
    ("booleans as 0 and 1", truths, [Kept, Kept, Kept, Kept, Kept, Kept, Kept]),
    ("2^53 + 1 as `i64`", signed, [Kept, Kept, Kept, Kept, Kept, Kept, Kept]),
    ("2^53 + 1 as `u64`", unsigned, [Kept, Kept, Kept, Kept, Kept, Kept, Kept]),
    ("`bf16`", halves, [Refused("bf16"), Kept, Refused("bf16"), Refused("bf16"), Kept, Kept, Kept]),
];

const WORDS: [&str; 9] = ["", "NA", "NaN", "nan", "a,b", "say \"a\"", "two\nlines", "\u{e9}t\u{e9}", "1"];

fn column(feature: Feature, values: impl Into<AnyArray>) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_feature(feature.named("it"), values).unwrap_or_else(|refused| panic!("{}", refused.error));
    table
}

fn floats() -> SoaNumericTable {
    column(Feature::new(ElementType::F64), vec![1.5, f64::NAN, -0.0, f64::INFINITY])
}

fn words() -> SoaNumericTable {
    let words = Categories::from_labels(WORDS).unwrap();
    column(Feature::new(ElementType::U8).categorical(words), (0..WORDS.len() as u8).collect::<Vec<u8>>())
}

fn missing_words() -> SoaNumericTable {
    let words = Categories::from_labels(WORDS).unwrap();
    let codes = [f64::NAN].into_iter().chain((0..WORDS.len()).map(|code| code as f64)).collect::<Vec<f64>>();
    column(Feature::new(ElementType::F64).categorical(words), codes)
}

fn dates() -> SoaNumericTable {
    column(Feature::new(ElementType::I32).time(TimeUnit::Days), vec![19_782_i32, -1, 0])
}

fn missing_dates() -> SoaNumericTable {
    column(Feature::new(ElementType::F64).time(TimeUnit::Milliseconds), vec![1e12, f64::NAN, -1.0])
}

fn truths() -> SoaNumericTable {
    column(Feature::new(ElementType::U8), vec![0_u8, 1, 1])
}

fn signed() -> SoaNumericTable {
    column(Feature::new(ElementType::I64), vec![(1_i64 << 53) + 1, -(1 << 53) - 1, i64::MIN])
}

fn unsigned() -> SoaNumericTable {
    column(Feature::new(ElementType::U64), vec![(1_u64 << 53) + 1, u64::MAX, 0])
}

fn halves() -> SoaNumericTable {
    column(Feature::new(ElementType::Bf16), vec![bf16::from_f32(1.5), bf16::NAN])
}

fn by_arrow(table: &SoaNumericTable) -> Result<SoaNumericTable, Error> {
    SoaNumericTable::from_record_batches([table.to_record_batch()?], ArrowOptions::new().nulls_to_nan(true))
}

/// Text says neither that a column has words nor that it has dates: who reads it does.
fn by_csv(table: &SoaNumericTable) -> Result<SoaNumericTable, Error> {
    let (mut text, mut options) = (Vec::new(), CsvOptions::new().missing(CsvMissing::Nan).header(CsvHeader::Yes));
    table.write_csv_to(&mut text, CsvWriteOptions::new().header(true))?;
    for (index, feature) in table.dictionary().iter().enumerate() {
        options = match feature.feature_type {
            FeatureType::Time(unit) => options.kind(index, CsvColumnKind::Time(unit)),
            FeatureType::Categorical => options.kind(index, CsvColumnKind::Categorical),
            // Text does not say the type either: numbers of these are read as `f64` otherwise.
            _ if feature.element_type == ElementType::Bf16 => options.column_type(index, ElementType::Bf16),
            _ => options,
        };
    }
    CsvSource::from_bytes_with(text, options)?.load_typed()
}

fn by_npy(table: &SoaNumericTable) -> Result<SoaNumericTable, Error> {
    let mut bytes = Vec::new();
    table.write_npy(&mut bytes)?;
    Ok(columns_of(&*npy::read(&bytes[..])?))
}

fn by_npz(table: &SoaNumericTable) -> Result<SoaNumericTable, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.npz");
    npz::save_columns(&path, table)?;
    npz::load_columns(&path)
}

fn by_table_file(table: &SoaNumericTable) -> Result<SoaNumericTable, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    table.save_with(&path, SaveOptions::new().durable(false))?;
    Ok(columns_of(&*files::load(&path)?))
}

fn by_archive(table: &SoaNumericTable) -> Result<SoaNumericTable, Error> {
    Ok(columns_of(&*files::from_bytes(&table.to_bytes()?)?))
}

fn by_json(table: &SoaNumericTable) -> Result<SoaNumericTable, Error> {
    let wrong = |error: serde_json::Error| Error::other(error);
    serde_json::from_str(&serde_json::to_string(table).map_err(wrong)?).map_err(wrong)
}

/// Copies a table of any kind.
fn columns_of(table: &dyn NumericTable) -> SoaNumericTable {
    let mut copy = SoaNumericTable::new();
    for (index, feature) in table.dictionary().iter().enumerate() {
        macro_rules! copied {
            ($($variant:ident $native:ty),*) => {
                match feature.element_type {
                    $(ElementType::$variant => AnyArray::from(table.column::<$native>(index, ..).unwrap().to_vec()),)*
                    other => panic!("{other} is not in this test"),
                }
            };
        }
        let array = copied!(F64 f64, F32 f32, Bf16 bf16, I32 i32, I64 i64, U8 u8, U64 u64);
        copy.push_feature(feature.clone(), array).unwrap_or_else(|refused| panic!("{}", refused.error));
    }
    copy
}

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Missing,
    Word(String),
    Time(TimeUnit, i128),
    Whole(i128),
    /// The bits: of a negative zero, too.
    Float(u64),
}

/// Returns what is in the only column, and its name. `is_plain`: only the numbers count.
fn cells(table: &SoaNumericTable, is_plain: bool) -> (Option<String>, Vec<Cell>) {
    let feature = table.dictionary().feature(0).unwrap().clone();
    let number = |row| -> Cell {
        let whole = |number: i128| Cell::Whole(number);
        match feature.element_type {
            ElementType::I64 | ElementType::I32 => whole(table.value::<i64>(row, 0).unwrap().into()),
            ElementType::U64 | ElementType::U8 => whole(table.value::<u64>(row, 0).unwrap().into()),
            _ => match table.value::<f64>(row, 0).unwrap() {
                value if value.is_nan() => Cell::Missing,
                value if value == value.trunc() && value.abs() < 1e15 && (value != 0.0 || value.is_sign_positive()) => {
                    whole(value as i128)
                }
                value => Cell::Float(value.to_bits()),
            },
        }
    };
    let cell = |row| match (number(row), feature.feature_type) {
        (Cell::Whole(count), FeatureType::Time(unit)) if !is_plain => Cell::Time(unit, count),
        (Cell::Whole(index), _) if !is_plain => match feature.label(usize::try_from(index).unwrap_or(usize::MAX)) {
            Some(word) => Cell::Word(word.to_owned()),
            None => Cell::Whole(index),
        },
        (cell, _) => cell,
    };
    (feature.name.clone(), (0..table.row_count()).map(cell).collect())
}

/// Sends a table through a door, and compares the result with the expected one. Returns it, if it was not refused,
/// and whether it means what it did.
#[track_caller]
fn pass(table: &SoaNumericTable, door: Door, expected: Outcome, what: &str) -> Option<SoaNumericTable> {
    match ((door.trip)(table), expected) {
        (Err(error), Refused(words)) => {
            assert!(error.to_string().contains(words), "{what}: {error}");
            None
        }
        (Err(error), _) => panic!("{what}: {error}"),
        (Ok(_), Refused(words)) => panic!("{what}: it is not refused with {words:?}"),
        (Ok(back), Kept | Numbers) => {
            let is_plain = expected == Numbers;
            let ((name, mine), (new_name, theirs)) = (cells(table, is_plain), cells(&back, is_plain));
            assert_eq!(mine, theirs, "{what}");
            if is_plain {
                assert_eq!(cells(&back, true), cells(&back, false), "{what}: nothing is left of what they mean");
            }
            // Where a format needs names, a column without one gets one.
            let is_named = if door.has_names { name == new_name } else { new_name.is_none() };
            assert!(is_named || name.is_none(), "{what}: {new_name:?}");
            Some(back)
        }
    }
}

#[test]
fn every_pair_of_doors_keeps_a_column_or_refuses_it() {
    for (kind, make, outcomes) in EXPECTED {
        for (door, first) in DOORS.into_iter().zip(outcomes) {
            let what = format!("{kind} through {}", door.name);
            let Some(table) = pass(&make(), door, first, &what) else { continue };
            for (next, second) in DOORS.into_iter().zip(outcomes) {
                // Where the meaning has stayed behind, there are only numbers to keep.
                let second = if first == Numbers { Kept } else { second };
                pass(&table, next, second, &format!("{what}, then through {}", next.name));
            }
        }
    }
}

/// The table of the page, from the same lines.
#[test]
fn the_page_of_formats_has_this_table() {
    let mut text = String::from("| column");
    DOORS.iter().for_each(|door| write!(text, " | {}", door.name).unwrap());
    text += " |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (kind, _, outcomes) in EXPECTED {
        write!(text, "| {kind}").unwrap();
        for outcome in outcomes {
            text += match outcome {
                Kept => " | kept",
                Numbers => " | as numbers",
                Refused(_) => " | rejected",
            };
        }
        text += " |\n";
    }
    let page = include_str!("../../../../docs/formats.md");
    assert!(page.contains(&text), "docs/formats.md should have:\n{text}");
}

/// What only comes in, from others: each is kept, or refused with the column, and the row if it is one of several.
#[test]
fn what_others_have_comes_in_or_is_refused_by_name() {
    let batch = |array: ArrayRef| RecordBatch::try_from_iter([("it", array)]).unwrap();
    let arrow = |array: ArrayRef, options: ArrowOptions| SoaNumericTable::from_record_batches([batch(array)], options);
    let nan = || ArrowOptions::new().nulls_to_nan(true);
    let refused = |result: Result<SoaNumericTable, Error>, words: &str| {
        let error = result.err().unwrap_or_else(|| panic!("it is not refused with {words:?}")).to_string();
        assert!(error.contains("it") && error.contains(words), "{error}");
    };

    let truths: ArrayRef = Arc::new(BooleanArray::from(vec![false, true]));
    assert_eq!(arrow(truths, ArrowOptions::new()).unwrap().column_slice::<u8>(0).unwrap(), [0, 1]);
    let large = (1_i64 << 53) + 1;
    let signed: ArrayRef = Arc::new(Int64Array::from(vec![Some(large), None]));
    let table = arrow(signed.clone(), ArrowOptions::new()).unwrap();
    assert!(table.value::<i64>(0, 0).unwrap() == large && table.is_missing(1, 0).unwrap());
    refused(arrow(signed, nan()), "i64 has no NaN");
    let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![None, Some(u64::MAX)]));
    refused(arrow(unsigned, nan()), "1 null, the first in row 0");

    // A missing word is a missing value, or NaN on request, in a column that has one; never a word.
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("NA"), None, Some("")]));
    let table = arrow(words.clone(), ArrowOptions::new()).unwrap();
    assert!(table.is_missing(1, 0).unwrap() && table.dictionary().feature(0).unwrap().label(1) == Some(""));
    refused(arrow(words.clone(), nan().column_type("it", ElementType::U8)), "u8 has no NaN");
    let table = arrow(words, nan()).unwrap();
    let word = |word: &str| Cell::Word(word.to_owned());
    assert_eq!(cells(&table, false).1, [word("NA"), Cell::Missing, word("")]);
    let out = table.to_record_batch().unwrap();
    assert!(out.schema().field(0).is_nullable() && out.column(0).is_null(1) && out.column(0).null_count() == 1);

    let csv =
        |text: &str, options: CsvOptions| CsvSource::from_bytes_with(text.as_bytes().to_vec(), options)?.load_typed();
    let nan = || CsvOptions::new().missing(CsvMissing::Nan);
    refused(csv("it\n9007199254740993\nNA\n", nan()), "line 2, column 0 (it): \"9007199254740993\" is an integer");
    refused(csv("it\nred\n\n\"\"\nNA\n", CsvOptions::new()), "line 5, column 0 (it): \"NA\" is missing");
    assert_eq!(cells(&csv("it\ntrue\nfalse\n", nan()).unwrap(), false).1, [word("true"), word("false")]);
    // Words that look like numbers are numbers, unless the kind is stated.
    refused(csv("it\nred\n\"NaN\"\n", nan()), "line 2, column 0 (it): \"red\" is not a number");

    let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }";
    let npy = [b"\x93NUMPY\x01\0\x76\0", format!("{header:<117}\n").as_bytes(), &[0, 1]].concat();
    let error = npy::read(&npy[..]).err().unwrap().to_string();
    assert!(error.contains("truth values; in Python: a.astype('u1')"), "{error}");
}

/// A code without a word is rejected with its row and column wherever words are written instead of codes.
#[test]
fn a_code_without_a_word_is_refused_by_name() {
    let words = Categories::from_labels(["a"]).unwrap();
    let table = column(Feature::new(ElementType::F64).categorical(words), vec![0.0, 7.0]);
    let arrow = table.to_record_batch().unwrap_err().to_string();
    assert!(arrow.contains("column 0 (it): 7 in row 1, which is no index of 1 words"), "{arrow}");
    let csv = table.write_csv_to(Vec::new(), CsvWriteOptions::new()).unwrap_err().to_string();
    assert!(csv.contains("7 at row 1, column 0 is not an index of 1 categories"), "{csv}");
}

/// Files of `/proc` have a size of 0, and text in them.
#[cfg(target_os = "linux")]
#[test]
fn no_door_takes_a_file_without_a_size_for_an_empty_table() {
    let path = "/proc/self/status";
    assert!(files::load(path).is_err());
    assert!(Shards::open(path).is_err());
    assert!(npy::load(path).is_err());
    assert!(NpzReader::open(path).is_err());
    assert!(LabeledRows::load::<f64>(path).is_err());
    assert!(CsrNumericTable::load_mtx::<f64>(path).is_err());
    let options = CsvOptions::new().header(CsvHeader::No).delimiter(b'\t').kind(.., CsvColumnKind::Categorical);
    let error = CsvSource::open_with(path, options).and_then(|source| source.load::<u8>()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Text { .. }), "{error}");
}
