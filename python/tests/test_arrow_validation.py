"""What comes through Arrow's capsules is checked in full, and never read in another way when it fails."""

import ctypes
import pickle
import struct

import numpy as np
import pytest

import numeric_table as nt

pa = pytest.importorskip("pyarrow")

LATIN = pa.array([b"plain", b"caf\xe9", b"x"])
LARGE = 2**53 + 1


class Damaged:
    """An array that is damaged once it is where it is to be: pyarrow checks what it puts together."""

    def __init__(self, array, damage):
        self.array, self.damage = array, damage


def text(of, kind, numbers, data):
    """Text of any offsets."""
    offsets = np.zeros(len(numbers), kind)
    array = pa.Array.from_buffers(of, len(numbers) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    return Damaged(array, lambda: offsets.__setitem__(slice(None), numbers))


def short():
    """1000 integers in memory of 10."""
    memory = pa.allocate_buffer(8000, resizable=True)
    return Damaged(pa.Array.from_buffers(pa.int64(), 1000, [None, memory]), lambda: memory.resize(80))


def dictionary(keys, of, words):
    keys = pa.array(np.array(keys, of))
    return pa.DictionaryArray.from_arrays(keys, words, safe=False)


def view(words):
    """Text of views, of bytes that pyarrow does not check."""
    return pa.array(words, pa.binary_view()).view(pa.string_view())


class Batches:
    """An object of another library: nothing but capsules of a batch."""

    def __init__(self, batch, change=None):
        self.batch, self.change = batch, change

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self.batch.__arrow_c_array__()
        if self.change is not None:
            self.change(content(schema, b"arrow_schema"), content(array, b"arrow_array"))
        return schema, array


class Streams:
    """An object of another library: nothing but a capsule of a stream."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__()


def content(capsule, name):
    """The numbers of the structure that a capsule holds."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, name), ctypes.POINTER(ctypes.c_int64))


def doors(column):
    """All ways of a column into a table. pyarrow sees the first five."""
    column, damage = (column.array, column.damage) if isinstance(column, Damaged) else (column, None)
    batch = pa.RecordBatch.from_arrays([pa.array(range(len(column))), column], ["n", "bad"])
    table = pa.Table.from_batches([batch])
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch.slice(0, 0), batch])
    found = [
        column,
        pa.chunked_array([column]),
        batch,
        table,
        reader,
        Batches(batch),
        Batches(column),
        Streams(table),
        Streams(pa.chunked_array([column[:0], column])),
    ]
    if damage is not None:
        damage()
    return found


def check_refused(column, match):
    for copy in [None, True, False]:
        for data in doors(column() if callable(column) else column):
            with pytest.raises(nt.TableError, match=match):
                nt.Table(data, copy=copy)


def test_text_that_is_not_utf8_is_refused_at_every_door():
    check_refused(LATIN.view(pa.string()), "(?i)utf-?8")
    check_refused(LATIN.cast(pa.large_binary()).view(pa.large_string()), "(?i)utf-?8")
    check_refused(view([b"plain", b"caf\xe9"]), "(?i)utf-?8")
    check_refused(view([b"plain", b"a long word, not within its view: caf\xe9"]), "(?i)utf-?8")
    # Half of a letter in each word: all of it together is UTF-8.
    check_refused(lambda: text(pa.string(), "i4", [0, 1, 2], "é".encode()), "(?i)utf-?8")


def test_the_error_names_the_column_and_the_batch():
    good = pa.record_batch({"n": [1], "word": ["a"]})
    bad = pa.RecordBatch.from_arrays([pa.array([1]), LATIN.view(pa.string())[1:2]], ["n", "word"])
    with pytest.raises(nt.TableError, match=r"column 1 \(word\): in batch 1: .*(?i:utf-?8)"):
        nt.Table(pa.Table.from_batches([good, bad]))


def test_words_of_a_dictionary_that_are_not_utf8_are_refused():
    for of in [pa.string(), pa.large_string()]:
        words = LATIN.cast(pa.large_binary() if of == pa.large_string() else pa.binary()).view(of)
        check_refused(dictionary([0, 1, 0], "i1", words), "(?i)utf-?8")


@pytest.mark.parametrize("of", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_keys_of_words_that_are_not_there_are_refused(of):
    words = pa.array(["a", "b"])
    assert nt.Table(dictionary([0, 1], of, words)).categories == {0: ["a", "b"]}
    check_refused(dictionary([0, 2], of, words), "out of bounds|out of range")
    if of[0] == "i":
        check_refused(dictionary([0, -1], of, words), "out of bounds|out of range")
    else:
        check_refused(dictionary([0, np.iinfo(of).max], of, words), "out of bounds|out of range")


@pytest.mark.parametrize("of, kind", [(pa.string(), "i4"), (pa.large_string(), "i8")])
def test_offsets_that_decrease_or_lie_beyond_the_text_are_refused(of, kind):
    good = text(of, kind, [0, 1, 3], b"abc")
    good.damage()
    assert list(nt.Table(good.array).categories[0]) == ["a", "bc"]
    for numbers in [[0, 3, 1, 3], [0, 2, 1], [0, 9, 3], [-1, 1, 3], [0, -2, 3], [0, 1, -3], [2, 1, 0]]:
        check_refused(lambda: text(of, kind, numbers, b"abc"), "(?i)offset")
    # Only pyarrow knows how long its memory is.
    for data in [text(of, kind, [0, 1, 1_000_000], b"abc"), text(of, kind, [0, 1, 4], b"abc")]:
        for data in doors(data)[:5]:
            with pytest.raises(nt.TableError, match="(?i)offset|larger"):
                nt.Table(data)


def test_memory_that_is_shorter_than_its_array_is_refused_where_that_is_known():
    for data in doors(short())[:5]:
        with pytest.raises(nt.TableError, match="(?i)too small"):
            nt.Table(data)


def test_views_of_text_that_is_not_there_are_refused():
    def views(*views):
        data = pa.py_buffer(b"a text that is longer than a view")
        memory = b"".join(struct.pack("<i4sii", length, start, buffer, at) for length, start, buffer, at in views)
        return pa.Array.from_buffers(pa.string_view(), len(views), [None, pa.py_buffer(memory), data])

    good = (20, b"a te", 0, 0)
    assert list(nt.Table(views(good)).categories[0]) == ["a text that is longe"]
    for bad in [(20, b"a te", 1, 0), (20, b"a te", 0, 30), (20, b"a te", -1, 0), (20, b"a te", 0, -4), (20, b"b te", 0, 0)]:
        check_refused(views(good, bad), ".")


def test_counts_that_do_not_fit_the_type_are_refused():
    batch = pa.record_batch({"n": pa.array([1, 2, 3]), "x": pa.array([1.0, 2.0, 3.0])})
    fields = {"length": 0, "null_count": 1, "offset": 2, "n_buffers": 3, "n_children": 4}
    changes = [("length", -1), ("length", 4), ("length", 2**62), ("offset", -1), ("offset", 1), ("offset", 2**63 - 1)]
    changes += [("n_buffers", 0), ("n_buffers", -1), ("n_children", 1), ("null_count", 2)]
    for field, value in changes:
        def change(schema, array):
            array[fields[field]] = value

        with pytest.raises(nt.TableError):
            nt.Table(Batches(batch, change))
        if field != "n_children" and value != 2**62:
            for column in [pa.array(["a", "b"]), pa.array(["a"]).dictionary_encode(), pa.array([True, None])]:
                if (field, value) not in [("length", 4), ("offset", 1)]:  # of its own memory's length, nobody knows
                    with pytest.raises(nt.TableError):
                        nt.Table(Batches(column, change))


def test_nulls_without_a_bitmap_and_a_bitmap_without_nulls_are_refused():
    values, bits = pa.py_buffer(np.array([1.5, 2.5]).tobytes()), pa.py_buffer(b"\x01")
    wrong = pa.Array.from_buffers(pa.float64(), 2, [bits, values], null_count=2)
    for data in [wrong, Batches(wrong), pa.chunked_array([wrong]), pa.table({"x": wrong})]:
        with pytest.raises(nt.TableError, match="2 nulls are declared, but there are 1"):
            nt.Table(data)

    def change(schema, array):
        array[1] = 1

    with pytest.raises(nt.TableError, match="1 nulls are declared without a bitmap"):
        nt.Table(Batches(pa.array([1.5, 2.5]), change))
    right = pa.Array.from_buffers(pa.float64(), 2, [bits, values], null_count=-1)
    np.testing.assert_array_equal(nt.Table(Batches(right)).rows(), [[1.5], [np.nan]])


def test_a_capsule_that_was_taken_is_an_error():
    class Once:
        def __init__(self, name, capsules):
            setattr(type(self), name, lambda self, requested_schema=None: capsules)

    class Stream(Once):
        pass

    class Array(Once):
        pass

    batch = pa.record_batch({"a": [1, 2]})
    once = Stream("__arrow_c_stream__", batch.__arrow_c_stream__()), Array("__arrow_c_array__", batch.__arrow_c_array__())
    for data in once:
        assert nt.Table(data).rows().tolist() == [[1], [2]]
        with pytest.raises(nt.TableError, match="already"):
            nt.Table(data)


def test_parts_of_arrays_and_empty_ones_are_read():
    column = pa.array(["a", "é", "", "a long word, not within its view"] * 5)
    for of in [pa.string(), pa.large_string(), pa.string_view()]:
        words = column.cast(of)
        parts = [words[1:2], words[17:], words[:0], words[4:6]]
        parts += [column.dictionary_encode().cast(pa.dictionary(pa.int16(), of))[3:7]] if of != pa.string_view() else []
        for part in parts:
            for data in [Batches(part), Streams(pa.chunked_array([part])), part]:
                codes, found = nt.Table(data).rows()[:, 0], nt.Table(data).categories.get(0, [])
                assert [found[int(code)] for code in codes] == part.to_pylist()
    for of in [pa.int8(), pa.bool_(), pa.float64(), pa.string()]:
        assert nt.Table(pa.array([], of)).shape == nt.Table(pa.chunked_array([], of)).shape == (0, 1)
    booleans = pa.array([True, False, True] * 7)[5:13]
    assert nt.Table(booleans).rows()[:, 0].tolist() == [int(value) for value in booleans.to_pylist()]


def test_rows_that_are_null_as_a_whole_are_null_in_each_column():
    rows = pa.array([{"a": 1.5}, None])
    np.testing.assert_array_equal(nt.Table(rows).rows(), [[1.5], [np.nan]])
    hidden = pa.StructArray.from_arrays([pa.array([1, 2])], ["a"], mask=pa.array([False, True]))
    assert nt.Table(hidden).to_masked(0).tolist() == [1, None]


# What an error falls through to.


def check_columns(table):
    assert table.names == ["whole", "x"] and [str(of) for of in table.dtypes] == ["int64", "float64"]
    assert table["whole"].tolist() == [LARGE, 1] and table["x"].tolist() == [1.5, 2.5]


def test_metadata_that_is_not_utf8_is_left_out_and_names_and_types_stay():
    columns = {"whole": pa.array([LARGE, 1]), "x": pa.array([1.5, 2.5])}
    pickled = {b"object": pickle.dumps({"a": 1}), b"\xff": b"key", b"good": b"value"}
    fields = [pa.field(name, column.type, metadata=pickled) for name, column in columns.items()]
    for schema in [pa.table(columns).schema.with_metadata(pickled), pa.schema(fields), pa.schema(fields, pickled)]:
        table = pa.table(columns).cast(schema)
        for data in [table, table.to_batches()[0], Streams(table), Batches(table.to_batches()[0])]:
            check_columns(nt.Table(data))
    single = pa.chunked_array([columns["whole"]])
    assert nt.Table(single).rows().tolist() == [[LARGE], [1]]


def test_metadata_of_this_package_stays_beside_metadata_that_is_not_utf8():
    words = nt.Table(pa.table({"k": pa.array(["b", "a"]).dictionary_encode()})).astype("int16")
    given = nt.hstack([words, nt.Table(np.array([[1], [2]], "int16"))])
    lent = pa.table(given)
    fields = [field.with_metadata((field.metadata or {}) | {b"pickle": b"\x80\x04"}) for field in lent.schema]
    again = nt.Table(pa.Table.from_arrays(lent.columns, schema=pa.schema(fields)))
    assert again.names == given.names == ["k", None] and again.categories == given.categories
    assert again.dtypes == given.dtypes


def test_an_object_whose_capsule_fails_is_not_read_in_another_way():
    class Failing:
        def __init__(self, error):
            self.error = error

        def __arrow_c_stream__(self, requested_schema=None):
            raise self.error

        def __array__(self, dtype=None, copy=None):
            raise AssertionError("read in another way")

    for error in [ValueError("no"), TypeError("no"), AttributeError("no"), NotImplementedError("no"), KeyError("no")]:
        with pytest.raises(type(error), match="no"):
            nt.Table(Failing(error))

    class NoCapsule(Failing):
        def __arrow_c_stream__(self, requested_schema=None):
            return self.error

    for answer in [None, 7, "text"]:
        with pytest.raises(TypeError, match="capsule"):
            nt.Table(NoCapsule(answer))

    class Property:
        @property
        def __arrow_c_stream__(self):
            raise ValueError("of the property")

        __array__ = Failing.__array__

    with pytest.raises(ValueError, match="of the property"):
        nt.Table(Property())


def test_a_stream_that_fails_in_the_middle_is_an_error_with_its_reason():
    batch = pa.record_batch({"a": [1]})

    def batches():
        yield batch
        raise ValueError("the source is gone")

    class Reader:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.RecordBatchReader.from_batches(batch.schema, batches()).__arrow_c_stream__()

    with pytest.raises(nt.TableError, match="the source is gone"):
        nt.Table(Reader())
    with pytest.raises(ValueError, match="the source is gone"):
        nt.Table(pa.RecordBatchReader.from_batches(batch.schema, batches()))


def test_columns_of_other_types_are_refused_with_their_type():
    for column in [[[1]], [{"a": 1}], [b"bytes"]]:
        for data in [pa.table({"n": [1], "k": pa.array(column)}), *([pa.array(column)] if column != [{"a": 1}] else [])]:
            with pytest.raises(nt.TableError, match="not an element type"):
                nt.Table(data)
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((2, 3, 4)))
    with pytest.raises(nt.TableTypeError, match="tensors"):
        nt.Table(tensors)


def test_lists_of_one_length_are_rows():
    lists = pa.array([[1, 2, LARGE], [4, 5, 6]], pa.list_(pa.int64(), 3))
    for data in [lists, pa.chunked_array([lists[:1], lists[1:]])]:
        table = nt.Table(data)
        assert table.rows().tolist() == [[1, 2, LARGE], [4, 5, 6]] and str(table.dtype) == "int64"
    assert nt.Table(lists[1:]).rows().tolist() == [[4, 5, 6]]
    for holes in [[[1, None]], [None, [1, 2]]]:
        with pytest.raises(nt.TableError, match="null"):
            nt.Table(pa.array(holes, pa.list_(pa.int64(), 2)))


# Files of other libraries.


def test_a_parquet_file_of_latin_1_is_refused(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    try:
        parquet.write_table(pa.table({"n": [1, 2, 3], "word": LATIN.view(pa.string())}), tmp_path / "latin.parquet")
        read = parquet.read_table(tmp_path / "latin.parquet")
    except (pa.ArrowInvalid, UnicodeError) as error:
        pytest.skip(f"pyarrow refuses the file itself: {error}")
    with pytest.raises(nt.TableError, match=r"column 1 \(word\).*(?i:utf-?8)"):
        nt.Table(read)


def test_a_csv_file_that_pyarrow_did_not_check_is_refused(tmp_path):
    csv = pytest.importorskip("pyarrow.csv")
    (tmp_path / "latin.csv").write_bytes(b"n,word\n1,plain\n2,caf\xe9\n")
    options = csv.ConvertOptions(check_utf8=False, column_types={"word": pa.string()})
    with pytest.raises(nt.TableError, match=r"column 1 \(word\).*(?i:utf-?8)"):
        nt.Table(csv.read_csv(tmp_path / "latin.csv", convert_options=options))


def test_columns_of_pandas_on_arrows_memory_are_checked():
    pd = pytest.importorskip("pandas")
    bad = [LATIN.view(pa.string()), text(pa.string(), "i4", [0, 1, 99], b"abc"), text(pa.string(), "i4", [0, 3, 1], b"abc")]
    for column in [*bad, short()]:
        late = column if isinstance(column, Damaged) else Damaged(column, lambda: None)
        series = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([late.array])), name="word")
        late.damage()
        for data in [series, series.to_frame(), series.array]:
            with pytest.raises(nt.TableError, match="column .*cannot be read"):
                nt.Table(data)
