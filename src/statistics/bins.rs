//! Bins of histograms: ascending edges, and the search for the bin of a value.

use std::borrow::Cow;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::room::filled;
use crate::serde::numbers::Numbers;

/// The bins of a histogram: `n + 1` edges make `n` bins. A bin includes its lower edge and excludes its upper edge; the
/// last bin includes both. Bins can be serialized with serde. Source: NumPy `histogram`.
///
/// # Examples
/// ```
/// use numeric_table::statistics::HistogramBins;
/// let bins = HistogramBins::uniform(0.0, 1.0, 4)?;
/// assert_eq!(bins.edges(), [0.0, 0.25, 0.5, 0.75, 1.0]);
/// assert_eq!((bins.bin_of(0.25), bins.bin_of(1.0), bins.bin_of(1.1)), (Some(1), Some(3), None));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramBins {
    /// At least two ascending edges, without NaN.
    edges: Vec<f64>,
    /// Number of bins per unit, if all have about the same width.
    per_unit: Option<f64>,
}

impl HistogramBins {
    /// Creates the given number of bins of equal width. The edges are the same as in NumPy `linspace`.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `bins` is 0, if `upper` is not above `lower`, if one of them is not
    /// finite, or if they are so close that bins would have no width; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::HistogramBins;
    /// assert_eq!(HistogramBins::uniform(-1.0, 1.0, 2)?.edges(), [-1.0, 0.0, 1.0]);
    /// assert!(HistogramBins::uniform(1.0, -1.0, 2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn uniform(lower: f64, upper: f64, bins: usize) -> Result<Self> {
        if bins == 0 {
            return Err(Error::parameter("the number of bins", 0.0, "at least 1 is needed"));
        }
        if !(lower < upper && lower.is_finite() && upper.is_finite()) {
            return Err(Error::new(ErrorKind::ParameterOutOfRange {
                name: "the upper edge".into(),
                value: upper,
                allowed: format!("both edges must be finite, and it must be above the lower edge, {lower}").into(),
            }));
        }
        let count = bins.checked_add(1).ok_or(Error::out_of_memory(usize::MAX))?;
        let mut edges = filled(count, upper)?;
        let uniform = edges.iter_mut().zip(uniform_edges(lower, upper, bins));
        uniform.for_each(|(edge, uniform)| *edge = uniform);
        check(&edges)?;
        Ok(Self { edges, per_unit: per_unit(upper - lower, bins) })
    }

    /// Creates bins with the given edges, which may be infinite. Finding the bin of a value is O(log n).
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] for fewer than two edges, or if an edge is NaN or not above the previous one.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, ErrorKind, statistics::HistogramBins};
    /// assert_eq!(HistogramBins::with_edges([0.0, 1.0, 10.0])?.bin_of(2.0), Some(1));
    /// let error = HistogramBins::with_edges([0.0, 1.0, 1.0]).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ParameterOutOfRange { .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_edges(edges: impl Into<Vec<f64>>) -> Result<Self> {
        let edges = edges.into();
        check(&edges)?;
        Ok(Self { edges, per_unit: None })
    }

    /// Returns the edges, one more than there are bins.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::HistogramBins;
    /// assert_eq!(HistogramBins::uniform(0.0, 3.0, 3)?.edges().len(), 4);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// Returns the number of bins.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::HistogramBins;
    /// assert_eq!(HistogramBins::with_edges([0.0, 1.0, 10.0])?.len(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "there is at least one bin")]
    pub fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// Returns the bin of a value; `None` for a value below the first edge or above the last one, and for NaN.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::HistogramBins;
    /// let bins = HistogramBins::uniform(0.0, 3.0, 3)?;
    /// assert_eq!((bins.bin_of(1.0), bins.bin_of(-0.1), bins.bin_of(f64::NAN)), (Some(1), None, None));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn bin_of(&self, value: f64) -> Option<usize> {
        let (first, last) = (self.edges[0], self.edges[self.edges.len() - 1]);
        if !(value >= first && value <= last) {
            return None;
        }
        let most = self.edges.len() - 2;
        let Some(per_unit) = self.per_unit else {
            return Some(self.edges.partition_point(|&edge| edge <= value).saturating_sub(1).min(most));
        };
        // Rounding may have led to a neighboring bin: the edges decide.
        let mut bin = (((value - first) * per_unit) as usize).min(most);
        while bin > 0 && value < self.edges[bin] {
            bin -= 1;
        }
        while bin < most && value >= self.edges[bin + 1] {
            bin += 1;
        }
        Some(bin)
    }

    /// Returns whether a value is below all bins.
    pub(super) fn is_below(&self, value: f64) -> bool {
        value < self.edges[0]
    }
}

/// Returns the lower edges of bins of equal width. If the total width is beyond the range of `f64`, they are computed
/// from halves.
fn uniform_edges(lower: f64, upper: f64, bins: usize) -> impl Iterator<Item = f64> {
    let width = upper - lower;
    let (unit, width) = if width.is_finite() { (1.0, width) } else { (2.0, upper / 2.0 - lower / 2.0) };
    let step = width / bins as f64;
    (0..bins).map(move |bin| unit * (lower / unit + bin as f64 * step))
}

/// Returns the number of bins per unit; `None` if it cannot be used to find values.
fn per_unit(width: f64, bins: usize) -> Option<f64> {
    Some(bins as f64 / width).filter(|per_unit| per_unit.is_finite() && width.is_finite())
}

/// The serialized form of bins.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "HistogramBins", deny_unknown_fields)]
struct Parts<'a> {
    edges: Numbers<'a, f64>,
    is_uniform: bool,
}

impl Serialize for HistogramBins {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let edges = Numbers(Cow::Borrowed(&self.edges[..]));
        Parts { edges, is_uniform: self.per_unit.is_some() }.serialize(serializer)
    }
}

/// Refuses edges that do not ascend, and bins marked as [`uniform`](HistogramBins::uniform) that have other edges.
impl<'de> Deserialize<'de> for HistogramBins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { edges, is_uniform } = Parts::deserialize(deserializer)?;
        let mut found = Self::with_edges(edges.0.into_owned()).map_err(de::Error::custom)?;
        if is_uniform {
            let bins = found.len();
            let (lower, upper) = (found.edges[0], found.edges[bins]);
            found.per_unit = per_unit(upper - lower, bins);
            let are_equal = found.edges.iter().zip(uniform_edges(lower, upper, bins)).all(|(edge, own)| *edge == own);
            if !are_equal || found.per_unit.is_none() {
                return Err(de::Error::custom("the edges do not make bins of equal width"));
            }
        }
        Ok(found)
    }
}

fn check(edges: &[f64]) -> Result<()> {
    if edges.len() < 2 {
        return Err(Error::parameter("the number of edges", edges.len() as f64, "2 or more are needed"));
    }
    if edges[0].is_nan() {
        return Err(Error::parameter("edge 0", f64::NAN, "a number is needed"));
    }
    match edges.windows(2).position(|pair| !matches!(pair, [before, edge] if before < edge)) {
        Some(at) => Err(not_ascending(at + 1, edges[at], edges[at + 1])),
        None => Ok(()),
    }
}

fn not_ascending(position: usize, before: f64, edge: f64) -> Error {
    Error::new(ErrorKind::ParameterOutOfRange {
        name: format!("edge {position}").into(),
        value: edge,
        allowed: format!("edges must ascend, and the previous one is {before}").into(),
    })
}
