"""Dtypes as keys of dictionaries and sets: the dtypes of other libraries are other keys than NumPy's."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from xarrayops.port.source.names import Names


def is_dtype_key(node: ast.expr, parent: ast.AST, names: Names) -> bool:
    """Whether an expression is looked up among dtypes, as in ``{np.dtype("float64"): 1}[x.dtype]``."""
    match parent:
        case ast.Subscript(value=container, slice=key) if key is node:
            return _has_dtypes(container, names)
        case ast.Call(func=ast.Attribute(attr="get", value=container), args=[key, *_]) if key is node:
            return _has_dtypes(container, names)
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[container]) if key is node:
            return _has_dtypes(container, names)
    return False


def is_open_key(node: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether an expression is a key of a container of which the look-ups are not known."""
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


def _has_dtypes(container: ast.expr, names: Names) -> bool:
    """Whether all keys of a container are made by ``np.dtype``."""
    if isinstance(container, ast.Name):
        bound = names.bound_to(container)
        return len(bound) == 1 and isinstance(bound[0], ast.Dict | ast.Set) and _has_dtypes(bound[0], names)
    keys = (
        container.keys if isinstance(container, ast.Dict) else container.elts if isinstance(container, ast.Set) else []
    )
    return bool(keys) and all(isinstance(key, ast.Call) and names.numpy_name(key.func) == "dtype" for key in keys)
