"""The places of a program that change an array."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.expressions import IN_PLACE_METHODS
from xarrayops.port.source.names import FunctionNode, Names, arguments
from xarrayops.port.source.parameters import argument_of
from xarrayops.port.source.value import ARRAY, UNKNOWN, Value
from xarrayops.port.source.values import Values, root

ITEM, AUGMENTED_ITEM, AUGMENTED, OUT, FUNCTION, METHOD, ATTRIBUTE = (
    *("item", "augmented item", "augmented", "out", "function", "method", "attribute"),
)
"""``x[i] = v``, ``x[i] += v``, ``x += v``, ``np.f(x, out=x)``, ``np.copyto(x, v)``, ``x.sort()``, ``x.shape = s``."""
IN_PLACE_FUNCTIONS = frozenset(
    ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "random.shuffle")
)
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
        for place, kind, target, index in _targets(node, names, values):
            value = values.of(target)
            if isinstance(place, ast.AugAssign) and kind == AUGMENTED and value.kind == UNKNOWN:
                value = _guessed(value, values.of(place.value))
            if value.is_array or (value.kind == UNKNOWN and kind in (ITEM, AUGMENTED_ITEM, OUT)):
                yield _write(place, kind, target, index, function, value, names, values)


def _guessed(value: Value, added: Value) -> Value:
    """An unknown target to which an array of some axes is added is probably an array."""
    is_array = added.is_array and added.ndim != 0
    return value._replace(kind=ARRAY, dtype=None, ndim=added.ndim, certain=False) if is_array else value


def _write(
    place: ast.stmt | ast.Call,
    kind: str,
    target: ast.expr,
    index: ast.expr | None,
    function: FunctionNode | None,
    value: Value,
    names: Names,
    values: Values,
) -> Write:
    name = root(target)
    sharing = values.sharing(place, name) if name is not None else None
    aliases = sharing.aliases if sharing is not None else frozenset()
    given = {argument_of(argument.arg) for argument in arguments(function)} if function is not None else set()
    outside = function is not None and name is not None and not names.binds(function, name.partition(".")[0])
    viewed = value.is_view or (sharing is not None and sharing.viewed)
    parameter = not given.isdisjoint(aliases)
    stored = sharing is None or sharing.stored or outside
    return Write(place, kind, target, index, name, value, parameter, aliases - given, stored, viewed, function)


def _with_functions(node: ast.AST, function: FunctionNode | None) -> Iterator[tuple[ast.AST, FunctionNode | None]]:
    """All nodes, each with the function around it."""
    for child in ast.iter_child_nodes(node):
        yield child, function
        yield from _with_functions(child, child if isinstance(child, FunctionNode) else function)


def _targets(
    node: ast.AST, names: Names, values: Values
) -> Iterator[tuple[ast.stmt | ast.Call, str, ast.expr, ast.expr | None]]:
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        augmented = isinstance(node, ast.AugAssign)
        for target in (each for outer in targets for each in _single(outer)):
            if isinstance(target, ast.Subscript):
                yield node, AUGMENTED_ITEM if augmented else ITEM, target.value, target.slice
            elif augmented:
                yield node, AUGMENTED, target, None
            elif isinstance(target, ast.Attribute) and target.attr in _CHANGED_ATTRIBUTES:
                yield node, ATTRIBUTE, target.value, None
    elif isinstance(node, ast.Call):
        name = names.numpy_name(node.func)
        for keyword in node.keywords:
            if keyword.arg == "out" and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None):
                yield node, OUT, keyword.value, None
        if node.args and name is not None and (name in IN_PLACE_FUNCTIONS or name.endswith(".at")):
            yield node, FUNCTION, node.args[0], None
        if isinstance(node.func, ast.Attribute) and name is None and node.func.attr in IN_PLACE_METHODS:
            yield node, METHOD, node.func.value, None


def _single(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _single(each)
    else:
        yield target.value if isinstance(target, ast.Starred) else target
