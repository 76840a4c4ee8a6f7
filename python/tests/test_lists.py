"""Lists and arrays that a caller gives: their lengths may lie, and there may be no memory for them."""

import subprocess
import sys

import numpy as np
import pytest

import numeric_table as nt

HUGE = 1 << 45


class Lies(list):
    """A list that says it is longer."""

    def __init__(self, *items, length=HUGE):
        super().__init__(items)
        self.length = length

    def __len__(self):
        return self.length


def calls():
    table = nt.Table([[1.0, 2.0], [3.0, 4.0]], names=["a", "b"])
    sketch = nt.QuantileSketch(2)
    sketch.update(table)
    gaussian = nt.GaussianNaiveBayes(2, 1, 2)
    gaussian.update(nt.Table([[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [5.0, 1.0]]))
    return {
        "names": lambda items: nt.Table([[1.0, 2.0]], names=items("a", "b")),
        "rename": lambda items: setattr(table, "names", items("a", "b")),
        "vstack": lambda items: nt.vstack(items(table, table)),
        "hstack": lambda items: nt.hstack(items(table, table)),
        "quantile": lambda items: sketch.quantile(items(0.5, 0.1)),
        "priors": lambda items: gaussian.model(priors=items(0.5, 0.5)),
        "edges": lambda items: nt.Histogram(2, items(0.0, 1.0)),
        "create": lambda items: nt.create("none.ntb", items("a", "b")),
    }


@pytest.mark.parametrize("call", calls())
@pytest.mark.parametrize("length", [HUGE, 1 << 62])
def test_lengths_that_lie_end_in_an_exception(call, length, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        calls()[call](lambda *items: Lies(*items, length=length))
    except (MemoryError, ValueError, TypeError):
        pass  # or the list is taken as it is
    calls()[call](lambda *items: list(items))
    calls()[call](lambda *items: items)


@pytest.mark.parametrize("many", [range(1 << 62), range(HUGE)], ids=str)
def test_ranges_that_no_memory_holds_are_refused(many):
    for name, call in calls().items():
        with pytest.raises((MemoryError, TypeError, ValueError)):
            call(lambda *items: many)


def test_what_has_no_order_is_no_list():
    for wrong in ({"a", "b"}, {"a": 1, "b": 2}, "ab", (name for name in "ab"), 5):
        with pytest.raises(TypeError):
            nt.Table([[1.0, 2.0]], names=wrong)


BROADCAST = """
import numpy as np, numeric_table as nt
table = nt.Table([[1.0, 2.0]], names=["a", "b"])
for value in (np.int64(0), np.uint8(1), np.bool_(True)):
    many = np.broadcast_to(value, (1 << 45,))
    for call in (table.select_columns, table.drop_columns, table.__getitem__, lambda key: table[:, key]):
        try:
            call(many)
        except (MemoryError, IndexError, ValueError):
            continue
        raise AssertionError(call)
"""


def test_arrays_that_no_memory_holds_are_refused():
    run = subprocess.run([sys.executable, "-c", BROADCAST], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_places_of_every_type_of_numbers():
    table = nt.Table(np.arange(20.0).reshape(10, 2))
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u2"):
        assert table[np.array([3, 0, 9], dtype=dtype)].rows()[:, 0].tolist() == [6, 0, 18]
    assert table[np.array([-1, -10])].rows()[:, 0].tolist() == [18, 0]
    assert table[np.arange(10)[::-3]].rows()[:, 0].tolist() == [18, 12, 6, 0]
    assert table[(np.arange(20) % 2 == 0)[::2]].shape == (10, 2)
    assert table[np.arange(10) > 7].rows()[:, 0].tolist() == [16, 18]
    for wrong in (np.array([10]), np.array([-11]), np.array([2**64 - 1], "u8"), np.array([2**63], "u8"), np.array([-(2**63)])):
        with pytest.raises(IndexError):
            table[wrong]
    for wrong in (np.zeros((2, 2), int), np.array([["a", "b"]])):
        with pytest.raises(IndexError, match="one dimension"):
            table[wrong]
        with pytest.raises(IndexError, match="one dimension"):
            table.select_columns(wrong)


def test_functions_of_blocks_that_go_too_deep_are_refused():
    table = nt.Table(np.ones((4, 2)))

    def deeper(block):
        return table.par_map_blocks(deeper, 2)

    with pytest.raises(RecursionError, match="16"):
        deeper(None)
    assert table.par_map_blocks(lambda block: table.par_map_blocks(len, 3), 2) == [[3, 1], [3, 1]]
