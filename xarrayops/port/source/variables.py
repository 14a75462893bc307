"""What a program does with its variables and attributes: evidence of what of unknown kind may be an array."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from xarrayops.port.source.indices import has_key
from xarrayops.port.source.names import FunctionNode
from xarrayops.port.source.parameters import is_of_arrays
from xarrayops.port.source.value import ARRAY, OTHER, UNKNOWN, Value
from xarrayops.port.source.values import Values

INDEXED, _BY_KEY = "[]", "[key]"
"""Stand for an index and for a key, which is text, among the attributes of a variable."""
_NO_ARRAY = ("self", "cls")


class Variables:
    """The variables of the functions of a program, and its attributes such as ``self.x``."""

    def __init__(
        self, nodes: Iterable[ast.AST], values: Values, functions: Callable[[ast.AST], Iterator[FunctionNode]]
    ) -> None:
        self._values, self._functions = values, functions
        self._used: dict[tuple[ast.AST | None, str], set[str]] = {}
        for node in nodes:
            match node:
                case ast.Attribute(value=ast.Name() | ast.Attribute() as base, attr=attribute):
                    self._use(base, attribute)
                case ast.Subscript(value=ast.Name() | ast.Attribute() as base, slice=index):
                    self._use(base, _BY_KEY if has_key(index) else INDEXED)
                case ast.Compare(ops=[ast.In() | ast.NotIn(), *_], comparators=[ast.Name() as held, *_]):
                    self._use(held, _BY_KEY)
                case ast.Assign():
                    self._assign(node)

    def _use(self, variable: ast.Name | ast.Attribute, attribute: str) -> None:
        self._used.setdefault(self._key(variable), set()).add(attribute)

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets if self._values.of(node.value).kind == OTHER else ():
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                self._use(target.value, _BY_KEY)

    def _key(self, variable: ast.Name | ast.Attribute) -> tuple[ast.AST | None, str]:
        """A variable of a function, or an attribute of the whole program."""
        return next(self._functions(variable), None) if isinstance(variable, ast.Name) else None, ast.unparse(variable)

    def used(self, variable: ast.Name | ast.Attribute) -> set[str]:
        """The attributes that the program uses of a variable."""
        key = self._key(variable)
        return {"no array"} if key[1] in _NO_ARRAY else self._used.get(key, set())

    def assigned(self, attribute: ast.Attribute) -> list[Value]:
        """What is known of the values that the program assigns to an attribute."""
        return [self._values.of(each) for each in self._values.names.attributes.get(ast.unparse(attribute), ())]

    def assigned_kinds(self, attribute: ast.Attribute) -> set[str]:
        """The known kinds of these values."""
        return {value.kind for value in self.assigned(attribute)} - {UNKNOWN}

    def may_be_array(self, node: ast.expr) -> bool:
        """Whether an expression may be an array: the program uses no attribute or key of it that arrays lack."""
        if self._values.names.resolve(node) is not None or self._values.of(node).kind not in (ARRAY, UNKNOWN):
            return False
        if isinstance(node, ast.Attribute) and self.assigned_kinds(node) - {ARRAY}:
            return False
        used = self.used(node) if isinstance(node, ast.Name | ast.Attribute) else set()
        return all(map(is_of_arrays, used - {INDEXED}))
