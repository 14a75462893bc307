"""The kind of a difference, from the values before and after the line."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xarrayops._host.compare import Difference, difference
from xarrayops.plugin.arrays import Record
from xarrayops.testing._verify._report import Kind
from xarrayops.testing._verify._trace import Statement
from xarrayops.testing._verify._values import Value

_SUMS = frozenset(
    (
        *("sum", "mean", "average", "cumsum", "cumulative_sum", "dot", "matmul", "inner", "vecdot", "einsum"),
        *("tensordot", "var", "std", "trace", "norm", "vector_norm", "reduce", "accumulate", "nansum", "nanmean"),
        *("segment_sum", "bincount", "convolve", "correlate", "trapezoid", "prod", "cumprod", "cumulative_prod"),
        "add",
    )
)
"""The functions that add or multiply many numbers."""
_CASTS = frozenset(("astype", "int", "asarray", "array", "round", "rint", "floor", "trunc", "view"))
_DRAWS = (
    *("rand", "normal", "uniform", "shuffle", "permutation", "permuted", "choice", "integers", "poisson"),
    "exponential",
)
_TAKES = frozenset(("take", "take_along_axis"))
_WRITES = frozenset(("set", "add", "subtract", "multiply", "divide", "min", "max", "at", "index_add_", "index_put_"))
_NARROW = {"float64": ("float32", "float16"), "float32": ("float16",), "complex128": ("complex64",)}
_MOST_ELEMENTS = 1 << 20
"""The size limit of arrays that are sorted, or reduced along each axis."""


class Scene(Record):
    """A variable that differs, and what its statement read.

    Attributes
    ----------
    want, got, spread : Value, Value, array
        The states of the reference and of the run, and the spread of the reference.
    difference : Difference
        How they differ.
    statement : Statement
        The statement of the run.
    operands : dict
        The variables that it read, in the run.
    terms : int
        How many states the variable had: the number of terms if a loop adds.
    """

    want: Value
    got: Value
    spread: Any
    difference: Difference
    statement: Statement
    operands: dict[str, Value]
    terms: int

    def matches(self, candidate: Any) -> bool:
        """Whether an array is the result of the run, within its budget."""
        if np.shape(candidate) != self.got.shape or self.got.data is None:
            return False
        found = self.got._replace(data=np.asarray(candidate), dtype="")
        return difference(found, self.got._replace(dtype=""), 0.0) is None

    @property
    def calls(self) -> tuple[str, ...]:
        """The names of the functions that the statement calls."""
        calls = [node.func for node in ast.walk(self.statement.node) if isinstance(node, ast.Call)]
        return tuple(_last_name(each) for each in calls)

    @property
    def arrays(self) -> dict[str, Any]:
        """The operands that are arrays or numbers, with their values."""
        return {name: each.data for name, each in self.operands.items() if each.is_numeric and each.data is not None}


def kind_of(scene: Scene) -> tuple[Kind, str]:
    """The kind of a difference, and the reason."""
    if any(part in name for name in scene.calls for part in _DRAWS):
        return "random stream", "the line draws other numbers than the reference"
    for test in (_indices, _property, _casts, _axes, _precision, _order):
        why = test(scene)
        if why:
            return why
    return "bug", "the operands agree within rounding, and the cause is not known"


def _indices(scene: Scene) -> tuple[Kind, str] | None:
    """Indices that are out of bounds, or repeated in an assignment."""
    for base, entries, writes in _indexed(scene):
        axes = iter(range(base.ndim))
        for entry in entries:
            if entry is None:
                continue
            axis = next(axes, 0)
            if not isinstance(entry, np.ndarray) or entry.dtype.kind not in "iu" or axis >= base.ndim:
                continue
            extent = base.shape[axis]
            beyond = entry[(entry >= extent) | (entry < -extent)]
            if beyond.size:
                return "out of bounds", f"index {beyond.flat[0]} of an axis of size {extent}"
            if writes and entry.size and len(entries) == 1 and len(np.unique(entry % extent)) < entry.size:
                values, counts = np.unique(entry % extent, return_counts=True)
                return "duplicate index", f"index {values[np.argmax(counts)]} occurs {counts.max()} times"
    return None


def _indexed(scene: Scene) -> Iterator[tuple[Any, tuple[Any, ...], bool]]:
    """Each array that the statement indexes, with the entries of the index, and whether it is written."""
    names = scene.arrays
    writes = not _WRITES.isdisjoint(scene.calls)
    for node in ast.walk(scene.statement.node):
        if isinstance(node, ast.Subscript):
            source = node.value.args[0] if isinstance(node.value, ast.Call) and node.value.args else node.value
            base, index = _evaluated(source, names), node.slice
            stored = isinstance(node.ctx, ast.Store) or (writes and source is not node.value)
        elif isinstance(node, ast.Call) and _last_name(node.func) in (*_TAKES, "at", "bincount") and len(node.args) > 1:
            base, index = _evaluated(node.args[0], names), node.args[1]
            stored = _last_name(node.func) not in _TAKES
        else:
            continue
        entries = index.elts if isinstance(index, ast.Tuple) else [index]
        if isinstance(base, np.ndarray) and base.ndim:
            yield base, tuple(_evaluated(entry, names) for entry in entries), stored


def _evaluated(node: ast.AST, names: dict[str, Any]) -> Any:
    """The value of an expression of names, numbers and arithmetic; None for others."""
    allowed = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load, ast.expr_context)
    parts = list(ast.walk(node))
    if not all(isinstance(part, allowed) for part in parts):
        return None
    if not all(part.id in names for part in parts if isinstance(part, ast.Name)):
        return None
    with np.errstate(all="ignore"):
        try:
            code = compile(ast.Expression(node), "<index>", "eval")  # type: ignore[arg-type]
            return eval(code, {"__builtins__": {}}, dict(names))
        except (TypeError, ValueError, ArithmeticError):
            return None


def _property(scene: Scene) -> tuple[Kind, str] | None:
    """The kind of a difference that is not one of values."""
    kinds: dict[str, Kind] = {"shape": "axis or shape", "dtype": "dtype", "type": "bug"}
    kind = kinds.get(scene.difference.what)
    return None if kind is None else (kind, scene.difference.text)


def _casts(scene: Scene) -> tuple[Kind, str] | None:
    """Integers that wrap, and conversions."""
    want, got = np.asarray(scene.want.data), np.asarray(scene.got.data)
    if want.dtype.kind in "iu" and got.dtype.kind in "iu":
        distance = want.astype(object) - got.astype(object)
        for bits in (32, 16, 8):
            if np.all(distance % 2**bits == 0):
                return "cast", f"the values wrap modulo 2**{bits}"
    if got.dtype.kind in "iu" and not _CASTS.isdisjoint(scene.calls):
        limits = np.iinfo(got.dtype)
        for name, x in scene.arrays.items():
            if np.any((x < limits.min) | (x > limits.max)):
                return "cast", f"{name} has values beyond the limits of {got.dtype}"
    floats = any(each.dtype.kind in "fc" for each in map(np.asarray, scene.arrays.values()))
    whole = want.dtype.kind in "iub" or np.all(got == np.rint(got.real))
    if floats and whole and not _CASTS.isdisjoint(scene.calls):
        return "cast", f"floating-point numbers were converted to {scene.got.dtype or 'whole numbers'} differently"
    return None


def _axes(scene: Scene) -> tuple[Kind, str] | None:
    """Results along other axes, or in another order."""
    want = np.asarray(scene.want.data)
    if want.size > _MOST_ELEMENTS:
        return None
    for order in itertools.permutations(range(want.ndim)) if 2 <= want.ndim <= 4 else ():
        if order != tuple(range(want.ndim)) and scene.matches(want.transpose(order)):
            return "axis or shape", f"the axes are in the order {order}"
    for axis in range(want.ndim):
        if want.shape[axis] > 1 and scene.matches(np.flip(want, axis)):
            return "axis or shape", f"axis {axis} runs backwards"
    for call in [node for node in ast.walk(scene.statement.node) if isinstance(node, ast.Call)]:
        for operand in (*call.args[:1], getattr(call.func, "value", call)):
            found = _along_other_axis(scene, _last_name(call.func), _evaluated(operand, scene.arrays))
            if found:
                return "axis or shape", f"{_last_name(call.func)} of {ast.unparse(operand)} {found}"
    if want.size > 1 and scene.matches(_reordered(want, np.asarray(scene.got.data))):
        return "axis or shape", "the same values are in another order"
    return None


def _along_other_axis(scene: Scene, call: str, x: Any) -> str:
    """The axis along which a NumPy function gives the result of the run; empty if there is none."""
    function: Callable[..., Any] | None = getattr(np, call, None) or getattr(np.linalg, call, None)
    if function is None or np.ndim(x) < 2 or np.size(x) > _MOST_ELEMENTS:
        return ""
    for axis in range(np.ndim(x)):
        try:
            found = function(x, axis=axis)
        except Exception:  # the function has other parameters
            return ""
        if isinstance(found, np.ndarray) and (scene.matches(found) or scene.matches(np.expand_dims(found, axis))):
            return f"is along axis {axis}"
    return ""


def _reordered(want: Any, got: Any) -> Any:
    """The values of the reference, in the order of the run's values."""
    ranks = np.argsort(np.argsort(got, axis=None, kind="stable"), kind="stable")
    return np.sort(want, axis=None)[ranks].reshape(want.shape)


def _precision(scene: Scene) -> tuple[Kind, str] | None:
    """Values that were computed in a narrower dtype."""
    want, got = np.asarray(scene.want.data), np.asarray(scene.got.data)
    for narrow in _NARROW.get(want.dtype.name, ()):
        with np.errstate(all="ignore"):
            if np.all(_fits(got, narrow)) and not np.all(_fits(want, narrow)):
                return "dtype", f"the values are those of {narrow}"
    return None


def _fits(x: Any, dtype: str) -> Any:
    return (x.astype(dtype) == x) | ~np.isfinite(x)


def _order(scene: Scene) -> tuple[Kind, str] | None:
    """The kind "order of summation" or "dtype", if the error fits the worst order of the terms or a narrower dtype."""
    want, got = np.asarray(scene.want.data), np.asarray(scene.got.data)
    if want.dtype.kind not in "fc":
        return None
    with np.errstate(all="ignore"):
        error = float(np.max(np.abs(got - want), initial=0.0, where=np.isfinite(want)))
        size = float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want)))
    terms = max([scene.terms, *(np.size(x) for x in scene.arrays.values())])
    eps = float(np.finfo(want.dtype).eps)
    if _adds(scene) and terms > 2 and error <= 4 * terms * eps * size:
        return "order of summation", f"the error {error:.1e} is possible for some order of {terms} terms"
    for narrow in _NARROW.get(want.dtype.name, ())[:1]:
        unit = float(np.finfo(narrow).eps) * size
        if unit / 64 <= error <= 16 * unit:
            return "dtype", f"the error {error:.1e} is typical of {narrow}"
    return None


def _adds(scene: Scene) -> bool:
    """Whether the statement adds many numbers: by a function, a matrix product or a loop."""
    nodes = list(ast.walk(scene.statement.node))
    if not _SUMS.isdisjoint(scene.calls) or any(isinstance(node, ast.MatMult) for node in nodes):
        return True
    loops = isinstance(scene.statement.node, ast.AugAssign) or set(scene.statement.assigned) & set(scene.statement.read)
    return bool(loops) and any(isinstance(node, (ast.Add, ast.Sub, ast.Mult)) for node in nodes)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
