"""``read_csv`` beside that of pandas, on the CSV texts in pandas' own tests.

The texts are read from the tests of the installed pandas; none is copied here. Each is read with several options. The
two tables must be equal, or differ as ``python/CSV.md`` says, or ``nt.read_csv`` must refuse the text with an error that
names a line. ``python test_pandas_csv.py`` prints the counts, and each difference that has no reason.
"""

import ast
import collections
import io
import pathlib
import sys
import warnings

import numpy as np
import pytest

import numeric_table as nt

pd = pytest.importorskip("pandas")

MARKERS = {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"}
MARKERS |= {"NA", "NULL", "NaN", "None", "n/a", "nan", "null"}

NA_VALUES = [-999, "?", "b", 5, "2.5"]

# The options of pandas, and the same ones here. Here, the first line is a header only if it looks like one.
OPTIONS = {
    "none": ({}, {"header": True}),
    "header=None": ({"header": None}, {"header": False}),
    "sep=';'": ({"sep": ";"}, {"header": True, "delimiter": ";"}),
    "sep='|'": ({"sep": "|"}, {"header": True, "delimiter": "|"}),
    "sep='\\t'": ({"sep": "\t"}, {"header": True, "delimiter": "\t"}),
    "sep=' '": ({"sep": " "}, {"header": True, "delimiter": " "}),
    "comment='#'": ({"comment": "#"}, {"header": True, "comment": "#"}),
    "thousands=','": ({"sep": "|", "thousands": ","}, {"header": True, "delimiter": "|", "thousands": ","}),
    "decimal=','": ({"sep": ";", "decimal": ","}, {"header": True, "delimiter": ";", "decimal": ","}),
    "na_values=": ({"na_values": NA_VALUES}, {"header": True, "na_values": NA_VALUES}),
    "keep_default_na=False": ({"keep_default_na": False}, {"header": True, "keep_default_na": False}),
}


def snippets():
    """Returns the CSV texts in the tests of the installed pandas, each once, with the place of its first use."""
    folder = pathlib.Path(pd.__file__).parent / "tests/io/parser"
    found = {}
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                lines = node.value.splitlines()
                if len(lines) >= 2 and any(len(line) > 1 for line in lines):
                    found.setdefault(node.value, f"{path.name}:{node.lineno}")
    return found


def of_pandas(text, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.read_csv(io.StringIO(text, newline=""), **options)


def plain(array):
    """Returns a list in which a missing value, and NaN, is None, and numbers are those of Python."""
    series = pd.Series(array)
    values = [None if is_na else value for value, is_na in zip(series.astype(object), series.isna())]
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def reason(text, expected, found):
    """Returns the reason why two values differ, which is on the page, or None."""
    if isinstance(expected, bool) and found == str(expected):
        return "booleans are words"
    if isinstance(expected, str) and isinstance(found, str):
        if expected.strip() == found.strip():
            return "spaces"
        if expected in ("True", "False") and found.strip().lower() == expected.lower():
            return "booleans are words"
    if isinstance(expected, bool) and isinstance(found, str) and found.lower() == str(expected).lower():
        return "booleans are words"
    if isinstance(expected, float) and isinstance(found, int) and float(found) == expected:
        return "rounded by pandas"
    if isinstance(expected, str) and (found is None and is_nan(expected) or is_number(expected, found)):
        return "NaN is a number"  # and pandas makes texts of the whole column
    if expected is None and found in MARKERS and f'"{found}"' in text:
        return "quotes"
    if found is None and isinstance(expected, str) and (not expected.strip() or expected.strip() in NA_VALUES):
        return "spaces"
    return None


def is_nan(text):
    return text.strip().lstrip("+-").lower() == "nan"


def is_number(text, number):
    try:
        return isinstance(number, (int, float)) and float(text) == number
    except ValueError:
        return False


def compare(text, frame, table):
    """Returns the reasons for the differences of a table from a frame; None among them has no reason. Returns what
    differs, too."""
    ours = table.to_pandas()
    reasons, said = set(), []
    if not isinstance(frame.index, pd.RangeIndex):
        return {None}, ["pandas has made an index of the first columns"]
    if ours.shape[1] == 1 == frame.shape[1] and len(ours) != len(frame):
        blank = [not line.strip() for line in text.splitlines() if line]
        if sum(blank) == len(ours) - len(frame):
            ours = ours[ours.iloc[:, 0].notna()]
            frame = frame[frame.iloc[:, 0].notna()]
            reasons.add("lines of spaces")
    last = frame.columns[-1] if frame.shape[1] == ours.shape[1] + 1 else ""
    if str(last).startswith("Unnamed: ") and frame[last].isna().all():
        reasons.add("a delimiter at the end")
        frame = frame.iloc[:, :-1]
    if len(frame) + 1 == len(ours) and frame.shape[1] == 1 and not text.splitlines()[-1].strip():
        reasons.add("lines of spaces")
        ours = ours[:-1]
    if ours.shape != frame.shape:
        return {None}, [f"shape {ours.shape} instead of {frame.shape}"]
    for place, (one, two) in enumerate(zip(frame.columns, table.names)):
        if two is None and str(one).startswith("Unnamed: ") or two is None and one == place:
            reasons.add("no name")
        elif table.names.count(two) > 1 and str(one).strip().startswith(two):
            reasons.add("equal names")
        elif str(one) != two:
            reasons.add("spaces" if str(one).strip() == two else None)
            said.append(f"name {two!r} instead of {one!r}")
    for place in range(frame.shape[1]):
        expected, found = plain(frame.iloc[:, place].array), plain(ours.iloc[:, place].array)
        for row, (one, two) in enumerate(zip(expected, found)):
            if one != two or isinstance(one, bool):
                why = reason(text, one, two)
                reasons.add(why)
                if why is None:
                    said.append(f"column {place}, row {row}: {two!r} instead of {one!r}")
    return reasons, said


def outcome(text, options, path):
    """Returns a word for the outcome, the reasons for differences, and what differs."""
    theirs, mine = options
    try:
        frame = of_pandas(text, theirs)
    except Exception as error:  # of many kinds
        frame = error
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        table = nt.read_csv(path, **mine)
    except nt.TableError as error:
        if isinstance(frame, Exception):
            return "both refuse", set(), [str(error)]
        return "refused", set(), [str(error)]
    if isinstance(frame, Exception):
        return "only pandas refuses", {None}, [str(frame), repr(table)]
    reasons, said = compare(text, frame, table)
    return ("different" if reasons else "equal"), reasons, said


@pytest.mark.parametrize("name", OPTIONS)
def test_texts_of_pandas_are_read_as_pandas_does_or_refused(name, tmp_path):
    texts = snippets()
    if len(texts) < 300:
        pytest.skip("this pandas has no tests of its own")
    counts = collections.Counter()
    for text, place in texts.items():
        what, reasons, said = outcome(text, OPTIONS[name], tmp_path / "text.csv")
        counts[what] += 1
        assert None not in reasons, f"{place}: {text!r}: {said}"
        if what == "refused":
            assert "line " in said[0] or "is empty" in said[0], said
    assert counts["equal"] + counts["different"] > 100  # without a header, the names differ everywhere
    assert counts["equal"] + counts["different"] + counts["refused"] > 300


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "text.csv")
    for name, options in OPTIONS.items():
        counts, why = collections.Counter(), collections.Counter()
        for text, place in snippets().items():
            what, reasons, said = outcome(text, options, path)
            counts[what] += 1
            why.update(reasons)
            if None in reasons:
                print(f"--- {name}: {what}: {place}\n{text[:400]!r}\n{said[:3]}")
        print(name, dict(counts), dict(why))


if __name__ == "__main__":
    main()
