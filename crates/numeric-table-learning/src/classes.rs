//! Classes of rows: which one a row belongs to, and how likely each is, from the logarithm of each class for the row.

use numeric_table::table::ColumnKey;
use numeric_table::{
    Element, Error, ErrorKind, HomogenNumericTable, NumericTable, Result, statistics::GroupStatistics,
};

use crate::checks::{parameter, same_count};
use crate::room::with_room;
use crate::rows::map_rows;

/// Checks the numbers that counts of classes are created with.
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

/// Returns which column tells the class, and how many classes there are: with `None`, as many as the dictionary says.
///
/// # Errors
/// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`] for `by`; [`ErrorKind::NotSolvable`] if the dictionary
/// does not say how many; [`ErrorKind::OutOfMemory`].
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

/// Returns the natural logarithms of prior probabilities: minus infinity for classes without rows.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`]; [`ErrorKind::ParameterOutOfRange`] if they are none; [`ErrorKind::TooFewRows`] if no
/// class that may be has rows; [`ErrorKind::OutOfMemory`].
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

/// A model that says how likely each class of a row is.
pub(crate) trait Classifier: Sync {
    fn features(&self) -> usize;

    /// Borrows the logarithm of the prior probability of each class; of one that no row is of, it is minus infinity.
    fn log_priors(&self) -> &[f64];

    /// Computes the logarithm of each class for a row, but for a constant.
    ///
    /// # Errors
    /// Those of a value that no row has, with its place.
    fn logarithms(&self, row: usize, values: &[f64], logarithms: &mut [f64]) -> Result<()>;

    /// Computes the same, but for another constant, if all of them are minus infinity: so that they are numbers if only
    /// the range of `f64` was too small. If the row is impossible in every class, they stay minus infinity.
    fn far_logarithms(&self, values: &[f64], logarithms: &mut [f64]);

    /// Returns the class of each row of a table of features: the first that is most likely, of those that a row may be
    /// of, also if the densities of all of them are too small for `f64`.
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

/// Makes logarithms in another unit, the product of `factors`, those of the difference from the largest one; `rest`, in
/// units of 1, is added to each class's.
pub(crate) fn relate(logarithms: &mut [f64], factors: &[f64], rest: impl Fn(usize) -> f64) {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_finite() {
        for (class, logarithm) in logarithms.iter_mut().enumerate() {
            let apart = factors.iter().fold(*logarithm - largest, |apart, factor| apart * factor);
            *logarithm = apart + rest(class);
        }
    }
}
