#!/usr/bin/env python3
"""Draws docs/peers.svg from the tables in benches/README.md.

Runs no benchmark. With --check, draws nothing and exits with an error if docs/peers.svg is not the picture that the
tables give. `compare.py --write` draws the picture after it has written the tables.
"""

import argparse
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict
from xml.etree import ElementTree
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
PICTURE = HERE.parent.parent / "docs" / "peers.svg"
BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"
PEERS = ["DAAL", "NumPy", "polars"]  # the order of the bars of a job

# The jobs in the picture, in this order: what is done, and to what.
JOBS = {
    "rows/f32_to_f64/16_columns/256_rows": ("Read f32 as f64 in blocks of rows", "16 columns, 256 rows per block"),
    "write_back/f32_to_f64/16_columns/256_rows": ("Change a value per block, write it back", "the same blocks"),
    "columns/f32_to_f64/at_once": ("Read each column as f64", "16 columns of f32, stored row by row"),
    "reused/f32_to_f16": ("Convert f32 to f16", "into existing memory"),
    "transpose/f32": ("Transpose", "1 Mi × 16 f32, into new memory"),
    "fill/f32": ("Fill a new table with one value", "64 MiB of f32"),
    "files/save/f32": ("Save to a file", "64 MiB; numeric-table adds checksums"),
    "files/load/f32": ("Load the file", "from the page cache; numeric-table verifies it"),
    "archive/to_bytes/f32": ("Serialize to bytes in memory", "64 MiB of f32"),
    "csv/load/f64": ("Load a CSV file", "213 MB; DAAL, NumPy extrapolated from a part"),
    "rows_filter/random/f64/1_column": ("Keep half of the rows", "one column of 10 Mi f64, random rows"),
    "statistics/covariance/f64/1024_columns": ("Covariance matrix", "20,000 rows × 1024 columns of f64"),
    "one_row/f32/descriptor": ("Read a single row, unconverted", "16 f32, through a descriptor"),
    "one_row_written/f32/descriptor": ("Change a single row, unconverted", "16 f32, through a descriptor"),
}

# Measures of the picture, in pixels.
WIDTH = 880
LEFT, RIGHT = 472, 780  # of the axis
TIMES = 386  # the right edge of our times
BAR, GAP = 13, 3
ROW = 35  # the least height of a job
PAD = 5  # above and below the bars of a job
TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

STYLE = """
    text { font-family: ui-sans-serif, -apple-system, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; }
    text { font-size: 13px; fill: #1f2328; }
    .title { font-size: 17px; font-weight: 600; }
    .head { font-weight: 600; }
    .small { font-size: 11px; }
    .dim { fill: #59636e; }
    .end { text-anchor: end; }
    .middle { text-anchor: middle; }
    .grid { stroke: #dfe4e9; }
    .one { stroke: #1f2328; stroke-width: 2; }
    .DAAL { fill: #0969da; }
    .NumPy { fill: #d4690b; }
    .polars { fill: #0f5f49; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .dim { fill: #9aa4af; }
      .grid { stroke: #30363d; }
      .one { stroke: #f0f6fc; }
      .DAAL { fill: #4493f8; }
      .NumPy { fill: #e8873a; }
      .polars { fill: #8ae6c1; }
    }
"""


class Unreadable(Exception):
    """The page lacks results that the picture shows."""


@dataclass
class Result:
    """A row of a table: our time, and by peer how many times as long it takes, as printed there."""

    ours: str
    ratios: Dict[str, str]
    is_separate: bool  # not from the run that the description is about


def results(page):
    """Returns the description of the run and the results of `JOBS`, by job, from the text of the page.

    A result of the table between the markers takes precedence over those of other runs.
    """
    before, begin, rest = page.partition(BEGIN)
    block, end, after = rest.partition(END)
    if not begin or not end:
        raise Unreadable(f"the two markers {BEGIN} and {END} are missing")
    description = " ".join(block.partition("\n|")[0].split())
    found = {}
    for text, is_separate in ((block, False), (before + after, True)):
        for job, ours, peers in re.findall(r"^\| `([^`|]+)` \| [^|]* \| ([^|]*) \| ([^|]*) \| [^|]* \|$", text, re.M):
            ratios = dict(re.findall(r"(\w+) [0-9.]+ (?:ns|µs|ms|s) \(([0-9.]+) ×[);]", peers))  # a range may follow
            result = Result(ours, {peer: ratios[peer] for peer in PEERS if peer in ratios}, is_separate)
            if result.ratios:
                found.setdefault(job, result)
    missing = [job for job in JOBS if job not in found]
    if missing:
        raise Unreadable(f"no times of this library and of {', '.join(PEERS)} for {', '.join(missing)}")
    return description, {job: found[job] for job in JOBS}


def about(description):
    """Returns two lines from the description of the run: where and when, and the versions of the peers."""
    facts = description.rstrip(".").split("; ")
    versions = [part for part in ", ".join(facts).split(", ") if part.split(" ")[0] in PEERS]
    rounds = [found[0] for found in (re.match(r"medians of \d+ rounds?", fact) for fact in facts) if found]
    return "; ".join(facts[:2]), "; ".join([", ".join(versions), *rounds])


class Drawing:
    """The elements of the picture so far, and how far down they reach."""

    def __init__(self, low, high):
        self.low, self.high = low, high
        self.lines = []
        self.y = 0

    def at(self, value):
        """Returns the position of a value on the logarithmic axis."""
        return LEFT + (RIGHT - LEFT) * math.log(value / self.low) / math.log(self.high / self.low)

    def text(self, x, y, words, classes=""):
        classes = f' class="{classes}"' if classes else ""
        self.lines.append(f'  <text{classes} x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>')

    def rectangle(self, classes, left, y, width, height):
        place = f'x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.lines.append(f'  <rect class="{classes}" {place}/>')

    def vertical(self, classes, x, top, bottom):
        self.lines.append(f'  <path class="{classes}" d="M {x:.1f} {top:.1f} V {bottom:.1f}"/>')

    def job(self, job, result):
        """Draws the words, our time, and a bar for each peer, which begins at the line of our time."""
        what, to_what = JOBS[job]
        bars = len(result.ratios) * (BAR + GAP) - GAP
        height = max(ROW, bars + 2 * PAD)
        middle = self.y + height / 2
        self.text(16, middle - 3, f"{what} *" if result.is_separate else what)
        self.text(16, middle + 12, to_what, "small dim")
        self.text(TIMES, middle + 4, result.ours, "end")
        top = middle - bars / 2
        one = self.at(1)
        for peer, ratio in result.ratios.items():
            tip = self.at(float(ratio))
            self.rectangle(peer, min(one, tip), top, abs(tip - one), BAR)
            words, baseline = f"{peer} {ratio} ×", top + BAR - 3
            if tip < one:
                self.text(tip - 5, baseline, words, "small end")
            else:
                self.text(tip + 5, baseline, words, "small")
            top += BAR + GAP
        self.y += height


def svg(lines, height, title, listed, source, style=STYLE):
    """Returns a picture of the given elements, with a title and a description for readers who do not see it."""
    text = "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" role="img" aria-labelledby="title desc">',
        f"  <!-- Drawn by {source}. -->",
        f'  <title id="title">{escape(title)}</title>',
        f'  <desc id="desc">{escape(listed)}</desc>',
        f"  <style>{style}  </style>",
        *lines,
        "</svg>",
        "",
    ])
    ElementTree.fromstring(text)  # raises an exception if it is malformed
    return text


def draw(page):
    """Returns the picture of the results in the text of the page."""
    description, all_ = results(page)
    ratios = [float(ratio) for result in all_.values() for ratio in result.ratios.values()] + [0.5, 2]
    low = max(tick for tick in TICKS if tick <= min(ratios))
    high = min(tick for tick in TICKS if tick >= max(ratios))
    drawing = Drawing(low, high)
    drawing.text(16, 30, "The same jobs in numeric-table, DAAL, NumPy and polars", "title")
    explanation = "A bar shows how many times as long a library takes as numeric-table. Logarithmic scale."
    drawing.text(16, 52, explanation, "dim")

    x = 16
    for peer in PEERS:
        drawing.rectangle(peer, x, 67, 12, 12)
        drawing.text(x + 18, 78, peer)
        x += 84
    drawing.text(TIMES, 78, "numeric-table", "head end")
    one = drawing.at(1)
    drawing.text(one, 78, "1 ×", "head middle")
    drawing.text(one - 24, 78, "← faster", "small dim end")
    drawing.text(one + 24, 78, "slower →", "small dim")

    grid = len(drawing.lines)
    drawing.y = top = 88
    won = [job for job, result in all_.items() if min(map(float, result.ratios.values())) >= 1]
    lost = [job for job in all_ if job not in won]
    groups = {"numeric-table is at least as fast as the others": won, "Another library is faster": lost}
    for words, jobs in groups.items():
        if jobs:
            drawing.text(16, drawing.y + 17, words, "head")
            drawing.y += 25
        for job in jobs:
            drawing.job(job, all_[job])
        drawing.y += 8
    bottom = drawing.y - 4
    behind = Drawing(low, high)
    for tick in TICKS:
        if low <= tick <= high:
            behind.vertical("one" if tick == 1 else "grid", drawing.at(tick), top, bottom)
            drawing.text(drawing.at(tick), bottom + 16, f"{tick} ×", "small dim middle")
    drawing.lines[grid:grid] = behind.lines

    where, versions = about(description)
    notes = [f"{where}.", f"{versions}.", "All jobs, and how each is measured: benches/README.md."]
    if any(result.is_separate for result in all_.values()):
        notes[-1] += " * From a separate run."
    drawing.y = bottom + 40
    for note in notes:
        drawing.text(16, drawing.y, note, "small dim")
        drawing.y += 16
    height = drawing.y
    listed = [f"{JOBS[job][0]}: {', '.join(f'{p} {r}' for p, r in all_[job].ratios.items())}." for job in all_]
    title = "Times of DAAL, NumPy and polars relative to numeric-table"
    return svg(drawing.lines, height, title, " ".join(listed), "benches/peers/chart.py from the tables in benches/README.md")


def drawn():
    """Returns the picture of the results in benches/README.md; exits if they are not all there."""
    try:
        return draw(README.read_text(encoding="utf-8")).encode()
    except Unreadable as error:
        sys.exit(f"chart.py: {README}: {error}")


def write():
    """Draws docs/peers.svg."""
    PICTURE.write_bytes(drawn())
    print(f"written to {PICTURE}", file=sys.stderr)


def check():
    """Exits with an error if docs/peers.svg is not the picture of the results in benches/README.md."""
    if not PICTURE.exists() or PICTURE.read_bytes() != drawn():
        sys.exit(f"chart.py: {PICTURE} does not show the results in {README}; draw it again: {sys.argv[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="draw nothing; exit with an error if the picture is old")
    if parser.parse_args().check:
        check()
    else:
        write()


if __name__ == "__main__":
    main()
