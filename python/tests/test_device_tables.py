"""Tables on a CUDA device: on a real one, or on the driver that takes the place of NVIDIA's (`tests/fake-cuda`)."""

import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import numeric_table as nt
from other_library import NEW, OLD, USED_NEW, USED_OLD, Array, Consumed, Interface, Library, OldArray
from other_library import names_of, need_device

TYPES = ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


@pytest.fixture
def library():
    need_device()
    return Library()


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert condition()


def traced(call):
    with nt.trace() as trace:
        result = call()
    return result, trace.copies


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.array_equal(found, expected, equal_nan=found.dtype.kind == "f"), (found, expected)


def program(text, **environment):
    code = textwrap.dedent(text)
    path = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join([path, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)


# The module and its driver


def test_the_import_and_tables_of_the_program_load_no_driver():
    run = program("""
        import numpy as np, numeric_table as nt
        table = nt.Table(np.ones((3, 2)))
        table.astype("f4").rows(), nt.statistics(table), nt.Table(np.from_dlpack(table))
        try:
            nt.DeviceTable.from_dlpack(np.ones(3))
        except nt.TableTypeError as error:
            print(error)
        with open("/proc/self/maps") as maps:
            print("libcuda" in maps.read())
    """)
    text = "the array is in CPU memory: Table(array).to_device() copies it"
    assert run.stdout.split("\n")[:2] == [text, "False"], run


def test_without_a_driver_there_is_an_exception():
    run = program(
        """
        import numeric_table as nt
        try:
            nt.Table([[1.0]]).to_device()
        except nt.DeviceError as error:
            assert isinstance(error, RuntimeError)
            print("DeviceError", error)
        else:
            print("there is a driver")
        """,
        LD_LIBRARY_PATH="",
    )
    assert run.stdout.startswith(("DeviceError the device is not available", "there is a driver")), run


def test_a_device_that_is_missing_is_an_exception(library):
    with pytest.raises(nt.DeviceError, match="not available|failed"):
        nt.Table([[1.0]]).to_device(999)
    for wrong in (-1, "cpu", "cuda:x", True, 1.5, None.__class__):
        with pytest.raises(nt.TableTypeError, match="a device is"):
            nt.Table([[1.0]]).to_device(wrong)
    assert nt.Table([[1.0]]).to_device("cuda:0").device == nt.Table([[1.0]]).to_device("cuda").device == "cuda:0"


# Copies to and from a device


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_tables_go_to_the_device_and_back(library, dtype, order):
    for shape in [(1, 1), (7, 3), (3, 7), (130, 5), (0, 3), (4, 0)]:
        values = np.asarray((np.arange(shape[0] * shape[1]) % 100).reshape(shape), dtype, order=order)
        table = nt.Table(values, names=[f"c{i}" for i in range(shape[1])])
        there = table.to_device()
        assert (there.shape, there.dtype, there.order) == (shape, values.dtype, table.order)
        assert (len(there), there.ndim, there.size, there.nbytes) == (shape[0], 2, values.size, values.nbytes)
        assert there.names == table.names and there.device == "cuda:0" and not there.is_read_only
        back = there.to_table()
        assert back.names == table.names and back.order == there.order
        same(np.asarray(back), values)
        same(there.rows(), values)
        if shape[0] > 2:
            same(there.rows(1, 3), values[1:3])
        other = there.to_order("F" if there.order == "C" else "C")
        assert other.order != there.order and other.names == there.names
        same(other.rows(), values)
        assert there.to_order(there.order) is there and there.astype(dtype) is there


@pytest.mark.parametrize("dtype", TYPES)
def test_conversions_are_those_of_the_program(library, dtype):
    numbers = [[0.0, -1.5, 300.25], [1e9, -7e12, 65504.0], [np.nan, np.inf, -np.inf], [2.5, 3.5, 1e-8]]
    table = nt.Table(numbers, names=["a", "b", "c"])
    expected = table.rows(dtype=dtype)
    there = table.to_device()
    same(there.astype(dtype).rows(), expected)
    same(there.rows(dtype=dtype), expected)
    same(table.to_device(dtype=dtype).rows(), expected)
    turned = table.to_device(0, dtype, order="F")
    assert turned.order == "F" and turned.dtype == np.dtype(dtype) and turned.names == ["a", "b", "c"]
    same(turned.rows(), expected)
    same(there.astype(dtype, order="F").rows(1, 4), expected[1:4])
    same(table.astype(dtype).to_device(dtype="f8").rows(), table.astype(dtype).rows(dtype="f8"))


def test_columns_are_chosen_as_in_the_program(library):
    table = nt.Table(np.arange(12, dtype="i4").reshape(4, 3), names=["a", "b", "c"])
    there = table.to_device()
    true, flags = np.bool_(True), [True, False, True]
    kinds = [np.array([0, 2], "u8"), np.int8(-1), np.array([1.0]), np.array([], "f4"), np.array([[0]])]
    masks = [flags, np.array(flags), np.array(flags, object), flags[:2], [False] * 3, flags * 2, tuple(flags)]
    slices = [slice(None), slice(None, None, -1), slice(5, 9), slice(None, None, 0), slice("a", "b"), ...]
    wrong = [2**70, [2**70], -(2**70), np.uint64(2**64 - 1), 3, [-4], np.nan, [np.nan], 1.0, [1.0], "d", ["a", "d"]]
    others = [True, true, [true], None, [None], {}, {"a": 1}, {0}, "abc", b"a", ["a", 1], [["a"]], iter([0]), object()]
    for key in [*kinds, *masks, *slices, *wrong, *others, [], ["c", "a"], range(2), "b", -1, [0, 0]]:
        try:
            expected = table.select_columns(key)
        except Exception as error:
            with pytest.raises(type(error)) as found:
                there.select_columns(key)
            assert str(found.value) == str(error), key
        else:
            found = there.select_columns(key)
            assert found.names == expected.names, key
            same(found.rows(), expected.rows(dtype="i4"))


def test_statistics_of_other_columns_standardize_nothing(library):
    values = np.array([[0.0, 100.0], [2.0, 300.0]])
    fitted = nt.Table(values, names=["a", "b"]).to_device().statistics()
    there = nt.Table(values, names=["b", "a"]).to_device()
    other = nt.statistics(nt.Table(values, names=["b", "a"]))
    for wrong, part in [
        (fitted, 'column 0 has the name "a"'),
        (nt.Statistics(2), "0 rows"),
        (nt.statistics(nt.Table(np.ones((0, 2)))), "0 rows"),
        (nt.Statistics(3), "3 columns.* 2 columns"),
        (nt.statistics(nt.Table(np.ones((2, 3)))), "3 columns"),
        (nt.statistics(nt.Table(np.ones((2, 0)))), "0 columns"),
    ]:
        with pytest.raises(nt.TableError, match=part):
            there.standardize(wrong)
        same(there.rows(), values)
    for right in (other, nt.statistics(nt.Table(values))):  # the latter has no names
        again = nt.Table(values, names=["b", "a"]).to_device()
        again.standardize(right)
        same(again.rows(), np.array([[-1.0, -1.0], [1.0, 1.0]]))
    there.standardize(there.statistics())
    same(there.rows(), np.array([[-1.0, -1.0], [1.0, 1.0]]))


def test_fewer_bytes_are_transferred(library):
    wide, narrow = nt.Table(np.ones((100, 4))), nt.Table(np.ones((100, 4), "i2"))
    there, copies = traced(lambda: wide.to_device(dtype="f4"))
    assert copies["uploaded"] == (1, 1600)
    there, copies = traced(lambda: narrow.to_device(dtype="f4"))
    assert copies == {"uploaded": (1, 800)}
    _, copies = traced(lambda: there.rows(2, 4, dtype="u1"))
    assert copies == {"downloaded": (1, 8)}
    _, copies = traced(lambda: (there.astype("f8"), there.to_order("F"), there.select_columns([1])))
    assert copies == {}


def test_policies_refuse_values_as_in_the_program(library):
    table = nt.Table([[1.0, 2.0], [3.5, 300.0]])
    there = table.to_device()
    for policy in ("checked", "exact"):
        with pytest.raises(nt.NotRepresentableError) as expected:
            table.rows(dtype="u1", policy=policy)
        for call in (
            lambda: there.rows(dtype="u1", policy=policy),
            lambda: there.astype("u1", policy=policy),
            lambda: table.to_device(dtype="u1", policy=policy),
        ):
            with pytest.raises(nt.NotRepresentableError) as found:
                call()
            assert str(found.value) == str(expected.value)
    for call in (
        lambda: there.astype("u1", policy="none"),
        lambda: there.astype("u1", order="X"),
        lambda: there.to_order("A"),
        lambda: table.to_device(order="A"),
    ):
        with pytest.raises(nt.TableError, match="a policy is|an order is"):
            call()
    with pytest.raises(TypeError):
        there.astype("c8")
    same(there.rows(), table.rows())


def test_tables_of_other_kinds_are_copied_to_a_device(library):
    mixed = nt.Table([[1, 2], [3, 4]]).with_column("x", np.array([0.5, 1.5], "f4"))
    there = mixed.to_device()
    assert there.dtype == np.float64 and there.names == mixed.names
    same(there.rows(), mixed.rows())
    large = nt.Table([[2**53 + 1]]).with_column("x", [0.5])
    with pytest.raises(nt.NotRepresentableError, match="dtype="):
        large.to_device()
    assert large.to_device(dtype="i8").rows()[0, 0] == 2**53 + 1


def test_columns_and_rows_are_selected(library):
    values = np.arange(12, dtype="i4").reshape(4, 3)
    there = nt.Table(values, names=["a", "b", "c"]).to_device()
    for columns, places in [
        (["c", "a"], [2, 0]),
        ("b", [1]),
        (2, [2]),
        ([0, 0, -1], [0, 0, 2]),
        ([], []),
        (np.array([1]), [1]),
    ]:
        some = there.select_columns(columns)
        same(some.rows(), values[:, places])
        assert some.names == [there.names[place] for place in places]
        same(there.to_order("F").select_columns(columns).rows(), values[:, places])
    for wrong in (["d"], [3], [-4], 7):
        with pytest.raises((nt.TableError, nt.TableIndexError)):
            there.select_columns(wrong)
    with pytest.raises(TypeError, match="columns are selected by an index"):
        there.select_columns({"a": 1})
    for start, stop in [(0, 5), (5, None), (3, 2)]:
        with pytest.raises(nt.TableIndexError, match="4"):
            there.rows(start, stop)
    assert there.rows(4).shape == (0, 3) and there.rows(1, 1).shape == (0, 3)


def test_statistics_are_those_of_the_program(library):
    values = np.random.default_rng(7).normal(3, 2, (1000, 4)).astype("f4")
    values[5, 2] = np.nan
    table = nt.Table(values, names=["a", "b", "c", "d"])
    expected, found = nt.statistics(table), table.to_device().statistics()
    assert found.column("b")["mean"] == found.mean[1]
    for name in ("count", "nan_count", "minimum", "maximum"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
    for name in ("mean", "variance", "sum"):
        assert np.allclose(getattr(found, name), getattr(expected, name), rtol=1e-13)
    assert found.row_count == 1000 and isinstance(found, nt.Statistics)
    assert np.array_equal(nt.statistics(table.to_device()).mean, found.mean)
    assert nt.Table(np.zeros((0, 2))).to_device().statistics().row_count == 0


def test_the_text_of_a_table_names_its_form(library):
    there = nt.Table(np.zeros((4, 3), "f4")).to_device()
    assert repr(there) == '<DeviceTable: 4 x 3 float32, order "C", on cuda:0>'
    assert weakref.ref(there)() is there


def test_values_are_not_copied_implicitly(library):
    there = nt.Table([[1.0]]).to_device()
    with pytest.raises(nt.TableTypeError, match="rows.. and to_table.. copy"):
        np.asarray(there)
    array = Array(library, np.ones((2, 2), "f4"))
    for value in (array, Interface(array)):
        with pytest.raises(nt.TableTypeError, match="DeviceTable.from_dlpack"):
            nt.Table(value)
    array.free()


# Memory of others


@pytest.mark.parametrize("kind", [Array, OldArray])
@pytest.mark.parametrize("dtype", TYPES)
def test_a_tensor_is_a_table_without_a_copy(library, kind, dtype):
    for values in (
        np.arange(12, dtype=dtype).reshape(4, 3),
        np.asfortranarray(np.arange(12, dtype=dtype).reshape(4, 3)),
        np.arange(5, dtype=dtype),
        np.arange(5, dtype=dtype).reshape(1, 5),
        np.zeros((0, 3), dtype),
    ):
        array, before = kind(library, values), library.transferred()
        table, copies = traced(lambda: nt.DeviceTable.from_dlpack(array))
        assert copies == {}
        expected = values.reshape(-1, 1) if values.ndim == 1 else values
        assert (table.shape, table.dtype, table.is_read_only) == (expected.shape, values.dtype, False)
        assert table.names == [None] * expected.shape[1]
        (capsule,), ((stream, version),) = array.renamed, array.asked[-1:]
        assert stream > 2 and names_of(capsule) == [USED_NEW if version else USED_OLD]

        # The same address, and nothing is transferred.
        for options in ({}, {"max_version": (1, 0)}, {"max_version": (1, 3)}, {"max_version": (0, 8)}):
            tensor, copies = traced(lambda: Consumed(table, library.stream.value, **options))
            assert copies == {} and library.transferred() == before
            assert tensor.address == (array.address if values.size else tensor.address)
            assert (tensor.shape, tensor.device) == (expected.shape, (2, 0))
            assert tensor.type == ({"i": 0, "u": 1, "f": 2}[values.dtype.kind], values.itemsize * 8, 1)
            assert tensor.is_versioned == (options.get("max_version", (0,))[0] == 1) and tensor.flags == 0
            tensor.delete()
        same(table.rows(), expected)
        assert array.deleted == 0
        del table
        wait_for(lambda: array.deleted)
        assert array.deleted == 1
        array.free()


def test_each_side_sees_what_the_other_writes(library):
    array = Array(library, np.arange(6, dtype="f4").reshape(2, 3))
    table = nt.DeviceTable.from_dlpack(array)
    library.write(array.address, np.full((2, 3), 7, "f4"))
    table.wait_for(library.stream.value)
    same(table.rows(), np.full((2, 3), 7, "f4"))
    library.write(array.address, np.full((2, 3), 8, "f4"))
    table.wait_for(type("Stream", (), {"cuda_stream": library.stream.value})())
    same(table.rows(), np.full((2, 3), 8, "f4"))
    del table
    wait_for(lambda: array.deleted)
    array.free()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_a_tensor_is_standardized_in_place(library, dtype):
    """What issue reports ask for: to standardize the tensor of another library, which then sees the values in it."""
    level = longer_delays(library)
    rows = np.random.default_rng(3).normal(5, 3, (500, 3)).astype(dtype)
    rows[7, 1] = np.nan
    for values in (rows, np.asfortranarray(rows)):
        array, before = Array(library, values), None
        before = library.transferred()
        table = nt.DeviceTable.from_dlpack(array)
        early = Consumed(table, library.stream.value)

        def pipeline():
            table.astype("f8").astype("i2", order="F")
            table.standardize()
            return Consumed(table, library.stream.value, max_version=(1, 0))

        tensor, copies = traced(pipeline)
        assert copies == {} and library.transferred() == before
        assert tensor.address == early.address == array.address and tensor.flags == 0
        found = array.values().reshape(values.shape, order="F" if table.order == "F" else "C")
        wide = np.asarray(values, "f8")
        expected = (wide - np.nanmean(wide, 0)) / np.nanstd(wide, 0)
        tolerance = {"f4": 1e-6, "f8": 1e-12, "f2": 2e-3}[dtype]
        assert np.allclose(found, expected, atol=tolerance, rtol=tolerance, equal_nan=True)
        same(table.rows(), found)
        own = nt.Table(values).to_device()  # of no other library
        own.standardize()
        same(own.rows(), found)
        tensor.delete(), early.delete()
        del table
        wait_for(lambda: array.deleted)
        array.free()
    if level is not None:
        library.control(13, level)
        assert library.control(5) == 0


def test_tables_are_standardized_by_the_statistics_of_others(library):
    training, test = nt.Table([[1.0, 7.0], [3.0, 7.0]]), nt.Table([[4.0, 9.0]]).to_device()
    test.standardize(nt.statistics(training))
    same(test.rows(), np.array([[2.0, 2.0]]))
    with pytest.raises(nt.TableError, match="1 columns"):
        test.standardize(nt.statistics(nt.Table([[1.0]])))
    with pytest.raises(TypeError):
        test.standardize([1.0])
    whole = nt.Table([[1, 2]]).to_device()
    with pytest.raises(nt.TableError, match="int64"):
        whole.standardize()
    array = Array(library, np.ones((2, 2), "f4"), flags=1)
    table = nt.DeviceTable.from_dlpack(array)
    with pytest.raises(nt.TableTypeError, match="read-only"):
        table.standardize()
    assert array.values().tolist() == [1.0] * 4
    table = nt.DeviceTable.from_dlpack(array, copy=True)
    table.standardize()
    assert table.rows().tolist() == [[0.0, 0.0]] * 2 and array.values().tolist() == [1.0] * 4


def test_an_exported_table_is_used_further_and_the_memory_outlives_it(library):
    values = np.arange(12, dtype="i4").reshape(4, 3)
    table = nt.Table(values, names=["a", "b", "c"]).to_device()
    one, two = [Consumed(table, library.stream.value, max_version=(1, 0)) for _ in range(2)]
    assert one.address == two.address and table.names == ["a", "b", "c"]
    same(table.astype("f8").rows(), values.astype("f8"))
    again = nt.DeviceTable.from_dlpack(table)  # and is a producer for the library itself
    assert Consumed(again, library.stream.value).address == one.address
    one.delete()
    del table, again
    gc.collect()
    same(library.read(two.address, 12, "i4").reshape(4, 3), values)
    two.delete()


def test_what_was_not_consumed_is_freed(library):
    blocks = library.control(0)
    if blocks is None:
        pytest.skip("needs the fake driver")
    for _ in range(5):
        table = nt.Table(np.ones((50, 3))).to_device()
        capsules = [table.__dlpack__(max_version=version) for version in ((1, 0), None)]
        assert [names_of(capsule) for capsule in capsules] == [[NEW], [OLD]]
        table.__dlpack__(copy=True)
        del table, capsules
    gc.collect()
    wait_for(lambda: library.control(0) <= blocks)
    assert library.control(5) == 0


def test_requests_of_consumers(library):
    table = nt.Table(np.arange(6, dtype="f4").reshape(2, 3)).to_device()
    assert table.__dlpack_device__() == (2, 0)
    for stream in (None, 1, 2, -1, library.stream.value):
        Consumed(table, stream, dl_device=(2, 0), copy=False).delete()
    for stream in (0, -2, 2**70, "1"):
        with pytest.raises((BufferError, OverflowError, TypeError)):
            table.__dlpack__(stream=stream)
    for device in ((1, 0), (2, 1), (13, 0)):
        with pytest.raises(BufferError, match=r"\(2, 0\): to_table"):
            table.__dlpack__(dl_device=device)
    copy = Consumed(table, library.stream.value, max_version=(1, 0), copy=True)
    assert copy.flags == 2 and copy.address != Consumed(table, -1).address
    same(library.read(copy.address, 6, "f4"), np.arange(6, dtype="f4"))
    copy.delete()


def test_read_only_tensors_stay_as_they_are(library):
    values = np.arange(6, dtype="f4").reshape(2, 3)
    array = Array(library, values, flags=1)
    table = nt.DeviceTable.from_dlpack(array)
    assert table.is_read_only
    same(table.rows(), values)
    tensor = Consumed(table, library.stream.value, max_version=(1, 0))
    assert (tensor.flags, tensor.address) == (1, array.address)
    with pytest.raises(BufferError, match="read-only"):
        table.__dlpack__()
    copy = nt.DeviceTable.from_dlpack(array, copy=True)
    assert not copy.is_read_only and not table.astype("f8").is_read_only
    tensor.delete()
    del table
    wait_for(lambda: array.deleted == 2)
    array.free()
    same(copy.rows(), values)


def test_gaps_between_values_are_an_error_or_copied(library):
    values = np.arange(12, dtype="f4")
    base = Array(library, values)
    for shape, strides, expected in [
        ((4, 2), (3, 1), values.reshape(4, 3)[:, :2]),
        ((2, 3), (6, 1), values.reshape(2, 2, 3)[:, 0]),
        ((6,), (2,), values[::2].reshape(-1, 1)),
        ((3, 2), (0, 1), np.tile(values[:2], (3, 1))),
    ]:
        array = Array(library, np.zeros(0, "f4"), base=base.address, strides=strides)
        array.shape = shape
        with pytest.raises(nt.CopyRequiredError, match=r"strides \[.*copy=True"):
            nt.DeviceTable.from_dlpack(array)
        assert array.deleted == 1
        table, copies = traced(lambda: nt.DeviceTable.from_dlpack(array, copy=True))
        assert "uploaded" not in copies and "downloaded" not in copies
        same(table.rows(), expected)
        wait_for(lambda: array.deleted == 2)
    base.free()


def test_what_is_not_a_table_of_a_device_is_refused_and_deleted(library):
    base = Array(library, np.arange(12, dtype="f4"))

    def array(shape=(4, 3), **options):
        made = Array(library, np.zeros(0, "f4"), base=base.address, **options)
        made.shape = shape
        return made

    for wrong, error, part in [
        (array(()), nt.TableError, "0 dimensions"),
        (array((2, 2, 3)), nt.TableError, "3 dimensions"),
        (array((-4, 3)), nt.TableError, "the size -4"),
        (array(strides=(-3, 1)), nt.TableError, "the stride -3"),
        (array((400, 3)), nt.TableError, "4800 bytes .* were claimed"),
        (array((2**40, 2**40)), nt.TableError, "more bytes than can be addressed|claimed"),
        (array(version=(2, 0)), nt.TableTypeError, "DLPack 2.0"),
        (array(version=(0, 9)), nt.TableTypeError, "DLPack 0.9"),
        (array(code=6, bits=8), nt.TableTypeError, "type code 6 with 8 bits"),
        (array(lanes=4), nt.TableTypeError, "4 lanes"),
        (array(bits=128), nt.TableTypeError, "128 bits"),
        (array((2, 3), byte_offset=2), nt.TableError, "not a multiple of 4"),
        (array(device_type=13), nt.TableError, "claimed as Shared"),
        (array(device_type=10), nt.TableError, "device type 10"),
        (array(device_id=1), nt.TableError, "on device 1"),
        (array(data=base.dtype.itemsize), nt.TableError, "claimed as Device, and is Host"),
    ]:
        with pytest.raises(error, match=part):
            nt.DeviceTable.from_dlpack(wrong)
        assert wrong.deleted == 1 and wrong.threads == ["MainThread"], part
    for device, part in [((1, 0), "CPU memory"), ((10, 0), "type 10"), ((8, 0), "type 8")]:
        with pytest.raises(nt.TableTypeError, match=part):
            nt.DeviceTable.from_dlpack(array(device=device))
    with pytest.raises(nt.DeviceError):
        nt.DeviceTable.from_dlpack(array(device=(2, 99)))
    with pytest.raises(nt.TableTypeError, match="CPU memory"):
        nt.DeviceTable.from_dlpack(np.ones(3))
    for nothing in (None, 3, [[1.0]], object()):
        with pytest.raises(nt.TableTypeError, match="neither"):
            nt.DeviceTable.from_dlpack(nothing)
    same(base.values(), np.arange(12, dtype="f4"))
    base.free()


def test_tables_of_tensors_have_names(library):
    values = np.arange(6, dtype="f4").reshape(2, 3)
    array = Array(library, values)
    assert nt.DeviceTable.from_dlpack(array).names == [None] * 3
    there = nt.DeviceTable.from_dlpack(array, names=["a", None, "c"])
    assert there.names == ["a", None, "c"] and there.to_table().names == there.names
    same(there.select_columns("c").rows(), values[:, 2:])
    assert nt.DeviceTable.from_dlpack(array, names=["x", "y", "z"], copy=True).names == ["x", "y", "z"]
    assert nt.DeviceTable.from_dlpack(Interface(array), names=np.array(["x", "y", "z"])).names == ["x", "y", "z"]
    for copy in (False, True):
        assert nt.DeviceTable.from_dlpack(there, copy=copy).names == there.names
        assert nt.DeviceTable.from_dlpack(there, copy=copy, names=list("xyz")).names == list("xyz")
    deleted = array.deleted
    for wrong, error in [(["a"], nt.TableError), (list("abcd"), nt.TableError), ("abc", TypeError), ([1, 2, 3], TypeError)]:
        with pytest.raises(error):
            nt.DeviceTable.from_dlpack(array, names=wrong)
    assert there.names == ["a", None, "c"]
    same(there.rows(), values)
    wait_for(lambda: array.deleted >= deleted + 2)


@pytest.mark.parametrize("order", ["C", "F"])
def test_consumers_that_write_sizes_and_strides_spoil_no_other_tensor(library, order):
    values = np.asarray(np.arange(6, dtype="f4").reshape(2, 3), order=order)
    for table in (nt.Table(values).to_device(), nt.DeviceTable.from_dlpack(Array(library, values))):
        for options in ({}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}):
            first = Consumed(table, -1, **options)
            shape, strides = first.shape, first.strides
            for place in range(2):
                first.managed.tensor.shape[place] = first.managed.tensor.strides[place] = 7
            second = Consumed(table, -1, **options)
            assert (second.shape, second.strides) == (shape, strides) == ((2, 3), (3, 1) if order == "C" else (1, 2))
            assert table.shape == (2, 3)
            first.delete(), second.delete()
        same(nt.DeviceTable.from_dlpack(table).rows(), values)
        same(table.rows(), values)


def test_producers_that_break_their_promises(library):
    base = Array(library, np.arange(12, dtype="f4"))

    class Broken:
        def __init__(self, result):
            self.result = result

        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **options):
            if isinstance(self.result, Exception):
                raise self.result
            return self.result

    used = base.capsule(True)
    nt.DeviceTable.from_dlpack(Broken(used))
    for result, part in [(None, "did not return"), (3, "did not return"), (used, "already been consumed")]:
        with pytest.raises(nt.TableTypeError, match=f"capsule.*{part}|{part}.*capsule"):
            nt.DeviceTable.from_dlpack(Broken(result))
    for error in (KeyError("a"), TypeError("b"), BufferError("c")):
        with pytest.raises(type(error), match=error.args[0]):
            nt.DeviceTable.from_dlpack(Broken(error))
    calls = []

    class Fails(Broken):
        def __dlpack__(self, **options):
            calls.append(options)
            return super().__dlpack__(**options)

    with pytest.raises(TypeError, match="its own"):
        nt.DeviceTable.from_dlpack(Fails(TypeError("its own")))
    assert len(calls) == 1 and "max_version" in calls[0]
    with pytest.raises(TypeError, match="argument 'max_version'"):
        nt.DeviceTable.from_dlpack(Fails(TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")))
    assert len(calls) == 3 and "max_version" not in calls[2]
    wait_for(lambda: base.deleted == 1)
    base.free()


def test_arrays_with_the_cuda_array_interface_are_tables(library):
    values = np.arange(12, dtype="i2").reshape(4, 3)
    for own, stream in [(values, None), (np.asfortranarray(values), 1), (values[:, 0].copy(), library.stream.value)]:
        array = Array(library, own)
        held = Interface(array, stream)
        there = weakref.ref(held)
        table, copies = traced(lambda: nt.DeviceTable.from_dlpack(held))
        assert copies == {} and not table.is_read_only
        expected = own.reshape(-1, 1) if own.ndim == 1 else own
        same(table.rows(), expected)
        assert Consumed(table, -1).address == array.address
        del held
        assert there() is not None, "the table keeps the array"
        interface = table.__cuda_array_interface__
        assert interface["data"] == (array.address, False) and interface["shape"] == expected.shape
        assert interface["version"] == 3 and interface["stream"] is None and interface["typestr"] == "<i2"
        assert interface["strides"] == (None if table.order == "C" else (2, 8))
        array.free_later = table
        del table, array.free_later
    array = Array(library, values)
    assert nt.DeviceTable.from_dlpack(Interface(array, read_only=True)).is_read_only
    gaps = Interface(array, strides=(12, 2), shape=(2, 3))
    with pytest.raises(nt.CopyRequiredError):
        nt.DeviceTable.from_dlpack(gaps)
    same(nt.DeviceTable.from_dlpack(gaps, copy=True).rows(), values[::2])
    for fields, error, part in [
        ({"typestr": "<c8"}, nt.TableTypeError, "<c8"),
        ({"typestr": ">i2"}, nt.TableTypeError, ">i2"),
        ({"stream": 0}, nt.TableError, "stream 0"),
        ({"shape": (1, 2, 3)}, nt.TableError, "3 dimensions"),
        ({"shape": (4000, 3)}, nt.TableError, "were claimed"),
        ({"mask": object()}, nt.TableTypeError, "masks"),
        ({"mask": []}, nt.TableTypeError, "masks"),
        ({"strides": (3, 2)}, nt.TableError, "stride of 3 bytes"),
    ]:
        with pytest.raises(error, match=part):
            nt.DeviceTable.from_dlpack(Interface(array, **fields))
    for name, wrong in [("data", 3), ("data", (-1, False)), ("data", None), ("typestr", 3), ("shape", "ab"), ("shape", 3)]:
        with pytest.raises(nt.TableTypeError, match=name):
            nt.DeviceTable.from_dlpack(Interface(array, **{name: wrong}))
    for name, wrong in [("strides", 3), ("stream", "a"), ("stream", 2**70)]:
        with pytest.raises(nt.TableTypeError, match=name):
            nt.DeviceTable.from_dlpack(Interface(array, **{name: wrong}))
    for wrong, part in [({}, "data"), (3, "__cuda_array_interface__"), ([1], "__cuda_array_interface__")]:
        with pytest.raises(nt.TableTypeError, match=part):
            nt.DeviceTable.from_dlpack(type("Wrong", (), {"__cuda_array_interface__": wrong})())
    for wrong in (None, 3, (2,), ("a", 0), (2**70, 0)):
        call = {"__dlpack__": lambda self, **options: None, "__dlpack_device__": lambda self: wrong}
        with pytest.raises(nt.TableTypeError, match="__dlpack_device__"):
            nt.DeviceTable.from_dlpack(type("Wrong", (), call)())


def test_nothing_is_copied_or_pickled_implicitly(library):
    there = nt.Table([[1.0]]).to_device()
    for call in (nt.Table, np.asarray, copy.copy, copy.deepcopy, pickle.dumps, lambda table: pickle.dumps(table, 2)):
        with pytest.raises(nt.TableTypeError, match=r"to_table\(\)"):
            call(there)


def test_an_array_on_another_device_is_found(library):
    other = Library(1) if library.control(14) not in (None, 1) else None
    if other is None:
        pytest.skip("needs two devices")
    array = Array(other, np.arange(6, dtype="f4").reshape(2, 3), device=(2, 1))
    for exporter in (array, Interface(array)):
        table = nt.DeviceTable.from_dlpack(exporter)
        assert table.device == "cuda:1" and table.__dlpack_device__() == (2, 1)
        same(table.rows(), np.arange(6, dtype="f4").reshape(2, 3))


@pytest.mark.parametrize("after", range(12))
def test_calls_that_the_driver_refuses_leave_the_table_as_it_was(library, after):
    if library.control(0) is None:
        pytest.skip("needs the fake driver")
    fail = library.driver.fake_cuda_fail
    fail.restype, fail.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
    values = np.arange(12, dtype="f4").reshape(4, 3)
    for make in (lambda: nt.Table(values).to_device(), lambda: nt.DeviceTable.from_dlpack(Array(library, values))):
        for call in (
            lambda table: Consumed(table, library.stream.value).delete(),
            lambda table: table.__cuda_array_interface__,
            lambda table: table.astype("f8").rows(),
            lambda table: table.rows(0, 2, dtype="i1"),
            lambda table: table.statistics(),
            lambda table: table.wait_for(library.stream.value),
            lambda table: nt.DeviceTable.from_dlpack(table, copy=True),
        ):
            table = make()
            fail(b"", after, 1)  # an invalid value, which says nothing about the device
            try:
                call(table)
            except (nt.DeviceError, nt.TableError, MemoryError):
                pass
            fail(None, 0, 0)
            same(table.rows(), values)
            call(table)
            assert table.shape == (4, 3)
    assert library.control(5) == 0


def test_every_call_says_that_the_device_is_lost(library):
    if library.control(0) is None:
        pytest.skip("needs the fake driver")
    run = program("""
        import numpy as np, numeric_table as nt
        from other_library import Array, Library
        library = Library()
        values = np.ones((4, 3), "f4")
        lent, own = nt.Table(values).to_device(), nt.Table(values).to_device()
        lent.__dlpack__()
        tables = [lent, own, nt.DeviceTable.from_dlpack(Array(library, values))]
        library.control(10, 700)  # an illegal address
        try:
            own.astype("f8").rows()
        except nt.DeviceError:
            pass
        calls = [
            lambda table: table.rows(),
            lambda table: table.statistics(),
            lambda table: table.standardize(),
            lambda table: table.astype("f8"),
            lambda table: table.select_columns([0]),
            lambda table: table.wait_for(1),
            lambda table: table.__dlpack__(),
            lambda table: table.__cuda_array_interface__,
            lambda table: table.to_table(),
            lambda table: nt.DeviceTable.from_dlpack(table),
        ]
        for table in tables:
            for call in calls * 2:
                try:
                    call(table)
                except nt.DeviceError as error:
                    print(error)
                else:
                    print("no error")
    """)
    assert (run.returncode, run.stderr) == (0, ""), run
    assert set(run.stdout.splitlines()) == {"the device is lost, with its copies"}, run
    assert len(run.stdout.splitlines()) == 60


# Order


def longer_delays(library):
    return library.control(13, 2)


def test_producers_and_consumers_on_streams_of_their_own(library):
    level = longer_delays(library)
    zeros = np.zeros((1000, 3), "f4")
    for number in range(10):
        array, source = Array(library, zeros), Array(library, zeros + number)
        twin = Array(library, zeros)
        library.copy(array.address, source.address, zeros.nbytes)  # is going on
        table = nt.DeviceTable.from_dlpack(array)
        tensor = Consumed(table.astype("f8").astype("f4"), library.stream.value)
        library.copy(twin.address, tensor.address, zeros.nbytes)
        tensor.delete()  # while the library still reads it
        same(twin.values(), zeros.ravel() + number)
        same(table.rows(), zeros + number)
        del table
        wait_for(lambda: array.deleted)
        [each.free() for each in (array, source, twin)]
    if level is not None:
        library.control(13, level)
        assert library.control(5) == 0


def test_work_in_the_default_stream_needs_no_call(library):
    level, theirs = longer_delays(library), library.stream
    zeros = np.zeros((1000, 3), "f4")
    array, other = Array(library, zeros), [Array(library, zeros + number) for number in range(2)]
    twin = Array(library, zeros)
    table = nt.DeviceTable.from_dlpack(array)
    library.stream = type(theirs)(1)
    for number in range(10):
        library.copy(array.address, other[number % 2].address, zeros.nbytes)
        copy = table.astype("f8")
        library.copy(array.address, other[1 - number % 2].address, zeros.nbytes)  # after it was read
        same(copy.rows(), np.asarray(zeros + number % 2, "f8"))
        same(table.rows(), zeros + (1 - number % 2))
    library.stream = theirs
    if level is not None:
        library.control(13, level)
        assert library.control(5) == 0
    del table, copy
    wait_for(lambda: array.deleted)
    [each.free() for each in (array, twin, *other)]


def test_threads_use_tables_at_once(library):
    array = Array(library, np.arange(3000, dtype="f4").reshape(1000, 3))
    table, failures = nt.DeviceTable.from_dlpack(array), []

    def work():
        try:
            for _ in range(20):
                tensor = Consumed(table, -1)
                assert tensor.address == array.address
                tensor.delete()
                assert table.astype("i4").rows(999)[0, 2] == 2999
                nt.DeviceTable.from_dlpack(array).statistics()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures, failures
    del table
    wait_for(lambda: array.deleted == 81)
    array.free()


# The end


BEGIN = """
    import sys, threading, time
    import numpy as np, numeric_table as nt
    from other_library import *
    library = Library()
    array = Array(library, np.ones((100, 3), "f4"))
"""


@pytest.mark.parametrize(
    "work",
    [
        "tables = [nt.DeviceTable.from_dlpack(array) for _ in range(10)]",
        "tensor = Consumed(nt.DeviceTable.from_dlpack(array), -1)",
        "capsule = nt.DeviceTable.from_dlpack(array).__dlpack__()",
        "nt.held = nt.Table([[1.0]]).to_device()",
        """
        def for_ever():
            while True:
                nt.DeviceTable.from_dlpack(array).astype("f8").rows()
        [threading.Thread(target=for_ever, daemon=True).start() for _ in range(3)]
        time.sleep(0.2)
        """,
        "sys.setswitchinterval(1e-5); [nt.DeviceTable.from_dlpack(array) for _ in range(200)]",
    ],
)
def test_the_interpreter_ends_with_tables_in_use(library, work):
    run = program(textwrap.dedent(BEGIN) + textwrap.dedent(work) + "\nprint('left', flush=True)\n")
    assert (run.returncode, run.stdout, run.stderr) == (0, "left\n", ""), run


def test_forked_processes_say_that_they_have_no_device(library):
    run = program(textwrap.dedent(BEGIN) + textwrap.dedent("""
        import os, gc
        table, tensor = nt.DeviceTable.from_dlpack(array), nt.Table([[1.0]]).to_device()
        tensor.__dlpack__()
        child = os.fork()
        if child == 0:
            for call in (lambda: nt.Table([[1.0]]).to_device(), lambda: table.rows(), lambda: tensor.__dlpack__()):
                try:
                    call()
                except nt.DeviceError as error:
                    assert "fork" in str(error)
                else:
                    os._exit(1)
            del table, tensor
            gc.collect()
            os._exit(0 if array.deleted == 0 else 2)
        assert os.waitpid(child, 0)[1] == 0
        assert table.rows()[0, 0] == 1
        print("ok")
    """))
    assert run.stdout == "ok\n", run


def test_nothing_is_left_after_many_rounds(library):
    if library.control(0) is None:
        pytest.skip("needs the fake driver")
    values = np.ones((20, 3), "f4")
    array = Array(library, values)
    count = None
    for number in range(30):
        table = nt.DeviceTable.from_dlpack(array)
        tensor = Consumed(table.astype("f8"), -1)
        again = nt.DeviceTable.from_dlpack(nt.DeviceTable.from_dlpack(table))
        del table, again
        tensor.delete()
        wait_for(lambda: array.deleted == number + 1)
        if number == 5:
            count = [library.control(what) for what in (0, 2, 3)]
    wait_for(lambda: all(library.control(what) <= before for what, before in zip((0, 2, 3), count)))
    assert library.control(5) == 0
    array.free()
