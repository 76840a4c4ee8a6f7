//! An array whose type guarantees that it is not shared.

use std::ops::{Deref, DerefMut};

use super::Array;
use crate::base::element::Element;
use crate::base::error::Result;

/// An array that is the only one on its block. Writing to it needs no check of the reference count.
#[derive(Debug)]
pub struct UniqueArray<T> {
    /// Invariant: mutable, and the only array on its block; or empty. It is never cloned and never lent as an `Array`.
    array: Array<T>,
}

impl<T> UniqueArray<T> {
    pub(crate) const fn new() -> Self {
        Self { array: Array::new() }
    }
}

impl<T: Element> UniqueArray<T> {
    /// Returns the array, which may then be shared.
    pub fn into_array(self) -> Array<T> {
        self.array
    }

    /// Takes ownership of an array. Copies it if it is shared or immutable.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn from_array(mut array: Array<T>) -> Result<Self> {
        if array.is_empty() {
            return Ok(Self::new());
        }
        array.need_mutable_data()?;
        Ok(Self { array })
    }
}

impl<T> Deref for UniqueArray<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.array
    }
}

impl<T> DerefMut for UniqueArray<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the array is mutable and the only one on its block (field invariant), and `&mut self` proves that
        // nothing borrows from it; or it has no elements.
        unsafe { std::slice::from_raw_parts_mut(self.array.data.as_ptr(), self.array.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_array_is_copied_and_an_unshared_one_is_not() {
        let array = Array::from(vec![1_u8, 2]);
        let address = array.as_ptr();
        let mut unique = UniqueArray::from_array(array.clone()).unwrap();
        unique[0] = 9;
        assert_eq!((&unique[..], &array[..]), (&[9, 2][..], &[1, 2][..]));
        assert_eq!(UniqueArray::from_array(array).unwrap().as_ptr(), address);
        assert!(UniqueArray::from_array(Array::<u8>::new()).unwrap().is_empty());
    }

    #[test]
    fn an_immutable_array_is_copied() {
        let mut unique = UniqueArray::from_array(Array::from(&[1_i32, 2][..])).unwrap();
        unique[1] = 7;
        assert_eq!(unique[..], [1, 7]);
    }
}
