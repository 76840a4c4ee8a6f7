"""Loads a Parquet file once in a process of each library, several times in turn, and prints the least time and the least
peak resident memory of each: ours, polars and pyarrow. Linux only.

    python parquet_memory.py EXECUTABLE FILE [ROUNDS]

EXECUTABLE is the bench program `peers` that `cargo bench -p benches --bench peers --no-run` builds, and FILE what it
writes by `--write-parquet FILE --bench`. The memory includes that of the program: of Python and its modules too.
"""

import os
import subprocess
import sys

TIMED = "import time; start = time.perf_counter(); {call}; print(time.perf_counter() - start)"
CALLS = {
    "polars": ("import polars", "polars.read_parquet(PATH).to_numpy()"),
    "pyarrow": (
        "import numpy, pyarrow.parquet",
        "numpy.column_stack([c.to_numpy() for c in pyarrow.parquet.read_table(PATH).columns])",
    ),
}


def program(name, executable, path):
    if name == "ours":
        return [executable, "--load-parquet", path]
    modules, call = CALLS[name]
    return [sys.executable, "-c", f"{modules}; PATH = {path!r}; {TIMED.format(call=call)}"]


def main():
    executable, path, rounds = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["5"])[0])
    best = {}
    for _ in range(rounds):
        for name in ("ours", *CALLS):
            child = subprocess.Popen(program(name, executable, path), stdout=subprocess.PIPE, text=True)
            seconds = float(child.stdout.read())
            usage = os.wait4(child.pid, 0)[2]
            time, peak = best.get(name, (seconds, usage.ru_maxrss))
            best[name] = (min(time, seconds), min(peak, usage.ru_maxrss))
    for name, (time, peak) in best.items():
        print(f"{name:8} {1e3 * time:8.1f} ms {peak / 1024:8.0f} MiB")


main()
