"""Columns of dictionaries, records, masked and structured arrays, strings, dates, and objects with None among them.
Imported only where needed."""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ._native import CopyRequiredError, NotRepresentableError, Table, TableError, TableTypeError
from ._shown import Shown

# The label, the values or a table of one column, the mask of missing values, category labels, whether they are ordered,
# and the unit of dates.
Column = tuple[str | None, Any, Any, list[str] | None, bool, str | None]

UNITS = ("D", "s", "ms", "us", "ns")


def columns_of(data: Any, copy: bool | None) -> tuple[list[Column], int] | None:
    """Returns the columns, and the number of rows, or None if an array has numbers only."""
    if isinstance(data, Mapping):
        return _of_dict(data, copy)
    mask = None
    if isinstance(data, np.ma.MaskedArray):
        values, mask = np.asarray(data), np.ma.getmaskarray(data)
        if type(values) is not np.ndarray or type(mask) is not np.ndarray:
            raise TableTypeError("NumPy cannot convert this object to an array")
        if values.dtype.names is None and (mask.dtype != bool or mask.shape != values.shape):
            text = f"a mask of {mask.dtype} in the shape {mask.shape} does not match values in {values.shape}"
            raise TableError(text)
        if values.dtype.names is None and not mask.any():
            return None
    else:
        values = data
    if values.dtype.names is not None:
        return _of_fields(values, mask, copy)
    if values.ndim not in (1, 2):
        return None if mask is None else _refuse_dimensions(values)
    rows = len(values)
    if values.ndim == 1:
        values, mask = values.reshape(-1, 1), None if mask is None else mask.reshape(-1, 1)
    columns = []
    for place in range(values.shape[1]):
        hidden = None if mask is None else mask[:, place]
        columns.append(_column(None, place, values[:, place], hidden, copy))
    return columns, rows


def _refuse_dimensions(values: Any) -> NoReturn:
    raise TableError(f"a table has two dimensions, but this has {values.ndim}")


def _of_dict(data: Mapping[Any, Any], copy: bool | None) -> tuple[list[Column], int]:
    columns: list[Column] = []
    single: list[int] = []
    first = None
    for key, values in data.items():
        if not isinstance(key, str):
            raise TableTypeError(f"the name of a column is a string, not {key!r}")
        name = _unicode(str(key))
        if _is_single(values):
            single.append(len(columns))
            columns.append((name, values, None, None, False, None))
            continue
        table = _of_one(f"column {key!r}", values, copy)
        if first is None:
            first = (key, len(table))
        elif len(table) != first[1]:
            text = f"column {key!r} has {len(table)} values, but column {first[0]!r} has {first[1]}"
            raise TableError(f"columns have one length: {text}")
        columns.append((name, table, None, None, False, None))
    for place in single:
        label, value, *_ = columns[place]
        if first is None:
            raise TableError(f"the values of a column are a list or an array, but those of {label!r} are {value!r}")
        table = _of_one(f"column {label!r}", [value], copy)
        rows = np.zeros(first[1], dtype="intp")  # one value for all rows
        columns[place] = (label, table[rows], None, None, False, None)
    return columns, first[1] if first else 0


def _of_one(where: str, values: Any, copy: bool | None) -> Any:
    """Returns a table of one column. Its errors say where it is."""
    try:
        table = Table(values, copy=copy)
    except (TableError, TableTypeError, TypeError, ValueError) as error:
        error.args = (f"{where}: {error}",)
        raise
    if table.shape[1] != 1:
        raise TableError(f"{where} has {table.shape[1]} columns")
    return table


def _is_single(value: Any) -> bool:
    """Returns whether a value of a dictionary is one for all rows."""
    return isinstance(value, (str, int, float, np.generic, datetime.date)) and not isinstance(value, np.void)


def one_for_all(value: Any, rows: int) -> Any:
    """Returns a table of one column with a value in all rows, or None if this is not one value."""
    if value is None:
        text = "[None] * len(table) is a column of missing values, and float(\"nan\") one of NaN"
        raise TableTypeError(f"None is not the value of a column: {text}")
    if isinstance(value, bytes):
        text = 'value.decode() is a text, and np.frombuffer(value, "u1") has its numbers'
        raise TableTypeError(f"{value[:20]!r} is not the value of a column: {text}")
    if isinstance(value, (complex, np.complexfloating)):
        raise TableTypeError(f"{value!r} is not the value of a column: {_advice('c')}")
    if not _is_single(value):
        return None
    return _of_one("the column", [value], None)[np.zeros(rows, dtype="intp")]


def parsed(table: Any) -> list[Column]:
    """Returns the columns of a table, and those of words as the numbers that these spell."""
    columns: list[Column] = []
    for place, name in enumerate(table.names):
        one = table.select_columns([place])
        words = next(iter(one.categories.values()), None)
        if words is None:
            columns.append((name, one, None, None, False, None))
            continue
        stored, mask = one._values_and_mask(0)
        codes, is_word = codes_of(stored, mask, len(words))
        numbers: list[int | float] = [0] * (len(words) + 1)  # the last one is hidden, which -1 finds
        for code in np.unique(codes[is_word]).tolist():
            number = _number(words[code])
            if number is None:
                row = int(np.flatnonzero(codes == code)[0])
                text = "is not a number, which dtype= asks for; without it, the column has words"
                raise TableError(f"column {name or place!r}, row {row}: {words[code]!r} {text}")
            numbers[code] = number
        has_decimals = any(isinstance(number, float) for number in numbers)
        for code, number in enumerate(numbers):
            if has_decimals and isinstance(number, int) and _float(number) != number:
                row = int(np.flatnonzero(codes == code)[0])
                text = f"has more digits than float64, which other rows need; write {number}.0 to round it"
                raise TableError(f"column {name or place!r}, row {row}: {words[code]!r} {text}")
        mask = None if is_word.all() else ~is_word
        columns.append((name, _array_of_numbers(numbers)[codes], mask, None, False, None))
    return columns


def _number(text: str) -> int | float | None:
    """Returns the number that a text spells, an integer if it has no point and no exponent."""
    if "_" in text or not text.isascii():  # only Python has numbers with these, and with digits of other scripts
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None


def _array_of_numbers(numbers: list[int | float]) -> Any:
    if all(isinstance(number, int) for number in numbers):
        for dtype, least, most in (("i8", -(2**63), 2**63), ("u8", 0, 2**64)):
            if least <= min(numbers) and max(numbers) < most:
                return np.array(numbers, dtype=dtype)
    return np.array([_float(number) for number in numbers], dtype="f8")


def _float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def name_of(label: Any, place: int) -> str | None:
    """Returns the name of a column for its label: None for its own index."""
    is_number = isinstance(label, (int, np.integer)) and not isinstance(label, (bool, np.bool_))
    if label is None or (is_number and label == place):
        return None
    return _unicode(str(label))


def rows_of(rows: Any) -> Any:
    """Returns what a table is made of instead of a list of dictionaries, or of an iterator: a dictionary of columns, or
    a list; None for anything else."""
    if hasattr(rows, "__next__"):
        rows = list(rows)
        return _of_records(rows) or rows
    return _of_records(rows)


def _of_records(rows: Any) -> dict[Any, list[Any]] | None:
    is_list = isinstance(rows, (list, tuple)) and len(rows) > 0 and all(isinstance(row, Mapping) for row in rows)
    if not is_list:
        return None
    columns: dict[Any, list[Any]] = {}
    for place, row in enumerate(rows):
        for key, value in row.items():
            columns.setdefault(key, [None] * len(rows))[place] = value
    return columns


def _of_fields(values: Any, mask: Any, copy: bool | None) -> tuple[list[Column], int]:
    """Returns the columns of a structured array: one for each field."""
    if values.ndim != 1:
        raise TableError(f"a structured array has one dimension, but this has {values.ndim}")
    columns: list[Column] = []
    for place, name in enumerate(values.dtype.names):
        of = values.dtype[name]
        if of.names is not None or of.subdtype is not None:
            kind = "fields of its own" if of.names is not None else f"values of the shape {of.shape}"
            raise TableTypeError(f"field {name!r} has {kind}: a table holds one value for each row of a column")
        found = values[name]
        if copy is False and not (found.flags.c_contiguous and found.flags.aligned):
            raise CopyRequiredError(f"a copy is required: the values of field {name!r} have others between them")
        columns.append(_column(name, name, found, None if mask is None else mask[name], copy))
    return columns, len(values)


def _column(name: str | None, label: Any, values: Any, mask: Any, copy: bool | None) -> Column:
    """Returns a column of an array. ``label`` is for errors."""
    unit, words = None, None
    kind = values.dtype.kind
    if kind == "O":
        if copy is False:
            raise CopyRequiredError(f"a copy is required: column {label!r} has objects")
        values, mask, words, unit = _of_mixed(label, values, mask)
    elif kind in "UT":
        values, mask, words = of_strings(label, values, mask, copy)
    elif kind == "M":
        values, mask, unit = of_dates(label, values, mask, copy)
    elif kind == "b":
        values = values.view("u1")
    elif kind not in "iuf" and values.dtype.name != "bfloat16":
        raise TableTypeError(f"column {label!r} is of {values.dtype}: {_advice(kind)}")
    elif not values.dtype.isnative:
        values = native(values, f"column {label!r} has", copy)
    return name, values, mask if mask is not None and mask.any() else None, words, False, unit


def _advice(kind: str) -> str:
    if kind == "S":
        return "tables hold text as categories of str: np.char.decode(values) first"
    if kind == "m":
        return 'tables hold points in time, and durations as numbers: astype("i8") first'
    if kind == "c":
        return "tables hold real numbers: a column for .real and another one for .imag"
    return "tables hold numbers, booleans, strings, dates and times; astype to one of these first"


def native(values: Any, whose: str, copy: bool | None) -> Any:
    """Returns an array in the byte order of this machine."""
    if copy is False:
        raise CopyRequiredError(f"a copy is required: {whose} values of {values.dtype.str}, in another byte order")
    return values.astype(values.dtype.newbyteorder("="))


def array_of(values: Any, copy: bool | None) -> Any:
    """Returns an array of numbers for one of booleans, or of numbers in another byte order; refuses other types."""
    kind = values.dtype.kind
    if kind == "b":
        return values.view("u1")
    if kind in "iuf" and not values.dtype.isnative:
        return native(values, "the array has", copy)
    raise TableTypeError(f"tables do not support the type {values.dtype}: {_advice(kind)}")


def of_dates(name: Any, values: Any, mask: Any, copy: bool | None) -> tuple[Any, Any, str]:
    """Returns the numbers of dates since 1970, the mask of missing ones, and their unit."""
    unit, step = np.datetime_data(values.dtype)
    if unit not in UNITS or step != 1:
        text = f'tables hold times in days, seconds, "ms", "us" and "ns": astype("datetime64[s]") first'
        raise TableTypeError(f"column {name!r} is of {values.dtype}: {text}")
    if not values.dtype.isnative:
        values = native(values, f"column {name!r} has", copy)
    missing = np.isnat(values)
    if mask is not None:
        missing |= mask
    numbers = values.view("i8")
    if unit == "D":  # Arrow's dates are of 32 bits
        present = numbers[~missing]
        wrong = (present < -(2**31)) | (present >= 2**31)
        if wrong.any():
            raise TableError(f"column {name!r} has a date {int(present[wrong][0])} days from 1970: days have 32 bits")
        if copy is False:
            raise CopyRequiredError(f"a copy is required: column {name!r} has days of 64 bits")
        numbers = np.where(missing, 0, numbers).astype("i4")
    return numbers, missing, unit


def of_strings(name: Any, values: Any, mask: Any, copy: bool | None) -> tuple[Any, Any, list[str]]:
    """Returns the codes of an array of strings, the mask of the missing ones, and the labels in the order in which they
    first appear."""
    if copy is False:
        raise CopyRequiredError(f"a copy is required: column {name!r} has strings: a table stores codes of them")
    objects = values.astype(object)
    missing = _gaps(objects, mask)
    if values.dtype.kind == "T":  # with an object for missing ones that may be NaN
        missing |= np.fromiter((value != value for value in objects), dtype=bool, count=len(objects))
    codes, words = _codes(objects, missing)
    return codes, missing, words


def _codes(values: Any, missing: Any) -> tuple[Any, list[str]]:
    """Returns the code of each string, 0 where it is missing, and the strings."""
    found: dict[str, int] = {}
    codes = np.fromiter(
        (0 if is_gap else found.setdefault(str(value), len(found)) for value, is_gap in zip(values, missing)),
        dtype="u4",
        count=len(values),
    )
    return codes, [_unicode(word) for word in found]


def _unicode(text: str) -> str:
    """Returns a string. NumPy makes a ``str`` of any 32 bits, and what is not Unicode has no UTF-8."""
    if not text.isascii():
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        if codes.max() > 0x10FFFF:
            raise TableError("a string of the array has a character beyond U+10FFFF, which is not Unicode")
    return text


def of_objects(name: Any, values: Any, mask: Any, is_missing: Any = None) -> tuple[Any, Any]:
    """Returns numbers of objects, and a mask of the missing ones: None, those that are masked, and those that
    ``is_missing`` marks, unless they are NaN beside other floats."""
    missing = _gaps(values, mask)
    if is_missing is not None:
        missing |= is_missing
    present = [value for value, is_gap in zip(values, missing) if not is_gap]
    is_bool = [isinstance(value, (bool, np.bool_)) for value in present]
    is_whole = [isinstance(value, (int, np.integer)) for value in present]
    is_float = [isinstance(value, (float, np.floating)) for value in present]
    if present and all(is_bool):
        found = np.zeros(len(values), dtype="u1")
        found[~missing] = np.array(present, dtype="u1")
        return found, missing
    if any(is_bool):
        raise TableTypeError(f'column {name!r} has booleans among other values: astype("u1") first')
    for value, *is_number in zip(present, is_whole, is_float):
        if not any(is_number):
            raise TableTypeError(f"column {name!r} has {value!r}: {_advice('O')}")
    if present and all(is_whole):
        integers = [int(value) for value in present]
        dtype = "i8" if max(integers) < 2**63 else "u8"
        if min(integers) < (-(2**63) if dtype == "i8" else 0) or max(integers) >= 2**64:
            raise NotRepresentableError(f"column {name!r} has integers that 64 bits do not hold")
        found = np.zeros(len(values), dtype=dtype)
        found[~missing] = np.array(integers, dtype=dtype)
        return found, missing
    for place, value in zip(np.flatnonzero(~missing), present):
        if isinstance(value, (int, np.integer)) and not _is_exact(int(value)):
            text = 'astype("float64") rounds it; a separate column of integers keeps it'
            raise NotRepresentableError(f"column {name!r} has {value} among floats, in row {place}: {text}")
    found = np.zeros(len(values))
    found[~missing] = np.array([float(value) for value in present])
    return found, missing


def _gaps(values: Any, mask: Any) -> Any:
    """Returns where objects are None or NA of pandas, or masked."""
    pandas = sys.modules.get("pandas")
    others = [gap for gap in (getattr(pandas, "NA", None), getattr(pandas, "NaT", None)) if gap is not None]
    is_gap = (value is None or any(value is gap for gap in others) for value in values)
    missing = np.fromiter(is_gap, dtype=bool, count=len(values))
    return missing if mask is None else missing | mask


def _of_mixed(name: Any, values: Any, mask: Any) -> tuple[Any, Any, list[str] | None, str | None]:
    """Returns the numbers or codes of objects, a mask of the missing ones, category labels, and the unit of dates."""
    missing = _gaps(values, mask)
    present = [value for value, is_gap in zip(values, missing) if not is_gap]
    if any(isinstance(value, str) for value in present):
        for place, (value, is_gap) in enumerate(zip(values, missing)):
            if isinstance(value, (float, np.floating)) and value != value:
                missing[place] = True  # as in pandas
            elif not is_gap and not isinstance(value, str):
                text = "a column of strings takes strings and None: str(value) first"
                raise TableTypeError(f"column {name!r} has {value!r} among strings, in row {place}: {text}")
        codes, words = _codes(values, missing)
        return codes, missing, words, None
    if any(isinstance(value, (datetime.date, np.datetime64)) for value in present):
        times, missing, unit = of_dates(name, _times(name, values, missing), None, None)
        return times, missing, None, unit
    return *of_objects(name, values, mask), None, None


def _times(name: Any, values: Any, missing: Any) -> Any:
    """Returns an array of dates for objects."""
    found: list[Any] = []
    for place, (value, is_gap) in enumerate(zip(values, missing)):
        if is_gap:
            found.append(np.datetime64("NaT"))
        elif isinstance(value, np.datetime64):
            found.append(value)
        elif isinstance(value, datetime.datetime) and value.tzinfo is not None:
            text = "tables hold times without a time zone: convert it first"
            raise TableTypeError(f"column {name!r} has {value!r}, in row {place}: {text}")
        elif hasattr(value, "to_datetime64"):  # of pandas, with nanoseconds
            found.append(value.to_datetime64())
        elif isinstance(value, datetime.datetime):
            found.append(np.datetime64(value, "us"))
        elif isinstance(value, datetime.date):
            found.append(np.datetime64(value, "D"))
        else:
            raise TableTypeError(f"column {name!r} has {value!r} among dates, in row {place}: a column has one type")
    return np.array(found)


def values_of(name: Any, values: Any, mask: Any, words: list[str] | None, unit: str | None) -> Any:
    """Returns what a column of codes or of counts of time shows: an array of strings, in which a missing one is None,
    or of ``datetime64``. Nothing can write to it."""
    found = strings_of(values, mask, words) if words is not None else times_of(name, values, mask, unit or "s")
    found.flags.writeable = False
    return found.view(Shown)


def codes_of(values: Any, mask: Any, count: int) -> tuple[Any, Any]:
    """Returns the codes of a column as integers, and where they have a label: they are not missing, and in range."""
    is_word = (values >= 0) & (values < count)
    if mask is not None:
        is_word &= ~mask
    if values.dtype.kind == "f":
        is_word &= values == np.floor(values)
    codes = np.full(len(values), -1, dtype="int64")
    codes[is_word] = values[is_word].astype("int64")
    return codes, is_word


def strings_of(values: Any, mask: Any, words: list[str]) -> Any:
    """Returns the labels of codes. A code without a label is missing."""
    labels = np.empty(len(words) + 1, dtype=object)
    labels[:-1] = words  # the last one is None, which -1 finds
    if values.dtype.kind == "u" and mask is None and (len(values) == 0 or values.max() < len(words)):
        return labels[values]
    return labels[codes_of(values, mask, len(words))[0]]


def times_of(name: Any, values: Any, mask: Any, unit: str, *, to: str | None = None, whose: str = "NumPy") -> Any:
    """Converts counts since 1970 to points in time, in which a missing one and NaN are NaT. ``to="s"`` converts days to
    seconds."""
    factor = 86400 if unit == "D" and to == "s" else 1
    largest = (2**63 - 1) // factor  # not -2**63, which means missing
    missing, is_whole = np.zeros(len(values), dtype=bool), True
    if values.dtype.kind == "f":
        values = values.astype("float64")  # narrower floats cannot represent the limits
        missing, is_whole = np.isnan(values), (values == np.floor(values)) & (np.abs(values) != 2.0**63)
    if mask is not None:
        missing = missing | mask
    is_count = is_whole & (values >= -largest) & (values <= largest)
    wrong = ~(is_count | missing)
    if wrong.any():
        row = int(wrong.argmax())
        text = f"{whose} has no point in time {values[row]} {unit} from 1970"
        raise TableError(f"column {name!r}, row {row}: {text}; table.column({name!r}) has the numbers")
    counts = np.where(missing, 0, values) if missing.any() else values
    counts = counts.astype("int64", copy=False)
    if factor != 1:
        counts = counts * factor
    if missing.any():
        counts[missing] = np.iinfo("int64").min
    return counts.view(f"datetime64[{to or unit}]" if unit == "D" else f"datetime64[{unit}]")


def _is_exact(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def signed_codes(values: Any, mask: Any, count: int) -> Any:
    """Returns codes as signed integers of few bytes, -1 where one is missing."""
    codes = np.full(len(values), -1, dtype="int64")
    is_code = np.ones(len(values), dtype=bool) if mask is None else ~mask
    if values.dtype.kind == "f":
        is_code &= np.isfinite(values)
    codes[is_code] = values[is_code].astype("int64")
    largest = max(count - 1, int(codes.max(initial=0)))
    found = codes.astype(np.min_scalar_type(-largest - 1))
    found.flags.writeable = False
    return found
