# Long: one rule for each form of a write.
"""Writes into arrays: a new array if nothing else sees the old one, otherwise a note.

``x[i] = v`` becomes ``x = xo.at(x)[i].set(v, copy=None)``: libraries with mutable arrays write the same memory; on
the others x is a new array. An array of the caller, or one with another name, must stay the same array.
"""

from __future__ import annotations

import ast

import libcst as cst

from xarrayops.port import advice
from xarrayops.port.rewriting.context import Context, argument, operand
from xarrayops.port.rewriting.evidence import compares, is_just_made, is_of_array, may_be_stored
from xarrayops.port.source import indices
from xarrayops.port.source.expressions import operated
from xarrayops.port.source.interface import UPDATES
from xarrayops.port.source.names import arguments
from xarrayops.port.source.value import ARRAY, OTHER, SCALAR, SEQUENCE, UNKNOWN, Value

_KINDS = ("bool", "int", "float", "complex")
_WIDEST = ("int64", "float64", "complex128")
_DIRECT = {indices.SLICE, indices.NEW_AXIS, indices.ELLIPSIS, indices.INTEGER, indices.MASK}
"""The indices that select no element twice."""


def why(context: Context, place: ast.AST) -> str:
    """Why a write can make a new array."""
    is_returned = context.ownership.is_returned(place)
    reason = "the function returns the array" if is_returned else "nothing else refers to the array"
    return f"{reason}: a new one has the same meaning"


def note(context: Context, node: ast.expr | ast.stmt, base: ast.expr, place: ast.AST, reason: str) -> None:
    """A note about a write that must stay in place: the function around it cannot return the array."""
    new = advice.statement(context.program, context.statement(node))
    if isinstance(node, ast.Call):
        new = advice.in_place(context.program, node, base)
    new = "a new array, for example by xo.at or np.where" if new is None else advice.shared(new)
    context.todo(node, f"{ast.unparse(base)} is written in place ({reason}); JAX and Dask cannot. Instead: {new}")
    function = context.function(place)
    if function is not None and context.ownership.is_of_caller(place):
        context.kept.add(function.name)


def assign(context: Context, node: ast.Assign, updated: cst.Assign) -> cst.BaseSmallStatement | None:
    """``x[i] = v``."""
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
        for each in node.targets:
            if isinstance(each, ast.Tuple | ast.List):
                _of_tuple(context, each, node.value)
            elif isinstance(each, ast.Attribute) and each.attr == "shape" and context.value(each.value).is_array:
                new = advice.attribute(context.program, node, "shape") or "a new array, by np.reshape"
                context.todo(node, f"only NumPy's shape can be assigned. Instead: {new}")
        return None
    if not _may_change(context, target, node):
        return None
    cst_target = updated.targets[0].target
    assert isinstance(cst_target, cst.Subscript)
    is_returned = context.ownership.is_returned(node)
    where = None if is_returned else _as_where(context, target, node.value, cst_target, updated.value)
    if where is not None:
        context.edit(node, "mask assignment", "np.where gives the same elements, and works under a compiler")
        return bound(cst_target.value, where)
    if (compiled := advice.where(context.program, node)) is not None:
        context.announce(node, f"jax.jit does not take a selection by a mask. Instead: {compiled}")
    context.edit(node, "item assignment", why(context, node))
    return bound(cst_target.value, _set(context, cst_target, node.value, updated.value, target.value))


def chain(context: Context, node: ast.Assign, line: cst.SimpleStatementLine) -> list[cst.SimpleStatementLine] | None:
    """``x[i] = y[j] = v``: the value gets a name, and each target a statement."""
    if len(node.targets) < 2 or not any(isinstance(target, ast.Subscript) for target in node.targets):
        return None
    changed = [isinstance(t, ast.Subscript) and _may_change(context, t, t) for t in node.targets]
    if not any(changed):
        return None
    updated = line.body[0]
    assert isinstance(updated, cst.Assign)
    name = cst.Name(context.new_name("assigned"))
    statements: list[cst.BaseSmallStatement] = [bound(name, updated.value)]
    for place, (target, is_changed) in enumerate(zip(updated.targets, changed, strict=True)):
        if is_changed:
            assert isinstance(target.target, cst.Subscript)
            base = node.targets[place]
            assert isinstance(base, ast.Subscript)
            new = _set(context, target.target, node.value, name, base.value)
            statements.append(bound(target.target.value, new))
        else:
            statements.append(cst.Assign([cst.AssignTarget(target.target)], name))
    context.edit(node, "item assignment", "nothing else refers to the arrays: new ones have the same meaning")
    first = line.with_changes(body=[statements[0]], trailing_whitespace=cst.TrailingWhitespace())
    last = line.with_changes(body=[statements[-1]], leading_lines=[])
    return [first, *(cst.SimpleStatementLine([each]) for each in statements[1:-1]), last]


def augment(context: Context, node: ast.AugAssign, updated: cst.AugAssign) -> cst.BaseSmallStatement | None:
    """``x[i] += v`` and ``x += v``."""
    if isinstance(node.target, ast.Name):
        return _augment_name(context, node, node.target, updated)
    if isinstance(node.target, ast.Attribute) and is_just_made(context, node):
        return None
    if isinstance(node.target, ast.Attribute):  # another name may see the change of ``self.x += v``
        if not (context.is_array(node.target) or ARRAY in context.variables.assigned_kinds(node.target)):
            return None
        has_axes = any(each.is_array and each.ndim for each in context.variables.assigned(node.target))
        note(context, node, node.target, node, "others may refer to it")
        return _kept_in_place(context, node, updated) if has_axes and not context.program.has_foreign_arrays else None
    if not _may_change(context, node.target, node):
        return None
    assert isinstance(updated.target, cst.Subscript)
    found = set(indices.kinds(node.target.slice, context.program.values.known))
    context.edit(node, "augmented assignment", why(context, node))
    is_element = found == {indices.INTEGER}  # NumPy makes a scalar and casts it in the assignment
    base = context.value(node.target.value)
    is_held = not is_element or _holds(base, operated(node.op, base, context.value(node.value)))
    is_held &= not context.ownership.may_hold_objects(node) and _is_wide(base, context.value(node.value))
    new = _augmented(context, node, updated.target, updated, is_direct=found <= _DIRECT, is_held=is_held)
    return bound(updated.target.value, new)


def _kept_in_place(context: Context, node: ast.AugAssign, updated: cst.AugAssign) -> cst.AugAssign:
    """``x += v`` as ``x[...] += v``."""
    context.edit(node, "augmented assignment", "it raises if the array cannot be written, and makes no new array")
    return updated.with_changes(target=whole(updated.target))


def _augment_name(
    context: Context, node: ast.AugAssign, name: ast.Name, updated: cst.AugAssign
) -> cst.BaseSmallStatement | None:
    value = context.value(name)
    reason = context.ownership.reason(node)
    function = context.function(name)
    nodes = ast.walk(function) if function is not None else ()
    uses = [use for use in nodes if isinstance(use, ast.Name) and use.id == name.id]
    is_count = function is not None and name.id in context.program.references.numbers(function)
    if value.kind in (SCALAR, OTHER, SEQUENCE) or context.value(node.value).kind == OTHER:
        return None
    is_parameter = function is not None and name.id in {each.arg for each in arguments(function)}
    if not value.is_array and (is_count or not (is_parameter or any(is_of_array(context, use) for use in uses))):
        return None
    if value.is_proved and value.ndim == 0 and not context.ownership.is_created(node):
        context.edit(node, "augmented assignment", "a number stays the same number, also where elements are views")
        return bound(updated.target, _operated(updated))
    if reason is not None:
        note(context, node, name, node, reason)
        has_axes = is_parameter or bool(value.ndim)  # elements of arrays are numbers
        is_array = (value.is_array and has_axes) or context.ownership.is_made(node)
        is_read = any(isinstance(use.ctx, ast.Load) for use in uses)  # else it matters only to the caller's array
        is_open = context.program.has_foreign_arrays and not value.is_proved
        return None if is_open or (is_read and not is_array) else _kept_in_place(context, node, updated)
    is_created = context.ownership.is_created(node) and _may_widen(context, node)
    if not (is_created or context.ownership.is_returned(node)):
        return None
    context.edit(node, "augmented assignment", "the dtype of the array stays, also on libraries that make a new array")
    return bound(updated.target, _augmented(context, node, whole(updated.target), updated))


def _may_widen(context: Context, node: ast.AugAssign) -> bool:
    """Whether the result of the operator may have another dtype than the array."""
    array, value = context.value(node.target), context.value(node.value)
    if array.dtype in _WIDEST:
        return False
    if array.dtype is None or value.dtype is None:
        return value.kind != SCALAR or value.dtype not in ("bool", "int")
    if value.kind == SCALAR:
        return _KINDS.index(value.dtype) > _KINDS.index(array.dtype_kind or "bool")
    return value.dtype != array.dtype


def _may_change(context: Context, target: ast.Subscript, place: ast.AST) -> bool:
    """Whether an assignment to elements can make a new array; a note if it cannot."""
    base = context.value(target.value)
    if indices.has_key(target.slice) or not (base.is_array or may_be_stored(context, target)):
        return False
    kinds = context.variables.assigned_kinds(target.value) if isinstance(target.value, ast.Attribute) else set()
    reason = context.ownership.reason(place)
    is_array = base.is_array or bool(kinds) or context.ownership.is_of_caller(place)
    if reason is not None and is_array:
        note(context, target, target.value, place, reason)
    if reason is not None or base.is_array:
        return reason is None
    has_mask = indices.MASK in indices.kinds(target.slice, context.program.values.known)
    if has_mask or context.ownership.is_computed(place) or context.ownership.is_returned(place):
        return True
    new = advice.assignment(context.program, context.statement(target))
    context.todo(target, f"if {ast.unparse(target.value)} is an array, JAX and Dask cannot change it. Instead: {new}")
    return False


def _of_tuple(context: Context, target: ast.Tuple | ast.List, value: ast.expr) -> None:
    """``x[i], x[j] = v, w``: a note; another one if v and w are elements of x, which are views on PyTorch."""
    targets = [each for each in target.elts if isinstance(each, ast.Subscript)]
    for each in targets:
        if context.value(each.value).is_array:
            note(context, each, each.value, each, "one of several targets; assign them one by one")
            return
    written = {ast.unparse(each.value) for each in targets}
    for part in value.elts if isinstance(value, ast.Tuple) else ():
        is_written = isinstance(part, ast.Subscript) and ast.unparse(part.value) in written
        if is_written and context.value(part.value).kind in (ARRAY, UNKNOWN):  # type: ignore[attr-defined]
            text = f"the first assignment changes {ast.unparse(part)} where it is an array"
            new = advice.assignment(context.program, context.statement(target))
            context.todo(target, f"elements are views on PyTorch: {text}. Instead: {new}")
            return


def _as_where(
    context: Context, target: ast.Subscript, value: ast.expr, updated: cst.Subscript, new: cst.BaseExpression
) -> cst.Call | None:
    """``x[mask] = number`` as ``where``, if the mask has the shape of x and x can hold the number."""
    array, number, mask = context.value(target.value), context.value(value), context.value(target.slice)
    if number.kind != SCALAR or array.dtype_kind is None or number.dtype not in _KINDS:
        return None
    if _KINDS.index(number.dtype) > _KINDS.index(array.dtype_kind) or not isinstance(value, ast.Constant | ast.UnaryOp):
        return None
    is_like_array = (mask.ndim is not None and mask.ndim == array.ndim) or compares(target.slice, target.value)
    index = updated.slice[0].slice
    if not mask.is_array or mask.dtype_kind != "bool" or not is_like_array or not isinstance(index, cst.Index):
        return None
    return context.np_call("where", argument(index.value), argument(new), argument(updated.value))


def _set(
    context: Context, target: cst.Subscript, node: ast.expr, value: cst.BaseExpression, base: ast.expr
) -> cst.Call:
    """``xo.at(x)[i].set(value, copy=None)``, or ``assign(value)`` if x may not hold the value as it is."""
    is_list = isinstance(node, ast.List | ast.Tuple | ast.ListComp)
    known = context.value(node)._replace(kind=ARRAY) if is_list else context.value(node)
    if _holds(context.value(base), known):
        if is_list and not isinstance(value, cst.Name):
            value = context.np_call("asarray", argument(value), argument(target.value, "like"))
        return at(context, target, "set", value)
    return assigned(context, target, value)


def assigned(context: Context, target: cst.Subscript, value: cst.BaseExpression) -> cst.Call:
    """``xo.at(x)[i].assign(value)``: NumPy's cast of the value to the dtype of the array."""
    made = at(context, target, "assign", value)
    return made.with_changes(args=made.args[:1])


def _is_wide(array: Value, value: Value) -> bool:
    """Whether an operator with a value is computed in the dtype of the array, and not in a wider one."""
    return array.dtype in _WIDEST or value.kind == SCALAR or (array.dtype is not None and array.dtype == value.dtype)


def _holds(array: Value, value: Value) -> bool:
    """Whether a value is certainly an array or a number that the dtype of an array holds."""
    if value.kind not in (ARRAY, SCALAR) or not value.certain:
        return False
    if array.dtype_kind in ("float", "complex"):
        return True
    if value.is_array and value.dtype != array.dtype:
        return False  # NumPy wraps integers
    kind = value.dtype_kind
    return None not in (array.dtype_kind, kind) and _KINDS.index(kind) <= _KINDS.index(array.dtype_kind)


def at(context: Context, target: cst.Subscript, method: str, value: cst.BaseExpression) -> cst.Call:
    """``xo.at(x)[i].method(value, copy=None)``."""
    at = context.xo_call("at", argument(target.value))
    selected = target.with_changes(value=at, lpar=[], rpar=[])
    return cst.Call(cst.Attribute(selected, cst.Name(method)), [argument(value), argument(cst.Name("None"), "copy")])


def _augmented(
    context: Context,
    node: ast.AugAssign,
    target: cst.Subscript,
    updated: cst.AugAssign,
    *,
    is_direct: bool = True,
    is_held: bool = True,
) -> cst.Call:
    """The array after an augmented assignment; by a method of `xarrayops.at`, if no element is selected twice."""
    method = UPDATES.get(type(node.op))
    if method is not None and is_direct and is_held:
        return at(context, target, method, updated.value)
    if isinstance(node.target, ast.Subscript):
        first, second = context.program.evaluated_once(node.target.slice)
        if first is not second:
            target, read = (_selected(target, each) for each in (first, second))
            updated = updated.with_changes(target=read)
    new = _operated(updated)
    return at(context, target, "set", new) if is_held else assigned(context, target, new)


def _selected(target: cst.Subscript, index: ast.expr) -> cst.Subscript:
    """The elements of the same array at another index."""
    selected = cst.parse_expression(ast.unparse(ast.Subscript(ast.Name("x"), index)))
    assert isinstance(selected, cst.Subscript)
    return selected.with_changes(value=target.value)


def _operated(updated: cst.AugAssign) -> cst.BinaryOperation:
    """``x + v`` of ``x += v``."""
    operator = getattr(cst, type(updated.operator).__name__.removesuffix("Assign"))()
    value = updated.value if isinstance(updated.value, cst.Name | cst.Integer | cst.Float) else operand(updated.value)
    return cst.BinaryOperation(updated.target.with_changes(lpar=[], rpar=[]), operator, value)


def whole(array: cst.BaseExpression) -> cst.Subscript:
    """``array[...]``."""
    return cst.Subscript(array, [cst.SubscriptElement(cst.Index(cst.Ellipsis()))])


def bound(name: cst.BaseExpression, value: cst.BaseExpression) -> cst.Assign:
    """``name = value``."""
    return cst.Assign([cst.AssignTarget(name)], value)  # type: ignore[arg-type]
