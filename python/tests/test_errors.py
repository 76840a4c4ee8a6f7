"""What exceptions say, in the words of the package."""

import errno
import inspect
import os
import pathlib
import pickle
import re

import numpy as np
import pytest

import numeric_table as nt
from numeric_table import _native

SOURCE = pathlib.Path(__file__).parents[2] / "src"


def raised(work, kind=OSError):
    with pytest.raises(kind) as caught:
        work()
    return caught.value


def check(error, path, number, reason):
    assert (error.errno, error.strerror, error.filename) == (number, reason, str(path))
    assert str(error) == f"[Errno {number}] {reason}: {str(path)!r}"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.filename, str(again)) == (type(error), error.filename, str(error))


def test_an_error_of_the_system_has_a_number_words_and_a_file_as_those_of_python_have(tmp_path):
    table, none = nt.Table([[1, 2]]), tmp_path / "none"
    for call in [nt.load, nt.map, nt.verify, nt.open, nt.load_npy, nt.read_csv, nt.open_csv, lambda path: nt.Shards([path])]:
        error = raised(lambda: call(none), FileNotFoundError)
        check(error, none, errno.ENOENT, os.strerror(errno.ENOENT))
    for call in [nt.save, nt.write_csv, nt.save_npy]:
        error = raised(lambda: call(table, none / "file"), FileNotFoundError)
        check(error, none / "file", errno.ENOENT, f"the folder {none} does not exist")
    error = raised(lambda: nt.load(tmp_path))
    assert error.errno and error.filename == str(tmp_path) and str(error).count(str(tmp_path)) == 1


def test_an_error_of_the_package_about_a_file_has_the_file_and_names_it_once(tmp_path):
    path = tmp_path / "text"
    path.write_text("no table")
    for call in [nt.load, nt.verify, nt.open, nt.load_npy]:
        error = raised(lambda: call(path), nt.FormatError)
        assert error.filename == str(path) and error.errno is None
        assert str(error).startswith(f"{path}: ") and str(error).count(str(path)) == 1
        assert type(pickle.loads(pickle.dumps(error))) is nt.FormatError
    folder = tmp_path / "folder"
    with nt.ShardsWriter.create(folder, 1) as writer:
        writer.append([[1]])
    error = raised(lambda: nt.ShardsWriter.create(folder, 1))
    assert (error.errno, error.filename is not None) == (errno.EEXIST, True) and str(error).count(error.filename) == 1
    assert str(nt.FormatError("words")) == "words" and str(nt.FormatError()) == ""


def test_the_name_of_a_file_that_is_not_unicode_comes_back_as_it_was(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.ntb")
    assert raised(lambda: nt.load(name)).filename == name


def test_advice_about_csv_can_be_followed(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2,\n3,4,\n")
    assert "trailing_delimiter= can" in str(raised(lambda: nt.read_csv(path), nt.TableError))
    assert nt.read_csv(path, trailing_delimiter=True).rows().tolist() == [[1, 2], [3, 4]]
    path.write_text('a,b\n"1,234",2\n"12,345",4\n')
    assert nt.read_csv(path, thousands=",").rows().tolist() == [[1234, 2], [12345, 4]]
    assert next(nt.open_csv(path, thousands=",").row_blocks(9)).rows().tolist() == [[1234, 2], [12345, 4]]
    path.write_text("a,b,c\n1,x,2\n3,y,4\n")
    for limit in [{"max_columns": 2}, {"max_categories": 1}, {"max_record_bytes": 3}]:
        assert "which is the limit" in str(raised(lambda: nt.read_csv(path, **limit), nt.TableError))
        assert nt.read_csv(path, **{name: 10**6 for name in limit}).shape == (2, 3)


# What the package is built without, or what is no sentence.
LEFT_OUT = re.compile(r"(interop/npz|interop/sparse|interop/sprs)/|(^|/)tests?(/|\.rs)|guide\.rs|lib\.rs")
NOT_SAID = re.compile(r"doc =|doc\(|concat!|expect\(|expect =|reason = \"|note =|message =|must_use|unreachable!|panic!|assert")
LITERAL = re.compile(r"//[^\n]*|r#\"(.*?)\"#|\"((?:[^\"\\]|\\.)*)\"|'(?:[^'\\]|\\.)'", re.S)


HINT = re.compile(r"Hint::(?:new|with_effect)\(\s*\"([^\"]+)\",")
# Calls and options that the package has no counterpart of.
NOT_HERE = {
    "ArrowOptions::columns",
    "ArrowOptions::convert",
    "ArrowOptions::nulls_to_nan",
    "AosNumericTable::load_npy",
    "CsvOptions::max_decompressed_bytes",
    "CsvOptions::max_decompression_ratio",
    "CsvOptions::sample",
    "CsvWriteOptions::times",
    "NpzReader",
    "SaveOptions::in_place",
    "column",
    "SaveOptions::missing_to_nan",
    "nullable_column",
    "to_columns",
    "update_row_blocks",
    "Shards::append",
    "csv-compressed",
    "files::from_bytes",
    "read_npy",
    "set_array",
    "set_column",
    "solve_ridge",
    "with_extended_precision",
}


def sources():
    for root in SOURCE, *(SOURCE.parent / "crates" / f"numeric-table-{name}" / "src" for name in ("arrow", "learning")):
        for file in sorted(root.rglob("*.rs")):
            if not LEFT_OUT.search(file.relative_to(root).as_posix()):
                code = file.read_text().split("#[cfg(test)]\nmod ")[0]
                yield "".join(line for line in code.splitlines(True) if "///" not in line)


def sentences():
    """Every text of the library's source that names something of Rust's, except in hints."""
    for text in sources():
        text = HINT.sub("Hint(", text)
        for found in LITERAL.finditer(text):
            said = found[1] or found[2] or ""
            before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            is_code = said.startswith("[`") or re.search(r"\)\?$|\bnumeric_table::", said)
            if re.search(r"\w::\w|`\w", said) and not is_code and not NOT_SAID.search(before):
                yield re.sub(r"\\\n\s*", "", said)


@pytest.mark.skipif(not SOURCE.is_dir(), reason="the source of the library is not there")
def test_no_sentence_of_the_library_has_a_name_of_rust():
    assert list(sentences()) == []


@pytest.mark.skipif(not SOURCE.is_dir(), reason="the source of the library is not there")
def test_hints_name_calls_and_keywords_of_the_package():
    calls = dict(_native._calls_of_hints())
    named = {call for text in sources() for call in HINT.findall(text)}
    assert named - NOT_HERE == set(calls) - {"load_npy_cast"}
    keywords = set(inspect.signature(nt.read_csv).parameters) | set(inspect.signature(nt.Table.astype).parameters)
    for call, here in calls.items():
        assert "::" not in here and "`" not in here
        for keyword in re.findall(r"(\w+)=", here):
            assert keyword in keywords, (call, here)


def test_hints_are_those_of_the_error(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,\n2,4\n")
    text = str(raised(lambda: nt.read_csv(path, dtype="i4"), nt.TableError))
    assert "is missing" in text and "missing= sets how missing values are treated" in text
    table = nt.Table(np.array([[1.0, np.nan]]))
    text = str(raised(lambda: table.astype("u1", policy="checked"), nt.NotRepresentableError))
    assert text.endswith("is not representable as uint8: policy='saturate' accepts it in calls that take a policy")


def test_only_an_order_of_indices_asks_for_a_copy():
    scipy = pytest.importorskip("scipy.sparse")
    unsorted = scipy.csr_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    raised(lambda: nt.Table(unsorted, copy=False), nt.CopyRequiredError)
    outside = scipy.csr_array((np.array([1.0]), np.array([0]), np.array([0, 1])), shape=(1, 2))
    outside.indices[0] = 7
    error = raised(lambda: nt.Table(outside, copy=False), nt.TableError)
    assert not isinstance(error, nt.CopyRequiredError) and "7 at position 0" in str(error)
