"""Reading a program and its static analysis, with the standard library's ``ast``: nothing is executed.

`files` reads a file or a notebook, and `names` finds which names mean NumPy. `walk` follows the statements of each
function for two kinds of knowledge: `values` says what variables may hold, `origins` and `ownership` where arrays come
from and who else may see them. `writes` lists the places that change an array, and `module_arrays` those where an array
of the module meets one of the caller. `Program` has all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from xarrayops.port.source.files import PortError, Source, read, write
from xarrayops.port.source.module_arrays import Meeting, meetings
from xarrayops.port.source.names import Names
from xarrayops.port.source.ownership import Ownership, Returning
from xarrayops.port.source.values import Values
from xarrayops.port.source.writes import Write, writes

__all__ = ["PortError", "Program", "Source", "read", "write"]


class Program:
    """A source and what is found in it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names = Names(source.tree)
        self.values = Values(source.tree, self.names)

    @classmethod
    def read(cls, path: str | Path) -> Program:
        """Read and analyse a file; see `xarrayops.port.source.files.read` for the errors."""
        return cls(read(path))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each node."""
        return {child: node for node in ast.walk(self.source.tree) for child in ast.iter_child_nodes(node)}

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside outwards."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """The places that change an array, in the order of the source."""
        return tuple(writes(self.source.tree, self.names, self.values))

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The uses of arrays of the module beside arrays of the caller, in the order of the source."""
        return meetings(self.source.tree, self.names, self.values, self.parents)

    @cached_property
    def ownership(self) -> Ownership:
        """Which writes can make a new array."""
        return self.ownership_with({})

    def ownership_with(self, returning: Returning) -> Ownership:
        """The same, if these functions return parameters that they write."""
        return Ownership(self.source.tree, self.names, self.values, returning)
