"""The rows that estimators read: from arrays and frames, tables, readers and many files, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import FLOAT_DTYPES, check_non_negative, validate_data

from .. import Partial, Shards, Table, TableReader

#: Something with rows and names: a table, or the reader of a file or of many files.
Tabular: TypeAlias = Table | TableReader | Shards
Block: TypeAlias = tuple[Any, Any]

_P = TypeVar("_P", bound=Partial)


def is_tabular(X: Any) -> bool:
    """Returns whether data is a table, or the reader of a file or of many files."""
    return isinstance(X, (Table, TableReader, Shards))


def is_sparse(X: Any) -> bool:
    """Returns whether data is a sparse table, or a sparse array of SciPy."""
    return (isinstance(X, Table) and X.is_sparse) or scipy.sparse.issparse(X)


def require(estimator: Any, parameter: str, is_valid: bool, wanted: str) -> None:
    """Checks a parameter of an estimator."""
    if not is_valid:
        value, name = getattr(estimator, parameter), type(estimator).__name__
        raise ValueError(f"The {parameter!r} parameter of {name} must be {wanted}. Got {value!r} instead.")


def is_count(value: Any, least: int = 1) -> bool:
    """Returns whether a value is an integer of at least ``least``."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


def is_number(value: Any) -> bool:
    """Returns whether a value is a finite number of at least 0."""
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool) and bool(0 <= value < np.inf)


def column_places(table: Tabular, names: str | list[str]) -> list[int]:
    """Returns the indices of columns of targets."""
    wanted, there = [names] if isinstance(names, str) else names, table.names
    places = []
    for name in wanted:
        if there.count(name) != 1:
            what = "has no column" if name not in there else "has several columns named"
            raise ValueError(f"y is the name of a column, but the table {what} {name!r}: it has {there}")
        places.append(there.index(name))
    return places


def is_name(X: Any, y: Any, allows_list: bool = False) -> bool:
    """Returns whether ``y`` is the name of a column, or a list of names: lists of classes look like these."""
    is_list = allows_list and isinstance(y, list) and bool(y) and all(isinstance(name, str) for name in y)
    if isinstance(y, str) and not is_tabular(X):
        raise ValueError(
            f"y={y!r} names a column of a Table, a TableReader or Shards, but X is of the type {type(X).__name__}: "
            "pass an array as y"
        )
    return is_tabular(X) and (isinstance(y, str) or is_list)


def check_columns(estimator: Any, names: list[str | None], is_first: bool) -> None:
    """Sets or checks the number and the names of the features of a table."""
    # A table without rows: scikit-learn takes the names of frames only.
    proxy = Table.zeros(0, len(names))
    proxy.names = names
    validate_data(estimator, proxy, reset=is_first, skip_check_array=True)
    is_named = bool(names) and None not in names and len(set(names)) == len(names)
    if is_first and is_named and not hasattr(estimator, "feature_names_in_"):
        estimator.feature_names_in_ = np.array(names, dtype=object)  # scikit-learn before 1.9


class Rows:
    """Rows of features, and of targets if ``y`` is not ``None``."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        is_first: bool = False,
        accept_sparse: bool = False,
        non_negative: bool = False,
        needs_y: bool = False,
        **checks: Any,
    ) -> None:
        if needs_y and y is None:
            name = type(estimator).__name__
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        self.estimator = estimator
        self.block_rows = estimator.block_rows
        require(estimator, "block_rows", is_count(self.block_rows), "an integer of at least 1")
        self.table: Any = None
        self.array: Any = None
        self.y = y
        self.targets: list[int] = []
        if is_first:
            estimator._target_names = []
        self.non_negative = non_negative
        if is_tabular(X):
            self._take_table(X, y, is_first, accept_sparse, checks)
        else:
            is_name(X, y)
            self._take_array(X, y, is_first, accept_sparse, checks)

    def _take_array(self, X: Any, y: Any, is_first: bool, accept_sparse: bool, checks: dict[str, Any]) -> None:
        formats = "csr" if accept_sparse else False
        options = {"accept_sparse": formats, "dtype": FLOAT_DTYPES, "reset": is_first, **checks}
        if y is None:
            self.array = validate_data(self.estimator, X, **options)
        else:
            self.array, self.y = validate_data(self.estimator, X, y, **options)
        self._check_sign(self.array)
        self.shape = self.array.shape

    def _take_table(self, X: Tabular, y: Any, is_first: bool, accept_sparse: bool, checks: dict[str, Any]) -> None:
        columns = X.shape[1]
        if is_name(X, y, bool(checks.get("multi_output"))):
            self.targets = column_places(X, y)
            if is_first:
                self.estimator._target_names = [y] if isinstance(y, str) else list(y)
        elif y is not None:
            self.y = _checked_targets(y, **checks)
        left_out = set(self.targets) | self._left_out(X, y, is_first)
        self.features = [place for place in range(columns) if place not in left_out]
        check_columns(self.estimator, [X.names[place] for place in self.features], is_first)
        for what, count in [("feature", len(self.features)), ("sample", len(X))]:
            if count == 0:
                least = f"while a minimum of 1 is required by {type(self.estimator).__name__}"
                raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) {least}.")
        self.shape = (len(X), len(self.features))
        if self.y is not None and not self.targets:
            check_consistent_length(X, self.y)
        if is_sparse(X):
            self._take_sparse(X, accept_sparse)
        else:
            self.table = X

    def _left_out(self, X: Tabular, y: Any, is_first: bool) -> set[int]:
        """Returns the columns that were targets in ``fit``, if predictions are wanted for the table with them."""
        names = getattr(self.estimator, "_target_names", [])
        if is_first or not names or X.shape[1] == self.estimator.n_features_in_:
            return set()
        return {place for place, name in enumerate(X.names) if name in names}

    def _take_sparse(self, X: Any, accept_sparse: bool) -> None:
        if self.targets:
            raise ValueError("the targets of a sparse table are an array: pass it as y")
        dtype = "float32" if X.dtype == np.float32 else "float64"
        checked = check_array(
            X.to_scipy(dtype), accept_sparse="csr" if accept_sparse else False, estimator=self.estimator, input_name="X"
        )
        self._check_sign(checked)
        self.array = checked[:, self.features] if len(self.features) < X.shape[1] else checked

    @property
    def is_in_memory(self) -> bool:
        """Returns whether the rows are an array or a table, not files."""
        return self.array is not None or isinstance(self.table, Table)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the blocks."""
        is_single = self.table is not None and self.table.dtype == np.float32 and not self.targets
        found: np.dtype[Any] = self.array.dtype if self.array is not None else np.dtype("f4" if is_single else "f8")
        return found

    def blocks(self) -> Iterator[Block]:
        """Returns blocks of features, and of targets or ``None``."""
        count, step = self.shape[0], self.block_rows
        starts = range(0, count, step)
        if self.array is not None:
            for start in starts:
                yield self.array[start : start + step], None if self.y is None else self.y[start : start + step]
            return
        is_all = len(self.features) == self.table.shape[1]
        for start, block in zip(starts, self.table.row_blocks(step, self.dtype)):
            own = block if is_all else block[:, self.features]
            self._check(own)
            if self.targets:
                target = block[:, self.targets[0]] if isinstance(self.y, str) else block[:, self.targets]
                assert_all_finite(target, estimator_name=type(self.estimator).__name__, input_name="y")
            else:
                target = None if self.y is None else self.y[start : start + step]
            yield own, target

    def _check(self, features: Any) -> None:
        name = type(self.estimator).__name__
        assert_all_finite(features, estimator_name=name, input_name="X")
        self._check_sign(features)

    def _check_sign(self, features: Any) -> None:
        if self.non_negative:
            check_non_negative(features, f"{type(self.estimator).__name__} (input X)")

    def reduce(self, partial: _P) -> _P:
        """Returns a result over all rows of features. Values are not checked."""
        if self.array is not None:
            found = partial.new_like()
            found.update(table_of(self.array))
            return found
        if len(self.features) < self.table.shape[1]:
            return self.reduce_blocks(partial, lambda features, _: features)
        found = partial.new_like()
        found.update(self.table)
        return found

    def reduce_blocks(self, partial: _P, joined: Callable[[Any, Any], Any]) -> _P:
        """Returns a result over what a function makes of each block of features and targets."""
        found = partial.new_like()
        for features, targets in self.blocks():
            found.update(table_of(joined(features, targets)))
        return found

    def map(self, f: Callable[[Any], Any]) -> Any:
        """Returns an array of the results of a function for blocks of features."""
        return np.concatenate([f(features) for features, _ in self.blocks()])


def table_of(array: Any) -> Table:
    """Returns a table on the memory of an array, for one call: code elsewhere may write the array later."""
    if scipy.sparse.issparse(array) and not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()
    elif not (scipy.sparse.issparse(array) or array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    return Table(array, copy=False)


def joined(features: Any, targets: Any) -> Any:
    """Returns features and targets side by side."""
    targets = np.asarray(targets)
    targets = targets.reshape(len(targets), -1)
    if scipy.sparse.issparse(features):
        return scipy.sparse.csr_array(scipy.sparse.hstack([features, targets.astype(features.dtype)], format="csr"))
    block = np.empty((len(targets), features.shape[1] + targets.shape[1]))
    block[:, : features.shape[1]] = features
    block[:, features.shape[1] :] = targets
    return block


def _checked_targets(y: Any, multi_output: bool = False, y_numeric: bool = False, **others: Any) -> Any:
    """Returns an array of targets, as ``validate_data`` does for arrays."""
    if multi_output:
        return check_array(y, dtype="numeric" if y_numeric else None, ensure_2d=False, input_name="y")
    targets = column_or_1d(y, warn=True)
    if targets.dtype.kind in "fc":
        assert_all_finite(targets, input_name="y")
    return targets


def target_of(X: Any, y: Any) -> Any:
    """Returns the values of the targets, if ``y`` is the name of a column of a table, or a list of names."""
    if not is_name(X, y, True):
        return y
    places = column_places(X, y)
    found = np.concatenate([block[:, places] for block in X.row_blocks(1 << 16, "float64")])
    return found[:, 0] if isinstance(y, str) else found
