"""Tables are frames for pandas, narwhals and scikit-learn: names of columns are kept, and select them."""

import numpy as np
import pytest

import numeric_table as nt

pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")
nw = pytest.importorskip("narwhals")
from sklearn.compose import make_column_selector, make_column_transformer  # noqa: E402
from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler  # noqa: E402

from numeric_table.sklearn import TableKMeans, TableLinearRegression, TableScaler  # noqa: E402


@pytest.fixture
def table():
    city = pd.Categorical(["x", "y", "x", "z"])
    return nt.Table(pd.DataFrame({"a": np.arange(1, 5, dtype="i2"), "b": [0.5, 1, 2, 4], "city": city}))


def test_a_frame_of_a_table_has_its_values_and_the_names_that_are_passed():
    table = nt.Table(np.array([[1, 2], [3, 4]], dtype="f4"), names=["a", "b"])
    frame = pd.DataFrame(table)
    assert frame.to_numpy().tolist() == [[1, 2], [3, 4]] and frame.dtypes.tolist() == [np.float32] * 2
    frame.iloc[0, 0] = 9  # a copy
    assert table[0, 0] == 1
    named = pd.DataFrame(table, columns=table.names, index=["x", "y"])
    assert named.loc["y", "b"] == 4 and list(named) == ["a", "b"]
    assert pd.DataFrame(table[:0], columns=table.names).shape == (0, 2)


def test_a_frame_of_columns_of_several_types_has_one_type():
    table = nt.Table({"a": np.array([1, 2], "i2"), "b": [0.5, 1.5]})
    assert pd.DataFrame(table).dtypes.tolist() == [np.float64] * 2
    big = nt.Table({"a": np.array([2**53 + 1]), "b": [0.5]})
    with pytest.raises(nt.NotRepresentableError, match="9007199254740993"):
        pd.DataFrame(big)
    assert big.to_pandas()["a"].tolist() == [2**53 + 1]
    with pytest.raises(nt.MissingValueError):
        pd.DataFrame(nt.Table({"a": [1, None]}))


@pytest.mark.skipif(not hasattr(pd.DataFrame, "from_arrow"), reason="pandas before 3")
def test_pandas_keeps_names_and_types_through_arrow(table):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame.from_arrow(table)
    assert list(frame) == ["a", "b", "city"] and frame["a"].dtype == "int16" and frame["city"].tolist() == list("xyxz")


@pytest.mark.parametrize("columns", [1, 3, 9000])
@pytest.mark.parametrize("rows", [0, 1, 5, 20000])
def test_a_table_is_iterated_row_by_row(rows, columns):
    if rows * columns > 1e6:
        rows = 300
    array = np.arange(rows * columns, dtype="i4").reshape(rows, columns)
    for table in (nt.Table(array), nt.Table(np.asfortranarray(array)), nt.vstack([nt.Table(array), nt.Table(array)])):
        found = list(table)
        assert len(found) == len(table) and all(row.shape == (columns,) and row.dtype == np.int32 for row in found[:3])
        assert not found or np.array_equal(np.array(found)[:rows], array)


def test_rows_are_those_of_the_beginning_and_cannot_be_written():
    table = nt.Table([[1, 2], [3, 4]])
    rows = iter(table)
    first = next(rows)
    with table.write_rows() as block:
        block[:] = 9
    assert first.tolist() == [1, 2] and next(rows).tolist() == [3, 4] and table[0].tolist() == [9, 9]
    with pytest.raises(ValueError):
        first[0] = 5
    with pytest.raises(StopIteration):
        next(rows)
    np.testing.assert_array_equal(list(nt.Table({"a": [1, None]})), [[1], [np.nan]])
    with pytest.raises(nt.MissingValueError):
        list(nt.Table({"a": [1, None]}).row_blocks(1))
    assert [row.tolist() for row in nt.Table(np.eye(2)[::-1])] == [[0, 1], [1, 0]]
    import scipy.sparse

    assert [row.tolist() for row in nt.Table(scipy.sparse.csr_array(np.eye(2)))] == [[1, 0], [0, 1]]


def test_narwhals_takes_tables_as_frames(table):
    frame = nw.from_native(table)
    assert frame.columns == ["a", "b", "city"] and frame.shape == (4, 3) and len(frame) == 4
    assert frame.schema == nw.from_native(table.to_pandas()).schema
    assert frame.to_native() is table
    for found, names, rows in [
        (frame[:, ["city", "a"]], ["city", "a"], 4),
        (frame[:, [2, 0]], ["city", "a"], 4),
        (frame[:, "a":"b"], ["a", "b"], 4),
        (frame[:, 1:], ["b", "city"], 4),
        (frame[1:3], ["a", "b", "city"], 2),
        (frame[[3, 0], ["b"]], ["b"], 2),
        (frame[np.array([3, 0])], ["a", "b", "city"], 2),
        (frame.head(1), ["a", "b", "city"], 1),
        (frame.tail(3), ["a", "b", "city"], 3),
        (frame.drop("a"), ["b", "city"], 4),
        (frame.rename({"a": "z"}), ["z", "b", "city"], 4),
    ]:
        native = found.to_native()
        assert isinstance(native, nt.Table) and native.names == names and len(native) == rows
        assert found.to_pandas().equals(native.to_pandas())
    assert frame[[3, 0]].to_native()["a"].tolist() == [4, 1]
    assert frame["city"].to_list() == ["x", "y", "x", "z"]
    assert frame.filter(nw.col("a") > 2).to_dict(as_series=False)["b"] == [2, 4]
    assert frame.select(nw.col("a") * 2)["a"].to_list() == [2, 4, 6, 8]
    assert frame.group_by("city").agg(nw.col("b").sum()).sort("city")["b"].to_list() == [2.5, 1, 4]
    assert frame.row(1)[:2] == (2, 1.0) and frame.item(0, "b") == 0.5
    assert np.array_equal(frame[:, ["a", "b"]].to_numpy(), table[["a", "b"]])
    with pytest.raises(Exception, match="color"):
        frame.select("color")
    unnamed = nw.from_native(nt.Table([[1, 2]], names=["a", None]))
    assert unnamed.columns == [0, 1] and unnamed[:, [1]].to_native()[0].tolist() == [2]


def test_estimators_keep_the_names_of_tables(table):
    numbers = table[["a", "b"]]
    model = LinearRegression().fit(numbers, [1, 2, 3, 4])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["b", "a"]])
    assert not hasattr(LinearRegression().fit(nt.Table(np.asarray(numbers)), [1, 2, 3, 4]), "feature_names_in_")
    train, test = train_test_split(table, random_state=0)
    assert isinstance(train, nt.Table) and train.names == table.names and len(train) + len(test) == 4
    assert train.categories == table.categories
    pipe = make_pipeline(StandardScaler(), TableScaler(), TableLinearRegression()).fit(numbers, [1, 2, 3, 4])
    assert pipe[:-1].get_feature_names_out().tolist() == ["a", "b"]
    trees = HistGradientBoostingRegressor(max_iter=2).fit(table, [1.0, 2, 3, 4])
    assert trees.is_categorical_.tolist() == [False, False, True]


def test_column_transformers_select_columns_of_tables_by_name(table):
    scaled = StandardScaler().fit_transform(np.asarray(table[["a", "b"]]))
    words = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]])
    parts = make_column_transformer(
        (TableScaler(), ["a", "b"]), (OneHotEncoder(sparse_output=False), ["city"]), verbose_feature_names_out=False
    )
    found = parts.fit_transform(table)
    assert np.allclose(found, np.hstack([scaled, words]))
    assert parts.feature_names_in_.tolist() == table.names
    assert parts.get_feature_names_out().tolist()[:2] == ["a", "b"] and len(parts.get_feature_names_out()) == 5
    assert np.allclose(parts.transform(table[["city", "b", "a"]]), found)  # by name, in any order
    with pytest.raises(ValueError, match="columns are missing: {'b'}"):
        parts.transform(table[["a", "city"]])
    with pytest.raises(ValueError, match="not columns of the dataframe: {'color'}"):
        make_column_transformer((StandardScaler(), ["color"])).fit(table)
    for columns in ([0, 1], slice(0, 2), slice("a", "b"), [True, True, False], np.array([0, 1]), lambda X: ["a", "b"]):
        assert np.allclose(make_column_transformer((StandardScaler(), columns)).fit_transform(table), scaled)
    rest = make_column_transformer((StandardScaler(), ["a"]), remainder="passthrough").fit_transform(table)
    assert np.allclose(rest[:, 1:], np.asarray(table[["b", "city"]]))
    letters = make_column_transformer((CountVectorizer(token_pattern="."), "city")).fit_transform(table)  # one column
    assert np.array_equal(letters.toarray() if hasattr(letters, "toarray") else letters, words)
    with pytest.raises(ValueError, match="only be applied to pandas"):
        make_column_transformer((StandardScaler(), make_column_selector("a"))).fit(table)


def test_a_column_transformer_of_tables_returns_frames_if_asked(table):
    parts = make_column_transformer(
        (TableScaler(), ["a", "b"]), ("passthrough", ["city"]), verbose_feature_names_out=False
    )
    frame = parts.set_output(transform="pandas").fit_transform(table)
    assert isinstance(frame, pd.DataFrame) and list(frame) == ["a", "b", "city"] and len(frame) == 4
    pl = pytest.importorskip("polars")
    frame = parts.set_output(transform="polars").fit_transform(table)
    assert isinstance(frame, pl.DataFrame) and frame.columns == ["a", "b", "city"]


@pytest.mark.parametrize("make", [TableScaler, StandardScaler, lambda: TableScaler(copy=False)])
def test_set_output_states_the_container(table, make):
    pl = pytest.importorskip("polars")
    numbers = nt.Table(table[["a", "b"]], dtype="f4")
    expected = StandardScaler().fit_transform(np.asarray(numbers))
    containers = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    for library, container in containers.items():
        for data in (nt.Table(numbers, copy=True), numbers.to_pandas(), pl.DataFrame(numbers), numbers.rows().copy()):
            names = ["x0", "x1"] if isinstance(data, np.ndarray) else ["a", "b"]
            scaler = make().set_output(transform=library)
            found = scaler.fit_transform(data)
            assert isinstance(found, container) and list(found.columns) == names
            assert np.allclose(found.to_numpy(), expected, atol=1e-6)
            if not isinstance(data, pl.DataFrame):  # which scikit-learn makes float64
                assert found.to_numpy().dtype == np.float32
    indexed = numbers.to_pandas().set_axis(list("wxyz"), axis=0)
    assert make().set_output(transform="pandas").fit_transform(indexed).index.tolist() == list("wxyz")
    frame = make().set_output(transform="pandas").fit_transform(nt.Table(numbers, copy=True))
    frame.iloc[0, 0] = 5.0  # it belongs to the caller


def test_the_scaler_returns_tables_by_default(table):
    numbers = table[["a", "b"]]
    scaler = TableScaler().set_output(transform="pandas").set_output(transform="default")
    assert isinstance(scaler.fit_transform(numbers), nt.Table)
    assert isinstance(scaler.inverse_transform(numbers), nt.Table)
    import sklearn

    with sklearn.config_context(transform_output="pandas"):
        assert list(scaler.fit_transform(numbers)) != ["x0", "x1"]
        assert isinstance(TableScaler().fit_transform(numbers), pd.DataFrame)
        assert list(TableKMeans(2, random_state=0).fit_transform(numbers)) == ["tablekmeans0", "tablekmeans1"]
    import scipy.sparse

    sparse = nt.Table(scipy.sparse.csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="outputs a sparse table"):
        TableScaler(with_mean=False).set_output(transform="pandas").fit(sparse).transform(sparse)
