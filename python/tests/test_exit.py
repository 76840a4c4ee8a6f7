"""Daemon threads that are in the middle of the package's work when the interpreter ends."""

import os
import subprocess
import sys
import textwrap

import pytest

BEGIN = """
    import os, sys, tempfile, threading, time
    import numpy as np
    import numeric_table as nt

    table = nt.Table(np.ones((4000, 4)))
    path = os.path.join(tempfile.mkdtemp(), "table.ntb")
    begun = threading.Semaphore(0)

    def busy(*_):
        begun.release()
        return sum(i * i for i in range(2000))

    def for_ever(call):
        def work():
            while True:
                call()
        for _ in range(2):
            threading.Thread(target=work, daemon=True).start()

    def load_with_bars_of(kind):
        auto = type(sys)("tqdm.auto")
        auto.tqdm = kind
        sys.modules["tqdm"], sys.modules["tqdm.auto"] = type(sys)("tqdm"), auto
        nt.save(table, path, durable=False)
        for_ever(lambda: nt.load(path, progress=True))

    def leave():
        for _ in range(4):
            begun.acquire()
        print("left", flush=True)
"""

WORK = {
    "functions_of_blocks": "for_ever(lambda: table.par_map_blocks(busy, 10))",
    "functions_of_blocks_that_sleep": """
        def f(block):
            begun.release()
            time.sleep(0.002)
        for_ever(lambda: table.par_map_blocks(f, 10))
    """,
    "functions_of_blocks_that_never_end": """
        def f(block):
            begun.release()
            while True:
                sum(range(100))
        for_ever(lambda: table.par_map_blocks(f, 10))
    """,
    "functions_within_functions": """
        for_ever(lambda: table.par_map_blocks(lambda block: nt.Table(block).par_map_blocks(busy, 2), 10))
    """,
    "partial_results_of_python": """
        class Count:
            def new_like(self): return Count()
            def update(self, table): busy()
            def merge(self, other): busy()
        nt.save(table, path, durable=False)
        shards = nt.Shards([path])
        for_ever(lambda: shards.reduce(Count()))
    """,
    "functions_of_progress": """
        nt.save(table, path, durable=False)
        for_ever(lambda: nt.load(path, progress=busy))
    """,
    "bars_that_are_made": """
        class Bar:
            def __init__(self, **options): self.n = busy()
            def update(self, n): busy()
            def close(self): pass
        load_with_bars_of(Bar)
    """,
    "bars_that_never_begin": """
        class Bar:
            def __init__(self, **options):
                begun.release(2)
                while True:
                    sum(range(100))
        load_with_bars_of(Bar)
    """,
    "bars_whose_number_never_comes": """
        class Bar:
            def __init__(self, **options): pass
            @property
            def n(self):
                begun.release(2)
                while True:
                    sum(range(100))
        load_with_bars_of(Bar)
    """,
    "results_without_functions": """
        def call():
            begun.release()
            nt.statistics(table)
            table.astype("float32")
        for_ever(call)
    """,
}


def run(code):
    command = [sys.executable, "-c", textwrap.dedent(BEGIN) + textwrap.dedent(code) + "\nleave()\n"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    try:
        out, error = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, error


@pytest.mark.parametrize("work", WORK)
def test_a_process_ends_while_daemon_threads_work(work):
    processes = [run(WORK[work]) for _ in range(2)]
    for outcome in map(ended, processes):
        assert outcome == (0, "left\n", "")


def test_an_exit_handler_that_runs_after_that_of_the_package_can_use_it():
    code = """
        import atexit
        def late():
            print(table.par_map_blocks(lambda block: len(block), 1000), nt.statistics(table).mean.tolist(), flush=True)
            nt.save(table, path, progress=lambda done, total: None)
            print(nt.load(path) == table, flush=True)
        atexit.unregister(nt._native._at_exit)
        atexit.register(late)
        atexit.register(nt._native._at_exit)
        begun.release(4)
    """
    assert ended(run(code)) == (0, "left\n[1000, 1000, 1000, 1000] [1.0, 1.0, 1.0, 1.0]\nTrue\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_from_within_a_function_of_blocks_ends():
    code = """
        def f(block):
            if (child := os.fork()) == 0:
                print(nt.statistics(table).row_count, flush=True)
                sys.exit()  # through the functions that are called with blocks, and exit handlers
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(nt.Table([[1]]).par_map_blocks(f, 1))
        begun.release(4)
    """
    assert ended(run(code)) == (0, "4000\n[0]\nleft\n", "")
