"""One run of a call in a program, on NumPy with arrays that count."""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from functools import partial
from io import StringIO
from pathlib import Path
from time import perf_counter
from types import CodeType
from typing import Any

import numpy as np

from xarrayops.bench.run.budget import CpuContention
from xarrayops.port.loading import arguments_of, last_line, parsed_call
from xarrayops.port.scripts import executed, module_of
from xarrayops.port.source import PortError, Program
from xarrayops.port.source.modules import ModulePlace
from xarrayops.port.source.writes import AUGMENTED_ITEM
from xarrayops.port.trace.array import plain, wrapped
from xarrayops.port.trace.modules import NumPy, counted_code, counted_modules, counting
from xarrayops.port.trace.record import Trace, nbytes_in

_RUNS, _MOST_S = 4, 0.5
"""The maximum number of runs without counting, and the time after which no further run starts."""


def run(program: Program, call: str | None, lines_before: Mapping[str, int] | None = None) -> Trace:
    """Execute a program and a call in it, and count what the call does; then time the call without counting.

    Parameters
    ----------
    program : Program
        The program; its file is executed as a module, so ``if __name__ == "__main__"`` does not run.
    call : str or None
        A call such as ``"f(np.ones(1000), 3)"``. It may use the names of the program and ``np``. Its arguments are not
        counted, except for their sizes. None runs the program as a script, or the cells of a notebook in order.
    lines_before : dict, optional
        The files whose lines count, with the number of lines before each; by default the program alone.

    Raises
    ------
    PortError
        The text is not a call, or the program or the call raises.
    """
    expression = None if call is None else parsed_call(call)
    path = program.source.path
    trace = Trace(path, lines_before)
    augmented = [write.node for write in program.writes if write.kind == AUGMENTED_ITEM]
    trace.augmented_items = frozenset(
        line + trace.lines_before[path]
        for node in augmented
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )
    place = ModulePlace.of(Path(path))
    module = module_of(Path(path), "__main__" if call is None else place.qualified(Path(path).stem))
    contention = CpuContention()
    with counted_modules(place, trace), module as variables, redirect_stdout(sys.stderr):
        numpy = NumPy(np, trace)
        variables |= {**counting(trace), "np": numpy, "numpy": numpy}
        try:
            code = counted_code(program.source.text, path, place)
            prepared = partial(_script, code, variables, dict(variables))
            with trace.following():
                if expression is not None:
                    exec(code, variables)
                    prepared = partial(_prepared, expression, variables, trace)
                function = prepared()
                few = wrapped(np.ones(2), trace)
                number = few[0]
                trace.calibrate({"view": lambda: few[0], "number": lambda: float(number), "other": lambda: few + few})
                draws = np.random.get_state(), random.getstate()
                trace.argument_bytes = nbytes_in([function.args, function.keywords])
                with trace.running():
                    result = function()
            trace.result_bytes = nbytes_in(result)
            del result, function
            _time(prepared, variables, trace, draws)
            trace.others = contention.share(()) or 0.0
        except (Exception, SystemExit) as error:
            raise PortError(_failed(program, call, error)) from None
    return trace


def _time(
    prepared: Callable[[], partial[Any]], variables: dict[str, Any], trace: Trace, draws: tuple[Any, Any]
) -> None:
    """Time the call without counting, several times if it is short, with the same random numbers.

    Its output is discarded: it was printed before.
    """
    for module in (variables, *(vars(each) for each in trace.modules)):
        module.update({name: plain(value) for name, value in module.items()})
    found: list[float] = []
    trace.counts, start = False, perf_counter()
    with redirect_stdout(StringIO()), suppress(Exception, SystemExit):
        while not found or (len(found) < _RUNS and perf_counter() - start < _MOST_S):
            function = prepared()
            np.random.set_state(draws[0])
            random.setstate(draws[1])
            begin = perf_counter()
            function()
            found.append(perf_counter() - begin)
    if found:
        trace.timed(min(found))


def _script(code: CodeType, variables: dict[str, Any], initial: dict[str, Any]) -> partial[Any]:
    """The function that executes a script in its module, which has only its initial variables again."""
    variables.clear()
    variables.update(initial)
    return partial(executed, code, variables)


def _prepared(call: ast.Call, variables: dict[str, Any], trace: Trace) -> partial[Any]:
    """The function of a call with its arguments, which count while the trace counts."""
    function = eval(compile(ast.Expression(call.func), "<call>", "eval"), variables)
    args, options = arguments_of(call, variables)
    if trace.counts:
        args = tuple(wrapped(each, trace) for each in args)
        options = {name: wrapped(each, trace) for name, each in options.items()}
    return partial(function, *args, **options)


def _failed(program: Program, call: str | None, error: BaseException) -> str:
    """The message about an error, with the last line of the program that ran."""
    path, ran = program.source.path, last_line(error, (program.source.path,))
    place = f"{path}, {program.source.place(ran[1])}" if ran else path
    what, option = ("the script", "--run") if call is None else (f"the call {call}", "--call")
    return (
        f"{place}: {what} raises {type(error).__name__}: {error}. "
        f"Instead: correct the program or the call; the program without {option} is only read"
    )
