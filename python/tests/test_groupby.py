"""Statistics by the values of a column, beside pandas; and results that are addressed by name."""

import pickle

import numpy as np
import pytest

import numeric_table as nt

pd = pytest.importorskip("pandas")


def test_groups_are_those_of_pandas():
    rng = np.random.default_rng(3)
    count = 5000
    frame = pd.DataFrame({
        "x": rng.normal(size=count),
        "city": rng.choice(["Rome", "Paris", "Köln"], size=count),
        "year": rng.integers(2019, 2024, size=count),
        "big": rng.choice([2**53, 2**53 + 1, -5], size=count),
        "share": rng.choice([0.1, 0.25, np.nan], size=count).astype("float32"),
        "day": rng.choice(np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[s]"), size=count),
    })
    table = nt.Table(frame)
    for by, labels in [
        ("city", None),
        ("year", ["2019", "2020", "2021", "2022", "2023"]),
        ("big", ["-5", str(2**53), str(2**53 + 1)]),
        ("share", ["0.1", "0.25"]),
        ("day", ["2024-01-01T00:00:00", "2024-01-02T00:00:00"]),
    ]:
        groups, expected = table.groupby(by), frame.groupby(by)["x"]
        if labels is None:
            expected = expected.agg(["mean", "max", "count", "std"])
            assert groups.labels == expected.index.tolist()
        else:
            expected = expected.agg(["mean", "max", "count", "std"])
            assert groups.labels == labels
        np.testing.assert_allclose(groups["x"].mean, expected["mean"], rtol=1e-12)
        np.testing.assert_allclose(groups["x"].standard_deviation, expected["std"], rtol=1e-12)
        assert groups["x"].maximum.tolist() == expected["max"].tolist()
        assert groups["x"].count.tolist() == expected["count"].tolist() == groups.row_counts.tolist()
        assert groups.names == table.names
        assert groups.column("x")["mean"].tolist() == groups["x"].mean.tolist() == groups[0].mean.tolist()
    assert len(table.groupby("x").labels) == count  # each value by itself


def test_rows_without_a_value_are_left_out_or_a_group():
    table = nt.Table({"key": [7, None, 5, 7], "x": [1.0, 2.0, 3.0, 5.0]})
    groups = table.groupby("key")
    assert (groups.labels, groups["x"].mean.tolist(), groups.missing_rows) == (["5", "7"], [3.0, 3.0], 1)
    groups = table.groupby("key", missing="group")
    assert (groups.labels, groups["x"].sum.tolist()) == (["5", "7", "missing"], [3.0, 6.0, 2.0])
    with pytest.raises(nt.TableError, match="1"):
        table.groupby("key", missing="refuse")
    with pytest.raises(nt.TableError, match="missing must be"):
        table.groupby("key", missing="drop")
    with pytest.raises(nt.TableError, match="none"):
        table.groupby("none")
    empty = nt.Table({"key": np.ma.masked_all(2, dtype="int32"), "x": [1.0, 2.0]}).groupby("key")
    assert (empty.labels, empty["x"].mean.tolist()) == ([], [])
    assert nt.Table.zeros(0, 2).groupby(0).labels == []
    sizes = pd.Categorical(["m", "s", "m"], categories=["s", "m", "l"], ordered=True)
    ordered = nt.Table(pd.DataFrame({"size": sizes, "x": [1.0, 2.0, 3.0]})).groupby("size")
    assert ordered.labels == ["s", "m", "l"] and ordered.row_counts.tolist() == [1, 2, 0]
    words = nt.Table(pd.DataFrame({"w": ["b", None, "a", "b"], "x": [1.0, 2.0, 4.0, 3.0]})).groupby("w")
    assert words.group("b").row_count == 2 and words["x"]["b"]["mean"] == 2.0 and words.row_count == 3


def test_words_have_counts_only():
    table = nt.Table({"key": [1, 1, 2], "word": ["x", None, "y"], "number": [1.0, 3.0, 5.0]})
    groups = table.groupby("key")
    for statistic in ["mean", "minimum", "max", "sum", "std"]:
        assert groups.to_table(statistic).names == ["key", "rows", "number"]
        if statistic in ("mean", "minimum", "sum"):
            with pytest.raises(nt.TableTypeError, match='column "word" has words'):
                getattr(groups["word"], statistic)
    assert groups.to_table("count")["word"].tolist() == [1, 1] == groups["word"].count.tolist()
    assert groups.to_table("missing_count")["word"].tolist() == [1, 0]
    assert groups["word"].to_table().names == ["key", "count", "missing_count", "nan_count", "infinity_count"]
    assert set(groups["word"][0]) == {"count", "missing_count", "nan_count", "infinity_count"}
    assert "mean" not in repr(groups["word"]) and "word" not in str(groups) and "number" in str(groups)
    assert table.groupby("word").to_table().names == ["word", "rows", "key", "number"]


def test_both_zeros_are_one_group_without_a_sign():
    for dtype in ["f8", "f4", "f2"]:
        zeros = nt.Table({"x": np.array([-0.0, 0.0, 1.0], dtype), "y": [1, 2, 3]}).groupby("x")
        assert zeros.labels == ["0.0", "1.0"] and zeros.row_counts.tolist() == [2, 1]


def test_names_and_labels_travel_with_the_result():
    frame = pd.DataFrame({"city": ["Rome", "Paris", "Rome"], "price": [10.0, 30.0, 20.0]})
    groups = nt.Table(frame).groupby("city")
    assert groups.labels == ["Paris", "Rome"]
    for again in [pickle.loads(pickle.dumps(groups)), nt.Partial.from_bytes(groups.to_bytes())]:
        assert again.labels == groups.labels and again["price"].mean.tolist() == groups["price"].mean.tolist()
        assert again.names == ["city", "price"] and str(again) == str(groups)
    table = groups.to_table()
    assert table.names == ["city", "rows", "price"] and table["price"].tolist() == groups["price"].mean.tolist()
    assert table.categories["city"] == groups.labels
    assert groups.to_table("count")["price"].tolist() == groups.row_counts.tolist()
    with pytest.raises(nt.TableError, match="choose one of"):
        groups.to_table("median")
    column = groups["price"]
    assert len(column) == 2 and column.to_table().names[:2] == ["city", "count"] and "Rome" in repr(column)
    for bad in ["Oslo", "price"]:
        with pytest.raises((KeyError, nt.TableError)):
            column[bad]
    with pytest.raises(IndexError):
        column[2]
    with pytest.raises((KeyError, nt.TableError)):
        groups["town"]
    with pytest.raises(nt.TableError, match="labels are its values"):
        groups["city"]


def test_a_word_may_be_that_of_the_missing_group():
    groups = nt.Table({"w": ["missing", None], "v": [1.0, 2.0]}).groupby("w", missing="group")
    assert groups.labels == ["missing", "missing"] and groups["v"][1]["mean"] == 2.0
    with pytest.raises(nt.TableError, match="pass the index"):
        groups["v"]["missing"]


def test_groups_of_a_stated_number_of_categories_work_as_before():
    groups = nt.GroupStatistics(["x", "g"], by="g", categories=2)
    assert groups.labels == ["0", "1"]
    groups.update(nt.Table({"x": [1.0, 3.0], "g": [1, 1]}))
    assert groups.names == ["x", "g"] and groups["x"].mean.tolist()[1] == 2.0
    assert groups.group(1)["x"]["maximum"] == 3.0


def test_statistics_are_addressed_by_name():
    table = nt.Table({"a": [1.0, None, float("nan"), 3.0], "b": [10, 20, 30, 20]})
    found = nt.statistics(table)
    assert found["a"] == found.column("a") == found[0] and found["b"]["mean"] == 20.0
    assert found.names == ["a", "b"]
    again = pickle.loads(pickle.dumps(found))
    assert again.names == ["a", "b"] and again["b"] == found["b"] and again.to_bytes() == found.to_bytes()
    rows = found.to_table()
    assert rows.names[0] == "column" and rows.categories["column"] == ["a", "b"]
    for name in rows.names[1:]:
        np.testing.assert_array_equal(rows[name], getattr(found, name))
    for bad in ["c", "a "]:
        with pytest.raises((KeyError, nt.TableError)):
            found[bad]
    with pytest.raises(IndexError):
        found[2]
    nameless = nt.Statistics(2)
    assert nameless.names == [None, None] and len(nameless.to_table()) == 2
    for result in [nt.Covariance(2), nt.GramMatrix(2), nt.QuantileSketch(2)]:
        assert result.names == [None, None]
        result.update(nt.Table([[1.0, 2.0], [3.0, 4.0]], names=["a", "b"]))
        assert pickle.loads(pickle.dumps(result)).names == ["a", "b"]


def test_groups_are_counted_iterated_and_have_the_values_of_their_column():
    table = nt.Table({"x": [1.0, 3.0, 5.0, 7.0], "year": [2024, 2023, 2024, None], "k": ["b", "a", "b", "c"]})
    groups = table.groupby("year", missing="group")
    assert len(groups) == 3 and [label for label, _ in groups] == groups.labels == ["2023", "2024", "missing"]
    assert [group["x"]["mean"] for _, group in groups] == groups["x"].mean.tolist() == [3.0, 3.0, 7.0]
    assert "x" in groups and "y" not in groups and 0 not in groups
    assert groups.means[:2, 1].tolist() == [2023, 2024] and np.isnan(groups.means[2, 1])
    assert groups.minima[:2, 1].tolist() == groups.maxima[:2, 1].tolist() == [2023, 2024]
    assert groups.group("2024")["year"]["maximum"] == 2024 and groups.group(2)["year"]["missing_count"] == 1
    again = pickle.loads(pickle.dumps(groups))
    assert again.means[:2, 1].tolist() == [2023, 2024] and again.group("2024")["year"]["mean"] == 2024
    words = table.groupby("k")
    assert words.labels == ["a", "b", "c"] and words.means[:, 2].tolist() == [1, 0, 2]  # its codes, as elsewhere
    assert list(nt.Table.zeros(0, 2).groupby(0)) == []


def test_dates_with_fractions_do_not_group_and_dates_of_groups_are_dates():
    days = np.array(["2024-01-01", "2024-01-01", "2024-01-04"], "M8[D]")
    table = nt.Table({"d": days, "e": days[::-1], "x": [1.0, 2.0, 3.0]})
    for statistic, first in [("min", "2024-01-01"), ("max", "2024-01-04"), ("mean", "2024-01-02")]:
        found = table.groupby("d").to_table(statistic)
        assert found["e"].astype(str).tolist() == [first, "2024-01-01"]
        assert found["d"].tolist() == ["2024-01-01", "2024-01-04"]
    for alias, name in [("min", "minimum"), ("max", "maximum"), ("std", "standard_deviation"), ("var", "variance")]:
        assert table.groupby("d").to_table(alias) == table.groupby("d").to_table(name)
    half = table.astype("f8")
    with half.write_rows() as block:
        block[0, 0] += 0.5
    with pytest.raises(nt.TableError, match="column 'd', row .: NumPy has no point in time 19723.5 D"):
        half.groupby("d")
    assert half[1:].groupby("d").labels == ["2024-01-01", "2024-01-04"]
    gaps = nt.Table({"k": ["a", "b"], "d": np.array(["2024-01-01", "NaT"], "M8[s]")}).groupby("k").to_table()
    assert gaps["d"].astype(str).tolist() == ["2024-01-01T00:00:00", "NaT"]


def test_one_column_groups_and_counts():
    table = nt.Table({"a": [1, 1, 2], "b": [1, 2, 2]})
    assert table.groupby(["a"]).labels == ["1", "2"] and table.value_counts(["a"]) == table.value_counts("a")
    for call in [table.groupby, table.value_counts]:
        with pytest.raises(TypeError, match=r"takes one column, not 2: to_pandas\(\)"):
            call(["a", "b"])
