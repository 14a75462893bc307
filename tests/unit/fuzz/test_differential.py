"""`xarrayops.numpy` answers random calls as NumPy does; what still differs is in a table, and still differs."""

import re
import subprocess
import sys

import pytest

from tests.fuzz.differential.calls import NOT_CALLED, draw_call, names
from tests.fuzz.differential.draw import Call
from tests.fuzz.differential.known import ROWS
from tests.fuzz.differential.outcomes import LIBRARIES, bits, compared, evaluated
from tests.fuzz.differential.search import of_library, search
from xarrayops.numpy import _results

SEEDS = {"numpy": (2, 14), "torch": (1, 11), "dask": (1, 11), "jax": (0, 3), "jax-32": (0, 2)}
"""The number of calls of each name in a sample and in sweeps; JAX compiles for each shape."""
PART = {"torch": 2, "dask": 4, "jax": 40, "jax-32": 40}
"""The sample on a library is of every so many names."""


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("library", LIBRARIES)
def test_random_calls_answer_as_numpy_does(library, sweeping):
    pytest.importorskip(library.removesuffix("-32"))
    sample, whole = SEEDS[library]
    seeds = range(whole if sweeping else max(sample, 1))
    chosen = names() if sweeping else names()[:: PART.get(library, 1)]
    found = search(chosen, seeds, [library])
    assert not found.unlisted, found.report()
    assert found.outcomes[library]["equal"] > found.outcomes[library].total() / 3


def test_sweeps_make_enough_calls():
    called = sum(draw_call(name, 0) is not None for name in names())
    assert called * sum(whole for _, whole in SEEDS.values()) >= 20_000
    assert called / len(names()) >= 0.95
    assert not [name for name in NOT_CALLED if draw_call(name, 0) is not None]


def test_a_seed_gives_the_same_call_again():
    chosen = ["roll", "add.reduce", "linalg.solve", "r_"]
    first, again = ([draw_call(name, seed).code for name in chosen for seed in range(9)] for _ in range(2))
    assert first == again
    assert len({*first}) > 15


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_a_listed_difference_still_differs(row):
    library = row.libraries[0]
    pytest.importorskip(library.removesuffix("-32"))
    with bits(library):
        call = of_library(Call(re.match(r"np\.([\w.]+)", row.example)[1], (), row.operands, row.example), library)
        outcome = compared(call, library, evaluated(call))
    assert row.lists(call, library, outcome), f"the row can go: {outcome}"


def test_the_table_is_short_and_has_reasons():
    assert len(ROWS) <= 40
    assert len({row.what for row in ROWS}) == len(ROWS)
    assert all(row.reason for row in ROWS)


def test_a_wrong_result_a_raw_error_and_a_wrong_dtype_are_differences(monkeypatch):
    right = _results.written
    monkeypatch.setattr(_results, "written", lambda *arguments: right(*arguments) + 1)
    assert {kind for kind, _, _ in search(["cumsum"], range(4), ["numpy"]).unlisted} >= {"values"}
    monkeypatch.setattr(_results, "written", lambda *arguments: right(*arguments).no_such_attribute)
    assert {kind for kind, _, _ in search(["cumsum"], range(4), ["numpy"]).unlisted} >= {"raw error"}
    monkeypatch.setattr(_results, "written", lambda *arguments: right(*arguments).astype("float16"))
    assert {kind for kind, _, _ in search(["cumsum"], range(4), ["numpy"]).unlisted} >= {"dtype"}


def test_the_command_prints_a_summary_and_sets_its_exit_status():
    command = [sys.executable, "-m", "tests.fuzz.differential", "--count", "2", "--names", "add", "moveaxis"]
    done = subprocess.run([*command, "--library", "numpy"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("numpy: 4 calls"), done.stdout + done.stderr
    assert done.returncode == 0
