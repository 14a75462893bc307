"""Plain text for the command lines where rich is not installed: its classes, as far as they are used here."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

SIMPLE_HEAD = None
_GAP = 2


class Text:
    """Text without a style."""

    def __init__(self, text: str = "", style: str = "") -> None:
        self._text = text

    @classmethod
    def assemble(cls, *parts: Any) -> Text:
        """One text of several, each of which may be a pair of a text and a style."""
        return cls("".join(str(part[0] if isinstance(part, tuple) else part) for part in parts))

    def __str__(self) -> str:
        return self._text


class Table:
    """A table with columns as wide as their longest cell, or as the console allows."""

    def __init__(self, title: str = "", **look: Any) -> None:
        self.title, self.columns = title, []  # type: tuple[str, list[Any]]
        self._rows: list[list[str]] = []

    def add_column(self, name: str, *, justify: str = "left", **look: Any) -> None:
        """A further column."""
        self.columns.append(SimpleNamespace(name=name, is_right=justify == "right", min_width=0))

    def add_row(self, *cells: Any, style: str = "") -> None:
        """A further row."""
        self._rows.append([str(cell) for cell in cells])

    def add_section(self) -> None:
        """An empty line."""
        self._rows.append([""] * len(self.columns))

    def lines(self, width: int) -> Iterator[str]:
        """The title, the names of the columns and the rows, with long cells on several lines."""
        if self.title:
            yield from ("", self.title)
        rows = [[column.name for column in self.columns], *self._rows]
        widths = [max(len(part) for row in rows for part in row[i].split("\n")) for i in range(len(self.columns))]
        while sum(widths) + _GAP * len(widths) > width and max(widths) > 10:
            widths[widths.index(max(widths))] -= 1
        for row in rows:
            cells = [
                [line for part in cell.split("\n") for line in textwrap.wrap(part, size) or [""]]
                for cell, size in zip(row, widths, strict=True)
            ]
            for i in range(max(map(len, cells))):
                parts = [cell[i] if i < len(cell) else "" for cell in cells]
                yield (
                    (" " * _GAP)
                    .join(
                        part.rjust(size) if column.is_right else part.ljust(size)
                        for part, size, column in zip(parts, widths, self.columns, strict=True)
                    )
                    .rstrip()
                )


class Console:
    """stdout or stderr."""

    def __init__(self, *, highlight: bool = False, width: int | None = None, stderr: bool = False) -> None:
        self._stderr = stderr
        self.is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
        self.width = width or shutil.get_terminal_size().columns

    def print(self, *objects: Any, soft_wrap: bool = False) -> None:
        """Print texts and tables."""
        for each in objects or ("",):
            for line in each.lines(self.width) if isinstance(each, Table) else [str(each)]:
                print(line, file=sys.stderr if self._stderr else sys.stdout)


class Progress:
    """No bar: the watcher prints lines, as it does without a terminal."""

    def __init__(self, *columns: Any, console: Console, transient: bool = False) -> None:
        self.console = console
        console.is_terminal = False

    def add_task(self, description: str, **fields: Any) -> int:
        """The number of the task."""
        return 0

    def update(self, task: int, **fields: Any) -> None:
        """Show nothing."""

    start = stop = lambda self: None


def _column(*args: Any, **kwargs: Any) -> None:
    """A column of a bar."""


BarColumn = TaskProgressColumn = TextColumn = _column
