//! Why values do not determine a model.

use numeric_table::{
    Error, ErrorKind,
    error::{Hint, Unsolvable},
};

/// The hint for errors of lost digits in sums of `f64`.
pub(crate) const EXTENDED: Hint = Hint::new("with_extended_precision", "holds more digits");

/// Returns the error of sums that are NaN or infinite.
pub(crate) fn sums_not_finite(column: usize) -> Error {
    let reason =
        format!("the sums of column {column} are not finite: it has a NaN, an infinity or values that are too large");
    Error::new(ErrorKind::NotSolvable { cause: Unsolvable::NotFinite, column: Some(column), condition: None, reason })
}

/// Returns the error of a feature that is constant in a class, and so has no normal density there.
pub(crate) fn constant_feature(column: usize, class: usize) -> Error {
    let reason = format!("column {column} has one value in all rows of class {class}: a variance above 0 is needed");
    Error::new(ErrorKind::NotSolvable { cause: Unsolvable::Constant, column: Some(column), condition: None, reason })
}

/// Returns the error of a column that is, to within rounding, constant or a linear combination of the columns before
/// it: either there are many solutions, or the precision is too low to find the only one. `condition` is a lower bound
/// of the condition number of the features, each scaled by its deviation.
pub(crate) fn dependent_column(column: usize, condition: f64) -> Error {
    let reason = format!(
        "column {column} is constant, or a linear combination of the columns before it, to within rounding: the \
         condition number of the features is above {condition:.1e}"
    );
    Error::new(ErrorKind::NotSolvable {
        cause: Unsolvable::Dependent,
        column: Some(column),
        condition: Some(condition),
        reason,
    })
    .with_hint(Hint::new("solve_ridge", "chooses one of many solutions"))
}

/// Returns the error of nearly dependent features: fewer than six digits of the coefficients would be correct. `limit`
/// is the largest condition number that can be solved.
pub(crate) fn ill_conditioned(condition: f64, limit: f64, is_extended: bool) -> Error {
    let reason = format!(
        "the features are nearly dependent: their condition number is {condition:.1e}, and the \
         limit is {limit:.1e}"
    );
    let error = Error::new(ErrorKind::NotSolvable {
        cause: Unsolvable::IllConditioned,
        column: None,
        condition: Some(condition),
        reason,
    });
    match is_extended {
        true => error,
        false => error.with_hint(EXTENDED),
    }
}
