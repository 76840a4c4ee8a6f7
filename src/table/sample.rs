//! Random rows: some of them, all of them in another order, and those to learn from apart from those to test with.
//!
//! A seed decides which, the same on every machine and in every version: see `base/random`. A sample of rows is one of
//! all that are possible, each with the same probability: Floyd's algorithm, in "Programming Pearls: A Sample of
//! Brilliance".

use super::NumericTable;
use super::part::ColumnKey;
use super::take::Sorted;
use crate::base::error::{Error, Result};
use crate::base::random::Random;
use crate::base::room::with_room;

impl dyn NumericTable + '_ {
    /// Copies so many rows, chosen at random, none twice, as `filter_rows` does: in the order of the table, which
    /// `shuffle_rows` changes. The same seed chooses the same of as many rows, on every machine and in every version. A
    /// sample with repetitions is `take_rows` of numbers of your own. O(rows + values of the result).
    ///
    /// # Errors
    /// [`Error::RowsOutOfRange`] if there are fewer rows; those of `filter_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_fn(Shape { rows: 99, columns: 2 }, |row, column| (row + column) as f64)?;
    /// let sample = table.as_dyn().sample_rows(10, 42)?;
    /// assert_eq!(sample.shape(), Shape { rows: 10, columns: 2 });
    /// assert!(sample.column::<u64>(0, ..)?.is_sorted());
    /// assert!(table.as_dyn().sample_rows(100, 42).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn sample_rows(&self, count: usize, seed: u64) -> Result<Box<dyn NumericTable>> {
        let row_count = self.shape().rows;
        if count > row_count {
            return Err(Error::RowsOutOfRange { rows: 0..count, row_count });
        }
        let mut is_chosen = flags(row_count)?;
        choose(&mut is_chosen, row_count, count, &mut Random::new(seed), |row| row);
        self.filter_rows(&is_chosen)
    }

    /// Copies all rows in a random order, as `take_rows` does: each order with the same probability, and the same for
    /// the same seed and as many rows, on every machine and in every version. O(values), and a number for each row.
    ///
    /// # Errors
    /// Those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 10], [2, 20], [3, 30], [4, 40]])?;
    /// let shuffled = table.as_dyn().shuffle_rows(1)?;
    /// assert_eq!(shuffled.column::<u8>(0, ..)?[..], [2, 1, 3, 4]);
    /// assert_eq!(shuffled.column::<u8>(1, ..)?[..], [20, 10, 30, 40]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn shuffle_rows(&self, seed: u64) -> Result<Box<dyn NumericTable>> {
        let count = self.shape().rows;
        let mut rows = with_room(count)?;
        rows.extend(0..count);
        Random::new(seed).shuffle(&mut rows);
        self.take_rows(&rows)
    }

    /// Copies rows into two tables, chosen at random: a fraction of them to learn from, and the others to test with,
    /// each in the order of the table. The first has `fraction * rows` rows, rounded to the nearest number, a half up.
    /// The same seed chooses the same of as many rows, on every machine and in every version. O(values).
    ///
    /// Source: scikit-learn `train_test_split`, which also shuffles, and rounds the test rows up.
    ///
    /// # Errors
    /// [`Error::FractionOutOfRange`]; those of `filter_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_fn(Shape { rows: 10, columns: 2 }, |row, column| (row + column) as f64)?;
    /// let (training, test) = table.as_dyn().split_rows(0.75, 42)?;
    /// assert_eq!((training.row_count(), test.row_count()), (8, 2));
    /// assert!(table.as_dyn().split_rows(75.0, 42).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn split_rows(&self, fraction: f64, seed: u64) -> Result<(Box<dyn NumericTable>, Box<dyn NumericTable>)> {
        let rows = self.shape().rows;
        let count = part_of(rows, fraction)?;
        let mut is_chosen = flags(rows)?;
        choose(&mut is_chosen, rows, count, &mut Random::new(seed), |row| row);
        self.split_by(&mut is_chosen)
    }

    /// Like `split_rows`, for each value of a column by itself, so that all classes have the same fraction in both
    /// tables, as nearly as their numbers of rows allow: a class of `n` rows has `fraction * n` of them in the first,
    /// rounded to the nearest number, a half up. All NaNs are one class. O(rows log rows + values).
    ///
    /// Source: scikit-learn `train_test_split(stratify=..)`.
    ///
    /// # Errors
    /// [`Error::FractionOutOfRange`]; [`Error::ColumnOutOfRange`], [`Error::UnknownColumn`]; those of `filter_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let species = (0..60_u8).map(|row| u8::from(row >= 40)).collect::<Vec<_>>(); // 40 of one, 20 of the other
    /// let table = SoaNumericTable::from_columns([("species", species)])?;
    /// let (training, test) = table.as_dyn().split_rows_by("species", 0.75, 42)?;
    /// assert_eq!((training.row_count(), test.row_count()), (45, 15));
    /// assert_eq!(test.column::<u32>(0, ..)?.iter().sum::<u32>(), 5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn split_rows_by(
        &self,
        column: impl ColumnKey,
        fraction: f64,
        seed: u64,
    ) -> Result<(Box<dyn NumericTable>, Box<dyn NumericTable>)> {
        part_of(0, fraction)?;
        let rows = Sorted::by(self, column.column_in(self.dictionary())?)?;
        let (rows, ends) = (&rows.rows, rows.ends()?);
        let (mut is_chosen, mut random, mut start) = (flags(rows.len())?, Random::new(seed), 0);
        for end in ends {
            let class = &rows[start..end];
            let count = part_of(class.len(), fraction)?;
            choose(&mut is_chosen, class.len(), count, &mut random, |index| class[index]);
            start = end;
        }
        self.split_by(&mut is_chosen)
    }

    /// Copies the rows that are chosen, and the others.
    fn split_by(&self, is_chosen: &mut [bool]) -> Result<(Box<dyn NumericTable>, Box<dyn NumericTable>)> {
        let chosen = self.filter_rows(is_chosen)?;
        is_chosen.iter_mut().for_each(|is_chosen| *is_chosen = !*is_chosen);
        Ok((chosen, self.filter_rows(is_chosen)?))
    }
}

fn flags(rows: usize) -> Result<Vec<bool>> {
    let mut flags = with_room(rows)?;
    flags.resize(rows, false);
    Ok(flags)
}

/// Returns a fraction of a number of rows.
fn part_of(rows: usize, fraction: f64) -> Result<usize> {
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Error::FractionOutOfRange { fraction });
    }
    Ok(((fraction * rows as f64).round() as usize).min(rows)) // more than 2^53 rows are rounded, too
}

/// Chooses so many of the first `of` indices, and sets the flags of the rows that they stand for.
fn choose(is_chosen: &mut [bool], of: usize, count: usize, random: &mut Random, row: impl Fn(usize) -> usize) {
    for last in of - count..of {
        let index = random.below(last + 1);
        let index = if is_chosen[row(index)] { last } else { index };
        is_chosen[row(index)] = true;
    }
}
