"""What differs by library at a place of a program."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from typing import Literal

from xarrayops.plugin.arrays import Record
from xarrayops.port.source import Program

NUMPY_DTYPE, NUMPY_CODE = "only NumPy has arrays of the dtype", "compiles for NumPy arrays only"
"""What findings say of dtypes and code for which no other library serves: the verdict looks for these words."""
# fmt: off
Kind = Literal[
    "name", "argument", "creation", "method", "operator", "index", "item assignment", "in place", "view",
    "data-dependent shape", "scalar", "copy", "loop", "dtype", "random", "foreign call", "import", "unknown",
]
# fmt: on
"""The kinds of findings; `Finding` has their meanings."""
COSTS = ("copy", "data-dependent shape", "loop", "scalar")
"""The kinds with which a program runs, but slowly or not under a compiler."""
NOTES = ("random",)
"""The kinds that need no change of the program."""
ALL = ("torch", "jax", "cupy", "dask")
"""The backends that findings name, without NumPy, on which the program already runs."""


class Finding(Record):
    """What differs by library at a place of a program.

    Lines and columns count from 1; columns count characters, and the end is exclusive.

    ``backends`` are those where the program differs from NumPy: it raises, gives other values, or takes many times as
    long. ``certain`` is False where the kind of a value is a guess, for example because it is a parameter.

    ``kind`` is one of

    - "name": a name of NumPy that no other library has
    - "argument": an argument that is not supported on every library
    - "creation": a new array of the default library, used with arrays of the caller
    - "method": a method or attribute of arrays that differs by library or is missing
    - "operator": an operator whose result differs by library
    - "index": an index that not every library takes
    - "item assignment": an assignment to elements: some libraries have arrays that cannot change
    - "in place": an array that is changed in place, by an operator, a method or out=
    - "view": a write through a view that must also change the viewed array
    - "data-dependent shape": a shape that depends on values: not under jax.jit, of unknown size on Dask
    - "scalar": a Python number read from an array in a loop: each one waits for the device
    - "copy": a copy of a whole array in each step of a loop
    - "loop": a loop in Python over elements: each step launches its own operations
    - "dtype": a dtype or a test of dtypes that differs by library
    - "random": random numbers that differ from NumPy's generator
    - "foreign call": a function of another package, which needs host memory
    - "import": an import that hides which names are NumPy's
    - "unknown": code or objects that the source alone does not explain
    """

    line: int
    column: int
    end_line: int
    end_column: int
    kind: Kind
    what: str
    instead: str
    backends: tuple[str, ...] = ALL
    certain: bool = True


def alike(findings: Iterable[Finding]) -> Counter[Finding]:
    """The findings of a line without their columns, and how often each occurs."""
    return Counter(finding._replace(column=1, end_line=finding.line, end_column=1) for finding in findings)


def unless(found: Finding) -> str:
    """The text before a finding that is not certain: on what it depends."""
    return "" if found.certain or found.kind == "unknown" else ", if the argument is an array"


def times(count: int) -> str:
    """The text after a finding that occurs several times in a line."""
    return f" ({count} times in this line)" if count > 1 else ""


def finding(
    program: Program,
    node: ast.expr | ast.stmt,
    kind: Kind,
    what: str,
    instead: str,
    backends: tuple[str, ...] = ALL,
    *,
    certain: bool = True,
) -> Finding:
    """A finding about a node, or about the first line of a compound statement."""
    line, column, end_line, end_column = program.source.span(node)
    if getattr(node, "body", None) and isinstance(node, ast.stmt):
        end_line, end_column = line, len(program.source.lines[line - 1]) + 1
    return Finding(line, column, end_line, end_column, kind, what, instead, backends, certain)
