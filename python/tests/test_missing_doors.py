"""Missing values in masked arrays, frames, Arrow's capsules and files: shared, kept, or refused."""

import numpy as np
import pytest

import numeric_table as nt
from gaps import BIG, NAN, gappy, imported


def test_masked_arrays_share_the_values_of_a_column():
    table = gappy()
    column = table.to_masked("a")
    assert isinstance(column, np.ma.MaskedArray) and column.dtype == "int64" and column.tolist() == [BIG, None, None, 4]
    assert table.to_masked("a").data.__array_interface__["data"] == column.data.__array_interface__["data"]
    assert not column.data.flags.writeable and table.to_masked("c").mask is np.ma.nomask
    with pytest.raises(nt.NotRepresentableError):
        table.to_masked()  # no type has all values
    rounded = table.to_masked(dtype="float64")
    assert rounded.shape == (4, 4) and np.array_equal(np.ma.getmaskarray(rounded), table.missing())
    table.set_missing(0, "a")
    assert column.tolist() == [BIG, None, None, 4] and table.to_masked("a").tolist() == [None, None, None, 4]
    assert table.to_masked("a", dtype="float32").tolist() == [None, None, None, 4.0]


def test_frames_have_types_with_missing_values():
    imported("pandas")
    frame = gappy().to_pandas()
    assert [str(dtype) for dtype in frame.dtypes] == ["Int64", "Float64", "uint8", "Int64"]
    assert frame["a"].isna().tolist() == [False, True, True, False] and frame["a"][0] == BIG
    half = nt.Table({"h": np.ma.array([0.5, 1.5], mask=[False, True], dtype="f2")})
    assert str(half.to_pandas()["h"].dtype) == "Float32"
    assert nt.Table(half.to_pandas()).to_masked(0).tolist() == [0.5, None]


def test_arrow_shares_values_and_bitmaps():
    pa = imported("pyarrow")
    source = pa.table({"a": pa.array([BIG, None, 3] * 1000), "b": pa.array([1.5, None, NAN] * 1000)})
    table = nt.Table(source, copy=False)
    with nt.trace() as trace:
        out = pa.table(table)
    assert trace.nbytes == 0 and out["a"].to_pylist() == source["a"].to_pylist()
    for column in "ab":
        one, two = source[column].chunk(0).buffers(), out[column].chunk(0).buffers()
        assert one[1].address == two[1].address and one[0].address == two[0].address
    table.set_missing(0, "a")  # a copy: the owner of the bitmap does not see it
    assert source["a"][0].as_py() == BIG and out["a"][0].as_py() == BIG and table.missing_count("a") == 1001
    with table.write_rows(1, 2, dtype="float64") as block:
        block[:] = 5
    assert out["a"][1].as_py() is None and table.to_masked("a")[1] == 5


def test_a_bitmap_that_changes_while_it_is_lent_breaks_nothing():
    pa = imported("pyarrow")
    bits, values = np.array([0b11111101] + [255] * 124, dtype="u1"), np.arange(1000)
    array = pa.Array.from_buffers(pa.int64(), 1000, [pa.py_buffer(bits), pa.py_buffer(values)])
    table, kept = nt.Table(array, copy=False), nt.Table(array)
    bits[:] = 0b10101010  # against the promise
    for call in [table.isna, table.to_masked, lambda: table.fillna(0), table.dropna, lambda: repr(table)]:
        try:
            call()
        except Exception as error:
            assert not isinstance(error, RuntimeError), error
    assert kept.missing_count(0) == 1 and kept.to_masked(0)[0] == 0


class Lying:
    """A capsule of another object's data, with a schema that does not fit."""

    def __init__(self, schema, data):
        self.schema, self.data = schema, data

    def __arrow_c_array__(self, requested_schema=None):
        return self.schema.__arrow_c_array__()[0], self.data.__arrow_c_array__()[1]


def test_capsules_that_lie_are_refused():
    pa = imported("pyarrow")
    nulls, numbers = pa.nulls(3), pa.array([1, None, 3])
    for schema, data in [(numbers, nulls), (nulls, numbers), (pa.array(["a", None]), numbers)]:
        with pytest.raises(nt.TableError, match="buffers"):
            nt.Table(Lying(schema, data))
    assert nt.Table(nulls).missing_count(0) == 3 and nt.Table(pa.table({"n": nulls, "x": [1, 2, 3]})).missing_count("n") == 3


@pytest.mark.parametrize("shape", [(1, 2), (3,), (2, 3), (2, 2, 1)])
def test_masks_of_the_wrong_shape_are_refused(shape):
    class OfAnotherMask(np.ma.MaskedArray):
        _mask = mask = property(lambda self: np.ones(shape, dtype=bool), lambda self, mask: None)

    with pytest.raises((nt.TableError, nt.TableTypeError), match="mask"):
        nt.Table(np.zeros((2, 2)).view(OfAnotherMask))


def test_masked_arrays_of_other_dimensions_and_types_are_refused():
    for data, error in [
        (np.ma.array(np.zeros((2, 2, 2)), mask=np.ones((2, 2, 2), dtype=bool)), nt.TableError),
        (np.ma.array([1j], mask=[True]), TypeError),
        (np.ma.array([b"x"], mask=[True]), TypeError),
        (np.ma.masked, nt.TableError),
        ({"a": [1, None], "b": [1]}, nt.TableError),
        ({1: [1, None]}, nt.TableTypeError),
        ({"a": [2**64, None]}, nt.NotRepresentableError),
        ({"a": [BIG, 0.5, None]}, nt.NotRepresentableError),
        ({"a": [object(), None]}, nt.TableTypeError),
    ]:
        with pytest.raises(error):
            nt.Table(data)
    assert nt.Table({"a": [2**64 - 1, None]}).to_masked("a").tolist() == [2**64 - 1, None]
    assert nt.Table({}).shape == (0, 0)
    array = np.arange(4)
    lent = nt.Table(np.ma.array(array, mask=[0, 0, 1, 0]), copy=False)
    assert lent.to_masked(0).data.__array_interface__["data"][0] == array.__array_interface__["data"][0]


def test_devices_refuse_missing_values_before_they_are_looked_for():
    with pytest.raises(nt.TableError, match=r"column 0 \(a\).*missing"):
        gappy().to_device()


def test_files_of_one_type_refuse_missing_values(tmp_path):
    floats = gappy()[["b"]]
    for source in [floats, gappy()[["a"]]]:
        with nt.create(tmp_path / "t.ntb", 1, dtype=source.dtype, durable=False) as writer:
            with pytest.raises(nt.TableError, match="missing"):
                writer.append(source)
    with pytest.raises(nt.TableError, match="missing"):
        nt.save_npy(gappy()[["a"]], tmp_path / "a.npy")


def test_text_has_gaps_as_the_caller_says(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{BIG},x\n,NA\n")
    table = nt.read_csv(path, missing="keep")
    assert table.to_masked("a").tolist() == [BIG, None] and table.missing_count() == {"a": 1, "b": 1}
    assert len(nt.read_csv(path, missing="skip")) == 1
    with pytest.raises(nt.TableError, match="missing"):
        nt.read_csv(path, missing="error")
