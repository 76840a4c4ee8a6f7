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

The workers open the files, by the same paths as on the client. :func:`from_parquet` makes the same collections of
Parquet files, which pyarrow reads.
"""

from __future__ import annotations

import copy
import errno
import glob
import itertools
import os
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, Protocol, Self, TypeVar

import dask
import numpy as np
from dask.base import DaskMethodsMixin
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from . import Shards, Statistics, Table, TableError, TableFileNotFoundError, vstack

__all__ = ["Mergeable", "ParquetFiles", "TableCollection", "from_parquet", "from_shards"]

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


def from_parquet(path: str | os.PathLike[str] | list[str]) -> TableCollection:
    """Returns Parquet files as a collection, with one task per file: those of a folder (also of the folders in it), of
    a pattern such as ``"data/*.parquet"``, or of a list. Needs pyarrow.

    All files have the same columns. Words become categories of each file by itself: ``compute`` joins files only if the
    words are the same and appear in the same order.

    >>> import os, tempfile, numeric_table as nt, numeric_table.dask, pyarrow as pa, pyarrow.parquet
    >>> folder = tempfile.mkdtemp()
    >>> for part, values in enumerate([[1.0, 2.0], [6.0]]):
    ...     pa.parquet.write_table(pa.table({"a": values}), os.path.join(folder, f"part-{part}.parquet"))
    >>> tables = nt.dask.from_parquet(folder)
    >>> tables, float(tables.statistics().compute(scheduler="sync")["a"]["mean"])
    (TableCollection(3 x 1 of float64, 2 files), 3.0)
    """
    return TableCollection(ParquetFiles(path))


class ParquetFiles:
    """The Parquet files of a collection, with the calls of :class:`numeric_table.Shards` that a collection needs."""

    def __init__(self, path: str | os.PathLike[str] | list[str]) -> None:
        import pyarrow.parquet

        self.files = _parquet_files(path)
        metadata = [pyarrow.parquet.read_metadata(file) for file in self.files]
        self.row_counts = [found.num_rows for found in metadata]
        first, *others = [found.schema.to_arrow_schema() for found in metadata]
        for file, schema in zip(self.files[1:], others):
            if not schema.equals(first, check_metadata=False):
                raise TableError(f"{file}: its columns differ from those of {self.files[0]}")
        self._no_rows = Table(first.remove_metadata().empty_table())

    @property
    def shard_count(self) -> int:
        """The number of files."""
        return len(self.files)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows in all files, and the number of columns."""
        return sum(self.row_counts), self._no_rows.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values, like :attr:`numeric_table.Table.dtype`."""
        return self._no_rows.dtype

    @property
    def names(self) -> list[str | None]:
        """The names of the columns."""
        return self._no_rows.names

    def load_shard(self, shard: int) -> Table:
        """Loads the table of one file, given its index."""
        import pyarrow.parquet

        table = pyarrow.parquet.ParquetFile(self.files[shard]).read()
        if len(table) != self.row_counts[shard]:
            raise TableError(f"{self.files[shard]}: the number of rows has changed")
        return Table(table)

    def reduce_shard(self, shard: int, partial: _P) -> _P:
        """Returns a new result over the rows of one file, given its index."""
        found = partial.new_like()
        found.update(self.load_shard(shard))
        return found

    def runs(self, partial: Mergeable) -> list[tuple[int, int]]:
        """Returns the files whose results are merged first: each by itself."""
        return [(shard, shard + 1) for shard in range(self.shard_count)]


def _parquet_files(path: str | os.PathLike[str] | list[str]) -> list[str]:
    if isinstance(path, list):
        files = [os.fspath(file) for file in path]
    elif os.path.isdir(path):
        found = glob.glob(os.path.join(glob.escape(os.fspath(path)), "**", "*.parquet"), recursive=True)
        # As other libraries do: files and folders whose names begin so belong to the program that writes the table.
        files = sorted(file for file in found if not os.path.basename(file).startswith(("_", ".")))
    elif os.path.exists(path):
        files = [os.fspath(path)]
    else:
        files = sorted(glob.glob(os.fspath(path)))
    if not files:
        raise TableFileNotFoundError(errno.ENOENT, "there are no Parquet files", str(path))
    return files


class TableCollection(DaskMethodsMixin):
    """A table in many files: a Dask collection whose partitions are tables, one per file.

    ``compute`` returns all rows as one table; ``reduce`` needs only the memory of one file and some results.
    """

    __dask_scheduler__ = staticmethod(dask.threaded.get)
    __dask_optimize__ = None

    def __init__(self, shards: Shards | ParquetFiles, partitions: list[Delayed] | None = None) -> None:
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


def _table(shards: Shards | ParquetFiles, shard: int) -> Table:
    return shards.load_shard(shard)


def _chunk(
    shards: Shards | ParquetFiles,
    files: list[int],
    policy: _Policy | None,
    dtype: np.dtype[Any] | None,
    block_id: tuple[int, int] = (0, 0),
) -> np.ndarray:
    return _table(shards, files[block_id[0]]).rows(dtype=dtype, policy=policy)


def _frame(shard: int, first: int, shards: Shards | ParquetFiles) -> Any:
    frame = _table(shards, shard).to_pandas(copy=False)
    frame.index = range(first, first + len(frame))
    return frame


def _reduced(shards: Shards | ParquetFiles, shard: int, prototype: _P) -> _P:
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
    graph: Any, shards: Shards | ParquetFiles, keys: list[str], *, rename: dict[str, str] | None = None
) -> TableCollection:
    renamed = [(rename or {}).get(key, key) for key in keys]
    return TableCollection(shards, [Delayed(key, graph) for key in renamed])
