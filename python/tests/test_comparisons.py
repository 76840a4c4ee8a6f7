"""Columns of dates and words beside other values: comparisons, options of ufuncs, and functions that look for equal
values."""

import datetime
import itertools
import operator

import numpy as np
import pytest

import numeric_table as nt

DAYS = np.array(["2024-01-01", "NaT", "2024-03-01", "1969-12-31"], "M8[D]")
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def days():
    return nt.Table({"d": DAYS})["d"]


def length(point):
    """The attoseconds since 1970, as Python's integer; None for NaT."""
    unit, steps = np.datetime_data(point.dtype)
    if unit in "YM":
        return length(point.astype("M8[D]"))
    of = {"W": 604800 * 10**18, "D": 86400 * 10**18, "h": 3600 * 10**18, "m": 60 * 10**18, "s": 10**18}
    of |= {"ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1}
    return None if np.isnat(point) else int(point.astype("i8")) * steps * of[unit]


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_arrays_of_any_two_units_compare_exactly(unit):
    random = np.random.default_rng(34)
    limit = 2**31 - 1 if unit == "D" else 2**63 - 1
    counts = np.concatenate([random.integers(-limit, limit, 20), [0, 1, -1, limit, -limit], random.integers(-9, 9, 9)])
    own = np.append(counts.astype(f"M8[{unit}]"), np.datetime64("NaT"))
    table = nt.Table({"t": own})
    others = ["Y", "M", "W", "D", "2D", "h", "m", "s", "ms", "100ms", "us", "ns", "ps", "fs", "as"]
    for other_unit in others:
        try:
            near = own.astype(f"M8[{other_unit}]").astype("i8")[-15:-1].tolist()
        except OverflowError:  # of the factor between the units
            near = []
        large = [2**40, -(2**40)] if other_unit in ("Y", "M", "2D", "100ms") else [2**62, 2**63 - 1, -(2**63) + 1]
        numbers = [number for number in [*near, 0, 1, -1] if abs(number) <= 2**40 or len(large) == 3] + large
        other = np.append(np.array(random.choice(numbers, len(own) - 1)).astype(f"M8[{other_unit}]"), np.datetime64("NaT"))
        for compare in COMPARISONS:
            pairs = [(length(one), length(two)) for one, two in zip(own, other)]
            expected = [compare is operator.ne if None in pair else compare(*pair) for pair in pairs]
            assert compare(table["t"], other).tolist() == expected, (other_unit, compare)
            single = other[0]
            pairs = [(length(single), length(one)) for one in own]
            expected = [compare is operator.ne if None in pair else compare(*pair) for pair in pairs]
            assert compare(single, table["t"]).tolist() == expected, (other_unit, compare)


def test_lists_of_points_in_several_units_do_not_wrap():
    fine, far = np.datetime64("2024-01-01", "ns"), np.datetime64("9999-01-01", "D")
    assert (days()[:2] == [fine, None]).tolist() == [True, False]
    for call in [lambda: days()[:2] < [fine, far], lambda: np.isin(days(), [fine, far])]:
        with pytest.raises(TypeError, match="do not exist as datetime64"):
            call()


def test_a_text_that_is_no_date_equals_none():
    for other in ["foo", "", ["foo", "2024-01-01", None, "1969-12-31"], np.array(["foo"] * 4, dtype=object)]:
        expected = [False, False, False, isinstance(other, list)]
        assert (days() == other).tolist() == (other == days()).tolist() == expected
        assert (days() != other).tolist() == [not is_equal for is_equal in expected]
    for compare, other in itertools.product(COMPARISONS[2:], ["foo", ["foo", "2024-01-01", None, "2024-01-01"]]):
        with pytest.raises(TypeError, match="'foo' is not a date or a time in ISO 8601"):
            compare(days(), other)


def test_options_of_ufuncs_that_are_none_are_the_default():
    words = nt.Table({"k": ["b", None, "a"]})["k"]
    plain = np.array(DAYS)
    for options in [{"out": None}, {"out": (None,)}, {"where": True}, {"out": None, "where": True}]:
        for first in ["2024-01-01", plain[0], "2024-01-01T00:00"]:
            assert np.less(days(), first, **options).tolist() == [False, False, False, True]
        assert np.equal(words, "a", **options).tolist() == [False, False, True]
        assert np.greater(words, "a", **options).tolist() == [True, False, False]
        assert np.maximum(days(), plain[0], **options).astype(str).tolist()[2:] == ["2024-03-01", "2024-01-01"]
    assert np.maximum.reduce(days()[2:], axis=None, out=None) == plain[2]


def test_results_go_where_the_caller_says():
    out = np.array([True] * 4)
    assert np.equal(days(), "2024-03-01T00:00", out=out) is out and out.tolist() == [False, False, True, False]
    np.not_equal(days(), "2024-03-01T00:00", out=out, where=[True, False, True, False])
    assert out.tolist() == [True, False, False, False]
    words, out = nt.Table({"k": ["b", None, "a"]})["k"], np.array([True] * 3)
    np.greater(words, "a", out=out)
    assert out.tolist() == [True, False, False]
    np.equal(words, None, out=out, where=[False, True, True])
    assert out.tolist() == [True, False, False]


DAY = datetime.date(2024, 3, 1)


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
@pytest.mark.parametrize("count", [1, 40])
def test_functions_that_look_for_equal_values_take_texts_and_dates(unit, count):
    times = np.concatenate([DAYS.astype(f"M8[{unit}]")] * count)
    shown = nt.Table({"d": times})["d"]
    for wanted in [["2024-03-01"], "2024-03-01", [DAY, None], np.array([DAY], dtype=object), np.array(["2024-03-01"]),
                   ["2024-03-01T00:00", "foo"], np.array(["2024-03-01"], "M8[D]"), np.array(["2024-03-01"], "M8[us]")]:
        expected = [False, False, True, False] * count
        assert np.isin(shown, wanted).tolist() == expected
        assert np.isin(shown, test_elements=wanted, invert=True).tolist() == [not is_in for is_in in expected]
    present = np.sort(shown[~np.isnat(shown)])
    assert np.intersect1d(shown, ["2024-03-01", "2023-01-01"]).astype("M8[D]").tolist() == [DAY]
    assert np.setdiff1d(shown[2:4], ["2024-03-01"]).astype("M8[D]").tolist() == [datetime.date(1969, 12, 31)]
    assert DAY in np.union1d(shown[:1], [DAY]).astype("M8[D]").tolist()
    assert np.searchsorted(nt.Table({"d": present})["d"], "1970-01-01") == count
    assert np.array_equal(shown[2:4], ["2024-03-01", "1969-12-31"]) and not np.array_equal(shown[2:4], ["2024-03-01"] * 2)
    assert not np.array_equal(shown[:2], [1, 2])
    with pytest.raises(TypeError, match="not a date"):
        np.setdiff1d(shown, ["foo"])


@pytest.mark.parametrize("count", [1, 40])
def test_functions_that_look_for_equal_values_do_not_wrap(count):
    fine = np.datetime64("2024-01-01", "ns")
    far = np.datetime64(int(fine.astype("M8[s]").astype("i8")) + 2**55, "s")  # equal after a conversion that wraps
    shown = nt.Table({"d": np.array([far] * count)})["d"]
    for wanted in [fine, [fine], np.array([fine]), [np.array([fine])], nt.Table({"d": np.array([fine])})["d"]]:
        for call in [lambda: np.isin(shown, wanted), lambda: np.isin(wanted, shown), lambda: np.intersect1d(shown, wanted)]:
            with pytest.raises(TypeError, match="do not exist as"):
                call()


def test_functions_that_look_for_equal_values_take_words():
    words = nt.Table({"k": ["b", None, "a"]})["k"]
    assert np.isin(words, ["a", "q"]).tolist() == [False, False, True]
    assert np.isin(["a", "q"], words).tolist() == [True, False]
