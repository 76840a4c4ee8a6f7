//! Options for reading and writing `.npz` files.

use crate::storage::options::SaveOptions;
#[cfg(doc)]
use crate::{CsrNumericTable, Error};

/// Options for reading or writing a `.npz` file.
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("matrix.npz");
/// let table = CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![7_u8])?;
/// table.save_npz_with(&path, NpzOptions::new().compressed(false))?;
/// assert_eq!(CsrNumericTable::load_npz(&path)?.get(0, 3)?, Some(7_u8.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct NpzOptions {
    pub(in crate::interop) max_bytes: u64,
    /// `None` if it depends on the length of the file.
    pub(in crate::interop) max_rows: Option<usize>,
    pub(in crate::interop) is_compressed: bool,
    pub(in crate::interop) save: SaveOptions,
}

impl NpzOptions {
    /// Creates the default options. Reading: any number of bytes, and a limit of rows that depends on the length of the
    /// file. Writing: compressed, like SciPy and unlike `numpy.savez`, and durable.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.npz");
    /// let table = CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![7_u8])?;
    /// table.save_npz_with(&path, NpzOptions::new())?; // like `table.save_npz(&path)`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self { max_bytes: u64::MAX, max_rows: None, is_compressed: true, save: SaveOptions::new() }
    }

    /// Sets the largest total size, in bytes, of the decompressed arrays that one call may read. Compressed data may
    /// become a thousand times as large as the file: set a limit for files that you do not trust.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.npz");
    /// let table = CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![7_u8])?;
    /// table.save_npz(&path)?;
    /// let error = CsrNumericTable::load_npz_with(&path, NpzOptions::new().max_bytes(100)).unwrap_err();
    /// assert!(error.to_string().contains("NpzOptions::max_bytes"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_bytes(self, bytes: u64) -> Self {
        Self { max_bytes: bytes, ..self }
    }

    /// Sets the largest number of rows of a sparse matrix. By default, a matrix in the format `csr` may have one row
    /// per offset in the file. A matrix in the format `csc` has no data per row in the file, but memory is allocated
    /// even for empty rows, since it is transposed: it may have 2^20 rows, plus 8 per byte of the file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.npz");
    /// let table = CsrNumericTable::try_new(Shape { rows: 2, columns: 4 }, vec![0, 1, 1], vec![3], vec![7_u8])?;
    /// table.save_npz(&path)?;
    /// assert!(CsrNumericTable::load_npz_with(&path, NpzOptions::new().max_rows(2)).is_ok());
    /// let error = CsrNumericTable::load_npz_with(&path, NpzOptions::new().max_rows(1)).unwrap_err();
    /// assert!(error.to_string().contains("NpzOptions::max_rows"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_rows(self, rows: usize) -> Self {
        Self { max_rows: Some(rows), ..self }
    }

    /// Sets whether a file is compressed when it is written: smaller, but several times slower.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let [small, large] = ["small.npz", "large.npz"].map(|name| folder.path().join(name));
    /// let offsets = vec![0_i32; 10_001];
    /// let shape = Shape { rows: 10_000, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, offsets, Vec::<i32>::new(), Vec::<f32>::new())?;
    /// table.save_npz_with(&small, NpzOptions::new())?;
    /// table.save_npz_with(&large, NpzOptions::new().compressed(false))?;
    /// assert!(std::fs::metadata(small)?.len() < std::fs::metadata(large)?.len() / 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compressed(self, is_compressed: bool) -> Self {
        Self { is_compressed, ..self }
    }

    /// Sets how a file is saved, and a callback for its progress, in bytes of values before compression. The option for
    /// checksums has no effect: the checksums of the format are always written and verified.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.npz");
    /// let table = CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![7_u8])?;
    /// table.save_npz_with(&path, NpzOptions::new().save(SaveOptions::new().durable(false)))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(self, save: SaveOptions) -> Self {
        Self { save, ..self }
    }
}

/// Returns the options of [`NpzOptions::new`].
impl Default for NpzOptions {
    fn default() -> Self {
        Self::new()
    }
}
