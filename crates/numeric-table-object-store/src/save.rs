//! Writing a table as an object, atomically.
//!
//! The bytes are those of a saved file. They are made in order, a part at a time.

use futures_util::stream::{FuturesUnordered, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, UploadPart};

use numeric_table::internal::{FileParts, Hook};
use numeric_table::{
    Error, ErrorKind, NumericTable, Result,
    files::{Progress, SaveOptions},
};

use crate::object::failed;

/// Number of bytes of a part, and number of concurrent parts, by default.
const PART_BYTES: usize = 8 << 20;
const PARTS_AT_ONCE: usize = 4;
/// Stores refuse smaller parts, except for the last one.
const MIN_PART: usize = 5 << 20;
/// Stores refuse more parts.
const MAX_PARTS: u64 = 10_000;

/// Options for saving a table in an object store.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// use numeric_table::prelude::*;
/// use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
/// # use object_store::{memory::InMemory, path::Path};
/// # pollster::block_on(async {
/// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?;
/// let options = StoreOptions::new().create_only(true).parts(64 << 20, 2);
/// save_to_store(&store, &path, &table, options.clone()).await?;
/// assert!(save_to_store(&store, &path, &table, options).await.is_err()); // it is there
/// # Ok::<(), numeric_table::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct StoreOptions {
    is_created: bool,
    chunk_size: u32,
    part_bytes: usize,
    parts_at_once: usize,
    hook: Hook,
}

impl StoreOptions {
    /// Creates the default options: an existing object is replaced; one checksum per MiB of values; parts of 8 MiB, 4
    /// at a time; no progress callback.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?;
    /// save_to_store(&store, &path, &table, StoreOptions::new()).await?;
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn new() -> Self {
        Self {
            is_created: false,
            chunk_size: SaveOptions::CHUNK_SIZE,
            part_bytes: PART_BYTES,
            parts_at_once: PARTS_AT_ONCE,
            hook: Hook::default(),
        }
    }

    /// Sets whether an existing object is an error instead of being replaced. The store decides, so that only one of
    /// several writers succeeds.
    ///
    /// Stores offer this for a single request only: **the whole file is in memory**, and its size is limited to that of
    /// one request (S3: 5 GiB).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{StoreOptions, save_to_store};
    /// # use object_store::{Error as StoreError, memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?;
    /// save_to_store(&store, &path, &table, StoreOptions::new()).await?;
    /// let again = save_to_store(&store, &path, &table, StoreOptions::new().create_only(true)).await;
    /// assert!(matches!(again.unwrap_err().kind(), ErrorKind::Foreign { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn create_only(self, is_created: bool) -> Self {
        Self { is_created, ..self }
    }

    /// Sets the number of bytes of values per checksum of 4 bytes; `None` or 0 for no checksums of values, as
    /// [`SaveOptions::checksums`] does.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?;
    /// save_to_store(&store, &path, &table, StoreOptions::new().checksums(None)).await?;
    /// assert!(!RemoteTable::open(store, &path).await?.verify().await?); // nothing to compare values with
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn checksums(self, chunk_size: Option<u32>) -> Self {
        Self { chunk_size: chunk_size.unwrap_or(0), ..self }
    }

    /// Sets the number of bytes of a part of a large file (8 MiB by default) and the number of parts that are in memory
    /// and sent at a time (4 by default). The minimum is 5 MiB and one part. Parts are larger if there would be more
    /// than 10,000 of them: 105 MiB for a file of 1 TiB.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{StoreOptions, save_to_store};
    /// # use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// let table = HomogenNumericTable::<f64>::full(Shape { rows: 1000, columns: 1000 }, 1.5)?;
    /// save_to_store(&store, &path, &table, StoreOptions::new().parts(5 << 20, 1)).await?; // 2 parts
    /// assert_eq!(store.head(&path).await?.size, 8_004_136);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn parts(self, bytes: usize, at_once: usize) -> Self {
        Self { part_bytes: bytes.max(MIN_PART), parts_at_once: at_once.max(1), ..self }
    }

    /// Sets a callback for the progress. It is called at the beginning, and after each piece of at most 4 MiB of values
    /// was added to a part. The object may not exist yet when the last call is made.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?;
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let options = StoreOptions::new().on_progress(move |progress| seen.store(progress.done, Ordering::Relaxed));
    /// save_to_store(&store, &path, &table, options).await?;
    /// assert_eq!(done.load(Ordering::Relaxed), 6); // bytes of values
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook), ..self }
    }

    /// Returns the number of bytes of a part of a file of `length` bytes.
    fn part_length(&self, length: u64) -> usize {
        let least = usize::try_from(length.div_ceil(MAX_PARTS)).unwrap_or(usize::MAX);
        self.part_bytes.max(least).checked_next_multiple_of(FileParts::MULTIPLE).unwrap_or(usize::MAX)
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Saves a table of any kind as an object of a store: the bytes that
/// [`save`](numeric_table::TableOutput::save) writes into a file.
///
/// The name always leads to the complete old object or to the complete new one. A file that fits one part (8 MiB by
/// default) is sent in one request. A larger file is sent in several concurrent parts, which become an object once all
/// have arrived (a multipart upload). On an error, the call waits for the parts that are being sent and aborts the
/// upload. If the call is dropped, or the progress callback or a user-defined table panics, stores in memory and
/// folders remove the parts. S3 and Google Cloud Storage keep them, invisible but charged for, until a lifecycle rule
/// of the bucket for incomplete uploads removes them.
///
/// Values are gathered and checksums computed on the calling task. This takes the memory of the parts that are sent at
/// a time: 4 x 8 MiB by default, see [`StoreOptions::parts`].
///
/// # Errors
/// [`ErrorKind::Foreign`], with a source of `AlreadyExists` if the object was
/// [only to be created](StoreOptions::create_only); those of [`save`](numeric_table::TableOutput::save) of a
/// table that cannot be read. The old object is unchanged, with one exception: if the answer to the last request is
/// lost, the new one may be in place.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// use numeric_table::{CsrNumericTable, prelude::*};
/// use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
/// # use object_store::{memory::InMemory, path::Path};
/// # pollster::block_on(async {
/// # let (store, path) = (Arc::new(InMemory::new()), Path::from("sparse.ntb"));
/// let dense = HomogenNumericTable::from_rows(&[[0_i16, 7, 0], [0, 0, 9]])?;
/// let sparse = CsrNumericTable::from_dense::<i16>(&dense)?;
/// save_to_store(&store, &path, &sparse, StoreOptions::new()).await?; // of any kind
/// let table = RemoteTable::open(store, &path).await?.load_any().await?;
/// assert_eq!(table.rows::<f64>(..)?[..], [0.0, 7.0, 0.0, 0.0, 0.0, 9.0]);
/// # Ok::<(), numeric_table::Error>(())
/// # }).unwrap();
/// ```
pub async fn save_to_store(
    store: &dyn ObjectStore,
    path: &Path,
    table: &dyn NumericTable,
    options: StoreOptions,
) -> Result<()> {
    // An error about the table that is written stays as it is.
    let in_file = |error: Error| match error.kind() {
        ErrorKind::Format { .. } | ErrorKind::Io { .. } => error.in_file(path.as_ref()),
        _ => error,
    };
    let mut parts = FileParts::new(table, options.chunk_size, &options.hook).map_err(in_file)?;
    let (file_length, part_length) = (parts.file_length(), options.part_length(parts.file_length()));
    if options.is_created || file_length <= part_length as u64 {
        let mode = if options.is_created { PutMode::Create } else { PutMode::Overwrite };
        let payload = whole(&mut parts, part_length).map_err(in_file)?;
        let put = store.put_opts(path, payload, PutOptions::from(mode)).await;
        return put.map(drop).map_err(|error| failed(path, error));
    }
    let upload = store.put_multipart_opts(path, PutMultipartOptions::default()).await;
    let mut upload = upload.map_err(|error| failed(path, error))?;
    let sent = send(path, &mut *upload, &mut parts, part_length, options.parts_at_once).await;
    if sent.is_err() {
        // The caller gets the first error.
        let _ = upload.abort().await;
    }
    sent.map_err(in_file)
}

/// Returns the whole file, in pieces.
fn whole(parts: &mut FileParts<'_>, part_length: usize) -> Result<PutPayload> {
    let mut pieces = Vec::new();
    loop {
        match parts.next_part(part_length)? {
            part if part.is_empty() => return Ok(pieces.into_iter().collect()),
            part => pieces.push(bytes::Bytes::from(part)),
        }
    }
}

/// Sends all parts, `at_once` at a time, and completes the object.
async fn send(
    path: &Path,
    upload: &mut dyn MultipartUpload,
    parts: &mut FileParts<'_>,
    part_length: usize,
    at_once: usize,
) -> Result<()> {
    let mut sending = FuturesUnordered::new();
    let sent = send_parts(path, upload, parts, part_length, at_once, &mut sending).await;
    if sent.is_err() {
        // A part that arrives after the upload was aborted may stay in the store.
        while sending.next().await.is_some() {}
    }
    sent?;
    upload.complete().await.map(drop).map_err(|error| failed(path, error))
}

/// Sends all parts, `at_once` at a time. After an error, `sending` holds the parts that are still being sent.
async fn send_parts(
    path: &Path,
    upload: &mut dyn MultipartUpload,
    parts: &mut FileParts<'_>,
    part_length: usize,
    at_once: usize,
    sending: &mut FuturesUnordered<UploadPart>,
) -> Result<()> {
    loop {
        while sending.len() < at_once {
            let part = parts.next_part(part_length)?;
            if part.is_empty() {
                break;
            }
            sending.push(upload.put_part(part.into()));
        }
        match sending.try_next().await.map_err(|error| failed(path, error))? {
            Some(()) => {}
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_at_most_10_000_parts_that_cut_no_value_and_are_not_too_small() {
        let parts = |options: &StoreOptions, length: u64| {
            let part = options.part_length(length);
            assert!(part.is_multiple_of(64) && part >= 5 << 20);
            (part, length.div_ceil(part as u64))
        };
        let options = StoreOptions::new();
        assert_eq!(parts(&options, 0), (8 << 20, 0));
        assert_eq!(parts(&options, 80_000 << 20), (8 << 20, 10_000));
        assert_eq!(parts(&options, (80_000 << 20) + 1), ((8 << 20) + 64, 10_000));
        assert_eq!(parts(&options, 1 << 40), (109_951_168, 10_000));
        assert_eq!(parts(&options, i64::MAX as u64).1, 10_000);
        assert_eq!(parts(&options.clone().parts(1, 0), 100 << 20), (5 << 20, 20));
        assert_eq!(parts(&options.parts((6 << 20) + 1, 1), 100 << 20), ((6 << 20) + 64, 17));
    }
}
