"""The places of a program that change an array."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.indices import has_key
from xarrayops.port.source.interface import IN_PLACE_METHODS, target_of
from xarrayops.port.source.names import FunctionNode, Names, arguments
from xarrayops.port.source.parameters import argument_of
from xarrayops.port.source.value import ARRAY, UNKNOWN, Value
from xarrayops.port.source.values import Sharing, Values, root

ITEM, AUGMENTED_ITEM, AUGMENTED, OUT, FUNCTION, METHOD, ATTRIBUTE = (
    *("item", "augmented item", "augmented", "out", "function", "method", "attribute"),
)
"""``x[i] = v``, ``x[i] += v``, ``x += v``, ``np.f(x, out=x)``, ``np.copyto(x, v)``, ``x.sort()``, ``x.shape = s``."""
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


def writes_of(nodes: Iterable[tuple[ast.AST, FunctionNode | None]], values: Values) -> Iterator[Write]:
    """The changes of arrays in these nodes, each with its function, without targets that are certainly not arrays."""
    names = values.names
    for node, function in nodes:
        given = {argument_of(each.arg) for each in arguments(function)} if function is not None else set()
        for kind, target, index in _targets(node, names):
            value = values.of(target)
            if isinstance(node, ast.AugAssign) and kind == AUGMENTED and value.kind == UNKNOWN:
                added = values.of(node.value)  # the target is probably an array if one with at least one axis is added
                if added.is_array and added.ndim != 0:
                    value = value._replace(kind=ARRAY, dtype=None, ndim=added.ndim, certain=False)
            if not value.is_array and (value.kind != UNKNOWN or kind not in (ITEM, AUGMENTED_ITEM, OUT)):
                continue
            assert isinstance(node, ast.stmt | ast.Call)
            name = root(target)
            sharing = values.sharing.get(target, Sharing())
            parameter = not given.isdisjoint(sharing.aliases)
            first = (name or "").partition(".")[0]
            is_outside = function is not None and first not in names.inside(function).bindings
            stored = name is None or sharing.stored or is_outside
            viewed = value.is_view or sharing.viewed
            yield Write(
                *(node, kind, target, index, name, value, parameter, sharing.aliases - given, stored, viewed, function)
            )


def _targets(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """What a statement or call changes: the kind, the array and the index."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return
        augmented = isinstance(node, ast.AugAssign)
        for target in (each for outer in targets for each in _single(outer)):
            if isinstance(target, ast.Subscript) and not has_key(target.slice):
                yield AUGMENTED_ITEM if augmented else ITEM, target.value, target.slice
            elif augmented and not isinstance(target, ast.Subscript):
                yield AUGMENTED, target, None
            elif isinstance(target, ast.Attribute) and target.attr in _CHANGED_ATTRIBUTES:
                yield ATTRIBUTE, target.value, None
    elif isinstance(node, ast.Call):
        if (written := target_of(node, names.numpy_name)) is not None:
            yield FUNCTION if written in node.args[:1] else OUT, written, None
        if isinstance(node.func, ast.Attribute) and node.func.attr in IN_PLACE_METHODS:
            yield METHOD, node.func.value, None


def _single(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _single(each)
    else:
        yield target.value if isinstance(target, ast.Starred) else target
