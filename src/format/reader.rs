//! Reading a table that exceeds memory: the file, its description, whole tables, and ranges of rows. `blocks` reads
//! rows block by block; `gather` finds them in the file.

use std::ops::{Range, RangeBounds};
use std::path::Path;

use super::homogeneous::HomogeneousFile;
use super::kind::FileContent;
use super::load::{load, load_stored};
use super::values::verify;
use crate::array::Array;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::progress::{Hook, Meter, Progress};
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;
use crate::storage::stored::Stored;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, rows_of};
use crate::window::AnySliceMut;

/// Reads rows of a table file in any element type, without loading the rest: the table may be larger than memory.
///
/// Opening reads and checks only the description in the file. [`verify`](Self::verify) and loading the whole table
/// check the checksums of values. Calls that read blocks of rows, which are only parts of chunks, check them on request
/// ([`with_verification`](Self::with_verification)).
///
/// Only files of homogeneous tables can be read by rows, so no value is missing: tables with missing values are saved
/// as structures of arrays, which [`files::load`](crate::files::load) reads.
///
/// In a row-major file, rows are contiguous. In a column-major file, every read gathers a piece of each column, so a
/// few blocks of as many rows as memory permits are best.
///
/// # Examples
/// ```
/// use numeric_table::{files::TableReader, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("table.ntb");
/// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
///
/// let reader = TableReader::open(&path)?;
/// assert_eq!((reader.shape(), reader.element_type()), (Shape { rows: 3, columns: 2 }, ElementType::I16));
/// let mut sums = [0.0; 2];
/// let mut blocks = reader.row_blocks::<f64>(2)?; // as f64, two rows at a time, in one buffer
/// while let Some(block) = blocks.next_block()? {
///     for row in block.iter_rows() {
///         sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
///     }
/// }
/// assert_eq!(sums, [9.0, 12.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableReader {
    pub(super) file: HomogeneousFile,
    dictionary: DataDictionary,
    hook: Hook,
}

impl TableReader {
    /// Opens a file. O(columns), for any number of rows.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::Format`] with the reason and the position;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// std::fs::write(&path, "5.1,3.5,1.4,0.2,setosa\n")?;
    /// assert!(matches!(TableReader::open(&path).unwrap_err().kind(), ErrorKind::Format { offset: 0, .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (file, header) = FileContent::open(path.as_ref())?.homogeneous()?;
        let dictionary = header.dictionary(file.element_type)?;
        Ok(Self::of(file, dictionary))
    }

    /// Sets a progress callback for each of the calls below. It is called at the beginning, after every piece of at
    /// most 4 MiB (in [`row_blocks`](Self::row_blocks) after every block), and at the end. Any thread that does the
    /// work may call it, but only one at a time for each call; progress that other threads make meanwhile is reported
    /// in the next call. The callback may read and save tables itself.
    ///
    /// # Examples
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let reader = TableReader::open(&path)?
    ///     .on_progress(move |progress| seen.store(progress.done, Ordering::Relaxed));
    /// let table = reader.load::<i16>()?;
    /// assert_eq!(done.load(Ordering::Relaxed), 12); // bytes
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook), ..self }
    }

    /// Sets whether [`load_rows`](Self::load_rows), [`row_blocks`](Self::row_blocks), `par_row_blocks`, and
    /// [`TableWriter::copy_rows`](crate::files::TableWriter::copy_rows) from this reader compare values with their
    /// checksums before use. [`load`](Self::load) always does.
    ///
    /// Each checksum covers a chunk of 1 MiB of values, unless [another size](crate::files::SaveOptions::checksums) was
    /// chosen. When a value of a chunk is first needed, the entire chunk is read and compared, once for each reader,
    /// before any of its values are returned.
    ///
    /// Cost: the checksums, and reading entire chunks where only some values are needed. Values are read in pieces, and
    /// a piece that begins inside a chunk reads some bytes again, from the system's cache. Each chunk takes one bit of
    /// memory. Scattered rows cost a chunk each; in a column-major file, one for each column.
    /// [Measurements][many-files].
    ///
    /// [many-files]: crate::guide::many_files#what-is-compared-when
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the file has values without checksums; [`ErrorKind::OutOfMemory`]. Reading damaged
    /// values afterwards is [`ErrorKind::Format`] with the chunk.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::{SaveOptions, TableReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// table.save_with(&path, SaveOptions::new().checksums(Some(4)))?; // one for each row
    /// let mut bytes = std::fs::read(&path)?;
    /// bytes[4096 + 4] ^= 1; // in row 1
    /// std::fs::write(&path, bytes)?;
    /// assert_eq!(TableReader::open(&path)?.load_rows::<f32>(..)?.as_slice()?[2], 2.0); // not 3
    /// let reader = TableReader::open(&path)?.with_verification(true)?;
    /// assert!(reader.load_rows::<f32>(..).unwrap_err().to_string().contains("chunk 1 (of 3)"));
    /// assert_eq!(reader.load_rows::<f32>(2..)?.as_slice()?, [5.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_verification(mut self, is_wanted: bool) -> Result<Self> {
        self.file.parts.compare_values(is_wanted)?;
        Ok(self)
    }

    /// Returns the numbers of rows and columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.shape(), Shape { rows: 2, columns: 3 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape(&self) -> Shape {
        self.file.shape
    }

    /// Returns the element type of the values in the file.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.element_type(), ElementType::I16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn element_type(&self) -> ElementType {
        self.file.element_type
    }

    /// Returns the order of the values in the file.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.to_layout(DataLayout::ColumnMajor)?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.data_layout(), DataLayout::ColumnMajor);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn data_layout(&self) -> DataLayout {
        self.file.layout
    }

    /// Borrows the description of the columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.dictionary().len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    /// Reads all values and verifies their checksums. Returns whether the file has checksums of values.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first damaged chunk; [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::{SaveOptions, TableReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?;
    /// table.save(&path)?;
    /// assert!(TableReader::open(&path)?.verify()?);
    /// table.save_with(&path, SaveOptions::new().checksums(None))?;
    /// assert!(!TableReader::open(&path)?.verify()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self) -> Result<bool> {
        let meter = self.whole_meter();
        verify(&self.file.parts, Some(&meter))
    }

    /// Loads the whole table like [`HomogenNumericTable::load`].
    ///
    /// # Errors
    /// The errors of [`HomogenNumericTable::load`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// let reader = TableReader::open(&path)?;
    /// assert_eq!(reader.load::<i16>()?.shape(), reader.shape());
    /// assert!(reader.load::<f32>().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        self.file.check_type(T::TYPE)?;
        self.load_cast()
    }

    /// Loads the whole table, converted to `T`, like [`HomogenNumericTable::load_cast`].
    ///
    /// # Errors
    /// The errors of [`HomogenNumericTable::load_cast`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.load_cast::<f32>()?.as_slice()?[5], 6.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_cast<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        load(&self.file, |element_type| self.dictionary_of(element_type), Some(&self.whole_meter()))
    }

    /// Loads the whole table in the element type of the file, like [`files::load`](crate::files::load).
    ///
    /// # Errors
    /// The errors of [`files::load`](crate::files::load).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.load_any()?.uniform_type(), Some(ElementType::I16));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_any(&self) -> Result<Box<dyn NumericTable>> {
        load_stored(&self.file, |_| Ok(self.dictionary.clone()), Some(&self.whole_meter()))
    }

    /// Reads consecutive rows into a new row-major table of `U`. If the file holds another type, values are converted
    /// under [`ConversionPolicy::Saturate`](crate::ConversionPolicy::Saturate).
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; [`ErrorKind::SizeOverflow`]; [`ErrorKind::OutOfMemory`]; [`ErrorKind::Io`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6], [7, 8, 9]])?.save(&path)?;
    /// let rows = TableReader::open(&path)?.load_rows::<f32>(1..3)?;
    /// assert_eq!(rows.as_slice()?, [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_rows<U: Element>(&self, rows: impl RangeBounds<usize>) -> Result<HomogenNumericTable<U>> {
        let rows = self.checked_rows(rows)?;
        let shape = Shape { rows: rows.len(), ..self.file.shape };
        let mut array = Array::<U>::zeros(shape.element_count_of(U::TYPE)?)?;
        let meter = Meter::start(&self.hook, self.file.size_of_rows(rows.len()));
        let (target, mut stored) = (AnySliceMut::new(array.mutable_data()?), Stored::new(self.file.element_type));
        self.read_into(rows, target, &mut stored, Some(&meter))?;
        let dictionary = self.dictionary_of(U::TYPE)?;
        HomogenNumericTable::internal(array, shape, DataLayout::RowMajor).with_dictionary(dictionary)
    }

    /// Returns the dictionary for columns of `element_type`.
    fn dictionary_of(&self, element_type: ElementType) -> Result<DataDictionary> {
        match element_type == self.file.element_type {
            true => Ok(self.dictionary.clone()),
            false => self.dictionary.with_element_type(element_type),
        }
    }

    /// Creates a reader of an open file with its dictionary.
    pub(super) fn of(file: HomogeneousFile, dictionary: DataDictionary) -> Self {
        Self { file, dictionary, hook: Hook::default() }
    }

    /// Resolves a range of rows.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`].
    pub(super) fn checked_rows(&self, rows: impl RangeBounds<usize>) -> Result<Range<usize>> {
        let (row_count, rows) = (self.file.shape.rows, rows_of(self.file.shape, rows)?);
        match rows.start > rows.end || rows.end > row_count {
            true => Err(Error::new(ErrorKind::RowsOutOfRange { rows, row_count })),
            false => Ok(rows),
        }
    }

    /// Starts the progress of a call that reads all values.
    pub(crate) fn whole_meter(&self) -> Meter {
        Meter::start(&self.hook, self.file.parts.payload_length())
    }
}
