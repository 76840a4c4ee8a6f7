"""``fillna`` with dates, new labels and large numbers."""

import datetime

import numpy as np
import pytest

import numeric_table as nt


def test_dates_fill_dates():
    days = np.array(["2024-01-01", "NaT"], "M8[D]")
    table = nt.Table({"d": days, "s": days.astype("M8[ms]"), "k": ["x", None], "n": [1, None]})
    day = datetime.date(2024, 2, 3)
    for value in [day, np.datetime64("2024-02-03"), datetime.datetime(2024, 2, 3), np.datetime64("2024-02-03T00")]:
        filled = table.fillna(value)
        assert filled["d"].astype(str).tolist() == ["2024-01-01", "2024-02-03"]
        assert (filled["s"] == filled["d"]).all()
        assert filled.missing_count() == {"d": 0, "s": 0, "k": 1, "n": 1}
        assert table.fillna({"d": value}) == table.fillna({"d": "2024-02-03"})
        assert table.fillna({"s": value}).missing_count("s") == 0
    assert table.fillna({"s": "2024-02-03T04:05:06.007"})["s"][1] == np.datetime64("2024-02-03T04:05:06.007")
    for number in [5, 5.0, True, np.int64(5), np.float32(5)]:  # no days since 1970
        for column in "ds":
            with pytest.raises(TypeError, match=rf'column {column!r} takes dates and times: a text \("2024-02-29"\).*, not '):
                table.fillna({column: number})
        assert table.fillna(number).missing_count() == {"d": 1, "s": 1, "k": 1, "n": 0}
    for fill, error, text in [
        ({"d": "2024-02-03T01:00"}, ValueError, "'D', which does not represent"),
        ({"s": "2024-02-03T00:00:00.0001"}, ValueError, "does not represent"),
        ({"d": "soon"}, ValueError, "ISO 8601"),
        ({"d": np.datetime64("NaT")}, ValueError, "missing itself"),
        ({"n": day}, TypeError, "column 'n' has no dates"),
        ({"k": day}, TypeError, "column 'k' has no dates"),
    ]:
        with pytest.raises(error, match=text):
            table.fillna(fill)


def test_a_text_fills_the_columns_of_words_and_no_others():
    table = nt.Table({"d": np.array(["2024-01-01", "NaT"], "M8[D]"), "k": ["x", None], "n": [1, None]})
    filled = table.fillna("x")
    assert filled["k"].tolist() == ["x", "x"] and filled.missing_count() == {"d": 1, "k": 0, "n": 1}
    with pytest.raises(nt.TableError, match="fills no column.*columns of numbers"):
        table[["d", "n"]].fillna("2024-01-01")
    for fill in [{"n": "x"}, {"n": "5"}]:
        with pytest.raises(nt.TableTypeError, match="column 'n' has no words.*pass a number"):
            table.fillna(fill)
    with pytest.raises(nt.TableTypeError, match="column 1 takes dates"):
        nt.Table([[1, 2]]).with_column("t", np.array(["NaT"], "M8[s]")).drop(0).rename({"t": None}).fillna({1: 5})


def test_a_new_label_fills_words_of_the_column_that_is_named():
    table = nt.Table({"city": ["Rome", None, "Oslo", None], "n": [1, 2, 3, 4]})
    filled = table.fillna({"city": "none"})
    assert filled["city"].tolist() == ["Rome", "none", "Oslo", "none"] and not filled.has_missing
    assert filled.categories["city"] == ["Rome", "Oslo", "none"] and table.categories["city"] == ["Rome", "Oslo"]
    assert table.fillna({"city": "Oslo"}).categories == table.categories
    with pytest.raises(nt.TableError, match=r"fillna\(\{name: .*adds it"):
        table.fillna("none")
    narrow = nt.Table([f"w{number}" for number in range(256)] + [None], names=["k"]).astype("u1")
    wider = narrow.fillna({"k": "new"})
    assert wider["k"].tolist() == [f"w{number}" for number in range(256)] + ["new"] and str(wider.dtypes[0]) == "uint16"
    assert nt.Table({"k": ["x"]}).fillna({"k": "y"}).categories == {"k": ["x"]}  # nothing to fill
    with pytest.raises(TypeError, match="column 'n' has no words"):
        nt.Table({"n": [1, None]}).fillna({"n": "none"})


def test_a_new_label_has_no_place_among_ordered_ones():
    pd = pytest.importorskip("pandas")
    sizes = pd.Categorical(["s", None], categories=["s", "m"], ordered=True)
    table = nt.Table(pd.DataFrame({"size": sizes}))
    assert table.fillna({"size": "m"})["size"].tolist() == ["s", "m"]
    with pytest.raises(nt.TableError, match="in an order"):
        table.fillna({"size": "l"})


def test_the_mean_of_large_numbers_does_not_overflow():
    most = np.finfo("f8").max
    means = [([1e308, 1.5e308], 1.25e308), ([most] * 3, most), ([most, -most, 4.0], None), ([-most] * 2, -most)]
    for values, mean in means:
        found = nt.Table({"a": [*values, None]}).fillna(method="mean")["a"][-1]
        assert np.isfinite(found) and (mean is None or found == pytest.approx(mean, rel=1e-15))
    assert nt.Table({"a": [np.inf, 1e308, None]}).fillna(method="mean")["a"][-1] == np.inf
