"""The sentinel: it times a few of the calls that a choice serves, to find a choice that has become slow.

It runs no call that the program does not make: in one of `EVERY` pairs of calls, one is served by the choice and the
next by the default, and both are timed until the result is there. If the choice is the slower one in the first `PAIRS`
pairs, the demotion is recorded. It takes effect in the next process, because a process never changes its choices.
Both candidates have the same values, so the program sees no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from time import perf_counter
from typing import Any

from xarrayops._core.backends import find
from xarrayops._ops.choices import machine
from xarrayops._ops.choices.verdicts import Choice
from xarrayops.plugin.nested import arrays_in

EVERY, PAIRS = 400, 3


def watched(serve: Callable[..., Any], default: Callable[..., Any], choice: Choice) -> Callable[..., Any]:
    """The function of a choice, with a sentinel. Threads may lose a count, which delays a pair."""
    calls, slower, pairs, chosen_s = 0, 0, 0, 0.0

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls, slower, pairs, chosen_s
        calls += 1
        place = calls % EVERY
        if place > 1 or pairs == PAIRS or (place == 1 and chosen_s == 0.0):
            return serve(*args, **kwargs)
        _wait((args, kwargs))
        start = perf_counter()
        result = (default if place else serve)(*args, **kwargs)
        _wait(result)
        elapsed = perf_counter() - start
        if place == 0:
            chosen_s = elapsed
            return result
        pairs, slower, chosen_s = pairs + 1, slower + (chosen_s > elapsed), 0.0
        if slower == PAIRS:
            machine.store().append(demotion(choice))
        return result

    return call


def demotion(choice: Choice) -> dict[str, Any]:
    """The record that a choice is not the fastest any more."""
    names = {"default": choice.default, "candidate": choice.candidate, "exact": choice.exact}
    return {"call": choice.description, **names, "process": "", "date": f"{date.today()}", "demoted": True}


def _wait(result: Any) -> None:
    for _, x in arrays_in((result,)):  # of arguments as well: pending work is not that of the call
        find.of(x).functions["synchronize"](x)
