//! Memory-mapped NumPy files: the table's array is the file itself. Contains the only unsafe code of this module.

use std::path::Path;

use super::values::NpyFile;
use crate::base::copy::CopyPolicy;
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::storage::map::map_file;
use crate::table::HomogenNumericTable;

impl<T: Element> HomogenNumericTable<T> {
    /// Maps a table from a NumPy file, which must hold `T`: O(1) for a file of any size. Values are read from disk when
    /// they are first accessed. A file that cannot be used in place, because its values are big-endian or not aligned,
    /// is loaded instead; [`map_npy_with`](Self::map_npy_with) can forbid that. Files written by NumPy itself can be
    /// mapped.
    ///
    /// The memory is immutable: the first write to the table copies it. The mapping lives as long as any array that
    /// shares it.
    ///
    /// # Errors
    /// Those of [`load_npy`](Self::load_npy).
    ///
    /// # Safety
    /// While the table, or any array that shares its memory, is alive, neither this program nor any other may write to
    /// the file or truncate it. Values would change under references to them, and reading past the new end would kill
    /// the program. Replacing the file, as [`save_npy`](crate::TableOutput::save_npy) does, is safe, and so is removing
    /// it. `numpy.save` is not safe, because it overwrites the old file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save_npy(&path)?;
    /// // SAFETY: no other program uses the file, and it is only ever replaced.
    /// let table = unsafe { HomogenNumericTable::<i16>::map_npy(&path) }?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4]);
    /// assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated); // mapped, not loaded
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(all(feature = "npy", feature = "mmap"))))]
    pub unsafe fn map_npy(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { Self::map_npy_with(path, CopyPolicy::IfNeeded) }
    }

    /// Maps a table as [`map_npy`](Self::map_npy) does, with a policy for loading: `Never` maps or fails, `IfNeeded`
    /// loads files that cannot be mapped, and `Always` loads like [`load_npy`](Self::load_npy).
    ///
    /// # Errors
    /// Those of [`load_npy`](Self::load_npy); [`ErrorKind::CopyRequired`] under [`CopyPolicy::Never`].
    ///
    /// # Safety
    /// The conditions of [`map_npy`](Self::map_npy).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{interop::{CopyPolicy, CopyReason}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("big_endian.npy");
    /// let header = format!("{:<117}\n", "{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2), }");
    /// std::fs::write(&path, [b"\x93NUMPY\x01\0\x76\0", header.as_bytes(), &[0, 1, 0, 2]].concat())?;
    /// // SAFETY: no other program uses the file, and it is only ever replaced.
    /// let map = |policy| unsafe { HomogenNumericTable::<i16>::map_npy_with(&path, policy) };
    /// let error = map(CopyPolicy::Never).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::CopyRequired { reason: CopyReason::ByteOrder }));
    /// assert_eq!(map(CopyPolicy::IfNeeded)?.as_slice()?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(all(feature = "npy", feature = "mmap"))))]
    pub unsafe fn map_npy_with(path: impl AsRef<Path>, policy: CopyPolicy) -> Result<Self> {
        let file = NpyFile::open(path.as_ref())?;
        let header = file.header;
        file.check_type(T::TYPE)?;
        // A mapping begins at a page boundary, so that values have the same alignment in memory as in the file.
        if policy.copies(header.copy_reason(header.length))? {
            return file.load();
        }
        let length = header.length.saturating_add(header.payload_length());
        // SAFETY: the caller promises that the file is not changed. `open` has checked that it has this length.
        let bytes = unsafe { map_file(&file.file, &file.path, length) }?;
        Self::from_array_with_layout(bytes.slice(header.length..)?.reinterpret::<T>()?, header.shape, header.layout)
    }
}
