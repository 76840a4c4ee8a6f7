//! Lending a table's memory to a writable block that outlives the borrow of the table.
//!
//! The array itself moves into the [`Lease`], so nothing else can access it: there is only one array, in one place, and
//! no aliasing. A caller that has both the table and the lease moves the array back without locks or reference counts.
//! If the lease is *dropped* instead, on any thread, it leaves the array in a [`Slot`], where the table finds it. A
//! clone of a table that waits for its array waits too, and shares the array when it is returned.
//! Semantics: DAAL's `BlockDescriptor`, which holds a pointer to a member of the table instead.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::Region;
use crate::array::{AnyArray, Array};
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};

/// Memory that a table has lent to a writable block. [`take_back`](super::Lend::take_back), or dropping the lease,
/// returns it.
///
/// An empty lease holds no memory. Reusing a lease for the same table allocates nothing.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::spi::{Lease, Lend, Region}};
/// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
/// let mut lease = Lease::new();
/// table.lend_region(&Region { rows: 1..2, columns: 0..2 }, Some(ElementType::I16), &mut lease)?;
/// let error = table.as_slice().unwrap_err(); // the lease holds the values
/// assert!(matches!(error.kind(), ErrorKind::BlockOutstanding { .. }));
/// drop(lease);
/// assert_eq!(table.as_slice()?, [1, 2, 3, 4]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Lease {
    region: Region,
    /// The range of the array that holds the region's values, if they are written in place.
    in_place: Option<Range<usize>>,
    /// The lent array.
    array: Option<AnyArray>,
    /// The slot that receives the array if the lease is dropped. Kept for the next use.
    slot: Option<Arc<Slot>>,
    /// The offset, in rows and columns, of the region in the table that the caller knows. That table may contain the
    /// one that lent the memory.
    offset: (usize, usize),
    /// If nothing is lent: a number by which the table recognizes its own state.
    mark: u64,
}

impl Lease {
    /// Stores a number by which the table can detect later changes.
    pub(super) fn mark(&mut self, mark: u64) {
        self.mark = mark;
    }

    pub(super) fn mark_is(&self, mark: u64) -> bool {
        self.mark == mark
    }

    /// Creates an empty lease. Allocates nothing.
    ///
    /// # Examples
    /// ```
    /// assert!(numeric_table::table::spi::Lease::new().is_empty());
    /// ```
    pub const fn new() -> Self {
        Self {
            region: Region { rows: 0..0, columns: 0..0 },
            in_place: None,
            array: None,
            slot: None,
            offset: (0, 0),
            mark: 0,
        }
    }

    /// Returns whether the lease holds no memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::{Lease, Lend, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// let mut lease = Lease::new();
    /// table.lend_region(&Region { rows: 1..2, columns: 0..2 }, Some(ElementType::I16), &mut lease)?;
    /// assert!(!lease.is_empty());
    /// table.take_back(&mut lease)?;
    /// assert!(lease.is_empty());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.array.is_none()
    }

    /// Returns the most recently lent region.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::{Lease, Lend, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// let (mut lease, region) = (Lease::new(), Region { rows: 0..2, columns: 1..2 });
    /// table.lend_region(&region, None, &mut lease)?;
    /// assert_eq!(lease.region(), &region);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Borrows the values of a block that is written in place, if their type is `U`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn values<U: Element>(&self) -> Option<&[U]> {
        self.array.as_ref()?.downcast_ref::<U>()?.get(self.in_place.clone()?)
    }

    /// Returns the number of values of a block that is written in place, if their type is `U`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn value_count<U: Element>(&self) -> Option<usize> {
        let has_type = self.array.as_ref().is_some_and(|array| array.element_type() == U::TYPE);
        Some(self.in_place.as_ref().filter(|_| has_type)?.len())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn values_mut<U: Element>(&mut self) -> Option<&mut [U]> {
        let range = self.in_place.clone()?;
        if range.is_empty() {
            return Some(&mut []);
        }
        self.array.as_mut()?.downcast_mut::<U>()?.own_data()?.get_mut(range)
    }

    /// Ends the previous loan and sets the region without lending anything. [`lend_region`](super::Lend::lend_region)
    /// needs nothing more for a block that is not written in place.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::table::spi::{Lease, Region};
    /// let (mut lease, region) = (Lease::new(), Region { rows: 0..2, columns: 1..2 });
    /// lease.reset(&region);
    /// assert!(lease.is_empty() && lease.region() == &region);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn reset(&mut self, region: &Region) {
        if self.array.is_some() {
            self.end();
        }
        self.place(region, None);
    }

    /// Sets the region, in the table that lends it, and the range of the array that holds its values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn place(&mut self, region: &Region, in_place: Option<Range<usize>>) {
        self.region = region.clone();
        self.in_place = in_place;
        self.offset = (0, 0);
    }

    /// Adds an offset to the region, for a table that contains the lender.
    pub(super) fn move_by(&mut self, (rows, columns): (usize, usize)) {
        self.offset = (self.offset.0.wrapping_add(rows), self.offset.1.wrapping_add(columns));
    }

    /// Returns the position of the region in the table that is now called. This is only a hint: a table that contains
    /// the lender may not have added its offset.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.region.rows.start.wrapping_add(self.offset.0), self.region.columns.start.wrapping_add(self.offset.1))
    }

    /// Checks that the lease is empty, for a table that has not lent anything.
    ///
    /// # Errors
    /// [`ErrorKind::WrongTable`].
    pub(super) fn check_empty(&self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::new(ErrorKind::WrongTable)) }
    }

    /// Returns the memory to its owner among several lenders, trying the `expected` one first. `take_back` returns
    /// whether a lender took the memory.
    ///
    /// # Errors
    /// [`ErrorKind::WrongTable`] if no lender takes it. An empty lease needs no lender.
    pub(super) fn return_to_one_of(
        &mut self,
        lenders: usize,
        expected: usize,
        mut take_back: impl FnMut(usize, &mut Self) -> bool,
    ) -> Result<()> {
        let expected = expected.min(lenders);
        if self.is_empty() || (expected..lenders).chain(0..expected).any(|lender| take_back(lender, self)) {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::WrongTable))
        }
    }

    /// Returns the memory, as dropping does, but keeps the slot for another use.
    pub(crate) fn end(&mut self) {
        if let (Some(array), Some(slot)) = (self.array.take(), &self.slot) {
            slot.leave(array);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.end();
    }
}

/// Holds the array of a dropped lease for the tables that wait for it.
#[derive(Debug, Default)]
struct Slot {
    returned: Mutex<Option<AnyArray>>,
    /// The number of waiting tables: the lender and its clones. Changed under the lock, or by the only table that can
    /// access it: one that is mutably borrowed and has no waiting clones.
    waiting: AtomicUsize,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<AnyArray>> {
        // Each critical section is a few moves that cannot panic midway, so a poisoned state is consistent.
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the array for the waiting tables, or frees it if there are none.
    fn leave(&self, array: AnyArray) {
        let mut returned = self.lock();
        if self.waiting.load(Ordering::Relaxed) > 0 {
            *returned = Some(array);
        }
    }

    /// Stores a share for the other waiting tables after the lender has taken the array back.
    #[cold]
    fn share(&self, array: AnyArray) {
        let mut returned = self.lock();
        if self.waiting.fetch_sub(1, Ordering::Release) > 1 {
            *returned = Some(array); // unless the last of them has just been dropped
        }
    }

    /// Takes the share of one waiting table, if the array has been returned.
    fn collect(&self, returned: &mut Option<AnyArray>) -> Option<AnyArray> {
        let is_last = self.waiting.load(Ordering::Relaxed) == 1;
        let array = if is_last { returned.take() } else { returned.clone() }?;
        self.waiting.fetch_sub(1, Ordering::Release);
        Some(array)
    }
}

/// An array that a table can lend: of a type known at compile time, or of any type.
pub(super) trait Held: Clone + Default {
    fn into_any(self) -> AnyArray;

    /// Returns whether an array has this type.
    fn is(array: &AnyArray) -> bool;

    /// Returns `None` if the array has another type.
    fn from_any(array: AnyArray) -> Option<Self>;

    /// Returns `None` if the array has another type.
    fn of_any(array: &mut AnyArray) -> Option<&mut Self>;
}

impl<T: Element> Held for Array<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn into_any(self) -> AnyArray {
        AnyArray::new(self)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is(array: &AnyArray) -> bool {
        array.element_type() == T::TYPE
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_any(array: AnyArray) -> Option<Self> {
        array.downcast().ok()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of_any(array: &mut AnyArray) -> Option<&mut Self> {
        array.downcast_mut()
    }
}

impl Held for AnyArray {
    fn into_any(self) -> AnyArray {
        self
    }

    fn is(_: &AnyArray) -> bool {
        true
    }

    fn from_any(array: AnyArray) -> Option<Self> {
        Some(array)
    }

    fn of_any(array: &mut AnyArray) -> Option<&mut Self> {
        Some(array)
    }
}

/// A table's array, or where to find it while it is lent.
///
/// Invariant: `array` and `returned` are both empty only while a lease of `slot` holds the array or has left it there;
/// at most one of them is set. [`take_back`](Self::take_back) and [`take_back_if`](Self::take_back_if) set `array`
/// again; the first access after the lease was dropped sets `returned`.
#[derive(Debug)]
pub(super) struct Memory<A> {
    array: Option<A>,
    /// The array, if it was found in the slot through a shared borrow.
    returned: OnceLock<A>,
    slot: Option<Arc<Slot>>,
    /// Whether the slot belongs to this table, and not to the table that it was cloned from.
    is_lender: bool,
    /// The rows of the outstanding block, for errors.
    lent_rows: Range<usize>,
}

impl<A: Held> Memory<A> {
    pub(super) fn new(array: A) -> Self {
        Self { array: Some(array), returned: OnceLock::new(), slot: None, is_lender: false, lent_rows: 0..0 }
    }

    /// Borrows the array, if it is here: neither lent, nor in the slot.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn here(&self) -> Option<&A> {
        self.array.as_ref()
    }

    /// Like [`here`](Self::here), for writing.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn here_mut(&mut self) -> Option<&mut A> {
        self.array.as_mut()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn array(&self) -> Result<&A> {
        match &self.array {
            Some(array) => Ok(array),
            None => self.collect(),
        }
    }

    /// Returns the array if it is now in the slot.
    #[cold]
    fn collect(&self) -> Result<&A> {
        if let Some(slot) = &self.slot {
            let mut in_slot = slot.lock();
            // Another thread may have set it before this one acquired the lock.
            if self.returned.get().is_none()
                && let Some(array) = slot.collect(&mut in_slot)
                && let Some(array) = A::from_any(array)
            {
                let _ = self.returned.set(array); // it was empty and is set only under the lock
            }
        }
        self.returned.get().ok_or_else(|| Error::new(ErrorKind::BlockOutstanding { rows: self.lent_rows.clone() }))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn array_mut(&mut self) -> Result<&mut A> {
        if self.array.is_none() {
            self.collect()?;
            self.array = self.returned.take();
        }
        self.array.as_mut().ok_or_else(|| Error::new(ErrorKind::BlockOutstanding { rows: 0..0 }))
    }

    /// Moves the array into a lease. First returns the array that the lease held.
    ///
    /// # Errors
    /// [`ErrorKind::BlockOutstanding`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn lend(&mut self, region: &Region, in_place: Option<Range<usize>>, lease: &mut Lease) -> Result<()> {
        if self.lend_again(region, in_place.clone(), lease) {
            return Ok(());
        }
        // Copies for the call, so that the ranges are in registers everywhere else.
        self.lend_first(&region.clone(), in_place.clone(), lease)
    }

    /// Moves the array into a lease, if [`lends_again_to`](Self::lends_again_to) says so. Returns whether it did.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lend_again(&mut self, region: &Region, in_place: Option<Range<usize>>, lease: &mut Lease) -> bool {
        let lends = self.lends_again_to(lease);
        if lends {
            self.move_into(region, in_place, lease);
        }
        lends
    }

    /// Returns whether the array is here, and this empty lease has held it before: the case of a descriptor that is
    /// used again.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn lends_again_to(&self, lease: &Lease) -> bool {
        let (Some(slot), Some(known)) = (&self.slot, &lease.slot) else { return false };
        // No table waits: neither this one, which is mutably borrowed and has its array, nor a clone of it. The slots
        // are compared before the acquiring load, after which the compiler reads all memory again.
        Arc::ptr_eq(slot, known)
            && slot.waiting.load(Ordering::Acquire) == 0
            && self.is_lender
            && self.array.is_some()
            && lease.array.is_none()
    }

    /// Moves the array into an empty lease that has the slot of this memory. No table waits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn move_into(&mut self, region: &Region, in_place: Option<Range<usize>>, lease: &mut Lease) {
        let none = std::mem::replace(&mut lease.array, self.array.take().map(A::into_any));
        std::mem::forget(none); // saves the code that would drop an array
        if let Some(slot) = &self.slot {
            slot.waiting.store(1, Ordering::Relaxed);
        }
        self.lent_rows = region.rows.clone();
        lease.place(region, in_place);
    }

    #[inline(never)]
    fn lend_first(&mut self, region: &Region, in_place: Option<Range<usize>>, lease: &mut Lease) -> Result<()> {
        self.array_mut()?;
        lease.end();
        let slot = match &mut self.slot {
            // No table waits, as in `lends_again_to`.
            Some(slot) if self.is_lender && slot.waiting.load(Ordering::Acquire) == 0 => slot,
            slot => slot.insert(Arc::default()),
        };
        lease.slot = Some(Arc::clone(slot));
        self.is_lender = true;
        self.move_into(region, in_place, lease);
        Ok(())
    }

    /// Moves the array back out of a lease.
    ///
    /// # Errors
    /// [`ErrorKind::WrongTable`] if the lease does not belong to this memory, or is empty. The lease is then unchanged.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        if self.take_back_if(lease, |_| true) { Ok(()) } else { self.take_back_shared(lease) }
    }

    /// Calls `work` with the array in a lease, if it is of this memory and no clone of the table waits, and moves it
    /// back if `work` returns `true`. Returns whether it did; if not, the lease is unchanged.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take_back_if(&mut self, lease: &mut Lease, work: impl FnOnce(&mut A) -> bool) -> bool {
        let (Some(slot), Some(known)) = (&self.slot, &lease.slot) else { return false };
        // Only the lender moves an array into a lease with its slot, so that its own array is empty.
        let is_done = Arc::ptr_eq(slot, known)
            && slot.waiting.load(Ordering::Acquire) == 1
            && self.is_lender
            && lease.array.as_mut().and_then(A::of_any).is_some_and(work);
        if is_done && let Some(array) = lease.array.take().and_then(A::from_any) {
            slot.waiting.store(0, Ordering::Relaxed); // only this table waited
            std::mem::forget(self.array.replace(array)); // there was none, by the invariant
        }
        is_done
    }

    /// Like [`take_back`](Self::take_back), if clones of the table wait too.
    #[inline(never)]
    fn take_back_shared(&mut self, lease: &mut Lease) -> Result<()> {
        let slot = self.slot_of(lease).ok_or_else(|| Error::new(ErrorKind::WrongTable))?;
        let Some(array) = lease.array.as_ref().filter(|array| A::is(array)) else {
            return Err(Error::new(ErrorKind::WrongTable));
        };
        slot.share(array.clone());
        self.array = lease.array.take().and_then(A::from_any); // it has this type
        Ok(())
    }

    /// Borrows the array of this memory that a lease holds.
    ///
    /// # Errors
    /// Those of [`take_back`](Self::take_back).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn lent<'l>(&self, lease: &'l mut Lease) -> Result<&'l mut A> {
        self.slot_of(lease).ok_or_else(|| Error::new(ErrorKind::WrongTable))?;
        lease.array.as_mut().and_then(A::of_any).ok_or_else(|| Error::new(ErrorKind::WrongTable))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_out(&self) -> bool {
        self.array.is_none() && self.returned.get().is_none()
    }

    /// Returns the slot, if this memory may have lent its array to the lease.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slot_of(&self, lease: &Lease) -> Option<&Slot> {
        let (slot, known) = (self.slot.as_ref()?, lease.slot.as_ref()?);
        (self.is_lender && Arc::ptr_eq(slot, known) && self.is_out()).then_some(slot)
    }

    /// Returns another handle to the same memory, or one that waits for it too.
    pub(super) fn share(&self) -> Self {
        loop {
            if let Ok(array) = self.array() {
                return Self::new(array.clone());
            }
            let Some(slot) = &self.slot else { return Self::new(A::default()) }; // never: a lent array has a slot
            let in_slot = slot.lock();
            // If the array has been returned in the meantime, there is nothing to wait for.
            if in_slot.is_none() && self.is_out() {
                slot.waiting.fetch_add(1, Ordering::Relaxed);
                let (slot, lent_rows) = (Some(Arc::clone(slot)), self.lent_rows.clone());
                return Self { array: None, returned: OnceLock::new(), slot, is_lender: false, lent_rows };
            }
        }
    }
}

impl<A> Drop for Memory<A> {
    fn drop(&mut self) {
        if let (None, None, Some(slot)) = (&self.array, self.returned.get(), &self.slot) {
            let mut in_slot = slot.lock();
            if slot.waiting.fetch_sub(1, Ordering::Release) == 1 {
                let nobody_waits_for = in_slot.take();
                drop(in_slot);
                drop(nobody_waits_for); // without the lock, because it may call user code
            }
        }
    }
}

#[cfg(test)]
mod tests;
