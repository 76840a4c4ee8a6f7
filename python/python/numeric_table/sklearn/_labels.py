"""The classes of rows: from arrays of any labels, or from a column of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from .. import Shards, Table
from ._rows import Rows, is_name, target_of


class Labels:
    """The classes, in order, and the index of the class of each label."""

    def __init__(self, classes: np.ndarray[Any, Any], words: np.ndarray[Any, Any] | None) -> None:
        self.classes = classes
        self.words = words

    @classmethod
    def of(cls, rows: Rows, X: Any, classes: Any = None) -> Labels:
        """Finds the classes of rows, unless they are given."""
        words = _words_of(X, rows.y) if rows.targets else None
        if classes is not None:
            return cls(np.asarray(classes), words)
        if not rows.targets:
            check_classification_targets(rows.y)
            return cls(np.unique(rows.y), None)
        name = [rows.y] if isinstance(rows.y, str) else rows.y
        if len(name) != 1:
            raise ValueError(f"y is the name of one column of classes, not of {len(name)}")
        found = np.unique(np.concatenate([np.unique(targets) for _, targets in rows.blocks()]))
        check_classification_targets(found)
        return cls(found if words is None else np.unique(_spelled(found, words)), words)

    def codes(self, targets: Any) -> np.ndarray[Any, Any]:
        """Returns the indices of the classes of labels."""
        labels = np.asarray(targets)
        labels = labels.ravel() if self.words is None else _spelled(labels.ravel(), self.words)
        places = np.searchsorted(self.classes, labels)
        places[places == len(self.classes)] = 0
        is_unknown = self.classes[places] != labels
        if is_unknown.any():
            unknown = np.unique(labels[is_unknown])
            raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {self.classes}")
        return places

    @staticmethod
    def target_of(X: Any, y: Any) -> Any:
        """Returns labels, if ``y`` is the name of a column of a table."""
        if not is_name(X, y):
            return y
        words, found = _words_of(X, y), target_of(X, y)
        return found if words is None else _spelled(found, words)


def _words_of(X: Any, y: Any) -> np.ndarray[Any, Any] | None:
    """Returns the category labels of a column."""
    name = y if isinstance(y, str) else y[0]
    if isinstance(X, Shards):
        counts = X.row_counts
        X = X.load_shard(counts.index(min(counts)))
    elif not isinstance(X, Table):
        X = X.load_rows(0, 0)
    words = X.categories.get(name)
    return None if words is None else np.array(words, dtype=object)


def _spelled(codes: np.ndarray[Any, Any], words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the labels of codes."""
    places = codes.astype("int64")
    if ((places < 0) | (places >= len(words)) | (places != codes)).any():
        raise ValueError(f"y has category codes without labels: there are {len(words)} labels")
    found: np.ndarray[Any, Any] = words[places]
    return found
