//! Rows of a table in another order: copies, of columns of the types that the table has.

use super::tiling::copy_of;
use super::{DataLayout, HomogenNumericTable, MemoryStatus, NumericTable, Region, Shape, SoaNumericTable, Target};
use crate::array::{AnyArray, Array};
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, Result};
use crate::base::number::Exact;
use crate::base::parallel;
use crate::convert::ConversionPolicy;
use crate::table::part::ColumnKey;
use crate::window::AnySliceMut;

impl dyn NumericTable + '_ {
    /// Copies rows, in the order of their numbers, each as often as it is named. The new table is homogeneous if all
    /// columns have one type, of the same layout; otherwise a structure of arrays. The dictionary is kept. O(values of
    /// the result), by several threads if there are many.
    ///
    /// Source: NumPy `take`, along the first axis.
    ///
    /// # Errors
    /// [`Error::RowsOutOfRange`] for the first row that does not exist; those of reading the table;
    /// [`Error::SizeOverflow`], [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
    /// let taken = table.as_dyn().take_rows(&[2, 0, 2])?;
    /// assert_eq!(taken.rows::<u8>(..)?[..], [5, 6, 1, 2, 5, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn take_rows(&self, rows: &[usize]) -> Result<Box<dyn NumericTable>> {
        let shape = self.shape();
        if let Some(&row) = rows.iter().find(|&&row| row >= shape.rows) {
            return Err(Error::RowsOutOfRange { rows: row..row.saturating_add(1), row_count: shape.rows });
        }
        let dictionary = self.dictionary().clone();
        dictionary.check_count(shape.columns, self.uniform_type())?;
        if let Some(element) = self.uniform_type() {
            return match_element!(element, T => {
                Ok(Box::new(take::<T>(self, shape.columns, rows)?.described_by(dictionary)?))
            });
        }
        let columns = dictionary.iter().enumerate().map(|(column, feature)| {
            let (all, element) = (column_of(shape, column), feature.element_type);
            let values = copy_of(self, &all, element, ConversionPolicy::Saturate)?;
            match_element!(element, T => Ok(AnyArray::new(gather(values.as_slice().as_slice::<T>(), 1, rows)?)))
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let owner = MemoryStatus::InternallyAllocated;
        Ok(Box::new(SoaNumericTable::of_arrays(dictionary, rows.len(), columns, owner)))
    }

    /// Copies the rows whose flag is set, in order, as `take_rows` does.
    ///
    /// Source: NumPy's indexing by an array of truth values.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if there is not one flag for each row; those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
    /// let large = table.column::<f32>(0, ..)?.iter().map(|&value| value > 2.0).collect::<Vec<_>>();
    /// assert_eq!(table.as_dyn().filter_rows(&large)?.rows::<f32>(..)?[..], [3.0, 4.0, 5.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn filter_rows(&self, is_kept: &[bool]) -> Result<Box<dyn NumericTable>> {
        let (expected, found) = (self.shape().rows, is_kept.len());
        if expected != found {
            return Err(Error::LengthMismatch { expected, found });
        }
        let mut rows = Vec::new();
        let count = is_kept.iter().filter(|&&is_kept| is_kept).count();
        rows.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { bytes: count * size_of::<usize>() })?;
        rows.extend((0..found).filter(|&row| is_kept[row]));
        self.take_rows(&rows)
    }

    /// Copies all rows in ascending order of a column's values. Rows with equal values stay in order; NaN comes last,
    /// and -0.0 is 0.0. Compares the stored values: integers of 64 bits are not rounded. O(rows log rows).
    ///
    /// # Errors
    /// [`Error::ColumnOutOfRange`], [`Error::UnknownColumn`]; those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[3.0, 0.0], [f64::NAN, 1.0], [1.0, 2.0], [3.0, 3.0]])?;
    /// let sorted = table.as_dyn().sort_by_column(0)?;
    /// assert_eq!(sorted.column::<i32>(1, ..)?[..], [2, 0, 3, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn sort_by_column(&self, column: impl ColumnKey) -> Result<Box<dyn NumericTable>> {
        let column = column.column_in(self.dictionary())?;
        let (shape, element) = (self.shape(), self.column_type(column)?);
        let (count, all) = (shape.rows, column_of(shape, column));
        let values = copy_of(self, &all, element, ConversionPolicy::Saturate)?;
        let mut rows = Vec::new();
        rows.try_reserve_exact(count)
            .map_err(|_| Error::OutOfMemory { bytes: count.saturating_mul(size_of::<usize>()) })?;
        rows.extend(0..count);
        match_element!(element, T => {
            let values = values.as_slice().as_slice::<T>();
            rows.sort_by(|&one, &other| order(values[one], values[other]));
        });
        self.take_rows(&rows)
    }
}

fn column_of(shape: Shape, column: usize) -> Region {
    Region { rows: 0..shape.rows, columns: column..column + 1 }
}

/// Returns the order of two values of one type: NaN after all others.
fn order<T: Element>(one: T, other: T) -> std::cmp::Ordering {
    match (one.exact(), other.exact()) {
        (Exact::Integer(one), Exact::Integer(other)) => one.cmp(&other),
        (Exact::Float(one), Exact::Float(other)) => {
            one.partial_cmp(&other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
        }
        _ => std::cmp::Ordering::Equal, // never: values of one type
    }
}

/// Copies rows of a table whose columns are all of type `T`.
fn take<T: Element>(table: &(dyn NumericTable + '_), columns: usize, rows: &[usize]) -> Result<HomogenNumericTable<T>> {
    let (shape, all) = (Shape { rows: rows.len(), columns }, Region::whole(table.shape()));
    let count = shape.element_count_of(T::TYPE)?;
    if let Some(values) = table.slice_of(&all, T::TYPE)?.and_then(|values| values.downcast::<T>()) {
        return Ok(HomogenNumericTable::internal(gather(values, columns, rows)?, shape, DataLayout::RowMajor));
    }
    let mut array = Array::<T>::zeros(count)?;
    if table.data_layout() == DataLayout::ColumnMajor && count > 0 {
        for (column, target) in array.mutable_data()?.chunks_exact_mut(rows.len()).enumerate() {
            let values = copy_of(table, &column_of(all.shape(), column), T::TYPE, ConversionPolicy::Saturate)?;
            gather_into(values.as_slice().as_slice::<T>(), 1, rows, target);
        }
        return Ok(HomogenNumericTable::internal(array, shape, DataLayout::ColumnMajor));
    }
    if count > 0 {
        for (&row, target) in rows.iter().zip(array.mutable_data()?.chunks_exact_mut(columns)) {
            let region = Region { rows: row..row + 1, columns: 0..columns };
            let target = Target::new(AnySliceMut::new(target), region.shape(), ConversionPolicy::Saturate)?;
            table.read_region(&region, target.over())?;
        }
    }
    Ok(HomogenNumericTable::internal(array, shape, DataLayout::RowMajor))
}

/// Copies rows of dense values, which must exist.
fn gather<T: Element>(values: &[T], columns: usize, rows: &[usize]) -> Result<Array<T>> {
    let mut array = Array::<T>::zeros(Shape { rows: rows.len(), columns }.element_count_of(T::TYPE)?)?;
    if !array.is_empty() {
        gather_into(values, columns, rows, array.mutable_data()?);
    }
    Ok(array)
}

/// Copies rows of dense values, at least one value each, into room for as many.
fn gather_into<T: Element>(values: &[T], columns: usize, rows: &[usize], target: &mut [T]) {
    let tasks = parallel::task_count(size_of_val(target).saturating_mul(2));
    let pieces = parallel::cut((rows, target), rows.len(), tasks, |(rows, target), count| {
        let ((now, later), (head, tail)) = (rows.split_at(count), target.split_at_mut(count * columns));
        ((now, head), (later, tail))
    });
    parallel::map(pieces, |(rows, target)| match columns {
        1 => rows.iter().zip(target).for_each(|(&row, target)| *target = values[row]),
        _ => {
            for (&row, target) in rows.iter().zip(target.chunks_exact_mut(columns)) {
                target.copy_from_slice(&values[row * columns..(row + 1) * columns]);
            }
        }
    });
}
