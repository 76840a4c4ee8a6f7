//! CSV inputs: the options of the command line as those of the library, and what the library leaves out of a file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use numeric_table::csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSample, CsvSource};
use numeric_table::dictionary::TimeUnit;
use numeric_table::{DataDictionary, ElementType, Error, ErrorKind, Feature, Result};

use crate::args::CsvArgs;
use crate::columns;
use crate::failure::{Failure, Outcome};
use crate::format::has_tabs;
use crate::print;

/// The first bytes of compressed files, and the name of their format.
const GZIP: (&[u8], &str) = (&[0x1f, 0x8b], "gzip");
const ZSTD: (&[u8], &str) = (&[0x28, 0xb5, 0x2f, 0xfd], "zstd");

/// Opens a file.
pub(crate) fn open(path: &Path, args: &CsvArgs) -> Outcome<CsvSource> {
    check_end_of_name(path)?;
    let options = options(path, args)?;
    with_kinds(options, args, |options| CsvSource::open_with(path, options))
}

/// Opens text in memory: the beginning of the file `path`.
pub(crate) fn open_bytes(bytes: Vec<u8>, path: &Path, args: &CsvArgs) -> Outcome<CsvSource> {
    let options = options(path, args)?;
    let bytes: numeric_table::Array<u8> = bytes.into();
    with_kinds(options, args, |options| CsvSource::from_bytes_with(bytes.clone(), options))
}

/// A compressed file has a few bytes at least. An empty one would be read as an empty text.
fn check_end_of_name(path: &Path) -> Result<()> {
    let name = path.to_string_lossy().to_lowercase();
    let (magic, format) = match () {
        () if name.ends_with(".gz") => GZIP,
        () if name.ends_with(".zst") => ZSTD,
        () => return Ok(()),
    };
    let mut start = Vec::new();
    let mut file = File::open(path).map_err(|error| Error::io(path, error))?.take(magic.len() as u64);
    file.read_to_end(&mut start).map_err(|error| Error::io(path, error))?;
    if start.len() < magic.len() && magic.starts_with(&start) {
        let found = if start.is_empty() { "the file is empty" } else { "the file ends in its first bytes" };
        let text = format!("{found}, and by its name it is compressed with {format}: write or copy it again");
        return Err(Error::io(path, io::Error::new(io::ErrorKind::UnexpectedEof, text)));
    }
    Ok(())
}

fn options(path: &Path, args: &CsvArgs) -> Outcome<CsvOptions> {
    let mut options = CsvOptions::new().missing(CsvMissing::Keep);
    let delimiter = args.delimiter.as_deref().or(has_tabs(path).then_some("\\t"));
    if let Some(text) = delimiter {
        let byte = match text.as_bytes() {
            b"\\t" | b"tab" => b'\t',
            &[byte] => byte,
            _ => return Err(Failure::usage("--delimiter needs one character of ASCII, or `tab`")),
        };
        options = options.delimiter(byte);
    }
    if args.decimal.as_deref() == Some(",") {
        options = options.decimal(',');
    }
    if args.header || args.no_header {
        options = options.header(if args.header { CsvHeader::Yes } else { CsvHeader::No });
    }
    if !args.missing.is_empty() {
        options = options.missing_texts(args.missing.iter().map(String::as_str));
    }
    match args.infer_rows {
        Some(0) => return Err(Failure::usage("--infer-rows needs at least 1")),
        Some(rows) => options = options.sample(CsvSample::First(rows)),
        None => {}
    }
    Ok(options)
}

/// Opens a source in which columns have the kinds that the arguments name. Columns are mostly chosen by their names,
/// which the library knows. Numbers and patterns need the names of the file, so the file is opened twice for them.
fn with_kinds(
    options: CsvOptions,
    args: &CsvArgs,
    open: impl Fn(CsvOptions) -> Result<CsvSource>,
) -> Outcome<CsvSource> {
    let kinds = [
        ("--date", &args.date, CsvColumnKind::Time(TimeUnit::Days)),
        ("--time", &args.time, CsvColumnKind::Time(TimeUnit::Microseconds)),
        ("--words", &args.words, CsvColumnKind::Categorical),
    ];
    if kinds.iter().all(|(_, choices, _)| choices.is_empty()) {
        return Ok(open(options)?);
    }
    let by_name = kinds.iter().fold(options.clone(), |options, (_, choices, kind)| {
        choices.iter().fold(options, |options, name| options.kind(name.as_str(), kind.clone()))
    });
    match open(by_name) {
        Err(error) if matches!(error.kind(), ErrorKind::CsvOption { .. }) => {}
        opened => return Ok(opened?),
    }
    let names = open(options.clone().kind(.., CsvColumnKind::Categorical))?;
    let dictionary: DataDictionary =
        names.names().map(|name| Feature { name: name.map(str::to_owned), ..Feature::new(ElementType::F64) }).collect();
    let mut chosen = options;
    for (option, choices, kind) in kinds {
        if !choices.is_empty() {
            let found = columns::choose(choices, &dictionary);
            let found = found.map_err(|failure| Failure::usage(format!("{option}: {failure}")))?;
            chosen = chosen.kind(found, kind);
        }
    }
    Ok(open(chosen)?)
}

/// Returns the columns, with their names and types.
pub(crate) fn dictionary(source: &CsvSource) -> Result<DataDictionary> {
    let (description, mut features) = (source.describe()?, Vec::new());
    let kept = description.columns.iter().filter(|column| column.element_type.is_some());
    for (feature, column) in source.dictionary(ElementType::F64)?.iter().zip(kept) {
        let mut feature = feature.clone();
        feature.element_type = column.element_type.unwrap_or(ElementType::F64);
        feature.nullable = column.nullable;
        features.push(feature);
    }
    Ok(DataDictionary::from_features(features))
}

/// Returns a note about the blank lines between the rows of a file of one column, if there are some. They are not rows,
/// although they may stand for missing values.
pub(crate) fn blank_lines(path: &Path, source: &CsvSource) -> io::Result<Option<String>> {
    if source.names().len() != 1 {
        return Ok(None);
    }
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    let file = BufReader::new(File::open(path)?);
    let found = match () {
        () if start.starts_with(GZIP.0) => blank_among(BufReader::new(MultiGzDecoder::new(file))),
        () if start.starts_with(ZSTD.0) => blank_among(BufReader::new(zstd::Decoder::with_buffer(file)?)),
        () => blank_among(file),
    };
    Ok(found?.map(|(count, line)| {
        let (lines, verdict) =
            (print::count(count, "blank line"), if count == 1 { "is not a row" } else { "are not rows" });
        let first = print::grouped(line);
        format!(
            "{lines} {verdict} (the first is line {first}): in a file of one column, a missing value is written as NA"
        )
    }))
}

/// Returns how many lines between others are empty, and the number of the first. Lines in quotes are part of a field.
fn blank_among(mut text: impl BufRead) -> io::Result<Option<(u64, u64)>> {
    let (mut line, mut number, mut is_quoted, mut is_start) = (Vec::new(), 0_u64, false, true);
    let (mut first, mut count, mut waiting, mut has_rows) = (None, 0, 0, false);
    loop {
        line.clear();
        // A line of any length, in pieces.
        let length = text.by_ref().take(1 << 16).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        if is_start {
            number += 1;
        }
        let is_blank = is_start && !is_quoted && matches!(&line[..], b"\n" | b"\r\n");
        is_start = line.ends_with(b"\n");
        is_quoted ^= line.iter().filter(|&&byte| byte == b'"').count() % 2 == 1;
        if !is_blank {
            (count, waiting, has_rows) = (count + waiting, 0, true);
        } else if has_rows {
            waiting += 1;
            first.get_or_insert(number);
        }
    }
    Ok(first.filter(|_| count > 0).map(|first| (count, first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_between_rows_are_counted_and_those_at_the_ends_are_not() {
        let found = |text: &str| blank_among(text.as_bytes()).unwrap();
        assert_eq!(found("a\n1\n\n\n2\n"), Some((2, 3)));
        assert_eq!(found("a\r\n1\r\n\r\n2\r\n"), Some((1, 3)));
        assert_eq!(found("\n\na\n1\n2\n\n\n"), None);
        assert_eq!(found("a\n\"x\n\ny\"\n1\n"), None);
        assert_eq!(found(&format!("a\n{}\n\n1", "7".repeat(200_000))), Some((1, 3)));
        assert_eq!(found(""), None);
    }
}
