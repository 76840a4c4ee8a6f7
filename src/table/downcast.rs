//! From any kind of table back to the kind that it is.

use std::any::TypeId;

use super::NumericTable;

/// What only this module can make: the argument of the one method of [`NumericTable`] that nobody can override.
#[doc(hidden)]
#[derive(Debug)]
pub struct Token(());

impl dyn NumericTable {
    fn is<N: NumericTable + 'static>(&self) -> bool {
        self.concrete_type(Token(())) == TypeId::of::<N>()
    }

    /// Borrows the table as the kind that it is, if that is `N`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{from_bytes_any, prelude::*};
    /// let table = from_bytes_any(&HomogenNumericTable::from_rows(&[[1_i16, 2]])?.to_bytes()?)?;
    /// assert_eq!(table.downcast_ref::<HomogenNumericTable<i16>>().unwrap().as_slice()?, [1, 2]);
    /// assert!(table.downcast_ref::<HomogenNumericTable<i32>>().is_none());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn downcast_ref<N: NumericTable + 'static>(&self) -> Option<&N> {
        // SAFETY: the type behind the trait object is `N`: `concrete_type` is answered by the default method, since no other
        // crate can name its argument, and this one does not override it.
        self.is::<N>().then(|| unsafe { &*std::ptr::from_ref(self).cast::<N>() })
    }

    /// Borrows the table mutably as the kind that it is, if that is `N`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// table.downcast_mut::<HomogenNumericTable<i16>>().unwrap().as_mut_slice()?[0] = 7;
    /// assert_eq!(table.value::<i16>(0, 0)?, 7);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn downcast_mut<N: NumericTable + 'static>(&mut self) -> Option<&mut N> {
        // SAFETY: as in `downcast_ref`.
        self.is::<N>().then(|| unsafe { &mut *std::ptr::from_mut(self).cast::<N>() })
    }

    /// Returns the table as the kind that it is, if that is `N`.
    ///
    /// # Errors
    /// The table as it was, if it is of another kind.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// let table = table.downcast::<HomogenNumericTable<f32>>().unwrap_err();
    /// let table = table.downcast::<HomogenNumericTable<i16>>().unwrap();
    /// assert_eq!(table.convert::<f32>()?.as_slice()?, [1.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn downcast<N: NumericTable + 'static>(self: Box<Self>) -> Result<Box<N>, Box<Self>> {
        if !self.is::<N>() {
            return Err(self);
        }
        // SAFETY: as in `downcast_ref`; the box was made for an `N`, and nobody else has it any more.
        Ok(unsafe { Box::from_raw(Box::into_raw(self).cast::<N>()) })
    }
}
