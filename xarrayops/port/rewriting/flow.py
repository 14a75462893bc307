"""A function, statement by statement: what its variables may be at each place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from xarrayops.port.rewriting.origins import NONE, OUTSIDE, Expressions, Label, Origins, State, joined
from xarrayops.port.source import Program

_MOST_ROUNDS = 20
"""Rounds of a loop until its states no longer change; each adds origins, of which there are few."""


class Flow(Expressions):
    """The statements of one function or of the module, in the order in which they run."""

    def __init__(self, program: Program, local: frozenset[str]) -> None:
        super().__init__(program, local)
        self.returned: Origins = NONE
        self._breaks: list[list[State]] = []
        self._continues: list[list[State]] = []
        self._raising: list[list[State]] = []
        self._reached = True

    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Follow the statements; those after a jump are not reached."""
        for statement in statements:
            if not self._reached:
                return
            for states in self._raising:
                states.append(self.state.copy())
            visit = getattr(self, f"_{type(statement).__name__}", self._any)
            visit(statement)
            for states in self._raising:
                states.append(self.state.copy())

    def _any(self, statement: ast.stmt) -> None:
        """Any other statement: its expressions are evaluated."""
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                self.of(child)

    def _assign(self, target: ast.expr, origins: Origins, value: ast.expr | None, node: ast.AST) -> None:
        """Bind a target, or write elements."""
        if isinstance(target, ast.Name):
            self.bind(target.id, origins)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, origins, None, node)
        elif isinstance(target, ast.Tuple | ast.List):
            members = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            alike = len(members) == len(target.elts) and not any(isinstance(m, ast.Starred) for m in members)
            parts = [self.of(member) for member in members] if alike else [origins] * len(target.elts)
            if isinstance(value, ast.Subscript) and self.program.names.numpy_name(value.value) in ("mgrid", "ogrid"):
                parts = [self.made(element) for element in target.elts]
            for element, part in zip(target.elts, parts, strict=True):
                self._assign(element, part, None, element)
        elif isinstance(target, ast.Subscript):
            self.of(target.slice)
            self._store(target, origins, node)
        else:
            self.of(target.value) if isinstance(target, ast.Attribute) else self.of(target)
            self.share(origins, "an attribute refers to it")

    def _store(self, target: ast.Subscript, origins: Origins, node: ast.AST) -> None:
        """Elements of an array are written, or a container gets a member."""
        base = target.value
        is_array = self.program.values.of(base).is_array
        if not isinstance(base, ast.Name):
            self.of(base)
        if is_array or not isinstance(base, ast.Name):
            self.write(node, base)
        if not is_array:
            self.share(origins, "a container may hold it")
            if isinstance(base, ast.Name):
                self.write(node, base)

    def _Assign(self, statement: ast.Assign) -> None:
        origins = self.of(statement.value)
        several = len(statement.targets) > 1
        for target in statement.targets:
            self._assign(target, origins, statement.value, target if several else statement)

    def _AnnAssign(self, statement: ast.AnnAssign) -> None:
        if statement.value is not None:
            self._assign(statement.target, self.of(statement.value), statement.value, statement)

    def _AugAssign(self, statement: ast.AugAssign) -> None:
        origins = self.of(statement.value)
        target = statement.target
        if isinstance(target, ast.Name):
            known = self.program.values.of(target)
            old = self.read(target.id)
            if known.kind == "scalar":
                self.bind(target.id, NONE)
                return
            self.write(statement, target)
            self.state.origins[target.id] = old if known.is_array else old | origins
        elif isinstance(target, ast.Subscript):
            self.of(target.value)
            self._assign(target, NONE, None, statement)
        else:
            self.of(target.value)
            self.write(statement, target)

    def _Return(self, statement: ast.Return) -> None:
        self.returned |= self.of(statement.value)
        self._reached = False

    def _Raise(self, statement: ast.Raise) -> None:
        self._any(statement)
        self._reached = False

    def _Delete(self, statement: ast.Delete) -> None:
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, NONE)

    def _Break(self, statement: ast.Break) -> None:
        self._breaks[-1].append(self.state)
        self._reached = False

    def _Continue(self, statement: ast.Continue) -> None:
        self._continues[-1].append(self.state)
        self._reached = False

    def _branch(self, statements: Sequence[ast.stmt], start: State) -> State | None:
        """The state after some statements; None if they end with a jump."""
        self.state, self._reached = start.copy(), True
        self.run(statements)
        return self.state if self._reached else None

    def _continue_with(self, states: Sequence[State | None]) -> None:
        after = joined(states)
        self._reached = after is not None
        if after is not None:
            self.state = after

    def _If(self, statement: ast.If) -> None:
        self.of(statement.test)
        start = self.state
        self._continue_with([self._branch(statement.body, start), self._branch(statement.orelse, start)])

    def _loop(self, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt], head: Callable[[], None]) -> None:
        """A loop: rounds until the state at its head no longer changes."""
        start = self.state.copy()
        exits: list[State] = []
        for _ in range(_MOST_ROUNDS):
            before = start.copy()
            self.state, self._reached = start.copy(), True
            head()
            at_end = self.state.copy()
            self._breaks.append([])
            self._continues.append([])
            after = self._branch(body, self.state)
            exits = self._breaks.pop()
            start = start.joined(joined([after, *self._continues.pop()]))
            if start.same(before):
                break
        else:
            self._give_up(body)
        self._continue_with([*exits, self._branch(orelse, at_end)])

    def _give_up(self, body: Sequence[ast.stmt]) -> None:
        """No write of a loop is safe whose states go on changing."""
        for statement in body:
            for node in ast.walk(statement):
                self.blocked.setdefault(node, "the loop is too long to follow")

    def _For(self, statement: ast.For | ast.AsyncFor) -> None:
        origins = self.of(statement.iter)
        iterator = f"the loop at line {statement.lineno}"
        self.bind(iterator, origins)

        def head() -> None:
            self.read(iterator)
            self._assign(statement.target, origins, None, statement)

        self._loop(statement.body, statement.orelse, head)
        self.state.origins.pop(iterator, None)
        self.state.stale.pop(iterator, None)

    _AsyncFor = _For

    def _While(self, statement: ast.While) -> None:
        def head() -> None:
            self.of(statement.test)

        self._loop(statement.body, statement.orelse, head)

    def _With(self, statement: ast.With | ast.AsyncWith) -> None:
        for item in statement.items:
            origins = self.of(item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, origins | {OUTSIDE}, None, statement)
        self.run(statement.body)

    _AsyncWith = _With

    def _Try(self, statement: ast.Try | ast.TryStar) -> None:
        self._raising.append([self.state.copy()])
        after = self._branch([*statement.body, *statement.orelse], self.state)
        at_error = joined(self._raising.pop()) or self.state
        states = [after]
        for handler in statement.handlers:
            start = at_error.copy()
            if handler.name:
                start.origins[handler.name] = frozenset({OUTSIDE})
            states.append(self._branch(handler.body, start))
        if statement.finalbody:
            states = [self._branch(statement.finalbody, joined([*states, at_error]) or at_error)]
        self._continue_with(states)

    _TryStar = _Try

    def _Match(self, statement: ast.Match) -> None:
        origins = self.of(statement.subject)
        start = self.state
        states: list[State | None] = [start]
        for case in statement.cases:
            case_start = start.copy()
            for node in ast.walk(case.pattern):
                for name in (getattr(node, "name", None), getattr(node, "rest", None)):
                    if isinstance(name, str):
                        case_start.origins[name] = origins | {OUTSIDE}
            states.append(self._branch(case.body, case_start))
        self._continue_with(states)

    def _FunctionDef(self, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """The definition of an inner function: what it does is another function's flow."""
        self.bind(statement.name, NONE)

    _AsyncFunctionDef = _ClassDef = _FunctionDef

    def parameter(self, name: str) -> None:
        """A parameter at the start of the function."""
        self.bind(name, frozenset({Label("parameter", name)}))
