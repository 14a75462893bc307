"""The choices that serve in a block: those of this machine, or those of a file."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from xarrayops._core.modes.tables import EVERY
from xarrayops._ops.choices import machine
from xarrayops._ops.choices.calls import Description, is_description, least_size, shown
from xarrayops._ops.choices.limits import NEVER
from xarrayops._ops.choices.verdicts import Choice, Table, decided
from xarrayops.plugin.arrays import SMALLEST_MEASURED


class Measurements:
    """The choices that serve in a block, and the calls that were served by them.

    A block that records notes the choices of all calls, those that have the default included.
    """

    def __init__(self, table: Table, name: str, *, is_pinned: bool = False, is_recording: bool = False) -> None:
        self.table = table
        self.name = name
        self.is_pinned, self.is_recording = is_pinned, is_recording
        self.forms: dict[Any, dict[Any, Any]] = {}
        """The function that serves calls of a form, by the object that chooses."""
        self.used: dict[str, Choice] = {}
        """The choices for the calls so far, by the call as text."""
        self._least: dict[tuple[str, str], int] = {}
        for call in (each.description for each in table.choices if not each.is_default):
            verb = call["verb"], call["library"]
            self._least[verb] = min(max(least_size(call), SMALLEST_MEASURED), self._least.get(verb, NEVER))

    def __repr__(self) -> str:
        return self.name

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs whose calls are looked up."""
        return (EVERY,) if self.is_recording else tuple({verb for verb, _ in self._least})

    def least(self, verb: str, library: str) -> int:
        """The least size of the arrays of a library whose calls are looked up: some have another kernel."""
        return SMALLEST_MEASURED if self.is_recording else self._least.get((verb, library), NEVER)

    def record(self, description: Description, choice: Choice) -> None:
        """Note the choice for a call, for the file of `choices`."""
        self.used.setdefault(shown(description), choice._replace(description=description))

    def write(self, file: str) -> None:
        """Write the choices that served to a file, which is complete at every moment."""
        part = Path(f"{file}.{os.getpid()}.part")
        try:
            part.write_text("".join(f"{json.dumps(choice._asdict())}\n" for choice in self.used.values()))
            part.replace(file)
        except OSError as error:
            raise OSError(error.errno, f"xo.choices cannot write the choices: {error.strerror}", file) from None


@cache
def of_machine(numerics: str) -> Measurements:
    """The choices for this machine. They are read once, so that a process never changes its choices."""
    return Measurements(decided(machine.store().records(), only_exact=numerics == "exact"), f"measured({numerics!r})")


def choices_of(file: str) -> list[Choice]:
    """The choices of a file, in its order. Raises `ValueError` for a file without lines or with a line that is none."""
    try:
        lines = Path(file).read_text(errors="replace").splitlines()
    except OSError as error:
        raise OSError(error.errno, f"xo.choices cannot read the choices: {error.strerror}", file) from None
    if not lines:
        raise ValueError(f"xo.choices: {file} has no choices. Instead: delete it, and the block records a new one")
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(_choice(json.loads(line)))
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"xo.choices: line {number} of {file} is not a choice: {error}") from None
    return found


def _choice(fields: Any) -> Choice:
    if not isinstance(fields, dict) or fields.keys() != set(Choice._fields):
        raise TypeError(f"it does not have the names {', '.join(Choice._fields)}")
    choice = Choice(**fields)
    are_texts = all(isinstance(text, str) for text in (choice.default, choice.candidate, choice.date))
    if not is_description(choice.description) or not are_texts:
        raise TypeError("it describes no call")
    return choice._replace(gain=float(choice.gain))
