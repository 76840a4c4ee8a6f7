"""Missing values: each source beside each target, and the calls that find, fill, drop and make them.

No cell loses a value or a gap in silence: NaN stays NaN, a gap stays a gap, or an exception says where the table has a
missing value.
"""

import copy
import datetime
import math
import pickle

import numpy as np
import pytest

import numeric_table as nt

BIG = 2**53 + 1
NAN = float("nan")
DAY, EPOCH = datetime.date(2024, 2, 29), datetime.date(1970, 1, 1)

# The values of each column; None is missing.
COLUMNS = {
    "int64": [BIG, None, -7],
    "uint8": [255, None, 0],
    "float64": [1.5, NAN, None, -0.25],
    "bool": [True, None, False],
    "category": ["b", None, "a", "NA", ""],
    "date": [DAY, None, EPOCH],
    "all missing": [None, None],
}
NAME = "the column"


def imported(name):
    return pytest.importorskip(name)


def arrow(kind, container):
    pa = imported("pyarrow")
    types = {"int64": pa.int64(), "uint8": pa.uint8(), "float64": pa.float64(), "bool": pa.bool_()}
    types |= {"category": pa.string(), "date": pa.date32(), "all missing": pa.int32()}
    array = pa.array(COLUMNS[kind], types[kind], from_pandas=False)
    return container(pa, array)


def chunked(pa, array):
    return pa.table({NAME: pa.chunked_array([array[:1], array[1:]])})


def sliced(pa, array):
    return pa.table({NAME: pa.concat_arrays([array[:1], array, array[:1]])[1:-1]})


def words(pa, array):
    return pa.table({NAME: array.dictionary_encode() if pa.types.is_string(array.type) else array})


def nullable(kind):
    pd = imported("pandas")
    types = {"int64": "Int64", "uint8": "UInt8", "bool": "boolean", "category": "string", "date": "datetime64[s]"}
    if kind == "float64":
        values, mask = np.array([1.5, NAN, 0, -0.25]), np.array([False, False, True, False])
        return pd.DataFrame({NAME: pd.arrays.FloatingArray(values, mask)})
    return pd.DataFrame({NAME: pd.array(COLUMNS[kind], dtype=types.get(kind, "Int32"))})


def backed(kind):
    pd, pa = imported("pandas"), imported("pyarrow")
    array = arrow(kind, lambda pa, array: pa.chunked_array([array]))
    return pd.DataFrame({NAME: pd.Series(pd.arrays.ArrowExtensionArray(array))})


def objects(kind):
    pd = imported("pandas")
    if kind in ("date", "all missing"):
        return None
    return pd.DataFrame({NAME: pd.Series(COLUMNS[kind], dtype=object)})


def plain_pandas(kind):
    pd = imported("pandas")
    values = COLUMNS[kind]
    if kind == "category":
        return pd.DataFrame({NAME: pd.Categorical(values, categories=["b", "a", "NA", ""])})
    return pd.DataFrame({NAME: np.array(values, dtype="datetime64[s]")}) if kind == "date" else None


def masked(kind):
    values = COLUMNS[kind]
    mask = [value is None for value in values]
    if kind == "date":
        return {NAME: np.ma.array(np.array(values, dtype="datetime64[D]"), mask=mask)}
    dtype = {"all missing": "int32"}.get(kind, kind)
    if kind == "category":
        return None
    return {NAME: np.ma.array([0 if value is None else value for value in values], mask=mask, dtype=dtype)}


def masked_matrix(kind):
    one = masked(kind)
    return None if one is None else one[NAME].reshape(-1, 1)


def listed(kind):
    return {NAME: COLUMNS[kind]}


def rows(kind):
    return [[value] for value in COLUMNS[kind]]


def numpy_dates(kind):
    return np.array(COLUMNS[kind], dtype="datetime64[D]") if kind == "date" else None


SOURCES = {
    "pyarrow table": lambda kind: arrow(kind, lambda pa, array: pa.table({NAME: array})),
    "pyarrow array": lambda kind: arrow(kind, lambda pa, array: array),
    "pyarrow chunked": lambda kind: arrow(kind, chunked),
    "pyarrow sliced": lambda kind: arrow(kind, sliced),
    "pyarrow dictionary": lambda kind: arrow(kind, words),
    "polars frame": lambda kind: imported("polars").from_arrow(SOURCES["pyarrow table"](kind)),
    "polars series": lambda kind: imported("polars").from_arrow(SOURCES["pyarrow table"](kind))[NAME],
    "pandas nullable": nullable,
    "pandas pyarrow": backed,
    "pandas objects": objects,
    "pandas": plain_pandas,
    "numpy.ma": masked,
    "numpy.ma matrix": masked_matrix,
    "lists": listed,
    "rows": rows,
    "numpy": numpy_dates,
}


def by_number(kind):
    """The values as a table has them."""
    values = COLUMNS[kind]
    if kind == "date":
        return [None if value is None else (value - EPOCH).days for value in values]
    return [None if value is None else int(value) if kind == "bool" else value for value in values]


def scaled(kind, table):
    """The values of a column: numbers, labels, days; NaN as 'NaN', and None where one is missing."""
    values = table.to_masked(0).tolist()
    labels = next(iter(table.categories.values()), None)
    if labels is not None:
        values = [None if value is None else labels[int(value)] for value in values]
    if kind == "date":
        largest = max((abs(value) for value in values if value is not None), default=0)
        unit = 86_400 if largest > 10**8 else 1
        unit = 86_400 * 10**3 if largest > 10**11 else unit
        unit = 86_400 * 10**6 if largest > 10**14 else unit
        values = [None if value is None else value // unit for value in values]
    return plain(values)


def plain(values):
    return ["NaN" if isinstance(value, float) and math.isnan(value) else value for value in values]


def through_file(table, folder):
    nt.save(table, folder / "table.ntb", durable=False)
    return nt.load(folder / "table.ntb")


TARGETS = {
    "pyarrow table": lambda table, _: imported("pyarrow").table(table),
    "pyarrow batch": lambda table, _: imported("pyarrow").record_batch(table),
    "polars": lambda table, _: imported("polars").DataFrame(table),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas shared": lambda table, _: table.to_pandas(copy=False),
    ".ntb": through_file,
    "pickle": lambda table, _: pickle.loads(pickle.dumps(table)),
    "pickle, protocol 5": lambda table, _: pickle.loads(pickle.dumps(table, 5)),
    "copy": lambda table, _: copy.copy(table),
    "deep copy": lambda table, _: copy.deepcopy(table),
    "Table(copy=True)": lambda table, _: nt.Table(table, copy=True),
    "slice": lambda table, _: nt.vstack([table[:1], table[1:]]),
    "rows by number": lambda table, _: table[list(range(len(table)))],
    "hstack": lambda table, _: nt.hstack([table, table]).select_columns([0]),
    "with_column": lambda table, _: table.with_column("other", np.arange(len(table))).drop_columns(["other"]),
    "split": lambda table, _: nt.vstack([table.head(1), table.tail(len(table) - 1)]),
}


def came_in(source, kind):
    data = SOURCES[source](kind)
    if data is None:
        pytest.skip(f"{source} has no such column")
    return data


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_column_comes_in_with_its_values_and_gaps(source, kind):
    data = came_in(source, kind)
    for table in [nt.Table(data), nt.Table(data, copy=True)]:
        assert scaled(kind, table) == plain(COLUMNS[kind] if kind == "category" else by_number(kind))
        expected = {"float64": "f"}.get(kind, "iu")
        assert table.dtypes[0].kind in expected or (kind == "all missing" and source in ("lists", "rows"))
        assert table.missing_count(0) == COLUMNS[kind].count(None) and table.has_missing


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_column_goes_out_with_its_values_and_gaps(source, kind, tmp_path):
    table = nt.Table(came_in(source, kind), names=[NAME])
    before, expected = table.to_masked(0).tolist(), scaled(kind, table)
    for name, leave in TARGETS.items():
        again = leave(table, tmp_path)
        again = again if isinstance(again, nt.Table) else nt.Table(again)
        assert scaled(kind, again) == expected, name
        assert again.missing_count(0) == table.missing_count(0) and again.names == [NAME], name
        if not name.startswith(("pandas", "polars")):  # which have other units of dates, and other codes
            assert again == table, name
    assert plain(table.to_masked(0).tolist()) == plain(before)


@pytest.mark.parametrize("kind", COLUMNS)
def test_arrays_show_nan_for_floats_and_refuse_integers(kind):
    table = nt.Table(SOURCES["pyarrow table"](kind))
    values = by_number(kind) if kind != "category" else None
    first = COLUMNS[kind].index(None)
    if kind == "float64":
        np.testing.assert_array_equal(table[NAME], [1.5, NAN, NAN, -0.25])
        np.testing.assert_array_equal(np.asarray(table)[:, 0], [1.5, NAN, NAN, -0.25])
        np.testing.assert_array_equal(np.from_dlpack(table)[:, 0], [1.5, NAN, NAN, -0.25])
        return
    calls = [
        lambda: np.asarray(table),
        lambda: table.rows(),
        lambda: table.to_numpy(),
        lambda: table.column(NAME, dtype="int64"),
        lambda: np.from_dlpack(table),
        lambda: list(table.row_blocks(10)),
    ]
    if kind in ("category", "date"):  # labels and points in time, which can be missing
        gap = None if kind == "category" else np.datetime64("NaT")
        assert [str(value) for value in table[NAME]] == [
            "NaT" if value is None and kind == "date" else str(value) for value in COLUMNS[kind]
        ]
        assert str(table[first, NAME]) == str(gap) and str(table[first][0]) == str(gap)
    else:  # brackets show NaN, and refuse integers beside it that it would round
        assert np.isnan(table[first]).all() and np.isnan(table[first, NAME])
        if kind == "int64":
            calls.append(lambda: table[NAME])
        else:
            shown = [NAN if value is None else value for value in COLUMNS[kind]]
            np.testing.assert_array_equal(table[NAME], np.array(shown, dtype="f8"), strict=True)
    for call in calls:
        with pytest.raises(nt.MissingValueError, match=rf'row {first}, column 0 \("{NAME}"\).*fillna.*to_masked.*float64'):
            call()
    shown = table.column(NAME, dtype="float64")
    assert np.isnan(shown).tolist() == [value is None for value in COLUMNS[kind]]
    if values is not None:
        assert [None if np.isnan(value) else value for value in shown] == [
            None if value is None else float(value) for value in values
        ]


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


def gappy():
    return nt.Table(
        {"a": [BIG, None, None, 4], "b": [NAN, 2.5, None, 7.5], "c": np.arange(4, dtype="u1"), "d": [None, 1, 2, 3]}
    )


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


def test_masked_arrays_share_the_values_of_a_column():
    table = gappy()
    column = table.to_masked("a")
    assert isinstance(column, np.ma.MaskedArray) and column.dtype == "int64" and column.tolist() == [BIG, None, None, 4]
    assert table.to_masked("a").data.__array_interface__["data"] == column.data.__array_interface__["data"]
    assert not column.data.flags.writeable and table.to_masked("c").mask is np.ma.nomask
    with pytest.raises(nt.NotRepresentableError):
        table.to_masked()  # no type has all values
    rounded = table.to_masked(dtype="float64")
    assert rounded.shape == (4, 4) and np.array_equal(np.ma.getmaskarray(rounded), table.missing())
    table.set_missing(0, "a")
    assert column.tolist() == [BIG, None, None, 4] and table.to_masked("a").tolist() == [None, None, None, 4]
    assert table.to_masked("a", dtype="float32").tolist() == [None, None, None, 4.0]


def test_frames_have_types_with_missing_values():
    imported("pandas")
    frame = gappy().to_pandas()
    assert [str(dtype) for dtype in frame.dtypes] == ["Int64", "Float64", "uint8", "Int64"]
    assert frame["a"].isna().tolist() == [False, True, True, False] and frame["a"][0] == BIG
    half = nt.Table({"h": np.ma.array([0.5, 1.5], mask=[False, True], dtype="f2")})
    assert str(half.to_pandas()["h"].dtype) == "Float32"
    assert nt.Table(half.to_pandas()).to_masked(0).tolist() == [0.5, None]


def test_arrow_shares_values_and_bitmaps():
    pa = imported("pyarrow")
    source = pa.table({"a": pa.array([BIG, None, 3] * 1000), "b": pa.array([1.5, None, NAN] * 1000)})
    table = nt.Table(source, copy=False)
    with nt.trace() as trace:
        out = pa.table(table)
    assert trace.nbytes == 0 and out["a"].to_pylist() == source["a"].to_pylist()
    for column in "ab":
        one, two = source[column].chunk(0).buffers(), out[column].chunk(0).buffers()
        assert one[1].address == two[1].address and one[0].address == two[0].address
    table.set_missing(0, "a")  # a copy: the owner of the bitmap does not see it
    assert source["a"][0].as_py() == BIG and out["a"][0].as_py() == BIG and table.missing_count("a") == 1001
    with table.write_rows(1, 2, dtype="float64") as block:
        block[:] = 5
    assert out["a"][1].as_py() is None and table.to_masked("a")[1] == 5


def test_a_bitmap_that_changes_while_it_is_lent_breaks_nothing():
    pa = imported("pyarrow")
    bits, values = np.array([0b11111101] + [255] * 124, dtype="u1"), np.arange(1000)
    array = pa.Array.from_buffers(pa.int64(), 1000, [pa.py_buffer(bits), pa.py_buffer(values)])
    table, kept = nt.Table(array, copy=False), nt.Table(array)
    bits[:] = 0b10101010  # against the promise
    for call in [table.isna, table.to_masked, lambda: table.fillna(0), table.dropna, lambda: repr(table)]:
        try:
            call()
        except Exception as error:
            assert not isinstance(error, RuntimeError), error
    assert kept.missing_count(0) == 1 and kept.to_masked(0)[0] == 0


class Lying:
    """A capsule of another object's data, with a schema that does not fit."""

    def __init__(self, schema, data):
        self.schema, self.data = schema, data

    def __arrow_c_array__(self, requested_schema=None):
        return self.schema.__arrow_c_array__()[0], self.data.__arrow_c_array__()[1]


def test_capsules_that_lie_are_refused():
    pa = imported("pyarrow")
    nulls, numbers = pa.nulls(3), pa.array([1, None, 3])
    for schema, data in [(numbers, nulls), (nulls, numbers), (pa.array(["a", None]), numbers)]:
        with pytest.raises(nt.TableError, match="buffers"):
            nt.Table(Lying(schema, data))
    assert nt.Table(nulls).missing_count(0) == 3 and nt.Table(pa.table({"n": nulls, "x": [1, 2, 3]})).missing_count("n") == 3


@pytest.mark.parametrize("shape", [(1, 2), (3,), (2, 3), (2, 2, 1)])
def test_masks_of_the_wrong_shape_are_refused(shape):
    class OfAnotherMask(np.ma.MaskedArray):
        _mask = mask = property(lambda self: np.ones(shape, dtype=bool), lambda self, mask: None)

    with pytest.raises((nt.TableError, nt.TableTypeError), match="mask"):
        nt.Table(np.zeros((2, 2)).view(OfAnotherMask))


def test_masked_arrays_of_other_dimensions_and_types_are_refused():
    for data, error in [
        (np.ma.array(np.zeros((2, 2, 2)), mask=np.ones((2, 2, 2), dtype=bool)), nt.TableError),
        (np.ma.array([1j], mask=[True]), TypeError),
        (np.ma.array([b"x"], mask=[True]), TypeError),
        (np.ma.masked, nt.TableError),
        ({"a": [1, None], "b": [1]}, nt.TableError),
        ({1: [1, None]}, nt.TableTypeError),
        ({"a": [2**64, None]}, nt.NotRepresentableError),
        ({"a": [BIG, 0.5, None]}, nt.NotRepresentableError),
        ({"a": [object(), None]}, nt.TableTypeError),
    ]:
        with pytest.raises(error):
            nt.Table(data)
    assert nt.Table({"a": [2**64 - 1, None]}).to_masked("a").tolist() == [2**64 - 1, None]
    assert nt.Table({}).shape == (0, 0)
    array = np.arange(4)
    lent = nt.Table(np.ma.array(array, mask=[0, 0, 1, 0]), copy=False)
    assert lent.to_masked(0).data.__array_interface__["data"][0] == array.__array_interface__["data"][0]


def test_a_gap_is_printed_as_one():
    html = gappy()._repr_html_()
    assert html.count(">null<") == 4 and html.count(">NaN<") == 1


def test_devices_refuse_missing_values_before_they_are_looked_for():
    with pytest.raises(nt.TableError, match=r"column 0 \(a\).*missing"):
        gappy().to_device()


def test_files_of_one_type_refuse_missing_values(tmp_path):
    floats = gappy()[["b"]]
    for source in [floats, gappy()[["a"]]]:
        with nt.create(tmp_path / "t.ntb", 1, dtype=source.dtype, durable=False) as writer:
            with pytest.raises(nt.TableError, match="missing"):
                writer.append(source)
    with pytest.raises(nt.TableError, match="missing"):
        nt.save_npy(gappy()[["a"]], tmp_path / "a.npy")


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


@pytest.mark.parametrize("kind", COLUMNS)
def test_text_keeps_values_and_gaps(kind, tmp_path):
    table = nt.Table(SOURCES["pyarrow table"](kind))
    nt.write_csv(table, tmp_path / "t.csv")
    said = {"na_values": ["", "NA"], "keep_default_na": False}  # NaN is a value, as it was written
    words = 0 if kind in ("category", "all missing") else None
    again = nt.read_csv(tmp_path / "t.csv", missing="keep", categorical=words, **said)
    if kind == "date":
        labels = again.categories[NAME]
        found = [None if code is None else labels[code] for code in again.to_masked(0).tolist()]
        assert found == [None if day is None else day.isoformat() for day in COLUMNS[kind]]
    elif kind == "all missing":
        assert again.missing_count(0) == 2
    else:
        assert scaled(kind, again) == scaled(kind, table) and again.missing_count(0) == table.missing_count(0)
    assert again.names == [NAME]


def test_text_has_gaps_as_the_caller_says(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{BIG},x\n,NA\n")
    table = nt.read_csv(path, missing="keep")
    assert table.to_masked("a").tolist() == [BIG, None] and table.missing_count() == {"a": 1, "b": 1}
    assert len(nt.read_csv(path, missing="skip")) == 1
    with pytest.raises(nt.TableError, match="missing"):
        nt.read_csv(path, missing="error")
