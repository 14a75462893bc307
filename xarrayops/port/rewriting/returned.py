"""Which functions can return the arguments that they write: ``--return-arguments``.

A function qualifies if each of its writes can make a new array, and if each call in the file can take what it returns.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from xarrayops.plugin.arrays import Record
from xarrayops.port.rewriting.edits import NOTHING, SAME, VALUE, Returned
from xarrayops.port.source import Program
from xarrayops.port.source.indices import parts
from xarrayops.port.source.names import arguments, given_by, is_none, is_unpacked
from xarrayops.port.source.ownership import Ownership, own_nodes
from xarrayops.port.source.value import ARRAY, UNKNOWN

_INNER = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_REFUSED = {
    **dict.fromkeys((ast.Try, ast.TryStar), "it has a try statement"),
    **dict.fromkeys((ast.Yield, ast.YieldFrom), "it is a generator"),
    ast.Global: "it has a global statement",
    ast.Nonlocal: "it has a nonlocal statement",
    ast.Delete: "it has a del statement",
}
"""Statements that a function must not contain, with the reason."""


class Refusal(Record):
    """A function that cannot return the arguments that it writes: the place, and why."""

    function: str
    written: tuple[str, ...]
    place: ast.expr | ast.stmt
    reason: str

    @property
    def problem(self) -> str:
        """The text of the note."""
        return f"{self.function} cannot return {listed(self.written)}, which it writes in place: {self.reason}"


def listed(names: tuple[str, ...]) -> str:
    """The names as a list in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def chosen(program: Program, excluded: frozenset[str] = frozenset()) -> tuple[dict[str, Returned], list[Refusal]]:
    """The functions that can return what they write, and why the others cannot.

    ``excluded`` are functions with a write that cannot make a new array for another reason, which has a separate note.
    """
    selection = _Selection(program)
    found: dict[str, Returned] = {}
    refusals: list[Refusal] = []
    for name, function in program.names.functions.items():
        written = selection.written(function)
        if not written or name in excluded:
            continue
        result = selection.examine(function, written)
        if isinstance(result, Returned):
            found[name] = result
        else:
            refusals.append(result)
    while found:
        ownership = program.ownership_with({name: each.written for name, each in found.items()})
        refused = {name: refusal for name in found if (refusal := selection.refuses(found[name], ownership))}
        if not refused:
            break
        refusals += refused.values()
        found = {name: each for name, each in found.items() if name not in refused}
    return found, refusals


class _Selection:
    """The functions of one program, with their calls."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._ownership = program.ownership
        self._uses: dict[str, list[tuple[ast.Name, ast.Call | None]]] = {}
        """The uses of each function of the module, with the call if it is one, not a use of the function as a value."""
        for node in ast.walk(program.source.tree):
            if not isinstance(node, ast.Name) or node.id not in program.names.functions:
                continue
            if isinstance(node.ctx, ast.Load) and program.names.scope_of(node).owner(node.id) is program.names.module:
                parent = program.parents[node]
                call = parent if isinstance(parent, ast.Call) and parent.func is node else None
                self._uses.setdefault(node.id, []).append((node, call))

    def written(self, function: ast.FunctionDef) -> tuple[str, ...]:
        """The parameters that a function writes, in their order, without those that are certainly not arrays."""
        written = self._ownership.summary(function).written
        kinds = {each.arg: self._program.values.parameter(function, each.arg).kind for each in arguments(function)}
        return tuple(name for name, kind in kinds.items() if name in written and kind in (ARRAY, UNKNOWN))

    def examine(self, function: ast.FunctionDef, written: tuple[str, ...]) -> Returned | Refusal:
        """Whether a function can return what it writes, except for its callers."""
        reason = self._own_reason(function, written)
        if reason is not None:
            return Refusal(function.name, written, function, reason)
        returns = [node for node in own_nodes(function) if isinstance(node, ast.Return)]
        given = [each.value for each in returns if each.value is not None and not is_none(each.value)]
        if not given:
            return Returned(function.name, written, NOTHING)
        names = names_of(given[0])
        is_always = len(given) == len(returns) and ends(function.body)
        if is_always and set(names) == set(written) and all(names_of(each) == names for each in given):
            return Returned(function.name, names, SAME)
        return Returned(function.name, written, VALUE)

    def _own_reason(self, function: ast.FunctionDef, written: tuple[str, ...]) -> str | None:
        """Why a function cannot return what it writes, independent of its callers; None if it can."""
        nodes = [*own_nodes(function)]
        args = function.args
        special = [each.arg for each in (args.vararg, args.kwarg) if each is not None]
        if function.decorator_list:
            return "it has a decorator"
        if any(name in special for name in written):
            return "it writes into *args or **kwargs"
        for node in nodes:
            if type(node) in _REFUSED:
                return _REFUSED[type(node)]
        if function.body[0].lineno == function.lineno:
            return "it stands on one line"
        augmented = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
        stores = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        for name in written:
            if any(node.id == name and node not in augmented for node in stores):
                return f"{name} is bound to something else"
            if not self._is_array(function, name):
                return f"nothing proves that {name} is an array"
        return None

    def _is_array(self, function: ast.FunctionDef, name: str) -> bool:
        """Whether a parameter is an array: by its use, by what is written into it, or by all calls in the file."""
        values = self._program.values
        known = values.parameter(function, name)
        if known.is_proved:
            return True
        for node in own_nodes(function):
            if not isinstance(node, ast.Assign | ast.AugAssign):
                continue
            target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name:
                index = parts(target.slice)
                is_whole = any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in index)
                if is_whole or (any(isinstance(part, ast.Slice) for part in index) and values.of(node.value).is_proved):
                    return True
        calls = [call for _, call in self._uses.get(function.name, []) if call is not None]
        given = [given_by(function, call).get(name) for call in calls]
        found = [values.of(each) for each in given if each is not None]
        return bool(found) and len(found) == len(given) and all(each.is_proved for each in found)

    def refuses(self, returned: Returned, ownership: Ownership) -> Refusal | None:
        """Why a function cannot return what it writes, given the other functions that do; None if it can."""
        found = next(self._reasons(returned, ownership), None)
        return None if found is None else Refusal(returned.name, returned.written, *found)

    def _reasons(self, returned: Returned, ownership: Ownership) -> Iterator[tuple[Any, str]]:
        """The places because of which a function cannot return what it writes, each with the reason."""
        function = self._program.names.functions[returned.name]
        for call, origins in ownership.handed.items():
            if function in self._program.around(call) and any(label.kind == "parameter" for label in origins):
                yield call, f"{ast.unparse(call.func)} writes into it and does not return it"
        for write in ownership.seen:
            reason = ownership.reason(write)
            if reason is not None and ownership.is_of_caller(write) and self._innermost(write) is function:
                yield write, reason
        for use, place in self._uses.get(returned.name, []):
            if place is None:
                yield use, "the function is a value here, and whoever calls it is not known"
            elif (reason := self._of_call(function, returned, place, ownership)) is not None:
                yield place, reason

    def _of_call(
        self, function: ast.FunctionDef, returned: Returned, call: ast.Call, ownership: Ownership
    ) -> str | None:
        """Why a call cannot take what the function returns; None if it can."""
        given = given_by(function, call)
        if is_unpacked(call):
            return "this call unpacks its arguments"
        names = []
        for name in returned.written:
            argument = given.get(name)
            if not isinstance(argument, ast.Name):
                return f"the argument {name} of this call is not a variable"
            reason = ownership.reason(argument)
            if reason is not None:
                return reason
            names.append(argument.id)
        around = [*self._program.around(call)]
        if any(isinstance(each, ast.Try | ast.TryStar) for each in around):
            return "this call is inside a try statement"
        if ast.Lambda in map(type, around) or isinstance(self._innermost(call), ast.ClassDef):
            return "this call is inside another expression or a class"
        return self._of_statement(returned.form, call, names)

    def _of_statement(self, form: str, call: ast.Call, names: list[str]) -> str | None:
        """Why the statement of a call cannot bind what the function returns; None if it can."""
        statement = self._program.parents[call]
        if isinstance(statement, ast.Expr):
            return None
        if isinstance(statement, ast.Return):
            others = (node for node in self._program.parents if isinstance(node, ast.stmt) and node is not statement)
            return "this call shares its line" if any(n.lineno == statement.lineno for n in others) else None
        if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            return "this call is a part of another expression"
        targets = [node for node in ast.walk(statement.targets[0]) if isinstance(node, ast.expr)]
        if not all(isinstance(node, ast.Name | ast.Tuple) for node in targets):
            return "the result of this call is not assigned to variables"
        if form == NOTHING:
            return "the result of this call, None, is assigned"
        bound = {node.id for node in targets if isinstance(node, ast.Name)}
        if bound & set(names) and not (form == SAME and names_of(statement.targets[0]) == tuple(names)):
            return "the result of this call replaces the argument"
        return None

    def _innermost(self, node: ast.AST) -> ast.AST | None:
        """The function or class around a node."""
        return next((each for each in self._program.around(node) if isinstance(each, _INNER)), None)


def ends(body: list[ast.stmt]) -> bool:
    """Whether statements always end with a return or an error."""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and ends(last.body) and ends(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def names_of(node: ast.expr) -> tuple[str, ...]:
    """The names of a variable or of a tuple of variables; none for other expressions."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    names = tuple(part.id for part in parts if isinstance(part, ast.Name))
    return names if len(names) == len(parts) else ()
