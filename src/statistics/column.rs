//! Statistics of one column. `serialized` converts them to bytes.

mod serialized;

use super::double::Double;

/// Statistics of one column: DAAL's low-order moments and counts.
///
/// Missing values are left out and counted. NaN values are ignored and counted separately. Infinities are ordinary
/// values: they make sums and means infinite, and deviations NaN. Undefined results are NaN, such as the minimum of no
/// values or the variance of one value.
///
/// For finite values, a result is infinite only if the exact result rounds to infinity, even if intermediate sums
/// overflow: the mean of two values of `f64::MAX` is `f64::MAX`. Sums have twice the precision of `f64`, about 106
/// bits. See [`sum`](Self::sum) for the error where terms cancel. Squares of deviations below 1e-154 are too small for
/// `f64` and count as 0.
///
/// They can be serialized with serde: the counts, the extremes, and the sums in full precision. Everything else is
/// computed from these.
///
/// Source: DAAL `low_order_moments` and oneDAL `basic_statistics`, which also supply the names.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::BasicStatistics};
/// let table = HomogenNumericTable::from_rows(&[[2.0_f32], [4.0], [f32::NAN], [9.0]])?;
/// let column = *BasicStatistics::compute(&table)?.column(0)?;
/// assert_eq!((column.count(), column.nan_count(), column.infinity_count()), (3, 1, 0));
/// assert_eq!((column.minimum(), column.maximum(), column.sum(), column.mean()), (2.0, 9.0, 15.0, 5.0));
/// assert_eq!((column.variance(), column.population_variance()), (13.0, 26.0 / 3.0));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// Number of finite values.
    pub(super) finite: u64,
    pub(super) nan: u64,
    pub(super) missing: u64,
    pub(super) positive_infinities: u64,
    pub(super) negative_infinities: u64,
    /// Minimum of the finite values. Without any, the minimum is infinity and the maximum negative infinity.
    pub(super) minimum: f64,
    pub(super) maximum: f64,
    pub(super) sum: Double,
    /// Sum of the squared deviations of the finite values from their mean.
    pub(super) centered: Double,
    pub(super) propagates_nan: bool,
}

/// Returns the smaller of two values, or the second if neither is smaller. (`f64::min` may return either of 0 and -0.)
#[inline(always)]
pub(super) fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Returns the larger of two values, or the second if neither is larger.
#[inline(always)]
pub(super) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Number of words that a device writes for the statistics of a column.
pub(super) const MOMENTS: usize = 10;

impl ColumnStatistics {
    pub(super) const EMPTY: Self = Self {
        finite: 0,
        nan: 0,
        missing: 0,
        positive_infinities: 0,
        negative_infinities: 0,
        minimum: f64::INFINITY,
        maximum: f64::NEG_INFINITY,
        sum: Double::ZERO,
        centered: Double::ZERO,
        propagates_nan: false,
    };

    /// Returns the number of rows, including NaN and missing values; `None` on overflow, which computed statistics
    /// never have.
    pub(super) fn value_count(&self) -> Option<u64> {
        let counts = [self.nan, self.missing, self.positive_infinities, self.negative_infinities];
        counts.into_iter().try_fold(self.finite, u64::checked_add)
    }

    /// Returns whether the sums are finite; they may be larger than any `f64`.
    pub(super) fn is_finite(&self) -> bool {
        self.sum.is_finite() && self.centered.is_finite()
    }

    /// Returns the statistics as the words that a device writes: counts, extremes and sums, each sum as two `f64`. With
    /// a `scale` of 1, sums are those of the values times 2^-600, for sums that overflow.
    pub(super) fn to_words(self, scale: i32) -> [u64; MOMENTS] {
        let [[sum, sum_rest], [centered, centered_rest]] =
            [self.sum.parts_at(scale), self.centered.parts_at(2 * scale)];
        let numbers = [self.minimum, self.maximum, sum, sum_rest, centered, centered_rest].map(f64::to_bits);
        let mut words = [0; MOMENTS];
        words[..4].copy_from_slice(&[self.finite, self.nan, self.positive_infinities, self.negative_infinities]);
        words[4..].copy_from_slice(&numbers);
        words
    }

    /// Returns the statistics of `rows` values from such words at both scales; `None` if the words do not describe that
    /// number of values.
    pub(super) fn from_words(plain: &[u64; MOMENTS], scaled: &[u64; MOMENTS], rows: u64) -> Option<Self> {
        let [finite, nan, positive_infinities, negative_infinities, ..] = *plain;
        let numbers = |words: &[u64], first: usize| [words[first], words[first + 1]].map(f64::from_bits);
        let sum_at = |first: usize, scale: i32| match numbers(plain, first) {
            parts if parts.iter().all(|part| part.is_finite()) => Double::of_parts(parts, 0),
            _ => Double::of_parts(numbers(scaled, first), scale),
        };
        let (sum, centered) = (sum_at(6, 1), sum_at(8, 2));
        let mut found = Self { finite, nan, positive_infinities, negative_infinities, sum, centered, ..Self::EMPTY };
        let is_whole = found.value_count() == Some(rows) && found.is_finite() && !found.centered.is_negative();
        if finite > 0 {
            [found.minimum, found.maximum] = numbers(plain, 4);
        }
        let is_ordered = finite == 0 || found.minimum <= found.maximum && (found.maximum - found.minimum) >= 0.0;
        (is_whole && is_ordered).then_some(found)
    }

    /// Merges the statistics of more values. Counts must not overflow. Source: Chan, Golub, LeVeque 1979.
    pub(super) fn merge(&mut self, other: &Self) {
        let (mine, theirs) = (self.finite as f64, other.finite as f64);
        let both = mine + theirs;
        if self.finite == 0 {
            (self.sum, self.centered) = (other.sum, other.centered);
        } else if other.finite > 0 {
            let delta = other.sum.divided_by(theirs).add(self.sum.divided_by(mine).negated());
            let between = delta.times(delta.times(Double::from(mine / both * theirs)));
            self.centered = self.centered.add(other.centered).add(between);
            self.sum = self.sum.add(other.sum);
        }
        self.minimum = lesser(other.minimum, self.minimum);
        self.maximum = greater(other.maximum, self.maximum);
        self.finite += other.finite;
        self.nan += other.nan;
        self.missing += other.missing;
        self.positive_infinities += other.positive_infinities;
        self.negative_infinities += other.negative_infinities;
    }

    /// Returns the number of values that are neither missing nor NaN. The other statistics are computed from these.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [f64::NAN], [f64::INFINITY]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn count(&self) -> u64 {
        self.finite + self.infinity_count()
    }

    /// Returns the number of NaN values. All other statistics ignore them, unless NaN
    /// [propagates](super::BasicStatistics::propagate_nan).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [f64::NAN], [3.0]])?;
    /// let column = *BasicStatistics::compute(&table)?.column(0)?;
    /// assert_eq!((column.nan_count(), column.mean()), (1, 2.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan_count(&self) -> u64 {
        self.nan
    }

    /// Returns the number of missing values. All other statistics are those of the present values. NaN is not missing.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*, statistics::BasicStatistics};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1_i64), None, Some(4)])?;
    /// let column = *BasicStatistics::compute(&table)?.column("a")?;
    /// assert_eq!((column.missing_count(), column.nan_count(), column.count(), column.mean()), (1, 0, 2, 2.5));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_count(&self) -> u64 {
        self.missing
    }

    /// Returns the number of infinite values of both signs.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [f64::NEG_INFINITY], [3.0]])?;
    /// let column = *BasicStatistics::compute(&table)?.column(0)?;
    /// assert_eq!((column.infinity_count(), column.minimum(), column.maximum()), (1, f64::NEG_INFINITY, 3.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn infinity_count(&self) -> u64 {
        self.positive_infinities + self.negative_infinities
    }

    /// Returns the smallest value; NaN without values. Values of 64-bit integer types are rounded to `f64`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[3_i16], [-7], [5]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.minimum(), -7.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn minimum(&self) -> f64 {
        self.report(match () {
            () if self.count() == 0 => f64::NAN,
            () if self.negative_infinities > 0 => f64::NEG_INFINITY,
            () => self.minimum,
        })
    }

    /// Returns the largest value; NaN without values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[3_i16], [-7], [5]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.maximum(), 5.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn maximum(&self) -> f64 {
        self.report(match () {
            () if self.count() == 0 => f64::NAN,
            () if self.positive_infinities > 0 => f64::INFINITY,
            () => self.maximum,
        })
    }

    /// Returns the sum; 0 without values.
    ///
    /// The sum is computed with about 106 bits, twice the precision of `f64`. Its error is about 2^-106 of the largest
    /// intermediate sum. It equals the exact sum, rounded once, unless terms cancel that are more than 2^53 times
    /// larger than the result. Then digits of the sum are wrong, and terms more than 2^106 times smaller than those
    /// that cancel may be lost completely, depending on the order.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1e16], [1.0], [-1e16]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.sum(), 1.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sum(&self) -> f64 {
        self.report(self.infinite_sum().unwrap_or_else(|| self.sum.value()))
    }

    /// Returns the sum of the squares; 0 without values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[3_i8], [-4]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.sum_squares(), 25.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sum_squares(&self) -> f64 {
        self.report(match () {
            () if self.infinity_count() > 0 => f64::INFINITY,
            () if self.finite == 0 => 0.0,
            () => self.squares().value(),
        })
    }

    /// Returns the sum of the squared deviations from the mean; 0 without values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1e9 + 1.0], [1e9 + 3.0]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.sum_squares_centered(), 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sum_squares_centered(&self) -> f64 {
        self.report(if self.infinity_count() > 0 { f64::NAN } else { self.centered.value() })
    }

    /// Returns the mean: the unrounded [`sum`](Self::sum), divided by the count. It is as accurate as the sum.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[0.1], [0.1], [0.1]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.mean(), 0.1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn mean(&self) -> f64 {
        self.report(self.infinite_sum().unwrap_or_else(|| self.finite_mean().value()))
    }

    /// Returns the mean of the squares.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[3_i8], [-4]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.second_order_raw_moment(), 12.5);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn second_order_raw_moment(&self) -> f64 {
        self.report(match () {
            () if self.infinity_count() > 0 => f64::INFINITY,
            () => self.squares().divided_by(self.finite as f64).value(),
        })
    }

    /// Returns the sample variance: the sum of the squared deviations, divided by the count minus one.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [3], [5]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.variance(), 4.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn variance(&self) -> f64 {
        self.report(self.variance_of(1).value())
    }

    /// Returns the population variance: the mean of the squared deviations.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [5]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.population_variance(), 4.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn population_variance(&self) -> f64 {
        self.report(self.variance_of(0).value())
    }

    /// Returns the sample standard deviation: the square root of [`variance`](Self::variance).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [3], [5]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.standard_deviation(), 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn standard_deviation(&self) -> f64 {
        self.report(self.variance_of(1).square_root().value())
    }

    /// Returns the population standard deviation: the square root of
    /// [`population_variance`](Self::population_variance).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [5]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.population_standard_deviation(), 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn population_standard_deviation(&self) -> f64 {
        self.report(self.variance_of(0).square_root().value())
    }

    /// Returns the coefficient of variation: the sample standard deviation, divided by the mean.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[2_u8], [4], [6]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.column(0)?.coefficient_of_variation(), 0.5);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn coefficient_of_variation(&self) -> f64 {
        self.report(self.variance_of(1).square_root().divided_by(self.mean()).value())
    }

    fn variance_of(&self, less: u64) -> Double {
        match self.finite.saturating_sub(less) {
            0 => Double::from(f64::NAN),
            _ if self.infinity_count() > 0 => Double::from(f64::NAN),
            degrees => self.centered.divided_by(degrees as f64),
        }
    }

    fn finite_mean(&self) -> Double {
        self.sum.divided_by(self.finite as f64)
    }

    /// Returns the sum of the squares of the finite values. It is a sum of two non-negative terms, so nothing cancels.
    fn squares(&self) -> Double {
        self.centered.add(self.finite_mean().times(self.sum))
    }

    /// Returns the sum if there are infinities.
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
