//! Options for writing CSV files.

use std::sync::Arc;

use super::CsvOptions;
use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::storage::options::SaveOptions;

/// Options for writing a table as CSV.
///
/// # Examples
/// ```
/// use numeric_table::{csv::CsvWriteOptions, prelude::*};
/// let table = HomogenNumericTable::from_rows(&[[1.5_f64, 0.0], [f64::NAN, 1.0]])?;
/// let mut text = Vec::new();
/// let options = CsvWriteOptions::new().delimiter(b';').nan("none").categories(1, ["red", "light;blue"]);
/// table.write_csv_to(&mut text, options)?;
/// assert_eq!(text, b"1.5;red\nnone;\"light;blue\"\n");
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct CsvWriteOptions {
    pub(super) delimiter: u8,
    pub(super) decimal: char,
    pub(super) header: Option<bool>,
    pub(super) missing: String,
    pub(super) nan: String,
    pub(super) categories: Vec<(usize, Arc<[String]>)>,
    pub(super) writes_words: bool,
    pub(super) writes_times: bool,
    pub(super) save: SaveOptions,
}

impl CsvWriteOptions {
    /// Creates the default options: comma-separated fields; a header if any column has a name; the labels of categories
    /// and the dates of times where the dictionary has them; empty fields for missing values; the text `NaN` for NaN;
    /// durable files.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// let mut text = Vec::new();
    /// HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.write_csv_to(&mut text, CsvWriteOptions::new())?;
    /// assert_eq!(text, b"1,2\n3,4\n");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self {
            delimiter: b',',
            decimal: '.',
            header: None,
            missing: String::new(),
            nan: "NaN".to_owned(),
            categories: Vec::new(),
            writes_words: true,
            writes_times: true,
            save: SaveOptions::new(),
        }
    }

    /// Sets the character that separates fields: an ASCII character that does not occur in numbers and is not the quote
    /// `"`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// let mut text = Vec::new();
    /// let options = CsvWriteOptions::new().delimiter(b'\t');
    /// HomogenNumericTable::from_rows(&[[1, 2]])?.write_csv_to(&mut text, options)?;
    /// assert_eq!(text, b"1\t2\n");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn delimiter(self, delimiter: u8) -> Self {
        Self { delimiter, ..self }
    }

    /// Sets the decimal separator: `'.'`, the default, or `','`. If it is also the delimiter, numbers with decimals are
    /// written in quotes.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// let (table, mut text) = (HomogenNumericTable::from_rows(&[[1.5, 2.0]])?, Vec::new());
    /// table.write_csv_to(&mut text, CsvWriteOptions::new().delimiter(b';').decimal(','))?;
    /// table.write_csv_to(&mut text, CsvWriteOptions::new().decimal(','))?;
    /// assert_eq!(text, b"1,5;2\n\"1,5\",2\n");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn decimal(self, decimal: char) -> Self {
        Self { decimal, ..self }
    }

    /// Sets whether the first line holds the names of the columns. Its fields are empty for columns without a name.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// let mut text = Vec::new();
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2]])?;
    /// let features = [Feature::new(ElementType::I32), Feature::new(ElementType::I32).named("b")];
    /// table.set_dictionary(features.into_iter().collect())?;
    /// table.write_csv_to(&mut text, CsvWriteOptions::new())?;
    /// table.write_csv_to(&mut text, CsvWriteOptions::new().header(false))?;
    /// assert_eq!(text, b",b\n1,2\n1,2\n");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn header(self, is_written: bool) -> Self {
        Self { header: Some(is_written), ..self }
    }

    /// Sets the text that is written for missing values in all columns, and for NaN in columns of words and of times,
    /// which have no word and no time for it. By default, the field is empty. The default options for reading take an
    /// empty field and `NA` for a missing value; for other texts, set
    /// [`CsvOptions::missing_texts`](super::CsvOptions::missing_texts). A text that is a number, or `NaN`, cannot be
    /// distinguished from that value.
    ///
    /// The text is not quoted in columns of words and times, where a quoted text would be a word. `NA` replaces the
    /// empty text in two cases: in a table of one column, where an empty line is not a row, and under a header if the
    /// last column has no name, where the field would be taken for the end of a line with a trailing delimiter.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, csv::{CsvSource, CsvWriteOptions}, prelude::*};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("count", [Some((1_i64 << 53) + 1), None])?;
    /// table.push_optional("share", [None, Some(f64::NAN)])?;
    /// let [mut empty, mut dashes] = [Vec::new(), Vec::new()];
    /// table.write_csv_to(&mut empty, CsvWriteOptions::new())?;
    /// table.write_csv_to(&mut dashes, CsvWriteOptions::new().missing("-"))?;
    /// assert_eq!(empty, b"count,share\n9007199254740993,\n,NaN\n");
    /// assert_eq!(dashes, b"count,share\n9007199254740993,-\n-,NaN\n");
    /// let table = CsvSource::from_bytes(empty)?.load_typed()?;
    /// assert_eq!((table.column_type(0)?, table.missing_count(0)?, table.missing_count(1)?), (ElementType::I64, 1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn missing(self, text: impl Into<String>) -> Self {
        Self { missing: text.into(), ..self }
    }

    /// Sets the text that is written for NaN in columns of numbers. By default, it is `NaN`, which is read as NaN under
    /// any options for reading. In other columns, NaN is written as a [missing](Self::missing) value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// let mut text = Vec::new();
    /// let table = HomogenNumericTable::from_rows(&[[1.0, f64::NAN]])?;
    /// table.write_csv_to(&mut text, CsvWriteOptions::new().nan(""))?;
    /// assert_eq!(text, b"1,\n"); // read as a missing value
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan(self, text: impl Into<String>) -> Self {
        Self { nan: text.into(), ..self }
    }

    /// Sets whether the labels of categories are written instead of their indices, where the dictionary has them; on by
    /// default. The empty label and `NA` are written in quotes, so that they are read as labels. A column whose labels
    /// are numbers is read back as a column of numbers, unless its [kind](super::CsvOptions::kind) is set.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{csv::{CsvSource, CsvWriteOptions}, prelude::*};
    /// let table = CsvSource::from_bytes(&b"size,colour\n1,red\n2,blue\n"[..])?.load::<f32>()?;
    /// let (mut labels, mut indices) = (Vec::new(), Vec::new());
    /// table.write_csv_to(&mut labels, CsvWriteOptions::new())?;
    /// table.write_csv_to(&mut indices, CsvWriteOptions::new().labels(false))?;
    /// assert_eq!(labels, b"size,colour\n1,red\n2,blue\n");
    /// assert_eq!(indices, b"size,colour\n1,0\n2,1\n");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn labels(self, are_written: bool) -> Self {
        Self { writes_words: are_written, ..self }
    }

    /// Sets whether columns of [times](crate::FeatureType::Time) are written as dates and times of ISO 8601, in UTC,
    /// instead of as numbers; on by default. [`CsvColumnKind::Time`](super::CsvColumnKind::Time) reads them back.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, csv::CsvWriteOptions, dictionary::TimeUnit, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("day", AnyArray::from(vec![19_782_i32]))])?;
    /// let day = Feature::new(ElementType::I32).named("day").time(TimeUnit::Days);
    /// table.set_dictionary([day].into_iter().collect())?;
    /// let (mut dates, mut numbers) = (Vec::new(), Vec::new());
    /// table.write_csv_to(&mut dates, CsvWriteOptions::new())?;
    /// table.write_csv_to(&mut numbers, CsvWriteOptions::new().times(false))?;
    /// assert_eq!(dates, b"day\n2024-02-29\n");
    /// assert_eq!(numbers, b"day\n19782\n");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn times(self, are_written: bool) -> Self {
        Self { writes_times: are_written, ..self }
    }

    /// Sets labels for a column of the table. They are written instead of the indices and of the labels of the
    /// dictionary.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{csv::{CsvSource, CsvWriteOptions}, prelude::*};
    /// let table = CsvSource::from_bytes(&b"size,colour\n1,red\n2,blue\n"[..])?.load::<f32>()?;
    /// let mut text = Vec::new();
    /// table.write_csv_to(&mut text, CsvWriteOptions::new().categories(1, ["rouge", "bleu"]))?;
    /// assert_eq!(text, b"size,colour\n1,rouge\n2,bleu\n");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn categories<S: AsRef<str>>(mut self, column: usize, names: impl IntoIterator<Item = S>) -> Self {
        self.categories.push((column, names.into_iter().map(|name| name.as_ref().to_owned()).collect()));
        self
    }

    /// Sets whether writing a file waits until it is on disk: see [`SaveOptions::durable`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("scratch.csv");
    /// HomogenNumericTable::from_rows(&[[1, 2]])?.write_csv_with(&path, CsvWriteOptions::new().durable(false))?;
    /// assert_eq!(std::fs::read(&path)?, b"1,2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn durable(self, is_durable: bool) -> Self {
        Self { save: self.save.durable(is_durable), ..self }
    }

    /// Sets whether an old file is overwritten instead of replaced: see [`SaveOptions::in_place`].
    ///
    /// A failure before the first byte is written leaves the old file unchanged. A value that is not an index of its
    /// [`categories`](Self::categories) may be found after earlier lines have been written. The file is then left
    /// empty.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("scratch.csv");
    /// HomogenNumericTable::from_rows(&[[1, 2]])?.write_csv_with(&path, CsvWriteOptions::new().in_place(true))?;
    /// assert_eq!(std::fs::read(&path)?, b"1,2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_place(self, is_in_place: bool) -> Self {
        Self { save: self.save.in_place(is_in_place), ..self }
    }

    /// Sets a callback for the progress of writing. It is called on the writing thread: at the beginning, every few
    /// thousand rows, and at the end. It receives the number of bytes of values written and the total, in the types of
    /// the table's columns. If it panics, no file is created and an older one stays unchanged, unless it is written [in
    /// place](Self::in_place).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let options = CsvWriteOptions::new().on_progress(|progress| eprint!("\r{} bytes of values", progress.done));
    /// let path = folder.path().join("table.csv");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.write_csv_with(&path, options)?;
    /// assert_eq!(std::fs::read(&path)?, b"1,2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { save: self.save.on_progress(hook), ..self }
    }

    /// Checks that the delimiter and the decimal separator are valid.
    pub(super) fn check(&self) -> Result<()> {
        let options = CsvOptions::new().delimiter(self.delimiter);
        let may_be_quoted = self.decimal == ',' && self.delimiter == b',';
        (if may_be_quoted { options } else { options.decimal(self.decimal) }).syntax().map(drop)
    }
}

impl Default for CsvWriteOptions {
    fn default() -> Self {
        Self::new()
    }
}
