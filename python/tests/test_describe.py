"""Summaries of columns, beside those of pandas."""

import os
import pickle

import numpy as np
import pytest

import numeric_table as nt

pd = pytest.importorskip("pandas")

NUMBERS = ["mean", "std", "min", "25%", "50%", "75%", "max"]
NAMES = ["column", "count", "missing", "nan", *NUMBERS]


def words(table, column):
    codes = np.asarray(table.column(column), dtype=int)
    return [table.categories[column][code] for code in codes]


def check(summary, frame, rtol=1e-12):
    """Compares a summary with that of a frame of numbers, whose NaN are NaN here, too."""
    assert summary.names == NAMES
    assert words(summary, "column") == [str(name) for name in frame.columns]
    with np.errstate(all="ignore"):
        expected = frame.astype("float64").describe()
    assert summary.column("count").tolist() == expected.loc["count"].tolist()
    for name in NUMBERS:
        np.testing.assert_allclose(summary.column(name), expected.loc[name].to_numpy(), rtol=rtol, err_msg=name)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 100, 70_000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64"])
def test_a_summary_is_that_of_pandas(rows, dtype):
    rng = np.random.default_rng(rows)
    array = (rng.normal(size=(rows, 5)) * 40 if dtype[0] in "fi" else rng.integers(0, 2**52, size=(rows, 5))).astype(dtype)
    for order in "CF":
        table = nt.Table(np.asarray(array, order=order), names=list("abcde"))
        check(table.describe(), pd.DataFrame(array, columns=list("abcde")))


def test_nan_and_missing_values_are_counted_apart_and_left_out():
    nan = float("nan")
    table = nt.Table({"a": [1.0, nan, None, 4.0], "b": [None, 2, 3, None], "c": [nan] * 4})
    summary = table.describe()
    assert [summary.column(name).tolist() for name in ["count", "missing", "nan"]] == [[2, 2, 0], [1, 2, 0], [1, 0, 4]]
    check(summary, pd.DataFrame({"a": [1.0, nan, nan, 4.0], "b": [nan, 2, 3, nan], "c": [nan] * 4}))
    nothing = nt.Table({"a": np.ma.masked_all(3)}).describe()
    assert (nothing.column("count")[0], nothing.column("missing")[0]) == (0, 3)
    assert np.isnan([nothing.column(name)[0] for name in NUMBERS]).all()


def test_a_table_without_rows_or_columns_has_a_summary():
    summary = nt.Table.zeros(0, 2).describe()
    assert words(summary, "column") == ["0", "1"] and summary.column("count").tolist() == [0, 0]
    assert np.isnan(summary.column("mean")).all()
    assert nt.Table.zeros(3, 0).describe().shape == (0, 11)


def test_infinities_are_values():
    array = np.array([[np.inf, -np.inf], [1.0, 2.0], [3.0, np.inf], [-1.0, 5.0]])
    summary = nt.Table(array).describe()
    assert summary.column("min").tolist() == [-1.0, -np.inf] and summary.column("max").tolist() == [np.inf] * 2
    assert summary.column("50%").tolist() == [2.0, 3.5]
    assert summary.column("mean")[0] == np.inf and np.isnan(summary.column("mean")[1])
    assert summary.column("count").tolist() == [4, 4]


def test_integers_beyond_2_to_53_are_rounded_and_no_more():
    big = 2**63 - 1
    summary = nt.Table(np.array([[-big], [0], [big]], dtype="int64")).describe()
    assert (summary.column("min")[0], summary.column("50%")[0], summary.column("max")[0]) == (-float(big), 0.0, float(big))


def test_words_and_dates_are_counted_and_have_no_numbers():
    days = np.array(["2024-01-01", "NaT", "2024-03-01"], dtype="datetime64[D]")
    table = nt.Table(pd.DataFrame({"x": [1.5, 2.5, 3.5], "city": ["Rome", None, "Paris"], "day": days.astype("datetime64[s]")}))
    summary = table.describe()
    assert summary.column("count").tolist() == [3, 2, 2] and summary.column("missing").tolist() == [0, 1, 1]
    for name in NUMBERS:
        assert summary.missing(name).tolist() == [False, True, True]
    assert summary.column("50%")[0] == 2.5


def test_names_that_occur_twice_or_not_at_all_are_shown():
    table = nt.Table(np.eye(4), names=["a", "a", None, "3"])
    assert words(table.describe(), "column") == ["a", "a", "2", "3"]
    assert "75%" in str(table.describe())


def test_sparse_tables_and_ties():
    sparse = pytest.importorskip("scipy.sparse")
    array = np.zeros((1000, 3))
    array[::7, 1], array[::3, 2] = 5, -2
    check(nt.Table(sparse.csr_array(array)).describe(), pd.DataFrame(array))


def test_a_summary_leaves_the_table_alone_and_other_threads_may_write():
    table = nt.Table(np.arange(12.0).reshape(6, 2))
    table.describe()
    assert table.rows().tolist() == np.arange(12.0).reshape(6, 2).tolist()


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_a_file_is_summarized_in_parts(tmp_path, dtype):
    rng = np.random.default_rng(1)
    array = (rng.normal(size=(50_000, 3)) * 300).astype(dtype)
    path = tmp_path / "a.ntb"
    nt.save(nt.Table(array, names=["a", "b", "c"]), path, durable=False)
    with nt.open(path) as reader:
        summary = reader.describe()
    assert summary.names == NAMES and words(summary, "column") == ["a", "b", "c"]
    exact = nt.Table(array).describe()
    for name in ["count", "mean", "std", "min", "max"]:
        assert summary.column(name).tolist() == exact.column(name).tolist()
    for name, q in [("25%", 0.25), ("50%", 0.5), ("75%", 0.75)]:
        for column in range(3):
            value = summary.column(name)[column]
            assert value in array[:, column].astype("float64")
            low, high = (array[:, column] < value).mean(), (array[:, column] <= value).mean()
            assert low - 0.002 <= q <= high + 0.002
    with nt.open(path) as closed:
        pass
    with pytest.raises(ValueError, match="closed"):
        closed.describe()


def test_shards_are_summarized(tmp_path):
    for part in range(3):
        nt.save(nt.Table(np.arange(4.0).reshape(2, 2) + part, names=["a", "b"]), tmp_path / f"p{part}.ntb", durable=False)
    summary = nt.Shards(tmp_path).describe()
    assert words(summary, "column") == ["a", "b"] and summary.column("count").tolist() == [6, 6]
    assert summary.column("mean").tolist() == [2.0, 3.0] and summary.column("max").tolist() == [4.0, 5.0]
    assert os.listdir(tmp_path)


def test_histograms_have_the_names_of_columns():
    found = nt.Histogram(2, [[0, 1], [0, 1, 2]])
    assert found.names == [None, None] and found.column_count == 2
    assert [found[column]["counts"].tolist() for column in (0, 1)] == [[0], [0, 0]]
    named = nt.Histogram(2, 2, (0, 4))
    named.update(nt.Table({"a": [1, 2, 9], "b": [3.0, float("nan"), None]}))
    for found in (named, nt.Partial.from_bytes(named.to_bytes()), pickle.loads(pickle.dumps(named))):
        assert found.names == ["a", "b"] and found["a"]["counts"].tolist() == found.column(0)["counts"].tolist() == [1, 1]
        assert found["b"]["counts"].tolist() == [0, 1] and found["b"]["edges"].tolist() == [0, 2, 4]
        assert [found["b"][name] for name in ("below", "above", "nan_count", "missing_count")] == [0, 0, 1, 1]
        assert found["a"]["above"] == 1
    with pytest.raises(nt.TableKeyError, match="no column has the name"):
        named["z"]
    with pytest.raises(nt.TableError):  # columns in another order
        named.update(nt.Table({"b": [1], "a": [2]}))
    other = named.new_like()
    other.update(nt.Table({"a": [3], "b": [3]}))
    named.merge(other)
    assert named.row_count == 4 and named["a"]["counts"].tolist() == [1, 2]
