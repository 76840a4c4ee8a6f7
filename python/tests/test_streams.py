"""Statistics and other results of anything that has rows; and some rows and columns of files."""

import numpy as np
import pytest

import numeric_table as nt

ROWS = 300_000


@pytest.fixture(scope="module")
def values():
    return (np.random.default_rng(8).normal(size=(ROWS, 4)) * 1000).astype("float32")


@pytest.fixture(scope="module")
def files(values, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    nt.save(nt.Table(values, names=list("abcd")), folder / "whole.ntb", durable=False)
    (folder / "parts").mkdir()
    with nt.ShardsWriter.create(folder / "parts", list("abcd"), dtype="float32", durable=False) as writer:
        for start in range(0, ROWS, 100_000):
            writer.append(values[start : start + 100_000])
    return folder


def results():
    return [nt.Statistics(4), nt.Covariance(4), nt.GramMatrix(4), nt.QuantileSketch(4), nt.Histogram(4, 10, (-3000, 3000))]


def test_results_of_a_file_have_the_bits_of_those_of_its_table(values, files):
    whole = nt.Table(values, names=list("abcd"))
    for result in results():
        expected, path, reader = result.new_like(), result.new_like(), result.new_like()
        expected.update(whole)
        path.update(files / "whole.ntb")
        with nt.open(files / "whole.ntb") as opened:
            reader.update(opened)
        assert expected.to_bytes() == path.to_bytes() == reader.to_bytes(), result
        shards = result.new_like()
        shards.update(nt.Shards(files / "parts"))
        assert shards.to_bytes() == nt.Shards(files / "parts").reduce(result).to_bytes()


def test_statistics_take_what_has_rows(values, files, tmp_path):
    expected = nt.statistics(nt.Table(values, names=list("abcd")))
    with nt.open(files / "whole.ntb") as reader:
        assert nt.statistics(reader).to_bytes() == expected.to_bytes()
    for path in [files / "whole.ntb", str(files / "whole.ntb")]:
        assert nt.statistics(path).to_bytes() == expected.to_bytes()
    assert nt.statistics(values).mean.tolist() == expected.mean.tolist()
    shards = nt.statistics(nt.Shards(files / "parts"))
    np.testing.assert_allclose(shards.mean, expected.mean, rtol=1e-12)
    assert shards.names == list("abcd") and shards["c"]["maximum"] == expected["c"]["maximum"]
    assert nt.statistics([[1, 2], [3, 4]]).mean.tolist() == [2, 3]
    assert nt.statistics({"x": [1.0, 3.0]})["x"]["mean"] == 2.0
    mixed = tmp_path / "mixed.ntb"
    nt.save(nt.Table({"x": [1, 2], "y": [0.5, None]}), mixed)  # columns of two types, loaded as a whole
    assert nt.statistics(mixed)["y"]["missing_count"] == 1
    text = tmp_path / "text.csv"
    text.write_text("p,q\n" + "".join(f"{i},{i / 2}\n" for i in range(50_000)))
    with nt.open_csv(text) as source:
        found = nt.statistics(source)
    assert found.names == ["p", "q"] and found.row_count == 50_000 and found["q"]["maximum"] == 49_999 / 2


def test_an_error_adds_nothing(values, files, tmp_path):
    result = nt.Covariance(3)
    for bad, kind in [
        (files / "whole.ntb", nt.TableError),  # four columns
        (tmp_path / "none.ntb", FileNotFoundError),
        (nt.Shards(files / "parts"), (nt.TableError, OSError)),
        (object(), TypeError),
    ]:
        with pytest.raises(kind):
            result.update(bad)
        assert result.row_count == 0
    text = tmp_path / "bad.csv"
    text.write_text("p,q,r\n" + "1,2,3\n" * 1000 + "1,2,x\n")
    with pytest.raises((nt.TableError, OSError)):
        result.update(nt.open_csv(text, dtypes={"r": "float64"}))
    assert result.row_count == 0
    reader = nt.open(files / "whole.ntb")
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        nt.statistics(reader)
    with pytest.raises(OSError):
        nt.statistics(tmp_path)


@pytest.fixture(params=["reader", "shards", "mixed"])
def stored(request, values, files, tmp_path):
    if request.param == "reader":
        with nt.open(files / "whole.ntb") as reader:
            yield reader, nt.Table(values, names=list("abcd"))
    elif request.param == "shards":
        yield nt.Shards(files / "parts"), nt.Table(values, names=list("abcd"))
    else:
        parts = [nt.Table({"a": np.arange(5) + 2**53, "b": [0.5, None, 2.0, 3.0, 4.0 + part], "c": np.arange(5.0)}) for part in range(3)]
        for number, part in enumerate(parts):
            nt.save(part, tmp_path / f"{number}.ntb", durable=False)
        yield nt.Shards(tmp_path), nt.vstack(parts)


def equal(found, expected):
    if isinstance(expected, nt.Table):
        assert found == expected
    else:
        np.testing.assert_array_equal(found, expected, strict=True)


def test_brackets_of_files_are_those_of_the_table(stored):
    files, table = stored
    count = len(table)
    mask = np.zeros(count, dtype=bool)
    mask[[0, 3, count - 1]] = True
    keys = [
        "a", "b", ["a"], ["c", "a"], slice(3), slice(2, 7), slice(None, None, count // 4 or 1), slice(7, 2, -2), slice(0, 0),
        [3, 0, 3, -1], [], np.array([1, 2], dtype="uint8"), mask, ..., (slice(3), "a"), (slice(1, 3), ["c", "b"]), (..., "c"),
        (3, "c"), (-1, 0), ([5, 2], -1), (slice(None), [2, 0]), (mask, "a"), (slice(2), slice(0, 2)), (slice(4), ...),
    ]  # fmt: skip
    for key in keys:
        if isinstance(key, tuple) or key is ... or isinstance(key, (slice, list, np.ndarray)) or key != "b":
            equal(files[key], table[key])
    equal(files["b"], table["b"])
    if table.dtypes[0] == "float32":
        for key in [0, -1, 5, np.int64(7), (4, ["c", "a"]), (4, slice(None))]:
            equal(files[key], table[key])
    assert files.head() == table.head() and files.tail(2) == table.tail(2) and files.head(10**9) == table.head(10**9)
    assert files.columns == table.names


def test_keys_that_select_nothing_are_refused(stored):
    files, table = stored
    count = len(table)
    for key, kind in [
        ("none", (KeyError, nt.TableError)), (count, IndexError), (-count - 1, IndexError), ([0, count], IndexError),
        ([True], IndexError), (True, TypeError), (1.5, (TypeError, IndexError)), ((0, 9), IndexError), ((0, 1, 2), IndexError),
        (([[0]], "a"), IndexError), (["a", "none"], (KeyError, nt.TableError)), (("a", "b"), (TypeError, IndexError)),
    ]:  # fmt: skip
        with pytest.raises(kind):
            files[key]


def test_a_column_of_a_large_file_needs_little_memory(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "wide.ntb"
    with nt.create(path, 64, dtype="float64", durable=False) as writer:
        for _ in range(20):
            writer.append(np.ones((10_000, 64)))
    with nt.open(path) as reader:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert reader[:, 5].sum() == 200_000
        assert reader.describe().column("count").tolist() == [200_000] * 64
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 60_000  # KiB, of a file of 100 MiB


def test_files_are_appended(tmp_path):
    with nt.ShardsWriter.create(tmp_path, ["a", "b"], dtype="float32", durable=False) as writer:
        writer.append([[1, 2], [3, 4]])
    shards, early = nt.Shards(tmp_path), nt.Shards(tmp_path)
    shards.append([[5, 6]], durable=False)  # without names, of another type
    shards.append(nt.Table(np.array([[7, 8]], dtype="int16"), names=["a", "b"]), durable=False)
    shards.append(nt.Table.zeros(0, 2, dtype="float32"), durable=False)
    assert shards.shape == nt.Shards(tmp_path).shape == (4, 2) and early.shape == (2, 2)
    assert shards["a"].tolist() == nt.Shards(tmp_path)["a"].tolist() == [1, 3, 5, 7]
    assert shards.verify() and shards.shard_count == 4
    files = sorted(tmp_path.iterdir())
    for bad in [[[1, 2, 3]], [[2**24 + 1, 0]], nt.Table([[1, 2]], names=["b", "a"]), {"a": [1.0], "b": [None]}, "words"]:
        with pytest.raises((TypeError, ValueError, OSError)):
            shards.append(bad, durable=False)
        assert sorted(tmp_path.iterdir()) == files and shards.shape == nt.Shards(tmp_path).shape == (4, 2)
    with pytest.raises(nt.TableError, match="folder"):
        nt.Shards([files[0]] if files[0].suffix == ".ntb" else [files[1]]).append([[1, 2]])


def test_files_are_appended_by_several_threads(tmp_path):
    import concurrent.futures

    with nt.ShardsWriter.create(tmp_path, ["a"], durable=False) as writer:
        writer.append([[0]])
    shards = nt.Shards(tmp_path)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: shards.append([[number]], durable=False), range(1, 13)))
    assert sorted(shards["a"].tolist()) == sorted(nt.Shards(tmp_path)["a"].tolist()) == list(range(13))
