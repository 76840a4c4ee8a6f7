//! CSV files: however a text is cut, and whoever reads it, it gives the same table or the same error, what is
//! described is what is loaded; what is written as CSV is read back.
//!
//! The first six bytes choose the options, the rest is the text: see [`Choice`].

#![no_main]

use std::fs;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use numeric_table::{
    BlockAccess, ConversionPolicy, DataDictionary, Element, ElementType, Error, Feature, FeatureType,
    HomogenNumericTable, MissingValues, NumericTable, Shape, TableDescription, TableOutput,
    csv::{
        CsvColumnDescription, CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSample, CsvSource, CsvTrailing,
        CsvWriteOptions,
    },
    dictionary::TimeUnit,
};
use numeric_table_fuzz::{bytes_of, with_element};

type Table<T> = HomogenNumericTable<T>;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first_chunk() else { return };
    let choice = Choice(*choice);
    if choice.is_number() {
        check_number(text);
    } else {
        with_element!(choice.element_type(), T => check::<T>(&choice, text));
    }
});

/// Cuts the text into pieces of `bytes` bytes, if the library is built for fuzzing.
#[cfg(fuzzing)]
fn cut_after(source: CsvSource, bytes: usize) -> Result<CsvSource, Error> {
    source.cut_after(bytes)
}

/// Leaves the text as it is: `.ci/seeds` runs the inputs that are in the repository without such a build.
#[cfg(not(fuzzing))]
fn cut_after(source: CsvSource, _bytes: usize) -> Result<CsvSource, Error> {
    Ok(source)
}

/// What the first bytes of an input choose.
struct Choice([u8; 6]);

/// One of several, by a number.
fn pick<T: Copy>(all: &[T], number: u8) -> T {
    all[usize::from(number) % all.len()]
}

impl Choice {
    /// Whether the text is one number, and nothing else is chosen.
    fn is_number(&self) -> bool {
        self.0[0] >= 240
    }

    fn element_type(&self) -> ElementType {
        pick(ElementType::ALL, self.0[2])
    }

    fn missing(&self) -> CsvMissing {
        let [nan, value] = [CsvMissing::Nan, CsvMissing::Value(2.0)];
        let all = [CsvMissing::Error, nan, CsvMissing::SkipRow, value, CsvMissing::Keep];
        pick(&all, self.0[1] / 3)
    }

    fn options(&self) -> CsvOptions {
        let [special, header, policy, kinds, columns, _] = self.0;
        let mut options = CsvOptions::new()
            .delimiter(pick(b",;\t |", special))
            .quote(pick(&[Some(b'"'), Some(b'"'), Some(b'\''), None], special / 5))
            .header(pick(&[CsvHeader::Automatic, CsvHeader::Yes, CsvHeader::No], header))
            .trailing_delimiter(pick(&[CsvTrailing::Automatic, CsvTrailing::Yes, CsvTrailing::No], special / 60))
            .max_decompressed_bytes(1 << 14)
            .missing(self.missing())
            .policy(pick(
                &[ConversionPolicy::Exact, ConversionPolicy::Checked, ConversionPolicy::Saturate],
                policy / 12,
            ));
        if special / 20 % 3 == 2 {
            options = options.comment(b'#');
        }
        match header / 12 % 4 {
            0 => {}
            1 => options = options.missing_texts(["1", "x"]),
            2 => options = options.missing_texts(["", "-0.0", "nan"]),
            _ => options = options.missing_in(0, CsvMissing::Nan),
        }
        if kinds & 1 != 0 {
            options = options.kind(.., kind(kinds >> 5));
        }
        if kinds & 2 != 0 {
            options = options.kind(usize::from(kinds >> 2 & 1), kind(kinds >> 3));
        }
        match columns % 16 {
            1 => options.columns([1, 0]),
            2 => options.columns(1..),
            3 => options.exclude_columns(0),
            4 => options.columns(0..2),
            5 => options.columns("a"),
            6 => options.categories(0, ["1", "a", "b"]),
            7 => options.max_categories(usize::from(columns / 16)),
            8 => options.max_record_bytes(usize::from(columns)),
            9 => options.max_columns(usize::from(columns / 16)),
            10 => options.inline_comment(b'#'),
            11 => options.delimiter(b';').decimal(',').thousands(pick(&['.', ' ', '\'', '\u{202F}'], columns / 16)),
            12 => options.thousands(','), // in quotes, if it is the delimiter
            13 => options.sample(CsvSample::First(usize::from(columns / 16) + 1)),
            14 => options.sample(CsvSample::Spread(usize::from(columns / 16) + 1)),
            15 => options.kind(usize::from(columns / 16) % 2, CsvColumnKind::Time(pick(&UNITS, columns / 32))),
            _ => options,
        }
    }

    /// Bytes of a piece, rows of a block, and whether the text is in a file.
    fn cuts(&self) -> (usize, usize, bool) {
        let [.., blocks, bytes] = self.0;
        (usize::from(bytes / 2) + 1, usize::from(blocks) % 9 + 1, bytes % 2 == 1)
    }
}

const UNITS: [TimeUnit; 5] =
    [TimeUnit::Days, TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];

fn kind(number: u8) -> CsvColumnKind {
    match number % 6 {
        0 => CsvColumnKind::Automatic,
        1 => CsvColumnKind::Continuous,
        2 => CsvColumnKind::Ordinal,
        3 => CsvColumnKind::Categorical,
        4 => CsvColumnKind::OneHot,
        _ => CsvColumnKind::custom(|text| match text.len() {
            0 => Err("is empty".to_owned()),
            length => Ok(length as f64),
        }),
    }
}

/// What a file gives: shape, dictionary and bits of all values, where a NaN is a NaN; and the names of the categories.
type Outcome = Result<(Shape, DataDictionary, Vec<u64>, Vec<Option<Vec<String>>>), String>;

fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    let bits = |value: &T| {
        let mut padded = [0; 8];
        padded[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(value));
        if is_nan(value) { u64::MAX - 7 } else { u64::from_le_bytes(padded) }
    };
    values.iter().map(bits).collect()
}

fn values_of<T: Element>(table: &Table<T>) -> Vec<u64> {
    bits(bytemuck::cast_slice::<u8, T>(bytes_of(table)))
}

fn categories(source: &CsvSource, columns: usize) -> Result<Vec<Option<Vec<String>>>, Error> {
    (0..columns).map(|column| Ok(source.categories(column)?.map(<[String]>::to_vec))).collect()
}

fn loaded<T: Element>(source: Result<CsvSource, Error>) -> Outcome {
    let load = || {
        let source = source?;
        let table = source.load::<T>()?;
        let shape = table.shape();
        Ok((shape, table.dictionary().clone(), values_of(&table), categories(&source, shape.columns)?))
    };
    load().map_err(|error: Error| error.to_string())
}

fn in_blocks<T: Element>(source: Result<CsvSource, Error>, rows: usize) -> Outcome {
    let read = || {
        let source = source?;
        let (mut blocks, mut values, mut next) = (source.row_blocks::<T>(rows)?, Vec::new(), 0);
        loop {
            let block = blocks.next_block().map(|block| block.map(|block| (block.row_range(), bits(&block))));
            let (rows_of_block, values_of_block) = match block {
                Ok(Some(block)) => block,
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(blocks.next_block().unwrap_err().to_string(), error.to_string());
                    return Err(error);
                }
            };
            assert!(rows_of_block.start == next && rows_of_block.len() <= rows);
            next = rows_of_block.end;
            values.extend(values_of_block);
        }
        let dictionary = source.dictionary(T::TYPE)?;
        let shape = Shape { rows: next, columns: dictionary.len() };
        let names = categories(&source, shape.columns)?;
        Ok((shape, dictionary, values, names))
    };
    read().map_err(|error: Error| error.to_string())
}

fn check<T: Element>(choice: &Choice, text: &[u8]) {
    let (step, rows, is_file) = choice.cuts();
    let source = || {
        if is_file {
            in_file(text, choice.options())
        } else {
            CsvSource::from_bytes_with(text.to_vec(), choice.options())
        }
    };
    let expected = loaded::<T>(source());
    assert_eq!(loaded::<T>(source().and_then(|source| cut_after(source, step))), expected, "cut after {step} bytes");
    assert_eq!(in_blocks::<T>(source(), rows), expected, "in blocks of {rows} rows");
    assert_eq!(
        in_blocks::<T>(source().and_then(|source| cut_after(source, step)), rows),
        expected,
        "cut and in blocks"
    );
    check_description(source(), source().and_then(|source| cut_after(source, step)));
    if expected.is_ok() {
        check_writing::<T>(&source().unwrap(), choice);
    }
}

/// A source is described if it can be loaded, with the types that it is loaded with, wherever the text is cut.
fn check_description(source: Result<CsvSource, Error>, cut: Result<CsvSource, Error>) {
    let (Ok(source), Ok(cut)) = (source, cut) else { return };
    let described = source.describe().map_err(|error| error.to_string());
    let shown = described.as_ref().map(|description| format!("{description:#}"));
    assert_eq!(
        cut.describe().map(|description| format!("{description:#}")).map_err(|error| error.to_string()),
        shown.map_err(Clone::clone)
    );
    match (source.load_typed(), described) {
        (Ok(table), Ok(description)) => {
            assert_eq!(description.rows, table.row_count());
            let mut types: Vec<ElementType> = table.dictionary().iter().map(|feature| feature.element_type).collect();
            types.sort_by_key(|element| element.id());
            types.dedup();
            let kept =
                |element: &ElementType| description.columns.iter().any(|column| column.element_type == Some(*element));
            assert!(types.iter().all(kept), "{types:?} {description}");
            let mut missing: Vec<usize> =
                (0..table.column_count()).map(|column| table.missing_count(column).unwrap()).collect();
            let has_columns = |column: &&CsvColumnDescription| {
                !matches!(column.kind, Some(CsvColumnKind::OneHot))
                    || column.categories.iter().any(|words| !words.is_empty())
            };
            let nullable = description.columns.iter().filter(|column| column.nullable).filter(has_columns);
            let mut described: Vec<usize> = nullable.map(|column| column.gaps).collect();
            for counts in [&mut missing, &mut described] {
                counts.retain(|&count| count > 0);
                counts.sort_unstable();
                counts.dedup(); // a column may become several
            }
            assert_eq!(missing, described, "{description}");
        }
        (Err(error), Err(described)) => assert_eq!(error.to_string(), described),
        (loaded, described) => panic!("{loaded:?} {described:?}"),
    }
}

/// A table that was loaded, written and read again is the same.
fn check_writing<T: Element>(source: &CsvSource, choice: &Choice) {
    let table = source.load::<T>().unwrap();
    let (rows, columns) = (table.row_count(), table.column_count());
    if columns == 0 {
        return; // there is no text of rows without columns
    }
    let has_names = table.dictionary().iter().any(|feature| feature.name.is_some());
    let header = if has_names { CsvHeader::Yes } else { CsvHeader::No };
    let no_trailing = CsvOptions::new().trailing_delimiter(CsvTrailing::No); // the last column may have no name, and gaps
    let options = no_trailing.header(header).missing_texts::<String>([]);
    // A missing word is written as NA.
    let numbers = options.clone().kind(.., CsvColumnKind::Continuous).missing_texts(["NA"]).missing(CsvMissing::Nan);
    let mut text = Vec::new();
    let indices = CsvWriteOptions::new().labels(false).times(false);
    table.write_csv_to(&mut text, indices.clone()).unwrap();
    check_times(&table, &options);
    if rows > 0 || has_names {
        let again = CsvSource::from_bytes_with(text.clone(), numbers.clone()).unwrap();
        let name = |feature: &Feature| feature.name.clone().filter(|name| !name.is_empty());
        let names: Vec<Option<String>> = table.dictionary().iter().map(name).collect();
        assert!(again.names().eq(names.iter().map(Option::as_deref)), "other names");
        let again = again.load::<T>().unwrap();
        assert_eq!((again.shape(), values_of(&again)), (table.shape(), values_of(&table)));
        let other = indices.clone().delimiter(b';').missing("");
        let mut text = Vec::new();
        table.write_csv_to(&mut text, other).unwrap();
        let read = numbers.delimiter(b';').missing_texts(["", "NA"]).missing(CsvMissing::Nan);
        let again = CsvSource::from_bytes_with(text, read.clone()).unwrap().load::<T>().unwrap();
        assert_eq!((again.shape(), values_of(&again)), (table.shape(), values_of(&table)));
        let mut text = Vec::new();
        table.write_csv_to(&mut text, indices.clone().delimiter(b';').missing("").decimal(',')).unwrap();
        let again = CsvSource::from_bytes_with(text, read.decimal(',')).unwrap().load::<T>().unwrap();
        assert_eq!((again.shape(), values_of(&again)), (table.shape(), values_of(&table)));
    }

    // With the words that the numbers stand for, unless some numbers stand for gaps.
    if rows == 0
        || !matches!(choice.missing(), CsvMissing::Error | CsvMissing::SkipRow | CsvMissing::Keep)
        || choice.0[1] / 12 % 4 == 3
    {
        return;
    }
    let (mut write, mut read) = (indices, options);
    for column in 0..columns {
        let feature = table.dictionary().feature(column).unwrap();
        let words = source.categories(column).unwrap().filter(|words| feature.category_count() == Some(words.len()));
        // Of a column of zeros and ones, there may be two.
        let values = table.column::<f64>(column, 0..rows).unwrap();
        if let Some(words) = words
            && words.len() != 2
            && values.iter().all(|&value| value >= 0.0 && value < words.len() as f64)
        {
            (write, read) = (write.categories(column, words), read.categories(column, words.to_vec()));
        } else {
            read = read.kind(column, CsvColumnKind::Continuous);
        }
    }
    let mut text = Vec::new();
    table.write_csv_to(&mut text, write).unwrap();
    let again = CsvSource::from_bytes_with(text, read).unwrap().load::<T>().unwrap();
    assert_eq!((again.shape(), values_of(&again)), (table.shape(), values_of(&table)));
}

/// Times that are written as dates are read as the same numbers.
fn check_times<T: Element>(table: &Table<T>, options: &CsvOptions) {
    let columns = || table.dictionary().iter().enumerate();
    let units = columns().filter_map(|(column, feature)| match feature.feature_type {
        FeatureType::Time(unit) => Some((column, unit)),
        _ => None,
    });
    let mut read = options.clone().kind(.., CsvColumnKind::Continuous).missing_texts(["NA"]).missing(CsvMissing::Nan);
    let mut are_there = false;
    for (column, unit) in units {
        (read, are_there) = (read.kind(column, CsvColumnKind::Time(unit)), true);
    }
    let mut text = Vec::new();
    table.write_csv_to(&mut text, CsvWriteOptions::new().labels(false)).unwrap();
    if are_there && let Ok(again) = CsvSource::from_bytes_with(text, read).and_then(|source| source.load::<T>()) {
        assert_eq!((again.shape(), values_of(&again)), (table.shape(), values_of(table)));
    }
}

/// A text is read as the number that the standard library makes of it, in quotes and without; integers as what they
/// are.
fn check_number(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    if text.contains(['"', ',', '\n', '\r', ' ', '\t', '\x0C', '\u{FEFF}']) || text.is_empty() {
        return;
    }
    let options =
        CsvOptions::new().header(CsvHeader::No).kind(.., CsvColumnKind::Continuous).missing_texts::<String>([]);
    fn number<T: Element>(text: &str, options: &CsvOptions) -> Option<Vec<u64>> {
        let load = |text: String| CsvSource::from_bytes_with(text.into_bytes(), options.clone())?.load::<T>();
        let plain = load(format!("{text}\n")).ok().map(|table| values_of(&table));
        for text in [text.to_owned(), format!("\"{text}\""), format!(" {text}\r\n")] {
            assert_eq!(load(text).ok().map(|table| values_of(&table)), plain);
        }
        let row = load(format!("{text},{text}\n")).ok().map(|table| values_of(&table));
        assert_eq!(row, plain.as_ref().map(|values| [values[0], values[0]].to_vec()));
        plain
    }
    let saturate = options.clone().policy(ConversionPolicy::Saturate);
    let float = text.parse::<f64>().ok();
    assert_eq!(number::<f64>(text, &saturate), float.map(|value| bits(&[value])));
    assert_eq!(number::<f32>(text, &saturate), text.parse::<f32>().ok().map(|value| bits(&[value])));
    let kept = float.filter(|value| value.is_finite() || text.contains(['n', 'N']));
    assert_eq!(number::<f64>(text, &options), kept.map(|value| bits(&[value])));
    if let Ok(whole) = text.parse::<i128>() {
        assert_eq!(number::<u64>(text, &options), u64::try_from(whole).ok().map(|value| bits(&[value])));
        assert_eq!(number::<i64>(text, &options), i64::try_from(whole).ok().map(|value| bits(&[value])));
        assert_eq!(number::<u8>(text, &options), u8::try_from(whole).ok().map(|value| bits(&[value])));
    }
}

/// A file in a folder of this process, in memory where the system has such a place.
struct Scratch {
    file: PathBuf,
    _folder: tempfile::TempDir, // goes when the main thread ends well
}

thread_local! {
    static SCRATCH: Scratch = {
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("numeric-table-fuzz-").tempdir_in(parent).unwrap();
        Scratch { file: folder.path().join("file.csv"), _folder: folder }
    };
}

fn in_file(text: &[u8], options: CsvOptions) -> Result<CsvSource, Error> {
    SCRATCH.with(|scratch| {
        fs::write(&scratch.file, text).unwrap();
        CsvSource::open_with(&scratch.file, options)
    })
}
