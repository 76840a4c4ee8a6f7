//! Writing a table that exceeds memory, block by block. Copying rows from another file is in `copy`.

use std::io;
use std::marker::PhantomData;
use std::path::Path;

use super::header;
use super::plan::{write_checksums, write_front};
use super::preamble::Preamble;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::dictionary::{DataDictionary, Feature};
use crate::lines::AnyLines;
use crate::storage::checksum::RunSums;
use crate::storage::options::SaveOptions;
use crate::storage::output::{Output, PayloadWriter};
use crate::storage::position::Sink;
use crate::storage::replace::{Permit, Replacement};
use crate::table::missing::check_none_missing;
use crate::table::{DataLayout, NumericTable};
use crate::window::{AnySlice, AnyWindow};

/// Maximum number of bytes of disk space that are reserved beyond the appended bytes.
const RESERVED_AHEAD: u64 = 64 << 20;

/// Writes a table file block by block, for tables that may be larger than memory.
///
/// **The file does not exist until [`finish`](Self::finish) has returned.** A writer that is dropped before that
/// discards the appended rows without an error; an old file is unchanged. ([In place](SaveOptions::in_place), the old
/// file is unchanged if nothing was appended, and empty otherwise.)
///
/// A writer allocates half a megabyte per thread if values must be converted, and 4 bytes per checksum. The file is
/// row-major: appended rows are contiguous. (In a column-major file, the position of every value depends on the number
/// of rows, which is unknown until the end.)
///
/// Rows come from memory ([`append`](Self::append): slices and blocks), from tables of any kind
/// ([`append_table`](Self::append_table)), and from other files ([`copy_rows`](Self::copy_rows)). Each call appends all
/// of its rows or none. [`FileBlocks`](crate::files::FileBlocks) shows how to transform a file block by block.
///
/// # Examples
/// ```
/// use numeric_table::{files::TableWriter, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("table.ntb");
/// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.5, 4.0], [5.5, 6.0]])?;
/// let mut writer = TableWriter::<f64>::create(&path, 2, None)?;
/// for block in table.row_blocks::<f32>(2)? {
///     writer.append(&block?)?; // converted to f64
/// }
/// assert!(!path.exists());
/// writer.finish()?;
/// assert_eq!(HomogenNumericTable::load(&path)?, table.convert::<f64>()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "there is no file before `finish`"]
pub struct TableWriter<T: Element = f32> {
    pub(super) new: Replacement,
    /// Invariant: describes columns of type `T`.
    dictionary: DataDictionary,
    pub(super) rows: usize,
    /// The preamble of the table without rows: the position of the values, and the chunk size of their checksums.
    start: Preamble,
    /// Number of bytes of disk space reserved.
    reserved: u64,
    /// Checksums of the appended values.
    sums: RunSums,
    meter: Meter,
    element: PhantomData<T>,
}

impl<T: Element> TableWriter<T> {
    /// Creates a file of `columns` columns that a dictionary describes. Without one, they are continuous and have no
    /// names.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::DictionaryMismatch`]; [`ErrorKind::Format`] if the names of the
    /// columns take more than 16 MiB; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let names = DataDictionary::from_features(["a", "b"].map(|name| Feature::new(ElementType::U8).named(name)));
    /// TableWriter::<u8>::create(&path, 2, names.clone())?.finish()?; // no rows
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.dictionary(), &names);
    /// assert!(TableWriter::<u8>::create(&path, 3, names).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(
        path: impl AsRef<Path>,
        columns: usize,
        dictionary: impl Into<Option<DataDictionary>>,
    ) -> Result<Self> {
        Self::create_with(path, columns, dictionary, SaveOptions::new())
    }

    /// Creates a file like [`create`](Self::create), with options.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::{SaveOptions, TableWriter}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let mut writer = TableWriter::<f32>::create_with(&path, 2, None, SaveOptions::new().durable(false))?;
    /// writer.append(&[1.0_f32, 2.0])?;
    /// writer.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_with(
        path: impl AsRef<Path>,
        columns: usize,
        dictionary: impl Into<Option<DataDictionary>>,
        options: SaveOptions,
    ) -> Result<Self> {
        let dictionary = dictionary.into().unwrap_or_else(|| DataDictionary::uniform(Feature::new(T::TYPE), columns));
        dictionary.check(columns, T::TYPE)?;
        let header = header::encode(T::TYPE, DataLayout::RowMajor, Shape { rows: 0, columns }, &dictionary);
        let header = header.map_err(|error| error.in_file(path.as_ref()))?;
        let start = Preamble::new(&header, 0, options.chunk_size())?;
        let sums = RunSums::new(options.chunk_size(), 0, 0)?;
        let new = Replacement::create(path.as_ref(), &options)?;
        Ok(Self {
            new,
            dictionary,
            rows: 0,
            start,
            reserved: 0,
            sums,
            meter: Meter::start(options.hook(), None),
            element: PhantomData,
        })
    }

    /// Returns the number of rows appended so far and the number of columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let mut writer = TableWriter::<u8>::create(&path, 2, None)?;
    /// writer.append(&[1_u8, 2, 3, 4])?;
    /// assert_eq!(writer.shape(), Shape { rows: 2, columns: 2 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape(&self) -> Shape {
        Shape { rows: self.rows, columns: self.dictionary.len() }
    }

    /// Appends rows, given as a row block or any other slice of complete, contiguous rows. Values of another type are
    /// converted under [`ConversionPolicy::Checked`], like blocks that are written back.
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`]; [`ErrorKind::ValueNotRepresentable`] with the row in the file;
    /// [`ErrorKind::SizeOverflow`]; [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`]. On error, nothing is appended, and
    /// the writer can still be used.
    ///
    /// For a table of any kind, use [`append_table`](Self::append_table); for rows of another file,
    /// [`copy_rows`](Self::copy_rows).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let mut writer = TableWriter::<u8>::create(&path, 2, None)?;
    /// writer.append(&[1.0_f32, 2.0])?;
    /// let error = writer.append(&[3.0_f32, 4000.0]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the value 4000 at row 1, column 1 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
    ///      in calls that take a policy"
    /// );
    /// assert!(writer.append(&[5_u8, 6, 7]).is_err()); // a row and a half
    /// writer.finish()?;
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.as_slice()?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        let columns = self.dictionary.len();
        let count = rows.len().checked_div(columns).unwrap_or(0);
        if count * columns != rows.len() {
            return Err(Error::new(ErrorKind::NotWholeRows { values: rows.len(), columns }));
        }
        self.size_with(count)?;
        let lines = AnyWindow::of_rows(AnySlice::new(rows), count, columns);
        if U::TYPE != T::TYPE {
            let origin = Origin { row: self.rows, column: 0 };
            kernel::check(lines, T::TYPE, ConversionPolicy::Checked, origin)?;
        }
        self.append_known(count, &|payload, position| payload.write(&lines, T::TYPE, position))
    }

    /// Appends the rows of a table of any kind and layout, all or nothing. Values of another type are converted under
    /// [`ConversionPolicy::Checked`]. Reads the table once, with half a megabyte for each thread.
    ///
    /// Columns are matched by position; names and meanings come from the dictionary that the file was created with.
    /// Only the labels of categories are compared with those of the table, because other labels would change the
    /// meaning of indices.
    ///
    /// The file is homogeneous, so values cannot be missing: [`save`](crate::TableOutput::save) stores tables with
    /// missing values. Columns that are nullable but have all their values are appended.
    ///
    /// # Errors
    /// [`ErrorKind::MissingValue`] with the row in the table, before anything is written;
    /// [`ErrorKind::UnequalTables`] if labels or units of times differ; [`ErrorKind::ValueNotRepresentable`] with the
    /// row in the file; the errors of reading the table; [`ErrorKind::SizeOverflow`]; [`ErrorKind::Io`];
    /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::ShapeMismatch`] if the table changed while it was read. On error,
    /// nothing is appended, and the writer can still be used. (To guarantee this [in place](SaveOptions::in_place), the
    /// table is read twice before the first row is written.)
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, files::TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let columns = HomogenNumericTable::from_rows(&[[1_i64, 2], [3, 4]])?.to_layout(DataLayout::ColumnMajor)?;
    /// let mixed = SoaNumericTable::from_columns([("a", vec![5.0_f64, 300.0])])?;
    /// let mut writer = TableWriter::<u8>::create(&path, 2, None)?;
    /// writer.append_table(&columns)?;
    /// assert!(matches!(writer.append_table(&mixed).unwrap_err().kind(), ErrorKind::UnequalTables { .. }));
    /// writer.finish()?;
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.as_slice()?, [1, 2, 3, 4]);
    ///
    /// let mut writer = TableWriter::<u8>::create(&path, 1, None)?;
    /// let error = writer.append_table(&mixed).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. }));
    /// assert_eq!(writer.shape().rows, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_table(&mut self, table: &dyn NumericTable) -> Result<()> {
        let lines = AnyLines::by_rows(table)?.with_policy(ConversionPolicy::Checked);
        let Shape { rows, columns } = lines.table_shape();
        self.check_columns(columns, table.dictionary())?;
        self.size_with(rows)?;
        check_none_missing(table, &(0..rows))?;
        let first = self.rows;
        self.append_by(rows, &|payload, position| {
            let runs = payload.write(&lines, T::TYPE, position).map_err(|error| error.with_value_below(first))?;
            lines.check_shape()?;
            Ok(runs)
        })
    }

    /// Checks that rows to append have the same number of columns as the file, and that their dictionary has the same
    /// labels.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`].
    pub(super) fn check_columns(&self, found: usize, dictionary: &DataDictionary) -> Result<()> {
        let expected = self.dictionary.len();
        if expected != found {
            return Err(Error::unequal_columns(1, expected, found));
        }
        self.dictionary.check_follower(1, dictionary)
    }

    /// Returns the number of rows after adding `count` rows, if a table can have that number.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`].
    pub(super) fn size_with(&self, count: usize) -> Result<usize> {
        let shape = self.shape();
        let too_large = || Error::new(ErrorKind::SizeOverflow { shape, element: Some(T::TYPE) });
        let rows = shape.rows.checked_add(count).ok_or_else(too_large)?;
        Shape { rows, ..shape }.element_count_of(T::TYPE)?;
        Ok(rows)
    }

    /// Appends rows, all or nothing. `write` writes them at a position of the values. If appending would discard an old
    /// file that is overwritten in place, `write` is first run without a file.
    pub(super) fn append_by(&mut self, count: usize, write: &WriteRows<'_>) -> Result<()> {
        if self.new.is_waiting() {
            self.write_by(None, write)?;
        }
        self.append_known(count, write)
    }

    /// Like [`append_by`](Self::append_by), for rows that are known to be readable and convertible.
    fn append_known(&mut self, count: usize, write: &WriteRows<'_>) -> Result<()> {
        let rows = self.size_with(count)?;
        let length = count * self.dictionary.len() * size_of::<T>(); // no larger than that of all rows
        self.sums.reserve(length)?;
        let end = self.end() + length as u64;
        if end > self.reserved {
            let ahead = end + end.min(RESERVED_AHEAD);
            let output = Output { sink: &self.new, path: self.new.path() };
            self.reserved = if output.reserve(ahead).is_ok() { ahead } else { end };
        }
        let runs = match self.write_by(Some(&self.new), write) {
            Ok(runs) => runs,
            Err(error) => {
                // On a full disk, bytes already written of these rows must not take the space that the rest of the file
                // needs.
                let _ = self.new.set_written(self.end()); // `finish` reports errors
                self.reserved = 0;
                return Err(error);
            }
        };
        runs.into_iter().for_each(|run| self.sums.extend(run));
        self.rows = rows;
        self.meter.add(length as u64);
        trace::record(CopyKind::Saved, length);
        Ok(())
    }

    fn write_by(&self, new: Option<&Replacement>, write: &WriteRows<'_>) -> Result<Vec<RunSums>> {
        let output = Output { sink: &Draft { new }, path: self.new.path() };
        let (offset, chunk_size) = (self.start.payload_offset, self.start.chunk_size);
        write(&PayloadWriter { output: &output, offset, chunk_size, meter: None }, self.end() - offset)
    }

    /// Returns the position of the end of the rows in the file.
    fn end(&self) -> u64 {
        self.start.payload_offset + (self.rows * self.dictionary.len() * size_of::<T>()) as u64
    }

    /// Completes the file and puts it in place, like [`TableOutput::save`](crate::TableOutput::save).
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; [`ErrorKind::RenameUnsupported`]; [`ErrorKind::OutOfMemory`]. On error, the appended rows are
    /// discarded, and the file at the path is unchanged, unless it is written in place.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let writer = TableWriter::<u8>::create(&path, 2, None)?;
    /// writer.finish()?;
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.shape(), Shape { rows: 0, columns: 2 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(self) -> Result<()> {
        self.finish_known().map(drop)
    }

    /// Completes the file and returns its description, even if another file has replaced it by now.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub(crate) fn finish_known(self) -> Result<Written> {
        let shape = self.shape();
        let header = header::encode(T::TYPE, DataLayout::RowMajor, shape, &self.dictionary);
        let header = header.map_err(|error| error.in_file(self.new.path()))?;
        let payload_length = shape.element_count_of(T::TYPE)? * size_of::<T>();
        let output = Output { sink: &self.new, path: self.new.path() };
        let start = self.start.payload_offset;
        let preamble = Preamble::with_room(&header, start, payload_length as u64, self.start.chunk_size)?;
        // After the rows there may be bytes of a failed append, and reserved space.
        let cut = self.new.set_written(preamble.payload_end());
        cut.map_err(|source| Error::io(self.new.path(), source))?;
        output.reserve(preamble.file_length)?;
        let values_checksum = write_checksums(&output, &preamble, vec![self.sums])?;
        write_front(&output, &preamble, &header)?;
        let Preamble { file_length, header_checksum, .. } = preamble;
        self.new.commit()?;
        Ok(Written { rows: shape.rows, file_length, header_checksum, values_checksum })
    }

    /// Checks a permit before the file at the path is replaced or emptied.
    pub(crate) fn with_permit(self, permit: Permit) -> Self {
        Self { new: self.new.with_permit(permit), ..self }
    }
}

impl<T: Element> TableWriter<T> {
    /// Reserves `bytes` bytes before the values for names and labels of columns, which [`describe`](Self::describe)
    /// adds later. Does nothing once there are rows.
    ///
    /// # Errors
    /// [`ErrorKind::Format`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{dictionary::Categories, files::TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let mut writer = TableWriter::<u8>::create(&path, 1, None)?;
    /// writer.reserve_labels(1 << 10)?;
    /// writer.append(&[0_u8, 1, 0])?;
    /// let color = Feature::new(ElementType::U8).categorical(Categories::from_labels(["red", "blue"])?);
    /// writer.describe([color].into_iter().collect())?; // the labels are known at the end only
    /// writer.finish()?;
    /// assert_eq!(files::load(&path)?.dictionary().feature(0)?.label(1), Some("blue"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve_labels(&mut self, bytes: u64) -> Result<()> {
        if self.rows == 0 {
            let header = header::encode(T::TYPE, DataLayout::RowMajor, self.shape(), &self.dictionary);
            let header = header.map_err(|error| error.in_file(self.new.path()))?;
            let start = self.start.payload_offset.saturating_add(bytes);
            self.start = Preamble::with_room(&header, start, 0, self.start.chunk_size)?;
        }
        Ok(())
    }

    /// Replaces the description of the columns.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`]; [`ErrorKind::Format`] without enough room before the values:
    /// [`reserve_labels`](Self::reserve_labels) makes room. Nothing is changed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let mut writer = TableWriter::<f32>::create(&path, 1, None)?;
    /// writer.describe([Feature::new(ElementType::F32).named("length")].into_iter().collect())?;
    /// writer.finish()?;
    /// assert_eq!(files::load(&path)?.dictionary().index_of("length"), Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe(&mut self, dictionary: DataDictionary) -> Result<()> {
        dictionary.check(self.dictionary.len(), T::TYPE)?;
        let header = header::encode(T::TYPE, DataLayout::RowMajor, self.shape(), &dictionary);
        let header = header.map_err(|error| error.in_file(self.new.path()))?;
        let (needed, start) = (Preamble::new(&header, 0, 0)?.payload_offset, self.start.payload_offset);
        if needed > start {
            let reason = format!("names and labels of columns take {needed} bytes, but there is room for {start}");
            return Err(Error::format(start, reason).in_file(self.new.path()));
        }
        self.dictionary = dictionary;
        Ok(())
    }

    /// Returns the description of the columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let names = DataDictionary::from_features([Feature::new(ElementType::U8).named("count")]);
    /// let writer = TableWriter::<u8>::create(&path, 1, names.clone())?;
    /// assert_eq!(writer.dictionary(), &names);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }
}

/// The description of a file that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) rows: usize,
    pub(crate) file_length: u64,
    pub(crate) header_checksum: u32,
    /// The checksum of the checksums of the values; 0 if it has none.
    pub(crate) values_checksum: u32,
}

/// Writes rows at a position of the values of a file, and returns their checksums.
pub(super) type WriteRows<'a> = dyn Fn(&PayloadWriter<'_, Draft<'_>>, u64) -> Result<Vec<RunSums>> + 'a;

/// The file that rows are written to, or none to test whether they can be read and converted.
pub(super) struct Draft<'a> {
    pub(super) new: Option<&'a Replacement>,
}

impl Sink for Draft<'_> {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.new.map_or(Ok(()), |new| new.write_at(bytes, offset))
    }

    fn reserve(&self, length: u64) -> io::Result<()> {
        self.new.map_or(Ok(()), |new| new.reserve(length))
    }
}
