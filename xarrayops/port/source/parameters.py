"""What the parameters of a function are, inferred from annotations, defaults and uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import numpy as np

from xarrayops._core.numpy_names import METHODS
from xarrayops._surface import CREATION
from xarrayops.port.source.names import OTHER_ARRAYS, FunctionNode, Names, arguments, is_none, last_name
from xarrayops.port.source.numpy_results import is_elementwise
from xarrayops.port.source.value import ARRAY, NOTHING, OTHER, SCALAR, WEAK, Value, of_constant, words

_PYTHON = {name for kind in (list, dict, set, str, bytes, tuple, int, float, complex) for name in dir(kind)}
_OF_OTHERS = words("data base device view item take size fill put dot")
ARRAY_NAMES = frozenset(METHODS.names() - _PYTHON - _OF_OTHERS)
"""Attributes and methods that only arrays have."""
_ANNOTATIONS = ("ndarray", "NDArray", "Array", "Tensor")
_DOCUMENTED = re.compile(r"^[ ]*(\w+(?:, *\w+)*) *(?:: *|\((?=[^)\n]*\) *:))([^\n]*)", re.MULTILINE)
_KINDS = {
    **dict.fromkeys(("int", "integer", "float", "bool", "boolean", "scalar", "number"), SCALAR),
    **dict.fromkeys(("str", "string", "dict", "callable", "function"), OTHER),
}
_SEVERAL = re.compile("array|list|tuple|sequence|iterable|series|tensor|vector|matrix|image")
"""Words of a docstring for what is neither a number nor text alone."""
_OF_LENGTHS = ("bartlett", "blackman", "fft.fftfreq", "fft.rfftfreq", "hamming", "hanning", "kaiser")
_TAKES_ANYTHING = CREATION | words(
    "array asanyarray ascontiguousarray isscalar size ndim shape round clip dtype can_cast result_type prod savez "
    "save savetxt load loadtxt genfromtxt fromfile fromstring frombuffer memmap iterable copy array_equal allclose "
    "testing random geomspace identity logspace tri"
)


def argument_of(name: str) -> str:
    """The name, among views, of the caller's argument: the parameter itself can be bound again."""
    return f"{name} (argument)"


def parameter_values(node: FunctionNode, names: Names) -> dict[str, Value]:
    """What is known of the parameters of a function when it is called."""
    used = _used_as_arrays(node, names)
    integers = _used_as_integers(node, names)
    defaults = _defaults(node)
    documented = _documented(node)
    values = {}
    for argument in arguments(node):
        name = argument.arg
        value = _annotated(argument.annotation)
        if value is None and name in used:  # data frames have the same attributes
            value = Value(ARRAY, certain=used[name] and not names.packages & OTHER_ARRAYS)
        value = value or documented.get(name)
        if value is None and name in integers:
            value = Value(SCALAR, "int")
        if value is None and isinstance(default := defaults.get(name), ast.Constant) and default.value is not None:
            value = of_constant(default.value)
        value = value or NOTHING
        values[name] = value if value.kind == SCALAR else value._replace(views=frozenset((argument_of(name),)))
    return values


def may_be_none(node: FunctionNode, name: str) -> bool:
    """Whether a parameter may be None, by its default or its annotation."""
    annotation = next((each.annotation for each in arguments(node) if each.arg == name), None)
    text = "" if annotation is None else ast.unparse(annotation)
    return is_none(_defaults(node).get(name)) or "None" in text or "Optional" in text


def _defaults(node: FunctionNode) -> dict[str, ast.expr]:
    """The defaults by the names of the parameters."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    by_position = zip(reversed(positional), reversed(args.defaults), strict=False)
    by_keyword = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return {each.arg: default for each, default in (*by_position, *by_keyword) if default is not None}


def _annotated(node: ast.expr | None) -> Value | None:
    """The value that an annotation names; None if it does not say whether it is an array or a number."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return None
    if isinstance(node, ast.Subscript):
        node = node.value
    name = last_name(node)
    if name in WEAK:
        return Value(SCALAR, name)
    if name in ("str", "bytes", "dict", "Dict", "Mapping", "MutableMapping", "Callable"):
        return Value(OTHER)
    return Value(ARRAY) if name in _ANNOTATIONS else None


def _documented(node: FunctionNode) -> dict[str, Value]:
    """The parameters that the docstring calls numbers, text or functions: ``n : int``, ``n (int):``."""
    text = None if isinstance(node, ast.Lambda) else ast.get_docstring(node)
    found: dict[str, Value] = {}
    for names, kind in _DOCUMENTED.findall(text or ""):
        word = re.match(r"[a-z]*", kind.lower())
        if word is not None and word[0] in _KINDS and not _SEVERAL.search(kind.lower()):
            found |= dict.fromkeys(re.split(r"\s*,\s*", names), Value(_KINDS[word[0]], certain=False))
    return found


def _used_as_arrays(node: FunctionNode, names: Names) -> dict[str, bool]:
    """The names that are used as only arrays can be, and whether the use is proof."""
    body = node.body if isinstance(node.body, list) else [node.body]
    used: dict[str, bool] = {}
    others = {"self", "cls"}
    for inner in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and not is_of_arrays(inner.attr):
            others.add(inner.value.id)
        for name, is_proof in _uses(inner, names):
            used[name] = used.get(name, False) or is_proof
    return {name: is_proof for name, is_proof in used.items() if name not in others}


def is_of_arrays(attribute: str) -> bool:
    """Whether NumPy arrays have an attribute; an object with other attributes, such as ``xp``, is not an array."""
    return hasattr(np.ndarray, attribute) or attribute in METHODS.names()


def _used_as_integers(node: FunctionNode, names: Names) -> set[str]:
    """The names that are lengths: arguments of ``range``, and parts of the shapes of new arrays."""
    extents: list[ast.expr] = []
    for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call) and inner.args):
        if names.resolve(call.func) == "builtins.range":
            extents += call.args
        elif isinstance(call.args[0], ast.Tuple) and names.numpy_name(call.func) in ("zeros", "ones", "empty", "full"):
            extents += call.args[0].elts
    return {each.id for each in extents if isinstance(each, ast.Name)}


def _uses(node: ast.AST, names: Names) -> Iterator[tuple[str, bool]]:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in ARRAY_NAMES or attribute == "size":
            yield name, attribute not in ("size", "dtype")
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=parts)):
            yield name, any(map(_is_of_arrays, parts))
        case ast.BinOp(op=ast.MatMult()):
            yield from ((side.id, True) for side in (node.left, node.right) if isinstance(side, ast.Name))
        case ast.BinOp(op=ast.Sub() | ast.Mult() | ast.Div() | ast.Pow()):
            yield from ((name, True) for name in _sliced(node))
        case ast.Call(args=[ast.Name(id=name), *_]):
            function = names.function_name(node.func)
            if function is None or function in _OF_LENGTHS:
                return
            is_open = not {function, function.partition(".")[0]}.isdisjoint(_TAKES_ANYTHING)
            if not is_open and not is_elementwise(function):
                yield name, True


def _sliced(node: ast.expr) -> Iterator[str]:
    """The names of which a slice is an operand, as in ``0.5 * (x[1:] + x[:-1])``; lists have no such operators."""
    match node:
        case ast.BinOp():
            yield from _sliced(node.left)
            yield from _sliced(node.right)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()):
            yield name


def _is_of_arrays(part: ast.expr) -> bool:
    """Whether a part of an index is one that only arrays take."""
    return isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, Ellipsis))
