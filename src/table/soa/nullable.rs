//! Calls of the structure of arrays for columns with missing values.

use super::SoaNumericTable;
use super::gaps::Gaps;
use crate::array::{AnyArray, Array, Validity};
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::room::with_room;
use crate::dictionary::{DataDictionary, Feature};
use crate::table::{MemoryStatus, Rejected};

/// A column that is taken out of a table: its metadata, its values, and which of them are present if any is missing.
pub type NullableColumn = (Feature, AnyArray, Option<Validity>);

impl SoaNumericTable {
    /// Creates a table of columns that a dictionary describes, with `row_count` values each, and their bitmaps.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] for a bitmap with another number of rows; [`ErrorKind::OutOfMemory`].
    #[doc(hidden)]
    pub fn of_nullable_arrays(
        mut dictionary: DataDictionary,
        row_count: usize,
        columns: Vec<(AnyArray, Option<Validity>)>,
        owner: MemoryStatus,
    ) -> Result<Self> {
        let count = columns.len();
        let (mut arrays, mut gaps) = (with_room(count)?, Gaps::default());
        for (column, (array, validity)) in columns.into_iter().enumerate() {
            if let Some(validity) = validity.filter(Validity::has_missing) {
                if validity.len() != row_count {
                    let (expected, actual) = (row_count, validity.len());
                    return Err(Error::new(ErrorKind::LengthMismatch { expected, actual }));
                }
                dictionary.set_nullable(column, true)?;
                gaps.set(count, column, Some(validity))?;
            }
            arrays.push(array);
        }
        Ok(Self { gaps, ..Self::of_arrays(dictionary, row_count, arrays, owner) })
    }

    /// Appends a column of optional values. `None` is a missing value. O(rows).
    ///
    /// # Errors
    /// [`ErrorKind::UnequalLengths`] if there is not one value for each row; [`ErrorKind::OutOfMemory`]. The table is
    /// unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("count", [Some((1_i64 << 53) + 1), None, Some(7)])?;
    /// assert_eq!(table.missing_count(0)?, 1);
    /// assert!(table.rows::<f64>(1..2)?[0].is_nan()); // a missing value is NaN
    /// assert!(table.rows::<i64>(..).is_err()); // integers have no NaN
    /// assert_eq!(table.rows::<i64>(0..1)?[0], 9_007_199_254_740_993); // all digits are there
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn push_optional<T: Element>(
        &mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = Option<T>>,
    ) -> Result<()> {
        let (mut array, mut is_present) = (Vec::new(), Vec::new());
        for value in values {
            let count = array.len() + 1;
            let reserved = array.try_reserve(1).and_then(|()| is_present.try_reserve(1));
            reserved.map_err(|_| Error::out_of_memory(count.saturating_mul(size_of::<T>())))?;
            array.push(value.unwrap_or_default());
            is_present.push(value.is_some());
        }
        let validity = Validity::from_flags(&is_present)?;
        let feature = Feature::new(T::TYPE).named(name).nullable();
        Ok(self.push_nullable(feature, Array::from(array), Some(validity))?)
    }

    /// Appends a column with its validity bitmap, without a copy. `None` means that all values are present. The feature
    /// becomes nullable if any value is missing; its element type becomes that of the array. The values where the
    /// bitmap has a 0 are never read.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalLengths`] if the array does not have one value for each row, [`ErrorKind::LengthMismatch`] if
    /// the bitmap does not have one bit for each value, or [`ErrorKind::OutOfMemory`], each with the array. The table
    /// is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, array::Validity, prelude::*};
    /// let mut table = SoaNumericTable::new();
    /// let validity = Validity::new(vec![0b101_u8], 0, 3)?; // Arrow's layout: the least significant bit is row 0
    /// let feature = Feature::new(ElementType::I64).named("count");
    /// table.push_nullable(feature, vec![1_i64, 2, 3], Some(validity))?;
    /// assert!(table.is_missing(1, "count")? && table.dictionary().feature(0)?.nullable);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push_nullable(
        &mut self,
        feature: Feature,
        array: impl Into<AnyArray>,
        validity: Option<Validity>,
    ) -> Result<(), Rejected<AnyArray>> {
        let (array, column) = (array.into(), self.columns.len());
        if let Some(validity) = validity.as_ref().filter(|validity| validity.len() != array.len()) {
            let (expected, actual) = (array.len(), validity.len());
            return Err(Rejected::new(array, Error::new(ErrorKind::LengthMismatch { expected, actual })));
        }
        let validity = validity.filter(Validity::has_missing);
        let feature = if validity.is_some() { feature.nullable() } else { feature };
        let mut gaps = self.gaps.clone();
        if let Err(error) = gaps.set(column + 1, column, validity) {
            return Err(Rejected::new(array, error));
        }
        self.push_feature(feature, array)?;
        self.gaps = gaps;
        Ok(())
    }

    /// Replaces the values of a column and its validity bitmap, without a copy. Returns the previous values as
    /// [`set_column`](Self::set_column) does.
    ///
    /// # Errors
    /// Those of [`set_column`](Self::set_column); [`ErrorKind::LengthMismatch`] if the bitmap does not have one bit for
    /// each value. Each has the array. The table is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, array::Validity, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1.5_f32, 2.5])])?;
    /// table.set_nullable_column(0, vec![7_i64, 0], Some(Validity::from_flags(&[true, false])?))?;
    /// assert_eq!((table.column_type(0)?, table.missing_count(0)?), (ElementType::I64, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_nullable_column(
        &mut self,
        column: usize,
        array: impl Into<AnyArray>,
        validity: Option<Validity>,
    ) -> Result<Option<AnyArray>, Rejected<AnyArray>> {
        let array = array.into();
        let validity = validity.filter(Validity::has_missing);
        let prepared = self.check_column(column).and_then(|()| {
            if let Some(validity) = validity.as_ref().filter(|validity| validity.len() != array.len()) {
                let (expected, actual) = (array.len(), validity.len());
                return Err(Error::new(ErrorKind::LengthMismatch { expected, actual }));
            }
            let (mut gaps, mut dictionary) = (self.gaps.clone(), self.dictionary.clone());
            if validity.is_some() {
                dictionary.set_nullable(column, true)?;
            }
            gaps.set(self.columns.len(), column, validity)?;
            Ok((gaps, dictionary))
        });
        let (gaps, dictionary) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Err(Rejected::new(array, error)),
        };
        let before = std::mem::replace(&mut self.dictionary, dictionary);
        match self.set_column(column, array) {
            Ok(old) => {
                self.gaps = gaps;
                Ok(old)
            }
            Err(rejected) => {
                self.dictionary = before;
                Err(rejected)
            }
        }
    }

    /// Borrows the array of a column and its validity bitmap; `None` if no value is missing. Both are shared by cloning
    /// them. The values where the bitmap has a 0 are unspecified.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::ColumnNotSet`]; [`ErrorKind::BlockOutstanding`] while a writable
    /// block holds the column.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1_u8), None])?;
    /// let (values, validity) = table.nullable_column(0)?;
    /// assert_eq!((values.len(), validity.unwrap().missing_count()), (2, 1));
    /// assert!(table.array(0).is_err() && table.column_slice::<u8>(0).is_err()); // these return plain values
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nullable_column(&self, column: usize) -> Result<(&AnyArray, Option<&Validity>)> {
        Ok((self.stored(column)?, self.gaps.of(column)))
    }

    /// Returns all columns with their metadata and their validity bitmaps.
    ///
    /// # Errors
    /// Those of [`into_columns`](Self::into_columns), except that values may be missing.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::SoaNumericTable;
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1_u8), None])?;
    /// let (feature, values, validity) = table.into_nullable_columns()?.remove(0);
    /// assert_eq!((feature.name.as_deref(), values.len(), validity.unwrap().missing_count()), (Some("a"), 2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_nullable_columns(self) -> Result<Vec<NullableColumn>, Rejected<Self>> {
        let columns = self.dictionary.iter().enumerate();
        let all = columns
            .map(|(column, feature)| {
                let (array, validity) = self.nullable_column(column)?;
                Ok((feature.clone(), array.clone(), validity.cloned()))
            })
            .collect();
        match all {
            Ok(all) => Ok(all), // the table is dropped, and its shares with it
            Err(error) => Err(Rejected::new(self, error)),
        }
    }
}
