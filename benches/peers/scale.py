#!/usr/bin/env python3
"""Times this crate and polars at several numbers of threads, prints one table, and draws a picture of it.

Runs the bench `scale` of this crate, which `--ours` names or cargo builds, and polars with the given Python, in one
process for each number of threads. Every job shows the bytes that it has to read and write per second, beside those of
a copy by the same number of threads. `--log` keeps the lines that the programs printed. Needs no network.
"""

import argparse
import datetime
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chart

HERE = Path(__file__).resolve().parent
PEERS = ["ours", "polars", "memcpy"]  # the order of the bars of a job
NAMES = {"ours": "numeric-table"}  # or as they are
COLUMNS = 16
STYLE = chart.STYLE + """
    .ours { fill: #0969da; }
    .memcpy { fill: #9aa4af; }
"""


# The part of polars, in a process of its own.


def report(job, threads, run, bytes_):
    """Prints the median of 7 to 31 samples after a warm-up, as `scale.rs` does."""
    run()
    samples, end = [], time.perf_counter() + 0.6
    while len(samples) < 7 or (len(samples) < 31 and time.perf_counter() < end):
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    print(f"{job}\t{threads}\tpolars\t{sorted(samples)[len(samples) // 2]:e}\t{bytes_}", flush=True)


def measure_polars(rows, threads, only):
    """Times the jobs of `scale.rs` on the same numbers, in as many threads as the environment gives polars."""
    import numpy as np

    wanted = lambda job: not only or any(part in job for part in only)
    bits = np.arange(rows * COLUMNS, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    numbers = (bits >> np.uint64(40)).reshape(rows, COLUMNS) / (1 << 24)
    del bits
    columns(rows, numbers, threads, wanted)
    merged(rows, numbers, threads, wanted)
    messy_csv(rows, threads, wanted)


def columns(rows, numbers, threads, wanted):
    """Times sorts, quartiles, filters, gathers and statistics of columns of one type."""
    import numpy as np
    import polars

    modulus, row, order = 1 << (rows - 1).bit_length(), 1, []
    while len(order) < rows:
        row = (row * 0x9E3779B1 + 0x7F4A7C15) % modulus
        if row < rows:
            order.append(row)
    order = polars.Series(np.array(order, dtype=np.uint32))
    flags = polars.Series(numbers[:, 5] < 0.5)
    quantile = lambda of: polars.all().quantile(of, "linear").name.suffix(f" {of}")
    kinds = {"mean": polars.all().mean(), "std": polars.all().std(), "min": polars.all().min(), "max": polars.all().max()}
    for name, dtype in {"f32": np.float32, "f64": np.float64}.items():
        frame = polars.DataFrame({str(c): numbers[:, c].astype(dtype) for c in range(COLUMNS)})
        bytes_ = rows * COLUMNS * np.dtype(dtype).itemsize
        kept = int(flags.sum()) * COLUMNS * np.dtype(dtype).itemsize
        jobs = {
            "sort": (lambda: frame.sort("0"), 2 * bytes_),
            "quartiles": (lambda: frame.select([quantile(of) for of in (0.25, 0.5, 0.75)]), bytes_),
            "filter": (lambda: frame.filter(flags), bytes_ + kept),
            "take": (lambda: frame.select(polars.all().gather(order)), 2 * bytes_),
            "statistics": (lambda: frame.select([all_.name.suffix(f" {of}") for of, all_ in kinds.items()]), bytes_),
        }
        for layout in ("row_major", "column_major") if name == "f32" else ("row_major",):
            for job, (run, moved) in jobs.items():
                if wanted(f"{job}/{name}/{layout}"):
                    report(f"{job}/{name}/{layout}", threads, run, moved)


def merged(rows, numbers, threads, wanted):
    """Times the conversion of data frames that are joined. The result has columns; that of `scale.rs` has rows."""
    import numpy as np
    import polars

    side_by_side, end_to_end = "merged/f32_i32_f64_to_f64", "row_merged/f32_to_f64"
    if not (wanted(side_by_side) or wanted(end_to_end)):
        return
    whole, half, third = numbers * (1 << 24), COLUMNS // 2, rows // 3
    frame = lambda columns, dtype, rows=slice(None): polars.DataFrame(
        {str(column): whole[rows, column].astype(dtype) for column in range(*columns)}
    )
    parts = [((0, half), np.float32), ((half, half + half // 2), np.int32), ((half + half // 2, COLUMNS), np.float64)]
    thirds = [slice(third), slice(third, rows - third), slice(rows - third, rows)]
    jobs = {
        side_by_side: ("horizontal", [frame(*part) for part in parts], 5),
        end_to_end: ("vertical", [frame((0, COLUMNS), np.float32, part) for part in thirds], 4),
    }
    for job, (how, frames, size) in jobs.items():
        if wanted(job):
            joined = polars.concat(frames, how=how, rechunk=False)
            run = lambda: joined.select(polars.all().cast(polars.Float64))
            if not np.array_equal(run().to_numpy(), whole):
                sys.exit(f"{job}: a wrong answer")
            report(job, threads, run, rows * COLUMNS * (size + 8))


def messy_csv(rows, threads, wanted):
    """Times loading and writing the CSV file of mixed types that `scale.rs` has made."""
    import polars

    path, load, write = os.environ.get("MESSY_CSV"), "csv_load/messy", "csv_write/messy"
    if not path or not (wanted(load) or wanted(write)):
        return
    words = {name: polars.Categorical for name in ("place", "answer")}
    read = lambda file: polars.read_csv(file, try_parse_dates=True, schema_overrides=words)
    frame, bytes_, written = read(path), Path(path).stat().st_size, f"{path}.polars"
    frame.write_csv(written)
    if len(frame) != rows or not read(written).equals(frame):
        sys.exit(f"{load}: a wrong answer")
    if wanted(load):
        report(load, threads, lambda: read(path), bytes_)
    if wanted(write):
        report(write, threads, lambda: frame.write_csv(written), bytes_)
    os.remove(written)


# The comparison.


def run(command, **environment):
    """Runs a program and returns its lines; exits if it fails."""
    print(f"scale.py: {' '.join(map(str, command))}", file=sys.stderr, flush=True)
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"scale.py: {command[0]} failed with status {done.returncode}")
    return done.stdout.splitlines()


def heading(rows):
    """Returns the machine, the date and the size of the tables."""
    cpu = None
    if Path("/proc/cpuinfo").exists():
        cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        command = ["git", "describe", "--always", "--dirty"]
        commit = subprocess.check_output(command, cwd=HERE, text=True, stderr=subprocess.DEVNULL).strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    date = datetime.date.today().isoformat()
    return f"{cpu[1] if cpu else platform.processor()}, {cores} cores; {date}, commit {commit}; {rows} rows of {COLUMNS} columns"


def parse(lines):
    """Returns seconds and bytes by job, threads and peer."""
    found = {}
    for line in lines:
        job, threads, peer, seconds, bytes_ = line.split("\t")
        found.setdefault(job, {}).setdefault(int(threads), {})[peer] = (float(seconds), int(bytes_))
    copies = found.pop("memcpy", {})
    for by_threads in found.values():
        for threads, peers in by_threads.items():
            peers.update(copies.get(threads, {}))
    return found


def milliseconds(seconds):
    return f"{seconds * 1e3:.{2 if seconds < 0.01 else 1 if seconds < 0.1 else 0}f}"


def table(found):
    lines = ["| job | threads | ours, ms | polars, ms | polars / ours | ours, GB/s | memcpy, GB/s |"]
    lines.append("| --- |" + " ---: |" * 6)
    for job, by_threads in found.items():
        for threads, peers in sorted(by_threads.items()):
            seconds = {peer: peers[peer][0] for peer in peers}
            speed = {peer: f"{bytes_ / time_ / 1e9:.1f}" for peer, (time_, bytes_) in peers.items()}
            ratio = f"{seconds['polars'] / seconds['ours']:.2f} ×" if {"ours", "polars"} <= seconds.keys() else "–"
            cells = [milliseconds(seconds[peer]) if peer in seconds else "–" for peer in ("ours", "polars")]
            cells += [ratio, speed.get("ours", "–"), speed.get("memcpy", "–")]
            lines.append(f"| `{job}` | {threads} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(found, description):
    """Returns the picture: bytes per second of every job, a bar for each peer, on a logarithmic scale."""
    speeds = [bytes_ / time_ / 1e9 for threads in found.values() for peers in threads.values() for time_, bytes_ in peers.values()]
    low, high = 2.0 ** math.floor(math.log2(min(speeds))), 2.0 ** math.ceil(math.log2(max(speeds)) + 0.01)
    drawing = chart.Drawing(low, high)
    drawing.text(16, 30, "Bytes read and written per second, by threads", "title")
    drawing.text(16, 52, "In GB/s, on a logarithmic scale; memcpy copies as many bytes as the table has.", "dim")
    x = 16
    for peer in PEERS:
        drawing.rectangle(peer, x, 67, 12, 12)
        drawing.text(x + 18, 78, NAMES.get(peer, peer))
        x += 150
    grid, drawing.y = len(drawing.lines), 92
    top, listed = drawing.y, []
    for job, by_threads in found.items():
        drawing.text(16, drawing.y + 17, job, "head")
        drawing.y += 25
        for threads, peers in sorted(by_threads.items()):
            shown = [peer for peer in PEERS if peer in peers]
            height = len(shown) * (chart.BAR + chart.GAP) + 2 * chart.PAD
            drawing.text(32, drawing.y + height / 2 + 4, f"{threads} thread{'s' if threads > 1 else ''}")
            y = drawing.y + chart.PAD
            for peer in shown:
                seconds, bytes_ = peers[peer]
                tip = drawing.at(bytes_ / seconds / 1e9)
                drawing.rectangle(peer, chart.LEFT, y, max(tip - chart.LEFT, 1), chart.BAR)
                words = f"{bytes_ / seconds / 1e9:.1f}"
                drawing.text(tip + 5, y + chart.BAR - 3, words, "small")
                if peer != "memcpy":
                    drawing.text(chart.TIMES, y + chart.BAR - 3, f"{milliseconds(seconds)} ms", "small end")
                listed.append(f"{job}, {threads}: {NAMES.get(peer, peer)} {words}.")
                y += chart.BAR + chart.GAP
            drawing.y += height
    bottom, behind, tick = drawing.y + 4, chart.Drawing(low, high), low
    while tick <= high:
        behind.vertical("grid", drawing.at(tick), top, bottom)
        drawing.text(drawing.at(tick), bottom + 16, f"{tick:g}", "small dim middle")
        tick *= 2
    drawing.lines[grid:grid] = behind.lines
    drawing.text(16, bottom + 40, description, "small dim")
    title = "Bytes per second of numeric-table and polars, by number of threads"
    return chart.svg(drawing.lines, bottom + 56, title, " ".join(listed), "benches/peers/scale.py", STYLE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", type=Path, metavar="PATH", help="the bench `scale` of this crate (default: cargo builds it)")
    parser.add_argument("--python", metavar="PATH", default=sys.executable, help="a Python with numpy and polars")
    parser.add_argument("--rows", type=int, default=1 << 20, metavar="N", help="rows of the tables (default 1 Mi)")
    parser.add_argument("--threads", metavar="N,N", help="numbers of threads (default: powers of two, and all processors)")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="jobs whose name contains one of these")
    parser.add_argument("--svg", type=Path, default=Path("scale.svg"), metavar="FILE", help="the picture (default scale.svg)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="keep the lines that the programs printed")
    parser.add_argument("--measure-polars", type=int, metavar="N", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure_polars:
        measure_polars(options.rows, options.measure_polars, options.only)
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    powers = [2**power for power in range(cores.bit_length()) if 2**power < cores] + [cores]
    threads = list(map(int, options.threads.split(","))) if options.threads else powers
    ours = options.ours and options.ours.resolve()
    if ours is None:
        import compare

        ours = compare.build_ours("scale")
    size, place = ["--rows", options.rows], {}
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        place["MESSY_CSV"] = f"{folder}/messy.csv"  # our program makes the file
        lines = run([ours, "--bench", *size, "--threads", ",".join(map(str, threads)), *options.only], **place)
        for number in threads:
            command = [options.python, Path(__file__).resolve(), "--measure-polars", number, *size]
            command += ["--only", *options.only] if options.only else []
            lines += run(command, POLARS_MAX_THREADS=str(number), **place)
    description = heading(options.rows)
    found = parse(lines)
    print(f"{description}\n\n{table(found)}")
    options.svg.write_text(draw(found, description), encoding="utf-8")
    if options.log:
        options.log.write_text("\n".join([f"# {description}", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
