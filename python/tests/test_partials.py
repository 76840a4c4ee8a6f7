"""Results that are computed of some rows at a time: against NumPy and scikit-learn, merged, sent, and used by threads."""

import copy
import pickle
import struct
import threading
import zlib

import numpy as np
import pytest

import numeric_table as nt

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "bfloat16"]
GENERATOR = np.random.default_rng(20261123)
# Three columns of numbers, of which none is negative, and a class.
ROWS = np.column_stack([GENERATOR.integers(0, 50, (400, 3)) / 4, GENERATOR.integers(0, 3, 400)])
OTHERS = {
    "Statistics": lambda columns: nt.Statistics(columns),
    "Covariance": lambda columns: nt.Covariance(columns),
    "GramMatrix": lambda columns: nt.GramMatrix(columns),
    "Histogram": lambda columns: nt.Histogram(columns, 5, (0, 10)),
    "QuantileSketch": lambda columns: nt.QuantileSketch(columns, 64),
    "GroupStatistics": lambda columns: nt.GroupStatistics(columns, columns - 1, 3),
    "KMeansStep": lambda columns: nt.KMeansStep(np.arange(3 * columns).reshape(3, columns)),
    "LinearRegression": lambda columns: nt.LinearRegression(columns - 1),
    "NaiveBayes": lambda columns: nt.NaiveBayes(columns, columns - 1, 3),
    "GaussianNaiveBayes": lambda columns: nt.GaussianNaiveBayes(columns, columns - 1, 3),
}
KINDS = list(OTHERS)


def of_rows(kind, rows=ROWS):
    partial = OTHERS[kind](rows.shape[1])
    partial.update(nt.Table(rows))
    return partial


def test_all_kinds_are_here():
    assert sorted(KINDS) == sorted(kind.__name__ for kind in nt.Partial.__subclasses__())
    with pytest.raises(TypeError):
        nt.Partial()


@pytest.mark.parametrize("kind", KINDS)
def test_a_partial_begins_without_rows_and_counts_them(kind):
    partial = OTHERS[kind](4)
    assert isinstance(partial, nt.Partial) and type(partial).__name__ == kind
    assert partial.row_count == 0 and partial.nbytes > 0
    partial.update(nt.Table(ROWS))
    partial.update(ROWS[:1])  # what a table is made of
    partial.update(nt.Table(ROWS[:0]))
    assert partial.row_count == len(ROWS) + 1
    assert kind == "Statistics" or repr(partial) == f"<{kind} of 401 rows>"
    assert partial.new_like().row_count == 0 and type(partial.new_like()) is type(partial)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_and_pickles_and_copies_carry_all_of_it(kind):
    partial = of_rows(kind)
    sent = partial.to_bytes()
    again = [nt.Partial.from_bytes(sent), type(partial).from_bytes(sent), copy.copy(partial), copy.deepcopy(partial)]
    again += [pickle.loads(pickle.dumps(partial, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for other in again:
        assert type(other) is type(partial) and other.to_bytes() == sent
        other.update(ROWS[:5])  # which is of this copy alone
        assert partial.to_bytes() == sent and other.row_count == 405


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_bytes_are_refused(kind):
    class_, sent = getattr(nt, kind), of_rows(kind).to_bytes()
    for damaged in [b"", b"NUMPART\n", sent[:-1], sent + b"x", bytes(len(sent)), sent[:20]]:
        for reader in [class_, nt.Partial]:
            with pytest.raises(nt.FormatError):
                reader.from_bytes(damaged)
    for place in GENERATOR.integers(0, len(sent), 60):
        damaged = bytearray(sent)
        damaged[place] ^= 1 << int(GENERATOR.integers(0, 8))
        with pytest.raises(nt.FormatError):
            nt.Partial.from_bytes(bytes(damaged))
    # With a checksum that is right.
    version = sent[:12] + struct.pack("<I", 77) + sent[16:-4]
    with pytest.raises(nt.FormatError, match="77"):
        class_.from_bytes(version + struct.pack("<I", zlib.crc32(version)))
    for _ in range(60):
        hostile = bytearray(sent[:-4])
        for place in GENERATOR.integers(24, len(hostile), 3):
            hostile[place] = GENERATOR.integers(0, 256)
        hostile = bytes(hostile) + struct.pack("<I", zlib.crc32(hostile))
        try:
            nt.Partial.from_bytes(hostile).to_bytes()
        except nt.FormatError:
            pass
    other = next(other for other in KINDS if other != kind)
    with pytest.raises(nt.FormatError, match="not"):
        getattr(nt, other).from_bytes(sent)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_merge_into_the_whole(kind):
    whole, first, last = of_rows(kind), of_rows(kind, ROWS[:150]), of_rows(kind, ROWS[150:])
    sent = last.to_bytes()
    first.merge(last)
    assert first.row_count == 400 and last.to_bytes() == sent
    for name in [name for name, value in vars(type(whole)).items() if not callable(value) and not name.startswith("_")]:
        mine, theirs = getattr(first, name), getattr(whole, name)
        if name == "rank_error":  # of a sketch that has been merged, a little more
            continue
        if name in ("names", "labels"):
            assert mine == theirs
            continue
        if isinstance(mine, (list, np.ndarray, float, int)):
            for one, other in zip(np.atleast_1d(mine), np.atleast_1d(theirs), strict=True):
                assert np.allclose(one, other, equal_nan=True, rtol=1e-12), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_partial_merges_with_itself_and_an_empty_one(kind):
    partial = of_rows(kind)
    before = partial.to_bytes()
    partial.merge(partial.new_like())
    assert partial.to_bytes() == before
    partial.merge(partial)
    assert partial.row_count == 800
    with pytest.raises(TypeError):
        partial.merge(3)


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_fit_is_refused_and_changes_nothing(kind):
    partial = of_rows(kind)
    before = partial.to_bytes()
    for other in KINDS:
        if other != kind:
            with pytest.raises(nt.TableTypeError, match="another kind"):
                partial.merge(of_rows(other))
    with pytest.raises(nt.TableError):
        partial.merge(OTHERS[kind](5))
    with pytest.raises(nt.TableError):
        partial.update(nt.Table(ROWS[:, :3]))
    with pytest.raises((TypeError, ValueError)):
        partial.update("rows")
    assert partial.to_bytes() == before


@pytest.mark.parametrize("kind", ["GroupStatistics", "NaiveBayes", "GaussianNaiveBayes"])
def test_a_row_of_no_class_adds_nothing(kind):
    partial = of_rows(kind)
    before = partial.to_bytes()
    rows = np.vstack([ROWS[:10], [[1, 2, 3, 7]]])
    with pytest.raises(nt.TableError, match="7 at row 10, column 3"):
        partial.update(rows)
    assert partial.to_bytes() == before


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_every_type_are_taken(kind, dtype):
    rows = np.floor(ROWS[:50])
    partial, expected = OTHERS[kind](4), of_rows(kind, rows)
    partial.update(nt.Table(rows, dtype=dtype))
    assert partial.row_count == 50
    if kind == "Statistics":
        assert np.array_equal(partial.mean, expected.mean)
    if kind == "GramMatrix":
        assert np.array_equal(partial.matrix, expected.matrix)
    if kind == "KMeansStep":
        assert np.array_equal(partial.counts, expected.counts)


def test_tables_without_columns():
    for partial in [nt.Statistics(0), nt.Covariance(0), nt.GramMatrix(0), nt.QuantileSketch(0), nt.Histogram(0, 2, (0, 1))]:
        partial.update(nt.Table.zeros(7, 0))
        assert partial.row_count == 7
    assert nt.Covariance(0).covariance.shape == (0, 0) and nt.QuantileSketch(0).quantile([0.5, 1]).shape == (2, 0)
    for wrong in [lambda: nt.KMeansStep(np.zeros((0, 2))), lambda: nt.KMeansStep([[np.nan]]), lambda: nt.LinearRegression(1, 0)]:
        with pytest.raises(nt.TableError):
            wrong()
    for wrong in [lambda: nt.GroupStatistics(2, 2, 3), lambda: nt.NaiveBayes(2, 2, 3)]:
        with pytest.raises(nt.TableIndexError, match="2"):
            wrong()
    for wrong in [
        lambda: nt.Covariance(2**62),
        lambda: nt.Statistics(2**62),
        lambda: nt.NaiveBayes(2**62, 0, 2**31 - 1),
        lambda: nt.GroupStatistics(2, 0, 2**62),
        lambda: nt.Histogram(1, 2**62, (0, 1)),
        lambda: nt.QuantileSketch(2**62),
        lambda: nt.LinearRegression(2**62, 2**62),
    ]:
        with pytest.raises((MemoryError, ValueError)):
            wrong()
    with pytest.raises(nt.TableError, match="-1"):
        nt.Covariance(-1)


def test_statistics_are_those_of_numpy():
    found = of_rows("Statistics")
    assert np.array_equal(found.sum, ROWS.sum(0)) and found.count.tolist() == [400] * 4
    assert np.allclose(found.variance, ROWS.var(0, ddof=1), rtol=1e-14) and np.array_equal(found.maximum, ROWS.max(0))
    assert np.array_equal(found.mean, nt.statistics(nt.Table(ROWS)).mean)
    holes = ROWS.copy()
    holes[0, 0], holes[1, 1] = np.nan, np.inf
    found = of_rows("Statistics", holes)
    assert found.nan_count.tolist() == [1, 0, 0, 0] and found.infinity_count.tolist() == [0, 1, 0, 0]


def test_covariances_are_those_of_numpy():
    found = of_rows("Covariance")
    assert np.allclose(found.covariance, np.cov(ROWS.T), rtol=1e-13)
    assert np.allclose(found.population_covariance, np.cov(ROWS.T, ddof=0), rtol=1e-13)
    assert np.allclose(found.cross_product, np.cov(ROWS.T) * 399, rtol=1e-13)
    assert np.allclose(found.correlation, np.corrcoef(ROWS.T), rtol=1e-13)
    assert np.allclose(found.means, ROWS.mean(0), rtol=1e-15) and found.column_count == 4
    gram = of_rows("GramMatrix")
    assert np.array_equal(gram.matrix, ROWS.T @ ROWS) and np.array_equal(gram.sums, ROWS.sum(0)) and gram.column_count == 4


def test_histograms_are_those_of_numpy():
    found = of_rows("Histogram")
    for column in range(4):
        counts, edges = np.histogram(ROWS[:, column], 5, (0, 10))
        assert np.array_equal(found.counts[column], counts) and np.array_equal(found.edges[column], edges)
    assert np.array_equal(found.above, (ROWS > 10).sum(0)) and found.below.tolist() == [0] * 4
    for edges in [[0, 1, 5], np.array([0.0, 1.0, 5.0]), [[0, 1, 5]] * 4, [np.array([0.0, 1.0, 5.0])] * 4, (0, 1, 5)]:
        found = nt.Histogram(4, edges)
        found.update(ROWS)
        assert np.array_equal(found.counts[1], np.histogram(ROWS[:, 1], [0, 1, 5])[0])
    mixed = nt.Histogram(2, [[0, 1], [0, 1, 2]])
    assert [len(counts) for counts in mixed.counts] == [1, 2]
    nan = nt.Histogram(1, 2, (0, 1))
    nan.update([[np.nan], [-1.0]])
    assert nan.nan_count.tolist() == [1] and nan.below.tolist() == [1]
    for wrong in [(2, 3), (2, 0, (0, 1)), (2, 3, (1, 0)), (2, [1, 1]), (2, [0]), (2, []), (2, [0, 1], (0, 1)), (2, [[0, 1]])]:
        with pytest.raises(nt.TableError):
            nt.Histogram(*wrong)


def test_quantiles_are_those_of_numpy():
    found = nt.QuantileSketch(4)
    found.update(ROWS)
    for q in [0, 0.25, 0.5, 0.99, 1]:
        assert np.array_equal(found.quantile(q), np.quantile(ROWS, q, axis=0, method="inverted_cdf"))
    assert np.array_equal(found.quantile([0.1, 0.9]), np.quantile(ROWS, [0.1, 0.9], axis=0, method="inverted_cdf"))
    assert found.rank(0, 5.0) == (ROWS[:, 0] <= 5).sum() and found.rank_error.tolist() == [0] * 4
    assert np.array_equal(found.minimum, ROWS.min(0)) and np.array_equal(found.maximum, ROWS.max(0))
    assert found.count.tolist() == [400] * 4 and found.nan_count.tolist() == [0] * 4 and found.column_count == 4
    rough = of_rows("QuantileSketch")
    ranks = [(ROWS[:, column] <= rough.quantile(0.5)[column]).sum() for column in range(4)]
    assert (rough.rank_error > 0).all() and all(rank >= 200 - error for rank, error in zip(ranks, rough.rank_error.astype(int)))
    assert np.isnan(nt.QuantileSketch(2).minimum).all() and np.isnan(nt.QuantileSketch(2).quantile(0.5)).all()
    with pytest.raises(nt.TableError, match="75"):
        found.quantile(75)
    with pytest.raises(nt.TableIndexError):
        found.rank(4, 1.0)


def test_groups_are_those_of_numpy():
    found = of_rows("GroupStatistics")
    assert found.category_count == 3 and np.array_equal(found.row_counts, np.bincount(ROWS[:, 3].astype(int)))
    for category in range(3):
        rows = ROWS[ROWS[:, 3] == category]
        assert np.allclose(found.means[category], rows.mean(0), rtol=1e-14)
        assert np.allclose(found.variances[category, :3], rows[:, :3].var(0, ddof=1), rtol=1e-13)
        assert np.array_equal(found.sums[category, :3], rows[:, :3].sum(0)) and found.sums[category, 3] == category
        assert np.array_equal(found.minima[category], rows.min(0)) and np.array_equal(found.maxima[category], rows.max(0))
        group = found.group(category)
        assert isinstance(group, nt.Statistics) and group.row_count == len(rows)
        assert np.array_equal(group.mean, found.means[category])
    with pytest.raises(nt.TableIndexError, match="3"):
        found.group(3)


def test_results_are_found_by_the_names_of_columns():
    table = nt.Table(np.array([[5.0, 0, 2], [7, 1, 3.5], [6, 1, 3]]), names=["length", "species", "width"])
    groups = nt.GroupStatistics(3, 1, 2)
    groups.update(table)
    assert groups.column("width")["mean"].tolist() == groups.column(2)["mean"].tolist() == [2, 3.25]
    assert groups.means.tolist() == [[5, 0, 2], [6.5, 1, 3.25]] and groups.column("length")["count"].tolist() == [1, 2]
    statistics = nt.statistics(table)
    assert statistics.column("width")["maximum"] == statistics.column(2)["maximum"] == 3.5
    sketch = nt.QuantileSketch(3)
    sketch.update(table)
    assert sketch.quantile(0.5, "length") == 6 and sketch.quantile([0, 1], 2).tolist() == [2, 3.5]
    assert sketch.rank("width", 3) == 2
    for wrong in [lambda: groups.column("height"), lambda: statistics.column("height"), lambda: sketch.quantile(0.5, "height")]:
        with pytest.raises(nt.TableError, match="height"):
            wrong()
    with pytest.raises(nt.TableIndexError):
        groups.column(3)
    assert str(groups).splitlines()[0].split() == ["rows", "length", "width"]


def test_rows_without_a_category_are_refused_left_out_or_a_group():
    rows = np.array([[0, 5.0], [np.nan, 7], [1, 6], [np.nan, 9]])
    with pytest.raises(nt.TableError, match="row 1, column 0 is missing"):
        nt.GroupStatistics(2, 0, 2).update(rows)
    skipped, grouped = nt.GroupStatistics(2, 0, 2, missing="skip"), nt.GroupStatistics(2, 0, 2, missing="group")
    for groups in [skipped, grouped]:
        groups.update(rows)
    assert skipped.row_counts.tolist() == [1, 1] and skipped.skipped_rows == 2
    assert grouped.row_counts.tolist() == [1, 1, 2] and grouped.means[2, 1] == 8 and np.isnan(grouped.means[2, 0])
    with pytest.raises(nt.TableError, match="never"):
        nt.GroupStatistics(2, 0, 2, missing="never")


def test_regressions_of_powers_need_extended_precision():
    x = np.linspace(-8.8, -3.1, 82)
    rows = np.column_stack([x**k for k in range(1, 9)] + [x**8 - 3 * x**2 + 1])
    plain, extended = nt.LinearRegression(8), nt.LinearRegression(8, extended_precision=True)
    assert extended.extended_precision and not plain.extended_precision
    for regression in [plain, extended]:
        regression.update(rows)
    with pytest.raises(nt.TableError, match="condition number"):
        plain.solve()
    model = extended.solve()
    assert np.allclose(model.coefficients, [[0, -3, 0, 0, 0, 0, 0, 1]], atol=1e-4) and np.allclose(model.intercepts, 1, atol=1e-4)
    through = nt.LinearRegression(1)
    through.update([[1.0, 2.0], [2.0, 4.0], [3.0, 7.0]])
    model = through.solve(intercept=False)
    assert model.intercepts.tolist() == [0] and np.allclose(model.coefficients, 31 / 14)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.coefficients, model.coefficients) and again.intercepts.tolist() == [0]


def test_steps_of_k_means_are_those_of_scikit_learn():
    cluster = pytest.importorskip("sklearn.cluster")
    start = ROWS[:3].copy()
    step = nt.KMeansStep(start)
    step.update(ROWS)
    labels = step.assign(ROWS)
    distances = ((ROWS[:, None] - start) ** 2).sum(2)
    assert np.array_equal(labels, distances.argmin(1)) and labels.dtype == np.int32
    assert np.isclose(step.inertia, distances.min(1).sum(), rtol=1e-14)
    assert np.array_equal(step.counts, np.bincount(labels)) and (step.cluster_count, step.column_count) == (3, 4)
    while step.shift > 0:
        step = step.next_step()
        step.update(nt.Table(ROWS))
    model = cluster.KMeans(3, init=start, n_init=1, tol=0, algorithm="lloyd").fit(ROWS)
    assert np.allclose(step.centroids, model.cluster_centers_, rtol=1e-12)
    assert np.isclose(step.inertia, model.inertia_, rtol=1e-12)
    assert np.allclose(step.sums, step.centroids * step.counts[:, None])
    other = nt.KMeansStep(start)
    with pytest.raises(nt.TableError):
        step.merge(other)
    holes = nt.KMeansStep([[0.0], [4.0]])
    holes.update([[np.nan], [3.0]])
    assert holes.non_finite_rows == 1 and holes.assign([[np.inf], [1.0]]).tolist() == [-1, 0]


def test_regressions_are_those_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    targets = ROWS[:, :3] @ [[1.0, -2.0], [0.5, 3.0], [2.0, 0.0]] + 4 + GENERATOR.normal(size=(400, 2))
    regression = nt.LinearRegression(3, 2)
    regression.update(np.hstack([ROWS[:, :3], targets]))
    assert (regression.feature_count, regression.target_count, regression.row_count) == (3, 2, 400)
    assert isinstance(regression.covariance, nt.Covariance) and regression.covariance.column_count == 5
    model, expected = regression.solve(), linear_model.LinearRegression().fit(ROWS[:, :3], targets)
    assert np.allclose(model.coefficients, expected.coef_) and np.allclose(model.intercepts, expected.intercept_)
    predicted = model.predict(nt.Table(ROWS[:, :3]))
    assert np.allclose(predicted, expected.predict(ROWS[:, :3]))
    residual, total = ((targets - predicted) ** 2).sum(0), ((targets - targets.mean(0)) ** 2).sum(0)
    assert np.allclose(model.r_squared, 1 - residual / total)
    assert np.allclose(model.residual_standard_deviations, np.sqrt(residual / 396))
    ridge, expected = regression.solve(alpha=7.0), linear_model.Ridge(7.0).fit(ROWS[:, :3], targets)
    assert np.allclose(ridge.coefficients, expected.coef_) and np.allclose(ridge.intercepts, expected.intercept_)
    regression.update(np.ones((50, 5)))  # the models stay as they are
    for own in [model, ridge]:
        again = pickle.loads(pickle.dumps(own))
        assert np.array_equal(again.coefficients, own.coefficients) and np.array_equal(again.intercepts, own.intercepts)
    for alpha in [-1.0, np.nan, np.inf]:
        with pytest.raises(nt.TableError, match="alpha"):
            regression.solve(alpha)
    with pytest.raises(nt.TableError, match="rows"):
        nt.LinearRegression(2).solve()
    with pytest.raises(nt.TableError):
        model.predict(ROWS)


def test_naive_bayes_is_that_of_scikit_learn():
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    features, classes = ROWS[:, :3], ROWS[:, 3].astype(int)
    counts = of_rows("NaiveBayes")
    expected = naive_bayes.MultinomialNB(alpha=0.5).fit(features, classes)
    model = counts.model(0.5)
    assert np.array_equal(counts.class_rows, expected.class_count_) and np.allclose(counts.counts, expected.feature_count_)
    assert (counts.feature_count, counts.class_count) == (3, 3)
    assert np.allclose(model.log_priors, expected.class_log_prior_)
    assert np.allclose(model.log_probabilities, expected.feature_log_prob_)
    assert np.array_equal(model.predict(features), expected.predict(features))
    assert np.allclose(model.predict_log_probabilities(features), expected.predict_log_proba(features))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.log_probabilities, model.log_probabilities)
    for wrong in [lambda: counts.model(-1.0), lambda: nt.NaiveBayes(3, 0, 2).model(), lambda: model.predict(-features)]:
        with pytest.raises(nt.TableError):
            wrong()


def test_gaussian_naive_bayes_is_that_of_scikit_learn():
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    features, classes = ROWS[:, :3] - 6, ROWS[:, 3].astype(int)
    learned = of_rows("GaussianNaiveBayes", np.column_stack([features, classes]))
    assert (learned.feature_count, learned.class_count) == (3, 3)
    assert isinstance(learned.statistics, nt.GroupStatistics) and np.array_equal(learned.class_rows, np.bincount(classes))
    for priors in [None, [0.1, 0.2, 0.7]]:
        expected = naive_bayes.GaussianNB(priors=priors, var_smoothing=1e-3).fit(features, classes)
        model = learned.model(1e-3, priors)
        assert np.allclose(model.means, expected.theta_) and np.allclose(model.variances, expected.var_)
        assert np.allclose(np.exp(model.log_priors), expected.class_prior_)
        assert np.array_equal(model.predict(nt.Table(features)), expected.predict(features))
        assert np.allclose(model.predict_log_probabilities(features), expected.predict_log_proba(features))
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.variances, model.variances) and np.array_equal(again.log_priors, model.log_priors)
    for wrong in [lambda: learned.model(-1.0), lambda: learned.model(priors=[1.0]), lambda: learned.model(priors=[1, 1, 1])]:
        with pytest.raises(nt.TableError):
            wrong()


@pytest.mark.parametrize("kind", KINDS)
def test_threads_use_one_partial_at_once(kind):
    one, two = of_rows(kind), of_rows(kind)
    table, failed = nt.Table(ROWS), []
    whole = nt.vstack([table] * 30)  # some threads read long

    def work(call):
        try:
            for _ in range(20):
                call()
        except Exception as error:
            failed.append(error)

    small = of_rows(kind, ROWS[:3])
    calls = [
        lambda: one.update(table),
        lambda: one.update(whole),
        lambda: one.merge(small),
        lambda: (one.to_bytes(), one.row_count, repr(one), one.new_like()),
        lambda: two.merge(small),
        lambda: copy.copy(two).merge(one),
        lambda: copy.copy(one).merge(two),
        lambda: small.merge(small.new_like()),
    ]
    threads = [threading.Thread(target=work, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed and not any(thread.is_alive() for thread in threads)
    assert one.row_count == 400 + 20 * (400 + 12_000 + 3) and two.row_count == 400 + 20 * 3


def test_two_partials_merge_into_each_other():
    one, two = nt.Covariance(4), nt.Covariance(4)

    def work(call):
        for _ in range(2000):
            call()

    threads = [
        threading.Thread(target=work, args=(call,), daemon=True)
        for call in [lambda: one.merge(two), lambda: two.merge(one), lambda: one.merge(one)]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_the_column_of_groups_may_be_named():
    table = nt.Table([[20, 1], [40, 0], [60, 1]], names=["size", "colour"])
    numbered = nt.GroupStatistics(2, 1, 2)
    numbered.update(table)
    for columns in [["size", "colour"], table]:
        named = nt.GroupStatistics(columns, "colour", 2)
        named.update(table)
        assert named.to_bytes() == numbered.to_bytes()
    for columns in [["size", "colours"], 2]:
        with pytest.raises(nt.TableError, match="colour"):
            nt.GroupStatistics(columns, "colour", 2)
    for wrong in [True, 1.5, "ab", None]:
        with pytest.raises(TypeError):
            nt.GroupStatistics(wrong, 0, 2)
