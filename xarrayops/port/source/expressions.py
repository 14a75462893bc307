"""The values of expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from xarrayops.plugin.dtypes import REAL_OF
from xarrayops.port.source.indices import element_of
from xarrayops.port.source.interface import DRAWS, IN_PLACE_METHODS
from xarrayops.port.source.names import FOR_ALL, Names, has_starred, of_numpy
from xarrayops.port.source.numpy_results import Call, product_ndim, result, ufunc_dtype
from xarrayops.port.source.value import (
    ARRAY,
    BOOLEAN,
    FLOAT,
    INTEGER,
    NOTHING,
    OTHER,
    SCALAR,
    SEQUENCE,
    State,
    Value,
    array,
    common_dtype,
    common_ndim,
    joined,
    member,
    of_constant,
)
from xarrayops.port.source.walk import Called, Walker

UFUNCS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "power",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Invert: "invert",
}
"""NumPy's function for each operator."""
_RESULTS = {
    **dict.fromkeys(("bool", "isinstance"), BOOLEAN),
    **dict.fromkeys(("int", "len"), INTEGER),
    "float": FLOAT,
    "complex": Value(SCALAR, "complex"),
    "range": Value(SEQUENCE, element=INTEGER),
    **dict.fromkeys(("str", "repr", "print", "type", "open", "hash", "id", "dict"), Value(OTHER)),
}
"""The results of Python's functions that do not depend on the arguments."""
_CONSTANTS = ("pi", "e", "inf", "nan", "euler_gamma")
_WHOLE = ("ceil", "comb", "factorial", "floor", "gcd", "isqrt", "lcm", "perm", "trunc")
"""The functions of Python's math whose results are integers."""
_SAME_MEMBERS = ("list", "tuple", "sorted", "reversed", "iter", "set")


class Expressions(Walker[Value, State]):
    """Finds and records the value of each expression; the results of several visits are joined."""

    unknown = NOTHING

    def __init__(self, names: Names, state: State, known: dict[ast.AST, Value]) -> None:
        super().__init__(names, state)
        self.known = known

    def of(self, node: ast.expr | None) -> Value:
        """The value of an expression."""
        value = super().of(node)
        if node is not None:
            self.known[node] = joined(self.known.get(node), value)
        return value

    def either(self, values: Iterable[Value]) -> Value:
        """A value that is one of several."""
        result = None
        for value in values:
            result = joined(result, value)
        return result or NOTHING

    def bind(self, name: str, value: Value) -> None:
        """A variable gets a value."""
        self.state.bind(name, value)

    def gathered(self, node: ast.expr, parts: Sequence[Value]) -> Value:
        """A container: the members of lists and tuples are known, if none is unpacked."""
        if isinstance(node, ast.Set):
            return NOTHING
        if not isinstance(node, ast.Tuple | ast.List):
            return Value(OTHER, views=_views(parts))
        return Value(SEQUENCE, views=_views(parts), items=None if has_starred(node.elts) else tuple(parts))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        outer, self.state = self.state, self.state.copy()
        parts = self.comprehend(node)
        self.state = outer
        return Value(OTHER) if isinstance(node, ast.DictComp) else Value(SEQUENCE, element=parts[0])

    _ListComp = _SetComp = _GeneratorExp = _DictComp = _comprehension

    def _Constant(self, node: ast.Constant) -> Value:
        return of_constant(node.value)

    def _JoinedStr(self, node: ast.JoinedStr | ast.Slice) -> Value:
        self._others(node)
        return Value(OTHER)

    _Slice = _JoinedStr

    def _Lambda(self, node: ast.Lambda) -> Value:
        return Value(OTHER)

    def _Name(self, node: ast.Name) -> Value:
        return self.state.load(node.id) if self.names.resolve(node) is None else Value(OTHER)

    def _Attribute(self, node: ast.Attribute) -> Value:
        name = self.names.resolve(node)
        if name is not None:
            is_number = name.startswith("math.") or self.names.function_name(node) in _CONSTANTS
            return FLOAT if is_number else Value(OTHER)
        base = self.of(node.value)
        if base.is_array:
            return _attribute(base, node.attr)
        path = dotted(node)
        if path is not None and self.state.knows(path):
            return self.state.load(path)
        return NOTHING._replace(views=base.views | ({path} if path else set()))

    def _Subscript(self, node: ast.Subscript) -> Value:
        base = self.of(node.value)
        self.of(node.slice)
        if self.names.numpy_name(node.value) in ("r_", "c_", "mgrid", "ogrid"):
            return array()
        return element_of(base, node.slice, self.known)

    def _BinOp(self, node: ast.BinOp) -> Value:
        return operated(node.op, self.of(node.left), self.of(node.right))

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        operand = self.of(node.operand)
        if isinstance(node.op, ast.Not):
            return BOOLEAN
        return operand._replace(views=frozenset(), fresh=True) if operand.kind in (ARRAY, SCALAR) else NOTHING

    def _Compare(self, node: ast.Compare) -> Value:
        operands = [self.of(each) for each in (node.left, *node.comparators)]
        if isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return BOOLEAN
        arrays = [value for value in operands if value.is_array]
        if arrays:
            return array("bool", common_ndim(*operands), certain=all(value.certain for value in arrays))
        return BOOLEAN if all(value.kind in (SCALAR, OTHER) for value in operands) else NOTHING._replace(fresh=True)

    def _Yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        self.state.store(self.of(node.value).views)
        return NOTHING

    _YieldFrom = _Yield

    def call(self, call: Called[Value]) -> Value:
        """The result of a call."""
        node, name, base, values, given = call
        if base is not None and isinstance(node.func, ast.Attribute) and node.func.attr in IN_PLACE_METHODS:
            self.write(node, node.func.value)
        of_all = _views(call.arguments)
        keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        if "out" in given and given["out"].is_array and (base is not None or of_numpy(name)):
            return given["out"]
        if (numpy_name := self.names.function_name(node.func)) is not None:
            return result(Call(numpy_name, node.args, values, keywords, self.names.function_name))
        if (at := self.names.updated(node)) is not None:
            return self._updated(node, at)
        if name is not None and name.startswith("math."):
            return INTEGER if name.removeprefix("math.") in _WHOLE else FLOAT
        if name is not None and name.startswith("builtins."):
            return _builtin(name.removeprefix("builtins."), values, of_all)
        if name is not None and _is_of_class(name):
            return Value(OTHER, views=of_all)
        if isinstance(node.func, ast.Attribute) and base is not None:
            if isinstance(node.func.value, ast.Constant | ast.JoinedStr):
                return Value(OTHER)  # a method of text
            if base.is_array:
                return self._method(node.func.attr, node, base, values, keywords)
            if node.func.attr in ("append", "add", "insert", "extend", "put", "update"):
                self.state.store(of_all)
            is_new = node.func.attr == "copy" or node.func.attr in DRAWS
            return NOTHING._replace(fresh=True) if is_new else NOTHING._replace(views=of_all | base.views)
        if name is None and (value := self.call_function(call)) is not None:
            return value
        return NOTHING._replace(views=of_all)

    def call_function(self, call: Called[Value]) -> Value | None:
        """The result of a function that the module defines; None for all other calls."""
        raise NotImplementedError

    def _updated(self, node: ast.Call, at: ast.Call) -> Value:
        """The methods of ``xo.at(x)[i]``, such as ``set``: an array like x, or its elements."""
        base = self.known.get(at.args[0], NOTHING)
        match node.func:
            case ast.Attribute(attr="get", value=ast.Subscript(slice=index)):
                found = element_of(base, index, self.known)
                return found._replace(views=frozenset(), fresh=True, is_view=False)
        return base

    def _method(
        self, name: str, node: ast.Call, base: Value, values: list[Value], keywords: dict[str, ast.expr]
    ) -> Value:
        """A method of an array."""
        if name == "item":
            return Value(SCALAR, base.dtype_kind)
        if name in ("tolist", "tobytes") or name in IN_PLACE_METHODS:
            return Value(OTHER)
        if name in ("copy", "flatten"):
            return array(base.dtype, 1 if name == "flatten" else base.ndim, certain=base.certain)
        call = Call(name, node.args, [base, *values], keywords, self.names.function_name)
        return result(call)._replace(certain=base.certain)


def _views(values: Iterable[Value]) -> frozenset[str]:
    return frozenset().union(*(value.views for value in values))


def ufunc(op: ast.operator) -> str:
    """NumPy's function of an operator."""
    return "matmul" if isinstance(op, ast.MatMult) else UFUNCS[type(op)]


def operated(op: ast.operator, left: Value, right: Value) -> Value:
    """The value of an operator with two operands."""
    operands = (left, right)
    if left.kind == OTHER or right.kind == OTHER:
        return Value(OTHER) if left.kind in (OTHER, SCALAR, SEQUENCE) else NOTHING
    if not left.is_array and not right.is_array:
        if left.kind == right.kind == SCALAR:
            return Value(SCALAR, "float" if isinstance(op, ast.Div) else common_dtype(left, right))
        if SEQUENCE not in (left.kind, right.kind):
            return NOTHING._replace(fresh=True)
        members = [member(value) for value in operands if value.kind == SEQUENCE]
        return Value(SEQUENCE, views=_views(operands), element=joined(members[0], members[-1]))
    certain = all(value.certain for value in operands if value.is_array)
    if isinstance(op, ast.MatMult):
        return array(common_dtype(*operands), product_ndim(left, right), certain=certain)
    dtype = ufunc_dtype(UFUNCS[type(op)], operands)
    return array(dtype, common_ndim(*operands), certain=certain)


def _attribute(base: Value, name: str) -> Value:
    """An attribute of an array."""
    if name == "shape":
        return Value(SEQUENCE, items=None if base.ndim is None else (INTEGER,) * base.ndim, element=INTEGER)
    if name in ("ndim", "size", "itemsize", "nbytes"):
        return INTEGER
    if name in ("T", "mT"):
        return base._replace(is_view=True)
    if name in ("real", "imag"):
        return base._replace(dtype=REAL_OF.get(base.dtype or "", base.dtype), is_view=True)
    return NOTHING._replace(views=base.views) if name in ("flat", "base", "data") else Value(OTHER)


def _is_of_class(name: str) -> bool:
    """Whether a dotted name is a class of another package or of the standard library, by its capital letter."""
    package = name.partition(".")[0]
    return bool(package) and package not in FOR_ALL and name.rpartition(".")[2][:1].isupper()


def _builtin(name: str, values: list[Value], views: frozenset[str]) -> Value:
    """A call of a function of Python."""
    first = values[0] if values else NOTHING
    if name in _RESULTS:
        return _RESULTS[name]
    if name in ("enumerate", "zip"):
        items = (INTEGER, member(first)) if name == "enumerate" else tuple(map(member, values))
        return Value(SEQUENCE, views=views, element=Value(SEQUENCE, items=items))
    if name in _SAME_MEMBERS:
        return Value(SEQUENCE, views=views, items=first.items, element=None if first.items else member(first))
    if name == "round" and first.kind == SCALAR and len(values) == 1:
        return INTEGER
    if name in ("abs", "round", "pow"):
        return first._replace(views=frozenset(), fresh=True)
    if name in ("min", "max", "sum"):
        return member(first) if len(values) == 1 else joined(first, values[-1]) if values else NOTHING
    return NOTHING._replace(views=views)


def dotted(node: ast.expr) -> str | None:
    """The text of a variable or of an attribute of one, such as ``self.x``; None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    return None
