//! Arrays whose element type is known only at run time. They allow [`NumericTable`](crate::table::NumericTable) to be
//! used as `dyn`.
//!
//! Invariant: an erased array is an `Array<T>` of the Rust type `T` of `element`. [`Array`] is `repr(C)`, and only the
//! type of a pointer in it depends on `T`, so it can be cast to an array of [`Opaque`] and back.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Range;

use super::Array;
use crate::base::element::{Element, ElementType, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::trace::{self, CopyKind};
use crate::window::{AnySlice, AnySliceMut};

/// Represents the erased element type. Every element type is `Send` and `Sync`. No value of this type is ever read.
enum Opaque {}

/// A shared array of any element type: an [`Array<T>`] whose `T` is known only at run time.
///
/// # Examples
/// ```
/// use numeric_table::{AnyArray, Array};
/// let any = AnyArray::new(Array::from(vec![1_u16, 2]));
/// assert_eq!(any.len(), 2);
/// assert!(any.downcast::<u16>().is_ok());
/// ```
#[derive(Clone)]
pub struct AnyArray {
    array: Array<Opaque>,
    element: ElementType,
}

/// A borrowed array of any element type: an `&Array<T>` whose `T` is known only at run time.
///
/// # Examples
/// ```
/// use numeric_table::{Array, array::AnyArrayRef};
/// let array = Array::from(vec![1_u16, 2]);
/// assert!(AnyArrayRef::new(&array).downcast::<u16>().is_some());
/// ```
#[derive(Clone, Copy)]
pub struct AnyArrayRef<'a> {
    array: &'a Array<Opaque>,
    element: ElementType,
}

impl<'a> AnyArrayRef<'a> {
    /// Erases the element type of a borrowed array.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Array, array::AnyArrayRef};
    /// let array = Array::from(vec![1_i64, 2, 3]);
    /// assert!(AnyArrayRef::new(&array).downcast::<u64>().is_none());
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<T: Element>(array: &'a Array<T>) -> Self {
        // SAFETY: the same fields in the same places (`repr(C)`), whatever `T` is; no elements are read through it.
        let array = unsafe { &*std::ptr::from_ref(array).cast::<Array<Opaque>>() };
        Self { array, element: T::TYPE }
    }

    /// Returns the array if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Array, array::AnyArrayRef};
    /// let array = Array::from(vec![1_i64, 2, 3]);
    /// assert_eq!(AnyArrayRef::new(&array).downcast::<i64>().unwrap().len(), 3);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn downcast<T: Element>(self) -> Option<&'a Array<T>> {
        // SAFETY: it is an `Array<T>` (invariant): `Element` is sealed and `TYPE` differs from type to type.
        (T::TYPE == self.element).then(|| unsafe { &*std::ptr::from_ref(self.array).cast::<Array<T>>() })
    }

    /// Returns the element type of the values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Array, ElementType, array::AnyArrayRef};
    /// let array = Array::from(vec![1.5_f64, 2.5]);
    /// assert_eq!(AnyArrayRef::new(&array).element_type(), ElementType::F64);
    /// ```
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Returns an array that shares a range of the elements.
    ///
    /// # Errors
    /// Those of [`Array::slice`].
    pub(crate) fn slice(self, range: Range<usize>) -> Result<AnyArray> {
        match_element!(self.element, T => match self.downcast::<T>() {
            Some(array) => Ok(AnyArray::new(array.slice(range)?)),
            None => Ok(AnyArray::default()), // never: `T` is its type
        })
    }

    #[inline]
    pub(crate) fn as_slice(self) -> AnySlice<'a> {
        // SAFETY: it is an `Array<T>` of the Rust type of `element` (invariant), whose elements are valid for reads as
        // long as the array is borrowed.
        unsafe { AnySlice::from_raw_parts(self.array.data.as_ptr().cast(), self.array.count, self.element) }
    }
}

impl AnyArray {
    /// Erases the element type of an array.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let array = Array::from(vec![1_i64, 2, 3]);
    /// let any = AnyArray::new(array.clone());
    /// assert!(any.downcast_ref::<i64>().unwrap().shares_memory_with(&array)); // nothing is copied
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<T: Element>(array: Array<T>) -> Self {
        // SAFETY: as in `AnyArrayRef::new`; the old array is not dropped, so that the share moves.
        let array = unsafe { std::ptr::from_ref(&*ManuallyDrop::new(array)).cast::<Array<Opaque>>().read() };
        Self { array, element: T::TYPE }
    }

    /// Returns the array if its element type is `T`.
    ///
    /// # Errors
    /// Returns the array unchanged if its element type is not `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let any = AnyArray::new(Array::from(vec![1_i64, 2, 3]));
    /// let any = any.downcast::<u64>().unwrap_err(); // returned unchanged
    /// assert_eq!(any.downcast::<i64>().unwrap()[..], [1, 2, 3]);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn downcast<T: Element>(self) -> Result<Array<T>, Self> {
        if T::TYPE != self.element {
            return Err(self);
        }
        // SAFETY: as in `AnyArrayRef::downcast`; the old array is not dropped, so that the share moves.
        Ok(unsafe { std::ptr::from_ref(&ManuallyDrop::new(self).array).cast::<Array<T>>().read() })
    }

    /// Borrows the array if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let any = AnyArray::new(Array::from(vec![1_i64, 2, 3]));
    /// assert_eq!(any.downcast_ref::<i64>().unwrap()[..], [1, 2, 3]);
    /// assert!(any.downcast_ref::<f64>().is_none());
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn downcast_ref<T: Element>(&self) -> Option<&Array<T>> {
        self.as_ref().downcast()
    }

    /// Borrows the array mutably if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let mut any = AnyArray::new(Array::from(vec![1_i64, 2, 3]));
    /// any.downcast_mut::<i64>().unwrap().mutable_data()?[2] = 30;
    /// assert_eq!(any.downcast::<i64>().unwrap()[..], [1, 2, 30]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn downcast_mut<T: Element>(&mut self) -> Option<&mut Array<T>> {
        // SAFETY: as in `AnyArrayRef::downcast`; the borrow is exclusive. Whatever is assigned through it is an
        // `Array<T>`.
        (T::TYPE == self.element).then(|| unsafe { &mut *std::ptr::from_mut(&mut self.array).cast::<Array<T>>() })
    }

    /// Borrows the array without its element type.
    pub(crate) fn as_ref(&self) -> AnyArrayRef<'_> {
        AnyArrayRef { array: &self.array, element: self.element }
    }

    /// Borrows the values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let any = AnyArray::new(Array::from(vec![1.5_f64, 2.5]));
    /// assert_eq!(any.as_slice().downcast::<f64>(), Some(&[1.5, 2.5][..]));
    /// ```
    #[inline]
    pub fn as_slice(&self) -> AnySlice<'_> {
        self.as_ref().as_slice()
    }

    /// Borrows the values for writing. Copies them first if other arrays share them or their owner lends them
    /// read-only.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn need_mutable_data(&mut self) -> Result<AnySliceMut<'_>> {
        match_element!(self.element, T => match self.downcast_mut::<T>() {
            Some(array) => array.need_mutable_data().map(AnySliceMut::new),
            None => Ok(AnySliceMut::new::<T>(&mut [])), // never: `T` is its type
        })
    }

    /// Allocates zeros of an element type that is known only at run time.
    ///
    /// # Errors
    /// Those of [`Array::zeros`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, ElementType};
    /// let array = AnyArray::zeros(ElementType::I16, 3)?;
    /// assert_eq!(array.downcast_ref::<i16>().unwrap()[..], [0, 0, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn zeros(element: ElementType, count: usize) -> Result<Self> {
        match_element!(element, T => Ok(Self::new(Array::<T>::zeros(count)?)))
    }

    /// Returns an array of another length: the first values, followed by zeros. A shorter array shares the memory.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::AnyArray;
    /// let array = AnyArray::from(vec![1_u8, 2, 3]);
    /// assert_eq!(array.resized(4)?.downcast_ref::<u8>().unwrap()[..], [1, 2, 3, 0]);
    /// assert_eq!(array.resized(2)?.len(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn resized(&self, count: usize) -> Result<Self> {
        match_element!(self.element, T => {
            let Some(old) = self.downcast_ref::<T>() else { return Self::zeros(self.element, count) }; // never
            if count <= old.len() {
                return Ok(Self::new(old.slice(..count)?));
            }
            let mut new = Array::<T>::zeros(count)?;
            new.mutable_data()?[..old.len()].copy_from_slice(old);
            trace::record(CopyKind::Grown, old.size_in_bytes());
            Ok(Self::new(new))
        })
    }

    /// Returns the element type of the values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array, ElementType};
    /// let any = AnyArray::new(Array::from(vec![1.5_f64, 2.5]));
    /// assert_eq!(any.element_type(), ElementType::F64);
    /// ```
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Returns the number of values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let any = AnyArray::new(Array::from(vec![1.5_f64, 2.5, 3.5]));
    /// assert_eq!(any.len(), 3); // values, not bytes
    /// ```
    pub const fn len(&self) -> usize {
        self.array.count
    }

    /// Returns whether the array is empty.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// assert!(AnyArray::new(Array::<u8>::from(vec![])).is_empty());
    /// assert!(!AnyArray::new(Array::from(vec![0_u8])).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An empty array of `f32`.
impl Default for AnyArray {
    fn default() -> Self {
        Self::new(Array::<f32>::new())
    }
}

impl<T: Element> From<Array<T>> for AnyArray {
    fn from(array: Array<T>) -> Self {
        Self::new(array)
    }
}

impl<T: Element> From<Vec<T>> for AnyArray {
    fn from(values: Vec<T>) -> Self {
        Self::new(Array::from(values))
    }
}

impl fmt::Debug for AnyArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_slice(), f)
    }
}

impl fmt::Debug for AnyArrayRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_slice(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erased_array_shares_and_frees_as_the_array_does() {
        let array = Array::from(vec![1_i16, 2, 3]);
        let any = AnyArray::new(array.clone());
        assert_eq!(array.owner_count(), 2);
        let other = any.clone();
        assert_eq!(array.owner_count(), 3);
        drop(any);
        let back = other.downcast::<i16>().unwrap();
        assert_eq!(array.owner_count(), 2);
        drop(array);
        assert!(back.has_mutable_data());
    }

    #[test]
    fn an_array_is_given_another_in_its_place() {
        let mut any = AnyArray::new(Array::from(vec![1.5_f32]));
        assert!(any.downcast_mut::<u32>().is_none());
        *any.downcast_mut::<f32>().unwrap() = Array::from(vec![2.5, 3.5]);
        assert_eq!(format!("{any:?} {:?}", any.as_ref()), "f32([2.5, 3.5]) f32([2.5, 3.5])");
        assert_eq!((any.len(), any.element_type()), (2, ElementType::F32));
    }
}
