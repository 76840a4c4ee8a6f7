//! Loading: into memory of the library, in one pass, in parallel if there is much.

use std::path::Path;

use super::checksum::RunSums;
use super::file::TableFile;
use super::stored::Stored;
use super::{PIECE_BYTES, run_length, swap_if_big_endian, zeroed};
use crate::array::{AnySliceMut, Array};
use crate::element::{Element, match_element};
use crate::error::Result;
use crate::parallel;
use crate::shape::Shape;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable};

impl<T: Element> HomogenNumericTable<T> {
    /// Loads a table from a file, which must hold `T`. Reads the values once, and checks their checksums meanwhile.
    ///
    /// Safe with hostile files: a load that fails has taken at most twice the file's real size, plus 1 MiB.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) with `path`; [`Error::Format`](crate::Error::Format) with what is wrong where;
    /// [`Error::ElementTypeMismatch`](crate::Error::ElementTypeMismatch);
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(&path)?;
    /// assert_eq!(HomogenNumericTable::<i16>::load(&path)?.as_slice()?, [1, 2, 3, 4]);
    /// assert!(matches!(HomogenNumericTable::<f32>::load(&path), Err(Error::ElementTypeMismatch { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let file = TableFile::open(path.as_ref())?;
        file.check_type(T::TYPE)?;
        Self::load_from(&file)
    }

    /// Loads a table from a file of any element type, converted as [`convert`](Self::convert) does: the file is read and
    /// converted piece by piece, and its own values are never all in memory. The memory of the result is taken before the
    /// checksums are known.
    ///
    /// # Errors
    /// As [`load`](Self::load), but any element type will do; [`Error::SizeOverflow`](crate::Error::SizeOverflow).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1.9_f64, -7.0], [300.0, 4.0]])?.save(&path)?;
    /// assert_eq!(HomogenNumericTable::<u8>::load_as(&path)?.as_slice()?, [1, 0, 255, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_as(path: impl AsRef<Path>) -> Result<Self> {
        let file = TableFile::open(path.as_ref())?;
        if file.element_type == T::TYPE {
            return Self::load_from(&file);
        }
        file.shape.element_count_of(T::TYPE)?;
        Self::from_file(load_converted(&file)?, &file)
    }

    fn load_from(file: &TableFile) -> Result<Self> {
        Self::from_file(load_values(file)?, file)
    }

    /// Puts a table together. The dictionary comes last: only then is it known that the file deserves the memory.
    fn from_file(array: Array<T>, file: &TableFile) -> Result<Self> {
        let stored = file.dictionary()?;
        let dictionary = if file.element_type == T::TYPE { stored } else { stored.with_element_type(T::TYPE)? };
        Self::internal(array, file.shape, file.layout).described_by(dictionary)
    }
}

/// Loads a table of whatever element type a file holds.
///
/// # Errors
/// As [`HomogenNumericTable::load`], but any element type will do.
///
/// # Examples
/// ```
/// use numeric_table::{load_any, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("table.ntb");
/// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(&path)?;
/// let table = load_any(&path)?;
/// assert_eq!((table.element_type(), &table.rows::<f64>(0..1)?[..]), (ElementType::I16, &[1.0, 2.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_any(path: impl AsRef<Path>) -> Result<Box<dyn NumericTable>> {
    let file = TableFile::open(path.as_ref())?;
    match_element!(file.element_type, T => Ok(Box::new(HomogenNumericTable::<T>::load_from(&file)?)))
}

/// Checks a table file from its first byte to its last, without keeping any of it: every rule of the format, and every
/// checksum. Gives whether the file has checksums of its values; if not, damage to those cannot be seen.
///
/// # Errors
/// As [`HomogenNumericTable::load`], but any element type will do.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, verify};
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
    let file = TableFile::open(path.as_ref())?;
    verify_values(&file)?;
    Ok(file.has_checksums())
}

/// Reads all values and compares their checksums, if there are any.
pub(super) fn verify_values(file: &TableFile) -> Result<()> {
    if !file.has_checksums() {
        return Ok(());
    }
    let length = file.payload_length();
    // A file may be larger than memory: it is cut as if it were as large as memory can be, at most.
    let step = run_length(usize::try_from(length).unwrap_or(usize::MAX / 2)).max(1) as u64;
    let starts = (0..length.div_ceil(step)).map(|run| run * step);
    let runs = parallel::map(starts.collect(), |start| {
        let end = length.min(start + step);
        let mut run = file.run(start..end)?;
        let mut buffer = zeroed((end - start).min(PIECE_BYTES as u64) as usize)?;
        for at in (start..end).step_by(PIECE_BYTES) {
            run.read(&mut buffer[..(end - at).min(PIECE_BYTES as u64) as usize])?;
        }
        Ok(run.into_sums())
    });
    file.check_sums(runs.into_iter().collect::<Result<_>>()?)
}

/// Reads all values.
fn load_values<T: Element>(file: &TableFile) -> Result<Array<T>> {
    let size = size_of::<T>();
    load_pieces::<T>(file, size, |run, target| {
        for piece in target.chunks_mut(PIECE_BYTES / size) {
            let bytes = bytemuck::cast_slice_mut(piece);
            run.read(bytes)?;
            swap_if_big_endian(bytes, size);
        }
        Ok(())
    })
}

/// Reads all values, whatever type they are of, and converts them.
fn load_converted<T: Element>(file: &TableFile) -> Result<Array<T>> {
    let size = file.element_type.size_in_bytes();
    load_pieces::<T>(file, size, |run, target| {
        let mut stored = Stored::new(file.element_type);
        for piece in target.chunks_mut(PIECE_BYTES / size) {
            run.read(stored.room(piece.len())?)?;
            let shape = Shape { rows: piece.len(), columns: 1 };
            stored.convert(shape, DataLayout::RowMajor, AnySliceMut::new(piece))?;
        }
        Ok(())
    })
}

/// Allocates the values, has each run of them filled from the file, and compares the checksums.
fn load_pieces<T: Element>(
    file: &TableFile,
    stored_size: usize,
    fill: impl Fn(&mut super::file::Run<'_>, &mut [T]) -> Result<()> + Sync,
) -> Result<Array<T>> {
    let count = file.shape.element_count_of(T::TYPE)?;
    let mut array = Array::<T>::zeros(count)?;
    let length = run_length(count * stored_size) / stored_size;
    let pieces = array.mutable_data()?.chunks_mut(length.max(1)).enumerate().collect();
    let runs = parallel::map(pieces, |(index, target)| -> Result<RunSums> {
        let start = index * length * stored_size;
        let mut run = file.run(start as u64..(start + target.len() * stored_size) as u64)?;
        fill(&mut run, target)?;
        Ok(run.into_sums())
    });
    file.check_sums(runs.into_iter().collect::<Result<_>>()?)?;
    Ok(array)
}
