"""What all steps of a loop compute, as one expression: the values of the steps are rows along a new first axis."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source import indices
from xarrayops.port.source.numpy_results import is_elementwise
from xarrayops.port.source.value import ARRAY, OTHER, SCALAR, SEQUENCE, words
from xarrayops.port.vectorizing.linear import Width
from xarrayops.port.vectorizing.offers import called, is_pure, may_be_array, parsed

_REDUCTIONS = words("all any argmax argmin max mean median min prod std sum var nanmax nanmean nanmin nansum")
_FFTS = words("fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft")
_DRAWS = words("random.rand random.randn")
_ALL = ast.Slice()


class Stays(Exception):
    """Why a loop stays as it is."""


class NeedsStep(Stays):
    """A step needs a variable of the step before."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"each step needs {name} of the step before; --scan with --call may make it xo.scan, for a compiler"
        )


class Rows(NamedTuple):
    """An expression of all steps; ``ndim`` is the number of axes in one step, None for what is the same in all."""

    node: ast.expr
    ndim: int | None
    is_new: bool = True
    """Whether nothing else shares its memory."""


class Steps:
    """The variables of a loop over ``count`` steps, and the expressions in it."""

    def __init__(
        self, context: Context, numpy: str, count: ast.expr, stored: set[str], written: set[str], more_axes: int
    ) -> None:
        self.context, self.numpy, self.count, self.more_axes = context, numpy, count, more_axes
        self.stored, self.written = stored, written
        """The variables that the loop assigns, and those whose elements it does."""
        self.known: dict[str, Rows] = {}
        self.indices: dict[str, ast.expr] = {}
        """The integers that grow by the same step: their values in all steps."""
        self.first: str | None = None
        """The variable that counts 0, 1, 2 and so on."""
        self.filled: dict[str, tuple[ast.Slice, str | None]] = {}
        """The arrays of which each step first fills a part: the part, which the variable holds; that of the rest."""
        self.asks: dict[str, None] = {}
        self.loaded: set[str] = set()
        """The arrays that the steps read."""
        self.draws = 0

    def ask(self, question: str) -> None:
        """Note what must be true before the loop."""
        self.asks[question] = None

    def varies(self, node: ast.expr) -> bool:
        """Whether an expression has a variable that the steps change."""
        names = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
        return any(name in self.stored or name in self.written or name in self.known for name in names)

    def of(self, node: ast.expr) -> Rows:
        """An expression in all steps."""
        if not self.varies(node) and is_pure(self.context, node):
            self._load(node)
            return Rows(node, None)
        match node:
            case ast.Call(func=function, args=[_, *_], keywords=[]) if (
                self.context.names.numpy_name(function) in _DRAWS
            ):
                return self._drawn(node)
            case ast.Name(id=name):
                return self._variable(name)
            case ast.Subscript():
                return self._elements(node)
            case ast.BinOp(op=ast.Pow() | ast.LShift(), right=exponent) if not (
                isinstance(exponent, ast.Constant) or self.context.value(node).kind == ARRAY
            ):
                raise Stays(f"{ast.unparse(node)} may be an integer that no dtype holds")
            case ast.BinOp(left=left, op=op, right=right):
                if isinstance(op, ast.MatMult):
                    return self._product(left, right)
                (a, b), ndim = self.together([left, right])
                return Rows(ast.BinOp(a, op, b), ndim)
            case ast.UnaryOp(op=op, operand=operand) if not isinstance(op, ast.Not):
                found = self.of(operand)
                return Rows(ast.UnaryOp(op, found.node), found.ndim)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if not isinstance(op, ast.In | ast.Is):
                (a, b), ndim = self.together([left, right])
                return Rows(ast.Compare(a, [op], [b]), ndim)
            case ast.Call():
                return self._call(node)
        raise Stays(f"{ast.unparse(node)} has no form for all steps at once")

    def _load(self, node: ast.expr) -> None:
        """Note the arrays that an expression may read."""
        parts = (each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute))
        self.loaded |= {ast.unparse(each) for each in parts if may_be_array(self.context, each)}

    def _drawn(self, node: ast.Call) -> Rows:
        """Random numbers for all steps, which NumPy draws in the same order."""
        self.draws += 1
        if self.draws > 1 or any(map(self.varies, node.args)):
            raise Stays("the steps draw random numbers in an order of their own")
        return Rows(ast.Call(node.func, [self.count, *node.args], []), len(node.args))

    def _variable(self, name: str) -> Rows:
        if name in self.indices:
            return Rows(self.indices[name], 0)
        if name not in self.known:
            raise NeedsStep(name)
        rest = self.filled[name][1] if name in self.filled else None
        if rest is None:
            return self.known[name]
        both = ast.List([ast.Name(name), ast.Name(rest)])
        return Rows(called(f"{self.numpy}.concatenate", both, axis=parsed("-1")), 1)

    def is_filled(self, node: ast.Subscript) -> bool:
        """Whether these are the elements that each step fills first."""
        name = node.value.id if isinstance(node.value, ast.Name) else None
        return name in self.filled and ast.dump(self.filled[name][0]) == ast.dump(node.slice)

    def ndim(self, node: ast.expr, guess: int) -> int:
        """The number of axes of an expression that is the same in all steps; what is unknown is asked."""
        found = self.context.value(node).ndim
        if found is None:
            self.ask(f"{self.numpy}.ndim({ast.unparse(node)}) == {guess}")
        return guess if found is None else found

    def together(self, nodes: Sequence[ast.expr]) -> tuple[list[ast.expr], int | None]:
        """Operands of an elementwise operation, with axes of length 1 after the first where one has fewer axes."""
        found = [self.of(each) for each in nodes]
        ndim = max((each.ndim for each in found if each.ndim is not None), default=None)
        if ndim is not None:
            same = (self.context.value(each.node).ndim or 0 for each in found if each.ndim is None)
            ndim = max(ndim, *same, 0)
        return [each.node if ndim is None else self.aligned(each, ndim) for each in found], ndim

    def aligned(self, found: Rows, ndim: int) -> ast.expr:
        """An operand next to rows with a number of axes."""
        if found.ndim is None:
            value = self.context.value(found.node)
            if value.kind != SCALAR and (value.ndim is None or value.ndim > ndim):
                self.ask(f"{self.numpy}.ndim({ast.unparse(found.node)}) <= {ndim}")
            return found.node
        if found.ndim > ndim:
            raise Stays(f"{ast.unparse(found.node)} has more axes than what it meets")
        return indexed(found.node, *[ast.Constant(None)] * (ndim - found.ndim)) if found.ndim < ndim else found.node

    def _elements(self, node: ast.Subscript) -> Rows:
        parts = indices.parts(node.slice)
        if self.is_filled(node):
            assert isinstance(node.value, ast.Name)
            return self.known[node.value.id]
        if self.varies(node.value):
            base = self.of(node.value)
            if base.ndim is None or any(map(self.varies, parts)):
                raise Stays(f"{ast.unparse(node)} selects by another index in each step")
            return Rows(indexed(base.node, *parts), base.ndim - self.integers(parts), base.is_new)
        if not is_pure(self.context, node.value) or any(map(self.varies, parts[1:])):
            raise Stays(f"{ast.unparse(node)} has no form for all steps at once")
        self._load(node.value)
        if self.context.value(node.value).kind in (SEQUENCE, OTHER):
            raise Stays(f"{ast.unparse(node.value)} is not an array")
        others = self.integers(parts[1:])
        if not parts:
            raise Stays(f"{ast.unparse(node)} has no form for all steps at once")
        if isinstance(parts[0], ast.Slice):
            return self._window(node, parts[0], parts[1:], others)
        chosen = self.of(parts[0])
        if chosen.ndim != 0:
            raise Stays(f"{ast.unparse(node)} has an array as its index")
        ndim = self.ndim(node.value, len(parts) + self.more_axes)
        is_whole = isinstance(parts[0], ast.Name) and parts[0].id == self.first
        index = ast.Slice(None, self.count) if is_whole else chosen.node
        if is_whole:
            self.ask_count(node.value)
        return Rows(indexed(node.value, *parts[1:], first=index), ndim - 1 - others, is_new=not is_whole)

    def ask_count(self, array: ast.expr) -> None:
        """Note that an array has an element for each step, if the number of steps is not its length."""
        if ast.unparse(self.count) not in (f"len({ast.unparse(array)})", f"{ast.unparse(array)}.shape[0]"):
            self.ask(f"0 <= {ast.unparse(self.count)} <= len({ast.unparse(array)})")

    def integers(self, parts: Sequence[ast.expr]) -> int:
        """How many axes the parts of an index take away; what may be an array stays."""
        kinds = [indices.kind(each, self.context.program.values.known) for each in parts]
        is_plain = all(map(self._is_plain, parts))
        if not is_plain or {*kinds} - {indices.INTEGER, indices.SLICE}:
            raise Stays(f"the index {', '.join(map(ast.unparse, parts))} may be an array")
        return kinds.count(indices.INTEGER)

    def _is_plain(self, part: ast.expr) -> bool:
        return is_pure(self.context, part) and not self.varies(part)

    def _window(self, node: ast.Subscript, part: ast.Slice, rest: Sequence[ast.expr], others: int) -> Rows:
        """``x[t : t + width]``: the elements of all windows, by one array of indices."""
        if part.lower is None or part.upper is None or part.step is not None or others:
            raise Stays(f"{ast.unparse(node)} has another length in each step")
        width = Width.between(part.lower, part.upper, self.stored)
        start = self.of(part.lower)
        if width is None or start.ndim != 0:
            raise Stays(f"{ast.unparse(node)} has another length in each step")
        ndim = self.ndim(node.value, 1)
        first, extent, x = ast.unparse(start.node), ast.unparse(width), ast.unparse(node.value)
        np = self.numpy
        self.ask(f"{np}.all(0 <= {first}) and {np}.all({first} + {extent} <= len({x}))")
        column = indexed(start.node, ast.Constant(None))
        return Rows(indexed(node.value, *rest, first=ast.BinOp(column, ast.Add(), called(f"{np}.arange", width))), ndim)

    def _product(self, left: ast.expr, right: ast.expr) -> Rows:
        """A matrix product with a matrix that is the same in all steps."""
        a, b = self.of(left), self.of(right)
        if a.ndim is None or b.ndim is not None:
            raise Stays("the matrix product has no form for all steps at once")
        ndim = self.ndim(right, 2)
        if ndim not in (1, 2) or a.ndim < 1:
            raise Stays("the matrix product has no form for all steps at once")
        return Rows(ast.BinOp(a.node, ast.MatMult(), b.node), a.ndim - (ndim == 1))

    def _call(self, node: ast.Call) -> Rows:
        names = {self.context.names.function_name(node.func) or "", *self.context.names.choices(node.func)} - {""}
        if self.context.names.resolve(node.func) == "builtins.abs":
            names = {"abs"}
        function, args = node.func, node.args
        if not names and isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCTIONS:
            base = self.of(node.func.value)
            return self._reduced(node, node.func.attr, base, node.args, is_method=True)
        if names and all(is_elementwise(name) or name in ("where", "clip", "abs") for name in names):
            if node.keywords:
                raise Stays(f"{ast.unparse(function)} has options")
            parts, ndim = self.together(args)
            return Rows(ast.Call(function, parts, []), ndim)
        if len(names) == 1 and names <= _REDUCTIONS and args:
            return self._reduced(node, next(iter(names)), self.of(args[0]), args[1:], is_method=False)
        if names and names <= _FFTS and args and not any(map(self.varies, args[1:])) and len(args) < 3:
            found = self.of(args[0])
            if found.ndim and not node.keywords:
                return Rows(ast.Call(function, [found.node, *args[1:]], []), found.ndim)
        raise Stays(f"{ast.unparse(function)} works on one step at a time")

    def _reduced(self, node: ast.Call, name: str, base: Rows, rest: Sequence[ast.expr], *, is_method: bool) -> Rows:
        """A reduction, whose axes come after the new one."""
        given = {each.arg: each.value for each in node.keywords}
        if rest:
            given["axis"] = rest[0]
        axis = given.get("axis", ast.Constant(None))
        if not base.ndim or len(rest) > 1 or {*given} - {"axis"} or not isinstance(axis, ast.Constant | ast.UnaryOp):
            raise Stays(f"{ast.unparse(node)} has no form for all steps at once")
        try:
            number = ast.literal_eval(axis)
        except ValueError:
            raise Stays(f"{ast.unparse(node)} has no form for all steps at once") from None
        if number is None and base.ndim > 1 and name.startswith("arg"):
            raise Stays(f"{ast.unparse(node)} has no form for all steps at once")
        if number is None:
            new, left = (-1, 0) if base.ndim == 1 else (tuple(range(1, base.ndim + 1)), 0)
        else:
            new, left = (number if number < 0 else number + 1), base.ndim - 1
        keywords = [ast.keyword("axis", parsed(repr(new)))]
        if is_method:
            assert isinstance(node.func, ast.Attribute)
            return Rows(ast.Call(ast.Attribute(base.node, node.func.attr), [], keywords), left)
        return Rows(ast.Call(node.func, [base.node], keywords), left)


def indexed(node: ast.expr, *parts: ast.expr, first: ast.expr = _ALL) -> ast.Subscript:
    """An expression with an index whose first part is for the steps."""
    return ast.Subscript(node, ast.Tuple([first, *parts]) if parts else first)
