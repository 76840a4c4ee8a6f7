//! Solves systems of linear equations with a symmetric, positive definite matrix by Cholesky decomposition.

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::Result;

use crate::failure;
use numeric_table::internal::filled;

/// The decomposition `A = LDL'` of a symmetric matrix. It takes no square roots, so rounding does not depend on the
/// units of the columns.
pub(crate) struct Cholesky {
    /// Row by row: `L`, with `D` in the place of the ones on its diagonal.
    lower: Vec<f64>,
}

impl Cholesky {
    /// Decomposes a matrix whose lower half `at` returns. O(n³).
    ///
    /// A pivot divided by the value on the diagonal is the share of a column that the columns before it do not explain.
    /// A pivot that is zero to within rounding is an error. The smallest eigenvalue of the scaled matrix is at most
    /// that share, and the largest is at least 1, so the square root of the inverse share is a lower bound of the
    /// condition number of the features.
    ///
    /// # Errors
    /// [`ErrorKind::NotSolvable`]; [`ErrorKind::OutOfMemory`].
    pub(crate) fn new(n: usize, at: impl Fn(usize, usize) -> f64) -> Result<Self> {
        let least = 64.0 * f64::EPSILON * n as f64;
        let mut lower = filled(n * (n + 1) / 2, 0.0)?;
        for i in 0..n {
            let (above, rest) = lower.split_at_mut(row_at(i));
            let row = &mut rest[..=i]; // a row of LD at first
            for j in 0..i {
                row[j] = at(i, j) - dot(&row[..j], &above[row_at(j)..row_at(j) + j]);
            }
            let mut pivot = at(i, i);
            for (j, value) in row[..i].iter_mut().enumerate() {
                let product = *value;
                *value /= above[row_at(j) + j];
                pivot -= product * *value;
            }
            let is_independent = pivot > least * at(i, i) && pivot.is_finite(); // false for NaN and zeros
            if !is_independent {
                return Err(failure::dependent_column(i, least.recip().sqrt()).with_hint(failure::EXTENDED));
            }
            row[i] = pivot;
        }
        Ok(Self { lower })
    }

    /// Replaces a right-hand side by the solution. O(n²).
    pub(crate) fn solve(&self, values: &mut [f64]) {
        let n = values.len();
        for i in 0..n {
            values[i] -= dot(&self.lower[row_at(i)..row_at(i) + i], &values[..i]);
        }
        values.iter_mut().enumerate().for_each(|(i, value)| *value /= self.lower[row_at(i) + i]);
        for i in (0..n).rev() {
            let (before, value) = (&self.lower[row_at(i)..row_at(i) + i], values[i]);
            values[..i].iter_mut().zip(before).for_each(|(place, factor)| *place -= factor * value);
        }
    }
}

/// Estimates the condition number of a symmetric matrix in the 1-norm. `at` returns its values, and `solve` replaces a
/// right-hand side by the solution. O(n²), plus a few calls of `solve`. Source: Hager 1984; Higham 1988.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn condition_of(n: usize, at: impl Fn(usize, usize) -> f64, solve: impl Fn(&mut [f64])) -> Result<f64> {
    const STEPS: usize = 5;
    let sum_of = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>();
    let norm = (0..n).map(|j| (0..n).map(|i| at(i, j).abs()).sum::<f64>()).fold(0.0, f64::max);
    let (mut from, mut values) = (filled(n, 1.0 / n as f64)?, filled(n, 0.0)?);
    let mut largest = 0.0_f64;
    for _ in 0..STEPS.min(n) {
        values.copy_from_slice(&from);
        solve(&mut values);
        largest = largest.max(sum_of(&values));
        values.iter_mut().for_each(|value| *value = 1.0_f64.copysign(*value));
        solve(&mut values);
        let (place, steepest) = values
            .iter()
            .map(|value| value.abs())
            .enumerate()
            .fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
        if steepest <= values.iter().zip(&from).map(|(value, from)| value * from).sum() {
            break;
        }
        from.fill(0.0);
        from[place] = 1.0;
    }
    // A vector that finds what the steps above can miss.
    let part = |i: usize| 1.0 + i as f64 / n.saturating_sub(1).max(1) as f64;
    values.iter_mut().enumerate().for_each(|(i, value)| *value = if i % 2 == 0 { part(i) } else { -part(i) });
    solve(&mut values);
    Ok(norm * largest.max(2.0 * sum_of(&values) / (3.0 * n.max(1) as f64)))
}

/// Returns the position of a row in a packed lower half.
pub(crate) fn row_at(i: usize) -> usize {
    i * (i + 1) / 2
}

/// Returns the sum of products, in eight independent sums, always in the same order.
#[inline(always)]
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (left, right) in left.chunks(8).zip(right.chunks(8)) {
        sums.iter_mut().zip(left.iter().zip(right)).for_each(|(sum, (left, right))| *sum += left * right);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use numeric_table::ErrorKind;

    use super::*;

    #[test]
    fn a_system_is_solved_and_a_singular_one_names_its_column() {
        // L = [1; 3 1; -4 5 1], D = (4, 1, 9) of a well-known example, and x = (1, -2, 3).
        let matrix = [[4.0, 12.0, -16.0], [12.0, 37.0, -43.0], [-16.0, -43.0, 98.0]];
        let mut values = matrix.map(|row| row[0] - 2.0 * row[1] + 3.0 * row[2]);
        Cholesky::new(3, |i, j| matrix[i][j]).unwrap().solve(&mut values);
        for (found, expected) in values.into_iter().zip([1.0, -2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        for (bad, column) in
            [([[1.0, 1.0], [1.0, 1.0]], 1), ([[0.0, 0.0], [0.0, 1.0]], 0), ([[1.0, 2.0], [2.0, 1.0]], 1)]
        {
            let found = Cholesky::new(2, |i, j| bad[i][j]).err();
            assert!(found.as_ref().is_some_and(
                |error| matches!(error.kind(), ErrorKind::NotSolvable { column: Some(found), .. } if *found == column)
            ));
        }
        let found = Cholesky::new(1, |_, _| f64::NAN).err();
        assert!(
            found.as_ref().is_some_and(|error| matches!(error.kind(), ErrorKind::NotSolvable { column: Some(0), .. }))
        );
    }
}
