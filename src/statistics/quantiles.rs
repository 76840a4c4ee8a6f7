//! Exact quantiles: order statistics of each column.
//!
//! Values become integers in the same order as the numbers, which compare faster and exclude NaN. Few quantiles of many
//! rows are found without a copy, in `brackets`; others are selected in a copy of the column. Sketches are in `sketch`.

use std::ops::Range;

use super::block::BLOCK_ROWS;
use super::blocks::{TableSource, Work, column_by, names_of};
use super::brackets::{self, Selected};
use super::options::StatisticsOptions;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel::{self, in_order};
use crate::base::range::cut;
use crate::base::room::{filled, with_room};
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;
use crate::table::homogen::HomogenNumericTable;
use crate::table::{ColumnKey, DataLayout, NumericTable, Region};

/// The largest number of columns of a row-major table that are copied together: one cache line of each row.
const TOGETHER: usize = 8;

/// The value of a quantile that lies between two values. Source: NumPy `quantile`, parameter `method`.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::{QuantileMethod, Quantiles}};
/// let table = HomogenNumericTable::from_rows(&[[1.0], [2.0], [4.0], [8.0]])?;
/// let thirds = Quantiles::compute(&table, &[0.4])?; // 1.2 of 3 steps from the first value
/// let of = |method| thirds.clone().method(method).value(0, 0);
/// assert_eq!((of(QuantileMethod::Lower)?, of(QuantileMethod::Higher)?), (2.0, 4.0));
/// assert_eq!((of(QuantileMethod::Nearest)?, of(QuantileMethod::Midpoint)?), (2.0, 3.0));
/// assert!((of(QuantileMethod::Linear)? - 2.4).abs() < 1e-12);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuantileMethod {
    /// Linear interpolation between the two values.
    #[default]
    Linear,
    /// The smaller value.
    Lower,
    /// The larger value.
    Higher,
    /// The nearer value; halfway between, the value whose rank, counted from zero, is even.
    Nearest,
    /// The mean of the two values.
    Midpoint,
}

/// The position of a quantile in a column, between two values.
#[derive(Clone, Copy, Debug)]
struct Place {
    lower: f64,
    higher: f64,
    /// The distance from the lower value as a fraction of the step to the higher one, from 0 to less than 1.
    fraction: f64,
    /// Whether the rank of the lower value, counted from zero, is even.
    is_even: bool,
}

impl Place {
    const NONE: Self = Self { lower: f64::NAN, higher: f64::NAN, fraction: 0.0, is_even: true };

    fn value(&self, method: QuantileMethod) -> f64 {
        let Self { lower, higher, fraction, is_even } = *self;
        match method {
            QuantileMethod::Linear => between(lower, higher, fraction),
            QuantileMethod::Midpoint if fraction > 0.0 => between(lower, higher, 0.5),
            QuantileMethod::Higher if fraction > 0.0 => higher,
            QuantileMethod::Nearest if fraction > 0.5 || (fraction == 0.5 && !is_even) => higher,
            _ => lower,
        }
    }
}

/// Interpolates between two values. The result never lies outside of them and never overflows.
fn between(lower: f64, higher: f64, fraction: f64) -> f64 {
    let width = higher - lower;
    if fraction == 0.0 || lower == higher {
        lower
    } else if width.is_infinite() {
        // Next to an infinite value, the result is that infinity; between both infinities, NaN.
        let is_far = lower.is_finite() && higher.is_finite();
        if is_far { lower * (1.0 - fraction) + higher * fraction } else { lower + higher }
    } else if fraction < 0.5 {
        lower + width * fraction // as NumPy does, from the nearer end
    } else {
        higher - width * (1.0 - fraction)
    }
}

/// Exact quantiles of every column of a table, in `f64`.
///
/// The quantile `q` of `n` values is `q * (n - 1)` steps from the smallest value. Between two values it is interpolated
/// linearly, like NumPy's default; [`method`](Self::method) selects another rule. Missing values are left out and
/// counted. NaN values are skipped and counted apart, as in [`BasicStatistics`](crate::statistics::BasicStatistics) and
/// NumPy's `nanquantile`. Infinities are ordinary values; interpolation between a finite and an infinite value gives
/// the infinite one. The quantiles of a column without values are NaN. Values of types other than `f64` are converted,
/// exactly except for 64-bit integers beyond 2^53.
///
/// O(rows) for each column on average, plus a little for each quantile. Uses several threads if that is faster. Up to 8
/// quantiles of 65,536 or more rows take one pass, and memory for a few percent of the values; otherwise, each thread
/// copies up to 8 columns at a time, 8 bytes per value. For streams and tables larger than memory,
/// [`QuantileSketch`](crate::statistics::QuantileSketch) returns quantiles with a known error bound.
///
/// Source: NumPy `nanquantile`, DAAL `quantiles`.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::Quantiles};
/// let table = HomogenNumericTable::from_rows(&[[1.0_f32, 50.0], [2.0, 10.0], [3.0, 20.0], [10.0, f32::NAN]])?;
/// let quartiles = Quantiles::compute(&table, &[0.25, 0.5, 0.75])?;
/// assert_eq!(quartiles.column(0)?, [1.75, 2.5, 4.75]);
/// assert_eq!(quartiles.column(1)?, [15.0, 20.0, 35.0]);
/// assert_eq!((quartiles.count(1)?, quartiles.nan_count(1)?), (3, 1));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Quantiles {
    probabilities: Vec<f64>,
    columns: Vec<Column>,
    method: QuantileMethod,
    /// The names of the columns.
    dictionary: DataDictionary,
}

#[derive(Clone, Debug, Default)]
struct Column {
    count: u64,
    nan: u64,
    missing: u64,
    /// One for each probability.
    places: Vec<Place>,
}

impl Column {
    /// Creates the quantiles of a column from the values of their ranks.
    fn of(rows: usize, selected: &Selected, probabilities: &[f64]) -> Result<Self> {
        let mut places = filled(probabilities.len(), Place::NONE)?;
        let Selected { count, values } = selected;
        let value = |rank: usize| {
            let at = values.binary_search_by_key(&rank, |&(rank, _)| rank);
            at.map_or(f64::NAN, |at| from_ordered(values[at].1)) // every rank is there
        };
        if let Some(last) = count.checked_sub(1) {
            for (place, &probability) in places.iter_mut().zip(probabilities) {
                let (rank, next, fraction) = rank_of(probability, last);
                *place = Place { lower: value(rank), higher: value(next), fraction, is_even: rank % 2 == 0 };
            }
        }
        Ok(Self { count: *count as u64, nan: (rows - count) as u64, missing: 0, places })
    }
}

impl Quantiles {
    /// Computes quantiles of every column of a table of any kind.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if a quantile is not between 0 and 1; [`ErrorKind::NotAllocated`],
    /// [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Quantiles};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 30], [2, 10], [3, 20]])?;
    /// let medians = Quantiles::compute(&table, &[0.5])?;
    /// assert_eq!((medians.value(0, 0)?, medians.value(1, 0)?), (2.0, 20.0));
    /// assert!(matches!(Quantiles::compute(&table, &[50.0]).unwrap_err().kind(), ErrorKind::ParameterOutOfRange { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute(table: &dyn NumericTable, probabilities: &[f64]) -> Result<Self> {
        Self::compute_with(table, probabilities, StatisticsOptions::new())
    }

    /// Computes quantiles of every column of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// The errors of [`compute`](Self::compute).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Quantiles, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 30], [2, 10], [3, 20]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// assert_eq!(Quantiles::compute_with(&table, &[0.0, 1.0], options)?.column(1)?, [10.0, 30.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute_with(table: &dyn NumericTable, probabilities: &[f64], options: StatisticsOptions) -> Result<Self> {
        check_probabilities(probabilities)?;
        let source = TableSource(table);
        let work = Work::on_table(table, &source, &options)?;
        let found = work.by_column(|part| {
            let layout = if part.missing > 0 { DataLayout::ColumnMajor } else { table.data_layout() };
            let mut columns = Self::columns_of(part, layout, probabilities)?;
            columns.iter_mut().for_each(|column| column.missing = part.missing);
            Ok(columns)
        })?;
        let mut own = filled(probabilities.len(), 0.0)?;
        own.copy_from_slice(probabilities);
        let dictionary = table.dictionary().clone();
        Ok(Self { probabilities: own, columns: found, method: QuantileMethod::Linear, dictionary })
    }

    /// Computes quantiles of columns without missing values.
    fn columns_of(work: &Work<'_>, layout: DataLayout, probabilities: &[f64]) -> Result<Vec<Column>> {
        let Shape { rows, columns } = work.shape;
        let mut found = filled(columns, Column::default())?;
        if brackets::suits(rows, probabilities) {
            let ranks = |last: usize| ranks_of(probabilities, last);
            let selected = brackets::select(work, layout, probabilities, &ranks)?;
            let columns = found.iter_mut().enumerate().zip(selected).collect();
            let complete = |((at, column), selected): ((usize, &mut Column), Option<Selected>)| {
                *column = match selected {
                    Some(selected) => Column::of(rows, &selected, probabilities)?,
                    None => select(work, at..at + 1, probabilities)?.pop().unwrap_or_default(),
                };
                Ok(())
            };
            parallel::map(columns, complete).into_iter().collect::<Result<()>>()?;
            return Ok(found);
        }
        let bytes = rows.saturating_mul(columns).saturating_mul(4 * size_of::<f64>()); // values are moved several times
        let together = match layout {
            DataLayout::RowMajor => columns.div_ceil(parallel::task_count(bytes)).clamp(1, TOGETHER),
            DataLayout::ColumnMajor => 1,
        };
        let of_columns = |columns: Range<usize>| {
            let selected = select(work, columns.clone(), probabilities)?;
            columns.clone().for_each(|column| work.done(rows, column..column + 1));
            Ok((columns.start, selected))
        };
        in_order(cut(0..columns, together), bytes, 1024, of_columns, |(start, columns): (usize, Vec<Column>)| {
            found[start..].iter_mut().zip(columns).for_each(|(mine, column)| *mine = column);
            Ok(())
        })?;
        Ok(found)
    }

    /// Sets the rule for quantiles between two values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{QuantileMethod, Quantiles}};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [2.0]])?;
    /// let median = Quantiles::compute(&table, &[0.5])?;
    /// assert_eq!(median.value(0, 0)?, 1.5);
    /// assert_eq!(median.method(QuantileMethod::Higher).value(0, 0)?, 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn method(self, method: QuantileMethod) -> Self {
        Self { method, ..self }
    }

    /// Returns the requested quantiles, as numbers from 0 to 1.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Quantiles};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [2.0]])?;
    /// assert_eq!(Quantiles::compute(&table, &[0.5, 0.9])?.probabilities(), [0.5, 0.9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Returns the quantiles of one column, in the requested order.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Quantiles};
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 7.0], [2.0, 9.0]])?;
    /// assert_eq!(Quantiles::compute(&table, &[1.0, 0.5])?.column(1)?, [9.0, 8.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column(&self, column: impl ColumnKey) -> Result<Vec<f64>> {
        Ok(self.of_column(column)?.places.iter().map(|place| place.value(self.method)).collect())
    }

    /// Returns one quantile of one column, by its position in the list of requested quantiles.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; [`ErrorKind::OutOfRange`] for the position.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Quantiles};
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 7.0], [2.0, 9.0]])?;
    /// let quantiles = Quantiles::compute(&table, &[0.0, 0.5])?;
    /// assert_eq!(quantiles.value(1, 0)?, 7.0);
    /// assert!(quantiles.value(0, 2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn value(&self, column: impl ColumnKey, position: usize) -> Result<f64> {
        let (places, count) = (&self.of_column(column)?.places, self.probabilities.len());
        let place = places.get(position).ok_or_else(|| Error::index_out_of_range("quantiles", position, count))?;
        Ok(place.value(self.method))
    }

    /// Returns the number of values of a column that are neither missing nor NaN.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Quantiles};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [f64::NAN], [f64::INFINITY]])?;
    /// assert_eq!(Quantiles::compute(&table, &[0.5])?.count(0)?, 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn count(&self, column: impl ColumnKey) -> Result<u64> {
        Ok(self.of_column(column)?.count)
    }

    /// Returns the number of NaN values of a column, which are skipped.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Quantiles};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [f64::NAN], [3.0]])?;
    /// assert_eq!(Quantiles::compute(&table, &[0.5])?.nan_count(0)?, 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan_count(&self, column: impl ColumnKey) -> Result<u64> {
        Ok(self.of_column(column)?.nan)
    }

    /// Returns the number of missing values of a column, which are left out. NaN is not missing.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*, statistics::Quantiles};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1), None, Some(3)])?;
    /// let median = Quantiles::compute(&table, &[0.5])?;
    /// assert_eq!((median.value("a", 0)?, median.missing_count("a")?), (2.0, 1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_count(&self, column: impl ColumnKey) -> Result<u64> {
        Ok(self.of_column(column)?.missing)
    }

    /// Returns the quantiles as a table with a row for each requested quantile and the columns of the table, including
    /// their names.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Quantiles};
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 7.0], [3.0, 9.0]])?;
    /// let quartiles = Quantiles::compute(&table, &[0.25, 0.5, 0.75])?.to_table()?;
    /// assert_eq!(quartiles.as_slice()?, [1.5, 7.5, 2.0, 8.0, 2.5, 8.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn to_table(&self) -> Result<HomogenNumericTable<f64>> {
        let shape = Shape { rows: self.probabilities.len(), columns: self.columns.len() };
        let value = |row: usize, column: usize| self.columns[column].places[row].value(self.method);
        HomogenNumericTable::from_fn(shape, value)?.with_dictionary(names_of(Some(&self.dictionary), shape.columns))
    }

    fn of_column(&self, column: impl ColumnKey) -> Result<&Column> {
        Ok(&self.columns[column_by(column, Some(&self.dictionary), self.columns.len())?])
    }
}

/// Checks that all quantiles are between 0 and 1.
///
/// # Errors
/// [`ErrorKind::ParameterOutOfRange`].
pub(super) fn check_probabilities(probabilities: &[f64]) -> Result<()> {
    match probabilities.iter().position(|probability| !(0.0..=1.0).contains(probability)) {
        Some(position) => Err(Error::new(ErrorKind::ParameterOutOfRange {
            name: format!("the quantile at position {position}").into(),
            value: probabilities[position],
            allowed: "a number from 0 to 1 is needed".into(),
        })),
        None => Ok(()),
    }
}

/// Copies some columns and selects the quantiles of each.
fn select(work: &Work<'_>, columns: Range<usize>, probabilities: &[f64]) -> Result<Vec<Column>> {
    let rows = work.shape.rows;
    let mut copies = Vec::with_capacity(columns.len());
    for _ in columns.clone() {
        let mut copy: Vec<i64> = Vec::new();
        let bytes = rows.saturating_mul(size_of::<i64>());
        copy.try_reserve_exact(rows).map_err(|_| Error::out_of_memory(bytes))?;
        copies.push(copy);
    }
    let mut buffer = Vec::new();
    for rows in cut(0..rows, BLOCK_ROWS) {
        let region = Region { rows, columns: columns.clone() };
        let values = work.source.read(&region, &mut buffer)?;
        for (column, copy) in copies.iter_mut().enumerate() {
            let values = values[column..].iter().step_by(columns.len());
            copy.extend(values.filter(|value| !value.is_nan()).map(|&value| to_ordered(value)));
        }
    }
    let mut found = filled(columns.len(), Column::default())?;
    for (column, copy) in found.iter_mut().zip(&mut copies) {
        let ranks = copy.len().checked_sub(1).map_or(Ok(Vec::new()), |last| ranks_of(probabilities, last))?;
        put_in_place(copy, 0, &ranks);
        let mut values = with_room(ranks.len())?;
        values.extend(ranks.iter().map(|&rank| (rank, copy[rank])));
        *column = Column::of(rows, &Selected { count: copy.len(), values }, probabilities)?;
    }
    Ok(found)
}

/// The ranks of the values next to a quantile, counted from zero, and the distance from the lower one.
fn rank_of(probability: f64, last: usize) -> (usize, usize, f64) {
    let steps = probability * last as f64;
    let rank = (steps.floor() as usize).min(last); // `last as f64` may be rounded up
    let fraction = steps - steps.floor();
    (rank, if fraction > 0.0 { (rank + 1).min(last) } else { rank }, fraction)
}

/// Returns the ranks of all quantiles, in ascending order, given the last rank.
fn ranks_of(probabilities: &[f64], last: usize) -> Result<Vec<usize>> {
    let mut ranks = with_room(probabilities.len().saturating_mul(2))?;
    for &probability in probabilities {
        let (rank, next, _) = rank_of(probability, last);
        ranks.extend_from_slice(&[rank, next]);
    }
    ranks.sort_unstable();
    ranks.dedup();
    Ok(ranks)
}

/// Moves the values of the given ranks, which ascend, to their sorted positions. `values` begins at the rank `start`.
/// Splits values and ranks at the middle rank, so that all of them cost little more than one.
pub(super) fn put_in_place(values: &mut [i64], start: usize, ranks: &[usize]) {
    if ranks.is_empty() {
        return;
    }
    let (low, rest) = ranks.split_at(ranks.len() / 2);
    let Some((&middle, high)) = rest.split_first() else { return };
    let (below, _, above) = values.select_nth_unstable(middle - start);
    put_in_place(below, start, low);
    put_in_place(above, middle + 1, high);
}

/// Returns an integer that preserves the order of `f64::total_cmp`.
pub(super) fn to_ordered(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Returns the number that [`to_ordered`] converted to an integer.
pub(super) fn from_ordered(ordered: i64) -> f64 {
    f64::from_bits((ordered ^ (((ordered >> 63) as u64) >> 1) as i64) as u64)
}
