"""k-means."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import KMeansStep, Statistics
from ._rows import Rows, is_count, is_number, require, table_of


class TableKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """k-means by Lloyd's algorithm, like :class:`sklearn.cluster.KMeans`.

    Each iteration is a :class:`numeric_table.KMeansStep` over all rows, on all threads. Accepts arrays, frames, tables,
    and, without loading them, readers and :class:`numeric_table.Shards`. Everything is computed in ``float64``.

    Parameters and attributes are those of ``KMeans``, with these differences:

    * ``init_size``: the number of rows that are drawn for the initialization. The default is all rows of an array or a
      table in memory, and of files 10,000, or 10 for each cluster if that is more.
    * ``compute_labels=False`` does not compute ``labels_``, which take 4 bytes for each row.
    * ``block_rows``: the number of rows that are read at once from files.
    * A cluster without rows keeps its center.
    * ``partial_fit`` adds a batch of rows as ``MiniBatchKMeans`` does: it assigns them to the nearest centers, and
      moves each center to the mean of all rows that it has been assigned.

    >>> import numeric_table as nt
    >>> from numeric_table.sklearn import TableKMeans
    >>> table = nt.Table([[0.0, 1.0], [0.0, 3.0], [9.0, 9.0], [11.0, 9.0]], names=["a", "b"])
    >>> model = TableKMeans(n_clusters=2, init=[[0, 0], [9, 9]]).fit(table)
    >>> model.cluster_centers_.tolist(), model.labels_.tolist(), model.inertia_
    ([[0.0, 2.0], [10.0, 9.0]], [0, 0, 1, 1], 4.0)
    >>> model.predict(nt.Table([[8.0, 8.0]], names=["a", "b"]))
    array([1], dtype=int32)
    """

    cluster_centers_: np.ndarray[Any, Any]
    labels_: np.ndarray[Any, Any]
    inertia_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        init_size: int | None = None,
        compute_labels: bool = True,
        block_rows: int = 65536,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.init_size = init_size
        self.compute_labels = compute_labels
        self.block_rows = block_rows

    def fit(self, X: Any, y: Any = None) -> TableKMeans:
        """Computes the centers. ``y`` is ignored."""
        self._check_parameters()
        rows = Rows(self, X, is_first=True, accept_sparse=True)
        self._check_count(rows)
        random = check_random_state(self.random_state)
        tol = self._tolerance(rows)
        best: tuple[KMeansStep, np.ndarray[Any, Any], int] | None = None
        runs = self._run_count()
        pool = self._pool(rows, random)
        for run in range(runs):
            found = self._run(rows, self._initial(pool, random), tol)
            if self.verbose:
                print(f"run {run + 1}: inertia {found[0].inertia} after {found[2]} iterations")
            if best is None or found[0].inertia < best[0].inertia * (1 - 1e-6):
                best = found
        assert best is not None
        last, self.cluster_centers_, self.n_iter_ = best
        self.inertia_ = last.inertia
        self._counts = last.counts.astype("float64")
        self._n_features_out = self.n_clusters
        if hasattr(self, "labels_"):
            del self.labels_
        if self.compute_labels:
            self.labels_ = self._labels(rows)
        distinct = int((last.counts > 0).sum())
        if distinct < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({distinct}) found smaller than n_clusters ({self.n_clusters}). Possibly "
                "due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(self, X: Any, y: Any = None) -> TableKMeans:
        """Adds rows. The first call chooses the centers among its rows, unless ``init`` is an array."""
        self._check_parameters()
        is_first = not hasattr(self, "cluster_centers_")
        rows = Rows(self, X, is_first=is_first, accept_sparse=True)
        if is_first:
            self._check_count(rows)
            random = check_random_state(self.random_state)
            before, centers = np.zeros(self.n_clusters), self._initial(self._pool(rows, random), random)
        else:
            before, centers = self._counts, self.cluster_centers_
        step = self._step(rows, centers)
        counts = step.counts.astype("float64")
        seen = before + counts
        weight = np.divide(counts, seen, out=np.zeros_like(seen), where=seen > 0)
        # A center moves by the share of the new rows, which loses no digits of a large sum.
        self.cluster_centers_ = centers + weight[:, None] * (step.centroids - centers)
        self._counts = seen
        self._n_features_out = len(seen)
        self.inertia_ = step.inertia
        self.n_steps_ = 1 if is_first else getattr(self, "n_steps_", 0) + 1
        if hasattr(self, "labels_"):
            del self.labels_
        if self.compute_labels:
            self.labels_ = self._labels(rows)
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Returns the index of the nearest center of each row."""
        check_is_fitted(self)
        return self._labels(Rows(self, X, accept_sparse=True))

    def transform(self, X: Any) -> np.ndarray[Any, Any]:
        """Returns the distance of each row from each center."""
        check_is_fitted(self)
        rows = Rows(self, X, accept_sparse=True)
        centers = self.cluster_centers_.astype(rows.dtype)
        found: np.ndarray[Any, Any] = rows.map(lambda features: euclidean_distances(features, centers))
        return found

    def score(self, X: Any, y: Any = None) -> float:
        """Returns the sum of the squared distances of the rows from their nearest centers, times -1."""
        check_is_fitted(self)
        return -self._step(Rows(self, X, accept_sparse=True), self.cluster_centers_).inertia

    def _check_parameters(self) -> None:
        require(self, "n_clusters", is_count(self.n_clusters), "an integer of at least 1")
        is_known = self.init in ("k-means++", "random") if isinstance(self.init, str) else self.init is not None
        require(self, "init", is_known, "'k-means++', 'random', a callable or an array")
        require(self, "n_init", is_count(self.n_init) or self.n_init == "auto", "'auto' or an integer of at least 1")
        require(self, "max_iter", is_count(self.max_iter), "an integer of at least 1")
        require(self, "tol", is_number(self.tol), "a finite number of at least 0")
        is_size = self.init_size is None or is_count(self.init_size)
        require(self, "init_size", is_size, "None or an integer of at least 1")

    def _check_count(self, rows: Rows) -> None:
        if rows.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={rows.shape[0]} should be >= n_clusters={self.n_clusters}.")

    def _run_count(self) -> int:
        is_array = not isinstance(self.init, str) and not callable(self.init)
        if self.n_init == "auto":
            return 1 if is_array or (isinstance(self.init, str) and self.init == "k-means++") else 10
        if is_array and self.n_init != 1:
            warnings.warn(
                "Explicit initial center position passed: performing only one init in TableKMeans instead of "
                f"n_init={self.n_init}.",
                RuntimeWarning,
                stacklevel=3,
            )
            return 1
        return int(self.n_init)

    def _tolerance(self, rows: Rows) -> float:
        """Returns the tolerance of the shift, relative to the mean variance of the columns, as in scikit-learn."""
        if self.tol == 0:
            return 0.0
        found = rows.reduce(Statistics(rows.shape[1]))
        return float(self.tol * found.population_variance.mean())

    def _pool(self, rows: Rows, random: np.random.RandomState) -> Any:
        """Returns the rows among which initial centers are chosen; none if they are given."""
        if not isinstance(self.init, str) and not callable(self.init):
            return np.empty((0, rows.shape[1]))
        count = rows.shape[0]
        size = count if rows.is_in_memory else max(10_000, 10 * self.n_clusters)
        size = max(size if self.init_size is None else self.init_size, self.n_clusters)
        if size >= count:
            return rows.array if rows.array is not None else _stacked([features for features, _ in rows.blocks()])
        chosen = np.sort(random.choice(count, size, replace=False))
        parts, start = [], 0
        for features, _ in rows.blocks():
            stop = start + features.shape[0]
            own = chosen[np.searchsorted(chosen, start) : np.searchsorted(chosen, stop)]
            parts.append(features[own - start])
            start = stop
        return _stacked(parts)

    def _initial(self, pool: Any, random: np.random.RandomState) -> np.ndarray[Any, Any]:
        """Returns initial centers."""
        init: Any = self.init
        if isinstance(init, str) and init == "random":
            seeds = random.choice(pool.shape[0], size=self.n_clusters, replace=False, p=_uniform(pool.shape[0]))
            centers = pool[seeds]
        elif isinstance(init, str):
            is_sparse = scipy.sparse.issparse(pool)
            offset = None if is_sparse else pool.mean(axis=0, dtype="float64")  # for precision, as in scikit-learn
            around = pool if is_sparse else pool - offset
            centers = pool[kmeans_plusplus(around, self.n_clusters, random_state=random)[1]]
        else:
            centers = init(pool, self.n_clusters, random_state=random) if callable(init) else init
        centers = centers.toarray() if scipy.sparse.issparse(centers) else centers
        found: np.ndarray[Any, Any] = check_array(centers, dtype="float64", input_name="init", copy=True)
        if found.shape[0] != self.n_clusters:
            what = f"does not match the number of clusters {self.n_clusters}"
            raise ValueError(f"The shape of the initial centers {found.shape} {what}.")
        if found.shape[1] != pool.shape[1]:
            what = f"does not match the number of features of the data {pool.shape[1]}"
            raise ValueError(f"The shape of the initial centers {found.shape} {what}.")
        return found

    def _run(
        self, rows: Rows, centers: np.ndarray[Any, Any], tol: float
    ) -> tuple[KMeansStep, np.ndarray[Any, Any], int]:
        """Returns the step with the final centers, these, and the number of iterations."""
        for iteration in range(1, self.max_iter + 1):
            step = self._step(rows, centers)
            if step.shift == 0:
                return step, centers, iteration
            centers = step.centroids.copy()
            if step.shift <= tol:
                break
        last = self._step(rows, centers)
        return last, centers, iteration

    def _step(self, rows: Rows, centers: np.ndarray[Any, Any]) -> KMeansStep:
        step = rows.reduce(KMeansStep(centers))
        left_out = step.row_count - int(step.counts.sum())
        if left_out > 0:
            raise ValueError(
                f"Input X contains NaN, infinity or missing values in {left_out} rows: TableKMeans does not accept "
                "them. Table.dropna and Table.fillna remove missing values and NaN."
            )
        return step

    def _labels(self, rows: Rows) -> np.ndarray[Any, Any]:
        step = KMeansStep(self.cluster_centers_)
        if rows.array is not None:
            return step.assign(table_of(rows.array)).copy()
        found: np.ndarray[Any, Any] = rows.map(lambda features: step.assign(table_of(features)))
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _stacked(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    return scipy.sparse.vstack(parts, "csr") if scipy.sparse.issparse(parts[0]) else np.concatenate(parts)


def _uniform(count: int) -> np.ndarray[Any, Any]:
    """Returns equal probabilities, so that scikit-learn and this draw the same rows with the same seed."""
    return np.full(count, 1 / count)
