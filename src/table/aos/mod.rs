//! The array of structures: records in their memory layout, whose fields are the columns.
//!
//! `record` has records whose type the compiler knows, `layout` those whose structure is known at run time, `places`
//! the parameters of windows, `memory` the memory and all unsafe code, `repack` the copying of unaligned records, and
//! `table` the code that owning and borrowing tables share.
//! Invariant: each column is a window on a field, at the stride of the records; padding is never read.
//! Semantics: DAAL `AOSNumericTable`. Unlike there, offsets are checked, the order of the columns is kept, and fields
//! that overlap cannot be written.

#[forbid(unsafe_code)]
mod layout;
mod memory;
#[forbid(unsafe_code)]
mod places;
mod record; // the macro there expands to an unsafe implementation
#[forbid(unsafe_code)]
mod repack;
#[forbid(unsafe_code)]
mod stored;
#[forbid(unsafe_code)]
mod table;

pub use layout::RecordLayout;
pub use record::{FieldValue, Record, RecordField};
pub(crate) use repack::Repacking;
pub use table::{records, records_mut};

use std::any::type_name;
use std::fmt;
use std::sync::Arc;

use self::memory::{Owned, Records};
use self::places::Places;
use self::table::{RecordTable, describe_records};
use super::borrow::{forwards_reading, forwards_writing};
use super::numeric_table::describe;
use super::{MemoryStatus, NumericTable, Rejected, Shape, TableDescription, TableKind};
use crate::array::Array;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::trace::{self, CopyKind};
use crate::dictionary::DataDictionary;

/// A table of records in their memory layout, like that of a `Vec` of structures.
///
/// ```text
///  struct Flow { bytes: f32, port: u16, start: f64 }
///
///          0          4      6        8               16
///  row 0   │ bytes    │ port │ padding│ start          │    row 0 as f64: 1.5 80.0 0.25
///  row 1   │ bytes    │ port │ padding│ start          │
/// ```
///
/// The compiler knows the type of the records ([`impl_record!`](crate::impl_record)), or a [`RecordLayout`] describes
/// them at run time. Nothing is copied: a column is a field, at the stride of the records. Adjacent columns of one type
/// at equal distances are read together: records of 16 `f32` are read as fast as a homogeneous table, and borrowed
/// without a copy.
///
/// A block of several types is a converted copy, read in bands of rows. Writing it converts the values back, all or
/// nothing. A writable block of a descriptor is a copy as well, and locks nothing. Cloning shares the memory, O(1); the
/// first write through either table copies it. [`records`](crate::table::records) and
/// [`records_mut`](crate::table::records_mut) create a table from a borrowed slice.
///
/// Source: DAAL `AOSNumericTable`.
///
/// # Examples
/// ```
/// use numeric_table::{AosNumericTable, prelude::*};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Flow {
///     bytes: f32,
///     port: u16,
///     start: f64,
/// }
/// numeric_table::impl_record!(Flow { bytes, port, start });
///
/// let flows = vec![Flow { bytes: 1.5, port: 80, start: 0.25 }, Flow { bytes: 2.5, port: 443, start: 0.5 }];
/// let mut table = AosNumericTable::from_records(flows)?;
/// assert_eq!(table.shape(), Shape { rows: 2, columns: 3 });
/// assert_eq!(table.rows::<f64>(1..)?[..], [2.5, 443.0, 0.5]);
/// assert_eq!(table.column::<u16>(1, ..)?[..], [80, 443]);
///
/// table.update_rows::<f64, _>(.., |block| {
///     (0..block.row_count()).for_each(|row| block.row_mut(row)[1] += 1.0);
///     Ok(())
/// })?;
/// assert_eq!(table.records::<Flow>()?[1].port, 444);
/// let flows: Vec<Flow> = table.into_records()?; // the same memory
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AosNumericTable {
    table: RecordTable<Owned>,
}

impl AosNumericTable {
    /// Creates a table from records: a `Vec`, an [`Array`], or anything that converts to an array. Copies nothing.
    /// O(columns).
    ///
    /// Source: DAAL `create(ptr, columns, rows)`, whose table reports that it has no memory.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`] if the number of values overflows.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*};
    /// #[derive(Clone, Copy)]
    /// struct Point {
    ///     position: [f32; 3],
    ///     hits: u8,
    /// }
    /// numeric_table::impl_record!(Point { position, hits });
    ///
    /// let points = Array::from(vec![Point { position: [0.5, 1.5, 2.5], hits: 3 }; 100]);
    /// let table = AosNumericTable::from_records(points.clone())?; // shared
    /// assert_eq!(table.rows::<f64>(99..)?[..], [0.5, 1.5, 2.5, 3.0]);
    /// assert_eq!(table.dictionary().index_of("position[2]"), Some(2));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_records<P: Record>(records: impl Into<Array<P>>) -> Result<Self> {
        let (records, (places, dictionary)) = (records.into(), describe_records::<P>());
        Shape { rows: records.len(), columns: places.all().len() }.element_count()?;
        let records = Records::of_array(records, places);
        Ok(Self { table: RecordTable::new(records, dictionary, MemoryStatus::UserAllocated) })
    }

    /// Creates a table from records that are given as bytes, in native byte order.
    ///
    /// If every field is aligned in every record, nothing is copied. Otherwise the records are copied into memory of
    /// the library, with the layout [`aligned`](RecordLayout::aligned), which [`layout`](Self::layout) then returns.
    /// Fields that overlap are read-only: writing fails with [`ErrorKind::OverlappingFields`].
    ///
    /// Source: DAAL `create(structSize, ...)`, `setFeature`, `setArray`.
    ///
    /// # Errors
    /// [`ErrorKind::RecordLayout`] if a record has zero bytes, or if the last record is incomplete;
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*, table::RecordLayout};
    /// // 5 bytes each, so that no number but the first is aligned.
    /// let layout = RecordLayout::new(5).field("kind", ElementType::U8, 0)?.field("x", ElementType::F32, 1)?;
    /// let record = |kind: u8, x: f32| [&[kind][..], &x.to_ne_bytes()].concat();
    /// let table = AosNumericTable::from_record_bytes([record(7, 1.5), record(8, 2.5)].concat(), &layout)?;
    /// assert_eq!(table.rows::<f64>(..)?[..], [7.0, 1.5, 8.0, 2.5]);
    /// assert_eq!((table.layout().size(), table.layout().offset(1)?), (8, 4)); // copied
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_record_bytes(bytes: impl Into<Array<u8>>, layout: &RecordLayout) -> Result<Self> {
        let (bytes, size) = (bytes.into(), layout.size());
        if size == 0 {
            return Err(Error::record_layout(None, "a record must have at least one byte"));
        }
        let rows = bytes.len() / size;
        if rows * size != bytes.len() {
            return Err(Error::record_layout(
                None,
                format!("{} bytes do not divide into records of {size} bytes", bytes.len()),
            ));
        }
        let (dictionary, overlap) = (layout.dictionary()?, layout.overlap());
        Shape { rows, columns: layout.len() }.element_count()?;
        if let Some(places) = Places::new(layout, overlap).map(Arc::new) {
            return match Records::of_bytes(bytes, places.clone(), false) {
                Ok(records) => Ok(Self::of(records, dictionary, MemoryStatus::UserAllocated)),
                Err(bytes) => Self::of_own_bytes(Array::copied(&bytes, CopyKind::Exchanged)?, places, dictionary),
            };
        }
        let aligned = layout.aligned()?;
        let mut copy = Array::zeros(bytes_of(rows, &aligned)?)?;
        Repacking::new(layout, &aligned)?.par_copy(&bytes, copy.mutable_data()?);
        trace::record(CopyKind::Exchanged, copy.len());
        Self::of_own(copy, &aligned, overlap)
    }

    /// Creates a table of zeros, in memory of the library. If a field is not aligned, the layout becomes
    /// [`aligned`](RecordLayout::aligned).
    ///
    /// Source: DAAL `create(structSize, ...)` with `allocateDataMemory`.
    ///
    /// # Errors
    /// [`ErrorKind::RecordLayout`], [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*, table::RecordLayout};
    /// let layout = RecordLayout::new(16).field("x", ElementType::F64, 0)?.field("count", ElementType::U32, 8)?;
    /// let mut table = AosNumericTable::zeros(&layout, 3)?;
    /// table.set_value(2, 1, 7)?;
    /// assert_eq!(table.rows::<f64>(1..)?[..], [0.0, 0.0, 0.0, 7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn zeros(layout: &RecordLayout, rows: usize) -> Result<Self> {
        let aligned = if layout.is_aligned() { layout.clone() } else { layout.aligned()? };
        Self::of_own(Array::zeros(bytes_of(rows, &aligned)?)?, &aligned, layout.overlap())
    }

    /// Creates a table from complete records in the library's memory, with an aligned layout. `overlap` is that of the
    /// records' previous layout.
    pub(crate) fn of_own(bytes: Array<u8>, layout: &RecordLayout, overlap: Option<(usize, usize)>) -> Result<Self> {
        let places = Places::new(layout, overlap)
            .ok_or_else(|| Error::record_layout(None, "a record must have at least one byte"))?;
        Self::of_own_bytes(bytes, Arc::new(places), layout.dictionary()?)
    }

    fn of_own_bytes(bytes: Array<u8>, places: Arc<Places>, dictionary: DataDictionary) -> Result<Self> {
        let records = match Records::of_bytes(bytes, places.clone(), true) {
            Ok(records) => records,
            // A vector's memory may be aligned for bytes only; that of a copy is aligned for any record.
            Err(bytes) => match Records::of_bytes(Array::copied(&bytes, CopyKind::Exchanged)?, places, true) {
                Ok(records) => records,
                Err(_) => unreachable!("the library's memory is aligned"),
            },
        };
        Ok(Self::of(records, dictionary, MemoryStatus::InternallyAllocated))
    }

    fn of(records: Records<Owned>, dictionary: DataDictionary, owner: MemoryStatus) -> Self {
        Self { table: RecordTable::new(records, dictionary, owner) }
    }

    /// Borrows the records.
    ///
    /// Records that are given as bytes can be borrowed as a type that has the same fields at the same offsets, the same
    /// size, and only padding besides. Names are not compared.
    ///
    /// # Errors
    /// [`ErrorKind::RecordLayout`] if the records are of another type.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*, table::RecordLayout};
    /// #[derive(Clone, Copy)]
    /// #[repr(C)]
    /// struct Pair {
    ///     x: f32,
    ///     count: u32,
    /// }
    /// numeric_table::impl_record!(Pair { x, count });
    ///
    /// let table = AosNumericTable::zeros(&RecordLayout::of::<Pair>(), 5)?;
    /// assert_eq!(table.records::<Pair>()?.len(), 5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn records<P: Record>(&self) -> Result<&[P]> {
        self.table.records.records().ok_or_else(mismatch::<P>)
    }

    /// Borrows the records for writing. Shared or immutable memory is copied first.
    ///
    /// # Errors
    /// Those of [`records`](Self::records); [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*};
    /// #[derive(Clone, Copy)]
    /// struct Pair {
    ///     x: f32,
    ///     count: u32,
    /// }
    /// numeric_table::impl_record!(Pair { x, count });
    ///
    /// let mut table = AosNumericTable::from_records(vec![Pair { x: 0.5, count: 1 }])?;
    /// let before = table.clone();
    /// table.records_mut::<Pair>()?[0].count = 9;
    /// assert_eq!((table.value::<u32>(0, 1)?, before.value::<u32>(0, 1)?), (9, 1));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn records_mut<P: Record>(&mut self) -> Result<&mut [P]> {
        self.table.records.records_mut()?.ok_or_else(mismatch::<P>)
    }

    /// Returns the records: the `Vec` that the table was created from, or a copy if the `Vec` is shared.
    ///
    /// # Errors
    /// Those of [`records`](Self::records) and [`ErrorKind::OutOfMemory`], each with the table.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::AosNumericTable;
    /// #[derive(Clone, Copy)]
    /// struct Pair {
    ///     x: f32,
    ///     count: u32,
    /// }
    /// numeric_table::impl_record!(Pair { x, count });
    ///
    /// let pairs = vec![Pair { x: 0.5, count: 1 }];
    /// let address = pairs.as_ptr();
    /// assert_eq!(AosNumericTable::from_records(pairs)?.into_records::<Pair>()?.as_ptr(), address);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "the table is given back")]
    pub fn into_records<P: Record>(self) -> Result<Vec<P>, Rejected<Self>> {
        let Self { table: RecordTable { id, records, dictionary, owner } } = self;
        let records = match records.into_vec::<P>() {
            Ok(records) => return Ok(records),
            Err(records) => records,
        };
        let table = Self { table: RecordTable { id, records, dictionary, owner } };
        let copy = table.records::<P>().and_then(|records| {
            let mut copy = Vec::new();
            copy.try_reserve_exact(records.len()).map_err(|_| Error::out_of_memory(size_of_val(records)))?;
            copy.extend_from_slice(records);
            trace::record(CopyKind::Requested, size_of_val(records));
            Ok(copy)
        });
        copy.map_err(|error| Rejected::new(table, error))
    }

    /// Returns the offset of each column in a record, with its metadata from the dictionary. O(columns).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*, table::RecordLayout};
    /// // Columns out of the order of their offsets stay where they are.
    /// let layout = RecordLayout::new(8).field("b", ElementType::F32, 4)?.field("a", ElementType::F32, 0)?;
    /// assert_eq!(AosNumericTable::zeros(&layout, 1)?.layout(), layout);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn layout(&self) -> RecordLayout {
        let places = self.table.records.places();
        let offsets = places.all().iter().map(|place| place.offset);
        RecordLayout::of_features(places.size(), self.table.dictionary.iter().cloned().zip(offsets))
    }
}

/// Returns the size in bytes of the given number of records.
fn bytes_of(rows: usize, layout: &RecordLayout) -> Result<usize> {
    Shape { rows, columns: layout.len() }.element_count()?;
    Shape { rows, columns: layout.size() }.element_count() // of bytes
}

fn mismatch<P>() -> Error {
    Error::record_layout(
        None,
        format!("the records are not of type {}: their fields or offsets differ", type_name::<P>()),
    )
}

/// Shares the records: O(1). The first write through either table copies them.
impl Clone for AosNumericTable {
    fn clone(&self) -> Self {
        let RecordTable { records, dictionary, owner, .. } = &self.table;
        Self::of(records.share(), dictionary.clone(), *owner)
    }
}

impl fmt::Debug for AosNumericTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe("AosNumericTable", self, f)
    }
}

impl NumericTable for AosNumericTable {
    forwards_reading!(self, self.table);
    forwards_writing!(self, self.table);

    fn kind(&self) -> TableKind {
        TableKind::ARRAY_OF_STRUCTURES
    }

    /// O(1) for fewer rows, which stay in place. For more rows, the records are copied into memory of the library, at
    /// least half as large again: amortized O(1) per appended row. Tables of records with fields that are not columns
    /// cannot grow.
    fn resize(&mut self, rows: usize) -> Result<()> {
        let columns = self.column_count();
        Shape { rows, columns }.element_count()?;
        let grows = rows > self.row_count();
        self.table.records.resize(rows)?;
        if grows {
            self.table.owner = MemoryStatus::InternallyAllocated;
        }
        Ok(())
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn as_any_mut(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}
