"""The interchange protocol of frames (``__dataframe__``), through pyarrow. Imported only where it is asked for."""

from __future__ import annotations

from typing import Any

from ._native import Table


class Protocol:
    """The method ``__dataframe__`` of a table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __call__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Frame:
        return Frame(self._table, nan_as_null, allow_copy)


class Frame:
    """A table by the interchange protocol. Names and counts need no other package; values come from pyarrow, when they
    are asked for."""

    version = 0

    def __init__(self, table: Table, nan_as_null: bool, allow_copy: bool) -> None:
        self._table, self._options = table.__copy__(), (nan_as_null, allow_copy)
        self._arrow: Any = None

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Frame:
        return Frame(self._table, nan_as_null, allow_copy)

    def num_columns(self) -> int:
        return self._table.shape[1]

    def num_rows(self) -> int:
        return self._table.shape[0]

    def num_chunks(self) -> int:
        return 1

    def column_names(self) -> list[str | None]:
        return self._table.names

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._arrow is None:
            self._arrow = self._table.to_arrow().__dataframe__(*self._options)
        return getattr(self._arrow, name)
