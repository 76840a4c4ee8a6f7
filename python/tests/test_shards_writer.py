"""Tables that are written as many files, and a manifest at the end."""

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
    with pytest.raises(OSError, match="the folder has a table"):
        nt.ShardsWriter.create(folder, 2, dtype)


def test_an_exception_leaves_files_and_no_table(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with nt.ShardsWriter.create(tmp_path, 2) as writer:
            writer.append([[1, 2]])
            1 / 0
    assert not (tmp_path / "shards.ntm").exists() and (tmp_path / "part-000000.ntb").exists()
    with pytest.raises(nt.TableError, match="closed"):
        writer.append([[1, 2]])
    with pytest.raises(nt.TableError, match="closed"):
        writer.finish()
    again = nt.ShardsWriter.create(tmp_path, [None, None])
    again.append([[3, 4]], 5)
    again.append([[5, 6]])
    again.append([[7, 8]], number=2)
    shards = again.finish()
    assert isinstance(shards, nt.Shards) and shards.rows().tolist() == [[7, 8], [3, 4], [5, 6]]
    assert nt.Shards(tmp_path).shape == (3, 2)  # the file of the first attempt is of no table
    assert shards.dtype == np.float64 and shards.names == [None, None]


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
    unfinished = nt.ShardsWriter.create(tmp_path / "b", 1, "u1", durable=False)
    unfinished.append([[1]])
    with pytest.raises(nt.NotRepresentableError):
        unfinished.append([[300]])
    with pytest.raises(OSError, match="part-000001.ntb: the file was begun and is not finished"):
        unfinished.finish()
    with pytest.raises(nt.TableError):
        nt.ShardsWriter.create(tmp_path / "c", 1).finish()  # no files
    for names in ["ab", 1.5, None, [1]]:
        with pytest.raises(TypeError):
            nt.ShardsWriter.create(tmp_path / "d", names)


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
