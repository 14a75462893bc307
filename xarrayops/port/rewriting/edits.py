"""The result of a rewrite: the edits with their reasons, and the places that need a decision."""

from __future__ import annotations

import difflib
import io
import tokenize
from pathlib import Path

from xarrayops.plugin.arrays import Record
from xarrayops.port.source import notebooks

MARK = "TODO(port)"
"""The start of the comment at a place that needs a decision."""


class Edit(Record):
    """An edit of the program: the line of the original, the kind of edit and why it keeps the meaning."""

    line: int
    kind: str
    reason: str


class Todo(Record):
    """A place that the rewrite does not change: the line of the original, and the problem."""

    line: int
    problem: str


NOTHING, VALUE, SAME = "nothing", "value", "same"
"""What a function returned before: nothing, a value, or the arguments that it writes."""


class Returned(Record):
    """A function that returns the arguments that it writes.

    ``form`` is what it returned before: "nothing" (then it returns the arguments alone), "value" (they follow the
    value), or "same" (they alone, so that only its callers change).
    """

    name: str
    written: tuple[str, ...]
    form: str


class Rewritten(Record):
    """A rewritten program.

    Attributes
    ----------
    path : str
        The file of the original.
    original, text : str
        The program before and after.
    edits : tuple of Edit
        What was changed, by line.
    todos : tuple of Todo
        The places where no edit is proved to keep the meaning, by line. The text has a comment at each of them.
    returned : tuple of Returned
        The functions that return the arguments that they write; only with ``return_arguments``.
    before : tuple of int
        The line of the original for each line of the text.
    notes : tuple of str
        Which places are not vectorized, and which parameters have no annotation, if there are places to decide.
    cells : tuple of int
        The first line of each code cell of a notebook in the original.
    """

    path: str
    original: str
    text: str
    edits: tuple[Edit, ...]
    todos: tuple[Todo, ...]
    returned: tuple[Returned, ...] = ()
    before: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    cells: tuple[int, ...] = ()

    def content(self) -> bytes:
        """The new content of the file, in the encoding and with the most frequent line ending of the original.

        In a notebook, only the code of cells with edits or notes changes; outputs, metadata and other cells stay.
        """
        data = Path(self.path).read_bytes()
        if self.text == self.original:
            return data
        if self.cells:
            return notebooks.with_code(data, self.text, self.before, self.cells)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        windows = data.count(b"\r\n")
        newline = "\r\n" if windows > data.count(b"\n") - windows else "\n"
        return self.text.removeprefix("\ufeff").replace("\n", newline).encode(encoding, "backslashreplace")

    def line_of(self, found: Edit | Todo) -> int:
        """The line of the text at which an edit was made, or has a comment on a place to decide."""
        text = self.text.split("\n")
        lines = [i for i, line in enumerate(self.before) if line == found.line]
        comment = f"# {MARK}: {found.problem}" if isinstance(found, Todo) else ""
        chosen = [i for i in lines if text[i].strip() == comment or not (comment or f"# {MARK}" in text[i])]
        earlier = (i for i, line in enumerate(self.before) if line <= found.line)
        return (chosen or lines or [max(earlier, default=0)])[-1] + 1  # after the lines that were added before it

    def diff(self) -> str:
        """The change as a unified diff; empty without one."""
        before, after = (text.splitlines(keepends=True) for text in (self.original, self.text))
        parts = difflib.unified_diff(before, after, self.path, f"{self.path} (rewritten)")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts)
