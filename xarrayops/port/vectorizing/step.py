"""One step of a loop as a function: what it is given, what it needs of the steps before, and what it writes."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import NamedTuple

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source import indices
from xarrayops.port.source.value import ARRAY, OTHER, SCALAR, SEQUENCE, Value
from xarrayops.port.vectorizing.linear import added, plus
from xarrayops.port.vectorizing.offers import called, may_be_array, parsed
from xarrayops.port.vectorizing.rows import Stays
from xarrayops.port.vectorizing.traced import obstacle


class Numbers(NamedTuple):
    """The numbers of the steps from start up to stop, which is excluded, and the array of which each step has a row."""

    counter: str | None
    start: ast.expr
    stop: ast.expr
    rows: dict[str, ast.Name]


class Step:
    """The step of a loop."""

    def __init__(self, context: Context, numpy: str, numbers: Numbers, more_axes: int) -> None:
        self.context, self.numpy, self.numbers, self.more_axes = context, numpy, numbers, more_axes
        self.counter = numbers.counter
        self.assigned: set[str] = set()
        """The variables that the steps assign."""
        self.written: dict[str, int] = {}
        """The arrays whose elements the steps write, with what is added to the number of the step."""
        self.given: dict[str, ast.expr] = {}
        """The variables with the elements of one step, and the arrays with those of all steps."""
        self.carried: dict[str, ast.Name] = {}
        """The variables that a step reads before it assigns them, and where."""
        self.sources: dict[str, list[ast.expr]] = {}
        """What the steps assign to variables."""
        self.lags: dict[str, list[str]] = {}
        """By array, the variables for the elements that the last steps wrote, the latest first."""
        self.results: dict[str, str] = {}
        """By array, the variable for the element that the step writes."""
        self.loaded: dict[str, Value] = {}
        """What the steps read that is or may be an array, by its text."""
        self.before: dict[str, str] = {}
        """The variables that the function needs from outside, by the text of the attribute of an array."""
        self.asks: dict[str, None] = {}
        self._known: set[str] = set()
        """The variables that have a value in this step."""
        self._items: dict[tuple[str, int, int], str] = {}
        """The variables for elements that the steps read, by array, offset and axis."""

    def begin(self, body: Sequence[ast.stmt]) -> None:
        """Find what the statements of the loop assign and write, before they are visited."""
        for node in (node for each in body for node in ast.walk(each)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.assigned.add(node.id)
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                offset = self._offset(node.slice)
                name = ast.unparse(node.value)
                if not isinstance(node.value, ast.Name) or offset is None or self.written.get(name, offset) != offset:
                    raise Stays(f"each step writes {ast.unparse(node)}")
                self.written[name] = offset
        rows = self.numbers.rows
        if both := {*self.written, self.counter} & {*self.assigned, *rows}:
            raise Stays(f"the steps assign {', '.join(sorted(map(str, both)))}")
        for name, array in rows.items():
            self.given[name] = self._as_array(array)
            self._load(array)
        self._known |= rows.keys()

    @property
    def has_length(self) -> bool:
        """Whether one of the given arrays certainly has an element for each step, no more and no less."""
        ends = (self._is_end(plus(self.numbers.stop, offset), name, axis) for name, offset, axis in self._items)
        return (
            bool(self.numbers.rows)
            or self.counter in self.given
            or (isinstance(self.numbers.start, ast.Constant) and any(ends))
        )

    @property
    def arrays(self) -> set[str]:
        """The arrays that the steps read."""
        read = {name for name, _, _ in self._items} | {array.id for array in self.numbers.rows.values()}
        return (
            read | {text for text, value in self.loaded.items() if value.is_array} - self.written.keys() | {*self.lags}
        )

    def ask(self, *questions: str) -> None:
        """Note what must be true before the loop."""
        self.asks |= dict.fromkeys(questions)

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement of the loop, in the function."""
        line, value_of = node.lineno, self.context.value
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return []
            case ast.Assign(targets=[ast.Name() as target], value=value):
                return [self._assigned([(target, value)], target, self.of(value), line)]
            case ast.Assign(targets=[ast.Tuple(elts=elements) as target], value=value):
                values = value.elts if isinstance(value, ast.Tuple) else [value] * len(elements)
                if len(values) == len(elements) and all(isinstance(each, ast.Name) for each in elements):
                    pairs = [*zip(elements, values, strict=True)]
                    return [self._assigned(pairs, target, self.of(value), line)]
            case ast.AugAssign(target=ast.Name() as target):
                return [self._assigned([(target, node.value)], target, self._augmented(node, target), line)]
            case ast.Assign(targets=[ast.Subscript(value=ast.Name() as array)], value=value):
                return [self._written(array, self.of(value), value_of(value).dtype, line)]
            case ast.AugAssign(target=ast.Subscript(value=ast.Name() as array), op=op, value=value):
                element = self._element(array, self.written[array.id])
                return [self._written(array, ast.BinOp(element, op, self.of(value)), None, line)]
        text = ast.unparse(node).split("\n")[0]
        raise Stays(f"each step runs {text}")

    def of(self, node: ast.expr) -> ast.expr:
        """An expression in the function; raises `Stays` for what a compiler does not trace."""
        match node:
            case ast.Name():
                return self._variable(node)
            case ast.Attribute(value=ast.Name(id=name), attr="shape" | "dtype" | "ndim" | "size" as attribute) if (
                name in self.written
            ):
                return self._outside(name, attribute, attribute)
            case ast.Attribute(value=base) if not self.context.value(base).is_array:  # A.T is a view of A
                self._load(node)
            case ast.Subscript(value=ast.Name() as array, slice=index) if array.id not in self.assigned | self._known:
                if (found := self._item(array, indices.parts(index))) is not None:
                    return found
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in self.written:
                return self._outside(name, "shape[0]", "length")
        if (reason := obstacle(self.context, node, varies=self._varies(node))) is not None:
            raise Stays(reason)
        return self._copied(node)

    def elements(self, array: str, offset: int = 0, axis: int = 0, source: ast.expr | None = None) -> ast.expr:
        """The elements of an array at the numbers of all steps plus an offset, along the first axis."""
        lower, upper = plus(self.numbers.start, offset), plus(self.numbers.stop, offset)
        is_first, is_last = ast.unparse(lower) == "0", self._is_end(upper, array, axis)
        whole = source or ast.Name(array)
        first = called(f"{self.numpy}.moveaxis", whole, ast.Constant(axis), ast.Constant(0)) if axis else whole
        rows = ast.Slice(None if is_first else lower, None if is_last else upper)
        return first if is_first and is_last else ast.Subscript(first, rows)

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

    def _assigned(
        self, pairs: Sequence[tuple[ast.expr, ast.expr]], target: ast.expr, value: ast.expr, line: int
    ) -> ast.stmt:
        for each, source in pairs:
            name = ast.unparse(each)
            self._known.add(name)
            self.sources.setdefault(name, []).append(source)
        return ast.Assign([target], value, lineno=line)

    def _augmented(self, node: ast.AugAssign, target: ast.Name) -> ast.expr:
        """What ``target += value`` leaves in the target: an array keeps its dtype, and a number does not."""
        known = self.context.value(target)
        both = ast.BinOp(self._variable(target), node.op, self.of(node.value))
        if known.kind == SCALAR:
            return both
        if (reason := self.context.ownership.reason(node)) is not None:
            raise Stays(f"others see {target.id}: {reason}")
        if known.kind == ARRAY and known.ndim != 0:
            return called(f"{self.numpy}.asarray", both, dtype=parsed(f"{target.id}.dtype"))
        if known.kind != ARRAY and target.id not in self.carried:  # xo.scan raises if the next step gets another dtype
            raise Stays(f"{ast.unparse(node)} writes {target.id} in place if it is an array, and otherwise does not")
        return both

    def _written(self, array: ast.Name, value: ast.expr, dtype: str | None, line: int) -> ast.stmt:
        """The assignment of the element that a step writes, with the dtype and the shape that it has in the array."""
        name, known = array.id, self.context.value(array)
        if known.ndim is None:
            self.ask(f"{self.numpy}.ndim({name}) == {1 + self.more_axes}")
        if dtype is None or dtype != known.dtype:
            value = called(f"{self.numpy}.asarray", value, dtype=self._outside(name, "dtype", "dtype"))
        if known.ndim != 1:
            value = called(f"{self.numpy}.broadcast_to", value, self._outside(name, "shape[1:]", "row_shape"))
        self._check_elements(array, self.written[name])
        if name not in self.results:
            self.results[name] = self.context.new_name(f"{name}_{self.counter}")
        return ast.Assign([ast.Name(self.results[name])], value, lineno=line)

    def _outside(self, array: str, attribute: str, name: str) -> ast.Name:
        """A variable for what the function needs of an array: arrays that inner functions use cannot be replaced."""
        text = f"{array}.{attribute}"
        if text not in self.before:
            self.before[text] = self.context.new_name(f"{array}_{name}")
        return ast.Name(self.before[text])

    def _load(self, node: ast.Name | ast.Attribute) -> None:
        """Note an array that the step may read."""
        if may_be_array(self.context, node):
            self.loaded[ast.unparse(node)] = self.context.value(node)

    def _variable(self, node: ast.Name) -> ast.Name:
        name, start, stop = node.id, self.numbers.start, self.numbers.stop
        if name in self.written:
            raise Stays(f"each step needs all elements of {name}")
        if name == self.counter:
            ends = (stop,) if ast.unparse(start) == "0" else (start, stop)
            self.given.setdefault(name, called(f"{self.numpy}.arange", *ends))
        elif name in self.assigned:
            if name not in self._known and name not in self.carried:
                self.carried[name] = node
        elif name not in self.given:
            self._load(node)
        return ast.Name(name)

    def _item(self, array: ast.Name, parts: Sequence[ast.expr]) -> ast.expr | None:
        """``x[t - 1]`` or ``x[:, t, 0]``: the element of the step, and what the step takes of it; None for others."""
        axis = next((i for i, each in enumerate(parts) if ast.unparse(each) != ":"), 0)
        offset = self._offset(parts[axis]) if parts else None  # x[()] has no parts
        if offset is None:
            return None
        rest = parts[axis + 1 :]
        is_sliced = False
        for kind in (indices.kind(each, self.context.program.values.known) for each in rest):
            is_sliced |= kind in (indices.SLICE, indices.NEW_AXIS, indices.ELLIPSIS)
            if is_sliced and kind not in (indices.INTEGER, indices.SLICE, indices.NEW_AXIS, indices.ELLIPSIS):
                raise Stays(f"{array.id}[{', '.join(map(ast.unparse, parts))}] may have its axes in another order")
        item = self._element(array, offset, axis)
        return ast.Subscript(item, packed([*parts[:axis], *map(self.of, rest)])) if rest else item

    def _offset(self, index: ast.expr) -> int | None:
        """The integer that is added to the number of the step; None for other indices."""
        return None if self.counter is None else added(self.counter, index)

    def _element(self, array: ast.Name, offset: int = 0, axis: int = 0) -> ast.Name:
        """The element of an array at the number of the step plus an offset, along an axis."""
        name, distance = array.id, abs(offset)
        if axis and name in self.written:
            raise Stays(f"each step needs all elements of {name}")
        behind = self.written[name] - offset if name in self.written else 0
        if behind == 0 and name in self.results:
            return ast.Name(self.results[name])
        self._check_elements(array, offset, axis)
        side = f"{'after' if offset > 0 else 'before'}{distance if distance > 1 else ''}" if offset else self.counter
        if behind > 0:
            found = self.lags.setdefault(name, [])
            while len(found) < behind:
                found.append(self.context.new_name(f"{name}_before{len(found) + 1 if found else ''}"))
            return ast.Name(found[behind - 1])
        key = name, offset, axis
        if key not in self._items:
            self._items[key] = self.context.new_name(f"{name}_{side}")
            self.given[self._items[key]] = self.elements(name, offset, axis, self._as_array(array))
        return ast.Name(self._items[key])

    def _as_array(self, node: ast.Name) -> ast.expr:
        return node if self.context.is_array(node) else called(f"{self.numpy}.asarray", node)

    def _check_elements(self, array: ast.Name, offset: int = 0, axis: int = 0) -> None:
        """The variable must be an array that has an element for each step."""
        name, kind = array.id, self.context.value(array).kind
        if kind in (SEQUENCE, OTHER):
            raise Stays(f"{name} is not an array")
        if kind != ARRAY:
            self.ask(f"isinstance({name}, {self.numpy}.ndarray)")
        self._load(array)
        lower, upper = plus(self.numbers.start, offset), plus(self.numbers.stop, offset)
        match lower:
            case ast.Constant(value=int(number)) if number < 0:
                raise Stays(f"{name}[{number}] is an element from the end")
        if ast.unparse(lower) != "0" or not self._is_end(upper, name, axis):
            first = ast.Compare(ast.Constant(0), [ast.LtE()], [lower])
            last = ast.Compare(upper, [ast.LtE()], [parsed(f"{name}.shape[{axis}]")])
            self.ask(ast.unparse(ast.BoolOp(ast.And(), [first, last])))

    @staticmethod
    def _is_end(upper: ast.expr, array: str, axis: int) -> bool:
        """Whether this is the extent of an axis."""
        return ast.unparse(upper) in (f"{array}.shape[{axis}]", *[f"len({array})"] * (axis == 0))


def packed(names: Sequence[ast.expr]) -> ast.expr:
    """One expression, or a tuple of several."""
    return names[0] if len(names) == 1 else ast.Tuple([*names])
