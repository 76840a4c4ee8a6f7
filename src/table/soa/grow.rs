//! Appending rows. Each column grows by at least half, so the cost is amortized O(1) per value.
//!
//! Before any column changes, all values are checked, and all columns have room.

use super::SoaNumericTable;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::trace::{self, CopyKind};
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::table::{Lend, MemoryStatus, NumericTable, Region, Shape, TableDescription, copy_of, tiling};
use crate::window::{AnySlice, AnyWindow};

impl SoaNumericTable {
    /// Reserves capacity for the given number of further rows in every column. Appending them copies no other rows. The
    /// shape does not change.
    ///
    /// The memory of a column grows by at least half, so the amortized cost of copying is O(1) per row. Shared memory
    /// is copied, and so is the user's own memory. Source: `Vec::reserve`.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`], [`ErrorKind::BlockOutstanding`],
    /// [`ErrorKind::ColumnNotSet`]. The values are unchanged; some columns may have more room.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?;
    /// table.reserve_rows(1000)?;
    /// assert_eq!(table.row_count(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn reserve_rows(&mut self, additional: usize) -> Result<()> {
        let Shape { rows, columns } = self.shape();
        let all = rows.checked_add(additional);
        let too_large = |rows| Error::new(ErrorKind::SizeOverflow { shape: Shape { rows, columns }, element: None });
        Shape { rows: all.ok_or_else(|| too_large(usize::MAX))?, columns }.element_count()?;
        self.check_block_writable()?;
        (0..columns).try_for_each(|column| self.array_mut(column)?.reserve(additional))
    }

    /// Appends one row: a value for each column, converted if they are of another type. Amortized O(columns).
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if there is not one value for each column; [`ErrorKind::ValueNotRepresentable`]
    /// under [`ConversionPolicy::Checked`]; those of [`reserve_rows`](Self::reserve_rows). No column has changed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// let columns = [("length", AnyArray::from(vec![5.1_f32])), ("count", vec![3_u16].into())];
    /// let mut table = SoaNumericTable::from_columns(columns)?;
    /// table.push_row(&[4.5, 7.0])?;
    /// assert_eq!((table.column_slice::<f32>(0)?, table.column_slice::<u16>(1)?), (&[5.1, 4.5][..], &[3, 7][..]));
    /// let error = table.push_row(&[1.5, -1.0]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the value -1 at row 2, column 1 is not representable as u16: `ConversionPolicy::Saturate` accepts it \
    ///      in calls that take a policy"
    /// );
    /// assert_eq!(table.row_count(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn push_row<U: Element>(&mut self, row: &[U]) -> Result<()> {
        let (expected, found) = (self.columns.len(), row.len());
        if expected != found {
            return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
        }
        self.append_rows(AnyWindow::of_rows(AnySlice::new(row), 1, found))
    }

    /// Appends rows: the values of the first one, then those of the second, and so on, converted if they are of another
    /// type. Amortized O(values).
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`]; [`ErrorKind::ValueNotRepresentable`] under [`ConversionPolicy::Checked`] for the
    /// first refused value, with the row that it would have had; those of [`reserve_rows`](Self::reserve_rows). No
    /// column has changed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1_u8]), ("b", vec![2])])?;
    /// table.append(&[3.0_f64, 4.0, 5.0, 6.0])?;
    /// assert_eq!((table.column_slice::<u8>(0)?, table.column_slice::<u8>(1)?), (&[1, 3, 5][..], &[2, 4, 6][..]));
    /// let error = table.append(&[7, 8, 9]).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::NotWholeRows { values: 3, columns: 2 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn append<U: Element>(&mut self, values: &[U]) -> Result<()> {
        let columns = self.columns.len();
        match values.len().checked_rem(columns) {
            Some(0) => self.append_rows(AnyWindow::of_rows(AnySlice::new(values), values.len() / columns, columns)),
            None if values.is_empty() => Ok(()),
            _ => Err(Error::new(ErrorKind::NotWholeRows { values: values.len(), columns })),
        }
    }

    /// Appends the rows of a table of any kind. Each column is converted if it is of another type. Amortized O(values),
    /// with a temporary copy of the rows.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`] if category labels or units of time differ; those of reading the table; those of
    /// [`append`](Self::append). No column has changed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1_i64]), ("b", vec![2])])?;
    /// table.append_table(&HomogenNumericTable::from_rows(&[[3.0_f32, 4.0]])?)?;
    /// assert_eq!(table.rows::<i64>(..)?[..], [1, 2, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn append_table(&mut self, table: &dyn NumericTable) -> Result<()> {
        let (theirs, Shape { rows, columns }) = (table.shape(), self.shape());
        if theirs.columns != columns {
            return Err(Error::unequal_columns(1, columns, theirs.columns));
        }
        self.dictionary().check_follower(1, table.dictionary())?;
        let (mut copies, mut outcome) = (Vec::new(), Ok(()));
        for column in 0..columns {
            let region = Region { rows: 0..theirs.rows, columns: column..column + 1 };
            match copy_of(table, &region, self.column_type(column)?, ConversionPolicy::Checked) {
                Ok(copy) => copies.push(copy),
                Err(error) => outcome = tiling::earlier(outcome, Err(error)),
            }
        }
        outcome.map_err(|error| error.with_value_below(rows))?;
        self.add(theirs.rows, |column| AnyWindow::of_rows(copies[column].as_slice(), theirs.rows, 1))?;
        copies.iter().for_each(|copy| trace::record(CopyKind::Grown, copy.len() * copy.element_type().size_in_bytes()));
        Ok(())
    }

    /// Appends the rows of a window with the same number of columns.
    fn append_rows(&mut self, window: AnyWindow<'_>) -> Result<()> {
        let (first, count) = (self.row_count, window.rows());
        let column_of = |column: usize| window.cut(0..count, column..column + 1);
        let mut outcome = Ok(());
        for column in 0..self.columns.len() {
            let element = self.column_type(column)?;
            if element != window.element_type() {
                let origin = Origin { row: first, column };
                let check = kernel::check(column_of(column), element, ConversionPolicy::Checked, origin);
                outcome = tiling::earlier(outcome, check);
            }
        }
        outcome?;
        self.add(count, column_of)
    }

    /// Appends rows to all columns. Their values must convert without an error.
    fn add<'w>(&mut self, count: usize, column_of: impl Fn(usize) -> AnyWindow<'w>) -> Result<()> {
        self.reserve_rows(count)?;
        for column in 0..self.columns.len() {
            let new = self.array_mut(column)?.append_zeros(count)?;
            kernel::read_over(column_of(column), new, ConversionPolicy::Saturate, Origin::default())?;
        }
        self.row_count += count; // `reserve_rows` has checked the sum
        if count > 0 {
            self.owner = MemoryStatus::InternallyAllocated;
        }
        Ok(())
    }
}
