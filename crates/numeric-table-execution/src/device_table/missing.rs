//! Missing values of tables on a device: the bitmaps of the columns stay in the program's memory and travel with the
//! table. On the device a missing value is NaN.

use std::ops::Range;
use std::sync::Arc;

use numeric_table::array::Validity;
use numeric_table::{
    AnyArray, DataDictionary, DataLayout, Element, Error, ErrorKind, Feature, MemoryStatus, NumericTable, Shape,
    SoaNumericTable,
};

use super::DeviceTable;
use crate::{DeviceAdapter, HandleError, Kernels};

/// The bitmaps of the columns, without one for columns in which no value is missing.
#[derive(Clone, Default)]
pub(super) struct Missing {
    /// One for each column, or empty.
    of_column: Arc<[Option<Validity>]>,
}

impl Missing {
    /// Returns the bitmaps of a table.
    pub(super) fn of<N: NumericTable + ?Sized>(table: &N) -> Result<Self, Error> {
        let (shape, dictionary) = (table.shape(), table.dictionary());
        if !dictionary.has_nullable() {
            return Ok(Self::default());
        }
        let of_column = (0..shape.columns).map(|column| match dictionary.feature(column)?.nullable {
            true => Ok(table.validity(column, 0..shape.rows)?.filter(Validity::has_missing)),
            false => Ok(None),
        });
        Ok(Self { of_column: of_column.collect::<Result<_, Error>>()? })
    }

    pub(super) fn of_column(&self, column: usize) -> Option<&Validity> {
        self.of_column.get(column)?.as_ref()
    }

    /// Returns the bitmaps of some of the columns.
    pub(super) fn select(&self, columns: &[usize]) -> Self {
        if self.of_column.is_empty() {
            return Self::default();
        }
        Self { of_column: columns.iter().map(|&column| self.of_column(column).cloned()).collect() }
    }

    /// Returns the dictionary of a table of the type `U`, in which only columns with missing values are nullable.
    ///
    /// # Errors
    /// Those of [`check`](Self::check) for all rows.
    pub(super) fn described<U: Element>(
        &self,
        dictionary: &DataDictionary,
        rows: usize,
    ) -> Result<DataDictionary, Error> {
        self.check::<U>(&(0..rows))?;
        let mut dictionary = dictionary.with_element_type(U::TYPE)?;
        for (column, _) in self.of_column.iter().enumerate().filter(|(_, validity)| validity.is_some()) {
            let feature = Feature { nullable: true, ..dictionary.feature(column)?.clone() };
            dictionary.set_feature(column, feature)?;
        }
        Ok(dictionary)
    }

    /// Checks that values of the type `U` can stand for the values of some rows: integers have no NaN.
    ///
    /// # Errors
    /// [`ErrorKind::MissingValue`] with the first missing value in row-major order.
    pub(super) fn check<U: Element>(&self, rows: &Range<usize>) -> Result<(), Error> {
        if U::TYPE.is_float() {
            return Ok(());
        }
        let columns = self.of_column.iter().enumerate();
        let found = columns.filter_map(|(column, validity)| {
            let row = validity.as_ref()?.first_missing(rows.clone())?;
            Some((row, column))
        });
        match found.min() {
            Some((row, column)) => Err(Error::new(ErrorKind::MissingValue { row, column })),
            None => Ok(()),
        }
    }
}

impl<T: Element, D: DeviceAdapter> DeviceTable<T, D> {
    /// Returns which values of a column were present when the table was copied to the device; `None` if all were.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// use numeric_table_execution::{EmulatedDevice, ToDevice};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("count", [Some(3_i32), None])?;
    /// let there = table.to_device::<f64, _>(&EmulatedDevice::new())?;
    /// assert_eq!(there.validity(0).unwrap().missing_count(), 1);
    /// assert!(table.to_device::<i32, _>(&EmulatedDevice::new()).is_err()); // integers have no NaN
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validity(&self, column: usize) -> Option<&Validity> {
        self.missing.of_column(column)
    }
}

impl<T: Element, D: Kernels> DeviceTable<T, D> {
    /// Copies all rows back as columns of their own, with their missing values. A value that was missing stays so
    /// unless the device has replaced its NaN.
    ///
    /// # Errors
    /// Those of [`download_rows`](Self::download_rows).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// use numeric_table_execution::{EmulatedDevice, ToDevice};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("share", [Some(0.5_f32), None, Some(f32::NAN)])?;
    /// let back = table.to_device::<f32, _>(&EmulatedDevice::new())?.to_columns()?;
    /// assert_eq!(back.column_validity("share")?.unwrap().to_flags()?, [true, false, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_columns(&self) -> Result<SoaNumericTable, HandleError> {
        let table = match self.layout {
            DataLayout::ColumnMajor => self.to_table()?,
            DataLayout::RowMajor => self.to_table()?.to_layout(DataLayout::ColumnMajor)?,
        };
        let Shape { rows, columns } = self.shape;
        let dictionary = table.dictionary().clone();
        let array = table.into_array()?;
        let columns = (0..columns).map(|column| {
            let values = array.slice(column * rows..(column + 1) * rows)?;
            let validity = self.validity(column).map(|validity| still_missing(&values, validity)).transpose()?;
            Ok((AnyArray::from(values), validity))
        });
        let columns = columns.collect::<Result<_, Error>>()?;
        Ok(SoaNumericTable::of_nullable_arrays(dictionary, rows, columns, MemoryStatus::UserAllocated)?)
    }
}

/// Returns the bitmap in which values that have been replaced are present.
fn still_missing<T: Element>(values: &[T], validity: &Validity) -> Result<Validity, Error> {
    let mut found = validity.clone();
    for row in validity.missing_rows() {
        let is_nan = values.get(row).is_some_and(|&value| numeric_table::convert::cast::<T, f64>(value).is_nan());
        if !is_nan {
            found.set(row, true)?;
        }
    }
    Ok(found)
}
