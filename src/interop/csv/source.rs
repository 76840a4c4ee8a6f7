//! CSV files as sources of tables.

use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

use super::blocks::CsvBlocks;
use super::column_blocks::CsvColumnBlocks;
use super::describe::settle;
use super::description::CsvDescription;
use super::failure::Failure;
use super::first::{Beginning, look_at_first};
use super::input::Input;
use super::roles::Roles;
use super::survey::Survey;
use super::syntax::Syntax;
use super::{CsvOptions, PIECE_BYTES, load, summary, typed};
use crate::array::Array;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::progress::{Hook, Meter, Progress};
use crate::dictionary::DataDictionary;
use crate::table::soa::SoaNumericTable;
use crate::table::{HomogenNumericTable, NumericTable};

/// A CSV file, or CSV text in memory, as a source of tables. A file larger than memory can be read block by block.
///
/// Loading is parallel, in the caller's rayon pool, and allocates the memory of the table plus less than a megabyte per
/// thread. Longer records, the description of the columns, and the categories take additional memory, and
/// [`CsvOptions`] limits all three. Results, including errors, do not depend on the number of threads or the size of
/// blocks.
///
/// Source: DAAL's `FileDataSource<CSVFeatureManager>`, which reads bad numbers as 0.
///
/// # Examples
/// ```
/// use numeric_table::{csv::CsvSource, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("flowers.csv");
/// std::fs::write(&path, "length,width,species\n5.1,3.5,setosa\n7.0,3.2,versicolor\n4.9,3.0,setosa\n")?;
///
/// let source = CsvSource::open(&path)?;
/// let table = source.load::<f32>()?;
/// assert_eq!(table.as_slice()?, [5.1, 3.5, 0.0, 7.0, 3.2, 1.0, 4.9, 3.0, 0.0]);
/// assert_eq!(table.dictionary().feature(1)?.name.as_deref(), Some("width"));
/// assert_eq!(table.category_count(2)?, Some(2));
/// assert_eq!(source.categories(2)?, Some(&["setosa".to_owned(), "versicolor".to_owned()][..]));
///
/// std::fs::write(&path, "length,width\n5.1,3.5\n7.0,3.2\n4.9,oops\n")?;
/// let options = numeric_table::csv::CsvOptions::new().kind(.., numeric_table::csv::CsvColumnKind::Continuous);
/// let error = CsvSource::open_with(&path, options)?.load::<f32>().unwrap_err();
/// assert_eq!(error.to_string(), format!("{}: line 4, column 1 (width): \"oops\" is not a number", path.display()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CsvSource {
    pub(super) input: Input,
    pub(super) options: CsvOptions,
    pub(super) syntax: Syntax,
    /// Position of the first row.
    pub(super) start: u64,
    /// The column kinds that the options and the first records determine, or a guess from them.
    guess: Roles,
    /// Findings from the whole file.
    settled: OnceLock<Roles>,
    /// For each kept column, the end of the range of table columns that it becomes.
    ends: OnceLock<Vec<usize>>,
    survey: OnceLock<Survey>,
    hook: Hook,
    /// Number of bytes that are processed at a time.
    pub(super) step: usize,
}

impl CsvSource {
    /// Opens a file and reads its first records. A pipe or a device, which cannot be read twice, is read into memory to
    /// its end. So is a file whose size the system reports as 0, like those of `/proc`.
    /// [`CsvOptions::max_buffered_bytes`] limits the size.
    ///
    /// A file that begins like gzip or zstd is decompressed into memory by one thread, if the feature `csv-compressed`
    /// is enabled; its name does not matter. [`CsvOptions::max_decompressed_bytes`] and
    /// [`CsvOptions::max_decompression_ratio`] limit the size.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`, also for damaged compressed data; [`ErrorKind::Text`] if the header is invalid,
    /// or if the file is compressed and the feature is disabled; [`ErrorKind::CsvOption`] if too many bytes would be
    /// kept in memory; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("numbers.csv");
    /// std::fs::write(&path, "1,2\n3,4\n")?;
    /// assert_eq!(CsvSource::open(&path)?.load::<i16>()?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, CsvOptions::new())
    }

    /// Opens a file as [`open`](Self::open) does, with options.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); [`ErrorKind::CsvOption`] if an option contradicts another one or the file.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvOptions, CsvSource}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("numbers.csv");
    /// std::fs::write(&path, "1;2\n3;4\n")?;
    /// let source = CsvSource::open_with(&path, CsvOptions::new().delimiter(b';'))?;
    /// assert_eq!(source.load::<i16>()?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_with(path: impl AsRef<Path>, options: CsvOptions) -> Result<Self> {
        Self::new(Input::open(path.as_ref(), options.memory)?, options, PIECE_BYTES)
    }

    /// Creates a source of text in memory, without copying it: a `Vec<u8>`, an `Arc<[u8]>`, a static slice, or any
    /// other owner of bytes, through [`Array::from_owner`]. Decompresses compressed text, as [`open`](Self::open) does.
    ///
    /// # Errors
    /// Those of [`open`](Self::open). [`ErrorKind::Io`] occurs for damaged compressed data only, with `(bytes)` as its
    /// path.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// assert_eq!(CsvSource::from_bytes(&b"1,2\n3,4\n"[..])?.load::<i16>()?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_bytes(bytes: impl Into<Array<u8>>) -> Result<Self> {
        Self::from_bytes_with(bytes, CsvOptions::new())
    }

    /// Creates a source as [`from_bytes`](Self::from_bytes) does, with options.
    ///
    /// # Errors
    /// Those of [`open_with`](Self::open_with) and [`from_bytes`](Self::from_bytes).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvHeader, CsvOptions, CsvSource}, prelude::*};
    /// let text = String::from("2023,2024\n3,4\n");
    /// let source = CsvSource::from_bytes_with(text.into_bytes(), CsvOptions::new().header(CsvHeader::Yes))?;
    /// assert_eq!(source.load::<i16>()?.as_slice()?, [3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_bytes_with(bytes: impl Into<Array<u8>>, options: CsvOptions) -> Result<Self> {
        Self::new(Input::memory(bytes, options.memory)?, options, PIECE_BYTES)
    }

    /// Reads a reader to its end into memory, and decompresses the bytes as [`open`](Self::open) does. For a file,
    /// prefer [`open`](Self::open), with which an uncompressed file need not fit into memory.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`ErrorKind::Io`] of the reader without a path.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let source = CsvSource::from_reader(std::io::Cursor::new("1,2\n3,4\n"))?;
    /// assert_eq!(source.load::<i16>()?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_reader(reader: impl Read) -> Result<Self> {
        Self::from_reader_with(reader, CsvOptions::new())
    }

    /// Reads a reader as [`from_reader`](Self::from_reader) does, with options.
    ///
    /// # Errors
    /// Those of [`open_with`](Self::open_with), and [`ErrorKind::Io`] of the reader without a path.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvOptions, CsvSource}, prelude::*};
    /// let source = CsvSource::from_reader_with(&b"1 2\n3 4\n"[..], CsvOptions::new().delimiter(b' '))?;
    /// assert_eq!(source.load::<i16>()?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_reader_with(reader: impl Read, options: CsvOptions) -> Result<Self> {
        Self::new(Input::from_reader(reader, options.memory)?, options, PIECE_BYTES)
    }

    /// Sets a callback for the progress of [`load`](Self::load), [`load_typed`](Self::load_typed) and
    /// [`row_blocks`](Self::row_blocks), in bytes of the file whose values have been read. It is called at the
    /// beginning and then every few hundred kilobytes, on any of the threads that do the work, by one thread at a time.
    /// Preliminary scans of the file are not counted. If the kinds or types of columns turn out to differ from the
    /// guess based on the first records, progress restarts at 0.
    ///
    /// # Examples
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use numeric_table::{csv::CsvSource, prelude::*};
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let source = CsvSource::from_bytes(&b"1,2\n3,4\n"[..])?
    ///     .on_progress(move |progress| seen.store(progress.done, Ordering::Relaxed));
    /// source.load::<i16>()?;
    /// assert_eq!(done.load(Ordering::Relaxed), 8); // bytes
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook), ..self }
    }

    /// Loads the whole file into a row-major table of `T`, in parallel.
    ///
    /// A file of numbers is read twice: once to count rows, and once for its values. If there are words, it is read
    /// once more in between, to collect the categories and to check that they do not include numbers.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] with the first field that is invalid in its column, or the first row with too few or too
    /// many fields; [`ErrorKind::CsvOption`] if `T` cannot represent a value that replaces missing ones;
    /// [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`]; [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let source = CsvSource::from_bytes(&b"1.5,2\n3,4\n"[..])?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.5, 2.0, 3.0, 4.0]);
    /// let error = source.load::<u8>().unwrap_err();
    /// assert_eq!(error.to_string(), "line 1, column 0: \"1.5\" is not representable as u8");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        load::load(self)
    }

    /// Loads the whole file into a table of the element type of the [options](CsvOptions::element_type), `f64` by
    /// default.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let table = CsvSource::from_bytes(&b"1.5,2\n3,4\n"[..])?.load_any()?;
    /// assert_eq!((table.uniform_type(), table.shape()), (Some(ElementType::F64), Shape { rows: 2, columns: 2 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn load_any(&self) -> Result<Box<dyn NumericTable>> {
        match_element!(self.options.element_type, T => Ok(self.load::<T>()?.into_dyn()))
    }

    /// Loads the whole file into columns, each of the element type that suits its fields, in parallel.
    ///
    /// | fields that are not missing | element type |
    /// | --- | --- |
    /// | numbers written as integers: digits and an optional sign, but not `-0` | `i64`; `u64` if only that holds them all |
    /// | other numbers, at least one; or no fields | `f64` |
    /// | words: the indices of their categories | the smallest of `u8`, `u16`, `u32`, `u64` |
    /// | words of [one-hot](crate::csv::CsvColumnKind::OneHot) columns | `u8` |
    /// | numbers returned by a [function](crate::csv::CsvColumnKind::custom) | `f64` |
    ///
    /// Missing values stay [missing](crate::MissingValues), and do not influence the type: a column is nullable in the
    /// dictionary if it has any. [`CsvOptions::missing`] can ask for something else. A column whose missing values
    /// become [NaN](crate::csv::CsvMissing::Nan) is `f64`; a [value](crate::csv::CsvMissing::Value) that replaces them
    /// counts as a field. A column of integers is also `f64` if neither `i64` nor `u64` holds them all. No integer is
    /// rounded silently: in a column that must be `f64`, a number that is written as an integer and that `f64` cannot
    /// represent is an error. [`CsvOptions::column_type`] sets the type of a column instead. All fields count, not only
    /// the first ones, but skipped rows do not.
    ///
    /// The file is read as by [`load`](Self::load), with types guessed from the first records. Columns whose guess
    /// turns out to be wrong are read once more. If the first records show which columns are categorical, their
    /// categories are collected in the same pass. Each column is allocated once, or twice if it is read again or has
    /// words, with one value per row.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] with the first field that is invalid in its column, or that its column's type cannot
    /// represent, or the first row with too few or too many fields; [`ErrorKind::CsvOption`] if a type set by the
    /// options cannot represent a value that replaces missing ones; [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`];
    /// [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let text = b"id,size,colour,count\n9007199254740993,1.5,red,\n-7,2,blue,9007199254740993\n";
    /// let table = CsvSource::from_bytes(&text[..])?.load_typed()?;
    /// assert_eq!(table.column_slice::<i64>(0)?, [9_007_199_254_740_993, -7]); // no f64 holds the first
    /// assert_eq!(table.column_slice::<f64>(1)?, [1.5, 2.0]);
    /// assert_eq!(table.column_slice::<u8>(2)?, [0, 1]);
    /// assert_eq!(table.category_count(2)?, Some(2));
    /// assert!(table.is_missing(0, "count")?);
    /// assert_eq!(table.column::<i64>(3, 1..)?[..], [9_007_199_254_740_993]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn load_typed(&self) -> Result<SoaNumericTable> {
        typed::load(self)
    }

    /// Iterates over all rows in blocks of `rows_per_block`, in one buffer that is reused for every block. The last
    /// block may be shorter. The values equal those of [`load`](Self::load).
    ///
    /// The file is read block by block. It is scanned first, in parallel, if categories must be collected or if neither
    /// the options nor numbers in the first rows determine the kinds of all columns.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `rows_per_block` is 0; [`ErrorKind::CsvOption`]; [`ErrorKind::Io`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let source = CsvSource::from_bytes(&b"1,2\n3,4\n5,6\n"[..])?;
    /// let mut blocks = source.row_blocks::<f32>(2)?;
    /// assert_eq!(blocks.next_block()?.unwrap()[..], [1.0, 2.0, 3.0, 4.0]);
    /// assert_eq!(blocks.next_block()?.unwrap().row_range(), 2..3);
    /// assert!(blocks.next_block()?.is_none());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn row_blocks<T: Element>(&self, rows_per_block: usize) -> Result<CsvBlocks<'_, T>> {
        CsvBlocks::new(self, self.roles()?, rows_per_block)
    }

    /// Returns a reader of some rows at a time, each column in the type that suits all its values, as
    /// [`load_typed`](Self::load_typed) does: also for files larger than memory. A block has the rows of about
    /// `bytes_per_block` bytes of the file, or of a piece of 512 KiB if that is more. It is parsed in parallel. All
    /// blocks have the same dictionary.
    ///
    /// The file is read twice: once for the types, as by [`describe`](Self::describe). The values and words of a block
    /// are in memory, and the words of all blocks.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `bytes_per_block` is 0; those of [`describe`](Self::describe).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let source = CsvSource::from_bytes(&b"count,size\n1,0.5\n3,\n"[..])?;
    /// let block = source.column_blocks(16 << 20)?.next_block()?.unwrap(); // the file is small
    /// assert_eq!((block.column_type(0)?, block.column_type(1)?), (ElementType::I64, ElementType::F64));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn column_blocks(&self, bytes_per_block: usize) -> Result<CsvColumnBlocks<'_>> {
        CsvColumnBlocks::new(self, bytes_per_block)
    }

    /// Returns the dictionary of the tables that this source loads as `element_type`. Scans the file, unless the
    /// options or an earlier call determine the kinds of all columns.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let dictionary = CsvSource::from_bytes(&b"size,colour\n1,red\n2,blue\n"[..])?.dictionary(ElementType::F32)?;
    /// assert_eq!(dictionary.index_of("colour"), Some(1));
    /// assert_eq!(dictionary.feature(1)?.feature_type, FeatureType::Categorical);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn dictionary(&self, element_type: ElementType) -> Result<DataDictionary> {
        self.roles()?.dictionary(&|_| (element_type, false))
    }

    /// Returns the names of the categories of a column of the table, in the order of their indices. For a column of a
    /// one-hot encoding, returns the categories of all columns of the encoding; for a column of numbers, `None`. The
    /// dictionary of a loaded table has the same names as labels ([`Feature::categories`](crate::Feature)), except for
    /// one-hot columns, whose names contain them.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`]; those of [`dictionary`](Self::dictionary).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let source = CsvSource::from_bytes(&b"size,colour\n1,red\n2,blue\n"[..])?;
    /// assert_eq!(source.categories(1)?, Some(&["red".to_owned(), "blue".to_owned()][..]));
    /// assert_eq!(source.categories(0)?, None);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn categories(&self, column: usize) -> Result<Option<&[String]>> {
        let roles = self.roles()?;
        let ends = self.ends.get_or_init(|| roles.ends());
        match roles.kept.get(ends.partition_point(|&end| end <= column)) {
            Some(&kept) => Ok(roles.columns[kept].categories.as_ref().map(|categories| &categories.names[..])),
            None => Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count: roles.width() })),
        }
    }

    /// Describes the decisions for each column of the file, and the reasons: its kind, the element type in tables of
    /// [`load_typed`](Self::load_typed), the number of missing values and whether they stay missing, the range of the
    /// others, and the categories. The description prints as a table.
    ///
    /// Reads the file as [`load_typed`](Self::load_typed) does, in parallel, but creates no table. It takes memory for
    /// the categories and a few strings per column. Cost: O(bytes of the file), about as much as loading it.
    ///
    /// # Errors
    /// Those of [`load_typed`](Self::load_typed).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvMissing, CsvOptions, CsvSource}, prelude::*};
    /// let text = b"city,founded,area\nOslo,1040,454\nQuito,1534,NA\nPerth,1829,6417.9\n";
    /// let options = CsvOptions::new().missing(CsvMissing::Nan);
    /// let description = CsvSource::from_bytes_with(&text[..], options)?.describe()?;
    /// assert_eq!(description.columns[1].element_type, Some(ElementType::I64));
    /// assert_eq!(description.to_string(), "\
    /// 3 rows, 3 columns
    ///    name     kind         type  gaps  values                 decided by
    /// 0  city     Categorical  u8       0  3: Oslo, Quito, Perth  only words
    /// 1  founded  Continuous   i64      0  1040 to 1829           \"1040\" on line 2; only integers
    /// 2  area     Continuous   f64      1  454 to 6417.9          \"454\" on line 2; \"NA\" on line 3 is missing
    /// ");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn describe(&self) -> Result<CsvDescription> {
        summary::describe(self)
    }

    /// Returns the names of all columns of the file, in file order, including excluded columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvOptions, CsvSource}, prelude::*};
    /// let source = CsvSource::from_bytes_with(&b"id,,size\n1,2,3\n"[..], CsvOptions::new().exclude_columns("id"))?;
    /// assert!(source.names().eq([Some("id"), None, Some("size")]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn names(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.guess.columns.iter().map(|column| column.name.as_deref())
    }

    /// Returns the same source with pieces of `bytes` bytes, which must not affect results.
    #[cfg(fuzzing)]
    #[doc(hidden)]
    pub fn cut_after(self, bytes: usize) -> Result<Self> {
        Self::new(self.input, self.options, bytes.max(1))
    }

    /// Creates a source and examines the first records.
    pub(super) fn new(input: Input, options: CsvOptions, step: usize) -> Result<Self> {
        let found = look_at_first(&input, &options, step).map_err(|error| input.name_in(error))?;
        let Beginning { syntax, start, guess, survey } = found;
        let (settled, ends, hook) = (OnceLock::new(), OnceLock::new(), Hook::default());
        let survey = survey.map_or_else(OnceLock::new, OnceLock::from);
        Ok(Self { input, options, syntax, start, guess, settled, ends, survey, hook, step })
    }

    /// Returns the findings so far: from the whole file if it has been scanned, otherwise from its first records.
    pub(super) fn guess(&self) -> &Roles {
        self.settled.get().unwrap_or(&self.guess)
    }

    /// Returns the findings from the whole file. Scans it if needed.
    pub(super) fn roles(&self) -> Result<&Roles> {
        if self.guess().are_settled() {
            return Ok(self.guess());
        }
        let settled = settle(&self.syntax, &self.input, self.survey()?, self.guess.clone())?;
        let settled = settled.map_err(|failure| self.error(failure))?;
        Ok(self.settled.get_or_init(|| settled))
    }

    /// Records that all open columns have turned out to be numbers.
    pub(super) fn settle_as_numbers(&self) {
        self.settled.get_or_init(|| self.guess.clone().into_numbers());
    }

    /// Records findings from the whole file.
    pub(super) fn settle_as(&self, roles: Roles) {
        self.settled.get_or_init(|| roles);
    }

    /// Returns the positions where the file can be divided. Scans it on the first call.
    pub(super) fn survey(&self) -> Result<&Survey> {
        if let Some(survey) = self.survey.get() {
            return Ok(survey);
        }
        let survey = Survey::new(&self.syntax, &self.input, self.start, self.step)?;
        Ok(self.survey.get_or_init(|| survey))
    }

    /// Returns the number of rows, including skipped ones, if they have been counted.
    pub(super) fn counted_rows(&self) -> Option<usize> {
        self.survey.get().map(Survey::rows)
    }

    /// Returns the number of bytes from the first row to the end of the file.
    pub(super) fn length(&self) -> u64 {
        self.input.len() - self.start
    }

    pub(super) fn meter(&self) -> Meter {
        Meter::start(&self.hook, self.length())
    }

    /// Converts a failure to an error with its line number.
    pub(super) fn error(&self, failure: Failure) -> Error {
        let column = failure.column.and_then(|column| self.guess().columns.get(column));
        failure.into_error(&self.input, column)
    }
}
