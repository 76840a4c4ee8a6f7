//! The memory of records, owned or borrowed, and windows on their fields. The only unsafe code of this folder.
//!
//! Records are held as bytes that may be uninitialized: padding is copied, and never read. Windows on different fields
//! interleave, but no two have a byte in common: they are pointers with strides, and become a reference only where
//! their own values are contiguous.

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

use super::places::{Place, Places};
use super::{Record, RecordField};
use crate::array::Array;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::convert::ConversionPolicy;
#[cfg(target_arch = "x86_64")]
use crate::convert::level::Level;
use crate::window::{AnyRows, AnyWindow, AnyWindowMut};

/// A byte of a record, or of the padding in it.
type Unit = MaybeUninit<u8>;

/// Records, as bytes: the owner of the bytes, and which of them are which values.
///
/// Invariant: `held` has `rows * places.size()` bytes, at an address that is aligned for every place, also if there are
/// none; the bytes of each place in each row are an initialized value of its element type.
pub(super) struct Records<H> {
    held: H,
    places: Arc<Places>,
    rows: usize,
}

/// The owner of the bytes of records.
///
/// # Safety
/// The pointers are valid for reads of all bytes that are held while `self` is borrowed, that of `start_mut` for writes
/// as well, and nothing else reads or writes them meanwhile. Neither call changes a byte, nor the number of bytes.
pub(super) unsafe trait Hold: Send + Sync {
    fn start(&self) -> *const u8;

    /// # Errors
    /// [`ErrorKind::ReadOnlyTable`]. Nothing is copied.
    fn check_writable(&self) -> Result<()>;

    /// Copies shared or immutable memory first.
    ///
    /// # Errors
    /// [`ErrorKind::ReadOnlyTable`], [`ErrorKind::OutOfMemory`].
    fn start_mut(&mut self) -> Result<*mut u8>;
}

/// Shared memory.
///
/// Invariant: with a `type_id`, the bytes are valid records of that type, aligned for it. Without, all bytes are
/// initialized, or are padding that code outside this module cannot reach.
#[derive(Clone)]
pub(super) struct Owned {
    units: Array<Unit>,
    type_id: Option<TypeId>,
    /// Whether the records have fields that are not columns.
    has_others: bool,
    /// Whether the library has allocated the memory for these records, so that no other code ever reads its padding.
    is_own: bool,
}

/// Records that are borrowed for reading.
pub(super) struct Borrowed<'t>(&'t [Unit]);

/// Records that are borrowed for writing.
pub(super) struct BorrowedMut<'t>(&'t mut [Unit]);

// SAFETY: an array's bytes are borrowed as long as the array is; `mutable_data` checks that nobody shares them.
unsafe impl Hold for Owned {
    fn start(&self) -> *const u8 {
        self.units.as_ptr().cast()
    }

    fn check_writable(&self) -> Result<()> {
        Ok(())
    }

    fn start_mut(&mut self) -> Result<*mut u8> {
        if self.units.mutable_data().is_err() {
            (self.units, self.is_own) = (copy(&self.units, self.units.len())?, true);
            trace::record(CopyKind::Unshared, self.units.len());
        }
        Ok(self.units.mutable_data()?.as_mut_ptr().cast())
    }
}

// SAFETY: the bytes are borrowed for longer than `self`.
unsafe impl Hold for Borrowed<'_> {
    fn start(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    fn check_writable(&self) -> Result<()> {
        Err(Error::new(ErrorKind::ReadOnlyTable))
    }

    fn start_mut(&mut self) -> Result<*mut u8> {
        Err(Error::new(ErrorKind::ReadOnlyTable))
    }
}

// SAFETY: the bytes are borrowed mutably for longer than `self`.
unsafe impl Hold for BorrowedMut<'_> {
    fn start(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    fn check_writable(&self) -> Result<()> {
        Ok(())
    }

    fn start_mut(&mut self) -> Result<*mut u8> {
        Ok(self.0.as_mut_ptr().cast())
    }
}

/// Copies bytes to the beginning of new memory of the library, and fills the rest with zeros.
fn copy(units: &[Unit], length: usize) -> Result<Array<Unit>> {
    let mut copy = match length > units.len() {
        // SAFETY: initialised bytes may be held as ones that need not be; the only share of them is this one.
        true => unsafe { Array::<u8>::zeros(length)?.cast::<Unit>() },
        false => Array::<u8>::uninit(length)?,
    };
    let (kept, _) = copy.mutable_data()?.split_at_mut(units.len().min(length));
    parallel::for_each_chunk_mut(kept, &|offset, chunk| {
        chunk.copy_from_slice(&units[offset..offset + chunk.len()]);
    });
    Ok(copy)
}

/// Checks that places are those of the fields of a type. Panics if not: the callers derive the places from the type.
fn check<P: Record>(places: &Places) {
    const { RecordField::check::<P>() }; // also of a type whose author implements the trait without the macro
    let columns = P::FIELDS.iter().map(|field| field.len()).sum::<usize>();
    assert!(places.size() == size_of::<P>() && places.all().len() == columns, "the places of the record");
    let mut all = places.all().iter();
    for field in P::FIELDS {
        for (index, place) in (&mut all).take(field.len()).enumerate() {
            let size = field.element_type().size_in_bytes();
            let is_there = (place.element, place.offset) == (field.element_type(), field.offset() + index * size);
            assert!(is_there, "the places of the record");
        }
    }
}

impl<'t> Records<Borrowed<'t>> {
    /// Borrows records. Panics unless the places are those of the type.
    pub(super) fn of_slice<P: Record>(records: &'t [P], places: Arc<Places>) -> Self {
        check::<P>(&places);
        let (start, bytes) = (records.as_ptr().cast::<Unit>(), size_of_val(records));
        // SAFETY: the same memory, borrowed for as long; a byte of any value is a `Unit`, which needs no alignment.
        let held = Borrowed(unsafe { std::slice::from_raw_parts(start, bytes) });
        Self { held, places, rows: records.len() }
    }
}

impl<'t> Records<BorrowedMut<'t>> {
    /// Borrows records for writing. Panics unless the places are those of the type.
    pub(super) fn of_slice_mut<P: Record>(records: &'t mut [P], places: Arc<Places>) -> Self {
        check::<P>(&places);
        let (rows, bytes) = (records.len(), size_of_val(records));
        // SAFETY: the same memory, borrowed mutably for as long. Only whole values are written, into fields of numbers:
        // each record stays a valid one.
        let held = BorrowedMut(unsafe { std::slice::from_raw_parts_mut(records.as_mut_ptr().cast::<Unit>(), bytes) });
        Self { held, places, rows }
    }
}

impl Records<Owned> {
    /// Takes ownership of an array of records. Panics unless the places are those of the type.
    pub(super) fn of_array<P: Record>(records: Array<P>, places: Arc<Places>) -> Self {
        check::<P>(&places);
        let rows = records.len();
        // SAFETY: a byte of any value is a `Unit`. What is written is values into fields of numbers, or whole records:
        // whoever holds another share finds valid records.
        let units = unsafe { records.cast::<Unit>() };
        let (type_id, has_others) = (Some(TypeId::of::<P>()), !P::IS_WHOLE);
        Self { held: Owned { units, type_id, has_others, is_own: false }, places, rows }
    }

    /// Takes ownership of bytes. Bytes after the last complete record are unused. Returns the bytes if they are not
    /// aligned.
    pub(super) fn of_bytes(bytes: Array<u8>, places: Arc<Places>, is_own: bool) -> Result<Self, Array<u8>> {
        if !bytes.as_ptr().addr().is_multiple_of(places.alignment()) {
            return Err(bytes);
        }
        let rows = bytes.len() / places.size();
        // SAFETY: a byte is a `Unit`. What is written is values into places: all bytes stay initialised. `records_mut`
        // copies before it lends padding for writing.
        let units = unsafe { bytes.part(0..rows * places.size()).cast::<Unit>() };
        Ok(Self { held: Owned { units, type_id: None, has_others: false, is_own }, places, rows })
    }

    /// Returns the same records, shared. O(1).
    pub(super) fn share(&self) -> Self {
        Self { held: self.held.clone(), places: self.places.clone(), rows: self.rows }
    }

    /// Keeps the first records, or appends zeros.
    ///
    /// # Errors
    /// [`ErrorKind::ReadOnlyTable`] if zeros may not be valid records, because they have fields that are not columns;
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`]. The records are unchanged.
    pub(super) fn resize(&mut self, rows: usize) -> Result<()> {
        let shape = Shape { rows, columns: self.places.size() }; // of bytes
        let bytes = shape.element_count()?;
        if rows <= self.rows {
            self.held.units = self.held.units.part(0..bytes);
        } else if self.held.has_others {
            return Err(Error::new(ErrorKind::ReadOnlyTable));
        } else if !self.held.units.append_zero_bytes(bytes - self.held.units.len()) {
            // Without other fields, zeros are a valid record of any type that the bytes may have. Allocates half as
            // much memory again, if the size allows it, so that the next records cost no copy.
            let half = self.held.units.len() / 2;
            let grown = (self.held.units.len() + half).next_multiple_of(self.places.size().max(1)).max(bytes);
            let copied = copy(&self.held.units, grown).or_else(|_| copy(&self.held.units, bytes))?;
            trace::record(CopyKind::Grown, self.held.units.len());
            (self.held.units, self.held.is_own) = (copied.part(0..bytes), true);
        }
        self.rows = rows;
        Ok(())
    }

    /// Returns whether the memory holds records of a type, or can be reinterpreted as such.
    fn are<P: Record>(&self) -> bool {
        const { RecordField::check::<P>() };
        let is_type = self.held.type_id == Some(TypeId::of::<P>());
        is_type
            || (!self.held.has_others && self.places.are_of::<P>() && self.held.units.as_ptr().cast::<P>().is_aligned())
    }

    /// Borrows the records, if they are of type `P`.
    pub(super) fn records<P: Record>(&self) -> Option<&[P]> {
        // SAFETY: the bytes are valid records of the type, aligned for it (invariant of `Owned`); or all of its bytes
        // are fields, which are initialised numbers, or padding, and the address is aligned (`are`). There are `rows`
        // records of that size, borrowed with `self`.
        self.are::<P>().then(|| unsafe { std::slice::from_raw_parts(self.held.units.as_ptr().cast::<P>(), self.rows) })
    }

    /// Borrows the records for writing, if they are of type `P`. Shared or immutable memory is copied first.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn records_mut<P: Record>(&mut self) -> Result<Option<&mut [P]>> {
        if !self.are::<P>() {
            return Ok(None);
        }
        // The owner of lent bytes, or of records of another type, may read bytes that are padding of this one.
        let is_type = self.held.type_id == Some(TypeId::of::<P>());
        if !is_type && !self.held.is_own && self.places.have_gaps() {
            (self.held.units, self.held.is_own) = (copy(&self.held.units, self.held.units.len())?, true);
            trace::record(CopyKind::Unshared, self.held.units.len());
        }
        let start = self.held.start_mut()?.cast::<P>();
        // SAFETY: as in `records`; a copy is aligned for every record (`RecordField::check`). `start_mut` has checked
        // that nothing else reads or writes the bytes, and `self` is borrowed mutably. Any record that is written is a
        // valid one of each type that the memory may be taken for: those have the same fields and the same padding.
        Ok(Some(unsafe { std::slice::from_raw_parts_mut(start, self.rows) }))
    }

    /// Returns the `Vec` of records that this was created from, or `self` unchanged if it is shared or was created from
    /// something else.
    pub(super) fn into_vec<P: Record>(self) -> Result<Vec<P>, Self> {
        if self.held.type_id != Some(TypeId::of::<P>()) {
            return Err(self);
        }
        let Self { held: Owned { units, type_id, has_others, is_own }, places, rows } = self;
        // SAFETY: valid records of the type, aligned for it (invariant of `Owned`).
        let records = unsafe { units.cast::<P>() };
        records.try_into_vec().map_err(|records| {
            // SAFETY: as in `of_array`.
            let units = unsafe { records.cast::<Unit>() };
            Self { held: Owned { units, type_id, has_others, is_own }, places, rows }
        })
    }
}

impl<H: Hold> Records<H> {
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the size of all records in bytes.
    pub(super) fn size_in_bytes(&self) -> usize {
        self.rows * self.places.size() // cannot overflow: the records exist
    }

    /// Converts all columns of some rows at once, if there is a loop for it, and the policy may refuse no value.
    /// Returns whether it did. Panics if the shapes differ; callers have checked.
    #[inline]
    pub(super) fn convert(&self, rows: &Range<usize>, target: &mut AnyRows<'_>, policy: ConversionPolicy) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(whole) = self.places.whole()
            && whole.is_for(Level::chosen(), target.element_type(), policy)
        {
            assert!(rows.start <= rows.end && rows.end <= self.rows, "rows of the table");
            assert_eq!((target.rows(), target.columns()), (rows.len(), self.places.all().len()), "the shape");
            let (size, to_stride, count) = (self.places.size(), target.row_stride(), rows.len());
            let (to, memory) = (target.as_mut_ptr().cast::<f64>(), self.size_in_bytes());
            // SAFETY: the fields of the loop are these places, and `is_for` proves that the machine can run it. The
            // rows are rows of the records (asserted), so that their start is in the memory, and each place in them is
            // an initialised value, borrowed with `self`. The target is of `f64` (`is_for`), aligned as such, borrowed
            // exclusively, and has the same shape (asserted).
            unsafe { whole.convert(self.held.start().add(rows.start * size), count, to, to_stride, memory) };
            return true;
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (rows, target, policy);
        false
    }

    /// Returns the first column of the group of a column, and the group's window. `None` past the last column.
    pub(super) fn window(&self, column: usize) -> Option<(usize, AnyWindow<'_>)> {
        let place = self.places.all().get(column)?;
        let (offset, geometry) = self.places.window(place, self.rows);
        // SAFETY: every position of the window is the place of a column of the group in one of the rows: an initialised
        // value of this type, aligned for it, and borrowed with `self`. Without rows, the start stays where it is.
        let window = unsafe {
            let start = self.held.start().add(if self.rows > 0 { offset } else { 0 });
            AnyWindow::from_raw_parts(start, geometry, place.element)
        };
        Some((place.first, window))
    }

    /// Returns the end of the group of a column. `None` past the last column.
    pub(super) fn group(&self, column: usize) -> Option<usize> {
        self.places.all().get(column).map(|place| place.first + place.width)
    }

    /// Checks that values can be written. Copies nothing.
    ///
    /// # Errors
    /// [`ErrorKind::OverlappingFields`], [`ErrorKind::ReadOnlyTable`].
    pub(super) fn check_writable(&self) -> Result<()> {
        if let Some((first, second)) = self.places.overlap() {
            return Err(Error::new(ErrorKind::OverlappingFields { first, second }));
        }
        self.held.check_writable()
    }

    /// Returns the windows of all groups for writing, each with its first column.
    ///
    /// # Errors
    /// Those of [`check_writable`](Self::check_writable); [`ErrorKind::OutOfMemory`].
    pub(super) fn windows_mut(&mut self) -> Result<Vec<(usize, AnyWindowMut<'_>)>> {
        self.check_writable()?;
        let (start, rows, places) = (self.held.start_mut()?, self.rows, &self.places);
        // SAFETY: the start is that of the records, borrowed mutably with `self`. Each column is in one group, and no
        // two places have a byte in common (checked above): so no two positions, of one window or of two, are the same
        // bytes.
        Ok(places.groups().map(|place| (place.first, unsafe { window_mut(start, places, place, rows) })).collect())
    }

    /// Returns the window of the group of a column, for writing. `None` past the last column.
    ///
    /// # Errors
    /// Those of [`windows_mut`](Self::windows_mut).
    pub(super) fn window_mut(&mut self, column: usize) -> Result<Option<(usize, AnyWindowMut<'_>)>> {
        self.check_writable()?;
        let (start, rows, places) = (self.held.start_mut()?, self.rows, &self.places);
        // SAFETY: as in `windows_mut`; this window is the only one.
        let window = |place: &Place| (place.first, unsafe { window_mut(start, places, place, rows) });
        Ok(places.all().get(column).map(window))
    }
}

/// Returns the window of a place's group.
///
/// # Safety
/// `start` must be that of the records whose places these are, mutably borrowed for `'w`; no two places of the group
/// may have a byte in common, nor may another window name any of them.
unsafe fn window_mut<'w>(start: *mut u8, places: &Places, place: &Place, rows: usize) -> AnyWindowMut<'w> {
    let (offset, geometry) = places.window(place, rows);
    // SAFETY: every position is the place of a column of the group in one of the rows: a value of this type, aligned
    // for it (invariant of `Records`). Records follow each other, so that different rows are different bytes; different
    // columns are by the caller's promise. Without rows, the start stays where it is.
    unsafe {
        let start = start.add(if rows > 0 { offset } else { 0 });
        AnyWindowMut::from_raw_parts(start, geometry, place.element)
    }
}
