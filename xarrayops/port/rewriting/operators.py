"""Operators whose result differs by library become NumPy's functions; f-strings keep the text of an expression."""

from __future__ import annotations

import ast

import libcst as cst

from xarrayops.port import advice
from xarrayops.port.rewriting.context import Context, argument
from xarrayops.port.source.expressions import ufunc


def binary(context: Context, node: ast.BinOp, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x / 2`` of integers as ``np.divide(x, 2)``; a note where nothing proves that an operand is an array."""
    found = context.program.difference(node)
    if found is None:
        return None
    if not (context.is_array(node.left) or context.is_array(node.right)):
        context.todo(node, f"{found.what}. Instead: {advice.operator(context.program, node)}")
        return None
    assert isinstance(updated, cst.BinaryOperation)
    context.edit(node, "operator", found.what)
    return context.np_call(ufunc(node.op), argument(updated.left), argument(updated.right))


def formatted(before: cst.FormattedString, after: cst.FormattedString) -> cst.FormattedString:
    """``f"{x.size=}"`` as ``f"x.size={np.size(x)!r}"``: the text of an expression stays."""
    if not any(_has_text(each) for each in before.parts) or before.deep_equals(after):
        return after
    parts: list[cst.BaseFormattedStringContent] = []
    for old, new in zip(before.parts, after.parts, strict=True):
        if not _has_text(old) or old.deep_equals(new):
            parts.append(new)
            continue
        assert isinstance(old, cst.FormattedStringExpression)
        assert isinstance(new, cst.FormattedStringExpression)
        code = cst.Module([]).code_for_node(old.with_changes(conversion=None, format_spec=None))
        text = code[1:-1].replace("{", "{{").replace("}", "}}")
        conversion = new.conversion or ("r" if new.format_spec is None else None)
        plain = {"equal": None, "conversion": conversion, "whitespace_before_expression": cst.SimpleWhitespace("")}
        parts += [cst.FormattedStringText(text), new.with_changes(**plain)]
    return after.with_changes(parts=parts)


def _has_text(part: cst.CSTNode) -> bool:
    return isinstance(part, cst.FormattedStringExpression) and part.equal is not None
