"""Signals in the middle of calls that take long, and forks in the middle of reading."""

import os
import signal
import sys
import threading

import numpy as np
import pytest

import numeric_table as nt
from numeric_table import _native

ROWS = np.arange(8_000_000, dtype="f8").reshape(-1, 4) % 1009  # 64 MB


class Stop(Exception):
    pass


@pytest.fixture
def ends():
    """Returns whether an exception of a signal ends a function of the package, rather than coming when it has returned."""

    def handle(*_):
        raise Stop

    old = signal.signal(signal.SIGALRM, handle)
    _native._look_for_signals_every(0)  # some of the work takes a few milliseconds

    def ends(work, attempts=30, before=lambda: None):
        for _ in range(attempts):  # the signal may come before the call begins, or when it is over
            before()
            events, begins = [], threading.Event()

            def alarm():
                begins.wait()
                signal.raise_signal(signal.SIGALRM)

            def note(frame, event, function):
                if event.startswith("c_") and "numeric_table" in (getattr(function, "__module__", None) or repr(function)):
                    events.append(event)

            thread = threading.Thread(target=alarm)
            thread.start()
            try:
                begins.set()
                sys.setprofile(note)
                work()
                thread.join()
            except Stop:
                pass
            finally:
                sys.setprofile(None)
                begins.set()
                try:
                    thread.join()
                except Stop:
                    thread.join()
            if "c_exception" in events:
                return True
        return False

    yield ends
    _native._look_for_signals_every(10_000)
    signal.signal(signal.SIGALRM, old)


@pytest.fixture(scope="module")
def table():
    return nt.Table(ROWS, copy=False)


@pytest.fixture(scope="module")
def shards(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("shards") / "part.ntb"
    nt.save(table, path, durable=False)
    return nt.Shards([path] * 8)


def test_a_signal_ends_statistics(ends, table):
    assert ends(lambda: nt.statistics(table))


def test_a_signal_ends_statistics_of_mapped_files(ends, shards):
    mapped = shards.map()
    assert ends(lambda: nt.statistics(mapped))


@pytest.mark.parametrize("partial", [nt.Statistics(4), nt.Covariance(4), nt.Histogram(4, [0.0, 500.0, 2000.0])])
def test_a_signal_ends_an_update_and_nothing_is_added(ends, table, partial):
    assert ends(lambda: partial.update(table)) and partial.row_count % len(ROWS) == 0


@pytest.mark.parametrize("call", ["reduce", "load", "verify"])
def test_a_signal_ends_work_on_many_files(ends, shards, call):
    assert ends({"reduce": lambda: shards.reduce(nt.Statistics(4)), "load": shards.load, "verify": shards.verify}[call])


def test_a_signal_ends_reducing_by_a_class_of_python_between_its_calls(ends, shards):
    class Count:
        def new_like(self):
            return Count()

        def update(self, table):
            pass

        def merge(self, other):
            pass

    assert ends(lambda: shards.reduce(Count()))


@pytest.mark.parametrize("write", [nt.write_csv, nt.save_npy, nt.save])
def test_a_signal_ends_writing_and_the_old_file_stays(ends, table, tmp_path, write):
    path = tmp_path / "file"

    # An attempt before may have been faster than the signal.
    assert ends(lambda: write(table, path), before=lambda: path.write_bytes(b"old"))
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")


def in_fork(work):
    """Returns what a function returns in a forked process, as text."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # instead of hanging
        try:
            text = str(work())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(theirs, text.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as answer:
        text = answer.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return text


@needs_fork
def test_blocks_of_a_csv_file_that_have_begun_are_an_error_in_a_fork(tmp_path):
    path = tmp_path / "table.csv"
    nt.write_csv(nt.Table(ROWS[:10_000], names=list("abcd")), path)
    source = nt.open_csv(path)
    assert in_fork(lambda: sum(map(len, source.row_blocks(1000)))) == "10000"  # nothing has begun
    blocks = source.row_blocks(1000)
    next(blocks)
    assert in_fork(lambda: next(blocks)).startswith("RuntimeError: the blocks are read by a thread of the process that began")
    assert in_fork(lambda: source.row_blocks(1000)).startswith("RuntimeError: the file was being read when the process was")
    assert in_fork(lambda: sum(map(len, nt.open_csv(path).row_blocks(1000)))) == "10000"
    assert len(next(blocks)) == 1000 and sum(map(len, blocks)) == 8000


@needs_fork
def test_a_fork_computes_without_the_threads_of_its_parent(tmp_path):
    table, path = nt.Table(ROWS[:200_000], copy=False), tmp_path / "t.ntb"  # 6.4 MB: work for several threads
    nt.save(table, path, durable=False)
    work = {
        "statistics": lambda: nt.statistics(table).row_count,
        "reduce": lambda: nt.Shards([path]).reduce(nt.Statistics(4)).row_count,
        "astype": lambda: table.astype("f4").shape,
        "save": lambda: nt.save(table, path, durable=False),
        "blocks": lambda: table.par_map_blocks(len, 50_000),
    }
    for name, call in work.items():
        assert in_fork(call) == str(call()), name
