"""Each seeded fault is found, and its line and kind are named."""

import runpy
from pathlib import Path
from typing import get_args

import pytest

from xarrayops.testing import verify
from xarrayops.testing._verify._report import Kind

FAULTS = runpy.run_path(str(Path(__file__).with_name("faults.py")))["FAULTS"]


def line_of_fault(port):
    lines = Path(port.__code__.co_filename).read_text(encoding="utf-8").splitlines()
    return next(i for i in range(port.__code__.co_firstlineno, len(lines)) if lines[i - 1].endswith("# fault"))


def test_there_are_enough():
    assert len(FAULTS) >= 20
    assert {kind for kind, *_ in FAULTS.values()} == {
        *("dtype", "alias", "out of bounds", "duplicate index", "order of summation", "random stream"),
        *("axis or shape", "cast", "bug"),
    }


@pytest.mark.parametrize("name", FAULTS)
def test_line_and_kind(name):
    kind, library, args, original, port = FAULTS[name]
    pytest.importorskip(library)
    way = "dask:chunks" if library == "dask" else f"{library}:eager"
    report = verify(port, *args, expected=original, libraries=[way])
    (outcome,) = report.outcomes
    assert not report.ok
    assert outcome.divergence is not None, report
    assert outcome.divergence.kind in get_args(Kind)
    assert (outcome.divergence.kind, outcome.divergence.line) == (kind, line_of_fault(port)), report
    with pytest.raises(AssertionError, match=kind):
        report.raise_if_different()
