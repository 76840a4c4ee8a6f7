"""Naive Bayes: Gaussian, for any numbers, and multinomial, for counts."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import GaussianNaiveBayes, NaiveBayes, TableError
from ._labels import Labels
from ._rows import Rows, is_number, joined, require, table_of


class _NaiveBayes(ClassifierMixin, BaseEstimator):
    """Both kinds: the classes, and the predictions from the logarithms of probabilities."""

    classes_: np.ndarray[Any, Any]
    class_count_: np.ndarray[Any, Any]
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]
    block_rows: int
    _found: Any
    _model: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Computes the model. For a table, a reader or ``Shards``, ``y`` is an array, or the name of a column, whose
        category labels are the classes."""
        self._check_parameters()
        rows = self._rows(X, y, True, True)
        labels = Labels.of(rows, X)
        empty = self._empty(rows.shape[1], len(labels.classes))
        self._set(rows.reduce_blocks(empty, lambda features, own: joined(features, labels.codes(own))))
        self.classes_ = labels.classes
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Adds rows to those that have been seen. The first call states all ``classes``."""
        self._check_parameters()
        is_first = not hasattr(self, "_found")
        if classes is not None:
            classes = np.unique(classes)
        if is_first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if not is_first and classes is not None and not np.array_equal(classes, self.classes_):
            what = "is not the same as on last call to partial_fit"
            raise ValueError(f"`classes={classes}` {what}, was: {self.classes_}")
        rows = self._rows(X, y, is_first, True)
        labels = Labels.of(rows, X, classes if is_first else self.classes_)
        empty = self._empty(rows.shape[1], len(labels.classes))
        found = rows.reduce_blocks(empty, lambda features, own: joined(features, labels.codes(own)))
        if not is_first:
            merged = copy.copy(self._found)
            merged.merge(found)
            found = merged
        self._set(found)
        self.classes_ = labels.classes
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Returns the most likely class of each row."""
        check_is_fitted(self)
        found: np.ndarray[Any, Any] = self.classes_[self._logarithms(X).argmax(axis=1)]
        return found

    def predict_joint_log_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Returns the logarithm of the probability of each class for each row, up to a constant for each row."""
        return self._logarithms(X)

    def predict_log_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Returns the logarithm of the probability of each class for each row."""
        return self._logarithms(X)

    def predict_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Returns the probability of each class for each row."""
        found: np.ndarray[Any, Any] = np.exp(self._logarithms(X))
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the share of the rows whose class is predicted. For a table, ``y`` may be the name of a column."""
        return float(super().score(X, Labels.target_of(X, y), sample_weight))

    def _logarithms(self, X: Any) -> np.ndarray[Any, Any]:
        check_is_fitted(self)
        rows = self._rows(X)
        found = rows.map(lambda features: self._model.predict_log_probabilities(table_of(features)))
        return self._with_priors(found)

    def _with_priors(self, found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return found

    def _rows(self, X: Any, y: Any = None, is_first: bool = False, needs_y: bool = False) -> Rows:
        return Rows(self, X, y, is_first=is_first, needs_y=needs_y)

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _empty(self, features: int, classes: int) -> Any:
        raise NotImplementedError

    def _set(self, found: Any) -> None:
        raise NotImplementedError


class TableGaussianNB(_NaiveBayes):
    """Gaussian naive Bayes, like :class:`sklearn.naive_bayes.GaussianNB`.

    Reads the rows once, in blocks of ``block_rows``, and keeps only :class:`numeric_table.GaussianNaiveBayes`, the
    statistics of each feature in each class. Accepts arrays, frames, tables, and, without loading them, readers and
    :class:`numeric_table.Shards`, whose column ``y`` may have any numbers or category labels.

    ``partial_fit`` adds rows: the result is that of ``fit`` for all of them. (In ``GaussianNB``, the smoothing depends
    on the last batch only.) A class without rows is never predicted.

    >>> import numeric_table as nt
    >>> from numeric_table.sklearn import TableGaussianNB
    >>> table = nt.Table([[1.0, 5.0], [3.0, 5.0], [7.0, 8.0], [9.0, 8.0]], names=["size", "kind"])
    >>> model = TableGaussianNB().fit(table, "kind")
    >>> model.classes_, model.theta_.tolist(), model.predict(table)
    (array([5., 8.]), [[2.0], [8.0]], array([5., 5., 8., 8.]))
    """

    class_prior_: np.ndarray[Any, Any]
    theta_: np.ndarray[Any, Any]
    var_: np.ndarray[Any, Any]
    epsilon_: float

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9, block_rows: int = 65536) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.block_rows = block_rows

    def _check_parameters(self) -> None:
        require(self, "var_smoothing", is_number(self.var_smoothing), "a finite number of at least 0")

    def _empty(self, features: int, classes: int) -> GaussianNaiveBayes:
        return GaussianNaiveBayes(features + 1, features, classes)

    def _set(self, found: Any) -> None:
        counts = found.class_rows.astype("float64")
        priors = None if self.priors is None else self._checked_priors(len(counts))
        try:
            model = found.model(float(self.var_smoothing), priors)
        except TableError as error:
            count = int(counts.sum())
            raise ValueError(f"{error} (n_samples = {count}, var_smoothing = {self.var_smoothing})") from error
        self._found, self._model = found, model
        self.class_count_ = counts
        self.class_prior_ = counts / counts.sum() if priors is None else np.array(priors)
        self.theta_, self.var_ = model.means.copy(), model.variances.copy()
        self.epsilon_ = float(self.var_smoothing * _largest_variance(found))

    def _checked_priors(self, count: int) -> list[float]:
        priors = [float(prior) for prior in np.asarray(self.priors).ravel()]
        if len(priors) != count:
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(sum(priors), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if min(priors) < 0:
            raise ValueError("Priors must be non-negative.")
        return priors


def _largest_variance(found: GaussianNaiveBayes) -> float:
    """Returns the largest variance of a feature over the rows of all classes."""
    groups = found.statistics
    counts = found.class_rows.astype("float64")[:, None]
    is_some = counts[:, 0] > 0
    features = [place for place in range(groups.means.shape[1]) if place != found.feature_count]
    counts, means = counts[is_some], groups.means[is_some][:, features]
    within = np.where(counts > 1, np.nan_to_num(groups.variances[is_some][:, features]) * (counts - 1), 0).sum(axis=0)
    mean = (counts * means).sum(axis=0) / counts.sum()
    between = (counts * (means - mean) ** 2).sum(axis=0)
    return float(((within + between) / counts.sum()).max())


class TableMultinomialNB(_NaiveBayes):
    """Multinomial naive Bayes, for counts, like :class:`sklearn.naive_bayes.MultinomialNB`.

    Reads the rows once, in blocks of ``block_rows``, and keeps only :class:`numeric_table.NaiveBayes`, the sum of each
    feature in each class. Accepts arrays, sparse arrays, frames, tables, and, without loading them, readers and
    :class:`numeric_table.Shards`, whose column ``y`` may have any numbers or category labels.

    ``alpha`` is one number for all features. ``partial_fit`` adds rows: the result is that of ``fit`` for all of them.
    A class without rows is never predicted.

    >>> import numeric_table as nt
    >>> from numeric_table.sklearn import TableMultinomialNB
    >>> texts = nt.Table([[2, 1, 0], [3, 0, 0], [0, 1, 4]], names=["one", "two", "three"])
    >>> model = TableMultinomialNB().fit(texts, ["short", "short", "long"])
    >>> model.feature_count_.tolist(), model.predict(texts).tolist()
    ([[0.0, 1.0, 4.0], [5.0, 1.0, 0.0]], ['short', 'short', 'long'])
    """

    class_log_prior_: np.ndarray[Any, Any]
    feature_count_: np.ndarray[Any, Any]
    feature_log_prob_: np.ndarray[Any, Any]

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        block_rows: int = 65536,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.block_rows = block_rows

    def _check_parameters(self) -> None:
        require(self, "alpha", is_number(self.alpha), "one finite number of at least 0 for all features")
        for name in ("force_alpha", "fit_prior"):
            require(self, name, isinstance(getattr(self, name), (bool, np.bool_)), "True or False")

    def _rows(self, X: Any, y: Any = None, is_first: bool = False, needs_y: bool = False) -> Rows:
        return Rows(self, X, y, is_first=is_first, needs_y=needs_y, accept_sparse=True, non_negative=True)

    def _empty(self, features: int, classes: int) -> NaiveBayes:
        return NaiveBayes(features + 1, features, classes)

    def _set(self, found: Any) -> None:
        alpha = float(self.alpha)
        if alpha < 1e-10 and not self.force_alpha:
            warnings.warn("alpha too small will result in numeric errors, setting alpha = 1.0e-10.", stacklevel=3)
            alpha = 1e-10
        counts = found.class_rows.astype("float64")
        model = found.model(alpha)
        if self.class_prior is not None:
            priors = np.asarray(self.class_prior, dtype="float64").ravel()
            if len(priors) != len(counts):
                raise ValueError("Number of priors must match number of classes.")
            with np.errstate(divide="ignore"):
                log_priors = np.log(priors)
        else:
            log_priors = model.log_priors.copy() if self.fit_prior else np.full(len(counts), -np.log(len(counts)))
        self._found, self._model, self.class_log_prior_ = found, model, log_priors
        self.class_count_, self.feature_count_ = counts, found.counts.copy()
        self.feature_log_prob_ = model.log_probabilities.copy()

    def _with_priors(self, found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if self.fit_prior and self.class_prior is None:
            return found
        with np.errstate(invalid="ignore"):  # of a class without rows
            changed = np.where(np.isneginf(found), -np.inf, found + (self.class_log_prior_ - self._model.log_priors))
        result: np.ndarray[Any, Any] = changed - logsumexp(changed, axis=1, keepdims=True)
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags
