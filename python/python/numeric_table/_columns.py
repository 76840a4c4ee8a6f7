"""Columns of masked arrays, dates, dictionaries, and objects with None among them. Imported only where needed."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ._native import CopyRequiredError, NotRepresentableError, Table, TableError, TableTypeError

# The label, the values or a table of one column, the mask of missing values, category labels, whether they are ordered,
# and the unit of dates.
Column = tuple[str | None, Any, Any, list[str] | None, bool, str | None]

UNITS = ("D", "s", "ms", "us", "ns")


def columns_of(data: Any, copy: bool | None) -> tuple[list[Column], int] | None:
    """Returns the columns, and the number of rows, or None if the data has neither missing values nor dates."""
    if isinstance(data, dict):
        return _of_dict(data, copy)
    mask = None
    if isinstance(data, np.ma.MaskedArray):
        values, mask = np.asarray(data), np.ma.getmaskarray(data)
        if type(values) is not np.ndarray or type(mask) is not np.ndarray:
            raise TableTypeError("NumPy cannot convert this object to an array")
        if mask.dtype != bool or mask.shape != values.shape:
            text = f"a mask of {mask.dtype} in the shape {mask.shape} does not match values in {values.shape}"
            raise TableError(text)
        if not mask.any():
            return None
    else:
        values = data
    if values.ndim not in (1, 2):
        return None if mask is None else _refuse_dimensions(values)
    if values.dtype.kind == "O" and not _has_none(values) and mask is None:
        return None
    rows = len(values)
    if values.ndim == 1:
        values, mask = values.reshape(-1, 1), None if mask is None else mask.reshape(-1, 1)
    columns = []
    for place in range(values.shape[1]):
        hidden = None if mask is None else mask[:, place]
        columns.append(_column(place, values[:, place], hidden, copy))
    return columns, rows


def _refuse_dimensions(values: Any) -> NoReturn:
    raise TableError(f"a table has two dimensions, but this has {values.ndim}")


def _of_dict(data: dict[Any, Any], copy: bool | None) -> tuple[list[Column], int]:
    columns: list[Column] = []
    rows = None
    for key, values in data.items():
        if not isinstance(key, str):
            raise TableTypeError(f"the name of a column is a string, not {key!r}")
        try:
            table = Table(values, copy=copy)
        except (TableError, TableTypeError, TypeError) as error:
            error.args = (f"column {key!r}: {error}",)
            raise
        if table.shape[1] != 1:
            raise TableError(f"column {key!r} has {table.shape[1]} columns")
        if rows is not None and len(table) != rows:
            raise TableError(f"column {key!r} has {len(table)} values, but others have {rows}")
        rows = len(table)
        columns.append((key, table, None, None, False, None))
    return columns, rows or 0


def _has_none(values: Any) -> bool:
    return any(value is None for value in values.flat)


def _column(place: int, values: Any, mask: Any, copy: bool | None) -> Column:
    unit = None
    if values.dtype.kind == "O":
        if copy is False:
            raise CopyRequiredError(f"a copy is required: column {place} has objects")
        values, mask = of_objects(place, values, mask)
    elif values.dtype.kind == "M":
        values, mask, unit = of_dates(place, values, mask, copy)
    return None, values, mask if mask is not None and mask.any() else None, None, False, unit


def of_dates(name: Any, values: Any, mask: Any, copy: bool | None) -> tuple[Any, Any, str]:
    """Returns the numbers of dates since 1970, the mask of missing ones, and their unit."""
    unit, step = np.datetime_data(values.dtype)
    if unit not in UNITS or step != 1:
        text = f'tables hold times in days, seconds, "ms", "us" and "ns": astype("datetime64[s]") first'
        raise TableTypeError(f"column {name!r} is of {values.dtype}: {text}")
    if not values.dtype.isnative:
        raise TableTypeError(f"column {name!r} is of {values.dtype}, in the byte order of another machine")
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


def of_objects(name: Any, values: Any, mask: Any, is_missing: Any = None) -> tuple[Any, Any]:
    """Returns numbers of objects, and a mask of the missing ones: None, those that are masked, and those that
    ``is_missing`` marks, unless they are NaN beside other floats."""
    missing = np.fromiter((value is None for value in values), dtype=bool, count=len(values))
    if mask is not None:
        missing |= mask
    if is_missing is not None:
        missing |= is_missing
    present = [value for value, is_gap in zip(values, missing) if not is_gap]
    is_bool = [isinstance(value, (bool, np.bool_)) for value in present]
    is_whole = [isinstance(value, (int, np.integer)) for value in present]
    is_float = [isinstance(value, (float, np.floating)) for value in present]
    if any(is_bool):
        text = "booleans" if all(is_bool) else "booleans among other values"
        raise TableTypeError(f'column {name!r} has {text}: astype("u1") first')
    for value, *is_number in zip(present, is_whole, is_float):
        if not any(is_number):
            raise TableTypeError(f"column {name!r} has {value!r}: tables hold numbers")
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


def _is_exact(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False
