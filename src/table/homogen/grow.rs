//! Appending rows, in memory that grows by at least half: amortized O(1) per value.

use super::HomogenNumericTable;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::range;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::convert::kernel::{self, Origin};
use crate::convert::{ConversionPolicy, WriteRule, convert_slice};
use crate::table::missing::check_none_missing;
use crate::table::{DataLayout, MemoryStatus, NumericTable, Region, Target, copy_of, lend};
use crate::window::{AnySlice, AnyWindow};

/// Appended rows have no old values to keep.
const RULE: WriteRule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };

/// The number of rows of another table to convert at a time for a column-major table.
const ROWS: usize = 4096;

impl<T: Element> HomogenNumericTable<T> {
    /// Reserves room for at least `additional` more rows: appending up to that many does not copy the existing rows.
    /// The shape does not change.
    ///
    /// The memory grows by at least half, so that copying costs amortized O(1) per row. Shared or immutable memory is
    /// copied. Source: `Vec::reserve`; DAAL's `resize` loses the values.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`], [`ErrorKind::BlockOutstanding`];
    /// [`ErrorKind::NotAllocated`] if there are rows without memory. On an error the table is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
    /// table.reserve_rows(1000)?;
    /// assert_eq!(table.shape(), Shape { rows: 1, columns: 2 });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn reserve_rows(&mut self, additional: usize) -> Result<()> {
        let Shape { rows, columns } = self.shape;
        let too_large =
            |rows| Error::new(ErrorKind::SizeOverflow { shape: Shape { rows, columns }, element: Some(T::TYPE) });
        let wanted = rows.checked_add(additional).ok_or_else(|| too_large(usize::MAX))?;
        Shape { rows: wanted, columns }.element_count_of(T::TYPE)?;
        let array = self.memory.array()?;
        let is_there = self.status != MemoryStatus::NotAllocated && array.has_mutable_data();
        if columns == 0 || additional == 0 || (is_there && wanted <= self.placement.row_capacity) {
            return Ok(());
        }
        self.move_to(wanted, wanted.max(rows.saturating_add(rows / 2)))
    }

    /// Moves the rows to new memory with room for `grown` rows, or for `wanted` rows if `grown` rows cannot be
    /// allocated. The shape does not change.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`], errors from reading. On an error nothing changes.
    pub(super) fn move_to(&mut self, wanted: usize, grown: usize) -> Result<()> {
        let Shape { rows, columns } = self.shape;
        let array = match self.copy_with_room(Shape { rows: grown, columns }) {
            Ok(array) => Ok(array),
            // The wanted rows may fit where the grown ones do not.
            Err(_) if grown > wanted => self.copy_with_room(Shape { rows: wanted, columns }),
            Err(error) => Err(error),
        }?;
        trace::record(CopyKind::Grown, rows * columns * size_of::<T>()); // the values that were there
        let (has_spare_rows, shown_rows) = (!self.placement.spare_rows().is_empty(), self.placement.shown_rows);
        let room = Shape { rows: array.len().checked_div(columns).unwrap_or(rows), columns };
        self.replace_memory(array, room, MemoryStatus::InternallyAllocated);
        self.shape.rows = rows;
        self.placement.has_grown = true;
        if has_spare_rows {
            self.placement.shown_rows = shown_rows; // the spare rows stay spare
        }
        Ok(())
    }

    /// Appends one row, converting the values if their type differs. Overwrites spare rows of the user's memory. Cost:
    /// amortized O(columns).
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the number of values is not the number of columns;
    /// [`ErrorKind::ValueNotRepresentable`] under [`ConversionPolicy::Checked`]; those of
    /// [`reserve_rows`](Self::reserve_rows). On an error the table is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = Table::<f32>::new(Shape { rows: 0, columns: 2 }, AllocationFlag::DoNotAllocate)?;
    /// for day in 0..3 {
    ///     table.push_row(&[day, 10 * day])?; // `i32`
    /// }
    /// assert_eq!(table.as_slice()?, [0.0, 0.0, 1.0, 10.0, 2.0, 20.0]);
    /// let error = table.push_row(&[1.0]).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::LengthMismatch { expected: 2, actual: 1 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn push_row<U: Element>(&mut self, row: &[U]) -> Result<()> {
        let (expected, found) = (self.shape.columns, row.len());
        if expected != found {
            return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
        }
        self.append_rows(row, 1)
    }

    /// Appends rows given as consecutive row-major values, converting them if their type differs. Cost: amortized
    /// O(values).
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`]; [`ErrorKind::ValueNotRepresentable`] under [`ConversionPolicy::Checked`], with the
    /// row that the value would have had; those of [`reserve_rows`](Self::reserve_rows). On an error the table is
    /// unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// table.append(&[3.0_f64, 4.0, 5.0, 6.0])?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4, 5, 6]);
    /// let error = table.append(&[7.0, 300.0]).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 3, column: 1, .. }));
    /// assert_eq!(table.row_count(), 3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn append<U: Element>(&mut self, values: &[U]) -> Result<()> {
        let columns = self.shape.columns;
        match values.len().checked_rem(columns) {
            Some(0) => self.append_rows(values, values.len() / columns),
            None if values.is_empty() => Ok(()),
            _ => Err(Error::new(ErrorKind::NotWholeRows { values: values.len(), columns })),
        }
    }

    /// Appends the rows of a table of any kind, converting values whose types differ. Cost: amortized O(values).
    ///
    /// Missing values are refused, since this table has none. [`convert`](crate::TableConversion::convert) to a
    /// floating-point type makes them NaN first.
    ///
    /// # Errors
    /// [`ErrorKind::MissingValue`] with the row and the column in `table`; [`ErrorKind::UnequalTables`] if labels or
    /// units of time differ; errors from reading the table; those of [`append`](Self::append). On an error the table
    /// keeps its old rows, but shared memory may have been copied.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = HomogenNumericTable::from_rows(&[[1.5_f64], [2.5]])?;
    /// table.append_table(&SoaNumericTable::from_columns([("count", vec![7_u8, 8])])?)?;
    /// assert_eq!(table.as_slice()?, [1.5, 2.5, 7.0, 8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn append_table(&mut self, table: &dyn NumericTable) -> Result<()> {
        let (theirs, Shape { rows, columns }) = (table.shape(), self.shape);
        if theirs.columns != columns {
            return Err(Error::unequal_columns(1, columns, theirs.columns));
        }
        self.dictionary().check_follower(1, table.dictionary())?;
        let convert = Hint::new("convert", "to a floating-point type makes them NaN");
        check_none_missing(table, &(0..theirs.rows)).map_err(|error| error.with_hint(convert))?;
        self.reserve_rows(theirs.rows)?;
        self.resize(rows + theirs.rows)?; // `reserve_rows` has checked the sum
        let read = self.read_into_new_rows(table, rows..rows + theirs.rows);
        if read.is_err() {
            self.resize(rows)?; // fewer rows stay where they are
        }
        read.map_err(|error| error.with_value_below(rows))?;
        trace::record(CopyKind::Grown, theirs.rows * columns * size_of::<T>());
        Ok(())
    }

    fn read_into_new_rows(&mut self, table: &dyn NumericTable, new: std::ops::Range<usize>) -> Result<()> {
        let columns = 0..self.shape.columns;
        let (first, region) = (new.start, Region { rows: new.clone(), columns: columns.clone() });
        if let Some(values) = lend::slice_of_mut(self, &region, T::TYPE)? {
            let target = Target::new(values, region.shape(), ConversionPolicy::Checked)?;
            return table.read_region(&Region { rows: 0..new.len(), columns }, target.allow_partial_write());
        }
        for rows in range::cut(new.clone(), ROWS) {
            let theirs = Region { rows: rows.start - first..rows.end - first, columns: columns.clone() };
            let values = copy_of(table, &theirs, T::TYPE, ConversionPolicy::Checked)?;
            self.write_region(&Region { rows, columns: columns.clone() }, values.as_slice(), RULE)?;
        }
        Ok(())
    }

    /// Appends `count` rows from consecutive values.
    fn append_rows<U: Element>(&mut self, values: &[U], count: usize) -> Result<()> {
        let Shape { rows, columns } = self.shape;
        if U::TYPE != T::TYPE {
            let window = AnyWindow::of_rows(AnySlice::new(values), count, columns);
            kernel::check(window, T::TYPE, ConversionPolicy::Checked, Origin { row: rows, column: 0 })?;
        }
        self.reserve_rows(count)?;
        let all = rows + count; // `reserve_rows` has checked the sum
        if columns == 0 || self.placement.layout == DataLayout::ColumnMajor {
            self.resize(all)?;
            return self.write_region(&Region { rows: rows..all, columns: 0..columns }, AnySlice::new(values), RULE);
        }
        let range = rows * columns..all * columns;
        let target = self
            .memory
            .array_mut()?
            .mutable_data()?
            .get_mut(range)
            .ok_or_else(|| Error::new(ErrorKind::NotAllocated))?;
        convert_slice(values, target, ConversionPolicy::Saturate)?;
        self.shape.rows = all;
        self.placement.shown_rows = self.placement.shown_rows.max(all);
        Ok(())
    }
}
