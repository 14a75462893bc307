"""The places of a program that change an array, and what a call writes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import numpy

from xarrayops._protocol.records import Record
from xarrayops.port.source.expressions import IN_PLACE_METHODS
from xarrayops.port.source.names import FunctionNode, Names, arguments, is_none
from xarrayops.port.source.parameters import argument_of
from xarrayops.port.source.value import ARRAY, UNKNOWN, Value, words
from xarrayops.port.source.values import Sharing, Values, root

ITEM, AUGMENTED_ITEM, AUGMENTED, OUT, FUNCTION, METHOD, ATTRIBUTE = (
    *("item", "augmented item", "augmented", "out", "function", "method", "attribute"),
)
"""``x[i] = v``, ``x[i] += v``, ``x += v``, ``np.f(x, out=x)``, ``np.copyto(x, v)``, ``x.sort()``, ``x.shape = s``."""
IN_PLACE_FUNCTIONS = words("copyto fill_diagonal place put put_along_axis putmask random.shuffle")
UPDATES: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
"""The method of `xarrayops.at` for an operator."""
_CHANGED_ATTRIBUTES = ("shape", "strides", "dtype", "flat", "real", "imag", "data")


class Write(Record):
    """A change of an array.

    Attributes
    ----------
    node : ast.stmt or ast.Call
        The statement or the call.
    kind : str
        One of the constants of this module.
    target : ast.expr
        The array that changes, without the index: of ``x[i] = v`` the expression ``x``.
    subscript : ast.expr or None
        The index of the elements; None for the whole array.
    name : str or None
        The variable whose memory changes, such as ``x`` or ``self.x``; None for other expressions.
    value : Value
        What is known of the array.
    parameter : bool
        Whether the variable is a parameter of the function, or may share memory with one: the caller sees the change.
    aliases : frozenset of str
        The other variables that may share the memory.
    stored : bool
        Whether something else may refer to the memory: a container, an attribute, a generator, another function, or a
        variable outside of this function.
    is_viewed : bool
        Whether the variable or one that may share its memory is a view, and not the same object.
    function : the node of the function around it, or None
    """

    node: ast.stmt | ast.Call
    kind: str
    target: ast.expr
    subscript: ast.expr | None
    name: str | None
    value: Value
    parameter: bool
    aliases: frozenset[str]
    stored: bool
    is_viewed: bool
    function: FunctionNode | None

    @property
    def is_shared(self) -> bool:
        """Whether the memory may have another name, so that the change may be visible elsewhere."""
        return bool(self.parameter or self.aliases or self.stored or self.name is None)


def writes(tree: ast.Module, names: Names, values: Values) -> Iterator[Write]:
    """The changes of arrays in the order of the source; targets that are surely no arrays are left out."""
    for node, function in _with_functions(tree, None):
        given = {argument_of(each.arg) for each in arguments(function)} if function is not None else set()
        for kind, target, index in _targets(node, names):
            value = values.of(target)
            if isinstance(node, ast.AugAssign) and kind == AUGMENTED and value.kind == UNKNOWN:
                value = _guessed(value, values.of(node.value))
            if not value.is_array and (value.kind != UNKNOWN or kind not in (ITEM, AUGMENTED_ITEM, OUT)):
                continue
            assert isinstance(node, ast.stmt | ast.Call)
            name = root(target)
            sharing = values.sharing.get(target, Sharing())
            parameter = not given.isdisjoint(sharing.aliases)
            outside = function is not None and name is not None and not names.binds(function, name.partition(".")[0])
            stored = name is None or sharing.stored or outside
            viewed = value.is_view or sharing.viewed
            yield Write(
                *(node, kind, target, index, name, value, parameter, sharing.aliases - given, stored, viewed, function)
            )


def _guessed(value: Value, added: Value) -> Value:
    """An unknown target to which an array of some axes is added is probably an array."""
    is_array = added.is_array and added.ndim != 0
    return value._replace(kind=ARRAY, dtype=None, ndim=added.ndim, certain=False) if is_array else value


def _with_functions(node: ast.AST, function: FunctionNode | None) -> Iterator[tuple[ast.AST, FunctionNode | None]]:
    """All nodes, each with the function around it."""
    for child in ast.iter_child_nodes(node):
        yield child, function
        yield from _with_functions(child, child if isinstance(child, FunctionNode) else function)


def _targets(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """What a statement or call changes: the kind, the array and the index."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        augmented = isinstance(node, ast.AugAssign)
        for target in (each for outer in targets for each in _single(outer)):
            if isinstance(target, ast.Subscript):
                yield AUGMENTED_ITEM if augmented else ITEM, target.value, target.slice
            elif augmented:
                yield AUGMENTED, target, None
            elif isinstance(target, ast.Attribute) and target.attr in _CHANGED_ATTRIBUTES:
                yield ATTRIBUTE, target.value, None
    elif isinstance(node, ast.Call):
        name = names.numpy_name(node.func)
        for keyword in node.keywords:
            if keyword.arg == "out" and not is_none(keyword.value):
                yield OUT, keyword.value, None
        if node.args and name is not None and (name in IN_PLACE_FUNCTIONS or name.endswith(".at")):
            yield FUNCTION, node.args[0], None
        if isinstance(node.func, ast.Attribute) and name is None and node.func.attr in IN_PLACE_METHODS:
            yield METHOD, node.func.value, None


def _single(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _single(each)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def target_of(call: ast.Call, numpy_name: Callable[[ast.AST], str | None]) -> ast.expr | None:
    """The expression of the array that a call of a function writes; None if it writes none."""
    name = numpy_name(call.func)
    if name is not None and (name in IN_PLACE_FUNCTIONS or name.endswith(".at")) and call.args:
        return call.args[0]
    return out_of(call, name)


def out_of(call: ast.Call, name: str | None) -> ast.expr | None:
    """The array of ``out=``, by keyword, or by position of an elementwise function; None without one."""
    for keyword in call.keywords:
        if keyword.arg == "out" and not is_none(keyword.value):
            value = keyword.value
            return value.elts[0] if isinstance(value, ast.Tuple) and len(value.elts) == 1 else value
    count = operands(name)
    is_given = count is not None and len(call.args) == count + 1
    return call.args[-1] if is_given and not any(isinstance(each, ast.Starred) for each in call.args) else None


def operands(name: str | None) -> int | None:
    """The number of operands of an elementwise function with one result; None for other names."""
    function = getattr(numpy, name, None) if name and "." not in name else None
    return function.nin if isinstance(function, numpy.ufunc) and function.nout == 1 else None
