//! What is known of one column.

use super::double::Double;

/// Statistics of one column: DAAL's low-order moments, and counts.
///
/// NaN is left out, and counted. Infinities are values like others, so that sums and means become infinite with them, and
/// deviations NaN. What no value defines is NaN: the minimum of nothing, the variance of one value. Sums that leave the range
/// of `f64` become infinite, or NaN.
///
/// Source: DAAL `low_order_moments`, oneDAL `basic_statistics`; the names are theirs.
///
/// # Examples
/// ```
/// use numeric_table::{BasicStatistics, prelude::*};
/// let table = HomogenNumericTable::from_rows(&[[2.0_f32], [4.0], [f32::NAN], [9.0]])?;
/// let column = *BasicStatistics::of(&table)?.column(0)?;
/// assert_eq!((column.count(), column.nan_count(), column.infinity_count()), (3, 1, 0));
/// assert_eq!((column.minimum(), column.maximum(), column.sum(), column.mean()), (2.0, 9.0, 15.0, 5.0));
/// assert_eq!((column.variance(), column.population_variance()), (13.0, 26.0 / 3.0));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// Values that are finite.
    pub(super) finite: u64,
    pub(super) nan: u64,
    pub(super) positive_infinities: u64,
    pub(super) negative_infinities: u64,
    /// Of the finite values; infinite, the wrong way round, if there are none.
    pub(super) minimum: f64,
    pub(super) maximum: f64,
    pub(super) sum: Double,
    /// Sum of the squared deviations of the finite values from their mean.
    pub(super) centered: Double,
    pub(super) propagates_nan: bool,
}

/// The smaller of two values, the second if none is. (`f64::min` may give either of 0 and -0.)
#[inline(always)]
pub(super) fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger of two values, the second if none is.
#[inline(always)]
pub(super) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl ColumnStatistics {
    pub(super) const EMPTY: Self = Self {
        finite: 0,
        nan: 0,
        positive_infinities: 0,
        negative_infinities: 0,
        minimum: f64::INFINITY,
        maximum: f64::NEG_INFINITY,
        sum: Double::ZERO,
        centered: Double::ZERO,
        propagates_nan: false,
    };

    /// Adds what is known of further values. Source: Chan, Golub, LeVeque 1979.
    pub(super) fn merge(&mut self, other: &Self) {
        let (mine, theirs) = (self.finite as f64, other.finite as f64);
        let both = mine + theirs;
        if self.finite == 0 {
            (self.sum, self.centered) = (other.sum, other.centered);
        } else if other.finite > 0 {
            let delta = other.sum.divided_by(theirs).add(self.sum.divided_by(mine).negated()).value();
            let between = delta * (delta * (mine / both * theirs));
            self.centered = self.centered.add(other.centered).add(Double::from(between));
            self.sum = self.sum.add(other.sum);
        }
        self.minimum = lesser(other.minimum, self.minimum);
        self.maximum = greater(other.maximum, self.maximum);
        self.finite += other.finite;
        self.nan += other.nan;
        self.positive_infinities += other.positive_infinities;
        self.negative_infinities += other.negative_infinities;
    }

    /// Counts the values that are not NaN: those that the other numbers are about.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [f64::NAN], [f64::INFINITY]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn count(&self) -> u64 {
        self.finite + self.infinity_count()
    }

    /// Counts the values that are NaN: they are left out of all other numbers, unless NaN
    /// [propagates](super::BasicStatistics::propagate_nan).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [f64::NAN], [3.0]])?;
    /// let column = *BasicStatistics::of(&table)?.column(0)?;
    /// assert_eq!((column.nan_count(), column.mean()), (1, 2.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan_count(&self) -> u64 {
        self.nan
    }

    /// Counts the infinite values, of both signs.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [f64::NEG_INFINITY], [3.0]])?;
    /// let column = *BasicStatistics::of(&table)?.column(0)?;
    /// assert_eq!((column.infinity_count(), column.minimum(), column.maximum()), (1, f64::NEG_INFINITY, 3.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn infinity_count(&self) -> u64 {
        self.positive_infinities + self.negative_infinities
    }

    /// Gives the smallest value; NaN if there is none. Values of 64-bit integer types are rounded to `f64`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[3_i16], [-7], [5]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.minimum(), -7.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn minimum(&self) -> f64 {
        self.report(match () {
            () if self.count() == 0 => f64::NAN,
            () if self.negative_infinities > 0 => f64::NEG_INFINITY,
            () => self.minimum,
        })
    }

    /// Gives the largest value; NaN if there is none.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[3_i16], [-7], [5]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.maximum(), 5.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn maximum(&self) -> f64 {
        self.report(match () {
            () if self.count() == 0 => f64::NAN,
            () if self.positive_infinities > 0 => f64::INFINITY,
            () => self.maximum,
        })
    }

    /// Gives the sum; 0 if there is no value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1e16], [1.0], [-1e16]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.sum(), 1.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sum(&self) -> f64 {
        self.report(self.infinite_sum().unwrap_or_else(|| self.sum.value()))
    }

    /// Gives the sum of the squares; 0 if there is no value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[3_i8], [-4]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.sum_squares(), 25.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sum_squares(&self) -> f64 {
        self.report(match () {
            () if self.infinity_count() > 0 => f64::INFINITY,
            () if self.finite == 0 => 0.0,
            // Two terms that are not negative: nothing cancels.
            () => self.centered.value() + self.finite_mean() * self.sum.value(),
        })
    }

    /// Gives the sum of the squared deviations from the mean; 0 if there is no value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1e9 + 1.0], [1e9 + 3.0]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.sum_squares_centered(), 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sum_squares_centered(&self) -> f64 {
        self.report(if self.infinity_count() > 0 { f64::NAN } else { self.centered.value() })
    }

    /// Gives the mean.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[0.1], [0.1], [0.1]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.mean(), 0.1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn mean(&self) -> f64 {
        self.report(self.infinite_sum().unwrap_or_else(|| self.finite_mean()))
    }

    /// Gives the mean of the squares.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[3_i8], [-4]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.second_order_raw_moment(), 12.5);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn second_order_raw_moment(&self) -> f64 {
        self.sum_squares() / self.count() as f64
    }

    /// Gives the variance of a sample: the sum of the squared deviations, divided by one less than the count.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [3], [5]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.variance(), 4.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn variance(&self) -> f64 {
        self.variance_of(1)
    }

    /// Gives the variance of a whole population: the mean of the squared deviations.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [5]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.population_variance(), 4.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn population_variance(&self) -> f64 {
        self.variance_of(0)
    }

    /// Gives the standard deviation of a sample: the root of [`variance`](Self::variance).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [3], [5]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.standard_deviation(), 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn standard_deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Gives the standard deviation of a whole population: the root of [`population_variance`](Self::population_variance).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [5]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.population_standard_deviation(), 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn population_standard_deviation(&self) -> f64 {
        self.population_variance().sqrt()
    }

    /// Gives the standard deviation of a sample, divided by the mean.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{BasicStatistics, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[2_u8], [4], [6]])?;
    /// assert_eq!(BasicStatistics::of(&table)?.column(0)?.variation(), 0.5);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn variation(&self) -> f64 {
        self.standard_deviation() / self.mean()
    }

    fn variance_of(&self, less: u64) -> f64 {
        let degrees = self.count().saturating_sub(less);
        if degrees == 0 { f64::NAN } else { self.sum_squares_centered() / degrees as f64 }
    }

    fn finite_mean(&self) -> f64 {
        self.sum.divided_by(self.finite as f64).value()
    }

    /// The sum, if there are infinities in it.
    fn infinite_sum(&self) -> Option<f64> {
        match (self.positive_infinities, self.negative_infinities) {
            (0, 0) => None,
            (_, 0) => Some(f64::INFINITY),
            (0, _) => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }

    fn report(&self, value: f64) -> f64 {
        if self.propagates_nan && self.nan > 0 { f64::NAN } else { value }
    }
}
