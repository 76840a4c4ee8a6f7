//! Writing tables as CSV: the shortest digits that are read back as the same values, formatted by several threads.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::digits::push;
use super::{CsvWriteOptions, WEIGHT, bad_option};
use crate::block::{BlockAccess, BlockDescriptor};
use crate::convert::cast;
use crate::element::{Element, match_element};
use crate::error::{Error, Result};
use crate::format::replace;
use crate::parallel;
use crate::table::{HomogenNumericTable, NumericTable};

/// Values that one task formats at once.
const VALUES: usize = 32 << 10;

impl<T: Element> HomogenNumericTable<T> {
    /// Writes the table as a CSV file, which replaces an old one whole or not at all, as [`save`](Self::save) does. Every
    /// value but NaN's payload is read back bit for bit.
    ///
    /// # Errors
    /// [`Error::Io`] with `path`; [`Error::RenameUnsupported`]; [`Error::NotAllocated`]; [`Error::BlockOutstanding`];
    /// [`Error::OutOfMemory`].
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

    /// As [`write_csv`](Self::write_csv), with options.
    ///
    /// # Errors
    /// As [`write_csv`](Self::write_csv); [`Error::CsvOption`] if an option does not fit the table, or a value is no index
    /// of the categories that are given for its column.
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
        to_file::<T, _>(self, path.as_ref(), &options)
    }

    /// As [`write_csv_with`](Self::write_csv_with), into any writer. After an error, some of the table may have been
    /// written.
    ///
    /// # Errors
    /// As [`write_csv_with`](Self::write_csv_with), with `(writer)` as the path of [`Error::Io`].
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
    pub fn write_csv_to(&self, mut writer: impl Write, options: CsvWriteOptions) -> Result<()> {
        write::<T, _>(self, &mut writer, Path::new("(writer)"), &options)
    }
}

impl dyn NumericTable {
    /// Writes a table of any kind as a CSV file, as [`HomogenNumericTable::write_csv`] does.
    ///
    /// # Errors
    /// As [`HomogenNumericTable::write_csv`].
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

    /// As [`HomogenNumericTable::write_csv_with`], for a table of any kind.
    ///
    /// # Errors
    /// As [`HomogenNumericTable::write_csv_with`].
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
        match_element!(self.element_type(), T => to_file::<T, _>(self, path.as_ref(), &options))
    }

    /// As [`HomogenNumericTable::write_csv_to`], for a table of any kind.
    ///
    /// # Errors
    /// As [`HomogenNumericTable::write_csv_to`].
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
        match_element!(self.element_type(), T => write::<T, _>(self, &mut writer, Path::new("(writer)"), &options))
    }
}

fn to_file<T: Element, N: NumericTable + ?Sized>(table: &N, path: &Path, options: &CsvWriteOptions) -> Result<()> {
    replace(path, &options.save, |mut file| write::<T, N>(table, &mut file, path, options))
}

/// Writes all rows; `name` is what errors call the target.
fn write<T: Element, N: NumericTable + ?Sized>(
    table: &N,
    writer: &mut dyn Write,
    name: &Path,
    options: &CsvWriteOptions,
) -> Result<()> {
    let lines = Lines::<T, N>::new(table, options)?;
    let mut put = |text: &[u8]| writer.write_all(text).map_err(|source| Error::Io { path: name.to_owned(), source });
    put(&lines.header())?;
    let (rows, columns) = (table.row_count(), table.column_count());
    let step = (VALUES / columns.max(1)).max(1);
    let chunks: Vec<Range<usize>> = (0..rows).step_by(step).map(|start| start..rows.min(start + step)).collect();
    // So many at a time that every thread has some; their texts are in memory together.
    let bytes = rows.saturating_mul(columns).saturating_mul(size_of::<T>());
    for wave in chunks.chunks(parallel::task_count(bytes.saturating_mul(WEIGHT)).max(1)) {
        for text in parallel::map(wave.to_vec(), |rows| lines.rows(rows)) {
            put(&text?)?;
        }
    }
    writer.flush().map_err(|source| Error::Io { path: name.to_owned(), source })
}

/// The lines of a table.
struct Lines<'a, T, N: ?Sized> {
    table: &'a N,
    options: &'a CsvWriteOptions,
    /// What is written for the category indices of each column, if names are given for it.
    words: Vec<Option<Vec<Vec<u8>>>>,
    missing: Vec<u8>,
    element: std::marker::PhantomData<T>,
}

impl<'a, T: Element, N: NumericTable + ?Sized> Lines<'a, T, N> {
    fn new(table: &'a N, options: &'a CsvWriteOptions) -> Result<Self> {
        options.check()?;
        let column_count = table.column_count();
        let quote = |text: &str| quoted(text, options.delimiter, column_count == 1);
        let mut words = Vec::new();
        for (column, names) in &options.categories {
            if *column >= column_count {
                return Err(Error::ColumnOutOfRange { column: *column, column_count });
            }
            words.resize(column_count, None);
            words[*column] = Some(names.iter().map(|name| quote(name)).collect());
        }
        Ok(Self { table, options, words, missing: quote(&options.missing), element: std::marker::PhantomData })
    }

    /// The names of the columns, if they are to be written.
    fn header(&self) -> Vec<u8> {
        let dictionary = self.table.dictionary();
        let is_written = self.options.header.unwrap_or_else(|| dictionary.iter().any(|feature| feature.name.is_some()));
        let mut line = Vec::new();
        if is_written && !dictionary.is_empty() {
            for feature in dictionary.iter() {
                let name = feature.name.as_deref().unwrap_or_default();
                line.extend(quoted(name, self.options.delimiter, dictionary.len() == 1));
                line.push(self.options.delimiter);
            }
            line.pop();
            line.push(b'\n');
        }
        line
    }

    fn rows(&self, rows: Range<usize>) -> Result<Vec<u8>> {
        let mut block = BlockDescriptor::<T>::new();
        let (first, columns) = (rows.start, self.table.column_count());
        let values = self.table.read_rows(rows, &mut block)?;
        let mut text = Vec::new();
        let room = values.len() * 8;
        text.try_reserve(room).map_err(|_| Error::OutOfMemory { bytes: room })?;
        for (row, values) in values.chunks_exact(columns.max(1)).enumerate() {
            for (column, &value) in values.iter().enumerate() {
                match self.words.get(column) {
                    _ if value.partial_cmp(&value).is_none() => text.extend_from_slice(&self.missing),
                    Some(Some(words)) => text.extend_from_slice(word_of(words, value, first + row, column)?),
                    _ => push(value, &mut text),
                }
                text.push(self.options.delimiter);
            }
            text.pop();
            text.push(b'\n');
        }
        Ok(text)
    }
}

/// The name of a category.
fn word_of<T: Element>(words: &[Vec<u8>], value: T, row: usize, column: usize) -> Result<&[u8]> {
    let (number, index) = (cast::<T, f64>(value), cast::<T, u64>(value));
    let word = usize::try_from(index).ok().filter(|&index| index as f64 == number).and_then(|index| words.get(index));
    let count = words.len();
    let refused = || bad_option(format!("{value} at row {row}, column {column} is no index of {count} categories"));
    word.map(Vec::as_slice).ok_or_else(refused)
}

/// A text as a field, in quotes if it would be read as something else without. A line of nothing is no row: an only field
/// is not left empty.
fn quoted(text: &str, delimiter: u8, is_only: bool) -> Vec<u8> {
    let bytes = text.as_bytes();
    let is_special = |byte: &u8| *byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let is_mark = text.starts_with('\u{FEFF}'); // at the beginning of a file, it would be no text
    let needs_quotes = bytes.iter().any(is_special) || is_space(bytes.first()) || is_space(bytes.last()) || is_mark;
    if needs_quotes || (is_only && bytes.is_empty()) {
        format!("\"{}\"", text.replace('"', "\"\"")).into_bytes()
    } else {
        bytes.to_vec()
    }
}
