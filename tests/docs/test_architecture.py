"""The page on the architecture describes the tree as it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture" / "index.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [line.strip("|").split("|") for line in lines[2:]]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_floors_are_those_that_the_policy_test_holds():
    source = (ROOT / "tests" / "policy" / "test_imports.py").read_text(encoding="utf-8")
    found = (node for node in ast.parse(source).body if isinstance(node, ast.Assign))
    floors = next(ast.literal_eval(node.value) for node in found if ast.unparse(node.targets[0]) == "FLOORS")
    shown = [
        {path.removeprefix("xarrayops/").removesuffix("/").removesuffix(".py") for path in code(folder)}
        for _, folder, _ in reversed(rows("Floors"))
    ]
    assert shown == [{name.replace(".", "/") or "__init__" for name in floor} for floor in floors]


def test_families_are_in_their_folders():
    """A row has a folder in its first cell, and files or folders in it in the others."""
    found = [[code(cell) for cell in row] for row in rows("Families")]
    assert len(found) >= 5
    named = [f"{folder}{name}" for (folder,), *families in found for names in families for name in names]
    assert not [path for path in named if not (ROOT / path).exists()]
