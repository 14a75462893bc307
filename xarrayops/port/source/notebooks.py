"""The code cells of notebooks of format 4, which are plain JSON: lines for IPython are comments while code is read."""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from xarrayops.port.basics import PortError

WHOLE_CELL = ("%%time", "%%timeit", "%%capture", "%%prun")
"""The magics of a cell whose other lines are Python."""
_OF_IPYTHON = re.compile(r"\s*([%!?]|.*\?\s*$|[\w., ]+=\s*[!%])")
"""A line that only IPython can run."""
_MARK = "# IPython: "
_MARKED = re.compile(rf"^(\s*)(?:pass  )?{_MARK}(.*)$", re.MULTILINE)


def code(path: Path, data: bytes) -> tuple[str, tuple[int, ...]]:
    """The text of the code cells of a notebook, and the first line of each."""
    try:
        cells = [_lines(cell) for cell in _code_cells(json.loads(data))]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PortError(
            f"{path} is not a notebook of format 4: {type(error).__name__}: {error}. "
            "Instead: save it again with Jupyter, or export it as a Python file"
        ) from None
    lines = [line for cell in cells for line in _python(cell)]
    first = accumulate((len(cell) for cell in cells[:-1]), initial=1) if cells else ()
    return "\n".join([*lines, ""]), tuple(first)


def restored(text: str) -> str:
    """The text with the lines for IPython as they are in the notebook."""
    return _MARKED.sub(r"\1\2", text)


def with_code(data: bytes, text: str, before: Sequence[int], cells: Sequence[int]) -> bytes:
    """A notebook with new code; everything else stays, also the cells that do not change.

    ``before`` has the line in the original for each line of the text, ``cells`` the first line of each original cell.
    """
    new: list[list[str]] = [[] for _ in cells]
    for line, origin in zip(text.split("\n")[:-1], before, strict=False):  # the last is in none
        new[bisect_right(cells, origin) - 1].append(line)
    content = json.loads(data)
    is_changed = False
    for cell, lines in zip(_code_cells(content), new, strict=True):
        if lines != _lines(cell):
            is_changed = True
            joined = "\n".join(lines)
            cell["source"] = joined.splitlines(keepends=True) if isinstance(cell["source"], list) else joined
    if not is_changed:
        return data
    indent = re.match(rb"\{\r?\n(\s+)", data)
    written = json.dumps(content, indent=indent and len(indent[1]), ensure_ascii=data.isascii())
    return f"{written}\n".encode()


def _code_cells(content: Any) -> list[dict[str, Any]]:
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def _lines(cell: dict[str, Any]) -> list[str]:
    source = cell["source"]
    return ("".join(source) if isinstance(source, list) else str(source)).split("\n")


def _python(lines: list[str]) -> list[str]:
    """The lines of a cell; those for IPython (magics, shell commands and questions) as comments."""
    if lines and lines[0].startswith("%%"):
        is_python = lines[0].split()[0] in WHOLE_CELL
        return [_MARK + lines[0], *(_python(lines[1:]) if is_python else (_MARK + line for line in lines[1:]))]
    with suppress(SyntaxError, ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse("\n".join(lines))
        return lines
    return [_commented(line) if _OF_IPYTHON.match(line) else line for line in lines]


def _commented(line: str) -> str:
    code = line.lstrip()
    return f"{line[: len(line) - len(code)]}pass  {_MARK}{code}"
