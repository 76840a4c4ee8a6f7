#!/usr/bin/env python3
"""Times `ntable` beside polars, DuckDB, xan and qsv, each in a process of its own, on a CSV file of random numbers.

    cargo build --release -p numeric-table-cli
    python3 benches/peers/cli_bench.py [--rows N] [--rounds N] [--ntable PATH] [--duckdb PYTHON] [--xan PATH] [--qsv PATH]

Needs polars. DuckDB is measured if the Python that `--duckdb` names has it; xan and qsv (`cargo install`) if their
programs are found. Their statistics include the quartiles, as those of `ntable` do. Prints the shortest time of each job
in seconds, with the start of the process. Every tool reads the file anew; its pages are in memory.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

STATISTICS = """
import polars as pl
table = pl.read_csv({csv!r})
print(table.describe())
"""
POLARS = {
    "CSV to an uncompressed file": "import polars as pl\npl.read_csv({csv!r}).write_ipc({out!r})",
    "CSV to Parquet": "import polars as pl\npl.read_csv({csv!r}).write_parquet({out!r}, compression='snappy')",
    "statistics of a CSV file": STATISTICS,
}
DUCKDB = {
    "CSV to Parquet": "import duckdb\nduckdb.sql(\"copy (from read_csv({csv!r})) to {out!r} (format parquet)\")",
    "statistics of a CSV file": "import duckdb\nprint(duckdb.sql(\"summarize from read_csv({csv!r})\"))",
}
# With all threads, and quartiles. qsv needs an index for threads, which counts; it must not use what it has stored.
STATISTICS_OF_TOOLS = {
    "xan": ["{tool}", "stats", "--quartiles", "--parallel", "{csv}"],
    "qsv": ["sh", "-c", "{tool} index {csv} && {tool} stats --force --quartiles {csv}"],
}
NTABLE = {
    "CSV to an uncompressed file": ["convert", "{csv}", "{out}.ntb"],
    "CSV to Parquet": ["convert", "{csv}", "{out}.parquet"],
    "statistics of a CSV file": ["stats", "{csv}"],
    "statistics of a CSV file, types of 1000 rows": ["stats", "--infer-rows", "1000", "{csv}"],
    "CSV to an uncompressed file, types of 1000 rows": ["convert", "--infer-rows", "1000", "{csv}", "{out}.ntb"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ntable", default=str(ROOT / "target/release/ntable"))
    parser.add_argument("--duckdb", default=sys.executable, help="a Python that has duckdb")
    parser.add_argument("--xan", default="xan")
    parser.add_argument("--qsv", default="qsv")
    options = parser.parse_args()
    programs = {tool: shutil.which(getattr(options, tool)) for tool in STATISTICS_OF_TOOLS}
    with tempfile.TemporaryDirectory() as folder:
        csv, out = os.path.join(folder, "table.csv"), os.path.join(folder, "out")
        make(csv, options.rows)
        print(f"{options.rows} rows, 10 columns, {os.path.getsize(csv) / 2**20:.0f} MiB; seconds")
        has_duckdb = subprocess.run([options.duckdb, "-c", "import duckdb"], capture_output=True).returncode == 0
        jobs = {}
        for _ in range(options.rounds):
            for job, arguments in NTABLE.items():
                command = [options.ntable, *(text.format(csv=csv, out=out) for text in arguments)]
                measure(jobs, job, "ntable", command)
            for job, program in POLARS.items():
                measure(jobs, job, "polars", [sys.executable, "-c", program.format(csv=csv, out=out + ".file")])
            for job, program in DUCKDB.items() if has_duckdb else []:
                measure(jobs, job, "DuckDB", [options.duckdb, "-c", program.format(csv=csv, out=out + ".file")])
            for tool, arguments in STATISTICS_OF_TOOLS.items():
                if program := programs[tool]:
                    command = [text.format(tool=program, csv=csv) for text in arguments]
                    measure(jobs, "statistics of a CSV file", tool, command)
        for job, times in jobs.items():
            print(f"{job:50}", *(f"{tool} {seconds:.2f}" for tool, seconds in times.items()), sep="  ")


def make(path, rows):
    """Writes a CSV file: whole numbers, short and long decimals."""
    import polars as pl

    seed = pl.select(pl.int_range(rows, dtype=pl.UInt64).alias("i")).get_column("i")
    columns = {}
    for column in range(10):
        random = (seed.hash(seed=column + 1) // 2**11).cast(pl.Float64) / 2**53
        kind = column % 3
        if kind == 0:
            columns[f"c{column}"] = (random * 100_000).cast(pl.Int64)
        else:
            columns[f"c{column}"] = (random * 1000).round(3) if kind == 1 else random
    pl.DataFrame(columns).write_csv(path)


def measure(jobs, job, tool, command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    times = jobs.setdefault(job, {})
    times[tool] = min(times.get(tool, seconds), seconds)


if __name__ == "__main__":
    main()
