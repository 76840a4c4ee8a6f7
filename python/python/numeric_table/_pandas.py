"""Converts pandas frames to columns, and tables to frames. Imported only where a frame is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ._native import CopyRequiredError, NotRepresentableError, TableError, TableTypeError

# The label, the values, the category labels of integer codes, and whether the categories are ordered.
_Column = tuple[str | None, Any, list[str] | None, bool]


def columns_of(frame: Any, copy: bool | None) -> list[_Column]:
    """Returns the columns of a frame, a series, an index or an array: values in arrays of numbers, which share memory
    where possible."""
    if isinstance(frame, pd.Index):
        frame = pd.Series(frame, name=frame.name, copy=False)
    elif not isinstance(frame, (pd.Series, pd.DataFrame)):
        frame = pd.Series(frame, copy=False)
    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    labels = [_name(label, place) for place, label in enumerate(frame.columns)]
    return [(label, *_values(label or place, frame.iloc[:, place], copy)) for place, label in enumerate(labels)]


def _name(label: Any, place: int) -> str | None:
    is_number = isinstance(label, (int, np.integer)) and not isinstance(label, bool)
    if label is None or (is_number and label == place):
        return None
    return str(label)


def _values(name: Any, series: Any, copy: bool | None) -> tuple[Any, list[str] | None, bool]:
    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        _check_arrow(name, series)
    if isinstance(dtype, pd.CategoricalDtype):
        words = [str(word) for word in dtype.categories]
        return _indices(name, series.array.codes, words, copy), words, bool(dtype.ordered)
    if dtype.kind in "mM" or isinstance(dtype, (pd.PeriodDtype, pd.IntervalDtype)):
        text = "tables hold numbers; convert it first (astype, or a difference in days)"
        raise TableTypeError(f"column {name!r} is of {dtype}: {text}")
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return series.to_numpy(), None, False
    if isinstance(dtype, np.dtype) and dtype.kind == "b":
        return series.to_numpy().view("u1"), None, False
    if copy is False:
        raise CopyRequiredError(f"a copy is required: column {name!r} is of {dtype}")
    if isinstance(dtype, pd.SparseDtype):
        return _values(name, pd.Series(np.asarray(series)), copy)
    if dtype.kind in "iufb" and getattr(dtype, "numpy_dtype", None) is not None:
        return _nullable(name, series), None, False
    if dtype == object:
        found = series.infer_objects()
        if found.dtype != object:
            kind = pd.api.types.infer_dtype(series)
            if found.dtype.kind == "f" and kind == "integer":
                _refuse_missing(name, series, "integers have")
            if found.dtype.kind == "f" and kind != "floating":
                _refuse_rounded(name, series)
            return _values(name, found, copy)
    if isinstance(dtype, pd.StringDtype) or (dtype == object and pd.api.types.infer_dtype(series) == "string"):
        codes, found = pd.factorize(series)
        words = [str(word) for word in found]
        return _indices(name, codes.astype("int32"), words, copy), words, False
    text = "tables hold numbers, booleans and strings; astype to one of these first"
    raise TableTypeError(f"column {name!r} is of {dtype}: {text}")


def _indices(name: Any, codes: Any, words: list[str], copy: bool | None) -> Any:
    """Returns category codes: floats with NaN if some are missing."""
    missing = codes < 0
    if not missing.any():
        return codes.view(codes.dtype.str.replace("i", "u"))
    if copy is False:
        raise CopyRequiredError(f"a copy is required: column {name!r} has missing categories")
    found = codes.astype("float32" if len(words) <= 2**24 else "float64")
    found[missing] = np.nan
    return found


def _refuse_missing(name: Any, series: Any, whose: str) -> None:
    missing = series.isna().to_numpy()
    if missing.any():
        place = int(missing.argmax())
        text = 'fillna, or astype("Float64")'
        raise TableError(f"column {name!r} has no value in row {place}, and {whose} no NaN: {text}")


def _refuse_rounded(name: Any, series: Any) -> None:
    """Refuses integers among floats that float64 cannot represent."""
    for place, value in enumerate(series):
        if isinstance(value, (int, np.integer)) and int(value) != float(value):
            text = 'astype("float64") rounds it; a separate column of integers keeps it'
            raise NotRepresentableError(f"column {name!r} has {value} among floats, in row {place}: {text}")


def _check_arrow(name: Any, series: Any) -> None:
    """Makes pyarrow validate its memory, which pandas and NumPy trust."""
    try:
        series.array.__arrow_array__().validate(full=True)
    except ValueError as error:
        raise TableError(f"column {name!r} cannot be read: {error}") from error


def _nullable(name: Any, series: Any) -> Any:
    dtype = series.dtype
    if dtype.kind == "f":
        return series.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan)
    _refuse_missing(name, series, f"{dtype} has")
    values = series.to_numpy(dtype=dtype.numpy_dtype)
    return values.view("u1") if dtype.kind == "b" else values


def frame_of(table: Any, features: list[tuple[str | None, list[str] | None, bool, str | None]], copy: bool) -> Any:
    """Converts a table to a frame. A feature is a name, category labels, whether they are ordered, and a time unit."""
    labels = [place if name is None else name for place, (name, *_) in enumerate(features)]
    if any(str(dtype) == "bfloat16" for dtype in table.dtypes):
        raise TableTypeError("pandas has no bfloat16: astype(\"float32\") first")
    if table.is_sparse:
        frame = pd.DataFrame.sparse.from_spmatrix(table.to_scipy())
    elif table.kind == "homogeneous":
        frame = pd.DataFrame(np.asarray(table), copy=copy)
    else:
        columns = {place: table.column(place) for place in range(len(labels))}
        frame = pd.DataFrame(columns, index=pd.RangeIndex(len(table)), copy=copy)
    for place, (_, words, is_ordered, unit) in enumerate(features):
        if words is not None:
            frame.isetitem(place, _categorical(table.column(place), words, is_ordered))
        elif unit is not None:
            frame.isetitem(place, pd.Series(_times(labels[place], table.column(place), unit, copy), copy=False))
    if any(isinstance(label, str) for label in labels):
        frame.columns = pd.Index(labels)
    else:
        frame.columns = pd.RangeIndex(len(labels))
    return frame


def _times(name: Any, values: Any, unit: str, copy: bool) -> Any:
    """Converts counts since 1970 to points in time; NaN is missing. Days become seconds: pandas has no unit of days."""
    factor = 86400 if unit == "D" else 1
    largest = (2**63 - 1) // factor  # not -2**63, which means missing
    missing, is_whole = np.zeros(len(values), dtype=bool), True
    if values.dtype.kind == "f":
        values = values.astype("float64")  # narrower floats cannot represent the limits
        missing, is_whole = np.isnan(values), (values == np.floor(values)) & (np.abs(values) != 2.0**63)
    is_count = is_whole & (values >= -largest) & (values <= largest)
    wrong = ~(is_count | missing)
    if wrong.any():
        row = int(wrong.argmax())
        text = f"pandas has no point in time {values[row]} {unit} from 1970"
        raise TableError(f"column {name!r}, row {row}: {text}; table.column({name!r}) has the numbers")
    counts = np.where(missing, 0, values) if missing.any() else values
    counts = counts.astype("int64", copy=copy)
    if factor != 1:
        counts = counts * factor
    if missing.any():
        counts[missing] = np.iinfo("int64").min
    return counts.view(f"datetime64[{'s' if unit == 'D' else unit}]")


def _categorical(values: Any, words: list[str], is_ordered: bool) -> Any:
    """Returns the categories for codes; a code out of range is missing."""
    is_word = (values >= 0) & (values < len(words))
    if values.dtype.kind == "f":
        is_word &= values == np.floor(values)
    codes = np.full(len(values), -1, dtype="int64")
    codes[is_word] = values[is_word].astype("int64")
    return pd.Categorical.from_codes(codes, categories=words, ordered=is_ordered)
