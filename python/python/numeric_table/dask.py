"""Dask collections of tables in many files, with one task per file.

>>> import os, tempfile, numeric_table as nt, numeric_table.dask
>>> folder = tempfile.mkdtemp()
>>> nt.save(nt.Table([[1.0, 2.0], [3.0, 4.0]], names=["a", "b"]), os.path.join(folder, "part-0.ntb"))
>>> nt.save(nt.Table([[5.0, 6.0]], names=["a", "b"]), os.path.join(folder, "part-1.ntb"))
>>> tables = nt.dask.from_shards(folder)
>>> tables.npartitions, tables.shape
(2, (3, 2))
>>> tables.statistics().compute(scheduler="sync").mean
array([3., 4.])
>>> tables.to_array().sum(axis=0).compute(scheduler="sync")
array([ 9., 12.])

The workers open the files, by the same paths as on the client.
"""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, Protocol, Self, TypeVar

import dask
import numpy as np
from dask.base import DaskMethodsMixin
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from . import Shards, Statistics, Table, vstack

__all__ = ["Mergeable", "TableCollection", "from_shards"]

#: The number of results that one task merges: few results are in memory, and tasks do not all wait for one.
MERGED_AT_ONCE = 32


class Mergeable(Protocol):
    """A partial result for :meth:`TableCollection.reduce`: one of the library, or one written in Python."""

    def new_like(self) -> Self:
        """Returns a result with the same parameters and without rows."""

    def update(self, table: Table, /) -> None:
        """Adds all rows of a table, which is usually a block of a larger one."""

    def merge(self, other: Self, /) -> None:
        """Adds the rows of another result. They come after the rows of this one."""


_P = TypeVar("_P", bound=Mergeable)
_Policy = Literal["saturate", "checked", "exact"]


def from_shards(shards: Shards | str | os.PathLike[str] | list[str]) -> TableCollection:
    """Returns the files of a table as a collection. Accepts :class:`numeric_table.Shards`, or the argument for one."""
    return TableCollection(shards if isinstance(shards, Shards) else Shards(shards))


class TableCollection(DaskMethodsMixin):
    """A table in many files: a Dask collection whose partitions are tables, one per file.

    ``compute`` returns all rows as one table; ``reduce`` needs only the memory of one file and some results.
    """

    __dask_scheduler__ = staticmethod(dask.threaded.get)
    __dask_optimize__ = None

    def __init__(self, shards: Shards, partitions: list[Delayed] | None = None) -> None:
        self.shards = shards
        # One value in the graph, sent once to each worker, not to each task.
        self._opened = delayed(shards, pure=False)
        self._partitions = partitions

    @property
    def npartitions(self) -> int:
        """The number of files."""
        return self.shards.shard_count

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows in all files, and the number of columns."""
        return self.shards.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values, like :attr:`numeric_table.Table.dtype`."""
        return self.shards.dtype

    @property
    def names(self) -> list[str | None]:
        """The names of the columns."""
        return self.shards.names

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"TableCollection({rows} x {columns} of {self.dtype}, {self.npartitions} files)"

    def to_delayed(self) -> list[Delayed]:
        """Returns a task per file that loads its table."""
        if self._partitions is None:
            load = delayed(_table, pure=True)
            self._partitions = [load(self._opened, shard) for shard in range(self.npartitions)]
        return list(self._partitions)

    def reduce(self, partial: _P) -> Delayed:
        """Returns a task that computes a partial result over all rows: one of the library, or one written in Python.

        Merges the results of the files in the order of :meth:`numeric_table.Shards.reduce`, so the result has the same
        bits on any workers, even if some files are computed twice. If a worker dies, another one repeats its files.
        """
        reduce_shard, merged = delayed(_reduced, pure=True), delayed(_merged, pure=True)
        prototype = delayed(partial, pure=False)
        found = delayed(_new_like, pure=True)(prototype)
        runs = iter(self.shards.runs(partial))
        while batch := list(itertools.islice(runs, MERGED_AT_ONCE)):
            results = []
            for start, stop in batch:
                own = [reduce_shard(self._opened, shard, prototype) for shard in range(start, stop)]
                while len(own) > 1:
                    own[:MERGED_AT_ONCE] = [merged(*own[:MERGED_AT_ONCE])]
                results += own
            found = merged(found, *results)
        return found

    def statistics(self) -> Delayed:
        """Returns a task that computes the statistics of the columns: :class:`numeric_table.Statistics`."""
        return self.reduce(Statistics(self.shape[1]))

    def to_array(self, dtype: Any = None, *, policy: _Policy | None = None) -> Any:
        """Returns the rows as a ``dask.array``, with a chunk for each file that has rows. On the worker, a chunk is the
        memory of the file's table, unless its type differs. See :meth:`numeric_table.Table.rows` for ``dtype`` and
        ``policy``."""
        import dask.array as da

        columns = self.shape[1]
        stated = dtype if dtype is None else Table.zeros(0, 0, dtype=dtype).dtype
        dtype = self.dtype if stated is None else stated
        files, counts, _ = self._files_with_rows()
        if not files:
            return da.zeros((0, columns), dtype=dtype)
        return da.map_blocks(
            _chunk,
            self.shards,
            files,
            policy,
            stated,
            chunks=(tuple(counts), (columns,)),
            dtype=dtype,
            meta=np.empty((0, 0), dtype=dtype),
        )

    def to_dataframe(self) -> Any:
        """Returns the rows as a ``dask.dataframe``, with a partition for each file that has rows, and row numbers as
        index. On the worker, the read-only frames share the memory of the file's table where pandas permits it."""
        import dask.dataframe as dd

        files, counts, firsts = self._files_with_rows()
        meta = self._no_rows().to_pandas()
        if not files:
            return dd.from_pandas(meta, npartitions=1)
        divisions = [*firsts, firsts[-1] + counts[-1] - 1]
        return dd.from_map(_frame, files, firsts, args=[self.shards], meta=meta, divisions=divisions, label="shards")

    def _files_with_rows(self) -> tuple[list[int], list[int], list[int]]:
        """Returns the indices of the files that have rows, their numbers of rows, and their first rows. Dask cannot
        handle empty partitions."""
        counts = self.shards.row_counts
        firsts = list(itertools.accumulate(counts, initial=0))
        files = [shard for shard, count in enumerate(counts) if count > 0]
        return files, [counts[shard] for shard in files], [firsts[shard] for shard in files]

    def _no_rows(self) -> Table:
        counts = self.shards.row_counts
        if not counts:
            return Table.zeros(0, self.shape[1], dtype=self.dtype)
        return self.shards.load_shard(counts.index(min(counts)))[:0]

    # The collection protocol.

    def __dask_graph__(self) -> HighLevelGraph:
        return HighLevelGraph.merge(*(part.__dask_graph__() for part in self.to_delayed()))

    def __dask_keys__(self) -> list[Hashable]:
        return [part.key for part in self.to_delayed()]

    def __dask_layers__(self) -> tuple[str, ...]:
        return tuple(layer for part in self.to_delayed() for layer in part.__dask_layers__())

    def __dask_tokenize__(self) -> Any:
        return "numeric_table.dask", [part.key for part in self.to_delayed()]

    def __dask_postcompute__(self) -> tuple[Callable[..., Table], tuple[Any, ...]]:
        return _together, (self,)

    def __dask_postpersist__(self) -> tuple[Callable[..., TableCollection], tuple[Any, ...]]:
        return _persisted, (self.shards, self.__dask_keys__())


# The tasks, which run on the workers.


def _table(shards: Shards, shard: int) -> Table:
    return shards.load_shard(shard)


def _chunk(
    shards: Shards,
    files: list[int],
    policy: _Policy | None,
    dtype: np.dtype[Any] | None,
    block_id: tuple[int, int] = (0, 0),
) -> np.ndarray:
    return _table(shards, files[block_id[0]]).rows(dtype=dtype, policy=policy)


def _frame(shard: int, first: int, shards: Shards) -> Any:
    frame = _table(shards, shard).to_pandas(copy=False)
    frame.index = range(first, first + len(frame))
    return frame


def _reduced(shards: Shards, shard: int, prototype: _P) -> _P:
    return shards.reduce_shard(shard, prototype)


def _new_like(prototype: _P) -> _P:
    return prototype.new_like()


def _merged(first: _P, *others: _P) -> _P:
    found = copy.deepcopy(first)  # another task, or a repetition of this one, may need the original
    for other in others:
        found.merge(other)
    return found


def _together(tables: Iterable[Table], collection: TableCollection) -> Table:
    tables = list(tables)
    return vstack(tables) if tables else collection._no_rows()


def _persisted(
    graph: Any, shards: Shards, keys: list[str], *, rename: dict[str, str] | None = None
) -> TableCollection:
    renamed = [(rename or {}).get(key, key) for key in keys]
    return TableCollection(shards, [Delayed(key, graph) for key in renamed])
