//! The model of naive Bayes: logarithms of probabilities, and the classes of rows.

use std::f64::consts::LN_2;

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::{HomogenNumericTable, NumericTable, Result, Shape};

use crate::checks::parameter;
use crate::classes::{Classifier, log_shares, relate};
use crate::naive_bayes::check_counts;
use crate::sum::{DOWN, Sum, UP};
use numeric_table::internal::filled;

/// A model that predicts the class of a row by multinomial naive Bayes. Created by
/// [`NaiveBayes::model`](super::NaiveBayes::model), whose page has an example.
///
/// The score of a class is the logarithm of its prior probability plus the sum of the features, each times the
/// logarithm of its probability in the class. The predicted class has the largest score. If several classes have the
/// same score, it is the first. A feature of zero adds nothing, even if its probability is zero.
///
/// Source: DAAL `multinomial_naive_bayes::prediction`, scikit-learn `MultinomialNB`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_learning::NaiveBayes;
/// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 0], [3, 0, 0], [0, 1, 1]])?; // the last column is the class
/// let model = NaiveBayes::compute(&table, 2, 2)?.model(1.0)?;
/// assert_eq!(model.predict(&HomogenNumericTable::from_rows(&[[0.5, 0.0], [0.0, 4.0]])?)?.as_slice()?, [0, 1]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveBayesModel {
    features: usize,
    log_priors: Vec<f64>,
    /// Class by class, the logarithm of each feature.
    log_probabilities: Vec<f64>,
}

impl NaiveBayesModel {
    pub(crate) fn new(features: usize, rows: &[u64], sum: impl Fn(usize) -> Sum, alpha: f64) -> Result<Self> {
        if !(0.0..f64::INFINITY).contains(&alpha) {
            let allowed = "0 or a finite number above it is needed";
            return Err(parameter("alpha", alpha, allowed));
        }
        let log_priors = log_shares(rows)?;
        let mut log_probabilities = filled(features * rows.len(), 0.0)?;
        for (class, logarithms) in log_probabilities.chunks_exact_mut(features.max(1)).enumerate() {
            let places = class * features..(class + 1) * features;
            logarithms.iter_mut().zip(places.clone()).for_each(|(place, at)| *place = sum(at).value() + alpha);
            let total: f64 = logarithms.iter().sum();
            if total.is_finite() {
                logarithms.iter_mut().for_each(|weight| *weight = log_share(*weight, total, 0.0));
                continue;
            }
            let scaled = |at: usize| sum(at).scaled_value() + alpha * DOWN;
            let total: f64 = places.clone().map(scaled).sum();
            for (weight, at) in logarithms.iter_mut().zip(places) {
                // A weight that is in range may underflow when it is scaled.
                let scaled = scaled(at);
                let is_small = scaled < DOWN;
                *weight = if is_small { log_share(*weight, total, LOG_UP) } else { log_share(scaled, total, 0.0) };
            }
        }
        Ok(Self { features, log_priors, log_probabilities })
    }

    /// Returns the number of features: the number of columns of tables to predict. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 0], [3, 0, 0], [0, 1, 1]])?;
    /// assert_eq!(NaiveBayes::compute(&table, 0, 4)?.model(1.0)?.feature_count(), 2);
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
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 0], [3, 0, 0], [0, 1, 1]])?;
    /// assert_eq!(NaiveBayes::compute(&table, 0, 4)?.model(1.0)?.class_count(), 4);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn class_count(&self) -> usize {
        self.log_priors.len()
    }

    /// Returns the natural logarithm of the share of each class in the rows, and minus infinity for a class without
    /// rows. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 0], [3, 0], [0, 1], [1, 1]])?;
    /// let model = NaiveBayes::compute(&table, 1, 3)?.model(1.0)?;
    /// assert_eq!(model.log_priors(), [0.5_f64.ln(), 0.5_f64.ln(), f64::NEG_INFINITY]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    /// Returns the natural logarithms of the probabilities of the features, with a row for each class. O(classes *
    /// features). Without smoothing, they are minus infinity for a feature that no row of the class has.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[3_u8, 1, 0], [0, 2, 1]])?;
    /// let logarithms = NaiveBayes::compute(&table, 2, 2)?.model(0.0)?.log_probabilities()?;
    /// assert_eq!(logarithms.as_slice()?, [0.75_f64.ln(), 0.25_f64.ln(), f64::NEG_INFINITY, 0.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn log_probabilities(&self) -> Result<HomogenNumericTable<f64>> {
        let shape = Shape { rows: self.class_count(), columns: self.features };
        HomogenNumericTable::from_fn(shape, |row, column| self.log_probabilities[row * shape.columns + column])
    }

    /// Returns the class of each row of a table of features. Runs in parallel if the feature `rayon` is on and the
    /// table is large. O(rows * classes * features).
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the number of columns is not the number of features;
    /// [`ErrorKind::ValueNotAllowed`] for a value that is negative or not finite; those of reading the table;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[3_u8, 1, 0], [0, 2, 1]])?;
    /// let model = NaiveBayes::compute(&table, 2, 2)?.model(1.0)?;
    /// let classes = model.predict(&table.drop_columns([2])?)?;
    /// assert_eq!((classes.shape().columns, classes.as_slice()?), (1, &[0, 1][..]));
    /// assert!(model.predict(&table).is_err()); // one column too many
    /// # Ok::<(), Error>(())
    /// ```
    pub fn predict(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<i32>> {
        self.classes_of(table)
    }

    /// Returns the natural logarithms of the class probabilities of each row, with a column for each class. Runs in
    /// parallel if the feature `rayon` is on and the table is large. O(rows * classes * features). They are NaN for
    /// rows that are impossible in every class: without smoothing, rows with a feature that no class has.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[3_u8, 1, 0], [1, 3, 1]])?;
    /// let model = NaiveBayes::compute(&table, 2, 2)?.model(0.0)?;
    /// let logarithms = model.predict_log_probabilities(&HomogenNumericTable::from_rows(&[[1_u8, 0]])?)?;
    /// assert!((logarithms.value::<f64>(0, 0)?.exp() - 0.75).abs() < 1e-15);
    /// assert!((logarithms.value::<f64>(0, 1)?.exp() - 0.25).abs() < 1e-15);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn predict_log_probabilities(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<f64>> {
        self.log_probabilities_of(table)
    }
}

/// The natural logarithm of 2^600.
const LOG_UP: f64 = 600.0 * LN_2;

/// Returns the natural logarithm of the share of a weight in a total. The logarithm of the total is larger by `more`.
/// If all weights of a class are zero, every feature is impossible.
fn log_share(weight: f64, total: f64, more: f64) -> f64 {
    let share = weight / total;
    match weight == 0.0 {
        true => f64::NEG_INFINITY,
        false if more == 0.0 && share.is_normal() => share.ln(),
        false => weight.ln() - (total.ln() + more), // the share itself may be too small for `f64`
    }
}

impl Classifier for NaiveBayesModel {
    fn features(&self) -> usize {
        self.features
    }

    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn logarithms(&self, row: usize, values: &[f64], logarithms: &mut [f64]) -> Result<()> {
        check_counts(values, row, 0)?;
        logarithms.copy_from_slice(&self.log_priors);
        for (class, logarithm) in logarithms.iter_mut().enumerate() {
            *logarithm += product(values, self.weights(class), |value| value);
        }
        Ok(())
    }

    fn far_logarithms(&self, values: &[f64], logarithms: &mut [f64]) {
        for (class, logarithm) in logarithms.iter_mut().enumerate() {
            if self.log_priors[class].is_finite() {
                *logarithm = product(values, self.weights(class), |value| value * DOWN);
            }
        }
        relate(logarithms, &[UP], |class| self.log_priors[class]);
    }
}

impl NaiveBayesModel {
    /// Returns the logarithms of the probabilities of features in a class.
    fn weights(&self, class: usize) -> &[f64] {
        &self.log_probabilities[class * self.features..(class + 1) * self.features]
    }
}

/// Returns the sum of products, in eight independent sums, always in the same order. Zeros add nothing.
#[inline(always)]
fn product(values: &[f64], weights: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let part = |value: f64, weight: f64| match value == 0.0 {
        true => 0.0,
        false if weight == f64::NEG_INFINITY => weight, // of what is impossible, also if `of` makes it zero
        false => of(value) * weight,
    };
    for (values, weights) in values.chunks(8).zip(weights.chunks(8)) {
        sums.iter_mut()
            .zip(values.iter().zip(weights))
            .for_each(|(sum, (&value, &weight))| *sum += part(value, weight));
    }
    sums.iter().sum()
}
