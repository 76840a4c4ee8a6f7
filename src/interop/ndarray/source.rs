//! Tables from arrays.

use crate::array::Array;
use crate::base::copy::{CopyPolicy, CopyReason};
use crate::base::element::Element;
use crate::base::error::Result;
use crate::table::{DataLayout, HomogenNumericTable, Shape};

/// A two-dimensional array that can become a table: `Array2`, `ArcArray2`, `CowArray`, views of arrays, and references
/// to arrays, of `ndarray` 0.17. The trait is sealed.
///
/// # Examples
/// ```
/// # #[cfg(feature = "ndarray")] {
/// use ndarray::{array, s};
/// use numeric_table::interop::{CopyReason, NdarraySource};
/// let array = array![[1_i32, 2], [3, 4]];
/// assert_eq!(array.view().copy_reason(), Some(CopyReason::Lifetime)); // a table may live longer
/// assert_eq!(array.copy_reason(), None);
/// assert_eq!(array.slice_move(s![.., ..1]).copy_reason(), Some(CopyReason::Layout)); // there are gaps
/// # }
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
pub trait NdarraySource<T>: Sized + Source<T> {
    /// Returns the reason why a table cannot use the values in place; `None` if it can. O(1).
    fn copy_reason(&self) -> Option<CopyReason> {
        if self.is_lent() {
            return Some(CopyReason::Lifetime);
        }
        if self.layout().is_none() { Some(CopyReason::Layout) } else { None }
    }
}

impl<T, S: Source<T>> NdarraySource<T> for S {}

/// The array operations that a table requires. The trait cannot be named outside this crate, so it cannot be
/// implemented there.
pub trait Source<T> {
    /// Returns whether the values are borrowed.
    fn is_lent(&self) -> bool;
    /// Returns the number of rows and of columns.
    fn lengths(&self) -> (usize, usize);
    /// Returns the order in which all values are contiguous, if they are.
    fn layout(&self) -> Option<DataLayout>;
    /// Uses the values in place. They must not be borrowed, and must have a layout.
    fn share(self) -> Array<T>;
    /// Copies the values in the order of their layout; row by row if they have none.
    fn copy(&self) -> Result<Array<T>>;
}

impl<T: Element> HomogenNumericTable<T> {
    /// Creates a table from an `ndarray` array, view or reference. No copy is made if the array owns its values, alone
    /// or shared, and they are contiguous by rows (the table is then row-major) or by columns (column-major). Values in
    /// any other order are copied row by row.
    ///
    /// Memory with a single owner is written in place. The first write to a shared array's memory copies it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) if a copy is needed and cannot be allocated.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// use numeric_table::prelude::*;
    /// let array = ndarray::array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
    /// let address = array.as_ptr();
    /// let table = HomogenNumericTable::from_ndarray(array)?;
    /// assert_eq!(table.as_slice()?.as_ptr(), address);
    ///
    /// let shared = table.to_ndarray()?.into_shared();
    /// let table = HomogenNumericTable::from_ndarray(shared.clone())?;
    /// assert_eq!(table.as_slice()?.as_ptr(), shared.as_ptr());
    /// # }
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn from_ndarray(array: impl NdarraySource<T>) -> Result<Self> {
        Self::from_ndarray_with(array, CopyPolicy::IfNeeded)
    }

    /// Creates a table as [`from_ndarray`](Self::from_ndarray) does, with a policy for copying. The table's
    /// [`data_memory_status`](crate::NumericTable::data_memory_status) is `UserAllocated` if it uses the memory of the
    /// array, `InternallyAllocated` if it is a copy.
    ///
    /// # Errors
    /// [`ErrorKind::CopyRequired`](crate::ErrorKind::CopyRequired) under [`CopyPolicy::Never`], if
    /// [`copy_reason`](NdarraySource::copy_reason) returns a reason. Check it first to avoid losing the array.
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// use numeric_table::{interop::{CopyPolicy, CopyReason}, prelude::*};
    /// let array = ndarray::array![[1, 2], [3, 4]];
    /// let lent = HomogenNumericTable::from_ndarray_with(&array, CopyPolicy::Never);
    /// assert!(matches!(lent.unwrap_err().kind(), ErrorKind::CopyRequired { reason: CopyReason::Lifetime }));
    /// let copy = HomogenNumericTable::from_ndarray_with(&array, CopyPolicy::Always)?;
    /// assert_eq!(copy.data_memory_status(), MemoryStatus::InternallyAllocated);
    /// let table = HomogenNumericTable::from_ndarray_with(array, CopyPolicy::Never)?;
    /// assert_eq!((table.as_slice()?, table.data_memory_status()), (&[1, 2, 3, 4][..], MemoryStatus::UserAllocated));
    /// # }
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn from_ndarray_with(array: impl NdarraySource<T>, policy: CopyPolicy) -> Result<Self> {
        let (rows, columns) = array.lengths();
        let (shape, layout) = (Shape { rows, columns }, array.layout().unwrap_or(DataLayout::RowMajor));
        match policy.copies(array.copy_reason())? {
            true => Ok(Self::internal(array.copy()?, shape, layout)),
            false => Self::from_array_with_layout(array.share(), shape, layout),
        }
    }
}
