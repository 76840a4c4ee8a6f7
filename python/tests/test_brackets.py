"""What users of NumPy, pandas and polars type first: brackets, names, copies, and calls that name other libraries."""

import copy
import datetime
import importlib.metadata
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import numeric_table as nt

CITIES = ["Rome", None, "Oslo", "Rome"]
DAYS = np.array(["2024-02-29", "NaT", "1969-12-31", "2100-01-01"], dtype="datetime64[D]")


def mixed():
    return nt.Table({"city": CITIES, "size": [1, 2, 3, 4], "day": DAYS, "share": [0.5, None, 2.5, float("nan")]})


def test_bytes_that_were_booleans_select_no_rows():
    table = nt.Table({"a": [1, 2, 3, 4], "ok": [False, True, True, False]})
    for select in [lambda flags: table[flags], lambda flags: table[flags, "a"]]:
        with pytest.raises(IndexError, match="== 1"):
            select(table["ok"])
    with pytest.raises(IndexError, match="== 1"):
        table.set_missing(table["ok"], "a")
    assert table[table["ok"] == 1]["a"].tolist() == [2, 3] and table[table["ok"].astype(int)]["a"].tolist() == [1, 2, 2, 1]
    assert table[table["ok"][:2]]["a"].tolist() == [1, 2] and nt.Table([[5]])[np.zeros(1, "u1")].rows().tolist() == [[5]]


def test_a_column_of_words_gives_words():
    table = mixed()
    words = table["city"]
    assert words.tolist() == CITIES and words.dtype == object and not words.flags.writeable
    assert [type(word) for word in words] == [str, type(None), str, str]
    assert table[table["city"] == "Rome"]["size"].tolist() == [1, 4]
    assert table[1:3, "city"].tolist() == [None, "Oslo"] and table[[3, 0], "city"].tolist() == ["Rome", "Rome"]
    assert table[table["size"] > 2, 0].tolist() == ["Oslo", "Rome"] and table[:0, "city"].shape == (0,)
    assert table[0, "city"] == "Rome" and type(table[0, "city"]) is str and table[1, "city"] is None
    assert table[-1, 0] == "Rome" and table[["city"]]["city"].tolist() == CITIES
    assert table.codes("city").tolist() == [0, -1, 1, 0] == table.codes(-4).tolist()
    with pytest.raises(nt.MissingValueError):
        table.column("city")
    present = table.dropna("city")
    assert present.column("city").tolist() == [0, 1, 0] == present.codes("city").tolist()
    assert present.column("city").dtype == present.codes("city").dtype == table.dtypes[0]


def test_codes_without_a_label_are_missing_words():
    pd = pytest.importorskip("pandas")
    table = nt.Table(pd.Series(pd.Categorical(["b", "a", "b"])), names=["k"])
    for dtype in ["u1", "i2", "f4"]:
        other = table.astype(dtype)
        with other.write_rows(dtype="f8") as block:
            block[1] = 7
        assert other["k"].tolist() == ["b", None, "b"] and [other[row, "k"] for row in range(3)] == ["b", None, "b"]
        assert other.to_pandas()["k"].isna().tolist() == [False, True, False]
        assert other.codes("k").tolist() == [1, 7, 1] and other.codes("k").dtype.kind in "iu"
    many = nt.Table([f"{number}" for number in range(300)] + [None])
    assert many.codes(0).dtype == np.int16 and many.codes(0).tolist() == [*range(300), -1]
    with pytest.raises(nt.TableTypeError, match="'size' has no categories"):
        mixed().codes("size")


def test_a_column_of_dates_gives_dates():
    table = mixed()
    assert table["day"].dtype == DAYS.dtype and np.array_equal(table["day"], DAYS, equal_nan=True)
    assert not table["day"].flags.writeable and table[0, "day"] == DAYS[0] and np.isnat(table[1, "day"])
    assert np.array_equal(table[2:, "day"], DAYS[2:])
    assert table[table["day"] > np.datetime64("2000-01-01")].shape[0] == 2
    assert table.column("day", dtype="f8")[0] == 19782
    for unit in ["s", "ms", "us", "ns"]:
        times = DAYS[[0, 2]].astype(f"datetime64[{unit}]")
        assert np.array_equal(nt.Table({"t": times})["t"], times) and nt.Table({"t": times})["t"].dtype == times.dtype
    days = nt.Table({"t": DAYS[[0, 2]]}).astype("f8")
    assert np.array_equal(days["t"], DAYS[[0, 2]])
    with days.write_rows() as block:
        block[1] = 0.5
    with pytest.raises(nt.TableError, match=r"column 't', row 1: NumPy has no point in time 0.5 D"):
        days["t"]
    assert days[0, "t"] == DAYS[0] and days.column("t")[1] == 0.5


def test_a_row_of_numbers_is_an_array_and_any_other_row_a_tuple():
    table = mixed()
    assert table[0] == ("Rome", 1, DAYS[0], 0.5)
    assert [type(value) for value in table[0]] == [str, int, np.datetime64, float]
    assert table[1][:2] == (None, 2) and np.isnat(table[1][2]) and table[1][3] is None
    assert np.isnan(table[-1][3]) and table[2, ["size", "city"]] == (3, "Oslo") and table[2, :2] == ("Oslo", 3)
    assert isinstance(table[2, ["size", "share"]], np.ndarray) and table[2, ["size", "share"]].tolist() == [3, 2.5]
    assert nt.Table({"c": ["x"], "n": [2**53 + 1]})[0] == ("x", 2**53 + 1)
    assert np.isnan(nt.Table({"n": [1, None]})[1]).tolist() == [True]
    with pytest.raises(nt.TableIndexError, match="no row 4"):
        table[4]
    assert [row[1] for row in table] == [1, 2, 3, 4]
    alone = nt.Table(["b", "a"])
    assert alone[1] == ("a",) and alone[0, :] == ("b",)


def test_a_loop_has_the_rows_that_brackets_have():
    days = np.array(["2024-01-02", "NaT"], dtype="datetime64[D]")
    table = nt.Table({"k": ["x", None], "d": days, "a": [1, 2]})
    rows = list(table)
    assert rows[0] == table[0] == ("x", days[0], 1) and rows[1][0] is None and np.isnat(rows[1][1]) and len(rows) == 2
    assert list(table[:0]) == [] and [row.tolist() for row in nt.Table([[1, 2]])] == [[1, 2]]


def test_words_and_dates_need_no_pandas():
    program = (
        "import sys\nsys.modules['pandas'] = sys.modules['pyarrow'] = sys.modules['polars'] = None\n"
        "import numpy as np, numeric_table as nt\n"
        "table = nt.Table({'c': ['x', None], 'd': np.array(['2024-01-01', 'NaT'], 'M8[s]')})\n"
        "assert table['c'].tolist() == ['x', None] and table[0, 'd'] == np.datetime64('2024-01-01', 's')\n"
        "assert table.__dataframe__().column_names() == ['c', 'd']\n"
        "for call in (table.to_arrow, table.to_polars, lambda: table.__dataframe__().get_chunks()):\n"
        "    try: call()\n    except ImportError as error: assert 'requires the package' in str(error), error\n"
        "    else: raise AssertionError(call)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("make", [mixed, lambda: nt.Table(np.zeros((4, 3)), names=["size", "width", "share"])])
def test_a_name_that_no_column_has_is_a_key_error(make):
    table = make()
    calls = [
        lambda name: table[name],
        lambda name: table[[name]],
        lambda name: table[0, name],
        lambda name: table[1:, name],
        table.column,
        table.codes,
        table.select_columns,
        table.drop_columns,
        table.drop,
        table.isna,
        table.missing_count,
        table.dropna,
        table.sort_by,
        table.to_masked,
        lambda name: table.fillna({name: 0}),
        lambda name: table.set_missing(0, name),
        lambda name: table.rename({name: "x"}),
        lambda name: table.split_rows(0.5, 1, by=name),
        lambda name: nt.GroupStatistics(table, by=name, categories=2),
    ]
    for call in calls:
        with pytest.raises(nt.TableKeyError) as caught:
            call("sise")
        assert isinstance(caught.value, KeyError) and isinstance(caught.value, nt.TableError)
        assert str(caught.value) == 'no column has the name "sise"; similar names: "size"'
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is nt.TableKeyError and str(again) == str(caught.value)
    assert nt.TableKeyError.__module__ == "numeric_table" and nt.TableKeyError.__doc__


def test_labels_of_columns():
    table = nt.Table(np.zeros((2, 3)), names=["a", None, "c"])
    assert table.columns == ["a", 1, "c"] and table.columns == list(table.columns)
    assert "a" in table and 1 in table and np.int64(1) in table
    for other in ["b", "", 0, 2, 3, -1, 1.0, None, True, b"a", ("a",), 2**70, np.zeros(2)]:
        assert other not in table
    table.columns = table.columns
    assert table.names == ["a", None, "c"]
    table.columns = np.array(["x", "y", "z"])
    assert table.names == ["x", "y", "z"]
    for wrong in (["x", "y"], ["x", "y", 0], ["x", "y", True], ["x", "y", 1.5], ["x", "x\0", b"z"], "xyz"):
        with pytest.raises((nt.TableError, TypeError)):
            table.columns = wrong
        assert table.names == ["x", "y", "z"]


def test_a_copy_has_memory_of_its_own():
    for table in [nt.Table(np.arange(6.0).reshape(3, 2)), mixed(), nt.Table(np.asfortranarray(np.eye(3)))]:
        twin, shared = table.copy(), copy.copy(table)
        assert twin == table and twin.kind == table.kind and twin.columns == table.columns and twin.order == table.order
        assert not np.may_share_memory(twin.column(1), table.column(1))
        assert table.kind == "homogeneous" or np.may_share_memory(shared.column(1), table.column(1))
    sparse = pytest.importorskip("scipy.sparse")
    table = nt.Table(sparse.csr_array(np.eye(3)))
    assert table.copy() == table and table.copy().is_sparse


def test_columns_are_dropped():
    table = nt.Table(np.arange(8).reshape(2, 4), names=["a", "b", "c", "d"])
    for dropped in [
        table.drop("a", "c"),
        table.drop(["a", "c"]),
        table.drop(columns=["a", "c"]),
        table.drop("a").drop(columns="c"),
        table.drop(["a", "c"], axis=1),
        table.drop(0, "c", axis="columns"),
        table.drop(slice(0, 3, 2)),
    ]:
        assert dropped == table[["b", "d"]]
    assert table.drop() == table and table.drop("a", "a").names == ["b", "c", "d"]
    with pytest.raises(TypeError, match="rows have no labels"):
        table.drop(0, axis=0)
    with pytest.raises(TypeError, match="not both"):
        table.drop("a", columns="b")


def test_there_is_no_transpose_and_the_error_says_what_to_do():
    table = nt.Table([[1, 2]])
    with pytest.raises(AttributeError, match=r"to_numpy\(\)\.T"):
        table.T
    assert not hasattr(table, "T")


def test_a_caller_may_ask_for_writable_copies():
    table = nt.Table(np.arange(6.0).reshape(3, 2), names=["a", "b"])
    for found in [table.rows(copy=True), table.column("a", copy=True), table.rows(1, 2, "i4", copy=True)]:
        found += 1
    assert table.rows().tolist() == [[0, 1], [2, 3], [4, 5]]
    assert not table.rows().flags.writeable and not table.column(0).flags.writeable
    assert np.may_share_memory(table.rows(copy=False), table.rows())
    columns = nt.Table({"a": [1, 2], "b": [0.5, 1.5]})
    assert np.may_share_memory(columns.column("a", copy=False), columns.column("a"))
    for call in [
        lambda: table.rows(dtype="f4", copy=False),
        lambda: table.column("a", "f4", copy=False),
        lambda: columns.rows(copy=False),
        lambda: columns.column("a", "f8", copy=False),
        lambda: table.to_scipy(copy=False),
    ]:
        with pytest.raises(nt.CopyRequiredError):
            call()
    with pytest.raises(nt.TableIndexError):
        table.rows(0, 9, copy=False)


def test_a_sparse_array_may_be_a_writable_copy():
    sparse = pytest.importorskip("scipy.sparse")
    array = sparse.csr_array(np.array([[0, 1.5, 0], [2.5, 0, 0]]))
    table = nt.Table(array)
    found = table.to_scipy(copy=True)
    found *= 2
    found.data[0] = 0
    found.eliminate_zeros()
    found.sort_indices()
    assert found.toarray().tolist() == [[0, 0, 0], [5, 0, 0]] and (table.to_scipy() != array).nnz == 0
    assert not table.to_scipy().data.flags.writeable
    assert np.may_share_memory(table.to_scipy(copy=False).data, table.to_scipy().data)
    with pytest.raises(nt.CopyRequiredError):
        table.to_scipy("f4", copy=False)


def test_a_sparse_table_shows_what_it_stores():
    sparse = pytest.importorskip("scipy.sparse")
    zero = sparse.csr_array((np.array([0.0, 2.5]), np.array([0, 2]), np.array([0, 2, 2])), shape=(2, 3))
    table = nt.Table(zero)
    assert repr(table).splitlines() == [
        "2 x 3 float64, sparse, 2 values stored",
        "     0  1    2",
        "0  0.0  .  2.5",
        "1    .  .    .",
    ]
    html = table._repr_html_()
    assert html.count('<td style="text-align: right">.</td>') == 4 and "2 values stored" in html


def test_types_have_the_names_of_numpy_outside_of_quotes(tmp_path):
    assert repr(nt.Table(np.zeros((1, 1), "u1"), names=["u8"])).startswith("1 x 1 uint8, row major\n   u8")
    with pytest.raises(nt.NotRepresentableError, match="not representable as uint8"):
        nt.Table([[300]], dtype="uint8", policy="checked")
    for name in ["u8", 'f32 "f64" i8', "a\\", 'i16\\" u16', "'i64'"]:
        table = nt.Table([[1]], names=[name])
        with pytest.raises(nt.TableKeyError) as caught:
            table[name + " u8"]
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        assert f'no column has the name "{quoted} u8"' in str(caught.value)
    path = tmp_path / "u8 f32.ntb"
    path.write_text("no table")
    with pytest.raises(nt.FormatError, match=f"^{re.escape(str(path))}: "):
        nt.load(path)
    with pytest.raises(nt.TableFileNotFoundError, match="i8"):
        nt.load(tmp_path / "i8")


def test_other_libraries_are_called_by_name():
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    table = mixed()[:3]  # without NaN, which differs from itself
    assert isinstance(table.to_arrow(), pa.Table) and table.to_arrow().equals(pa.table(table))
    assert isinstance(table.to_polars(), pl.DataFrame) and table.to_polars().equals(pl.DataFrame(table))
    assert table.to_polars()["city"].to_list() == CITIES[:3]


def test_frames_come_by_the_interchange_protocol():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = mixed()
    protocol = table.__dataframe__()
    assert (protocol.num_rows(), protocol.num_columns(), protocol.num_chunks()) == (4, 4, 1)
    assert list(protocol.column_names()) == table.names
    frame = pd.api.interchange.from_dataframe(table.drop("day"))
    assert frame["size"].tolist() == [1, 2, 3, 4] and frame["city"].tolist()[::2] == ["Rome", "Oslo"]
    assert nt.Table(pl.from_dataframe(table.drop("day")))["size"].tolist() == [1, 2, 3, 4]
    unnamed = nt.Table(np.zeros((1, 2)), names=["a", None])
    assert not hasattr(unnamed, "__dataframe__")
    with pytest.raises(AttributeError, match="requires names, and column 1 has none"):
        unnamed.__dataframe__


ARRAY_API = """
import numpy as np, numeric_table as nt, sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.preprocessing import MinMaxScaler

array = np.random.default_rng(0).normal(size=(30, 3))
table, classes = nt.Table(array), (array[:, 0] > 0).astype(int)
with sklearn.config_context(array_api_dispatch=True):
    for make in (MinMaxScaler, lambda: PCA(2, svd_solver="full")):
        found = make().fit_transform(table)
        assert type(found) is np.ndarray and np.array_equal(found, make().fit_transform(array))
    for make in (lambda: Ridge(solver="svd"), LinearDiscriminantAnalysis):
        found = make().fit(table, classes).predict(table)
        assert np.array_equal(found, make().fit(array, classes).predict(array))
"""


def test_estimators_take_tables_where_scikit_learn_dispatches_by_the_array_api():
    assert nt.Table([[1]]).__array_namespace__(api_version="2024.12") is np
    pytest.importorskip("sklearn")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}  # which SciPy reads when it is imported
    run = subprocess.run([sys.executable, "-c", ARRAY_API], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr


def test_the_version_has_one_home():
    assert re.fullmatch(r"\d+\.\d+\.\d+", nt.__version__)
    try:
        assert importlib.metadata.version("numeric-table") == nt.__version__
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("it is not installed")


def test_missing_integers_are_nan_in_brackets():
    table = nt.Table({"a": np.ma.array([1, 2, 5], mask=[0, 1, 0], dtype="i4"), "n": [4, None, 6], "x": [0.5, 1.5, 2.5]})
    assert table["n"].dtype == np.float64 and np.array_equal(table["n"], [4, np.nan, 6], equal_nan=True)
    assert np.isnan(table[1, "n"]) and table[0, "n"] == 4 and table[0, "n"].dtype == np.int64
    assert np.array_equal(table[1], [np.nan, np.nan, 1.5], equal_nan=True)
    whole = table[["a", "n"]]
    assert np.isnan(whole[1]).all() and whole[0].tolist() == [1, 4] and whole[0].dtype == np.int64
    assert np.isnan(whole[1, ["n"]]).all() and whole[1, :].dtype == np.float64
    for row, found in enumerate(whole):
        np.testing.assert_array_equal(found, whole[row])
    assert table[table["n"] > 3]["x"].tolist() == [0.5, 2.5] == table[~(table["n"] < 3)][::2]["x"].tolist()
    assert table[1:, "n"][1] == 6 and table[[0, 2], "n"].dtype == np.int64
    words = nt.Table({"k": ["x", None], "n": [1, None]})
    assert words[1] == (None, None) and np.isnan(words[1, "n"])
    big = nt.Table({"n": [2**53 + 1, None], "m": [1, 2]})
    for call in [lambda: big["n"], lambda: big.column("n"), lambda: big[["n"]].rows()]:
        with pytest.raises(nt.MissingValueError, match="to_masked"):
            call()
    assert big[0, "n"] == 2**53 + 1 and np.isnan(big[1, "n"]) and big[0].tolist() == [2**53 + 1, 1]


def test_dates_compare_with_texts_and_dates():
    table = nt.Table({"d": np.array(["2024-01-01", "NaT", "2024-03-01"], "M8[D]"), "k": [0, 1, 2]})
    times = nt.Table({"d": np.array(["2024-01-01T12:30", "NaT"], "M8[us]")})["d"]
    day = "2024-01-01"
    for same in [day, datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1), np.datetime64(day), "2024-01-01T00:00"]:
        assert (table["d"] == same).tolist() == [True, False, False] == (same == table["d"]).tolist()
        assert (table["d"] != same).tolist() == [False, True, True]
        assert (table["d"] > same).tolist() == [False, False, True] == (same < table["d"]).tolist()
        assert (table["d"] <= same).tolist() == [True, False, False] and type(table["d"] <= same) is np.ndarray
        assert (times > same).tolist() == [True, False]
    assert (table["d"] >= [day, day, None]).tolist() == [True, False, False]
    assert (times == "2024-01-01T12:30:00").tolist() == [True, False]
    assert table[table["d"] > "2024-02"]["k"].tolist() == [2] and not np.equal(table["d"], None).any()
    assert (table["d"] - np.datetime64(day)).tolist()[2] == datetime.timedelta(60) and table["d"].max() is not None
    # NumPy would convert these to nanoseconds, and wrap.
    fine = nt.Table({"d": np.array(["2024-01-01", "2200-01-01", "NaT"], "M8[ns]")})["d"]
    for far, is_later in [(datetime.date(9999, 1, 1), True), ("0001-01-01", False), ("-290000-01", False)]:
        assert (fine < far).tolist() == (far > fine).tolist() == (fine <= far).tolist() == [is_later, is_later, False]
        assert (fine > far).tolist() == (far <= fine).tolist() == [not is_later, not is_later, False]
        assert not (fine == far).any() and (fine != far).all()
    assert (fine < ["9999-01-01"]).tolist() == [True, True, False] == (["9999-01-01"] > fine).tolist()
    half = "2024-01-01T00:00:00.5"
    assert (table["d"] > half).tolist() == [False, False, True] and (table["d"] < half).tolist() == [True, False, False]
    assert (table["d"] == half).tolist() == [False] * 3 and (half >= table["d"]).tolist() == [True, False, False]
    assert (table["d"] == "yesterday").tolist() == [False] * 3 and (table["d"] != "yesterday").all()
    with pytest.raises(TypeError, match="not a date or a time in ISO 8601"):
        table["d"] < "yesterday"
    for wrong, error in [(5, TypeError), ("2024-01-01T00:00Z", ValueError), (1.5, TypeError)]:
        for compare in [lambda: table["d"] == wrong, lambda: table["d"] < wrong]:
            with pytest.raises(error, match="date|zone"):
                compare()
    zone = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    with pytest.raises(nt.TableTypeError, match="time zone"):
        table["d"] > zone
    again = pickle.loads(pickle.dumps(table["d"]))
    assert type(again) is np.ndarray and np.array_equal(again, table["d"], equal_nan=True)
    assert repr(times).startswith("array(['2024") and nt.Table({"d": table["d"]})["d"][0] == table["d"][0]


def test_missing_words_equal_nothing():
    words = nt.Table({"w": ["x", None, "a"]})["w"]
    assert (words == None).tolist() == [False, False, False]  # noqa: E711
    assert (words != None).tolist() == [True, True, True]  # noqa: E711
    assert (words == ["x", None, "q"]).tolist() == [True, False, False]
    assert (words != "x").tolist() == [False, True, True]
    days = nt.Table({"d": np.array(["2024-01-02", "NaT"], "M8[D]")})["d"]
    assert (days == float("nan")).tolist() == [False, False]
    assert np.nanmax(days) == np.datetime64("2024-01-02")
    assert type(np.concatenate([days, days])) is np.ndarray and len(np.unique(days)) == 2
    filled = np.where(np.isnat(days), np.datetime64("1970-01-01"), days)
    assert filled.astype(str).tolist() == ["2024-01-02", "1970-01-01"]


def test_missing_words_are_in_no_order():
    words = nt.Table({"k": ["b", None, "a"]})["k"]
    assert (words > "a").tolist() == [True, False, False] and ("b" >= words).tolist() == [True, False, True]
    assert (words < words[::-1]).tolist() == [False, False, True] and (words == "b").tolist() == [True, False, False]


@pytest.mark.parametrize("key", [2**63, -(2**70), 1.0, 0.5, None, object()])
def test_a_key_that_selects_nothing_is_refused_in_a_sentence(key):
    table = mixed()
    error = IndexError if isinstance(key, int) else TypeError
    for call in [lambda: table[key], lambda: table[0, key], lambda: table[:, key], lambda: table[key, "size"]]:
        with pytest.raises(error, match="there is no index|are selected by an index"):
            call()
    for call in [lambda: table.column(key), lambda: table.codes(key)]:
        with pytest.raises(error, match="there is no index|a column is its name or its index"):
            call()


NAMES = ["values", "loc", "iloc", "mean", "sort_values", "merge", "to_csv", "unique", "T", "index", "to_dict", "isnull"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_pandas_are_answered_by_what_to_write(name):
    table = mixed()
    assert not hasattr(table, name) and getattr(table, name, 5) == 5 and name not in dir(table)
    with pytest.raises(AttributeError, match=rf"a table has no \.{name}: .") as error:
        getattr(table, name)
    assert error.value.name == name and error.value.obj is table


def test_a_table_has_no_assignment():
    table = mixed()
    before = table.copy()
    with pytest.raises(TypeError, match=r"table\['z'\] = .*with_column"):
        table["z"] = 1
    with pytest.raises(TypeError, match="drop"):
        del table["size"]
    assert table == before
    with pytest.raises(AttributeError, match="^'numeric_table.Table' object has no attribute 'no_such'$"):
        table.no_such
