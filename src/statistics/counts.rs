//! The histogram of one column: its counts.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::bins::HistogramBins;
use crate::base::error::Result;
use crate::base::room::filled;
use crate::serde::numbers::{Numbers, list_of};

/// The histogram of one column. It can be serialized with serde.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
/// let table = HomogenNumericTable::from_rows(&[[1_u8], [2], [2], [9]])?;
/// let histogram = Histogram::compute(&table, &HistogramBins::with_edges([0.0, 2.0, 3.0])?)?;
/// let column = histogram.column(0)?;
/// assert_eq!((column.bins().edges(), column.counts(), column.above()), (&[0.0, 2.0, 3.0][..], &[1, 2][..], 1));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnHistogram {
    pub(super) bins: Arc<HistogramBins>,
    counts: Vec<u64>,
    below: u64,
    above: u64,
    nan: u64,
    pub(super) missing: u64,
}

impl ColumnHistogram {
    pub(super) fn new(bins: &Arc<HistogramBins>) -> Result<Self> {
        Ok(Self { bins: bins.clone(), counts: filled(bins.len(), 0)?, below: 0, above: 0, nan: 0, missing: 0 })
    }

    /// Returns the bins.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::{Histogram, HistogramBins};
    /// let histogram = Histogram::new(3, &HistogramBins::uniform(0.0, 1.0, 2)?)?;
    /// assert_eq!(histogram.column(2)?.bins().edges(), [0.0, 0.5, 1.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn bins(&self) -> &HistogramBins {
        &self.bins
    }

    /// Returns the number of values in each bin.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let table = HomogenNumericTable::from_rows(&[[0], [1], [1]])?;
    /// assert_eq!(Histogram::compute(&table, &HistogramBins::uniform(0.0, 2.0, 2)?)?.column(0)?.counts(), [1, 2]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the number of values below the first edge.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let table = HomogenNumericTable::from_rows(&[[0], [-1], [1]])?;
    /// assert_eq!(Histogram::compute(&table, &HistogramBins::uniform(0.0, 2.0, 2)?)?.column(0)?.below(), 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn below(&self) -> u64 {
        self.below
    }

    /// Returns the number of values above the last edge.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let table = HomogenNumericTable::from_rows(&[[0], [2], [3]])?;
    /// assert_eq!(Histogram::compute(&table, &HistogramBins::uniform(0.0, 2.0, 2)?)?.column(0)?.above(), 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn above(&self) -> u64 {
        self.above
    }

    /// Returns the number of NaN values, which belong to no bin.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let table = HomogenNumericTable::from_rows(&[[0.0], [f64::NAN]])?;
    /// assert_eq!(Histogram::compute(&table, &HistogramBins::uniform(0.0, 2.0, 2)?)?.column(0)?.nan_count(), 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan_count(&self) -> u64 {
        self.nan
    }

    /// Returns the number of missing values, which belong to no bin. NaN is not missing.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*, statistics::{Histogram, HistogramBins}};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1), None, Some(2)])?;
    /// let histogram = Histogram::compute(&table, &HistogramBins::uniform(0.0, 2.0, 2)?)?;
    /// assert_eq!((histogram.column(0)?.counts(), histogram.column(0)?.missing_count()), (&[0, 2][..], 1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_count(&self) -> u64 {
        self.missing
    }

    /// Counts values. The total number of values must not overflow.
    pub(super) fn count(&mut self, values: impl Iterator<Item = f64>) {
        for value in values {
            match self.bins.bin_of(value) {
                Some(bin) => self.counts[bin] += 1,
                None if value.is_nan() => self.nan += 1,
                None if self.bins.is_below(value) => self.below += 1,
                None => self.above += 1,
            }
        }
    }

    /// Returns the number of rows, including NaN and missing values; `None` on overflow, which a computed histogram
    /// never has.
    pub(super) fn value_count(&self) -> Option<u64> {
        let others = [self.below, self.above, self.nan, self.missing];
        others.iter().chain(&self.counts).try_fold(0_u64, |sum, &count| sum.checked_add(count))
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.below += other.below;
        self.above += other.above;
        self.nan += other.nan;
        self.missing += other.missing;
    }
}

/// The serialized form of a histogram. In a table's histograms, a column with the bins of the previous column omits
/// them. The number of missing values, if there are any, follows the counts of the bins: older libraries reject it.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "ColumnHistogram", deny_unknown_fields)]
struct Parts<'a> {
    bins: Option<Cow<'a, HistogramBins>>,
    counts: Numbers<'a, u64>,
    below: u64,
    above: u64,
    nan: u64,
}

impl<'a> Parts<'a> {
    fn of(column: &'a ColumnHistogram, before: Option<&ColumnHistogram>) -> Self {
        let is_same = before.is_some_and(|before| Arc::ptr_eq(&before.bins, &column.bins));
        let mut counts = Cow::Borrowed(&column.counts[..]);
        if column.missing > 0 {
            counts.to_mut().push(column.missing);
        }
        let counts = Numbers(counts);
        let (below, above, nan) = (column.below, column.above, column.nan);
        Self { bins: (!is_same).then_some(Cow::Borrowed(&*column.bins)), counts, below, above, nan }
    }

    fn after(self, before: Option<&ColumnHistogram>) -> std::result::Result<ColumnHistogram, &'static str> {
        let bins = match (self.bins, before) {
            (Some(bins), _) => Arc::new(bins.into_owned()),
            (None, Some(before)) => before.bins.clone(),
            (None, None) => return Err("a column has no bins and no previous column"),
        };
        let mut counts = self.counts.0.into_owned();
        let missing = if counts.len() > bins.len() { counts.pop().unwrap_or(0) } else { 0 };
        if counts.len() != bins.len() {
            return Err("a column does not have one count for each bin");
        }
        let found = ColumnHistogram { bins, counts, below: self.below, above: self.above, nan: self.nan, missing };
        match found.value_count() {
            Some(_) => Ok(found),
            None => Err("a column has more values than can be counted"),
        }
    }
}

impl Serialize for ColumnHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Parts::of(self, None).serialize(serializer)
    }
}

/// Refuses counts that do not match the bins.
impl<'de> Deserialize<'de> for ColumnHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Parts::deserialize(deserializer)?.after(None).map_err(de::Error::custom)
    }
}

/// The histograms of the columns of a table. Adjacent columns share equal bins.
pub(super) struct Columns<'a>(pub(super) Cow<'a, [ColumnHistogram]>);

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let before = std::iter::once(None).chain(self.0.iter().map(Some));
        serializer.collect_seq(self.0.iter().zip(before).map(|(column, before)| Parts::of(column, before)))
    }
}

impl<'de> Deserialize<'de> for Columns<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let columns = list_of(deserializer, |parts: Parts<'_>, before: &[_]| parts.after(before.last()))?;
        Ok(Self(Cow::Owned(columns)))
    }
}
