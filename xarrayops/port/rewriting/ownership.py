"""Which writes can become a new array: those into arrays that nothing else shows afterwards.

``x = xo.at(x)[i].set(v)`` means the same as ``x[i] = v`` on every library if nothing else sees the array: no argument
of the function, no view that is read later, no container and no other function.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TypeGuard

from xarrayops._protocol.records import Record
from xarrayops._surface import CREATION
from xarrayops.port.rewriting.flow import Flow
from xarrayops.port.rewriting.origins import CONTAINER, NONE, OUTSIDE, Origins
from xarrayops.port.source import Program
from xarrayops.port.source.names import FunctionNode, arguments

CREATED = CREATION | frozenset(["array", "copy", "identity", "zeros_like", "ones_like", "empty_like", "full_like"])
"""NumPy's functions that make arrays, never scalars."""


class Summary(Record):
    """What a function does with its parameters."""

    returned: Origins
    shared: frozenset[str]
    """The parameters that it stores somewhere or hands on."""
    written: frozenset[str]
    """The parameters of which it writes elements."""


Returning = Mapping[str, tuple[str, ...]]
"""By the name of a function of the module, the parameters that it writes and returns to its callers."""


class Ownership:
    """The writes of a program, and which of them cannot make a new array.

    A function in ``returning`` returns these parameters, and its callers bind their variables to what it returns. So a
    call of it is a write of these variables, and its own writes of these parameters can make new arrays.
    """

    def __init__(self, program: Program, returning: Returning | None = None) -> None:
        self._program = program
        self.returning: Returning = returning or {}
        self.handed: dict[ast.Call, Origins] = {}
        """By the call of a function that writes its arguments and does not return them, their origins."""
        self.blocked: dict[ast.AST, str] = {}
        """By the node of a write, the reason."""
        self.seen: dict[ast.AST, Origins] = {}
        """The origins of the array of each write that is reached."""
        self._summaries: dict[FunctionNode, Summary | None] = {}
        self.functions = {
            node.name: node
            for node in program.source.tree.body
            if isinstance(node, ast.FunctionDef) and len(program.names.module.bindings[node.name]) == 1
        }
        self._follow(program.source.tree, program.source.tree.body, [])
        for node in ast.walk(program.source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.summary(node)

    def reason(self, node: ast.AST) -> str | None:
        """Why a write cannot make a new array; None if it can."""
        return self.blocked.get(node) if node in self.seen else "this line is never reached"

    def is_of_caller(self, node: ast.AST) -> bool:
        """Whether a write may change an argument."""
        return any(label.kind == "parameter" for label in self.seen.get(node, NONE))

    def is_returned(self, node: ast.AST) -> bool:
        """Whether the array of a write is a parameter that the function returns to its callers."""
        return self.is_of_caller(node) and self.reason(node) is None

    def is_created(self, node: ast.AST) -> bool:
        """Whether the array of a write was surely made by a function that makes arrays, so that it is no scalar."""
        origins = self.seen.get(node, NONE)
        return bool(origins) and all(self._creates(label.what) for label in origins)

    def is_made(self, node: ast.AST) -> bool:
        """Whether every place that may have made the array of a write makes arrays with axes."""
        values = [self._program.values.of(label.what) for label in self.seen.get(node, NONE) if _is_node(label.what)]
        return len(values) == len(self.seen.get(node, NONE)) > 0 and all(v.is_array and v.ndim for v in values)

    def is_computed(self, node: ast.AST) -> bool:
        """Whether the array of a write is surely the result of arithmetic, which lists do not have."""
        origins = self.seen.get(node, NONE)
        return bool(origins) and all(_is_arithmetic(label.what) for label in origins)

    def _creates(self, node: object) -> bool:
        if not isinstance(node, ast.Call):
            return False
        name = self._program.names.numpy_name(node.func)
        return name in CREATED or (isinstance(node.func, ast.Attribute) and node.func.attr in ("copy", "astype"))

    def function(self, call: ast.Call) -> ast.FunctionDef | None:
        """The function of the module that a call runs; None for all others."""
        if not isinstance(call.func, ast.Name):
            return None
        is_module = self._program.names.scope_of(call.func).owner(call.func.id) is self._program.names.module
        return self.functions.get(call.func.id) if is_module else None

    def summary(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Summary:
        """What a function does with its parameters; unknown while it is followed, that is for recursion."""
        if function not in self._summaries:
            self._summaries[function] = None
            names = [each.arg for each in arguments(function)]
            flow = self._follow(function, function.body, names)
            shared = frozenset(str(label.what) for label in flow.state.shared if label.kind == "parameter")
            is_plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
            returned = flow.returned if is_plain else flow.returned | {OUTSIDE}
            self._summaries[function] = Summary(returned, shared | flow.ever_shared, frozenset(flow.written))
        return self._summaries[function] or Summary(
            frozenset({OUTSIDE}), frozenset(each.arg for each in arguments(function)), frozenset()
        )

    def _follow(self, node: ast.AST, body: list[ast.stmt], parameters: list[str]) -> _Calls:
        flow = _Calls(self, self._program, _bound_in(node, parameters))
        if self.functions.get(getattr(node, "name", "")) is node:
            flow.returning = frozenset(self.returning.get(node.name, ()))
        for name in parameters:
            flow.parameter(name)
        for name in _captured(node):
            flow.captured.add(name)
        flow.run(body)
        if isinstance(node, ast.Module):
            for name in list(flow.state.stale):
                flow.read(name)
        self.blocked |= {node: reason for node, reason in flow.blocked.items() if node not in self.blocked}
        self.seen |= flow.seen
        return flow


class _Calls(Flow):
    """A flow that knows what the functions of the module do with their arguments."""

    def __init__(self, ownership: Ownership, program: Program, local: frozenset[str]) -> None:
        super().__init__(program, local)
        self._ownership = ownership
        self.captured: set[str] = set()
        self.ever_shared: frozenset[str] = frozenset()

    def share(self, origins: Origins, what: str) -> None:
        super().share(origins, what)
        self.ever_shared |= {str(label.what) for label in origins if label.kind == "parameter"}

    def write(self, node: ast.AST, base: ast.expr) -> None:
        super().write(node, base)
        if isinstance(base, ast.Name) and base.id in self.captured:
            self.blocked.setdefault(node, f"an inner function uses {base.id}")

    def call_function(self, node: ast.Call, values: list[Origins], together: Origins) -> Origins:
        function = self._ownership.function(node)
        if function is None or any(isinstance(each, ast.Starred) for each in node.args):
            self.share(together, "another function gets it")
            return together | {OUTSIDE}
        summary = self._ownership.summary(function)
        given = self._bound(function, node, values)
        returned = self._ownership.returning.get(function.name, ())
        for name, origins in given.items():
            if name in summary.shared:
                self.share(origins, f"the function {function.name} keeps it")
            if name in summary.written:
                self._is_written(origins)
                if not returned:
                    handed = self._ownership.handed
                    handed[node] = handed.get(node, NONE) | origins
        for name in returned:
            self._write_argument(node, given_to(function, node).get(name), name, given)
        result: Origins = NONE
        for label in summary.returned:
            if label.kind == "parameter":
                result |= given.get(str(label.what), frozenset({OUTSIDE}))
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

    def _bound(self, function: ast.FunctionDef, node: ast.Call, values: list[Origins]) -> dict[str, Origins]:
        """The origins of the arguments by the names of the parameters."""
        positional = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        given: dict[str, Origins] = dict(zip(positional, values, strict=False))
        rest = values[len(positional) :]
        for keyword in node.keywords:
            origins = self.of(keyword.value)
            names = [keyword.arg] if keyword.arg else [each.arg for each in arguments(function)]
            for name in names:
                given[name] = given.get(name, NONE) | origins
        if rest and function.args.vararg:
            given[function.args.vararg.arg] = frozenset().union(*rest)
        return given


def given_to(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of a call by the names of the parameters, as far as they are given one by one."""
    positional = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    by_position = zip(positional, call.args, strict=False)
    return dict(by_position) | {each.arg: each.value for each in call.keywords if each.arg is not None}


def _is_node(what: object) -> TypeGuard[ast.AST]:
    return isinstance(what, ast.AST)


def _is_arithmetic(node: object) -> bool:
    """Whether an expression cannot be a list: ``x - y``, ``x + 1``; but ``x * 2`` and ``x + y`` can."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        operands = (node.left, node.right)
        numbers = [each.value for each in operands if isinstance(each, ast.Constant)]
        kinds = (int, float, complex) if isinstance(node.op, ast.Add) else (float, complex)
        return any(isinstance(each, kinds) for each in numbers) or any(map(_is_arithmetic, operands))
    return isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare)


def _bound_in(node: ast.AST, parameters: list[str]) -> frozenset[str]:
    """The names that a function binds itself: not those of ``global`` and ``nonlocal``."""
    names, elsewhere = set(parameters), set()
    for each in _own(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            names.add(each.id)
        elif isinstance(each, ast.Global | ast.Nonlocal):
            elsewhere |= set(each.names)
    return frozenset(names - elsewhere)


def _own(node: ast.AST) -> list[ast.AST]:
    """The nodes of a function without those of inner functions and classes."""
    found, level = [], list(ast.iter_child_nodes(node))
    while level:
        each = level.pop()
        found.append(each)
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            level += ast.iter_child_nodes(each)
    return found


def _captured(node: ast.AST) -> set[str]:
    """The names that inner functions use; a module's functions may run whenever it calls one."""
    inner = (each for each in _own(node) if isinstance(each, FunctionNode | ast.ClassDef))
    names = set()
    for function in inner:
        own = {each.arg for each in arguments(function)} if not isinstance(function, ast.ClassDef) else set()
        bound = _bound_in(function, sorted(own)) if not isinstance(function, ast.Lambda) else own
        names |= {each.id for each in ast.walk(function) if isinstance(each, ast.Name)} - bound
    return names
