"""Faults that are planted into the functions of a program, by kind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy

DTYPES = {
    "float64": "float32",
    "float32": "float64",
    "int64": "int32",
    "int32": "int64",
    "uint8": "int64",
    "complex64": "complex128",
    "bool": "int64",
}
NAMES = {
    "nanmean": "mean",
    "isnan": "isinf",
    "maximum": "minimum",
    "max": "min",
    "min": "max",
    "sin": "cos",
    "cos": "sin",
    "std": "var",
    "mean": "median",
    "argmin": "argmax",
    "argsort": "argmax",
    "floor": "ceil",
    "cumsum": "cumprod",
    "sum": "max",
    "abs": "square",
}
REFUSED = ("xo.log2({0}, out={0})", "np.no_such_name({0})", "np.sum({0}, no_such_option=1)", "xo.ufunc('frexp')")
"""Statements that raise on NumPy."""


def faults(text: str, name: str) -> Iterator[tuple[str, str]]:
    """The kind of each fault and the text of the program with it, for the function or class of this name."""
    tree = ast.parse(text)
    (target,) = (node for node in tree.body if getattr(node, "name", "") == name)
    for index, node in enumerate(ast.walk(target)):
        for kind, change in CHANGES:
            for choice in range(len(list(change(deepcopy(node))))):
                again = deepcopy(tree)
                (copied,) = (each for each in again.body if getattr(each, "name", "") == name)
                found = next(each for i, each in enumerate(ast.walk(copied)) if i == index)
                replaced = list(change(deepcopy(found)))[choice]
                yield kind, ast.unparse(ast.fix_missing_locations(_Replacing(found, replaced).visit(again)))


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _call(text: str, *args: ast.expr) -> ast.expr:
    """An expression with its names _0, _1 replaced by expressions."""
    node: ast.AST = ast.parse(text, mode="eval").body
    for i, arg in enumerate(args):
        for each in [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == f"_{i}"]:
            node = _Replacing(each, arg).visit(node)
    assert isinstance(node, ast.expr)
    return node


def _without_keyword(*names: str) -> Callable[[ast.AST], Iterator[ast.AST]]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Call) and any(each.arg in names for each in node.keywords):
            node.keywords = [each for each in node.keywords if each.arg not in names]
            yield node

    return change


def _of_values(*texts: str) -> Callable[[ast.AST], Iterator[ast.AST]]:
    """Changes of the values that a statement returns or assigns."""

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, (ast.Return, ast.Assign)) and node.value is not None:
            targets = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if isinstance(node, ast.Assign) and not isinstance(node.value, (ast.Call, ast.BinOp)):
                return
            for i, target in enumerate(targets):
                for text in texts:
                    again = deepcopy(node)
                    new = _call(text, target)
                    if isinstance(again.value, ast.Tuple):
                        again.value.elts[i] = new
                    else:
                        again.value = new
                    yield again

    return change


def _other_dtype(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Attribute) and node.attr in DTYPES:
        node.attr = DTYPES[node.attr]
        yield node


def _inserted(*texts: str, at: int) -> Callable[[ast.AST], Iterator[ast.AST]]:
    """A statement with a parameter, at the begin or before the end of a function."""

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if not isinstance(node, ast.FunctionDef) or node.name == "__init__":
            return
        for parameter in [each.arg for each in node.args.args if each.arg != "self"]:
            for text in texts:
                again = deepcopy(node)
                again.body.insert(at, ast.parse(text.format(parameter)).body[0])
                yield again

    return change


def _not_in_place(node: ast.AST) -> Iterator[ast.AST]:
    """A new array where the program writes into one; no copy where it makes one."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        name = node.target.value
        if isinstance(name, ast.Name):
            load = ast.Name(name.id, ast.Load())
            whole = ast.parse(f"{name.id} = xo.asarray({name.id}, copy=True)").body[0]
            yield ast.If(ast.Constant(value=True), [whole, node], [])
            yield ast.Assign([ast.Name(name.id, ast.Store())], ast.BinOp(load, node.op, node.value))
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.copy", "xo.copy"):
        yield node.args[0]


def _order(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.keyword) and node.arg == "axis" and isinstance(node.value, ast.Constant):
        node.value = ast.Constant(0 if node.value.value else 1)
        yield node
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.transpose", "np.flip"):
        yield node.args[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult)):
        yield ast.BinOp(node.right, node.op, node.left)
    if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1 and isinstance(node.ctx, ast.Load):
        node.elts = node.elts[::-1]
        yield node


def _value(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Constant) and type(node.value) is float:
        yield ast.Constant(node.value * (1 + 1e-4))
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield ast.Constant(node.value + 1)
    if isinstance(node, ast.Compare):
        other = {ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.LtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
        if type(node.ops[0]) in other:
            node.ops = [other[type(node.ops[0])]()]
            yield node
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)
    if isinstance(node, ast.Attribute) and node.attr in NAMES and isinstance(node.ctx, ast.Load):
        node.attr = NAMES[node.attr]
        yield node


def _class(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield ast.Return(ast.List(node.value.elts, ast.Load()))
    if isinstance(node, ast.Return) and isinstance(node.value, (ast.List, ast.ListComp)):
        yield ast.Return(_call("tuple(_0)", node.value))
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("float", "int"):
        yield node.args[0]
        yield _call("float(_0) + 0.0", node.args[0])


CHANGES: tuple[tuple[str, Callable[[ast.AST], Iterator[ast.AST]]], ...] = (
    ("like", _without_keyword("like")),
    ("dtype", _without_keyword("dtype")),
    ("dtype", _other_dtype),
    ("dtype", _of_values("xo.astype(_0, 'float32')", "xo.astype(_0, 'int64')", "xo.astype(_0, 'float64')")),
    ("host", _of_values("xo.convert(_0, 'numpy')", "xo.convert(_0, 'numpy').tolist()", "float(_0)")),
    ("alias", _not_in_place),
    ("alias", _inserted("{0} *= 2", "{0}[0] = 7", at=-1)),
    ("refused", _inserted(*REFUSED, at=0)),
    ("order", _order),
    ("order", _of_values("np.flip(_0, 0)", "np.transpose(_0)", "np.sort(_0)")),
    ("value", _value),
    ("value", _without_keyword("ddof", "kind", "keepdims", "minlength", "mode", "indexing")),
    ("class", _class),
)
