"""Ports that are right but for rounding are never accused, on any library."""

import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

from xarrayops.testing import verify

PORTS = runpy.run_path(str(Path(__file__).with_name("ports.py")))["PORTS"]
COMPILED = ("standardise", "diffusion", "masks", "scatter")
"""Compilation takes long, so few run under a compiler."""
EAGER = ("numpy", "torch:eager", "torch:meta", "jax:eager", "dask:chunks", "array_api_strict")
REFUSED = {
    "native_sum": {"array_api_strict"},
    "masks": {"array_api_strict"},
    "monte_carlo": {"array_api_strict"},
    "order_and_sets": {"torch:meta"},
    "nearest": {"array_api_strict"},
}
"""The runs that arrays without values, or a library with the standard alone, refuse."""


def test_there_are_enough():
    assert len(PORTS) >= 20


def installed(libraries):
    return [each for each in libraries if find_spec(each.partition(":")[0]) is not None]


@pytest.mark.parametrize("name", PORTS)
def test_nothing_differs(name):
    args, original, port = PORTS[name]
    report = verify(port, *args, expected=original, libraries=installed(EAGER))
    report.raise_if_different()
    assert {each.run for each in report.outcomes if each.status != "same"} <= REFUSED.get(name, set()), report


@pytest.mark.parametrize("library", ["torch:compile", "jax:jit"])
@pytest.mark.parametrize("name", COMPILED)
def test_nothing_differs_when_compiled(name, library):
    pytest.importorskip(library.partition(":")[0])
    args, original, port = PORTS[name]
    report = verify(port, *args, expected=original, libraries=[library])
    assert [each.status for each in report.outcomes] == ["same"], report
