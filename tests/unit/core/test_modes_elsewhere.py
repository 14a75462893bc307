"""docs/guides/modes.md says where each mode holds: in threads, tasks, generators and processes. Each cell is tried."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "modes.md"


def stated():
    """The cells of the table of the page: for each place, whether each mode holds."""
    lines = [line.strip("|").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    (_, *modes), *rows = [[cell.strip() for cell in line] for line in lines]
    assert {cell for _, *cells in rows for cell in cells} == {"yes", "no"}
    return {
        place: {mode.strip("`"): cell == "yes" for mode, cell in zip(modes, cells, strict=True)}
        for place, *cells in rows
    }


def test_modes_hold_where_the_page_says():
    for name in ("dask", "torch"):
        pytest.importorskip(name)
    command = [sys.executable, "-m", "tests.unit.core.modes_worker"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = dict(map(json.loads, done.stdout.splitlines()))
    assert found == stated()
    assert len(found) == 11
