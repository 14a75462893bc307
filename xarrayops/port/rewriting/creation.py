"""New arrays in the library of the reference array, and random numbers, which NumPy draws as before."""

from __future__ import annotations

import ast

import libcst as cst

from xarrayops.port import advice
from xarrayops.port.rewriting import draws
from xarrayops.port.rewriting.context import Context, argument, dotted
from xarrayops.port.rewriting.reference import (
    earlier_array,
    missing_reference,
    operand_beside,
    reference_array,
    unproved,
)
from xarrayops.port.source import interface
from xarrayops.port.source.value import SCALAR, SEQUENCE, UNKNOWN
from xarrayops.port.source.values import root

_OF_VALUES = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require")


def created(context: Context, node: ast.Call, name: str, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """A new array in the library of the reference array."""
    takes_like = _takes_like(context, node, name) or _is_of_sequence(context, node, name)
    is_made = takes_like or _is_of_literals(context, node)
    parent = context.parent(node)
    is_given = any(each.arg in ("like", None) for each in node.keywords)
    is_given |= isinstance(parent, ast.keyword) and parent.arg == "like"
    if not is_made or is_given or is_moved(context, node) or _is_of_numpy_alone(context, node, name):
        return updated
    if isinstance(parent, ast.For | ast.comprehension) and parent.iter is node and context.value(node).ndim == 1:
        return updated  # the elements are numbers
    if isinstance(parent, ast.Call) and draws.method_of(context, parent) is not None:
        return updated  # NumPy draws from the elements
    return moved(context, node, updated, f"np.{name}", takes_like=takes_like) or updated


def _is_of_numpy_alone(context: Context, node: ast.Call, name: str) -> bool:
    """Whether the elements are certainly not numbers, such as text, so that only NumPy has the array."""
    dtype = context.value(node).dtype
    if context.is_array(node) and dtype is not None and context.value(node).dtype_kind is None:
        return True
    filled = node.args[1:2] if name == "full" else []
    return any(isinstance(each, ast.Constant) and isinstance(each.value, str | type(None)) for each in filled)


def moved(
    context: Context, node: ast.expr, updated: cst.BaseExpression, what: str, *, takes_like: bool = False
) -> cst.BaseExpression | None:
    """A new array in the library of the reference array; a note if only an argument may be one."""
    reference = reference_array(context, node)
    if reference is None:
        missing = missing_reference(context, node)
        if missing is not None:
            _without_reference(context, node, what, *missing, takes_like=takes_like)
        return None
    context.edit(node, "creation", f"the new array is in the library of {reference}")
    like = argument(dotted(reference), "like")
    if takes_like and isinstance(updated, cst.Call):
        return updated.with_changes(args=[*updated.args, like])
    return context.np_call("asarray", argument(updated), like)


def _without_reference(
    context: Context, node: ast.expr, what: str, partner: str, is_made: bool, *, takes_like: bool
) -> None:
    """A note on a new array that has no reference array, and what it meets."""
    problem = f"{what} makes an array of the default library"
    if not is_made:
        text = f"{problem}, and {partner}, which it meets later, may be an array of another one"
        context.todo(node, f"{text}: add like= with an array of that library")
        return
    new = f"np.asarray({ast.unparse(node)}, like={partner})"
    if takes_like and isinstance(node, ast.Call):
        new = advice.call_of(node, what, like=partner)
    _meet(context, node, problem, partner, new)


def _meet(context: Context, node: ast.expr, what: str, partner: str, instead: str) -> None:
    """A note on an array of the default library and one that may belong to another library."""
    context.todo(node, f"{what}, and {partner} may be an array of another one. Instead: {instead}")


def is_moved(context: Context, node: ast.expr) -> bool:
    """Whether the array is an argument of a call that converts it."""
    parent = context.parent(node)
    return isinstance(parent, ast.Call) and any(keyword.arg == "like" for keyword in parent.keywords)


def _takes_like(context: Context, node: ast.Call, name: str) -> bool:
    """Whether only ``like=`` decides the library of the array that a function makes."""
    taken = interface.signature(name)
    if taken is None or "like" not in taken.parameters or name == "from_dlpack":
        return False
    return name not in _OF_VALUES or (bool(node.args) and _is_of_numbers(context, node.args[0]))


def _is_of_sequence(context: Context, node: ast.Call, name: str) -> bool:
    """Whether an array is made from a list, or from a parameter that may be one, next to an array that is certain."""
    given = node.args[0] if node.args and name in _OF_VALUES else None
    reference = None if given is None else reference_array(context, node, is_certain=True)
    if given is None or reference is None:
        return False
    if not context.program.company(node).matters:
        return False
    kind = context.value(given).kind
    names = {each.id for each in ast.walk(given) if isinstance(each, ast.Name)}
    return reference not in names and (kind == SEQUENCE or (kind == UNKNOWN and isinstance(given, ast.Name)))


def _is_of_literals(context: Context, node: ast.Call) -> bool:
    """Whether the result is an array made from lists of numbers, as in ``np.diag([1, 2])``."""
    is_list = bool(node.args) and isinstance(node.args[0], ast.List)
    is_array = context.is_array(node) and context.value(node).ndim != 0
    return is_list and is_array and all(_is_of_numbers(context, each) for each in node.args)


def grid(context: Context, node: ast.Subscript, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.mgrid[0:2]`` in the library of the reference array."""
    name = context.numpy_name(node.value)
    if name not in ("mgrid", "ogrid") or is_moved(context, node):
        return None
    if name == "ogrid":
        parameter = reference_array(context, node) or unproved(context, node)
        if parameter is not None:
            new, several = ast.unparse(node), isinstance(node.slice, ast.Tuple)
            new = (
                f"[np.asarray(each, like={parameter}) for each in {new}]"
                if several
                else f"np.asarray({new}, like={parameter})"
            )
            _meet(context, node, "np.ogrid makes arrays of the default library", parameter, new)
        return None
    return moved(context, node, updated, "np.mgrid")


def _is_of_numbers(context: Context, node: ast.expr) -> bool:
    """Whether an expression is a sequence of numbers, without arrays."""
    if isinstance(node, ast.List | ast.Tuple):
        return all(_is_of_numbers(context, each) for each in node.elts)
    if isinstance(node, ast.ListComp):
        return context.value(node.elt).kind == SCALAR
    is_range = isinstance(node, ast.Call) and context.names.resolve(node.func) == "builtins.range"
    return is_range or context.value(node).kind == SCALAR


def of_module(context: Context, node: ast.Name, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.asarray(C, like=x)`` for an array C of the module; a note if nothing proves that x is an array."""
    meeting = context.meetings.get(node)
    if meeting is None:
        return None
    if not meeting.certain:
        what = f"{node.id} was made by the default library when the module was loaded"
        _meet(context, node, what, meeting.partner, f"np.asarray({node.id}, like={meeting.partner})")
        return None
    context.edit(node, "creation", f"{node.id} moves to the library of {meeting.partner}")
    return context.np_call("asarray", argument(updated), argument(cst.Name(meeting.partner), "like"))


def random_numbers(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.random.normal(size=n)``, or the same of a generator."""
    method = draws.method_of(context, node)
    if method == "shuffle" and node.args and context.value(node.args[0]).is_array:
        x, permutation = ast.unparse(node.args[0]), ast.unparse(node.func).removesuffix("shuffle") + "permutation"
        new = f"{x} = {x}[np.asarray({permutation}({x}.shape[0]), like={x})]"
        context.todo(node, f"only NumPy's arrays can be shuffled in place. Instead: {new}")
    if method is None or method in draws.STATE or isinstance(context.parent(node), ast.Expr):
        return None
    if not draws.is_array(node, method) or is_moved(context, node):
        return None
    other = operand_beside(context, node)
    is_changed = isinstance(getattr(other, "ctx", None), ast.Store)
    changed = root(other) if other is not None and is_changed and context.is_array(other) else None
    reference = reference_array(context, node) or changed or earlier_array(context, node)
    if reference is None:
        if other is not None:
            what = f"NumPy draws its own arrays, and {ast.unparse(other)} may be an array of another library"
            context.todo(node, f"{what}. Instead: np.asarray({ast.unparse(node)}, like={ast.unparse(other)})")
        return None
    context.edit(node, "random", f"NumPy draws the same numbers; they move to the library of {reference}")
    return context.np_call("asarray", argument(updated), argument(dotted(reference), "like"))
