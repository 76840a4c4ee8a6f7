//! Appending rows. Each column grows by at least half, so the cost is amortized O(1) per value.
//!
//! Before any column changes, all values are checked, and all columns have room.

use super::SoaNumericTable;
use crate::array::{AnyArray, Validity};
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::room::filled;
use crate::base::trace::{self, CopyKind};
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::table::{Lend, MemoryStatus, NumericTable, Region, Shape, TableDescription, copy_of, missing, tiling};
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
        (0..columns).try_for_each(|column| self.stored_mut(column)?.reserve(additional))
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
        let (mut additions, mut outcome) = (Vec::new(), Ok(()));
        for column in 0..columns {
            match Addition::of_table(table, column, self.column_type(column)?) {
                Ok(addition) => additions.push(addition),
                Err(error) => outcome = tiling::earlier(outcome, Err(error)),
            }
        }
        outcome.map_err(|error| error.with_value_below(rows))?;
        self.add(theirs.rows, |column| additions[column].view())?;
        let bytes = |addition: &Addition| addition.values.len() * addition.values.element_type().size_in_bytes();
        additions.iter().for_each(|addition| trace::record(CopyKind::Grown, bytes(addition)));
        Ok(())
    }

    /// Appends the rows of a window with the same number of columns.
    fn append_rows(&mut self, window: AnyWindow<'_>) -> Result<()> {
        let (first, count) = (self.row_count, window.rows());
        let column_of = |column: usize| window.cut(0..count, column..column + 1);
        let (mut outcome, mut additions) = (Ok(()), Vec::new());
        for column in 0..self.columns.len() {
            let element = self.column_type(column)?;
            let origin = Origin { row: first, column };
            let mut addition = None;
            if element != window.element_type() {
                let makes_gaps = self.dictionary.is_nullable(column) && !element.is_float();
                match kernel::check(column_of(column), element, ConversionPolicy::Checked, origin) {
                    // NaN makes a gap in a nullable column of integers.
                    Err(_) if makes_gaps => match Addition::of_numbers(column_of(column), element, origin) {
                        Ok(found) => addition = Some(found),
                        Err(error) => outcome = tiling::earlier(outcome, Err(error)),
                    },
                    checked => outcome = tiling::earlier(outcome, checked),
                }
            }
            additions.push(addition);
        }
        outcome?;
        self.add(count, |column| match &additions[column] {
            Some(addition) => addition.view(),
            None => (column_of(column), None),
        })
    }

    /// Appends rows to all columns: values that convert without an error, and which of them are present.
    fn add<'w>(
        &mut self,
        count: usize,
        column_of: impl Fn(usize) -> (AnyWindow<'w>, Option<&'w Validity>),
    ) -> Result<()> {
        self.reserve_rows(count)?;
        let (columns, rows) = (self.columns.len(), self.row_count);
        let mut dictionary = None;
        for column in 0..columns {
            if column_of(column).1.is_some() {
                self.gaps.owned(columns, column, rows)?;
                dictionary.get_or_insert_with(|| self.dictionary.clone()).set_nullable(column, true)?;
            }
        }
        self.gaps.append(rows, count)?;
        for column in 0..columns {
            if let (_, Some(new)) = column_of(column) {
                self.gaps.owned(columns, column, rows + count)?.copy_from(rows, new)?;
            }
        }
        for column in 0..self.columns.len() {
            let new = self.stored_mut(column)?.append_zeros(count)?;
            kernel::read_over(column_of(column).0, new, ConversionPolicy::Saturate, Origin::default())?;
        }
        self.row_count += count; // `reserve_rows` has checked the sum
        if let Some(dictionary) = dictionary {
            self.dictionary = dictionary;
        }
        if count > 0 {
            self.owner = MemoryStatus::InternallyAllocated;
        }
        Ok(())
    }
}

/// Values to append to a column, in its type.
struct Addition {
    values: AnyArray,
    /// Which of them are present; `None` if all are.
    validity: Option<Validity>,
}

impl Addition {
    fn view(&self) -> (AnyWindow<'_>, Option<&Validity>) {
        (AnyWindow::of_rows(self.values.as_slice(), self.values.len(), 1), self.validity.as_ref())
    }

    /// Copies a column of a table and converts its present values.
    fn of_table(table: &(dyn NumericTable + '_), column: usize, element: ElementType) -> Result<Self> {
        let rows = 0..table.shape().rows;
        let region = Region { rows: rows.clone(), columns: column..column + 1 };
        if missing::validity_of(table, column)?.is_none() {
            return Ok(Self { values: copy_of(table, &region, element, ConversionPolicy::Checked)?, validity: None });
        }
        let (stored, validity) = missing::column_of(table, column, &rows, table.column_type(column)?)?;
        let validity = validity.map_or_else(|| Validity::all_present(rows.len()), Ok)?;
        let stored = AnyWindow::of_rows(stored.as_slice(), stored.len(), 1);
        Self::of_present(stored, validity, element, Origin { row: 0, column })
    }

    /// Converts a column of numbers. NaN becomes a missing value.
    fn of_numbers(numbers: AnyWindow<'_>, element: ElementType, origin: Origin) -> Result<Self> {
        let mut flags = filled(numbers.rows(), false)?;
        kernel::mark_nan(numbers, &mut flags);
        flags.iter_mut().for_each(|flag| *flag = !*flag);
        Self::of_present(numbers, Validity::from_flags(&flags)?, element, origin)
    }

    fn of_present(stored: AnyWindow<'_>, validity: Validity, element: ElementType, origin: Origin) -> Result<Self> {
        let mut array = AnyArray::zeros(element, stored.rows())?;
        let mut values = array.need_mutable_data()?;
        for (run, _) in validity.runs().filter(|(_, is_present)| *is_present) {
            let origin = Origin { row: origin.row + run.start, ..origin };
            let target = values.reborrow().range(run.clone());
            kernel::read_over(stored.cut(run, 0..1), target, ConversionPolicy::Checked, origin)?;
        }
        Ok(Self { values: array, validity: Some(validity).filter(Validity::has_missing) })
    }
}
