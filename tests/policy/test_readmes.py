"""The README of a folder of scripts names every script, and the targets of its links exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = {"examples": "*.py", "benchmarks": "**/[!_]*.py"}


def links(folder: Path) -> set[Path]:
    """The files in the repository to which a folder's README links."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (folder / "README.md").read_text(encoding="utf-8"))
    return {(folder / target).resolve() for target in targets}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_is_named(name: str) -> None:
    folder = ROOT / name
    scripts = set(folder.glob(SCRIPTS[name]))
    assert scripts
    named = (folder / "README.md").read_text(encoding="utf-8")
    assert not {script.name for script in scripts if script.name not in named}


@pytest.mark.parametrize("name", SCRIPTS)
def test_link_targets_exist(name: str) -> None:
    found = links(ROOT / name)
    assert found
    assert not {link for link in found if not link.exists()}


def test_every_result_is_named() -> None:
    results = {path for path in (ROOT / "benchmarks" / "results").iterdir() if path.suffix in (".json", ".md")}
    assert not results - links(ROOT / "benchmarks")
