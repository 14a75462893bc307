"""The code of advice: what to write instead, so that it means the same on every library."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence

from xarrayops.numpy._ufunc import UPDATES as AT_METHODS
from xarrayops.port.source import Program
from xarrayops.port.source.expressions import operated, ufunc
from xarrayops.port.source.indices import MASK, has_key, is_negative, kind, parts
from xarrayops.port.source.interface import IN_PLACE_METHODS, has, operands, out_of
from xarrayops.port.source.names import has_starred
from xarrayops.port.source.numpy_results import elementwise
from xarrayops.port.source.value import OTHER, SCALAR, SEQUENCE, UNKNOWN, words

_ATTRIBUTES, _OF_ARRAYS = words("T imag mT real size"), words("byteswap getfield view")
"""Attributes that are functions of NumPy, and methods whose results are arrays."""
COMPLEX_ON_DASK = ("linalg.eig", "linalg.eigvals")
_COPY = "pass  # it changes a copy, which nothing reads"


def call_of(
    node: ast.Call, function: str, args: Sequence[ast.expr] | None = None, *, without: Container[str] = (), **added: str
) -> str:
    """A call of another function, or with other arguments; ``added`` are further keywords."""
    kept = [each for each in node.keywords if each.arg not in without]
    new = [ast.keyword(name, ast.Name(text)) for name, text in added.items()]
    return ast.unparse(ast.Call(ast.Name(function), [*(node.args if args is None else args)], [*kept, *new]))


def complex_on_dask(program: Program, node: ast.Call) -> str:
    """The problem of functions whose dtype depends on values."""
    return f"{program.text(node.func)} gives complex numbers on Dask, and NumPy real ones where all are real"


def shared(code: str) -> str:
    """The code with a remark, where others see the change of the old array."""
    return code if code == _COPY else f"{code}  # other variables keep the old array"


def at(array: str, index: ast.expr) -> str:
    """``xo.at(array)[index]``."""
    return ast.unparse(ast.Subscript(ast.Name(f"xo.at({array})"), index))


def statement(program: Program, node: ast.stmt) -> str | None:
    """The statement for an assignment to elements that works under a compiler, or else for any assignment."""
    return where(program, node) or assignment(program, node)


def assignment(program: Program, node: ast.stmt) -> str | None:
    """The statement for ``x[i] = v``, ``x[i] += v`` or several such targets; None if the array has no name."""
    if isinstance(node, ast.AugAssign):
        if not isinstance(node.target, ast.Subscript):
            return _changed(program, node.target, _operated(program, node, node.target))
        once, again = (ast.Subscript(node.target.value, each) for each in program.evaluated_once(node.target.slice))
        return _changed(program, once, _operated(program, node, again))
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return _assigned(program, node.target, ast.unparse(node.value))
    if not isinstance(node, ast.Assign):
        return None
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        return _assigned(program, node.targets[0], ast.unparse(node.value))
    found: list[tuple[str, ast.Subscript]] = []
    targets = [_named(program, each, found) for each in node.targets]
    changed = [_assigned(program, element, name) for name, element in found]
    value = node.value
    if isinstance(value, ast.Tuple | ast.List):
        # Elements are views on some libraries, and later statements change them.
        value = ast.Tuple([_copied(each) for each in value.elts])
    first = ast.unparse(ast.Assign(targets, value, lineno=node.lineno))
    return None if None in changed else "; ".join([first, *map(str, changed)])


def _copied(node: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("np.copy"), [node], []) if isinstance(node, ast.Subscript) else node


def _named(program: Program, target: ast.expr, found: list[tuple[str, ast.Subscript]]) -> ast.expr:
    """A target with new variables for its elements of arrays, which are added to ``found``."""
    match target:
        case ast.Subscript() if not has_key(target.slice):
            name = f"value{len(found) + 1}"
            while any(node.id == name for node in program.nodes(ast.Name)):
                name += "_"
            found.append((name, target))
            return ast.Name(name)
        case ast.Tuple() | ast.List():
            return type(target)([_named(program, each, found) for each in target.elts])
        case ast.Starred():
            return ast.Starred(_named(program, target.value, found))
    return target


def _assigned(program: Program, target: ast.expr, value: str) -> str | None:
    assert isinstance(target, ast.Subscript)
    if is_copied(program, target.value):
        return _COPY
    return bound(program, target.value, f"{at(read(target.value), target.slice)}.assign({value})")


def is_copied(program: Program, node: ast.expr) -> bool:
    """Whether a target such as ``x[mask]`` is a copy that has no name, so that its change has no effect."""
    is_element = isinstance(node, ast.Subscript) and not has_key(node.slice)
    return is_element and program.value(node).is_array and program.value(node).fresh


def _changed(program: Program, target: ast.expr, new: str) -> str | None:
    """``x = xo.at(x)[i].assign(new)``, or with ``[...]`` for the whole array."""
    if isinstance(target, ast.Subscript):
        return _assigned(program, target, new)
    return bound(program, target, f"xo.at({read(target)})[...].assign({new})")


def _operated(program: Program, node: ast.AugAssign, target: ast.expr) -> str:
    """The value of ``x + v`` for ``x += v``."""
    left: ast.expr = ast.Name(read(target))
    if isinstance(target, ast.Subscript):
        is_plain = not any(isinstance(part, ast.List) or is_negative(part) for part in parts(target.slice))
        selected = at(read(target.value), target.slice)
        array = ast.Subscript(ast.Name(read(target.value)), target.slice)
        is_whole = isinstance(target.slice, ast.Constant) and target.slice.value is Ellipsis
        left = array.value if is_whole else ast.Name(ast.unparse(array) if is_plain else f"{selected}.get()")
    return ast.unparse(ast.BinOp(left, node.op, node.value))


def operator(program: Program, node: ast.BinOp) -> str:
    """The function of NumPy for an operator."""
    return f"np.{ufunc(node.op)}({program.text(node.left)}, {program.text(node.right)})"


def read(target: ast.expr) -> str:
    """The value of the array that a target names."""
    match target:
        case ast.Attribute(attr="flat", value=base):
            return f"np.ravel({ast.unparse(base)})"
        case ast.Attribute(attr="T", value=base):
            return f"np.transpose({ast.unparse(base)})"
    return ast.unparse(target)


def bound(program: Program, target: ast.expr, new: str) -> str | None:
    """The statement that gives a new array to what a target names; None if nothing can hold it."""
    match target:
        case ast.Name():
            return f"{target.id} = {new}"
        case ast.Attribute(attr="T", value=base):
            return bound(program, base, f"np.transpose({new})")
        case (
            ast.Attribute(attr="flat", value=base)
            | ast.Call(func=ast.Attribute(attr="ravel", value=ast.Name(id="np")), args=[base])
            | ast.Call(func=ast.Attribute(attr="ravel", value=base), args=[])
        ):
            return bound(program, base, f"np.reshape({new}, {ast.unparse(base)}.shape)")
        case ast.Attribute(attr="real" | "imag" | "values" | "data"):
            return None
        case ast.Subscript(value=base, slice=index):
            if has_key(index) or program.value(base).kind in (UNKNOWN, SEQUENCE, OTHER):
                return f"{ast.unparse(target)} = {new}"
            return bound(program, base, f"{at(read(base), index)}.assign({new})")
        case ast.Attribute():
            return f"{ast.unparse(target)} = {new}"
    return None


def in_place(program: Program, node: ast.Call, target: ast.expr) -> str | None:
    """The code for a call that changes an array: ``np.copyto(x, v)``, ``x.sort()``, ``np.add(x, y, out=x)``."""
    name = program.names.numpy_name(node.func)
    if name is not None and out_of(node, name) is not None:
        return _out(program, node, target, name)
    method = node.func.attr if name is None and isinstance(node.func, ast.Attribute) else None
    if method is not None and out_of(node, None) is not None:
        return None
    args = node.args if method else node.args[1:]
    x, texts = read(target), [*map(ast.unparse, args)]
    mask = next((ast.unparse(each.value) for each in node.keywords if each.arg == "where"), None)
    match (method or str(name)).rpartition(".")[::2], texts:
        case (function, "at"), [_, value] if function in AT_METHODS:
            new = f"{at(x, args[0])}.{AT_METHODS[function]}({value})"
        case (_, "copyto" | "fill"), [value]:
            new = f"xo.at({x})[...].assign({value if mask is None else f'np.where({mask}, {value}, {x})'})"
        case (_, "putmask"), [condition, value]:
            new = f"xo.at({x})[...].assign(np.where({condition}, {value}, {x}))"
        case (_, "place"), [condition, value] if program.value(args[1]).kind == SCALAR:
            new = f"xo.at({x})[...].assign(np.where({condition}, {value}, {x}))"
        case (_, "put"), [_, value]:
            new = f"np.reshape({at(f'np.ravel({x})', args[0])}.assign({value}), {x}.shape)"
        case (_, "fill_diagonal"), [value] if not node.keywords:
            new = f"xo.fill_diagonal({x}, {value})"
        case (_, "sort" | "partition" as function), _:
            new = call_of(node, f"np.{function}", [ast.Name(x), *args])
        case _:
            return None
    return bound(program, target, new) if isinstance(program.parents[node], ast.Expr) else None


def _out(program: Program, node: ast.Call, target: ast.expr, name: str) -> str | None:
    """``y = xo.at(y)[...].assign(np.f(x))`` for ``np.f(x, out=y)``; in an expression, y gets its value by ``:=``."""
    count = operands(name)
    args = node.args if count is None else node.args[:count]
    new, x = call_of(node, ast.unparse(node.func), args, without=("out", "where", "casting")), read(target)
    mask = next((each.value for each in node.keywords if each.arg == "where"), None)
    if mask is not None:
        new = f"np.where({ast.unparse(mask)}, {new}, {x})"
    new = f"xo.at({x})[...].assign({new})"
    if isinstance(program.parents[node], ast.Expr):
        return bound(program, target, new)
    return f"({target.id} := {new})" if isinstance(target, ast.Name) else None


def attribute(program: Program, node: ast.stmt | ast.Call, name: str) -> str | None:
    """The code for ``x.shape = s``, and for the attributes whose elements are assigned."""
    if not isinstance(node, ast.Assign) or len(node.targets) > 1 or not isinstance(node.targets[0], ast.Attribute):
        return None
    base, value = node.targets[0].value, ast.unparse(node.value)
    x = read(base)
    new = {
        "shape": f"np.reshape({x}, {value})",
        "real": ast.unparse(ast.BinOp(node.value, ast.Add(), ast.Name(f"1j * np.imag({x})"))),
        "imag": f"np.real({x}) + {ast.unparse(ast.BinOp(ast.Constant(1j), ast.Mult(), node.value))}",
        "flat": f"np.reshape(xo.at(np.ravel({x}))[...].assign({value}), {x}.shape)",
    }.get(name)
    return None if new is None else bound(program, base, new)


def where(program: Program, node: ast.stmt) -> str | None:
    """``a = np.where(m, f(a), a)`` for ``a[m] = f(a[m])``, if f works element by element; it works under a compiler."""
    target = (
        node.target if isinstance(node, ast.AugAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
    )
    known = program.values.known
    if not isinstance(target, ast.Subscript) or kind(target.slice, known) != MASK:
        return None
    assert isinstance(node, ast.Assign | ast.AugAssign)
    old = ast.Subscript(target.value, target.slice, ast.Load())
    value = ast.BinOp(old, node.op, node.value) if isinstance(node, ast.AugAssign) else node.value
    mask_text, array = ast.dump(target.slice), program.value(target.value)
    is_read = any(isinstance(each, ast.Subscript) and ast.dump(each.slice) == mask_text for each in ast.walk(value))

    def leaf(node: ast.expr) -> ast.expr | None:
        """``a`` for ``a[m]``, and numbers."""
        match node:
            case ast.Subscript(value=whole, slice=index) if ast.dump(index) == mask_text:
                return whole
            case ast.Name() if program.value(node).kind not in (SCALAR, UNKNOWN):
                return None
        return node if isinstance(node, ast.Constant | ast.Name) else None

    whole = elementwise(program.names, value, leaf)
    if whole is None or not is_read or (isinstance(node, ast.Assign) and len(node.targets) > 1):
        return None
    text, x = f"np.where({ast.unparse(target.slice)}, {ast.unparse(whole)}, {read(target.value)})", read(target.value)
    result = program.value(node.value)
    if isinstance(node, ast.AugAssign):
        result = operated(node.op, array, result)
    if array.dtype is None or result.dtype != array.dtype:
        text = f"np.astype({text}, {x}.dtype)"
    new = bound(program, target.value, text)
    if new is None or (array.ndim is not None and array.ndim == program.value(target.slice).ndim):
        return new
    return f"{new}  # if the mask has the shape of {x}"


def method(program: Program, node: ast.Attribute, call: ast.Call | None) -> str:
    """The NumPy function of the same name with the array as the first argument, or the method of a copy in NumPy."""
    x, name = program.text(node.value), node.attr
    if call is not None and name in IN_PLACE_METHODS:
        return in_place(program, call, node.value) or f"a new array for {x}"
    if call is None and has(name):
        options = "*args, **options"
        return f"np.{name}({x})" if name in _ATTRIBUTES else f"lambda {options}: np.{name}({x}, {options})"
    if not has(name):
        on_host = f'xo.convert({x}, "numpy").{name}'
        on_host = on_host if call is None else call_of(call, on_host)
        new = f"np.asarray({on_host}, like={x})" if name in _OF_ARRAYS else on_host
        return f"np.ravel({x})" if name == "flat" else new
    assert call is not None
    keywords = [each for each in call.keywords if each.arg != "dtype" or name != "astype"]
    args = [*call.args, *(each.value for each in call.keywords if each not in keywords)]
    if name in ("reshape", "transpose") and (len(args) > 1 or has_starred(args)):
        args = [ast.Tuple(args)]
    args = [args[0], node.value, *args[1:]] if name == "compress" else [node.value, *args]
    return ast.unparse(ast.Call(ast.Name(f"np.{name}"), args, keywords))
