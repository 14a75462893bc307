"""The values of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from xarrayops.plugin.dtypes import REAL_OF
from xarrayops.port.source import numpy_results
from xarrayops.port.source.indices import element_of
from xarrayops.port.source.names import Names, of_numpy
from xarrayops.port.source.state import State
from xarrayops.port.source.value import (
    ARRAY,
    BOOLEAN,
    FLOAT,
    INTEGER,
    NOTHING,
    OTHER,
    SCALAR,
    SEQUENCE,
    STRING,
    Value,
    array,
    common_dtype,
    common_ndim,
    joined,
    member,
    of_constant,
)

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
IN_PLACE_METHODS = frozenset(
    ("fill", "sort", "put", "partition", "itemset", "resize", "setflags", "setfield", "byteswap")
)
"""Methods of NumPy's arrays that change the array and return None."""
_NUMBERS = {
    "float": FLOAT,
    "int": INTEGER,
    "bool": BOOLEAN,
    "len": INTEGER,
    "complex": Value(SCALAR, "complex"),
    "isinstance": BOOLEAN,
}
_SAME_MEMBERS = ("list", "tuple", "sorted", "reversed", "iter", "set")
LocalCall = Callable[[ast.Call, list[Value], State], Value | None]


class Expressions:
    """Finds the value of each expression and keeps it."""

    def __init__(self, names: Names, call_local: LocalCall) -> None:
        self.names = names
        self.values: dict[ast.AST, Value] = {}
        self._call_local = call_local

    def of(self, node: ast.expr, state: State) -> Value:
        """The value of an expression; what several visits find is joined."""
        visit = getattr(self, f"_{type(node).__name__}", self._others)
        value: Value = visit(node, state)
        self.values[node] = joined(self.values.get(node), value)
        return value

    def _others(self, node: ast.expr, state: State) -> Value:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.of(child, state)
        return NOTHING

    def _Constant(self, node: ast.Constant, state: State) -> Value:
        return of_constant(node.value)

    def _JoinedStr(self, node: ast.JoinedStr, state: State) -> Value:
        self._others(node, state)
        return STRING

    def _Lambda(self, node: ast.Lambda, state: State) -> Value:
        return Value(OTHER)

    def _Name(self, node: ast.Name, state: State) -> Value:
        if self.names.resolve(node) is not None:
            return Value(OTHER)
        return state.load(node.id)

    def _Attribute(self, node: ast.Attribute, state: State) -> Value:
        name = self.names.resolve(node)
        if name is not None:
            constant = self.names.function_name(node) if name.count(".") < 3 else None
            return (
                FLOAT
                if constant in ("pi", "e", "inf", "nan", "euler_gamma") or name.startswith("math.")
                else Value(OTHER)
            )
        base = self.of(node.value, state)
        if base.is_array:
            return _attribute(base, node.attr)
        path = dotted(node)
        if path is not None and state.knows(path):
            return state.load(path)
        return NOTHING._replace(views=base.views | ({path} if path else set()))

    def _Subscript(self, node: ast.Subscript, state: State) -> Value:
        base = self.of(node.value, state)
        self.of(node.slice, state)
        if self.names.numpy_name(node.value) in ("r_", "c_", "mgrid", "ogrid"):
            return array()
        return element_of(base, node.slice, self.values)

    def _Slice(self, node: ast.Slice, state: State) -> Value:
        self._others(node, state)
        return Value(OTHER)

    def _Tuple(self, node: ast.Tuple | ast.List, state: State) -> Value:
        items = [self.of(item, state) for item in node.elts]
        views = frozenset().union(*(item.views for item in items))
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return Value(SEQUENCE, views=views)
        return Value(SEQUENCE, views=views, items=tuple(items))

    _List = _Tuple

    def _Starred(self, node: ast.Starred, state: State) -> Value:
        return self.of(node.value, state)

    def _Dict(self, node: ast.Dict, state: State) -> Value:
        parts = [self.of(part, state) for part in (*node.keys, *node.values) if part is not None]
        return Value(OTHER, views=frozenset().union(*(part.views for part in parts)))

    def _BinOp(self, node: ast.BinOp, state: State) -> Value:
        return self.operated(node.op, self.of(node.left, state), self.of(node.right, state))

    def operated(self, op: ast.operator, left: Value, right: Value) -> Value:
        """The value of an operator with two operands."""
        operands = [left, right]
        if left.kind == OTHER or right.kind == OTHER:
            return Value(OTHER) if left.kind in (OTHER, SCALAR, SEQUENCE) else NOTHING
        if not left.is_array and not right.is_array:
            if left.kind == SCALAR and right.kind == SCALAR:
                return Value(SCALAR, "float" if isinstance(op, ast.Div) else common_dtype(left, right))
            if SEQUENCE in (left.kind, right.kind):
                return Value(
                    SEQUENCE,
                    views=left.views | right.views,
                    element=joined(member(left), member(right))
                    if left.kind == right.kind
                    else member(left if left.kind == SEQUENCE else right),
                )
            return NOTHING._replace(fresh=True)
        certain = all(value.certain for value in operands if value.is_array)
        if isinstance(op, ast.MatMult):
            return array(common_dtype(*operands), numpy_results.product_ndim(left, right), certain=certain)
        dtype = numpy_results.ufunc_dtype(UFUNCS[type(op)], operands)
        return array(dtype, common_ndim(*operands), certain=certain)

    def _UnaryOp(self, node: ast.UnaryOp, state: State) -> Value:
        operand = self.of(node.operand, state)
        if isinstance(node.op, ast.Not):
            return BOOLEAN
        return operand._replace(views=frozenset(), fresh=True) if operand.kind in (ARRAY, SCALAR) else NOTHING

    def _BoolOp(self, node: ast.BoolOp, state: State) -> Value:
        return self._any(*(self.of(value, state) for value in node.values))

    def _IfExp(self, node: ast.IfExp, state: State) -> Value:
        self.of(node.test, state)
        return self._any(self.of(node.body, state), self.of(node.orelse, state))

    def _any(self, *values: Value) -> Value:
        result = None
        for value in values:
            result = joined(result, value)
        return result or NOTHING

    def _Compare(self, node: ast.Compare, state: State) -> Value:
        operands = [self.of(each, state) for each in (node.left, *node.comparators)]
        if isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return BOOLEAN
        arrays = [value for value in operands if value.is_array]
        if arrays:
            return array("bool", common_ndim(*operands), certain=all(value.certain for value in arrays))
        return BOOLEAN if all(value.kind in (SCALAR, OTHER) for value in operands) else NOTHING._replace(fresh=True)

    def _NamedExpr(self, node: ast.NamedExpr, state: State) -> Value:
        value = self.of(node.value, state)
        state.bind(node.target.id, value)
        return value

    def _Yield(self, node: ast.Yield | ast.YieldFrom, state: State) -> Value:
        if node.value is not None:
            state.store(self.of(node.value, state).views)
        return NOTHING

    _YieldFrom = _Yield

    def _ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, state: State) -> Value:
        inner = self._generators(node.generators, state)
        return Value(SEQUENCE, element=self.of(node.elt, inner))

    _SetComp = _GeneratorExp = _ListComp

    def _DictComp(self, node: ast.DictComp, state: State) -> Value:
        inner = self._generators(node.generators, state)
        self.of(node.key, inner)
        self.of(node.value, inner)
        return Value(OTHER)

    def _generators(self, generators: list[ast.comprehension], state: State) -> State:
        inner = state.copy()
        for generator in generators:
            bind(generator.target, member(self.of(generator.iter, inner)), inner)
            for condition in generator.ifs:
                self.of(condition, inner)
        return inner

    def _Call(self, node: ast.Call, state: State) -> Value:
        name = self.names.resolve(node.func)
        base = self.of(node.func.value, state) if isinstance(node.func, ast.Attribute) and name is None else None
        if base is None:
            self.of(node.func, state)
        values = [self.of(argument, state) for argument in node.args]
        given = {keyword.arg: self.of(keyword.value, state) for keyword in node.keywords}
        of_all = frozenset().union(*(value.views for value in (*values, *given.values())))
        keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        if "out" in given and given["out"].is_array and (base is not None or of_numpy(name)):
            return given["out"]
        if (numpy_name := self.names.function_name(node.func)) is not None:
            return numpy_results.result(
                numpy_results.Call(numpy_name, node.args, values, keywords, self.names.function_name)
            )
        if (updated := self._updated(node)) is not None:
            return updated
        if name is not None and name.startswith("builtins."):
            return _builtin(name.removeprefix("builtins."), values, of_all)
        if base is not None and base.is_array and isinstance(node.func, ast.Attribute):
            return self._method(node.func.attr, node, base, values, keywords)
        if name is None and (value := self._call_local(node, values, state)) is not None:
            return value
        if (
            isinstance(node.func, ast.Attribute)
            and base is not None
            and node.func.attr in ("append", "add", "insert", "extend", "put", "update")
        ):
            state.store(of_all)
        return NOTHING._replace(views=of_all | (base.views if base is not None else frozenset()))

    def _updated(self, node: ast.Call) -> Value | None:
        """``xo.at(x)[i].set(v)`` and so on: an array as x, or its elements; None for other calls."""
        selected = node.func.value if isinstance(node.func, ast.Attribute) else None
        at = selected.value if isinstance(selected, ast.Subscript) else None
        if not isinstance(at, ast.Call) or self.names.resolve(at.func) != "xarrayops.at" or len(at.args) != 1:
            return None
        assert isinstance(node.func, ast.Attribute)
        assert isinstance(selected, ast.Subscript)
        base = self.values.get(at.args[0], NOTHING)
        if node.func.attr == "get":
            found = element_of(base, selected.slice, self.values)
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
        call = numpy_results.Call(name, node.args, [base, *values], keywords, self.names.function_name)
        return numpy_results.result(call)._replace(certain=base.certain)


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
    if name in ("flat", "base", "data"):
        return NOTHING._replace(views=base.views)
    return Value(OTHER)


def _builtin(name: str, values: list[Value], views: frozenset[str]) -> Value:
    """A call of a function of Python."""
    first = values[0] if values else NOTHING
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name == "range":
        return Value(SEQUENCE, element=INTEGER)
    if name == "enumerate":
        return Value(SEQUENCE, views=views, element=Value(SEQUENCE, items=(INTEGER, member(first))))
    if name == "zip":
        return Value(SEQUENCE, views=views, element=Value(SEQUENCE, items=tuple(map(member, values))))
    if name in _SAME_MEMBERS:
        return Value(SEQUENCE, views=views, items=first.items, element=None if first.items else member(first))
    if name == "round" and first.kind == SCALAR and len(values) == 1:
        return INTEGER
    if name in ("abs", "round", "pow"):
        return first._replace(views=frozenset(), fresh=True)
    if name in ("min", "max", "sum"):
        return member(first) if len(values) == 1 else joined(first, values[-1]) if values else NOTHING
    return (
        Value(OTHER)
        if name in ("str", "repr", "print", "type", "open", "hash", "id", "dict")
        else NOTHING._replace(views=views)
    )


def dotted(node: ast.expr) -> str | None:
    """The text of a variable or of an attribute of one, such as ``self.x``; None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    return None


def bind(target: ast.expr, value: Value, state: State) -> None:
    """Bind the names of a target to a value, or to its members."""
    if isinstance(target, ast.Tuple | ast.List):
        starred = any(isinstance(each, ast.Starred) for each in target.elts)
        items = (
            value.items if value.items is not None and len(value.items) == len(target.elts) and not starred else None
        )
        for i, each in enumerate(target.elts):
            bind(each, items[i] if items is not None else member(value), state)
    elif isinstance(target, ast.Starred):
        bind(target.value, Value(SEQUENCE, views=value.views, element=member(value)), state)
    elif (path := dotted(target)) is not None:
        state.bind(path, value)
    elif isinstance(target, ast.Subscript):
        state.store(value.views)
