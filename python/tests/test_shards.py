"""Tables of many files: opened, read, and results of all their rows, of the package's kinds and of kinds of one's own."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import numeric_table as nt

from test_partials import KINDS, OTHERS

COUNTS = [70, 0, 5, 75]


def flowers():
    """Rows like those of the irises: four measures, and one of three kinds."""
    generator = np.random.default_rng(4)
    kind = np.arange(150) % 3
    middle = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    measures = np.abs(middle[kind] + generator.normal(scale=0.3, size=(150, 4)))
    return np.column_stack([measures, kind]).astype("f4")


@pytest.fixture
def folder(tmp_path):
    rows, start = flowers(), 0
    for number, count in enumerate(COUNTS):
        table = nt.Table(rows[start : start + count], names=["a", "b", "c", "d", "kind"])
        nt.save(table, tmp_path / f"part-{number}.ntb", durable=False)
        start += count
    return tmp_path


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Files of several parts each, and of tables that are not homogeneous."""
    tmp_path, generator = tmp_path_factory.mktemp("many"), np.random.default_rng(5)
    for number, count in enumerate([1_060_000, 40_000, 0, 30_000]):
        rows = generator.integers(0, 3, (count, 4)).astype("f4") + generator.random((count, 4), dtype="f4")
        rows[:, 3] = np.floor(rows[:, 3]).clip(0, 2)
        table = nt.Table(rows)
        if number == 3:
            table = nt.hstack([table[:, [0]], table[:, [1, 2, 3]]])
        nt.save(table, tmp_path / f"part-{number}.ntb", durable=False)
    return nt.Shards(tmp_path)


class Seen:
    """Writes down what happens to it."""

    def __init__(self, log=None):
        self.log, self.story = [] if log is None else log, []

    def new_like(self):
        return Seen(self.log)

    def update(self, table):
        self.log.append(("update", len(table), threading.get_ident()))
        self.story.append(len(table))

    def merge(self, other):
        assert isinstance(other, Seen) and other is not self
        self.story.append(other.story)


class Wrapped:
    """A partial of the package's as one of Python's."""

    def __init__(self, own):
        self.own = own

    def new_like(self):
        return Wrapped(self.own.new_like())

    def update(self, table):
        self.own.update(table)

    def merge(self, other):
        self.own.merge(other.own)


def test_a_folder_a_pattern_and_a_list_are_opened(folder):
    rows = flowers()
    paths = sorted(folder.glob("*.ntb"))
    for given in [folder, str(folder), folder / "part-*.ntb", str(folder / "part-?.ntb"), paths, [str(path) for path in paths], iter(paths)]:
        shards = nt.Shards(given)
        assert shards.shape == (150, 5) and len(shards) == 150 and shards.shard_count == 4
        assert shards.dtype == np.float32 and shards.names == ["a", "b", "c", "d", "kind"] and shards.files == paths
        assert np.array_equal(shards.rows(), rows)
    assert "150" in repr(shards) and "4 files" in repr(shards)
    assert nt.Shards([paths[3], paths[0], paths[0]]).shape == (215, 5)
    odd = folder / "what?"
    odd.mkdir()
    nt.save(nt.Table([[1]]), odd / "a.ntb")
    assert nt.Shards(odd).shape == (1, 1)  # a folder's own name


def test_what_cannot_be_opened_says_which_file(folder):
    with pytest.raises(OSError, match="none"):
        nt.Shards(folder / "none")
    with pytest.raises(OSError):
        nt.Shards(folder / "none-*.ntb")
    with pytest.raises(FileNotFoundError, match="part-9"):
        nt.Shards([folder / "part-0.ntb", folder / "part-9.ntb"])
    with pytest.raises(nt.TableError):
        nt.Shards([])
    for wrong in [3, None, [3], b"part"]:
        with pytest.raises(TypeError):
            nt.Shards(wrong)
    with pytest.raises(nt.FormatError, match="part-0"):
        nt.Shards(folder / "part-0.ntb")  # no manifest
    nt.save(nt.Table([[1, 2]]), folder / "wide.ntb")
    with pytest.raises(nt.TableError, match="wide.ntb"):
        nt.Shards(folder)


def test_rows_and_blocks_go_across_files(folder):
    rows, shards = flowers(), nt.Shards(folder)
    assert np.array_equal(shards.rows(60, 90), rows[60:90]) and shards.rows(60, 90).dtype == np.float32
    assert np.array_equal(shards.rows(149, dtype="f8"), rows[149:].astype("f8")) and shards.rows(3, 3).shape == (0, 5)
    assert not shards.rows().flags.writeable
    blocks = list(shards.row_blocks(40, "f8"))
    assert [len(block) for block in blocks] == [40, 40, 40, 30] and np.array_equal(np.concatenate(blocks), rows)
    for start, stop in [(0, 151), (151, 151), (5, 3)]:
        with pytest.raises(nt.TableIndexError, match="150"):
            shards.rows(start, stop)
    with pytest.raises(nt.TableError):
        shards.row_blocks(0)
    table = nt.Table(rows, names=shards.names)
    assert shards.load() == table and shards.load("f8").dtype == np.float64 and shards.map() == table
    assert shards.verify() is True


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "bfloat16"])
def test_files_of_every_type_are_read(tmp_path, dtype):
    rows = np.arange(12).reshape(6, 2)
    for number in range(2):
        nt.save(nt.Table(rows[3 * number : 3 * number + 3], dtype=dtype), tmp_path / f"{number}.ntb", durable=False)
    shards = nt.Shards(tmp_path)
    assert np.array_equal(shards.rows(1, 5, "f8"), rows[1:5]) and np.array_equal(shards.load("f4").rows(), rows)
    assert np.array_equal(shards.map().rows(dtype="i8"), rows)
    assert np.array_equal(shards.reduce(nt.Statistics(2)).sum, rows.sum(0))
    assert shards.reduce(Seen()).story == [[[3]], [[3]]]


def test_columns_of_several_types_and_no_columns(tmp_path):
    mixed = nt.hstack([nt.Table([[1], [2]], dtype="i4"), nt.Table([[0.5], [1.5]], dtype="f8")])
    nt.save(mixed, tmp_path / "mixed.ntb")
    shards = nt.Shards([tmp_path / "mixed.ntb"] * 2)
    assert shards.dtype == np.float64 and shards.rows().tolist() == [[1, 0.5], [2, 1.5]] * 2
    assert np.array_equal(shards.load().rows(), shards.rows()) and shards.map().dtypes == mixed.dtypes
    types = []

    class Types(Seen):
        def new_like(self):
            return Types()

        def update(self, table):
            types.append(table.dtypes)

    shards.reduce(Types())
    assert types == [mixed.dtypes] * 2
    nt.save(nt.Table.zeros(7, 0), tmp_path / "none.ntb")
    none = nt.Shards([tmp_path / "none.ntb"])
    assert none.rows().shape == (7, 0) and none.reduce(nt.Statistics(0)).row_count == 7
    assert [block.shape for block in none.row_blocks(4)] == [(4, 0), (3, 0)]


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_files_have_the_same_bits_anyhow(folder, kind):
    shards, prototype = nt.Shards(folder), OTHERS[kind](5)
    prototype.update(flowers()[:7])
    before = prototype.to_bytes()
    found = shards.reduce(prototype)
    assert type(found) is type(prototype) and found.row_count == 150 and prototype.to_bytes() == before
    assert shards.runs(prototype) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    sent = [pickle.dumps(shards.reduce_shards(*run, prototype)) for run in shards.runs(prototype)]
    everything = prototype.new_like()
    for part in sent:
        everything.merge(pickle.loads(part))
    assert everything.to_bytes() == found.to_bytes()
    one = shards.reduce_shard(3, prototype)
    assert one.row_count == 75 and one.to_bytes() == shards.reduce_shards(3, 4, prototype).to_bytes()
    alone = prototype.new_like()
    alone.update(nt.load(folder / "part-3.ntb"))
    assert alone.to_bytes() == one.to_bytes()
    assert shards.reduce_shards(2, 2, prototype).row_count == 0


# A sketch keeps other values if it is given those of a block one by one, and not as a sketch of the block.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "QuantileSketch"])
def test_partials_of_python_are_merged_in_the_order_of_the_others(many, kind):
    prototype = OTHERS[kind](4)
    found, wrapped = many.reduce(prototype), many.reduce(Wrapped(prototype))
    assert isinstance(wrapped, Wrapped) and found.row_count == 1_130_000
    assert wrapped.own.to_bytes() == found.to_bytes()
    assert many.reduce_shard(0, Wrapped(prototype)).own.to_bytes() == many.reduce_shard(0, prototype).to_bytes()
    assert many.reduce_shards(1, 4, Wrapped(prototype)).own.to_bytes() == many.reduce_shards(1, 4, prototype).to_bytes()
    assert many.runs(Wrapped(prototype)) == many.runs(prototype)


def blocks_of(rows, columns=4, block=128 << 10):
    step = 1 << (max(block // columns, 1) - 1).bit_length()
    return [min(step, rows - start) for start in range(0, rows, step)] or [0]


def test_a_partial_of_python_sees_blocks_parts_files_and_runs(many):
    unit = 1 << 20  # rows of four columns
    expected = []
    for count in [1_060_000, 40_000, 0, 30_000]:
        parts = [min(unit, count - start) for start in range(0, count, unit)] or [0]
        expected.append([blocks_of(part) for part in parts])
    prototype = Seen()
    found = many.reduce(prototype)
    assert found.story == expected and prototype.story == []
    assert {thread for *_, thread in found.log} == {threading.get_ident()}
    assert many.reduce_shard(1, Seen()).story == expected[1]
    two = many.reduce_shards(1, 3, Seen()).story  # the result of the first file, to which that of the second is added
    assert two == expected[1] + [expected[2]]


def test_runs_of_many_files_depend_on_how_large_a_result_is(tmp_path):
    path = tmp_path / "one.ntb"
    nt.save(nt.Table([[1.0]]), path, durable=False)
    shards = nt.Shards([path] * 4097)
    large = Seen()
    large.nbytes = 65_537
    assert len(shards.runs(Seen())) == len(shards.runs(nt.Statistics(1))) == 4097
    assert len(shards.runs(large)) == 2049 and shards.runs(large)[-1] == (4096, 4097)
    edges = nt.Histogram(1, 10_000, (0, 1))
    assert edges.nbytes > 65_536 and shards.runs(edges) == shards.runs(large)
    small, found = shards.reduce(Seen()).story, None

    class Large(Seen):
        nbytes = 65_537

        def new_like(self):
            return Large(self.log)

    found = shards.reduce(Large()).story
    assert len(small) == 4097 and len(found) == 2049
    large.nbytes = "many"
    with pytest.raises(TypeError):
        shards.runs(large)


def test_exceptions_of_a_partial_of_python_are_passed_on(folder):
    shards = nt.Shards(folder)

    class Failing(Seen):
        def __init__(self, method, error):
            super().__init__()
            self.method, self.error = method, error

        def new_like(self):
            if self.method == "new_like":
                raise self.error
            return Failing(self.method, self.error)

        def update(self, table):
            if self.method == "update" and len(table) == 5:
                raise self.error

        def merge(self, other):
            if self.method == "merge":
                raise self.error

    for method in ["new_like", "update", "merge"]:
        for error in [ZeroDivisionError("here"), KeyboardInterrupt(), nt.TableError("mine")]:
            with pytest.raises(type(error)) as raised:
                shards.reduce(Failing(method, error))
            assert raised.value is error
            if method == "update":
                assert any("part-2.ntb" in note for note in error.__notes__)
    with pytest.raises(ZeroDivisionError):
        shards.reduce_shard(2, Failing("update", ZeroDivisionError()))
    assert shards.reduce_shard(0, Failing("update", ZeroDivisionError())).method == "update"
    for wrong in [3, object(), {}, [], "name"]:
        for call in [shards.reduce, shards.runs, lambda wrong: shards.reduce_shard(0, wrong)]:
            with pytest.raises(nt.TableTypeError, match="has no"):
                call(wrong)


def test_files_that_are_not_there_are_out_of_range(folder):
    shards = nt.Shards(folder)
    for partial in [nt.Statistics(5), Seen()]:
        for call in [
            lambda: shards.reduce_shard(4, partial),
            lambda: shards.reduce_shards(0, 5, partial),
            lambda: shards.reduce_shards(3, 2, partial),
        ]:
            with pytest.raises(nt.TableIndexError):
                call()
    with pytest.raises(nt.TableIndexError, match="4"):
        shards.reduce_shard(4, Seen())
    with pytest.raises(nt.TableError, match="part-0.ntb"):
        shards.reduce(nt.Statistics(3))


def test_a_partial_may_keep_what_it_was_given(many):
    class Keeping(Seen):
        kept = []

        def new_like(self):
            return Keeping(self.log)

        def update(self, table):
            self.kept.append((table, np.asarray(table)))

    many.reduce_shards(1, 4, Keeping())
    rows = np.concatenate([array for _, array in Keeping.kept])
    assert np.array_equal(rows, many.rows(1_060_000))
    for table, array in Keeping.kept:
        assert np.array_equal(np.asarray(table), array)
        with table.write_rows() as block:
            block[:] = 0
    assert np.array_equal(rows, many.rows(1_060_000))


def test_a_partial_may_use_the_package_and_the_shards_themselves(folder):
    shards = nt.Shards(folder)

    class Curious(Seen):
        def new_like(self):
            return Curious(self.log)

        def update(self, table):
            assert nt.statistics(table).row_count == len(table)
            assert shards.reduce(nt.Statistics(5)).row_count == 150
            assert sum(table.par_map_blocks(len, 10)) == len(table)
            self.log.append(shards.reduce(Seen()).story)

    found = shards.reduce(Curious())
    assert len(found.log) == 4 and found.log[0] == [[[70]], [[0]], [[5]], [[75]]]


@pytest.mark.parametrize("method", ["new_like", "update", "merge"])
def test_partials_within_partials_end_before_the_stack_does(folder, method):
    shards, depth = nt.Shards(folder), []

    class Endless(Seen):
        pass

    def within(self, *args):
        depth.append(None)
        shards.reduce_shard(0, Endless())
        return Endless()

    Endless.new_like = lambda self: Endless()
    Endless.update = Endless.merge = lambda self, other: None
    setattr(Endless, method, within)
    for _ in range(2):
        depth.clear()
        with pytest.raises(RecursionError, match="32 deep"):
            shards.reduce(Endless())
        assert len(depth) == 32
    assert shards.reduce(Seen()).story == [[[70]], [[0]], [[5]], [[75]]]


def test_partials_of_python_are_let_go(folder):
    shards, alive = nt.Shards(folder), []

    class Counted(Seen):
        def __init__(self, log=None):
            super().__init__(log)
            alive.append(weakref.ref(self))

        def new_like(self):
            return Counted(self.log)

    for _ in range(10):
        shards.reduce(Counted())
    gc.collect()
    nt.Table([[1.0]]).rows()  # what was let go of meanwhile is freed
    assert sum(one() is not None for one in alive) == 0


def test_threads_use_shards_at_once(folder):
    shards, rows, failed = nt.Shards(folder), flowers(), []
    expected = shards.reduce(nt.Covariance(5)).to_bytes()
    blocks = shards.row_blocks(7)
    found = []

    def work(number):
        try:
            for block in blocks:  # each block goes to one of the threads
                found.append(len(block))
            for _ in range(10):
                assert shards.reduce(nt.Covariance(5)).to_bytes() == expected
                assert shards.reduce(Seen()).story == [[[70]], [[0]], [[5]], [[75]]]
                assert np.array_equal(shards.rows(50, 100), rows[50:100])
                pickle.loads(pickle.dumps(shards))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed and not any(thread.is_alive() for thread in threads) and sum(found) == 150


def test_other_threads_run_while_files_are_reduced(many):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < 0.3:
        many.reduce(nt.Covariance(4))
        calls += 1
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert sum(start < at < end for at in ticks) > 2 * calls


def test_shards_are_pickled_by_their_files(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for given in [".", "part-*.ntb", ["part-0.ntb", "part-3.ntb"], folder]:
        shards = nt.Shards(given)
        pickled = pickle.dumps(shards)
        monkeypatch.chdir("/")
        again = pickle.loads(pickled)
        assert again.shape == shards.shape and [path.name for path in again.files] == [path.name for path in shards.files]
        assert again.reduce(nt.Statistics(5)).row_count == len(shards)
        monkeypatch.chdir(folder)
    pickled = pickle.dumps(nt.Shards(folder))
    nt.save(nt.Table(flowers()[:3], names=["a", "b", "c", "d", "kind"]), folder / "part-9.ntb")
    assert pickle.loads(pickled).shape == (150, 5)  # the same files as before
    table = nt.load(folder / "part-2.ntb")
    with table.write_rows() as block:
        block[0, 0] += 1
    nt.save(table, folder / "part-2.ntb")
    with pytest.raises(nt.FormatError, match="part-2.ntb: the file was replaced"):
        pickle.loads(pickled)
    os.remove(folder / "part-3.ntb")
    with pytest.raises(FileNotFoundError, match="part-3"):
        pickle.loads(pickled)


def test_another_process_computes_the_same_bits(folder):
    shards, prototype = nt.Shards(folder), nt.Covariance(5)
    program = (
        "import pickle, sys\n"
        "shards, runs, prototype = pickle.load(sys.stdin.buffer)\n"
        "pickle.dump([shards.reduce_shards(*run, prototype) for run in runs], sys.stdout.buffer)\n"
    )
    given = pickle.dumps((shards, shards.runs(prototype), prototype))
    run = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, check=True)
    everything = prototype.new_like()
    for part in pickle.loads(run.stdout):
        everything.merge(part)
    assert everything.to_bytes() == shards.reduce(prototype).to_bytes()


def test_a_folder_of_flowers_is_learned(folder):
    linear_model = pytest.importorskip("sklearn.linear_model")
    cluster = pytest.importorskip("sklearn.cluster")
    rows, shards = flowers(), nt.Shards(folder)
    found = shards.reduce(nt.Statistics(5))
    assert np.allclose(found.mean, rows.mean(0, dtype="f8")) and np.allclose(found.variance, rows.var(0, ddof=1, dtype="f8"))
    assert np.allclose(shards.reduce(nt.Covariance(5)).correlation, np.corrcoef(rows.T.astype("f8")))
    step = shards.reduce(nt.KMeansStep(shards.rows(0, 3)))
    while step.shift > 0:
        step = shards.reduce(step.next_step())
    model = cluster.KMeans(3, init=rows[:3].astype("f8"), n_init=1, tol=0, algorithm="lloyd").fit(rows.astype("f8"))
    assert np.allclose(step.centroids, model.cluster_centers_) and np.isclose(step.inertia, model.inertia_)
    regression = shards.reduce(nt.LinearRegression(4)).solve()
    expected = linear_model.LinearRegression().fit(rows[:, :4].astype("f8"), rows[:, 4:].astype("f8"))
    assert np.allclose(regression.coefficients, expected.coef_) and np.allclose(regression.intercepts, expected.intercept_)
    learned = shards.reduce(nt.GaussianNaiveBayes(5, 4, 3)).model()
    assert (learned.predict(rows[:, :4]) == rows[:, 4]).mean() > 0.9


@pytest.mark.parametrize("partial", [nt.Statistics(5), Seen()], ids=["native", "python"])
def test_a_damaged_a_replaced_and_a_missing_file_are_named(folder, partial):
    path, shards = folder / "part-2.ntb", nt.Shards(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])  # whoever wrote it was killed
    for call in [lambda: shards.reduce(partial), lambda: shards.reduce_shard(2, partial), shards.load, shards.verify, shards.rows]:
        with pytest.raises(nt.FormatError, match="part-2.ntb"):
            call()
    assert shards.reduce_shard(1, partial) is not None and len(shards.rows(0, 70)) == 70  # the other files are read
    damaged = bytearray(whole)
    damaged[whole.index(flowers()[70:75].tobytes()) + 9] ^= 1
    path.write_bytes(damaged)
    for call in [shards.load, shards.verify, lambda: shards.load_shard(2)]:
        with pytest.raises(nt.FormatError, match="part-2.ntb.*damaged"):
            call()
    assert shards.reduce(partial) is not None and len(shards.rows()) == 150  # which do not compare the values
    path.write_bytes(whole)
    assert shards.verify()
    table = nt.load(path)
    with table.write_rows() as block:
        block[0, 0] += 1
    nt.save(table, path)
    for call in [lambda: shards.reduce(partial), shards.load, shards.verify]:
        with pytest.raises(nt.FormatError, match="part-2.ntb: the file was replaced"):
            call()
    path.unlink()
    for call in [lambda: shards.reduce(partial), shards.rows, shards.map, shards.verify]:
        with pytest.raises(FileNotFoundError, match="part-2"):
            call()


def test_the_files_are_tables_too(tmp_path):
    nt.save(nt.Table(np.zeros((3, 2), "int16"), names=["a", "b"]), tmp_path / "part-0.ntb")
    nt.save(nt.Table(np.zeros((0, 2), "int16"), names=["a", "b"]), tmp_path / "part-1.ntb")
    shards = nt.Shards(tmp_path)
    assert shards.row_counts == [3, 0]
    table = shards.load_shard(0)
    assert (table.shape, table.dtype, table.names) == ((3, 2), "int16", ["a", "b"])
    assert shards.load_shard(1).shape == (0, 2)
    with pytest.raises(nt.TableIndexError, match="2"):
        shards.load_shard(2)
    nt.save(nt.Table(np.ones((3, 2), "int16"), names=["a", "b"]), tmp_path / "part-0.ntb")
    with pytest.raises(nt.FormatError, match="part-0.*replaced"):
        shards.load_shard(0)
    (tmp_path / "part-0.ntb").unlink()
    with pytest.raises(FileNotFoundError, match="part-0"):
        shards.load_shard(0)


def test_calls_compare_the_checksums_that_the_page_says(folder):
    path, shards = folder / "part-2.ntb", nt.Shards(folder)
    values = nt.load(path).rows() + 1
    nt.save(nt.Table(values, names=shards.names), path)  # another file, of the same shape, type and names
    assert np.array_equal(shards.rows(70, 75), values) and np.array_equal(shards.map().rows(70, 75), values)
    assert np.array_equal(np.concatenate(list(shards.row_blocks(64)))[70:75], values)
    for call in [
        lambda: shards.reduce(nt.Statistics(5)),
        lambda: shards.reduce(Seen()),
        lambda: shards.reduce_shard(2, Seen()),
        lambda: shards.reduce_shards(1, 3, nt.Statistics(5)),
        lambda: shards.load_shard(2),
        shards.load,
        shards.verify,
    ]:
        with pytest.raises(nt.FormatError, match=r"part-2.ntb: the file was replaced: its checksum of the values is \d+, and should be"):
            call()
    pickled = pickle.dumps(shards)
    with pytest.raises(nt.FormatError, match="checksum of the values"):
        pickle.loads(pickled)
    nt.save(nt.Table(values[:4], names=shards.names), path)
    for call in [shards.rows, shards.map, lambda: list(shards.row_blocks(64)), lambda: shards.load_shard(2)]:
        with pytest.raises(nt.FormatError, match="part-2.ntb: the file was replaced: its size in bytes"):
            call()
    for n in [0, -1]:
        with pytest.raises(nt.TableError):
            shards.row_blocks(n)


def test_blocks_of_several_types_read_each_file_once(tmp_path):
    for number in range(2):
        columns = [nt.Table(np.arange(4)[:, None] + 10 * number), nt.Table(np.full((4, 1), 0.5))]
        nt.save(nt.hstack(columns), tmp_path / f"part-{number}.ntb", durable=False)
    blocks = iter(nt.Shards(tmp_path).row_blocks(1))
    assert next(blocks).tolist() == [[0.0, 0.5]]
    (tmp_path / "part-0.ntb").unlink()  # its rows are there
    assert [next(blocks)[0, 0] for _ in range(4)] == [1.0, 2.0, 3.0, 10.0]


def test_columns_of_types_that_one_holds_are_read_row_by_row(tmp_path):
    columns = [nt.Table(np.arange(4, dtype="u1")[:, None]), nt.Table(np.full((4, 1), 0.5, dtype="f4"))]
    nt.save(nt.hstack(columns), tmp_path / "part-0.ntb", durable=False)
    shards = nt.Shards(tmp_path)
    assert shards.dtype == "f4" and shards.rows(2, 3).tolist() == [[2.0, 0.5]]
    assert [block.tolist() for block in shards.row_blocks(3)] == [[[0, 0.5], [1, 0.5], [2, 0.5]], [[3, 0.5]]]


def test_columns_of_several_types_keep_their_digits_or_are_refused(tmp_path):
    big = 2**53 + 1
    mixed = nt.hstack([nt.Table([[0.5], [1.5]]), nt.Table(np.array([[3], [big]], dtype="int64"), names=["id"])])
    for number, part in enumerate([mixed[:1], mixed[:0], mixed]):
        nt.save(part, tmp_path / f"{number}.ntb", durable=False)
    shards = nt.Shards(tmp_path)
    for read in [shards.rows, shards.load, lambda: shards.rows(2), lambda: list(shards.row_blocks(2))]:
        with pytest.raises(nt.NotRepresentableError, match=f"{big} at row 2, column 1 .*dtype="):
            read()
    assert shards.rows(0, 2).tolist() == [[0.5, 3]] * 2 and next(shards.row_blocks(2)).tolist() == [[0.5, 3]] * 2
    for read in [shards.rows(dtype="f8"), shards.load("f8").rows(), np.concatenate(list(shards.row_blocks(2, "f8")))]:
        assert read[2].tolist() == [1.5, big - 1]
    with pytest.raises(nt.TableIndexError, match="3 rows"):
        shards.rows(1, 4)
    nt.save(mixed[:1], tmp_path / "2.ntb", durable=False)
    with pytest.raises(nt.FormatError, match="2.ntb"):
        shards.rows()
    exact = nt.Shards(tmp_path)
    assert exact.load().names == [None, "id"] and exact.load().rows().tolist() == [[0.5, 3]] * 2
