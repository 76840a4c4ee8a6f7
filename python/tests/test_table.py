"""Tables from Python's memory and back: types, shapes, orders, copies, and what can be written."""

import collections
import copy
import gc
import pickle
import threading
import types
import weakref

import numpy as np
import pytest

import numeric_table as nt

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"]
SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (1, 7), (7, 1), (5, 3), (300, 40)]


def numbers(shape, dtype):
    return (np.arange(shape[0] * shape[1]) % 100).reshape(shape).astype(dtype)


def address(array):
    return np.asarray(array).__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_type_and_shape_go_and_come(dtype, shape, order):
    array = np.array(numbers(shape, dtype), order=order)
    table = nt.Table(array)
    assert (table.shape, table.dtype, table.ndim, len(table)) == (shape, np.dtype(dtype), 2, shape[0])
    assert (table.size, table.nbytes) == (array.size, array.nbytes)
    back = np.asarray(table)
    assert back.dtype == array.dtype and np.array_equal(back, array)
    assert not back.flags.writeable
    for other in TYPES:
        found, expected = np.asarray(table, dtype=other), array.astype(other)
        assert found.dtype == expected.dtype and np.array_equal(found, expected)


def test_there_are_twelve_element_types():
    with pytest.raises(nt.TableError) as error:
        nt.Table.zeros(1, 1).rows(dtype="f4", policy="none")
    assert "policy" in str(error.value)
    for dtype in TYPES + ["bfloat16"]:
        assert nt.Table.zeros(2, 2, dtype=dtype).nbytes == 4 * (2 if dtype == "bfloat16" else np.dtype(dtype).itemsize)


def test_bfloat16_is_that_of_ml_dtypes_and_never_an_integer():
    table = nt.Table([[1.5, -2.0]], dtype="bfloat16")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.asarray(table)
    assert array.dtype == np.dtype(ml_dtypes.bfloat16) and array.tolist() == [[1.5, -2.0]]
    again = nt.Table(array)
    assert again.dtype == array.dtype and np.asarray(again, dtype="f4").tolist() == [[1.5, -2.0]]


def test_memory_that_nobody_can_write_is_shared_and_all_other_is_copied():
    array = numbers((100, 4), "f4")
    table = nt.Table(array)
    array[0, 0] = 77
    assert np.asarray(table)[0, 0] == 0
    frozen = array.view()
    frozen.flags.writeable = False  # the base can still be written
    assert address(nt.Table(frozen)) != address(array)
    owned = array.copy()
    owned.flags.writeable = False  # can be made writable again
    assert address(nt.Table(owned)) != address(owned)
    for shared in [np.asarray(table), np.asarray(table)[10:20], np.frombuffer(bytes(16), dtype="f4")]:
        assert address(nt.Table(shared)) == address(shared)
        assert address(nt.Table(shared, copy=True)) != address(shared)
    promised = nt.Table(array, copy=False)
    assert address(promised) == address(array)


def test_a_copy_that_is_refused_says_why():
    array = numbers((100, 4), "f4")
    with pytest.raises(nt.CopyRequiredError, match="contiguous"):
        nt.Table(array[:, ::2], copy=False)
    with pytest.raises(nt.CopyRequiredError, match="type"):
        nt.Table(array, dtype="f8", copy=False)
    with pytest.raises(ValueError):
        np.asarray(nt.Table(array), dtype="f8", copy=False)
    assert np.array_equal(np.asarray(nt.Table(array[::3, ::-1])), array[::3, ::-1])
    assert np.array_equal(np.asarray(nt.Table(array.astype(">f4").astype("f4"))), array)
    misaligned = np.frombuffer(b"x" + array.tobytes(), dtype="f4", offset=1).reshape(100, 4)
    assert np.array_equal(np.asarray(nt.Table(misaligned)), array)
    with pytest.raises(nt.CopyRequiredError, match="aligned"):
        nt.Table(misaligned, copy=False)


@pytest.mark.parametrize(
    "data, error",
    [
        (np.zeros((2, 2, 2)), ValueError),
        (np.float32(3), ValueError),
        (np.zeros((2, 2), dtype="m8[s]"), TypeError),
        (np.zeros((2, 2), dtype=complex), TypeError),
        (np.zeros((2, 2), dtype=">c8"), TypeError),
        (np.array([[b"a", b"b"]]), TypeError),
        (np.array([[None, b"a"]]), TypeError),
        ([[1, 2], [3]], ValueError),
        (object(), TypeError),
        (np.zeros(3, dtype=[("a", "f4"), ("b", [("c", "i4")])]), TypeError),
    ],
)
def test_what_is_no_table_is_refused(data, error):
    with pytest.raises(error):
        nt.Table(data)


def test_a_view_keeps_its_values_when_the_table_is_written():
    table = nt.Table(numbers((10, 3), "i4"))
    before = np.asarray(table)
    old = before.copy()
    with table.write_rows(2, 5) as block:
        block[:] = 9
    assert np.array_equal(before, old)
    assert (table.rows(2, 5) == 9).all() and np.array_equal(table.rows(5, 10), old[5:])
    place = address(table)
    del before
    gc.collect()
    with table.write_rows(0, 1) as block:
        block[:] = 8
    assert address(table) == place  # nobody looked, so that nothing was copied


def test_a_block_is_thrown_away_with_an_exception_and_refused_as_a_whole():
    table = nt.Table([[1, 2], [3, 4]], dtype="u1")
    with pytest.raises(ZeroDivisionError):
        with table.write_rows() as block:
            block[:] = 9
            1 / 0
    with pytest.raises(nt.NotRepresentableError, match="300"):
        with table.write_rows(dtype="f4") as block:
            block[0, 0], block[1, 1] = 7, 300
    assert table.rows().tolist() == [[1, 2], [3, 4]]
    exact = nt.Table([[2**53 + 1, 5]], dtype="i8")
    with exact.write_rows(dtype="f8") as block:
        block[0, 1] = 6
    assert exact.rows().tolist() == [[2**53 + 1, 6]]  # what was not changed keeps its digits


def test_rows_and_columns_are_chosen_as_in_numpy():
    array = numbers((20, 4), "f8")
    table = nt.Table(array, names=["a", "b", "c", "d"])
    assert np.array_equal(table[3], array[3]) and np.array_equal(table[-1], array[-1])
    assert np.array_equal(table["b"], array[:, 1]) and table[3, "b"] == array[3, 1] and table[-2, -1] == array[-2, -1]
    assert np.array_equal(table[2:5, "c"], array[2:5, 2])
    for key in [slice(2, 7), slice(None), slice(-3, None), slice(15, 99), slice(9, 3), slice(None, None, 3), slice(9, 2, -2)]:
        assert np.array_equal(np.asarray(table[key]), array[key]), key
    assert address(table[2:7]) == address(table) + 2 * 4 * 8
    for key in [[1, 5, 1, -1], np.array([], dtype=int), array[:, 0] > 40, [True, False] * 10]:
        assert np.array_equal(np.asarray(table[key]), array[key]), key
    assert np.array_equal(np.asarray(table[["d", "a"]]), array[:, [3, 0]]) and table[["d", "a"]].names == ["d", "a"]
    for key in [
        (slice(2, 5), slice(1, 3)),
        (slice(None), [2, 0]),
        (Ellipsis, [True, False, False, True]),
        (slice(None, None, 2), Ellipsis),
        (3, slice(1, None)),
    ]:
        assert np.array_equal(np.asarray(table[key]), array[key]), key
    assert np.array_equal(np.asarray(table[[4, 2], ["d", "a"]]), array[[4, 2]][:, [3, 0]])
    assert np.array_equal(np.asarray(table[array[:, 0] > 40, ...]), array[array[:, 0] > 40])
    for key in [(0, 1, 2), (slice(None), [9]), ("a", 0), (slice(None), [1.5]), (slice(None), [True])]:
        with pytest.raises((IndexError, TypeError)):
            table[key]
    for key, error in [(20, IndexError), (-21, IndexError), ("e", ValueError), ((1, 9), IndexError), ([20], IndexError)]:
        with pytest.raises(error):
            table[key]
    with pytest.raises((ValueError, IndexError)):
        table[[True, False]]
    with pytest.raises(TypeError):
        table[[1.5]]


def test_blocks_are_of_the_type_that_is_asked_for():
    array = numbers((23, 3), "i2")
    table = nt.Table(array)
    blocks = list(table.row_blocks(5, dtype="f4"))
    assert [len(block) for block in blocks] == [5, 5, 5, 5, 3]
    assert np.array_equal(np.concatenate(blocks), array) and blocks[0].dtype == np.float32
    assert address(next(table.row_blocks(5))) == address(table)
    with pytest.raises(ValueError):
        table.row_blocks(0)
    with pytest.raises(nt.TableIndexError, match="23"):
        table.rows(5, 24)
    with pytest.raises(IndexError):
        table.rows(5, 2)
    with pytest.raises(nt.NotRepresentableError, match="row 1, column 0"):
        nt.Table([[1.0], [300.0]]).rows(dtype="u1", policy="checked")
    with pytest.raises(nt.NotRepresentableError):
        nt.Table([[1.5]]).rows(dtype="i4", policy="exact")
    report = nt.Table([[1.5, np.nan, 300.0]]).conversion_report("u1")
    assert (report["values"], report["lost"], report["nan_to_int"], report["first"]) == (3, 3, 1, (0, 0))


def test_blocks_on_all_threads_come_back_in_order_and_errors_too():
    array = numbers((10_000, 4), "f4")
    table = nt.Table(array)
    assert table.par_map_blocks(lambda block: float(block.sum()), 97) == [
        float(array[first : first + 97].sum()) for first in range(0, 10_000, 97)
    ]
    with pytest.raises(ZeroDivisionError):
        table.par_map_blocks(lambda block: 1 / 0, 100)
    assert nt.Table.zeros(0, 3).par_map_blocks(len, 5) == []

    def writes(block):  # the table is not locked meanwhile
        with table.write_rows(0, 1) as first:
            first += 1
        return len(table.rows(0, 10))

    assert set(table.par_map_blocks(writes, 1000)) == {10}
    assert nt.vstack([table, table]).shape == (20_000, 4)


def test_threads_compare_and_write_two_tables():
    one, two = nt.Table(np.zeros((200, 2)), names=["a", "b"]), nt.Table(np.zeros((200, 2)), names=["a", "b"])

    def work(call):
        for _ in range(300):
            call()

    calls = [
        lambda: one == two,
        lambda: two == one,
        lambda: nt.vstack([one, two]),
        lambda: nt.hstack([two, one]),
        lambda: setattr(one, "names", ["a", "b"]),
        lambda: setattr(two, "names", ["a", "b"]),
    ]
    threads = [threading.Thread(target=work, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_code_that_runs_when_an_array_goes_may_use_the_table():
    array = np.zeros((10, 2))
    table = nt.Table(array, copy=False)
    seen = []
    weakref.finalize(array, lambda: seen.append(table.shape))
    del array

    def write():
        with table.write_rows() as block:
            block[:] = 1

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive() and seen == [(10, 2)] and (table.rows() == 1).all()


def test_what_lies_is_not_believed():
    class Frozen(np.ndarray):
        flags = property(lambda self: types.SimpleNamespace(writeable=False))
        base = property(lambda self: b"")

    lying = np.zeros((2, 2)).view(Frozen)
    table = nt.Table(lying)
    np.ndarray.__setitem__(lying, (0, 0), 77.0)
    assert table[0, 0] == 0

    class OfTwoSizes(np.ndarray):
        dtype = property(lambda self: np.dtype("f8"))

        def view(self, *_):
            return np.zeros((1000, 1), "u1")

    assert nt.Table(np.zeros((2, 2), "f4").view(OfTwoSizes)).dtype == np.float32

    class OfAnotherMask(np.ma.MaskedArray):
        _mask = mask = property(lambda self: np.ones((7, 7), dtype=bool), lambda self, mask: None)

    with pytest.raises(nt.TableError, match="mask"):
        nt.Table(np.zeros((2, 2)).view(OfAnotherMask))

    class NoArray:
        def __array__(self, dtype=None, copy=None):
            return 5

    with pytest.raises(Exception):
        nt.Table(NoArray())


def test_tables_of_no_columns_may_have_many_rows():
    many = nt.Table.zeros(2**40, 0)
    assert many.shape == (2**40, 0) and len(many[5:]) == 2**40 - 5
    assert np.asarray(nt.Table.zeros(2**40, 0, order="F")).shape == (2**40, 0)
    with pytest.raises((MemoryError, ValueError)):
        nt.Table.zeros(2**62, 0)[::2]
    for rows, columns in [(2**63, 0), (2**62, 8), (0, 2**63)]:
        with pytest.raises((ValueError, MemoryError, OverflowError)):
            nt.Table.zeros(rows, columns)


def test_numpy_converts_as_the_table_does():
    table = nt.Table([[300.0, np.nan, -5.0]])
    assert np.asarray(table, dtype="u1").tolist() == table.to_numpy("u1").tolist() == [[255, 0, 0]]
    mixed = nt.hstack([nt.Table([[2**53 + 1]]), nt.Table([[0.5]])])
    assert mixed.conversion_report("f8")["lost"] == 1
    for key in [True, (0, True)]:
        with pytest.raises((TypeError, IndexError)):
            table[key]
    named = nt.Table([[1, 2]], names=["a", "b"])
    assert named[...] == named and named[np.array(["b"], dtype=object)].names == ["b"]


def test_threads_read_and_write_one_table():
    table = nt.Table(np.zeros((2000, 4)))
    errors = []

    def work(number):
        try:
            for i in range(50):
                if number % 2:
                    with table.write_rows(0, 1000) as block:
                        block[:] = i
                else:
                    rows = table.rows(0, 1000)
                    assert (rows == rows[0, 0]).all()
                    nt.statistics(table)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)


def test_tables_are_compared_copied_and_pickled_with_their_names():
    table = nt.Table([[1.0, np.nan], [3.0, 4.0]], names=["a", "b"])
    for twin in [copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table)), nt.Table(table)]:
        assert twin == table and twin.names == ["a", "b"]
        with twin.write_rows() as block:
            block[0, 0] = 5
        assert twin != table and table[0, 0] == 1
    assert table != nt.Table([[1.0, np.nan], [3.0, 4.0]]) and table != 3
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(table, protocol)) == table
    damaged = bytearray(pickle.dumps(table))
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(Exception):
        pickle.loads(bytes(damaged))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", TYPES + ["bfloat16"])
def test_values_are_pickled_out_of_band_without_a_copy(dtype, order):
    array = np.array(numbers((50, 3), "f4"), order=order)
    table = nt.Table(nt.Table.zeros(50, 3, dtype=dtype, order=order), names=["a", "b", "c"])
    with table.write_rows(dtype="f4") as block:
        block[:] = array
    buffers = []
    pickled = pickle.dumps(table, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 1 and len(pickled) < 1000
    again = pickle.loads(pickled, buffers=buffers)
    assert again == table and again.names == table.names and again.order == order
    if dtype != "bfloat16":
        assert address(again) == address(table)
    flat = bytes(buffers[0].raw())
    for other in [flat, bytearray(flat), memoryview(bytearray(flat)), np.frombuffer(flat, "u1")]:
        assert pickle.loads(pickled, buffers=[other]) == table
    writable = bytearray(flat)
    again = pickle.loads(pickled, buffers=[writable])
    writable[:] = bytes(len(writable))
    assert again == table
    with pytest.raises(nt.TableError, match="bytes"):
        pickle.loads(pickled, buffers=[bytes(7)])


def test_dlpack_lends_values_that_nobody_can_write():
    for order in ["C", "F"]:
        array = np.array(numbers((20, 3), "f4"), order=order)
        table = nt.Table(array)
        lent = np.from_dlpack(table)
        assert np.array_equal(lent, array) and not lent.flags.writeable and address(lent) == address(table)
        with table.write_rows() as block:
            block[:] = 1
        assert np.array_equal(lent, array)
        copied = np.from_dlpack(table, copy=True)
        assert address(copied) != address(table) and (copied == 1).all()
    assert table.__dlpack_device__() == (1, 0)
    table.__dlpack__(max_version=(1, 0))  # a capsule that nobody takes
    for wrong in [{}, {"max_version": (0, 8)}, {"max_version": (1, 0), "dl_device": (2, 0)}, {"max_version": (1, 0), "stream": 1}]:
        with pytest.raises(BufferError):
            table.__dlpack__(**wrong)

    class OnlyDlpack:
        def __dlpack__(self, **options):
            return table.__dlpack__(**options)

        def __dlpack_device__(self):
            return table.__dlpack_device__()

    assert nt.Table(OnlyDlpack()) == nt.Table(np.asarray(table))


def test_it_is_shown():
    table = nt.Table(numbers((100, 30), "f4"), names=[f"<{i}>" for i in range(30)])
    assert "100 x 30" in repr(table)
    html = table._repr_html_()
    assert html.count("<tr>") == 12 and "&lt;0&gt;" in html and "<0>" not in html and "100 rows" in html
    assert "0 rows" in nt.Table.zeros(0, 3)._repr_html_()


def test_numbers_that_are_none_are_refused_and_said():
    table = nt.Table([[1.0, 2.0], [3.0, 4.0]])
    huge = 2**70
    for call in (
        lambda n: table.rows(n),
        lambda n: table.rows(0, n),
        lambda n: table.write_rows(n),
        lambda n: table.write_rows(0, n),
    ):
        for number in (-1, -huge, huge):
            with pytest.raises(nt.TableIndexError, match=f"no row {number}"):
                call(number)
    for call in (
        lambda n: table.row_blocks(n),
        lambda n: table.par_map_blocks(len, n),
        lambda n: table.head(n),
        lambda n: table.tail(n),
        lambda n: table.sample_rows(n, 1),
        lambda n: table.sample_rows(1, n),
        lambda n: nt.Table.zeros(n, 1),
        lambda n: nt.Table.zeros(1, n),
        lambda n: nt.Statistics(n),
        lambda n: nt.create("none.ntb", n),
    ):
        for number in (-1, huge):
            with pytest.raises(nt.TableError, match=str(number)):
                call(number)
    for wrong in (True, 1.5, "1", None):
        with pytest.raises(TypeError):
            table.rows(wrong)
    assert table.rows(np.int64(1), np.uint8(2)).tolist() == [[3, 4]]


def test_columns_need_no_names():
    table = nt.Table([[1, 2, 3]], names=["a", None, "c"])
    assert table.names == ["a", None, "c"]
    table.names = [None, "b", None]
    assert table.names == [None, "b", None]
    for wrong in ([], ["a"], ["a"] * 4, [1, 2, 3], [None] * 4):
        with pytest.raises((nt.TableError, TypeError)):
            table.names = wrong
        with pytest.raises((nt.TableError, TypeError)):
            nt.Table([[1, 2, 3]], names=wrong)
    assert table.names == [None, "b", None]


def test_astype_makes_one_block_of_columns(tmp_path):
    table = nt.hstack([nt.Table([[1], [2]], dtype="i4"), nt.Table([[3.0], [4.0]], dtype="f4")])
    path = tmp_path / "t.ntb"
    nt.save(table, path)
    with pytest.raises(nt.TableError, match="astype"):
        nt.map(path)
    one = table.astype("f4")
    nt.save(one, path)
    assert one.kind == "homogeneous" and nt.map(path) == one
    uniform = table.select_columns([0, 0])
    assert uniform.astype("i4").kind == "homogeneous" and uniform.astype("i4").rows().tolist() == [[1, 1], [2, 2]]


def test_whole_numbers_beside_floats_are_not_rounded_unless_that_is_asked_for():
    big = 2**53 + 1
    mixed = nt.hstack([nt.Table([[0.5], [1.5]]), nt.Table(np.array([[big], [3]], dtype="int64"), names=["id"])])
    for read in [np.asarray, mixed.__class__.to_numpy, mixed.__class__.rows, np.from_dlpack, lambda t: list(t.row_blocks(1)),
                 lambda t: t.par_map_blocks(len, 1)]:
        with pytest.raises(nt.NotRepresentableError, match="9007199254740993 at row 0, column 1"):
            read(mixed)
    assert mixed.rows(dtype="float64")[0].tolist() == [0.5, big - 1] == mixed.rows(policy="saturate")[0].tolist()
    assert np.asarray(mixed, dtype="float64")[0].tolist() == [0.5, big - 1]
    assert np.asarray(mixed[1:]).tolist() == [[1.5, 3.0]]
    assert mixed["id"].tolist() == [big, 3]


def of_several_types(big=2**53 + 1):
    return nt.hstack([nt.Table([[0.5], [1.5]]), nt.Table(np.array([[3], [big]], dtype="int64"), names=["id"])])


def test_a_row_of_several_types_keeps_its_digits_or_is_refused():
    big, mixed = 2**53 + 1, of_several_types()
    assert mixed[0].tolist() == [0.5, 3.0] and mixed[-2, :].tolist() == [0.5, 3.0]
    for read in [lambda: mixed[1], lambda: mixed[-1, ...], lambda: mixed[1, [0, 1]], lambda: list(mixed)]:
        with pytest.raises(nt.NotRepresentableError, match=f"{big} at row ., column 1 .*dtype="):
            read()
    one = mixed[1, ["id"]]  # which the other column need not fit
    assert one.tolist() == [big] and one.dtype == np.int64 and mixed[1, [0]].tolist() == [1.5]
    assert mixed[1, "id"] == big and mixed[1, []].shape == (0,)
    assert nt.Table([[1, 2], [3, 4]])[1, [1, 0]].tolist() == [4, 3]


def test_a_block_for_writing_shows_all_digits_or_is_refused():
    mixed = of_several_types()
    with pytest.raises(nt.NotRepresentableError, match="row 1, column 1 .*dtype="):
        with mixed.write_rows() as block:
            block += 1
    assert mixed["id"].tolist() == [3, 2**53 + 1]
    with mixed.write_rows(dtype="float64") as block:
        block[:, 0] = 7
    assert mixed["id"].tolist() == [3, 2**53 + 1] and mixed.column(0).tolist() == [7, 7]


def test_whole_numbers_in_sequences_keep_their_digits_or_are_refused(tmp_path):
    big = 2**53 + 1
    for rows, place in [
        ([[big, 0.5]], "row 0, column 0"),
        ([[0.5], [np.int64(big)]], "row 1, column 0"),
        ([[2**63 + 1], [-1]], "row 0, column 0"),
        ((0.5, 1, big), "row 2"),
        ([range(2), (0.5, -big)], "row 1, column 1"),
        ([np.array([0.5, 1.0]), np.array([1, big])], "row 1, column 1"),
        ([np.array(big), 0.5], "row 0"),
        (collections.deque([0.5, big]), "row 1"),
    ]:
        with pytest.raises(nt.NotRepresentableError, match=f"{place} is among floats.*dtype="):
            nt.Table(rows)
        with pytest.raises(nt.NotRepresentableError, match=place):
            nt.Table(rows, dtype="int64")
        assert nt.Table(rows, dtype="float64") == nt.Table(np.asarray(rows))
        with pytest.raises(nt.NotRepresentableError):
            nt.Table(rows, dtype="float64", policy="exact")
    table = nt.Table([[1], [2]])
    with pytest.raises(nt.NotRepresentableError, match="row 1"):
        table.with_column("b", [0.5, big])
    with pytest.raises(nt.NotRepresentableError):
        nt.Statistics(2).update([[big, 0.5]])
    with nt.create(tmp_path / "t.ntb", 2, dtype="int64") as writer:
        with pytest.raises(nt.NotRepresentableError):
            writer.append([[big, 1.0]])
        writer.append([[big, 1]])
    assert nt.load(tmp_path / "t.ntb").rows().tolist() == [[big, 1]]
    for rows in [[[2**53, 0.5]], [[2**63], [-1]], [[True, 0.5]], [[2**64 - 2**11, -0.5]], [[-big, 1]], [[], []]]:
        assert nt.Table(rows) == nt.Table(np.asarray(rows))
