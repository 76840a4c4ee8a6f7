"""pyarrow, polars and pandas: columns, names and categories, in both directions."""

import numpy as np
import pytest

import numeric_table as nt

pa = pytest.importorskip("pyarrow")

COLUMNS = {"a": np.arange(6, dtype="i2"), "b": np.linspace(0, 1, 6), "c": np.arange(6, dtype="u1")}


def check(table):
    assert table.names == ["a", "b", "c"] and [str(dtype) for dtype in table.dtypes] == ["int16", "float64", "uint8"]
    for name, values in COLUMNS.items():
        assert np.array_equal(table[name], values)


def test_arrow_tables_come_without_a_copy_and_go():
    arrow = pa.table(COLUMNS)
    check(nt.Table(arrow))
    table = nt.Table(arrow, copy=False)
    check(table)
    buffer = arrow.column("b").chunk(0).buffers()[1]
    assert table["b"].__array_interface__["data"][0] == buffer.address
    back = pa.table(table)
    assert back.to_pydict() == arrow.to_pydict()
    assert back.column("b").chunk(0).buffers()[1].address == buffer.address
    assert pa.record_batch(table).num_rows == 6
    with table.write_rows() as block:
        block[:] = 0
    assert arrow.column("b").to_pylist() == COLUMNS["b"].tolist()  # the table copied first
    chunks = pa.concat_tables([arrow, arrow.slice(2, 3)])
    assert nt.Table(chunks).shape == (9, 3)
    with pytest.raises(nt.CopyRequiredError):
        nt.Table(chunks, copy=False)
    assert nt.Table(arrow.slice(0, 0)).shape == (0, 3)
    homogeneous = nt.Table(np.array([[1.0, 2.0], [3.0, 4.0]]), names=["x", "y"])
    assert pa.table(homogeneous).to_pydict() == {"x": [1.0, 3.0], "y": [2.0, 4.0]}
    for order in ["C", "F"]:
        assert pa.table(nt.Table.zeros(3, 2, dtype="f4", order=order)).num_columns == 2


def test_nulls_are_missing_values():
    table = nt.Table(pa.table({"x": pa.array([1.0, None])}))
    assert np.isnan(table["x"][1]) and table.missing("x").tolist() == [False, True]
    assert nt.Table(pa.table({"x": pa.array([1, None])})).to_masked("x").tolist() == [1, None]


def test_words_are_categories():
    table = nt.Table(pa.table({"word": pa.array(["x", "y", "x"]).dictionary_encode()}))
    assert table.codes("word").tolist() == [0, 1, 0] and table["word"].tolist() == ["x", "y", "x"]
    assert pa.table(table).column("word").to_pylist() == ["x", "y", "x"]
    assert "<td" in table._repr_html_() and ">y<" in table._repr_html_()


def test_polars_takes_tables_and_gives_frames():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(COLUMNS)
    table = nt.Table(frame)
    check(table)
    assert pl.DataFrame(table).equals(frame)


def test_pandas_takes_tables_and_gives_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS)
    table = nt.Table(frame)
    check(table)
    frame.loc[0, "b"] = 77.0  # pandas lends memory that it writes
    check(table)
    frame.loc[0, "b"] = 0.0
    assert pa.table(table).to_pandas().equals(frame)
    assert nt.Table(frame.sample(3)).names == ["a", "b", "c"]  # an index is no column
    categories = pd.DataFrame({"k": pd.Categorical(["u", "v", "u"])})
    assert nt.Table(categories).column("k").tolist() == [0, 1, 0]


def test_a_stream_of_one_column_is_a_column():
    pl = pytest.importorskip("polars")
    assert nt.Table(pl.Series([1.0, 2.0])).rows().tolist() == [[1.0], [2.0]]
    assert nt.Table(pa.array([1, 2, 3])).shape == (3, 1)
    assert nt.Table(pa.chunked_array([[1.5], [2.5]])).rows().tolist() == [[1.5], [2.5]]


def test_seconds_that_polars_does_not_have_are_refused():
    polars = pytest.importorskip("polars")
    limit = (2**63 - 1) // 1000
    for count in [limit, -limit]:
        table = nt.Table({"t": np.array([0, count], "M8[s]")})
        assert table.to_polars()["t"].to_physical().to_list() == [0, count * 1000]
    for count in [limit + 1, -limit - 1, 2**60]:
        table = nt.Table({"a": [1, 2], "t": np.array([0, count], "M8[s]")})
        text = rf"column 't', row 1: polars has no point in time {count} s .* {limit} s"
        with pytest.raises(nt.TableError, match=text):
            table.to_polars()
        with pytest.raises(nt.TableError, match=text):
            polars.DataFrame(table)
        assert pa.table(table)["t"].cast(pa.int64())[1].as_py() == count  # Arrow has it
        table.set_missing([1], "t")
        assert table.to_polars()["t"].null_count() == 1 and table.to_arrow().num_rows == 2
    assert isinstance(nt.Table({"t": np.array([2**62], "M8[ms]")}).to_polars(), polars.DataFrame)
