"""Indices that are Python lists, or may be: JAX refuses them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from itertools import chain

from xarrayops.port.source.indices import has_key
from xarrayops.port.source.names import Names, last_name


class Lists:
    """The variables of a program that hold lists of indices, by their names."""

    def __init__(self, nodes: Collection[ast.AST], names: Names) -> None:
        self._names = names
        self._nested = set(chain.from_iterable(map(self._of_lists, nodes)))
        """The variables whose members are lists."""
        self._held = {ast.unparse(target) for node in nodes for target in self._of_list(node)}
        """The variables that hold a list at some place of the program."""

    def is_list(self, node: ast.AST) -> bool:
        """Whether an expression is certainly a list, and not of text."""
        if isinstance(node, ast.Name):
            bound = self._names.bound_to(node)
            return bool(bound) and all(value is not None and self.is_made(value) for value in bound)
        return self.is_made(node)

    def may_be_list(self, node: ast.AST) -> bool:
        """Whether an expression is a list, or is bound to one here or where the program uses the same name."""
        match node:
            case ast.Name():
                bound = self._names.bound_to(node)
                is_held = None in bound and node.id in self._held
                return is_held or any(value is not None and self.is_made(value) for value in bound)
            case ast.Attribute():
                return ast.unparse(node) in self._held
            case ast.Subscript(value=base):
                return ast.unparse(base) in self._nested
        return self.is_made(node)

    def is_made(self, node: ast.AST) -> bool:
        """Whether an expression makes a list or a range, which arrays take for one."""
        match node:
            case ast.List():
                return not has_key(node)
            case ast.ListComp(elt=member):
                return not has_key(member)
            case ast.Call(func=ast.Attribute(attr="tolist")):
                return True
            case ast.Call(func=function):
                return self._names.resolve(function) in ("builtins.list", "builtins.range", "builtins.sorted")
            case ast.BinOp(left=left, right=right):
                return self.is_made(left) or self.is_made(right)
        return False

    def _of_lists(self, node: ast.AST) -> Iterator[str]:
        """The variables that get lists as members at a node."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Subscript(value=base), attr="append" | "extend")):
                yield ast.unparse(base)
            case ast.Call(func=ast.Attribute(value=base, attr="append"), args=[value]) if self.is_made(value):
                yield ast.unparse(base)
            case ast.Assign(targets=targets, value=ast.ListComp(elt=member) | ast.List(elts=[member, *_])):
                yield from map(ast.unparse, targets if self.is_made(member) else ())
            case ast.Assign(targets=targets, value=ast.Call(func=function, args=[member])):
                is_dict = last_name(function) == "defaultdict" and self._names.resolve(member) == "builtins.list"
                yield from map(ast.unparse, targets if is_dict else ())

    def _of_list(self, node: ast.AST) -> Iterator[ast.expr]:
        """The targets that hold a list after a node."""
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from targets if self.is_made(value) else ()
            case ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated):
                loops = _of_loop(target, iterated)
                yield from (member for member, value in loops if ast.unparse(value) in self._nested)


def _of_loop(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The variables of a loop, and the containers whose members they are."""
    match target, iterated:
        case ast.Tuple(elts=[_, member]), ast.Call(func=ast.Name(id="enumerate"), args=[members, *_]):
            yield member, members
        case ast.Tuple(elts=[_, member]), ast.Call(func=ast.Attribute(value=members, attr="items")):
            yield member, members
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=args):
            yield from zip(targets, args, strict=False)
        case _, ast.Call(func=ast.Attribute(value=members, attr="values")):
            yield target, members
        case _:
            yield target, iterated
