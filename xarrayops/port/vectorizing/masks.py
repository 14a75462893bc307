"""``a[m] = f(a[m])`` as ``a = np.where(m, f(a), a)``, which has no selection of unknown length and can be compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from xarrayops.plugin.arrays import Record
from xarrayops.port.rewriting.context import Context
from xarrayops.port.source import indices
from xarrayops.port.source.expressions import operated, ufunc
from xarrayops.port.source.numpy_results import elementwise, function_of, is_elementwise
from xarrayops.port.source.value import ARRAY, SCALAR, UNKNOWN, words
from xarrayops.port.vectorizing.offers import Offer, blocks, called, is_alone, is_pure

_TOTAL = words(
    "abs absolute add arctan bitwise_and bitwise_or bitwise_xor cbrt ceil conj conjugate copysign cos equal fabs floor "
    "fmax fmin greater greater_equal hypot invert isfinite isinf isnan less less_equal logical_and logical_not "
    "logical_or maximum minimum multiply negative not_equal positive rint sign sin square subtract tanh trunc"
)
"""Elementwise functions without warnings for finite numbers."""
_DIVISIONS = words("divide true_divide floor_divide mod remainder fmod")
_KINDS = ("bool", "int", "float", "complex")


class _Masked(Record):
    """A masked assignment: the values of all elements, and what is not proved."""

    statement: ast.stmt
    array: ast.Name
    mask: ast.expr
    value: ast.expr
    is_guarded: bool
    is_number: bool
    asks: tuple[str, ...]


def offers(context: Context, numpy: str) -> Iterator[Offer]:
    """The edits of the masked assignments of a program that calls NumPy by this name."""
    for block in blocks(context.program.source.tree):
        found = [_masked(context, numpy, block, place) for place in range(len(block))]
        taken = None
        for first, second in pairwise([*found, None]):
            if first is None or first is taken:
                continue
            if second is not None and _are_complements(first, second):
                taken = second
                yield _offer(numpy, first, second)
            else:
                yield _offer(numpy, first, None)


def _offer(numpy: str, first: _Masked, second: _Masked | None) -> Offer:
    both = [each for each in (first, second) if each is not None]
    parts = first.mask, first.value, first.array if second is None else second.value
    if isinstance(first.mask, ast.UnaryOp) and second is not None:
        parts = first.mask.operand, parts[2], parts[1]
    new = ast.Assign([ast.Name(first.array.id)], called(f"{numpy}.where", *parts), lineno=first.statement.lineno)
    guarded = "; the function gets 1 for the others" if any(each.is_guarded for each in both) else ""
    reason = f"np.where gives the same elements without a selection, and works under a compiler{guarded}"
    asks = dict.fromkeys(ask for each in both for ask in each.asks)
    return Offer(tuple(each.statement for each in both), (new,), reason, tuple(asks))


def _are_complements(first: _Masked, second: _Masked) -> bool:
    """Whether the masks are m and ~m, where m is a variable."""
    if first.array.id != second.array.id or (first.is_number and second.is_number):
        return False  # np.where of two numbers would not have the dtype of the array
    for mask, other in ((first.mask, second.mask), (second.mask, first.mask)):
        match other:
            case ast.UnaryOp(op=ast.Invert(), operand=ast.Name(id=name)) if isinstance(mask, ast.Name):
                if mask.id == name != first.array.id:
                    return True
    return False


def _masked(context: Context, numpy: str, block: Sequence[ast.stmt], place: int) -> _Masked | None:
    """A statement as a masked assignment that can make a new array."""
    statement = block[place]
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as array, slice=mask)], value=value):
            result = context.value(value)
        case ast.AugAssign(target=ast.Subscript(value=ast.Name() as array, slice=mask), op=op) if not isinstance(
            op, ast.MatMult
        ):
            value = ast.BinOp(ast.Subscript(array, mask), op, statement.value)
            result = operated(op, context.value(array), context.value(statement.value))
        case _:
            return None
    if not _may_be_mask(context, mask) or not is_pure(context, mask) or not is_alone(context, statement):
        return None
    if context.ownership.reason(statement) is not None or context.ownership.is_returned(statement):
        return None
    known, asks = context.value(array), dict[str, None]()
    if known.kind not in (ARRAY, UNKNOWN) or known.dtype == "object":
        return None
    if not known.is_proved:
        asks[f"type({array.id}) is {numpy}.ndarray"] = None
    if indices.kind(mask, context.program.values.known) != indices.MASK:
        asks[f"{numpy}.asarray({ast.unparse(mask)}).dtype == bool"] = None
    if not _has_axes_of(context, mask, array, block[:place]):
        asks[f"{numpy}.ndim({ast.unparse(mask)}) == {array.id}.ndim"] = None
    whole = _Whole(context, numpy, mask, array.id, asks)
    number = context.value(value)
    is_number = number.kind == SCALAR and not whole.reads(value)
    if is_number:
        is_held = {number.dtype, known.dtype_kind} <= {*_KINDS} and (
            _KINDS.index(number.dtype or "") <= _KINDS.index(known.dtype_kind or "")
        )
        new: ast.expr | None = value if is_held else called(f"{numpy}.full_like", ast.Name(array.id), value)
    elif not whole.reads(value):
        return None
    else:
        whole.is_guarded = whole.is_partial(value)
        new = whole.of(value)
        if new is not None and (known.dtype is None or result.dtype != known.dtype):
            new = called(f"{numpy}.asarray", new, dtype=ast.Attribute(ast.Name(array.id), "dtype"))
    return None if new is None else _Masked(statement, array, mask, new, whole.is_guarded, is_number, tuple(asks))


def _may_be_mask(context: Context, mask: ast.expr) -> bool:
    """Whether an index is a mask, or may be one."""
    if isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert):
        return _may_be_mask(context, mask.operand)
    found = indices.kind(mask, context.program.values.known)
    is_open = found == indices.UNKNOWN and not indices.has_key(mask)
    return context.value(mask).kind in (ARRAY, UNKNOWN) and (
        found == indices.MASK or (is_open and isinstance(mask, ast.Name | ast.Compare | ast.BinOp | ast.Call))
    )


def _has_axes_of(context: Context, mask: ast.expr, array: ast.Name, before: Sequence[ast.stmt]) -> bool:
    """Whether a mask certainly has as many axes as an array; NumPy compares the extents itself."""
    ndim = context.value(mask).ndim
    if ndim is not None and ndim == context.value(array).ndim:
        return True
    if isinstance(mask, ast.UnaryOp):
        return _has_axes_of(context, mask.operand, array, before)
    if isinstance(mask, ast.Name) and mask.id != array.id:
        for statement in reversed(before):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == mask.id:
                    return _is_of(context, value, array.id) is True
            bound = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _is_stored(node)}
            if bound & {mask.id, array.id}:
                return False
        return False
    return _is_of(context, mask, array.id) is True


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)


def _is_of(context: Context, node: ast.expr, array: str) -> bool | None:
    """Whether an expression has the axes of a variable: False for a number, None if unknown."""
    match node:
        case ast.Name(id=name) if name == array:
            return True
        case ast.Compare(left=left, comparators=others):
            parts = [left, *others]
        case ast.BinOp(left=left, right=right, op=op) if not isinstance(op, ast.MatMult):
            parts = [left, right]
        case ast.UnaryOp(operand=operand):
            parts = [operand]
        case ast.Call(args=parts, keywords=[]) if is_elementwise(function_of(context.names, node) or "."):
            pass
        case _:
            parts = []
    found = [_is_of(context, each, array) for each in parts]
    if found and None not in found:
        return any(found)
    value = context.value(node)
    return False if value.kind == SCALAR or (value.is_array and value.ndim == 0) else None


class _Whole:
    """Expressions of the selected elements of arrays, as expressions of all elements."""

    def __init__(self, context: Context, numpy: str, mask: ast.expr, array: str, asks: dict[str, None]) -> None:
        self._context, self._numpy, self._mask, self._array, self._asks = context, numpy, mask, array, asks
        self._selection = ast.dump(mask)
        self.is_guarded = False
        """Whether a function gets 1 in place of the elements that are not selected."""

    def reads(self, node: ast.expr) -> bool:
        """Whether an expression has the selected elements of an array."""
        return any(isinstance(each, ast.Subscript) and self._is_selection(each) for each in ast.walk(node))

    def _is_selection(self, node: ast.Subscript) -> bool:
        return ast.dump(node.slice) == self._selection and isinstance(node.value, ast.Name)

    def is_partial(self, node: ast.expr) -> bool:
        """Whether a function in an expression of selected elements may warn for other elements."""
        match node:
            case ast.BinOp(op=op, right=right):
                name, other = ufunc(op), right
            case ast.Call(args=[*_, other]):
                name = function_of(self._context.names, node) or ""
            case _:
                name, other = "positive", node
        number = other.value if isinstance(other, ast.Constant) else None
        is_whole = isinstance(number, int | float) and number >= 0 and number == int(number)
        is_total = name in _TOTAL or (name in _DIVISIONS and bool(number)) or (name == "power" and is_whole)
        inner = (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
        return self.reads(node) and (not is_total or any(map(self.is_partial, inner)))

    def of(self, node: ast.expr) -> ast.expr | None:
        """An expression of all elements; None if a part may have as many elements as the selection."""
        return elementwise(self._context.names, node, self._leaf)

    def _leaf(self, node: ast.expr) -> ast.expr | None:
        """A variable, a number, or what the call must show to be a number."""
        value = self._context.value(node)
        match node:
            case ast.Subscript(value=ast.Name(id=name)) if self._is_selection(node):
                return self._elements(name)
            case ast.Name() | ast.Attribute() if value.kind == UNKNOWN or (value.is_array and value.ndim is None):
                self._asks[f"{self._numpy}.ndim({ast.unparse(node)}) == 0"] = None
                return node
        is_number = value.kind == SCALAR or (value.is_array and value.ndim == 0)
        return node if is_number and not self.reads(node) and is_pure(self._context, node) else None

    def _elements(self, name: str) -> ast.expr | None:
        """A variable of which the selection is taken."""
        if name != self._array:
            mask, values = ast.unparse(self._mask), self._context.value
            ndim = values(self._mask).ndim
            found = {values(node).ndim for node in self._context.program.nodes(ast.Name) if node.id == name}
            if ndim is None or found != {ndim}:
                self._asks[f"type({name}) is {self._numpy}.ndarray and {name}.ndim == {self._numpy}.ndim({mask})"] = (
                    None
                )
        array = ast.Name(name)
        return called(f"{self._numpy}.where", self._mask, array, ast.Constant(1)) if self.is_guarded else array
