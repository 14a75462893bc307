"""Loops whose steps need the step before, as `xo.scan`: one loop of a compiler, and a loop of Python without one."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import NamedTuple

from xarrayops.port.rewriting.context import Context
from xarrayops.port.vectorizing.offers import Offer, called, is_alone, is_pure, parsed
from xarrayops.port.vectorizing.rows import Stays
from xarrayops.port.vectorizing.step import Step, packed, plus
from xarrayops.port.vectorizing.surroundings import questions_about_memory, read_after

_REASON = "a compiler makes xo.scan one loop; without one it takes many times as long as this loop"


class _Steps(NamedTuple):
    """The numbers of the steps from start up to stop, which is excluded, and the array of which each step has a row."""

    counter: str | None
    start: ast.expr
    stop: ast.expr
    given: dict[str, ast.expr]


def offer(context: Context, numpy: str, loop: ast.For, more_axes: int) -> Offer:
    """The edit of one loop; raises `Stays` if there is none."""
    if loop.orelse or not is_alone(context, loop):
        raise Stays("it has an else, or other statements on its lines")
    counter, start, stop, given = _steps(context, loop)
    step = Step(context, numpy, counter, start, stop, more_axes)
    step.begin(loop.body, given)
    _check_range(loop, step)
    body = [new for each in loop.body for new in step.statement(each)]
    if not step.carried and not step.lags:
        raise Stays("no step needs the step before")
    single = {*step.assigned, *given, counter} - {*step.carried}
    if names := sorted(map(str, single & read_after(context, loop))):
        raise Stays(f"{', '.join(names)} is read after the loop")
    for name in sorted(step.written):
        step.ask(*questions_about_memory(context, numpy, loop, name, step.loaded - {name}))
    step.ask(f"{ast.unparse(start)} < {ast.unparse(stop)}")
    name = context.new_name("step")
    function, calls = _function(step, name, body), _call(step, name)
    before = [ast.Assign([ast.Name(each)], parsed(text), lineno=0) for text, each in step.before.items()]
    return Offer((loop,), (*before, function, *calls), _REASON, tuple(step.asks), needs_xo=True)


def _steps(context: Context, loop: ast.For) -> _Steps:
    zero = ast.Constant(0)
    found: _Steps | None = None
    function = context.names.resolve(loop.iter.func) if isinstance(loop.iter, ast.Call) else None
    match loop.target, loop.iter:
        case ast.Name(id=name), ast.Call(args=[stop], keywords=[]) if function == "builtins.range":
            found = _Steps(name, zero, stop, {})
        case ast.Name(id=name), ast.Call(args=[start, stop], keywords=[]) if function == "builtins.range":
            found = _Steps(name, start, stop, {})
        case ast.Name(id=row), ast.Name() as array if context.value(array).is_array:
            found = _Steps(None, zero, called("len", array), {row: array})
        case ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=row)]), ast.Call(args=[ast.Name() as array], keywords=[]):
            if function == "builtins.enumerate" and context.value(array).is_array:
                found = _Steps(name, zero, called("len", array), {row: array})
    if found is None or not is_pure(context, loop.iter):
        raise Stays(f"it runs over {ast.unparse(loop.iter)}")
    return found


def _check_range(loop: ast.For, step: Step) -> None:
    """The steps must not change what the loop runs over."""
    nodes = [*ast.walk(loop.iter)]
    elements = {ast.unparse(node.value) for node in nodes if isinstance(node, ast.Subscript)}
    elements |= {ast.unparse(array) for array in step.given.values()}
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if names & step.assigned or elements & step.written:
        raise Stays(f"its steps change {ast.unparse(loop.iter)}")


def _function(step: Step, name: str, body: Sequence[ast.stmt]) -> ast.stmt:
    """The function of one step: the next carry and the elements that the step writes."""
    first, taken = _parameter(step.context, [*step.carried, *(each for lags in step.lags.values() for each in lags)])
    second, also_taken = _parameter(step.context, step.given)
    after = [*step.carried]
    for array, lags in step.lags.items():
        after += [step.results[array], *lags[:-1]]
    results: list[ast.expr] = [*map(ast.Name, step.results.values())] or [ast.Constant(None)]
    pair = ast.Tuple([packed([*map(ast.Name, after)]), packed(results)])
    (made,) = ast.parse(f"def {name}({first}, {second}): pass").body
    assert isinstance(made, ast.FunctionDef)
    made.body = [*taken, *also_taken, *body, ast.Return(pair)]
    return made


def _parameter(context: Context, names: Collection[str]) -> tuple[str, list[ast.stmt]]:
    """A parameter for some variables, and the statement that takes several of them from it."""
    if len(names) < 2:
        return next(iter(names), context.unused), []
    name = context.new_name("values")
    return name, [ast.Assign([packed([*map(ast.Name, names)])], ast.Name(name), lineno=0)]


def _call(step: Step, name: str) -> list[ast.stmt]:
    """The call of `xo.scan`, and the assignments of what the steps have written."""
    unused = ast.Name(step.context.unused)
    starts: list[ast.expr] = [*map(ast.Name, step.carried)]
    targets: list[ast.expr] = [*map(ast.Name, step.carried)]
    for array, lags in step.lags.items():
        starts += (ast.Subscript(ast.Name(array), plus(step.start, -1 - i)) for i in range(len(lags)))
        targets += [unused] * len(lags)
    rows = {array: ast.Name(step.context.new_name(f"{array}_rows")) for array in step.results}
    ends = [packed(targets) if step.carried else unused, packed([*rows.values()]) if rows else unused]
    call = called(f"{step.context.xo}.scan", ast.Name(name), packed(starts))
    if step.given:
        call.args.append(packed([*step.given.values()]))
    else:
        count = step.stop if ast.unparse(step.start) == "0" else ast.BinOp(step.stop, ast.Sub(), step.start)
        call.keywords.append(ast.keyword("length", count))
    statements: list[ast.stmt] = [ast.Assign([ast.Tuple(ends)], call, lineno=0)]
    for array, found in rows.items():
        target = step.elements(array)
        whole = ast.Subscript(target, ast.Slice()) if isinstance(target, ast.Name) else target
        statements.append(ast.Assign([whole], found, lineno=0))
    return statements
