"""Methods and attributes of arrays that differ by library or are missing.

A test runs each of them on every library and compares with this table.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from xarrayops._core.numpy_names import METHODS
from xarrayops.plugin.arrays import Record
from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.interface import has
from xarrayops.port.source.value import Value

TORCH, JAX = ("torch",), ("jax",)
NO_OTHER = ("torch", "jax", "dask")


class Use(Record):
    """A use of a method or attribute: the array, the call if there is one, and the analysis of values."""

    base: Value
    call: ast.Call | None
    value: Callable[[ast.AST], Value]

    def gives(self, keyword: str, position: int | None = None) -> bool:
        """Whether an argument is given."""
        if self.call is None:
            return False
        by_position = position is not None and position < len(self.call.args)
        return by_position or any(each.arg == keyword for each in self.call.keywords)

    @property
    def positional(self) -> int:
        """The number of positional arguments."""
        return 0 if self.call is None else len(self.call.args)


class Difference(Record):
    """A difference on some backends, under a condition."""

    backends: tuple[str, ...]
    what: str
    when: Callable[[Use], bool]


def _always(use: Use) -> bool:
    return True


def _missing(*backends: str, when: Callable[[Use], bool] = _always) -> Difference:
    return Difference(backends, "is missing", when)


def _is_integer(use: Use) -> bool:
    return use.base.dtype_kind in ("int", "bool")


def _is_small_integer(use: Use) -> bool:
    return use.base.dtype in ("bool", "int8", "int16", "uint8", "uint16")


def _is_unsigned(use: Use) -> bool:
    return (use.base.dtype or "").startswith("uint")


def _has_list(use: Use) -> bool:
    return use.call is not None and any(isinstance(each, ast.List) for each in use.call.args)


def _is_matrix(use: Use) -> bool:
    arguments = [] if use.call is None else [use.value(each) for each in use.call.args]
    return any(each.ndim is not None and each.ndim > 1 for each in (use.base, *arguments))


def _transposes(use: Use) -> bool:
    return use.call is not None and use.positional != 2


_DIFFERENCES: dict[str, tuple[Difference, ...]] = {
    **dict.fromkeys(("astype", "copy"), (_missing("torch"),)),
    **dict.fromkeys(("argsort", "diagonal", "tolist"), (_missing("dask"),)),
    **dict.fromkeys(("conjugate", "tobytes"), (_missing("torch", "dask"),)),
    **dict.fromkeys(("base", "ctypes", "fill", "flags", "flat", "partition", "put", "strides"), (_missing(*NO_OTHER),)),
    **dict.fromkeys(
        ("byteswap", "dump", "dumps", "getfield", "setfield", "setflags", "tofile"), (_missing(*NO_OTHER),)
    ),
    "compress": (_missing("torch", "dask"), Difference(JAX, "takes no lists", _has_list)),
    "data": (_missing("jax", "dask"),),
    **dict.fromkeys(
        ("cumsum", "cumprod"), (Difference(("torch", "dask"), "needs axis=", lambda use: not use.gives("axis", 0)),)
    ),
    "dot": (Difference(TORCH, "multiplies vectors only", _is_matrix),),
    "item": (_missing("dask"), Difference(TORCH, "takes no index", lambda use: use.positional > 0)),
    "imag": (
        Difference(TORCH, "is of complex arrays only", lambda use: use.base.dtype_kind in ("float", "int", "bool")),
    ),
    **dict.fromkeys(
        ("max", "min"), (Difference(TORCH, "with an axis gives values and indices", lambda use: use.gives("axis", 0)),)
    ),
    "mean": (
        Difference(TORCH, "takes no integers", _is_integer),
        Difference(JAX, "of small integers gives float32", _is_small_integer),
    ),
    "nonzero": (Difference(TORCH, "gives one matrix", _always),),
    "repeat": (Difference(TORCH, "repeats the whole array", _always),),
    "reshape": (Difference(("torch", "dask"), "has no order=", lambda use: use.gives("order")),),
    "round": (Difference(TORCH, "takes decimals by keyword", lambda use: use.positional > 0),),
    "searchsorted": (_missing("torch", "dask"), Difference(JAX, "gives int32", _always)),
    "size": (Difference(TORCH, "is a method", lambda use: use.call is None),),
    "sort": (
        Difference(("torch", "jax"), "gives a sorted copy and leaves the array as it is", _always),
        _missing("dask"),
    ),
    **dict.fromkeys(("std", "var"), (Difference(TORCH, "divides by n - 1", _always),)),
    **dict.fromkeys(
        ("sum", "prod"),
        (
            Difference(TORCH, "takes dtypes of torch only", lambda use: use.gives("dtype", 1)),
            Difference(TORCH, "of unsigned integers gives int64", _is_unsigned),
        ),
    ),
    "take": (_missing("dask"), Difference(TORCH, "has no axis", lambda use: use.gives("axis", 1))),
    "transpose": (Difference(TORCH, "swaps two axes", _transposes),),
    "view": (Difference(TORCH, "takes no dtypes of NumPy", lambda use: use.positional > 0),),
}
"""The differences of each method or attribute, by name."""


def rules(program: Program) -> Iterator[Finding]:
    """Findings about methods and attributes of arrays."""
    calls = {call.func: call for call in program.nodes(ast.Call)}
    for node in program.nodes(ast.Attribute):
        if isinstance(node.ctx, ast.Load) and node.attr in _DIFFERENCES and program.value(node.value).is_array:
            yield from _of_use(program, node, calls.get(node))


def _of_use(program: Program, node: ast.Attribute, call: ast.Call | None) -> Iterator[Finding]:
    base = program.value(node.value)
    use = Use(base, call, program.value)
    found = [each for each in _DIFFERENCES[node.attr] if each.when(use)]
    if not found:
        return
    backends = tuple(name for each in found for name in each.backends)
    by_library = "; ".join(f"{', '.join(each.backends)}: {each.what}" for each in found)
    what = f"the {'method' if call is not None else 'attribute'} {node.attr} of arrays differs ({by_library})"
    yield finding(program, call or node, "method", what, _instead(program, node, call), backends, certain=base.certain)


def _instead(program: Program, node: ast.Attribute, call: ast.Call | None) -> str:
    """The NumPy function of the same name with the array as the first argument, or the advice from the tables."""
    x = program.text(node.value)
    if node.attr == "astype" and call is not None and call.args:
        return f"np.astype({x}, {program.text(call.args[0])})"
    if node.attr == "sort":
        return f"{x} = np.sort({', '.join([x, *_arguments(program, call)])})"
    if node.attr == "size":
        return f"np.size({x})"
    if node.attr in ("fill", "put"):
        return f"np.{'copyto' if node.attr == 'fill' else 'put'}({', '.join([x, *_arguments(program, call)])})"
    if has(node.attr) and call is not None:
        return f"np.{node.attr}({', '.join([x, *_arguments(program, call)])})"
    answer = METHODS.answer(node.attr) or ""
    return answer.removeprefix(". Instead of ").removeprefix(". Instead: ").removeprefix(": ")


def _arguments(program: Program, call: ast.Call | None) -> list[str]:
    if call is None:
        return []
    named = [f"{each.arg}={program.text(each.value)}" for each in call.keywords if each.arg]
    return [*map(program.text, call.args), *named]
