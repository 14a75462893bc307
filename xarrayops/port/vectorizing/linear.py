"""Sums and differences of integers that expressions describe: the length of ``x[t : t + n]`` is n."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TypeGuard

_Terms = Counter[tuple[str, ...]]


class Width:
    """The length of a slice."""

    @staticmethod
    def between(lower: ast.expr, upper: ast.expr, varying: set[str]) -> ast.expr | None:
        """The length of a slice, if it is the same for all values of some variables; None if it may not be."""
        difference = _terms(upper)
        difference.subtract(_terms(lower))
        found = {term: count for term, count in difference.items() if count}
        used = {name.id for term in found for text in term for name in ast.walk(ast.parse(text)) if _is_name(name)}
        if used & varying or not found:
            return None
        parts = [f"{count} * " * (count != 1 or not term) + " * ".join(term) for term, count in found.items()]
        text = " + ".join(part.removesuffix(" * ") if part.endswith(" * ") else part for part in parts)
        return ast.parse(text, mode="eval").body


def added(name: str, node: ast.expr) -> int | None:
    """The integer that an expression adds to a variable: 2 for ``t + 3 - 1``; None for other expressions."""
    difference = _terms(node)
    difference.subtract(_terms(ast.Name(name)))
    found = {term: count for term, count in difference.items() if count}
    return found.get((), 0) if found.keys() <= {()} else None


def plus(node: ast.expr, number: int) -> ast.expr:
    """The sum of an expression and an integer."""
    match node:
        case ast.Constant(value=int(known)):
            return ast.Constant(known + number)
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int(known))):
            return plus(left, known + number)
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(known))):
            return plus(left, number - known)
    if number == 0:
        return node
    return ast.BinOp(node, ast.Add() if number > 0 else ast.Sub(), ast.Constant(abs(number)))


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _terms(node: ast.expr) -> _Terms:
    """The terms of a sum: how often each product of factors occurs in it."""
    match node:
        case ast.Constant(value=int(number)):
            return Counter({(): number})
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            found = _terms(left)
            found.update(_terms(right))
            return found
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            found = _terms(left)
            found.subtract(_terms(right))
            return found
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            product: _Terms = Counter()
            for a, m in _terms(left).items():
                for b, n in _terms(right).items():
                    product[tuple(sorted((*a, *b)))] += m * n
            return product
    return Counter({(f"({ast.unparse(node)})",): 1})
