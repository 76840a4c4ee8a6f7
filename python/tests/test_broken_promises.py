"""Memory that was promised not to change and does: tables stay right, or raise ordinary exceptions."""

import ctypes
import pathlib
import pickle
import re

import numpy as np
import pytest

import numeric_table as nt

DENSE = np.array([[0, 1.5, 0], [2, 0, 3], [0, 0, 0], [0, 0, 4]])


def calls(path, lends=True):
    """What reads a table. `lends` is for what lends memory to SciPy, which believes indices and writes past arrays."""

    def save(table):
        nt.save(table, path / "t.ntb", durable=False)
        return nt.load(path / "t.ntb")

    def shards(table):
        nt.save(table, path / "s.ntb", durable=False)
        return nt.Shards([path / "s.ntb"]).load()

    def write(table):
        with table.write_rows(0, 2) as block:
            block *= 2

    def update(table):
        partial = nt.Statistics(table.shape[1])
        partial.update(table)
        return partial.mean

    of_scipy = [lambda table: table.to_scipy(), lambda table: table.to_pandas()]
    return (of_scipy if lends else []) + [
        repr,
        save,
        shards,
        write,
        update,
        nt.statistics,
        np.asarray,
        lambda table: table._repr_html_(),
        lambda table: table.rows(),
        lambda table: table.rows(0, 2, dtype="f4"),
        lambda table: table.rows(dtype="i8", policy="exact"),
        lambda table: table.column(0),
        lambda table: table[1],
        lambda table: table[1, 2],
        lambda table: table[1:3].rows(),
        lambda table: table[[2, 0]].rows(),
        lambda table: table[:, [1, 0]].rows(),
        lambda table: list(table.row_blocks(2)),
        lambda table: table.par_map_blocks(lambda block: block.sum(), 1),
        lambda table: table.astype("f4").rows(),
        lambda table: table.conversion_report("i1"),
        lambda table: table.categories,
        lambda table: table == pickle.loads(pickle.dumps(table, 4)),
        lambda table: pickle.loads(pickle.dumps(table, 5)).rows(),
        lambda table: nt.vstack([table, table]).rows(),
        lambda table: nt.hstack([table, table]).rows(),
        lambda table: table.drop_columns([0]).rows(),
        lambda table: table.__copy__() == table,
        lambda table: table.__arrow_c_array__(),
        lambda table: nt.write_csv(table, path / "t.csv"),
        lambda table: nt.save_npy(table, path / "t.npy"),
        lambda table: nt.Covariance(table.shape[1]).update(table),
        lambda table: nt.QuantileSketch(table.shape[1]).update(table),
    ]


def outcome(call, table):
    """What a call returns, or its exception: one that programs catch."""
    try:
        return call(table)
    except Exception as error:
        return error


@pytest.mark.parametrize("which", ["indices", "indptr"])
@pytest.mark.parametrize("index", ["i4", "i8"])
def test_a_sparse_table_stays_as_it_was_when_its_indices_are_overwritten(which, index, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    for value in [10**6, -1, 0]:
        matrix = sparse.csr_array(DENSE)
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        table, right = nt.Table(matrix, copy=False), nt.Table(sparse.csr_array(DENSE))
        getattr(matrix, which)[:] = value
        assert table == right and np.array_equal(table.rows(), DENSE)
        nt.save(table, tmp_path / "t.ntb", durable=False)
        assert nt.load(tmp_path / "t.ntb") == right
        for call in calls(tmp_path):
            assert not isinstance(outcome(call, table), RuntimeError), call
    matrix = sparse.csr_array(DENSE)
    table = nt.Table(matrix, copy=False)
    matrix.data[0] = 7  # values are shared, as promised
    assert table.nnz == 4 and table[0, 1] == 7


def test_indices_that_change_while_they_are_read_are_refused_or_right():
    class Rows:
        """Whose arrays are made anew each time that they are asked for, and changed afterwards."""

        format, shape = "csr", (2, 3)
        data, indptr = np.array([1.0, 2.0]), np.array([0, 1, 2], "i4")

        @property
        def indices(self):
            self.given = np.array([2, 0], "i4")
            return self.given

        def tocsr(self):
            return self

    rows = Rows()
    table = nt.Table(rows, copy=False)
    rows.given[:] = 77
    rows.indptr[:] = 77
    assert table.rows().tolist() == [[0, 0, 1], [2, 0, 0]]


def test_codes_of_categories_that_are_overwritten_raise_nothing_but_ordinary_exceptions(tmp_path):
    pd = pytest.importorskip("pandas")
    for value in [99, -1]:
        frame = pd.DataFrame({"k": pd.Categorical(["a", "b", "a", "b"]), "x": [1.0, 2.0, 3.0, 4.0]})
        table = nt.Table(frame, copy=False)
        codes = frame["k"].array.codes.view()
        ctypes.memset(codes.ctypes.data, value % 256, codes.nbytes)
        for call in calls(tmp_path):
            assert not isinstance(outcome(call, table), RuntimeError), call
        nt.save(table, tmp_path / "t.ntb", durable=False)
        assert nt.load(tmp_path / "t.ntb") == table


def test_a_panic_is_an_ordinary_exception_and_the_table_can_be_used_afterwards(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    failed = 0
    for which, value in [("indices", 10**6), ("indptr", 10**6), ("indptr", -1)]:
        for call in calls(tmp_path, lends=False):
            table = nt.Table(sparse.csr_array(DENSE))
            lent = getattr(table.to_scipy(), which)  # the table's own memory: nothing but this can change it
            before = lent.copy()
            wrong = np.full_like(lent, value)
            ctypes.memmove(lent.ctypes.data, wrong.ctypes.data, lent.nbytes)
            found = outcome(call, table)  # a `PanicException` would not be caught
            failed += isinstance(found, RuntimeError) and "internal error" in str(found)
            ctypes.memmove(lent.ctypes.data, before.ctypes.data, lent.nbytes)
            assert np.array_equal(table.rows(), DENSE) or call.__name__ == "write"
            assert table.par_map_blocks(len, 3) == [3, 1]
    assert failed > 10


def test_all_that_python_calls_is_guarded():
    source = pathlib.Path(__file__).parents[1] / "src"
    found = [(file.name, line) for file in source.glob("*.rs") for line in re.findall(r"#\[py(?:methods|function).*", file.read_text())]
    assert source.exists() and found == []


def test_strings_that_are_not_unicode_are_refused():
    broken = np.array([0xC5B1D955, 0x41, 0x42, 0], dtype="u4").view("U2")  # NumPy makes a str of it
    for given in (broken, {"a": broken}, {broken[0]: np.zeros(2)}, {"a": list(broken)}, {"a": broken.astype(object)}):
        with pytest.raises(nt.TableError, match="not Unicode"):
            nt.Table(given)
    assert nt.Table(np.array(["é", "\U0010ffff"])).shape == (2, 1)
