"""How much of NumPy's interface that real programs use is answered here: by a function, or by what to write instead.

    python benchmarks/numpy_references.py FOLDER... [--without tests] [--least 20] [--out FILE]

The sources in the folders are read, not run. A reference is a public name of numpy, numpy.linalg, numpy.fft or
numpy.random: ``np.x``, ``numpy.linalg.x``, or ``x`` after ``from numpy import x``; other names of modules are found by
their imports. It counts as answered if a function of ours has its name, or if the error for the missing name says what
to write instead: another name, a line of code, or a reason that names a function of ours. The other names are listed,
the most frequent first.

The bar: at least 97 % of the references. Ends with 3 if it is missed.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from xarrayops._core.numpy_names import MODULES

BAR, MISSED = 0.97, 3
OURS = {
    "numpy": "xarrayops",
    "numpy.linalg": "xarrayops.linalg",
    "numpy.fft": "xarrayops.fft",
    "numpy.random": "xarrayops.random",
    "numpy.lib.stride_tricks": "xarrayops",
}
"""Our module for the names of a module of NumPy."""
UFUNC_METHODS = ("accumulate", "at", "outer", "reduce", "reduceat")
Reference = tuple[str, str]
"""A module of NumPy, and a name in it; methods of ufuncs are a part of the name."""


class References(ast.NodeVisitor):
    """The references to NumPy in one source."""

    def __init__(self) -> None:
        self.found: Counter[Reference] = Counter()
        self._paths: dict[str, str] = {}
        """By the name in the source, the dotted path of a module or a member of NumPy."""

    def visit_Import(self, node: ast.Import) -> None:
        """Learn the name of a module."""
        for name in node.names:
            if name.name.split(".")[0] == "numpy":
                self._paths[name.asname or "numpy"] = name.name if name.asname else "numpy"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Learn the names of members."""
        if node.module and not node.level and node.module.split(".")[0] == "numpy":
            self._paths |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Count a chain of attributes that begins at a name of NumPy; look into others."""
        members: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            members.append(root.attr)
            root = root.value
        if isinstance(root, ast.Name) and root.id in self._paths:
            self._count(".".join([self._paths[root.id], *reversed(members)]))
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Count a member alone."""
        if isinstance(node.ctx, ast.Load) and node.id in self._paths:
            self._count(self._paths[node.id])

    def _count(self, path: str) -> None:
        """Count the first name after the longest known module; a module alone is none."""
        if path in OURS:
            return
        module = max((m for m in OURS if path.startswith(f"{m}.")), key=len)
        name, *rest = path.removeprefix(f"{module}.").split(".")
        if name.startswith("_"):
            return
        self.found[module, ".".join([name, *(r for r in rest[:1] if r in UFUNC_METHODS)])] += 1


def sources(folders: Iterable[Path], without: frozenset[str]) -> Iterator[Path]:
    """The Python files in the folders, except those below a folder of one of the names."""
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            if without.isdisjoint(path.relative_to(folder).parts):
                yield path


def references(paths: Iterable[Path]) -> tuple[Counter[Reference], int]:
    """The references of all files, and the number of files; files that are not Python 3 are left out."""
    found: Counter[Reference] = Counter()
    count = 0
    for path in paths:
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        visitor = References()
        visitor.visit(tree)
        found += visitor.found
        count += 1
    return found, count


def answered_by(reference: Reference) -> str:
    """How a reference is answered: by its "name", by an "answer", by a "reason" that names nothing, by "nothing"."""
    module, name = OURS[reference[0]], reference[1]
    if name in dir(import_module(module)):
        return "name"
    names = next((names for names in (MODULES[module], *MODULES.values()) if name in names.names()), None)
    if names is None:
        return "answer" if any(name in dir(import_module(other)) for other in MODULES) else "nothing"
    return "answer" if "xo." in names.without.get(name, "xo.") else "reason"


def summary(found: Counter[Reference], files: int, least: int) -> dict[str, Any]:
    """The share of each way, and the most frequent names that no function of ours serves."""
    ways: Counter[str] = Counter()
    left: dict[str, tuple[str, int]] = {}
    for reference, count in found.most_common():
        way = answered_by(reference)
        ways[way] += count
        if way in ("reason", "nothing"):
            left[".".join(reference)] = (way, count)
    total = max(found.total(), 1)
    shares = {way: round(ways[way] / total, 4) for way in ("name", "answer", "reason", "nothing")}
    return {
        "files": files,
        "references": found.total(),
        "shares": shares,
        "answered": round((ways["name"] + ways["answer"]) / total, 4),
        "left": dict(list(left.items())[:least]),
    }


def main() -> int:
    """Count, print and write the results. Returns `MISSED` if the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--without", default="tests", help="names of folders to leave out, separated by commas")
    parser.add_argument("--least", type=int, default=20, help="how many of the names that are left to list")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found, files = references(sources(options.folders, frozenset(options.without.split(","))))
    result = summary(found, files, options.least)
    shares = ", ".join(f"{way} {share:.1%}" for way, share in result["shares"].items())
    print(f"{result['references']} references in {files} files: {result['answered']:.1%} answered ({shares})")
    for name, (way, count) in result["left"].items():
        print(f"{count:6} {name}: {way}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    return MISSED if result["answered"] < BAR else 0


if __name__ == "__main__":
    sys.exit(main())
