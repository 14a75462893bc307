"""What a new array meets in its function: arrays of the caller, which may be of another library."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.module_arrays import EXTENTS, Operations
from xarrayops.port.source.names import is_foreign
from xarrayops.port.source.parameters import is_of_arrays
from xarrayops.port.source.value import OTHER, SCALAR
from xarrayops.port.source.values import Values, root

_OPEN = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.keyword, ast.Starred),
    *(ast.List, ast.Tuple, ast.Attribute, ast.Subscript),
)
"""Expressions whose value may hold the elements of a part, or depend on its library."""


class Company(Record):
    """What a new array meets: a variable of the caller, if any, and whether the function returns the array."""

    partner: str | None
    is_returned: bool

    @property
    def matters(self) -> bool:
        """Whether the library of the new array makes a difference."""
        return self.is_returned or self.partner is not None


class Companies:
    """The company of the new arrays of one function."""

    def __init__(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        values: Values,
        parents: Mapping[ast.AST, ast.AST],
        takes_all: Callable[[ast.expr], bool],
    ) -> None:
        self._operations = Operations(function, values, parents, takes_all)
        self._values, self._parents = values, parents
        self._found: dict[ast.expr, Company] = {}
        self._loads: dict[str, list[ast.expr]] = {}
        self._stored: dict[str, list[ast.expr]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._loads.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.Assign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                is_bound = isinstance(node, ast.Assign) and isinstance(targets[0], ast.Name)
                targets = [] if is_bound else targets
                for name in map(root, targets):
                    self._stored.setdefault(name or "", []).append(node.value)

    def of(self, made: ast.expr) -> Company:
        """What an array meets, and the variables that hold it or what is computed from it."""
        if made not in self._found:
            self._found[made] = self._company(made)
        return self._found[made]

    def _company(self, made: ast.expr) -> Company:
        numbers = self._operations.numbers_in(made)
        pending, holders, is_returned = [made], set[str](), False
        partners: list[ast.Name] = []
        while pending:
            node = pending.pop()
            met = self._operations.partners(node)
            statement = self._statement(node)
            is_returned |= isinstance(statement, ast.Return | ast.Yield)
            match statement:
                case ast.Return(value=ast.Tuple(elts=parts)):
                    met += self._operations.of_caller(parts)
            partners += [each for each in met if each.id not in holders]
            for name in set(_holders(statement)) - holders:
                holders.add(name)
                stored = self._operations.of_caller(self._stored.get(name, ()))
                partners += [each for each in stored if each.id not in holders]
                pending += self._loads.get(name, [])
        found = self._operations.best(each for each in partners if each.id not in numbers)
        return Company(None if found is None else ast.unparse(self._owned(found)), is_returned)

    def _owned(self, node: ast.expr) -> ast.expr:
        """The attribute that an expression takes from an object, not from an array: ``model.x`` of ``model.x[0]``."""
        parent = self._parents[node]
        if isinstance(parent, ast.Attribute) and not is_of_arrays(parent.attr):
            return self._owned(parent)
        return node

    def _statement(self, node: ast.AST) -> ast.AST | None:
        """The statement that gets the elements of an array; None if only its extents or no statement do."""
        while isinstance(parent := self._parents[node], _OPEN):
            if isinstance(parent, ast.Attribute) and parent.attr in EXTENTS:
                return None
            if isinstance(parent, ast.Subscript) and parent.slice is node:
                return None
            if isinstance(parent, ast.expr) and self._values.of(parent).kind in (SCALAR, OTHER):
                return None
            if isinstance(parent, ast.Call) and is_foreign(self._values.names.resolve(parent.func) or ""):
                return None
            node = parent
        return parent


def _holders(statement: ast.AST | None) -> Iterator[str]:
    """The variables that hold what a statement assigns, or whose elements do."""
    targets: Iterable[ast.expr] = ()
    match statement:
        case ast.Assign(targets=found):
            targets = found
        case ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.comprehension():
            targets = [statement.target]
    for target in targets:
        for each in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if (name := root(each)) is not None:
                yield name
