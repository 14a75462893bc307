"""Arguments and output that the command lines of this package share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from xarrayops._cli.terminal import Console, Table, Text
from xarrayops.errors import available_names

INTERRUPTED = 130
"""The exit status after SIGINT, as in shells: 128 plus the number of the signal."""
_UNITS = {"s": 1, "m": 60, "h": 3600}
_WIDTH_OF_FILES = 160


def names(text: str) -> tuple[str, ...]:
    """An argument that is a list of names, separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def seconds(text: str) -> float:
    """An argument that is a duration: ``90`` and ``90s`` are seconds, ``5m`` minutes, ``1h`` hours."""
    number, unit = (text[:-1], text[-1]) if text.endswith(tuple(_UNITS)) else (text, "s")
    try:
        duration = float(number) * _UNITS[unit]
    except ValueError:
        duration = 0.0
    if not duration > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive duration such as 90, 90s, 5m or 1h")
    return duration


def console() -> Console:
    """The console for results: as wide as the terminal; a fixed width for files."""
    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=_WIDTH_OF_FILES)


def table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str | Text]] = (), **look: Any) -> Table:
    """A table whose long cells are folded; ``look`` has further arguments of rich's table."""
    drawn = Table(title=title, title_justify="left", **look)
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return drawn


def select(known: Iterable[str], wanted: Sequence[str], what: str, shown: Sequence[str] = ()) -> list[str]:
    """The wanted names in the order of ``known``; all known names if ``wanted`` is empty.

    Raises
    ------
    ValueError
        A name is unknown. The message lists the known names, or ``shown`` if given, and the closest name.
    """
    known = list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(
            "; ".join(f"no {what} {name!r}: {available_names(name.lower(), known, shown)}" for name in unknown)
        )
    return [name for name in known if not wanted or name in wanted]
