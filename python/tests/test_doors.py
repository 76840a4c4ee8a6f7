"""Columns of every kind through all pairs of doors: in by one, out by another and in again.

What comes out is what went in, or an exception of the package that names the column: nothing is changed in silence.
"""

import datetime
import pickle
import re

import numpy as np
import pytest

import numeric_table as nt

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

BIG = 2**53 + 1
DAYS = [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), datetime.date(2100, 1, 1)]
TIMES = [datetime.datetime(2024, 2, 29, 12, 34, 56, 789_000), datetime.datetime(1969, 12, 31, 23, 59, 59, 1000)]
EPOCH = datetime.datetime(1970, 1, 1)
WORDS = ["b", "a", "b"]
ODD = ["", "NA", "NaN", "null", "a,b", 'say "x"', "é", " a", "1", "two\nlines"]

# The values of each column, of which None is missing, and its type of Arrow.
COLUMNS = {
    "floats": ([1.5, -0.25, 1e300], pa.float64()),
    "floats with NaN": ([1.5, float("nan"), -0.25], pa.float64()),
    "floats with nulls": ([1.5, None, -0.25], pa.float64()),
    "whole numbers": ([BIG, -BIG, 0], pa.int64()),
    "large whole numbers": ([BIG, 2**64 - 1, 0], pa.uint64()),
    "whole numbers with nulls": ([1, None, 3], pa.int32()),
    "large whole numbers with nulls": ([BIG, None, 3], pa.int64()),
    "truth values": ([True, False, True], pa.bool_()),
    "truth values with nulls": ([True, None, False], pa.bool_()),
    "words": (WORDS, pa.string()),
    "odd words": (ODD, pa.string()),
    "words with nulls": (["b", None, "a", "NA", ""], pa.string()),
    "days": (DAYS, pa.date32()),
    "days with nulls": ([DAYS[0], None], pa.date32()),
    "times": (TIMES, pa.timestamp("ms")),
    "times with nulls": ([TIMES[0], None], pa.timestamp("ms")),
}
NAME = "the column"


class Unsuited(Exception):
    """The door has no such column to begin with."""


def arrow_of(kind, is_alone):
    values, dtype = COLUMNS[kind]
    columns = {NAME: pa.array(values, dtype, from_pandas=False)}
    return pa.table(columns if is_alone else {"first": pa.array(range(len(values)), pa.int16()), **columns})


def polars_of(kind, is_alone):
    return pl.from_arrow(arrow_of(kind, is_alone))


def pandas_of(kind, is_alone):
    values, dtype = COLUMNS[kind]
    if None in values and kind.startswith(("floats", "whole", "large")):
        column = pd.Series(values, dtype="float64" if kind.startswith("floats") else object)
    elif kind.startswith(("floats", "whole", "large")) or kind == "truth values":
        column = pd.Series(values, dtype=dtype.to_pandas_dtype())
    elif kind.startswith("times"):
        column = pd.Series(values, dtype="datetime64[ms]")
    else:
        column = pd.Series(values, dtype=object)
    columns = {NAME: column}
    return pd.DataFrame(columns if is_alone else {"first": np.arange(len(values), dtype="i2"), **columns})


NULLABLE = {"floats": "Float64", "whole": "Int64", "large": "Int64", "truth": "boolean", "words": "string", "odd": "string"}


def nullable_of(kind, is_alone):
    values, dtype = COLUMNS[kind]
    nullable = "UInt64" if dtype == pa.uint64() else NULLABLE.get(kind.split()[0])
    if nullable is None:
        raise Unsuited
    columns = {NAME: pd.Series(pd.array(values, dtype=nullable))}
    return pd.DataFrame(columns if is_alone else {"first": pd.array(range(len(values)), dtype="Int16"), **columns})


def numpy_of(kind, is_alone):
    values, dtype = COLUMNS[kind]
    if not is_alone or None in values or isinstance(values[0], str):
        raise Unsuited
    unit = {"days": "datetime64[D]", "times": "datetime64[ms]"}.get(kind)
    return np.array(values, dtype=unit or dtype.to_pandas_dtype()).reshape(-1, 1)


def csv_of(kind, is_alone, folder):
    values, _ = COLUMNS[kind]

    def text(value):
        if value is None:
            return "NA"
        if isinstance(value, str):
            return '"' + value.replace('"', '""') + '"'
        if isinstance(value, datetime.datetime):
            return value.isoformat(timespec="milliseconds") + "Z"
        return str(value).lower() if isinstance(value, bool) else str(value)

    path = folder / "native.csv"
    lines = [f"{place},{text(value)}" if not is_alone else text(value) for place, value in enumerate(values)]
    path.write_text("\n".join([NAME if is_alone else f"first,{NAME}", *lines, ""]), newline="")
    return path, True, 0 if is_alone else 1


def npy_of(kind, is_alone, folder):
    path = folder / "native.npy"
    np.save(path, numpy_of(kind, is_alone))
    return path


def table_of(data, kind=None):
    return nt.Table(data)


def from_csv(file, kind):
    path, has_names, last = file  # what no text says
    said = {"na_values": ["", "NA"], "keep_default_na": False}  # NaN is not missing
    return nt.read_csv(path, missing="keep", header=has_names, categorical=last if "words" in kind else None, **said)


def to_csv(table, folder):
    path = folder / "table.csv"
    nt.write_csv(table, path)
    return path, table.names[-1] is not None, len(table.names) - 1


def to_file(save):
    def out(table, folder):
        save(table, folder / "table")
        return folder / "table"

    return out


def to_nullable(table, _):
    frame = table.to_pandas()
    names = {"f": "Float", "i": "Int", "u": "UInt"}

    def nullable(dtype):
        if isinstance(dtype, pd.CategoricalDtype):
            return "string"
        return names[dtype.kind] + str(8 * dtype.itemsize) if dtype.kind in "iuf" else dtype

    return frame.astype({label: nullable(dtype) for label, dtype in frame.dtypes.items()})


def column_of(make):
    """A column by itself, not in a frame."""

    def column(kind, is_alone, _):
        if not is_alone:
            raise Unsuited
        return make(kind)

    return column


def native(make):
    return lambda kind, is_alone, folder: make(kind, is_alone)


# How a door makes a column that never was in a table, if it can; how a table goes out, and how it comes in.
DOORS = {
    "Arrow": (native(arrow_of), lambda table, _: pa.table(table), table_of),
    "Arrow, batch": (
        lambda kind, is_alone, _: arrow_of(kind, is_alone).to_batches()[0],
        lambda table, _: pa.record_batch(table),
        table_of,
    ),
    "polars": (native(polars_of), lambda table, _: pl.DataFrame(table), table_of),
    "pandas": (native(pandas_of), lambda table, _: table.to_pandas(), table_of),
    "pandas, nullable": (native(nullable_of), to_nullable, table_of),
    "Arrow, column": (column_of(lambda kind: arrow_of(kind, True)[NAME].combine_chunks()), None, table_of),
    "polars, column": (column_of(lambda kind: polars_of(kind, True)[NAME]), None, table_of),
    "pandas, column": (column_of(lambda kind: pandas_of(kind, True)[NAME]), None, table_of),
    "NumPy": (native(numpy_of), lambda table, _: np.asarray(table), table_of),
    "CSV": (csv_of, to_csv, from_csv),
    ".npy": (npy_of, to_file(nt.save_npy), lambda path, _: nt.load_npy(path)),
    ".ntb": (None, to_file(lambda table, path: nt.save(table, path, durable=False)), lambda path, _: nt.load(path)),
    "pickle": (None, lambda table, _: pickle.dumps(table), lambda data, _: pickle.loads(data)),
}
NAMELESS = {"NumPy", ".npy", "Arrow, column"}

# What becomes of a column that comes in. "kept": it has its values, words and name. "numbers": its values are numbers that stand
# for them. "words": what the file has, as words. "refused": by an exception that names it. Doors without names have none.
FRAMES = ["Arrow", "Arrow, batch", "polars", "pandas", "pandas, nullable", "Arrow, column", "polars, column", "pandas, column"]
ARRAYS = ["NumPy", ".npy"]
COMES_IN = {
    # kind: (frames, arrays, CSV)
    "floats": ("kept", "kept", "kept"),
    "floats with NaN": ("kept", "kept", "kept"),
    "floats with nulls": ("kept", None, "kept"),
    "whole numbers": ("kept", "kept", "kept"),
    "large whole numbers": ("kept", "kept", "kept"),
    "whole numbers with nulls": ("kept", None, "kept"),
    "large whole numbers with nulls": ("kept", None, "kept"),
    "truth values": ("kept", "kept", "words"),
    "truth values with nulls": ("kept", None, "words"),
    "words": ("kept", None, "kept"),
    "odd words": ("kept", None, "kept"),
    "words with nulls": ("kept", None, "kept"),
    "days": ("numbers", "numbers", "words"),
    "days with nulls": ("numbers", None, "words"),
    "times": ("numbers", "numbers", "words"),
    "times with nulls": ("numbers", None, "words"),
}

# What becomes of a table that goes out and comes in again, where it is not kept: of what is true of it.
GOES_OUT = {
    ("NumPy", "has words"): "numbers",
    (".npy", "has words"): "numbers",
    (".npy", "has several types"): "refused",
    ("NumPy", "has no common type"): "refused",
    ("NumPy", "misses whole numbers"): "refused",
    (".npy", "misses values"): "refused",
    ("CSV", "has times"): "words",
}

REFUSALS = (nt.TableError, nt.TableTypeError, nt.TableIndexError, nt.TableFileError)


def is_missing(value):
    return value is None or (isinstance(value, float) and value != value)


def content(table):
    """The names and values of the columns of a table: numbers or words, None where one is missing."""
    words, found = table.categories, []
    for place, name in enumerate(table.names):
        values = [None if is_missing(value) else value for value in table.to_masked(place).tolist()]
        if (labels := words.get(name, words.get(place))) is not None:
            values = [None if value is None else labels[int(value)] for value in values]
        found.append((name, values))
    return found


def numbers(values):
    """What stands for values in a table that has numbers only."""

    def number(value):
        if isinstance(value, datetime.datetime):
            return (value - EPOCH) // datetime.timedelta(milliseconds=1)
        return (value - EPOCH.date()).days if isinstance(value, datetime.date) else value

    return [None if is_missing(value) else number(value) for value in values]


def in_words(values):
    """What stands for values in a file of text."""

    def word(value):
        if isinstance(value, datetime.datetime):
            return value.isoformat(timespec="milliseconds") + "Z"
        return value.isoformat() if isinstance(value, datetime.date) else str(value).lower()

    return [None if value is None else word(value) for value in values]


def refusal(error, is_named=True):
    assert isinstance(error, REFUSALS), f"{type(error)} is not of the package: {error}"
    assert not is_named or NAME in str(error) or re.search("column [01]", str(error)), error
    return "refused"


def entered(door, kind, is_alone, folder):
    """A table that has come in by a door, or 'refused'."""
    make, _, come = DOORS[door]
    if make is None:
        return None
    try:
        data = make(kind, is_alone, folder)
    except Unsuited:
        return None
    try:
        return come(data, kind)
    except Exception as error:
        return refusal(error, door not in NAMELESS)


def outcome_in(door, kind, table):
    """What has become of a column that has come in by a door."""
    values = COLUMNS[kind][0]
    *_, (name, found) = content(table)
    if name != (None if door in NAMELESS else NAME):
        return f"renamed to {name!r}"
    if found == numbers(values):
        return "numbers" if kind.startswith(("days", "times")) else "kept"
    return "words" if found == in_words(values) else f"changed to {found}"


def outcome_out(door, kind, table, folder):
    """What becomes of a table that goes out by a door and comes in again."""
    _, leave, come = DOORS[door]
    try:
        again = come(leave(table, folder), kind)
    except Exception as error:
        return refusal(error)
    before, after = content(table), content(again)
    values, found = ([column for _, column in side] for side in (before, after))
    if kind.startswith("days") and door.startswith("pandas") and not table.categories:  # which has no unit of days
        found[-1] = [None if value is None else value // 86_400 for value in found[-1]]
    if kind.startswith(("days", "times")) and door == "CSV" and found[-1] == in_words(COLUMNS[kind][0]) != values[-1]:
        return "words"
    if values != found:
        indices = [None if is_missing(value) else value for value in table.to_masked(len(before) - 1).tolist()]
        return "numbers" if table.categories and [*values[:-1], indices] == found else f"changed to {after}"
    names = zip(*([name for name, _ in side] for side in (before, after)))
    is_named = door in NAMELESS or all(name in (None, again) for name, again in names)  # one without a name may get one
    return "kept" if is_named else f"renamed to {after}"


def expected_out(door, kind, table):
    types = {str(dtype) for dtype in table.dtypes}
    is_true = {
        "misses whole numbers": table.has_missing and types.isdisjoint({"float32", "float64"}),
        "misses values": table.has_missing,
        "has several types": len(types) > 1,
        "has no common type": "uint64" in types and len(types) > 1,
        "has words": bool(table.categories),
        "has times": kind.startswith(("days", "times")) and not table.categories,
    }
    found = [GOES_OUT[door, what] for what in is_true if is_true[what] and (door, what) in GOES_OUT]
    return found[0] if found else "kept"


@pytest.mark.parametrize("is_alone", [True, False], ids=["alone", "beside"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_kept_or_refused_at_every_pair_of_doors(kind, is_alone, tmp_path):
    frames, arrays, text = COMES_IN[kind]
    expected = {**dict.fromkeys(FRAMES, frames), **dict.fromkeys(ARRAYS, arrays), "CSV": text}
    if kind.startswith(("days", "times", "truth")):
        expected[".npy"] = "refused"  # its dates and truth values are not numbers
    found, cells = {}, 0
    for door in DOORS:
        table = entered(door, kind, is_alone, tmp_path)
        if table is None:
            continue
        outcome = table if table == "refused" else outcome_in(door, kind, table)
        if outcome != expected[door]:
            found[door] = outcome
        if table == "refused":
            continue
        for out, (_, leave, _) in DOORS.items():
            if leave is None:
                continue
            folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
            folder.mkdir()
            again, cells = outcome_out(out, kind, table, folder), cells + 1
            if again != expected_out(out, kind, table):
                found[door, out] = again
    assert not found
    assert cells >= 10 or "kept" not in expected.values()
