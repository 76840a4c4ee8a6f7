"""Plots: what is drawn, and what is refused."""

import sys

import numpy as np
import pytest

import numeric_table as nt


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def table():
    colours = nt.Table({"colour": np.array([0, 1, 0, 0, 1], dtype="u1")})
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        colours = nt.Table(pd.DataFrame({"colour": pd.Categorical(["red", "blue", "red", "red", None])}))
    numbers = nt.Table({"size": [1.0, 2.0, 4.0, None, float("nan")], "count": [1, 2, 4, 8, 16]})
    return nt.hstack([numbers, colours])


def test_a_clear_error_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (lambda t: t.hist(), lambda t: t.plot.correlation(), lambda t: t.plot.scatter("size", "count")):
        with pytest.raises(ImportError, match="needs matplotlib: pip install matplotlib"):
            draw(table())


def test_a_histogram_has_the_counts_of_numpy(pyplot):
    axes = table().hist(["count", "size"], bins=3)
    assert [ax.get_title() for ax in axes] == ["count", "size"]
    for ax, values in zip(axes, [[1, 2, 4, 8, 16], [1, 2, 4]]):
        (stairs,) = ax.patches
        counts, edges = np.histogram(values, 3)
        assert stairs.get_data().values.tolist() == counts.tolist()
        assert stairs.get_data().edges.tolist() == edges.tolist()
    (ax,) = table().hist("count", bins=[0, 4, 8], range=None)
    assert ax.patches[0].get_data().values.tolist() == [2, 2]
    _, mine = pyplot.subplots()
    assert table().plot.hist("count", ax=mine)[0] is mine
    assert len(nt.Table.zeros(0, 2).hist()) == 2


def test_categories_are_bars(pyplot):
    pytest.importorskip("pandas")
    (ax,) = table().hist("colour")
    assert [bar.get_height() for bar in ax.patches] == [1, 3]  # the labels are sorted: blue, red
    assert [label.get_text() for label in ax.get_xticklabels()] == ["blue", "red"]


def test_what_cannot_be_drawn_is_refused(pyplot):
    with pytest.raises(nt.TableError, match="'a' has infinite values: range="):
        nt.Table([[1.0], [float("inf")]], names=["a"]).hist()
    assert nt.Table([[1.0], [float("inf")]]).hist(range=(0, 2))[0].patches[0].get_data().values.sum() == 1
    with pytest.raises(nt.TableError, match="ax= has 2 axes, but 3 columns"):
        table().hist(ax=pyplot.subplots(2)[1])
    with pytest.raises((nt.TableError, KeyError)):
        table().hist("weight")
    with pytest.raises(nt.TableError, match="two columns"):
        table().plot.correlation("size")
    with pytest.raises((nt.TableError, KeyError)):
        table().plot.scatter("size", "weight")
    with pytest.raises(nt.TableError, match="no columns"):
        table().hist([])


def test_many_categories_are_left_out_unless_they_are_stated(pyplot):
    pd = pytest.importorskip("pandas")
    words = nt.Table(pd.DataFrame({"word": [f"w{place}" for place in range(31)], "number": range(31)}))
    assert [ax.get_title() for ax in words.hist()] == ["number"]
    with pytest.raises(nt.TableError, match="31 categories, but a plot shows at most 30"):
        words.hist("word")
    with pytest.raises(nt.TableTypeError, match="'word' has words"):
        words.plot.scatter("word", "number")


def test_a_correlation_map_shows_complete_rows_of_numbers(pyplot):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(50, 3))
    ax = nt.Table(values, names=list("abc")).plot.correlation()
    np.testing.assert_allclose(ax.images[0].get_array(), np.corrcoef(values.T), atol=1e-12)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    gaps = nt.Table({"a": [1.0, 2.0, None, 4.0], "b": [2.0, 4.0, 7.0, 8.0]})
    np.testing.assert_allclose(gaps.plot.correlation().images[0].get_array(), np.ones((2, 2)))


def test_a_scatter_plot_has_a_point_for_each_row(pyplot):
    ax = table().plot.scatter("size", "count")
    np.testing.assert_array_equal(ax.collections[0].get_offsets().filled(np.nan)[:3], [[1, 1], [2, 2], [4, 4]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("size", "count")
    ax = table().plot.scatter(0, 1, color="count")
    assert len(ax.collections) == 1 and len(ax.figure.axes) == 2  # with a scale
    pytest.importorskip("pandas")
    ax = table().plot.scatter("count", "count", color="colour")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["blue", "red", "missing"]
    assert [len(points.get_offsets()) for points in ax.collections] == [1, 3, 1]
