"""Beside NumPy, pandas, polars and pyarrow, in one run: `python python/benches/compare.py`, with all threads of the machine.

Prints the best of several rounds, those of others with how many times as long they take, and the aim of this project. Others
are left out if they are not installed.
"""

import importlib
import os
import subprocess
import sys
import tempfile
import timeit

import numpy as np

import numeric_table as nt

ROWS, COLUMNS = 2 << 20, 16


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


pandas, polars, pyarrow = map(optional, ("pandas", "polars", "pyarrow"))
csv = optional("pyarrow.csv")


def seconds(call, number):
    call()  # what a first call makes, and the last rival removed from the cache
    return timeit.timeit(call, number=number) / number


def shown(seconds):
    for unit, factor in (("s ", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:7.2f} {unit}"
    return f"{seconds * 1e9:7.0f} ns"


def line(what, ours, aim="", number=1, **others):
    """Prints a job: ours, and what the others do, who are `None` where they are not installed. All take turns."""
    calls = [ours, *(call for call in others.values() if call is not None)]
    times = [min(rounds) for rounds in zip(*([seconds(call, number) for call in calls] for _ in range(5)))]
    text = f"{what:<34}{shown(times[0])}  "
    for name, theirs in zip((name for name, call in others.items() if call is not None), times[1:]):
        text += f"  {name} {shown(theirs)} ({theirs / times[0]:.2f} x)"
    print(f"{text}   {'aim ' + aim if aim else ''}", flush=True)


def calls(table, array):
    small = nt.Table(array[:8])
    line("an attribute: table.ndim", lambda: small.ndim, "100 ns", 200_000)
    line("np.asarray(table)", lambda: np.asarray(table), "1 µs", 50_000)
    line("a table of 8 rows, copied", lambda: nt.Table(array[:8]), number=20_000)
    line("a table of 8 rows, shared", lambda: nt.Table(array[:8], copy=False), number=20_000)
    line("rows(0, 1)", lambda: table.rows(0, 1), number=50_000, NumPy=lambda: array[0:1])


def blocks(table, array):
    line("8192 rows as float64", lambda: table.rows(0, 8192, "f8"), "1.2 x", 200, NumPy=lambda: array[:8192].astype("f8"))
    line("all rows as float64", lambda: table.rows(dtype="f8"), "2 x", NumPy=lambda: array.astype("f8"))


def statistics(table, array):
    frame = pandas and pandas.DataFrame(array, copy=False)
    lazy = polars and polars.DataFrame(array)

    def of_numpy():
        return array.mean(0, dtype="f8"), array.var(0, ddof=1, dtype="f8"), array.min(0), array.max(0)

    def of_polars():
        every = polars.all()
        kinds = {"mean": every.mean(), "var": every.var(), "min": every.min(), "max": every.max()}
        return lazy.select(expression.name.suffix(name) for name, expression in kinds.items())

    line(
        "mean, variance, minimum, maximum",
        lambda: nt.statistics(table),
        "4 x NumPy",
        NumPy=of_numpy,
        pandas=frame is not None and (lambda: frame.agg(["mean", "var", "min", "max"])) or None,
        polars=polars and of_polars,
    )


def files(table, array, folder):
    ntb, npy, arrow = (os.path.join(folder, f"table.{kind}") for kind in ("ntb", "npy", "arrow"))
    line("save, not durably", lambda: nt.save(table, ntb, durable=False), NumPy=lambda: np.save(npy, array))
    if polars:
        polars.DataFrame(array).write_ipc(arrow)
    line(
        "load",
        lambda: nt.load(ntb),
        "1.5 x NumPy",
        NumPy=lambda: np.load(npy),
        polars=polars and (lambda: polars.read_ipc(arrow)),
    )
    line("map", lambda: nt.map(ntb), number=200, NumPy=lambda: np.load(npy, mmap_mode="r"))


def texts(array, folder):
    path = os.path.join(folder, "table.csv")
    part = nt.Table(array[: ROWS // 8].astype("f8"), names=[f"c{column}" for column in range(COLUMNS)])
    nt.write_csv(part, path)
    line(
        f"CSV of {os.path.getsize(path) >> 20} MiB to float64",
        lambda: nt.read_csv(path, "f8"),
        "1 x polars",
        polars=polars and (lambda: polars.read_csv(path)),
        pyarrow=csv and (lambda: csv.read_csv(path)),
        pandas=pandas and (lambda: pandas.read_csv(path)),
    )


def frames(table):
    columns = nt.Table(np.asfortranarray(np.asarray(table)), copy=False)
    if pyarrow:
        line("to pyarrow, column by column", lambda: pyarrow.table(columns), number=200)
    if polars:
        line("to polars, column by column", lambda: polars.DataFrame(columns), number=200)
        frame = polars.DataFrame(columns)
        line("from polars, shared", lambda: nt.Table(frame, copy=False), number=200)
    if pandas:
        array = np.asarray(table)
        line("to pandas, row by row", table.to_pandas, pandas=lambda: pandas.DataFrame(array, copy=True))


def dictionaries():
    """A dictionary of arrays, and a frame of it: 2^20 rows, 8 columns."""
    arrays = np.random.default_rng(2).normal(0, 1, (8, 1 << 20))
    data = {f"c{place}": array for place, array in enumerate(arrays)}
    table = nt.Table(data)
    frame = polars and polars.DataFrame(data)
    # polars shares the arrays, so that writing them would change its frame; pandas copies them.
    line(
        "Table of a dictionary, shared",
        lambda: nt.Table(data, copy=False),
        "1.2 x polars",
        number=20,
        polars=polars and (lambda: polars.DataFrame(data)),
    )
    line("Table of a dictionary", lambda: nt.Table(data), pandas=pandas and (lambda: pandas.DataFrame(data)))
    if pandas:
        line("to_pandas", lambda: table.to_pandas(), "1.2 x polars", polars=polars and (lambda: frame.to_pandas()))
    of_pandas = pandas and pandas.DataFrame(data)
    line(
        "describe",
        table.describe,
        "4 x pandas, polars",
        pandas=pandas and of_pandas.describe,
        polars=polars and frame.describe,
    )
    key = np.random.default_rng(3).integers(0, 100, 1 << 20)
    groups, grouped = nt.Table(data | {"key": key}), polars and polars.DataFrame(data | {"key": key})
    pandas_groups = pandas and pandas.DataFrame(data | {"key": key})
    line(
        "groupby: mean of 8 columns",
        lambda: groups.groupby("key").to_table("mean"),
        pandas=pandas and (lambda: pandas_groups.groupby("key").mean()),
        polars=polars and (lambda: grouped.group_by("key").mean()),
    )
    line(
        "value_counts",
        lambda: groups.value_counts("key"),
        pandas=pandas and (lambda: pandas_groups["key"].value_counts()),
        polars=polars and (lambda: grouped["key"].value_counts(sort=True)),
    )
    words = nt.Table({"word": [f"word {number % 1000}" for number in range(1 << 20)]})
    line("a column of words", lambda: words["word"], polars=polars and (lambda: polars.DataFrame(words)["word"].to_numpy()))


def importing():
    command = [sys.executable, "-c", "import numeric_table"]
    numpy = [sys.executable, "-c", "import numpy"]
    line("import", lambda: subprocess.run(command), "60 ms", NumPy=lambda: subprocess.run(numpy))


def main():
    array = np.random.default_rng(1).normal(0, 1, (ROWS, COLUMNS)).astype("f4")
    table = nt.Table(array, copy=False)
    print(f"{ROWS} x {COLUMNS} of float32, {os.cpu_count()} threads")
    calls(table, array)
    blocks(table, array)
    statistics(table, array)
    frames(table)
    dictionaries()
    importing()
    with tempfile.TemporaryDirectory() as folder:
        files(table, array, folder)
        texts(array, folder)


if __name__ == "__main__":
    main()
