//! Random rows: samples, shuffles, and splits into training and test rows.
//!
//! The seed determines the result, on every machine and in every version: see `base/random`. All possible samples have
//! the same probability: Floyd's algorithm, in "Programming Pearls: A Sample of Brilliance".

use super::NumericTable;
use super::order::{Order, Sorted};
use super::part::ColumnKey;
use super::take::{filter_rows, take_rows};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::random::Random;
use crate::base::room::with_room;

/// Copies `count` random rows, in the order of the table.
pub(super) fn sample_rows(table: &(dyn NumericTable + '_), count: usize, seed: u64) -> Result<Box<dyn NumericTable>> {
    let row_count = table.shape().rows;
    if count > row_count {
        return Err(Error::new(ErrorKind::RowsOutOfRange { rows: 0..count, row_count }));
    }
    let mut is_chosen = flags(row_count)?;
    choose(&mut is_chosen, row_count, count, &mut Random::new(seed), |row| row);
    filter_rows(table, &is_chosen)
}

/// Copies all rows in a random order.
pub(super) fn shuffle_rows(table: &(dyn NumericTable + '_), seed: u64) -> Result<Box<dyn NumericTable>> {
    let count = table.shape().rows;
    let mut rows = with_room(count)?;
    rows.extend(0..count);
    Random::new(seed).shuffle(&mut rows);
    take_rows(table, &rows)
}

/// Copies a random fraction of the rows, and the others.
pub(super) fn split_rows(
    table: &(dyn NumericTable + '_),
    fraction: f64,
    seed: u64,
) -> Result<(Box<dyn NumericTable>, Box<dyn NumericTable>)> {
    let rows = table.shape().rows;
    let count = part_of(rows, fraction)?;
    let mut is_chosen = flags(rows)?;
    choose(&mut is_chosen, rows, count, &mut Random::new(seed), |row| row);
    split_by(table, &mut is_chosen)
}

/// Like `split_rows`, separately for each value of a column.
pub(super) fn split_rows_by(
    table: &(dyn NumericTable + '_),
    column: impl ColumnKey,
    fraction: f64,
    seed: u64,
) -> Result<(Box<dyn NumericTable>, Box<dyn NumericTable>)> {
    part_of(0, fraction)?;
    let sorted = Sorted::by(table, column.column_in(table.dictionary())?, Order::default())?;
    let (mut is_chosen, mut random) = (flags(sorted.len())?, Random::new(seed));
    sorted.try_for_each_class(|class| {
        let count = part_of(class.len(), fraction)?;
        choose(&mut is_chosen, class.len(), count, &mut random, |index| class.row(index));
        Ok(())
    })?;
    drop(sorted);
    split_by(table, &mut is_chosen)
}

/// Copies the chosen rows, and the others.
fn split_by(
    table: &(dyn NumericTable + '_),
    is_chosen: &mut [bool],
) -> Result<(Box<dyn NumericTable>, Box<dyn NumericTable>)> {
    let chosen = filter_rows(table, is_chosen)?;
    is_chosen.iter_mut().for_each(|is_chosen| *is_chosen = !*is_chosen);
    Ok((chosen, filter_rows(table, is_chosen)?))
}

fn flags(rows: usize) -> Result<Vec<bool>> {
    let mut flags = with_room(rows)?;
    flags.resize(rows, false);
    Ok(flags)
}

/// Returns a fraction of a number of rows.
fn part_of(rows: usize, fraction: f64) -> Result<usize> {
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Error::parameter("the fraction", fraction, "a number from 0 to 1 is needed"));
    }
    Ok(((fraction * rows as f64).round() as usize).min(rows)) // more than 2^53 rows are rounded, too
}

/// Chooses `count` of the first `of` indices, and sets the flags of the corresponding rows.
fn choose(is_chosen: &mut [bool], of: usize, count: usize, random: &mut Random, row: impl Fn(usize) -> usize) {
    for last in of - count..of {
        let index = random.below(last + 1);
        let index = if is_chosen[row(index)] { last } else { index };
        is_chosen[row(index)] = true;
    }
}
