"""Random values at the boundary between Python and the library: arrays, buffers, capsules, pickles.

    python python/tools/fuzz_boundary.py [EXECUTIONS] [SEED]

Each execution hands one value over. A table that comes of it must have the value's shape, type and bits; a refusal must
be an ordinary exception of Python or of the library. A panic, a `SystemError`, a capsule whose deleter does not run
exactly once, or a lost interpreter ends the run. Hypothesis is not needed; pyarrow is used where it is installed.
"""

import array
import ctypes
import gc
import pathlib
import pickle
import random
import sys
import time

import numpy as np

import numeric_table as nt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
from dlpack_structures import DELETER, Managed, Tensor, new_capsule  # noqa: E402

try:
    import pyarrow
except ImportError:
    pyarrow = None

REFUSALS = (TypeError, ValueError, BufferError, MemoryError, LookupError, nt.TableError, nt.FormatError, OverflowError)
# What NumPy says of a capsule that it does not take, word for word.
NUMPY_REFUSES = (
    "Unsupported lanes in DLTensor dtype.",
    "Unsupported device in DLTensor.",
    "Unsupported dtype in DLTensor.",
)
TYPES = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 ? c8 c16 S3 U2 O M8[s] m8[D] >f8 >i2 f4,i8 V7".split()
NATIVE = set("f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split())


def same(table, values):
    """Compares a table with an array of one or two dimensions, bit for bit."""
    back = np.asarray(table)
    wanted = np.asarray(values)
    wanted = wanted.reshape(-1, 1) if wanted.ndim == 1 else wanted
    if wanted.dtype.byteorder == ">" or wanted.dtype == bool:
        wanted = wanted.astype(back.dtype)
    assert back.shape == wanted.shape, (back.shape, wanted.shape)
    assert back.dtype == wanted.dtype, (back.dtype, wanted.dtype)
    assert np.ascontiguousarray(back).tobytes() == np.ascontiguousarray(wanted).tobytes(), (back, wanted)


def random_array(chance):
    shape = [chance.choice((0, 1, 2, 3, 7)) for _ in range(chance.choice((0, 1, 1, 2, 2, 2, 2, 3)))]
    dtype = np.dtype(chance.choice(TYPES))
    count = int(np.prod(shape))
    if dtype.hasobject:
        values = np.array([chance.choice((1, 2.5, None, "x", 10**30, b"", [])) for _ in range(count)], dtype=object)
    else:
        values = np.frombuffer(chance.randbytes(count * dtype.itemsize) if count else b"", dtype=dtype).copy()
        if dtype == bool:
            values = values.view("u1") % 2 == 1
    values = values.reshape(shape)
    for _ in range(chance.randrange(3)):
        match chance.randrange(5):
            case 0:
                values = values.T
            case 1 if values.ndim:
                values = values[:: chance.choice((-2, -1, 2))]
            case 2 if values.ndim == 2:
                values = values[:, :: chance.choice((-1, 2))]
            case 3:
                values = np.asfortranarray(values)
            case 4 if values.ndim == 1 and len(values):
                values = np.broadcast_to(values, (3, len(values)))
    if chance.random() < 0.3:
        values = values.view()
        values.flags.writeable = False
    return values


def arrays(chance):
    values = random_array(chance)
    table = nt.Table(values)
    if values.dtype.str.lstrip("<>|=") in NATIVE and values.ndim in (1, 2):
        same(table, values)
    if chance.random() < 0.2:
        nt.statistics(table)
        repr(table)


def buffers(chance):
    kind = chance.choice("bBhHiIlLqQfd")
    values = array.array(kind, [chance.randrange(100) for _ in range(chance.choice((0, 1, 6, 12)))])
    match chance.randrange(5):
        case 0:
            given = values
        case 1:
            given = memoryview(values)
        case 2:
            given = memoryview(values)[:: chance.choice((-1, 2, 3))]
        case 3:
            given = memoryview(values.tobytes()).cast("B", [2, len(values.tobytes()) // 2]) if len(values) % 2 == 0 else memoryview(values)
        case _:
            given = (ctypes.c_double * 3 * 2)(*[(ctypes.c_double * 3)(1, 2, chance.random()) for _ in range(2)])
    same(nt.Table(given), np.asarray(given))


class Producer:
    """Hands out a capsule that this script has made, with a field or two that are unusual."""

    def __init__(self, chance):
        self.deleted = 0
        self.memory = np.arange(64, dtype="f8")
        rows, columns = chance.choice((0, 1, 3)), chance.choice((0, 1, 2))
        ndim = chance.choice((0, 1, 2, 2, 2, 3, -1))
        code, bits = chance.choice(((2, 64), (2, 64), (2, 32), (0, 64), (1, 8), (4, 16), (6, 8), (5, 64), (2, 0), (9, 255)))
        self.shape = (ctypes.c_int64 * 3)(rows, columns, 1)
        self.strides = (ctypes.c_int64 * 3)(*chance.choice(((columns, 1, 1), (1, rows, 1), (-1, 1, 1), (0, 0, 0), (1 << 62 if rows < 2 else 0, 1, 1))))
        # A negative step begins inside of the memory, and an offset stays inside.
        offset = chance.choice((0, 0, 8, 1, 3)) if min(self.strides) >= 0 else 128
        self.device = (chance.choice((1, 1, 1, 1, 2, 99)), 0)
        if ndim in (-1,) or (rows, columns).count(0) or self.strides[0] >= 1 << 62:
            offset = 0
        if chance.random() < 0.1:
            self.shape[chance.randrange(2)] = -1
        self.kept = DELETER(self.delete)
        strides = self.strides if chance.random() < 0.7 else None
        tensor = Tensor(
            self.memory.ctypes.data, *self.device, ndim, code, bits, chance.choice((1, 1, 1, 2, 0)), self.shape, strides, offset
        )
        self.managed = Managed(tensor, None, self.kept)
        self.name = chance.choice((b"dltensor", b"dltensor", b"dltensor", b"used_dltensor", b"other"))

    def delete(self, _):
        self.deleted += 1

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.managed), self.name, None)

    def __dlpack_device__(self):
        return self.device


def dlpack(chance):
    producer = Producer(chance)
    try:
        table = nt.Table(producer)
        repr(table)
        np.asarray(table).sum()
        del table
        gc.collect(0)
        assert producer.deleted == 1, f"the deleter of a tensor that was taken ran {producer.deleted} times"
    finally:
        assert producer.deleted <= 1, f"the deleter ran {producer.deleted} times"


def own_dlpack(chance):
    table = nt.Table(np.arange(12.0).reshape(4, 3))
    capsule = table.__dlpack__()

    class Again:
        __dlpack_device__ = staticmethod(table.__dlpack_device__)

        def __dlpack__(self, **_):
            return capsule

    same(nt.Table(Again()), np.asarray(table))
    nt.Table(Again())  # the capsule is used: an error


def arrow(chance):
    if pyarrow is None:
        return
    types = [pyarrow.float32(), pyarrow.int8(), pyarrow.uint64(), pyarrow.float64(), pyarrow.bool_(), pyarrow.string(), pyarrow.timestamp("us")]
    rows, columns = chance.choice((0, 1, 5)), {}
    for index in range(chance.choice((0, 1, 3))):
        kind = chance.choice(types)
        cells = [None if chance.random() < 0.2 else chance.randrange(2) for _ in range(rows)]
        cells = [None if cell is None else str(cell) for cell in cells] if kind == pyarrow.string() else cells
        columns[f"c{index}"] = pyarrow.array(cells).cast(kind) if rows else pyarrow.array([], kind)
    given = pyarrow.table(columns)
    if chance.random() < 0.5 and rows:
        given = given.slice(chance.randrange(rows))
    table = nt.Table(given)
    assert table.shape == given.shape, (table.shape, given.shape)
    missing = sum(column.null_count for column in given.columns)
    assert sum(table.missing_count(index) for index in range(table.shape[1])) == missing
    capsule = table.__arrow_c_stream__()

    class Again:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule

    back = nt.Table(Again())
    assert back.shape == table.shape
    nt.Table(Again())  # the stream is used: an error


SAMPLES = [
    nt.Table(np.arange(6.0).reshape(3, 2)),
    nt.Table({"a": np.arange(3, dtype="i2"), "b": np.array([1.5, np.nan, 2])}),
    nt.statistics(np.arange(8.0).reshape(4, 2)) if False else nt.Table(np.zeros((0, 3), "u1")),
]


def pickles(chance):
    rebuild, state = chance.choice(SAMPLES).__reduce_ex__(4)[:2]
    data = bytearray(state[0]) if isinstance(state[0], bytes) else None
    if data is None:
        return
    for _ in range(chance.choice((0, 1, 1, 1, 2, 5))):
        match chance.randrange(4):
            case 0 if data:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case 1 if data:
                del data[chance.randrange(len(data)) :]
            case 2 if len(data) > 8:
                at = chance.randrange(len(data) - 8)
                data[at : at + 8] = chance.choice((0, 1, 1 << 31, (1 << 63) - 1, (1 << 64) - 1)).to_bytes(8, "little")
            case 3:
                data += chance.randbytes(chance.randrange(9))
    table = rebuild(bytes(data), *state[1:])
    assert pickle.loads(pickle.dumps(table, 4)).shape == table.shape
    repr(table)


def indices(chance):
    table = chance.choice(SAMPLES)
    values = (0, 1, -1, 5, 2**63, -(2**70), None, 1.5, "a", slice(None), slice(2, 0), slice(0, 9, 2), [0, 1], [], True, np.int8(1), object())
    key = chance.choice(values)
    table[key if chance.random() < 0.5 else (key, chance.choice(values))]


DOORS = [arrays, arrays, buffers, dlpack, dlpack, own_dlpack, arrow, pickles, pickles, indices]


def main():
    executions = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    accepted, begun = 0, time.monotonic()
    for execution in range(executions):
        chance = random.Random(seed * 1_000_003 + execution)
        door = chance.choice(DOORS)
        try:
            door(chance)
            accepted += 1
        except REFUSALS:
            pass
        except BaseException as error:
            if door is dlpack and type(error) is RuntimeError and str(error) in NUMPY_REFUSES:
                continue
            print(f"execution {execution} of seed {seed}, {door.__name__}", file=sys.stderr)
            raise
    print(f"{executions} inputs: executions of fuzz_boundary.py in {time.monotonic() - begun:.0f} s, {accepted} accepted")


if __name__ == "__main__":
    main()
