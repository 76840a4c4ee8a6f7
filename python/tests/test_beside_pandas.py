"""The programs of python/examples/beside_pandas: each prints what the one with pandas prints, in about as many lines."""

import os
import pathlib
import subprocess
import sys

import pytest

for name in ("pandas", "polars", "pyarrow", "scipy", "sklearn"):
    pytest.importorskip(name)

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples" / "beside_pandas"
OTHERS = sorted(FOLDER.glob("*_pandas.py"))


def lines(path):
    return sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def printed(path, folder):
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "error::UserWarning", path]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_every_program_has_a_pair_and_a_line_on_the_page():
    own = {path.stem for path in FOLDER.glob("*.py")} - {path.stem for path in OTHERS}
    assert own == {path.stem.removesuffix("_pandas") for path in OTHERS} and len(own) == 8
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in own)


@pytest.mark.parametrize("other", OTHERS, ids=lambda path: path.stem)
def test_both_print_the_same(other, tmp_path):
    own = other.with_name(other.name.replace("_pandas", ""))
    found, expected = printed(own, tmp_path / "own"), printed(other, tmp_path / "other")
    assert found == expected and len(found.splitlines()) >= 3
    assert lines(own) <= 1.2 * lines(other)
