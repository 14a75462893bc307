"""Loops whose steps need the step before, as `xo.scan`: one loop of a compiler, and a loop of Python without one."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source.value import SCALAR
from xarrayops.port.vectorizing.heads import head_of
from xarrayops.port.vectorizing.linear import plus
from xarrayops.port.vectorizing.offers import Offer, called, is_alone, is_pure, parsed
from xarrayops.port.vectorizing.rows import Stays
from xarrayops.port.vectorizing.step import Numbers, Step, packed
from xarrayops.port.vectorizing.surroundings import questions_about_memory, read_after

_REASON = "a compiler makes xo.scan one loop; without one it takes many times as long as this loop"


class Independent(Stays):
    """The steps do not need those before."""


def offer(context: Context, numpy: str, loop: ast.For, more_axes: int) -> Offer:
    """The edit of one loop; raises `Stays` if there is none."""
    with context.names_of_one_edit():
        return _offer(context, numpy, loop, more_axes)


def _offer(context: Context, numpy: str, loop: ast.For, more_axes: int) -> Offer:
    if loop.orelse or not is_alone(context, loop):
        raise Stays("it has an else, or other statements on its lines")
    numbers = _numbers(context, loop)
    step = Step(context, numpy, numbers, more_axes)
    step.begin(loop.body)
    _check_range(loop, step)
    body = [new for each in loop.body for new in step.statement(each)]
    if not step.carried and not step.lags:
        raise Independent("no step needs the step before")
    _check_after(context, loop, step)
    for name in sorted(step.written):
        others = {*step.loaded, *step.carried} - {name}
        step.ask(*questions_about_memory(context, numpy, loop, name, others))
    has_steps = ast.Compare(numbers.start, [ast.Lt()], [numbers.stop])
    step.ask(ast.unparse(has_steps))
    if step.arrays and numbers.counter in step.given:  # an integer of Python takes the dtype of an array
        arrays = "".join(f"{each}, " for each in sorted(step.arrays))
        step.ask(f"all({numpy}.result_type(each).kind in 'fc' for each in ({arrays}))")
    name = context.new_name("step")
    before = [ast.Assign([ast.Name(each)], parsed(text), lineno=0) for text, each in step.before.items()]
    scan = [*before, _function(step, name, body), *_call(step, name)]
    are_known = isinstance(numbers.start, ast.Constant) and isinstance(numbers.stop, ast.Constant)
    new = scan if are_known else [ast.If(has_steps, scan, [])]
    return Offer((loop,), tuple(new), _REASON, tuple(step.asks), needs_xo=True)


def _numbers(context: Context, loop: ast.For) -> Numbers:
    over, head = loop.iter, head_of(context, loop)
    if head is None and isinstance(over, ast.Name):
        raise Stays(f"{over.id} is not known to be an array")
    if head is None or len(head.numbers) > 2 or not is_pure(context, over):
        text = ast.unparse(over)
        raise Stays(f"it runs over {text}; xo.scan runs over range(n), range(a, n), an array or enumerate(array)")
    zero: ast.expr = ast.Constant(0)
    start, stop = (zero, *head.numbers)[-2:]
    return Numbers(head.counter, start, stop, head.rows)


def _check_range(loop: ast.For, step: Step) -> None:
    """The steps must not change what the loop runs over; they do not change the shape of an array."""
    shapes = {f"{name}.shape" for name in step.written} | {f"len({name})" for name in step.written}
    nodes = [*ast.walk(loop.iter)]
    kept = {inner for node in nodes if ast.unparse(node) in shapes for inner in ast.walk(node)}
    read = {node.id for node in nodes if isinstance(node, ast.Name) and node not in kept}
    read |= {array.id for array in step.numbers.rows.values()}
    if read & {*step.assigned, *step.written}:
        raise Stays(f"its steps change {ast.unparse(loop.iter)}")


def _check_after(context: Context, loop: ast.For, step: Step) -> None:
    """Only what the steps pass on can be read after the loop. Integers of Python may be too great for any dtype."""
    single = {*step.assigned, *step.given, step.counter} - {*step.carried}
    if names := sorted(map(str, single & read_after(context, loop))):
        raise Stays(f"{', '.join(names)} is read after the loop")
    for name, node in step.carried.items():
        before = context.names.bound_to(node)
        if any(isinstance(each, ast.Constant) and isinstance(each.value, int) for each in before):
            raise Stays(f"{name} begins as an integer or a bool of Python, which has no dtype; begin with 0.0")
        if None in before:
            step.ask(f"not isinstance({name}, int)")
        known = map(context.value, step.sources.get(name, ()))
        if any(value.kind == SCALAR and value.dtype == "int" for value in known):
            raise Stays(f"{name} may be an integer that no dtype holds")


def _function(step: Step, name: str, body: Sequence[ast.stmt]) -> ast.stmt:
    """The function of one step: the next carry and the elements that the step writes."""
    first, taken = _parameter(step.context, [*step.carried, *(each for lags in step.lags.values() for each in lags)])
    second, also_taken = _parameter(step.context, step.given)
    copied = f"{step.numpy}.copy"  # a variable that is an element of an array must not be a view of it
    after = [called(copied, ast.Name(name)) if _is_view(step, name) else ast.Name(name) for name in step.carried]
    for array, lags in step.lags.items():
        after += map(ast.Name, [step.results[array], *lags[:-1]])
    results: list[ast.expr] = [*map(ast.Name, step.results.values())] or [ast.Constant(None)]
    pair = ast.Tuple([packed(after), packed(results)])
    (made,) = ast.parse(f"def {name}({first}, {second}): pass").body
    assert isinstance(made, ast.FunctionDef)
    made.body = [*taken, *also_taken, *body, ast.Return(pair)]
    return made


def _is_view(step: Step, name: str) -> bool:
    return any(isinstance(each, ast.Name | ast.Subscript | ast.Attribute) for each in step.sources.get(name, ()))


def _parameter(context: Context, names: Collection[str]) -> tuple[str, list[ast.stmt]]:
    """A parameter for some variables, and the statement that takes several of them from it."""
    if len(names) < 2:
        return next(iter(names), context.unused), []
    name = context.new_name("values")
    return name, [ast.Assign([packed([*map(ast.Name, names)])], ast.Name(name), lineno=0)]


def _call(step: Step, name: str) -> list[ast.stmt]:
    """The call of `xo.scan`, and the assignments of what the steps have written."""
    unused = ast.Name(step.context.unused)
    starts: list[ast.expr] = [_start(step, name) for name in step.carried]
    targets: list[ast.expr] = [*map(ast.Name, step.carried)]
    for array, lags in step.lags.items():
        last = plus(step.numbers.start, step.written[array] - 1)
        starts += (ast.Subscript(ast.Name(array), plus(last, -i)) for i in range(len(lags)))
        targets += [unused] * len(lags)
    rows = {array: ast.Name(step.context.new_name(f"{array}_rows")) for array in step.results}
    ends = [packed(targets) if step.carried else unused, packed([*rows.values()]) if rows else unused]
    call = called(f"{step.context.xo}.scan", ast.Name(name), packed(starts))
    start, stop = step.numbers.start, step.numbers.stop
    if step.given:
        call.args.append(packed([*step.given.values()]))
    if not step.has_length:  # a slice ends with the array, where an index raises
        count = stop if ast.unparse(start) == "0" else ast.BinOp(stop, ast.Sub(), start)
        call.keywords.append(ast.keyword("length", count))
    statements: list[ast.stmt] = [ast.Assign([ast.Tuple(ends)], call, lineno=0)]
    for array, found in rows.items():
        target = step.elements(array, step.written[array])
        whole = ast.Subscript(target, ast.Slice()) if isinstance(target, ast.Name) else target
        statements.append(ast.Assign([whole], found, lineno=0))
    return statements


def _start(step: Step, name: str) -> ast.expr:
    """The first value of a variable. A number takes the dtype that arrays give it in the steps."""
    node = ast.Name(name)
    dtype = called(f"{step.numpy}.result_type", node, *map(parsed, sorted(_arrays_of(step, name))))
    return called(f"{step.numpy}.asarray", node, dtype=dtype)


def _arrays_of(step: Step, name: str) -> set[str]:
    """The arrays from whose elements the steps compute a variable."""
    pending, seen = [name], {name}
    while pending:
        for source in step.sources.get(pending.pop(), ()):
            names = {ast.unparse(node) for node in ast.walk(source) if isinstance(node, ast.Name | ast.Attribute)}
            pending += names - seen
            seen |= names
    rows = {array.id for row, array in step.numbers.rows.items() if row in seen}
    return rows | (seen & (step.arrays | {*step.written}))
