"""Frames of pandas': columns, names, categories and types in both directions, with pyarrow and without it."""

import datetime
import pickle
import subprocess
import sys

import numpy as np
import pytest

import numeric_table as nt

pd = pytest.importorskip("pandas")

BIG = 2**53 + 1
TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"]


def address(values):
    return np.asarray(values).__array_interface__["data"][0]


def same(one, two):
    pd.testing.assert_frame_equal(one, two, check_column_type=False)


@pytest.mark.parametrize("dtype", TYPES)
def test_columns_of_every_type_go_and_come(dtype):
    values = np.arange(12).reshape(4, 3).astype(dtype)
    by_column = pd.DataFrame({name: values[:, place].copy() for place, name in enumerate("abc")})
    for frame in [pd.DataFrame(values, columns=list("abc")), by_column]:
        table = nt.Table(frame)
        assert table.names == list("abc") and {str(found) for found in table.dtypes} == {str(values.dtype)}
        assert np.array_equal(np.asarray(table), values)
        same(table.to_pandas(), frame)
        same(nt.Table(values, names=list("abc")).to_pandas(), frame)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_frames_of_every_shape_go_and_come(shape):
    frame = pd.DataFrame(np.zeros(shape))
    table = nt.Table(frame)
    assert table.shape == shape and table.to_pandas().shape == shape and nt.Table(table.to_pandas()) == table
    assert nt.Table(pd.DataFrame(index=range(5))).shape == (5, 0)
    mixed = pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0, "i4")})
    same(nt.Table(mixed).to_pandas(), mixed)


def test_labels_that_are_no_names():
    plain = pd.DataFrame([[1, 2.5], [3, 4.5]])
    assert nt.Table(plain).names == [None, None]
    back = nt.Table(plain).to_pandas()
    same(back, plain)
    assert back.columns.tolist() == [0, 1]
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    assert nt.Table(twice).names == ["a", "a", "b"]
    same(nt.Table(twice).to_pandas(), twice)
    other = pd.DataFrame([[1, 2, 3, 4]], columns=[5, "x", None, ("u", 1)])
    assert nt.Table(other).names == ["5", "x", None, "('u', 1)"]
    assert nt.Table(other).to_pandas().columns.tolist() == ["5", "x", 2, "('u', 1)"]
    assert nt.Table(pd.DataFrame([[1, 2]], columns=[1, 0])).names == ["1", "0"]
    assert nt.Table(pd.DataFrame([[1, 2]], columns=[False, True])).names == ["False", "True"]
    assert nt.Table(plain, names=["x", "y"]).names == ["x", "y"]
    assert nt.Table(pd.DataFrame({"tocsr": [1.0], "__array__": [2.0], "columns": [3.0]})).shape == (1, 3)


def test_an_index_is_no_column():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[7, 8, 9])
    assert nt.Table(frame).shape == (3, 1) and nt.Table(frame.sample(2, random_state=0)).names == ["a"]
    assert nt.Table(frame).to_pandas().index.tolist() == [0, 1, 2]


def test_words_go_and_come():
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(["red", "blue", "red"], categories=["green", "blue", "red"]),
            "grade": pd.Categorical(["low", "high", "low"], categories=["low", "high"], ordered=True),
            "x": [1.5, 2.5, 3.5],
        }
    )
    table = nt.Table(frame)
    assert table.codes("colour").tolist() == [2, 1, 2] and table.dtypes[0] == np.uint8
    assert table.categories == {"colour": ["green", "blue", "red"], "grade": ["low", "high"]}
    assert ">red<" in table._repr_html_()
    same(table.to_pandas(), frame)
    same(table[1:].to_pandas(), frame[1:].reset_index(drop=True))
    assert nt.Table(table, dtype="f4").categories == table.categories
    same(nt.Table(table, dtype="f4").to_pandas()[["colour", "grade"]], frame[["colour", "grade"]])
    assert nt.Table(frame["colour"]) == table[["colour"]]
    many = pd.DataFrame({"k": pd.Categorical([f"w{i}" for i in range(300)])})
    assert nt.Table(many).dtype == np.uint16
    same(nt.Table(many).to_pandas(), many)


def test_words_are_kept_by_files_pickles_and_stacks(tmp_path):
    ordered = pd.Categorical(["low", "high"], categories=["high", "low"], ordered=True)
    frame = pd.DataFrame({"grade": ordered, "colour": pd.Categorical(["u", "v"]), "x": [0.5, 1.5]})
    table = nt.Table(frame)
    nt.save(table, tmp_path / "table.ntb")
    for again in [nt.load(tmp_path / "table.ntb"), pickle.loads(pickle.dumps(table)), nt.Table(table, copy=True)]:
        same(again.to_pandas(), frame)
    same(nt.vstack([table, table]).to_pandas(), pd.concat([frame, frame], ignore_index=True))


def test_words_that_are_missing_are_nan_and_missing_again():
    frame = pd.DataFrame({"k": pd.Categorical(["u", None, "v"]), "none": pd.Categorical([None] * 3, categories=[])})
    table = nt.Table(frame)
    assert table.dtypes[0] == np.uint8 and table.missing("k").tolist() == [False, True, False]
    assert table.categories == {"k": ["u", "v"], "none": []} or table.categories == {"k": ["u", "v"]}
    same(table.to_pandas()[["k"]], frame[["k"]])
    with table.write_rows(0, 1, dtype="float64") as block:
        block[0, 0] = 7  # no word
    assert table.to_pandas()["k"].isna().tolist() == [True, True, False]
    whole = nt.Table(pd.DataFrame({"k": pd.Categorical(["u", "v"])}))
    with whole.write_rows() as block:
        block[0, 0] = 200
    assert whole.to_pandas()["k"].tolist()[1] == "v" and whole.to_pandas()["k"].isna().tolist() == [True, False]
    with pytest.raises(nt.CopyRequiredError, match="'k'"):
        nt.Table(frame, copy=False)


def test_texts_become_words_and_repeated_ones_are_refused():
    table = nt.Table(pd.DataFrame({"text": ["x", "y", "x"], "n": pd.Categorical([10, 20, 10])}))
    assert table.codes("text").tolist() == [0, 1, 0] and table.categories == {"text": ["x", "y"], "n": ["10", "20"]}
    assert nt.Table(pd.DataFrame({"t": pd.Series(["b", "a"], dtype=object)})).categories == {"t": ["b", "a"]}
    assert nt.Table(pd.DataFrame({"t": ["b", None]})).to_masked("t").tolist() == [0, None]
    with pytest.raises(nt.TableError, match="already has the index 0"):
        nt.Table(pd.DataFrame({"k": pd.Categorical([1, "1"])}))


def test_categories_of_columns_without_a_name_have_its_number():
    table = nt.Table(pd.DataFrame({0: pd.Categorical(["a"]), 1: [1.0]}))
    assert table.categories == {0: ["a"]} and nt.Table([[1]]).categories == {}
    twice = nt.hstack([nt.Table(pd.DataFrame({"k": pd.Categorical([word])})) for word in "uv"])
    assert twice.categories == {"k": ["u"], 1: ["v"]}


def test_truth_values_are_0_and_1():
    nullable, objects = pd.array([False, True], dtype="boolean"), pd.Series([True, False], dtype=object)
    frame = pd.DataFrame({"b": [True, False], "n": nullable, "o": objects})
    table = nt.Table(frame)
    assert [str(dtype) for dtype in table.dtypes] == ["uint8"] * 3 and table.rows().tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01"]).tz_localize("UTC"),
        pd.to_timedelta([5], unit="s"),
        pd.period_range("2020", periods=1),
        pd.interval_range(0, 1),
    ],
)
def test_dates_with_a_zone_durations_and_intervals_are_refused(values):
    for data in [pd.DataFrame({"x": [1.0], "when": values}), pd.Series(values, name="when")]:
        with pytest.raises(nt.TableTypeError, match="'when'.*numbers"):
            nt.Table(data)


def test_dates_with_a_zone_and_durations_of_arrow_are_refused_too():
    pa = pytest.importorskip("pyarrow")
    import datetime

    zoned = pa.array([datetime.datetime(2020, 1, 1)], pa.timestamp("s", "UTC"))
    for column in [zoned, pa.array([datetime.time(1)]), pa.array([1], pa.duration("s"))]:
        with pytest.raises(nt.TableTypeError, match='"when"'):
            nt.Table(pa.table({"x": [1.0], "when": column}))
    assert nt.Table(pa.table({"b": [True, False]})).rows().tolist() == [[1], [0]]


@pytest.mark.parametrize("dtype, values", [("int16", [0, 1]), ("float", [0, 1]), ("bool", [False, True]), ("uint64", [0, 1])])
def test_numbers_of_arrow_in_a_frame_are_numbers(dtype, values):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": pd.Series(values, dtype=f"{dtype}[pyarrow]")})
    assert nt.Table(frame).rows().tolist() == [[0], [1]]
    if dtype != "bool":
        return  # pyarrow's memory is shared
    with pytest.raises(nt.CopyRequiredError, match="'x'"):
        nt.Table(frame, copy=False)


@pytest.mark.parametrize("dtype", ["duration[s]", "time64[us]"])
def test_other_values_of_arrow_in_a_frame_are_refused(dtype):
    pa = pytest.importorskip("pyarrow")
    of = {"duration[s]": pa.duration("s")}
    arrow = pd.ArrowDtype(of.get(dtype, pa.time64("us")))
    with pytest.raises(TypeError, match="'x'.*numbers"):
        nt.Table(pd.DataFrame({"x": pd.Series([None, None], dtype=arrow)}))


def test_missing_values_are_missing():
    floats = nt.Table(pd.DataFrame({"x": pd.array([1.5, None], dtype="Float32")}))
    assert floats.dtype == np.float32 and np.isnan(floats["x"][1]) and floats.missing("x").tolist() == [False, True]
    for values in [pd.array([1, None], dtype="Int64"), pd.array([True, None], dtype="boolean")]:
        table = nt.Table(pd.DataFrame({"x": values}))
        assert table.to_masked("x").tolist() == [1, None]
        with pytest.raises(nt.MissingValueError, match=r'row 1, column 0 \("x"\)'):
            table.column("x")
        assert table["x"].dtype == np.float64 and table["x"][0] == 1 and np.isnan(table["x"][1])
    columns = {"x": pd.array([2**62 + 1, 2], dtype="Int64"), "y": pd.array([1, 2], dtype="UInt8")}
    whole = nt.Table(pd.DataFrame(columns))
    assert whole["x"].tolist() == [2**62 + 1, 2] and whole.dtypes[1] == np.uint8


def test_objects_are_numbers_or_refused():
    assert nt.Table(pd.DataFrame({"o": pd.Series([1, 2], dtype=object)})).dtype == np.int64
    assert np.isnan(nt.Table(pd.DataFrame({"o": pd.Series([1.5, None], dtype=object)}))["o"][1])
    for values in [[1, "x"], [object(), 1], [[1], [2]]]:
        with pytest.raises(nt.TableTypeError, match="'o' is of object"):
            nt.Table(pd.DataFrame({"o": pd.Series(values, dtype=object)}))
    with pytest.raises(nt.NotRepresentableError, match="'o' has integers"):
        nt.Table(pd.DataFrame({"o": pd.Series([2**70, 1], dtype=object)}))
    with pytest.raises(nt.TableTypeError, match="complex"):
        nt.Table(pd.DataFrame({"c": [1j]}))
    with pytest.raises(TypeError):
        nt.Table(pd.DataFrame({"c": np.array([1.0], ">f8")}))
    sparse = pd.DataFrame({"s": pd.arrays.SparseArray([0, 1.5])})
    assert nt.Table(sparse).rows().tolist() == [[0], [1.5]]


def test_memory_is_shared_with_a_promise_only():
    frame = pd.DataFrame({"a": np.arange(5.0), "b": np.arange(5), "t": np.arange(5) > 2})
    copied, promised = nt.Table(frame), nt.Table(frame, copy=False)
    assert [address(promised.column(i)) for i in range(3)] == [address(frame.iloc[:, i]) for i in range(3)]
    frame.loc[0, "a"] = 77.0
    assert copied[0, "a"] == 0
    words = pd.DataFrame({"k": pd.Categorical(["u", "v"])})
    assert address(nt.Table(words, copy=False).column(0)) == address(words["k"].array.codes)
    for values in [pd.array([1], dtype="Int64"), ["x"], pd.Series([1], dtype=object)]:
        with pytest.raises(nt.CopyRequiredError, match="'x'"):
            nt.Table(pd.DataFrame({"x": values}), copy=False)
    with pytest.raises(nt.CopyRequiredError):
        nt.Table(pd.DataFrame(np.zeros((3, 2)), copy=False), copy=False)


def of_one_type():
    return nt.Table(np.arange(6.0).reshape(3, 2))


def of_columns_of_one_type():
    return nt.Table(pd.DataFrame({"a": [1.0, 2, 3], "b": [0.5, 1, 2]}))


def of_columns():
    return nt.Table(pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1, 2]}))


@pytest.mark.parametrize("make", [of_one_type, of_columns_of_one_type, of_columns])
def test_a_frame_can_be_written_unless_it_shares(make):
    table = make()
    before = table.rows()
    frame = table.to_pandas()
    frame.iloc[0, 0] = 9
    assert frame.iloc[0, 0] == 9 and np.array_equal(table.rows(), before)
    shared = table.to_pandas(copy=False)
    place = address(np.asarray(table)[:, 1]) if make is of_one_type else address(table.column(1))
    assert address(shared.iloc[:, 1]) == place
    with pytest.raises(ValueError):
        shared.iloc[0, 0] = 9
    with table.write_rows() as block:
        block[:] = 5
    assert np.array_equal(shared.to_numpy(), before)


def test_series_are_columns():
    assert nt.Table(pd.Series([1.5, 2.5], name="x")).names == ["x"] and nt.Table(pd.Series([1, 2])).names == [None]
    assert nt.Table(pd.Series(["u", "v"], dtype="category")).categories == {0: ["u", "v"]}


def test_sparse_tables_become_sparse_frames():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[0, 1.5], [2.5, 0], [0, 0]])
    table = nt.Table(sparse.csr_array(dense), names=["a", "b"])
    frame = table.to_pandas()
    assert isinstance(frame["a"].dtype, pd.SparseDtype) and frame.columns.tolist() == ["a", "b"]
    assert np.array_equal(frame.to_numpy(), dense) and np.array_equal(np.asarray(nt.Table(frame)), dense)


def test_pandas_has_no_bfloat16():
    with pytest.raises(TypeError, match="float32"):
        nt.Table.zeros(1, 1, dtype="bfloat16").to_pandas()


SCRIPT = """
import sys
if sys.argv[1] == "without":
    sys.modules["pyarrow"] = None
import numpy as np, pandas as pd, numeric_table as nt
columns = {
    "float": [1.5, np.nan],
    "int": [1, 2],
    "bool": [True, False],
    "word": ["x", "y"],
    "none": ["x", None],
    "category": pd.Categorical(["u", "v"]),
    "missing": pd.Categorical(["u", None]),
    "number": pd.Categorical([3, 4]),
    "Int": pd.array([1, 2], dtype="Int8"),
    "null": pd.array([1, None], dtype="Int8"),
    "Float": pd.array([1, None], dtype="Float64"),
    "boolean": pd.array([True, False], dtype="boolean"),
    "date": pd.to_datetime(["2020", "2021"]),
    "object": pd.Series([1, "x"], dtype=object),
    "integers": pd.Series([1, 2], dtype=object),
}
for name, values in columns.items():
    try:
        table = nt.Table(pd.DataFrame({name: values}))
        print(name, table.dtypes, table.to_masked().tolist(), table.categories, table.to_pandas()[name].tolist())
    except Exception as error:
        print(name, type(error).__name__, str(error).replace("string", "str"))
"""


def test_it_is_the_same_with_pyarrow_and_without():
    pytest.importorskip("pyarrow")
    runs = []
    for how in ["with", "without"]:
        run = subprocess.run([sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, check=True)
        runs.append(run.stdout)
    assert runs[0] == runs[1] and len(runs[0].splitlines()) == 15
    failed = [line.split()[0] for line in runs[0].splitlines() if "Error" in line]
    assert failed == ["object"]


def test_whole_numbers_that_are_missing_are_missing_in_columns_of_objects_too():
    whole = nt.Table(pd.DataFrame({"a": pd.Series([2**53 + 1, None], dtype=object)}))
    assert whole.dtype == "int64" and whole.to_masked("a").tolist() == [2**53 + 1, None]
    table = nt.Table(pd.DataFrame({"a": pd.Series([1.5, None], dtype=object)}))
    assert table.dtype == "float64" and np.isnan(table[1, "a"])


@pytest.mark.parametrize("values", [[BIG, 1.5], [1.5, np.int64(BIG)], [BIG, 1.5, None], [0.5, -BIG, float("nan")]])
def test_whole_numbers_among_floats_keep_their_digits_or_are_refused(values):
    series = pd.Series(values, dtype=object, name="ids")
    row = next(row for row, value in enumerate(values) if isinstance(value, (int, np.integer)))
    for data in [series, series.to_frame()]:
        with pytest.raises(nt.NotRepresentableError, match=f"'ids' has -?{BIG} among floats, in row {row}: astype"):
            nt.Table(data)
    assert nt.Table(series.astype("float64")).column(0).tolist()[row] in (BIG - 1, 1 - BIG)
    assert nt.Table(pd.Series([2**53, 1.5], dtype=object)).column(0).tolist() == [2**53, 1.5]


def times(values, unit):
    """A table with a column of times, as a program in Rust saves one."""
    pa = pytest.importorskip("pyarrow")
    values = pa.array(values)
    field = pa.field("when", values.type, metadata={"numeric-table.feature_type": f"time in {unit}"})
    return nt.Table(pa.Table.from_arrays([values, values], schema=pa.schema([field, pa.field("number", values.type)])))


UNITS = {"days": "D", "seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("unit", UNITS)
def test_times_are_points_in_time(unit, copy, tmp_path):
    counts = [0, 1, -1, 19_782, 2**53 + 1 if unit != "days" else 2**31 - 1]
    table = times(counts, unit)
    nt.save(table, tmp_path / "t.ntb")
    frame = nt.load(tmp_path / "t.ntb").to_pandas(copy=copy)
    expected = np.array(counts, dtype=f"datetime64[{UNITS[unit]}]")
    stored = "s" if unit == "days" else UNITS[unit]
    assert frame["when"].dtype == f"datetime64[{stored}]" and frame["number"].tolist() == counts
    assert np.array_equal(frame["when"].to_numpy(), expected) and table.column("when").tolist() == counts
    assert np.array_equal(table["when"], expected) and table["when"].dtype == expected.dtype
    missing = times([1.0, None, 3.0], unit).to_pandas(copy=copy)["when"]
    assert missing.isna().tolist() == [False, True, False]
    assert np.array_equal(missing.to_numpy()[::2], np.array([1, 3], dtype=f"datetime64[{UNITS[unit]}]"))
    if copy:
        frame.loc[0, "when"] = pd.Timestamp("2024-02-29")
        assert table.column("when")[0] == 0
    again = nt.Table(table.to_pandas(copy=copy))
    assert again.column("when").tolist() == [count * (86_400 if unit == "days" else 1) for count in counts]
    same(again.to_pandas(), table.to_pandas())


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("wrong", [0.5, float("inf"), 2.0**63, -(2.0**63), -(2**63)])
def test_times_that_pandas_has_not_are_refused(unit, wrong):
    with pytest.raises(nt.TableError, match="column 'when', row 1: pandas has no point in time"):
        times([0, wrong] if isinstance(wrong, int) else [0.0, wrong], unit).to_pandas()
    if unit == "days":
        with pytest.raises(nt.TableError, match="column 'when', row 0"):
            times([2**60], unit).to_pandas()


def test_times_go_out_as_times_by_arrow():
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    days = times(pa.array([0, 19_782], pa.int32()), "days")
    assert pa.table(days)["when"].to_pylist() == [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29)]
    assert pl.DataFrame(days)["when"].to_list() == [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29)]
    for unit in ["seconds", "milliseconds", "microseconds", "nanoseconds"]:
        table = times([0, 86_400 * 10**9], unit)
        expected = np.array([0, 86_400 * 10**9], dtype=f"datetime64[{UNITS[unit]}]")
        assert np.array_equal(pa.table(table)["when"].to_numpy(), expected)
        if unit != "seconds":  # polars has none of seconds
            assert np.array_equal(pl.DataFrame(table)["when"].to_numpy(), expected)
