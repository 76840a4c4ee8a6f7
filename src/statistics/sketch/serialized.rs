//! `Serialize` and `Deserialize` of quantile sketches. Numbers of the same kind are stored together, so that reading a
//! sketch of many columns takes little more memory than its bytes.

use std::borrow::Cow;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::QuantileSketch;
use crate::base::element::Element;
use crate::base::error::Result;
use crate::base::room::with_room;
use crate::dictionary::DataDictionary;
use crate::serde::numbers::Numbers;
use crate::serde::{refused, remember};
use crate::statistics::blocks::fits;
use crate::statistics::levels::{self, Levels};
use crate::statistics::quantiles::from_ordered;

/// The serialized form of a sketch: numbers of all columns, then each column's number of levels, each level's number of
/// values, and all values. If values are missing, their numbers follow those of NaN: older libraries reject the list.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "QuantileSketch", deny_unknown_fields)]
struct Parts<'a> {
    capacity: u64,
    rows: u64,
    counts: Numbers<'a, u64>,
    nan_counts: Numbers<'a, u64>,
    /// NaN without values.
    minima: Numbers<'a, f64>,
    maxima: Numbers<'a, f64>,
    over: Numbers<'a, u64>,
    under: Numbers<'a, u64>,
    levels: Numbers<'a, u64>,
    lengths: Numbers<'a, u64>,
    values: Numbers<'a, f64>,
    dictionary: Option<DataDictionary>,
}

impl QuantileSketch {
    fn parts(&self) -> Result<Parts<'static>> {
        let integers = |of: &dyn Fn(&Levels) -> u64| collected(self.columns.len(), self.columns.iter().map(of));
        let floats = |of: &dyn Fn(&Levels) -> f64| collected(self.columns.len(), self.columns.iter().map(of));
        let levels = || self.columns.iter().flat_map(Levels::used);
        let values = || levels().flatten().map(|&value| from_ordered(value));
        let extremes = |column: &Levels| column.extremes().unwrap_or((f64::NAN, f64::NAN));
        Ok(Parts {
            capacity: self.capacity as u64,
            rows: self.rows,
            counts: integers(&|column| column.count)?,
            nan_counts: self.nan_and_missing_counts()?,
            minima: floats(&|column| extremes(column).0)?,
            maxima: floats(&|column| extremes(column).1)?,
            over: integers(&|column| column.errors().0)?,
            under: integers(&|column| column.errors().1)?,
            levels: integers(&|column| column.used().len() as u64)?,
            lengths: collected(levels().count(), levels().map(|level| level.len() as u64))?,
            values: collected(levels().map(Vec::len).sum(), values())?,
            dictionary: self.dictionary.clone(),
        })
    }
}

impl QuantileSketch {
    /// Returns the number of NaN of each column, followed by those of missing values if there are any.
    fn nan_and_missing_counts(&self) -> Result<Numbers<'static, u64>> {
        let nan = self.columns.iter().map(|column| column.nan);
        if !self.has_missing() {
            return collected(self.columns.len(), nan);
        }
        let missing = self.columns.iter().map(|column| column.missing);
        collected(self.columns.len().saturating_mul(2), nan.chain(missing))
    }
}

/// Collects `count` numbers.
fn collected<T: Element>(count: usize, numbers: impl Iterator<Item = T>) -> Result<Numbers<'static, T>> {
    let mut all = with_room(count)?;
    all.extend(numbers);
    Ok(Numbers(Cow::Owned(all)))
}

impl Serialize for QuantileSketch {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.parts().map_err(refused)?.serialize(serializer)
    }
}

/// Refuses levels that no values can make.
impl<'de> Deserialize<'de> for QuantileSketch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let parts = Parts::deserialize(deserializer)?;
        let refusal = |reason: &str| Err(de::Error::custom(reason));
        let capacity = usize::try_from(parts.capacity).map_err(de::Error::custom)?;
        if capacity < 2 || capacity % 2 != 0 {
            return refusal("the capacity of a level is odd or 0");
        }
        let (count, rows) = (parts.counts.0.len(), parts.rows);
        let (nan_counts, missing_counts) = parts.nan_counts.0.split_at(count.min(parts.nan_counts.0.len()));
        let has_counts = nan_counts.len() == count && (missing_counts.is_empty() || missing_counts.len() == count);
        let integers = [&parts.over, &parts.under, &parts.levels];
        let floats = [&parts.minima, &parts.maxima];
        if !has_counts
            || integers.iter().any(|numbers| numbers.0.len() != count)
            || floats.iter().any(|numbers| numbers.0.len() != count)
        {
            return refusal("a column does not have one number of each kind");
        }
        fits(parts.dictionary.as_ref(), count).map_err(de::Error::custom)?;
        let mut columns = with_room(count).map_err(remember)?;
        let (mut lengths, mut values) = (&parts.lengths.0[..], &parts.values.0[..]);
        for (column, &nan) in nan_counts.iter().enumerate() {
            let levels = usize::try_from(parts.levels.0[column]).ok();
            let Some((own, others)) = levels.and_then(|levels| lengths.split_at_checked(levels)) else {
                return refusal("a column has more levels than there are");
            };
            let missing = missing_counts.get(column).copied().unwrap_or(0);
            let all = parts.counts.0[column].checked_add(nan).and_then(|all| all.checked_add(missing));
            if all != Some(rows) {
                return Err(de::Error::custom(format_args!("a column does not have one value in each of {rows} rows")));
            }
            let found = Levels::from_parts(&levels::Parts {
                capacity,
                count: parts.counts.0[column],
                nan,
                missing,
                extremes: (parts.minima.0[column], parts.maxima.0[column]),
                lengths: own,
                values,
                over: parts.over.0[column],
                under: parts.under.0[column],
            });
            let found = found.map_err(remember)?.map_err(de::Error::custom)?;
            values = &values[found.used().iter().map(Vec::len).sum()..];
            lengths = others;
            columns.push(found);
        }
        match lengths.is_empty() && values.is_empty() {
            true => Ok(Self { capacity, columns, rows, dictionary: parts.dictionary }),
            false => refusal("there are levels or values after those of the last column"),
        }
    }
}
