"""docs/stability.md has the versions of pyproject.toml, and of the package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import xarrayops

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stability.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIRED = [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
REQUIREMENTS = [*REQUIRED, *(each for extra in PROJECT["optional-dependencies"].values() for each in extra)]
NAMES = {"PyTorch": "torch", "PyTorch/XLA": "torch-xla", "CuPy": "cupy-cuda13x", "Dask": "dask[array]"}
ROWS = re.findall(r"^\| ([\w/-]+) \| (\d[\d.]*) \| (\d.*) \|$", PAGE, re.MULTILINE)


def test_the_table_has_the_required_packages_and_the_libraries():
    assert {name for name, _, _ in ROWS} >= {"Python", "NumPy", "array-api-compat", "JAX", "SciPy", *NAMES}


@pytest.mark.parametrize(("name", "oldest", "tested"), ROWS)
def test_oldest_versions(name, oldest, tested):
    package = NAMES.get(name, name.lower())
    floors = {re.split("[,;]", each.removeprefix(f"{package}>="))[0] for each in REQUIREMENTS if f"{package}>=" in each}
    assert oldest in floors
    assert tested


def test_the_version_is_that_of_the_package():
    assert f"version {'.'.join(xarrayops.__version__.split('.')[:2])}." in PAGE
    assert f"xarrayops>={'.'.join(xarrayops.__version__.split('.')[:2])}," in PAGE
