"""Loops whose steps are independent, as operations on all steps at once; what they accumulate becomes a reduction."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source import indices
from xarrayops.port.source.value import SCALAR
from xarrayops.port.source.values import root
from xarrayops.port.vectorizing import scans
from xarrayops.port.vectorizing.accumulating import Accumulation, accumulation, reduced
from xarrayops.port.vectorizing.heads import head_of
from xarrayops.port.vectorizing.offers import Offer, Refused, called, is_alone, is_pure, parsed
from xarrayops.port.vectorizing.rows import NeedsStep, Rows, Stays, Steps, indexed
from xarrayops.port.vectorizing.surroundings import questions_about_memory, read_after


def offers(context: Context, numpy: str, *, scan: bool, more_axes: int = 0) -> Iterator[Offer | Refused]:
    """The edits of the loops over arrays, and the loops that stay; loops inside those that change are part of them.

    With ``scan`` a loop whose steps need those before is a call of `xo.scan`. An array whose number of axes is unknown
    has as many as its indices, and ``more_axes``.
    """
    done: set[ast.AST] = set()
    for loop in context.program.nodes(ast.For):
        if loop in done or not any(context.value(each).is_array for each in ast.walk(loop)):
            continue
        try:
            yield _offer(context, numpy, loop, scan=scan, more_axes=more_axes)
            done |= {*ast.walk(loop)}
        except Stays as reason:
            yield Refused(loop.lineno, f"the loop stays on the host: {reason}")
    for each in context.program.nodes(ast.While):
        if any(context.value(node).is_array for node in ast.walk(each)):
            yield Refused(each.lineno, "the loop stays on the host: the number of its steps depends on values")


def _offer(context: Context, numpy: str, loop: ast.For, *, scan: bool, more_axes: int) -> Offer:
    try:
        return _Loop(context, numpy, loop, more_axes).offer()
    except Stays as reason:
        if not scan:
            raise
        try:
            return scans.offer(context, numpy, loop, more_axes)
        except scans.Independent:
            raise reason from None


class _Loop:
    """One loop, and the statements for all of its steps."""

    def __init__(self, context: Context, numpy: str, loop: ast.For, more_axes: int) -> None:
        self.context, self.numpy, self.loop, self.more_axes = context, numpy, loop, more_axes
        nodes = [node for each in loop.body for node in ast.walk(each)]
        names = [node for node in nodes if isinstance(node, ast.Name)]
        self.reads = [node.id for node in names if isinstance(node.ctx, ast.Load)]
        targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        stored = {node.id for node in names if _is_store(node)}
        if stored & targets:
            raise Stays(f"the steps assign {', '.join(sorted(stored & targets))}")
        elements = (node for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
        written = {name for each in elements if (name := root(each)) is not None}
        self.before: list[ast.stmt] = []
        self.changed: set[str] = set()
        """The arrays that the steps change as a whole."""
        self.steps = self._over(stored | targets, written)
        self._count_up()

    def offer(self) -> Offer:
        """The edit; raises `Stays` if there is none."""
        loop = self.loop
        if loop.orelse or not is_alone(self.context, loop):
            raise Stays("it has an else, or other statements on its lines")
        new = self.block(loop.body)
        if names := sorted({*self.steps.known, *self.steps.indices} & read_after(self.context, loop)):
            raise Stays(f"{', '.join(names)} is read after the loop")
        if not new:
            raise Stays("it computes nothing with arrays")
        for name in (self.steps.written | self.changed) - self.steps.known.keys():
            for question in questions_about_memory(self.context, self.numpy, loop, name, self.steps.loaded):
                self.steps.ask(question)
        reason = "all steps at once: they do not depend on each other, and one call serves a library"
        return Offer((loop,), (*self.before, *new), reason, tuple(self.steps.asks))

    def _over(self, stored: set[str], written: set[str]) -> Steps:
        """The steps that the loop runs over."""
        over, head = self.loop.iter, head_of(self.context, self.loop)
        if head is None:
            raise Stays(f"it runs over {ast.unparse(over)}")
        read = {node.id for node in ast.walk(over) if isinstance(node, ast.Name)}
        if not is_pure(self.context, over) or read & (stored | written):
            raise Stays(f"its steps change {ast.unparse(over)}")
        is_count = len(head.numbers) == 1
        count = head.numbers[0] if is_count else called("len", over)
        steps = Steps(self.context, self.numpy, count, stored, written, self.more_axes)
        for row, array in head.rows.items():
            steps.known[row] = Rows(array, steps.ndim(array, 2 + self.more_axes) - 1, is_new=False)
            steps.loaded.add(array.id)
        if head.counter is not None:
            steps.indices[head.counter] = called(f"{self.numpy}.arange", *head.numbers)
            steps.first = head.counter if is_count else None
        return steps

    def _count_up(self) -> None:
        """Find the integers that the last statements of the body increase by the same step."""
        for statement in reversed(self.loop.body):
            match statement:
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=step) if not self.steps.varies(step):
                    if name not in self.reads or not is_pure(self.context, step):
                        return
                    writes = [node for node in ast.walk(self.loop) if _is_store(node) and node.id == name]
                    if len(writes) > 1:
                        return
                    grown = ast.BinOp(step, ast.Mult(), called(f"{self.numpy}.arange", self.steps.count))
                    self.steps.indices[name] = ast.BinOp(ast.Name(name), ast.Add(), grown)
                case _:
                    return

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements for all steps."""
        return [new for each in body for new in self.statement(each)]

    def statement(self, node: ast.stmt) -> Sequence[ast.stmt]:
        """One statement for all steps."""
        line, found = node.lineno, accumulation(self.context, node)
        if found is not None and found.name not in {*self.steps.known, *self.steps.indices}:
            return [self._reduced(found)]
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return []
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                rows = self.steps.of(value)
                self.steps.known[name] = rows._replace(node=ast.Name(name))
                return [ast.Assign([ast.Name(name)], rows.node, lineno=line)]
            case ast.AugAssign(target=ast.Name(id=name)):
                return self._augmented(node, name)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                stored, new = self._stored(target, self.steps.of(value), self.context.value(value).dtype, is_whole=True)
                return [ast.Assign([stored], new, lineno=line)]
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                stored, new = self._stored(target, self.steps.of(value), None, is_whole=False)
                return [ast.AugAssign(stored, op, new)]
            case ast.If(test=test, body=body, orelse=orelse):
                return self._branches(test, body, orelse)
        text = ast.unparse(node).split("\n")[0]
        raise Stays(f"each step runs {text}")

    def _augmented(self, node: ast.AugAssign, name: str) -> Sequence[ast.stmt]:
        if name in self.steps.indices:
            return []
        found, known = self.steps.of(node.value), self.steps.known.get(name)
        if known is None:
            raise NeedsStep(name)
        if known.ndim is None or not known.is_new:
            raise Stays(f"{name} may share its memory with the elements that the next step reads")
        return [ast.AugAssign(ast.Name(name), node.op, self.steps.aligned(found, known.ndim))]

    def _reduced(self, found: Accumulation) -> ast.stmt:
        """What all steps accumulate in a variable."""
        name = found.name
        stores = [node for node in ast.walk(self.loop) if _is_store(node) and node.id == name]
        augmented = (each for each in ast.walk(self.loop) if isinstance(each, ast.AugAssign) and each.target in stores)
        sums = [each for each in augmented if isinstance(each.op, ast.Add | ast.Sub)]
        rows = self.steps.of(found.operand)
        is_read = self.reads.count(name) > (not found.is_in_place)
        if is_read or rows.ndim is None or len(stores) not in (1, len(sums)):
            raise NeedsStep(name)
        if found.is_in_place and self.context.value(stores[0]).kind != SCALAR:
            self.changed.add(name)
        return reduced(self.steps, found, rows, stores[0])

    def _branches(self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
        if self.steps.of(test).ndim is not None:
            raise Stays("each step chooses by a value; np.where chooses for all")
        before, known = [*self.before], {**self.steps.known}
        text = ast.unparse(test)
        first, after = self._branch(f"not ({text})", body), self.steps.known
        self.steps.known = known
        second = self._branch(f"({text})", orelse)
        if self.before != before:
            raise Stays("a branch fills an array")
        if after.keys() ^ self.steps.known.keys() or any(
            after[name].ndim != self.steps.known[name].ndim for name in after
        ):
            raise Stays("a variable has another form after each branch")
        return [ast.If(test, first or [ast.Pass()], second)]

    def _branch(self, unless: str, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a branch; what they ask matters where it runs."""
        asked, self.steps.asks = self.steps.asks, {}
        new = self.block(body)
        self.steps.asks = asked | {f"{unless} or ({each})": None for each in self.steps.asks if each not in asked}
        return new

    def _stored(
        self, target: ast.Subscript, value: Rows, dtype: str | None, *, is_whole: bool
    ) -> tuple[ast.Name | ast.Subscript, ast.expr]:
        """The elements that all steps write, and their values."""
        parts = indices.parts(target.slice)
        steps = self.steps
        if not isinstance(target.value, ast.Name) or not parts:
            raise Stays(f"each step writes {ast.unparse(target)}")
        name = target.value.id
        if isinstance(parts[0], ast.Name) and parts[0].id == steps.first and name not in steps.known:
            if self.reads.count(name) > _count(self.loop, name):
                raise NeedsStep(name)
            ndim = steps.ndim(target.value, (value.ndim or 0) + len(parts)) - 1 - steps.integers(parts[1:])
            steps.ask_count(target.value)
            rows = ast.Slice(None, steps.count)
            return indexed(target.value, *parts[1:], first=rows), steps.aligned(value, ndim)
        if any(map(steps.varies, parts)):
            raise Stays(f"the steps may write the same elements of {name}")
        if name not in steps.known:
            self._fill(target, is_whole=is_whole)
        if steps.is_filled(target):
            node = steps.aligned(value, 1)
            if is_whole and (value.ndim != 1 or not value.is_new):
                raise Stays(f"{name} gets a view in each step")
            held = self.context.value(target.value).dtype
            is_held = not is_whole or (held is not None and held == dtype)
            same = parsed(f"{name}.dtype")
            return ast.Name(name), node if is_held else called(f"{self.numpy}.asarray", node, dtype=same)
        self._check_region(name, target.slice)
        known = steps.known[name]
        if known.ndim is None or not known.is_new:
            raise Stays(f"{name} may share its memory with the elements that the next step reads")
        return indexed(target.value, *parts), steps.aligned(value, known.ndim - steps.integers(parts))

    def _fill(self, target: ast.Subscript, *, is_whole: bool) -> None:
        """An array that each step fills before it reads it: one for each step."""
        assert isinstance(target.value, ast.Name)
        name, part = target.value.id, target.slice
        statement = self.context.statement(target)
        is_outer = statement in self.loop.body
        if not is_whole or not is_outer or not isinstance(part, ast.Slice) or part.lower or part.step:
            raise NeedsStep(name)
        if self.context.ownership.reason(statement) is not None:
            raise Stays(f"others see {name}: {self.context.ownership.reason(statement)}")
        rest = None if part.upper is None else self.context.new_name(f"{name}_rest")
        if rest is not None and part.upper is not None:
            others = f"{name}[{ast.unparse(part.upper)}:]", f"({ast.unparse(self.steps.count)}, 1)"
            copies = called(f"{self.numpy}.tile", *map(parsed, others))
            self.before.append(ast.Assign([ast.Name(rest)], copies, lineno=statement.lineno))
        self.steps.filled[name] = part, rest
        self.steps.known[name] = Rows(ast.Name(name), 1)
        self.steps.ask(f"{self.numpy}.ndim({name}) == 1")

    def _check_region(self, name: str, part: ast.expr) -> None:
        """A later write must be in the part that each step fills first."""
        upper = self.steps.filled[name][0].upper if name in self.steps.filled else None
        if upper is None:
            return
        ends = upper, part.upper if isinstance(part, ast.Slice) else None
        match part:
            case ast.Slice(lower=None | ast.Constant(), step=None) if None not in ends:
                if ast.dump(upper) == ast.dump(part.upper or upper):
                    return
            case ast.Constant(value=int(number)) if number >= 0:
                self.steps.ask(f"{number} < {ast.unparse(upper)}")
                return
        raise NeedsStep(name)


def _is_store(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _count(loop: ast.For, name: str) -> int:
    """How often a loop has elements of a variable as targets, which also read the variable."""
    targets = (node for node in ast.walk(loop) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
    return sum(_is_named(each.value, name) for each in targets)
