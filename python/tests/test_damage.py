"""Damaged values, files that killed programs have left, and jobs that were started twice."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import numeric_table as nt


def flip(path, byte):
    data = bytearray(path.read_bytes())
    data[4096 + byte] ^= 4
    path.write_bytes(data)


def test_with_verify_a_damaged_value_is_an_error_of_every_call_that_names_the_file(tmp_path):
    for number in range(2):
        nt.save(nt.Table(np.arange(12.0).reshape(6, 2)), tmp_path / f"part-{number}.ntb", durable=False)
    checked = nt.Shards(tmp_path, verify=True)
    assert checked.reduce(nt.Statistics(2)).mean.tolist() == [5.0, 6.0]
    flip(tmp_path / "part-1.ntb", 20)
    plain = nt.Shards(tmp_path)
    assert plain.rows(6, 12).shape == (6, 2) and plain.map().shape == (12, 2)
    assert plain.reduce(nt.Statistics(2)).mean.tolist() != [5.0, 6.0]
    listed = nt.Shards([tmp_path / "part-0.ntb", tmp_path / "part-1.ntb"], verify=True)
    for shards in checked, listed, pickle.loads(pickle.dumps(checked)):
        for call in [
            lambda: shards.rows(6, 12),
            lambda: list(shards.row_blocks(4)),
            lambda: shards.map(),
            lambda: shards.reduce(nt.Statistics(2)),
            lambda: shards.load(),
            lambda: shards.verify(),
        ]:
            with pytest.raises(nt.FormatError, match="part-1.ntb.*chunk 0"):
                call()
        assert shards.rows(0, 6).shape == (6, 2)


def test_what_a_killed_process_has_left_is_listed_and_removed_and_not_before(tmp_path):
    program = f"""
import os, time, numeric_table as nt
writer = nt.create({str(tmp_path / "table.ntb")!r}, 2)
writer.append([[1.0, 2.0]])
print("ready", flush=True)
time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        assert len(os.listdir(tmp_path)) == 1
        assert nt.leftovers(tmp_path) == nt.remove_leftovers(tmp_path) == []
    finally:
        child.kill()
        child.wait()
    left = nt.leftovers(tmp_path)
    assert [path.parent for path in left] == [tmp_path] and left[0].name.endswith(".ntb.tmp")
    assert nt.remove_leftovers(tmp_path) == left
    assert os.listdir(tmp_path) == []
    with pytest.raises(nt.TableFileNotFoundError):
        nt.leftovers(tmp_path / "none")


def test_a_file_that_another_writer_has_listed_meanwhile_is_neither_replaced_nor_removed(tmp_path):
    mine, theirs = [nt.ShardsWriter.create(tmp_path, 2, durable=False) for _ in range(2)]
    mine.append([[1.0, 2.0]])
    mine.finish()
    with pytest.raises(nt.TableFileError, match="lists the file, so it is not replaced: .*part-000000.ntb"):
        theirs.append([[3.0, 4.0]])
    assert nt.Shards(tmp_path).verify()
    assert nt.Shards(tmp_path).load().rows().tolist() == [[1.0, 2.0]]
