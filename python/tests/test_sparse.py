"""Sparse tables: SciPy's arrays in and out, and that everything else of a table works on them, or says why not."""

import copy
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import numeric_table as nt

sparse = pytest.importorskip("scipy.sparse")

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]  # SciPy has no half floats
DENSE = np.array([[1, 0, 0, 2], [0, 3, 0, 0], [0, 0, 0, 0], [4, 0, 5, 0]])


def address(array):
    return array.__array_interface__["data"][0]


def parts(matrix):
    return [matrix.data, matrix.indices, matrix.indptr]


def of(dense, dtype="f8", **options):
    return nt.Table(sparse.csr_array(np.asarray(dense, dtype=dtype)), **options)


def frozen(matrix):
    """The same rows, in memory that nobody can write."""
    data, indices, indptr = (np.frombuffer(part.tobytes(), part.dtype) for part in parts(matrix))
    return sparse.csr_array((data, indices, indptr), shape=matrix.shape)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", TYPES)
def test_rows_of_every_type_go_and_come(make, dtype):
    matrix = make(DENSE.astype(dtype))
    table = nt.Table(matrix)
    assert table.is_sparse and table.kind == "csr" and (table.shape, table.dtype, table.nnz) == ((4, 4), np.dtype(dtype), 5)
    assert table.nbytes == sum(part.nbytes for part in parts(matrix))
    assert np.array_equal(np.asarray(table), DENSE) and np.asarray(table).dtype == np.dtype(dtype)
    back = table.to_scipy()
    assert isinstance(back, sparse.csr_array) and back.dtype == np.dtype(dtype) and (back != matrix).nnz == 0
    assert back.has_canonical_format and not any(part.flags.writeable for part in parts(back))
    back.check_format(True)
    for other in TYPES:
        assert np.array_equal(table.to_scipy(other).toarray(), DENSE) and table.astype(other).is_sparse
        assert np.array_equal(table.to_scipy(other).toarray().astype(other), np.asarray(table, other))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (300, 40)])
def test_tables_of_every_shape_go_and_come(shape):
    for matrix in [sparse.csr_array(shape, dtype="f4"), sparse.random_array(shape, density=0.1, format="csr", rng=1)]:
        table = nt.Table(matrix)
        assert table.shape == shape and table.nnz == matrix.nnz and np.array_equal(np.asarray(table), matrix.toarray())
        assert table.to_scipy().shape == shape and nt.Table(table.to_scipy()) == table
        assert pickle.loads(pickle.dumps(table)) == table and repr(table) and table._repr_html_()


def test_memory_is_shared_by_the_rules_of_arrays():
    matrix = sparse.csr_array(DENSE.astype("f8"))
    copied, promised = nt.Table(matrix), nt.Table(matrix, copy=False)
    shared = {address(part) for part in parts(promised.to_scipy())} & {address(part) for part in parts(matrix)}
    assert shared == {address(matrix.data)}  # what names columns and rows is copied, since it could be written
    assert not {address(part) for part in parts(copied.to_scipy())} & {address(part) for part in parts(matrix)}
    matrix.data[:] = 77
    matrix.indices[:] = 0
    assert np.array_equal(np.asarray(copied), DENSE)
    immutable = frozen(sparse.csr_array(DENSE))
    assert [address(part) for part in parts(nt.Table(immutable).to_scipy())] == [address(part) for part in parts(immutable)]
    assert address(nt.Table(immutable, copy=True).to_scipy().data) != address(immutable.data)
    again = nt.Table(copied.to_scipy())  # a table's memory, which nobody can write
    assert [address(part) for part in parts(again.to_scipy())] == [address(part) for part in parts(copied.to_scipy())]
    lent = copied.to_scipy()
    with copied.write_rows(0, 1) as block:
        block *= 10
    assert lent.toarray()[0].tolist() == [1, 0, 0, 2] and copied[0].tolist() == [10, 0, 0, 20]


def test_64_bit_indices_stay_so():
    matrix = sparse.csr_array((np.ones(2), np.array([1, 2**50]), np.array([0, 1, 2])), shape=(2, 2**50 + 1))
    table = nt.Table(matrix, copy=False)
    assert table.shape == (2, 2**50 + 1) and [part.dtype for part in parts(table.to_scipy())] == ["f8", "i8", "i8"]
    assert table[1, 2**50] == 1.0 and table.column(2**50).tolist() == [0, 1] and table == nt.Table(matrix)
    assert pickle.loads(pickle.dumps(table)) == table
    assert table[1:].to_scipy().nnz == 1 and table[:, [2**50, 0]].rows().tolist() == [[0, 0], [1, 0]]
    assert "1125899906842625" in table._repr_html_() and repr(table)
    for call in [lambda: table.names, lambda: table.dtypes, lambda: np.asarray(table), lambda: table.drop_columns([0])]:
        with pytest.raises((MemoryError, ValueError)):
            call()


@pytest.mark.parametrize("form", ["csc", "coo", "bsr", "lil", "dok", "dia"])
def test_other_formats_are_converted_by_scipy(form):
    matrix = sparse.csr_array(DENSE).asformat(form)
    table = nt.Table(matrix)
    assert table.is_sparse and np.array_equal(np.asarray(table), DENSE)
    with pytest.raises(nt.CopyRequiredError, match="rows"):
        nt.Table(matrix, copy=False)


def test_whatever_turns_into_rows_is_taken():
    class Other:
        def tocsr(self):
            return sparse.csr_matrix(DENSE)

    assert np.array_equal(np.asarray(nt.Table(Other())), DENSE)

    class Same:
        """Nothing of SciPy's but the names."""

        format = "csr"
        shape = (2, 3)
        data, indices, indptr = np.array([1.5, 2.5], "f2"), np.array([2, 0], "u4"), np.array([0, 1, 2], "u8")
        tocsr = None

    table = nt.Table(Same())
    assert table.rows().tolist() == [[0, 0, 1.5], [2.5, 0, 0]] and table.dtype == np.float16
    with pytest.raises(TypeError, match="float16.*float32"):
        table.to_scipy()
    assert table.to_scipy("f4").toarray().tolist() == table.rows().tolist()
    assert pickle.loads(pickle.dumps(table)) == table
    assert np.asarray(table.astype("bfloat16"), "f4").tolist() == table.rows().tolist()


def test_indices_that_are_unsorted_or_repeated_are_sorted_and_added_up():
    def made():
        return sparse.csr_array((np.array([1.0, 2, 4, 8]), np.array([3, 0, 3, 1]), np.array([0, 3, 4])), shape=(2, 4))

    for matrix in [made(), frozen(made())]:
        for choice in [None, True]:
            table = nt.Table(matrix, copy=choice)
            assert table.rows().tolist() == [[2, 0, 0, 5], [0, 8, 0, 0]] and table.nnz == 3
        assert matrix.nnz == 4  # as it was
        with pytest.raises(nt.CopyRequiredError, match="do not ascend: row 0"):
            nt.Table(matrix, copy=False)
    bytes_ = sparse.csr_array((np.array([200, 100], "u1"), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    with pytest.raises(nt.NotRepresentableError, match="300"):
        nt.Table(bytes_)


class Rows:
    """A sparse array that says what it is told to say."""

    format = "csr"

    def __init__(self, data, indices, indptr, shape):
        self.data, self.indices, self.indptr, self.shape = map(np.asarray, (data, indices, indptr, shape))
        self.shape = shape

    def tocsr(self):
        return self


@pytest.mark.parametrize("choice", [None, True, False])
@pytest.mark.parametrize(
    "rows, error, text",
    [
        (Rows([1.0], [4], [0, 1], (1, 4)), ValueError, "column indices have 4"),
        (Rows([1.0], [-1], [0, 1], (1, 4)), ValueError, "-1"),
        (Rows([1.0], [2**62], [0, 1], (1, 4)), ValueError, "column indices"),
        (Rows([1.0, 2.0], [0, 1], [0, 2, 1], (2, 4)), ValueError, ""),
        (Rows([1.0], [0], [0, 2], (1, 4)), ValueError, "2"),
        (Rows([1.0], [0], [1, 1], (1, 4)), ValueError, "first row offset is 1"),
        (Rows([1.0], [0], [0, -1], (1, 4)), ValueError, ""),
        (Rows([1.0], [0], [0, 2**62], (1, 4)), ValueError, ""),
        (Rows([1.0], [0], [0, 1], (2, 4)), ValueError, "offset"),
        (Rows([1.0], [0], np.array([], "i4"), (0, 4)), ValueError, "offset"),
        (Rows([1.0], np.array([0], "i2"), [0, 1], (1, 4)), ValueError, "int16"),
        (Rows([1.0], [0.0], [0, 1], (1, 4)), ValueError, "float64"),
        (Rows([1.0], [0], [0, 1], (1, -4)), ValueError, "shape"),
        (Rows([1.0], [0], [0, 1], (1, 2**70)), ValueError, "shape"),
        (Rows([1.0], [0], [0, 1], (2**63, 1)), ValueError, ""),
        (Rows([1.0], [0], [0, 1], ("a", 1)), ValueError, "shape"),
        (Rows([1.0], [0], [0, 1], (1,)), ValueError, "two dimensions, but this has 1"),
        (Rows([1.0], [0], [0, 1], None), ValueError, "shape"),
        (Rows([True], [0], [0, 1], (1, 4)), TypeError, "bool"),
        (Rows([1j], [0], [0, 1], (1, 4)), TypeError, "complex"),
        (Rows(np.array([1.0], ">f8"), [0], [0, 1], (1, 4)), TypeError, ">f8"),
        (Rows([1.0], np.array([0], ">i4"), [0, 1], (1, 4)), TypeError, ">i4"),
        (Rows([None], [0], [0, 1], (1, 4)), TypeError, "object"),
        (Rows([[1.0]], [0], [0, 1], (1, 4)), ValueError, "one dimension"),
    ],
)
def test_parts_that_are_wrong_are_refused(rows, error, text, choice):
    with pytest.raises(error, match=text or "."):
        nt.Table(rows, copy=choice)


def test_what_scipy_allows_is_allowed():
    surplus = Rows([1.0, 2.0, 3.0], [3, 0, -7], [0, 1, 2], (2, 4))
    for choice in [None, False]:
        assert nt.Table(surplus, copy=choice).rows().tolist() == [[0, 0, 0, 1], [2, 0, 0, 0]]
    zero = sparse.csr_array((np.array([0.0, 5.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 3))
    assert nt.Table(zero).nnz == 2 and nt.Table(zero) == of([[0, 5, 0]])
    spread = Rows(np.arange(8.0)[::2], np.array([0, 9, 1, 9], "i4")[::2], [0, 1, 2], (2, 2))
    spread.data = spread.data[:2]
    assert nt.Table(spread).rows().tolist() == [[0, 0], [0, 2]]
    with pytest.raises(nt.CopyRequiredError, match="contiguous"):
        nt.Table(spread, copy=False)
    with pytest.raises(ValueError, match="two dimensions"):
        nt.Table(sparse.coo_array(np.arange(3.0)))
    with pytest.raises(TypeError, match="bool"):
        nt.Table(sparse.csr_array(DENSE > 0))


def test_a_matrix_that_is_written_while_it_is_read_is_not_believed():
    class Changing(Rows):
        asked = 0

        @property
        def shape(self):
            self.asked += 1
            return (1, 4) if self.asked == 1 else (1, 1000)

        @shape.setter
        def shape(self, value):
            pass

    assert nt.Table(Changing([1.0], [3], [0, 1], None)).shape == (1, 4)


def test_choices_of_rows_and_columns_stay_sparse():
    table = of(DENSE, names=list("abcd"))
    for key in [
        slice(1, 3),
        slice(None, None, -1),
        slice(0, 0),
        [3, 0, 0],
        np.array([True, False, True, True]),
        (slice(None), [3, 0]),
        (slice(1, 4), slice(1, 3)),
        ([3, 0], [2, 2, 0]),
        (slice(None), slice(0, 0)),
        ...,
    ]:
        found = table[key]
        expected = DENSE[np.ix_(*key)] if isinstance(key, tuple) and isinstance(key[0], list) else DENSE[key]
        assert found.is_sparse and found.shape == expected.shape and np.array_equal(np.asarray(found), expected), key
    assert table[["d", "a"]].names == ["d", "a"] and table[["d", "a"]].is_sparse
    assert table[0].tolist() == [1, 0, 0, 2] and table["d"].tolist() == [2, 0, 0, 0] and table[3, "c"] == 5
    assert table[3, [0, 1]].tolist() == [4, 0] and table.column(1, "u1").tolist() == [0, 3, 0, 0]
    assert table.head(2).is_sparse and table.tail(1).rows().tolist() == [[4, 0, 5, 0]] and table.sort_by("a").is_sparse
    assert address(table[1:].to_scipy().data) == address(table.to_scipy().data[2:])
    for key in [4, slice(0, 2, 0), [9], (0, 9)]:
        with pytest.raises((IndexError, ValueError)):
            table[key]


def test_blocks_are_dense_and_only_stored_values_are_written():
    table = of(DENSE)
    assert [len(block) for block in table.row_blocks(3, "f4")] == [3, 1]
    assert table.par_map_blocks(lambda block: float(block.sum()), 2) == [6, 9]
    with table.write_rows(0, 2, dtype="f4") as block:
        block *= 2
    assert table.rows(0, 2).tolist() == [[2, 0, 0, 4], [0, 6, 0, 0]] and table.is_sparse
    before = table.rows()
    with pytest.raises(nt.TableError, match="stored"):
        with table.write_rows() as block:
            block[2, 2] = 1
    assert np.array_equal(table.rows(), before)
    with pytest.raises(nt.NotRepresentableError):
        of([[1.5, 0]]).rows(dtype="i4", policy="exact")


def test_types_are_converted_and_reported():
    table = of([[0, 1.5], [300, 0], [np.nan, 0]], names=["a", "b"])
    small = table.astype("u1")
    assert small.is_sparse and small.names == ["a", "b"] and small.rows().tolist() == [[0, 1], [255, 0], [0, 0]]
    assert small.rows().tolist() == nt.Table(np.asarray(table)).astype("u1").rows().tolist()
    assert nt.Table(table, dtype="f4").is_sparse and nt.Table(sparse.csr_array(DENSE), dtype="f4").dtype == np.float32
    with pytest.raises(nt.NotRepresentableError, match="row 1, column 0"):
        table.astype("u1", policy="checked")
    with pytest.raises(nt.NotRepresentableError):
        table.to_scipy("u1", policy="exact")
    dense = nt.Table(np.asarray(table))
    with pytest.raises(nt.NotRepresentableError):
        dense.to_scipy("u1", policy="checked")
    for dtype in ["u1", "f4", "f8"]:
        assert table.conversion_report(dtype) == dense.conversion_report(dtype)
    assert table.conversion_report("u1")["first"] == (0, 1)
    with pytest.raises(nt.CopyRequiredError, match="type"):
        nt.Table(sparse.csr_array(DENSE), dtype="f4", copy=False)


def test_dense_tables_become_sparse_arrays():
    found = nt.Table(DENSE.astype("i2")).to_scipy()
    assert isinstance(found, sparse.csr_array) and found.nnz == 5 and found.dtype == np.int16
    assert np.array_equal(found.toarray(), DENSE)
    dense = nt.Table(DENSE)
    assert (dense.is_sparse, dense.nnz) == (False, 16)
    mixed = nt.hstack([dense, nt.Table(np.full((4, 1), 0.5))])
    assert mixed.to_scipy().dtype == np.float64 and mixed.to_scipy().nnz == 9


def test_statistics_are_those_of_all_values():
    matrix = sparse.random_array((2000, 7), density=0.1, format="csr", rng=3)
    ours, dense = nt.statistics(nt.Table(matrix)), matrix.toarray()
    assert (ours.count == 2000).all() and np.allclose(ours.mean, dense.mean(0))
    assert np.allclose(ours.variance, dense.var(0, ddof=1))
    assert np.array_equal(ours.minimum, dense.min(0)) and np.array_equal(ours.maximum, dense.max(0))


def test_files_keep_tables_sparse(tmp_path):
    table, path = of(DENSE, names=list("abcd")), tmp_path / "table.ntb"
    nt.save(table, path)
    assert nt.verify(path) and nt.load(path) == table and nt.load(path).is_sparse and nt.load(path).names == list("abcd")
    with pytest.raises(nt.TableError, match="csr, not homogeneous"):
        nt.map(path)
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(nt.FormatError):
        nt.load(path)
    nt.write_csv(table, tmp_path / "table.csv")
    assert np.array_equal(np.asarray(nt.read_csv(tmp_path / "table.csv", "f8")), DENSE)
    nt.save_npy(table, tmp_path / "table.npy")
    assert np.array_equal(np.load(tmp_path / "table.npy"), DENSE)


def test_sparse_tables_are_put_together():
    one, two = of(DENSE, names=list("abcd")), of(DENSE[::-1].copy(), names=list("abcd"))
    below = nt.vstack([one, two, one])
    assert below.is_sparse and below.names == list("abcd")
    assert np.array_equal(np.asarray(below), np.vstack([DENSE, DENSE[::-1], DENSE]))
    beside = nt.hstack([one, two])
    assert beside.is_sparse and beside.names == list("abcdabcd")
    assert np.array_equal(np.asarray(beside), np.hstack([DENSE, DENSE[::-1]]))
    assert beside.to_scipy().has_sorted_indices and beside.nnz == 10
    mixed = nt.hstack([one, nt.Table(np.ones((4, 1)))])
    assert not mixed.is_sparse and np.array_equal(np.asarray(mixed), np.hstack([DENSE, np.ones((4, 1))]))
    assert not nt.hstack([one, of(DENSE, "f4")]).is_sparse
    assert nt.vstack([one[:0], one]) == one
    wide = nt.Table(sparse.csr_array((1, 2**31 - 1), dtype="f4"))
    assert nt.hstack([wide, wide]).to_scipy().shape == (1, 2**32 - 2)
    for call, tables in [(nt.vstack, [one, of(DENSE[:, :2])]), (nt.hstack, [one, of(DENSE[:2])])]:
        with pytest.raises(ValueError):
            call(tables)


def test_equality_is_that_of_values_not_of_what_is_stored():
    table = of(DENSE)
    assert table == of(DENSE) and table != of(DENSE * 2) and table != of(DENSE, names=list("abcd")) and table != of(DENSE, "f4")
    assert table == nt.Table(DENSE.astype("f8")) and nt.Table(DENSE.astype("f8")) == table
    one, two = of([[np.nan, 0, 1]]), of([[np.nan, 0, 1]])
    assert one == two and one != of([[np.nan, 2, 1]]) and one != of([[0, 0, 1]]) and one != of([[np.nan, 0, 0]])


def test_copies_are_their_own():
    table = of(DENSE, names=list("abcd"))
    twins = [copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table)), nt.Table(table)]
    for twin in [*twins, nt.Table(table, copy=True)]:
        assert twin.is_sparse and twin == table and twin.names == list("abcd")
        with twin.write_rows(0, 1) as block:
            block *= 9
        assert twin != table and table[0, 0] == 1
    assert address(copy.copy(table).to_scipy().data) == address(table.to_scipy().data)
    assert address(nt.Table(table, copy=True).to_scipy().data) != address(table.to_scipy().data)


def test_pickles_carry_what_is_stored_out_of_band():
    table = nt.Table(sparse.random_array((500, 30), density=0.2, format="csr", rng=1), names=[f"n{i}" for i in range(30)])
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(table, protocol)) == table
    buffers = []
    pickled = pickle.dumps(table, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 3 and len(pickled) < 3000
    again = pickle.loads(pickled, buffers=buffers)
    assert again == table and again.names == table.names and again.is_sparse
    assert [address(part) for part in parts(again.to_scipy())] == [address(part) for part in parts(table.to_scipy())]
    flat = [bytes(buffer.raw()) for buffer in buffers]
    assert pickle.loads(pickled, buffers=[bytearray(part) for part in flat]) == table
    for hostile in [
        [flat[0], flat[1], flat[2][:-8]],
        [flat[0], b"\xff" * len(flat[1]), flat[2]],
        [flat[0][:-4], flat[1], flat[2]],
        [flat[0][:-1], flat[1], flat[2]],
        [b"", b"", b""],
    ]:
        with pytest.raises(ValueError):
            pickle.loads(pickled, buffers=hostile)


def test_others_get_a_dense_copy():
    table = of(DENSE, names=list("abcd"))
    with pytest.raises(nt.CopyRequiredError):
        np.asarray(table, copy=False)
    assert np.array_equal(np.from_dlpack(table), DENSE)
    with pytest.raises(BufferError):
        np.from_dlpack(table, copy=False)
    pa = pytest.importorskip("pyarrow")
    assert pa.table(table).to_pydict()["d"] == [2, 0, 0, 0]


def test_it_is_shown():
    table = of(DENSE, names=list("abcd"))
    assert "4 x 4" in repr(table) and "5 values stored" in table._repr_html_()


def test_our_scaler_scales_sparse_tables():
    pytest.importorskip("sklearn")
    from sklearn.preprocessing import StandardScaler

    from numeric_table.sklearn import TableScaler

    matrix = sparse.random_array((300, 5), density=0.3, format="csr", rng=2)
    for dtype in ["f8", "f4"]:
        table = nt.Table(matrix, dtype=dtype, names=list("abcde"))
        before = table.rows()
        with pytest.raises(ValueError, match="with_mean=False"):
            TableScaler().fit(table)
        scaler = TableScaler(with_mean=False).fit(table)
        expected = StandardScaler(with_mean=False).fit_transform(matrix)
        found = scaler.transform(table)
        assert found.is_sparse and found.names == list("abcde") and found.nnz == table.nnz and found.dtype == table.dtype
        assert np.allclose(np.asarray(found, "f8"), expected.toarray(), atol=1e-5)
        assert np.allclose(np.asarray(scaler.inverse_transform(found), "f8"), matrix.toarray(), atol=1e-6)
        assert np.array_equal(table.rows(), before)
    assert TableScaler(with_mean=False).fit_transform(of(DENSE, "i2")).dtype == np.float64
    assert TableScaler(with_mean=False).fit_transform(of(DENSE).rename({1: "b"})).names == [None, "b", None, None]
    dense_scaler = TableScaler().fit(matrix.toarray())
    with pytest.raises(ValueError, match="with_mean=False"):
        dense_scaler.transform(nt.Table(matrix))
    with pytest.raises(ValueError, match="NaN"):
        TableScaler(with_mean=False).fit(of([[np.nan, 1.0]]))
    with pytest.raises(ValueError, match="features"):
        scaler.transform(of(DENSE))


def test_threads_read_and_write_one_sparse_table():
    table = nt.Table(sparse.csr_array(np.tile(np.eye(4), (500, 1))))
    other = nt.Table(table, copy=True)
    errors = []

    def work(number):
        try:
            for i in range(40):
                if number % 3 == 0:
                    with table.write_rows(0, 1000) as block:
                        block[block != 0] = i + 1
                elif number % 3 == 1:
                    found = table.to_scipy()[:1000]
                    assert (found.data == found.data[0]).all() and found.nnz == 1000
                    table == other, other == table
                else:
                    nt.vstack([table, other])
                    nt.hstack([other, table])
                    pickle.loads(pickle.dumps(table[5:50]))
                    nt.statistics(table)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)


def test_code_that_runs_when_shared_parts_go_may_use_the_table():
    matrix = sparse.csr_array(DENSE.astype("f8"))
    table, seen = nt.Table(matrix, copy=False), []
    weakref.finalize(matrix.data, lambda: seen.append(table.nnz))
    del matrix

    def write():
        with table.write_rows() as block:
            block *= 2

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive() and seen == [5] and np.array_equal(np.asarray(table), DENSE * 2)


LEAKS = """
import gc, pickle, resource
import numpy as np, scipy.sparse
import numeric_table as nt

matrix = scipy.sparse.random_array((100, 16), density=0.3, format="csr", rng=1)
table = nt.Table(matrix)

def rounds(count):
    for _ in range(count):
        nt.Table(matrix)
        nt.Table(matrix, copy=False).to_scipy()
        table.to_scipy("f4")
        table[3:9], table[[5, 1]], table[:, [3, 2]]
        nt.hstack([table, table]), nt.vstack([table, table])
        pickle.loads(pickle.dumps(table, 5))
        try:
            nt.Table(matrix.tocsc(), copy=False)
        except nt.CopyRequiredError:
            pass

rounds(200)
gc.collect()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rounds(3000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_nothing_leaks():
    run = subprocess.run([sys.executable, "-c", LEAKS], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 2048  # KiB, of 30,000 tables: 100 bytes of each would be 2,900


def test_columns_of_several_types_keep_their_digits_or_are_refused():
    big = 2**53 + 1
    mixed = nt.hstack([nt.Table([[0.5], [1.5]]), nt.Table(np.array([[0], [big]], dtype="int64"))])
    with pytest.raises(nt.NotRepresentableError, match=f"{big} at row 1, column 1 .*dtype="):
        mixed.to_scipy()
    assert mixed.to_scipy("float64").toarray()[1].tolist() == [1.5, big - 1]
    assert mixed.to_scipy(policy="saturate").nnz == 3 and mixed[:1].to_scipy().toarray().tolist() == [[0.5, 0]]
