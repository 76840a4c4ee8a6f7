"""Plots of tables with matplotlib. Imported only where a plot is drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._native import Covariance, Table, TableError, TableTypeError

LARGEST_BARS = 30  # more categories cannot be read


def _pyplot(what: str) -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError(f"{what} needs matplotlib: pip install matplotlib") from error
    return pyplot


def _label(table: Table, place: int) -> str:
    name = table.names[place]
    return str(place) if name is None else name


def _places(table: Table, columns: Any) -> list[int]:
    """Returns the indices of some columns, in their order; of all, if none are stated."""
    everything = range(table.shape[1])
    if columns is None:
        return list(everything)
    marks = Table(np.arange(table.shape[1], dtype="i8").reshape(1, -1), names=table.names)
    return [int(place) for place in marks.select_columns(columns).rows()[0]]


def _words(table: Table, place: int) -> list[str] | None:
    """Returns the labels of a column of codes."""
    categories = table[0:0].select_columns([place]).categories
    return next(iter(categories.values()), None)


def _numbers(table: Table, place: int) -> Any:
    """Returns the values of a column as floats. A missing value is NaN."""
    return table.column(place, dtype="float64")


def hist(table: Table, columns: Any, bins: Any, range: Any, ax: Any) -> Any:
    """Draws a histogram of each column of numbers, and bars for the categories of a column of words."""
    pyplot = _pyplot("hist")
    places = _places(table, columns)
    if columns is None:
        places = [place for place in places if len(_words(table, place) or ()) <= LARGEST_BARS]
    if not places:
        raise TableError("the table has no columns to draw")
    if ax is None:
        across = min(3, len(places))
        down = math.ceil(len(places) / across)
        _, grid = pyplot.subplots(down, across, figsize=(4 * across, 3 * down), squeeze=False, layout="constrained")
        axes = grid.ravel()
        for unused in axes[len(places) :]:
            unused.remove()
        axes = axes[: len(places)]
    else:
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) != len(places):
            raise TableError(f"ax= has {len(axes)} axes, but {len(places)} columns are drawn")
    for place, each in zip(places, axes):
        _draw_column(table, place, bins, range, each)
    return axes


def _draw_column(table: Table, place: int, bins: Any, range: Any, ax: Any) -> None:
    values, words = _numbers(table, place), _words(table, place)
    ax.set_title(_label(table, place))
    present = values[~np.isnan(values)]
    if words is not None:
        if len(words) > LARGEST_BARS:
            text = f"has {len(words)} categories, but a plot shows at most {LARGEST_BARS}"
            raise TableError(f"column {_label(table, place)!r} {text}")
        codes = present[(present >= 0) & (present < len(words)) & (present == np.floor(present))]
        ax.bar(words, np.bincount(codes.astype("i8"), minlength=len(words)))
        if sum(map(len, words)) > 20:
            ax.tick_params(axis="x", rotation=90)
        return
    if range is None and not np.isfinite(present).all():
        raise TableError(f"column {_label(table, place)!r} has infinite values: range= leaves them out")
    counts, edges = np.histogram(present, bins, range)
    ax.stairs(counts, edges, fill=True)


def correlation(table: Table, columns: Any, ax: Any) -> Any:
    """Draws the correlation of each pair of columns as a map."""
    pyplot = _pyplot("plot.correlation")
    places = _places(table, columns)
    if columns is None:
        places = [place for place in places if _words(table, place) is None]
    if len(places) < 2:
        raise TableError(f"a correlation needs two columns of numbers, but there are {len(places)}")
    covariance = Covariance(len(places))
    covariance.update(table.select_columns(places))
    found = covariance.correlation
    labels = [_label(table, place) for place in places]
    if ax is None:
        size = 2.5 + 0.5 * len(labels)
        _, ax = pyplot.subplots(figsize=(size + 1, size), layout="constrained")
    image = ax.imshow(found, vmin=-1, vmax=1, cmap="RdBu_r")
    ax.figure.colorbar(image, ax=ax, label="correlation")
    ax.set_xticks(range(len(labels)), labels, rotation=90)
    ax.set_yticks(range(len(labels)), labels)
    if len(labels) <= 12:
        for (row, column), value in np.ndenumerate(found):
            ink = "white" if abs(value) > 0.6 else "black"  # on dark red and dark blue
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=ink, fontsize="small")
    return ax


def scatter(table: Table, x: Any, y: Any, color: Any, ax: Any) -> Any:
    """Draws a point for each row, at the values of two columns."""
    pyplot = _pyplot("plot.scatter")
    (across,), (up,) = _places(table, [x]), _places(table, [y])
    for place in (across, up):
        if _words(table, place) is not None:
            raise TableTypeError(f"column {_label(table, place)!r} has words: a scatter plot needs numbers")
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    xs, ys = _numbers(table, across), _numbers(table, up)
    size = 12 if len(xs) < 10_000 else 2
    if color is None:
        ax.scatter(xs, ys, s=size)
    else:
        (place,) = _places(table, [color])
        values, words = _numbers(table, place), _words(table, place)
        if words is None:
            image = ax.scatter(xs, ys, s=size, c=values)
            ax.figure.colorbar(image, ax=ax, label=_label(table, place))
        else:
            for code, word in enumerate(words):
                is_here = values == code
                ax.scatter(xs[is_here], ys[is_here], s=size, label=word)
            is_other = ~((values >= 0) & (values < len(words)))
            if is_other.any():
                ax.scatter(xs[is_other], ys[is_other], s=size, color="gray", label="missing")
            ax.legend(title=_label(table, place))
    ax.set_xlabel(_label(table, across))
    ax.set_ylabel(_label(table, up))
    return ax


class Plot:
    """Plots of a table: ``table.plot.scatter("a", "b")``. Returned by :attr:`Table.plot`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def hist(self, columns: Any = None, *, bins: Any = 10, range: Any = None, ax: Any = None) -> Any:
        """Draws what :meth:`Table.hist` draws."""
        return hist(self._table, columns, bins, range, ax)

    def correlation(self, columns: Any = None, *, ax: Any = None) -> Any:
        """Draws a map of the correlation of each pair of columns, and returns its axes. Only rows without missing
        values in these columns are used. By default, all columns of numbers."""
        return correlation(self._table, columns, ax)

    def scatter(self, x: Any, y: Any, *, color: Any = None, ax: Any = None) -> Any:
        """Draws a point for each row, at the values of the columns ``x`` and ``y``, and returns the axes. ``color`` is
        a column: one color for each category, or a scale for numbers. Rows without one of the values are not drawn."""
        return scatter(self._table, x, y, color, ax)

    def __repr__(self) -> str:
        rows, columns = self._table.shape
        return f"<plots of {rows} rows, {columns} columns: hist, correlation, scatter>"
