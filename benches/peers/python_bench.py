"""Times the Python package beside NumPy, in one process, as ours/measure.rs does: contenders alternate.

Prints a line `job<TAB>peer<TAB>seconds` for each. Results are checked before anything is timed. Arguments are parts of
the names of jobs; without any, all jobs run. With --quick they are small: a smoke test. Needs the package from
`python`, installed: `pip install ./python`.
"""

import sys
import time

import numpy as np

import numeric_table as nt

QUICK = "--quick" in sys.argv
ASKED = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
ROWS, COLUMNS = (1 << 14) if QUICK else (2 << 20), 16
BLOCK_ROWS = 8192


def seconds(calls, run):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return time.perf_counter() - start


def compare(job, ours, of_numpy):
    """Prints the median of 7 to 51 samples of at least 1 ms of each, one after the other, after a warm-up."""
    if ASKED and not any(part in job for part in ASKED):
        return
    if not np.array_equal(ours(), of_numpy()):
        sys.exit(f"{job}: a wrong answer")
    contenders = {"ours": ours, "numpy": of_numpy}
    calls = {}
    for peer, run in contenders.items():
        calls[peer] = 1
        while seconds(calls[peer], run) < 1e-3:
            calls[peer] *= 2
    least, most = (3, 3) if QUICK else (7, 51)
    samples = {peer: [] for peer in contenders}
    end = time.perf_counter() + 0.4
    while len(samples["ours"]) < least or (len(samples["ours"]) < most and time.perf_counter() < end):
        for peer, run in contenders.items():
            samples[peer].append(seconds(calls[peer], run) / calls[peer])
    for peer, found in samples.items():
        print(f"{job}\t{peer}\t{sorted(found)[len(found) // 2]:.9e}", flush=True)


def blocks(array, dtype):
    """Converts all rows, a block at a time."""
    for first in range(0, len(array), BLOCK_ROWS):
        last = array[first : first + BLOCK_ROWS].astype(dtype)
    return last


def main():
    array = (np.arange(ROWS * COLUMNS, dtype=np.int64) * 7 % 251 * 0.99).astype("f4").reshape(ROWS, COLUMNS)
    table = nt.Table(array, copy=False)
    compare("python/rows/one_row/f32", lambda: table.rows(0, 1), lambda: array[0:1])
    compare("python/rows/one_row/f32_to_f64", lambda: table.rows(0, 1, "f8"), lambda: array[0:1].astype("f8"))
    compare("python/row/f32", lambda: table[3], lambda: array[3])
    compare("python/array/f32", lambda: np.asarray(table), lambda: np.asarray(array))
    some = f"python/rows/{BLOCK_ROWS}_rows/f32_to_f64"
    compare(some, lambda: table.rows(0, BLOCK_ROWS, "f8"), lambda: array[:BLOCK_ROWS].astype("f8"))

    def walk():
        for block in table.row_blocks(BLOCK_ROWS, dtype="f8"):
            last = block
        return last

    compare(f"python/row_blocks/{BLOCK_ROWS}_rows/f32_to_f64", walk, lambda: blocks(array, "f8"))
    compare("python/rows/whole/f32_to_f64", lambda: table.rows(dtype="f8"), lambda: array.astype("f8"))

    # Both keep rows with equal values in order; NumPy sorts indices and then gathers the rows.
    numbers = np.random.default_rng(7).random((ROWS, COLUMNS), dtype="f4")
    unsorted = nt.Table(numbers, copy=False)
    by_numpy = lambda: numbers[np.argsort(numbers[:, 0], kind="stable")]
    compare(f"python/sort_by/f32/{COLUMNS}_columns", lambda: unsorted.sort_by(0), by_numpy)


if __name__ == "__main__":
    main()
