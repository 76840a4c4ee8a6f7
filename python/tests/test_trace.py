"""What `trace` records: the copies of a with block, by kind, and nothing of calls that share memory."""

import threading

import numpy as np
import pytest

import numeric_table as nt


def copies(call):
    with nt.trace() as trace:
        call()
    return trace.copies


def table(**options):
    return nt.Table(np.arange(12, dtype="float32").reshape(4, 3), **options)


def test_values_that_are_shared_are_not_copied(tmp_path):
    own = table()
    array = np.asarray(own)
    assert copies(lambda: np.asarray(own)) == {}
    assert copies(lambda: own.rows(1, 3)) == {}
    assert copies(lambda: nt.Table(array)) == {}  # read-only memory of a table
    assert copies(lambda: nt.Table(np.ones((4, 3)), copy=False)) == {}
    assert copies(lambda: own[1:3]) == {}
    assert copies(lambda: own.select_columns([0, 2])) in ({}, {"gathered": (1, 32)})
    nt.save(own, tmp_path / "a.ntb")
    assert copies(lambda: nt.map(tmp_path / "a.ntb").rows(0, 2)) == {}


def test_copies_are_counted_by_kind(tmp_path):
    own = table()
    assert copies(lambda: nt.Table(np.ones((4, 3)))) == {"exchanged": (1, 96)}
    assert copies(lambda: nt.Table(np.ones((4, 6))[:, ::2], copy=None)) == {"exchanged": (1, 96)}
    assert copies(lambda: own.rows(1, 3, dtype="float64")) == {"converted": (1, 48)}
    assert copies(lambda: own.astype("int16")) == {"converted": (1, 24)}
    assert copies(lambda: own.column(1)) == {"gathered": (1, 16)}
    assert copies(lambda: own.column(1, dtype="float64")) == {"converted": (1, 32)}
    path = tmp_path / "a.ntb"
    assert copies(lambda: nt.save(own, path)) == {"saved": (1, 48)}
    assert copies(lambda: nt.load(path)) == {"loaded": (1, 48)}
    seen = np.asarray(own)
    with nt.trace() as trace:
        with own.write_rows(0, 1) as block:
            block += 1
    assert trace.copies["unshared"] == (1, 48), "the array is still referenced"
    assert seen[0, 0] == 0


def test_a_csv_file_that_another_thread_reads_counts_for_the_caller(tmp_path):
    path = tmp_path / "a.csv"
    nt.write_csv(table(), path)
    with nt.trace() as trace, nt.open_csv(path, dtype="float64") as source:
        assert sum(len(block) for block in source.row_blocks(2)) == 4
    assert trace.copies["loaded"] == (2, 96)


def test_traces_nest_and_belong_to_their_thread():
    own = table()
    with nt.trace() as outer:
        with nt.trace() as inner:
            own.rows(0, 1, dtype="float64")
            thread = threading.Thread(target=lambda: own.rows(0, 4, dtype="float64"))
            thread.start()
            thread.join()
        own.rows(0, 2, dtype="float64")
        assert (outer.nbytes, outer.count, inner.nbytes) == (72, 2, 24)
    own.rows(0, 2, dtype="float64")
    assert (outer.nbytes, inner.count) == (72, 1)


def test_a_trace_records_one_block_and_survives_exceptions():
    trace = nt.trace()
    assert (trace.nbytes, trace.copies, repr(trace)) == (0, {}, "<Trace: 0 copies, 0 bytes>")
    with pytest.raises(KeyError):
        with trace:
            table().rows(0, 1, dtype="int8")
            raise KeyError
    nbytes = trace.nbytes
    assert nbytes > 0 and str(trace).splitlines()[-1].split() == ["total", str(trace.count), str(nbytes)]
    table().rows(0, 1, dtype="int8")
    assert trace.nbytes == nbytes
    with pytest.raises(RuntimeError, match="again"):
        trace.__enter__()
    open_trace = nt.trace()
    open_trace.__enter__()
    del open_trace  # ends it
