"""What `explain` answers with."""

from __future__ import annotations

from typing import Any, NamedTuple


class Candidate(NamedTuple):
    """One way to serve a call: its name (``library:kernel``), whether it can, why or why not, and what it copies."""

    name: str
    ok: bool
    reason: str = ""
    copies: tuple[str, ...] = ()


class Explanation(NamedTuple):
    """What a call would do. ``str()`` is a table, ``as_dict()`` is data.

    For "convert" only: ``action`` is zero-copy, copy or refuse; ``nbytes`` the bytes that move; ``reason`` says why.
    """

    verb: str
    summary: str
    candidates: tuple[Candidate, ...]
    chosen: str | None
    action: str | None = None
    nbytes: int | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data."""
        return self._asdict() | {"candidates": tuple(c._asdict() for c in self.candidates)}

    def __str__(self) -> str:
        rows = [
            (
                "->" if c.name == self.chosen else "",
                c.name,
                "yes" if c.ok else "no",
                "; ".join(t for t in (c.reason, *c.copies) if t),
            )
            for c in self.candidates
        ]
        table = [("", "candidate", "can", "why"), *rows]
        widths = [max(len(row[i]) for row in table) for i in range(3)]
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]).rstrip()
            for row in table
        ]
        return "\n".join([f"{self.verb}: {self.summary}", *lines])
