"""Dask: collections of files on threads and on processes, one of which dies."""

import copy
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest

import numeric_table as nt

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
import cloudpickle  # noqa: E402
import distributed  # noqa: E402

import numeric_table.dask as nd  # noqa: E402

COLUMNS = 3


def write(folder, counts, dtype="float32", names=("a", "b", "c")):
    rng = np.random.default_rng(5)
    arrays = [(rng.normal(size=(count, COLUMNS)) * 10.0 ** rng.integers(-9, 9, size=(count, 1))).astype(dtype) for count in counts]
    for number, array in enumerate(arrays):
        nt.save(nt.Table(array, names=list(names)), folder / f"part-{number:03}.ntb", durable=False)
    return np.concatenate(arrays)


class Sum:
    """A partial result in Python, whose bits depend on the order of additions."""

    def __init__(self):
        self.sums, self.rows = np.zeros(COLUMNS), 0

    def new_like(self):
        return type(self)()

    def update(self, table):
        for row in table.rows(dtype="float64"):
            self.sums += row
        self.rows += len(table)

    def merge(self, other):
        self.sums += other.sums
        self.rows += other.rows


class Slow(Sum):
    """Takes its time, and says that it has begun."""

    def __init__(self, folder=None):
        super().__init__()
        self.folder = folder

    def new_like(self):
        return type(self)(self.folder)

    def update(self, table):
        super().update(table)
        (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(0.1)


@pytest.fixture(params=[[4, 1, 0, 7, 30], [0], [5], [3] * 70], ids=str)
def files(request, tmp_path):
    return tmp_path, write(tmp_path, request.param), request.param


def test_a_collection_is_the_table_of_its_files(files):
    folder, values, counts = files
    tables = nd.from_shards(folder)
    assert (tables.npartitions, tables.shape, len(tables)) == (len(counts), values.shape, len(values))
    assert tables.dtype == "float32" and tables.names == ["a", "b", "c"]
    assert str(len(counts)) in repr(tables)
    assert dask.is_dask_collection(tables)
    assert len(tables.__dask_keys__()) == len(counts)
    whole = tables.compute()
    assert isinstance(whole, nt.Table) and whole.names == ["a", "b", "c"]
    np.testing.assert_array_equal(whole, values)
    kept = tables.persist()
    np.testing.assert_array_equal(kept.compute(scheduler="sync"), values)
    np.testing.assert_array_equal(dask.optimize(tables)[0].compute(scheduler="sync"), values)
    parts = dask.compute(*tables.to_delayed())
    assert [len(part) for part in parts] == counts


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_results_have_the_bits_of_one_process(files, scheduler):
    folder, values, _ = files
    shards = nt.Shards(folder)
    tables = nd.from_shards(shards)
    for prototype in (nt.Statistics(COLUMNS), nt.Covariance(COLUMNS), nt.GramMatrix(COLUMNS)):
        found = tables.reduce(prototype).compute(scheduler=scheduler)
        assert found.to_bytes() == shards.reduce(prototype).to_bytes()
    found, expected = tables.reduce(Sum()).compute(scheduler=scheduler), shards.reduce(Sum())
    assert found.rows == expected.rows == len(values)
    assert found.sums.tobytes() == expected.sums.tobytes()


def test_a_result_is_computed_again_from_what_it_was(tmp_path):
    write(tmp_path, [2] * 40)
    result = nd.from_shards(tmp_path).reduce(Sum())
    one, two = dask.compute(result, result)
    assert one.sums.tobytes() == two.sums.tobytes() == result.compute().sums.tobytes()
    first, second = Sum(), Sum()
    first.rows, second.rows = 1, 2
    assert nd._merged(first, second, second).rows == 5
    assert (first.rows, second.rows) == (1, 2)


def test_arrays_and_frames_have_all_rows(files):
    da, dd, pd = (pytest.importorskip(name) for name in ("dask.array", "dask.dataframe", "pandas"))
    folder, values, counts = files
    tables = nd.from_shards(folder)
    array = tables.to_array()
    assert array.shape == values.shape and array.dtype == values.dtype
    assert array.chunks == (tuple(filter(None, counts)) or (0,), (COLUMNS,))
    np.testing.assert_array_equal(array.compute(), values)
    np.testing.assert_array_equal(tables.to_array("float64").compute(), values.astype("f8"))
    if len(values):
        np.testing.assert_array_equal(da.nanmax(array, axis=0).compute(), values.max(axis=0))
    frame = tables.to_dataframe()
    assert list(frame.columns) == ["a", "b", "c"]
    found = frame.compute()
    np.testing.assert_array_equal(found, values)
    assert list(found.index) == list(range(len(values)))
    assert (frame.dtypes == "float32").all()
    assert isinstance(found, pd.DataFrame) and isinstance(frame, dd.DataFrame)
    if len(values) > 6:
        pd.testing.assert_frame_equal(frame.loc[4:6].compute(), found.loc[4:6])


def test_values_that_a_type_lacks_are_refused(tmp_path):
    nt.save(nt.Table([[1.0, 300.0]]), tmp_path / "part-0.ntb")
    tables = nd.from_shards(tmp_path)
    assert tables.to_array("uint8").compute().tolist() == [[1, 255]]
    with pytest.raises(nt.NotRepresentableError, match="300"):
        tables.to_array("uint8", policy="checked").compute()
    with pytest.raises(TypeError):
        tables.to_array("complex128")


def test_chunks_are_the_memory_of_their_tables(tmp_path):
    write(tmp_path, [4, 5])
    shards = nt.Shards(tmp_path)
    chunk = nd._chunk(shards, [0, 1], "saturate", np.dtype("float32"), (1, 0))
    assert chunk.base is not None and not chunk.flags.writeable
    frame = nd._frame(1, 4, shards)
    assert list(frame.index) == [4, 5, 6, 7, 8]
    assert np.shares_memory(frame["a"].to_numpy(), frame["b"].to_numpy().base)


def test_files_that_are_gone_damaged_or_changed_are_said(tmp_path):
    with pytest.raises((nt.TableError, OSError)):
        nd.from_shards(tmp_path / "nothing")
    write(tmp_path, [4, 5])
    tables = nd.from_shards(tmp_path)
    nt.save(nt.Table(np.zeros((6, COLUMNS), "float32"), names=["a", "b", "c"]), tmp_path / "part-001.ntb")
    for failing in (tables, tables.statistics(), tables.to_array(), tables.reduce(Sum())):
        with pytest.raises((nt.TableError, OSError), match="part-001"):
            failing.compute(scheduler="sync")
    (tmp_path / "part-001.ntb").unlink()
    with pytest.raises(OSError, match="part-001"):
        tables.statistics().compute(scheduler="sync")


class Fails(Sum):
    def update(self, table):
        raise ZeroDivisionError("as it must")


def test_what_a_partial_raises_is_raised(tmp_path):
    write(tmp_path, [4, 5])
    with pytest.raises(ZeroDivisionError, match="as it must"):
        nd.from_shards(tmp_path).reduce(Fails()).compute()
    with pytest.raises((nt.TableError, ValueError)):
        nd.from_shards(tmp_path).reduce(nt.Statistics(COLUMNS + 1)).compute()


@pytest.fixture(scope="module")
def client():
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    settings = {"distributed.worker.daemon": True, "distributed.comm.retry.count": 3}
    with dask.config.set(settings), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster, distributed.Client(cluster) as client:
        yield client
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_processes_compute_what_one_does(client, tmp_path):
    values = write(tmp_path, [50] * 12)
    shards = nt.Shards(tmp_path)
    tables = nd.from_shards(shards)
    found = tables.statistics().compute()
    assert found.to_bytes() == shards.reduce(nt.Statistics(COLUMNS)).to_bytes()
    np.testing.assert_array_equal(tables.compute(), values)
    np.testing.assert_array_equal(tables.to_array().compute(), values)
    np.testing.assert_array_equal(tables.persist().to_array().compute(), values)
    prototype = nt.KMeansStep(nt.Table(values[:4]))
    assert tables.reduce(prototype).compute().to_bytes() == shards.reduce(prototype).to_bytes()


def test_a_worker_that_is_killed_loses_no_row_and_changes_no_bit(client, tmp_path):
    data, begun = tmp_path / "data", tmp_path / "begun"
    data.mkdir(), begun.mkdir()
    count, rows = 40, 25
    values = write(data, [rows] * count)
    shards = nt.Shards(data)
    expected = shards.reduce(Sum())
    pids = set(client.run(os.getpid).values())

    killed = []

    def kill():
        while len(killed) == 0:
            workers = {name.split("-")[0] for name in os.listdir(begun)}
            if len(os.listdir(begun)) >= 8 and len(workers) == 2:
                victim = int(sorted(workers)[0])
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
            time.sleep(0.01)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = nd.from_shards(shards).reduce(Slow(begun)).compute()
    killer.join(10)
    assert killed and killed[0] in pids
    assert found.rows == count * rows == len(values)
    assert found.sums.tobytes() == expected.sums.tobytes()
    assert len(os.listdir(begun)) >= count
    assert killed[0] not in client.run(os.getpid).values()


def test_prototypes_and_results_travel_as_they_are(tmp_path):
    write(tmp_path, [3])
    shards = pickle.loads(pickle.dumps(nt.Shards(tmp_path)))
    assert shards.shape == (3, COLUMNS)
    found = shards.reduce(nt.Covariance(COLUMNS))
    assert copy.deepcopy(found).to_bytes() == pickle.loads(cloudpickle.dumps(found)).to_bytes() == found.to_bytes()


def test_arrays_of_several_types_keep_their_digits_or_are_refused(tmp_path):
    big = 2**53 + 1
    mixed = nt.hstack([nt.Table([[0.5], [1.5]]), nt.Table(np.array([[3], [big]], dtype="int64"), names=["id"])])
    nt.save(mixed[:1], tmp_path / "0.ntb")
    exact = nt.dask.from_shards(tmp_path).to_array()
    assert exact.dtype == np.float64 and exact.compute(scheduler="sync").tolist() == [[0.5, 3]]
    nt.save(mixed, tmp_path / "1.ntb")
    tables = nt.dask.from_shards(tmp_path)
    with pytest.raises(nt.NotRepresentableError, match=f"{big} at row 1, column 1 .*dtype="):
        tables.to_array().compute(scheduler="sync")
    for array in [tables.to_array("float64"), tables.to_array(policy="saturate")]:
        assert array.compute(scheduler="sync")[2].tolist() == [1.5, big - 1]
