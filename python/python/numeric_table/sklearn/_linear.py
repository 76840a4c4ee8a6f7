"""Linear regression."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from .. import LinearRegression, TableError
from ._rows import Rows, joined, require, target_of


class TableLinearRegression(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Linear regression by least squares, like :class:`sklearn.linear_model.LinearRegression`.

    Reads the rows once, in blocks of ``block_rows``, and keeps only :class:`numeric_table.LinearRegression`, the sums
    of products of the columns. Accepts arrays, frames, tables, and, without loading them, readers and
    :class:`numeric_table.Shards`. ``partial_fit`` adds rows: the result is that of ``fit`` for all of them.

    The sums have the square of the condition number of the features. ``extended_precision`` doubles their precision,
    for features that are nearly dependent. If features are dependent, or if there are fewer rows than coefficients, the
    result is the solution with the smallest coefficients, as in scikit-learn.

    >>> import numeric_table as nt
    >>> from numeric_table.sklearn import TableLinearRegression
    >>> table = nt.Table([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]], names=["x", "y"])
    >>> model = TableLinearRegression().fit(table, "y")
    >>> model.coef_.round(9), round(model.intercept_, 9)
    (array([2.]), 1.0)
    >>> model.predict(nt.Table([[10.0]], names=["x"])).round(9)
    array([21.])
    """

    _found: LinearRegression
    _is_one: bool
    coef_: np.ndarray[Any, Any]
    intercept_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    def __init__(
        self, *, fit_intercept: bool = True, extended_precision: bool = False, block_rows: int = 65536
    ) -> None:
        self.fit_intercept = fit_intercept
        self.extended_precision = extended_precision
        self.block_rows = block_rows

    def fit(self, X: Any, y: Any) -> TableLinearRegression:
        """Computes the coefficients. For a table, a reader or ``Shards``, ``y`` is an array, the name of a column, or a
        list of names."""
        return self._add(X, y, True)

    def partial_fit(self, X: Any, y: Any) -> TableLinearRegression:
        """Adds rows to those that have been seen."""
        return self._add(X, y, not hasattr(self, "_found"))

    def _add(self, X: Any, y: Any, is_first: bool) -> TableLinearRegression:
        for name in ("fit_intercept", "extended_precision"):
            require(self, name, isinstance(getattr(self, name), (bool, np.bool_)), "True or False")
        rows = Rows(
            self, X, y, is_first=is_first, accept_sparse=True, needs_y=True, multi_output=True, y_numeric=True
        )
        shape = (len(rows.targets),) if isinstance(rows.y, list) else np.shape(rows.y)[1:] if not rows.targets else ()
        count = shape[0] if shape else 1
        if is_first:
            equations = LinearRegression(rows.shape[1], count, bool(self.extended_precision))
        else:
            equations = self._found
            if self._is_one != (not shape) or count != equations.target_count:
                raise ValueError(f"y has {count} targets, but there were {equations.target_count} before")
        found = rows.reduce_blocks(equations, joined)
        if not is_first:
            merged = copy.copy(equations)
            merged.merge(found)
            found = merged
        coefficients, intercepts = _solution(found, bool(self.fit_intercept))
        self._found, self._is_one = found, not shape
        self.coef_ = coefficients if shape else coefficients[0]
        self.intercept_ = intercepts if shape else float(intercepts[0])
        if not self.fit_intercept:
            self.intercept_ = 0.0
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Returns the predicted targets."""
        check_is_fitted(self)
        rows = Rows(self, X, accept_sparse=True)
        weights, intercept = self.coef_.T, self.intercept_
        found: np.ndarray[Any, Any] = rows.map(lambda features: safe_sparse_dot(features, weights) + intercept)
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the coefficient of determination, R2. For a table, ``y`` may be the name of a column."""
        return float(super().score(X, target_of(X, y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _solution(equations: LinearRegression, has_intercept: bool) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns coefficients, with a row for each target, and intercepts."""
    means, products = equations.covariance.means, equations.covariance.cross_product
    if not np.isfinite(products).all():
        raise ValueError("the sums of products of the columns are beyond the range of float64: scale the columns first")
    try:
        model = equations.solve(intercept=has_intercept)
        return model.coefficients.copy(), model.intercepts.copy()
    except TableError:  # dependent features, or few rows
        if not has_intercept:
            products = products + equations.row_count * np.outer(means, means)
        count = equations.feature_count
        coefficients = _smallest(products[:count, :count], products[:count, count:]).T
        intercepts = means[count:] - coefficients @ means[:count] if has_intercept else np.zeros(len(means) - count)
        return coefficients, intercepts


def _smallest(products: np.ndarray[Any, Any], targets: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the solution of the equations with the smallest sum of squares."""
    lengths = np.sqrt(np.diag(products))
    lengths[lengths == 0] = 1
    values, vectors = np.linalg.eigh(products / lengths / lengths[:, None])
    is_kept = values > len(values) * 8 * np.finfo(float).eps * max(values.max(), 0)
    kept, free = vectors[:, is_kept], vectors[:, ~is_kept] / lengths[:, None]
    found = kept @ (kept.T @ (targets / lengths[:, None]) / values[is_kept][:, None]) / lengths[:, None]
    # All solutions differ by combinations of the free directions.
    change: np.ndarray[Any, Any] = found - free @ np.linalg.lstsq(free, found, rcond=None)[0]
    return change
