"""Converts pandas frames to columns, and tables to frames. Imported only where a frame is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ._columns import Column, codes_of, name_of, of_dates, of_objects, times_of
from ._native import CopyRequiredError, NotRepresentableError, Table, TableError, TableTypeError


def columns_of(frame: Any, copy: bool | None) -> list[Column]:
    """Returns the columns of a frame, a series, an index or an array: values in arrays of numbers, which share memory
    where possible."""
    if isinstance(frame, pd.Index):
        frame = pd.Series(frame, name=frame.name, copy=False)
    elif not isinstance(frame, (pd.Series, pd.DataFrame)):
        frame = pd.Series(frame, copy=False)
    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    labels = [name_of(label, place) for place, label in enumerate(frame.columns)]
    return [(label, *_values(label or place, frame.iloc[:, place], copy)) for place, label in enumerate(labels)]


def _values(name: Any, series: Any, copy: bool | None) -> tuple[Any, Any, list[str] | None, bool, str | None]:
    """Returns values, the mask of missing ones, category labels, whether they are ordered, and the unit of dates."""
    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        _check_arrow(name, series)
    if isinstance(dtype, pd.ArrowDtype):
        return _of_arrow(name, series, copy)
    if isinstance(dtype, pd.CategoricalDtype):
        words = [str(word) for word in dtype.categories]
        codes, missing = _indices(name, series.array.codes, copy)
        return codes, missing, words, bool(dtype.ordered), None
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        values, missing, unit = of_dates(name, series.to_numpy(), None, copy)
        return values, missing, None, False, unit
    if dtype.kind in "mM" or isinstance(dtype, (pd.PeriodDtype, pd.IntervalDtype)):
        text = 'tables hold numbers and points in time without a time zone; convert it first'
        raise TableTypeError(f"column {name!r} is of {dtype}: {text}")
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return series.to_numpy(), None, None, False, None
    if isinstance(dtype, np.dtype) and dtype.kind == "b":
        return series.to_numpy().view("u1"), None, None, False, None
    if copy is False:
        raise CopyRequiredError(f"a copy is required: column {name!r} is of {dtype}")
    if isinstance(dtype, pd.SparseDtype):
        return _values(name, pd.Series(np.asarray(series)), copy)
    if dtype.kind in "iufb" and getattr(dtype, "numpy_dtype", None) is not None:
        return *_nullable(series), None, False, None
    if dtype == object:
        kind = pd.api.types.infer_dtype(series, skipna=True)
        if kind in ("integer", "floating", "mixed-integer-float", "empty", "boolean"):
            return *_objects(name, series, kind), None, False, None
        if kind == "date":
            days = np.array([None if gap else day for gap, day in zip(series.isna(), series)], dtype="datetime64[D]")
            values, missing, unit = of_dates(name, days, None, copy)
            return values, missing, None, False, unit
        found = series.infer_objects()
        if found.dtype != object:
            return _values(name, found, copy)
    if isinstance(dtype, pd.StringDtype) or (dtype == object and pd.api.types.infer_dtype(series) == "string"):
        codes, found = pd.factorize(series)
        words = [str(word) for word in found]
        return *_indices(name, codes.astype("int32"), copy), words, False, None
    text = "tables hold numbers, booleans, strings and points in time; astype to one of these first"
    raise TableTypeError(f"column {name!r} is of {dtype}: {text}")


def _indices(name: Any, codes: Any, copy: bool | None) -> tuple[Any, Any]:
    """Returns category codes, and the mask of missing ones."""
    missing = codes < 0
    unsigned = codes.dtype.str.replace("i", "u")
    if not missing.any():
        return codes.view(unsigned), None
    if copy is False:
        raise CopyRequiredError(f"a copy is required: column {name!r} has missing categories")
    return np.where(missing, 0, codes).astype(unsigned), missing


def _objects(name: Any, series: Any, kind: str) -> tuple[Any, Any]:
    """Returns the numbers of a column of objects, and the mask of the missing ones. NaN is missing among integers and
    booleans, and a value among floats."""
    values = series.to_numpy()
    is_na = series.isna().to_numpy()
    if kind in ("floating", "mixed-integer-float"):
        is_na = np.fromiter((value is None or value is pd.NA or value is pd.NaT for value in values), bool, len(values))
    elif kind == "empty" and is_na.any():
        is_na = is_na & np.fromiter((not isinstance(value, float) for value in values), bool, len(values))
    return of_objects(name, values, None, is_na)


def _of_arrow(name: Any, series: Any, copy: bool | None) -> tuple[Any, Any, list[str] | None, bool, str | None]:
    """Returns a table of a column that pyarrow stores."""
    import pyarrow

    try:
        table = Table(pyarrow.table({str(name): series.array.__arrow_array__()}), copy=copy)
    except (TableError, TableTypeError) as error:
        raise type(error)(f"column {name!r}: {error}") from error
    return table, None, None, False, None


def _check_arrow(name: Any, series: Any) -> None:
    """Makes pyarrow validate its memory, which pandas and NumPy trust."""
    try:
        series.array.__arrow_array__().validate(full=True)
    except ValueError as error:
        raise TableError(f"column {name!r} cannot be read: {error}") from error


def _nullable(series: Any) -> tuple[Any, Any]:
    dtype = series.dtype
    missing = np.asarray(series.array._mask) if hasattr(series.array, "_mask") else series.isna().to_numpy()
    values = series.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
    return values.view("u1") if dtype.kind == "b" else values, missing if missing.any() else None


# A name, category labels, whether they are ordered, a time unit, and whether values may be missing.
_Feature = tuple[str | None, list[str] | None, bool, str | None, bool]


def frame_of(table: Any, features: list[_Feature], copy: bool) -> Any:
    """Converts a table to a frame."""
    labels = [place if name is None else name for place, (name, *_) in enumerate(features)]
    if any(str(dtype) == "bfloat16" for dtype in table.dtypes):
        raise TableTypeError("pandas has no bfloat16: astype(\"float32\") first")
    special = {
        place
        for place, (_, words, _, unit, is_nullable) in enumerate(features)
        if words is not None or unit is not None or is_nullable
    }
    if table.is_sparse:
        frame = pd.DataFrame.sparse.from_spmatrix(table.to_scipy())
    elif table.kind == "homogeneous":
        values = np.asarray(table)
        frame = pd.DataFrame(_by_columns(values) if copy else values, copy=False)
    else:
        columns = {place: _column(table, place, features[place], labels[place], copy) for place in range(len(labels))}
        frame = pd.DataFrame(columns, index=pd.RangeIndex(len(table)), copy=copy)
        special = set()
    for place in sorted(special):
        frame.isetitem(place, pd.Series(_column(table, place, features[place], labels[place], copy), copy=False))
    if any(isinstance(label, str) for label in labels):
        frame.columns = pd.Index(labels)
    else:
        frame.columns = pd.RangeIndex(len(labels))
    return frame


def _by_columns(values: Any) -> Any:
    """Copies an array into the order in which pandas stores columns. Blocks that stay in the cache take a third of the
    time of one copy of all rows."""
    copied = np.empty(values.shape, values.dtype, order="F")
    rows = max(64, (1 << 19) // max(values[:1].nbytes, 1))
    for start in range(0, len(values), rows):
        copied[start : start + rows] = values[start : start + rows]
    return copied


def _column(table: Any, place: int, feature: _Feature, label: Any, copy: bool) -> Any:
    _, words, is_ordered, unit, is_nullable = feature
    values, mask = table._values_and_mask(place)
    if words is not None:
        return _categorical(values, mask, words, is_ordered)
    if unit is not None:
        return _times(label, values, mask, unit, copy)
    if is_nullable:
        return _masked(values, mask, copy)
    return values


def _masked(values: Any, mask: Any, copy: bool) -> Any:
    """Returns a column of pandas with a mask. NaN stays a value."""
    if values.dtype == "float16":
        values = values.astype("float32")  # pandas has no masked half floats
    elif copy:
        values = values.copy()
    missing = np.zeros(len(values), dtype=bool) if mask is None else mask
    make = pd.arrays.FloatingArray if values.dtype.kind == "f" else pd.arrays.IntegerArray
    return make(values, missing)


def _times(name: Any, values: Any, mask: Any, unit: str, copy: bool) -> Any:
    """Converts counts since 1970 to points in time; NaN is missing. Days become seconds: pandas has no unit of days."""
    found = times_of(name, values, mask, unit, to="s", whose="pandas")
    return found.copy() if copy and np.may_share_memory(found, values) else found


def _categorical(values: Any, mask: Any, words: list[str], is_ordered: bool) -> Any:
    """Returns the categories for codes; a code out of range is missing."""
    codes, _ = codes_of(values, mask, len(words))
    return pd.Categorical.from_codes(codes, categories=words, ordered=is_ordered)
