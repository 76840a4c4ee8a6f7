//! Output formats of every table: text, archives, table files, CSV and NumPy files.
//!
//! The implementations are functions of `&dyn NumericTable` in the modules of the formats.

#[cfg(any(feature = "csv", feature = "npy"))]
use std::io::Write;
use std::path::Path;

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::display::TableDisplay;
#[cfg(feature = "csv")]
use crate::interop::csv::CsvWriteOptions;
use crate::storage::options::SaveOptions;
use crate::table::AsTable;
#[cfg(doc)]
use crate::table::{AosNumericTable, HomogenNumericTable};

/// Writes a table of any kind as text, as an archive in memory, or as a file.
///
/// Values are read while they are written; methods that first copy the whole table document it. Methods that write a
/// file replace an old one atomically, unless [`SaveOptions::in_place`] is set: the path holds either the complete old
/// file or the complete new one.
pub trait TableOutput: AsTable {
    /// Returns a [`Display`](std::fmt::Display) of the table with options for the number of rows and the width.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6], [7, 8]])?;
    /// assert_eq!(table.display().max_rows(2).to_string(), "
    /// 4 x 2 i32, row major
    ///        0    1
    /// 0      1    2
    /// ...  ...  ...
    /// 3      7    8
    /// ".trim_matches('\n'));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn display(&self) -> TableDisplay<'_> {
        TableDisplay::of_table(self.as_table())
    }

    /// Serializes the table to an archive in memory: its kind, shape, dictionary and values.
    ///
    /// Copies the values once, or twice if those of a column-major slice must be gathered first. A view of other
    /// tables, or your own kind of table, is first copied into a homogeneous table. If its columns have several types,
    /// it is written as a structure of arrays, copying one column at a time.
    ///
    /// Source: DAAL `serialize(InputDataArchive)`.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`] if there are rows without memory; [`ErrorKind::ColumnNotSet`];
    /// [`ErrorKind::BlockOutstanding`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, f32::INFINITY], [-0.0, 4.0]])?;
    /// let bytes = table.to_bytes()?;
    /// assert!(bytes.len() < 16 + 256);
    /// assert_eq!(HomogenNumericTable::<f32>::from_bytes(&bytes)?, table);
    /// assert_eq!(files::from_bytes(&bytes)?.value::<f64>(1, 1)?, 4.0); // any kind and type
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn to_bytes(&self) -> Result<Vec<u8>> {
        crate::archive::to_bytes(self.as_table())
    }

    /// Saves the table as a file and replaces an existing file at `path`. The file contains the kind, shape, layout,
    /// dictionary, values (for a slice, only its own rows) and checksums. Reads the values once.
    ///
    /// A new file is written beside the old one, flushed to disk, and then renamed, so that `path` holds either the
    /// complete old file or the complete new one. After an error, no other file remains. The new file has the
    /// permissions of the old one. A symbolic link is kept, and its target is replaced. A table that is mapped from
    /// `path` can be saved there, because the mapping keeps the old file alive.
    ///
    /// The file has the table's kind. A view of other tables, or your own kind of table, is saved as a homogeneous
    /// table if its columns have one element type, row-major unless its values are one column-major block of memory.
    /// Otherwise it is saved as a structure of arrays.
    ///
    /// Source: DAAL `serialize` into a file archive, which has no checksums and is not replaced atomically.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::RenameUnsupported`]; [`ErrorKind::NotAllocated`];
    /// [`ErrorKind::ColumnNotSet`]; [`ErrorKind::BlockOutstanding`]; [`ErrorKind::OutOfMemory`]; [`ErrorKind::Format`]
    /// if the names of the columns take more than 16 MiB; [`ErrorKind::ShapeMismatch`], [`ErrorKind::LengthMismatch`],
    /// [`ErrorKind::ElementTypeMismatch`] if the table changed while it was read; [`ErrorKind::DictionaryMismatch`],
    /// [`ErrorKind::SizeOverflow`] if a user-defined table contradicts itself. On error the old file is unchanged, with
    /// one exception: if the final flush of the directory fails, the new file is in place but may not survive a loss of
    /// power.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, f32::INFINITY], [-0.0, 4.0]])?;
    /// table.save(&path)?;
    /// assert_eq!(HomogenNumericTable::load(&path)?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, SaveOptions::new())
    }

    /// Saves the table like [`save`](Self::save), with options.
    ///
    /// # Errors
    /// The errors of [`save`](Self::save).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("scratch.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// table.slice_rows(1..2)?.save_with(&path, SaveOptions::new().durable(false))?; // one row
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.as_slice()?, [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn save_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        crate::format::save(self.as_table(), path.as_ref(), &options)
    }

    /// Writes the table as a CSV file, which atomically replaces an old one, like [`save`](Self::save). Each value is
    /// written with the digits that its element type needs, so reading returns the same bits, except for the payload of
    /// a NaN. A missing value is an empty field, unless
    /// [`CsvWriteOptions::missing`](crate::csv::CsvWriteOptions::missing) sets another text.
    ///
    /// Only the lines record the number of columns: a table without rows becomes an empty file, unless it has a header.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for rows without columns, which cannot be represented, and for a header of more than
    /// 256 MiB, which very many columns need even without names; [`ErrorKind::Io`] with `path`;
    /// [`ErrorKind::RenameUnsupported`]; [`ErrorKind::NotAllocated`]; [`ErrorKind::BlockOutstanding`];
    /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::ShapeMismatch`], [`ErrorKind::ElementTypeMismatch`] if the table
    /// changed while it was read; [`ErrorKind::DictionaryMismatch`], [`ErrorKind::SizeOverflow`] if a user-defined
    /// table contradicts itself.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, csv::CsvSource, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table = HomogenNumericTable::from_rows(&[[0.1_f32, f32::INFINITY], [-0.0, 1e-40]])?;
    /// table.write_csv(&path)?;
    /// assert_eq!(std::fs::read(&path)?, b"0.1,inf\n-0,1e-40\n");
    /// assert_eq!(CsvSource::open(&path)?.load::<f32>()?, table);
    ///
    /// let columns = [("id", AnyArray::from(vec![i64::MAX])), ("share", AnyArray::from(vec![0.1_f32]))];
    /// SoaNumericTable::from_columns(columns)?.write_csv(&path)?;
    /// assert_eq!(std::fs::read(&path)?, b"id,share\n9223372036854775807,0.1\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "csv")]
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    fn write_csv(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_csv_with(path, CsvWriteOptions::new())
    }

    /// Writes the table like [`write_csv`](Self::write_csv), with options.
    ///
    /// # Errors
    /// The errors of [`write_csv`](Self::write_csv); [`ErrorKind::CsvOption`] if an option does not fit the table, or
    /// if a value is not an index of the labels that the dictionary or the options define for its column.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// table.write_csv_with(&path, CsvWriteOptions::new().header(true))?;
    /// assert_eq!(std::fs::read(&path)?, b",\n1,2\n3,4\n"); // the columns have no names
    /// table.write_csv_with(&path, CsvWriteOptions::new().delimiter(b';'))?;
    /// assert_eq!(std::fs::read(&path)?, b"1;2\n3;4\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "csv")]
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    fn write_csv_with(&self, path: impl AsRef<Path>, options: CsvWriteOptions) -> Result<()> {
        crate::interop::csv::write_csv(self.as_table(), path.as_ref(), &options)
    }

    /// Writes the table like [`write_csv_with`](Self::write_csv_with), to any writer. After an error, part of the table
    /// may have been written.
    ///
    /// # Errors
    /// The errors of [`write_csv_with`](Self::write_csv_with), and [`ErrorKind::Io`] of the writer without a path.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{csv::CsvWriteOptions, prelude::*};
    /// let mut text = Vec::new();
    /// HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.write_csv_to(&mut text, CsvWriteOptions::new())?;
    /// assert_eq!(text, b"1,2\n3,4\n");
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "csv")]
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    fn write_csv_to(&self, mut writer: impl Write, options: CsvWriteOptions) -> Result<()> {
        crate::interop::csv::write_csv_to(self.as_table(), &mut writer, &options)
    }

    /// Saves the values of a table whose columns have one element type as a NumPy file, which atomically replaces an
    /// old one, like [`save`](Self::save).
    ///
    /// A column-major table is written in Fortran order, unless it has one row or one column: then both orders are the
    /// same, and NumPy calls it C order. The dictionary is not saved, because the format cannot store it.
    /// [`AosNumericTable`] has a method with the same name that writes structured arrays.
    ///
    /// # Errors
    /// [`ErrorKind::MixedElementTypes`]; [`ErrorKind::UnsupportedElementType`] for `bf16`, which NumPy does not
    /// support; [`ErrorKind::Unsupported`] for a missing value, unless it is a floating-point one and
    /// [`SaveOptions::missing_to_nan`] is set; the errors of [`save`](Self::save).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, f32::INFINITY], [-0.0, 4.0]])?;
    /// table.save_npy(&path)?; // numpy.load("array.npy")
    /// assert_eq!(HomogenNumericTable::load_npy(&path)?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "npy")]
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    fn save_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_npy_with(path, SaveOptions::new())
    }

    /// Saves the values like [`save_npy`](Self::save_npy), with options. The option for checksums has no effect because
    /// the format has none.
    ///
    /// # Errors
    /// The errors of [`save_npy`](Self::save_npy).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// table.slice_rows(1..2)?.save_npy_with(&path, SaveOptions::new().durable(false))?; // one row
    /// assert_eq!(HomogenNumericTable::<u8>::load_npy(&path)?.as_slice()?, [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "npy")]
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    fn save_npy_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        crate::interop::npy::save_npy(self.as_table(), path.as_ref(), &options)
    }

    /// Writes the table to a stream, in the format of [`save_npy`](Self::save_npy). Several tables may be written in
    /// sequence.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] for errors of the stream; otherwise the errors of [`save_npy`](Self::save_npy).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let mut bytes = Vec::new();
    /// table.write_npy(&mut bytes)?;
    /// assert!(bytes.starts_with(b"\x93NUMPY\x01\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }"));
    /// assert_eq!(bytes[128..], [1, 2, 3, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg(feature = "npy")]
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    fn write_npy(&self, mut sink: impl Write) -> Result<()> {
        crate::interop::npy::write_npy(self.as_table(), &mut sink)
    }
}

impl<N: AsTable + ?Sized> TableOutput for N {}
