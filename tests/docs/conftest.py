"""Shared by the tests of code and commands in the docs."""

from pathlib import Path

import pytest

from xarrayops.testing import pytest_plugin

pytest_configure = pytest_plugin.pytest_configure  # the marks of the guide for authors of libraries
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path):
    """An empty folder with the examples and results of a checkout, in which readers run code and commands."""
    for name in ("examples", "benchmarks"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path
