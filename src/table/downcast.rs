//! Downcasts from `dyn NumericTable` to the concrete kind of table.

use std::any::TypeId;

use super::NumericTable;

/// A value that only this crate can create. It is the argument of those methods of [`NumericTable`] that other crates
/// cannot call or override.
#[doc(hidden)]
#[derive(Debug)]
pub struct Token(());

impl Token {
    pub(crate) const fn new() -> Self {
        Self(())
    }
}

impl dyn NumericTable + '_ {
    /// Borrows the table as an `N`, if it has this type. Your own kinds of tables must implement
    /// [`as_any`](NumericTable::as_any) for this.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files, prelude::*};
    /// let table = files::from_bytes(&HomogenNumericTable::from_rows(&[[1_i16, 2]])?.to_bytes()?)?;
    /// assert_eq!(table.downcast_ref::<HomogenNumericTable<i16>>().unwrap().as_slice()?, [1, 2]);
    /// assert!(table.downcast_ref::<HomogenNumericTable<i32>>().is_none());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn downcast_ref<N: NumericTable + 'static>(&self) -> Option<&N> {
        self.as_any()?.downcast_ref()
    }

    /// Borrows the table mutably as an `N`, if it has this type.
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
        self.as_any_mut()?.downcast_mut()
    }
}

impl dyn NumericTable {
    /// Returns the table as an `N`, if it has this type.
    ///
    /// # Errors
    /// Returns the table, unchanged, if it has another type or does not implement [`as_any`](NumericTable::as_any).
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
        let is_named = self.as_any().is_some_and(|any| any.is::<N>());
        if !is_named || self.concrete_type(Token::new()) != TypeId::of::<N>() {
            return Err(self);
        }
        // SAFETY: the type of the trait object is `N`: `concrete_type` is the default method, since no other crate can
        // name its argument, and this one does not override it. So the box was made for an `N`, with its layout;
        // nothing else owns it.
        Ok(unsafe { Box::from_raw(Box::into_raw(self).cast::<N>()) })
    }
}
