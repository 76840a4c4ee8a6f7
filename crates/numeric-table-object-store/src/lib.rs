//! Tables of [`numeric_table`] in object stores: files of the same bytes as on a disk, read by ranges and replaced
//! atomically.
//!
//! ```
//! use std::sync::Arc;
//! use numeric_table::prelude::*;
//! use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
//! use object_store::{ObjectStore, memory::InMemory, path::Path}; // or `aws::AmazonS3Builder`, by its feature `aws`
//!
//! # pollster::block_on(async {
//! let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
//! let path = Path::from("tables/measurements.ntb");
//! let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
//! save_to_store(&*store, &path, &table, StoreOptions::new()).await?;
//!
//! let remote = RemoteTable::open(store, &path).await?;
//! assert_eq!(remote.load_rows::<f64>(1..3).await?.as_slice()?, [3.0, 4.0, 5.0, 6.0]); // these bytes only
//! # Ok::<(), numeric_table::Error>(())
//! # }).unwrap();
//! ```
//!
//! Stores are those of the crate [`object_store`]. The calls need no particular runtime and start no tasks: requests
//! make progress while the caller awaits a call, which converts values on the same thread. The page [`guide`] has a
//! complete program, the guarantees and the costs.
//!
//! # Versions
//!
//! This crate follows the versions of `object_store` with versions of its own; `numeric_table` stays as it is.

// This file: the type, opening, and loading; `blocks`: rows block by block; `object`: an object that was opened, and
// ranges of its bytes; `read`: values out of them; `save`: writing. What the bytes of a file mean, `numeric_table`
// decodes.
//
// Invariant: every byte is of the object that was opened; a request that may have returned other bytes fails. (Files of
// a folder that are written in place while they are read are detected only by their size and time of change: they have
// to be replaced, as `save` does.)

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod blocks;
mod object;
mod read;
mod save;

pub use blocks::RemoteBlocks;
pub use save::{StoreOptions, save_to_store};

use std::ops::{Range, RangeBounds};
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;

use numeric_table::internal::{Front, Hook, Meter, StoredValues, match_element, resolve};
use numeric_table::{
    AllocationFlag, DataDictionary, DataLayout, Element, ElementType, Error, ErrorKind, HomogenNumericTable,
    NumericTable, Result, Shape, TableConversion, error::Hint, files::Progress,
};

use crate::object::Object;

#[doc = include_str!("../docs/read-from-object-storage.md")]
#[cfg(any(doc, doctest))]
pub mod guide {}

/// The README's code blocks, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// Bytes of values in one request, and the number of requests at a time, unless the caller sets others.
const REQUEST_BYTES: usize = 8 << 20;
const REQUESTS_AT_ONCE: usize = 8;
/// The least number of bytes in one request. A multiple of 8: no value is cut.
const MIN_REQUEST: usize = 4096;

/// A table file, [`.ntb`](numeric_table::files::TableWriter), in an object store: S3, Google Cloud Storage, Azure, a
/// folder, memory, or any other store that the crate [`object_store`] offers, by features of that crate.
///
/// Opening reads the beginning of the object. Calls read values on demand, with several concurrent requests for ranges
/// of bytes. All bytes are of **the object that was opened**: its entity tag (or, in stores without tags, its version,
/// size and time of change) is a condition of every request and is compared with every response. If the object was
/// replaced, the call fails with [`ErrorKind::Foreign`] and a source of `Precondition`; it never mixes old and new
/// values.
///
/// Calls run on the caller's runtime, or on any executor if the store needs no runtime. They convert values on the
/// calling task as they arrive. Dropping a call cancels it. Futures are [`Send`]. A clone costs O(1) and shares
/// everything; clone the table to make calls on several tasks.
///
/// # Memory
/// Reading takes the memory of the result, or twice that for a range of rows of a column-major file. Each concurrent
/// request (8 by default) takes 512 KiB if values are converted, and the memory that the store's client holds (for a
/// folder, all 8 MiB of a request). [`with_requests`](Self::with_requests) sets both numbers.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use numeric_table::prelude::*;
/// use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
/// use object_store::{ObjectStore, memory::InMemory, path::Path}; // or `aws::AmazonS3Builder`, by its feature `aws`
///
/// # pollster::block_on(async {
/// let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
/// let path = Path::from("tables/measurements.ntb");
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
/// save_to_store(&*store, &path, &table, StoreOptions::new()).await?;
///
/// let remote = RemoteTable::open(store, &path).await?;
/// assert_eq!((remote.shape(), remote.uniform_type()), (Shape { rows: 3, columns: 2 }, Some(ElementType::I16)));
/// assert_eq!(remote.load_rows::<f64>(1..3).await?.as_slice()?, [3.0, 4.0, 5.0, 6.0]); // these bytes only
/// assert_eq!(remote.load::<i16>().await?, table); // all of them, and their checksums
/// # Ok::<(), numeric_table::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct RemoteTable {
    object: Object,
    front: Arc<Front>,
    request_bytes: usize,
    requests_at_once: usize,
    hook: Hook,
}

impl RemoteTable {
    /// Opens an object of any kind of table. This takes one request for its first 64 KiB, and a second one if the
    /// description of its columns is longer.
    ///
    /// Safe for untrusted objects: sizes that an object claims are compared with its real size before memory is
    /// allocated for them.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`] of the store, with a source of `NotFound` if the object does not exist;
    /// [`ErrorKind::Format`] with the position and the reason; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::RemoteTable;
    /// # use object_store::{Error as StoreError, memory::InMemory};
    /// # pollster::block_on(async {
    /// let error = RemoteTable::open(Arc::new(InMemory::new()), &"none.ntb".into()).await.unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::Foreign { .. }));
    /// assert_eq!(error.to_string(), "none.ntb: the object does not exist");
    /// # })
    /// ```
    pub async fn open(store: Arc<dyn ObjectStore>, path: &Path) -> Result<Self> {
        let (object, front) = Object::open(store, path).await?;
        Ok(Self {
            object,
            front: Arc::new(front),
            request_bytes: REQUEST_BYTES,
            requests_at_once: REQUESTS_AT_ONCE,
            hook: Hook::default(),
        })
    }

    /// Sets the largest number of bytes of values of a request (8 MiB by default) and the number of concurrent requests
    /// (8 by default). The minimum is 4096 bytes and one request.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// let remote = RemoteTable::open(store, &path).await?.with_requests(1 << 20, 2); // on a small machine
    /// assert_eq!(remote.load::<i16>().await?.as_slice()?, [1, 2, 3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_requests(self, bytes: usize, at_once: usize) -> Self {
        let request_bytes = bytes.max(MIN_REQUEST) / MIN_REQUEST * MIN_REQUEST;
        Self { request_bytes, requests_at_once: at_once.max(1), ..self }
    }

    /// Sets a callback for the progress of each call that reads values, as
    /// [`TableReader::on_progress`](numeric_table::files::TableReader::on_progress) does. It is called at the
    /// beginning, after every piece that arrives, and at the end.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let remote = RemoteTable::open(store, &path).await?;
    /// remote.on_progress(move |progress| seen.store(progress.done, Ordering::Relaxed)).load::<i16>().await?;
    /// assert_eq!(done.load(Ordering::Relaxed), 6); // bytes of values
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook), ..self }
    }

    /// Returns the path of the object in its store.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// assert_eq!(RemoteTable::open(store, &path).await?.path(), &path);
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn path(&self) -> &Path {
        self.object.path()
    }

    /// Returns the size of the object in bytes: values, description and checksums.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// let options = StoreOptions::new().checksums(None);
    /// save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, options).await?;
    /// assert_eq!(RemoteTable::open(store, &path).await?.size_in_bytes(), 4096 + 6);
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn size_in_bytes(&self) -> u64 {
        self.object.size()
    }

    /// Returns the number of rows and columns.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// assert_eq!(RemoteTable::open(store, &path).await?.shape(), Shape { rows: 1, columns: 3 });
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn shape(&self) -> Shape {
        self.front.shape()
    }

    /// Borrows the description of the columns.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// assert_eq!(RemoteTable::open(store, &path).await?.dictionary().len(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn dictionary(&self) -> &DataDictionary {
        self.front.dictionary()
    }

    /// Returns the element type of the values, if all columns have the same type.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// assert_eq!(RemoteTable::open(store, &path).await?.uniform_type(), Some(ElementType::I16));
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn uniform_type(&self) -> Option<ElementType> {
        self.front.values().map(|values| values.element_type).or_else(|| self.dictionary().uniform_type())
    }

    /// Returns the layout of a homogeneous table, or `None` for another kind of table.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// assert_eq!(RemoteTable::open(store, &path).await?.data_layout(), Some(DataLayout::RowMajor));
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn data_layout(&self) -> Option<DataLayout> {
        self.front.values().map(|values| values.layout)
    }

    /// Reads consecutive rows of a homogeneous table into a new row-major table of `U`, converted under
    /// [`ConversionPolicy::Saturate`](numeric_table::ConversionPolicy::Saturate) if the object holds another type. As
    /// with [`TableReader::load_rows`](numeric_table::files::TableReader::load_rows), checksums of values are not
    /// compared.
    ///
    /// For a row-major object, this requests only the bytes of these rows. For a column-major object, it requests the
    /// bytes of these rows in each column, and combines requests for columns with few bytes between them. Prefer few
    /// calls for many rows.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; [`ErrorKind::TableKindMismatch`] for another kind of table, which
    /// [`load_any`](Self::load_any) loads; [`ErrorKind::SizeOverflow`]; [`ErrorKind::OutOfMemory`];
    /// [`ErrorKind::Foreign`], also if the object was replaced; [`ErrorKind::Format`] if the store does not send the
    /// requested bytes.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// save_to_store(&store, &path, &table, StoreOptions::new()).await?;
    /// let remote = RemoteTable::open(store, &path).await?;
    /// assert_eq!(remote.load_rows::<f32>(1..).await?.as_slice()?, [3.0, 4.0, 5.0, 6.0]);
    /// let error = remote.load_rows::<f32>(1..4).await.unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 3, .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn load_rows<U: Element>(&self, rows: impl RangeBounds<usize>) -> Result<HomogenNumericTable<U>> {
        let (values, rows) = (self.homogeneous()?, self.checked_rows(rows)?);
        let shape = Shape { rows: rows.len(), ..self.shape() };
        let bytes = (shape.element_count_of(values.element_type)? * values.element_type.size_in_bytes()) as u64;
        let meter = Meter::start(&self.hook, bytes);
        let mut table = HomogenNumericTable::zeros(shape)?;
        let read = self.read_rows(values, rows, table.as_mut_slice()?, &meter).await;
        read.map_err(|error| self.object.name(error))?;
        table.with_dictionary(self.dictionary().with_element_type(U::TYPE)?)
    }

    /// Loads all of a homogeneous table of `T`, and compares the checksums of its values.
    ///
    /// # Errors
    /// Those of [`load_cast`](Self::load_cast); [`ErrorKind::ElementTypeMismatch`]; [`ErrorKind::TableKindMismatch`].
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// let remote = RemoteTable::open(store, &path).await?;
    /// assert_eq!(remote.load::<i16>().await?.as_slice()?, [1, 2, 3]);
    /// assert!(matches!(remote.load::<f32>().await.unwrap_err().kind(), ErrorKind::ElementTypeMismatch { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        let values = self.homogeneous()?;
        match values.element_type {
            found if found == T::TYPE => self.load_values(values).await,
            found => Err(Error::new(ErrorKind::ElementTypeMismatch { expected: T::TYPE, actual: found, column: None })
                .with_hint(Hint::new("load_cast", "converts"))
                .in_file(self.path().as_ref())),
        }
    }

    /// Loads the whole table converted to `T`, in its layout, and compares the checksums of its values. Another kind of
    /// table than a homogeneous one is first loaded, then converted: missing values become NaN.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`], also if the object was replaced; [`ErrorKind::Format`] with the first damaged chunk, or
    /// if the store does not send the requested bytes; [`ErrorKind::SizeOverflow`]; [`ErrorKind::OutOfMemory`];
    /// [`ErrorKind::MissingValue`] if `T` is an integer type.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// assert_eq!(RemoteTable::open(store, &path).await?.load_cast::<f32>().await?.as_slice()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn load_cast<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        match self.front.values() {
            Some(values) => self.load_values(values).await,
            None => self.load_any().await?.convert(),
        }
    }

    /// Loads the whole table as its own kind and element types, and compares the checksums of its values.
    ///
    /// # Errors
    /// Those of [`load_cast`](Self::load_cast).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// let table = RemoteTable::open(store, &path).await?.load_any().await?;
    /// assert_eq!((table.uniform_type(), table.value::<f64>(0, 2)?), (Some(ElementType::I16), 3.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn load_any(&self) -> Result<Box<dyn NumericTable>> {
        match self.front.values() {
            Some(values) => {
                match_element!(values.element_type, T => Ok(self.load_values::<T>(values).await?.into_dyn()))
            }
            None => {
                let meter = self.whole_meter();
                self.load_arrays(&meter).await.map_err(|error| self.object.name(error))
            }
        }
    }

    /// Reads all values and compares their checksums, without keeping the values. Returns whether the object has
    /// checksums of values.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first damaged chunk; [`ErrorKind::Foreign`], also if the object was replaced;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
    /// assert!(RemoteTable::open(store, &path).await?.verify().await?);
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn verify(&self) -> Result<bool> {
        let meter = self.whole_meter();
        self.compare(&meter).await.map_err(|error| self.object.name(error))
    }

    async fn load_values<T: Element>(&self, values: StoredValues) -> Result<HomogenNumericTable<T>> {
        let meter = self.whole_meter();
        let mut table = HomogenNumericTable::new_with_layout(values.shape, AllocationFlag::DoAllocate, values.layout)?;
        let read = self.read_all(values, table.as_mut_slice()?, &meter).await;
        read.map_err(|error| self.object.name(error))?;
        table.with_dictionary(self.dictionary().with_element_type(T::TYPE)?)
    }

    /// Returns the position of the values, if the table is homogeneous.
    ///
    /// # Errors
    /// [`ErrorKind::TableKindMismatch`].
    fn homogeneous(&self) -> Result<StoredValues> {
        self.front.homogeneous().map_err(|error| self.object.name(error))
    }

    /// Resolves a range of rows.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`].
    fn checked_rows(&self, rows: impl RangeBounds<usize>) -> Result<Range<usize>> {
        let row_count = self.shape().rows;
        let refusal = |rows| Error::new(ErrorKind::RowsOutOfRange { rows, row_count });
        match resolve(rows, row_count, refusal)? {
            rows if rows.start > rows.end || rows.end > row_count => Err(refusal(rows)),
            rows => Ok(rows),
        }
    }

    /// Creates the progress meter of a call that reads all values.
    fn whole_meter(&self) -> Meter {
        let payload = self.front.payload();
        Meter::start(&self.hook, payload.end - payload.start)
    }
}
