"""Progress of long calls, and their end by exceptions and signals."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import numeric_table as nt

LARGE = np.arange(4_000_000, dtype="f8").reshape(-1, 4)  # 32 MB: several pieces for several threads


class Heard(list):
    def __call__(self, done, total):
        self.append((done, total))
        assert threading.current_thread() is threading.main_thread()

    def check(self, total):
        assert self[0] == (0, total) and self[-1] == (total, total)
        done = [done for done, _ in self]
        assert done == sorted(done) and {total for _, total in self} == {total}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.ntb"
    nt.save(nt.Table(LARGE, names=list("abcd")), path, durable=False)
    return path


def test_functions_hear_of_loading_saving_and_verifying(large, tmp_path):
    for call in [nt.load, nt.verify]:
        heard = Heard()
        call(large, progress=heard)
        heard.check(LARGE.nbytes)
    heard = Heard()
    nt.save(nt.Table(LARGE, copy=False), tmp_path / "t.ntb", durable=False, progress=heard)
    heard.check(LARGE.nbytes)
    for shape in [(0, 3), (3, 0), (1, 1)]:
        heard = Heard()
        nt.save(nt.Table.zeros(*shape), tmp_path / "t.ntb", progress=heard)
        heard.check(8 * shape[0] * shape[1])
        nt.load(tmp_path / "t.ntb", progress=heard)
    nt.load(large, progress=None)
    nt.load(large, progress=False)
    for progress in [5, "x", [], object()]:
        for call in [nt.load, nt.verify, nt.read_csv]:
            with pytest.raises(TypeError, match="progress"):
                call(large, progress=progress)


def test_functions_hear_of_tables_of_several_types(tmp_path):
    mixed = nt.hstack([nt.Table(LARGE[:300_000], copy=False), nt.Table(np.ones((300_000, 1), "i2"))])
    heard = Heard()
    nt.save(mixed, tmp_path / "t.ntb", progress=heard)
    heard.check(mixed.nbytes)
    for call in [nt.load, nt.verify]:
        heard = Heard()
        call(tmp_path / "t.ntb", progress=heard)
        heard.check(os.path.getsize(tmp_path / "t.ntb"))
    assert nt.load(tmp_path / "t.ntb") == mixed


def test_a_table_of_columns_of_one_type_keeps_its_kind(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = nt.Table(pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}))
    nt.save(table, tmp_path / "t.ntb")
    assert nt.load(tmp_path / "t.ntb").kind == table.kind == "structure-of-arrays"


def test_functions_hear_of_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,word\n" + "".join(f"{i},{i / 8},w{i % 5}\n" for i in range(100_000)))
    size = os.path.getsize(path) - len("a,b,word\n")
    for dtype in [None, "f4"]:
        heard = []
        nt.read_csv(path, dtype, progress=lambda *at: heard.append(at))
        assert heard[0] == (0, size) and heard[-1] == (size, size)


class Enough(Exception):
    pass


@pytest.mark.parametrize("after", [0, 1])
def test_an_exception_ends_the_work_and_is_raised(large, tmp_path, after, capfd):
    def progress(done, total):
        calls.append(done)
        if len(calls) > after:
            raise Enough("of it")

    old, path = nt.Table([[7]]), tmp_path / "t.ntb"
    nt.save(old, path)
    text = tmp_path / "t.csv"
    text.write_text("1,2\n" * 400_000)
    table = nt.Table(LARGE, copy=False)
    works = [
        lambda: nt.load(large, progress=progress),
        lambda: nt.verify(large, progress=progress),
        lambda: nt.save(table, path, progress=progress),
        lambda: nt.read_csv(text, progress=progress),
        lambda: nt.read_csv(text, "f4", progress=progress),
    ]
    for work in works:
        calls = []
        with pytest.raises(Enough, match="of it"):
            work()
        assert len(calls) == after + 1  # and it is not called again
    assert nt.load(path) == old and sorted(os.listdir(tmp_path)) == ["t.csv", "t.ntb"]
    assert capfd.readouterr() == ("", "")  # nothing is said about panics
    assert np.array_equal(np.asarray(nt.load(large)), LARGE)


def test_functions_may_load_and_save_tables_themselves(large, tmp_path):
    table, inner = nt.Table(LARGE), Heard()

    def progress(done, total):
        if done:
            nt.save(table.head(), tmp_path / "inner.ntb", progress=inner)
            with table.write_rows(0, 1) as block:  # of the table that is being saved
                block[:] = 99
            with pytest.raises(Enough):
                nt.load(tmp_path / "inner.ntb", progress=stop)

    def stop(done, total):
        raise Enough

    nt.save(table, tmp_path / "t.ntb", progress=progress)
    assert nt.load(tmp_path / "t.ntb")[0].tolist() == [0, 1, 2, 3] and table[0].tolist() == [99] * 4
    assert inner[0] == (0, 160) and inner[-1] == (160, 160)


def test_threads_hear_of_their_own_work(large):
    def work():
        me, heard = threading.current_thread(), []

        def progress(done, total):
            heard.append(done)
            if threading.current_thread() is not me:
                wrong.append(done)

        nt.load(large, progress=progress)
        if heard[0] != 0 or LARGE.nbytes not in heard:
            wrong.append(heard)

    wrong, threads = [], []
    for _ in range(4):
        threads.append(threading.Thread(target=work))
        threads[-1].start()
    [thread.join() for thread in threads]
    assert not wrong


def test_bars_are_those_of_tqdm(large, tmp_path, capsys):
    pytest.importorskip("tqdm")
    nt.load(large, progress=True)
    shown = capsys.readouterr().err
    assert "large.ntb: 100%" in shown and "32.0M" in shown
    text = tmp_path / "t.csv"
    text.write_text("1,2\n" * 100)
    nt.read_csv(text, progress=True)
    assert "t.csv: 100%" in capsys.readouterr().err


def test_without_tqdm_there_are_no_bars(large, tmp_path, monkeypatch):
    for name in ["tqdm", "tqdm.auto"]:
        monkeypatch.setitem(sys.modules, name, None)
    for call in [nt.load, nt.verify, nt.read_csv]:
        with pytest.raises(ImportError, match="tqdm.*install it"):
            call(large, progress=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_ctrl_c_ends_long_work_before_it_is_done(tmp_path):
    program = """
        import os, signal, sys
        import numpy as np, numeric_table as nt
        def interrupt(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        path, old = os.path.join(sys.argv[1], "t.ntb"), nt.Table([[7]])
        nt.save(old, path)
        table = nt.Table.zeros(64_000_000, 4, dtype="i1")
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.003)
            try:
                nt.save(table, path)
            except KeyboardInterrupt:
                pass
            else:
                raise SystemExit("it was not interrupted")
            assert nt.load(path) == old and os.listdir(sys.argv[1]) == ["t.ntb"]
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program), tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
