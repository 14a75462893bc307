"""Doctests of modules with examples whose library is installed, and the flag that avoids bugs of XLA's compiler."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Generator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from packaging.requirements import Requirement

ROOT = Path(__file__).parent
PACKAGES = (ROOT / "xarrayops", ROOT / "backends")
LIBRARIES = {folder: folder.stem for folder in ROOT.glob("backends/xarrayops_backends/[!_]*")}
LIBRARIES[ROOT / "xarrayops" / "_ops" / "sparse"] = "scipy"
"""The library that the examples in a folder need, besides NumPy."""
MISSING = [folder for folder, library in LIBRARIES.items() if find_spec(library) is None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that the tests use; pytest knows them only if they are added here."""
    parser.addoption("--sweeps", metavar="FOLDER", help="run the sweeps alone, and write their results into a folder")
    parser.addoption("--every-test", action="store_true", help="run the tests of the sweeps too")
    parser.addoption("--record-durations", action="store_true", help="run every test, and record how long it takes")


def pytest_configure() -> None:
    """With a version of jaxlib that our extra excludes, run the tests as the warning of the backend advises."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (required,) = (each for each in map(Requirement, extras["jax"]) if each.name == "jaxlib")
    is_excluded = find_spec("jaxlib") and not required.specifier.contains(metadata.version("jaxlib"))
    flag, flags = "--xla_cpu_experimental_ynn_fusion_type=", os.environ.get("XLA_FLAGS", "")
    if is_excluded and flag not in flags:  # processes of the tests inherit it
        os.environ["XLA_FLAGS"] = f"{flags} {flag}".strip()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Skip modules without examples: ``--doctest-modules`` would import all files, including those of the tests."""
    collectors = yield
    if _has_examples(file_path):
        return collectors
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


def _has_examples(path: Path) -> bool:
    """Whether a module of the packages has examples whose library is installed."""
    inside, missing = (any(path.is_relative_to(folder) for folder in folders) for folders in (PACKAGES, MISSING))
    return inside and not missing and ">>>" in path.read_text(encoding="utf-8")
