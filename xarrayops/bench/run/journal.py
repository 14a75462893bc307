"""What a run has measured, line by line as it comes, so that a killed run loses what was under way and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAME = "journal.jsonl"


class Journal:
    """The events of a run on disk; those of a run before it first, if it is to be resumed.

    ``earlier`` holds these. The file of another run is replaced with the first event, not sooner.
    """

    def __init__(self, folder: Path, *, resume: bool = False) -> None:
        self._path = folder / NAME
        self.earlier: list[dict[str, Any]] = []
        self._kept = 0
        if resume and self._path.exists():
            self._recall()

    def _recall(self) -> None:
        """Read whole lines; the last may have been cut off by the end of its writer."""
        for line in self._path.read_bytes().splitlines(keepends=True):
            try:
                event = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                event = None
            if not isinstance(event, dict):
                break
            self.earlier.append(event)
            self._kept += len(line)

    def append(self, event: dict[str, Any]) -> None:
        """Write an event; once this returns, the end of this process cannot take it back."""
        self._path.parent.mkdir(exist_ok=True)
        with self._path.open("r+b" if self._path.exists() else "wb") as file:
            file.truncate(self._kept)
            file.seek(self._kept)
            self._kept += file.write(json.dumps(event).encode() + b"\n")
