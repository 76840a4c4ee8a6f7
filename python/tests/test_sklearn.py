"""scikit-learn takes tables as they are, and has an estimator of ours."""

import doctest
import pickle
import sys

import numpy as np
import pytest

import numeric_table as nt

pytest.importorskip("sklearn")
import sklearn  # noqa: E402
from sklearn.cluster import KMeans, MiniBatchKMeans  # noqa: E402
from sklearn.decomposition import PCA, IncrementalPCA  # noqa: E402
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor  # noqa: E402
from sklearn.linear_model import LinearRegression, Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split  # noqa: E402
from sklearn.neighbors import KNeighborsRegressor  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler, StandardScaler  # noqa: E402
from sklearn.svm import LinearSVR  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import numeric_table.sklearn as ours  # noqa: E402
from numeric_table.sklearn import TableScaler  # noqa: E402

random = np.random.default_rng(3)
ARRAY = random.normal(size=(500, 6))
TARGET = ARRAY[:, 0] * 2 + random.normal(size=500) * 0.1
ESTIMATORS = [
    LinearRegression(),
    LinearRegression(copy_X=False),
    Ridge(),
    KMeans(4, n_init=1, random_state=0),
    MiniBatchKMeans(4, n_init=1, random_state=0),
    PCA(3),
    PCA(3, copy=False),
    IncrementalPCA(3),
    StandardScaler(),
    StandardScaler(copy=False),
    MinMaxScaler(copy=False),
    RandomForestRegressor(3, max_depth=4, random_state=0),
    HistGradientBoostingRegressor(max_iter=3),
    KNeighborsRegressor(),
    LinearSVR(max_iter=50, random_state=0),
    make_pipeline(StandardScaler(), Ridge()),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_estimators_take_tables_and_leave_them_as_they_were(estimator):
    def run(data):  # some estimators change an array that they are given
        fitted = sklearn.clone(estimator).fit(data(), TARGET)
        return (fitted.predict if hasattr(fitted, "predict") else fitted.transform)(data())

    table = nt.Table(ARRAY)
    assert np.allclose(run(lambda: table), run(ARRAY.copy))
    assert np.array_equal(np.asarray(table), ARRAY)


def test_the_examples_run():
    for name in {ours.__name__, *(getattr(ours, name).__module__ for name in ours.__all__)}:
        found = doctest.testmod(sys.modules[name])
        assert found.attempted and not found.failed, name


def test_tables_are_split_and_searched():
    table = nt.Table(ARRAY, names=list("abcdef"))
    train, test, *_ = train_test_split(table, TARGET, random_state=0)
    assert isinstance(train, nt.Table) and train.names == list("abcdef") and len(train) + len(test) == 500
    assert cross_val_score(Ridge(), table, TARGET, cv=3).min() > 0.9
    assert cross_val_score(Ridge(), table, TARGET, cv=3, n_jobs=2).min() > 0.9
    GridSearchCV(Ridge(), {"alpha": [1, 2]}).fit(table, TARGET)


@parametrize_with_checks([TableScaler(), TableScaler(with_mean=False), TableScaler(with_std=False)])
def test_our_scaler_keeps_the_rules_of_estimators(estimator, check):
    check(estimator)


def test_our_scaler_is_the_standard_one_block_by_block():
    expected = StandardScaler().fit(ARRAY)
    for dtype in ["f8", "f4", "f2"]:
        table = nt.Table(ARRAY, dtype=dtype, names=list("abcdef"))
        scaler = TableScaler(block_rows=64).fit(table)
        assert np.allclose(scaler.mean_, expected.mean_, atol=1e-3) and scaler.n_samples_seen_ == 500
        scaled = scaler.transform(table)
        assert isinstance(scaled, nt.Table) and scaled is not table and scaled.names == table.names
        assert np.allclose(np.asarray(scaled, dtype="f8"), expected.transform(ARRAY), atol=5e-3)
        assert np.allclose(np.asarray(scaler.inverse_transform(scaled), "f8"), ARRAY, atol=5e-3)
        again = pickle.loads(pickle.dumps(scaler))
        assert again.transform(table) == scaled
        assert again.partial_fit(table).n_samples_seen_ == 1000
    table = nt.Table(ARRAY)
    in_place = TableScaler(copy=False, block_rows=100).fit(table)
    assert in_place.transform(table) is table and np.allclose(np.asarray(table), expected.transform(ARRAY))
    parts = TableScaler()
    for first in range(0, 500, 130):
        parts.partial_fit(nt.Table(ARRAY[first : first + 130]))
    assert np.allclose(parts.var_, expected.var_, rtol=1e-12) and parts.n_samples_seen_ == 500
    spread = ARRAY[::2, ::3]  # with gaps between values
    assert np.allclose(TableScaler().fit(spread).mean_, spread.mean(axis=0))
    named = TableScaler().fit(nt.Table(ARRAY, names=list("abcdef")))
    assert named.get_feature_names_out().tolist() == list("abcdef")
    with pytest.raises(ValueError, match="features"):
        named.transform(nt.Table(ARRAY[:, :5]))
    with pytest.raises(ValueError, match="NaN"):
        named.transform(nt.Table(np.full((2, 6), np.nan)))
    with pytest.raises(ValueError, match="(?s)feature names should match.*unseen at fit time:\n- g"):
        named.transform(nt.Table(ARRAY, names=list("abcdeg")))
