"""Arrays that tables show: words with None and points in time, which compare with texts and dates. And such values as
counts since 1970. Imported only where needed."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from ._native import TableError, TableTypeError

_ORDERS = (np.less, np.less_equal, np.greater, np.greater_equal)
_COMPARISONS = (np.equal, np.not_equal, *_ORDERS)
# Of units of time, in attoseconds.
_LENGTHS = {"as": 1, "fs": 10**3, "ps": 10**6, "ns": 10**9, "us": 10**12, "ms": 10**15, "s": 10**18}
_LENGTHS |= {"m": 60 * 10**18, "h": 3600 * 10**18, "D": 86400 * 10**18}
_ZONE = re.compile(r"[T ].*([Zz]|[+-]\d\d(:?\d\d)?)$")


class Shown(np.ndarray[Any, Any]):
    """An array of words or of points in time. Comparisons with a missing one are false, except for ``!=``. Points in
    time compare with texts in ISO 8601, dates and times. Results are plain arrays."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, **options: Any) -> Any:
        if any(_is_guest(value) for value in inputs):
            return NotImplemented  # a series of pandas knows what to do
        values = [_plain(value) for value in inputs]
        if "out" in options:
            options["out"] = tuple(_plain(value) for value in options["out"])
        if method == "__call__" and ufunc in _COMPARISONS:
            return _compared(ufunc, values[0], values[1], options)
        return getattr(ufunc, method)(*values, **options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        # Some functions of NumPy, such as nanmax, take other ways for arrays of another type.
        return function(*_all_plain(inputs), **_all_plain(options))

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.asarray(self).__reduce_ex__(protocol)


def _is_guest(value: Any) -> bool:
    return hasattr(type(value), "__array_ufunc__") and not isinstance(value, (np.ndarray, np.generic))


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, Shown) else value


def _all_plain(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return type(values)(_all_plain(value) for value in values)
    if isinstance(values, dict):
        return {key: _all_plain(value) for key, value in values.items()}
    return _plain(values)


def _compared(ufunc: Any, one: Any, other: Any, options: Any) -> Any:
    kinds = [value.dtype.kind if isinstance(value, (np.ndarray, np.generic)) else None for value in (one, other)]
    if "M" in kinds:
        return _compared_times(ufunc, points(one), points(other), options)
    if "O" in kinds and not options:
        one, other = np.broadcast_arrays(np.asarray(one, dtype=object), np.asarray(other, dtype=object))
        gap: Any = None
        present = np.not_equal(one, gap) & np.not_equal(other, gap)
        if not present.all():
            found = np.full(present.shape, ufunc is np.not_equal)
            found[present] = ufunc(one[present], other[present])
            return found
    return ufunc(one, other, **options)


def _compared_times(ufunc: Any, one: Any, other: Any, options: Any) -> Any:
    """Compares points in time of two units. NumPy converts them to the finer one, even if that does not hold them."""
    if one.dtype == other.dtype:
        return ufunc(one, other, **options)
    is_left = isinstance(one, np.datetime64)
    if options or is_left == isinstance(other, np.datetime64):
        common = np.promote_types(one.dtype, other.dtype)
        for values in (one, other):
            if not np.array_equal(values.astype(common).astype(values.dtype), values, equal_nan=True):
                text = "cannot be compared: not all of them exist in the finer unit"
                raise TableError(f"times of {one.dtype} and {other.dtype} {text}")
        return ufunc(one, other, **options)
    values, single = (other, one) if is_left else (one, other)
    unit = np.datetime_data(values.dtype)[0]
    if unit not in _LENGTHS or np.datetime_data(values.dtype)[1] != 1 or np.isnat(single):
        return ufunc(one, other)
    count, rest = divmod(_length(single), _LENGTHS[unit])
    if rest == 0 and -(2**63) < count < 2**63:
        same = np.datetime64(count, unit)  # type: ignore[call-overload]
        return ufunc(same, values) if is_left else ufunc(values, same)
    # It lies between two points of the column, or beyond them.
    is_time = ~np.isnat(values)
    if ufunc in (np.equal, np.not_equal):
        return np.full(values.shape, ufunc is np.not_equal)
    is_before = values.view("i8") <= max(min(count, 2**63 - 1), -(2**63))
    wants_before = (ufunc in (np.less, np.less_equal)) != is_left
    return is_time & (is_before if wants_before else ~is_before)


def _length(single: np.datetime64) -> int:
    """Returns the attoseconds since 1970."""
    if np.datetime_data(single.dtype)[0] in "YMW":
        single = single.astype("datetime64[D]")
    unit, steps = np.datetime_data(single.dtype)
    return int(single.astype("int64")) * steps * _LENGTHS[unit]


def points(value: Any) -> Any:
    """Returns points in time for one in another form, or for a list or an array of these."""
    if isinstance(value, (np.ndarray, np.datetime64)) and value.dtype.kind == "M":
        return value
    if isinstance(value, (list, tuple)):
        return np.array([point(item) for item in value], dtype="datetime64")
    if isinstance(value, np.ndarray):
        found = [point(item) for item in value.ravel().tolist()]
        return np.array(found, dtype="datetime64").reshape(value.shape)
    return point(value)


def is_point(value: Any) -> bool:
    """Returns whether a value is a point in time."""
    return isinstance(value, (datetime.date, np.datetime64))


def point(value: Any) -> np.datetime64:
    """Returns the point in time of a text, a date or a time."""
    if isinstance(value, np.datetime64):
        return value
    if value is None or (isinstance(value, float) and value != value):
        return np.datetime64("NaT")
    if isinstance(value, str):
        if _ZONE.search(value):
            raise TableError(f"tables hold times without a time zone, which {str(value)!r} has")
        try:
            return np.datetime64(str(value))
        except ValueError:
            text = 'in ISO 8601: "2024-02-29" or "2024-02-29T12:30:00"'
            raise TableError(f"{str(value)!r} is not a date or a time {text}") from None
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        raise TableTypeError(f"tables hold times without a time zone, which {value!r} has")
    if hasattr(value, "to_datetime64"):  # of pandas, with nanoseconds
        found: np.datetime64 = value.to_datetime64()
        return found
    if isinstance(value, datetime.datetime):
        return np.datetime64(value, "us")
    if isinstance(value, datetime.date):
        return np.datetime64(value, "D")
    text = 'a text ("2024-02-29"), datetime.date, datetime.datetime or np.datetime64'
    raise TableTypeError(f"a column of dates or times is compared with {text}, not with {value!r}")


def count_of(name: Any, value: Any, unit: str) -> int:
    """Returns the count since 1970 that a column of a unit has for a point in time. Refuses one that is missing, or
    that the unit does not represent."""
    found = point(value)
    where = "a column" if name is None else f"column {name!r}"
    if np.isnat(found):
        raise TableError(f"{where} cannot be filled by {value!r}, which is missing itself")
    count, rest = divmod(_length(found), _LENGTHS[unit])
    if rest != 0 or not -(2**63) < count < 2**63:
        raise TableError(f"{where} has times in the unit {unit!r}, which does not represent {value!r}")
    return count
