//! Replacing missing values: by a value, by neighbors, by the mean or the median.

use std::ops::Range;

use super::validity_of;
use crate::array::{AnyArray, Validity};
use crate::base::element::{Element, match_element};
use crate::base::error::Result;
use crate::base::number::{Exact, Number};
use crate::base::room::{filled, with_room};
use crate::base::value::AnyValue;
use crate::convert::{ConversionPolicy, WriteRule, kernel};
use crate::table::{NumericTable, Region, TableDescription, Token};
use crate::window::AnyWindow;

/// What replaces missing values. Source: pandas `fillna`, `ffill`, `bfill`; polars `FillNullStrategy`.
///
/// # Examples
/// ```
/// use numeric_table::{SoaNumericTable, prelude::*, table::FillMissing};
/// let mut table = SoaNumericTable::new();
/// table.push_optional("a", [Some(1_i16), None, Some(4)])?;
/// table.fill_missing("a", FillMissing::value(7))?;
/// assert_eq!(table.column_slice::<i16>(0)?, [1, 7, 4]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FillMissing {
    /// This value, in every column. It must be representable: see
    /// [`ConversionPolicy::Checked`](crate::ConversionPolicy::Checked).
    Value(AnyValue),
    /// The last present value before the missing one.
    Previous,
    /// The first present value after the missing one.
    Next,
    /// The mean of the present values that are not NaN, computed in `f64` without intermediate rounding beyond that of
    /// a compensated sum, and rounded to the nearest integer in columns of integers.
    Mean,
    /// The median of the present values that are not NaN: the middle one, or the mean of the two in the middle, which is
    /// rounded towards the lower one in columns of integers.
    Median,
}

impl FillMissing {
    /// Returns [`FillMissing::Value`] of a number of any element type.
    pub fn value(value: impl Into<AnyValue>) -> Self {
        Self::Value(value.into())
    }
}

/// The replacements for the missing values of a column.
struct Filling {
    column: usize,
    /// The runs of rows to replace, each with the range of its values.
    runs: Vec<(Range<usize>, Range<usize>)>,
    /// The values, of the element type of the column.
    values: AnyArray,
}

/// Replaces the missing values of columns, all or nothing. Returns the number of replaced values.
pub(in crate::table) fn fill(
    table: &mut (dyn NumericTable + '_),
    columns: &[Range<usize>],
    fill: FillMissing,
) -> Result<usize> {
    let (mut fillings, mut count) = (Vec::new(), 0_usize);
    for column in columns.iter().cloned().flatten() {
        let Some(validity) = validity_of(table, column)? else { continue };
        if fillings.iter().any(|filling: &Filling| filling.column == column) {
            continue; // named twice
        }
        let filling = Filling::of(table, column, &validity, fill)?;
        count = count.saturating_add(filling.values.len());
        fillings.push(filling);
    }
    // Everything that can fail, before anything changes.
    for filling in &fillings {
        for (rows, values) in &filling.runs {
            let (region, rule) = filling.write_of(rows);
            table.prepare_write(&region, filling.values.as_slice().range(values.clone()), rule, Token::new())?;
        }
    }
    for filling in &fillings {
        filling.write(table)?;
    }
    Ok(count)
}

impl Filling {
    fn of(table: &(dyn NumericTable + '_), column: usize, validity: &Validity, fill: FillMissing) -> Result<Self> {
        let rows = table.shape().rows;
        let runs = validity.runs().filter(|(_, is_present)| !is_present).map(|(run, _)| run);
        match fill {
            FillMissing::Value(value) => {
                let first = validity.first_missing(0..rows).unwrap_or(0);
                Self::of_value(table, column, runs, value).map_err(|error| error.with_value_at(|_, _| (first, column)))
            }
            FillMissing::Mean | FillMissing::Median => {
                let (array, _) = table.column_array(column, &(0..rows), Token::new())?;
                let value = match fill {
                    FillMissing::Mean => mean_of(&array, validity),
                    _ => median_of(&array, validity)?,
                };
                match value {
                    Some(value) => Self::of_value(table, column, runs, value),
                    None => Self::of_value(table, column, std::iter::empty(), AnyValue::from(0_u8)),
                }
            }
            FillMissing::Previous | FillMissing::Next => {
                let (array, _) = table.column_array(column, &(0..rows), Token::new())?;
                let (mut list, mut from, mut count) = (Vec::new(), Vec::new(), 0);
                for run in runs {
                    let source = match fill {
                        FillMissing::Previous => run.start.checked_sub(1),
                        _ => Some(run.end).filter(|&row| row < rows),
                    };
                    if let Some(source) = source {
                        list.push((run.clone(), count..count + run.len()));
                        from.push((source, run.len()));
                        count += run.len();
                    }
                }
                let values = match_element!(array.element_type(), T => {
                    let stored = array.as_slice().as_slice::<T>();
                    let mut values = with_room::<T>(count)?;
                    for (source, count) in from {
                        let value = stored.get(source).copied().unwrap_or_default();
                        values.resize(values.len() + count, value);
                    }
                    AnyArray::from(values)
                });
                Ok(Self { column, runs: list, values })
            }
        }
    }

    /// Returns the replacements by one value.
    fn of_value(
        table: &(dyn NumericTable + '_),
        column: usize,
        runs: impl Iterator<Item = Range<usize>>,
        value: AnyValue,
    ) -> Result<Self> {
        let (mut list, mut count) = (Vec::new(), 0);
        for run in runs {
            list.push((run.clone(), count..count + run.len()));
            count += run.len();
        }
        let values = match_element!(table.column_type(column)?, T => {
            let value = value.convert::<T>(ConversionPolicy::Checked)?;
            AnyArray::from(filled(count, value)?)
        });
        Ok(Self { column, runs: list, values })
    }

    fn write_of(&self, rows: &Range<usize>) -> (Region, WriteRule) {
        let region = Region { rows: rows.clone(), columns: self.column..self.column + 1 };
        (region, WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false })
    }

    /// Writes the values, which makes their rows present.
    fn write(&self, table: &mut (dyn NumericTable + '_)) -> Result<()> {
        for (rows, values) in &self.runs {
            let (region, rule) = self.write_of(rows);
            table.write_region(&region, self.values.as_slice().range(values.clone()), rule)?;
        }
        if !self.values.element_type().is_float() {
            return Ok(());
        }
        // A NaN that is written over a gap leaves the gap.
        let mut is_nan = filled(self.values.len(), false)?;
        kernel::mark_nan(AnyWindow::of_rows(self.values.as_slice(), self.values.len(), 1), &mut is_nan);
        for (rows, values) in &self.runs {
            if is_nan[values.clone()].contains(&true) {
                let (region, rule) = self.write_of(rows);
                table.write_validity(self.column, rows.start, &Validity::all_present(rows.len())?, Token::new())?;
                table.write_region(&region, self.values.as_slice().range(values.clone()), rule)?;
            }
        }
        Ok(())
    }
}

/// Returns the mean of the present values that are not NaN.
fn mean_of(array: &AnyArray, validity: &Validity) -> Option<AnyValue> {
    match_element!(array.element_type(), T => {
        let values = array.as_slice().as_slice::<T>();
        let (mut integers, mut sum, mut count, mut has_infinity) = (0_i128, CompensatedSum::default(), 0_u64, false);
        for (run, _) in validity.runs().filter(|(_, is_present)| *is_present) {
            for value in values.get(run).unwrap_or_default() {
                match value.exact() {
                    Exact::Integer(integer) => integers += integer, // 2^64 values of 64 bits fit
                    Exact::Float(value) if value.is_nan() => continue,
                    Exact::Float(value) => {
                        has_infinity |= value.is_infinite();
                        sum.add(value);
                    }
                }
                count += 1;
            }
        }
        if count == 0 {
            return None;
        }
        if T::TYPE.is_float() {
            let mean = sum.value() / count as f64;
            let is_overflow = !mean.is_finite() && !has_infinity;
            return Some(AnyValue::from(if is_overflow { mean_of_large(values, validity, count) } else { mean }));
        }
        // Rounded half away from zero.
        let (count, twice) = (i128::from(count), 2 * integers);
        let rounded = (twice.abs() + count) / (2 * count) * twice.signum();
        Some(of_integer(rounded))
    })
}

/// Returns the mean of present finite values whose sum overflows.
fn mean_of_large<T: Element>(values: &[T], validity: &Validity, count: u64) -> f64 {
    // Exact, but for values that make no difference: there are fewer than 2^64 values.
    const SCALE: f64 = 1.0 / (1_u128 << 64) as f64;
    let mut sum = CompensatedSum::default();
    for (run, _) in validity.runs().filter(|(_, is_present)| *is_present) {
        for value in values.get(run).unwrap_or_default() {
            if let Exact::Float(value) = value.exact()
                && !value.is_nan()
            {
                sum.add(value * SCALE);
            }
        }
    }
    (sum.value() / count as f64 / SCALE).clamp(f64::MIN, f64::MAX)
}

/// A sum of floats with the rounding errors of its additions. Source: Neumaier, "Rundungsfehleranalyse einiger Verfahren
/// zur Summation endlicher Summen".
#[derive(Default)]
struct CompensatedSum {
    sum: f64,
    correction: f64,
}

impl CompensatedSum {
    fn add(&mut self, value: f64) {
        let new = self.sum + value;
        let (large, small) = if self.sum.abs() >= value.abs() { (self.sum, value) } else { (value, self.sum) };
        self.correction += if new.is_finite() { (large - new) + small } else { 0.0 };
        self.sum = new;
    }

    fn value(&self) -> f64 {
        self.sum + self.correction
    }
}

/// Returns an integer between two values of an integer type. The types are at most 64 bits wide.
fn of_integer(integer: i128) -> AnyValue {
    match i64::try_from(integer) {
        Ok(integer) => AnyValue::from(integer),
        Err(_) => AnyValue::from(integer as u64),
    }
}

/// Returns the median of the present values that are not NaN.
fn median_of(array: &AnyArray, validity: &Validity) -> Result<Option<AnyValue>> {
    match_element!(array.element_type(), T => {
        let values = array.as_slice().as_slice::<T>();
        let mut present = with_room::<T>(values.len().saturating_sub(validity.missing_count()))?;
        for (run, _) in validity.runs().filter(|(_, is_present)| *is_present) {
            let numbers = values.get(run).unwrap_or_default().iter().copied();
            present.extend(numbers.filter(|value| !matches!(value.exact(), Exact::Float(value) if value.is_nan())));
        }
        let compare = |one: &T, other: &T| match (one.exact(), other.exact()) {
            (Exact::Integer(one), Exact::Integer(other)) => one.cmp(&other),
            (Exact::Float(one), Exact::Float(other)) => one.total_cmp(&other),
            _ => std::cmp::Ordering::Equal, // never: they have one type
        };
        let Some(last) = present.len().checked_sub(1) else { return Ok(None) };
        let middle = present.len() / 2;
        let (below, &mut upper, _) = present.select_nth_unstable_by(middle, compare);
        if last % 2 == 0 {
            return Ok(Some(upper.into()));
        }
        let lower = below.iter().copied().max_by(compare).unwrap_or(upper);
        Ok(Some(match (lower.exact(), upper.exact()) {
            (Exact::Integer(lower), Exact::Integer(upper)) => of_integer((lower + upper).div_euclid(2)),
            (Exact::Float(lower), Exact::Float(upper)) => AnyValue::from(lower / 2.0 + upper / 2.0),
            _ => upper.into(),
        }))
    })
}
