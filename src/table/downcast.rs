//! From any kind of table back to the kind that it is.

use std::any::Any;

use super::NumericTable;

impl dyn NumericTable {
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
    pub fn downcast_ref<N: NumericTable>(&self) -> Option<&N> {
        (self as &dyn Any).downcast_ref()
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
    pub fn downcast_mut<N: NumericTable>(&mut self) -> Option<&mut N> {
        (self as &mut dyn Any).downcast_mut()
    }

    /// Gives the table as the kind that it is, if that is `N`, or itself if not.
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
    pub fn downcast<N: NumericTable>(self: Box<Self>) -> Result<Box<N>, Box<Self>> {
        if self.downcast_ref::<N>().is_none() {
            return Err(self);
        }
        let any: Box<dyn Any> = self;
        match any.downcast() {
            Ok(table) => Ok(table),
            Err(_) => unreachable!("the type was looked at two lines up"),
        }
    }
}
