# Long: one visitor with a method for each kind of statement.
"""The walk over the statements of a function, in the order in which they run, shared by all analyses.

`Walker` knows Python's control flow: branches join, loops run to a fixed point, an error may leave a block at every
statement. A subclass knows a lattice: what is known of a value, what of the variables, and what evaluating an
expression does to both. `values` asks what a variable may hold, and `origins` where its array comes from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from xarrayops.port.source.interface import target_of
from xarrayops.port.source.names import Names, plain_names

_MOST_ROUNDS = 20
"""Rounds of a loop until its states no longer change; each adds knowledge, of which there is little."""


class Variables(Protocol):
    """The state of the variables at one point of a function."""

    def copy(self) -> Self:
        """A copy of the state."""

    def joined(self, other: Self) -> Self:
        """The state after either of two branches."""

    def same(self, other: Self) -> bool:
        """Whether the states are equal."""


V = TypeVar("V")
S = TypeVar("S", bound=Variables)


class Called(NamedTuple, Generic[V]):
    """A call: the meaning of the name of the function, or the object of a method, and the arguments."""

    node: ast.Call
    name: str | None
    base: V | None
    values: list[V]
    given: dict[str | None, V]

    @property
    def arguments(self) -> list[V]:
        """All arguments."""
        return [*self.values, *self.given.values()]


class Walker(Generic[V, S]):
    """The statements of one function or module. `state` is what is known at the statement that runs."""

    unknown: V
    """The unknown value."""

    def __init__(self, names: Names, state: S) -> None:
        self.names = names
        self.state = state
        self._reached = True
        self._breaks: list[list[S]] = []
        self._continues: list[list[S]] = []
        self._errors: list[list[S]] = []

    # The operations that a lattice defines on values and variables.

    def bind(self, name: str, value: V) -> None:
        """A variable gets a value."""
        raise NotImplementedError

    def either(self, values: Iterable[V]) -> V:
        """A value that is one of several."""
        raise NotImplementedError

    def member(self, value: V) -> V:
        """The value of an element in iteration or in a pattern."""
        return value

    def members(self, value: V, target: ast.Tuple | ast.List, source: ast.expr | None) -> Sequence[V]:
        """The values that unpacking gives to the parts of a target."""
        raise NotImplementedError

    def rest(self, value: V) -> V:
        """The value of ``*name`` in a target."""
        return value

    def entered(self, value: V) -> V:
        """The value of the name in ``with value as name``."""
        return value

    def returned(self, value: V) -> None:
        """The function returns a value."""

    def write(self, place: ast.AST, base: ast.expr) -> None:
        """Elements of an array are written at a place."""
        raise NotImplementedError

    def store(self, target: ast.Subscript, value: V, place: ast.AST) -> None:
        """Elements of an array are written, or a container gets a member; base and index are evaluated."""
        raise NotImplementedError

    def set_attribute(self, target: ast.Attribute, value: V) -> None:
        """An attribute gets a value; its object is evaluated."""
        raise NotImplementedError

    def gave_up(self, body: Sequence[ast.stmt]) -> None:
        """The state of a loop did not converge."""

    # Statements.

    def run(self, statements: Iterable[ast.stmt]) -> None:
        """Follow statements; those after a jump are not reached."""
        for statement in statements:
            if not self._reached:
                return
            self._may_raise()
            name = type(statement).__name__.removeprefix("Async")
            visit: Callable[[Any], None] = getattr(self, f"_{name}", self._others)
            visit(statement)
            self._may_raise()

    def _may_raise(self) -> None:
        for states in self._errors:
            states.append(self.state.copy())

    def _others(self, node: ast.AST) -> None:
        """Any other statement: its expressions are evaluated."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.of(child)

    def assign(self, target: ast.expr, value: V, place: ast.AST, source: ast.expr | None = None) -> None:
        """Bind a target, or write elements at a place; ``source`` is the expression of the value."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, self.rest(value), place)
        elif isinstance(target, ast.Tuple | ast.List):
            for each, part in zip(target.elts, self.members(value, target, source), strict=True):
                self.assign(each, part, each)
        elif isinstance(target, ast.Subscript):
            self.of(target.value)
            self.of(target.slice)
            self.store(target, value, place)
        elif isinstance(target, ast.Attribute):
            self.of(target.value)
            self.set_attribute(target, value)

    def _Assign(self, node: ast.Assign) -> None:
        value = self.of(node.value)
        for target in node.targets:
            self.assign(target, value, target if len(node.targets) > 1 else node, node.value)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.of(node.value), node, node.value)

    def _Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, self.either(()))
            else:
                self._others(target)

    def _Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.returned(self.of(node.value))
        self._reached = False

    def _Raise(self, node: ast.Raise) -> None:
        self._others(node)
        self._reached = False

    def _Break(self, node: ast.Break) -> None:
        self._jump(self._breaks)

    def _Continue(self, node: ast.Continue) -> None:
        self._jump(self._continues)

    def _jump(self, loops: list[list[S]]) -> None:
        for states in loops[-1:]:  # outside of a loop, which is a syntax error
            states.append(self.state)
        self._reached = False

    def _branch(self, statements: Sequence[ast.stmt], start: S) -> S | None:
        """The state after some statements; None if they end with a jump."""
        self.state, self._reached = start.copy(), True
        self.run(statements)
        return self.state if self._reached else None

    def _continue_with(self, states: Iterable[S | None]) -> None:
        after = _joined(states)
        self._reached = after is not None
        if after is not None:
            self.state = after

    def _If(self, node: ast.If) -> None:
        self.of(node.test)
        start = self.state
        self._continue_with([self._branch(node.body, start), self._branch(node.orelse, start)])

    def loop(
        self, node: ast.For | ast.AsyncFor | ast.While, test: Callable[[], object], step: Callable[[], object]
    ) -> None:
        """A loop: rounds until the state at its head no longer changes. ``step`` runs only before the body."""
        start = self.state.copy()
        exits: list[S] = []
        for _ in range(_MOST_ROUNDS):
            before = start
            self.state, self._reached = start.copy(), True
            test()
            at_end = self.state.copy()
            step()
            self._breaks.append([])
            self._continues.append([])
            after = self._branch(node.body, self.state)
            exits = self._breaks.pop()
            for state in (after, *self._continues.pop()):
                start = start if state is None else start.joined(state)
            if start.same(before):
                break
        else:
            self.gave_up(node.body)
        self._continue_with([*exits, self._branch(node.orelse, at_end)])

    def _For(self, node: ast.For | ast.AsyncFor) -> None:
        iterated = self.of(node.iter)
        self.loop(node, lambda: None, lambda: self.assign(node.target, self.member(iterated), node))

    def _While(self, node: ast.While) -> None:
        self.loop(node, lambda: self.of(node.test), lambda: None)

    def _With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.of(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, self.entered(value), node)
        self.run(node.body)

    def _Try(self, node: ast.Try | ast.TryStar) -> None:
        self._errors.append([self.state.copy()])
        ends = [self._branch([*node.body, *node.orelse], self.state)]
        at_error = _joined(self._errors.pop()) or self.state
        for handler in node.handlers:
            self.state = at_error.copy()
            if handler.name:
                self.bind(handler.name, self.unknown)
            ends.append(self._branch(handler.body, self.state))
        if node.finalbody:
            ends = [self._branch(node.finalbody, _joined([*ends, at_error]) or at_error)]
        self._continue_with(ends)

    _TryStar = _Try

    def _Match(self, node: ast.Match) -> None:
        subject = self.of(node.subject)
        start = self.state
        ends: list[S | None] = [start]
        for case in node.cases:
            self.state = start.copy()
            for name in (name for pattern in ast.walk(case.pattern) for name in plain_names(pattern)):
                self.bind(name, self.either((subject, self.unknown)))
            if case.guard is not None:
                self.of(case.guard)
            ends.append(self._branch(case.body, self.state))
        self._continue_with(ends)

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """A function or class is bound to its name; the body of a function is a separate walk."""
        raise NotImplementedError

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for each in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            self.of(each)
        self.define(node)

    def _ClassDef(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases):
            self.of(each)
        self.define(node)

    # Expressions.

    def of(self, node: ast.expr | None) -> V:
        """The value of an expression."""
        if node is None:
            return self.either(())
        visit: Callable[[Any], V] = getattr(self, f"_{type(node).__name__}", self._other)
        return visit(node)

    def _other(self, node: ast.expr) -> V:
        """Any other expression: its parts are evaluated."""
        self._others(node)
        return self.either(())

    def _NamedExpr(self, node: ast.NamedExpr) -> V:
        value = self.of(node.value)
        self.bind(node.target.id, value)
        return value

    def _BoolOp(self, node: ast.BoolOp) -> V:
        return self.either([self.of(each) for each in node.values])

    def _IfExp(self, node: ast.IfExp) -> V:
        self.of(node.test)
        return self.either((self.of(node.body), self.of(node.orelse)))

    def _Starred(self, node: ast.Starred) -> V:
        return self.of(node.value)

    def gathered(self, node: ast.expr, parts: Sequence[V]) -> V:
        """A container of parts: the elements of a list, keys and values, or the element of a comprehension."""
        raise NotImplementedError

    def _Tuple(self, node: ast.Tuple | ast.List | ast.Set) -> V:
        return self.gathered(node, [self.of(each) for each in node.elts])

    _List = _Set = _Tuple

    def _Dict(self, node: ast.Dict) -> V:
        return self.gathered(node, [self.of(each) for each in (*node.keys, *node.values) if each is not None])

    def comprehend(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> list[V]:
        """Bind the variables of a comprehension, evaluate its conditions, and return the value of its element."""
        for generator in node.generators:
            self.assign(generator.target, self.member(self.of(generator.iter)), generator)
            for test in generator.ifs:
                self.of(test)
        return [self.of(part) for part in ((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,))]

    def _Call(self, node: ast.Call) -> V:
        name = self.names.resolve(node.func)
        owner = node.func.value if name is None and isinstance(node.func, ast.Attribute) else None
        base = self.of(owner or node.func)
        values = [self.of(each) for each in node.args]
        given = {each.arg: self.of(each.value) for each in node.keywords}
        if (target := target_of(node, self.names.numpy_name)) is not None:
            self.write(node, target)
        return self.call(Called(node, name, None if owner is None else base, values, given))

    def call(self, call: Called[V]) -> V:
        """Evaluate a call: its result and its effects."""
        raise NotImplementedError


def _joined(states: Iterable[S | None]) -> S | None:
    """The state after any of several branches; None if none is reached."""
    reached = [state for state in states if state is not None]
    return reduce(lambda result, state: state.joined(result), reached) if reached else None
