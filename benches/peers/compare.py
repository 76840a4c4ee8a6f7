#!/usr/bin/env python3
"""Times this crate, DAAL, NumPy and the Rust peers, and prints one table of ratios.

Builds everything it needs: a virtual environment `.peers` in the root of the repository with the peers from PyPI, the
DAAL program in it, and the benches of this crate. Runs the three programs in turn for each group of jobs, several
times, and takes medians.
Needs Linux on x86-64, Python 3.9 with pip, g++, and cargo. See benches/README.md.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import chart
from chart import BEGIN, END, README

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEERS = ROOT / ".peers"
PYTHON = PEERS / "bin" / "python"
DAAL_PROGRAM = PEERS / "daal_bench"
COST = ROOT / "docs" / "cost.md"
LOG = ROOT / "benches" / "logs" / "peers.tsv"
PACKAGES = ["daal", "daal-devel", "daal-include", "numpy", "polars", "pyarrow", "scikit-learn"]
NAMES = {"daal": "DAAL", "numpy": "NumPy", "saturate": "`Saturate`", "loop": "plain loop", "load_typed": "`load_typed`"}  # or as they are
NAMES |= {package: package for package in PACKAGES[4:]}
ORDER = ["daal", "numpy", "scikit-learn", "polars", "pyarrow", "pandas"]  # the order of the peers in a row
ORDER += ["ndarray", "arrow", "half", "bincode", "saturate", "loop", "load_typed", "memcpy"]
ORDER += ["plain write", "plain read", "no gaps"]
CRATES = {"ndarray": "ndarray", "arrow-cast": "arrow", "half": "half", "bincode": "bincode"}  # in Cargo.lock; as peers


# Targets.


@dataclass
class Target:
    """A bound on a measure of our time and a peer's; `peer` is "ours" if only our time counts."""

    peer: str
    text: str
    bound: float
    measure: str  # one of `MEASURES`
    unless_peer_beats: Optional[str] = None

    def is_met(self, times):
        """Returns true or false; None if the target does not apply, or a figure is missing."""
        if "ours" not in times or self.peer not in times:
            return None
        if self.unless_peer_beats and times[self.peer] <= times.get(self.unless_peer_beats, 0):
            return None
        value = MEASURES[self.measure][0](times["ours"], times[self.peer])
        return value >= self.bound if self.measure in ("times faster", "share of the limit") else value <= self.bound


MEASURES = {  # functions of our seconds and a peer's, and their text
    "times faster": (lambda ours, peer: peer / ours, lambda value: f"{significant(value)} ×"),
    "share of the limit": (lambda ours, peer: peer / ours, lambda value: f"{value * 100:.0f} %"),
    "times as long": (lambda ours, peer: ours / peer, lambda value: f"{value:.2f} × as long"),
    "seconds more": (lambda ours, peer: ours - peer, lambda value: f"{value * 1e9:+.1f} ns"),
    "seconds": (lambda ours, peer: ours, lambda value: duration(value)),
}


def faster(times, peer, unless_peer_beats=None):
    text = f"{times} × {NAMES.get(peer, peer)}"
    if unless_peer_beats:
        text += f", where that is slower than {unless_peer_beats}"
    return Target(peer, text, times, "times faster", unless_peer_beats)


def of_memcpy(percent):
    return Target("memcpy", f"{percent} % of memcpy", percent / 100, "share of the limit")


def within(nanoseconds):
    return Target("ours", f"at most {nanoseconds} ns", nanoseconds * 1e-9, "seconds")


CHECKED = Target("saturate", "at most 1.3 × as long as `Saturate`", 1.3, "times as long")
CHECKED_SLICE = Target("saturate", "at most 1.5 × as long as `Saturate`", 1.5, "times as long")
NO_SLOWER = Target("load_typed", "at most as long as `load_typed`", 1.0, "times as long")
FEW = Target("loop", "at most 20 ns over the plain loop", 20e-9, "seconds more")
MAP = Target("ours", "at most 100 µs", 100e-6, "seconds")


def all_rows():
    """Returns every job with its targets, in the order of the table."""
    pairs = ["f32_to_f64", "i16_to_f32", "u8_to_f32", "f64_to_i32", "f32_to_i32"]
    blocks_16 = {"i16_to_f32": 5, "u8_to_f32": 8, "f64_to_i32": 2, "f32_to_i32": 2.3}
    halves = ["f16_to_f32", "f32_to_f16", "bf16_to_f32", "f32_to_bf16"]
    rows = {
        "rows/f32_to_f64/16_columns/256_rows": [faster(2.2, "daal")],
        "rows/f32_to_f64/16_columns/8192_rows": [faster(3.5, "daal")],
        "rows/f32_to_f64/16_columns/whole": [faster(2.3, "daal")],
    }
    rows |= {f"rows/{pair}/16_columns/8192_rows": [faster(times, "daal")] for pair, times in blocks_16.items()}
    rows |= {f"rows/{pair}/16_columns/whole": [] for pair in blocks_16}
    rows |= {"rows/f32_to_f64/128_columns/256_rows": []}
    rows |= {f"rows/{pair}/128_columns/8192_rows": [faster(1.0, "daal")] for pair in pairs}
    rows |= {f"rows/{pair}/128_columns/whole": [faster(1.2, "daal")] for pair in pairs}
    rows |= {f"rows/f32/16_columns/{size}": [] for size in ("256_rows", "8192_rows", "whole")}
    rows |= {f"write_back/{pair}/16_columns/{n}_rows": [] for pair in ("f32_to_f64", "f64_to_f32") for n in (256, 8192)}
    rows |= {
        "one_row/f32_to_f64/descriptor": [faster(2.5, "daal")],
        "one_row/f32/descriptor": [faster(0.8, "daal")],
        "one_row/f32/borrowed": [faster(2, "daal")],
        "one_row_written/f32_to_f64/descriptor": [within(46)],
        "one_row_written/f32/descriptor": [within(15)],
        "one_row_written/f32/borrowed": [within(6)],
        "one_value_written/f32": [within(8)],
        "columns/f32_to_f64/one_after_another": [faster(1.6, "daal")],
        "columns/f32_to_f64/at_once": [faster(4, "daal")],
        "fresh/f32_to_f64": [faster(1.8, "numpy"), faster(6, "ndarray"), faster(6, "arrow")],
        "transpose/f32": [faster(4, "numpy")],
        "fill/f32": [faster(1.2, "numpy"), faster(3, "daal")],
        "zeros/f32": [],
        "memcpy/1_thread": [],
        "memcpy/2_threads": [],
        "kinds/soa/f32_to_f64/1_rows": [faster(1.5, "daal")],
        "kinds/soa/f32_to_f64/256_rows": [faster(1.5, "daal")],
        "kinds/soa/f32_to_f64/8192_rows": [faster(1.5, "daal")],
        "kinds/soa/f32_to_f32/256_rows": [],
        "kinds/soa/mixed_to_f64/256_rows": [faster(1.2, "daal")],
        "kinds/soa_written/f32_to_f64/256_rows": [faster(1.2, "daal")],
        "kinds/aos/16_f32_to_f64/1_rows": [faster(1.8, "daal")],
        "kinds/aos/16_f32_to_f64/256_rows": [faster(1.8, "daal")],
        "kinds/aos/16_f32_to_f64/whole": [faster(1.8, "daal")],
        "kinds/aos/mixed_to_f64/256_rows": [faster(1.2, "daal")],
        "kinds/aos/mixed_to_f64/whole": [],
        "kinds/csr/f32_to_f32/256_rows": [faster(1.5, "daal")],
        "kinds/csr/f32_to_f64/256_rows": [faster(1.5, "daal")],
        "kinds/csr/sparse/f32_to_f32/256_rows": [faster(5, "daal")],
        "kinds/csr/sparse/f32_to_f64/256_rows": [faster(1.5, "daal")],
        "kinds/csr/columns/f32_to_f32/whole": [faster(5, "daal")],
        "kinds/packed/symmetric/f32_to_f32/256_rows": [of_memcpy(60)],
        "kinds/packed/symmetric/f32_to_f64/256_rows": [of_memcpy(60)],
        "kinds/merged/2_tables/f32_to_f32/1_rows": [faster(1.2, "daal")],
        "kinds/merged/2_tables/f32_to_f32/256_rows": [faster(2, "daal")],
        "kinds/merged/2_tables/f32_to_f64/1_rows": [],
        "kinds/merged/2_tables/f32_to_f64/256_rows": [faster(2, "daal")],
        "kinds/merged/16_tables/f32_to_f32/256_rows": [faster(2, "daal")],
        "kinds/row_merged/16_tables/f32_to_f32/256_rows": [],
        "kinds/row_merged/16_tables/f32_to_f64/256_rows": [],
        "kinds/row_merged/1024_tables/f32_to_f32/1_rows": [],
        "kinds/row_merged/1024_tables/f32_to_f32/256_rows": [],
    }
    for pair in ("f32_to_f64", "f64_to_f32", "f64_to_i32", "f32_to_i32", "i16_to_f32", "u8_to_f32", *halves):
        rows[f"reused/{pair}"] = [of_memcpy(85)]
    rows |= {f"cached/f32_to_{target}": [faster(2, "loop")] for target in ("i32", "u32", "i16", "u8")}
    rows |= {f"cached/{pair}": [faster(3, "half", unless_peer_beats="memcpy")] for pair in halves}
    checked = ("f64_to_f32", "f64_to_i32", "f32_to_i32", "i32_to_i16", "f32_to_f16")
    sizes = ("256_rows", "8192_rows", "whole")
    rows |= {f"checked/{pair}/16_columns/{size}": [CHECKED] for pair in checked for size in sizes}
    rows |= {f"checked/{place}/{pair}": [CHECKED_SLICE] for place in ("reused", "cached") for pair in checked}
    rows |= {f"few/{pair}/{n}_values": [FEW] for pair in ("f32_to_f64", "f32_to_i32") for n in (1, 4, 16, 64)}
    rows |= {
        "files/save/f32": [faster(1.0, "numpy"), faster(4, "daal")],
        "files/save_without_checksums/f32": [],
        "files/save_durable/f32": [],
        "files/load/f32": [faster(1.0, "numpy"), faster(6, "daal")],
        "files/load_cast/f32_to_f64": [],
        "files/verify/f32": [],
        "files/map/first_row/f32/64_MiB": [MAP],
        "files/map/first_row/f32/1_GiB": [MAP],
        "files/stream_write/f32": [],
        "files/stream_read/f32_to_f64": [],
        "files/limit/write": [],
        "files/limit/read": [],
        "archive/to_bytes/f32": [faster(1.5, "daal"), faster(5, "bincode")],
        "archive/from_bytes/f32": [faster(1.5, "daal"), faster(5, "bincode")],
        "csv/load/f64": [faster(1.0, "polars"), faster(1.0, "pyarrow"), faster(5, "numpy"), faster(5, "daal")],
        "csv/write/f64": [faster(1.0, "polars")],
        "csv/limit/read": [],
        "csv/messy/load_typed": [faster(1.0, "polars")],
        "csv/messy/describe": [NO_SLOWER],
        "csv/messy/write": [faster(1.2, "polars")],
        "parquet/load/f32": [faster(0.8, "polars"), faster(1.0, "pyarrow")],
        "npy/save/f32": [faster(1.0, "numpy")],
        "npy/load/f32": [faster(1.0, "numpy")],
        "npy/map/first_row/f32": [faster(1.0, "numpy")],
    }
    places = ["16_columns/row_major", "16_columns/column_major", "1_column"]
    chosen = [f"{element}/{place}" for place in places for element in ("f64", "f32")]
    kinds = ("take/random", "take/sorted", "filter/random", "filter/runs")
    chosen = [f"rows_{kind}/{table}" for table in chosen for kind in kinds]
    rows |= {job: [faster(1.5, "numpy"), faster(1.2 if "filter" in job else 1.5, "polars")] for job in chosen}
    sorts = ("f32/16_columns/row_major", "f32/16_columns/column_major", "f64/16_columns/row_major")
    sorts += ("i64/16_columns/column_major",)
    rows |= {f"order/sort/{table}": [faster(1.5, "numpy"), faster(1.5, "polars")] for table in sorts}
    rows |= {f"statistics/covariance/f64/{n}_columns": [faster(1.0, "numpy")] for n in (16, 128)}
    rows |= {"statistics/covariance/f64/1024_columns": [faster(1.1, "numpy")]}
    rows |= {"statistics/quartiles/f64/16_columns": [faster(1.0, "numpy"), faster(1.2, "polars")]}
    rows |= {f"statistics/missing/{element}/16_columns": [faster(1.0, "polars")] for element in ("f64", "i64")}
    reads = [f"missing/read/{pair}/16_columns/8192_rows" for pair in ("f64", "f32_to_f64", "i64_to_f64")]
    rows |= {job: [faster(0.7, "no gaps")] for job in reads}
    rows |= {f"learning/gram_matrix/f64/{n}_columns": [faster(1.0, "numpy")] for n in (16, 128)}
    steps = [f"learning/k_means_{call}/f32/16_columns/{n}_clusters" for call in ("step", "update") for n in (8, 100)]
    rows |= {job: [faster(1.0, "scikit-learn")] for job in steps}
    return rows


# The jobs of the short table, in words, and the job whose memcpy moves the same number of bytes.
SUMMARY = {
    "rows/f32_to_f64/16_columns/256_rows": ("read `f32` as `f64`, 16 columns, in blocks of 256 rows", None),
    "rows/f32_to_f64/16_columns/8192_rows": ("the same, in blocks of 8192 rows", None),
    "rows/f32_to_f64/16_columns/whole": ("the same, as one block", "reused/f32_to_f64"),
    "rows/u8_to_f32/16_columns/8192_rows": ("read `u8` as `f32`, 16 columns, in blocks of 8192 rows", None),
    "rows/f64_to_i32/16_columns/whole": ("read `f64` as `i32`, 16 columns, as one block", "reused/f64_to_i32"),
    "write_back/f32_to_f64/16_columns/8192_rows": ("change one value of each block of 8192 rows, `f32` as `f64`, and write back", None),
    "one_row/f32_to_f64/descriptor": ("one row of 16, `f32` as `f64`", None),
    "one_row/f32/descriptor": ("one row of 16, `f32` unconverted", None),
    "one_row_written/f32_to_f64/descriptor": ("the same for reading and writing, with one value changed", None),
    "one_row_written/f32/descriptor": ("the same, `f32` unconverted", None),
    "columns/f32_to_f64/at_once": ("all 16 columns of `f32` as `f64`", None),
    "fresh/f32_to_f64": ("`f32` to `f64`, into new memory", None),
    "transpose/f32": ("transpose 1 Mi x 16 `f32`, into new memory", None),
    "fill/f32": ("fill 64 MiB of new memory", None),
    "reused/f32_to_f16": ("`f32` to `f16`, into memory that is reused", "reused/f32_to_f16"),
    "files/save/f32": ("save 64 MiB of `f32` as a file, with checksums, without waiting for the disk", None),
    "files/load/f32": ("load it from the page cache", None),
    "files/map/first_row/f32/1_GiB": ("map a file of 1 GiB and read a row", None),
    "csv/load/f64": ("load a CSV file of 200 MB, 10 columns, as `f64`", None),
    "npy/load/f32": ("load 64 MiB of `f32` from a `.npy` file", None),
    "archive/to_bytes/f32": ("64 MiB of `f32` into an archive in memory", None),
    "archive/from_bytes/f32": ("and back", None),
}


def summary(times):
    """Returns the short table: our time, and the factor by which the others take longer."""
    peers = {"daal": "DAAL", "numpy": "NumPy"}
    peers |= {peer: peer for peer in ("polars", "pyarrow", "ndarray", "arrow", "bincode", "memcpy")}
    lines = [f"| 16 Mi values | ours | {' | '.join(peers.values())} |", "| --- | ---: |" + " ---: |" * len(peers)]
    for job, (words, limit) in SUMMARY.items():
        of_job = dict(times.get(job, {}))
        if limit and "memcpy" in times.get(limit, {}):
            of_job["memcpy"] = times[limit]["memcpy"]
        cells = [f"{significant(of_job[peer] / of_job['ours'])} ×" if peer in of_job else "" for peer in peers]
        lines.append(f"| {words} | {duration(of_job['ours'])} | {' | '.join(cells)} |")
    return "\n".join(lines)


# Building.


def fail(message):
    sys.exit(f"compare.py: {message}")


def say(message):
    print(message, file=sys.stderr, flush=True)


def run(command, what, **options):
    """Runs a program to its end and returns its output; exits if it fails."""
    try:
        done = subprocess.run([str(part) for part in command], cwd=ROOT, text=True, stdout=subprocess.PIPE, **options)
    except OSError as error:
        fail(f"{what}: {error}")
    if done.returncode != 0:
        fail(f"{what} failed with status {done.returncode}: {' '.join(map(str, command))}")
    return done.stdout


def require_tools():
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        fail("DAAL's packages are for Linux on x86-64")
    needed = {"g++": "to compile the DAAL program: a C++ compiler, usually in the package g++", "cargo": "to build this crate"}
    for tool, purpose in needed.items():
        if shutil.which(tool) is None:
            fail(f"{tool} is needed {purpose}")


def installed_versions():
    """Returns the versions of the installed packages, by name."""
    code = (
        "import importlib.metadata as m, json, sys\n"
        "names = {d.metadata['Name'].lower().replace('_', '-'): d.version for d in m.distributions()}\n"
        "print(json.dumps({name: names[name] for name in sys.argv[1:] if name in names}))"
    )
    return json.loads(run([PYTHON, "-c", code, *PACKAGES], "asking for the installed packages"))


def install_peers():
    if not PYTHON.exists():
        say(f"making the virtual environment {PEERS}")
        hint = "making a virtual environment (the module venv with pip is needed, often in the package python3-venv)"
        run([sys.executable, "-m", "venv", PEERS], hint)
    missing = [package for package in PACKAGES if package not in installed_versions()]
    if missing:
        say(f"installing {', '.join(missing)}: DAAL brings some gigabytes of libraries along")
        run([PYTHON, "-m", "pip", "--version"], "asking for pip")
        run([PYTHON, "-m", "pip", "install", "--quiet", *missing], "installing the peers with pip")


def build_daal_program():
    libraries = PEERS / "lib"
    for name in ("onedal_core", "onedal_thread", "tbb"):  # the packages contain libraries without the names for linking
        link = libraries / f"lib{name}.so"
        if not link.exists():
            versions = sorted(libraries.glob(f"lib{name}.so.*"))
            if not versions:
                fail(f"the package daal has brought no {link.name}.*; remove {PEERS} to install it again")
            link.symlink_to(versions[0].name)
    source = HERE / "daal_bench.cpp"
    if DAAL_PROGRAM.exists() and DAAL_PROGRAM.stat().st_mtime > source.stat().st_mtime:
        return
    say("compiling the DAAL program")
    include = PEERS / "include"
    flags = ["-O3", "-std=c++17", "-w", f"-I{include / 'dal'}", f"-I{include}"]
    link = [f"-L{libraries}", f"-Wl,-rpath-link,{libraries}", "-lonedal_core", "-lonedal_thread", "-ltbb"]
    run(["g++", *flags, source, *link, "-o", DAAL_PROGRAM], "compiling the DAAL program")


def build_ours(bench="peers"):
    """Builds a bench in release, for the baseline instruction set, and returns its path."""
    say("building the benches of this crate")
    environment = {name: value for name, value in os.environ.items() if not name.endswith("RUSTFLAGS")}
    command = ["cargo", "bench", "-p", "benches", "--bench", bench, "--no-run", "--message-format=json"]
    for line in run(command, "building the benches", env=environment).splitlines():
        message = json.loads(line)
        if message.get("executable") and message.get("target", {}).get("name") == bench:
            return message["executable"]
    fail(f"cargo has built no bench named {bench}")


# Measuring.


def groups(jobs):
    """Returns the jobs in groups that take seconds each: those with the same first word; of kinds, the first two."""
    found = {}
    for job in jobs:
        found.setdefault("/".join(job.split("/")[: 2 if job.startswith("kinds/") else 1]), []).append(job)
    return found


def measure(programs, rounds, jobs, quick):
    """Runs the programs in turn for each group of jobs: a row compares times that were measured within seconds.

    The speed of a virtual machine changes from minute to minute. Returns the median seconds by job and peer, and what
    the programs printed.
    """
    samples, log = {}, []
    for round_ in range(1, rounds + 1):
        for group, chosen in groups(jobs).items():
            say(f"round {round_} of {rounds}: {group}")
            arguments = chosen + (["--quick"] if quick else [])
            for name, (command, environment) in programs.items():
                output = run([*command, *arguments], name, env={**os.environ, **environment})
                for line in output.splitlines():
                    job, peer, seconds = line.split("\t")
                    log.append(f"{round_}\t{line}")
                    samples.setdefault(job, {}).setdefault(peer, []).append(float(seconds))
    medians = {job: {peer: statistics.median(all_) for peer, all_ in peers.items()} for job, peers in samples.items()}
    return medians, log


# Printing.


def significant(value):
    """Formats a number with three significant digits, without an exponent."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def duration(seconds):
    for unit, factor in (("ns", 1e9), ("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{significant(seconds * factor)} {unit}"
    return f"{significant(seconds)} s"


def peer_cell(peer, times, targets):
    cell = f"{NAMES.get(peer, peer)} {duration(times[peer])}"
    if "ours" not in times:
        return cell
    default = "share of the limit" if peer == "memcpy" else "times faster"
    value, text = MEASURES[next((target.measure for target in targets if target.peer == peer), default)]
    return f"{cell} ({text(value(times['ours'], times[peer]))})"


def met_cell(targets, times):
    states = [target.is_met(times) for target in targets]
    missed = [NAMES.get(target.peer, target.peer) for target, state in zip(targets, states) if state is False]
    if missed:
        return "**no**" if len(targets) == 1 else f"**no**: {', '.join(missed)}"
    return "yes" if states and all(states) else "–"


def table(rows, times):
    lines = ["| job | target | ours | peers | met |", "| --- | --- | ---: | --- | --- |"]
    for job, targets in rows.items():
        of_job = times.get(job, {})
        ours = duration(of_job["ours"]) if "ours" in of_job else "–"
        peers = ", ".join(peer_cell(peer, of_job, targets) for peer in ORDER if peer in of_job)
        text = "; ".join(target.text for target in targets) or "–"
        lines.append(f"| `{job}` | {text} | {ours} | {peers or '–'} | {met_cell(targets, of_job)} |")
    states = [target.is_met(times.get(job, {})) for job, targets in rows.items() for target in targets]
    lines += ["", f"{states.count(True)} of {states.count(True) + states.count(False)} targets met."]
    if None in states:
        lines[-1] += f" {states.count(None)} did not apply."
    return "\n".join(lines)


def cores():
    return len(os.sched_getaffinity(0))


def heading(rounds, load, quick, scratch):
    """Returns a description of the machine, the date and the versions."""
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    lock = (ROOT / "Cargo.lock").read_text()
    crates = {name: re.findall(rf'^name = "{name}"\nversion = "(.*)"$', lock, re.MULTILINE) for name in CRATES}
    versions = [run(["rustc", "--version"], "rustc").split(" (")[0].strip()]
    versions += [f"{NAMES.get(name, name)} {version}" for name, version in installed_versions().items() if name in NAMES]
    versions += [f"{CRATES[name]} {found[-1]}" for name, found in crates.items() if found]  # the last is the newest
    try:
        commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    facts = [
        f"{cpu[1] if cpu else platform.processor() or 'unknown processor'}, {cores()} cores",
        f"{datetime.date.today().isoformat()}, commit {commit}",
        ", ".join(versions),
        "files on " + run(["df", "--output=fstype", scratch], "df").split()[-1],
        f"medians of {rounds} rounds; load average before them {load:.2f}",
    ]
    return "; ".join(facts) + ("; small sizes: a smoke test, not a measurement." if quick else ".")


WRITE_HELP = "put the tables into benches/README.md and docs/cost.md, draw docs/peers.svg, and keep a log in benches/logs"
CHART_HELP = "run nothing; draw docs/peers.svg from the tables in benches/README.md"


def write(page, text):
    """Puts a table between the two markers of a page."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
    say(f"written to {page}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each program (default 3)")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="jobs that match")
    parser.add_argument("--quick", action="store_true", help="small sizes, few samples: a smoke test")
    parser.add_argument("--write", action="store_true", help=WRITE_HELP)
    parser.add_argument("--chart-only", action="store_true", help=CHART_HELP)
    options = parser.parse_args()
    if options.chart_only:
        chart.write()
        return
    rows = {job: targets for job, targets in all_rows().items() if options.only.search(job)}
    is_partial = len(rows) < len(all_rows())
    if options.rounds < 1 or not rows:
        parser.error("no rounds, or no such job")
    if options.write and (is_partial or options.quick):
        parser.error("--write is for a full measurement")
    for page in (README, COST):
        if options.write and not re.search(f"{BEGIN}.*{END}", page.read_text(), re.DOTALL):
            parser.error(f"{page} has not the two markers {BEGIN} and {END}")
    load = os.getloadavg()[0]
    require_tools()
    install_peers()
    build_daal_program()
    executable = build_ours()
    (ROOT / "target").mkdir(exist_ok=True)  # on a disk, unlike temporary files perhaps
    with tempfile.TemporaryDirectory(prefix="peers-", dir=ROOT / "target") as scratch:
        place = {"TMPDIR": scratch, "NUMBERS_CSV": f"{scratch}/numbers.csv", "POLARS_MAX_THREADS": str(cores())}
        if any(job.startswith("csv/") for job in rows):
            size = "--quick" if options.quick else "--bench"
            run([executable, size, "--write-csv", place["NUMBERS_CSV"]], "making the CSV file")
        if any(job.startswith("csv/messy/") for job in rows):
            place["MESSY_CSV"] = f"{scratch}/messy.csv"
            size = "--quick" if options.quick else "--bench"
            run([executable, size, "--write-messy-csv", place["MESSY_CSV"]], "making the CSV file of mixed types")
        if any(job.startswith("parquet/") for job in rows):
            place["NUMBERS_PARQUET"] = f"{scratch}/numbers.parquet"
            size = "--quick" if options.quick else "--bench"
            run([executable, size, "--write-parquet", place["NUMBERS_PARQUET"]], "making the Parquet file")
        programs = {
            "ours": ([executable, "--bench"], place),
            "daal": ([DAAL_PROGRAM], {"LD_LIBRARY_PATH": str(PEERS / "lib"), **place}),
            "numpy": ([PYTHON, HERE / "numpy_bench.py"], place),
        }
        description = heading(options.rounds, load, options.quick, scratch)
        times, log = measure(programs, options.rounds, list(rows), options.quick)
    unlisted = sorted(set(times) - set(all_rows()))
    if unlisted:
        fail(f"jobs that are not in the table: {', '.join(unlisted)}")
    text = f"{description}\n\n{table(rows, times)}"
    print(text)
    if options.write:
        write(README, text)
        write(COST, f"{summary(times)}\n\n{description}")
        LOG.parent.mkdir(exist_ok=True)
        LOG.write_text("\n".join([f"# {description}", "# round, job, peer, seconds", *log, ""]))
        chart.write()


if __name__ == "__main__":
    main()
