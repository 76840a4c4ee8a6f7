"""Memory stays flat: values go round and round between tables and what else holds them, a million times in the project's gate."""

import os
import subprocess
import sys

import pytest

ROUNDS = int(os.environ.get("NUMERIC_TABLE_ROUNDS", "5000"))

TRIPS = {
    "NumPy": "nt.Table(np.asarray(nt.Table(array)))",
    "shared": "nt.Table(nt.Table(array, copy=False).rows(0, 2))",
    "buffer": "nt.Table(memoryview(array)).to_numpy(copy=True)",
    "DLPack": "nt.Table(np.from_dlpack(table))",
    "Arrow": "nt.Table(Lends(table))",
    "pickle": "pickle.loads(pickle.dumps(table, protocol=5))",
    "out of band": "out_of_band(table)",
    "converted": "table.astype('f8').rows(1, 3, 'i2')",
    "parts": "table[5:9, [1, 2]], table[3], table['0'], table[mask]",
    "written": "write(table)",
    "refused": "refuse(table)",
    "blocks": "[block for block in table.row_blocks(50)], table.par_map_blocks(len, 50)",
    "statistics": "pickle.loads(pickle.dumps(nt.statistics(table)))",
}

PROGRAM = """
import gc, pickle, sys
import numpy as np
import numeric_table as nt

array = np.arange(1600, dtype="f4").reshape(100, 16)
table = nt.Table(array, names=[str(i) for i in range(16)])
mask = np.arange(100) % 3 == 0

class Lends:
    def __init__(self, table):
        self.table = table
    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)

def out_of_band(table):
    buffers = []
    data = pickle.dumps(table, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers)

def write(table):
    with table.write_rows(0, 1) as block:
        block += 1
    try:
        with table.write_rows(0, 1) as block:
            raise KeyError
    except KeyError:
        pass

def refuse(table):
    for call in (lambda: table.rows(9, 3), lambda: table.rows(dtype="c8"), lambda: nt.Table([[1], [2, 3]]),
                 lambda: table.rows(dtype="u1", policy="checked"), lambda: table["none"]):
        try:
            call()
        except (IndexError, TypeError, ValueError, KeyError):
            continue
        raise AssertionError("it was not refused")

def memory():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4096, len(gc.get_objects())

def rounds(count):
    for _ in range(count):
        TRIP

rounds(500)
before, objects = memory()
rounds(COUNT)
after, more_objects = memory()
print(after - before, more_objects - objects)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read of Linux")
@pytest.mark.parametrize("trip", TRIPS)
def test_memory_stays_flat(trip):
    program = PROGRAM.replace("TRIP", TRIPS[trip]).replace("COUNT", str(ROUNDS))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    grown, objects = map(int, run.stdout.split())
    # 16 bytes of every round; of a few thousand rounds, some pages of the allocator's.
    assert grown <= max(1 << 20, 16 * ROUNDS) and objects < 50, run.stdout
