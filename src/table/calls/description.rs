//! The size of a table, and the description of its columns.

use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::dictionary::{DataDictionary, Feature, FeatureType};
use crate::table::NumericTable;

/// The size of a table of any kind, and the descriptions of its columns from its
/// [`dictionary`](NumericTable::dictionary).
pub trait TableDescription: NumericTable {
    /// Returns the number of rows (observations). Source: DAAL `getNumberOfRows`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    fn row_count(&self) -> usize {
        self.shape().rows
    }

    /// Returns the number of columns (features). Source: DAAL `getNumberOfColumns`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.column_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    fn column_count(&self) -> usize {
        self.shape().columns
    }

    /// Returns the element type of a column.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.column_type(1)?, ElementType::I16);
    /// assert!(table.column_type(2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn column_type(&self, column: usize) -> Result<ElementType> {
        Ok(self.dictionary().feature(column)?.element_type)
    }

    /// Returns the feature type of a column. Source: DAAL `getFeatureType`.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let feature = Feature::new(ElementType::I16);
    /// table.set_dictionary(DataDictionary::from_features([feature.clone(), feature.ordinal()]))?;
    /// assert_eq!(table.feature_type(1)?, FeatureType::Ordinal);
    /// assert!(table.feature_type(2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn feature_type(&self, column: usize) -> Result<FeatureType> {
        Ok(self.dictionary().feature(column)?.feature_type)
    }

    /// Returns the number of categories of a column, if known. Source: DAAL `getNumberOfCategories`.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let feature = Feature::new(ElementType::I16);
    /// table.set_dictionary(DataDictionary::from_features([feature.clone(), feature.categorical(7)]))?;
    /// assert_eq!((table.category_count(0)?, table.category_count(1)?), (None, Some(7)));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn category_count(&self, column: usize) -> Result<Option<usize>> {
        Ok(self.dictionary().feature(column)?.category_count())
    }

    /// Resets the description of the columns to the default: continuous features without names.
    ///
    /// # Errors
    /// Those of [`set_dictionary`](NumericTable::set_dictionary).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// table.set_dictionary(DataDictionary::uniform(Feature::new(ElementType::I16).ordinal(), 2))?;
    /// table.reset_dictionary()?;
    /// assert_eq!(table.feature_type(1)?, FeatureType::Continuous);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn reset_dictionary(&mut self) -> Result<()> {
        let plain = match self.uniform_type() {
            Some(element) => DataDictionary::uniform(Feature::new(element), self.dictionary().len()),
            None => self.dictionary().iter().map(|feature| Feature::new(feature.element_type)).collect(),
        };
        self.set_dictionary(plain)
    }
}

impl<N: NumericTable + ?Sized> TableDescription for N {}
