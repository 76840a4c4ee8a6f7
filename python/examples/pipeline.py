"""The main job, on real data: load, look, convert, compute block by block, write back, save, pass on.

    python python/examples/pipeline.py [FILE.csv]
"""

import pathlib
import sys
import tempfile

import numpy as np

import numeric_table as nt

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"


def main(path):
    table = nt.read_csv(path)  # a type for each column; words become categories
    print(f"{path.name}: {table.shape[0]} rows, {table.shape[1]} columns of {len(set(map(str, table.dtypes)))} types")

    # One block of one type. Standardize each column, in blocks of 64 rows.
    numbers = table.astype("float32")
    statistics = nt.statistics(numbers)
    deviation = np.where(statistics.standard_deviation > 0, statistics.standard_deviation, 1)
    for first in range(0, len(numbers), 64):
        with numbers.write_rows(first, min(first + 64, len(numbers)), dtype="float64") as block:
            block -= statistics.mean
            block /= deviation

    after = nt.statistics(numbers)
    print(f"  {'column':<30}{'mean':>12}{'deviation':>13}{'after: mean':>14}{'deviation':>11}")
    for i, name in enumerate(numbers.names):
        before = f"{statistics.mean[i]:12.4f}{statistics.standard_deviation[i]:13.4f}"
        print(f"  {name or i:<30}{before}{after.mean[i]:14.1e}{after.standard_deviation[i]:11.6f}")

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "standardized.ntb"
        nt.save(numbers, file)
        mapped = nt.map(file)
        print(f"saved {file.stat().st_size} bytes, verified: {nt.verify(file)}, the same bits: {mapped == numbers}")

    # To NumPy, without a copy; and back.
    array = np.asarray(numbers)
    shares = np.shares_memory(array, np.asarray(numbers))
    print(f"NumPy sees {array.shape} of {array.dtype}, on the table's memory: {shares}")
    assert abs(after.mean).max() < 1e-6 and mapped.shape == numbers.shape


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "wine.csv")
