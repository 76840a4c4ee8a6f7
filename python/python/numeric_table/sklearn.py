"""An estimator for scikit-learn that processes tables block by block. Other estimators accept tables directly.

With ``array_api_dispatch=True``, scikit-learn accepts only arrays with an array API namespace, and tables have none:
pass ``np.asarray(table)``, which copies nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import FLOAT_DTYPES, check_array, check_is_fitted, validate_data

from . import Table, statistics

__all__ = ["TableScaler"]


class TableScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardizes columns to mean 0 and standard deviation 1, like :class:`sklearn.preprocessing.StandardScaler`.

    Computes the statistics with compensated summation, on all threads. Standardizes tables in blocks of ``block_rows``
    rows, and returns a table for a table, an array for an array. ``copy=False`` changes a table of ``float32`` or
    ``float64`` in place, unless it is sparse. For sparse tables, pass ``with_mean=False``, since zeros would not remain
    zero; only the stored values are scaled.

    >>> import numpy as np, numeric_table as nt
    >>> from numeric_table.sklearn import TableScaler
    >>> table = nt.Table(np.array([[1.0, 10.0], [3.0, 30.0]]), names=["a", "b"])
    >>> scaler = TableScaler().fit(table)
    >>> scaler.transform(table).rows().tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    >>> scaler.get_feature_names_out().tolist()
    ['a', 'b']
    """

    def __init__(self, *, with_mean: bool = True, with_std: bool = True, copy: bool = True, block_rows: int = 8192) -> None:
        self.with_mean = with_mean
        self.with_std = with_std
        self.copy = copy
        self.block_rows = block_rows

    def fit(self, X: Any, y: Any = None) -> TableScaler:
        """Computes the means and standard deviations."""
        for name in ("_found", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any = None) -> TableScaler:
        """Adds rows to those that have been seen."""
        is_first = not hasattr(self, "_found")
        found = statistics(self._checked(X, is_first))
        if is_first:
            self._found = found
        else:
            self._found.merge(found)
        self.n_samples_seen_ = int(self._found.row_count)
        self.mean_ = self._found.mean.copy()
        self.var_ = self._found.population_variance.copy()
        scale = np.sqrt(self.var_)
        # A deviation that is only rounding error counts as zero.
        scale[self.var_ <= self.n_samples_seen_ * np.finfo(float).eps * self.var_ + (self.mean_ * np.finfo(float).eps) ** 2] = 1
        self.scale_ = scale
        return self

    def transform(self, X: Any) -> Any:
        """Standardizes rows."""
        check_is_fitted(self)
        return self._scaled(X, lambda block: self._standardize(block))

    def inverse_transform(self, X: Any) -> Any:
        """Undoes :meth:`transform`."""
        check_is_fitted(self)
        return self._scaled(X, lambda block: self._restore(block))

    def _standardize(self, block: np.ndarray) -> None:
        if self.with_mean:
            block -= self.mean_
        if self.with_std:
            block /= self.scale_

    def _restore(self, block: np.ndarray) -> None:
        if self.with_std:
            block *= self.scale_
        if self.with_mean:
            block += self.mean_

    def _checked(self, X: Any, is_first: bool) -> Table:
        if isinstance(X, Table):
            array = self._check_table(X, is_first)
            if X.is_sparse:
                return X
        else:
            array = validate_data(self, X, reset=is_first, dtype=FLOAT_DTYPES)
        return Table(array, copy=False)  # only during the call

    def _check_table(self, table: Table, is_first: bool) -> Any:
        if table.is_sparse:
            if self.with_mean:
                raise ValueError("zeros of a sparse table would not remain zero: pass `with_mean=False`")
            array = check_array(table.to_scipy(self._float_type(table)), dtype=FLOAT_DTYPES, accept_sparse="csr")
        else:
            array = check_array(table, dtype=FLOAT_DTYPES)
        if is_first:
            self.n_features_in_ = table.shape[1]
        elif table.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {table.shape[1]} features, but TableScaler is expecting {self.n_features_in_} features")
        self._check_names(table, is_first)
        return array

    @staticmethod
    def _float_type(table: Table) -> str:
        return "float32" if table.dtype == np.float32 else "float64"

    def _check_names(self, table: Table, is_first: bool) -> None:
        names = table.names
        if any(name is None for name in names):
            return
        if is_first:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif list(getattr(self, "feature_names_in_", names)) != names:
            raise ValueError(f"the columns are {names}, but were {list(self.feature_names_in_)} in fit")

    def _scaled(self, X: Any, change: Any) -> Any:
        if not isinstance(X, Table):
            array = validate_data(self, X, reset=False, dtype=FLOAT_DTYPES, copy=self.copy, force_writeable=True)
            change(array)
            return array
        checked = self._check_table(X, False)
        if X.is_sparse:
            return self._sparse_scaled(X, checked, change)
        is_float = {str(dtype) for dtype in X.dtypes} in ({"float32"}, {"float64"})
        table = X if is_float and not self.copy else Table(X, copy=True) if is_float else Table(X, dtype="float64")
        for first in range(0, len(table), self.block_rows):
            with table.write_rows(first, min(first + self.block_rows, len(table)), dtype="float64") as block:
                change(block)
        return table

    def _sparse_scaled(self, table: Table, rows: Any, change: Any) -> Table:
        factors = np.ones((1, table.shape[1]))
        change(factors)
        factors = factors[0].astype(rows.dtype)
        values = rows.data * factors[rows.indices]
        scaled = Table(type(rows)((values, rows.indices, rows.indptr), shape=rows.shape), copy=False)  # no other references
        return scaled.rename({place: name for place, name in enumerate(table.names) if name is not None})
