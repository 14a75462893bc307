"""Uses of arrays that a module makes when it is loaded together with arrays of a function's caller."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.counted import WITHOUT_ARRAYS, Function, numbers
from xarrayops.port.source.interface import DRAWS
from xarrayops.port.source.names import arguments, call_arguments
from xarrayops.port.source.parameters import is_of_arrays, may_be_none
from xarrayops.port.source.reference import bindings
from xarrayops.port.source.value import ARRAY, UNKNOWN, words
from xarrayops.port.source.values import Values

_NUMBERS = tuple(f"builtins.{name}" for name in ("len", "range", "isinstance", "int", "float", "str"))
EXTENTS = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")
_NO_ARRAYS = words("self cls random_state rng seed")
"""Parameters that by convention are not arrays."""
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
    found = (meeting for node in functions for meeting in Operations(node, values, parents, takes_all).meetings())
    unique = {meeting.node: meeting for meeting in found}.values()
    return tuple(sorted(unique, key=lambda meeting: (meeting.node.lineno, meeting.node.col_offset)))


class Operations:
    """One function: which variables depend on the module alone, and which on the caller."""

    def __init__(
        self, node: Function, values: Values, parents: Mapping[ast.AST, ast.AST], takes_all: Callable[[ast.expr], bool]
    ) -> None:
        self._takes_all = takes_all
        self._node, self._names, self._values, self._parents = node, values.names, values, parents
        self._numbers = numbers(node, parents, values.names)
        others = _NO_ARRAYS | self._numbers | _called_or_draws(node)
        self._parameters = {argument.arg for argument in arguments(node)}
        self._of_caller = {
            argument.arg
            for argument in arguments(node)
            if argument.arg not in others and values.parameter(node, argument.arg).kind in (ARRAY, UNKNOWN)
        }
        self._optional = {argument.arg for argument in arguments(node) if may_be_none(node, argument.arg)}
        self._of_module: set[str] = set()
        self._follow_assignments()

    def meetings(self) -> Iterator[Meeting]:
        """The uses of arrays of the module together with arrays of the caller."""
        names = (node for node in ast.walk(self._node) if isinstance(node, ast.Name))
        for node in (name for name in names if isinstance(name.ctx, ast.Load) and self._is_of_module(name)):
            if (partner := self.best(self.partners(node))) is not None:
                yield Meeting(node, partner.id, self._values.of(partner).is_proved)

    def _follow_assignments(self) -> None:
        """Find the variables that depend on the caller's arrays, and those that depend on the module's arrays alone."""
        assigned: dict[str, list[ast.expr]] = {}
        for name, value in bindings(ast.walk(self._node)):
            assigned.setdefault(name, []).append(value)
        pending, count = dict(assigned), len(assigned) + 1
        while len(pending) < count:  # in the order of the source, so that few passes suffice
            count = len(pending)
            for name, made in assigned.items():
                if name in pending and any(map(self._has_of_caller, made)):
                    self._of_caller.add(name)
                    del pending[name]
        self._of_module = {name for name, made in pending.items() if all(map(self._is_made_of_module, made))}

    def _has_of_caller(self, node: ast.AST) -> bool:
        return any(name.id in self._of_caller for name in self.operands_in(node))

    def _is_made_of_module(self, node: ast.expr) -> bool:
        return self._values.of(node).is_array and any(map(self._is_of_module, self.operands_in(node)))

    def operands_in(self, node: ast.AST) -> Iterator[ast.Name]:
        """The variables of an expression whose values, not only shapes, affect its value."""
        if isinstance(node, ast.Attribute) and node.attr in EXTENTS:
            return
        if isinstance(node, ast.Call) and self._names.resolve(node.func) in _NUMBERS:
            return
        if isinstance(node, ast.Call) and self._names.numpy_name(node.func) in WITHOUT_ARRAYS:
            return
        if isinstance(node, ast.Name) and self._names.resolve(node) is None:
            yield node
        for child in ast.iter_child_nodes(node):
            yield from self.operands_in(child)

    def numbers_in(self, made: ast.expr) -> set[str]:
        """The variables that give the extents or the values of a new array, and must be numbers."""
        if not isinstance(made, ast.Call) or self._names.numpy_name(made.func) not in WITHOUT_ARRAYS:
            return set()
        return {each.id for part in call_arguments(made) for each in self.operands_in(part)}

    def _is_of_module(self, node: ast.Name) -> bool:
        """Whether a variable is an array of the module that does not depend on the caller."""
        if node.id in self._of_module:
            return True
        scope = self._names.scope_of(node)
        return scope.owner(node.id) is self._names.module and self._values.of(node).is_array

    def partners(self, node: ast.expr) -> list[ast.Name]:
        """The variables of the caller that an operation combines with an expression."""
        parent = self._parents[node]
        around = self._parents[parent]
        if isinstance(parent, ast.Attribute) and isinstance(around, ast.Call) and around.func is parent:
            parent, node = around, parent  # a method: the arguments are the other operands
        others = self._others(parent, node)
        if others is None:
            return []
        if found := self.of_caller(others):
            return found
        value = self._values.of(parent)
        is_open = isinstance(parent, ast.List | ast.Tuple | ast.Starred) or (value.is_array and value.ndim != 0)
        return self.partners(parent) if is_open and isinstance(parent, ast.expr) else []

    def of_caller(self, nodes: Iterable[ast.expr]) -> list[ast.Name]:
        """The variables of the caller in some expressions that may be arrays."""
        found = [name for node in nodes for name in self.operands_in(node) if name.id in self._of_caller]
        return [name for name in found if self._may_be_array(name)]

    def _may_be_array(self, node: ast.Name) -> bool:
        value = self._values.of(node)
        return value.is_array or (value.kind == UNKNOWN and node.id not in self._numbers)

    def best(self, found: Iterable[ast.Name]) -> ast.Name | None:
        """The variable among some that is an array most probably; None without any."""
        return min(found, key=self._rank, default=None)

    def _rank(self, node: ast.Name) -> tuple[bool, ...]:
        """Certain arrays and parameters come first; factors, often numbers, and what may be None come last."""
        is_factor = isinstance(self._parents[node], ast.BinOp)
        is_parameter = node.id in self._parameters
        return node.id in self._optional, not self._values.of(node).is_array, not is_parameter, is_factor

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
                return [] if parent.attr not in EXTENTS else None
            case ast.AugAssign(target=ast.Name() | ast.Subscript() as target):
                return [target] if node is parent.value else None
            case ast.Assign(targets=[ast.Subscript(value=target)]):
                return [target] if node is parent.value else None
            case ast.Subscript(slice=index):
                is_changed = isinstance(parent.ctx, ast.Store)
                return None if node is index or is_changed else [index] if self._values.of(index).is_array else []
            case ast.Call(func=function) if self._names.resolve(function) == "xarrayops.at":
                update = self._parents[self._parents[self._parents[parent]]]  # ``xo.at(x)[i].set(v)``
                return update.args if isinstance(update, ast.Call) else []
            case ast.Call():
                return self._others_of_call(parent, node)
        return None

    def _others_of_call(self, call: ast.Call, node: ast.expr) -> list[ast.expr] | None:
        if isinstance(call.func, ast.Call) and self._names.resolve(call.func.func) == "xarrayops.on_host":
            return None
        name = self._names.resolve(call.func)
        is_known = name in (None, "builtins.abs") or self._names.function_name(call.func) is not None
        is_known = is_known or self._takes_all(call.func)
        if not is_known or name in _MOVES or any(keyword.arg == "like" for keyword in call.keywords):
            return None
        others = [each for each in call_arguments(call) if each is not node]
        if name is not None or not isinstance(call.func, ast.Attribute):
            return others
        return [*others, call.func.value] if is_of_arrays(call.func.attr) else None


def _called_or_draws(function: Function) -> set[str]:
    """The names of functions, and of generators of random numbers by their methods."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    found = {each.id for each in calls if isinstance(each, ast.Name)}
    methods = [each for each in calls if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)]
    return found | {ast.unparse(each.value) for each in methods if each.attr in DRAWS}
