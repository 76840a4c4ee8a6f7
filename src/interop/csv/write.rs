//! Writing tables as CSV: the shortest digits that are read back as the same values, formatted in parallel.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::digits::push;
use super::{CsvWriteOptions, RECORD_BYTES, WEIGHT, bad_option};
use crate::array::Array;
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::convert::cast;
use crate::dictionary::DataDictionary;
use crate::files::output::Lines;
use crate::files::replace::replace;
use crate::lines::AnyLines;
use crate::table::{HomogenNumericTable, NumericTable};

/// Number of values that one task formats at a time.
const VALUES: usize = 32 << 10;

/// The path of a caller's writer in errors.
const WRITER: &str = "(writer)";

impl<T: Element> HomogenNumericTable<T> {
    /// Writes the table as a CSV file, which atomically replaces an old one, as [`save`](Self::save) does. Every value
    /// is read back bit for bit, except for the payload of a NaN.
    ///
    /// The number of columns is recorded only by the lines: a table without rows becomes an empty file, unless it has a
    /// header.
    ///
    /// # Errors
    /// [`Error::CsvShape`] for rows without columns, which would leave no trace, and for a header of more than 256 MiB,
    /// which many columns need even without names; [`Error::Io`] with `path`; [`Error::RenameUnsupported`];
    /// [`Error::NotAllocated`]; [`Error::BlockOutstanding`]; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvSource, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table = HomogenNumericTable::from_rows(&[[0.1_f32, f32::INFINITY], [-0.0, 1e-40]])?;
    /// table.write_csv(&path)?;
    /// assert_eq!(std::fs::read(&path)?, b"0.1,inf\n-0,1e-40\n");
    /// assert_eq!(CsvSource::open(&path)?.load::<f32>()?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_csv_with(path, CsvWriteOptions::new())
    }

    /// Writes the table as [`write_csv`](Self::write_csv) does, with options.
    ///
    /// # Errors
    /// Those of [`write_csv`](Self::write_csv); [`Error::CsvOption`] if an option does not fit the table, or a value is
    /// not an index of the categories that the options state for its column.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvWriteOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// table.write_csv_with(&path, CsvWriteOptions::new().header(true))?;
    /// assert_eq!(std::fs::read(&path)?, b",\n1,2\n3,4\n"); // the columns have no names
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv_with(&self, path: impl AsRef<Path>, options: CsvWriteOptions) -> Result<()> {
        let table: &dyn NumericTable = self;
        table.write_csv_with(path, options)
    }

    /// Writes the table as [`write_csv_with`](Self::write_csv_with) does, to any writer. After an error, some of the
    /// table may have been written.
    ///
    /// # Errors
    /// Those of [`write_csv_with`](Self::write_csv_with), with `(writer)` as the path of [`Error::Io`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvWriteOptions, prelude::*};
    /// let mut text = Vec::new();
    /// HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.write_csv_to(&mut text, CsvWriteOptions::new())?;
    /// assert_eq!(text, b"1,2\n3,4\n");
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv_to(&self, writer: impl Write, options: CsvWriteOptions) -> Result<()> {
        let table: &dyn NumericTable = self;
        table.write_csv_to(writer, options)
    }
}

impl dyn NumericTable + '_ {
    /// Writes a table of any kind as a CSV file, as [`HomogenNumericTable::write_csv`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::write_csv`]; [`Error::MixedElementTypes`]: `convert` makes columns of one type;
    /// [`Error::ShapeMismatch`], [`Error::ElementTypeMismatch`] if the table changed while it was read;
    /// [`Error::DictionaryMismatch`], [`Error::SizeOverflow`] if its answers contradict each other.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// table.write_csv(&path)?;
    /// assert_eq!(std::fs::read(&path)?, b"1,2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_csv_with(path, CsvWriteOptions::new())
    }

    /// Writes a table of any kind as a CSV file with options, as [`HomogenNumericTable::write_csv_with`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::write_csv_with`] and of `write_csv` of a table of any kind.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvWriteOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// table.write_csv_with(&path, CsvWriteOptions::new().delimiter(b';'))?;
    /// assert_eq!(std::fs::read(&path)?, b"1;2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv_with(&self, path: impl AsRef<Path>, options: CsvWriteOptions) -> Result<()> {
        let (path, lines) = (path.as_ref(), AnyLines::by_rows(self)?);
        match_element!(self.one_type()?, T => {
            to_file(path, &Text::<T>::new(&lines, self.dictionary(), &options)?, &options)
        })
    }

    /// Writes a table of any kind to any writer, as [`HomogenNumericTable::write_csv_to`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::write_csv_to`] and of `write_csv` of a table of any kind.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvWriteOptions, prelude::*};
    /// let (mut text, table) = (Vec::new(), HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// let table: &dyn NumericTable = &table;
    /// table.write_csv_to(&mut text, CsvWriteOptions::new())?;
    /// assert_eq!(text, b"1,2\n");
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv_to(&self, mut writer: impl Write, options: CsvWriteOptions) -> Result<()> {
        let lines = AnyLines::by_rows(self)?;
        match_element!(self.one_type()?, T => {
            write(&mut writer, &Text::<T>::new(&lines, self.dictionary(), &options)?, Path::new(WRITER))
        })
    }
}

fn to_file<T: Element>(path: &Path, table: &Text<'_, T>, options: &CsvWriteOptions) -> Result<()> {
    replace(path, &options.save, |mut file| write(&mut file, table, path))
}

/// Writes all lines; `name` is the path of the target in errors. Nothing is written before the first lines are
/// formatted.
fn write<T: Element>(writer: &mut dyn Write, table: &Text<'_, T>, name: &Path) -> Result<()> {
    let failed = |source| Error::Io { path: name.to_owned(), source };
    let Shape { rows, columns } = table.shape;
    let step = (VALUES / columns.max(1)).max(1);
    let mut chunks = (0..rows).step_by(step).map(|start| start..rows.min(start + step));
    // As many chunks at a time as there are tasks; their texts are in memory together.
    let bytes = rows * columns * size_of::<T>(); // `Text::new` has checked the product
    let wave = parallel::task_count(bytes.saturating_mul(WEIGHT)).max(1);
    let mut header = &table.header[..];
    loop {
        let chunks: Vec<Range<usize>> = chunks.by_ref().take(wave).collect();
        let is_last = chunks.len() < wave;
        let texts = parallel::map(chunks, |rows| table.rows(rows)).into_iter().collect::<Result<Vec<_>>>()?;
        writer.write_all(std::mem::take(&mut header)).map_err(failed)?;
        texts.iter().try_for_each(|text| writer.write_all(text)).map_err(failed)?;
        if is_last {
            break;
        }
    }
    table.lines.check_unchanged()?;
    writer.flush().map_err(failed)
}

/// A table to be formatted. Invariant: the size of its values fits the address space, and if there are rows, there are
/// columns.
struct Text<'a, T> {
    lines: &'a dyn Lines<T>,
    shape: Shape,
    /// The line of names; empty if none is to be written.
    header: Vec<u8>,
    delimiter: u8,
    missing: Vec<u8>,
    /// Columns, in ascending order, and the texts of their category indices.
    words: Vec<(usize, Vec<Vec<u8>>)>,
}

impl<'a, T: Element> Text<'a, T> {
    /// Checks everything that can be checked before a value is read.
    ///
    /// # Errors
    /// As listed for [`HomogenNumericTable::write_csv_with`].
    fn new(lines: &'a dyn Lines<T>, dictionary: &DataDictionary, options: &CsvWriteOptions) -> Result<Self> {
        options.check()?;
        let (shape, delimiter) = (lines.shape(), options.delimiter);
        shape.element_count_of(T::TYPE)?;
        dictionary.check(shape.columns, T::TYPE)?;
        if shape.rows > 0 && shape.columns == 0 {
            return Err(Error::CsvShape { shape, reason: "rows without columns have no text".to_owned() });
        }
        let quote = |text: &str| quoted(text, delimiter, shape.columns == 1);
        let mut words = BTreeMap::new();
        for (column, names) in &options.categories {
            if *column >= shape.columns {
                return Err(Error::ColumnOutOfRange { column: *column, column_count: shape.columns });
            }
            words.insert(*column, names.iter().map(|name| quote(name)).collect());
        }
        let is_named = || dictionary.listed().any(|feature| feature.name.is_some());
        let header = match options.header.unwrap_or_else(is_named) {
            true => header(dictionary, delimiter, shape)?,
            false => Vec::new(),
        };
        let (missing, words) = (quote(&options.missing), words.into_iter().collect());
        Ok(Self { lines, shape, header, delimiter, missing, words })
    }

    /// Formats the lines of some rows.
    fn rows(&self, rows: Range<usize>) -> Result<Vec<u8>> {
        let (first, columns) = (rows.start, self.shape.columns);
        let mut copy;
        let range = first * columns..rows.end * columns;
        let values = match self.lines.as_slice() {
            Some(values) => &values[range],
            None => {
                copy = Array::zeros(range.len())?;
                self.lines.read(range, copy.mutable_data()?)?;
                &copy[..]
            }
        };
        let mut text = Vec::new();
        let room = values.len() * 8;
        text.try_reserve(room).map_err(|_| Error::OutOfMemory { bytes: room })?;
        for (row, values) in values.chunks_exact(columns).enumerate() {
            let mut words = self.words.iter().peekable();
            for (column, &value) in values.iter().enumerate() {
                match words.next_if(|(known, _)| *known == column) {
                    _ if value.partial_cmp(&value).is_none() => text.extend_from_slice(&self.missing),
                    Some((_, words)) => text.extend_from_slice(word_of(words, value, first + row, column)?),
                    None => push(value, &mut text),
                }
                text.push(self.delimiter);
            }
            text.pop();
            text.push(b'\n');
        }
        Ok(text)
    }
}

/// Formats the line of names; empty if there are no columns.
fn header(dictionary: &DataDictionary, delimiter: u8, shape: Shape) -> Result<Vec<u8>> {
    // There may be more columns than bytes of memory, if they share a description and there are no rows.
    let repetitions = if dictionary.is_uniform() { shape.columns } else { 1 };
    let (mut names, mut bytes) = (Vec::new(), 0);
    for feature in dictionary.listed() {
        names.extend(quoted(feature.name.as_deref().unwrap_or_default(), delimiter, shape.columns == 1));
        names.push(delimiter);
        bytes = names.len().saturating_mul(repetitions);
        if bytes > RECORD_BYTES {
            let reason = format!("the line of names would have {bytes} bytes or more, and may have {RECORD_BYTES}");
            return Err(Error::CsvShape { shape, reason });
        }
    }
    let mut line = Vec::new();
    line.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    (0..repetitions).for_each(|_| line.extend_from_slice(&names));
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
    Ok(line)
}

/// Returns the text of a category.
fn word_of<T: Element>(words: &[Vec<u8>], value: T, row: usize, column: usize) -> Result<&[u8]> {
    let (number, index) = (cast::<T, f64>(value), cast::<T, u64>(value));
    let word = usize::try_from(index).ok().filter(|&index| index as f64 == number).and_then(|index| words.get(index));
    let count = words.len();
    let refused = || bad_option(format!("{value} at row {row}, column {column} is no index of {count} categories"));
    word.map(Vec::as_slice).ok_or_else(refused)
}

/// Formats a text as a field, in quotes if it would be read as something else without. An empty line is not a row, so
/// the only field of a line is never left empty.
fn quoted(text: &str, delimiter: u8, is_only: bool) -> Vec<u8> {
    let bytes = text.as_bytes();
    let is_special = |byte: &u8| *byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let is_mark = text.starts_with('\u{FEFF}'); // at the beginning of a file, it would not be text
    let needs_quotes = bytes.iter().any(is_special) || is_space(bytes.first()) || is_space(bytes.last()) || is_mark;
    if needs_quotes || (is_only && bytes.is_empty()) {
        format!("\"{}\"", text.replace('"', "\"\"")).into_bytes()
    } else {
        bytes.to_vec()
    }
}
