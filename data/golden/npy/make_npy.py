#!/usr/bin/env python3
"""Creates the golden .npy files: python3 make_npy.py [FOLDER]. Needs NumPy.

The files hold what `golden(dtype)` returns, or a part of it. Names describe the content:
dtype, C or Fortran order, version of the format. They were created once, with NumPy 2.4.6, and must always be readable.
"""
import os
import sys

import numpy as np

NUMBERS = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def golden(dtype):
    """Returns six values, including limits: bit patterns that are also in tests/npy/golden_files.rs."""
    dtype = np.dtype(dtype)
    size = dtype.itemsize
    top = 1 << (8 * size - 1)
    patterns = [0, 1, top - 1, top, top + 1, 2 * top - 1]
    return np.array(patterns, f"u{size}").view(dtype.newbyteorder("=")).reshape(3, 2).astype(dtype)


def save(name, array, version):
    with open(os.path.join(folder, name + ".npy"), "wb") as file:
        np.lib.format.write_array(file, array, version=version)


folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
for number in NUMBERS:
    save(number + "_c_v1", golden("<" + number), (1, 0))
    save(number + "_f_v1", np.asfortranarray(golden("<" + number)), (1, 0))
    if number[1] != "1":
        save(number + "_c_v1_big_endian", golden(">" + number), (1, 0))
for version in [(2, 0), (3, 0)]:
    save(f"i2_c_v{version[0]}", golden("<i2"), version)
    save(f"i2_f_v{version[0]}", np.asfortranarray(golden("<i2")), version)
save("f8_f_v1_big_endian", np.asfortranarray(golden(">f8")), (1, 0))
save("f4_one_dimension", golden("<f4")[:, 0].copy(), (1, 0))
save("f4_no_rows", golden("<f4")[:0], (1, 0))
save("f4_no_columns", golden("<f4")[:, :0], (1, 0))
# Arrays of structures: aligned, packed in both byte orders with arrays within, and with an unused gap.
points = [(0.5, -1.25, 1, 100.125), (2.5, -3.25, 2, 200.25), (4.5, -5.25, 2, 350.375)]
point = np.dtype([("x", "<f4"), ("y", "<f4"), ("categ", "<i4"), ("value", "<f8")], align=True)
save("structures_aligned", np.array(points, point), (1, 0))
packed = np.dtype([("kind", "u1"), ("value", ">f8"), ("v", "<f4", (3,)), ("m", ">i2", (2, 2)), ("half", "<f2")])
rows = [(i, i + 0.5, [i + 1, i + 2, i + 3], [[i, -i], [i + 7, i + 8]], i / 4) for i in range(3)]
save("structures_packed", np.array(rows, packed), (1, 0))
gaps = np.dtype({"names": ["a", "it's"], "formats": ["<u4", "|i1"], "offsets": [4, 12], "itemsize": 16})
with_gaps = np.zeros(2, gaps)
with_gaps["a"], with_gaps["it's"] = [1, 2], [-1, -2]
save("structures_gaps", with_gaps, (1, 0))
save("structures_none", np.zeros(0, point), (1, 0))
save("structures_names", np.zeros(3, [("a", "f4"), ("ä", "i2")]), (3, 0))
save("structures_latin1", np.ones(3, [("a", "f4"), ("ä", "i2")]), (1, 0))
# Arrays that tables do not support.
save("refused_nested", np.zeros(2, [("a", [("b", "f4")])]), (1, 0))
save("refused_title", np.zeros(2, [(("title", "a"), "f4")]), (1, 0))
save("refused_field_of_text", np.zeros(2, [("a", "f4"), ("b", "S3")]), (1, 0))
save("refused_field_of_objects", np.zeros(2, [("a", "f4"), ("b", "O")]), (1, 0))
save("refused_field_of_truth", np.zeros(2, [("a", "f4"), ("b", "?")]), (1, 0))
save("refused_structures_in_two_dimensions", np.zeros((2, 3), [("a", "f4")]), (1, 0))
save("refused_bool", golden("u1") > 0, (1, 0))
save("refused_complex", np.ones((3, 2), "c8"), (1, 0))
save("refused_text", np.array([["a", "b"]]), (1, 0))
save("refused_dates", np.zeros((3, 2), "M8[s]"), (1, 0))
save("refused_no_dimension", np.array(1.5), (1, 0))
save("refused_three_dimensions", np.zeros((3, 2, 2)), (1, 0))
save("refused_objects", np.array([[None, 1]]), (1, 0))
