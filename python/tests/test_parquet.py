"""Collections of Parquet files in Dask."""

import pickle

import numpy as np
import pytest

import numeric_table as nt

pytest.importorskip("dask")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import numeric_table.dask as nd  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    for part, count in enumerate([4, 0, 3]):
        values = np.arange(count) + 10 * part
        pq.write_table(pa.table({"a": values, "b": values / 2}), tmp_path / f"part-{part}.parquet", row_group_size=2)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_common_metadata.parquet").touch()
    return tmp_path


def test_a_folder_is_a_collection(folder):
    tables = nd.from_parquet(folder)
    assert (tables.npartitions, tables.shape, tables.names) == (3, (7, 2), ["a", "b"])
    whole = tables.compute(scheduler="sync")
    assert whole["a"].tolist() == [0, 1, 2, 3, 20, 21, 22] and [str(dtype) for dtype in whole.dtypes] == ["int64", "float64"]
    found = tables.statistics().compute(scheduler="sync")
    assert found.names == ["a", "b"] and found["a"]["maximum"] == 22.0 and found.row_count == 7
    assert tables.reduce(nt.Covariance(2)).compute(scheduler="sync").row_count == 7
    assert tables.to_array(dtype="float64").sum(axis=0).compute(scheduler="sync").tolist() == [69.0, 34.5]
    again = pickle.loads(pickle.dumps(tables.shards))
    assert again.load_shard(2)["b"].tolist() == [10.0, 10.5, 11.0]
    frame = pytest.importorskip("dask.dataframe") and tables.to_dataframe()
    assert frame["a"].sum().compute(scheduler="sync") == 69


def test_files_patterns_and_lists_are_collections(folder):
    first, last = folder / "part-0.parquet", folder / "part-2.parquet"
    assert nd.from_parquet(first).shape == (4, 2)
    assert nd.from_parquet(str(folder / "part-*.parquet")).shape == (7, 2)
    assert nd.from_parquet([str(last), str(first)]).compute(scheduler="sync")["a"].tolist()[:3] == [20, 21, 22]


def test_missing_values_and_words_are_kept(tmp_path):
    pq.write_table(pa.table({"a": [1, None], "w": ["x", "y"]}), tmp_path / "a.parquet")
    table = nd.from_parquet(tmp_path).compute(scheduler="sync")
    assert table.missing_count("a") == 1 and table.categories == {"w": ["x", "y"]}


def test_what_is_no_table_is_refused(folder):
    with pytest.raises(nt.TableFileNotFoundError, match="no Parquet files"):
        nd.from_parquet(folder / "none-*.parquet")
    pq.write_table(pa.table({"a": [1.5], "c": [2.5]}), folder / "part-3.parquet")
    with pytest.raises(nt.TableError, match="part-3"):
        nd.from_parquet(folder)
    (folder / "part-3.parquet").unlink()
    tables = nd.from_parquet(folder)
    pq.write_table(pa.table({"a": [1], "b": [2.5]}), folder / "part-0.parquet")
    with pytest.raises(nt.TableError, match="rows has changed"):
        tables.compute(scheduler="sync")
