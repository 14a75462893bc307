"""Which writes can become a new array: writes into arrays that nothing else sees afterwards.

``x = xo.at(x)[i].set(v)`` means the same as ``x[i] = v`` on every library if nothing else sees the array: no argument
of the function, no view that is read later, no container and no other function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.names import FunctionNode, Scope, arguments, given_by, given_to, has_starred
from xarrayops.port.source.numpy_results import CREATED
from xarrayops.port.source.origin import CONTAINER, NONE, Label, Origins, parameters_in
from xarrayops.port.source.origins import OriginWalker
from xarrayops.port.source.value import NOTHING
from xarrayops.port.source.values import Values
from xarrayops.port.source.walk import Called


class Summary(Record):
    """What a function does with its parameters."""

    returned: Origins
    shared: frozenset[str]
    """The parameters that it stores somewhere or passes on."""
    written: frozenset[str]
    """The parameters whose elements it writes."""


Returning = Mapping[str, tuple[str, ...]]
"""For each function of the module, the parameters that it writes and returns to its callers."""


class Ownership:
    """The writes of a program, and which of them cannot make a new array.

    A function in ``returning`` returns these parameters, and its callers bind their variables to what it returns. So a
    call of it is a write of these variables, and its own writes of these parameters can make new arrays.
    """

    def __init__(self, tree: ast.Module, values: Values, returning: Returning) -> None:
        self._names = values.names
        self._values = values
        self.returning = returning
        self.handed: dict[ast.Call, Origins] = {}
        """For each call of a function that writes its arguments and does not return them, their origins."""
        self.blocked: dict[ast.AST, str] = {}
        """For each write, the reason."""
        self.seen: dict[ast.AST, Origins] = {}
        """The origins of the array of each write that is reached."""
        self._summaries: dict[FunctionNode, Summary | None] = {}
        self._follow(tree, [])
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.summary(node)

    def reason(self, node: ast.AST) -> str | None:
        """Why a write cannot make a new array; None if it can."""
        return self.blocked.get(node) if node in self.seen else "the analysis does not follow this line"

    def is_of_caller(self, node: ast.AST) -> bool:
        """Whether a write may change an argument."""
        return any(label.kind == "parameter" for label in self.seen.get(node, NONE))

    def is_returned(self, node: ast.AST) -> bool:
        """Whether the array of a write is a parameter that the function returns to its callers."""
        return self.is_of_caller(node) and self.reason(node) is None

    def is_created(self, node: ast.AST) -> bool:
        """Whether the array of a write was certainly made by an array-creating function, so that it is not a scalar."""
        return self._comes_from(node, self._creates)

    def is_made(self, node: ast.AST) -> bool:
        """Whether every node that may have made the array of a write makes arrays, not scalars."""
        return self._comes_from(node, self._makes_axes)

    def is_computed(self, node: ast.AST) -> bool:
        """Whether the array of a write is certainly the result of arithmetic that lists do not support."""
        return self._comes_from(node, _is_arithmetic)

    def may_hold_objects(self, node: ast.AST) -> bool:
        """Whether the array of a write may be made from values of unknown kind, which may be Python objects."""
        return any(map(self._may_be_of_objects, (label.what for label in self.seen.get(node, NONE))))

    def _may_be_of_objects(self, node: object) -> bool:
        if not isinstance(node, ast.Call) or self._values.of(node).dtype is not None:
            return False
        return self._names.numpy_name(node.func) in ("array", "asarray", "asanyarray", "copy")

    def _comes_from(self, node: ast.AST, makes: Callable[[object], bool]) -> bool:
        """Whether all nodes that may have made the array of a write belong to a set."""
        origins = self.seen.get(node, NONE)
        return bool(origins) and all(makes(label.what) for label in origins)

    def _makes_axes(self, node: object) -> bool:
        value = self._values.of(node) if isinstance(node, ast.AST) else NOTHING
        return value.is_array and bool(value.ndim)

    def _creates(self, node: object) -> bool:
        if not isinstance(node, ast.Call):
            return False
        if self._may_be_of_objects(node):
            return False
        name = self._names.numpy_name(node.func)
        return name in CREATED or (isinstance(node.func, ast.Attribute) and node.func.attr in ("copy", "astype"))

    def summary(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Summary:
        """What a function does with its parameters; unknown while it is analysed, which includes recursive calls."""
        parameters = [each.arg for each in arguments(function)]
        if function not in self._summaries:
            self._summaries[function] = None
            walk = self._follow(function, parameters)
            is_plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
            returned = walk.results if is_plain else walk.results | walk.unknown
            self._summaries[function] = Summary(returned, frozenset(walk.shared), frozenset(walk.written))
        return self._summaries[function] or Summary(_Function.unknown, frozenset(parameters), frozenset())

    def _follow(self, node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, parameters: list[str]) -> _Function:
        walk = _Function(self, self._values, self._names.inside(node))
        if isinstance(node, ast.FunctionDef) and self._names.functions.get(node.name) is node:
            walk.returning = frozenset(self.returning.get(node.name, ()))
        for name in parameters:
            walk.bind(name, frozenset({Label("parameter", name)}))
        walk.run(node.body)
        if isinstance(node, ast.Module):
            for name in [*walk.state.stale]:
                walk.read(name)
        self.blocked = walk.blocked | self.blocked
        self.seen |= walk.seen
        return walk


class _Function(OriginWalker):
    """A walk that knows what the functions of the module do with their arguments."""

    def __init__(self, ownership: Ownership, values: Values, scope: Scope) -> None:
        super().__init__(values, scope)
        self._ownership = ownership

    def call_function(self, call: Called[Origins]) -> Origins:
        """A call of a function of this program."""
        node = call.node
        function = self.names.function(node)
        if function is None or has_starred(node.args):
            together = self.either(call.arguments)
            self.share(together, "another function gets it")
            return together | self.unknown
        summary = self._ownership.summary(function)
        bound = _bound(function, call.values, call.given)
        returned = self._ownership.returning.get(function.name, ())
        for name, origins in bound.items():
            if name in summary.shared:
                self.share(origins, f"the function {function.name} keeps it")
            if name in summary.written:
                self.written |= parameters_in(origins)
                if not returned:
                    handed = self._ownership.handed
                    handed[node] = handed.get(node, NONE) | origins
        for name in returned:
            self._write_argument(node, given_by(function, node).get(name), name, bound)
        result: Origins = NONE
        for label in summary.returned:
            if label.kind == "parameter":
                result |= bound.get(str(label.what), self.unknown)
            elif label.kind in ("new", "old"):
                result |= self.made(node)
            else:
                result |= {label}
        return result

    def _write_argument(
        self, call: ast.Call, argument: ast.expr | None, name: str, given: Mapping[str, Origins]
    ) -> None:
        """The function that is called writes an argument and returns it."""
        if argument is None:
            self.seen.setdefault(call, NONE)
            self.blocked.setdefault(call, f"the argument {name} is not given by its name")
            return
        others: Origins = frozenset().union(*(origins for other, origins in given.items() if other != name))
        self.write(argument, argument)
        if others & given.get(name, NONE) - {CONTAINER}:
            self.blocked.setdefault(argument, "another argument may share its memory")


def _bound(function: ast.FunctionDef, values: list[Origins], given: dict[str | None, Origins]) -> dict[str, Origins]:
    """The origins of the arguments by the names of the parameters; ``**options`` may give any of them."""
    bound = given_to(function, values, given)
    for name in [each.arg for each in arguments(function)] if None in given else []:
        bound[name] = bound.get(name, NONE) | given[None]
    rest = values[len(function.args.posonlyargs) + len(function.args.args) :]
    if rest and function.args.vararg:
        bound[function.args.vararg.arg] = NONE.union(*rest)
    return bound


def _is_arithmetic(node: object) -> bool:
    """Whether an expression cannot be a list: ``x - y``, ``x + 1``; but ``x * 2`` and ``x + y`` can."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        operands = (node.left, node.right)
        numbers = [each.value for each in operands if isinstance(each, ast.Constant)]
        kinds = (int, float, complex) if isinstance(node.op, ast.Add) else (float, complex)
        return any(isinstance(each, kinds) for each in numbers) or any(map(_is_arithmetic, operands))
    return isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of inner functions and classes."""
    level = list(ast.iter_child_nodes(node))
    while level:
        each = level.pop()
        yield each
        if not isinstance(each, FunctionNode | ast.ClassDef):
            level += ast.iter_child_nodes(each)
