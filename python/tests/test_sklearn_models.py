"""The models are estimators of scikit-learn, and find what scikit-learn's own find: in arrays, tables and files."""

import pickle

import numpy as np
import pytest

import numeric_table as nt

pytest.importorskip("sklearn")
import scipy.sparse  # noqa: E402
import sklearn  # noqa: E402
from sklearn.cluster import KMeans, MiniBatchKMeans  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine  # noqa: E402
from sklearn.exceptions import ConvergenceWarning, NotFittedError  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.naive_bayes import GaussianNB, MultinomialNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import scale  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from numeric_table.sklearn import (  # noqa: E402
    TableGaussianNB,
    TableKMeans,
    TableLinearRegression,
    TableMultinomialNB,
    TableScaler,
)

# The tolerances of all comparisons with scikit-learn: relative, and for probabilities absolute.
CENTERS, COEFFICIENTS, MOMENTS, PROBABILITIES = 1e-9, 1e-8, 1e-10, 1e-9
LOADERS = [load_iris, load_wine, load_breast_cancer, load_digits]


@parametrize_with_checks(
    [
        TableKMeans(),
        TableKMeans(init="random", n_init=2, tol=0),
        TableLinearRegression(),
        TableLinearRegression(fit_intercept=False, block_rows=7),
        TableLinearRegression(extended_precision=True),
        TableGaussianNB(),
        TableGaussianNB(block_rows=7),
        TableMultinomialNB(),
        TableMultinomialNB(fit_prior=False, block_rows=7),
    ]
)
def test_the_models_keep_the_rules_of_estimators(estimator, check):
    check(estimator)


def features(load):
    return scale(load().data), load().target


@pytest.mark.parametrize("load", LOADERS)
def test_k_means_finds_the_clusters_of_scikit_learn(load):
    values, _ = features(load)
    for clusters in (2, 3, 8):
        first = values[:: len(values) // clusters][:clusters]
        expected = KMeans(clusters, init=first, n_init=1, tol=0).fit(values)
        found = TableKMeans(clusters, init=first, tol=0).fit(values)
        np.testing.assert_allclose(found.cluster_centers_, expected.cluster_centers_, rtol=CENTERS, atol=CENTERS)
        assert np.array_equal(found.labels_, expected.labels_) and found.labels_.dtype == np.int32
        assert found.inertia_ == pytest.approx(expected.inertia_, rel=CENTERS) and found.n_iter_ == expected.n_iter_
        assert np.array_equal(found.predict(values + 0.1), expected.predict(values + 0.1))
        np.testing.assert_allclose(found.transform(values), expected.transform(values), rtol=CENTERS, atol=1e-7)
        assert found.score(values) == pytest.approx(expected.score(values), rel=CENTERS)
        early = KMeans(clusters, init=first, n_init=1, tol=1e-2).fit(values)
        ours = TableKMeans(clusters, init=first, tol=1e-2).fit(values)
        assert ours.n_iter_ == early.n_iter_ and ours.inertia_ == pytest.approx(early.inertia_, rel=CENTERS)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("load", LOADERS[:3])
def test_k_means_begins_where_scikit_learn_begins(load, init):
    values, _ = features(load)
    for seed in range(3):
        expected = KMeans(4, init=init, n_init=1, random_state=seed).fit(values)
        found = TableKMeans(4, init=init, n_init=1, random_state=seed).fit(values)
        assert found.inertia_ == pytest.approx(expected.inertia_, rel=1e-6)
        again = TableKMeans(4, init=init, n_init=1, random_state=seed, block_rows=11).fit(nt.Table(values))
        np.testing.assert_allclose(again.cluster_centers_, found.cluster_centers_, rtol=CENTERS, atol=CENTERS)


def test_batches_of_k_means_are_those_of_mini_batches():
    values, _ = features(load_digits)
    expected = MiniBatchKMeans(10, init=values[:10], n_init=1, reassignment_ratio=0)
    found = TableKMeans(10, init=values[:10])
    for start in range(0, len(values), 300):
        expected.partial_fit(values[start : start + 300])
        found.partial_fit(nt.Table(values[start : start + 300]))
        np.testing.assert_allclose(found.cluster_centers_, expected.cluster_centers_, rtol=1e-8, atol=1e-8)
    assert found.n_steps_ == expected.n_steps_ and np.array_equal(found.predict(values), expected.predict(values))
    assert TableKMeans(3, random_state=0).partial_fit(values).cluster_centers_.shape == (3, 64)


def test_k_means_warns_of_clusters_without_rows_and_keeps_the_best_run():
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\)"):
        TableKMeans(3, init=[[0.0], [5.0], [99.0]]).fit([[0.0], [1.0], [5.0]])
    values, _ = features(load_digits)
    one, best = (TableKMeans(10, init="random", n_init=count, random_state=0).fit(values) for count in (1, 12))
    assert best.inertia_ < one.inertia_ and best.inertia_ == -best.score(values)
    with pytest.warns(RuntimeWarning, match="only one init"):
        TableKMeans(2, init=values[:2], n_init=3).fit(values)
    assert not hasattr(TableKMeans(2, compute_labels=False).fit(values), "labels_")
    chosen = TableKMeans(2, init=lambda X, k, random_state: X[:k], n_init=1).fit(values)
    assert chosen.inertia_ == TableKMeans(2, init=values[:2]).fit(values).inertia_


REGRESSIONS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "two targets": lambda: (load_iris().data[:, :2], load_iris().data[:, 2:]),
    "one of a list": lambda: (load_iris().data[:, :2], load_iris().data[:, 2:3]),
    "a column twice, and a constant": lambda: (
        np.column_stack([load_iris().data, load_iris().data[:, 0], np.ones(150)]),
        load_iris().target,
    ),
    "columns of other sizes": lambda: (
        np.column_stack([load_iris().data * [1e3, 1, 1e-3, 1], load_iris().data.sum(axis=1)]),
        load_iris().target,
    ),
    "fewer rows than columns": lambda: (load_digits().data[:30], load_digits().target[:30]),
    "one row": lambda: (np.array([[1.0, 2.0]]), np.array([3.0])),
    "far from zero": lambda: (load_iris().data + 1000, load_iris().target),
}


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("name", REGRESSIONS)
def test_linear_regression_finds_the_coefficients_of_scikit_learn(name, has_intercept):
    values, targets = REGRESSIONS[name]()
    expected = LinearRegression(fit_intercept=has_intercept, tol=1e-15).fit(values, targets)
    for options in ({}, {"block_rows": 13}, {"extended_precision": True}):
        found = TableLinearRegression(fit_intercept=has_intercept, **options).fit(values, targets)
        size = np.abs(expected.coef_).max()
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=COEFFICIENTS, atol=COEFFICIENTS * size)
        near = {"rtol": 1e-7, "atol": 1e-7 * np.abs(targets).max()}
        np.testing.assert_allclose(found.intercept_, expected.intercept_, **near)
        assert np.shape(found.intercept_) == np.shape(expected.intercept_)
        np.testing.assert_allclose(found.predict(values), expected.predict(values), **near)
    sparse = TableLinearRegression(fit_intercept=has_intercept).fit(scipy.sparse.csr_array(values), targets)
    np.testing.assert_allclose(sparse.coef_, found.coef_, rtol=1e-6, atol=1e-6 * size)


def test_powers_of_a_number_need_extended_precision():
    x = np.linspace(0, 1, 400)
    values = np.column_stack([x**power for power in range(1, 9)])
    coefficients = np.arange(1.0, 9.0)
    found = TableLinearRegression(extended_precision=True).fit(values, values @ coefficients)
    np.testing.assert_allclose(found.coef_, coefficients, rtol=1e-6)


@pytest.mark.parametrize("load", LOADERS)
def test_gaussian_naive_bayes_is_that_of_scikit_learn(load):
    values, classes = load(return_X_y=True)
    words = np.array(["one", "two", "ten", "red", "a", "b", "c", "d", "e", "f"])[classes]
    share = np.arange(1, len(np.unique(classes)) + 1) / np.arange(1, len(np.unique(classes)) + 1).sum()
    for options in ({}, {"var_smoothing": 1e-3}, {"priors": share}):
        expected, found = GaussianNB(**options).fit(values, words), TableGaussianNB(**options).fit(values, words)
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert np.array_equal(found.class_count_, expected.class_count_)
        np.testing.assert_allclose(found.class_prior_, expected.class_prior_, rtol=MOMENTS)
        np.testing.assert_allclose(found.theta_, expected.theta_, rtol=MOMENTS, atol=1e-12)
        np.testing.assert_allclose(found.var_, expected.var_, rtol=1e-8)
        assert found.epsilon_ == pytest.approx(expected.epsilon_, rel=MOMENTS)
        assert np.array_equal(found.predict(values), expected.predict(values))
        np.testing.assert_allclose(found.predict_proba(values), expected.predict_proba(values), atol=1e-6)
        np.testing.assert_allclose(
            found.predict_log_proba(values), expected.predict_log_proba(values), rtol=1e-6, atol=1e-6
        )
        assert found.score(values, words) == expected.score(values, words)


def sparse_table(array):
    return nt.Table(scipy.sparse.csr_array(array))


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, nt.Table, sparse_table])
@pytest.mark.parametrize("load", LOADERS)
def test_multinomial_naive_bayes_is_that_of_scikit_learn(load, make):
    values, classes = load(return_X_y=True)
    share = np.arange(1, len(np.unique(classes)) + 1) / np.arange(1, len(np.unique(classes)) + 1).sum()
    for options in ({}, {"alpha": 0.25}, {"fit_prior": False}, {"class_prior": share}):
        expected = MultinomialNB(**options).fit(values, classes)
        found = TableMultinomialNB(block_rows=100, **options).fit(make(values), classes)
        assert np.array_equal(found.class_count_, expected.class_count_)
        np.testing.assert_allclose(found.feature_count_, expected.feature_count_, rtol=MOMENTS)
        np.testing.assert_allclose(found.feature_log_prob_, expected.feature_log_prob_, rtol=MOMENTS)
        np.testing.assert_allclose(found.class_log_prior_, expected.class_log_prior_, rtol=MOMENTS)
        assert np.array_equal(found.predict(make(values)), expected.predict(values))
        np.testing.assert_allclose(
            found.predict_proba(make(values)), expected.predict_proba(values), atol=PROBABILITIES
        )


@pytest.mark.parametrize("model", [TableGaussianNB(), TableMultinomialNB(), TableLinearRegression()])
def test_rows_may_come_in_parts(model):
    values, classes = load_digits(return_X_y=True)
    together, apart = sklearn.clone(model).fit(values, classes), sklearn.clone(model)
    options = {} if isinstance(model, TableLinearRegression) else {"classes": np.arange(10)}
    for start in range(0, len(values), 250):
        apart.partial_fit(values[start : start + 250], classes[start : start + 250], **options)
        options = {}
        apart = pickle.loads(pickle.dumps(apart))
    np.testing.assert_allclose(apart.predict(values), together.predict(values), rtol=1e-6, atol=1e-6)
    assert apart.fit(values[:500], classes[:500])  # begins again
    assert np.array_equal(apart.predict(values), sklearn.clone(model).fit(values[:500], classes[:500]).predict(values))


def test_parts_of_bayes_state_all_classes_first():
    model = TableGaussianNB()
    with pytest.raises(ValueError, match="classes must be passed"):
        model.partial_fit([[1.0], [2.0]], [0, 1])
    model.partial_fit([[1.0], [2.0]], ["a", "b"], classes=["c", "b", "a"])
    assert model.classes_.tolist() == ["a", "b", "c"] and model.predict([[1.9]]).tolist() == ["b"]
    assert model.predict_proba([[5.0]])[0, 2] == 0  # no rows yet
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit([[1.0]], ["a"], classes=["a", "b"])
    with pytest.raises(ValueError, match=r"\['z'\] in y do not exist"):
        model.partial_fit([[1.0]], ["z"])
    assert model.class_count_.tolist() == [1, 1, 0]
    model.partial_fit([[8.0], [9.0]], ["c", "c"])
    assert model.predict([[8.5]]).tolist() == ["c"]


SUPERVISED = [TableGaussianNB, TableMultinomialNB, TableLinearRegression]
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The flowers with their class, as an array, tables, a file, and many files of unequal length."""
    folder = tmp_path_factory.mktemp("iris")
    rows = np.column_stack([load_iris().target + 3, load_iris().data])[np.random.default_rng(0).permutation(150)]
    table = nt.Table(rows, names=["kind", *NAMES])
    mixed = nt.Table({name: table[name].astype("f4" if name == "petal width" else "f8") for name in table.names})
    nt.save(table, folder / "all.ntb")
    paths = []
    for start, stop in [(0, 1), (1, 70), (70, 70), (70, 150)]:
        paths.append(folder / f"part-{start}-{stop}.ntb")
        nt.save(table[start:stop], paths[-1])
    return {
        "array": rows,
        "table": table,
        "column-major": nt.Table(np.asfortranarray(rows), names=table.names),
        "columns": mixed,
        "file": nt.open(folder / "all.ntb"),
        "files": nt.Shards(paths),
    }


@pytest.mark.parametrize("name", ["table", "column-major", "columns", "file", "files"])
@pytest.mark.parametrize("model", [kind(block_rows=17) for kind in SUPERVISED])
def test_models_learn_from_tables_and_files_as_from_arrays(sources, name, model):
    source, rows = sources[name], sources["array"]
    expected = sklearn.clone(model).fit(rows[:, 1:], rows[:, 0])
    found = sklearn.clone(model).fit(source, "kind")
    assert found.feature_names_in_.tolist() == NAMES and found.n_features_in_ == 4
    tolerance = 1e-6 if name == "columns" else 1e-10
    np.testing.assert_allclose(found.predict(source), expected.predict(rows[:, 1:]), rtol=tolerance)
    assert found.score(source, "kind") == pytest.approx(expected.score(rows[:, 1:], rows[:, 0]), rel=tolerance)
    if isinstance(source, nt.Table):
        apart = sklearn.clone(model).fit(source[NAMES], rows[:, 0])
        np.testing.assert_allclose(apart.predict(source[NAMES]), expected.predict(rows[:, 1:]), rtol=tolerance)
    parts = sklearn.clone(model)
    options = {} if isinstance(model, TableLinearRegression) else {"classes": [3, 4, 5]}
    parts.partial_fit(source, "kind", **options).partial_fit(source, "kind")
    np.testing.assert_allclose(parts.predict(source), expected.predict(rows[:, 1:]), rtol=1e-6)


@pytest.mark.parametrize("name", ["table", "column-major", "file", "files"])
def test_k_means_and_the_scaler_learn_from_files(sources, name):
    source, rows = sources[name], sources["array"]
    expected = TableKMeans(3, init=rows[:3]).fit(rows)
    found = TableKMeans(3, init=rows[:3], block_rows=17).fit(source)
    np.testing.assert_allclose(found.cluster_centers_, expected.cluster_centers_, rtol=CENTERS)
    assert np.array_equal(found.labels_, expected.labels_) and np.array_equal(found.predict(source), expected.labels_)
    np.testing.assert_allclose(found.transform(source), expected.transform(rows), rtol=CENTERS)
    assert found.feature_names_in_.tolist() == ["kind", *NAMES]
    drawn = TableKMeans(3, random_state=0, init_size=20, block_rows=17).fit(source)
    assert drawn.inertia_ < 4 * expected.inertia_
    scaler = TableScaler().fit(source)
    np.testing.assert_allclose(scaler.mean_, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaler.scale_, rows.std(axis=0), rtol=1e-12)
    if name in ("file", "files"):
        with pytest.raises(TypeError, match="load_rows or load_shard"):
            scaler.transform(source)


def test_two_targets_of_a_table_are_a_list_of_names(sources):
    rows = sources["array"]
    expected = LinearRegression().fit(rows[:, 1:4], rows[:, [4, 0]])
    for name in ("table", "file", "files"):
        found = TableLinearRegression(block_rows=20).fit(sources[name], ["petal width", "kind"])
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8)
        assert found.predict(sources[name]).shape == (150, 2)
        score = expected.score(rows[:, 1:4], rows[:, [4, 0]])
        assert found.score(sources[name], ["petal width", "kind"]) == pytest.approx(score)


def test_labels_of_categories_are_the_classes(tmp_path):
    pytest.importorskip("pandas")
    import pandas as pd

    words = pd.Categorical.from_codes(load_iris().target, ["setosa", "versicolor", "a virginica"])
    frame = pd.DataFrame(load_iris().data, columns=NAMES)
    frame["kind"] = words
    table = nt.Table(frame)
    nt.save(table, tmp_path / "iris.ntb")
    expected = GaussianNB().fit(load_iris().data, np.asarray(words))
    for source in (table, nt.Shards([tmp_path / "iris.ntb"])):
        model = TableGaussianNB(block_rows=40).fit(source, "kind")
        assert model.classes_.tolist() == ["a virginica", "setosa", "versicolor"]
        assert model.predict(source).tolist() == expected.predict(load_iris().data).tolist()
        assert model.score(source, "kind") == expected.score(load_iris().data, np.asarray(words))
        parts = TableGaussianNB().partial_fit(source, "kind", classes=["setosa", "versicolor", "a virginica"])
        assert parts.predict(source).tolist() == model.predict(source).tolist()


def test_what_is_wrong_has_a_sentence(sources, tmp_path):
    rows, table = sources["array"], sources["table"]
    for model in (TableKMeans(), TableLinearRegression(), TableGaussianNB(), TableMultinomialNB()):
        with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight'"):
            model.fit(rows[:, 1:], rows[:, 0], sample_weight=np.ones(150))
        with pytest.raises(NotFittedError):
            model.predict(rows)
    with pytest.raises(ValueError, match="y='kind' names a column of a Table"):
        TableGaussianNB().fit(rows, "kind")
    with pytest.raises(ValueError, match="has no column 'color'"):
        TableGaussianNB().fit(table, "color")
    with pytest.raises(ValueError, match="requires y to be passed"):
        TableLinearRegression().fit(table, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TableGaussianNB().fit(table, rows[:20, 0])
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=8"):
        TableKMeans().fit(table[:2])
    with pytest.raises(ValueError, match="5 features, but TableKMeans is expecting 4"):
        TableKMeans(2).fit(nt.Table(rows[:, 1:])).predict(nt.Table(rows))
    with pytest.raises(ValueError, match="feature names should match"):
        TableKMeans(2).fit(table[NAMES]).predict(table[NAMES[::-1]])
    wrong = {"n_clusters": 0, "init": "best", "n_init": 0, "max_iter": 0, "tol": -1.0, "init_size": 0, "block_rows": 0}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=f"'{name}' parameter of TableKMeans must be"):
            TableKMeans(**{name: value}).fit(table)
    with pytest.raises(ValueError, match="initial centers .* number of features"):
        TableKMeans(2, init=[[1.0], [2.0]]).fit(table)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        TableMultinomialNB(alpha=[1.0, 2.0]).fit(table, "kind")
    with pytest.raises(ValueError, match="Number of priors"):
        TableGaussianNB(priors=[0.5, 0.5]).fit(table, "kind")
    with pytest.raises(ValueError, match="scale the columns first"):
        TableLinearRegression().fit([[1e200], [2e200], [0.0]], [1e200, 2.0, 3.0])
    bad = nt.Table({"a": [1.0, None, 3.0, 4.0], "kind": [0.0, 1.0, 0.0, 1.0]})
    nan = nt.Table([[1.0, 0.0], [np.nan, 1.0], [3.0, 0.0], [4.0, 1.0]], names=["a", "kind"])
    nt.save(nan, tmp_path / "nan.ntb")
    for source in (bad, nan, nt.Shards([tmp_path / "nan.ntb"]), nt.open(tmp_path / "nan.ntb")):
        for model in (TableKMeans(2, init="random"), TableKMeans(2, init=[[0.0, 0.0], [1.0, 1.0]])):
            with pytest.raises(ValueError, match="NaN"):
                model.fit(source)
        for model in (TableGaussianNB(), TableMultinomialNB(), TableLinearRegression()):
            with pytest.raises(ValueError, match="NaN"):
                model.fit(source, "kind")
            with pytest.raises(ValueError, match="y contains NaN"):
                model.fit(source, "a")
    for source in (nt.Shards([tmp_path / "nan.ntb"]), nt.open(tmp_path / "nan.ntb")):
        with pytest.raises(ValueError, match="NaN"):
            TableScaler().fit(source)
    with pytest.raises(ValueError, match="Negative values in data passed to TableMultinomialNB"):
        TableMultinomialNB(block_rows=2).fit(nt.Table(-rows[:, 1:]), rows[:, 0])


def test_a_failed_part_leaves_the_model_as_it_was():
    values, classes = load_iris(return_X_y=True)
    broken = values.copy()
    broken[140, 2] = np.nan
    for model, options in [
        (TableGaussianNB(block_rows=30), {"classes": [0, 1, 2]}),
        (TableMultinomialNB(block_rows=30), {"classes": [0, 1, 2]}),
        (TableLinearRegression(block_rows=30), {}),
    ]:
        model.partial_fit(values, classes, **options)
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match="NaN"):
            model.partial_fit(nt.Table(broken), classes)
        assert pickle.dumps(model) == before


def test_models_are_cloned_searched_and_piped():
    values, classes = load_wine(return_X_y=True)
    table = nt.Table(values, names=load_wine().feature_names)
    pipe = make_pipeline(TableScaler(), TableGaussianNB())
    assert cross_val_score(pipe, table, classes, cv=3).min() > 0.9
    search = GridSearchCV(TableGaussianNB(), {"var_smoothing": [1e-12, 1e-9, 1.0]}, cv=3).fit(table, classes)
    assert search.best_params_["var_smoothing"] < 1 and search.best_estimator_.feature_names_in_.tolist() == table.names
    clusters = make_pipeline(TableScaler(), TableKMeans(3, random_state=0)).fit(table)
    assert clusters[-1].get_feature_names_out().tolist() == ["tablekmeans0", "tablekmeans1", "tablekmeans2"]
    assert np.array_equal(pickle.loads(pickle.dumps(clusters)).predict(table), clusters.predict(table))


def test_labels_in_a_list_are_not_names_of_columns():
    table = nt.Table([[1.0, 0.0], [2.0, 5.0]], names=["a", "b"])
    assert TableGaussianNB().fit(table, ["a", "b"]).predict(table).tolist() == ["a", "b"]


def test_sparse_arrays_may_be_unsorted():
    parts = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4]))
    cells = scipy.sparse.csr_array(parts, shape=(2, 3))
    before = cells.indices.copy()
    assert not cells.has_canonical_format
    found, expected = (TableMultinomialNB().fit(array, [0, 1]) for array in (cells, cells.toarray()))
    assert np.array_equal(found.feature_count_, expected.feature_count_)
    assert np.array_equal(found.predict_proba(cells), expected.predict_proba(cells.toarray()))
    clusters = TableKMeans(2, init=cells.toarray(), n_init=1).fit(cells)
    assert np.array_equal(clusters.cluster_centers_, cells.toarray())
    assert np.array_equal(cells.indices, before)
