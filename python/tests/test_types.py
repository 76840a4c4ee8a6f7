"""The stubs say what the package has, and type checkers agree."""

import ast
import pathlib
import subprocess
import sys

import pytest

import numeric_table as nt

STUB = pathlib.Path(nt.__file__).with_name("__init__.pyi")


def members(body):
    return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_the_stubs_name_what_there_is():
    tree = ast.parse(STUB.read_text())
    assert {name for name in members(tree.body) if not name.startswith("_")} == set(nt.__all__)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in nt.__all__ and not node.name.endswith("Error"):
            described = {name for name in members(node.body) if not name.startswith("__")}
            there = {name for name in vars(getattr(nt, node.name)) if not name.startswith("__")} - {"_from_bytes", "_open", "_rebuild", "_values_and_mask"}
            assert described == there, node.name


def test_type_checkers_take_a_program(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nimport numeric_table as nt\n"
        "table = nt.Table(np.zeros((3, 2)), names=['a', 'b'])\n"
        "rows: int = len(table)\nwith table.write_rows(dtype='f4') as block:\n    block *= 2\n"
        "shards = nt.Shards(['a.ntb'])\nstep: nt.KMeansStep = shards.reduce(nt.KMeansStep([[1.0, 2.0]]))\n"
        "class Rows:\n    count = 0\n    def new_like(self) -> 'Rows':\n        return Rows()\n"
        "    def update(self, table: nt.Table) -> None:\n        self.count += len(table)\n"
        "    def merge(self, other: 'Rows') -> None:\n        self.count += other.count\n"
        "own: Rows = shards.reduce_shards(0, 1, Rows())\n"
        "with nt.ShardsWriter.create('folder', ['a', None], dtype='f4') as writer:\n    number: int = writer.append(table)\n"
        "part: nt.Table = table[1:]\ncolumn = table['a'] + 1\nmeans = nt.statistics(table).mean + column[:2]\n"
        "stored: int = table.nnz if table.is_sparse else 0\nrows_of_scipy = table.to_scipy('f4').indptr\n"
        "wider: nt.Table = table.with_column('c', [1, 2, 3]).drop_columns('a').rename({'b': 'x', 0: None})\n"
        "training, test = wider.split_rows(0.5, 1, by='c')\nframe = training.to_pandas(copy=False)\n"
        "words: list[str] = test.select_columns(['c']).categories.get('c', [])\n"
        "def report(done: int, total: int) -> None: ...\n"
        "nt.save(table, 'a.ntb', progress=report)\n"
        "with nt.open('a.ntb') as r, nt.create('b.ntb', r.names, dtype='f4', progress=lambda done, _: None) as w:\n"
        "    for block in r.row_blocks(4096):\n        w.append(block * 2)\n"
        "    row = r[0] + 1\n    some: nt.Table = r[1:3]\n    means = nt.statistics(r).mean\n"
        "with nt.open_csv('a.csv', progress=True) as source, nt.create('b.ntb', source) as w:\n"
        "    for part in source.row_blocks(4096):\n        w.append(part)\n"
        "there: nt.DeviceTable = table.to_device('cuda:0', 'f4', order='F').astype('f8').select_columns(['a'])\n"
        "back: nt.Table = nt.DeviceTable.from_dlpack(there).to_table()\nmeans = nt.statistics(there).mean\n"
        "try:\n    nt.load('a.ntb')\nexcept nt.TableFileNotFoundError as error:\n    missing = error.errno\n"
    )
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    stub = tmp_path / "stub.pyi"  # by itself: beside installed packages it would hide them
    stub.write_text(STUB.read_text())
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(stub)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
