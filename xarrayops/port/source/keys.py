"""Dtypes as keys of dictionaries and sets: the dtypes of other libraries are other keys than NumPy's."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from xarrayops.port.source.names import Names


def is_dtype_key(node: ast.expr, parent: ast.AST, names: Names) -> bool:
    """Whether an expression is looked up among dtypes, as in ``{np.dtype("float64"): 1}[x.dtype]``."""
    container = _looked_up_in(node, parent)
    return container is not None and _has_dtypes(container, names)


def is_open_key(node: ast.expr, parents: Mapping[ast.AST, ast.AST], names: Names) -> bool:
    """Whether an expression is a key of a container, or looked up in one, of which the other keys are not known."""
    looked_up = _looked_up_in(node, parents[node])
    if looked_up is not None:
        return not _has_dtypes(looked_up, names) and not _compares(looked_up, names)
    container = parents[node]
    is_key = isinstance(container, ast.Dict) and node in container.keys
    if not is_key and not isinstance(container, ast.Set):
        return False
    match parents[container]:
        case ast.Assign(targets=[ast.Name()]) | ast.Subscript() | ast.Compare():
            return False
        case ast.Attribute(attr="get"):
            return False
    return True


def _looked_up_in(node: ast.expr, parent: ast.AST) -> ast.expr | None:
    match parent:
        case ast.Subscript(value=container, slice=key) if key is node:
            return container
        case ast.Call(func=ast.Attribute(attr="get", value=container), args=[key, *_]) if key is node:
            return container
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[container]) if key is node:
            return container
    return None


def _compares(container: ast.expr, names: Names) -> bool:
    """Whether a container compares what is looked up, as tuples do, and needs no hash."""
    return isinstance(_value_of(container, names), ast.Tuple | ast.List)


def _value_of(container: ast.expr, names: Names) -> ast.expr:
    bound = names.bound_to(container) if isinstance(container, ast.Name) else []
    return container if len(bound) != 1 or bound[0] is None else bound[0]


def _has_dtypes(container: ast.expr, names: Names) -> bool:
    """Whether all keys of a container are made by ``np.dtype``."""
    container = _value_of(container, names)
    keys = (
        container.keys if isinstance(container, ast.Dict) else container.elts if isinstance(container, ast.Set) else []
    )
    return bool(keys) and all(isinstance(key, ast.Call) and names.numpy_name(key.func) == "dtype" for key in keys)
