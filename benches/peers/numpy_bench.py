"""Times NumPy at the jobs that ours/ times, by the same rules: see ours/measure.rs; and, for CSV and Parquet files, polars
and pyarrow, and for CSV pandas if it is installed; and, for k-means, scikit-learn.

Prints a line `job<TAB>peer<TAB>seconds` for each. Results are checked before anything is timed. Arguments are parts of
the names of jobs; without any, all jobs run. With --quick they are small: a smoke test.
"""

import math
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

QUICK = "--quick" in sys.argv
ASKED = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
VALUES = 1 << (18 if QUICK else 24)
COLUMNS = 16
BLOCK_ROWS = 8192  # in a stream
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i16": np.int16, "i32": np.int32, "u8": np.uint8}
ROW_PAIRS = ("f32_to_f64", "i16_to_f32", "u8_to_f32", "f64_to_i32", "f32_to_i32")  # also read as one block


def wanted(job):
    return not ASKED or any(part in job for part in ASKED)


def seconds(calls, run):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return time.perf_counter() - start


def report(jobs, run, peer="numpy", scale=1):
    """Prints the median of 7 to 51 samples of at least 1 ms after a warm-up; a call does the job 1 / `scale` times."""
    run()
    calls = 1
    while seconds(calls, run) < 1e-3:
        calls *= 2
    least, most = (3, 3) if QUICK else (7, 51)
    samples = []
    end = time.perf_counter() + 0.2
    while len(samples) < least or (len(samples) < most and time.perf_counter() < end):
        samples.append(seconds(calls, run) / calls)
    for job in jobs:
        print(f"{job}\t{peer}\t{sorted(samples)[len(samples) // 2] * scale:.9e}", flush=True)


def sample_table(name):
    """Returns the values from `ours/plain.rs`: from 0 to 247.5."""
    values = np.arange(VALUES, dtype=np.int64) * 7 % 251 * 0.99
    return values.astype(TYPES[name]).reshape(-1, COLUMNS)


def check(job, source, target, name):
    """Compares some values, spread over all, with Python's own conversion."""
    source, target = source.reshape(-1), target.reshape(-1)
    plain = math.trunc if name[0] in "iu" else TYPES[name]
    positions = range(0, VALUES, max(VALUES // 10_007, 1))
    if len(source) != len(target) or any(target[i] != plain(float(source[i])) for i in positions):
        sys.exit(f"{job}: a wrong answer")


def reused(source_name, target_name):
    """Times the conversion of a whole table into existing memory."""
    pair = f"{source_name}_to_{target_name}"
    jobs = [f"reused/{pair}"]
    if pair in ROW_PAIRS:
        jobs += [f"rows/{pair}/{columns}_columns/whole" for columns in (16, 128)]
    jobs = [job for job in jobs if wanted(job)]
    if not jobs:
        return
    source = sample_table(source_name)
    target = np.empty(source.shape, TYPES[target_name])
    run = lambda: np.copyto(target, source, casting="unsafe")
    run()
    check(jobs[0], source, target, target_name)
    report(jobs, run)


def columns_at_once():
    job = "columns/f32_to_f64/at_once"
    if wanted(job):
        table = sample_table("f32")
        target = np.empty((COLUMNS, VALUES // COLUMNS), np.float64)
        run = lambda: np.copyto(target, table.T)
        run()
        check(job, np.concatenate([table[:, column] for column in range(COLUMNS)]), target, "f64")
        report([job], run)


def fresh():
    job = "fresh/f32_to_f64"
    if wanted(job):
        table = sample_table("f32")
        run = lambda: table.astype(np.float64)
        check(job, table, run(), "f64")
        report([job], run)


def transpose():
    job = "transpose/f32"
    if wanted(job):
        table = sample_table("f32")
        run = lambda: np.ascontiguousarray(table.T)
        check(job, np.concatenate([table[:, column] for column in range(COLUMNS)]), run(), "f32")
        report([job], run)


def fill():
    if wanted("fill/f32"):
        run = lambda: np.full(VALUES, 3, np.float32)
        check("fill/f32", np.array([3.0] * VALUES), run(), "f32")
        report(["fill/f32"], run)
    if wanted("zeros/f32"):
        run = lambda: np.zeros(VALUES, np.float32)
        check("zeros/f32", np.array([0.0] * VALUES), run(), "f32")
        report(["zeros/f32"], run)


def save(path):
    jobs = [job for job in ("files/save/f32", "files/save_without_checksums/f32") if wanted(job)]
    if jobs:
        table = sample_table("f32")
        run = lambda: np.save(path, table)
        run()
        check(jobs[0], table, np.load(path), "f32")
        report(jobs, run)


def synchronise(path):
    """Flushes a file to the disk, so that the disk is not busy with it while it is read."""
    with open(path) as file:
        os.fsync(file.fileno())


def load(path):
    jobs = {"files/load/f32": lambda: np.load(path), "files/load_cast/f32_to_f64": lambda: np.load(path).astype(np.float64)}
    for job, run in jobs.items():
        if wanted(job):
            table = sample_table("f32")
            np.save(path, table)
            synchronise(path)
            check(job, table, run(), job[-3:])
            report([job], run)


def map_first_row(path):
    """Times mapping a sparse file and reading one row in its middle."""
    for size, times in {"64_MiB": 1, "1_GiB": 16}.items():
        job = f"files/map/first_row/f32/{size}"
        if wanted(job):
            rows = VALUES // COLUMNS * times
            table = np.lib.format.open_memmap(path, "w+", np.float32, (rows, COLUMNS))
            table[rows // 2] = range(COLUMNS)
            table.flush()
            run = lambda: np.load(path, mmap_mode="r")[rows // 2].copy()
            if list(run()) != list(range(COLUMNS)):
                sys.exit(f"{job}: a wrong answer")
            report([job], run)


def stream_write(path):
    job = "files/stream_write/f32"
    if wanted(job):
        table = sample_table("f32")

        def run():
            mapped = np.lib.format.open_memmap(path, "w+", np.float32, table.shape)
            for first in range(0, len(table), BLOCK_ROWS):
                mapped[first : first + BLOCK_ROWS] = table[first : first + BLOCK_ROWS]

        run()
        check(job, table, np.load(path), "f32")
        report([job], run)


def stream_read(path):
    job = "files/stream_read/f32_to_f64"
    if wanted(job):
        table = sample_table("f32")
        np.save(path, table)
        synchronise(path)
        block = np.empty((BLOCK_ROWS, COLUMNS), np.float64)

        def run(look=lambda values: values[0, 0]):
            mapped = np.load(path, mmap_mode="r")
            for first in range(0, len(mapped), BLOCK_ROWS):
                rows = mapped[first : first + BLOCK_ROWS]
                np.copyto(block[: len(rows)], rows)
                look(block[: len(rows)])

        seen = []
        run(lambda values: seen.append(values.copy()))
        check(job, table, np.concatenate(seen), "f64")
        report([job], run)


def npy_files(path):
    """Times the jobs of `.npy` files."""
    table = sample_table("f32")
    np.save(path, table)
    synchronise(path)
    row = len(table) // 2
    runs = {"npy/load/f32": (lambda: np.load(path), table)}
    runs["npy/map/first_row/f32"] = (lambda: np.load(path, mmap_mode="r")[row].copy(), table[row])
    runs["npy/save/f32"] = (lambda: np.save(path, table) or table, table)
    for job, (run, expected) in runs.items():
        if wanted(job):
            if not np.array_equal(run(), expected):
                sys.exit(f"{job}: a wrong answer")
            report([job], run)


def shuffled(rows):
    """Returns the rows in the order from `ours/surgery.rs`, which looks random."""
    modulus, row, order = 1 << (rows - 1).bit_length(), 1, []
    while len(order) < rows:
        row = (row * 0x9E3779B1 + 0x7F4A7C15) % modulus
        if row < rows:
            order.append(row)
    return np.array(order, dtype=np.intp)


def surgery():
    """Times rows taken by number, and rows kept by flag. Columns of polars are columns of a column-major table."""
    import polars

    for columns, name in [(columns, name) for columns in (16, 1) for name in ("f64", "f32")]:
        rows = VALUES // 16 * 10 if columns == 1 else VALUES // columns
        layouts = ("row_major", "column_major") if columns > 1 else ("",)
        places = {layout: f"{columns}_columns/{layout}" if layout else "1_column" for layout in layouts}
        kinds = ("take/random", "take/sorted", "filter/random", "filter/runs")
        if not any(wanted(f"rows_{kind}/{name}/{place}") for place in places.values() for kind in kinds):
            continue
        numbers = (np.arange(rows)[:, None] * 7 + np.arange(columns)[None, :]) % 251
        random, sorted_ = shuffled(rows), np.arange(0, rows, 2)
        half = ((np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)) & np.uint64(1) == 1
        choices = {"take/random": random, "take/sorted": sorted_, "filter/random": half}
        choices["filter/runs"] = np.arange(rows) // 100 % 2 == 0
        frame = polars.DataFrame({str(column): numbers[:, column].astype(TYPES[name]) for column in range(columns)})
        for layout, place in places.items():
            table = np.asarray(numbers, TYPES[name], order="F" if layout == "column_major" else "C")
            for what, choice in choices.items():
                job = f"rows_{what}/{name}/{place}"
                if not wanted(job):
                    continue
                series = polars.Series(choice if choice.dtype == bool else choice.astype(np.uint32))
                if what.startswith("take"):
                    runs = {"numpy": lambda: np.take(table, choice, axis=0)}
                    runs["polars"] = lambda: frame.select(polars.all().gather(series))
                else:
                    runs = {"numpy": lambda: table[choice], "polars": lambda: frame.filter(series)}
                for peer, run in runs.items():
                    found = run()
                    found = found if peer == "numpy" else found.to_numpy()
                    if not np.array_equal(found, numbers[choice]):
                        sys.exit(f"{job}: a wrong answer of {peer}")
                    report([job], run, peer)


def random_numbers(rows):
    """Returns the integers from `ours/order.rs`: 16 columns that look random, of 24 bits."""
    bits = np.arange(rows * COLUMNS, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return (bits >> np.uint64(40)).reshape(rows, COLUMNS)


SORTED = {"f32": ["row_major", "column_major"], "f64": ["row_major"], "i64": ["column_major"]}


def sort():
    """Times sorting all rows by the first column. Only NumPy keeps equal rows in order, as this crate does."""
    import polars

    for name, dtype in {"f32": np.float32, "f64": np.float64, "i64": np.int64}.items():
        layouts = {"row_major": "C", "column_major": "F"}
        layouts = {layout: layouts[layout] for layout in SORTED[name]}
        jobs = {layout: f"order/sort/{name}/16_columns/{layout}" for layout in layouts}
        if not any(wanted(job) for job in jobs.values()):
            continue
        numbers = random_numbers(VALUES // COLUMNS)
        expected = numbers[np.argsort(numbers[:, 0], kind="stable")].astype(dtype)
        frame = polars.DataFrame({str(column): numbers[:, column].astype(dtype) for column in range(COLUMNS)})
        for layout, job in jobs.items():
            if wanted(job):
                table = np.asarray(numbers, dtype, order=layouts[layout])
                runs = {"numpy": lambda: table[np.argsort(table[:, 0], kind="stable")], "polars": lambda: frame.sort("0")}
                for peer, run in runs.items():
                    found = run()
                    found = found if peer == "numpy" else found.to_numpy()
                    if not np.array_equal(found[:, 0], expected[:, 0]):
                        sys.exit(f"{job}: a wrong answer of {peer}")
                    report([job], run, peer)


def csv_files():
    """Times reading a CSV file of numbers. `loadtxt` reads only the first rows; its time is scaled up."""
    path, job = os.environ.get("NUMBERS_CSV"), "csv/load/f64"
    if not path or not wanted(job):
        return
    import polars
    import pyarrow.csv

    rows = 4_000 if QUICK else 100_000
    with open(path) as file:
        next(file)
        lines = [file.readline() for _ in range(rows)]
    expected = np.array([[float(field) for field in line.split(",")] for line in lines])
    scale = os.path.getsize(path) / sum(map(len, lines))
    options = pyarrow.csv.ReadOptions(use_threads=True)
    runs = {
        "numpy": (lambda: np.loadtxt(path, delimiter=",", skiprows=1, max_rows=rows), scale),
        "polars": (lambda: polars.read_csv(path), 1),
        "pyarrow": (lambda: pyarrow.csv.read_csv(path, read_options=options), 1),
    }
    try:
        import pandas

        runs["pandas"] = (lambda: pandas.read_csv(path), 1)
    except ImportError:
        pass
    for peer, (run, scale) in runs.items():
        table = run()
        first = [np.asarray(column)[:rows] for column in (table.T if peer == "numpy" else columns_of(table))]
        if not np.array_equal(np.column_stack(first), expected):
            sys.exit(f"{job}: a wrong answer of {peer}")
        report([job], run, peer, scale)


def written_csv_file():
    """Times writing the values from `ours/csv.rs`, as read from their file, as a CSV file."""
    path, job = os.environ.get("NUMBERS_CSV"), "csv/write/f64"
    if path and wanted(job):
        import polars

        frame = polars.read_csv(path)
        with tempfile.TemporaryDirectory() as folder:
            written = f"{folder}/table.csv"
            run = lambda: frame.write_csv(written)
            run()
            if not polars.read_csv(written).equals(frame):
                sys.exit(f"{job}: a wrong answer")
            report([job], run, "polars")


def messy_csv_file():
    """Times reading and writing the file of mixed types from `ours/messy_csv.rs`."""
    path, load, write = os.environ.get("MESSY_CSV"), "csv/messy/load_typed", "csv/messy/write"
    if not path or not (wanted(load) or wanted(write)):
        return
    import polars

    words = {name: polars.Categorical for name in ("place", "answer")}
    read = lambda: polars.read_csv(path, try_parse_dates=True, schema_overrides=words)
    frame = read()
    expected = [polars.Int64, polars.Date, polars.Categorical, polars.Float64, polars.Int64, polars.Categorical]
    if frame.dtypes != expected or frame["id"][-1] != 1_700_000_000_000 + (len(frame) - 1) * 7919:
        sys.exit(f"{load}: a wrong answer")
    if wanted(load):
        report([load], read, "polars")
    if wanted(write):
        with tempfile.TemporaryDirectory() as folder:
            written = f"{folder}/table.csv"
            run = lambda: frame.write_csv(written)
            run()
            if not polars.read_csv(written, try_parse_dates=True, schema_overrides=words).equals(frame):
                sys.exit(f"{write}: a wrong answer")
            report([write], run, "polars")


def parquet_files():
    """Times reading a Parquet file as a matrix, which the values from `ours/parquet.rs` are."""
    path, job = os.environ.get("NUMBERS_PARQUET"), "parquet/load/f32"
    if not path or not wanted(job):
        return
    import polars
    import pyarrow.parquet

    runs = {
        "polars": lambda: polars.read_parquet(path).to_numpy(),
        "pyarrow": lambda: np.column_stack([column.to_numpy() for column in pyarrow.parquet.read_table(path).columns]),
    }
    for peer, run in runs.items():
        table = run()
        index = np.arange(table.size, dtype=np.uint64)
        numbers = (index * np.uint64(2_654_435_761) & np.uint64(0xFFFF_FFFF)) % np.uint64(1_000_003)
        if not np.array_equal(table.reshape(-1), numbers.astype(np.float32) / np.float32(7)):
            sys.exit(f"{job}: a wrong answer of {peer}")
        report([job], run, peer)


def columns_of(table):
    """Returns the columns of a data frame or an Arrow table."""
    names = getattr(table, "column_names", None) or list(table.columns)
    return [table[name] for name in names]


def statistics_value(rows, columns):
    """Returns the values from `ours/statistics.rs`."""
    row, column = np.arange(rows).reshape(-1, 1), np.arange(columns).reshape(1, -1)
    return (row * 7 + row * column * 3 + column) % 251 * 0.99


def covariance():
    for rows, columns in ((1 << 20, 16), (200_000, 128), (20_000, 1024)):
        job = f"statistics/covariance/f64/{columns}_columns"
        if wanted(job):
            table = statistics_value(1000 if QUICK else rows, columns)
            run = lambda: np.cov(table, rowvar=False)
            centred = table[:, [0, columns - 1]] - table[:, [0, columns - 1]].mean(axis=0)
            expected = (centred[:, 0] * centred[:, 1]).sum() / (len(table) - 1)
            if abs(run()[columns - 1, 0] - expected) > 1e-6:
                sys.exit(f"{job}: a wrong answer")
            report([job], run)


def quartiles():
    job = "statistics/quartiles/f64/16_columns"
    if wanted(job):
        table = statistics_value(1001 if QUICK else (1 << 20) + 1, 16)
        run = lambda: np.quantile(table, (0.25, 0.5, 0.75), axis=0)
        if not np.array_equal(run()[1], np.sort(table, axis=0)[len(table) // 2]):
            sys.exit(f"{job}: a wrong answer")
        report([job], run)
        import polars

        frame = polars.DataFrame({str(column): table[:, column] for column in range(16)})
        quantile = lambda of: polars.all().quantile(of, "linear").name.suffix(f" {of}")
        ask = lambda: frame.select([quantile(of) for of in (0.25, 0.5, 0.75)])
        if not np.array_equal(ask().to_numpy().reshape(3, 16), run()):
            sys.exit(f"{job}: a wrong answer of polars")
        report([job], ask, "polars")


def statistics_with_gaps():
    for name in ("f64", "i64"):
        job = f"statistics/missing/{name}/16_columns"
        if wanted(job):
            import polars

            table = statistics_value(3000 if QUICK else 1 << 20, 16)
            at = np.arange(1, table.size + 1, dtype=np.uint64).reshape(table.shape)
            present = (at * np.uint64(0x9E37_79B9_7F4A_7C15) >> np.uint64(40)) % np.uint64(10) != 0
            columns = {}
            for column in range(16):
                series = polars.Series(table[:, column] if name == "f64" else table[:, column].astype(np.int64))
                columns[str(column)] = series.zip_with(polars.Series(present[:, column]), polars.Series([None] * 1))
            frame = polars.DataFrame(columns)
            all_ = polars.all()
            numbers = {
                "missing": all_.null_count(),
                "minimum": all_.min(),
                "maximum": all_.max(),
                "sum": all_.sum(),
                "mean": all_.mean(),
                "deviation": all_.std(),
            }
            ask = lambda: frame.select([number.name.suffix(f" {of}") for of, number in numbers.items()])
            values = table[:, 3][present[:, 3]]
            values = values if name == "f64" else np.trunc(values)
            found = ask()
            if found["3 missing"][0] != len(table) - len(values) or abs(found["3 mean"][0] - values.mean()) > 1e-9:
                sys.exit(f"{job}: a wrong answer of polars")
            report([job], ask, "polars")


def gram_matrix():
    for rows, columns in ((1 << 20, 16), (200_000, 128)):
        job = f"learning/gram_matrix/f64/{columns}_columns"
        if wanted(job):
            table = statistics_value(1000 if QUICK else rows, columns)
            run = lambda: table.T @ table
            expected = (table[:, 0] * table[:, columns - 1]).sum()
            if abs(run()[columns - 1, 0] / expected - 1) > 1e-12:
                sys.exit(f"{job}: a wrong answer")
            report([job], run)


def k_means_step():
    """Times the function that scikit-learn's `KMeans` calls for each step, without the work before and after."""
    try:
        from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense
        from threadpoolctl import threadpool_limits
    except ImportError:
        return
    for clusters in (8, 100):
        job = f"learning/k_means_step/f32/16_columns/{clusters}_clusters"
        jobs = [job for job in (job, job.replace("step", "update")) if wanted(job)]
        if not jobs:
            continue
        table = statistics_value(1000 if QUICK else 1 << 20, 16).astype(np.float32)
        centers, new = table[:clusters].copy(), np.zeros((clusters, 16), np.float32)
        weights, rows = np.zeros(clusters, np.float32), np.ones(len(table), np.float32)
        labels, shift = np.full(len(table), -1, np.int32), np.zeros(clusters, np.float32)
        threads = len(os.sched_getaffinity(0))
        run = lambda: lloyd_iter_chunked_dense(table, rows, centers, new, weights, labels, shift, threads)
        with threadpool_limits(1, "blas"):  # as `KMeans` does: it cuts the rows itself
            run()
            some = table[:: len(table) // 100].astype(np.float64)
            distances = ((some[:, None] - centers[None].astype(np.float64)) ** 2).sum(axis=2)
            found = distances[np.arange(len(some)), labels[:: len(table) // 100]]
            if not np.allclose(found, distances.min(axis=1), rtol=1e-3, atol=1):
                sys.exit(f"{job}: a wrong answer")
            report(jobs, run, "scikit-learn")


for pair in ("f32 f64", "f64 f32", "f64 i32", "f32 i32", "i16 f32", "u8 f32", "f16 f32", "f32 f16"):
    reused(*pair.split())
columns_at_once()
fresh()
transpose()
fill()
surgery()
sort()
csv_files()
written_csv_file()
messy_csv_file()
parquet_files()
covariance()
quartiles()
statistics_with_gaps()
gram_matrix()
k_means_step()
for job in (save, load, map_first_row, stream_write, stream_read, npy_files):
    with tempfile.TemporaryDirectory() as folder:  # removed before the disk is busy with it
        job(pathlib.Path(folder, "table.npy"))
