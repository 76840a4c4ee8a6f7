"""Missing values: each source beside each target.

No cell loses a value or a gap in silence: NaN stays NaN, a gap stays a gap, or an exception says where the table has a
missing value.
"""

import copy
import datetime
import pickle

import numpy as np
import pytest

import numeric_table as nt
from gaps import BIG, NAN, imported, plain

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
