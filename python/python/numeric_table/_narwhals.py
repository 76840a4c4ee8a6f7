"""Tables as frames of narwhals, through which scikit-learn and plotly accept frames of any library. Imported only where
narwhals is used.

The names, the shape, and selections of rows and columns are those of the table, and selections are tables again.
Everything else converts the table to the first of pandas, polars and pyarrow that is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Table, TableIndexError, TableTypeError


def frame_of(table: Table) -> TableFrame:
    """Returns the frame of a table."""
    return TableFrame(table, None)


class TableFrame:
    """A data frame as narwhals defines it (``CompliantDataFrame``)."""

    def __init__(self, table: Table, version: Any) -> None:
        import narwhals

        self._native_frame = table
        self._version = version
        self._implementation = narwhals.Implementation.UNKNOWN
        self._converted: Any = None

    def __narwhals_dataframe__(self) -> TableFrame:
        return self

    def _with_version(self, version: Any) -> TableFrame:
        return TableFrame(self._native_frame, version)

    def _with_native(self, table: Table) -> TableFrame:
        return TableFrame(table, self._version)

    @property
    def native(self) -> Table:
        """The table."""
        return self._native_frame

    @property
    def columns(self) -> list[Any]:
        """The names of the columns; their indices if a name is missing or ambiguous."""
        names = self._native_frame.names
        if None in names or len(set(names)) != len(names):
            return list(range(len(names)))
        return list(names)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self._native_frame.shape

    def __len__(self) -> int:
        return len(self._native_frame)

    @property
    def schema(self) -> Any:
        """The names and the types of the columns."""
        return self._with_native(self._native_frame[:0])._other().schema

    def collect_schema(self) -> Any:
        """Returns the names and the types of the columns."""
        return self.schema

    def __getitem__(self, item: tuple[Any, Any]) -> TableFrame:
        rows, columns = item
        table = self._native_frame
        if not _is_all(columns):
            table = table.select_columns(self._indices(columns))
        if isinstance(rows, (int, np.integer)):
            count = len(table)
            row = int(rows) + count if rows < 0 else int(rows)
            if not 0 <= row < count:
                raise TableIndexError(f"row {rows} of a table of {count} rows")
            table = table[row : row + 1]
        elif not _is_all(rows):
            table = table[rows if isinstance(rows, slice) else _array(rows)]
        return self._with_native(table)

    def _indices(self, columns: Any) -> Any:
        names = self.columns
        if isinstance(columns, slice):
            return list(range(len(names))[_of_indices(columns, names)])
        return [names.index(name) if isinstance(name, str) else int(name) for name in _array(columns).tolist()]

    def simple_select(self, *names: str) -> TableFrame:
        """Returns a frame of some columns."""
        return self[:, list(names)]

    def filter(self, predicate: Any) -> Any:
        """Returns the rows that an expression, or a list of booleans, selects."""
        if isinstance(predicate, list):
            return self[np.array(predicate, dtype=bool), :]
        return self._other().filter(predicate)

    def drop(self, columns: list[str], *, strict: bool) -> TableFrame:
        """Returns a frame without some columns."""
        return self._with_native(self._native_frame.drop_columns([c for c in columns if strict or c in self.columns]))

    def rename(self, mapping: dict[str, str]) -> TableFrame:
        """Returns a frame with other names."""
        return self._with_native(self._native_frame.rename(mapping))

    def head(self, n: int) -> TableFrame:
        """Returns the first rows."""
        return self._with_native(self._native_frame[:n])

    def tail(self, n: int) -> TableFrame:
        """Returns the last rows."""
        return self._with_native(self._native_frame[max(len(self) - n, 0) :] if n >= 0 else self._native_frame[-n:])

    def clone(self) -> TableFrame:
        """Returns a frame of the same rows."""
        return self._with_native(self._native_frame[:])

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._native_frame.__array__(dtype, copy=copy)

    def to_numpy(self, dtype: Any = None, *, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Returns a NumPy array."""
        return self.__array__(dtype, copy=copy)

    def to_pandas(self) -> Any:
        """Returns a frame of pandas."""
        return self._native_frame.to_pandas()

    def to_polars(self) -> Any:
        """Returns a frame of polars."""
        return self._native_frame.to_polars()

    def to_arrow(self) -> Any:
        """Returns a table of pyarrow."""
        return self._native_frame.to_arrow()

    def _other(self) -> Any:
        """Returns the same frame of another library."""
        if self._converted is None:
            import narwhals

            other = narwhals.from_native(_converted(self._native_frame))._compliant_frame
            self._converted = other if self._version is None else other._with_version(self._version)
        return self._converted

    def __getattr__(self, name: str) -> Any:
        is_of_narwhals = name in ("__narwhals_namespace__", "__native_namespace__")
        if name in ("_converted", "_native_frame", "_version") or (name.startswith("__") and not is_of_narwhals):
            raise AttributeError(name)
        return getattr(self._other(), name)


def _converted(table: Table) -> Any:
    for convert in (table.to_pandas, table.to_polars, table.to_arrow):
        try:
            return convert()
        except ImportError:
            continue
    raise TableTypeError("this operation of narwhals converts the table, which requires pandas, polars or pyarrow")


def _is_all(selection: Any) -> bool:
    return isinstance(selection, slice) and selection == slice(None)


def _of_indices(columns: slice, names: list[Any]) -> slice:
    """Returns a slice of indices for one of names, which includes its end."""
    start, stop = columns.start, columns.stop
    start = names.index(start) if isinstance(start, str) else start
    stop = names.index(stop) + 1 if isinstance(stop, str) else stop
    return slice(start, stop, columns.step)


def _array(selection: Any) -> Any:
    return selection.to_numpy() if hasattr(selection, "to_numpy") else np.asarray(selection)
