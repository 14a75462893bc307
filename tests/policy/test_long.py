"""Each pattern of ``long_except`` matches some parameters of its test, but not all; each slow module exists."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
LIST = """
import sys
import pytest

class List:
    def pytest_collection_finish(self, session):
        for item in session.items:
            if item.get_closest_marker("long_except"):
                speed = "long" if item.get_closest_marker("long") else "quick"
                print("listed", item.nodeid.partition("[")[0], speed)

sys.exit(pytest.main(["--collect-only", "-qq", *sys.argv[1:]], plugins=[List()]))
"""


def test_every_pattern_matches_some_but_not_all_parameters() -> None:
    files = [path for path in TESTS.rglob("test_*.py") if "@pytest.mark.long_except(" in path.read_text()]
    done = subprocess.run([sys.executable, "-c", LIST, *files], cwd=TESTS, capture_output=True, text=True, check=True)
    found = {tuple(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("listed")}
    assert found, "no library of these tests is installed"
    assert {test for test, speed in found if speed == "quick"} == {test for test, speed in found if speed == "long"}


def test_every_slow_module_exists() -> None:
    body = ast.parse((TESTS / "conftest.py").read_text()).body
    (call,) = (n.value for n in body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "SLOW_MODULES")
    assert isinstance(call, ast.Call)
    modules = ast.literal_eval(call.args[0])
    assert [name for name in modules if not (TESTS / f"{name}.py").is_file()] == []
    assert modules == sorted(set(modules))
