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
_LENGTHS |= {"m": 60 * 10**18, "h": 3600 * 10**18, "D": 86400 * 10**18, "W": 7 * 86400 * 10**18, "generic": 1}
# Functions that look for equal values, in their first two arguments, and the names of these.
_MEMBERS = [getattr(np, name) for name in ("isin", "in1d") if hasattr(np, name)]
_MATCHES = [*_MEMBERS, np.intersect1d, np.setdiff1d, np.setxor1d, np.union1d, np.searchsorted, np.array_equal, np.array_equiv]
_MATCHED = ("element", "test_elements", "ar1", "ar2", "a1", "a2", "a", "v")
_ZONE = re.compile(r"[T ].*([Zz]|[+-]\d\d(:?\d\d)?)$")


class Shown(np.ndarray[Any, Any]):
    """An array of words or of points in time. Comparisons with a missing one are false, except for ``!=``. Points in
    time compare with texts in ISO 8601, dates and times. Results are plain arrays."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, **options: Any) -> Any:
        if any(_is_guest(value) for value in inputs):
            return NotImplemented  # a series of pandas knows what to do
        values = [_plain(value) for value in inputs]
        options = _all_plain(options)
        if method == "__call__" and ufunc in _COMPARISONS:
            return _compared(ufunc, values[0], values[1], options)
        return getattr(ufunc, method)(*values, **options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        # Some functions of NumPy, such as nanmax, take other ways for arrays of another type.
        inputs, options = _all_plain(inputs), _all_plain(options)
        if function in _MATCHES:
            inputs, options = _matched(function, inputs, options)
        return function(*inputs, **options)

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
        found = _compared_times(ufunc, _comparable(ufunc, one), _comparable(ufunc, other))
    elif "O" in kinds:
        one, other = np.broadcast_arrays(np.asarray(one, dtype=object), np.asarray(other, dtype=object))
        gap: Any = None
        present = np.not_equal(one, gap) & np.not_equal(other, gap)
        found = np.full(present.shape, ufunc is np.not_equal)
        found[present] = ufunc(one[present], other[present])
    else:
        return ufunc(one, other, **options)
    return np.logical_or(found, False, **options) if options else found


def _comparable(ufunc: Any, value: Any) -> Any:
    """Returns the points in time of a value to compare with. A text that is none equals nothing, as NaT, and is in no
    order with points in time."""
    return points(value, TableTypeError if ufunc in _ORDERS else None)


def _compared_times(ufunc: Any, one: Any, other: Any) -> Any:
    """Compares points in time, also those of two units, which NumPy converts to the finer one, even if that does not
    hold them."""
    if one.dtype == other.dtype:
        return ufunc(one, other)
    is_time = ~(np.isnat(one) | np.isnat(other))
    (one, length), (other, other_length) = _counts(one), _counts(other)
    if length >= other_length:
        found = ufunc(_order(one, other, length // other_length), 0)
    else:
        found = ufunc(0, _order(other, one, other_length // length))
    return found | ~is_time if ufunc is np.not_equal else found & is_time


def _order(coarse: Any, fine: Any, factor: int) -> Any:
    """Returns -1, 0 or 1 where a count comes before, equals or comes after one in a unit that is finer by a factor."""
    if factor < 2**63:
        whole, has_rest = fine // factor, fine % factor != 0
    else:
        whole, has_rest = np.where(fine < 0, -1, 0), fine != 0
    return np.where(coarse == whole, -has_rest.astype("i1"), np.where(coarse > whole, 1, -1))


def _counts(values: Any) -> tuple[Any, int]:
    """Returns the counts of points in time in a unit, and the attoseconds of the unit."""
    unit, steps = np.datetime_data(values.dtype)
    if unit == "generic" and not np.isnat(values).all():
        raise TableTypeError(f"{values!r} has no unit of time")
    if unit in "YM" or steps != 1:
        unit = "D" if unit in "YM" else unit
        values = _exactly(values, np.dtype(f"datetime64[{unit}]"))
    return values.astype("int64"), _LENGTHS[unit]


def _exactly(values: Any, dtype: Any) -> Any:
    """Converts points in time to a unit. Refuses those that it does not hold."""
    try:
        found = values.astype(dtype)
        is_exact = np.array_equal(found.astype(values.dtype), values, equal_nan=True)
    except OverflowError:  # of the factor between the units
        is_exact = False
    if not is_exact:
        raise TableTypeError(f"some times of {values.dtype} do not exist as {dtype}, as which they are compared")
    return found


def _length(single: np.datetime64) -> int:
    """Returns the attoseconds since 1970."""
    count, length = _counts(single)
    return int(count) * length


def _matched(function: Any, inputs: Any, options: Any) -> tuple[Any, Any]:
    """Returns the arguments of a function that looks for equal values. If points in time are among them, texts and
    dates become points in time as well, and all of these get one unit."""
    given = dict(enumerate(inputs[:2])) | {name: options[name] for name in _MATCHED if name in options}
    arrays = {place: _array(value) for place, value in given.items()}
    if all(array.dtype.kind != "M" for array in arrays.values()):
        return inputs, options
    unread = None if function in _MEMBERS else TableTypeError
    times = {place: points(array, unread) for place, array in arrays.items() if _has_times(array)}
    common = np.result_type(*(values.dtype for values in times.values()))
    found = {place: _exactly(values, common) for place, values in times.items()}
    inputs = [found.get(place, value) for place, value in enumerate(inputs)]
    return inputs, {name: found.get(name, value) for name, value in options.items()}


def _has_times(array: Any) -> bool:
    """Returns whether an array has points in time or texts."""
    return array.dtype.kind in "MTU" or any(isinstance(value, str) or is_point(value) for value in _items(array))


def _items(array: Any) -> Any:
    return array.ravel().tolist() if array.dtype.kind == "O" else ()


def points(value: Any, unread: type[Exception] | None = TableError) -> Any:
    """Returns points in time for one in another form, or for a list or an array of these. ``unread`` is that of
    :func:`point`."""
    if isinstance(value, (np.ndarray, np.datetime64)) and value.dtype.kind == "M":
        return value
    if not isinstance(value, (list, tuple, np.ndarray)):
        return point(value, unread)
    values = _array(value)
    found = [point(item, unread) for item in values.ravel().tolist()]
    common = np.result_type("datetime64", *{single.dtype for single in found})
    found = [single if single.dtype == common else _exactly(single, common) for single in found]
    return np.array(found, dtype=common).reshape(values.shape)


def _array(value: Any) -> Any:
    """Returns an array, that of a list with its objects: NumPy would convert points in time to one unit."""
    is_typed = isinstance(value, (np.ndarray, np.generic)) or (
        isinstance(value, (list, tuple)) and any(isinstance(item, np.ndarray) for item in value)
    )
    return np.asarray(value) if is_typed else np.asarray(value, dtype=object)


def is_point(value: Any) -> bool:
    """Returns whether a value is a point in time."""
    return isinstance(value, (datetime.date, np.datetime64))


def point(value: Any, unread: type[Exception] | None = TableError, *, where: str = "a column of times") -> np.datetime64:
    """Returns the point in time of a text, a date or a time. ``unread`` is the error for a text that is none; without
    one, it is NaT. ``where`` is for errors."""
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
            if unread is None:
                return np.datetime64("NaT")
            text = 'in ISO 8601: "2024-02-29" or "2024-02-29T12:30:00"'
            raise unread(f"{str(value)!r} is not a date or a time {text}") from None
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
    raise TableTypeError(f"{where} takes dates and times: {text}, not {value!r}")


def count_of(name: Any, value: Any, unit: str) -> int:
    """Returns the count since 1970 that a column of a unit has for a point in time. Refuses one that is missing, or
    that the unit does not represent."""
    where = f"column {name!r}"
    found = point(value, where=where)
    if np.isnat(found):
        raise TableError(f"{where} cannot be filled by {value!r}, which is missing itself")
    count, rest = divmod(_length(found), _LENGTHS[unit])
    if rest != 0 or not -(2**63) < count < 2**63:
        raise TableError(f"{where} has times in the unit {unit!r}, which does not represent {value!r}")
    return count
