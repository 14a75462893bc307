"""Methods and attributes of arrays that differ by library or are missing.

A test runs each of them on every library and compares with this table.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from xarrayops.plugin.arrays import Record
from xarrayops.port import advice
from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.parameters import ARRAY_NAMES
from xarrayops.port.source.value import Value


class Use(Record):
    """A use of a method or attribute: the array, and the arguments by position and by keyword if it is called."""

    base: Value
    is_called: bool
    args: list[ast.expr]
    values: list[Value]
    keywords: set[str | None]

    def gives(self, keyword: str, position: int) -> bool:
        """Whether an argument is given."""
        return keyword in self.keywords or position < len(self.args)

    def has_list(self) -> bool:
        """Whether an argument is a list."""
        return any(isinstance(each, ast.List) for each in self.args)

    def is_matrix(self) -> bool:
        """Whether the array or an argument has several axes."""
        return any(each.ndim is not None and each.ndim > 1 for each in (self.base, *self.values))


_SMALL = ("bool", "int8", "int16", "uint8", "uint16")
_MISSING = "is missing"
_DIFFERENCES: tuple[tuple[str, str, str, Callable[[Use], bool] | None], ...] = (
    ("astype copy", "torch", _MISSING, None),
    ("argsort diagonal item take tolist", "dask", _MISSING, None),
    ("compress conjugate searchsorted tobytes", "torch dask", _MISSING, None),
    ("data", "jax dask", _MISSING, None),
    ("base ctypes fill flags flat partition put strides", "torch jax dask", _MISSING, None),
    ("byteswap dump dumps getfield setfield setflags tofile", "torch jax dask", _MISSING, None),
    ("compress", "jax", "takes no lists", Use.has_list),
    ("cumsum cumprod", "torch dask", "needs axis=", lambda use: not use.gives("axis", 0)),
    ("dot", "torch", "multiplies vectors only", Use.is_matrix),
    ("item", "torch", "takes no index", lambda use: bool(use.args)),
    ("imag", "torch", "is of complex arrays only", lambda use: use.base.dtype_kind in ("float", "int", "bool")),
    ("max min", "torch", "with an axis gives values and indices", lambda use: use.gives("axis", 0)),
    ("mean", "torch", "takes no integers", lambda use: use.base.dtype_kind in ("int", "bool")),
    ("mean", "jax", "of small integers gives float32", lambda use: use.base.dtype in _SMALL),
    ("nonzero", "torch", "gives one matrix", None),
    ("repeat", "torch", "repeats the whole array", None),
    ("reshape", "torch dask", "has no order=", lambda use: "order" in use.keywords),
    ("round", "torch", "takes decimals by keyword", lambda use: bool(use.args)),
    ("searchsorted", "jax", "gives int32", None),
    ("size", "torch", "is a method", lambda use: not use.is_called),
    ("sort", "torch jax", "gives a sorted copy and leaves the array as it is", None),
    ("sort", "dask", _MISSING, None),
    ("std var", "torch", "divides by n - 1", None),
    ("sum prod", "torch", "takes dtypes of torch only", lambda use: use.gives("dtype", 1)),
    ("sum prod", "torch", "of unsigned integers gives int64", lambda use: (use.base.dtype or "").startswith("uint")),
    ("take", "torch", "has no axis", lambda use: use.gives("axis", 1)),
    ("transpose", "torch", "swaps two axes", lambda use: use.is_called and len(use.args) != 2),
    ("view", "torch", "takes no dtypes of NumPy", lambda use: bool(use.args)),
)
"""Methods and attributes, the backends on which they differ, how, and the condition if there is one."""


def of_use(program: Program, node: ast.Attribute) -> Iterator[Finding]:
    """A method or an attribute of an array."""
    base, parent = program.value(node.value), program.parents[node]
    is_open = node.attr in (*ARRAY_NAMES, "copy", "dot") and program.is_open(node.value)
    if not (base.is_array or is_open) or not isinstance(node.ctx, ast.Load):
        return
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    args, keywords = (call.args, call.keywords) if call is not None else ([], [])
    use = Use(base, call is not None, args, [*map(program.value, args)], {each.arg for each in keywords})
    found = [
        (backends.split(), what)
        for names, backends, what, when in _DIFFERENCES
        if node.attr in names.split() and (when is None or when(use))
    ]
    if found:
        by_library = "; ".join(f"{', '.join(backends)}: {what}" for backends, what in found)
        what = f"the {'method' if call is not None else 'attribute'} {node.attr} of arrays differs ({by_library})"
        libraries = tuple(name for backends, _ in found for name in backends)
        instead = advice.method(program, node, call)
        yield finding(program, call or node, "method", what, instead, libraries, certain=base.is_proved)
