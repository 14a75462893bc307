"""A program with its analysis."""

from __future__ import annotations

from pathlib import Path

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.files import Source, read
from xarrayops.port.source.module_arrays import Meeting, meetings
from xarrayops.port.source.names import Names
from xarrayops.port.source.values import Values
from xarrayops.port.source.writes import Write, writes


class Program(Record):
    """A source and what was found in it."""

    source: Source
    names: Names
    values: Values
    writes: tuple[Write, ...]
    meetings: tuple[Meeting, ...]

    @classmethod
    def read(cls, path: str | Path) -> Program:
        """Read and analyse a file; see `xarrayops.port.source.files.read` for the errors."""
        return cls.of(read(path))

    @classmethod
    def of(cls, source: Source) -> Program:
        """Analyse a source."""
        names = Names(source.tree)
        values = Values(source.tree, names)
        return cls(
            source, names, values, tuple(writes(source.tree, names, values)), meetings(source.tree, names, values)
        )
