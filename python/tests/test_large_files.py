"""Files larger than memory: read part by part, written block by block."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import numeric_table as nt

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"]
SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (1, 7), (7, 1), (5, 3), (300, 40)]


def numbers(shape, dtype="f8"):
    return (np.arange(shape[0] * shape[1]) % 100).reshape(shape).astype(dtype)


def saved(path, array, names=None):
    nt.save(nt.Table(array, names=names), path, durable=False)
    return path


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_every_type_are_read_in_any_type(tmp_path, dtype, order):
    array = np.array(numbers((50, 3), dtype), order=order)
    with nt.open(saved(tmp_path / "t.ntb", array)) as reader:
        assert (reader.dtype, reader.order, reader.nbytes) == (np.dtype(dtype), order, array.nbytes)
        for other in TYPES:
            found = reader.rows(7, 31, dtype=other)
            assert found.dtype == np.dtype(other) and np.array_equal(found, array[7:31].astype(other))
        assert np.array_equal(reader.rows(7, 31), array[7:31]) and not reader.rows().flags.writeable


def test_bfloat16_is_read_and_written(tmp_path):
    table, path = nt.Table([[1.5, -2.0]], dtype="bfloat16"), tmp_path / "t.ntb"
    with nt.create(path, table) as writer:
        writer.append(table)
        writer.append([[0.5, 3.0]])
    assert nt.load(path).astype("f4").rows().tolist() == [[1.5, -2.0], [0.5, 3.0]]
    with nt.open(path) as reader:
        assert reader.rows(dtype="f4", policy="exact").tolist() == [[1.5, -2.0], [0.5, 3.0]]


@pytest.mark.parametrize("shape", SHAPES)
def test_files_of_every_shape_are_read_and_copied(tmp_path, shape):
    array, rows = numbers(shape), shape[0]
    with nt.open(saved(tmp_path / "one.ntb", array)) as reader:
        assert (reader.shape, len(reader), reader.ndim, reader.kind) == (shape, rows, 2, "homogeneous")
        assert reader.names == [None] * shape[1] and len(reader.dtypes) == shape[1]
        assert reader.rows().shape == shape and reader.load_rows().shape == shape and reader.verify()
        assert nt.statistics(reader).row_count == rows
        for n in [1, 2, 7, 10**9]:
            blocks = list(reader.row_blocks(n))
            assert [len(block) for block in blocks] == [min(n, rows - at) for at in range(0, rows, n)]
            assert np.array_equal(np.concatenate([array[:0], *blocks]), array)
        with nt.create(tmp_path / "two.ntb", reader) as writer:
            for block in reader.row_blocks(7):
                writer.append(block)
            assert writer.row_count == rows and not (tmp_path / "two.ntb").exists()
    assert np.array_equal(np.asarray(nt.load(tmp_path / "two.ntb")), array) and nt.load(tmp_path / "two.ntb").shape == shape


def test_readers_index_rows_as_tables_do(tmp_path):
    array = numbers((50, 3), "i2")
    table = nt.Table(array, names=["a", "b", "c"])
    nt.save(table, tmp_path / "t.ntb")
    reader = nt.open(tmp_path / "t.ntb")
    for key in [0, 49, -1, -50, np.int64(3)]:
        assert np.array_equal(reader[key], table[key]) and reader[key].dtype == np.int16
    slices = [slice(None), slice(2, 5), slice(5, 2), slice(-3, None), slice(None, None, 7), slice(40, 3, -9), slice(99, 200)]
    for key in slices + [slice(None, None, -1), slice(49, None, 1000)]:
        assert reader[key] == table[key] and reader[key].names == ["a", "b", "c"], key
    for key in [50, -51, 2**40]:
        with pytest.raises(nt.TableIndexError, match="50"):
            reader[key]
    for key in ["a", (1, 2), [1, 2], ...]:
        assert np.array_equal(reader[key], table[key]), key
    for key in [True, None, 1.5]:
        with pytest.raises((TypeError, nt.TableIndexError)):
            reader[key]
    assert np.array_equal(np.asarray(reader), array) and np.asarray(reader, dtype="f4").dtype == np.float32
    assert np.array(reader, copy=True).flags.writeable and nt.Table(reader).shape == (50, 3)
    with pytest.raises(nt.CopyRequiredError):
        np.array(reader, copy=False)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("step", [1, -1, 3, 1000, -70000, 150000])
def test_rows_that_lie_apart_are_gathered_from_files_of_many_windows(tmp_path, order, step):
    array = np.array(np.arange(400_000 * 4, dtype="f8").reshape(-1, 4), order=order)
    path = saved(tmp_path / "t.ntb", array)
    with nt.open(path) as reader:
        assert np.array_equal(np.asarray(reader[::step]), array[::step])


def test_rows_past_the_end_are_refused(tmp_path):
    with nt.open(saved(tmp_path / "t.ntb", numbers((5, 3)))) as reader:
        for call in [reader.rows, reader.load_rows]:
            for start, stop in [(0, 6), (4, 3), (6, 6), (0, 2**63)]:
                with pytest.raises(nt.TableIndexError, match="5"):
                    call(start, stop)
            assert call(5, 5).shape == (0, 3)
        with pytest.raises(nt.TableError):
            reader.row_blocks(0)
        with pytest.raises(nt.TableError, match="policy"):
            reader.rows(policy="none")


def test_policies_say_what_becomes_of_values_and_errors_name_the_row_of_the_file(tmp_path):
    array = np.array([[1, 2], [3, 4], [5, 300], [7, -1]], dtype="i4")
    with nt.open(saved(tmp_path / "t.ntb", array)) as reader:
        assert reader.rows(2, 4, "u1").tolist() == [[5, 255], [7, 0]]
        for call in [reader.rows, reader.load_rows]:
            with pytest.raises(nt.NotRepresentableError, match="300 at row 2, column 1"):
                call(1, 4, "u1", policy="checked")
        blocks = reader.row_blocks(1, "u1", policy="exact")
        assert [next(blocks).tolist() for _ in range(2)] == [[[1, 2]], [[3, 4]]]
        with pytest.raises(nt.NotRepresentableError, match="row 2"):
            next(blocks)
        with pytest.raises(nt.NotRepresentableError):  # the same block once more
            next(blocks)
        assert reader.rows(dtype="i8", policy="exact").tolist() == array.tolist()
        for policy in ["checked", "exact"]:
            with nt.create(tmp_path / "two.ntb", 2, dtype="u1") as writer:
                writer.append(array[:2], policy=policy)
                with pytest.raises(nt.NotRepresentableError, match="300 at row 4, column 1"):
                    writer.append(array, policy=policy)
                assert writer.row_count == 2  # all or nothing
                writer.append(array, policy="saturate")
            assert nt.load(tmp_path / "two.ntb").rows()[4:].tolist() == [[5, 255], [7, 0]]


def test_statistics_of_a_file_are_those_of_the_table(tmp_path):
    array = np.random.default_rng(7).normal(size=(20000, 5)).astype("f4")
    path = saved(tmp_path / "t.ntb", array, names=list("abcde"))
    with nt.open(path) as reader:
        found, whole = nt.statistics(reader), nt.statistics(nt.load(path))
    assert pickle.dumps(found) == pickle.dumps(whole)  # bit for bit
    assert repr(found) == repr(whole)
    assert pickle.dumps(nt.statistics(path)) == pickle.dumps(whole)
    for other in [None, object(), 7]:
        with pytest.raises((TypeError, nt.TableError)):
            nt.statistics(other)


@pytest.mark.parametrize("dtype", TYPES)
def test_files_of_every_type_are_written(tmp_path, dtype):
    array, path = numbers((50, 3), dtype), tmp_path / "t.ntb"
    with nt.create(path, ["a", None, "c"], dtype=dtype, durable=False) as writer:
        assert writer.dtype == np.dtype(dtype) and writer.names == ["a", None, "c"]
        for other in TYPES:
            writer.append(array.astype(other))
        writer.append(nt.Table(array))
        writer.append(np.asfortranarray(array))
        writer.append(array[:2].tolist())
    table = nt.load(path)
    assert table.shape == (50 * 13 + 2, 3) and table.dtype == np.dtype(dtype) and table.names == ["a", None, "c"]
    assert np.array_equal(np.asarray(table)[:600], np.tile(array, (12, 1))) and nt.verify(path)


def test_a_writer_takes_columns_of_what_has_some(tmp_path):
    path, table = tmp_path / "t.ntb", nt.Table(numbers((4, 2), "i2"), names=["a", "b"])
    for columns, dtype, expected in [(table, None, "i2"), (table, "f4", "f4"), (2, None, "f8"), (np.int8(2), "u1", "u1")]:
        with nt.create(path, columns, dtype=dtype) as writer:
            writer.append(table)
        assert nt.load(path).dtype == np.dtype(expected)
    with nt.open(path) as reader, nt.create(tmp_path / "u.ntb", reader) as writer:
        assert writer.dtype == np.uint8
        writer.append(reader)
        writer.append(reader, policy="exact")
    assert nt.load(tmp_path / "u.ntb").rows().tolist() == numbers((4, 2)).tolist() * 2
    for columns in ["ab", True, -1, 1.5, None, iter(["a"]), [1, 2], object(), 2**70]:
        with pytest.raises((TypeError, nt.TableError)):
            nt.create(path, columns)
    assert sorted(os.listdir(tmp_path)) == ["t.ntb", "u.ntb"]  # nothing is left over


def test_whole_files_are_appended(tmp_path):
    one = saved(tmp_path / "one.ntb", numbers((1000, 3), "i4"), names=list("abc"))
    with nt.open(one) as reader, nt.create(tmp_path / "two.ntb", reader, dtype="f4") as writer:
        writer.append(reader)
        writer.append(reader)
        with pytest.raises(TypeError, match="checked"):
            writer.append(reader, policy="saturate")
        reader.close()
        with pytest.raises(nt.TableError, match="closed"):
            writer.append(reader)
    assert nt.load(tmp_path / "two.ntb").rows().tolist() == numbers((1000, 3)).tolist() * 2


def test_rows_that_do_not_fit_are_refused_as_a_whole(tmp_path):
    path = tmp_path / "t.ntb"
    with nt.create(path, ["a", "b"], dtype="u1") as writer:
        writer.append([[1, 2]])
        for rows in [np.zeros((5, 3)), np.zeros((0, 3)), [1, 2, 3], np.zeros(2), nt.Table.zeros(2, 1), []]:
            with pytest.raises(nt.TableError, match=r"these rows do not fit the file: expected 2 columns, found [013]"):
                writer.append(rows)
            with pytest.raises(nt.TableError, match="columns"):
                writer.append(rows, policy="saturate")
        for rows in [np.zeros((2, 2, 2)), 5, "text", None, [["x", "y"]], np.array([["a", "b"]]), np.zeros((1, 2), complex)]:
            with pytest.raises((TypeError, ValueError)):
                writer.append(rows)
        with pytest.raises(nt.NotRepresentableError, match="300"):
            writer.append([[3, 4], [5, 300]])
        with pytest.raises(nt.TableError, match="another column"):
            writer.append(nt.Table([[1, 2]], names=["b", "a"]))
        assert writer.row_count == 1
        writer.append(np.zeros((0, 2)))
        writer.append(np.array([[9, 9], [3, 4]])[1:, ::-1])
    assert nt.load(path).rows().tolist() == [[1, 2], [4, 3]]


def test_an_exception_leaves_no_file_and_the_old_one_as_it_is(tmp_path):
    path = tmp_path / "t.ntb"
    for old in [None, nt.Table([[7.0]])]:
        if old is not None:
            nt.save(old, path)
        with pytest.raises(ZeroDivisionError):
            with nt.create(path, 2) as writer:
                writer.append(np.zeros((100_000, 2)))
                raise ZeroDivisionError
        with pytest.raises(nt.TableError, match="closed"):
            writer.append([[1, 2]])
        writer = nt.create(path, 2)
        writer.append(np.zeros((100, 2)))
        del writer  # without a word
        gc.collect()
        assert sorted(os.listdir(tmp_path)) == ([] if old is None else ["t.ntb"])
    assert nt.load(path) == old
    with pytest.raises(KeyboardInterrupt):
        with nt.create(path, 2):
            raise KeyboardInterrupt
    assert nt.load(path) == old


def test_nothing_is_done_with_what_is_closed(tmp_path):
    path = saved(tmp_path / "t.ntb", numbers((5, 2)))
    reader = nt.open(path)
    blocks = reader.row_blocks(2)
    next(blocks)
    reader.close()
    reader.close()
    calls = [reader.rows, reader.load_rows, reader.verify, lambda: reader[0], lambda: reader[::2], lambda: next(blocks)]
    for call in calls + [reader.__enter__, lambda: nt.statistics(reader), lambda: np.asarray(reader)]:
        with pytest.raises(nt.TableError, match="closed"):
            call()
    assert reader.shape == (5, 2)
    writer = nt.create(tmp_path / "u.ntb", 2)
    writer.append([[1, 2]])
    writer.close()
    writer.close()
    assert nt.load(tmp_path / "u.ntb").rows().tolist() == [[1, 2]]
    for call in [lambda: writer.append([[1, 2]]), writer.__enter__]:
        with pytest.raises(nt.TableError, match="closed"):
            call()
    with nt.create(tmp_path / "u.ntb", 1) as writer:
        writer.close()
    assert nt.load(tmp_path / "u.ntb").shape == (0, 1)


def test_damaged_and_truncated_files_are_found(tmp_path):
    path = saved(tmp_path / "t.ntb", np.arange(600_000.0).reshape(-1, 3))
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    path.write_bytes(damaged)
    with nt.open(path) as reader:
        assert reader.rows(0, 5).shape == (5, 3)  # rows alone have no checksums
        with pytest.raises(nt.FormatError, match="damaged"):
            reader.verify()
    for length in [0, 3, 100, 5000, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(nt.FormatError):
            nt.open(path)
    path.write_bytes(whole)
    with nt.open(path) as reader:
        os.truncate(path, len(whole) // 2)
        assert reader.rows(0, 5).shape == (5, 3)
        calls = [lambda: reader.rows(199_000), reader.verify, lambda: list(reader.row_blocks(10_000))]
        for call in calls + [lambda: nt.statistics(reader)]:
            with pytest.raises(nt.FormatError, match="shorter"):
                call()
        with nt.create(tmp_path / "u.ntb", 3) as writer:
            with pytest.raises(nt.FormatError):
                writer.append(reader)
            assert writer.row_count == 0
    rng = np.random.default_rng(3)
    for _ in range(200):
        hostile = bytearray(whole[:8192])
        for place in rng.integers(0, 600, 3):
            hostile[place] = rng.integers(0, 256)
        path.write_bytes(hostile)
        with pytest.raises(nt.TableFileError):
            nt.open(path).rows()


def test_files_of_other_kinds_are_loaded_as_a_whole(tmp_path):
    mixed = nt.hstack([nt.Table([[1, 2]]), nt.Table([[0.5]])])
    nt.save(mixed, tmp_path / "t.ntb")
    with pytest.raises(nt.TableError, match="structure-of-arrays cannot be read in parts"):
        nt.open(tmp_path / "t.ntb")
    with nt.create(tmp_path / "u.ntb", mixed) as writer:
        writer.append(mixed)
    assert nt.load(tmp_path / "u.ntb").rows().tolist() == [[1, 2, 0.5]]


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be deleted there")
def test_a_file_may_be_deleted_or_replaced_while_it_is_open(tmp_path):
    path = saved(tmp_path / "t.ntb", numbers((100, 2)))
    with nt.open(path) as reader:
        nt.save(nt.Table([[9]]), path)
        assert np.array_equal(reader.rows(), numbers((100, 2)))
        path.unlink()
        assert reader.verify() and sum(len(block) for block in reader.row_blocks(7)) == 100
        with nt.create(path, reader) as writer:  # into its own place
            writer.append(reader)
    assert nt.load(path).shape == (100, 2)


def test_threads_share_readers_and_writers(tmp_path):
    array = np.arange(60_000.0).reshape(-1, 3)
    reader = nt.open(saved(tmp_path / "t.ntb", array))
    found, wrong = [], []
    with nt.create(tmp_path / "u.ntb", 3) as writer:

        def work(seed):
            rng = np.random.default_rng(seed)
            for start in rng.integers(0, 19_000, 50):
                block = reader.rows(int(start), int(start) + 1000)
                if not np.array_equal(block, array[start : start + 1000]):
                    wrong.append(start)
                writer.append(block[:10])
                found.append(len(block))
            if not np.array_equal(np.concatenate(list(reader.row_blocks(777))), array):
                wrong.append("blocks")

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert not wrong and len(found) == 200
    rows = np.asarray(nt.load(tmp_path / "u.ntb"))
    assert rows.shape == (2000, 3) and (np.diff(rows.reshape(200, 30), axis=1) == 1).all()  # each append as a whole


def test_a_reader_is_closed_by_one_thread_while_another_reads(tmp_path):
    path = saved(tmp_path / "t.ntb", np.zeros((200_000, 4)))
    for _ in range(5):
        reader, outcomes = nt.open(path), []

        def work():
            try:
                while True:
                    outcomes.append(reader.rows(0, 50_000).sum())
            except nt.TableError as error:
                outcomes.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        while not outcomes:
            pass
        reader.close()
        thread.join(60)
        assert not thread.is_alive() and outcomes[-1] == "the file is closed" and set(outcomes[:-1]) == {0.0}


def test_missing_and_forbidden_files_are_of_both_families(tmp_path):
    calls = [nt.open, nt.open_csv, nt.load, nt.map, nt.verify, nt.load_npy, nt.read_csv]
    for call in calls + [lambda path: nt.create(path / "t.ntb", 2), lambda path: nt.save(nt.Table([[1]]), path / "t.ntb")]:
        for family in [FileNotFoundError, nt.TableFileError, nt.TableFileNotFoundError, OSError]:
            with pytest.raises(family, match="none") as caught:
                call(tmp_path / "none")
        assert type(caught.value) is nt.TableFileNotFoundError and caught.value.errno == 2
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is nt.TableFileNotFoundError and str(again) == str(caught.value)
    assert issubclass(nt.TableFilePermissionError, PermissionError) and issubclass(nt.TableFilePermissionError, nt.TableFileError)
    assert nt.TableFileNotFoundError.__module__ == "numeric_table" and nt.TableFileNotFoundError.__doc__
    (tmp_path / "text").write_text("no table")
    for path, error in [(tmp_path, nt.TableFileError), (tmp_path / "text", nt.FormatError)]:
        with pytest.raises(error) as caught:
            nt.open(path)
        assert not isinstance(caught.value, FileNotFoundError)
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        (tmp_path / "text").chmod(0)
        with pytest.raises(nt.TableFilePermissionError):
            nt.open(tmp_path / "text")


def test_errors_of_the_disk_leave_nothing(tmp_path):
    resource = pytest.importorskip("resource")
    assert resource
    if os.path.exists("/dev/full"):
        with pytest.raises(nt.TableFileError):
            nt.create("/dev/full", 2)
    program = """
        import os, resource, signal, sys
        import numpy as np, numeric_table as nt
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        path = os.path.join(sys.argv[1], "t.ntb")
        nt.save(nt.Table([[7]]), path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            with nt.create(path, 2) as writer:
                writer.append(np.zeros((1000, 2)))
                try:
                    writer.append(np.zeros((200_000, 2)))
                except nt.TableFileError as error:
                    assert error.errno == 27 and writer.row_count == 1000, error
                else:
                    raise SystemExit("no error")
                raise KeyError
        except KeyError:
            pass
        try:
            nt.save(nt.Table.zeros(200_000, 2), path)
        except nt.TableFileError as error:
            assert error.errno == 27
        else:
            raise SystemExit("no error")
        assert nt.load(path).shape == (1, 1) and os.listdir(sys.argv[1]) == ["t.ntb"]
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program), tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_csv_is_read_block_by_block(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i / 4}\n" for i in range(1000)))
    with nt.open_csv(path) as source:
        assert source.names == ["a", "b"] and source.dtype == np.float64
        for n in [1, 7, 999, 1000, 10**12]:
            blocks = list(source.row_blocks(n))
            assert [len(block) for block in blocks] == [min(n, 1000 - at) for at in range(0, 1000, n)]
            assert nt.vstack(blocks) == nt.read_csv(path, "f8") and blocks[0].names == ["a", "b"]
        with pytest.raises(nt.TableError):
            source.row_blocks(0)
        blocks = source.row_blocks(10)
        next(blocks)
    assert len(next(blocks)) == 10  # what has begun goes on
    for call in [lambda: source.row_blocks(3), source.__enter__, lambda: nt.create(tmp_path / "t.ntb", source)]:
        with pytest.raises(nt.TableError, match="closed"):
            call()
    for dtype in TYPES:
        path.write_text("1;2\n3;4\n")
        blocks = list(nt.open_csv(path, dtype, delimiter=";").row_blocks(1))
        assert [block.rows().tolist() for block in blocks] == [[[1, 2]], [[3, 4]]] and blocks[0].dtype == np.dtype(dtype)
    path.write_text("a,b\n")
    assert list(nt.open_csv(path).row_blocks(5)) == []


def test_words_of_csv_are_categories_in_blocks_and_in_the_file(tmp_path):
    path, stored = tmp_path / "t.csv", tmp_path / "t.ntb"
    path.write_text("a,word\n" + "".join(f"{i},w{i % 7}\n" for i in range(100)))
    with nt.open_csv(path, "f4") as source, nt.create(stored, source) as writer:
        for block in source.row_blocks(9):
            writer.append(block)
    table = nt.load(stored)
    assert table == nt.read_csv(path, "f4") and table.dtype == np.float32 and ">w3<" in table.head()._repr_html_()
    with nt.open(stored) as reader, nt.create(tmp_path / "u.ntb", reader.names) as writer:
        for block in reader.row_blocks(9):
            writer.append(block)  # indices, since arrays have no words
        with pytest.raises(nt.TableError, match="column 1 has categories without labels or with different labels; create"):
            writer.append(reader[:3])
        with pytest.raises(nt.TableError, match="column 1 has categories without labels or with different labels; create"):
            writer.append(reader)
        assert writer.row_count == 100


def test_a_csv_file_that_does_not_fit_ends_the_blocks_with_its_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + "3\n" + "1,2\n" * 50)
    blocks = nt.open_csv(path).row_blocks(20)
    assert [len(next(blocks)) for _ in range(2)] == [20, 20]
    with pytest.raises(nt.TableError, match="line 52"):
        next(blocks)
    assert list(blocks) == []
    path.write_text("300\n")
    with pytest.raises(nt.TableError, match="300"):
        list(nt.open_csv(path, "u1").row_blocks(1))


def test_blocks_of_csv_that_nobody_takes_leave_no_thread(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2\n" * 1000)
    source = nt.open_csv(path)
    for _ in range(20):
        next(source.row_blocks(10))
        source.row_blocks(10)
    tasks = "/proc/self/task"
    if os.path.isdir(tasks):
        for _ in range(1000):
            names = [open(f"{tasks}/{task}/comm").read() for task in os.listdir(tasks) if os.path.exists(f"{tasks}/{task}/comm")]
            if not any(name.startswith("numeric_table.c") for name in names):
                break
            threading.Event().wait(0.01)
        else:
            raise AssertionError(names)


def test_more_columns_than_there_is_memory_for_are_an_error(tmp_path):
    program = """
        import sys
        import numeric_table as nt
        nt.save(nt.Table.zeros(0, 2**50), sys.argv[1])
        reader = nt.open(sys.argv[1])
        writer = nt.create(sys.argv[1], 2**50)
        assert reader.shape == (0, 2**50) and len(reader) == 0
        for list_them in [lambda: reader.names, lambda: reader.dtypes, lambda: writer.names]:
            try:
                list_them()
            except MemoryError as error:
                assert str(2**50) in str(error), error
            else:
                raise SystemExit("no error")
        writer.append(reader)
        writer.close()
        assert nt.open(sys.argv[1]).shape == (0, 2**50)
    """
    path = tmp_path / "t.ntb"
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program), path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert path.stat().st_size <= 8192


def test_large_rows_are_appended_in_parts(tmp_path):
    array = (np.arange(12 << 20) % 100).astype("f8").reshape(-1, 4)
    expected = np.concatenate([array, array[:3], np.full((1, 4), 7), array])
    for order, dtype in [("C", "f8"), ("C", "i1"), ("F", "f8")]:
        stored = np.array(array, order=order)
        with nt.open(saved(tmp_path / "one.ntb", stored)) as reader:
            with nt.create(tmp_path / "two.ntb", 4, dtype=dtype, durable=False) as writer:
                writer.append(reader)
                writer.append(array[:3])
                writer.append([[7] * 4])
                writer.append(stored)
                assert writer.row_count == len(expected)
        assert nt.verify(tmp_path / "two.ntb")
        assert np.array_equal(np.asarray(nt.load(tmp_path / "two.ntb")), expected)
    with nt.create(tmp_path / "two.ntb", 4, dtype="i1", durable=False) as writer:
        array[-1, -1] = 300
        for policy in ["checked", "exact"]:
            with pytest.raises(nt.NotRepresentableError, match=f"300 at row {len(array) - 1}, column 3"):
                writer.append(array, policy=policy)  # all or none
            assert writer.row_count == 0
        writer.append(array, policy="saturate")
    assert nt.load(tmp_path / "two.ntb")[-1].tolist() == [8, 9, 10, 127]


def test_a_large_file_that_ends_in_the_middle_gives_the_writer_up(tmp_path):
    array = np.zeros((5 << 20, 2))
    array[-1, 1] = -1
    reader = nt.open(saved(tmp_path / "one.ntb", array))
    nt.save(nt.Table([[7]]), tmp_path / "two.ntb")
    writer = nt.create(tmp_path / "two.ntb", 2, dtype="u1", durable=False)
    writer.append([[1, 2]])
    with pytest.raises(nt.NotRepresentableError, match=f"-1 at row {5 << 20}, column 1"):
        writer.append(reader)
    for call in [lambda: writer.append([[1, 2]]), writer.close, writer.__enter__]:
        with pytest.raises(nt.TableError, match="given up"):
            call()
    assert nt.load(tmp_path / "two.ntb").rows().tolist() == [[7]]
    assert sorted(os.listdir(tmp_path)) == ["one.ntb", "two.ntb"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_ctrl_c_ends_an_append(tmp_path):
    program = """
        import os, signal, sys
        import numpy as np, numeric_table as nt
        nt._native._look_for_signals_every(0)
        def interrupt(*_):
            try:
                writer.append([[1, 2, 3]])  # not while rows are being appended
            except nt.TableError as error:
                messages.append(str(error))
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        one, two = [os.path.join(sys.argv[1], name) for name in ("one.ntb", "two.ntb")]
        table = nt.Table.zeros(40_000_000, 4, dtype="i1")
        nt.save(table, one, durable=False)
        array, reader = np.asarray(table), nt.open(one)
        def interrupted(rows):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.003)
                writer.append(rows)
            except KeyboardInterrupt:
                return
            raise SystemExit("it was not interrupted")
        messages = []
        with nt.create(two, 4, dtype="i2", durable=False) as writer:
            writer.append([[5, 6, 7, 8]])
            for rows in [table, array]:
                interrupted(rows)
                assert writer.row_count == 1
            writer.append([[9, 9, 9, 9]])
        assert nt.load(two).rows().tolist() == [[5, 6, 7, 8], [9, 9, 9, 9]]
        assert messages and "being appended" in messages[0], messages
        try:
            with nt.create(two, 4, dtype="i2", durable=False) as writer:
                interrupted(reader)
        except nt.TableError as error:
            assert "given up" in str(error), error
        else:
            raise SystemExit("a file with a part of the rows")
        assert nt.load(two).shape == (2, 4) and sorted(os.listdir(sys.argv[1])) == ["one.ntb", "two.ntb"]
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program), tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_garbage_collector_finds_circles(tmp_path):
    import weakref

    path = saved(tmp_path / "t.ntb", numbers((5, 2)))

    def circle():
        held = []
        progress = lambda done, total: held  # noqa: E731
        held += [nt.open(path, progress=progress), nt.create(tmp_path / "u.ntb", 2, progress=progress)]
        held.append(held[0].row_blocks(2))
        return [weakref.ref(held[0]), weakref.ref(held[1])]

    references = circle()
    gc.collect()
    assert [reference() for reference in references] == [None, None]
    assert os.listdir(tmp_path) == ["t.ntb"]


def test_blocks_of_a_large_file_take_little_memory(tmp_path):
    resource = pytest.importorskip("resource")
    assert resource
    program = """
        import os, resource, sys
        import numpy as np, numeric_table as nt
        one, two = [os.path.join(sys.argv[1], name) for name in ("one.ntb", "two.ntb")]
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        with nt.create(one, ["a", "b", "c", "d"], durable=False) as writer:
            for part in range(100):
                writer.append(np.full((50_000, 4), part))
        before = peak()
        with nt.open(one) as r, nt.create(two, r.names, dtype="float32", durable=False) as w:
            assert r.nbytes == 160_000_000
            for block in r.row_blocks(4096):
                w.append(block)
            assert r.verify() and nt.statistics(r).mean[0] == 49.5 and len(r[::1000]) == 5000
        assert peak() - before < 60, (before, peak())
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program), tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


FORKED = """
import os, sys, numeric_table as nt
path = sys.argv[1]
with nt.create(path, 1) as writer:
    writer.append([[1]])
    for ending in range(3):
        child = os.fork()
        if child == 0:
            try:
                if ending == 0:
                    writer.append([[5]])
                elif ending == 1:
                    writer.close()
            except nt.TableError:
                pass
            else:
                if ending < 2:
                    os._exit(1)
            del writer
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    writer.append([[2]])
assert nt.load(path).rows().tolist() == [[1], [2]]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_forks_leave_the_file_to_the_process_that_created_it(tmp_path):
    run = subprocess.run([sys.executable, "-c", FORKED, tmp_path / "t.ntb"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_file_without_a_stated_type_takes_no_value_that_loses_digits(tmp_path):
    big, path = 2**53 + 1, tmp_path / "t.ntb"
    mixed = nt.hstack([nt.Table([[0.5], [1.5]]), nt.Table(np.array([[3], [big]], dtype="int64"), names=["id"])])
    whole = nt.Table(np.array([[1, 3], [2, big]]))
    nt.save(whole, tmp_path / "whole.ntb")
    for columns in [mixed, 2, ["a", "id"]]:
        with nt.create(path, columns, durable=False) as writer:
            assert writer.dtype == np.float64
            writer.append(whole[:1])
            for rows in [mixed, whole, np.asarray(whole), nt.open(tmp_path / "whole.ntb"), [[1, 3], [2, big]]]:
                with pytest.raises(nt.NotRepresentableError, match=f"{big} at row 2, column 1 .*dtype="):
                    writer.append(rows)
            writer.append(whole[1:], policy="saturate")
            writer.append(np.array([[0.1, 7]]))
        assert nt.load(path).rows().tolist() == [[1, 3], [2, big - 1], [0.1, 7]]
    with nt.create(path, 2, dtype="float64", durable=False) as writer:
        for rows in [mixed, whole, nt.open(tmp_path / "whole.ntb")]:
            writer.append(rows)
    assert nt.load(path).rows()[1::2, 1].tolist() == [big - 1] * 3
    with nt.create(path, nt.Table.zeros(0, 2, dtype="int32"), durable=False) as writer:
        with pytest.raises(nt.NotRepresentableError, match="1.5 at row 0, column 0 .*dtype="):
            writer.append(np.array([[1.5, 2]]))
        writer.append(np.array([[1.0, 2]]))
    assert nt.load(path).rows().tolist() == [[1, 2]]


def test_a_stated_type_of_a_file_rounds_whole_numbers_of_lists(tmp_path):
    path, rows = tmp_path / "stated.ntb", [[2**53 + 1, 0.5]]
    with nt.create(path, 2, dtype="float64") as writer:
        writer.append(rows)
        writer.append(rows, policy="saturate")
        with pytest.raises(nt.TableError, match="row 0, column 0"):
            writer.append(rows, policy="exact")
    assert nt.load(path).rows().tolist() == [[2.0**53, 0.5]] * 2
    with nt.create(tmp_path / "silent.ntb", 2) as writer, pytest.raises(nt.TableError, match="row 0, column 0"):
        writer.append(rows)


def test_rows_of_a_file_are_appended_exactly_if_asked(tmp_path):
    nt.save(nt.Table(np.array([[2**53], [2**53 + 1]])), tmp_path / "whole.ntb")
    with nt.open(tmp_path / "whole.ntb") as reader, nt.create(tmp_path / "float.ntb", 1, dtype="float64") as writer:
        with pytest.raises(TypeError, match="'checked' or policy='exact'"):
            writer.append(reader, policy="saturate")
    with nt.open(tmp_path / "whole.ntb") as reader, nt.create(tmp_path / "float.ntb", 1, dtype="float64") as writer:
        with pytest.raises(nt.NotRepresentableError, match="row 1"):
            writer.append(reader, policy="exact")
            writer.close()
