//! Options for saving files.

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::progress::{Hook, Progress};
#[cfg(doc)]
use crate::{Error, HomogenNumericTable};

/// Options for saving a table.
///
/// # Examples
/// ```
/// use numeric_table::{files::SaveOptions, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scratch.ntb");
/// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
/// table.save_with(&path, SaveOptions::new().durable(false).checksums(None))?; // as fast as possible
/// assert_eq!(HomogenNumericTable::load(&path)?, table);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SaveOptions {
    is_durable: bool,
    is_in_place: bool,
    chunk_size: u32,
    #[cfg_attr(not(feature = "npy"), expect(dead_code))] // other formats hold missing values
    missing_to_nan: bool,
    hook: Hook,
}

impl SaveOptions {
    /// The default number of bytes of values per checksum: 1 MiB.
    pub const CHUNK_SIZE: u32 = 1 << 20;

    /// Creates the default options: durable, one checksum per MiB of values, a new file that replaces the old one, and
    /// no progress callback.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// table.save_with(&path, SaveOptions::new())?; // the same as `table.save(&path)`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self {
            is_durable: true,
            is_in_place: false,
            chunk_size: Self::CHUNK_SIZE,
            missing_to_nan: false,
            hook: Hook::default(),
        }
    }

    /// Sets whether saving waits until the file and its name are on disk, so that they survive a loss of power.
    ///
    /// Otherwise, a crash of the program still leaves the complete old or new file, but a crash of the machine may not.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// table.save_with(&path, SaveOptions::new().durable(false))?; // does not wait for the disk
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn durable(self, is_durable: bool) -> Self {
        Self { is_durable, ..self }
    }

    /// Sets the number of bytes of values per checksum of 4 bytes. `None` or 0 turns checksums of values off. (The
    /// description of the table always has one.)
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::{SaveOptions, verify}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// table.save_with(&path, SaveOptions::new().checksums(Some(64 << 10)))?; // locates damage to within 64 KiB
    /// assert!(verify(&path)?);
    /// table.save_with(&path, SaveOptions::new().checksums(None))?;
    /// assert!(!verify(&path)?); // no checksums of values
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn checksums(self, chunk_size: Option<u32>) -> Self {
        Self { chunk_size: chunk_size.unwrap_or(0), ..self }
    }

    /// Sets whether the old file is overwritten instead of replaced by a new one. Use this for file systems that cannot
    /// rename ([`ErrorKind::RenameUnsupported`]), for directories in which no file can be created, and for files whose
    /// owner, hard links and attributes must be kept.
    ///
    /// **The old content is lost when the first value is written.** A failure before that leaves the file unchanged: an
    /// unreadable table, invalid options, or a [`TableWriter`](crate::files::TableWriter) that is dropped before rows
    /// are appended. The first bytes are written last, so readers refuse the file of an interrupted save. A save that
    /// fails after it began to write leaves an empty file, or no file if there was none. A table that is mapped from
    /// the file must not be saved to it in place: see the rules of [`map`](HomogenNumericTable#method.map). Do not
    /// write the rows of a [`TableReader`](crate::files::TableReader) to its own file in place either: rows that have
    /// not been read yet are lost.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// table.save_with(&path, SaveOptions::new().in_place(true))?;
    /// assert_eq!(HomogenNumericTable::load(&path)?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_place(self, is_in_place: bool) -> Self {
        Self { is_in_place, ..self }
    }

    /// Sets a callback for the progress of the save. It is called at the beginning, after every piece of at most 4 MiB
    /// (or every block that is appended to a [`TableWriter`](crate::files::TableWriter)), and at the end. Any thread
    /// that does the work may call it, but only one at a time for each save; progress that other threads make meanwhile
    /// is reported in the next call. The callback may read and save tables itself.
    ///
    /// If the callback panics, nothing is saved, and it is not called again. (A block that was being appended to a
    /// [`TableWriter`](crate::files::TableWriter) stays appended: a caller that catches the panic can continue.)
    ///
    /// # Examples
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use numeric_table::{files::SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let options = SaveOptions::new().on_progress(move |progress| seen.store(progress.done, Ordering::Relaxed));
    /// table.save_with(&path, options)?;
    /// assert_eq!(done.load(Ordering::Relaxed), 8); // bytes of values
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook), ..self }
    }

    /// Sets whether formats that cannot hold missing values, NumPy's `.npy` and arrays of `.npz`, get NaN in their
    /// place in columns of floating-point numbers. Off by default: then, and always in columns of integers, such a
    /// value is an error. Formats that hold missing values ignore the option.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "npy")] {
    /// use numeric_table::{SoaNumericTable, files::SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array.npy");
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("share", [Some(0.5_f32), None])?;
    /// let error = table.save_npy(&path).unwrap_err();
    /// assert!(error.to_string().contains("the value in row 1 is missing"));
    /// table.save_npy_with(&path, SaveOptions::new().missing_to_nan(true))?;
    /// assert!(HomogenNumericTable::<f32>::load_npy(&path)?.as_slice()?[1].is_nan());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn missing_to_nan(self, is_replaced: bool) -> Self {
        Self { missing_to_nan: is_replaced, ..self }
    }

    #[cfg(feature = "npy")]
    pub(crate) fn replaces_missing(&self) -> bool {
        self.missing_to_nan
    }

    pub(crate) fn chunk_size(&self) -> u32 {
        self.chunk_size
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.is_durable
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.is_in_place
    }

    pub(crate) fn hook(&self) -> &Hook {
        &self.hook
    }
}

impl Default for SaveOptions {
    fn default() -> Self {
        Self::new()
    }
}
