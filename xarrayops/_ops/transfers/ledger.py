"""Ledger: the transfers, waits and computes that a block counted, by line of the user's program."""

from __future__ import annotations

import sys
from functools import cache
from threading import Lock
from types import FrameType

from xarrayops._core.backends.entry_points import entry_points
from xarrayops._ops.explanation import aligned
from xarrayops.plugin.arrays import Record

KINDS = {"transfer": "transfers", "wait": "waits", "compute": "computes"}
"""The kinds of crossings, with the name of the attribute that counts each."""
_NOT_OF_USERS = frozenset(("xarrayops", "array_api_compat", "array_api_extra", "tlz", "toolz"))
_COLUMNS = ("kind", "times", "bytes", "what", "line")


_adding = Lock()
"""Held while a crossing is added: functions of `xarrayops.carried` in several threads share a ledger."""


class Crossing(Record):
    """The crossings of one kind at one line.

    Attributes
    ----------
    kind : str
        ``"transfer"``, ``"wait"`` or ``"compute"``.
    what : str
        The call that crosses, such as ``"torch.Tensor.item"``.
    file, line, function : str, int, str
        The line of the user's program.
    times : int
        How often the line crossed.
    nbytes : int
        The bytes of all values that crossed; 0 where they are unknown.
    """

    kind: str
    what: str
    file: str
    line: int
    function: str
    times: int = 1
    nbytes: int = 0

    def __str__(self) -> str:
        return f"{self.what} at {self.file}:{self.line}, in {self.function}"


class Ledger:
    """The crossings inside a block. ``str()`` is a table.

    Attributes
    ----------
    transfers, waits, computes : int
        The numbers of crossings of each kind.
    crossings : tuple of Crossing
        One for each kind, call and line, in the order in which they were first seen.
    last : dict
        The last crossing of each kind.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, int], Crossing] = {}
        self.last: dict[str, Crossing] = {}

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """The crossings, by kind, call and line."""
        return tuple(self._found.values())

    @property
    def transfers(self) -> int:
        """How often values left a library or its device."""
        return self.count("transfer")

    @property
    def waits(self) -> int:
        """How often the program waited for values."""
        return self.count("wait")

    @property
    def computes(self) -> int:
        """How often task graphs were computed."""
        return self.count("compute")

    def count(self, kind: str) -> int:
        """The number of crossings of a kind."""
        return sum(each.times for each in self.crossings if each.kind == kind)

    def add(self, crossing: Crossing) -> None:
        """Count a crossing."""
        key = crossing.kind, crossing.what, crossing.file, crossing.line
        with _adding:
            self.last[crossing.kind] = crossing
            known = self._found.get(key)
            if known is not None:
                crossing = known._replace(times=known.times + 1, nbytes=known.nbytes + crossing.nbytes)
            self._found[key] = crossing

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {self.count(kind)}" for kind, name in KINDS.items())
        if not self._found:
            return f"{numbers}: no crossing was seen"
        return "\n".join([numbers, *aligned([_COLUMNS, *map(_cells, self.crossings)])])

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={self.count(kind)}" for kind, name in KINDS.items())
        return f"<Ledger {numbers}>"


def _cells(crossing: Crossing) -> tuple[str, ...]:
    place = f"{crossing.file}:{crossing.line}, in {crossing.function}"
    return crossing.kind, str(crossing.times), str(crossing.nbytes or ""), crossing.what, place


def line_of_user(inside: str = "") -> tuple[str, int, str]:
    """The file, line and function of the innermost frame outside of array libraries and Python's standard library.

    Frames of the package ``inside`` count too, but for its copies of the array API's helpers.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_passed(frame.f_globals.get("__name__", ""), inside):
        frame = frame.f_back
    if frame is None:
        return "", 0, ""
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname


def _is_passed(module: str, inside: str) -> bool:
    if inside and f"{module}.".startswith(f"{inside}."):
        return not _NOT_OF_USERS.isdisjoint(module.removeprefix(inside).split("."))
    return is_of_library(module)


def is_of_library(module: str) -> bool:
    """Whether a module belongs to an array library, this package or Python's standard library."""
    root = module.partition(".")[0]
    return root in _NOT_OF_USERS or root in _libraries() or root in sys.stdlib_module_names


@cache
def _libraries() -> frozenset[str]:
    """The packages of the array libraries, and of their backends."""
    return frozenset((*entry_points(), *(entry.value.partition(".")[0] for entry in entry_points().values())))
