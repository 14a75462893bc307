"""One step of a loop as a function: what it is given, what it needs of the steps before, and what it writes."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence

from xarrayops._core.numpy_names import METHODS
from xarrayops.port.rewriting.context import Context
from xarrayops.port.source import indices
from xarrayops.port.source.interface import IN_PLACE_METHODS
from xarrayops.port.source.names import IN_PLACE_FUNCTIONS
from xarrayops.port.source.value import ARRAY, OTHER, SCALAR, SEQUENCE, UNKNOWN, words
from xarrayops.port.vectorizing.offers import called
from xarrayops.port.vectorizing.rows import Stays

_METHODS = METHODS.names() - IN_PLACE_METHODS - words("item tolist tobytes tofile dump dumps")
_ON_HOST = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Await)
_ELEMENTWISE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Step:
    """The step of a loop that counts from start up to stop, which is excluded."""

    def __init__(
        self, context: Context, numpy: str, counter: str | None, start: ast.expr, stop: ast.expr, more_axes: int
    ) -> None:
        self.context, self.numpy, self.more_axes = context, numpy, more_axes
        self.counter, self.start, self.stop = counter, start, stop
        self.assigned: set[str] = set()
        self.written: set[str] = set()
        """The variables that the steps assign, and the arrays whose elements they write."""
        self.given: dict[str, ast.expr] = {}
        """The variables with the elements of one step, and the arrays with those of all steps."""
        self.carried: list[str] = []
        """The variables that a step reads before it assigns them."""
        self.lags: dict[str, list[str]] = {}
        """By array, the variables for the elements that the last steps wrote, the latest first."""
        self.results: dict[str, str] = {}
        """By array, the variable for the element that the step writes."""
        self.loaded: set[str] = set()
        """The arrays that the steps read."""
        self.before: dict[str, str] = {}
        """The variables that the function needs from outside, by the text of the attribute of an array."""
        self.asks: dict[str, None] = {}
        self._known: set[str] = set()
        """The variables that have a value in this step."""
        self._items: dict[str, str] = {}
        """The variables for elements that the steps read, by the text of the element."""

    def begin(self, body: Sequence[ast.stmt], given: Mapping[str, ast.expr]) -> None:
        """Find what the statements of the loop assign and write, before they are visited."""
        nodes = [node for each in body for node in ast.walk(each)]
        self.assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for node in nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                if not isinstance(node.value, ast.Name) or ast.unparse(node.slice) != self.counter:
                    raise Stays(f"each step writes {ast.unparse(node)}")
                self.written.add(node.value.id)
        if both := (self.written | {self.counter}) & {*self.assigned, *given}:
            raise Stays(f"the steps assign {', '.join(sorted(map(str, both)))}")
        self.given |= given
        self._known |= given.keys()
        self.loaded |= {ast.unparse(array) for array in given.values()}

    def ask(self, *questions: str) -> None:
        """Note what must be true before the loop."""
        self.asks |= dict.fromkeys(questions)

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement of the loop, in the function."""
        line = node.lineno
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return []
            case ast.Assign(targets=[ast.Name() as target], value=value):
                return [self._assigned([target], target, self.of(value), line)]
            case ast.Assign(targets=[ast.Tuple(elts=elements) as target], value=value):
                if all(isinstance(each, ast.Name) for each in elements):
                    return [self._assigned(elements, target, self.of(value), line)]
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                reason = self.context.ownership.reason(node)
                if reason is not None and self.context.value(target).kind != SCALAR:
                    raise Stays(f"others see {name}: {reason}")
                return [self._assigned([target], target, ast.BinOp(self._variable(target), op, self.of(value)), line)]
            case ast.Assign(targets=[ast.Subscript(value=ast.Name() as array)], value=value):
                return [self._written(array, self.of(value), self.context.value(value).dtype, line)]
            case ast.AugAssign(target=ast.Subscript(value=ast.Name() as array), op=op, value=value):
                return [self._written(array, ast.BinOp(self._element(array, 0), op, self.of(value)), None, line)]
        text = ast.unparse(node).split("\n")[0]
        raise Stays(f"each step runs {text}")

    def of(self, node: ast.expr) -> ast.expr:
        """An expression in the function; raises `Stays` for what a compiler does not trace."""
        match node:
            case ast.Name():
                return self._variable(node)
            case ast.Attribute(value=ast.Name(id=name), attr="shape" | "dtype" | "ndim" | "size") if (
                name in self.written
            ):
                return self._outside(name, node.attr)
            case ast.Subscript(value=ast.Name() as array, slice=index) if array.id not in self.assigned | self._known:
                parts = indices.parts(index)
                axis = next((i for i, each in enumerate(parts) if ast.unparse(each) != ":"), 0)
                if (offset := self._offset(parts[axis])) is not None:
                    item, rest = self._element(array, offset, axis), [self.of(each) for each in parts[axis + 1 :]]
                    return ast.Subscript(item, packed([*parts[:axis], *rest])) if rest else item
            case ast.Call():
                self._check_call(node)
        if self._varies(node):
            if isinstance(node, ast.Slice):
                raise Stays(f"the slice {ast.unparse(node)} has other ends in each step")
            if _chooses(node):
                raise Stays("each step chooses by a value; np.where chooses for all")
            if isinstance(node, _ON_HOST):
                raise Stays(f"a compiler does not trace {ast.unparse(node)}")
        return self._copied(node)

    def elements(self, array: str, offset: int = 0, axis: int = 0) -> ast.expr:
        """The elements of an array at the numbers of all steps plus an offset, along the first axis."""
        lower, upper = plus(self.start, offset), plus(self.stop, offset)
        is_first = ast.unparse(lower) == "0"
        is_last = ast.unparse(upper) in self._lengths(array, axis)
        whole = ast.Name(array)
        first = called(f"{self.numpy}.moveaxis", whole, ast.Constant(axis), ast.Constant(0)) if axis else whole
        rows = ast.Slice(None if is_first else lower, None if is_last else upper)
        return first if is_first and is_last else ast.Subscript(first, rows)

    @staticmethod
    def _lengths(array: str, axis: int) -> list[str]:
        """The texts of the extent of an axis."""
        return [f"{array}.shape[{axis}]", *[f"len({array})"] * (axis == 0)]

    def _copied(self, node: ast.expr) -> ast.expr:
        new = copy.copy(node)
        for field, value in ast.iter_fields(node):
            parts = [*map(self._part, value)] if isinstance(value, list) else self._part(value)
            setattr(new, field, parts)
        return new

    def _part(self, value: object) -> object:
        if isinstance(value, ast.keyword):
            return ast.keyword(value.arg, self.of(value.value))
        return self.of(value) if isinstance(value, ast.expr) else value

    def _varies(self, node: ast.AST) -> bool:
        changing = {self.counter, *self.assigned, *self.written, *self.given}
        return any(isinstance(each, ast.Name) and each.id in changing for each in ast.walk(node))

    def _assigned(self, names: Sequence[ast.expr], target: ast.expr, value: ast.expr, line: int) -> ast.stmt:
        self._known |= {each.id for each in names if isinstance(each, ast.Name)}
        return ast.Assign([target], value, lineno=line)

    def _written(self, array: ast.Name, value: ast.expr, dtype: str | None, line: int) -> ast.stmt:
        """The assignment of the element that a step writes, with the dtype and the shape that it has in the array."""
        name, known = array.id, self.context.value(array)
        ndim = 1 + self.more_axes if known.ndim is None else known.ndim
        if known.ndim is None:
            self.ask(f"{self.numpy}.ndim({name}) == {ndim}")
        if dtype is None or dtype != known.dtype:
            value = called(f"{self.numpy}.asarray", value, dtype=self._outside(name, "dtype"))
        if ndim > 1:
            value = called(f"{self.numpy}.broadcast_to", value, self._outside(name, "shape[1:]"))
        self._check_elements(array, 0)
        if name not in self.results:
            self.results[name] = self.context.new_name(f"{name}_{self.counter}")
        return ast.Assign([ast.Name(self.results[name])], value, lineno=line)

    def _outside(self, array: str, attribute: str) -> ast.Name:
        """A variable for what the function needs of an array: arrays that inner functions use cannot be replaced."""
        text = f"{array}.{attribute}"
        if text not in self.before:
            self.before[text] = self.context.new_name(f"{array}_{attribute.partition('[')[0]}")
        return ast.Name(self.before[text])

    def _variable(self, node: ast.Name) -> ast.Name:
        name = node.id
        if name in self.written:
            raise Stays(f"each step needs all elements of {name}")
        if name == self.counter:
            ends = (self.stop,) if ast.unparse(self.start) == "0" else (self.start, self.stop)
            self.given.setdefault(name, called(f"{self.numpy}.arange", *ends))
        elif name in self.assigned:
            if name not in self._known and name not in self.carried:
                self.carried.append(name)
        elif self.context.names.resolve(node) is None and self.context.value(node).kind in (ARRAY, UNKNOWN):
            self.loaded.add(name)
        return ast.Name(name)

    def _offset(self, index: ast.expr) -> int | None:
        """The integer that is added to the number of the step; None for other indices."""
        match index:
            case ast.Name(id=name) if name == self.counter:
                return 0
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=int(n))):
                return n if name == self.counter else None
            case ast.BinOp(left=ast.Name(id=name), op=ast.Sub(), right=ast.Constant(value=int(n))):
                return -n if name == self.counter else None
        return None

    def _element(self, array: ast.Name, offset: int, axis: int = 0) -> ast.Name:
        """The element of an array at the number of the step plus an offset, along an axis."""
        name, distance = array.id, abs(offset)
        if axis and name in self.written:
            raise Stays(f"each step needs all elements of {name}")
        if offset == 0 and name in self.results:
            return ast.Name(self.results[name])
        self._check_elements(array, offset, axis)
        if offset < 0 and name in self.written:
            found = self.lags.setdefault(name, [])
            while len(found) < distance:
                found.append(self.context.new_name(f"{name}_before{len(found) or ''}"))
            return ast.Name(found[distance - 1])
        key = f"{name} {offset} {axis}"
        if key not in self._items:
            suffix = self.counter if offset == 0 else f"{'after' if offset > 0 else 'before'}{distance - 1 or ''}"
            self._items[key] = self.context.new_name(f"{name}_{suffix}")
            self.given[self._items[key]] = self.elements(name, offset, axis)
        return ast.Name(self._items[key])

    def _check_elements(self, array: ast.Name, offset: int, axis: int = 0) -> None:
        """The variable must be an array that has an element for each step."""
        name, kind = array.id, self.context.value(array).kind
        if kind in (SEQUENCE, OTHER):
            raise Stays(f"{name} is not an array")
        if kind != ARRAY:
            self.ask(f"isinstance({name}, {self.numpy}.ndarray)")
        self.loaded.add(name)
        lower, upper = ast.unparse(plus(self.start, offset)), ast.unparse(plus(self.stop, offset))
        if lower != "0" or upper not in self._lengths(name, axis):
            self.ask(f"0 <= {lower} and {upper} <= {name}.shape[{axis}]")

    def _check_call(self, node: ast.Call) -> None:
        """The function must be one that a compiler traces."""
        function = node.func
        name = self.context.names.function_name(function)
        if name is not None:
            is_traced = name not in IN_PLACE_FUNCTIONS and not name.startswith("random.") and not name.endswith(".at")
            is_traced = is_traced and all(each.arg != "out" for each in node.keywords)
        elif isinstance(function, ast.Attribute):
            is_traced = self.context.names.resolve(function) is None and function.attr in _METHODS
        else:
            is_traced = self.context.names.resolve(function) in ("builtins.abs", "builtins.len")
        if not is_traced:
            raise Stays(f"a compiler may not trace {ast.unparse(function)}")


def packed(names: Sequence[ast.expr]) -> ast.expr:
    """One expression, or a tuple of several."""
    return names[0] if len(names) == 1 else ast.Tuple([*names])


def plus(node: ast.expr, number: int) -> ast.expr:
    """The sum of an expression and an integer."""
    match node:
        case ast.Constant(value=int(known)):
            return ast.Constant(known + number)
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int(known))):
            return plus(left, known + number)
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(known))):
            return plus(left, number - known)
    if number == 0:
        return node
    return ast.BinOp(node, ast.Add() if number > 0 else ast.Sub(), ast.Constant(abs(number)))


def _chooses(node: ast.expr) -> bool:
    """Whether an expression takes the truth of a value."""
    match node:
        case ast.IfExp() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[first, *rest]):
            return bool(rest) or not isinstance(first, _ELEMENTWISE)
    return False
