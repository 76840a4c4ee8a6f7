"""What `Table(...)` is made of: dictionaries, records, booleans, strings, other byte orders, fields, strides."""

import collections
import datetime
import types

import numpy as np
import pytest

import numeric_table as nt


def test_a_dictionary_has_columns_of_any_kind():
    data = {
        "list": [1, 2, 3],
        "floats": np.array([0.5, 1.5, np.nan], "f4"),
        "words": np.array(["b", "a", "b"]),
        "text": ["x", None, "y"],
        "flags": np.array([True, False, True]),
        "days": [datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31)],
        "times": np.array([0, 1, 2], "M8[ms]"),
        "range": range(3),
        "tuple": (1, None, 3),
        "one": 7,
        "same": "z",
    }
    for make in (dict, collections.OrderedDict, types.MappingProxyType):
        table = nt.Table(make(data))
        assert table.names == list(data)
        types_found = [str(dtype) for dtype in table.dtypes]
        assert types_found == ["int64", "float32", *["uint32"] * 2, "uint8", "int32", *["int64"] * 4, "uint32"]
        assert table["words"].tolist() == ["b", "a", "b"] and table["text"].tolist() == ["x", None, "y"]
        assert table["flags"].tolist() == [1, 0, 1] and table["range"].tolist() == [0, 1, 2]
        assert table["days"].tolist() == data["days"] and table["times"].tolist() == data["times"].tolist()
        assert table["one"].tolist() == [7, 7, 7] and table["same"].tolist() == ["z", "z", "z"]
        assert table.missing_count("tuple") == 1 and table["floats"][:2].tolist() == [0.5, 1.5]
    assert nt.Table({}).shape == (0, 0) and nt.Table({"a": []}).shape == (0, 1)
    with pytest.raises(TypeError, match="the name of a column is a string, not 5"):
        nt.Table({5: [1]})


def test_columns_of_other_lengths_are_refused_by_their_names():
    with pytest.raises(nt.TableError, match="column 'b' has 3 values, but column 'a' has 2"):
        nt.Table({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(nt.TableError, match="those of 'a' are 1"):
        nt.Table({"a": 1})
    with pytest.raises(nt.TableError, match="column 'b' has 2 columns"):
        nt.Table({"a": [1], "b": [[1, 2]]})
    with pytest.raises(TypeError, match="column 'b'.*complex"):
        nt.Table({"a": [1], "b": [1j]})


def test_rows_may_be_dictionaries_or_come_from_a_generator():
    table = nt.Table([{"a": 1, "b": "x"}, {"a": 2, "c": 0.5}])
    assert table.names == ["a", "b", "c"] and table["b"].tolist() == ["x", None] and table.missing_count("c") == 1
    assert nt.Table(value for value in range(3)).rows().tolist() == [[0], [1], [2]]
    assert nt.Table(([row, "w"] for row in range(2)))[1] == (1, "w")
    assert nt.Table({"a": 1} for _ in range(2)).names == ["a"]


def test_booleans_are_zeros_and_ones():
    array = np.array([[True, False], [False, True]])
    assert nt.Table(array).dtype == np.uint8 and nt.Table(array).rows().tolist() == [[1, 0], [0, 1]]
    assert nt.Table(array).kind == "homogeneous" and nt.Table([[True, False]]).dtype == np.uint8
    shared = nt.Table(array, copy=False)
    assert np.may_share_memory(shared.rows(), array)
    assert not np.may_share_memory(nt.Table(array).rows(), array)
    assert nt.Table(array[:, ::-1]).rows().tolist() == [[0, 1], [1, 0]] and nt.Table(array[0]).shape == (2, 1)
    gaps = nt.Table([[True], [None], [False]])
    assert gaps.dtype == np.uint8 and gaps.to_masked(0).tolist() == [1, None, 0]
    masked = nt.Table(np.ma.array(array, mask=[[0, 1], [0, 0]]))
    assert masked.missing().tolist() == [[False, True], [False, False]] and masked.dtype == np.uint8
    with pytest.raises(TypeError, match="booleans among other values"):
        nt.Table(np.array([[True], [2]], dtype=object))


@pytest.mark.parametrize("dtype", [">i2", ">i4", ">u8", ">f4", ">f8", ">f2"])
def test_another_byte_order_is_copied(dtype):
    array = np.arange(6, dtype=dtype).reshape(3, 2)
    with nt.trace() as trace:
        table = nt.Table(array)
    assert table.rows().tolist() == array.tolist() and table.dtype == np.dtype(dtype).newbyteorder("=")
    assert trace.nbytes == array.nbytes
    assert nt.Table(array[::-2, ::-1]).rows().tolist() == array[::-2, ::-1].tolist()
    with pytest.raises(nt.CopyRequiredError, match=f"{dtype}.*byte order"):
        nt.Table(array, copy=False)


def test_dates_in_another_byte_order_are_copied():
    days = np.array(["2024-02-29", "NaT"], dtype=">M8[s]")
    assert str(nt.Table(days)[0, 0]) == "2024-02-29T00:00:00" and np.isnat(nt.Table(days)[1, 0])
    with pytest.raises(nt.CopyRequiredError, match="byte order"):
        nt.Table(days, copy=False)


def test_fields_are_columns():
    kind = [("a", "f4"), ("b", ">i4"), ("c", "?"), ("when", "M8[D]"), ("word", "U3"), ("any", "O")]
    rows = [(0.5, 1, True, "2024-02-29", "x", None), (1.5, 2, False, "NaT", "y", 7)]
    array = np.array(rows, dtype=kind)
    for given in (array, array.view(np.recarray), array[::-1][::-1]):
        table = nt.Table(given)
        assert table.names == ["a", "b", "c", "when", "word", "any"]
        assert [str(dtype) for dtype in table.dtypes] == ["float32", "int32", "uint8", "int32", "uint32", "int64"]
        assert table[0] == (0.5, 1, 1, np.datetime64("2024-02-29"), "x", None) and np.isnat(table[1, "when"])
    masked = np.ma.array(array[["a", "b"]], mask=[(0, 1), (1, 0)])
    assert nt.Table(masked).missing().tolist() == [[False, True], [True, False]]
    assert nt.Table(array[:0]).shape == (0, 6)
    with pytest.raises(nt.TableTypeError, match="field 'inner' has fields of its own"):
        nt.Table(np.zeros(2, dtype=[("x", "f4"), ("inner", [("y", "f4")])]))
    with pytest.raises(nt.TableTypeError, match=r"field 'v' has values of the shape \(2,\)"):
        nt.Table(np.zeros(2, dtype=[("v", "f4", 2)]))
    with pytest.raises(nt.TableTypeError, match="'z' is of complex64"):
        nt.Table(np.zeros(2, dtype=[("z", "c8")]))
    with pytest.raises(nt.TableError, match="structured array has one dimension"):
        nt.Table(np.zeros((2, 2), dtype=[("x", "f4")]))
    with pytest.raises(nt.CopyRequiredError, match="field 'a'"):
        nt.Table(array, copy=False)
    alone = np.zeros(3, dtype=[("x", "f8")])
    assert np.may_share_memory(nt.Table(alone, copy=False)["x"], alone)


def test_strings_are_categories_in_the_order_of_their_appearance():
    for given in (["b", "a", "b"], ("b", "a", "b"), np.array(["b", "a", "b"]), np.array(["b", "a", "b"], dtype=object)):
        table = nt.Table(given)
        assert table.shape == (3, 1) and table[:, 0].tolist() == ["b", "a", "b"] and table.categories == {0: ["b", "a"]}
    table = nt.Table(np.array([["b", "x"], ["a", "x"]]))
    assert table.shape == (2, 2) and table.categories == {0: ["b", "a"], 1: ["x"]}
    mixed = nt.Table([[1, "x", 0.5], [2, "y", None]])
    assert mixed[0] == (1, "x", 0.5) and mixed.dtypes[0] == np.int64  # a number beside a word stays one
    if hasattr(np.dtypes, "StringDType"):
        text = np.array(["a", "b"], dtype=np.dtypes.StringDType())
        assert nt.Table(text)[:, 0].tolist() == ["a", "b"]
        gaps = np.array(["a", np.nan], dtype=np.dtypes.StringDType(na_object=np.nan))
        assert nt.Table(gaps)[:, 0].tolist() == ["a", None]
    assert nt.Table(np.ma.array(["a", "b"], mask=[1, 0]))[:, 0].tolist() == [None, "b"]
    assert nt.Table(np.array(["a", float("nan")], dtype=object))[:, 0].tolist() == ["a", None]  # as in pandas
    with pytest.raises(nt.CopyRequiredError, match="strings"):
        nt.Table(np.array(["a"]), copy=False)
    with pytest.raises(TypeError, match="1.5 among strings, in row 1"):
        nt.Table([["a"], [1.5]])
    with pytest.raises(TypeError, match="decode"):
        nt.Table(np.array([b"a"]))


def test_strings_and_objects_are_those_of_a_frame():
    pd = pytest.importorskip("pandas")
    for array in (np.array([["b", "x"], ["a", "x"]]), np.array([[1, "x"], [None, "y"]], dtype=object)):
        assert nt.Table(array) == nt.Table(pd.DataFrame(array))
    times = [pd.Timestamp("2024-02-29 01:02:03.000000004"), pd.NaT]
    assert nt.Table(times)[0, 0] == np.datetime64("2024-02-29T01:02:03.000000004")
    assert nt.Table({"a": [1, pd.NA]}).to_masked("a").tolist() == [1, None]
    with pytest.raises(TypeError, match="time zone"):
        nt.Table([datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)])
    with pytest.raises(TypeError, match="among dates, in row 1"):
        nt.Table([datetime.date(2024, 1, 1), 5])


def test_strides_and_shapes():
    whole = np.arange(24.0).reshape(4, 6)
    for array in (whole[::2], whole[:, ::3], whole[::-1], whole[:, ::-1], whole.T, whole[::-1, ::-1].T, whole[1]):
        table = nt.Table(array)
        assert table.rows().tolist() == array.reshape(len(array), -1).tolist()
    for array in (whole[::2, ::3], whole[:, ::-1]):
        with pytest.raises(nt.CopyRequiredError):
            nt.Table(array, copy=False)
    for shape in [(0, 3), (3, 0), (0, 0), (0,)]:
        for dtype in ("f8", "?", ">i4"):
            assert nt.Table(np.zeros(shape, dtype)).shape == (*shape, 1)[:2]
    assert nt.Table(np.zeros((0, 2), "U3")).shape == (0, 2) and nt.Table(np.zeros((2, 0), "U3")).shape == (2, 0)
    for dtype in ("f8", "?", ">i4", "U3", "O", [("a", "f4")], "M8[D]", "c8"):
        with pytest.raises((nt.TableError, nt.TableTypeError), match="this is a single value|type object"):
            nt.Table(np.zeros((), dtype))
        with pytest.raises(nt.TableError, match="two dimensions, but this has 3"):
            nt.Table(np.zeros((1, 2, 1), dtype))


@pytest.mark.parametrize("dtype, advice", [("c16", "real"), ("m8[s]", "durations"), ("S3", "decode"), ("V4", "V4")])
def test_a_type_that_tables_do_not_have_comes_with_advice(dtype, advice):
    with pytest.raises(nt.TableTypeError, match=f"tables do not support the type .*{advice}"):
        nt.Table(np.zeros((2, 1), dtype))


def test_words_are_parsed_if_a_type_is_asked_for():
    words = ["1.5", "-2e3"]
    for data in [words, np.array([["1.5"], ["-2e3"]]), iter(words), [["1.5"], ["-2e3"]]]:
        assert nt.Table(data, dtype="float64").rows().tolist() == [[1.5], [-2000.0]]
    for other in ["\u0661\u0662", "\uff11", "1\u0662.5", "\u00a01"]:  # digits and spaces of other scripts, as in read_csv
        with pytest.raises(nt.TableError, match="is not a number"):
            nt.Table(["1", other], dtype="float64")
    table = nt.Table({"a": ["12", "7", None], "b": [1, 2, 3], "c": ["x", "y", "z"]})
    assert nt.Table(table, dtype="f8").column("c").tolist() == [0, 1, 2]  # a table has codes, which are converted
    found = nt.Table({"a": ["9007199254740993", None, "7"], "b": [1, 2, 3]}, dtype="int64")
    assert found.to_masked("a").tolist() == [2**53 + 1, None, 7] and not found.categories and found.names == ["a", "b"]
    assert nt.Table(["18446744073709551615"], dtype="u8")[0].tolist() == [2**64 - 1]
    assert np.isnan(nt.Table(["nan", "inf"], dtype="f4")[0, 0])
    for wrong in ["x", "", "1_000", "1,5"]:
        with pytest.raises(nt.TableError, match=rf"column 0, row 2: '{wrong}' is not a number"):
            nt.Table(["1", "2", wrong], dtype="float64")
    with pytest.raises(nt.TableError, match="column 'k', row 1: 'two' is not a number"):
        nt.Table({"k": ["1", "two"]}, dtype="i4")
    with pytest.raises(nt.NotRepresentableError, match="300 at row 0"):
        nt.Table(["300"], dtype="u1", policy="checked")
    with pytest.raises(TypeError, match="one type for all columns"):
        nt.Table({"a": [1]}, dtype={"a": "f4"})
    pd = pytest.importorskip("pandas")
    assert nt.Table(pd.Series(pd.Categorical(["2", None, "1"])), dtype="f4")[:, 0].tolist()[::2] == [2, 1]
    exact = nt.Table({"a": ["7", "9007199254740993"]}, dtype="int64")
    assert exact.rows().tolist() == [[7], [9007199254740993]]
    with pytest.raises(nt.TableError, match="column 'a', row 1: '9007199254740993' has more digits than float64"):
        nt.Table({"a": ["0.1", "9007199254740993"]}, dtype="int64")


@pytest.mark.parametrize("dtype", [str, "str", "U5", "category", "string", "Int64", "Float32", "nonsense"])
def test_types_of_words_and_of_pandas_are_refused_in_a_sentence(dtype, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\n")
    text = {"Int64": '"int64" is the type', "Float32": '"float32" is the type'}.get(dtype, "categories")
    for call in [
        lambda: nt.Table([[1]], dtype=dtype),
        lambda: nt.Table([[1]]).astype(dtype),
        lambda: nt.read_csv(path, dtype=dtype),
        lambda: nt.read_csv(path, dtype={"a": dtype}),
        lambda: nt.read_csv(path, dtypes={"a": dtype}),
    ]:
        with pytest.raises(nt.TableTypeError, match=f"a column has no type .*{text}"):
            call()
