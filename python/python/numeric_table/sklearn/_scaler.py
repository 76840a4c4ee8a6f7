"""Standardization of columns."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import FLOAT_DTYPES, check_array, check_is_fitted, validate_data

from .. import Shards, Statistics, Table, TableReader, statistics
from ._rows import check_columns, is_count, require, table_of

_Change = Callable[[np.ndarray[Any, Any]], None]


class TableScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardizes columns to mean 0 and standard deviation 1, like :class:`sklearn.preprocessing.StandardScaler`.

    Computes the statistics with compensated summation, on all threads. ``fit`` also accepts readers and
    :class:`numeric_table.Shards`, without loading them. Standardizes tables in blocks of ``block_rows`` rows, and
    returns a table for a table, an array for an array; after ``set_output(transform="pandas")`` or ``"polars"``, a
    frame. ``copy=False`` changes a table of ``float32`` or ``float64`` in place, unless it is sparse. For sparse
    tables, pass ``with_mean=False``, since zeros would not remain zero; only the stored values are scaled.

    >>> import numpy as np, numeric_table as nt
    >>> from numeric_table.sklearn import TableScaler
    >>> table = nt.Table(np.array([[1.0, 10.0], [3.0, 30.0]]), names=["a", "b"])
    >>> scaler = TableScaler().fit(table)
    >>> scaler.transform(table).rows().tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    >>> scaler.get_feature_names_out().tolist()
    ['a', 'b']
    """

    mean_: np.ndarray[Any, Any]
    var_: np.ndarray[Any, Any]
    scale_: np.ndarray[Any, Any]
    n_samples_seen_: int
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    def __init__(
        self, *, with_mean: bool = True, with_std: bool = True, copy: bool = True, block_rows: int = 8192
    ) -> None:
        self.with_mean = with_mean
        self.with_std = with_std
        self.copy = copy
        self.block_rows = block_rows

    def fit(self, X: Any, y: Any = None) -> TableScaler:
        """Computes the means and standard deviations. ``y`` is ignored."""
        for name in ("_found", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any = None) -> TableScaler:
        """Adds rows to those that have been seen. ``y`` is ignored."""
        is_first = not hasattr(self, "_found")
        found = self._statistics(X, is_first)
        if is_first:
            self._found = found
        else:
            self._found.merge(found)
        self.n_samples_seen_ = int(self._found.row_count)
        self.mean_ = self._found.mean.copy()
        self.var_ = self._found.population_variance.copy()
        scale = np.sqrt(self.var_)
        # A deviation that is only rounding error counts as zero.
        epsilon = float(np.finfo(float).eps)
        scale[self.var_ <= self.n_samples_seen_ * epsilon * self.var_ + (self.mean_ * epsilon) ** 2] = 1
        self.scale_ = scale
        return self

    def transform(self, X: Any) -> Any:
        """Standardizes rows."""
        check_is_fitted(self)
        scaled = self._scaled(X, self._standardize)
        return self._framed(scaled) if isinstance(scaled, Table) else scaled

    def inverse_transform(self, X: Any) -> Any:
        """Undoes :meth:`transform`."""
        check_is_fitted(self)
        return self._scaled(X, self._restore)

    def _standardize(self, block: np.ndarray[Any, Any]) -> None:
        if self.with_mean:
            block -= self.mean_
        if self.with_std:
            block /= self.scale_

    def _restore(self, block: np.ndarray[Any, Any]) -> None:
        if self.with_std:
            block *= self.scale_
        if self.with_mean:
            block += self.mean_

    def _framed(self, table: Table) -> Any:
        """Returns a table in the container that ``set_output`` has stated."""
        stated = getattr(self, "_sklearn_output_config", {})
        library = stated.get("transform", sklearn.get_config()["transform_output"])
        if library == "default":
            return table
        if table.is_sparse:
            raise ValueError(
                f"The transformer outputs a sparse table. Disable {library.capitalize()} output with "
                "set_output(transform='default'), or pass a dense table."
            )
        return table.to_pandas() if library == "pandas" else importlib.import_module("polars").DataFrame(table)

    def _statistics(self, X: Any, is_first: bool) -> Statistics:
        if isinstance(X, (Shards, TableReader)):
            check_columns(self, X.names, is_first)
            found = X.reduce(Statistics(X.shape[1])) if isinstance(X, Shards) else statistics(X)
            left_out = found.row_count - found.count + found.infinity_count
            if left_out.any():
                raise ValueError(
                    f"Input X contains NaN, infinity or missing values in {int((left_out > 0).sum())} columns: "
                    f"{type(self).__name__} does not accept them."
                )
            if found.row_count == 0:
                raise ValueError(
                    f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required by "
                    f"{type(self).__name__}."
                )
            return found
        if isinstance(X, Table):
            array = self._check_table(X, is_first)
            if X.is_sparse:
                return statistics(X)
        else:
            array = validate_data(self, X, reset=is_first, dtype=FLOAT_DTYPES)
        return statistics(table_of(array))

    def _check_table(self, table: Table, is_first: bool) -> Any:
        if table.is_sparse:
            if self.with_mean:
                raise ValueError("zeros of a sparse table would not remain zero: pass `with_mean=False`")
            array = check_array(table.to_scipy(self._float_type(table)), dtype=FLOAT_DTYPES, accept_sparse="csr")
        else:
            array = check_array(table, dtype=FLOAT_DTYPES)
        check_columns(self, table.names, is_first)
        return array

    @staticmethod
    def _float_type(table: Table) -> str:
        return "float32" if table.dtype == np.float32 else "float64"

    def _scaled(self, X: Any, change: _Change) -> Any:
        if isinstance(X, (Shards, TableReader)):
            raise TypeError("the rows of files are standardized in parts: pass the tables of load_rows or load_shard")
        if not isinstance(X, Table):
            array = validate_data(self, X, reset=False, dtype=FLOAT_DTYPES, copy=self.copy, force_writeable=True)
            change(array)
            return array
        require(self, "block_rows", is_count(self.block_rows), "an integer of at least 1")
        checked = self._check_table(X, False)
        if X.is_sparse:
            return self._sparse_scaled(X, checked, change)
        is_float = {str(dtype) for dtype in X.dtypes} in ({"float32"}, {"float64"})
        table = X if is_float and not self.copy else Table(X, copy=True) if is_float else Table(X, dtype="float64")
        for first in range(0, len(table), self.block_rows):
            with table.write_rows(first, min(first + self.block_rows, len(table)), dtype="float64") as block:
                change(block)
        return table

    def _sparse_scaled(self, table: Table, rows: Any, change: _Change) -> Table:
        factors = np.ones((1, table.shape[1]))
        change(factors)
        factors = factors[0].astype(rows.dtype)
        values = rows.data * factors[rows.indices]
        cells = type(rows)((values, rows.indices, rows.indptr), shape=rows.shape)
        scaled = Table(cells, copy=False)  # nothing else refers to them
        return scaled.rename({place: name for place, name in enumerate(table.names) if name is not None})
