//! The model of Gaussian naive Bayes: how likely each class is for a row.

use std::f64::consts::TAU;

use numeric_table::{Error, ErrorKind, HomogenNumericTable, NumericTable, Result, Shape, statistics::GroupStatistics};

use crate::checks::parameter;
use crate::classes::{Classifier, relate};
use crate::failure;
use numeric_table::internal::with_room;

/// A model that predicts the class of a row by Gaussian naive Bayes. Created by
/// [`GaussianNaiveBayes::model`](super::GaussianNaiveBayes::model), whose type has an example.
///
/// The predicted class has the largest sum of the logarithms of its prior probability and of the normal densities of
/// the features. If several classes have the same sum, it is the first. A missing value and a NaN are ignored. A
/// class without rows is never predicted.
///
/// Source: scikit-learn `GaussianNB`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_learning::GaussianNaiveBayes;
/// let table = HomogenNumericTable::from_rows(&[[1.0, 0.0], [3.0, 0.0], [7.0, 1.0], [9.0, 1.0]])?;
/// let model = GaussianNaiveBayes::compute(&table, 1, 2)?.model(1e-9)?;
/// let asked = HomogenNumericTable::from_rows(&[[2.5], [8.0], [f64::NAN]])?;
/// assert_eq!(model.predict(&asked)?.as_slice()?, [0, 1, 0]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianNaiveBayesModel {
    features: usize,
    log_priors: Vec<f64>,
    /// Class by class, the density of each feature: NaN in classes without rows, whose log prior is minus infinity.
    densities: Vec<Density>,
}

/// A normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Density {
    mean: f64,
    variance: f64,
    deviation: f64,
    /// The logarithm of the density at the mean.
    log_peak: f64,
}

impl Density {
    fn new(mean: f64, variance: f64) -> Self {
        let deviation = variance.sqrt();
        Self { mean, variance, deviation, log_peak: -(deviation.ln() + TAU.ln() / 2.0) }
    }

    /// Returns the distance of a value from the mean, in deviations times 2^-540: finite for all finite values.
    fn far(&self, value: f64) -> f64 {
        (value * FAR - self.mean * FAR) / self.deviation
    }

    /// Returns the logarithm of the density at a value, or 0 for a missing value.
    #[inline(always)]
    fn log_at(&self, value: f64) -> f64 {
        let apart = (value - self.mean) / self.deviation; // divided before it is squared, so that it stays in range
        if value.is_nan() { 0.0 } else { self.log_peak - apart * apart / 2.0 }
    }
}

/// 2^-540 and its inverse: the difference of any two `f64`, times 2^-540, can be divided by any deviation.
const FAR: f64 = f64::from_bits((1023 - 540) << 52);
const NEAR: f64 = f64::from_bits((1023 + 540) << 52);

impl GaussianNaiveBayesModel {
    /// Creates the model. The log prior of each class without rows is minus infinity.
    pub(crate) fn new(groups: &GroupStatistics, log_priors: Vec<f64>, var_smoothing: f64) -> Result<Self> {
        if !(0.0..f64::INFINITY).contains(&var_smoothing) {
            let allowed = "0 or a finite number above it is needed";
            return Err(parameter("var_smoothing", var_smoothing, allowed));
        }
        let (features, by) = (groups.column_count() - 1, groups.category_column());
        let column_of = |feature: usize| feature + usize::from(feature >= by); // in tables with the class
        let mut largest = 0.0_f64;
        for feature in 0..features {
            match groups.column_of_all(column_of(feature))?.population_variance() {
                variance if variance.is_finite() => largest = largest.max(variance),
                _ => return Err(failure::sums_not_finite(column_of(feature))),
            }
        }
        let mut densities = with_room(features.saturating_mul(log_priors.len()))?;
        for (class, &rows) in groups.row_counts().iter().enumerate() {
            for feature in 0..features {
                let found = groups.column(class, column_of(feature))?;
                let (mean, variance) = (found.mean(), found.population_variance() + var_smoothing * largest);
                let column = column_of(feature);
                if rows > 0 && !(mean.is_finite() && variance.is_finite()) {
                    return Err(failure::sums_not_finite(column));
                }
                if rows > 0 && variance == 0.0 {
                    return Err(failure::constant_feature(column, class));
                }
                densities.push(Density::new(mean, variance));
            }
        }
        Ok(Self { features, log_priors, densities })
    }

    /// Returns the number of features: the number of columns of tables to predict. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2.0, 1.0, 0.0], [3.0, 0.0, 0.0]])?;
    /// assert_eq!(GaussianNaiveBayes::compute(&table, 2, 4)?.model(1e-9)?.feature_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Returns the number of classes. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2.0, 1.0, 0.0], [3.0, 0.0, 0.0]])?;
    /// assert_eq!(GaussianNaiveBayes::compute(&table, 2, 4)?.model(1e-9)?.class_count(), 4);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn class_count(&self) -> usize {
        self.log_priors.len()
    }

    /// Returns the natural logarithm of the prior probability of each class; minus infinity for a class without rows.
    /// O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2.0, 0.0], [3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])?;
    /// let model = GaussianNaiveBayes::compute(&table, 1, 3)?.model(1e-9)?;
    /// assert_eq!(model.log_priors(), [0.5_f64.ln(), 0.5_f64.ln(), f64::NEG_INFINITY]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    /// Returns the means, with a row for each class and a column for each feature. They are NaN for a class without
    /// rows. O(classes * features). Source: scikit-learn `theta_`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2.0, 5.0, 0.0], [3.0, 6.0, 0.0], [0.0, 7.0, 1.0]])?;
    /// let model = GaussianNaiveBayes::compute(&table, 2, 2)?.model(1e-9)?;
    /// assert_eq!(model.means()?.as_slice()?, [2.5, 5.5, 0.0, 7.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn means(&self) -> Result<HomogenNumericTable<f64>> {
        self.table(|density| density.mean)
    }

    /// Returns the smoothed variances, with a row for each class and a column for each feature. They are NaN for a
    /// class without rows. O(classes * features). Source: scikit-learn `var_`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let rows = [[2.0, 5.0, 0.0], [4.0, 6.0, 0.0], [0.0, 9.0, 1.0], [6.0, 9.5, 1.0]];
    /// let table = HomogenNumericTable::from_rows(&rows)?;
    /// let model = GaussianNaiveBayes::compute(&table, 2, 2)?.model(0.0)?;
    /// assert_eq!(model.variances()?.as_slice()?, [1.0, 0.25, 9.0, 0.0625]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn variances(&self) -> Result<HomogenNumericTable<f64>> {
        self.table(|density| density.variance)
    }

    /// Returns the class of each row of a table of features. Runs in parallel if the feature `rayon` is on and the
    /// table is large. O(rows * classes * features).
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the number of columns is not the number of features;
    /// [`ErrorKind::ValueNotAllowed`] for an infinity; those of reading the table; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[3.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 2.0, 1.0]])?;
    /// let model = GaussianNaiveBayes::compute(&table, 2, 2)?.model(0.1)?;
    /// let classes = model.predict(&table.drop_columns([2])?)?;
    /// assert_eq!((classes.shape().columns, classes.as_slice()?), (1, &[0, 1, 1][..]));
    /// assert!(model.predict(&table).is_err()); // one column too many
    /// # Ok::<(), Error>(())
    /// ```
    pub fn predict(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<i32>> {
        self.classes_of(table)
    }

    /// Returns the natural logarithms of the class probabilities of each row, with a column for each class. Runs in
    /// parallel if the feature `rayon` is on and the table is large. O(rows * classes * features). They are NaN for a
    /// row that is so far from all classes that its densities are zero.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 0.0], [3.0, 0.0], [4.0, 1.0], [6.0, 1.0]])?;
    /// let model = GaussianNaiveBayes::compute(&table, 1, 2)?.model(0.0)?;
    /// let logarithms = model.predict_log_probabilities(&HomogenNumericTable::from_rows(&[[3.5]])?)?;
    /// assert!(logarithms.as_slice()?.iter().all(|logarithm| (logarithm.exp() - 0.5).abs() < 1e-15)); // in the middle
    /// # Ok::<(), Error>(())
    /// ```
    pub fn predict_log_probabilities(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<f64>> {
        self.log_probabilities_of(table)
    }

    fn table(&self, number: impl Fn(&Density) -> f64 + Sync) -> Result<HomogenNumericTable<f64>> {
        let shape = Shape { rows: self.class_count(), columns: self.features };
        HomogenNumericTable::from_fn(shape, |row, column| number(&self.densities[row * shape.columns + column]))
    }
}

impl Classifier for GaussianNaiveBayesModel {
    fn features(&self) -> usize {
        self.features
    }

    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn logarithms(&self, row: usize, values: &[f64], logarithms: &mut [f64]) -> Result<()> {
        if let Some(column) = values.iter().position(|value| value.is_infinite()) {
            return Err(Error::new(ErrorKind::ValueNotAllowed {
                row,
                column,
                value: values[column],
                reason: "is not finite".to_owned(),
            }));
        }
        logarithms.copy_from_slice(&self.log_priors);
        for (class, logarithm) in logarithms.iter_mut().enumerate() {
            if logarithm.is_finite() {
                *logarithm += log_density(values, self.of_class(class));
            }
        }
        Ok(())
    }

    fn far_logarithms(&self, values: &[f64], logarithms: &mut [f64]) {
        let present = |class: usize| values.iter().zip(self.of_class(class)).filter(|(value, _)| !value.is_nan());
        let largest_of = |class: usize| present(class).map(|(&value, d)| d.far(value).abs()).fold(0.0, f64::max);
        let classes = || (0..self.log_priors.len()).filter(|&class| self.log_priors[class].is_finite());
        // A power of two near the distance of the nearest class, so that its square neither overflows nor underflows.
        let nearest = classes().map(largest_of).fold(f64::INFINITY, f64::min);
        let unit = f64::from_bits(nearest.to_bits() & f64::INFINITY.to_bits());
        if !unit.is_normal() {
            return; // there is no class
        }
        for class in classes() {
            let squares = present(class).map(|(&value, density)| density.far(value) / unit);
            logarithms[class] = -squares.map(|apart| apart * apart).sum::<f64>() / 2.0;
        }
        relate(logarithms, &[unit, unit, NEAR, NEAR], |class| {
            let peaks = present(class).map(|(_, density)| density.log_peak);
            self.log_priors[class] + if self.log_priors[class].is_finite() { peaks.sum() } else { 0.0 }
        });
    }
}

impl GaussianNaiveBayesModel {
    /// Returns the densities of a class, feature by feature.
    fn of_class(&self, class: usize) -> &[Density] {
        &self.densities[class * self.features..(class + 1) * self.features]
    }
}

/// Returns the logarithm of the density of a row, in eight independent sums, always in the same order.
fn log_density(values: &[f64], densities: &[Density]) -> f64 {
    let mut sums = [0.0; 8];
    for (values, densities) in values.chunks(8).zip(densities.chunks(8)) {
        let places = sums.iter_mut().zip(values.iter().zip(densities));
        places.for_each(|(sum, (&value, density))| *sum += density.log_at(value));
    }
    sums.iter().sum()
}
