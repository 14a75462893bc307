"""Uses of arrays that a module makes when it is loaded together with arrays of a function's caller."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from xarrayops._surface import CREATION
from xarrayops.plugin.arrays import Record
from xarrayops.port.source.names import FunctionNode, arguments, call_arguments
from xarrayops.port.source.value import ARRAY, UNKNOWN
from xarrayops.port.source.values import Values

_WITHOUT_ARGUMENTS = frozenset(name for name in CREATION if not name.endswith("_like")) - {"asarray", "meshgrid"}
"""NumPy functions that make an array from a shape or numbers."""
_NUMBERS = ("builtins.len", "builtins.range", "builtins.isinstance")
_EXTENTS = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")
_MOVES = ("xarrayops.convert", "xarrayops.shares_memory")


class Meeting(Record):
    """A use of an array of the module in an operation with an array of the caller.

    Attributes
    ----------
    node : ast.Name
        The use of the array of the module, or of a variable that is computed from such arrays alone.
    partner : str
        The other operand, a variable in the caller's library.
    certain : bool
        Whether the partner is known to be an array.
    """

    node: ast.Name
    partner: str
    certain: bool


def meetings(
    tree: ast.Module, values: Values, parents: Mapping[ast.AST, ast.AST], takes_all: Callable[[ast.expr], bool]
) -> tuple[Meeting, ...]:
    """The uses of arrays of the module together with arrays of the caller, in the order of the source.

    ``takes_all`` says which functions of other packages take the arrays of every library.
    """
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    found = (meeting for node in functions for meeting in _Function(node, values, parents, takes_all).meetings())
    unique = {meeting.node: meeting for meeting in found}.values()
    return tuple(sorted(unique, key=lambda meeting: (meeting.node.lineno, meeting.node.col_offset)))


class _Function:
    """One function: which variables depend on the module alone, and which on the caller."""

    def __init__(
        self,
        node: FunctionNode,
        values: Values,
        parents: Mapping[ast.AST, ast.AST],
        takes_all: Callable[[ast.expr], bool],
    ) -> None:
        self._takes_all = takes_all
        self._node, self._names, self._values, self._parents = node, values.names, values, parents
        self._of_caller = {
            argument.arg
            for argument in arguments(node)
            if argument.arg not in ("self", "cls") and values.parameter(node, argument.arg).kind in (ARRAY, UNKNOWN)
        }
        self._of_module: set[str] = set()
        self._follow_assignments()

    def meetings(self) -> Iterator[Meeting]:
        """The uses of arrays of the module together with arrays of the caller."""
        names = (node for node in ast.walk(self._node) if isinstance(node, ast.Name))
        for node in (name for name in names if isinstance(name.ctx, ast.Load) and self._is_of_module(name)):
            if (partner := self._partner(node)) is not None:
                yield Meeting(node, partner.id, self._values.of(partner).is_proved)

    def _follow_assignments(self) -> None:
        """Find the variables that depend on the caller's arrays, and those that depend on the module's arrays alone."""
        assigned: dict[str, list[ast.expr]] = {}
        for node in (node for node in ast.walk(self._node) if isinstance(node, ast.Assign)):
            for target in (each for outer in node.targets for each in ast.walk(outer)):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    assigned.setdefault(target.id, []).append(node.value)
        pending, count = dict(assigned), len(assigned) + 1
        while len(pending) < count:  # in the order of the source, so that few passes suffice
            count = len(pending)
            for name, made in assigned.items():
                if name in pending and any(map(self._has_of_caller, made)):
                    self._of_caller.add(name)
                    del pending[name]
        self._of_module = {name for name, made in pending.items() if all(map(self._is_made_of_module, made))}

    def _has_of_caller(self, node: ast.AST) -> bool:
        return any(name.id in self._of_caller for name in self._operands_in(node))

    def _is_made_of_module(self, node: ast.expr) -> bool:
        return self._values.of(node).is_array and any(map(self._is_of_module, self._operands_in(node)))

    def _operands_in(self, node: ast.AST) -> Iterator[ast.Name]:
        """The variables of an expression whose values, not only shapes, affect its value."""
        if isinstance(node, ast.Attribute) and node.attr in _EXTENTS:
            return
        if isinstance(node, ast.Call) and self._names.resolve(node.func) in _NUMBERS:
            return
        if isinstance(node, ast.Call) and self._names.numpy_name(node.func) in _WITHOUT_ARGUMENTS:
            return
        if isinstance(node, ast.Name) and self._names.resolve(node) is None:
            yield node
        for child in ast.iter_child_nodes(node):
            yield from self._operands_in(child)

    def _is_of_module(self, node: ast.Name) -> bool:
        """Whether a variable is an array of the module that does not depend on the caller."""
        if node.id in self._of_module:
            return True
        scope = self._names.scope_of(node)
        return scope.owner(node.id) is self._names.module and self._values.of(node).is_array

    def _partner(self, node: ast.expr) -> ast.Name | None:
        """The variable of the caller that an operation combines with an expression of arrays of the module."""
        parent = self._parents[node]
        around = self._parents[parent]
        if isinstance(parent, ast.Attribute) and isinstance(around, ast.Call) and around.func is parent:
            parent, node = around, parent  # a method: the arguments are the other operands
        others = self._others(parent, node)
        if others is None:
            return None
        found = [name for other in others for name in self._operands_in(other) if name.id in self._of_caller]
        found = [name for name in found if self._values.of(name).kind in (ARRAY, UNKNOWN)]
        if found:
            return next((name for name in found if self._values.of(name).is_array), found[0])
        value = self._values.of(parent)
        is_open = isinstance(parent, ast.List | ast.Tuple | ast.Starred) or (value.is_array and value.ndim != 0)
        return self._partner(parent) if is_open and isinstance(parent, ast.expr) else None

    def _others(self, parent: ast.AST, node: ast.expr) -> list[ast.expr] | None:
        """The other operands of an operation; None if the parent is none or moves its operand itself."""
        match parent:
            case ast.BinOp():
                return [parent.right if node is parent.left else parent.left]
            case ast.Compare():
                return [each for each in (parent.left, *parent.comparators) if each is not node]
            case ast.List() | ast.Tuple():  # arrays that a function joins; other tuples are not operations
                is_joined = isinstance(self._parents[parent], ast.Call)
                return [each for each in parent.elts if each is not node] if is_joined else None
            case ast.UnaryOp() | ast.Starred():
                return []
            case ast.Attribute():
                return [] if parent.attr not in _EXTENTS else None
            case ast.AugAssign(target=ast.Name()):
                return [parent.target] if node is parent.value else None
            case ast.Subscript(slice=index):
                is_changed = isinstance(parent.ctx, ast.Store)
                return None if node is index or is_changed else [index] if self._values.of(index).is_array else []
            case ast.Call():
                return self._others_of_call(parent, node)
        return None

    def _others_of_call(self, call: ast.Call, node: ast.expr) -> list[ast.expr] | None:
        if isinstance(call.func, ast.Call) and self._names.resolve(call.func.func) == "xarrayops.on_host":
            return None
        name = self._names.resolve(call.func)
        is_known = name is None or self._names.function_name(call.func) is not None or self._takes_all(call.func)
        if not is_known or name in _MOVES or any(keyword.arg == "like" for keyword in call.keywords):
            return None
        others = [each for each in call_arguments(call) if each is not node]
        return [*others, call.func.value] if name is None and isinstance(call.func, ast.Attribute) else others
