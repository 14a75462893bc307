"""What an index selects: a view, a copy, or an element."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from xarrayops.port.source.names import last_name
from xarrayops.port.source.value import ARRAY, NOTHING, OTHER, SCALAR, SEQUENCE, UNKNOWN as UNKNOWN_KIND, Value, member

SLICE, NEW_AXIS, ELLIPSIS, INTEGER, MASK, INTEGERS, UNKNOWN = (
    *("slice", "new axis", "ellipsis", "integer", "mask", "integers", "unknown"),
)
"""The kinds of the parts of an index."""


def parts(index: ast.expr) -> list[ast.expr]:
    """The parts of an index, which are separated by commas."""
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def has_key(index: ast.expr) -> bool:
    """Whether an index is a text or a list of some, as of a dictionary or a data frame, which arrays do not take."""
    if isinstance(index, ast.BinOp):
        return has_key(index.left) or has_key(index.right)
    if isinstance(index, ast.List):
        return any(map(has_key, index.elts))
    texts = (part.value if isinstance(part, ast.Constant) else part for part in parts(index))
    return any(isinstance(each, str | ast.JoinedStr) for each in texts)


def kind(part: ast.expr, values: Mapping[ast.AST, Value]) -> str:
    """The kind of a part of an index."""
    if isinstance(part, ast.Slice):
        return SLICE
    if isinstance(part, ast.Constant):
        return NEW_AXIS if part.value is None else ELLIPSIS if part.value is Ellipsis else INTEGER
    if last_name(part) == "newaxis":
        return NEW_AXIS
    value = values.get(part, NOTHING)
    if value.kind == SCALAR:
        return INTEGER if value.dtype in ("int", None) else MASK if value.dtype == "bool" else UNKNOWN
    if value.kind == ARRAY:
        if value.dtype_kind == "bool":
            return MASK
        return INTEGERS if value.dtype_kind == "int" and value.ndim != 0 else INTEGER if value.ndim == 0 else UNKNOWN
    if isinstance(part, ast.List):
        return MASK if value.items and all(item.dtype == "bool" for item in value.items) else INTEGERS
    return UNKNOWN


def kinds(index: ast.expr, values: Mapping[ast.AST, Value]) -> list[str]:
    """The kinds of all parts of an index."""
    return [kind(part, values) for part in parts(index)]


def is_negative(part: ast.expr) -> bool:
    """Whether this is a slice with a negative step, which PyTorch does not support."""
    step = part.step if isinstance(part, ast.Slice) else None
    return isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)


TORCH_INDICES = ("bool", "int32", "int64")
"""The index dtypes that PyTorch treats as NumPy does. It takes uint8 for a mask and refuses the others."""


def unlike_torch(index: ast.expr, values: Mapping[ast.AST, Value]) -> ast.expr | None:
    """The first array in an index whose dtype PyTorch may refuse or take for a mask; None if there is none.

    A slice of something unknown, such as ``columns[i:j]``, is an array if it is an index.
    """
    for part in parts(index):
        value = values.get(part, NOTHING)
        is_slice = value.kind == UNKNOWN_KIND and value.is_view
        is_array = value.kind == ARRAY and value.ndim != 0 and value.dtype not in TORCH_INDICES
        if is_slice or (is_array and (value.dtype is not None or value.certain)):
            return part
    return None


def element_of(base: Value, index: ast.expr, values: Mapping[ast.AST, Value]) -> Value:
    """The value of ``base[index]``."""
    if base.kind == SEQUENCE:
        return _of_sequence(base, index)
    if base.kind == OTHER:
        return NOTHING
    found = kinds(index, values)
    if base.kind != ARRAY:
        is_of_array = MASK in found and any(values.get(part, NOTHING).is_array for part in parts(index))
        is_view = isinstance(index, ast.Slice)
        return Value(ARRAY, fresh=True) if is_of_array else NOTHING._replace(views=base.views, is_view=is_view)
    if MASK in found or INTEGERS in found:
        of_index = 1 if isinstance(index, ast.List) else values.get(index, NOTHING).ndim
        ndim = base.ndim if found == [INTEGERS] and of_index == 1 else None
        if found == [MASK]:
            ndim = 1 if of_index == base.ndim else None
        return Value(ARRAY, base.dtype, ndim, fresh=True, certain=base.certain)
    is_known = base.ndim is not None and UNKNOWN not in found
    ndim = (base.ndim or 0) + found.count(NEW_AXIS) - found.count(INTEGER) if is_known else None
    if ndim is not None and ndim <= 0:
        return Value(ARRAY, base.dtype, 0, fresh=True, certain=base.certain)
    return Value(ARRAY, base.dtype, ndim, base.views, is_view=True, certain=base.certain)


def _of_sequence(base: Value, index: ast.expr) -> Value:
    if isinstance(index, ast.Slice):
        return Value(SEQUENCE, views=base.views, element=member(base))
    match index:
        case ast.Constant(value=int(number)) if base.items is not None:
            return base.items[number] if number < len(base.items) else NOTHING
        case ast.UnaryOp(operand=ast.Constant(value=number)) if base.items is not None:
            return base.items[-number] if isinstance(number, int) and 0 < number <= len(base.items) else NOTHING
    return member(base)
