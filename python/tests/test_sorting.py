"""Rows in the order of columns, distinct values, and random rows, beside pandas."""

import numpy as np
import pytest

import numeric_table as nt

pd = pytest.importorskip("pandas")


def places(table):
    return table.column("place").tolist()


@pytest.mark.parametrize("rows", [0, 1, 2, 50, 3000])
@pytest.mark.parametrize("descending", [[False, False], [True, False], [False, True], [True, True]])
def test_rows_are_sorted_as_pandas_sorts_them(rows, descending):
    rng = np.random.default_rng(rows)
    frame = pd.DataFrame({
        "a": rng.choice([0.5, -1.0, np.nan, np.inf, -np.inf, 0.0, -0.0], size=rows),
        "b": rng.choice([2**53, 2**53 + 1, -(2**63), 2**63 - 1], size=rows),
        "word": rng.choice(["rome", "Paris", "Köln", "", "a"], size=rows),
        "place": np.arange(rows),
    })
    table = nt.Table(frame)
    for keys in [["a", "b"], ["b", "word"], ["word", "a"]]:
        expected = frame.sort_values(keys, ascending=[not way for way in descending], kind="stable")
        assert places(table.sort_by(keys, descending=descending)) == expected["place"].tolist(), keys
        # One key: pandas' descending sort is stable, too.
        one = frame.sort_values(keys[0], ascending=not descending[0], kind="stable")
        assert places(table.sort_by(keys[0], descending=descending[0])) == one["place"].tolist(), keys[0]


def test_missing_values_are_last_in_both_directions_after_nan():
    table = nt.Table({"a": [None, 2.0, float("nan"), 1.0, None], "place": [0, 1, 2, 3, 4]})
    assert places(table.sort_by("a")) == [3, 1, 2, 0, 4]
    assert places(table.sort_by("a", descending=True)) == [1, 3, 2, 0, 4]
    assert table.sort_by("a").missing("a").tolist() == [False, False, False, True, True]


def test_ordered_categories_are_in_their_own_order():
    sizes = pd.Categorical(["small", "large", "medium"], categories=["small", "medium", "large"], ordered=True)
    frame = pd.DataFrame({"size": sizes, "place": [0, 1, 2]})
    assert places(nt.Table(frame).sort_by("size")) == frame.sort_values("size")["place"].tolist() == [0, 2, 1]
    words = frame.assign(size=sizes.astype(str))
    assert places(nt.Table(words).sort_by("size")) == words.sort_values("size")["place"].tolist() == [1, 2, 0]


def test_bad_keys_and_directions_are_refused():
    table = nt.Table({"a": [2, 1], "b": [0, 0]})
    for bad in ["c", ["a", "c"]]:
        with pytest.raises(nt.TableError, match="c"):
            table.sort_by(bad)
    with pytest.raises(nt.TableIndexError):
        table.sort_by([0, 2])
    with pytest.raises(nt.TableError, match="1 directions do not match 2 columns"):
        table.sort_by(["a", "b"], descending=[True])
    with pytest.raises(nt.TableError, match="no column"):
        table.sort_by([])
    with pytest.raises(TypeError):
        table.sort_by("a", descending="yes")
    with pytest.raises(TypeError):
        table.sort_by("a", True)
    assert table.sort_by([-1, 0])["a"].tolist() == [1, 2]
    assert table["a"].tolist() == [2, 1]


@pytest.mark.parametrize("rows", [0, 1, 10, 5000])
def test_values_are_counted_as_pandas_counts_them(rows):
    rng = np.random.default_rng(rows)
    for values in [
        rng.choice([2**53, 2**53 + 1, 5], size=rows),
        rng.choice([0.5, np.nan, -np.inf, 7.0], size=rows),
        rng.integers(0, 200, size=rows).astype("uint8"),
    ]:
        counts = nt.Table({"a": values}).value_counts("a")
        expected = pd.Series(values).value_counts().reset_index(name="count")
        expected = expected.sort_values(["count", "index"], ascending=[False, True])
        assert counts.names == ["a", "count"]
        assert counts.column("a").tolist() == expected["index"].tolist()
        assert counts.column("count").tolist() == expected["count"].tolist()
        assert counts.dtypes == [values.dtype, np.dtype("int64")]


def test_words_dates_missing_values_and_names_are_kept():
    days = np.array(["2024-02-01", "2024-01-01", "NaT", "2024-01-01"], dtype="datetime64[s]")
    frame = pd.DataFrame({"city": ["b", "a", None, "c"], "day": days, "count": [1, 1, 2, 2]})
    table = nt.Table(frame)
    cities = table.value_counts("city").to_pandas()
    assert cities["city"].tolist() == ["a", "b", "c"] and cities["count"].tolist() == [1, 1, 1]
    found = table.value_counts("day").to_pandas()
    assert found["day"].tolist() == list(pd.to_datetime(["2024-01-01", "2024-02-01"]))
    assert table.value_counts("count").names == ["count", "counts"]
    with_gaps = table.value_counts("city", dropna=False)
    assert len(with_gaps) == 4 and with_gaps.missing_count("city") == 1
    nan = nt.Table({"a": [float("nan"), None, float("nan")]})
    assert nan.value_counts("a").shape == (0, 2)
    assert nan.value_counts("a", dropna=False).column("count").tolist() == [2, 1]
    with pytest.raises(nt.TableError, match="town"):
        table.value_counts("town")


def test_random_rows_need_no_seed_and_a_seed_gives_what_it_gave():
    table = nt.Table(np.arange(1000.0).reshape(1000, 1), names=["a"])
    assert table.shuffle_rows(7) == table.shuffle_rows(seed=7)
    assert table.sample_rows(3, seed=7).column(0).tolist() == table.sample_rows(3, 7).column(0).tolist()
    assert table.shuffle_rows() != table.shuffle_rows()
    assert sorted(table.shuffle_rows().column(0)) == list(range(1000))
    assert len({tuple(table.sample_rows(5).column(0)) for _ in range(20)}) > 10
    one, two = table.split_rows(0.25)
    assert (len(one), len(two)) == (250, 750) and one != table.split_rows(0.25)[0]
    labels = nt.Table({"a": [0, 1] * 50})
    assert labels.split_rows(0.5, by="a")[0]["a"].sum() == 25
    for bad in [-1, 2**64]:
        with pytest.raises(nt.TableError, match="seed"):
            table.shuffle_rows(bad)


def test_stacks_take_what_a_table_is_made_of():
    array, frame = np.ones((1, 2)), pd.DataFrame({"a": [2.0], "b": [3.0]})
    named = nt.Table(np.zeros((1, 2)), names=["a", "b"])
    assert nt.vstack([array, [[5.0, 6.0]]]).rows().tolist() == [[1, 1], [5, 6]]
    assert nt.vstack([named, frame]).rows().tolist() == [[0, 0], [2, 3]]
    wide = nt.hstack([named, {"c": [7.0]}, np.array([[8.0]])])
    assert wide.names == ["a", "b", "c", None] and wide.rows().tolist() == [[0, 0, 7, 8]]
    with pytest.raises(nt.TableError):
        nt.vstack([])
    with pytest.raises((TypeError, ValueError)):
        nt.vstack([named, "words"])


def test_ascending_is_the_opposite_of_descending():
    table = nt.Table({"a": [1, 2, 2], "b": [1, 2, 3]})
    assert table.sort_by("a", ascending=False) == table.sort_by("a", descending=True)
    assert table.sort_by(["a", "b"], ascending=[False, True]) == table.sort_by(["a", "b"], descending=[True, False])
    assert table.sort_by("a", ascending=True) == table.sort_by("a")
    for one in [1, np.int64(1), np.True_, [1], (True,), np.array([1])]:
        assert table.sort_by("a", ascending=one) == table.sort_by("a") and table.sort_by("a", descending=one) != table.sort_by("a")
    assert table.sort_by("a", ascending=0) == table.sort_by("a", descending=True)
    for wrong in [2, -1, 1.0, "yes", "", [2], ["yes"], [None]]:
        with pytest.raises(TypeError, match="ascending= is True or False, or a list"):
            table.sort_by("a", ascending=wrong)
    with pytest.raises(TypeError, match="one option"):
        table.sort_by("a", ascending=True, descending=True)


def test_tables_are_stacked_by_name_and_labels_are_joined():
    one, other = {"k": ["x", "y"], "n": [1, 2]}, {"n": [3, 4], "k": ["z", "x"]}
    found = nt.vstack([one, other, one])
    assert found.names == ["k", "n"] and found["n"].tolist() == [1, 2, 3, 4, 1, 2]
    assert found["k"].tolist() == ["x", "y", "z", "x", "x", "y"] and found.categories == {"k": ["x", "y", "z"]}
    gaps = nt.vstack([{"k": ["x", None]}, {"k": [None, "y"]}])
    assert gaps["k"].tolist() == ["x", None, None, "y"]
    twice = nt.vstack([nt.Table([[1, 2, 3]], names=["a", "b", "a"]), nt.Table([[4, 5, 6]], names=["a", "a", "b"])])
    assert twice.rows().tolist() == [[1, 2, 3], [4, 6, 5]]
    assert nt.vstack([nt.Table([[1, 2]], names=["a", "b"]), [[3, 4]]]).rows().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(nt.TableError, match='table 1 has no column "n".*rename'):
        nt.vstack([one, {"k": ["x"], "m": [1]}])
    with pytest.raises(nt.TableError, match="table 1"):
        nt.vstack([one, {"k": ["x"]}])


def test_tables_of_other_kinds_of_values_are_not_stacked():
    day = nt.Table({"d": np.array(["2024-01-01"], "M8[D]")})
    moment = nt.Table({"d": np.array(["2024-01-01"], "M8[ms]")})
    for tables, text in [
        ([day, moment], "column \"d\" of table 1 has times in the unit \"ms\", .* table 0 .* \"D\": .*astype"),
        ([moment, moment, day], "column \"d\" of table 2 has times in the unit \"D\""),
        ([day, {"d": [1]}], "of table 1 has numbers, and that of table 0 has times"),
        ([{"d": [1]}, {"d": ["x"]}], "of table 1 has words, and that of table 0 has numbers"),
        ([{"d": ["x"]}, day], "of table 1 has times in the unit \"D\", and that of table 0 has words"),
        ([nt.Table([[1]]), nt.Table(["x"])], "column 0 of table 1 has words"),
    ]:
        with pytest.raises(nt.TableError, match=text):
            nt.vstack(tables)
    one = moment.with_column("d", moment["d"].astype("M8[D]"))
    assert nt.vstack([day, one])["d"].tolist() == [day["d"].tolist()[0]] * 2
