"""Reading a program: Python files in any declared encoding, and the code cells of notebooks."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from bisect import bisect_right
from pathlib import Path

from xarrayops.plugin.arrays import Record
from xarrayops.port.basics import PortError
from xarrayops.port.source import notebooks

LARGEST_BYTES = 4_000_000
"""Larger files are generated or are data."""
DEEPEST = 150
"""Expressions that are nested deeper are generated; the analysis visits them recursively."""


class Source(Record):
    """A program: its path, its text and lines, the tree, and the first line of each cell of a notebook.

    Lines end with a line feed, whatever the line ends of the file.
    """

    path: str
    text: str
    lines: tuple[str, ...]
    tree: ast.Module
    cells: tuple[int, ...] = ()

    def place(self, line: int) -> str:
        """A line as the editor shows it: ``line 12``, or ``cell 3, line 4`` of a notebook."""
        if not self.cells:
            return f"line {line}"
        cell = bisect_right(self.cells, line)
        return f"cell {cell}, line {line - self.cells[cell - 1] + 1}"

    def column(self, line: int, offset: int) -> int:
        """The column in characters, from 1, of an offset in bytes as ``ast`` has it."""
        return len(self.lines[line - 1].encode()[:offset].decode(errors="ignore")) + 1

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int, int, int]:
        """The first line and column of a node, and its last line with the column after it."""
        last = node.end_lineno or node.lineno
        return node.lineno, self.column(node.lineno, node.col_offset), last, self.column(last, node.end_col_offset or 0)

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node, in one line; a node of several lines is written anew, because it may have comments."""
        if node.end_lineno != node.lineno:
            return ast.unparse(node)
        first, last = node.lineno, node.end_lineno or node.lineno
        lines = [line.encode() for line in self.lines[first - 1 : last]]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return " ".join(b"\n".join(lines).decode(errors="ignore").split())


def read(path: str | Path) -> Source:
    """Read a Python file or a notebook. Nothing of it is executed.

    Parameters
    ----------
    path : str or path
        A file of Python in any encoding that it declares, or a notebook (``.ipynb``), of which the code cells are read;
        their magics become comments.

    Raises
    ------
    PortError
        The file is missing, too large, not text, not Python, or has a syntax error. The message names the line.
    """
    path = Path(path)
    data = _bytes(path)
    text, cells = notebooks.code(path, data) if path.suffix == ".ipynb" else (_decoded(path, data), ())
    return parsed(str(path), text.replace("\r\n", "\n").replace("\r", "\n"), cells)


def write(path: Path, data: bytes) -> None:
    """Write a file; PortError says why it cannot be written."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise PortError(f"{path} cannot be written: {error.strerror}") from None


def parsed(path: str, text: str, cells: tuple[int, ...] = ()) -> Source:
    """Parse a text; PortError names the line of a syntax error."""
    source = Source(path, text, tuple(text.split("\n")), ast.Module([], []), cells)
    return source._replace(tree=_tree(source))


def _bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if path.is_file() and size > LARGEST_BYTES:
            raise PortError(
                f"{path} has {size / 1e6:.1f} MB, and at most {LARGEST_BYTES / 1e6:.0f} MB are read. "
                "Instead: move the data out of the program, or name the file that has the computation"
            )
        if not path.is_file() and path.exists():
            raise PortError(f"{path} is not a file. Instead: name one Python file, a notebook or a folder")
        return path.read_bytes()
    except OSError as error:
        raise PortError(f"{path} cannot be read: {error.strerror}") from None


def _decoded(path: Path, data: bytes) -> str:
    """The text in the encoding that the file declares by a byte order mark or by a comment, otherwise in UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise PortError(f"{path} is encoded in UTF-16, which Python does not read. Instead: save it in UTF-8")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise PortError(f"{path}, line {line}: a zero byte; this is not a text file")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except SyntaxError as error:
        raise PortError(
            f"{path}, line 1 or 2: {error.msg or error}. Instead: declare the encoding, or save it in UTF-8"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PortError(
            f"{path}, line {line}: byte {data[error.start]:#04x} is not valid in {encoding}. "
            "Instead: declare the encoding in the first line (# -*- coding: latin-1 -*-), or save the file in UTF-8"
        ) from None


def _tree(source: Source) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes, about which Python itself warns
            tree = ast.parse(source.text)
        if _depth(tree) > DEEPEST:
            raise RecursionError
    except SyntaxError as error:
        line = min(error.lineno or 1, len(source.lines))
        raise PortError(
            f"{source.path}, {source.place(line)}: {error.msg}: {source.lines[line - 1].strip()[:80]!r}. "
            "Instead: correct it first; programs of Python 2 need a conversion to Python 3"
        ) from None
    except (RecursionError, MemoryError):
        raise PortError(
            f"{source.path}: an expression is nested more than {DEEPEST} levels deep. "
            "Instead: move generated code or long tables into a file of their own"
        ) from None
    return tree


def _depth(tree: ast.AST) -> int:
    """The number of levels of a tree. Chains of ``elif`` count, too."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth
