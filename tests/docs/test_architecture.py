"""The page on the architecture describes the tree as it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture" / "index.md").read_text(encoding="utf-8")


def table(heading: str) -> tuple[list[str], list[list[str]]]:
    """The cells of the table below a heading: its head and its rows."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    head, _, *rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return head, rows


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_floors_are_those_that_the_policy_test_holds():
    source = (ROOT / "tests" / "policy" / "test_imports.py").read_text(encoding="utf-8")
    found = (node for node in ast.parse(source).body if isinstance(node, ast.Assign))
    floors = next(ast.literal_eval(node.value) for node in found if ast.unparse(node.targets[0]) == "FLOORS")
    shown = [
        {path.removeprefix("xarrayops/").removesuffix("/").removesuffix(".py") for path in code(folder)}
        for _, folder, _ in reversed(table("Floors")[1])
    ]
    assert shown == [{name.replace(".", "/") or "__init__" for name in floor} for floor in floors]


def families() -> dict[tuple[str, str], list[tuple[str, bool]]]:
    """The names in each cell, by family and folder, with whether a star marks the name."""
    head, rows = table("Families")
    folders = [code(cell)[0] for cell in head[1:]]
    return {
        (row[0].strip(), folder): [(name, star != "") for name, star in re.findall(r"`([^`]+)`( \\\*)?", cell)]
        for row in rows
        for folder, cell in zip(folders, row[1:], strict=True)
    }


def test_families_are_in_their_folders():
    """The head of the table has a folder for each column, and a cell has the files or folders of a family in it."""
    found = families()
    assert len(found) >= 5 * 7
    named = [f"{folder}{name}" for (_, folder), names in found.items() for name, _ in names]
    assert not [path for path in named if not (ROOT / path).exists()]


def test_a_star_marks_the_files_with_another_name_than_their_family():
    found = [(family, name, star) for (family, _), names in families().items() for name, star in names]
    stems = {name: Path(name).stem.removeprefix("_").removeprefix("test_") for _, name, _ in found}
    assert not [(family, name) for family, name, star in found if (stems[name] != family) != star]
