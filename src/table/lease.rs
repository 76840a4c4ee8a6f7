//! Lending a table's memory to a writable block that outlives the borrow of the table.
//!
//! The array itself moves into the [`Lease`], so that nobody else can reach it, and comes back when the lease is
//! dropped, on whatever thread that happens. The table keeps a [`Lender`], and waits. Nothing here can alias: there is
//! one array, and it is in one place. A clone of a waiting table waits as well, and gets a share of what comes back.
//! Semantics: DESIGN 5.2; in DAAL a descriptor holds a pointer to a member of the table instead.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::Region;
use crate::array::{AnyArray, Array};
use crate::base::element::Element;
use crate::base::error::{Error, Result};

/// The place where the memory comes back.
#[derive(Debug, Default)]
struct Loan {
    returned: Mutex<Returned>,
}

#[derive(Debug, Default)]
struct Returned {
    /// The memory, once the lease has ended and until every waiting table has its share.
    array: Option<AnyArray>,
    /// Tables that have not yet got their share.
    waiting: usize,
}

impl Loan {
    fn lock(&self) -> MutexGuard<'_, Returned> {
        // Each critical section is a few moves that cannot panic half-way: a poisoned state is a whole one.
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory of a table, lent to a writable block. Dropping it gives the memory back.
#[derive(Debug)]
pub struct Lease {
    region: Region,
    /// Where the block's values lie in the array, if the block is written in place.
    in_place: Option<Range<usize>>,
    /// The memory: `None` only while the lease is being dropped.
    array: Option<AnyArray>,
    loan: Arc<Loan>,
}

impl Lease {
    /// Lends `array`. The [`Lender`] stays with the table. `in_place` is where the region's values lie in the array, if
    /// they are to be written there.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::OnceLock;
    /// # use numeric_table::{AnyArray, prelude::*, table::{Lease, Region}};
    /// let array = AnyArray::new(Array::from(vec![1_u8, 2, 3]));
    /// let (lease, lender) = Lease::new(Region { rows: 1..3, columns: 0..1 }, array, Some(1..3));
    /// drop(lease); // the block is released: the memory comes back
    /// let slot = OnceLock::<Array<u8>>::new();
    /// lender.collect(&slot)?;
    /// assert_eq!(slot.get().unwrap()[..], [1, 2, 3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(region: Region, array: AnyArray, in_place: Option<Range<usize>>) -> (Self, Lender) {
        let loan = Arc::new(Loan::default());
        let lender = Lender::join(&loan, &mut loan.lock(), region.rows.clone(), true);
        (Self { region, in_place, array: Some(array), loan }, lender)
    }

    /// Gives the region that was lent.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let lease = table.lease_region(&Region { rows: 1..3, columns: 0..2 }, true)?;
    /// assert_eq!(lease.region(), &Region { rows: 1..3, columns: 0..2 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Tells whether the block is written in place.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert!(table.lease_region(&Region { rows: 1..3, columns: 0..2 }, true)?.is_in_place());
    /// assert!(!table.lease_region(&Region { rows: 0..3, columns: 1..2 }, false)?.is_in_place());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn is_in_place(&self) -> bool {
        self.in_place.is_some()
    }

    /// Borrows the values of a block that is written in place, if their type is `U`.
    pub(crate) fn values<U: Element>(&self) -> Option<&[U]> {
        self.array.as_ref()?.downcast_ref::<U>()?.get(self.in_place.clone()?)
    }

    pub(crate) fn values_mut<U: Element>(&mut self) -> Option<&mut [U]> {
        let range = self.in_place.clone()?;
        if range.is_empty() {
            return Some(&mut []);
        }
        self.array.as_mut()?.downcast_mut::<U>()?.mutable_data().ok()?.get_mut(range)
    }

    /// Borrows the memory that was lent, for writing a converted block back.
    pub(crate) fn array_mut(&mut self) -> Option<&mut AnyArray> {
        self.array.as_mut()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.loan.lock().array = self.array.take();
    }
}

/// The table's end of a [`Lease`]: waits for the memory to come back.
#[derive(Debug)]
pub struct Lender {
    loan: Arc<Loan>,
    rows: Range<usize>,
    /// Whether this is the table whose memory was lent, and not a clone that waits with it.
    is_owner: bool,
    /// Whether this table has got its share. Written under the loan's lock.
    is_done: AtomicBool,
}

impl Lender {
    fn join(loan: &Arc<Loan>, returned: &mut Returned, rows: Range<usize>, is_owner: bool) -> Self {
        returned.waiting += 1;
        Self { loan: Arc::clone(loan), rows, is_owner, is_done: AtomicBool::new(false) }
    }

    /// Lends again, after the memory has come back: without an allocation, unless the old lease is still being dropped.
    pub(crate) fn lend_again(
        mut self,
        region: Region,
        array: AnyArray,
        in_place: Option<Range<usize>>,
    ) -> (Lease, Self) {
        match Arc::get_mut(&mut self.loan) {
            Some(loan) if *self.is_done.get_mut() => {
                loan.returned = Mutex::new(Returned { array: None, waiting: 1 });
                self.is_done = AtomicBool::new(false);
                self.is_owner = true;
                self.rows = region.rows.clone();
                (Lease { region, in_place, array: Some(array), loan: Arc::clone(&self.loan) }, self)
            }
            _ => Lease::new(region, array, in_place),
        }
    }

    /// Returns `true` if this lender was made together with the lease: one that only waits with it has lent nothing.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, prelude::*, table::{Lease, Region}};
    /// let array = AnyArray::new(Array::from(vec![1_u8, 2, 3]));
    /// let region = Region { rows: 0..3, columns: 0..1 };
    /// let (lease, lender) = Lease::new(region.clone(), array.clone(), None);
    /// let (other, _other_lender) = Lease::new(region, array, None);
    /// assert!(lender.has_lent(&lease) && !lender.has_lent(&other));
    /// assert!(!lender.try_clone().unwrap().has_lent(&lease));
    /// ```
    pub fn has_lent(&self, lease: &Lease) -> bool {
        self.is_owner && Arc::ptr_eq(&self.loan, &lease.loan)
    }

    /// Lets another table wait for the same memory, without having lent it; `None` if this one has got its share already.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::OnceLock;
    /// # use numeric_table::{AnyArray, prelude::*, table::{Lease, Region}};
    /// let array = AnyArray::new(Array::from(vec![1_u8, 2, 3]));
    /// let (lease, first) = Lease::new(Region { rows: 0..3, columns: 0..1 }, array, None);
    /// let second = first.try_clone().unwrap();
    /// drop(lease);
    /// let slots = [OnceLock::<Array<u8>>::new(), OnceLock::new()];
    /// first.collect(&slots[0])?;
    /// second.collect(&slots[1])?;
    /// assert!(slots[0].get().unwrap().shares_memory_with(slots[1].get().unwrap()));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn try_clone(&self) -> Option<Self> {
        let mut returned = self.loan.lock();
        let is_waiting = !self.is_done.load(Ordering::Relaxed);
        is_waiting.then(|| Self::join(&self.loan, &mut returned, self.rows.clone(), false))
    }

    /// Puts the memory into `slot`, if it has come back. The last table that waits gets it whole, others a share.
    ///
    /// # Errors
    /// [`Error::BlockOutstanding`] while the block is out; [`Error::ElementTypeMismatch`] if the memory that has come back
    /// has another element type; [`Error::WrongTable`] if there is an array in `slot` already. The memory stays here then,
    /// for a call with the right slot.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::OnceLock;
    /// # use numeric_table::{AnyArray, prelude::*, table::{Lease, Region}};
    /// let array = AnyArray::new(Array::from(vec![1_u8, 2, 3]));
    /// let (lease, lender) = Lease::new(Region { rows: 1..3, columns: 0..1 }, array, Some(1..3));
    /// let slot = OnceLock::<Array<u8>>::new();
    /// assert!(matches!(lender.collect(&slot), Err(Error::BlockOutstanding { rows }) if rows == (1..3)));
    /// drop(lease);
    /// lender.collect(&slot)?;
    /// assert_eq!(slot.get().unwrap()[..], [1, 2, 3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn collect<T: Element>(&self, slot: &OnceLock<Array<T>>) -> Result<()> {
        let mut returned = self.loan.lock();
        if self.is_done.load(Ordering::Relaxed) {
            return Ok(());
        }
        let array = if returned.waiting == 1 { returned.array.take() } else { returned.array.clone() };
        let array = array.ok_or_else(|| Error::BlockOutstanding { rows: self.rows.clone() })?;
        let refused = match array.downcast::<T>() {
            Ok(array) => slot.set(array).err().map(|array| (AnyArray::new(array), Error::WrongTable)),
            Err(array) => {
                let (expected, found) = (T::TYPE, array.element_type());
                Some((array, Error::element_type_mismatch(expected, found)))
            }
        };
        if let Some((array, error)) = refused {
            returned.array = Some(array);
            return Err(error);
        }
        returned.waiting -= 1;
        self.is_done.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        let mut returned = self.loan.lock();
        if !self.is_done.load(Ordering::Relaxed) {
            returned.waiting -= 1;
            if returned.waiting == 0 {
                returned.array = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::element::ElementType;

    fn lend(values: Vec<u8>) -> (Lease, Lender) {
        let region = Region { rows: 0..values.len(), columns: 0..1 };
        let range = 0..values.len();
        Lease::new(region, AnyArray::new(Array::from(values)), Some(range))
    }

    #[test]
    fn memory_comes_back_whole_when_the_lease_is_dropped() {
        let (mut lease, lender) = lend(vec![1, 2]);
        let slot = OnceLock::<Array<u8>>::new();
        assert!(matches!(lender.collect(&slot), Err(Error::BlockOutstanding { rows }) if rows == (0..2)));
        lease.values_mut::<u8>().unwrap()[0] = 9;
        drop(lease);
        lender.collect(&slot).unwrap();
        assert_eq!(&slot.get().unwrap()[..], [9, 2]);
        assert!(slot.get().unwrap().has_mutable_data());
    }

    #[test]
    fn two_waiting_tables_share_what_comes_back() {
        let (lease, first) = lend(vec![1, 2]);
        let second = first.try_clone().unwrap();
        drop(lease);
        let slots = [OnceLock::<Array<u8>>::new(), OnceLock::new()];
        first.collect(&slots[0]).unwrap();
        assert!(first.try_clone().is_none());
        second.collect(&slots[1]).unwrap();
        assert_eq!(slots[0].get().unwrap().owner_count(), 2);
        drop((first, second));
        assert_eq!(slots[0].get().unwrap().owner_count(), 2);
    }

    #[test]
    fn a_slot_of_another_type_or_with_an_array_in_it_is_refused_and_the_memory_stays() {
        let (lease, lender) = lend(vec![1, 2]);
        drop(lease);
        let wrong = OnceLock::<Array<i16>>::new();
        let error = lender.collect(&wrong).unwrap_err();
        assert!(matches!(error, Error::ElementTypeMismatch { expected: ElementType::I16, found: ElementType::U8, .. }));
        let full = OnceLock::from(Array::from(vec![9_u8]));
        assert!(matches!(lender.collect(&full), Err(Error::WrongTable)));
        assert!(wrong.get().is_none() && full.get().unwrap()[..] == [9]);
        let slot = OnceLock::<Array<u8>>::new();
        lender.collect(&slot).unwrap();
        assert_eq!(slot.get().unwrap()[..], [1, 2]);
        assert!(slot.get().unwrap().has_mutable_data());
    }

    #[test]
    fn memory_that_nobody_waits_for_is_freed() {
        let owner = Arc::new([1_u8, 2]);
        let array = Array::from_owner(SharedBytes(Arc::clone(&owner)));
        let (lease, lender) = Lease::new(Region::default(), AnyArray::new(array), None);
        drop(lender);
        drop(lease);
        assert_eq!(Arc::strong_count(&owner), 1);
        let array = Array::from_owner(SharedBytes(Arc::clone(&owner)));
        let (lease, lender) = Lease::new(Region::default(), AnyArray::new(array), None);
        drop(lease);
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(lender);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    struct SharedBytes(Arc<[u8; 2]>);

    impl AsRef<[u8]> for SharedBytes {
        fn as_ref(&self) -> &[u8] {
            &self.0[..]
        }
    }
}
