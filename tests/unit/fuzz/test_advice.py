"""Errors for hostile arguments are ours, and their advice works: see tests/fuzz/advice.py."""

import json
import subprocess
import sys

import numpy
import pytest

from tests.fuzz import advice

STEP = 97
"""The sample is of every so many pairs."""


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("library", advice.LIBRARIES)
def test_no_error_is_raw_and_no_advice_fails(library, sweeping):
    for name in {library, "scipy"}:
        pytest.importorskip(name)
    command = [sys.executable, "-m", "tests.fuzz.advice", library, str(1 if sweeping else STEP)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["findings"] == []
    assert found["pairs"] >= (15_000 if sweeping else 150)


def test_a_raw_error_is_a_finding():
    library = advice.of_numpy()
    pair = advice.Pair("xo.sum(x)", "x", "None")
    assert advice.finding(library, pair) == ""
    raw = advice.Pair("xo.checkpoint(lambda a: a.nothing)(x)", "x", "big-endian")
    assert advice.finding(library, raw) == ""  # the function of the caller raises
    assert not advice.is_clear(KeyError("x"))


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("xo.sum: argument x: why. Instead: numpy.asarray(x)", "again"),
        ("xo.sum: argument x: why. Instead: xo.max(x), or another", "done"),
        ("xo.sum: argument x: why. Instead: NumPy's own functions", ""),
        ("xo.sum: why", ""),
    ],
)
def test_advice_is_followed(text, step):
    pair = advice.Pair("xo.sum(x)", "x", "a list")
    assert advice.followed(advice.of_numpy(), pair, ValueError(text), numpy.ones(2))[0] == step


def test_advice_that_fails_is_found():
    pair = advice.Pair("xo.sum(x)", "x", "a list")
    with pytest.raises(AttributeError):
        advice.followed(advice.of_numpy(), pair, ValueError("xo.sum: why. Instead: x.nothing()"), [1.0])
