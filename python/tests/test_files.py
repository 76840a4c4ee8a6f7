"""Files, statistics, and tables of tables."""

import datetime

import numpy as np
import pytest

import numeric_table as nt


def test_tables_are_saved_loaded_mapped_and_verified(tmp_path):
    table = nt.Table(np.arange(12, dtype="f4").reshape(4, 3), names=["a", "b", "c"])
    path = tmp_path / "table.ntb"
    nt.save(table, path)
    nt.save(table, str(path), durable=False)
    assert nt.load(path) == table and nt.map(path) == table and nt.verify(path)
    mapped = nt.map(path)
    with mapped.write_rows() as block:
        block[:] = 7
    assert nt.load(path) == table  # the file stays as it was
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    for call in [nt.verify, nt.load]:
        with pytest.raises(nt.FormatError, match="damaged"):
            call(path)
    with pytest.raises(OSError):
        nt.load(path)


def test_a_file_that_is_not_there_is_not_found(tmp_path):
    for call in [nt.load, nt.map, nt.verify, nt.load_npy, nt.read_csv]:
        for family in [FileNotFoundError, nt.TableFileError, nt.TableFileNotFoundError]:
            with pytest.raises(family, match="none"):
                call(tmp_path / "none.ntb")
    (tmp_path / "text").write_text("no table")
    with pytest.raises(nt.TableFileError):
        nt.load(tmp_path / "text")


def test_csv_is_read_into_one_type_or_into_columns_of_their_own(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,word\n1,2.5,x\n3,4.5,y\n")
    table = nt.read_csv(path)
    assert table.names == ["a", "b", "word"] and len(set(map(str, table.dtypes))) > 1
    assert np.asarray(table[["a", "b"]], dtype="f8").tolist() == [[1.0, 2.5], [3.0, 4.5]]
    path.write_text("a;b\n1;2\n3;4\n")
    table = nt.read_csv(path, "f4", delimiter=";")
    assert table.dtype == np.float32 and table.rows().tolist() == [[1, 2], [3, 4]]
    again = tmp_path / "again.csv"
    nt.write_csv(table, again)
    assert nt.read_csv(again, "f4") == table
    path.write_text("a,b\n1,2\n3,oops\n")
    with pytest.raises(Exception, match="oops"):
        nt.read_csv(path, "f4")


def test_npy_goes_and_comes(tmp_path):
    array = np.arange(12, dtype="i2").reshape(3, 4)
    path = tmp_path / "array.npy"
    np.save(path, array)
    table = nt.load_npy(path)
    assert np.array_equal(np.asarray(table), array)
    nt.save_npy(table, path)
    assert np.array_equal(np.load(path), array)


def test_statistics_are_those_of_numpy():
    array = np.random.default_rng(5).normal(3, 2, (5000, 4)).astype("f4")
    found, wide = nt.statistics(nt.Table(array)), array.astype("f8")
    assert found.row_count == 5000 and (found.count == 5000).all()
    for ours, theirs in [
        (found.mean, wide.mean(0)),
        (found.variance, wide.var(0, ddof=1)),
        (found.standard_deviation, wide.std(0, ddof=1)),
        (found.sum, wide.sum(0)),
    ]:
        assert np.allclose(ours, theirs, rtol=1e-12)
    assert np.array_equal(found.minimum, wide.min(0)) and np.array_equal(found.maximum, wide.max(0))
    first, second = nt.statistics(nt.Table(array[:2000])), nt.statistics(nt.Table(array[2000:]))
    first.merge(second)
    assert np.allclose(first.variance, found.variance, rtol=1e-14)
    special = nt.statistics(nt.Table([[np.nan], [np.inf], [1.0]]))
    assert (special.nan_count[0], special.infinity_count[0], special.count[0]) == (1, 1, 2)
    with pytest.raises(ValueError):
        first.merge(special)


def test_tables_are_put_together():
    one, two = nt.Table([[1, 2], [3, 4]]), nt.Table([[5, 6]])
    assert nt.vstack([one, two]).rows().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert nt.hstack([one, one]).rows().tolist() == [[1, 2, 1, 2], [3, 4, 3, 4]]
    mixed = nt.hstack([one, nt.Table([[0.5], [1.5]])])
    assert mixed.dtype == np.float64 and np.asarray(mixed).tolist() == [[1, 2, 0.5], [3, 4, 1.5]]
    assert [str(dtype) for dtype in mixed.dtypes] == ["int64", "int64", "float64"]
    for call, tables in [(nt.vstack, []), (nt.hstack, [one, two]), (nt.vstack, [one, mixed])]:
        with pytest.raises(ValueError):
            call(tables)
    assert np.asarray(one.sort_by(0)).tolist() == [[1, 2], [3, 4]]
    assert one.head(1) == one[:1] and one.tail(9) == one


def test_delimiters_are_single_characters_of_ascii(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;2\n")
    assert nt.read_csv(path, delimiter=";").names == ["a", "b"]
    for read in (nt.read_csv, nt.open_csv):
        with pytest.raises(nt.TableError, match="é"):
            read(path, delimiter="é")
        for wrong in (r"\s+", ";;", "", 5):
            for option in ("delimiter", "sep", "decimal", "thousands", "comment"):
                with pytest.raises(nt.TableTypeError, match=f"(?s)is not one character.*pandas.read_csv.*'{option}'"):
                    read(path, **{option: wrong})


CSV = "id;size;colour;note\n1;1,5;red;7\n2;;blue;8\n3;-;red;9\n"


def test_the_text_of_a_file_is_described(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(CSV)
    said = {"delimiter": ";", "decimal": ",", "na_values": ["", "-"], "keep_default_na": False}
    with pytest.raises(nt.TableError, match="missing="):
        nt.read_csv(path, missing="error", **said)
    table = nt.read_csv(path, **said)
    assert table.missing_count() == {"id": 0, "size": 2, "colour": 0, "note": 0} and table["id"].dtype == "int64"
    table = nt.read_csv(path, missing="nan", dtypes={"id": "i2", 3: "f4"}, categorical="note", **said)
    assert table.names == ["id", "size", "colour", "note"]
    assert table["id"].dtype == "int16"
    np.testing.assert_array_equal(table["size"], [1.5, np.nan, np.nan])
    assert table.categories == {"colour": ["red", "blue"], "note": ["7", "8", "9"]}
    assert nt.read_csv(path, "f8", missing="skip", columns=["id", "size"], **said).rows().tolist() == [[1, 1.5]]
    assert nt.read_csv(path, "f8", missing=-1, columns=[0, 1], **said).rows().tolist() == [[1, 1.5], [2, -1], [3, -1]]
    with nt.open_csv(path, missing=0.5, columns=(1,), **said) as source:
        assert [block.rows().tolist() for block in source.row_blocks(2)] == [[[1.5], [0.5]], [[0.5]]]
    path.write_text("1,2 # after a field\n# nothing\n3,4#\n")
    assert nt.read_csv(path, "f8", header=False, comment="#").rows().tolist() == [[1, 2], [3, 4]]
    assert nt.read_csv(path, "f8", header=True, comment="#").names == ["1", "2"]


def test_what_is_missing_in_pandas_is_missing(tmp_path):
    path = tmp_path / "t.csv"
    markers = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"]
    markers += ["NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
    for marker in markers:
        path.write_text(f"n,x,w\n1,0.5,red\n{marker},{marker},{marker}\n3,NAN,blue\n")
        table = nt.read_csv(path)
        assert table.missing_count() == {"n": 1, "x": 1, "w": 1}, marker
        assert [str(dtype) for dtype in table.dtypes[:2]] == ["int64", "float64"]
    path.write_text("x,w\n0.5,red\nNaN,None\n,\n")
    table = nt.read_csv(path, keep_default_na=False, na_values="")
    assert table.missing_count() == {"x": 1, "w": 1} and table.categories == {"w": ["red", "None"]}
    path.write_text("x,y\n0.5,nan\nNaN,2\n")  # a table of one type has NaN for NaN
    np.testing.assert_array_equal(nt.read_csv(path, "f8").rows(), [[0.5, np.nan], [np.nan, 2]])
    (block,) = nt.open_csv(path).row_blocks(9)
    np.testing.assert_array_equal(block.rows(), [[0.5, np.nan], [np.nan, 2]])
    assert nt.read_csv(path, "f8", missing=0).rows().tolist() == [[0.5, 0], [0, 2]]
    with pytest.raises(nt.TableError, match='"nan" is missing'):
        nt.read_csv(path, "f8", missing="error")
    path.write_text("x,y\n0.5,null\n")
    with pytest.raises(nt.TableError, match='"null" is missing'):
        nt.read_csv(path, "f8")


def test_words_that_are_written_come_back(tmp_path):
    words = ["None", "null", "NA", "n/a", "", "red", "nan", "-1.#IND", "<NA>"]
    path = tmp_path / "t.csv"
    path.write_text("w\n" + "".join(f'"{word}"\n' for word in words))
    table = nt.read_csv(path)
    assert table.categories == {"w": words} and table.missing_count("w") == 0
    nt.write_csv(table, tmp_path / "again.csv")
    assert nt.read_csv(tmp_path / "again.csv") == table


def test_further_markers_are_texts_and_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,x,w\n-999,-999.000,red\n1,-9.99e2,-\n3,2.5,NA\n")
    for marker in (-999, -999.0, "-999", np.int64(-999), np.float32(-999)):
        assert nt.read_csv(path, na_values=["-", marker]).missing_count() == {"n": 1, "x": 2, "w": 2}
        assert nt.read_csv(path, na_values=("-", marker), keep_default_na=False).missing_count("w") == 1
    assert nt.read_csv(path, na_values="red").missing_count() == {"n": 0, "x": 0, "w": 2}
    assert nt.read_csv(path, na_values=float("nan")).missing_count() == {"n": 0, "x": 0, "w": 1}
    path.write_text("n\n9007199254740992\n9007199254740993\n")  # as float64, they are the same number
    assert nt.read_csv(path, na_values=2**53 + 1).missing("n").tolist() == [False, True]
    for wrong in ([True], {"n": [True]}, {"n": {}}):
        with pytest.raises(nt.TableTypeError, match="texts and numbers, not (True|{})"):
            nt.read_csv(path, na_values=wrong)


def test_markers_of_some_columns_are_values_in_others(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,x,w,d\n-999,-999.000,-,2024-01-01\n1,-9.99e2,red,1900-01-01\n3,2.5,NA,1900-01-01\n")
    options = {"dtypes": {"d": "datetime64[D]"}}
    own = {"x": -999, "w": ["-"], 3: "1900-01-01"}
    table = nt.read_csv(path, na_values=own, **options)
    assert table.missing_count() == {"n": 0, "x": 2, "w": 2, "d": 2} and table["n"].tolist() == [-999, 1, 3]
    assert table["w"].tolist() == [None, "red", None] and table.dropna("d")["d"].tolist() == [datetime.date(2024, 1, 1)]
    assert nt.read_csv(path, na_values=own, keep_default_na=False, **options)["w"].tolist() == [None, "red", "NA"]
    assert nt.read_csv(path, na_values={"n": ["3", -999]}, usecols=["n"]).missing("n").tolist() == [True, False, True]
    assert nt.read_csv(path, "f4", na_values={"n": 1}, usecols=["n", "x"], missing="nan").isna().sum() == 1
    blocks = nt.open_csv(path, na_values={"n": 1}, usecols=["x", "n"], missing="skip").row_blocks(5)
    assert [block.rows().tolist() for block in blocks] == [[[-999, -999], [2.5, 3]]]
    assert nt.read_csv(path, na_values={}, **options) == nt.read_csv(path, **options)
    with pytest.raises(nt.TableError, match="q"):
        nt.read_csv(path, na_values={"q": 1})


def test_texts_in_quotes_are_words_or_missing_as_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"colour","size"\n"red","1"\n"","2"\n"NA","3"\n')
    for said in [{}, {"quoted_missing": None}, {"quoted_missing": False}]:
        assert nt.read_csv(path, missing="nan", **said).categories == {"colour": ["red", "", "NA"]}
    table = nt.read_csv(path, missing="nan", quoted_missing=True)
    assert table.categories == {"colour": ["red"]} and np.isnan(table.column("colour")).tolist() == [False, True, True]
    assert nt.read_csv(path, "f8", missing="skip", quoted_missing=True).rows().tolist() == [[0, 1]]
    with nt.open_csv(path, missing="skip", quoted_missing=True) as source:
        assert [block.rows().tolist() for block in source.row_blocks(9)] == [[[0, 1]]]
    with pytest.raises(nt.TableError, match="missing="):
        nt.read_csv(path, missing="error", quoted_missing=True)
    assert nt.read_csv(path, quoted_missing=True).missing_count("colour") == 2


def test_descriptions_that_fit_nothing_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    for wrong in (
        {"missing": "none"},
        {"missing": True},
        {"missing": [1]},
        {"columns": "c"},
        {"columns": [0, "a"]},
        {"columns": -1},
        {"columns": {"a"}},
        {"words": 7},
        {"dtypes": {"c": "f4"}},
        {"dtypes": {"a": "complex64"}},
        {"dtypes": "f4"},
        {"comment": "é"},
        {"decimal": "x"},
        {"na_values": {"a": None}},
        {"na_values": True},
        {"na_values": ["NA", None]},
        {"na_values": b"NA"},
        {"na_values": 2**2000},
        {"keep_default_na": "yes"},
        {"missing_texts": ["NA"]},
        {"header": "yes"},
        {"quoted_missing": "yes"},
    ):
        for read in (nt.read_csv, nt.open_csv):
            with pytest.raises((TypeError, ValueError, IndexError)):
                read(path, **wrong)


def test_a_frame_with_missing_values_comes_back(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.5, None, 3.0], "b": [1, 2, 3]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = nt.read_csv(tmp_path / "t.csv", missing="nan")
    pd.testing.assert_frame_equal(table.to_pandas(), frame)


def test_read_csv_has_the_options_of_pandas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n,\n3,y\n")
    for header in [0, "infer", True, np.int64(0)]:
        assert nt.read_csv(path, header=header).names == ["a", "b"]
    path.write_text("a;b\nx;y\n")
    for header in [None, False]:
        found = nt.read_csv(path, header=header, sep=";")
        assert found.names == [None, None] and found[0] == ("a", "b")
    with nt.open_csv(path, header=None, sep=";", usecols=[1]) as source:
        assert [block.shape for block in source.row_blocks(9)] == [(2, 1)]
    for header in [1, -1, [0, 1], "first", 0.5]:
        with pytest.raises(TypeError, match='header= must be "auto", None, 0'):
            nt.read_csv(path, header=header)
    path.write_text("a,b,c\n1,2,x\n3,4,y\n")
    found = nt.read_csv(path, usecols=["c", "a"], dtype={"a": "f4"})
    assert found.names == ["c", "a"] and str(found.dtypes[1]) == "float32"
    with pytest.raises(TypeError, match="sep= are one option"):
        nt.read_csv(path, sep=",", delimiter=",")
    advice = {"nrows": "row_blocks", "names": "table.columns", "parse_dates": "datetime64", "index_col": "rows"}
    for option, text in advice.items():
        for call in [nt.read_csv, nt.open_csv]:
            with pytest.raises(TypeError, match=rf"{call.__name__}\(\) has no {option}=: .*{text}"):
                call(path, **{option: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        nt.read_csv(path, colour=1)


def test_a_number_fills_no_words_and_no_dates_of_a_csv_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("k,d,n,x\nx,2024-01-02,1,0.5\n,,,\ny,2024-01-04,3,2.5\n")
    found = nt.read_csv(path, missing=0, dtypes={"d": "datetime64[D]"})
    assert found["k"].tolist() == ["x", None, "y"]
    assert found["d"].astype(str).tolist() == ["2024-01-02", "NaT", "2024-01-04"]
    assert found["n"].tolist() == [1, 0, 3] and found["n"].dtype == np.int64 and found["x"].tolist() == [0.5, 0, 2.5]
    assert nt.read_csv(path, missing=0, columns=["n", "k"])["k"].tolist() == ["x", None, "y"]
    assert nt.read_csv(path, "f8", missing=-1, columns=["n", "x"]).rows().tolist() == [[1, 0.5], [-1, -1], [3, 2.5]]
    with pytest.raises(nt.TableError, match="line 3, column 0"):
        nt.read_csv(path, "f8", missing=0, columns=["k", "n"])
    for unit in ["s", "ms", "us", "ns"]:
        assert nt.read_csv(path, dtypes={"d": f"M8[{unit}]"})["d"][0] == np.datetime64("2024-01-02")
    with pytest.raises(TypeError, match="dates and times are"):
        nt.read_csv(path, dtypes={"d": "datetime64[h]"})
    with pytest.raises(nt.TableError, match="line"):
        nt.read_csv(path, dtypes={"k": "datetime64[D]"})
