"""The possible values of the expressions of a program: arrays, dtypes, views, new memory."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.expressions import Expressions, dotted, operated
from xarrayops.port.source.names import FunctionNode, Names, given_to, has_starred
from xarrayops.port.source.numpy_results import ARRAY_ATTRIBUTES
from xarrayops.port.source.parameters import argument_of, parameter_values
from xarrayops.port.source.value import NOTHING, OTHER, SCALAR, SEQUENCE, State, Value, joined, member
from xarrayops.port.source.walk import Called


class Sharing(Record):
    """What may share the memory of a variable at a point: other variables, anything else, and views."""

    aliases: frozenset[str] = frozenset()
    stored: bool = False
    viewed: bool = False


class Values:
    """The values of all expressions of a program. Functions are analysed once, with parameters known by use only."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self.names = names
        self.known: dict[ast.AST, Value] = {}
        """The known values, by expression."""
        self.sharing: dict[ast.AST, Sharing] = {}
        """For each array expression that may be changed, what may share its memory."""
        self.results: dict[ast.AST, Value | None] = {}
        """What the functions analysed so far return; a recursive call is unknown."""
        self._parameters: dict[FunctionNode, dict[str, Value]] = {}
        self._module = _Function(self, tree, State())
        self._module.follow(tree.body)

    def of(self, node: ast.AST) -> Value:
        """What is known of the value of an expression; nothing in unreachable code."""
        return self.known.get(node, NOTHING)

    def parameter(self, function: FunctionNode, name: str) -> Value:
        """What is known of a parameter when the function is called."""
        return self._parameters.get(function, {}).get(name, NOTHING)

    def result(self, function: ast.FunctionDef | ast.AsyncFunctionDef, outer: State | None = None) -> Value | None:
        """What a function returns. It is analysed once, by default from the current state of the module."""
        if function not in self.results:
            self.results[function] = None
            state = State(outer or self._module.state)
            self._parameters[function] = parameter_values(function, self.names)
            state.values = dict(self._parameters[function])
            _Function(self, function, state).follow(function.body)
        return self.results[function]


class _Function(Expressions):
    """The walk over one function or module, and then over the functions that it defines."""

    def __init__(self, values: Values, owner: ast.AST, state: State) -> None:
        super().__init__(values.names, state, values.known)
        self._values = values
        self._owner = owner
        self._inner: list[ast.FunctionDef | ast.AsyncFunctionDef] = []

    def follow(self, body: Sequence[ast.stmt]) -> None:
        """Follow the statements, and then the inner functions, which see the variables at the end."""
        self.run(body)
        for function in self._inner:
            self._values.result(function, self.state)

    def write(self, place: ast.AST, base: ast.expr) -> None:
        """Record what may share the memory of an array that may be changed."""
        name = root(base)
        if name is None:
            return
        known = self._values.sharing.get(base, Sharing())
        aliases = self.state.aliases(name)
        same = [self.state.values[each] for each in (*aliases, name) if each in self.state.values]
        stored = known.stored or bool((aliases | {name}) & self.state.stored) or "." in name
        viewed = known.viewed or any(value.is_view for value in same)
        self._values.sharing[base] = Sharing(known.aliases | aliases, stored, viewed)

    def members(self, value: Value, target: ast.Tuple | ast.List, source: ast.expr | None) -> Sequence[Value]:
        """The members of a tuple of known length, otherwise what iteration gives."""
        if value.items is not None and len(value.items) == len(target.elts) and not has_starred(target.elts):
            return value.items
        return [self.member(value)] * len(target.elts)

    def member(self, value: Value) -> Value:
        """What iteration over a value gives."""
        return member(value)

    def rest(self, value: Value) -> Value:
        """A list of such members."""
        return Value(SEQUENCE, views=value.views, element=value)

    def store(self, target: ast.Subscript, value: Value, place: ast.AST) -> None:
        """If the object is a container, it refers to the value from now on."""
        self.write(place, target.value)
        self.state.store(value.views)

    def set_attribute(self, target: ast.Attribute, value: Value) -> None:
        """An attribute of a variable is a variable, too."""
        self.write(target, target.value)
        if (path := dotted(target)) is not None:
            self.bind(path, value)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        right = self.of(node.value)
        target = node.target
        if not isinstance(target, ast.Name):
            self.write(node, target.value)
            self.of(target)
            return
        left = self.of(target)
        self.write(node, target)
        if left.kind == SCALAR:
            self.bind(target.id, operated(node.op, left, right))
        elif not left.is_array:
            new = operated(node.op, left, right)
            self.bind(target.id, new._replace(views=left.views | new.views, fresh=False))

    def returned(self, value: Value) -> None:
        """The function returns a value, which may share memory with parameters and outer variables only."""
        known = self._values.results.get(self._owner)
        self._values.results[self._owner] = joined(known, self._in_caller(value))

    def _in_caller(self, value: Value) -> Value:
        shared = value.views.union(*map(self.state.aliases, value.views))
        is_stored = bool(shared & self.state.stored)
        shared -= self.state.values.keys()
        items = None if value.items is None else tuple(map(self._in_caller, value.items))
        return value._replace(views=shared, fresh=value.is_array and not shared and not is_stored, items=items)

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """A function is analysed later; the body of a class at once, in its own scope."""
        self.bind(node.name, Value(OTHER))
        if not isinstance(node, ast.ClassDef):
            self._inner.append(node)
            return
        outer, self.state = self.state, State(self.state)
        self.run(node.body)
        self.state = outer

    def call_function(self, call: Called[Value]) -> Value | None:
        """The result of a function of the module; views of parameters become views of the arguments."""
        function = self.names.function(call.node)
        result = self._values.result(function) if function is not None else None
        if function is None or result is None:
            return None
        return _with_arguments(result, given_to(function, call.values, call.given))


def root(target: ast.expr) -> str | None:
    """The variable whose memory a target is: of ``u[1:].T[0]`` it is ``u``, of ``self.x[0]`` it is ``self.x``."""
    while isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr in ARRAY_ATTRIBUTES):
        target = target.value
    return dotted(target)


def _with_arguments(value: Value, given: dict[str, Value]) -> Value:
    """What a function returns, with views of parameters replaced by views of the arguments."""
    by_argument = {argument_of(name): known.views for name, known in given.items()}
    views = frozenset().union(*(by_argument.get(name, {name}) for name in value.views))
    items = None if value.items is None else tuple(_with_arguments(item, given) for item in value.items)
    return value._replace(views=views, items=items)
