//! Loading whole tables into memory that the library owns, and verifying files.

use std::path::Path;

use super::homogeneous::HomogeneousFile;
use super::kind::FileContent;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::Result;
use crate::base::progress::Meter;
use crate::dictionary::DataDictionary;
use crate::table::content::with_stored_kinds;
use crate::table::{HomogenNumericTable, NumericTable, TableConversion};

impl<T: Element> HomogenNumericTable<T> {
    /// Loads a table from a file, which must hold `T`. Reads the values once and verifies their checksums in the same
    /// pass.
    ///
    /// Safe with untrusted files: a load that fails has allocated at most twice the real size of the file, plus 1 MiB.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) with `path`; [`ErrorKind::Format`](crate::ErrorKind::Format) with the
    /// reason and the position; [`ErrorKind::ElementTypeMismatch`](crate::ErrorKind::ElementTypeMismatch);
    /// [`ErrorKind::TableKindMismatch`](crate::ErrorKind::TableKindMismatch);
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(&path)?;
    /// assert_eq!(HomogenNumericTable::<i16>::load(&path)?.as_slice()?, [1, 2, 3, 4]);
    /// let error = HomogenNumericTable::<f32>::load(&path).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ElementTypeMismatch { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let (file, header) = FileContent::open(path.as_ref())?.homogeneous()?;
        file.check_type(T::TYPE)?;
        load(&file, |element_type| header.dictionary(element_type), None)
    }

    /// Loads a table from a file of any element type, converted as by [`convert`](Self::convert). The file is read and
    /// converted piece by piece, so its unconverted values are never all in memory. The memory of the result is
    /// allocated before the checksums are verified. Tables of other kinds are loaded first and then converted: missing
    /// values become NaN.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load), but any element type and any kind of table is accepted;
    /// [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow);
    /// [`ErrorKind::MissingValue`](crate::ErrorKind::MissingValue) if `T` is an integer type.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1.9_f64, -7.0], [300.0, 4.0]])?.save(&path)?;
    /// assert_eq!(HomogenNumericTable::<u8>::load_cast(&path)?.as_slice()?, [1, 0, 255, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_cast(path: impl AsRef<Path>) -> Result<Self> {
        match FileContent::open(path.as_ref())? {
            FileContent::Homogeneous(file, header) => {
                let dictionary_of = |element_type| match element_type == file.element_type {
                    true => header.dictionary(element_type),
                    false => header.dictionary(element_type)?.with_element_type(element_type), // no longer nullable
                };
                load(&file, dictionary_of, None)
            }
            other => other.load(None)?.convert(),
        }
    }
}

/// Loads a table, converted if the file holds another type. The dictionary is built last, after the checksums have been
/// verified.
pub(super) fn load<T: Element>(
    file: &HomogeneousFile,
    dictionary_of: impl FnOnce(ElementType) -> Result<DataDictionary>,
    meter: Option<&Meter>,
) -> Result<HomogenNumericTable<T>> {
    let array = file.load(meter)?;
    HomogenNumericTable::internal(array, file.shape, file.layout).with_dictionary(dictionary_of(T::TYPE)?)
}

/// Loads a table in the element type of the file.
pub(super) fn load_stored(
    file: &HomogeneousFile,
    dictionary_of: impl FnOnce(ElementType) -> Result<DataDictionary>,
    meter: Option<&Meter>,
) -> Result<Box<dyn NumericTable>> {
    match_element!(file.element_type, T => Ok(load::<T>(file, dictionary_of, meter)?.into_dyn()))
}

/// Loads a table from a file, with the kind and the element types of the file.
///
/// Safe with untrusted files: content that is not a valid table of its kind is refused.
///
/// # Errors
/// The errors of [`HomogenNumericTable::load`], but any element type and any kind is accepted.
///
/// # Examples
/// ```
/// use numeric_table::{files, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("table.ntb");
/// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(&path)?;
/// let table = files::load(&path)?;
/// assert_eq!((table.uniform_type(), &table.rows::<f64>(0..1)?[..]), (Some(ElementType::I16), &[1.0, 2.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_any(path: impl AsRef<Path>) -> Result<Box<dyn NumericTable>> {
    FileContent::open(path.as_ref())?.load(None)
}

/// Checks a complete table file without keeping its content in memory: every rule of the format and every checksum. It
/// does not check rules of a specific kind of table, such as the order of the column indices of a sparse table. Returns
/// whether the file has checksums of values; without them, damage to the values cannot be detected.
///
/// # Errors
/// The errors of [`HomogenNumericTable::load`], but any element type is accepted.
///
/// # Examples
/// ```
/// use numeric_table::{files::verify, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("table.ntb");
/// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(&path)?;
/// assert!(verify(&path)?);
/// let mut bytes = std::fs::read(&path)?;
/// bytes[4096] ^= 1; // the first value
/// std::fs::write(&path, bytes)?;
/// assert!(verify(&path).unwrap_err().to_string().contains("chunk 0 (of 1)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(path: impl AsRef<Path>) -> Result<bool> {
    FileContent::open(path.as_ref())?.verify(None)
}

macro_rules! stored_kinds {
    ($(($Kind:ty, $name:literal, $example:literal)),*) => {$(
        impl $Kind {
            /// Loads a table from a file. Reads the values once and verifies their checksums in the same pass. The
            /// content is checked like data from a caller.
            ///
            /// Safe with untrusted files, like [`HomogenNumericTable::load`].
            ///
            /// # Errors
            /// The errors of [`load_any`]; [`ErrorKind::TableKindMismatch`](crate::ErrorKind::TableKindMismatch) if the
            /// file holds another kind of table.
            pub fn load(path: impl AsRef<Path>) -> Result<Self> {
                FileContent::open(path.as_ref())?.load_kind()
            }
        }
    )*};
}
with_stored_kinds!(stored_kinds);
