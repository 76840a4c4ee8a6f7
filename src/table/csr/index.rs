//! Row offsets and column indices in an integer type that the caller chooses.
//!
//! Invariant of [`Indices`]: the type is one of the four, and every number is in the range of `usize` and not below
//! `base`; checked where a table is made.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;

use crate::array::{AnyArray, Array};
use crate::base::element::{Element, ElementType};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result, SparseFault};
use crate::window::AnySlice;

/// A type for offsets and indices.
pub(super) trait Index: Element + Ord {
    /// Converts a number that has been checked.
    fn number(self) -> usize;

    /// Converts the number to `usize`, if it fits.
    fn checked(self) -> Option<usize>;

    /// Converts an index to this type, if it fits.
    fn of(number: usize) -> Option<Self>;
}

macro_rules! index {
    ($($native:ty)*) => {$(
        impl Index for $native {
            #[inline(always)]
            fn number(self) -> usize {
                self as usize
            }

            #[inline(always)]
            fn checked(self) -> Option<usize> {
                usize::try_from(self).ok()
            }

            #[inline(always)]
            fn of(number: usize) -> Option<Self> {
                Self::try_from(number).ok()
            }
        }
    )*};
}
index!(i32 u32 i64 u64);

/// `match_index!(element_type, I => body, else other)`: `body`, compiled for each index type; `other` for any other
/// element type.
macro_rules! match_index {
    ($element_type:expr, $I:ident => $body:expr, else $other:expr) => {
        match $element_type {
            crate::base::element::ElementType::I32 => {
                type $I = i32;
                $body
            }
            crate::base::element::ElementType::U32 => {
                type $I = u32;
                $body
            }
            crate::base::element::ElementType::I64 => {
                type $I = i64;
                $body
            }
            crate::base::element::ElementType::U64 => {
                type $I = u64;
                $body
            }
            _ => $other,
        }
    };
}
pub(super) use match_index;

/// `match_checked_index!(element_type, I => body, else other)`: like [`match_index!`], for numbers that have been
/// checked (offsets are checked before indices): none is negative, and so `i64` is read as `u64`. (`i32` is not read as
/// `u32`: not all processors compare vectors of those.)
macro_rules! match_checked_index {
    ($element_type:expr, $I:ident => $body:expr, else $other:expr) => {
        match $element_type {
            crate::base::element::ElementType::I32 => {
                type $I = i32;
                $body
            }
            crate::base::element::ElementType::U32 => {
                type $I = u32;
                $body
            }
            crate::base::element::ElementType::I64 | crate::base::element::ElementType::U64 => {
                type $I = u64;
                $body
            }
            _ => $other,
        }
    };
}
pub(super) use match_checked_index;

/// Checks that an array has an index type; `part` names the array in the error.
pub(super) fn check_type(part: &'static str, found: ElementType) -> Result<()> {
    let is_index = match_index!(found, I => I::of(0).is_some(), else false);
    if is_index { Ok(()) } else { Err(Error::not_an_index(part, found)) }
}

/// Borrowed row offsets or column indices, counted from zero, in the type in which they are stored: `i32`, `u32`, `i64`
/// or `u64`.
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*};
/// let shape = Shape { rows: 2, columns: 4 };
/// let table = CsrNumericTable::try_new(shape, vec![0_u32, 2, 3], vec![0_i64, 3, 1], vec![1.5_f32, 2.5, 3.5])?;
/// let columns = table.indices();
/// assert_eq!((columns.len(), columns.get(1), columns.get(3)), (3, Some(3), None));
/// assert_eq!(columns.iter().collect::<Vec<_>>(), [0, 3, 1]);
/// assert_eq!(columns.downcast::<i64>(), Some(&[0, 3, 1][..])); // the memory itself
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Indices<'t> {
    values: AnySlice<'t>,
    /// The number to subtract from each stored one.
    base: usize,
}

impl<'t> Indices<'t> {
    /// Creates a view on numbers that have been checked.
    #[inline]
    pub(super) fn new(values: AnySlice<'t>, base: usize) -> Self {
        Self { values, base }
    }

    /// Returns the number of offsets or indices.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1.5, 2.5])?;
    /// assert_eq!(table.offsets().len(), 3); // one more than rows
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether the number of offsets or indices is zero.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 0], Vec::<i32>::new(), Vec::<f32>::new())?;
    /// assert!(table.indices().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the numbers in memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 1], vec![3_u64], vec![1.5])?;
    /// assert_eq!(table.indices().element_type(), ElementType::U64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn element_type(&self) -> ElementType {
        self.values.element_type()
    }

    /// Returns the number at a position, or `None` past the end.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], vec![1.5, 2.5])?;
    /// assert_eq!((table.indices().get(1), table.indices().get(2)), (Some(3), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn get(&self, position: usize) -> Option<usize> {
        match_checked_index!(self.element_type(), I => {
            let number = self.values.bits::<I>().get(position)?;
            Some(number.number().wrapping_sub(self.base))
        }, else None)
    }

    /// Returns an iterator over the numbers.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], vec![1.5, 2.5])?;
    /// assert_eq!(table.offsets().iter().collect::<Vec<_>>(), [0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(self) -> IndicesIter<'t> {
        IndicesIter { indices: self, left: 0..self.len() }
    }

    /// Borrows the memory, if the stored numbers have type `I` and are counted from zero. `None` for the offsets of a
    /// block that does not begin at the table's first value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1_i32, 3], vec![1.5, 2.5])?;
    /// assert_eq!(table.indices().downcast::<i32>(), Some(&[1, 3][..]));
    /// assert!(table.indices().downcast::<i64>().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn downcast<I: Element>(self) -> Option<&'t [I]> {
        if self.base == 0 { self.values.downcast() } else { None }
    }

    /// Copies the numbers into an array of another type, counted from `first`. Pass 1 for code that counts from one.
    ///
    /// # Errors
    /// [`ErrorKind::SparseStructure`] if `I` is not an index type, or cannot hold one of the numbers: the error names
    /// the first such number and its position. [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0_u64, 2], vec![1_u64, 3], vec![1.5, 2.5])?;
    /// assert_eq!(table.indices().to_array::<i32>(1)?[..], [2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_array<I: Element>(self, first: usize) -> Result<Array<I>> {
        check_type("indices", I::TYPE)?;
        let array = self.to_any(I::TYPE, first)?;
        array.downcast().map_err(|other| Error::element_type_mismatch(I::TYPE, other.element_type()))
    }

    /// Like [`to_array`](Self::to_array), for a type that is known only at run time.
    pub(super) fn to_any(self, element_type: ElementType, first: usize) -> Result<AnyArray> {
        let is_too_large = |number: usize| number.checked_add(first).is_none();
        if first > 0
            && let Some(position) = self.iter().position(is_too_large)
        {
            let (number, most) = (self.at(position), usize::MAX);
            let reason = format!("the index {number} at position {position} is more than {most}, counted from {first}");
            return Err(Error::sparse_structure(SparseFault::OutOfRange, None, Some(position), reason));
        }
        array_of(element_type, self.len(), self.iter().map(|number| number.wrapping_add(first)))
    }

    /// Copies the numbers from a position on, as `narrow` makes them, until either side ends.
    #[doc(hidden)] // for the crates of this workspace, as the module `internal`
    pub fn copy_as<W>(self, position: usize, target: &mut [W], narrow: impl Fn(usize) -> W) {
        match_checked_index!(self.element_type(), I => {
            let numbers = self.values.bits::<I>().get(position..).unwrap_or_default();
            for (slot, number) in target.iter_mut().zip(numbers) {
                *slot = narrow(number.number().wrapping_sub(self.base));
            }
        }, else ());
    }

    /// Calls `work` with each number. Looks up the type once.
    #[inline]
    pub(crate) fn for_each(self, mut work: impl FnMut(usize)) {
        match_checked_index!(self.element_type(), I => {
            self.values.bits::<I>().iter().for_each(|number| work(number.number().wrapping_sub(self.base)));
        }, else ());
    }

    /// Returns a number at a position that exists.
    #[inline(always)]
    pub(crate) fn at(&self, position: usize) -> usize {
        self.get(position).unwrap_or_default()
    }

    /// Returns the numbers at a range of positions, which must exist, counted from the same base.
    #[inline]
    pub(super) fn range(self, range: Range<usize>) -> Self {
        Self { values: self.values.range(range), ..self }
    }

    /// Returns the numbers as stored in memory.
    #[inline]
    pub(super) fn as_slice(&self) -> AnySlice<'t> {
        self.values
    }

    /// Copies the numbers from a position on into a buffer, until either ends.
    #[inline]
    pub(super) fn copy_to<'b>(&self, position: usize, buffer: &'b mut [usize]) -> &'b [usize] {
        match_checked_index!(self.element_type(), I => {
            let numbers = self.values.bits::<I>().get(position..).unwrap_or_default();
            let count = numbers.len().min(buffer.len());
            for (slot, number) in buffer[..count].iter_mut().zip(numbers) {
                *slot = number.number().wrapping_sub(self.base);
            }
            &buffer[..count]
        }, else &[])
    }
}

impl fmt::Debug for Indices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Compares the numbers, regardless of their types.
///
/// # Examples
/// ```
/// # use numeric_table::{CsrNumericTable, prelude::*};
/// # let shape = Shape { rows: 1, columns: 4 };
/// let narrow = CsrNumericTable::try_new(shape, vec![0, 2], vec![1_i32, 3], vec![1.5, 2.5])?;
/// let wide = CsrNumericTable::try_new(shape, vec![0, 2], vec![1_u64, 3], vec![3.5, 4.5])?;
/// assert!(narrow.indices() == wide.indices() && narrow.indices() != wide.offsets());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl PartialEq for Indices<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Indices<'_> {}

/// Walks the numbers, as [`iter`](Indices::iter) does.
///
/// # Examples
/// ```
/// # use numeric_table::{CsrNumericTable, prelude::*};
/// # let shape = Shape { rows: 1, columns: 4 };
/// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], vec![1.5, 2.5])?;
/// let mut counts = [0; 4];
/// for column in table.indices() {
///     counts[column] += 1;
/// }
/// assert_eq!(counts, [0, 1, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<'t> IntoIterator for Indices<'t> {
    type Item = usize;
    type IntoIter = IndicesIter<'t>;

    fn into_iter(self) -> IndicesIter<'t> {
        self.iter()
    }
}

/// An iterator over row offsets or column indices, returned by [`Indices::iter`].
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*};
/// let shape = Shape { rows: 1, columns: 4 };
/// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], vec![1.5, 2.5])?;
/// let mut columns = table.indices().iter();
/// assert_eq!((columns.len(), columns.next_back(), columns.next(), columns.next()), (2, Some(3), Some(1), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct IndicesIter<'t> {
    indices: Indices<'t>,
    /// The positions that have not been returned yet.
    left: Range<usize>,
}

impl Iterator for IndicesIter<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.left.next().map(|position| self.indices.at(position))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }

    fn nth(&mut self, count: usize) -> Option<usize> {
        self.left.nth(count).map(|position| self.indices.at(position))
    }
}

impl DoubleEndedIterator for IndicesIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<usize> {
        self.left.next_back().map(|position| self.indices.at(position))
    }
}

impl ExactSizeIterator for IndicesIter<'_> {}

impl FusedIterator for IndicesIter<'_> {}

/// Creates an array of the given number of numbers, in an index type.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`]; [`ErrorKind::SparseStructure`] for the first number that the type cannot hold.
pub(super) fn array_of(
    element_type: ElementType,
    count: usize,
    numbers: impl Iterator<Item = usize>,
) -> Result<AnyArray> {
    match_index!(element_type, I => {
        let mut array = Array::<I>::zeros(count)?;
        if count > 0 {
            for (position, (slot, number)) in array.mutable_data()?.iter_mut().zip(numbers).enumerate() {
                let target = I::TYPE;
                let reason = || format!("the index {number} at position {position} is not representable as {target}");
                let refused = || Error::sparse_structure(SparseFault::OutOfRange, None, Some(position), reason());
                *slot = I::of(number).ok_or_else(refused)?;
            }
        }
        Ok(AnyArray::new(array))
    }, else Err(Error::not_an_index("indices", element_type)))
}

/// Creates the given number of zeros, to count with.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn zeros(count: usize) -> Result<Vec<usize>> {
    let mut zeros = Vec::new();
    let bytes = count.saturating_mul(size_of::<usize>());
    zeros.try_reserve_exact(count).map_err(|_| Error::out_of_memory(bytes))?;
    zeros.resize(count, 0);
    Ok(zeros)
}
