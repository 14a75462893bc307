"""Calls of NumPy's functions: arrays in the library of the reference array, keywords, ``out=``, functions in place.

Random numbers are drawn by NumPy as before, and converted to the library of the arrays.
"""

from __future__ import annotations

import ast
import re

import libcst as cst
import numpy

from xarrayops.numpy._ufunc import UPDATES as AT_METHODS
from xarrayops.port import advice
from xarrayops.port.rewriting.context import Context, argument, dotted
from xarrayops.port.rewriting.reference import missing_reference, reference_array, unproved
from xarrayops.port.rewriting.stores import assigned, at, bound, note, whole, why
from xarrayops.port.source import interface
from xarrayops.port.source.value import SCALAR, SEQUENCE, UNKNOWN, words

_OF_VALUES = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require")
_STATE = words("seed get_state set_state default_rng RandomState Generator SeedSequence PCG64 MT19937 Philox")
_GENERATORS = ("random.default_rng", "random.RandomState", "random.Generator")


def call(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """A call of a function of NumPy."""
    name = context.numpy_name(node.func)
    if name is None or name.startswith("random."):
        return None
    if name == "ndarray":
        assert isinstance(updated, cst.Call)
        context.edit(node, "creation", "np.empty makes the same array")
        updated = updated.with_changes(func=context.np_call("empty").func)
        name = "empty"
    if not interface.has(name):
        return None
    if name == "arange" and len(node.args) == 4:  # it has one, two or three positions before the dtype
        assert isinstance(updated, cst.Call)
        *numbers, dtype = updated.args[:4]
        by_keyword = argument(dtype.value, "dtype").with_changes(comma=dtype.comma)
        context.edit(node, "keyword", "dtype= is taken by keyword")
        updated = updated.with_changes(args=[*numbers, by_keyword, *updated.args[4:]])
    refused = interface.refusal(name, node.args[:3] if name == "arange" else node.args, node.keywords)
    if refused is not None:
        context.todo(node, f"np.{name} does not take these arguments: {refused}")
    target = interface.target_of(node, context.numpy_name)
    if target is not None and not isinstance(context.parent(node), ast.Expr):
        _note(context, node, target)
    return _created(context, node, name, updated)


def _created(context: Context, node: ast.Call, name: str, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """A new array in the library of the reference array."""
    takes_like = _takes_like(context, node, name) or _is_of_sequence(context, node, name)
    is_made = takes_like or _is_of_literals(context, node)
    parent = context.parent(node)
    is_given = any(each.arg in ("like", None) for each in node.keywords)
    is_given |= isinstance(parent, ast.keyword) and parent.arg == "like"
    if not is_made or is_given or is_moved(context, node) or _is_of_numpy_alone(context, node, name):
        return updated
    if isinstance(parent, ast.For | ast.comprehension) and parent.iter is node:
        return updated  # the elements are numbers
    if isinstance(parent, ast.Call) and _draw(context, parent) is not None:
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
    """Whether an array is made from a list, or from a parameter that may be one, beside an array that is certain."""
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


def statement(context: Context, node: ast.Expr, updated: cst.Expr) -> cst.BaseSmallStatement | None:
    """``np.f(x, out=y)`` and functions that work in place, as statements."""
    made = node.value
    if not isinstance(made, ast.Call):
        return None
    name = context.numpy_name(made.func)
    target = interface.target_of(made, context.numpy_name)
    if name is None:
        return _method(context, made, updated)
    if target is None or name.startswith("random."):
        return None
    written, changed = ast.unparse(target), None
    is_array = context.value(target).is_array or context.ownership.is_returned(made)
    if context.ownership.reason(made) is None and is_array and isinstance(updated.value, cst.Call):
        changed = _in_place(context, name, made, updated.value, written)
    if changed is None:
        _note(context, made, target)
        return None
    context.edit(node, "in place", why(context, made))
    return bound(cst.Name(written), changed)


def _note(context: Context, node: ast.Call, target: ast.expr) -> None:
    note(context, node, target, node, context.ownership.reason(node) or "the call cannot be taken apart")


def _in_place(context: Context, name: str, node: ast.Call, updated: cst.Call, target: str) -> cst.BaseExpression | None:
    """The new value of the array that a call writes."""
    arguments, array = list(updated.args), cst.Name(target)
    function, _, method = name.rpartition(".")
    if any(keyword.arg in ("where", None, "casting") for keyword in node.keywords):
        return None
    if name == "copyto" and len(arguments) == 2:
        return at(context, whole(array), "set", arguments[1].value)
    if name == "fill_diagonal" and len(arguments) == 2:
        filled = context.xo_call("fill_diagonal", argument(array), argument(arguments[1].value))
        return at(context, whole(array), "set", filled) if context.ownership.is_returned(node) else filled
    if method == "at" and function in AT_METHODS and len(arguments) == 3:
        selected = cst.Subscript(array, [cst.SubscriptElement(cst.Index(arguments[1].value))])
        return at(context, selected, AT_METHODS[function], arguments[2].value)
    if interface.out_of(node, name) is None:
        return None
    count = interface.operands(name)
    kept = [each for each in arguments if each.keyword is None or each.keyword.value != "out"]
    if count is not None and len(node.args) == count + 1:
        kept = kept[:count] + kept[count + 1 :]
    kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return at(context, whole(array), "set", updated.with_changes(args=kept))


def _method(context: Context, node: ast.Call, statement: cst.Expr) -> cst.BaseSmallStatement | None:
    """``x.fill(v)`` and ``x.sort()``."""
    if not isinstance(node.func, ast.Attribute) or not context.is_array(node.func.value):
        return None
    base, method = node.func.value, node.func.attr
    if method not in interface.IN_PLACE_METHODS:
        return None
    if context.ownership.reason(node) is not None or method not in ("fill", "sort"):
        _note(context, node, base)
        return None
    updated = statement.value
    if not isinstance(updated, cst.Call):
        return None
    array, is_filled = cst.Name(ast.unparse(base)), method == "fill"
    if is_filled:
        value = assigned(context, whole(array), updated.args[0].value)
    else:
        value = context.np_call("sort", argument(array), *updated.args)
        value = at(context, whole(array), "set", value) if context.ownership.is_returned(node) else value
    context.edit(node, "in place", why(context, node))
    return bound(array, value)


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
    method = _draw(context, node)
    if method == "shuffle" and node.args and context.value(node.args[0]).is_array:
        x, permutation = ast.unparse(node.args[0]), ast.unparse(node.func).removesuffix("shuffle") + "permutation"
        new = f"{x} = {x}[np.asarray({permutation}({x}.shape[0]), like={x})]"
        context.todo(node, f"only NumPy's arrays can be shuffled in place. Instead: {new}")
    if method is None or method in _STATE or isinstance(context.parent(node), ast.Expr):
        return None
    if not _is_array(node, method) or is_moved(context, node):
        return None
    reference = reference_array(context, node)
    context.edit(node, "random", "NumPy draws the same numbers; they move to the library of the arrays")
    like = dotted(reference) if reference else context.np_call("empty", argument(cst.Integer("0")))
    return context.np_call("asarray", argument(updated), argument(like, "like"))


def _draw(context: Context, node: ast.Call) -> str | None:
    """The method that draws numbers; None for other calls."""
    name = context.names.numpy_name(node.func)
    if name is not None:
        return name.removeprefix("random.") if name.startswith("random.") else None
    if not isinstance(node.func, ast.Attribute) or not _is_generator(context, node.func.value):
        return None
    has_method = any(hasattr(each, node.func.attr) for each in (numpy.random.RandomState, numpy.random.Generator))
    return node.func.attr if has_method else None


def _is_generator(context: Context, node: ast.expr) -> bool:
    """Whether an expression is certainly a NumPy generator."""
    if isinstance(node, ast.Call):
        return context.names.numpy_name(node.func) in _GENERATORS
    if not isinstance(node, ast.Name):
        return False
    owner = context.names.scope_of(node).owner(node.id)
    values = [binding.value for binding in owner.bindings.get(node.id, ())] if owner is not None else []
    calls = [context.names.numpy_name(value.func) for value in values if isinstance(value, ast.Call)]
    return bool(values) and len(calls) == len(values) and all(name in _GENERATORS for name in calls)


def _is_array(node: ast.Call, method: str) -> bool:
    """Whether a draw is an array: by its size, or by what it permutes."""
    if method in ("rand", "randn"):
        return bool(node.args)
    if method in ("permutation", "permuted", "multivariate_normal", "dirichlet", "multinomial"):
        return True
    position = _position_of_size(method)
    given = [keyword.value for keyword in node.keywords if keyword.arg == "size"]
    given += [] if position is None else node.args[position : position + 1]
    return bool(given) and not (isinstance(given[0], ast.Constant) and given[0].value is None)


def _position_of_size(method: str) -> int | None:
    """The position of ``size`` among the arguments, from the first line of NumPy's docstring."""
    function = getattr(numpy.random.Generator, method, None) or getattr(numpy.random.RandomState, method, None)
    signature = re.match(r"\s*\w+\((.*?)\)", function.__doc__ or "", re.DOTALL) if function else None
    names = [part.partition("=")[0].strip() for part in signature[1].split(",")] if signature else []
    names = [name for name in names if name != "self"]
    return names.index("size") if "size" in names else None
