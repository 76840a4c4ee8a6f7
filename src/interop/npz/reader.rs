//! Reading files of several arrays.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use super::NpzOptions;
use super::failure::{failed, within};
use super::names::ENDING;
use super::zip::{Entry, Member, Zip};
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::near::near;
use crate::base::shape::Shape;
use crate::base::text::excerpt;
use crate::dictionary::{DataDictionary, Feature};
use crate::interop::npy::header::{AnyHeader, NpyHeader};
use crate::interop::npy::records::read_records;
use crate::interop::npy::values::read_stream;
use crate::storage::open::open_regular;
use crate::table::{AosNumericTable, DataLayout, HomogenNumericTable, NumericTable};

/// Reads named arrays from a file written by `numpy.savez`, `numpy.savez_compressed` or [`NpzWriter`]. Opens the file,
/// lists its arrays, and loads the ones that the caller requests.
///
/// Members whose names end in `.npy` are arrays; others are skipped. An array may be of any kind that
/// [`npy::load`](crate::npy::load) loads. The reader holds the directory of the file, never an array. Compressed bytes
/// are decompressed while they are read, on the calling thread, and each array's checksum is verified.
///
/// Safe with untrusted files. Two arrays with the same name, arrays that share bytes, sizes that the file cannot have,
/// encrypted members, and compression methods other than NumPy's are rejected. A failed load allocates at most twice
/// the number of bytes that it has read, plus 1 MiB. For a compressed array, that may be 2,000 times the size of the
/// file, unless [`NpzOptions::max_bytes`] sets a lower limit.
///
/// [`NpzWriter`]: crate::npz::NpzWriter
///
/// # Examples
/// ```
/// use numeric_table::{npz::{self, NpzReader}, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("training.npz");
/// let x = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.5, 4.0], [5.5, 6.0]])?;
/// npz::save(&path, &[("x", &x), ("labels", &HomogenNumericTable::from_rows(&[[0_u8], [2], [1]])?)])?;
///
/// let mut file = NpzReader::open(&path)?; // or a file written by numpy.savez("training.npz", x=x, labels=labels)
/// assert!(file.names().eq(["x", "labels"]));
/// assert_eq!(file.describe("x")?.shape, Shape { rows: 3, columns: 2 });
/// assert_eq!(file.load::<f32>("x")?, x);
/// let error = file.load::<u8>("lables").unwrap_err();
/// assert!(error.to_string().ends_with(r#"no array has the name "lables"; similar names: "labels""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NpzReader<R = File> {
    zip: Zip<R>,
    /// The names of the arrays, and the indices of their members.
    arrays: Vec<(String, usize)>,
    /// The index of each name in `arrays`.
    pub(super) places: HashMap<String, usize>,
    pub(super) max_bytes: u64,
    /// The path of the file, for errors.
    pub(super) path: Option<PathBuf>,
}

/// The description of an array in a file, as [`NpzReader::describe`] finds it without reading values.
///
/// # Examples
/// ```
/// use numeric_table::{npz::{self, NpzReader}, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("arrays.npz");
/// npz::save(&path, &[("x", &HomogenNumericTable::full(Shape { rows: 1000, columns: 3 }, 1.5_f64)?)])?;
/// let x = NpzReader::open(&path)?.describe("x")?;
/// assert_eq!((x.shape.to_string().as_str(), x.dictionary.uniform_type()), ("1000 x 3", Some(ElementType::F64)));
/// assert!(x.size > 24_000 && x.compressed_size < 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NpzArray {
    /// The name.
    pub name: String,
    /// The shape of the table that it becomes: a one-dimensional array becomes one column.
    pub shape: Shape,
    /// The types of the columns, and their names if it is an array of structures.
    pub dictionary: DataDictionary,
    /// The order of the values: column-major if it is in Fortran order.
    pub layout: DataLayout,
    /// Whether it is an array of structures.
    pub is_structured: bool,
    /// The number of bytes of the decompressed array and its header.
    pub size: u64,
    /// The number of bytes that the array and its header take in the file.
    pub compressed_size: u64,
}

impl NpzReader {
    /// Opens a file and reads its directory.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::Format`] with the reason and the position;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[("x", &HomogenNumericTable::from_rows(&[[1_u8, 2]])?)])?;
    /// assert_eq!(NpzReader::open(&path)?.load::<u8>("x")?.as_slice()?, [1, 2]);
    /// std::fs::write(&path, "x")?;
    /// assert!(matches!(NpzReader::open(&path).unwrap_err().kind(), ErrorKind::Format { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, NpzOptions::new())
    }

    /// Opens a file as [`open`](Self::open) does, with options.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{self, NpzOptions, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[("x", &HomogenNumericTable::full(Shape { rows: 1000, columns: 3 }, 1.5_f64)?)])?;
    /// let mut file = NpzReader::open_with(&path, NpzOptions::new().max_bytes(1000))?;
    /// assert!(file.load::<f64>("x").unwrap_err().to_string().contains("NpzOptions::max_bytes"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn open_with(path: impl AsRef<Path>, options: NpzOptions) -> Result<Self> {
        let path = path.as_ref();
        let (file, _) = open_regular(path).map_err(|source| Error::io(path, source))?;
        Self::of(file, &options, Some(path.to_owned()))
    }
}

impl<R: Read + Seek> NpzReader<R> {
    /// Reads the directory of a file from bytes in memory ([`Cursor`](std::io::Cursor)) or any seekable reader.
    ///
    /// # Errors
    /// Those of [`open`](NpzReader::open), with [`ErrorKind::Io`] for errors of the reader.
    ///
    /// # Examples
    /// ```
    /// use std::io::Cursor;
    /// use numeric_table::{npz::{self, NpzOptions, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[("x", &HomogenNumericTable::from_rows(&[[1_u8, 2]])?)])?;
    /// let mut reader = NpzReader::new(Cursor::new(std::fs::read(&path)?), NpzOptions::new())?;
    /// assert_eq!(reader.load::<u8>("x")?.as_slice()?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn new(reader: R, options: NpzOptions) -> Result<Self> {
        Self::of(reader, &options, None)
    }

    fn of(reader: R, options: &NpzOptions, path: Option<PathBuf>) -> Result<Self> {
        let found = Zip::open(reader, failed).and_then(|zip| {
            let (mut arrays, mut places) = (Vec::new(), HashMap::new());
            for (index, entry) in zip.entries().iter().enumerate() {
                let member = entry.name()?;
                let Some(name) = member.strip_suffix(ENDING) else { continue };
                if places.insert(name.to_owned(), arrays.len()).is_some() {
                    let reason = format!("two arrays have the name {:?}", excerpt(name.as_bytes()));
                    return Err(Error::format(0, reason));
                }
                arrays.push((name.to_owned(), index));
            }
            Ok((zip, arrays, places))
        });
        match found {
            Ok((zip, arrays, places)) => Ok(Self { zip, arrays, places, max_bytes: options.max_bytes, path }),
            Err(error) => Err(placed(error, path.as_deref())),
        }
    }

    /// Returns the names of the arrays, in the order of the file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("columns.npz");
    /// npz::save_columns(&path, &SoaNumericTable::from_columns([("z", vec![1_i16, 2]), ("a", vec![3, 4])])?)?;
    /// assert!(NpzReader::open(&path)?.names().eq(["z", "a"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.arrays.iter().map(|(name, _)| &**name)
    }

    /// Returns the number of arrays.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[("x", &HomogenNumericTable::from_rows(&[[1_u8, 2]])?)])?;
    /// assert_eq!(NpzReader::open(&path)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn len(&self) -> usize {
        self.arrays.len()
    }

    /// Returns whether the file has no arrays.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::npz::{self, NpzReader};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[])?;
    /// assert!(NpzReader::open(&path)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// Returns the shape, types and sizes of an array. Reads its header, but not its values.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`]; [`ErrorKind::Format`] if a table cannot hold the array, or its header is damaged;
    /// [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[("x", &HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?)])?;
    /// let mut file = NpzReader::open(&path)?;
    /// let x = file.describe("x")?;
    /// assert_eq!((x.shape, x.layout, x.is_structured), (Shape { rows: 2, columns: 3 }, DataLayout::RowMajor, false));
    /// assert!(matches!(file.describe("y").unwrap_err().kind(), ErrorKind::UnknownName { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn describe(&mut self, name: &str) -> Result<NpzArray> {
        let mut left = u64::MAX; // no values are read
        let (header, Entry { size, compressed, .. }) =
            self.with_array(name, &mut left, |array| Ok((array.header, array.entry)))?;
        let (shape, dictionary, layout, is_structured) = match header {
            AnyHeader::Numbers(NpyHeader { element_type, shape, layout, .. }) => {
                (shape, DataDictionary::uniform(Feature::new(element_type), shape.columns), layout, false)
            }
            AnyHeader::Records(header) => {
                let layout = header.layout()?;
                let shape = Shape { rows: header.rows, columns: layout.len() };
                (shape, layout.dictionary()?, DataLayout::RowMajor, true)
            }
        };
        let name = name.to_owned();
        Ok(NpzArray { name, shape, dictionary, layout, is_structured, size, compressed_size: compressed })
    }

    /// Loads an array of numbers, which must be `T`, into memory allocated by the library. Fortran order becomes
    /// column-major; a one-dimensional array becomes one column. If the file has an array `x.mask` of truth values of
    /// the same shape, values of `x` whose mask is true are missing: they become NaN.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`]; [`ErrorKind::ElementTypeMismatch`]; [`ErrorKind::MissingValue`] if a value is
    /// missing and `T` has no NaN; [`ErrorKind::Format`] with the reason and the position, also for data that a table
    /// cannot hold, or if the array is larger than the options allow; [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[("x", &HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?)])?;
    /// let mut file = NpzReader::open(&path)?;
    /// assert_eq!(file.load::<i16>("x")?.as_slice()?, [1, 2, 3, 4, 5, 6]);
    /// assert!(matches!(file.load::<f32>("x").unwrap_err().kind(), ErrorKind::ElementTypeMismatch { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn load<T: Element>(&mut self, name: &str) -> Result<HomogenNumericTable<T>> {
        let mut left = self.max_bytes;
        let mut table = self.with_array(name, &mut left, |array| {
            array.numbers()?.check_type(T::TYPE, Some("load_cast"))?;
            array.read()
        })?;
        self.apply_mask(name, &mut table, &mut left)?;
        Ok(table)
    }

    /// Loads an array of numbers of any type. Converts it as [`convert`](HomogenNumericTable::convert) does. If it has
    /// another type, the whole array is in memory in that type until it is converted.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), except that any element type is accepted; [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[("x", &HomogenNumericTable::from_rows(&[[1.9_f64, -7.0, 300.0]])?)])?;
    /// assert_eq!(NpzReader::open(&path)?.load_cast::<u8>("x")?.as_slice()?, [1, 0, 255]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn load_cast<T: Element>(&mut self, name: &str) -> Result<HomogenNumericTable<T>> {
        let mut left = self.max_bytes;
        let mut table = self.with_array(name, &mut left, |array| match array.numbers()?.element_type {
            element if element == T::TYPE => array.read(),
            element => match_element!(element, S => array.read::<S>()?.convert()),
        })?;
        self.apply_mask(name, &mut table, &mut left)?;
        Ok(table)
    }

    /// Loads an array of any type, in that type: a homogeneous table, or an [`AosNumericTable`](crate::AosNumericTable)
    /// for an array of structures.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), except that any element type and structures are accepted;
    /// [`ErrorKind::Unsupported`] if an array of structures has a mask.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// npz::save(&path, &[("x", &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?)])?;
    /// assert_eq!(NpzReader::open(&path)?.load_any("x")?.uniform_type(), Some(ElementType::I16));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn load_any(&mut self, name: &str) -> Result<Box<dyn NumericTable>> {
        let mut left = self.max_bytes;
        let mut table: Box<dyn NumericTable> = self.with_array(name, &mut left, |array| match &array.header {
            AnyHeader::Records(header) => Ok(Box::new(read_records(header, array.member, array.known)?) as _),
            AnyHeader::Numbers(header) => {
                match_element!(header.element_type, T => Ok(array.read::<T>()?.into_dyn()))
            }
        })?;
        if table.downcast_ref::<AosNumericTable>().is_some() {
            self.check_unmasked(name, &mut left)?;
        } else if let Some(element) = table.uniform_type() {
            match_element!(element, T => if let Some(table) = table.downcast_mut::<HomogenNumericTable<T>>() {
                self.apply_mask(name, table, &mut left)?;
            });
        }
        Ok(table)
    }

    /// Opens an array. Reads its header and compares it with the size of the member. If `read` reads the member to its
    /// end, compares the bytes with its checksum. `left` is the number of bytes that may be read.
    pub(super) fn with_array<V>(
        &mut self,
        name: &str,
        left: &mut u64,
        read: impl FnOnce(OpenArray<'_, '_, R>) -> Result<V>,
    ) -> Result<V> {
        self.with_member(name, left, |member, entry| {
            let header = AnyHeader::read(member, &failed)?;
            match &header {
                AnyHeader::Numbers(header) => header.check_file_length(entry.size)?,
                AnyHeader::Records(header) => header.check_file_length(entry.size)?,
            }
            let known = usize::try_from(entry.compressed).unwrap_or(usize::MAX);
            read(OpenArray { header, entry, member, known })
        })
    }

    /// Opens the member of an array, as [`with_array`](Self::with_array) does.
    pub(super) fn with_member<V>(
        &mut self,
        name: &str,
        left: &mut u64,
        read: impl FnOnce(&mut Member<'_, R>, Entry) -> Result<V>,
    ) -> Result<V> {
        let path = self.path.as_deref();
        let Some(&place) = self.places.get(name) else {
            let names = self.arrays.iter().map(|(name, _)| &**name);
            let (name, near, path) = (excerpt(name.as_bytes()), near(name, names), self.path.clone());
            return Err(Error::new(ErrorKind::UnknownName { what: "array", name, near }).in_some_file(path));
        };
        let entry = self.zip.entries()[self.arrays[place].1].clone();
        let named = |error| placed(within(error, name), path);
        *left = left.checked_sub(entry.size).ok_or_else(|| {
            let size = entry.size;
            let reason = format!("{size} bytes are more than are allowed: `NpzOptions::max_bytes` sets the limit");
            named(Error::format(0, reason))
        })?;
        let mut member = self.zip.member(&entry).map_err(|error| placed(error, path))?; // names the member itself
        let found = (|| {
            let value = read(&mut member, entry)?;
            if member.is_read() {
                member.finish()?;
            }
            Ok(value)
        })();
        found.map_err(named)
    }
}

/// An array whose header has been read.
pub(super) struct OpenArray<'m, 'z, R> {
    pub(super) header: AnyHeader,
    entry: Entry,
    member: &'m mut Member<'z, R>,
    /// The number of bytes known to be available.
    known: usize,
}

impl<R: Read> OpenArray<'_, '_, R> {
    /// Returns the header of an array of numbers.
    pub(super) fn numbers(&self) -> Result<NpyHeader> {
        match &self.header {
            AnyHeader::Numbers(header) => Ok(*header),
            AnyHeader::Records(_) => {
                let reason = "a structured array has values of several types in one row: `load_any` reads it";
                Err(Error::format(0, reason))
            }
        }
    }

    /// Reads the values, which must have this type.
    pub(super) fn read<T: Element>(self) -> Result<HomogenNumericTable<T>> {
        read_stream(&self.numbers()?, self.member, self.known)
    }
}

/// Adds the path of the file to an error.
pub(super) fn placed(error: Error, path: Option<&Path>) -> Error {
    error.in_some_file(path)
}
