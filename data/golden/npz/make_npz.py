#!/usr/bin/env python3
"""Creates the golden .npz files: python3 make_npz.py [FOLDER]. Needs NumPy.

They were created once, with NumPy 2.4.6, and must always be readable. What they hold is also in
tests/npy/npz/golden_files.rs.
"""
import os
import sys

import numpy as np

NUMBERS = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(folder, name + ".npz")


def golden(dtype):
    """Three rows and two columns."""
    return np.array([[1, 2], [3, 4], [5, 100]]).astype(dtype)


class Pipe:
    """A file that has no positions, so that sizes follow the bytes of a member."""

    def __init__(self, name):
        self.file = open(name, "wb")

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()

    def read(self, *_):
        raise OSError


arrays = {number + "_c": golden("<" + number) for number in NUMBERS}
arrays |= {number + "_f": np.asfortranarray(golden("<" + number)) for number in NUMBERS}
arrays |= {number + "_big": golden(">" + number) for number in NUMBERS if number[1] != "1"}
np.savez(path("stored"), **arrays)
np.savez_compressed(path("compressed"), **arrays)
np.savez(path("unnamed"), golden("f4"), golden("u1")[:, 0])
np.savez(path("nothing"))
point = np.dtype([("x", "<f4"), ("kind", "<u2"), ("value", "<f8")], align=True)
records = np.array([(0.5, 1, 100.125), (2.5, 2, 200.25)], point)
packed = np.array([(0.5, 1, (7, 8)), (2.5, 2, (-7, -8))], [("x", ">f4"), ("kind", "u1"), ("v", "<i2", (2,))])
np.savez_compressed(path("records"), aligned=records, packed=packed)
columns = {"größe": np.array([1.5, 2.5, 3.5], "f4"), "a/b": np.array([1, 2, 3], ">i8"), "長さ": np.arange(3, dtype="u1")}
np.savez_compressed(path("columns"), **columns)
np.savez(path("empty"), rows=np.zeros((0, 3), "f4"), columns=np.zeros((3, 0), "i2"), none=np.zeros(0, "u8"))
np.savez_compressed(Pipe(path("piped")), x=golden("f8"), y=golden("i4"))
np.savez(
    path("mixed"), truth=np.array([True]), text=np.array(["a"]), one=np.array(1.5), cube=np.zeros((2, 2, 2)),
    objects=np.array([None]), x=golden("f4"),
)
