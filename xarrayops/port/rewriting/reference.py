"""The reference array: the array whose library a new array must have."""

from __future__ import annotations

import ast
from typing import TypeGuard

from xarrayops.port.rewriting.context import Context
from xarrayops.port.rewriting.draws import method_of
from xarrayops.port.source.counted import MADE
from xarrayops.port.source.value import ARRAY, UNKNOWN


def reference_array(context: Context, node: ast.expr, *, is_certain: bool = False) -> str | None:
    """The name of an array that exists before a call, in the library of the arguments; None without one.

    It is a parameter of a function around the call, or a variable made from one.
    """
    for function in context.program.functions(node):
        hidden = context.program.hidden_names(node, function)
        found = context.program.references.of(function, node, hidden, context.program.company(node).partner)
        if found is not None and found.certain:
            return found.name
        variable = _variable(context, function, node)
        if variable is not None and variable not in hidden:
            return variable
        if found is not None and found.probable and not is_certain and context.program.company(node).matters:
            return found.name
        attribute = None if is_certain else _attribute(function, node)
        if attribute is not None:
            return attribute
    return None


def earlier_array(context: Context, node: ast.expr) -> str | None:
    """The last variable that holds an array of NumPy's functions when a call is made, of the default library or not."""
    scope = context.function(node) or context.program.source.tree
    found = None
    for each in scope.body:
        if each.lineno >= context.statement(node).lineno:
            break
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if context.is_array(value):
                is_kept = sum(_binds(other, name) for other in ast.walk(scope)) == 1
                found = name if is_kept and not _is_draw(context, value) else found
    return found


def _is_draw(context: Context, node: ast.expr) -> bool:
    """Whether a draw of random numbers is a part of an expression."""
    return any(isinstance(each, ast.Call) and method_of(context, each) is not None for each in ast.walk(node))


def operand_beside(context: Context, node: ast.expr) -> ast.expr | None:
    """The array that an operation around a call combines with its result, or what an augmented assignment changes."""
    parent = context.parent(node)
    while isinstance(parent, ast.BinOp | ast.UnaryOp | ast.AugAssign):
        if isinstance(parent, ast.AugAssign):
            return parent.target if context.value(parent.target).kind in (ARRAY, UNKNOWN) else None
        if isinstance(parent, ast.BinOp):
            other = parent.right if parent.left is node else parent.left
            if context.is_array(other):
                return other
        node, parent = parent, context.parent(parent)
    return None


def unproved(context: Context, node: ast.expr) -> str | None:
    """A parameter that may be an array, without proof; None if all parameters are certainly something else."""
    for function in context.program.functions(node):
        found = context.program.references.of(function, node, context.program.hidden_names(node, function))
        if found is not None:
            return found.name
    return None


def missing_reference(context: Context, node: ast.expr) -> tuple[str, bool] | None:
    """What a new array meets that may be an array of another library, and whether that exists when it is made."""
    company, parameter = context.program.company(node), unproved(context, node)
    if company.partner is not None:
        return company.partner, exists(context, company.partner, node)
    return (parameter, True) if parameter is not None and company.is_returned and parameter in measured(node) else None


def measured(node: ast.expr) -> set[str]:
    """The variables whose length or shape an expression uses."""
    found = set()
    for each in ast.walk(node):
        match each:
            case ast.Attribute(value=ast.Name(id=name), attr="shape" | "size"):
                found.add(name)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                found.add(name)
    return found


def exists(context: Context, partner: str, node: ast.expr) -> bool:
    """Whether a variable, or the object of an attribute, has its value before a call and no other one afterwards."""
    name = partner.partition(".")[0]
    function = context.function(node)
    bindings = [each for each in ast.walk(function) if _binds(each, name)] if function is not None else []
    return all(each.lineno < context.statement(node).lineno for each in bindings)


def _binds(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)


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
    return sum(_binds(each, name) for each in ast.walk(function))
