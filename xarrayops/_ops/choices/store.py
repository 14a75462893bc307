"""The store of measurements: files of JSON lines to which several processes append.

A record is one line, and one `os.write` to a file that was opened for appending: on local file systems records of
several processes never mix. A process that is killed while it writes may leave a part of its last record. Each record
therefore begins with a line end too, which separates it from such a part. Lines that are torn, empty, or that other
programs wrote, are skipped. If the folder cannot be written, the store warns once and keeps its records in
memory.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

LONGEST = 4096
"""The greatest number of bytes of a record. Longer records are refused, because their writes may be split."""


class Store:
    """The records of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept: list[dict[str, Any]] = []
        self._is_writable = True
        self._has_warned = False

    @property
    def place(self) -> str:
        """Where the records are, for people."""
        return str(self.path) if self._is_writable else "memory, and end with this process"

    def append(self, record: dict[str, Any]) -> None:
        """Add a record. A failure is no error: the record is then kept in memory."""
        line = b"\n" + json.dumps(record, separators=(",", ":")).encode() + b"\n"
        if len(line) > LONGEST:
            return
        if not self._written(line):
            self._kept.append(record)

    def records(self) -> list[dict[str, Any]]:
        """All records, the oldest first."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            lines = []
        except OSError as error:
            self._warn(error)
            lines = []
        return [*filter(None, map(_record, lines)), *self._kept]

    def _written(self, line: bytes) -> bool:
        if not self._is_writable:
            return False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                return os.write(file, line) == len(line)
            finally:
                os.close(file)
        except OSError as error:
            self._is_writable = False
            self._warn(error)
            return False

    def _warn(self, error: OSError) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        warnings.warn(
            f"xarrayops keeps measured choices in memory only: {self.path}: {error.strerror}. Instead: set "
            f"XARRAYOPS_CACHE to a folder that can be written",
            RuntimeWarning,
            stacklevel=2,
        )


def _record(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None if it is torn or foreign."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):  # also text that is not UTF-8
        return None
    return found if isinstance(found, dict) and isinstance(found.get("call"), dict) else None
