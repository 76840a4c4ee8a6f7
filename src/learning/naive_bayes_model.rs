//! What is made of the counts of naive Bayes: logarithms of probabilities, and the classes of rows.

use super::naive_bayes::check_counts;
use super::rows::{Reader, blocks, for_each_row, shape_with};
use crate::base::error::{Error, Result};
use crate::base::room::{filled, with_room};
use crate::base::shape::Shape;
use crate::table::{HomogenNumericTable, NumericTable};

/// Multinomial naive Bayes: which class a row belongs to. Made by [`NaiveBayes::model`](super::NaiveBayes::model), whose
/// page has an example.
///
/// A row belongs to the class for which the logarithm of its prior probability, plus the sum of the features, each times
/// the logarithm of its probability in the class, is largest; of equal ones, to the first. A feature that is zero counts
/// nothing, even where its probability is zero.
///
/// Source: DAAL `multinomial_naive_bayes::prediction`, scikit-learn `MultinomialNB`.
///
/// # Examples
/// ```
/// use numeric_table::{NaiveBayes, prelude::*};
/// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 0], [3, 0, 0], [0, 1, 1]])?; // the last column is the class
/// let model = NaiveBayes::of(&table, 2, 2)?.model(1.0)?;
/// assert_eq!(model.predict(&HomogenNumericTable::from_rows(&[[0.5, 0.0], [0.0, 4.0]])?)?.as_slice()?, [0, 1]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveBayesModel {
    features: usize,
    log_priors: Vec<f64>,
    /// Class by class, of each feature.
    log_probabilities: Vec<f64>,
}

impl NaiveBayesModel {
    pub(super) fn new(features: usize, rows: &[u64], sum: impl Fn(usize) -> f64, alpha: f64) -> Result<Self> {
        if !(0.0..f64::INFINITY).contains(&alpha) {
            let allowed = "0 or a finite number above it is needed";
            return Err(Error::ParameterOutOfRange { name: "alpha", value: alpha, allowed });
        }
        let all: u64 = rows.iter().sum();
        if all == 0 {
            return Err(Error::TooFewRows { rows: 0, needed: 1 });
        }
        let mut log_priors = with_room(rows.len())?;
        log_priors.extend(rows.iter().map(|&rows| (rows as f64 / all as f64).ln()));
        let mut log_probabilities = filled(features * rows.len(), 0.0)?;
        for (class, logarithms) in log_probabilities.chunks_exact_mut(features.max(1)).enumerate() {
            logarithms.iter_mut().zip(class * features..).for_each(|(place, at)| *place = sum(at) + alpha);
            let total: f64 = logarithms.iter().sum();
            // Without smoothing and without features, a class says that every feature is impossible.
            let share = |weight: f64| if total == 0.0 { 0.0 } else { weight / total };
            logarithms.iter_mut().for_each(|place| *place = share(*place).ln());
        }
        Ok(Self { features, log_priors, log_probabilities })
    }

    /// Returns the number of features: the columns of tables of which classes are predicted. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{NaiveBayes, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 0], [3, 0, 0], [0, 1, 1]])?;
    /// assert_eq!(NaiveBayes::of(&table, 0, 4)?.model(1.0)?.feature_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Returns the number of classes. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{NaiveBayes, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 0], [3, 0, 0], [0, 1, 1]])?;
    /// assert_eq!(NaiveBayes::of(&table, 0, 4)?.model(1.0)?.class_count(), 4);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn class_count(&self) -> usize {
        self.log_priors.len()
    }

    /// Returns the natural logarithm of the share of rows of each class; minus infinity for a class without rows. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{NaiveBayes, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 0], [3, 0], [0, 1], [1, 1]])?;
    /// let model = NaiveBayes::of(&table, 1, 3)?.model(1.0)?;
    /// assert_eq!(model.log_priors(), [0.5_f64.ln(), 0.5_f64.ln(), f64::NEG_INFINITY]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    /// Returns the natural logarithms of the probabilities of features: a row for each class. O(classes * features).
    /// Without smoothing, minus infinity for a feature that no row of the class has.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{NaiveBayes, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[3_u8, 1, 0], [0, 2, 1]])?;
    /// let logarithms = NaiveBayes::of(&table, 2, 2)?.model(0.0)?.log_probabilities()?;
    /// assert_eq!(logarithms.as_slice()?, [0.75_f64.ln(), 0.25_f64.ln(), f64::NEG_INFINITY, 0.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn log_probabilities(&self) -> Result<HomogenNumericTable<f64>> {
        let shape = Shape { rows: self.class_count(), columns: self.features };
        HomogenNumericTable::from_fn(shape, |row, column| self.log_probabilities[row * shape.columns + column])
    }

    /// Returns the class of each row of a table of features. In parallel, if the feature `rayon` is on and the table is
    /// large. O(rows * classes * features).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the table has another number of columns than there are features;
    /// [`Error::NotACount`] for a value that is negative or not finite; those of reading the table;
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{NaiveBayes, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[3_u8, 1, 0], [0, 2, 1]])?;
    /// let model = NaiveBayes::of(&table, 2, 2)?.model(1.0)?;
    /// let classes = model.predict(&table.as_dyn().drop_columns([2])?)?;
    /// assert_eq!((classes.shape().columns, classes.as_slice()?), (1, &[0, 1][..]));
    /// assert!(model.predict(&table).is_err()); // one column too many
    /// # Ok::<(), Error>(())
    /// ```
    pub fn predict(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<i32>> {
        self.for_each_row(table, 1, |logarithms, class: &mut [i32]| {
            let mut best = 0;
            for (class, logarithm) in logarithms.iter().enumerate() {
                if *logarithm > logarithms[best] {
                    best = class;
                }
            }
            class[0] = best as i32; // below 2^31, as the number of classes is
        })
    }

    /// Returns the natural logarithm of the probability of each class, given a row: a row for each, and a column for each
    /// class. In parallel, if the feature `rayon` is on and the table is large. O(rows * classes * features). NaN for
    /// rows that are impossible in every class, which there are without smoothing only.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{NaiveBayes, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[3_u8, 1, 0], [1, 3, 1]])?;
    /// let model = NaiveBayes::of(&table, 2, 2)?.model(0.0)?;
    /// let logarithms = model.predict_log_probabilities(&HomogenNumericTable::from_rows(&[[1_u8, 0]])?)?;
    /// assert!((logarithms.value::<f64>(0, 0)?.exp() - 0.75).abs() < 1e-15);
    /// assert!((logarithms.value::<f64>(0, 1)?.exp() - 0.25).abs() < 1e-15);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn predict_log_probabilities(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<f64>> {
        self.for_each_row(table, self.class_count(), |logarithms, result: &mut [f64]| {
            let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logarithms.iter().map(|logarithm| (logarithm - largest).exp()).sum();
            let all = largest + sum.ln();
            result.iter_mut().zip(logarithms).for_each(|(place, logarithm)| *place = logarithm - all);
        })
    }

    /// Calls `put` with the logarithm of each class for each row, and the row's place in the result.
    fn for_each_row<R: crate::base::element::Element>(
        &self,
        table: &dyn NumericTable,
        width: usize,
        put: impl Fn(&[f64], &mut [R]) + Sync,
    ) -> Result<HomogenNumericTable<R>> {
        let shape = shape_with(table, self.features)?;
        for_each_row(shape, width, |rows, results: &mut [R]| {
            let mut reader = Reader::<f64>::new(table, self.features);
            let mut logarithms = filled(self.class_count(), 0.0)?;
            let mut results = results.chunks_exact_mut(width);
            for rows in blocks(rows, self.features) {
                let values = reader.read(rows.clone())?;
                for (row, result) in rows.clone().zip(&mut results) {
                    let at = (row - rows.start) * self.features;
                    let values = &values[at..at + self.features];
                    check_counts(values, row, 0)?;
                    self.logarithms(values, &mut logarithms);
                    put(&logarithms, result);
                }
            }
            Ok(())
        })
    }

    /// Computes the logarithm of each class for a row, but for a constant.
    fn logarithms(&self, values: &[f64], logarithms: &mut [f64]) {
        logarithms.copy_from_slice(&self.log_priors);
        if self.features == 0 {
            return;
        }
        for (logarithm, weights) in logarithms.iter_mut().zip(self.log_probabilities.chunks_exact(self.features)) {
            *logarithm += product(values, weights);
        }
    }
}

/// Returns the sum of products, in eight chains, always the same; zeros count nothing.
fn product(values: &[f64], weights: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let part = |value: f64, weight: f64| if value == 0.0 { 0.0 } else { value * weight };
    for (values, weights) in values.chunks(8).zip(weights.chunks(8)) {
        sums.iter_mut()
            .zip(values.iter().zip(weights))
            .for_each(|(sum, (&value, &weight))| *sum += part(value, weight));
    }
    sums.iter().sum()
}
