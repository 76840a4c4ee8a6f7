"""Beside NumPy, in one run: `python python/benches/against_numpy.py`. Prints the best of several rounds, and ratios."""

import tempfile
import timeit

import numpy as np

import numeric_table as nt


def best(call, number, rounds=5):
    call()
    return min(timeit.repeat(call, number=number, repeat=rounds)) / number


def line(what, ours, theirs=None, aim=""):
    text = f"{what:<46}{ours * 1e6:12.2f} us"
    if theirs is not None:
        text += f"   NumPy {theirs * 1e6:12.2f} us{theirs / ours:8.2f} x"
    print(f"{text}   {aim}")


def main():
    rows, columns = 2 << 20, 16
    array = np.random.default_rng(1).normal(0, 1, (rows, columns)).astype("f4")
    table = nt.Table(array, copy=False)
    small = nt.Table(array[:8])
    line("an attribute: table.ndim", best(lambda: small.ndim, 200_000), aim="aim 0.1 us")
    line("np.asarray(table)", best(lambda: np.asarray(table), 50_000), aim="aim 1 us")
    line("a table of an array of 8 rows", best(lambda: nt.Table(array[:8]), 20_000))
    line("rows(0, 1)", best(lambda: table.rows(0, 1), 50_000), best(lambda: array[0:1], 50_000))
    line("8192 rows as float64", best(lambda: table.rows(0, 8192, "f8"), 200), best(lambda: array[:8192].astype("f8"), 200), "aim 1 x")
    line("all rows as float64", best(lambda: table.rows(dtype="f8"), 1), best(lambda: array.astype("f8"), 1), "aim 2 x")

    def numpy_statistics():
        return array.mean(0, dtype="f8"), array.var(0, ddof=1, dtype="f8"), array.min(0), array.max(0)

    line("statistics", best(lambda: nt.statistics(table), 1), best(numpy_statistics, 1, 2), "aim 4 x")
    with tempfile.TemporaryDirectory() as folder:
        ntb, npy = f"{folder}/t.ntb", f"{folder}/t.npy"
        nt.save(table, ntb)
        np.save(npy, array)
        line("load a file", best(lambda: nt.load(ntb), 1), best(lambda: np.load(npy), 1), "aim 1.5 x")
        line("map a file", best(lambda: nt.map(ntb), 200))


if __name__ == "__main__":
    main()
