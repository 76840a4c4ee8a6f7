"""Tables cut, widened, renamed and shuffled, dense, of columns, and sparse."""

import types

import numpy as np
import pytest

import numeric_table as nt

ARRAY = np.array([[1, 0, 3], [4, 5, 0], [0, 8, 9], [10, 0, 12]])


def dense(dtype="f8"):
    return nt.Table(ARRAY.astype(dtype), names=list("abc"))


def columns():
    parts = [nt.Table(ARRAY[:, [i]].astype(dtype)) for i, dtype in enumerate(["f8", "i2", "u1"])]
    return nt.hstack(parts).rename({0: "a", 1: "b", 2: "c"})


def sparse():
    return nt.Table(pytest.importorskip("scipy.sparse").csr_array(ARRAY.astype("f8")), names=list("abc"))


every = pytest.mark.parametrize("make", [dense, columns, sparse])


def values(table):
    return np.asarray(table, dtype="f8").tolist()


@every
def test_columns_are_selected_and_dropped(make):
    table = make()
    lists = [(["c", "a"], [2, 0]), ([0, -1], [0, 2]), (["b", 0], [1, 0]), ([0, 0], [0, 0]), ([], [])]
    for key, expected in [*lists, ("b", [1]), (1, [1]), (slice(1, 3), [1, 2])]:
        found = table.select_columns(key)
        assert values(found) == ARRAY[:, expected].tolist() and found.names == [list("abc")[i] for i in expected]
        assert found.is_sparse == table.is_sparse
        assert [str(dtype) for dtype in found.dtypes] == [str(table.dtypes[i]) for i in expected]
        rest = [i for i in range(3) if i not in expected]
        dropped = table.drop_columns(key)
        assert values(dropped) == ARRAY[:, rest].tolist() and dropped.names == [list("abc")[i] for i in rest]
    assert values(table.select_columns(np.array([True, False, True]))) == ARRAY[:, [0, 2]].tolist()
    assert table.drop_columns(list("abc")).shape == (4, 0) and table.drop_columns(...).shape == (4, 0)
    for call in [table.select_columns, table.drop_columns]:
        for key in ["d", [3], [1.5], [True], True, None, [["a"]]]:
            with pytest.raises((ValueError, IndexError, TypeError)):
                call(key)


@every
def test_a_column_is_added_or_replaced(make):
    table = make()
    new = [7, 0, 7, 0]
    for given in [new, np.array(new, dtype="f8"), nt.Table([[value] for value in new]), np.array([new]).T]:
        wider = table.with_column("d", given)
        assert wider.names == list("abcd") and values(wider) == np.column_stack([ARRAY, new]).tolist()
        assert wider.is_sparse == table.is_sparse and table.shape == (4, 3)
        replaced = table.with_column("b", given)
        expected = ARRAY.copy()
        expected[:, 1] = new
        assert replaced.names == list("abc") and values(replaced) == expected.tolist() and values(table) == ARRAY.tolist()
    for wrong in [[1, 2], np.zeros((4, 2)), [5], np.zeros((4, 1, 1)), []]:
        with pytest.raises(ValueError):
            table.with_column("d", wrong)
    with pytest.raises(TypeError):
        table.with_column("d", [b"a", b"b", b"c", b"d"])
    for wrong, text in [(None, "missing values"), (b"abcd", "decode"), (1j, "real"), (np.complex64(1), "real")]:
        with pytest.raises(TypeError, match=f"is not the value of a column: .*{text}"):
            table.with_column("d", wrong)
    assert table.with_column("d", ["a", "b", "a", "d"])["d"].tolist() == ["a", "b", "a", "d"]


def test_a_column_has_a_type_of_its_own():
    table = dense().with_column("n", np.array([2**53 + 1] * 4))
    assert [str(dtype) for dtype in table.dtypes] == ["float64"] * 3 + ["int64"] and table[0, "n"] == 2**53 + 1
    assert dense().with_column("x", np.zeros(4)).kind == "homogeneous"
    with pytest.raises(nt.NotRepresentableError, match="9007199254740993"):
        sparse().with_column("n", np.array([2**53 + 1] * 4))
    assert sparse().with_column("n", np.array([0, 0, 5, 0], "u1")).nnz == 9
    source = np.zeros(4)
    table = dense().with_column("x", source)
    source[:] = 9
    assert table["x"].tolist() == [0] * 4


def test_a_column_of_words_keeps_them():
    pd = pytest.importorskip("pandas")
    words = pd.Series(pd.Categorical(["u", "v", "u", "u"]))
    table = columns().with_column("k", words)
    assert table.categories == {"k": ["u", "v"]} and table.column("k").tolist() == [0, 1, 0, 0]
    assert sparse().with_column("k", words).categories == {"k": ["u", "v"]}


def test_columns_of_their_own_are_shared():
    table = columns()
    place = table["b"].__array_interface__["data"][0]
    renamed = table.rename({"b": "x"}).rename({"x": "b"})
    for other in [table.with_column("d", [1, 2, 3, 4]), table.drop_columns("a"), table.select_columns(["b"]), renamed]:
        assert other["b"].__array_interface__["data"][0] == place
        with other.write_rows() as block:
            block[:] = 0
    assert values(table) == ARRAY.tolist()


def test_columns_of_one_type_stay_columns():
    pd = pytest.importorskip("pandas")
    table = nt.Table(pd.DataFrame({"a": np.arange(3.0), "b": np.arange(3.0)}))
    place = table["b"].__array_interface__["data"][0]
    for other in [nt.Table(table), table[["b"]], table.rename({"a": "x"}), table[0:2], table.with_column("c", [1.0, 2, 3])]:
        assert other.kind == table.kind and other["b"].__array_interface__["data"][0] == place
        with other.write_rows() as block:
            block[:] = 9
    assert table["b"].tolist() == [0, 1, 2] and table[1:]["b"].tolist() == [1, 2]


@every
def test_columns_get_other_names(make):
    table = make()
    assert table.rename({"a": "b", "b": "a"}).names == ["b", "a", "c"] and table.names == list("abc")
    assert table.rename({-1: "z", "a": None}).names == [None, "b", "z"] and table.rename({}) == table
    assert values(table.rename({0: "x"})) == ARRAY.tolist() and table.rename({0: "x"}).is_sparse == table.is_sparse
    assert table.rename(types.MappingProxyType({"c": "x"})).names == ["a", "b", "x"]
    unknown, beyond, twice, number = {"d": "x"}, {3: "x"}, {"a": "x", 0: "y"}, {"a": 5}
    for wrong, error in [(unknown, ValueError), (beyond, IndexError), (twice, ValueError), (number, TypeError)]:
        with pytest.raises(error):
            table.rename(wrong)
    assert table.names == list("abc")


@every
def test_rows_are_drawn_by_a_seed(make):
    table = make()
    rows = [tuple(row) for row in ARRAY.tolist()]
    shuffled = table.shuffle_rows(5)
    assert sorted(map(tuple, values(shuffled))) == sorted(rows) and shuffled == table.shuffle_rows(5)
    assert shuffled.names == list("abc") and shuffled.is_sparse == table.is_sparse
    assert any(table.shuffle_rows(seed) != table for seed in range(5))
    some = table.sample_rows(2, seed=3)
    found = [rows.index(tuple(row)) for row in values(some)]
    assert found == sorted(set(found)) and len(found) == 2 and some.is_sparse == table.is_sparse
    assert len(table.sample_rows(0, 1)) == 0 and table.sample_rows(4, 1) == table
    training, test = table.split_rows(0.75, seed=9)
    assert (len(training), len(test)) == (3, 1)
    assert sorted(map(tuple, values(training) + values(test))) == sorted(rows)
    for call in [
        lambda: table.sample_rows(5, 1),
        lambda: table.sample_rows(-1, 1),
        lambda: table.shuffle_rows(-1),
        lambda: table.split_rows(1.5, 1),
        lambda: table.split_rows(float("nan"), 1),
    ]:
        with pytest.raises((ValueError, IndexError, OverflowError)):
            call()


def test_rows_are_split_by_the_classes_of_a_column():
    table = nt.Table(np.column_stack([np.arange(40), np.arange(40) % 4]), names=["x", "class"])
    for key in ["class", 1, -1]:
        training, test = table.split_rows(0.7, 1, by=key)
        assert np.bincount(training["class"]).tolist() == [7] * 4 and np.bincount(test["class"]).tolist() == [3] * 4
    with pytest.raises(ValueError):
        table.split_rows(0.7, 1, by="none")


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_empty_tables_are_cut_too(shape):
    table = nt.Table.zeros(*shape)
    assert table.shuffle_rows(1) == table and table.sample_rows(0, 1).shape == (0, shape[1])
    assert table.split_rows(0.5, 1)[1].shape[1] == shape[1] and table.select_columns([]).shape == (shape[0], 0)
    assert table.with_column("x", np.zeros(shape[0])).shape == (shape[0], shape[1] + 1) and table.rename({}) == table


def test_one_value_is_a_column():
    table = nt.Table({"a": [1, 2, 3]})
    day = np.datetime64("2024-01-02")
    for value in [0, 2.5, True, "word", np.float32(1.5), day]:
        found = table.with_column("z", value)
        assert found["z"].tolist() == [value, value, value] or (found["z"] == value).all()
        assert found.names == ["a", "z"] and len(found) == 3
    assert table.with_column("a", 7)["a"].tolist() == [7, 7, 7] and len(table[:0].with_column("z", "w")) == 0


def test_a_rename_does_not_hide_a_column():
    table = nt.Table([[1, 2, 3]], names=["a", "b", "c"])
    for names in [{"a": "b"}, {"a": "z", "b": "z"}, {0: "c"}]:
        with pytest.raises(nt.TableError, match="would both have the name"):
            table.rename(names)
    assert table.rename({"a": "b", "b": "a"}).names == ["b", "a", "c"] and table.rename({"a": "a"}) == table
    assert table.rename({"a": None, "b": None}).names == [None, None, "c"]
