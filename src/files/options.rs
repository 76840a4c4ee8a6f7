//! What a caller can choose about a file that is saved.

use super::progress::{Hook, Progress};
#[cfg(doc)]
use crate::{Error, HomogenNumericTable};

/// How a table is saved.
///
/// # Examples
/// ```
/// use numeric_table::{SaveOptions, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scratch.ntb");
/// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
/// table.save_with(&path, SaveOptions::new().durable(false).checksums(None))?; // as fast as can be
/// assert_eq!(HomogenNumericTable::load(&path)?, table);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SaveOptions {
    is_durable: bool,
    is_in_place: bool,
    chunk_size: u32,
    hook: Hook,
}

impl SaveOptions {
    /// Bytes of values per checksum, unless another number is asked for: 1 MiB.
    pub const CHUNK_SIZE: u32 = 1 << 20;

    /// Durable, with checksums of 1 MiB of values each, in a new file that replaces the old one; nobody is told of progress.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// table.save_with(&path, SaveOptions::new())?; // as `table.save(&path)`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self { is_durable: true, is_in_place: false, chunk_size: Self::CHUNK_SIZE, hook: Hook::default() }
    }

    /// Chooses whether saving waits until the file and its name are on the disk, so that they outlast a loss of power.
    ///
    /// Without that, a crash of the program still leaves the old file or the new one, whole; a crash of the machine may not.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// table.save_with(&path, SaveOptions::new().durable(false))?; // does not wait for the disk
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn durable(self, is_durable: bool) -> Self {
        Self { is_durable, ..self }
    }

    /// Chooses how many bytes of values get one checksum of 4 bytes; `None` or 0 for no checksums of values at all. (The
    /// description of the table always has one.)
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SaveOptions, prelude::*, verify};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// table.save_with(&path, SaveOptions::new().checksums(Some(64 << 10)))?; // finds damage within 64 KiB
    /// assert!(verify(&path)?);
    /// table.save_with(&path, SaveOptions::new().checksums(None))?;
    /// assert!(!verify(&path)?); // nothing to compare values with
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn checksums(self, chunk_size: Option<u32>) -> Self {
        Self { chunk_size: chunk_size.unwrap_or(0), ..self }
    }

    /// Chooses whether the old file is written over, instead of being replaced by a new one: for file systems that cannot
    /// rename ([`Error::RenameUnsupported`]), for folders in which no file can be made, and for files whose owner, hard
    /// links and attributes must stay.
    ///
    /// **The old content is lost when the first value is written.** What is refused before that changes nothing: a table
    /// that cannot be read, an option that does not fit, a [`TableWriter`](crate::TableWriter) that is dropped before it has
    /// got rows. The first bytes are written last: a save that is interrupted leaves a file that no reader takes for a table,
    /// and one that fails once it writes leaves an empty file, or none if there was none. A table that is mapped from the file must not be saved there in
    /// place: see the rules of [`map`](HomogenNumericTable#method.map).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SaveOptions, prelude::*};
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

    /// Has `hook` told how far the save has got: at the beginning, after every piece of at most 4 MiB (or every
    /// block that is appended to a [`TableWriter`](crate::TableWriter)), and at the end; from whatever thread works on it,
    /// but for one save by one at a time. What other threads finish while it runs, it is told in one. It may read and save tables itself.
    ///
    /// If it panics, nothing is saved, and it is not called again. (The block that a [`TableWriter`](crate::TableWriter) was
    /// about is appended then: who catches the panic can go on.)
    ///
    /// # Examples
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use numeric_table::{SaveOptions, prelude::*};
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

    pub(crate) fn chunk_size(&self) -> u32 {
        self.chunk_size
    }

    pub(super) fn is_durable(&self) -> bool {
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
