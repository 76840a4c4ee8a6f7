//! Classifies rows and computes class probabilities, from the logarithm that a model computes for each class and row.

use numeric_table::table::ColumnKey;
use numeric_table::{
    Element, Error, ErrorKind, HomogenNumericTable, NumericTable, Result, statistics::GroupStatistics,
};

use crate::checks::parameter;
use crate::rows::map_rows;
use numeric_table::internal::same_count;
use numeric_table::internal::with_room;

/// Checks the number of columns, the class column and the number of classes.
///
/// # Errors
/// [`ErrorKind::ColumnOutOfRange`]; [`ErrorKind::ParameterOutOfRange`].
pub(crate) fn check(columns: usize, by: usize, classes: usize) -> Result<()> {
    if by >= columns {
        return Err(Error::new(ErrorKind::ColumnOutOfRange { column: by, column_count: columns }));
    }
    match (1..=i32::MAX as usize).contains(&classes) {
        true => Ok(()),
        false => Err(parameter("the number of classes", classes as f64, "1 to 2147483647 are needed")),
    }
}

/// Returns the class column and the number of classes. With `None`, the number is that of the dictionary.
///
/// # Errors
/// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`] for `by`; [`ErrorKind::NotSolvable`] if the dictionary
/// does not have it; [`ErrorKind::OutOfMemory`].
pub(crate) fn column_and_count(
    table: &dyn NumericTable,
    by: impl ColumnKey,
    classes: Option<usize>,
) -> Result<(usize, usize)> {
    let by = by.column_in(table.dictionary())?;
    Ok(match classes {
        Some(classes) => (by, classes),
        None => (by, GroupStatistics::for_table(table, by, None)?.category_count()),
    })
}

/// Returns the natural logarithm of the share of each class in all rows.
///
/// # Errors
/// [`ErrorKind::TooFewRows`]; [`ErrorKind::OutOfMemory`].
pub(crate) fn log_shares(rows: &[u64]) -> Result<Vec<f64>> {
    let all: u64 = rows.iter().sum();
    if all == 0 {
        return Err(Error::new(ErrorKind::TooFewRows { rows: 0, needed: 1 }));
    }
    let mut logarithms = with_room(rows.len())?;
    logarithms.extend(rows.iter().map(|&rows| (rows as f64 / all as f64).ln()));
    Ok(logarithms)
}

/// Returns the natural logarithms of prior probabilities, and minus infinity for classes without rows.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`]; [`ErrorKind::ParameterOutOfRange`] if they are not probabilities;
/// [`ErrorKind::TooFewRows`] if no class with a positive prior has rows; [`ErrorKind::OutOfMemory`].
pub(crate) fn log_priors(rows: &[u64], priors: &[f64]) -> Result<Vec<f64>> {
    same_count(rows.len(), priors.len())?;
    let refusal = |name, value, allowed| Err(parameter(name, value, allowed));
    if let Some(&prior) = priors.iter().find(|prior| !(0.0..=f64::MAX).contains(*prior)) {
        return refusal("a prior probability", prior, "0 or a finite number above it is needed");
    }
    let sum: f64 = priors.iter().sum();
    if (sum - 1.0).abs() > 1e-8 {
        return refusal("the sum of the prior probabilities", sum, "1 is needed");
    }
    let mut logarithms = with_room(rows.len())?;
    let pairs = rows.iter().zip(priors);
    logarithms.extend(pairs.map(|(&rows, prior)| if rows == 0 { f64::NEG_INFINITY } else { prior.ln() }));
    match logarithms.iter().any(|logarithm| logarithm.is_finite()) {
        true => Ok(logarithms),
        false => Err(Error::new(ErrorKind::TooFewRows { rows: 0, needed: 1 })),
    }
}

/// A model that computes how likely each class is for a row.
pub(crate) trait Classifier: Sync {
    /// Returns the number of features.
    fn features(&self) -> usize;

    /// Borrows the logarithm of the prior probability of each class: minus infinity for a class without rows.
    fn log_priors(&self) -> &[f64];

    /// Computes the logarithm of each class for a row, up to a constant.
    ///
    /// # Errors
    /// That of a value that the model does not allow, with its place.
    fn logarithms(&self, row: usize, values: &[f64], logarithms: &mut [f64]) -> Result<()>;

    /// Computes the same, up to another constant, after [`logarithms`](Self::logarithms) returned minus infinity for
    /// every class: the results are finite if only the range of `f64` was too small, and remain minus infinity if the
    /// row is impossible in every class.
    fn far_logarithms(&self, values: &[f64], logarithms: &mut [f64]);

    /// Returns the most likely class of each row of a table of features, and the first of equally likely ones. This
    /// works even if the densities of all classes are too small for `f64`.
    ///
    /// # Errors
    /// Those of [`map_rows`] and [`logarithms`](Self::logarithms).
    fn classes_of(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<i32>> {
        let first = self.log_priors().iter().position(|prior| prior.is_finite()).unwrap_or(0);
        self.put_each(table, 1, |logarithms, class: &mut [i32]| {
            let mut best = first;
            for (class, logarithm) in logarithms.iter().enumerate() {
                if *logarithm > logarithms[best] {
                    best = class;
                }
            }
            class[0] = best as i32; // below 2^31, as the number of classes is
        })
    }

    /// Returns the logarithm of the probability of each class, given a row of a table of features.
    ///
    /// # Errors
    /// Those of [`map_rows`] and [`logarithms`](Self::logarithms).
    fn log_probabilities_of(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<f64>> {
        self.put_each(table, self.log_priors().len(), |logarithms, result: &mut [f64]| {
            let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logarithms.iter().map(|logarithm| (logarithm - largest).exp()).sum();
            let all = largest + sum.ln();
            result.iter_mut().zip(logarithms).for_each(|(place, logarithm)| *place = logarithm - all);
        })
    }

    /// Calls `put` with the logarithm of each class for each row, and the row's place in the result.
    fn put_each<R: Element>(
        &self,
        table: &dyn NumericTable,
        width: usize,
        put: impl Fn(&[f64], &mut [R]) + Sync,
    ) -> Result<HomogenNumericTable<R>> {
        map_rows(table, self.features(), width, self.log_priors().len(), |row, values, logarithms, result: &mut [R]| {
            self.logarithms(row, values, logarithms)?;
            if logarithms.iter().all(|logarithm| *logarithm == f64::NEG_INFINITY) {
                self.far_logarithms(values, logarithms);
            }
            put(logarithms, result);
            Ok(())
        })
    }
}

/// Replaces each logarithm by its difference from the largest one, times the product of `factors`, plus `rest` of the
/// class.
pub(crate) fn relate(logarithms: &mut [f64], factors: &[f64], rest: impl Fn(usize) -> f64) {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_finite() {
        for (class, logarithm) in logarithms.iter_mut().enumerate() {
            let apart = factors.iter().fold(*logarithm - largest, |apart, factor| apart * factor);
            *logarithm = apart + rest(class);
        }
    }
}
