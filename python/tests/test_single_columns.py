"""Columns by themselves follow the rules of columns in frames: nothing is rounded, and names stay."""

import numpy as np
import pytest

import numeric_table as nt

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

LARGE = 2**53 + 1


def containers(values, of):
    """A column in each container that has nulls: alone, and in a frame."""
    arrow = pa.array(values, getattr(pa, of)())
    of_pandas = {"bool_": "boolean", "float64": "Float64"}.get(of, of.capitalize().replace("Uint", "UInt"))
    array, polars = pd.array(values, dtype=of_pandas), pl.Series("k", arrow)
    of_arrow = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([arrow])), name="k")
    alone = [arrow, pa.chunked_array([arrow[:1], arrow[1:]]), polars, array, pd.Series(array, name="k"), pd.Index(array)]
    return [*alone, of_arrow, of_arrow.array], [pa.table({"k": arrow}), polars.to_frame(), pd.DataFrame({"k": array})]


@pytest.mark.parametrize("of", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_whole_numbers_with_nulls_are_kept_in_every_container(of):
    values = [LARGE if of.endswith("64") else 7, None]
    for found in containers(values, of):
        for data in found:
            for options in [{}, {"copy": True}, {"dtype": of}, {"names": ["n"]}]:
                table = nt.Table(data, **options)
                assert str(table.dtype) == of and table.to_masked(0).tolist() == values
            rounded = nt.Table(data, dtype="float64")
            assert rounded.to_masked(0).tolist() == [float(values[0]), None] and rounded.has_missing


def test_truth_values_with_nulls_are_kept_in_every_container():
    for found in containers([True, None], "bool_"):
        for data in found:
            assert nt.Table(data).to_masked(0).tolist() == [1, None]


def test_whole_numbers_and_truth_values_without_nulls_keep_every_digit_in_every_container():
    for found in containers([LARGE, -LARGE], "int64"):
        for data in found:
            table = nt.Table(data)
            assert str(table.dtype) == "int64" and table.rows().tolist() == [[LARGE], [-LARGE]]
    for found in containers([True, False], "bool_"):
        for data in found:
            table = nt.Table(data)
            assert str(table.dtype) == "uint8" and table.rows().tolist() == [[1], [0]]


def test_floats_with_nulls_are_kept_and_read_as_nan_in_every_container():
    for found in containers([1.5, None], "float64"):
        for data in found:
            table = nt.Table(data)
            assert str(table.dtype) == "float64"
            np.testing.assert_array_equal(table.rows(), [[1.5], [np.nan]])
            assert table.missing(0).tolist() == [False, True]


def test_the_name_of_a_series_is_the_name_of_the_column():
    for values in [[1, 2], [1.5, None], ["a", "b"], [True, False]]:
        for data in [pl.Series("k", values), pd.Series(values, name="k"), pd.Index(values, name="k")]:
            assert nt.Table(data).names == ["k"]
        for data in [pl.Series(values), pd.Series(values), pa.array(values), pa.chunked_array([values])]:
            assert nt.Table(data).names == [None]
    assert nt.Table(pl.Series("k", [1]), names=["other"]).names == ["other"]
    table = nt.Table([[1.0], [2.0]], names=["a"])
    assert table.with_column("b", pl.Series("k", [3, 4])).names == ["a", "b"]


def test_words_of_a_single_column_are_categories():
    for data in [pl.Series("k", ["b", "a", "b"]), pd.Series(["b", "a", "b"], name="k"), pl.Series("k", ["b", "a", "b"], pl.Categorical)]:
        table = nt.Table(data)
        words = table.categories["k"]
        assert [words[int(code)] for code in table.column(0)] == ["b", "a", "b"]
    assert nt.Table(pd.Categorical(["b", "a"])).categories == {0: ["a", "b"]}


def test_a_column_with_nulls_keeps_them_where_one_is_added_too(tmp_path):
    table = nt.Table(np.array([[1], [2]]), names=["a"])
    for data in containers([LARGE, None], "int64")[0]:
        wider = table.with_column("b", data)
        assert wider.to_masked("b").tolist() == [LARGE, None] and wider["a"].tolist() == [1, 2]
        with nt.create(tmp_path / "t.ntb", ["a"], dtype="int64", durable=False) as writer:
            with pytest.raises(nt.TableError, match="missing"):
                writer.append(data)
    assert table.names == ["a"]
