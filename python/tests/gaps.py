"""A table with missing values and NaN, for the tests of missing values."""

import math

import numpy as np
import pytest

import numeric_table as nt

BIG = 2**53 + 1
NAN = float("nan")


def imported(name):
    return pytest.importorskip(name)


def plain(values):
    return ["NaN" if isinstance(value, float) and math.isnan(value) else value for value in values]


def gappy():
    return nt.Table(
        {"a": [BIG, None, None, 4], "b": [NAN, 2.5, None, 7.5], "c": np.arange(4, dtype="u1"), "d": [None, 1, 2, 3]}
    )
