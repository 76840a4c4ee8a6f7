//! Memory-mapped tables: the table's array is the file itself. The only unsafe code of this module.

use std::ops::Range;
use std::path::Path;

use super::homogeneous::HomogeneousFile;
use super::kind::FileContent;
use super::load::load;
use super::opened::OpenedTable;
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::dictionary::DataDictionary;
use crate::storage::map::map_file;
use crate::table::{HomogenNumericTable, NumericTable};

impl<T: Element> HomogenNumericTable<T> {
    /// Maps a table from a file, which must hold `T`. O(columns), for any number of rows. Values are read from disk
    /// when they are first accessed; the system may evict them from memory at any time.
    ///
    /// The memory is immutable: the first write to the table copies it. The mapping lives as long as any array that
    /// shares it. The file's description is checked, but checksums of values are not; [`verify`](crate::files::verify)
    /// does that. Big-endian machines load the file instead, because the bytes of values must be reversed.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load).
    ///
    /// # Safety
    /// As long as the table, or any array that shares its memory, is alive, the file must not be written to or
    /// truncated, by this program or any other. Values would change under references to them, and reading past the new
    /// end would kill the program. The file may be **replaced**, as [`save`](crate::TableOutput::save) and most
    /// programs do, or removed. Saving [in place](crate::files::SaveOptions::in_place) is not allowed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(&path)?;
    /// // SAFETY: no other program uses the file, and it is only ever replaced.
    /// let mut table = unsafe { HomogenNumericTable::<i16>::map(&path) }?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4]);
    /// table.set_value(0, 0, 9_i16)?; // copies; the file is unchanged
    /// table.save(&path)?; // replaces it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self> {
        let (file, header) = FileContent::open(path.as_ref())?.homogeneous()?;
        file.check_type(T::TYPE)?;
        // SAFETY: the caller's promise.
        unsafe { Self::map_opened(&file, header.dictionary(T::TYPE)?) }
    }

    /// Maps a file of `T` that is already open.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load).
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    unsafe fn map_opened(file: &HomogeneousFile, dictionary: DataDictionary) -> Result<Self> {
        if cfg!(target_endian = "big") && size_of::<T>() > 1 {
            return load(file, |_| Ok(dictionary), None);
        }
        let too_large = || Error::new(ErrorKind::SizeOverflow { shape: file.shape, element: Some(T::TYPE) });
        let Range { start, end } = file.parts.payload();
        let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) else { return Err(too_large()) };
        // SAFETY: the caller promises that the file is not changed. `open` has checked that it has the stated length.
        let bytes = unsafe { map_file(file.parts.file(), file.parts.path(), end) }?;
        // Values begin at a multiple of 4096 bytes, which is aligned for every element type.
        let values = bytes.slice(start..end)?.reinterpret::<T>()?;
        let table = Self::from_array_with_layout(values, file.shape, file.layout)?;
        table.with_dictionary(dictionary)
    }
}

impl OpenedTable {
    /// Maps the table like [`map`](HomogenNumericTable#method.map). A table that is not homogeneous is loaded.
    ///
    /// # Errors
    /// The errors of mapping and of loading a table.
    ///
    /// # Safety
    /// As for [`map`](HomogenNumericTable#method.map).
    pub(crate) unsafe fn map(self) -> Result<Box<dyn NumericTable>> {
        let (content, dictionary) = self.into_parts();
        let file = match content {
            FileContent::Homogeneous(file, _) => file,
            other => return other.load(None),
        };
        match_element!(file.element_type, T => {
            // SAFETY: the caller's promise.
            Ok(unsafe { HomogenNumericTable::<T>::map_opened(&file, dictionary) }?.into_dyn())
        })
    }
}
