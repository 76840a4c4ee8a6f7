//! Tables from `.npy` files, streams and bytes.

use std::io::Read;
use std::path::Path;

use super::header::{AnyHeader, NpyHeader};
use super::records::read_records;
use super::values::{AnyFile, NpyFile, load, read_stream};
use crate::array::Array;
use crate::base::copy::CopyPolicy;
use crate::base::element::{Element, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::table::{HomogenNumericTable, NumericTable};

impl<T: Element> HomogenNumericTable<T> {
    /// Loads a table from a NumPy file, which must hold `T`, into memory allocated by the library. Fortran order
    /// becomes column-major; a one-dimensional array becomes one column.
    ///
    /// Safe with untrusted files: a failed load allocates at most twice the file's actual size, plus 1 MiB. The format
    /// has no checksums, so damaged values are not detected.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::Format`] with the reason and the position, also for data that a
    /// table cannot hold; [`ErrorKind::ElementTypeMismatch`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save_npy(&path)?;
    /// assert_eq!(HomogenNumericTable::<i16>::load_npy(&path)?.as_slice()?, [1, 2, 3, 4]);
    /// let error = HomogenNumericTable::<f32>::load_npy(&path).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ElementTypeMismatch { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn load_npy(path: impl AsRef<Path>) -> Result<Self> {
        let file = NpyFile::open(path.as_ref())?;
        file.check_type(T::TYPE)?;
        file.load()
    }

    /// Loads a table from a NumPy file of any element type. Converts it as [`convert`](Self::convert) does, piece by
    /// piece while it is read.
    ///
    /// # Errors
    /// Those of [`load_npy`](Self::load_npy), except that any element type is accepted; [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// HomogenNumericTable::from_rows(&[[1.9_f64, -7.0], [300.0, 4.0]])?.save_npy(&path)?;
    /// assert_eq!(HomogenNumericTable::<u8>::load_npy_cast(&path)?.as_slice()?, [1, 0, 255, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn load_npy_cast(path: impl AsRef<Path>) -> Result<Self> {
        NpyFile::open(path.as_ref())?.load()
    }

    /// Reads one array from a stream, and no bytes after its end. To read a file that several calls of `numpy.save`
    /// have written, call this once per array. For a file with a path, [`load_npy`](Self::load_npy) is faster.
    ///
    /// # Errors
    /// Those of [`load_npy`](Self::load_npy), with [`ErrorKind::Io`] for errors of the stream. A stream that ends too
    /// early is [`ErrorKind::Format`]; by then, at most twice the number of bytes read, plus 1 MiB, has been allocated.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let (mut bytes, one) = (Vec::new(), HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?);
    /// one.write_npy(&mut bytes)?;
    /// one.slice_rows(1..2)?.write_npy(&mut bytes)?;
    /// let mut stream = &bytes[..];
    /// assert_eq!(HomogenNumericTable::<i16>::read_npy(&mut stream)?, one);
    /// assert_eq!(HomogenNumericTable::<i16>::read_npy(&mut stream)?.as_slice()?, [3, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn read_npy(mut source: impl Read) -> Result<Self> {
        let header = NpyHeader::read(&mut source, &in_stream)?;
        header.check_type(T::TYPE, None)?;
        read_stream(&header, &mut source, 0)
    }

    /// Creates a table from the bytes of a NumPy file in memory. Does not copy the values if they are aligned for `T`
    /// and in native byte order. The table's [`data_memory_status`](NumericTable::data_memory_status) is
    /// `UserAllocated` if the memory is shared, `InternallyAllocated` if it is a copy.
    ///
    /// # Errors
    /// Those of [`load_npy`](Self::load_npy); [`ErrorKind::CopyRequired`] under [`CopyPolicy::Never`]. Bytes after the
    /// array are an error.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{interop::CopyPolicy, prelude::*};
    /// let mut bytes = Vec::new();
    /// HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?.write_npy(&mut bytes)?;
    /// let table = HomogenNumericTable::<u8>::from_npy(bytes, CopyPolicy::Never)?; // the memory of the `Vec`
    /// assert_eq!((table.as_slice()?, table.data_memory_status()), (&[1, 2, 3, 4][..], MemoryStatus::UserAllocated));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn from_npy(bytes: impl Into<Array<u8>>, policy: CopyPolicy) -> Result<Self> {
        let bytes = bytes.into();
        let header = NpyHeader::read(&mut &bytes[..], &in_stream)?;
        header.check_file_length(bytes.len() as u64)?;
        header.check_type(T::TYPE, None)?;
        let values = bytes.slice(header.length..)?;
        match policy.copies(header.copy_reason(values.as_ptr().addr()))? {
            true => load(&header, &values[..]),
            false => Self::from_array_with_layout(values.reinterpret::<T>()?, header.shape, header.layout),
        }
    }
}

/// Loads a table from a NumPy file of any element type, in that type: a homogeneous table, or an
/// [`AosNumericTable`](crate::AosNumericTable) for an array of structures.
///
/// # Errors
/// Those of [`HomogenNumericTable::load_npy`], except that any element type is accepted, and those of
/// [`AosNumericTable::load_npy`](crate::AosNumericTable::load_npy).
///
/// # Examples
/// ```
/// use numeric_table::{npy, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("array.npy");
/// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save_npy(&path)?;
/// assert_eq!(npy::load(&path)?.uniform_type(), Some(ElementType::I16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
pub fn load_any(path: impl AsRef<Path>) -> Result<Box<dyn NumericTable>> {
    match NpyFile::open_any(path.as_ref())? {
        AnyFile::Numbers(file) => match_element!(file.header.element_type, T => Ok(file.load::<T>()?.into_dyn())),
        AnyFile::Records(table) => Ok(Box::new(table)),
    }
}

/// Reads one array of any element type, or of structures, from a stream, as [`HomogenNumericTable::read_npy`] does.
///
/// # Errors
/// Those of [`HomogenNumericTable::read_npy`], except that any element type is accepted.
///
/// # Examples
/// ```
/// use numeric_table::{npy, prelude::*};
/// let mut bytes = Vec::new();
/// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.write_npy(&mut bytes)?;
/// assert_eq!(npy::read(&bytes[..])?.value::<f64>(0, 1)?, 2.0);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
pub fn read_any(mut source: impl Read) -> Result<Box<dyn NumericTable>> {
    match AnyHeader::read(&mut source, &in_stream)? {
        AnyHeader::Numbers(header) => {
            match_element!(header.element_type, T => Ok(read_stream::<T>(&header, &mut source, 0)?.into_dyn()))
        }
        AnyHeader::Records(header) => Ok(Box::new(read_records(&header, &mut source, 0)?)),
    }
}

fn in_stream(source: std::io::Error) -> Error {
    Error::stream(source)
}
