"""The journal of a run. Each result is written at once, so that a killed run loses only the cell in progress."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAME = "journal.jsonl"


class Journal:
    """The events of a run on disk. If the run is resumed, ``earlier`` holds the events of the earlier run.

    Otherwise the first event replaces the file of the earlier run.
    """

    def __init__(self, folder: Path, *, resume: bool = False) -> None:
        self._path = folder / NAME
        self.earlier: list[dict[str, Any]] = []
        self._kept = 0
        if resume and self._path.exists():
            self._read()

    def _read(self) -> None:
        """Read complete lines. The last line may be incomplete if the process was killed."""
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
        """Write an event. Once this returns, the event survives the end of this process."""
        self._path.parent.mkdir(exist_ok=True)
        with self._path.open("r+b" if self._path.exists() else "wb") as file:
            file.truncate(self._kept)
            file.seek(self._kept)
            self._kept += file.write(json.dumps(event).encode() + b"\n")
