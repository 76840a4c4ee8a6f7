"""Tables that are written as many files, and a manifest at the end."""

import os
import threading

import numpy as np
import pytest

import numeric_table as nt

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "bfloat16"]


@pytest.mark.parametrize("dtype", TYPES)
def test_files_become_a_table_at_the_end(tmp_path, dtype):
    folder, rows = tmp_path / "new" / "table", np.arange(12.0).reshape(6, 2)
    with nt.ShardsWriter.create(folder, ["a", "b"], dtype, durable=False) as writer:
        assert [writer.append(nt.Table(rows[:3])), writer.append(rows[:0]), writer.append(rows[3:])] == [0, 1, 2]
        assert not (folder / "shards.ntm").exists()
    shards = nt.Shards(folder)
    assert [path.name for path in shards.files] == ["part-000000.ntb", "part-000001.ntb", "part-000002.ntb"]
    assert shards.names == ["a", "b"] and np.array_equal(shards.rows(dtype="f8"), rows) and shards.verify()
    assert nt.load(folder / "part-000000.ntb").dtypes == nt.Table.zeros(0, 2, dtype=dtype).dtypes if dtype != "bfloat16" else True
    with pytest.raises(OSError, match="the folder already has a table"):
        nt.ShardsWriter.create(folder, 2, dtype)


def test_an_exception_leaves_no_files_of_the_writer(tmp_path):
    nt.save(nt.Table([[9, 9]]), tmp_path / "part.ntb")  # another's, of another name
    with pytest.raises(ZeroDivisionError):
        with nt.ShardsWriter.create(tmp_path, 2) as writer:
            writer.append([[1, 2]])
            writer.append([[3, 4]], number=7)
            nt.save(nt.Table([[9, 9]]), tmp_path / "part-000007.ntb")  # somebody puts another in its place
            1 / 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part-000007.ntb", "part.ntb"]
    with pytest.raises(nt.TableError, match="closed"):
        writer.append([[1, 2]])
    with pytest.raises(nt.TableError, match="closed"):
        writer.finish()
    (tmp_path / "part-000007.ntb").unlink()
    again = nt.ShardsWriter.create(tmp_path, [None, None])
    again.append([[3, 4]], 5)
    again.append([[5, 6]])
    again.append([[7, 8]], number=2)
    shards = again.finish()
    assert isinstance(shards, nt.Shards) and shards.rows().tolist() == [[7, 8], [3, 4], [5, 6]]
    assert nt.Shards(tmp_path).shape == (3, 2)
    assert shards.dtype == np.float64 and shards.names == [None, None]


def test_a_block_that_cannot_be_finished_keeps_what_is_written(tmp_path):
    with pytest.raises(nt.TableError, match="numbers 1$"):
        with nt.ShardsWriter.create(tmp_path / "gap", 1, "u1", durable=False) as writer:
            writer.append([[1]])
            with pytest.raises(nt.NotRepresentableError):
                writer.append([[300]])
    writer.append([[3]])
    assert writer.finish().rows().tolist() == [[1], [3]]
    with pytest.raises(nt.TableError):
        with nt.ShardsWriter.create(tmp_path / "none", 1):
            pass
    with nt.ShardsWriter.create(tmp_path / "early", 1, durable=False) as writer:
        writer.append([[1]])
        assert writer.finish().shape == (1, 1)
    with pytest.raises(ZeroDivisionError):
        with nt.ShardsWriter.create(tmp_path / "late", 1, durable=False) as writer:
            writer.append([[1]])
            writer.finish()
            1 / 0
    assert nt.Shards(tmp_path / "early").verify() and nt.Shards(tmp_path / "late").verify()


def test_a_table_that_was_half_written_is_continued(tmp_path):
    killed = nt.ShardsWriter.create(tmp_path, ["a"], "u1", durable=False)
    for number in [0, 2, 4]:
        killed.append([[number]], number)
    del killed
    kept = os.stat(tmp_path / "part-000002.ntb").st_mtime_ns
    damaged = tmp_path / "part-000004.ntb"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    for wrong in [("b",), ("a", "b")]:
        with pytest.raises(nt.TableError, match="part-00000"):
            nt.ShardsWriter.resume(tmp_path, wrong, "u1")
    with pytest.raises(Exception, match="float64|uint8"):
        nt.ShardsWriter.resume(tmp_path, ["a"], "f8")
    writer = nt.ShardsWriter.resume(tmp_path, ["a"], "u1", durable=False)
    assert writer.missing(6) == [1, 3, 4, 5] and writer.missing(0) == []
    assert len(writer.missing(2**62)) == 1_000_000 - 2
    with pytest.raises(Exception, match="are required: append those with the numbers 4"):
        writer.finish()
    with pytest.raises(OSError, match="the file is finished"):
        writer.append([[7]], 2)
    with pytest.raises(ZeroDivisionError):  # what was there stays
        with nt.ShardsWriter.resume(tmp_path, ["a"], "u1", durable=False) as other:
            assert other.append([[1]]) == 1
            1 / 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"part-00000{number}.ntb" for number in [0, 2, 4]]
    with writer:
        assert [writer.append([[number]]) for number in [1, 3, 4, 5]] == [1, 3, 4, 5]
    assert nt.load(tmp_path / "part-000004.ntb").to_numpy().tolist() == [[4]]
    assert nt.Shards(tmp_path).load().to_numpy()[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert nt.Shards(tmp_path).verify() and os.stat(tmp_path / "part-000002.ntb").st_mtime_ns == kept
    with pytest.raises(OSError, match="the folder already has a table"):
        nt.ShardsWriter.resume(tmp_path, ["a"], "u1")
    with pytest.raises(Exception, match="closed"):
        writer.missing(1)
    assert nt.ShardsWriter.resume(tmp_path / "new", 1).missing(2) == [0, 1]


def test_files_of_another_writer_are_neither_mixed_nor_replaced_nor_removed(tmp_path):
    killed = nt.ShardsWriter.create(tmp_path / "a", 1, durable=False)
    killed.append([[1]])
    killed.append([[2]])
    del killed
    assert nt.Shards(tmp_path / "a").shape == (2, 1)  # as the page says
    with pytest.raises(OSError, match="the folder has files of a writer that has not finished: .*part-00000[01].ntb"):
        nt.ShardsWriter.create(tmp_path / "a", 1)
    assert len(list((tmp_path / "a").iterdir())) == 2
    first, second = (nt.ShardsWriter.create(tmp_path / "b", 1, durable=False) for _ in range(2))
    first.append([[1]])
    with pytest.raises(ZeroDivisionError):
        with second:
            with pytest.raises(OSError, match="another writer has written this file"):
                second.append([[2]])
            assert second.append([[3]], 1) == 1
            1 / 0
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["part-000000.ntb"]
    third = nt.ShardsWriter.create(tmp_path / "c", 1, durable=False)
    with pytest.raises(OSError, match="the folder already has a table"):
        with third:
            third.append([[7]], 1)
            with nt.ShardsWriter.create(tmp_path / "e", 1, durable=False) as other:
                other.append([[8]])
            os.rename(tmp_path / "e" / "shards.ntm", tmp_path / "c" / "shards.ntm")
    assert (tmp_path / "c" / "part-000001.ntb").exists()  # it may be a part of that table


def test_what_cannot_be_written_is_refused(tmp_path):
    writer = nt.ShardsWriter.create(tmp_path / "a", ["a", "b"], "u1", durable=False)
    with pytest.raises(nt.TableError):
        writer.append([[1, 2, 3]])
    with pytest.raises(nt.NotRepresentableError, match="300 at row 1, column 0"):
        writer.append([[1, 2], [300, 4]])
    with pytest.raises(nt.TableError):
        writer.append(nt.Table([[1, 2]], names=["b", "a"]))
    assert writer.append([[1, 2]]) == 0 and writer.append([[3, 4]]) == 1
    with pytest.raises(OSError, match="finished"):
        writer.append([[5, 6]], 1)
    with pytest.raises(OSError, match="999999"):
        writer.append([[5, 6]], 1_000_000)
    assert writer.append([[5, 6]]) == 2
    for wrong in ["text", None, object()]:
        with pytest.raises((TypeError, ValueError)):
            writer.append(wrong)
    assert writer.finish().rows().tolist() == [[1, 2], [3, 4], [5, 6]]
    for wrong in [-1, 2**64]:
        with pytest.raises(IndexError):
            nt.ShardsWriter.create(tmp_path / "b", 1).append([[1]], wrong)
    with pytest.raises(nt.TableError):
        nt.ShardsWriter.create(tmp_path / "c", 1).finish()  # no files
    for names in ["ab", 1.5, None, [1]]:
        with pytest.raises(TypeError):
            nt.ShardsWriter.create(tmp_path / "d", names)


def test_the_next_file_gets_the_number_of_one_that_failed(tmp_path):
    writer = nt.ShardsWriter.create(tmp_path / "a", 1, "u1", durable=False)

    def fails(*number):
        with pytest.raises(nt.NotRepresentableError):
            writer.append([[300]], *number)

    fails()
    assert writer.append([[0]], number=0) == 0  # by hand
    assert [writer.append([[1]]), writer.append([[2]])] == [1, 2]
    fails(5)
    with pytest.raises(nt.TableError, match="numbers 5$"):
        writer.finish()
    with pytest.raises(OSError, match="the file is finished: .*part-000002.ntb"):
        writer.append([[9]], 2)
    fails(3)
    assert [writer.append([[3]]), writer.append([[5]]), writer.append([[6]])] == [3, 5, 6]
    for _ in range(2):
        fails(4)
        fails()
        with pytest.raises(TypeError):
            writer.append(object())
    with pytest.raises(nt.TableError, match="numbers 4$"):
        writer.finish()
    assert writer.append([[4]]) == 4
    fails(999_999)
    with pytest.raises(OSError, match="999999"):
        writer.append([[1]], 1_000_000)
    assert writer.append([[7]]) == 999_999
    for _ in range(2):
        with pytest.raises(OSError, match="999999"):
            writer.append([[1]])
    assert writer.finish().rows().tolist() == [[0], [1], [2], [3], [4], [5], [6], [7]]


def test_a_writer_that_cannot_finish_yet_stays_open(tmp_path):
    writer = nt.ShardsWriter.create(tmp_path, 1, "u1", durable=False)
    with pytest.raises(nt.TableError):
        writer.finish()  # no files
    writer.append([[1]])
    for number in range(1, 13):
        with pytest.raises(nt.NotRepresentableError):
            writer.append([[300]], number)
    with pytest.raises(nt.TableError, match=r"numbers 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, \.\.\.$"):
        writer.finish()
    assert not (tmp_path / "shards.ntm").exists()
    assert [writer.append([[number]]) for number in range(1, 13)] == list(range(1, 13))
    assert writer.finish().shape == (13, 1)
    with pytest.raises(nt.TableError, match="closed"):
        writer.finish()


def test_a_file_that_is_still_being_written_is_waited_for_or_removed(tmp_path):
    class Slow:
        def __init__(self):
            self.begun, self.go_on = threading.Event(), threading.Event()

        def __array__(self, dtype=None, copy=None):
            self.begun.set()
            assert self.go_on.wait(60)
            return np.ones((2, 1))

    def begin(writer):
        slow, found = Slow(), []

        def work():
            try:
                found.append(writer.append(slow))
            except Exception as error:
                found.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        assert slow.begun.wait(60)
        return slow, thread, found

    writer = nt.ShardsWriter.create(tmp_path / "a", 1, durable=False)
    slow, thread, found = begin(writer)
    with pytest.raises(nt.TableError, match="still writing"):
        writer.finish()
    with pytest.raises(OSError, match="being written"):
        writer.append([[1]], 0)
    slow.go_on.set()
    thread.join(60)
    assert found == [0] and writer.finish().shape == (2, 1)
    with pytest.raises(ZeroDivisionError):
        with nt.ShardsWriter.create(tmp_path / "b", 1, durable=False) as writer:
            slow, thread, found = begin(writer)
            1 / 0
    slow.go_on.set()
    thread.join(60)
    assert isinstance(found[0], nt.TableError) and "closed" in str(found[0])
    assert not list((tmp_path / "b").iterdir())


def test_threads_append_at_once(tmp_path):
    failed = []
    with nt.ShardsWriter.create(tmp_path, 2, "i4", durable=False) as writer:

        def work(thread):
            try:
                for part in range(20):
                    writer.append([[thread, part]])
                    if part == 10:
                        with pytest.raises(nt.NotRepresentableError):
                            writer.append([[2**40, 0]])
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(thread,), daemon=True) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not failed and not any(thread.is_alive() for thread in threads)
    rows = nt.Shards(tmp_path).rows()
    assert sorted(map(tuple, rows.tolist())) == [(thread, part) for thread in range(4) for part in range(20)]


def test_files_without_a_stated_type_take_no_value_that_loses_digits(tmp_path):
    big = 2**53 + 1
    mixed = nt.hstack([nt.Table([[0.5], [1.5]]), nt.Table(np.array([[3], [big]], dtype="int64"), names=["id"])])
    for place, columns in enumerate([mixed, 2]):
        folder = tmp_path / str(place)
        with nt.ShardsWriter.create(folder, columns, durable=False) as writer:
            for rows in [mixed, np.array([[1, 2], [3, big]])]:
                with pytest.raises(nt.NotRepresentableError, match=f"{big} at row 1, column 1 .*dtype="):
                    writer.append(rows)
            assert not list(folder.glob("part-*"))
            assert writer.append(mixed[:1]) == 0
        assert nt.Shards(folder).rows().tolist() == [[0.5, 3]]
    with nt.ShardsWriter.create(tmp_path / "stated", mixed, "float64", durable=False) as writer:
        writer.append(mixed)
    assert nt.Shards(tmp_path / "stated").rows()[1].tolist() == [1.5, big - 1]
    with nt.ShardsWriter.resume(tmp_path / "begun", 2, durable=False) as writer:
        with pytest.raises(nt.NotRepresentableError, match="dtype="):
            writer.append(mixed)
        writer.append(mixed[:1])
