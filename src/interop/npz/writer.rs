//! Writing files of several arrays.

use std::collections::HashSet;
use std::path::Path;

use super::NpzOptions;
use super::archive::Archive;
use super::source::{Source, refused};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::progress::Meter;
use crate::base::trace::{self, CopyKind};
use crate::storage::output::Output;
use crate::storage::replace::Replacement;
use crate::table::NumericTable;

/// Writes a file of named arrays that `numpy.load` opens, one array after another.
///
/// **The file does not exist until [`finish`](Self::finish) has returned.** A writer that is dropped earlier discards
/// its arrays without an error. An old file stays unchanged. ([In place](crate::files::SaveOptions::in_place), the old
/// file stays unchanged if nothing was added, and is empty otherwise.)
///
/// Names must be ones that NumPy finds: not empty, at most 65,531 bytes, without control characters and backslashes,
/// not ending in `.npy`, and unique. Parts between slashes must not be empty, `.` or `..`, so that unpacking the file
/// never writes outside its folder.
///
/// A writer allocates half a megabyte for values that must be gathered, and the directory of the file. Compression runs
/// on the calling thread. Source: `numpy.savez`, `numpy.savez_compressed`.
///
/// # Examples
/// ```
/// use numeric_table::{SoaNumericTable, npz::{NpzReader, NpzWriter}, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("training.npz");
/// let features = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.5, 4.0], [5.5, 6.0]])?;
/// let labels = SoaNumericTable::from_columns([("species", vec![0_u8, 2, 1])])?;
/// let mut writer = NpzWriter::create(&path)?;
/// writer.add("x", &features)?.add_columns(&labels)?;
/// assert!(!path.exists());
/// writer.finish()?; // numpy.load("training.npz")["species"]
/// let mut reader = NpzReader::open(&path)?;
/// assert!(reader.names().eq(["x", "species"]));
/// assert_eq!(reader.load::<f32>("x")?, features);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the file does not exist before `finish`"]
pub struct NpzWriter {
    new: Replacement,
    archive: Archive,
    names: HashSet<String>,
    is_compressed: bool,
    missing_to_nan: bool,
}

impl NpzWriter {
    /// Creates a compressed file without arrays. Finishing it replaces an old file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::npz::{NpzReader, NpzWriter};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// NpzWriter::create(&path)?.finish()?;
    /// assert!(NpzReader::open(&path)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_with(path, NpzOptions::new())
    }

    /// Creates a file as [`create`](Self::create) does, with options. Progress has no total, because the final size is
    /// unknown.
    ///
    /// # Errors
    /// Those of [`create`](Self::create).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{NpzOptions, NpzReader, NpzWriter}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// let mut writer = NpzWriter::create_with(&path, NpzOptions::new().compressed(false))?; // like `numpy.savez`
    /// writer.add("x", &HomogenNumericTable::from_rows(&[[1_u8, 2]])?)?;
    /// writer.finish()?;
    /// assert_eq!(NpzReader::open(&path)?.load::<u8>("x")?.as_slice()?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn create_with(path: impl AsRef<Path>, options: NpzOptions) -> Result<Self> {
        Self::with_total(path.as_ref(), &options, None)
    }

    fn with_total(path: &Path, options: &NpzOptions, total: Option<u64>) -> Result<Self> {
        Ok(Self {
            new: Replacement::create(path, &options.save)?,
            archive: Archive::new(Meter::start(options.save.hook(), total)),
            names: HashSet::new(),
            is_compressed: options.is_compressed,
            missing_to_nan: options.save.replaces_missing(),
        })
    }

    /// Adds a table of any kind as an array. If all columns have one type, the array has two dimensions, in Fortran
    /// order if the table is column-major, and the names of columns are lost. Otherwise, it is an array of structures,
    /// as [`add_records`](Self::add_records) adds. A sparse table is written with its zeros.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`], also if a value is missing, unless it is a floating-point one and
    /// [`SaveOptions::missing_to_nan`](crate::files::SaveOptions::missing_to_nan) is set;
    /// [`ErrorKind::UnsupportedElementType`] for `bf16`; those of
    /// [`add_records`](Self::add_records) if the types differ; [`ErrorKind::Io`]; [`ErrorKind::LimitExceeded`] if the
    /// names of all arrays take more than 16 MiB; [`ErrorKind::OutOfMemory`]. After an error, nothing is added, and the
    /// writer can still be used.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{NpzReader, NpzWriter}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// let (mut writer, table) = (NpzWriter::create(&path)?, HomogenNumericTable::from_rows(&[[1_u8, 2]])?);
    /// writer.add("weights/0", &table)?;
    /// let error = writer.add("weights/0", &table).map(drop).unwrap_err();
    /// assert!(error.to_string().ends_with("no array can have this name: another array has the same name"));
    /// assert!(writer.add("../weights", &table).is_err());
    /// writer.finish()?;
    /// assert_eq!(NpzReader::open(&path)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn add(&mut self, name: &str, table: &dyn NumericTable) -> Result<&mut Self> {
        self.add_sources(&[Source::of(name, table, self.missing_to_nan)?])
    }

    /// Adds a table of any kind as one array of structures, with a field for each column, as
    /// [`AosNumericTable::save_npy`](crate::AosNumericTable::save_npy) writes them. A column without a name is named
    /// `f` and its index. Records of an [`AosNumericTable`](crate::AosNumericTable) are written unchanged; for other
    /// tables, the fields are aligned as in C.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] as for [`add`](Self::add); [`ErrorKind::RecordLayout`] for a table without columns;
    /// [`ErrorKind::UnsupportedElementType`] for `bf16`; [`ErrorKind::Unsupported`] for a column whose name NumPy
    /// cannot read or another column has; [`ErrorKind::LimitExceeded`] for more than 65,536 columns, or
    /// headers or names that are too long; [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`]. After an error, nothing is
    /// added, and the writer can still be used.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, npz::{NpzReader, NpzWriter}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("flows.npz");
    /// let columns = [("port", AnyArray::from(vec![80_u16, 443])), ("start", AnyArray::from(vec![0.5_f64, 1.5]))];
    /// let mut writer = NpzWriter::create(&path)?;
    /// writer.add_records("flows", &SoaNumericTable::from_columns(columns)?)?;
    /// writer.finish()?; // numpy.load("flows.npz")["flows"]["port"]
    /// let table = NpzReader::open(&path)?.load_any("flows")?;
    /// assert_eq!(table.dictionary().index_of("start"), Some(1));
    /// assert_eq!(table.column::<u16>(0, ..)?[..], [80, 443]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn add_records(&mut self, name: &str, table: &dyn NumericTable) -> Result<&mut Self> {
        self.add_sources(&[Source::records(name, table, self.missing_to_nan)?])
    }

    /// Adds each column of a table of any kind as a one-dimensional array, named after the column. A column without a
    /// name is named `f` and its index. After a column `x` with missing values follows its mask `x.mask`, an array of
    /// truth values that are true for the missing ones: `numpy.ma.array(file["x"], mask=file["x.mask"])`. Missing
    /// values of `x` are written as zeros. [`NpzReader::load_columns`](crate::npz::NpzReader::load_columns) loads the
    /// columns as a table again.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the name of a column is not valid for an array, another array has it, or it is
    /// that of the mask of another column; [`ErrorKind::UnsupportedElementType`] for `bf16`;
    /// [`ErrorKind::LimitExceeded`] for more than 65,536 columns, or names that are too long; [`ErrorKind::Io`];
    /// [`ErrorKind::OutOfMemory`]. After an error, no column is added, and the writer can still be used.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, npz::{NpzReader, NpzWriter}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("flows.npz");
    /// let columns = [("port", AnyArray::from(vec![80_u16, 443])), ("start", AnyArray::from(vec![0.5_f64, 1.5]))];
    /// let mut writer = NpzWriter::create(&path)?;
    /// writer.add_columns(&SoaNumericTable::from_columns(columns)?)?;
    /// writer.finish()?; // numpy.load("flows.npz")["port"]
    /// let table = NpzReader::open(&path)?.load_columns(["start", "port"])?;
    /// assert_eq!(table.column_slice::<u16>(1)?, [80, 443]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn add_columns(&mut self, table: &dyn NumericTable) -> Result<&mut Self> {
        self.add_sources(&Source::columns(table)?)
    }

    /// Writes all arrays, or none.
    fn add_sources(&mut self, sources: &[Source<'_>]) -> Result<&mut Self> {
        check_names(&self.names, sources)?;
        let mark = self.archive.mark();
        let output = Output { sink: &self.new, path: self.new.path() };
        let written = sources.iter().try_for_each(|one| one.write(&mut self.archive, &output, self.is_compressed));
        match written {
            Ok(()) => {
                sources.iter().for_each(|source| trace::record_long(CopyKind::Saved, source.bytes));
                self.names.extend(sources.iter().map(|source| source.name.clone()));
                Ok(self)
            }
            Err(error) => {
                self.archive.go_back(mark);
                Err(error)
            }
        }
    }

    /// Writes the directory and atomically replaces the old file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the path; [`ErrorKind::RenameUnsupported`]. After an error, the old file is unchanged,
    /// unless the options require writing in place.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{NpzReader, NpzWriter}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// let mut writer = NpzWriter::create(&path)?;
    /// writer.add("x", &HomogenNumericTable::from_rows(&[[1_u8, 2]])?)?;
    /// writer.finish()?;
    /// assert!(path.exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn finish(self) -> Result<()> {
        let Self { new, archive, .. } = self;
        let output = Output { sink: &new, path: new.path() };
        let length = archive.finish(&output)?;
        // The rest of an array that was rejected while it was written.
        let cut = new.set_written(length);
        cut.map_err(|source| crate::base::error::Error::io(new.path(), source))?;
        new.commit()
    }
}

/// Checks that no two arrays have the same name.
fn check_names(names: &HashSet<String>, sources: &[Source<'_>]) -> Result<()> {
    let mut new = HashSet::new();
    match sources.iter().find(|source| names.contains(&source.name) || !new.insert(&source.name)) {
        Some(source) => Err(refused(&source.name, "another array has the same name")),
        None => Ok(()),
    }
}

/// Saves tables of any kind as a compressed file of named arrays, as [`NpzWriter::add`] adds them. The file atomically
/// replaces an old one.
///
/// # Errors
/// Those of [`NpzWriter::add`] and [`NpzWriter::finish`]. Errors that do not depend on writing are reported before a
/// new file exists.
///
/// # Examples
/// ```
/// use numeric_table::{npz::{self, NpzReader}, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("training.npz");
/// let x = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.5, 4.0], [5.5, 6.0]])?;
/// let y = HomogenNumericTable::from_rows(&[[0_u8], [2], [1]])?;
/// npz::save(&path, &[("x", &x), ("y", &y)])?; // numpy.load("training.npz")["x"]
/// assert_eq!(NpzReader::open(&path)?.load::<u8>("y")?, y);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
pub fn save(path: impl AsRef<Path>, arrays: &[(&str, &dyn NumericTable)]) -> Result<()> {
    save_with(path, arrays, NpzOptions::new())
}

/// Saves tables as [`save`] does, with options.
///
/// # Errors
/// Those of [`save`].
///
/// # Examples
/// ```
/// use numeric_table::{npz::{self, NpzOptions, NpzReader}, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("arrays.npz");
/// let x = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0]])?;
/// npz::save_with(&path, &[("x", &x)], NpzOptions::new().compressed(false))?;
/// assert_eq!(NpzReader::open(&path)?.load::<f32>("x")?, x);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
pub fn save_with(path: impl AsRef<Path>, arrays: &[(&str, &dyn NumericTable)], options: NpzOptions) -> Result<()> {
    let to_nan = options.save.replaces_missing();
    let sources = arrays.iter().map(|&(name, table)| Source::of(name, table, to_nan)).collect::<Result<Vec<_>>>()?;
    save_sources(path.as_ref(), &sources, &options)
}

pub(super) fn save_sources(path: &Path, sources: &[Source<'_>], options: &NpzOptions) -> Result<()> {
    check_names(&HashSet::new(), sources)?;
    let total = sources.iter().map(|source| source.bytes).fold(0, u64::saturating_add);
    let mut writer = NpzWriter::with_total(path, options, Some(total))?;
    writer.add_sources(sources)?;
    writer.finish()
}
