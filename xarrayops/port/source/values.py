"""The values of a program by forward flow through its statements: arrays, dtypes, views, new memory."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.expressions import Expressions, bind, dotted
from xarrayops.port.source.names import FunctionNode, Names, arguments
from xarrayops.port.source.parameters import argument_of, parameter_values
from xarrayops.port.source.state import State
from xarrayops.port.source.value import NOTHING, OTHER, Value, joined, member

_VIEW_ATTRIBUTES = ("T", "mT", "real", "imag", "flat")


class Sharing(Record):
    """What may share the memory of a variable at a place: other variables, whether anything else may, and views."""

    aliases: frozenset[str] = frozenset()
    stored: bool = False
    viewed: bool = False


class Values:
    """The values of all expressions of a program.

    Each function is followed once, with parameters of which only their use is known; loops are followed twice, and
    where branches meet, what they agree on remains.
    """

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self._names = names
        self._expressions = Expressions(names, self._call)
        self._sharing: dict[tuple[ast.AST, str], Sharing] = {}
        self._parameters: dict[FunctionNode, dict[str, Value]] = {}
        self._results: dict[ast.AST, Value | None] = {}
        self._running: list[tuple[ast.AST | None, State]] = []
        self.functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        """The functions that the module defines, by name."""
        self._run(tree, tree.body, State())

    def of(self, node: ast.AST) -> Value:
        """What is known of the value of an expression; nothing of code that is never reached."""
        return self._expressions.values.get(node, NOTHING)

    @property
    def known(self) -> Mapping[ast.AST, Value]:
        """What is known, by expression."""
        return self._expressions.values

    def parameter(self, function: FunctionNode, name: str) -> Value:
        """What is known of a parameter when the function is called."""
        return self._parameters.get(function, {}).get(name, NOTHING)

    def operated(self, op: ast.operator, left: Value, right: Value) -> Value:
        """What an operator with two operands gives."""
        return self._expressions.operated(op, left, right)

    def sharing(self, place: ast.AST, name: str) -> Sharing:
        """What may share the memory of a variable at a statement or call that changes an array."""
        return self._sharing.get((place, name), Sharing())

    def _run(self, owner: ast.AST, body: Sequence[ast.stmt], state: State) -> None:
        """Follow a module or function, and then the functions that it defines."""
        deferred: list[FunctionNode] = []
        self._deferred, previous = deferred, getattr(self, "_deferred", None)
        self._running.append((owner, state))
        self._block(body, state)
        for node in deferred:
            self._function(node, state)
        self._running.pop()
        if previous is not None:
            self._deferred = previous

    def _function(self, node: FunctionNode, outer: State) -> None:
        """Follow a function once. What it returns is known afterwards."""
        if node in self._results:
            return
        self._results[node] = None
        state = State(outer)
        state.values = self._parameters[node] = parameter_values(node, self._names)
        state.values = dict(state.values)
        if isinstance(node, ast.Lambda):
            self._results[node] = self._expressions.of(node.body, state)
        else:
            self._run(node, node.body, state)

    def _call(self, node: ast.Call, values: list[Value], state: State) -> Value | None:
        """The result of a call of a function that the module defines; None for all other calls."""
        function = self.functions.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if function is None:
            return None
        self._function(function, self._running[0][1])
        result = self._results[function]
        if result is None:
            return None
        given = dict(zip((each.arg for each in arguments(function)), values, strict=False))
        named = {keyword.arg: self.of(keyword.value) for keyword in node.keywords if keyword.arg}
        return _in_caller(result, given | named)

    def _block(self, body: Iterable[ast.stmt], state: State) -> bool:
        """Follow statements; whether the function or the iteration ends in them."""
        for statement in body:
            visit = getattr(self, f"_{type(statement).__name__}", self._simple)
            if visit(statement, state):
                return True
        return False

    def _simple(self, node: ast.stmt, state: State) -> bool:
        """Any statement without a rule of its own: its expressions."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._value(child, state)
        return isinstance(node, ast.Raise | ast.Break | ast.Continue)

    def _value(self, node: ast.expr, state: State) -> Value:
        value = self._expressions.of(node, state)
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                self._note_call(call, state)
        return value

    def _note_call(self, call: ast.Call, state: State) -> None:
        """Keep the sharing of what a call may change: ``out=``, the first argument, the array of a method."""
        targets = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
        targets += call.args[:1]
        if isinstance(call.func, ast.Attribute):
            targets.append(call.func.value)
        for target in targets:
            self._note(call, target, state)

    def _note(self, place: ast.AST, target: ast.expr, state: State) -> None:
        name = root(target)
        if name is None:
            return
        aliases = state.aliases(name)
        stored = bool((aliases | {name}) & state.stored) or "." in name
        known = self._sharing.get((place, name), Sharing())
        sharing = (state.values.get(each) for each in (*aliases, name))
        viewed = known.viewed or any(value is not None and value.is_view for value in sharing)
        self._sharing[place, name] = Sharing(known.aliases | aliases, known.stored or stored, viewed)

    def _Assign(self, node: ast.Assign, state: State) -> bool:
        value = self._value(node.value, state)
        for target in node.targets:
            self._target(node, target, state)
            bind(target, value, state)
        return False

    def _target(self, place: ast.stmt, target: ast.expr, state: State) -> None:
        """The expressions inside a target, and the sharing of what it changes."""
        if isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._target(place, each, state)
        elif isinstance(target, ast.Starred):
            self._target(place, target.value, state)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            self._note(place, target.value, state)
            self._value(target.value, state)
            if isinstance(target, ast.Subscript):
                self._value(target.slice, state)

    def _AnnAssign(self, node: ast.AnnAssign, state: State) -> bool:
        if node.value is not None:
            value = self._value(node.value, state)
            self._target(node, node.target, state)
            bind(node.target, value, state)
        return False

    def _AugAssign(self, node: ast.AugAssign, state: State) -> bool:
        right = self._value(node.value, state)
        target = node.target
        if isinstance(target, ast.Name):
            left = state.load(target.id)
            self._expressions.values[target] = joined(self._expressions.values.get(target), left)
            self._note(node, target, state)
            if not left.is_array:
                new = self._expressions.operated(node.op, left, right)
                state.bind(
                    target.id, new._replace(views=left.views | new.views, fresh=False) if left.kind != "scalar" else new
                )
        else:
            self._target(node, target, state)
            self._expressions.values[target] = self._expressions.of(_loaded(target), state)
        return False

    def _Return(self, node: ast.Return, state: State) -> bool:
        owner = self._running[-1][0]
        if node.value is not None and owner is not None:
            value = self._returned(self._value(node.value, state), state)
            self._results[owner] = joined(self._results.get(owner), value)
        return True

    def _returned(self, value: Value, state: State) -> Value:
        """The value that a caller gets: it shares memory with parameters and outer variables only."""
        shared = set(value.views)
        for name in value.views:
            shared |= state.aliases(name)
        is_stored = bool(shared & state.stored)
        shared -= state.values.keys()
        items = None if value.items is None else tuple(self._returned(item, state) for item in value.items)
        return value._replace(
            views=frozenset(shared), fresh=value.is_array and not shared and not is_stored, items=items
        )

    def _For(self, node: ast.For | ast.AsyncFor, state: State) -> bool:
        iterable = self._value(node.iter, state)
        for _ in range(2):
            inner = state.copy()
            self._target(node, node.target, inner)
            bind(node.target, member(iterable), inner)
            self._block(node.body, inner)
            state.join(inner)
        self._block(node.orelse, state)
        return False

    _AsyncFor = _For

    def _While(self, node: ast.While, state: State) -> bool:
        for _ in range(2):
            self._value(node.test, state)
            inner = state.copy()
            self._block(node.body, inner)
            state.join(inner)
        self._block(node.orelse, state)
        return False

    def _If(self, node: ast.If, state: State) -> bool:
        self._value(node.test, state)
        return self._branches([node.body, node.orelse], state)

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]], state: State) -> bool:
        """Follow each branch from the same state; those that end do not reach what follows."""
        ends = []
        for body in bodies:
            inner = state.copy()
            if not self._block(body, inner):
                ends.append(inner)
        if not ends:
            return True
        state.values, state.stored = ends[0].values, ends[0].stored
        for other in ends[1:]:
            state.join(other)
        return False

    def _Match(self, node: ast.Match, state: State) -> bool:
        self._value(node.subject, state)
        return self._branches([*(case.body for case in node.cases), []], state)

    def _Try(self, node: ast.Try, state: State) -> bool:
        before = state.copy()
        self._block([*node.body, *node.orelse], state)
        for handler in node.handlers:
            inner = before.copy()
            inner.join(state)
            self._block(handler.body, inner)
            state.join(inner)
        return self._block(node.finalbody, state)

    _TryStar = _Try

    def _With(self, node: ast.With | ast.AsyncWith, state: State) -> bool:
        for item in node.items:
            value = self._value(item.context_expr, state)
            if item.optional_vars is not None:
                bind(item.optional_vars, value, state)
        return self._block(node.body, state)

    _AsyncWith = _With

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, state: State) -> bool:
        state.bind(node.name, Value(OTHER))
        self._deferred.append(node)
        for outside in (*node.decorator_list, *node.args.defaults):
            self._value(outside, state)
        return False

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, state: State) -> bool:
        state.bind(node.name, Value(OTHER))
        self._block(node.body, State(state))
        return False


def root(target: ast.expr) -> str | None:
    """The variable whose memory a target is: of ``u[1:].T[0]`` it is ``u``, of ``self.x[0]`` it is ``self.x``."""
    while isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr in _VIEW_ATTRIBUTES):
        target = target.value
    return dotted(target)


def _loaded(target: ast.expr) -> ast.expr:
    """The expression that reads what a target writes."""
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    assert isinstance(target, ast.Attribute)
    return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)


def _in_caller(value: Value, given: dict[str, Value]) -> Value:
    """What a function returns, with the views of the arguments in the place of the parameters."""
    by_argument = {argument_of(name): known.views for name, known in given.items()}
    views = frozenset().union(*(by_argument.get(name, {name}) for name in value.views))
    items = None if value.items is None else tuple(_in_caller(item, given) for item in value.items)
    return value._replace(views=views, items=items)
