"""Progress of long calls, and their end by exceptions and signals."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import types

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
        for call in [nt.load, nt.verify, nt.read_csv, nt.open, nt.open_csv]:
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
    heard = Heard()
    assert sum(len(block) for block in nt.open_csv(path, progress=heard).row_blocks(30_000)) == 100_000
    heard.check(size)
    assert len(heard) >= 5


def test_functions_hear_of_readers_and_writers(large, tmp_path):
    heard, written = Heard(), []
    with nt.open(large, progress=heard) as reader:
        with nt.create(tmp_path / "t.ntb", reader, dtype="f4", progress=lambda *at: written.append(at)) as writer:
            for block in reader.row_blocks(300_000):
                writer.append(block)
        assert heard == [(at * 32, LARGE.nbytes) for at in (0, 300_000, 600_000, 900_000, 1_000_000)]
        assert written == [(at * 16, None) for at in (300_000, 600_000, 900_000, 1_000_000)]
        for call in [reader.verify, lambda: nt.statistics(reader)]:
            heard.clear()
            call()
            heard.check(LARGE.nbytes)
        heard.clear()
        reader.rows(0, 5), reader[3], reader.load_rows(2, 4)
        assert heard == []
    nt.save(nt.Table.zeros(0, 2), tmp_path / "t.ntb")
    assert list(nt.open(tmp_path / "t.ntb", progress=heard).row_blocks(3)) == [] and heard == [(0, 0)]


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
    reader = nt.open(large, progress=progress)
    works = [
        lambda: nt.load(large, progress=progress),
        lambda: nt.verify(large, progress=progress),
        lambda: nt.save(table, path, progress=progress),
        lambda: nt.read_csv(text, progress=progress),
        lambda: nt.read_csv(text, "f4", progress=progress),
        lambda: list(reader.row_blocks(100_000)),
        lambda: reader.verify(),
        lambda: nt.statistics(reader),
        lambda: list(nt.open_csv(text, progress=progress).row_blocks(50_000)),
    ]
    for work in works:
        calls = []
        with pytest.raises(Enough, match="of it"):
            work()
        assert len(calls) == after + 1  # and it is not called again
    calls = []
    with pytest.raises(Enough):
        with nt.create(path, reader, progress=progress) as writer:
            for _ in range(10):
                writer.append(LARGE[:100])
    assert nt.load(path) == old and sorted(os.listdir(tmp_path)) == ["t.csv", "t.ntb"]
    assert capfd.readouterr() == ("", "")  # nothing is said about panics
    assert np.array_equal(np.asarray(nt.load(large)), LARGE)


def test_an_exception_after_an_append_gives_the_writer_up(tmp_path):
    def progress(done, total):
        raise Enough

    old, path = nt.Table([[7]]), tmp_path / "t.ntb"
    nt.save(old, path)
    with pytest.raises(nt.TableError, match="given up"):
        with nt.create(path, 2, progress=progress) as writer:
            for _ in range(2):  # or a row would be there twice
                with pytest.raises((Enough, nt.TableError)) as caught:
                    writer.append([[1, 2]])
            assert "given up" in str(caught.value)
    for _ in range(2):
        with pytest.raises(nt.TableError, match="given up"):
            writer.close()
    with pytest.raises(Enough):
        with nt.create(path, 2, progress=progress) as writer:
            writer.append([[1, 2]])
    assert nt.load(path) == old and os.listdir(tmp_path) == ["t.ntb"]


def test_functions_may_use_the_writer_that_tells_them(tmp_path):
    def progress(done, total):
        assert writer.row_count == done // 8
        if done < 80:
            writer.append([[done]])

    with nt.create(tmp_path / "t.ntb", 1, progress=progress) as writer:
        writer.append([[0]])
    assert nt.load(tmp_path / "t.ntb").rows().ravel().tolist() == list(range(0, 80, 8))


@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_exception_ends_blocks_for_good(large, tmp_path, after):
    def progress(done, total):
        calls.append(done)
        if len(calls) > after:
            raise Enough

    text = tmp_path / "t.csv"
    text.write_text("1,2\n" * 400_000)
    for source in [nt.open(large, progress=progress), nt.open_csv(text, progress=progress)]:
        calls, found, blocks = [], 0, source.row_blocks(10_000)
        with pytest.raises(Enough):
            for _ in blocks:
                found += 1
        assert found == max(after - 1, 0) and next(blocks, None) is None and list(blocks) == []
        assert len(calls) == after + 1


def test_functions_that_call_themselves_are_an_error(large, tmp_path):
    program = """
        import sys
        import numeric_table as nt
        def progress(done, total):
            global depth
            depth += 1
            work()
        path, small = sys.argv[1:]
        nt.save(nt.Table([[1]]), small)
        works = [
            lambda: nt.load(small, progress=progress),
            lambda: nt.verify(path, progress=progress),
            lambda: list(nt.open(small, progress=progress).row_blocks(1)),
            lambda: nt.create(small, 1, progress=progress).append([[1]]),
        ]
        for work in works:
            for _ in range(3):
                depth = 0
                try:
                    work()
                except RecursionError:
                    pass
                else:
                    raise SystemExit("no error")
                assert depth == 32, depth
        assert nt.load(path).shape == (1_000_000, 4)
    """
    run = [sys.executable, "-c", textwrap.dedent(program), large, tmp_path / "t.ntb"]
    run = subprocess.run(run, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


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

        reader = shared if len(threads) % 2 else nt.open(large, progress=progress)
        nt.load(large, progress=progress)
        reader.verify()
        if heard[0] != 0 or LARGE.nbytes not in heard:
            wrong.append(heard)

    wrong, threads, shared = [], [], nt.open(large)
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
    with nt.open(large, progress=True) as reader, nt.create(tmp_path / "t.ntb", reader, progress=True) as writer:
        for block in reader.row_blocks(250_000):
            writer.append(block)
    shown = capsys.readouterr().err
    assert "large.ntb: 100%" in shown and "t.ntb: 32.0MB" in shown
    text = tmp_path / "t.csv"
    text.write_text("1,2\n" * 100)
    nt.read_csv(text, progress=True)
    list(nt.open_csv(text, progress=True).row_blocks(30))
    assert capsys.readouterr().err.count("t.csv: 100%") >= 2


class Bar:
    """Stands for a bar of tqdm's, and does not close itself."""

    made = []

    def __init__(self, **options):
        self.n, self.closed = 0, 0
        self.made.append(self)

    def update(self, count):
        assert not self.closed
        self.n += count

    def close(self):
        self.closed += 1


def test_every_bar_is_closed_once(large, tmp_path, monkeypatch):
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)

    def closed():
        gc.collect()
        assert Bar.made and [bar.closed for bar in Bar.made] == [1] * len(Bar.made)
        Bar.made.clear()

    text = tmp_path / "t.csv"
    text.write_text("1,2\n" * 100_000)
    sources = [lambda: nt.open(large, progress=True), lambda: nt.open_csv(text, progress=True)]
    for source in sources:
        list(source().row_blocks(30_000))
        closed()
        blocks = source().row_blocks(10_000)  # nobody takes the others
        next(blocks)
        assert [bar.closed for bar in Bar.made] == [0]
        del blocks
        closed()
        try:
            for _ in source().row_blocks(10_000):
                raise Enough
        except Enough as error:
            assert type(error) is Enough
        closed()
    reader = nt.open(large, progress=True)
    blocks = reader.row_blocks(1000)
    next(blocks)
    reader.close()
    with pytest.raises(nt.TableError, match="closed"):
        next(blocks)
    closed()
    blocks = nt.open(large, progress=True).row_blocks(1000, "u1", policy="checked")
    with pytest.raises(nt.NotRepresentableError):
        next(blocks)
    closed()
    with pytest.raises(nt.NotRepresentableError):  # the same block once more
        next(blocks)
    text.write_text("1,2\n" * 100_000 + "3\n")
    blocks = nt.open_csv(text, progress=True).row_blocks(1000)
    with pytest.raises(nt.TableError, match="line"):
        list(blocks)
    closed()
    writer = nt.create(tmp_path / "t.ntb", 2, progress=True)
    writer.append([[1, 2]])
    writer.close()
    closed()
    writer = nt.create(tmp_path / "t.ntb", 2, progress=True)
    writer.append([[1, 2]])
    del writer
    closed()
    nt.verify(large, progress=True)
    closed()


def test_without_tqdm_there_are_no_bars(large, tmp_path, monkeypatch):
    for name in ["tqdm", "tqdm.auto"]:
        monkeypatch.setitem(sys.modules, name, None)
    calls = [nt.load, nt.verify, nt.open, nt.read_csv, nt.open_csv]
    for call in calls + [lambda path, progress: nt.create(tmp_path / "t.ntb", 2, progress=progress)]:
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


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_ctrl_c_ends_waiting_for_a_block_of_csv(tmp_path):
    program = """
        import signal, sys, time
        import numeric_table as nt
        def interrupt(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        with open(sys.argv[1], "w") as file:
            file.write("1,x\\n" * 600_000)
        blocks = nt.open_csv(sys.argv[1]).row_blocks(10**9)
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        try:
            next(blocks)
        except KeyboardInterrupt:
            pass
        else:
            raise SystemExit("it was not interrupted")
        rest = next(blocks, None)  # it goes on, unless the block was there just then
        assert rest is None or len(rest) == 600_000
    """
    path = tmp_path / "t.csv"
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program), path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
