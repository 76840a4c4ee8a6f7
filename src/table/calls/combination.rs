//! Stacking tables and columns, side by side and end to end.

use super::AsTable;
use crate::array::{AnyArray, Validity};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::dictionary::Feature;
use crate::table::{MergedNumericTable, NumericTable, Rejected, RowMergedNumericTable, beside, stack};

/// Stacks tables of any kind, side by side or end to end, without a copy.
///
/// The results are read-only and borrow all their tables. [`to_table`](crate::TableConversion::to_table) makes a copy
/// that owns its values.
pub trait TableCombination: AsTable {
    /// Returns the table with one more column. It replaces the first column of the same name, or else becomes the last
    /// column. Nothing is copied: the result borrows the table and owns the array. `to_table` copies both.
    ///
    /// Source: polars `with_columns`.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the length of the array is not the number of rows; [`ErrorKind::LimitExceeded`]
    /// if tables are nested more than 64 deep; [`ErrorKind::OutOfMemory`]. The error returns the array; `?` drops it.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.0, 4.0]])?;
    /// table.set_names(["width", "height"])?;
    /// let areas: Vec<f32> = table.rows::<f32>(..)?.iter_rows().map(|row| row[0] * row[1]).collect();
    /// let table = table.with_column("area", areas)?;
    /// assert_eq!(table.rows::<f32>(..)?[..], [1.5, 2.0, 3.0, 3.0, 4.0, 12.0]);
    /// let table = table.with_column("width", vec![7_u8, 8])?;
    /// assert!(table.names().eq([Some("width"), Some("height"), Some("area")]));
    /// assert_eq!(table.rows::<f32>(1..)?[..], [8.0, 4.0, 12.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn with_column(
        &self,
        name: impl Into<String>,
        array: impl Into<AnyArray>,
    ) -> Result<MergedNumericTable<'_>, Rejected<AnyArray>> {
        beside::with_column(self.as_table(), name, array)
    }

    /// Like `with_column`, with a [`Feature`] that describes the column. The feature's element type becomes that of the
    /// array. A column without a name becomes the last column.
    ///
    /// # Errors
    /// Those of `with_column`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{table::Rejected, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5], [4.9, 3.0]])?;
    /// let species = Feature::new(ElementType::U8).named("species").categorical(3);
    /// let labelled = table.with_feature(species.clone(), vec![0_u8, 2])?;
    /// assert_eq!(labelled.category_count(2)?, Some(3));
    /// let Rejected { value, error } = table.with_feature(species, vec![0_u8, 1, 2]).unwrap_err();
    /// assert_eq!((value.len(), error.to_string().as_str()), (3, "lengths differ: got 3 values, expected 2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn with_feature(
        &self,
        feature: Feature,
        array: impl Into<AnyArray>,
    ) -> Result<MergedNumericTable<'_>, Rejected<AnyArray>> {
        beside::with_feature(self.as_table(), feature, array)
    }

    /// Like `with_feature`, with a validity bitmap, without a copy of either. `None` means that all values are present.
    /// The feature becomes nullable if any value is missing. The values where the bitmap has a 0 are never read.
    ///
    /// # Errors
    /// Those of `with_column`; [`ErrorKind::LengthMismatch`] if the bitmap does not have one bit for each row.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{array::Validity, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5], [4.9, 3.0]])?;
    /// let age = Feature::new(ElementType::U8).named("age");
    /// let with_age = table.with_nullable(age, vec![31_u8, 0], Some(Validity::from_flags(&[true, false])?))?;
    /// assert_eq!((with_age.missing_count("age")?, with_age.value::<u8>(0, 2)?), (1, 31));
    /// assert_eq!(with_age.to_columns()?.missing_count("age")?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn with_nullable(
        &self,
        feature: Feature,
        array: impl Into<AnyArray>,
        validity: Option<Validity>,
    ) -> Result<MergedNumericTable<'_>, Rejected<AnyArray>> {
        beside::with_nullable(self.as_table(), feature, array, validity)
    }

    /// Returns this table and others side by side: its columns, then the columns of each other table in order. Nothing
    /// is copied: the result borrows the tables, and `to_table` copies them. Several columns may have the same name;
    /// the name then refers to the first one.
    ///
    /// Source: NumPy `hstack`.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`]; [`ErrorKind::LimitExceeded`], [`ErrorKind::SizeOverflow`],
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let features = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5], [4.9, 3.0]])?;
    /// let labels = HomogenNumericTable::from_rows(&[[0_u8], [2]])?;
    /// let both = features.hstack(&[&labels])?;
    /// assert_eq!(both.rows::<f32>(1..)?[..], [4.9, 3.0, 2.0]);
    /// let owned: Box<dyn NumericTable> = both.to_table()?;
    /// assert_eq!((owned.column_type(2)?, owned.value::<i32>(1, 2)?), (ElementType::U8, 2));
    /// # Ok::<(), Error>(())
    /// ```
    fn hstack<'s>(&'s self, others: &[&'s (dyn NumericTable + 's)]) -> Result<MergedNumericTable<'s>> {
        beside::hstack(self.as_table(), others)
    }

    /// Returns this table and others end to end: its rows, then the rows of each other table in order. Nothing is
    /// copied: the result borrows the tables, and `to_table` copies them. The result has the dictionary of this table.
    ///
    /// Source: NumPy `vstack`.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`] if columns have the same names in a different order (`select_columns` reorders
    /// them), if times have different units, or if the labels of a categorical column differ or are in a different
    /// order (`vstack_unified` unifies them). [`ErrorKind::LimitExceeded`], [`ErrorKind::SizeOverflow`],
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let monday = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0]])?;
    /// let tuesday = HomogenNumericTable::from_rows(&[[3.0_f32, 4.0], [5.0, 6.0]])?;
    /// let both = monday.vstack(&[&tuesday])?;
    /// assert_eq!(both.rows::<f64>(..)?[..], [1.5, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// let error = monday.vstack(&[&tuesday.select_columns(..1)?]).unwrap_err();
    /// assert_eq!(error.to_string(), "table 1 does not match table 0: expected 2 columns, found 1");
    /// # Ok::<(), Error>(())
    /// ```
    fn vstack<'s>(&'s self, others: &[&'s (dyn NumericTable + 's)]) -> Result<RowMergedNumericTable<'s>> {
        stack::vstack(self.as_table(), others)
    }

    /// Like `vstack`, but unifies the labels of categorical columns. The labels of this table keep their indices. New
    /// labels follow, in the order of the tables. Only columns whose indices change are copied.
    ///
    /// A copied column keeps its type if it is the same in all tables and holds all indices. Otherwise it gets the
    /// smallest unsigned type that does, or `f32` or `f64` if it had floats. NaN stays NaN, and a missing category
    /// stays missing.
    ///
    /// # Errors
    /// Those of `vstack`, except that different labels are [`ErrorKind::UnequalTables`] only if another table has no
    /// labels in that column; [`ErrorKind::ValueNotAllowed`] for a value of a copied column that has no label, with its
    /// row in the result; errors from reading the tables.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{dictionary::Categories, prelude::*};
    /// let table = |labels: [&str; 2]| {
    ///     let colour = Feature::new(ElementType::U8).named("colour").categorical(Categories::from_labels(labels)?);
    ///     Table::from_rows(&[[0_u8], [1]])?.with_dictionary([colour].into_iter().collect())
    /// };
    /// let (monday, tuesday) = (table(["red", "blue"])?, table(["green", "red"])?);
    /// assert!(monday.vstack(&[&tuesday]).is_err()); // 0 is red, and 0 is green
    /// let both = monday.vstack_unified(&[&tuesday])?;
    /// assert_eq!(both.column::<u8>(0, ..)?[..], [0, 1, 2, 0]);
    /// assert_eq!(both.dictionary().feature(0)?.label(2), Some("green"));
    /// # Ok::<(), Error>(())
    /// ```
    fn vstack_unified<'s>(&'s self, others: &[&'s (dyn NumericTable + 's)]) -> Result<RowMergedNumericTable<'s>> {
        stack::vstack_unified(self.as_table(), others)
    }
}

impl<N: AsTable + ?Sized> TableCombination for N {}
