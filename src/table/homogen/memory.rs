//! The place of a table's array: here, or out on loan.

use std::ops::Range;
use std::sync::OnceLock;

use crate::array::{AnyArray, Array};
use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::table::{Lease, Lender, Region};

/// The array of a table, unless a writable block has it.
///
/// Invariant: `array` is empty only while a [`Lender`] waits for it. It is filled again by the first look after the
/// block has come back, through `&self` if need be.
pub(super) struct Memory<T> {
    array: OnceLock<Array<T>>,
    lender: Option<Lender>,
}

impl<T: Element> Memory<T> {
    pub(super) fn new(array: Array<T>) -> Self {
        Self { array: OnceLock::from(array), lender: None }
    }

    /// Borrows the array.
    ///
    /// # Errors
    /// [`Error::BlockOutstanding`] while it is out.
    #[inline(always)]
    pub(super) fn array(&self) -> Result<&Array<T>> {
        match self.array.get() {
            Some(array) => Ok(array),
            None => self.collect(),
        }
    }

    #[cold]
    fn collect(&self) -> Result<&Array<T>> {
        if let Some(lender) = &self.lender {
            lender.collect(&self.array)?;
        }
        // Without a lender the array is here; with one, `collect` has filled the slot.
        self.array.get().ok_or(Error::BlockOutstanding { rows: 0..0 })
    }

    /// Borrows the array mutably: the handle, not the values.
    ///
    /// # Errors
    /// [`Error::BlockOutstanding`] while it is out.
    pub(super) fn array_mut(&mut self) -> Result<&mut Array<T>> {
        self.array()?; // a lender, if there still is one, has done its work
        self.array.get_mut().ok_or(Error::BlockOutstanding { rows: 0..0 })
    }

    /// Moves the array into a lease.
    ///
    /// # Errors
    /// [`Error::BlockOutstanding`] while it is out.
    pub(super) fn lend(&mut self, region: Region, in_place: Option<Range<usize>>) -> Result<Lease> {
        let array = AnyArray::new(std::mem::take(self.array_mut()?));
        let (lease, lender) = match self.lender.take() {
            Some(lender) => lender.lend_again(region, array, in_place),
            None => Lease::new(region, array, in_place),
        };
        *self = Self { array: OnceLock::new(), lender: Some(lender) };
        Ok(lease)
    }

    /// Returns `true` if the lease was made of this memory, which is still out; not of that of a clone's.
    pub(super) fn has_lent(&self, lease: &Lease) -> bool {
        self.array.get().is_none() && self.lender.as_ref().is_some_and(|lender| lender.has_lent(lease))
    }

    /// Shares the array; while it is out, the copy waits for it as well.
    pub(super) fn share(&self) -> Self {
        loop {
            if let Ok(array) = self.array() {
                return Self::new(array.clone());
            }
            // If the block comes back right now, there is nothing to wait for any more, and the array is here.
            if let Some(lender) = self.lender.as_ref().and_then(Lender::try_clone) {
                return Self { array: OnceLock::new(), lender: Some(lender) };
            }
        }
    }
}
