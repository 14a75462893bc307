"""The function of a measured choice for a call, found once for each form of a call.

The look-up is part of each call in a block, so it only reads attributes of the arrays. Calls whose
first array is small, and calls with arguments without a form, have the default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._ops.choices.block import current
from xarrayops._ops.choices.calls import NotDescribed, describe, key_of
from xarrayops._ops.choices.measurements import Measurements
from xarrayops._ops.choices.sentinel import watched
from xarrayops._ops.choices.verdicts import Choice
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops.errors import BackendNotFound, Unsupported

Serve = Callable[..., Any]
MOST_FORMS = 4096
"""The number of forms of calls after which a table begins anew: options with many values would fill it."""


def _unknown(*args: Any) -> Any:
    """Stands for a form that was not looked up yet."""


class Chooser:
    """The choice for the calls of a verb on the arrays of a library.

    ``plain`` is their class, and ``function_of`` returns the function of a candidate, with the arguments of the verb.
    """

    def __init__(
        self, verb: str, own: Backend, plain: type, function: Serve, function_of: Callable[[str], Serve]
    ) -> None:
        self._verb, self._own, self._plain = verb, own, plain
        self._function, self._function_of = function, function_of
        self._form = own.functions["form"]
        self._found: dict[Any, Serve | None] = {}

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
        """The function of the choice; None if the default serves."""
        form, plain = self._form, self._plain
        try:
            first = form(args[0]) if type(args[0]) is plain else True
            measurements = None if first is None else current()
            if measurements is None:
                return None
            others = [form(x) if type(x) is plain else x for x in args[1:]] if len(args) > 1 else ()
            key = (measurements, first, *others, *kwargs.items())
            found = self._found.get(key, _unknown)
        except Exception:  # an argument cannot be hashed, or has no form: an array in a list, for example
            return None
        if found is _unknown:
            if len(self._found) >= MOST_FORMS:
                self._found.clear()
            found = self._found[key] = self._served(measurements, args, kwargs)
        return found

    def _served(self, measurements: Measurements, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
        choice = self.choice(measurements, args, kwargs)
        if choice is None or choice.is_default:
            return None
        try:
            serve = self._function_of(choice.candidate)
        except BackendNotFound:
            raise
        except Unsupported:  # this library cannot serve the call
            return None
        return watched(serve, self._function, choice) if choice.exact else serve

    def choice(self, measurements: Measurements, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Choice | None:
        """The choice for a call; None for a call that was not measured, or that has no form."""
        if args and type(args[0]) is self._plain and self._form(args[0]) is None:
            return None
        try:
            description = describe(self._verb, self._own, self._plain, args, kwargs)
        except NotDescribed:
            return None
        choice = measurements.table.choice(key_of(description))
        own = f"{self._own.name}:{self._verb}"
        measurements.record(description, choice or Choice(description, own, own, 1.0, 0, "", True))
        return choice


def with_choice(found: Explanation, choice: Choice) -> Explanation:
    """The explanation with the measured choice first, its gain and its date."""
    others = [each for each in found.candidates if each.name != choice.candidate]
    chosen = Candidate(choice.candidate, True, str(choice))
    summary = found.summary if choice.is_default else f"{choice.candidate} serves this call"
    return found._replace(summary=summary, candidates=(chosen, *others), chosen=choice.candidate)
