"""Tables of numbers in shared blocks of memory, in any element type, block by block.

>>> import numpy as np, numeric_table as nt
>>> table = nt.Table(np.array([[1, 2], [3, 4], [5, 6]], dtype="int16"), names=["a", "b"])
>>> nt.statistics(table).mean
array([3., 4.])
>>> table.rows(0, 2, dtype="float32")
array([[1., 2.],
       [3., 4.]], dtype=float32)
"""

from ._native import (
    CopyRequiredError,
    FormatError,
    NotRepresentableError,
    Statistics,
    Table,
    TableError,
    TableFileError,
    TableIndexError,
    TableTypeError,
    hstack,
    load,
    load_npy,
    map,
    read_csv,
    save,
    save_npy,
    statistics,
    verify,
    vstack,
    write_csv,
)

__all__ = [
    "CopyRequiredError",
    "FormatError",
    "NotRepresentableError",
    "Statistics",
    "Table",
    "TableError",
    "TableFileError",
    "TableIndexError",
    "TableTypeError",
    "hstack",
    "load",
    "load_npy",
    "map",
    "read_csv",
    "save",
    "save_npy",
    "statistics",
    "verify",
    "vstack",
    "write_csv",
]
