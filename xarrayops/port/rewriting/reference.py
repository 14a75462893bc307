"""The reference array: the array whose library a new array must have."""

from __future__ import annotations

import ast

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source.reference import MADE


def reference_array(context: Context, node: ast.expr, *, is_certain: bool = False) -> str | None:
    """The name of an array that exists before a call, in the library of the arguments; None without one.

    It is a parameter of a function around the call, or a variable made from one.
    """
    for function in context.program.functions(node):
        hidden = context.program.hidden_names(node, function)
        found = context.program.references.of(function, node, hidden)
        if found is not None and found.certain:
            return found.name
        variable = _variable(context, function, node)
        if variable is not None and variable not in hidden:
            return variable
        if found is not None and found.probable and not is_certain:
            return found.name
        attribute = None if is_certain else _attribute(function, node)
        if attribute is not None:
            return attribute
    return None


def unproved(context: Context, node: ast.expr) -> str | None:
    """A parameter that may be an array, without proof; None if all parameters are certainly something else."""
    for function in context.program.functions(node):
        found = context.program.references.of(function, node, context.program.hidden_names(node, function))
        if found is not None:
            return found.name
    return None


def _attribute(function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.expr) -> str | None:
    """An attribute such as ``self.x`` from which slices are copied into the new array."""
    holders = {
        each.targets[0].id
        for each in ast.walk(function)
        if isinstance(each, ast.Assign) and each.value is node and isinstance(each.targets[0], ast.Name)
    }
    stored = {ast.unparse(each) for each in ast.walk(function) if _is_stored(each)}
    for each in ast.walk(function):
        match each:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value) if name in holders:
                found = _sliced_attribute(value)
                return None if found in stored else found
    return None


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _sliced_attribute(value: ast.expr) -> str | None:
    """The first attribute of which slices along several axes are taken, as only arrays have."""
    for each in ast.walk(value):
        match each:
            case ast.Subscript(value=ast.Attribute(value=ast.Name()) as base, slice=ast.Tuple(elts=parts)):
                if any(isinstance(part, ast.Slice) for part in parts):
                    return ast.unparse(base)
    return None


def _variable(context: Context, function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.expr) -> str | None:
    """A variable that an earlier statement of the function itself binds to an array made from arguments."""
    statement = context.statement(node)
    for earlier in function.body:
        if earlier.lineno >= statement.lineno:
            break
        if isinstance(earlier, ast.Assign) and isinstance(earlier.targets[0], ast.Name):
            name = earlier.targets[0].id
            is_known = context.is_array(earlier.value) and _is_of_arguments(context, earlier.value)
            if is_known and _count_bindings(function, name) == 1:
                return name
    return None


def _is_of_arguments(context: Context, value: ast.expr) -> bool:
    """Whether a NumPy function computes the array from other arrays, so that it has their library."""
    if not isinstance(value, ast.Call):
        return False
    name = context.names.numpy_name(value.func)
    if name is None or name.partition(".")[0] == "random" or not value.args:
        return False
    return isinstance(value.args[0], ast.Name) and (name not in MADE or name in ("array", "asarray"))


def _count_bindings(function: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function))
