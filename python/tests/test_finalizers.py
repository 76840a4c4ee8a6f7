"""Code of the user that runs in the middle of a call, or at the end of the program: finalizers, and changed names."""

import os
import subprocess
import sys
import textwrap

import pytest

from other_library import need_device


def program(text, *arguments):
    code = textwrap.dedent(text)
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)


def test_the_program_is_collected_at_its_end(tmp_path):
    path = tmp_path / "file"
    run = program(
        """
        import sys
        import numeric_table

        class Last:
            def __del__(self):
                print("collected", flush=True)

        last = Last()
        file = open(sys.argv[1], "w")
        file.write("every byte")
        """,
        os.fspath(path),
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "collected\n", ""), run
    assert path.read_text() == "every byte"


def test_messages_do_not_depend_on_names_of_the_program(tmp_path):
    path = tmp_path / "missing.ntb"
    run = program(
        """
        import sys
        import numeric_table
        expected = str(numeric_table.FormatError("a text"))
        str_, str, OSError = str, 5, None
        try:
            numeric_table.load(sys.argv[1])
        except numeric_table.TableFileError as error:
            print(error)
        print(numeric_table.FormatError("a text"), expected, numeric_table.FormatError())
        """,
        os.fspath(path),
    )
    lines = run.stdout.splitlines()
    assert len(lines) == 2 and "missing.ntb" in lines[0] and lines[1].split() == ["a", "text"] * 2, run


PROGRAM = """
    import gc, pickle, sys
    import numpy as np, numeric_table as nt

    own, failing = sys.argv[1:]
    values = np.full((4, 3), 300.5)
    table = nt.Table(values, names=["a", "b", "c"])
    if own == "device":
        table = table.to_device()
    mixed = nt.Table([[2**53 + 1]]).with_column("x", [0.5])

    class Node:
        def __init__(self):
            self.me = self  # only the collector finds it

        def __del__(self):
            if own == "device":
                table.__dlpack__()  # locks the table as a write does
            else:
                table.names = ["a", "b", "c"]
                mixed.names = ["a", "b"]

    # Nothing but the call is between a node and the failure, so that the collector starts within the call.
    exec(f"def step():\\n Node()\\n try: {failing}\\n except (ValueError, IndexError, TypeError): return 1\\n return 0")
    count = 0
    for threshold in range(1, 31):
        gc.set_threshold(threshold)
        for _ in range(100):
            count += step()
    gc.set_threshold(700)
    print(count)
"""


@pytest.mark.parametrize(
    "failing",
    [
        "table.astype('u1', policy='exact')",
        "table.rows(dtype='u1', policy='checked')",
        "table.rows(9, 10)",
        "table.select_columns([9])",
        "table.select_columns(['z'])",
    ],
)
@pytest.mark.parametrize("own", ["program", "device"])
def test_finalizers_write_to_the_table_of_a_call_that_fails(own, failing):
    if own == "device":
        need_device()
    run = program(PROGRAM, own, failing)
    assert (run.returncode, run.stdout, run.stderr) == (0, "3000\n", ""), run


@pytest.mark.parametrize(
    "failing",
    [
        "mixed.rows()",
        "mixed[0]",
        "mixed.column(0, dtype='u1', policy='exact')",
        "list(mixed.row_blocks(1))",
        "mixed.par_map_blocks(len, 1)",
        "mixed.write_rows().__enter__()",
        "table.column(9)",
        "table[9]",
        "table[[9]]",
        "setattr(table, 'names', ['a'])",
        "pickle.loads(pickle.dumps(table, 4))[9]",
    ],
)
def test_finalizers_write_to_the_tables_of_the_program(failing):
    run = program(PROGRAM, "program", failing)
    assert (run.returncode, run.stdout, run.stderr) == (0, "3000\n", ""), run
