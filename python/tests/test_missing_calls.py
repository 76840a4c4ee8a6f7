"""The calls that find, fill, drop and make missing values."""

import numpy as np
import pytest

import numeric_table as nt
from gaps import BIG, NAN, gappy, imported, plain


def test_a_table_in_one_block_has_no_gaps_until_one_is_made():
    for array in [np.arange(6).reshape(3, 2), np.ma.array(np.arange(6).reshape(3, 2))]:
        table = nt.Table(array, names=["a", "b"])
        shown = table.rows()
        assert table.kind == "homogeneous" and not table.has_missing and not table.isna().any()
        table.set_missing(1, "a")
        assert table.missing_count() == {"a": 1, "b": 0} and shown.tolist() == [[0, 1], [2, 3], [4, 5]]
        table.set_missing([0, -1], "b")
        table.set_missing(slice(2, None), 0)
        assert table.missing().tolist() == [[False, True], [True, False], [True, True]]
        assert table.to_masked().tolist() == [[0, None], [None, 3], [None, None]]
        for rows, error in [(3, IndexError), ([7], IndexError), ([True], IndexError), ("a", TypeError), (1.5, Exception)]:
            with pytest.raises(error):
                table.set_missing(rows, "a")
        with table.write_rows(1, 2, dtype="float64") as block:
            block[0, 0] = 9
        assert table.missing_count("a") == 1 and table.to_masked("a").tolist() == [0, 9, None]
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(nt.TableTypeError, match="sparse"):
        nt.Table(sparse.csr_array(np.eye(2))).set_missing(0, 0)


def test_isna_counts_nan_and_missing_does_not():
    table = gappy()
    assert table.isna("b").tolist() == [True, False, True, False] and table.missing("b").tolist() == [False, False, True, False]
    assert table.isna().tolist() == (~table.notna()).tolist() and table.isna().dtype == bool
    assert table.isna().sum(axis=0).tolist() == [2, 2, 0, 1] and table.missing().sum(axis=0).tolist() == [2, 1, 0, 1]
    assert table.isna(-1).tolist() == [True, False, False, False] and table.isna().flags.writeable
    assert nt.Table(np.zeros((0, 2))).isna().shape == (0, 2) and nt.Table.zeros(3, 0).isna().shape == (3, 0)
    twice = nt.hstack([table[["a"]], table[["a"]]])
    assert twice.missing_count() == {"a": 2, 1: 2}
    sparse = pytest.importorskip("scipy.sparse")
    of_sparse = nt.Table(sparse.csr_array(np.array([[0, NAN], [1, 0]])))
    assert of_sparse.isna().tolist() == [[False, True], [False, False]] and not of_sparse.has_missing
    assert len(of_sparse.dropna()) == 1 and of_sparse.fillna({0: 5}) == of_sparse
    with pytest.raises(nt.TableError, match="sparse"):
        of_sparse.fillna(0)


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 20_000])
def test_isna_of_many_rows_is_that_of_numpy(rows):
    random = np.random.default_rng(rows)
    values, mask = random.integers(0, 100, (rows, 3)), random.random((rows, 3)) < 0.3
    table = nt.Table(np.ma.array(values, mask=mask))
    assert np.array_equal(table.isna(), mask) and np.array_equal(table.missing(), mask)
    floats = values.astype("f4")
    floats[random.random((rows, 3)) < 0.2] = np.nan
    table = nt.Table(np.ma.array(floats, mask=mask))
    assert np.array_equal(table.isna(), mask | np.isnan(floats))
    again = table.to_masked()
    assert np.array_equal(np.ma.getmaskarray(again), mask)
    np.testing.assert_array_equal(again.filled(-1), np.where(mask, -1, floats))


def test_gaps_and_nan_are_filled():
    table = gappy()
    filled = table.fillna(0)
    assert filled.rows(dtype="i8").tolist() == [[BIG, 0, 0, 0], [0, 2, 1, 1], [0, 0, 2, 2], [4, 7, 3, 3]]
    assert [str(dtype) for dtype in filled.dtypes] == [str(dtype) for dtype in table.dtypes] and table == gappy()
    assert table.fillna({"b": 9}).missing_count() == {"a": 2, "b": 0, "c": 0, "d": 1}
    assert table.fillna(method="ffill").to_masked("a").tolist() == [BIG, BIG, BIG, 4]
    forward = table.fillna(method="ffill")
    assert forward.to_masked("d").tolist() == [None, 1, 2, 3]
    assert plain(forward.to_masked("b").tolist()) == ["NaN", 2.5, 2.5, 7.5]  # before the first value, NaN stays NaN
    assert table.fillna(method="bfill").to_masked("b").tolist() == [2.5, 2.5, 7.5, 7.5]
    assert table.fillna(method="mean").to_masked("b").tolist() == [5.0, 2.5, 5.0, 7.5]
    assert table.fillna(method="median").to_masked("d").tolist() == [2, 1, 2, 3]
    as_nan = table.fillna({"b": NAN})
    assert as_nan.missing_count("b") == 0 and as_nan.isna("b").sum() == 2
    for value, error in [
        (1.5, nt.NotRepresentableError),
        ({"c": 1, "a": NAN}, nt.NotRepresentableError),
        (2**70, nt.TableError),
        ("x", nt.TableError),
        (None, TypeError),
        ([1], TypeError),
        ({"z": 1}, ValueError),
        ({"a": 1, 0: 2}, nt.TableError),
    ]:
        with pytest.raises(error):
            table.fillna(value)
        assert table == gappy()
    for call in [lambda: table.fillna(1, method="mean"), lambda: table.fillna(method="linear")]:
        with pytest.raises((TypeError, ValueError)):
            call()
    block = nt.Table(np.array([[1.0, NAN], [3.0, 4.0]], dtype="f4"), names=["x", "y"])
    assert block.fillna(0).kind == "homogeneous" and block.fillna(0).rows().tolist() == [[1, 0], [3, 4]]
    assert block.fillna(0).names == ["x", "y"] and np.isnan(block[0, 1])


def test_numbers_fill_no_words_and_no_dates():
    days = np.array(["2024-01-02", "NaT", "2024-01-04"], dtype="datetime64[D]")
    table = nt.Table({"k": ["x", None, "y"], "d": days, "a": [1, None, 3]})
    for filled in [table.fillna(0), table.fillna(method="mean"), table.fillna(method="median")]:
        assert filled.missing_count() == {"k": 1, "d": 1, "a": 0}
    assert table.fillna({"k": 1})["k"].tolist() == ["x", "y", "y"]
    for wrong in [2, -1, 77, 0.5]:
        with pytest.raises(ValueError):
            table.fillna({"k": wrong})
    assert table.fillna(method="ffill").missing_count() == {"k": 0, "d": 0, "a": 0}


def test_categories_are_filled_by_their_label():
    pa = imported("pyarrow")
    table = nt.Table(pa.table({"k": pa.array(["x", None, "y"])}))
    filled = table.fillna("y")
    assert [filled.categories["k"][code] for code in filled.codes("k")] == ["x", "y", "y"]
    with pytest.raises(nt.TableError, match='"z" is not a label'):
        table.fillna("z")


def test_rows_are_dropped():
    table = gappy()
    assert table.dropna().rows().tolist() == [[4, 7.5, 3, 3]]
    assert table.dropna("a").to_masked("a").tolist() == [BIG, 4] and len(table.dropna(["b", "d"])) == 2
    assert table.dropna("c") == table and len(table.dropna([])) == 4
    kept = table.dropna("d")
    assert kept.missing_count() == {"a": 2, "b": 1, "c": 0, "d": 0} and kept.dtypes == table.dtypes


def test_equal_tables_have_equal_gaps():
    table = gappy()
    assert table == gappy() and table != table.fillna({"b": NAN}) and table != table.fillna(0)
    assert table.fillna(0) == table.fillna(0)
    written = nt.Table({"a": np.ma.array([1, 5], mask=[False, True])})
    assert written == nt.Table({"a": np.ma.array([1, 77], mask=[False, True])})  # the value under a gap does not count
    assert nt.Table({"a": [1, None]}).fillna(2) == nt.Table(np.array([[1], [2]]), names=["a"])


def test_types_change_and_gaps_stay():
    table = gappy()
    changed = table.astype("float32")
    assert changed.missing_count() == table.missing_count() and changed.dtype == "float32"
    assert np.array_equal(changed.missing(), table.missing()) and plain(changed.to_masked("b").tolist()) == ["NaN", 2.5, None, 7.5]
    with pytest.raises(nt.NotRepresentableError, match=f"{BIG} at row 0, column 0"):
        table.astype("float64", policy="exact")
    report = table.conversion_report("float64")
    assert report["inexact"] == 1 and report["first"] == (0, 0) and report["values"] == 12


def test_a_gap_is_printed_as_one():
    html = gappy()._repr_html_()
    assert html.count(">null<") == 4 and html.count(">NaN<") == 1


def test_statistics_leave_missing_values_out_and_count_them():
    found = nt.statistics(gappy())
    assert found.missing_count.tolist() == [2, 1, 0, 1] and found.nan_count.tolist() == [0, 1, 0, 0]
    assert found.count.tolist() == [2, 2, 4, 3] and found.mean.tolist()[1:] == [5.0, 1.5, 2.0]
    assert found.column("d")["missing_count"] == 1 and found.column("d")["minimum"] == 1
    covariance, histogram, sketch = nt.Covariance(4), nt.Histogram(4, 2, (0, 10)), nt.QuantileSketch(4)
    for partial in (covariance, histogram, sketch):
        partial.update(gappy())
    assert covariance.missing_rows == 3
    assert histogram.missing_count.tolist() == sketch.missing_count.tolist() == [2, 1, 0, 1]
