//! Writing a table that is larger than memory, block by block.

use std::marker::PhantomData;
use std::path::Path;

use super::header;
use super::plan::{write_checksums, write_front};
use super::preamble::Preamble;
use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::dictionary::{DataDictionary, Feature};
use crate::files::checksum::RunSums;
use crate::files::options::SaveOptions;
use crate::files::output::{Output, PayloadWriter};
use crate::files::progress::Meter;
use crate::files::replace::Replacement;
use crate::table::{DataLayout, TableView};
use crate::window::{AnyWindow, Window};

/// Disk space is reserved for at most this many bytes more than have been appended.
const RESERVED_AHEAD: u64 = 64 << 20;

/// Writes a table file block by block, for tables that may be larger than memory.
///
/// **There is no file until [`finish`](Self::finish) has returned.** A writer that is dropped before that discards what
/// was appended, without an error; the old file stays, if there was one. ([In place](SaveOptions::in_place), the old
/// file stays if nothing was appended, and is empty otherwise.)
///
/// A writer allocates half a megabyte per thread, if values have to be converted, and 4 bytes per checksum. The file is
/// row-major: appended rows are contiguous. (In a column-major file, the position of every value depends on the number
/// of rows, which is not known until the end.)
///
/// # Examples
/// ```
/// use numeric_table::{TableWriter, prelude::*};
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
    new: Replacement,
    /// Invariant: describes columns of type `T`.
    dictionary: DataDictionary,
    rows: usize,
    /// The preamble of the table without rows: the position of the values, and the chunk size of their checksums.
    start: Preamble,
    /// Number of bytes of disk space reserved.
    reserved: u64,
    /// Checksums of what has been appended.
    sums: RunSums,
    meter: Meter,
    element: PhantomData<T>,
}

impl<T: Element> TableWriter<T> {
    /// Creates a file of `columns` columns, described by a dictionary; without one, they are continuous and have no
    /// names.
    ///
    /// # Errors
    /// [`Error::Io`] with `path`; [`Error::DictionaryMismatch`]; [`Error::Format`] if the names of the columns take
    /// more than 16 MiB; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{TableWriter, prelude::*};
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

    /// Creates a file as [`create`](Self::create) does, with options.
    ///
    /// # Errors
    /// Those of [`create`](Self::create).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SaveOptions, TableWriter, prelude::*};
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

    /// Returns the number of rows appended so far, and the number of columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableWriter, prelude::*};
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

    /// Appends rows: a row block, or any other slice of contiguous whole rows. Values of another type are converted
    /// under [`ConversionPolicy::Checked`], like blocks that are written back.
    ///
    /// # Errors
    /// [`Error::NotWholeRows`]; [`Error::ValueNotRepresentable`] with the row in the file; [`Error::SizeOverflow`];
    /// [`Error::Io`]; [`Error::OutOfMemory`]. Nothing is appended then, and the writer can still be used.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let mut writer = TableWriter::<u8>::create(&path, 2, None)?;
    /// writer.append(&[1.0_f32, 2.0])?;
    /// let error = writer.append(&[3.0_f32, 4000.0]).unwrap_err();
    /// assert_eq!(error.to_string(), "the value 4000 at row 1, column 1 is not representable as u8");
    /// assert!(writer.append(&[5_u8, 6, 7]).is_err()); // a row and a half
    /// writer.finish()?;
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.as_slice()?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        let columns = self.dictionary.len();
        let count = rows.len().checked_div(columns).unwrap_or(0);
        if count * columns != rows.len() {
            return Err(Error::NotWholeRows { values: rows.len(), columns });
        }
        let too_large = Error::SizeOverflow { shape: self.shape(), element: Some(T::TYPE) };
        let Some(all) = self.rows.checked_add(count) else { return Err(too_large) };
        Shape { rows: all, columns }.element_count_of(T::TYPE)?;
        if U::TYPE != T::TYPE {
            let values = Window::column(rows);
            kernel::check(AnyWindow::new(values), T::TYPE, ConversionPolicy::Checked, Origin::default())
                .map_err(|error| in_file(error, self.rows, columns))?;
        }
        self.sums.reserve(rows.len() * size_of::<T>())?;
        let lines = TableView::<U>::new(rows, Shape { rows: count, columns }, DataLayout::RowMajor)?;
        let position = (self.rows * columns * size_of::<T>()) as u64;
        let output = Output { sink: &self.new, path: self.new.path() };
        let end = self.start.payload_offset + position + (rows.len() * size_of::<T>()) as u64;
        if end > self.reserved {
            let ahead = end + end.min(RESERVED_AHEAD);
            self.reserved = if output.reserve(ahead).is_ok() { ahead } else { end };
        }
        let (offset, chunk_size) = (self.start.payload_offset, self.start.chunk_size);
        let payload = PayloadWriter { output: &output, offset, chunk_size, meter: None };
        let runs = match payload.write::<T>(&lines, position) {
            Ok(runs) => runs,
            Err(error) => {
                // On a full disk, what was written of these rows must not take the space that the rest of the file
                // needs.
                let _ = self.new.set_written(self.start.payload_offset + position); // `finish` reports errors
                self.reserved = 0;
                return Err(error);
            }
        };
        runs.into_iter().for_each(|run| self.sums.extend(run));
        self.rows = all;
        self.meter.add((rows.len() * size_of::<T>()) as u64);
        Ok(())
    }

    /// Completes the file and puts it in place, as [`HomogenNumericTable::save`](crate::HomogenNumericTable::save)
    /// does.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::RenameUnsupported`]; [`Error::OutOfMemory`]. The file at the path is then unchanged,
    /// unless it is written in place, and what was appended is discarded.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let writer = TableWriter::<u8>::create(&path, 2, None)?;
    /// writer.finish()?;
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.shape(), Shape { rows: 0, columns: 2 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(self) -> Result<()> {
        let shape = self.shape();
        let header = header::encode(T::TYPE, DataLayout::RowMajor, shape, &self.dictionary);
        let header = header.map_err(|error| error.in_file(self.new.path()))?;
        let payload_length = shape.element_count_of(T::TYPE)? * size_of::<T>();
        let output = Output { sink: &self.new, path: self.new.path() };
        let preamble = Preamble::new(&header, payload_length as u64, self.start.chunk_size)?;
        // Past the rows there may be bytes of an append that failed or panicked, and there is space that was reserved.
        let cut = self.new.set_written(preamble.payload_end());
        cut.map_err(|source| Error::Io { path: self.new.path().to_owned(), source })?;
        output.reserve(preamble.file_length)?;
        write_checksums(&output, &preamble, vec![self.sums])?;
        write_front(&output, &preamble, &header)?;
        self.new.commit()
    }
}

/// Converts the index of a refused value to its row and column in the file.
fn in_file(error: Error, rows: usize, columns: usize) -> Error {
    match error {
        Error::ValueNotRepresentable { row: index, value, target, .. } => {
            Error::ValueNotRepresentable { row: rows + index / columns, column: index % columns, value, target }
        }
        other => other,
    }
}
