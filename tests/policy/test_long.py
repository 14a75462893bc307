"""What make test leaves to make test-all is named by function; a name that no test has any more is an error."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

TESTS = Path(__file__).parents[1]
LONG = runpy.run_path(str(TESTS / "conftest.py"))["LONG"]


def test_every_long_test_exists() -> None:
    known = {
        f"{path.relative_to(TESTS).with_suffix('').as_posix()}::{name}"
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", path.read_text())
    }
    assert not set(LONG) - known
