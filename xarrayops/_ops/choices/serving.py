"""The function of a measured choice for a call, found once for each form of a call.

The look-up is part of each call in a block, so it only reads attributes of the arrays. Calls whose
first array is small, and calls with arguments without a form, have the default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._ops.choices.block import current
from xarrayops._ops.choices.calls import Description, NotDescribed, describe, key_of
from xarrayops._ops.choices.measurements import Measurements
from xarrayops._ops.choices.sentinel import watched
from xarrayops._ops.choices.verdicts import Choice
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops.errors import BackendNotFound, Unsupported
from xarrayops.plugin.nested import arrays_in

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

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
        """The function of the choice; None if the default serves."""
        x = args[0] if args else None
        try:
            if type(x) is self._plain and self._form(x) is None:
                return None
            measurements = current()
            if measurements is None:
                return None
            forms = measurements.forms.setdefault(self, {})
            key = (*map(self._part, args), *((name, self._part(each)) for name, each in kwargs.items()))
            found = forms.get(key, _unknown)
        except Exception:  # an argument cannot be hashed, or has no form: an array of another class, for example
            return None
        if found is _unknown:
            if len(forms) >= MOST_FORMS:
                forms.clear()
            found = forms[key] = self._served(measurements, args, kwargs)
        return found

    def _part(self, value: Any) -> Any:
        """The part of the form of a call for one argument."""
        kind = type(value)
        if kind is self._plain:
            found = self._form(value)
            return (value.shape, value.dtype) if found is None else found
        return tuple(map(self._part, value)) if isinstance(value, (tuple, list)) else value

    def _served(self, measurements: Measurements, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
        found = self.choice(measurements, args, kwargs)
        if found is None:
            return None
        description, choice = found
        measurements.record(description, choice)
        if choice.is_default:
            return None
        try:
            serve = self._function_of(choice.candidate)
        except BackendNotFound:
            raise
        except Unsupported:  # this library cannot serve the call
            return None
        is_watched = choice.exact and not measurements.is_pinned
        return watched(serve, self._function, choice) if is_watched else serve

    def choice(
        self, measurements: Measurements, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Description, Choice] | None:
        """A call as plain data, and its choice; None for small arrays, and for a call that cannot be described."""
        try:
            if all(self._form(x) is None for _, x in arrays_in((args, kwargs)) if type(x) is self._plain):
                return None
            description = describe(self._verb, self._own, self._plain, args, kwargs)
        except NotDescribed:
            return None
        own = f"{self._own.name}:{self._verb}"
        choice = measurements.table.choice(key_of(description))
        return description, choice or Choice(description, own, own, 1.0, 0, "", True)


def with_choice(found: Explanation, choice: Choice, refusal: str | None) -> Explanation:
    """The explanation with the measured choice first: its gain and its date, or why it does not serve this call."""
    others = [each for each in found.candidates if each.name != choice.candidate]
    chosen = Candidate(choice.candidate, refusal is None, refusal or str(choice))
    found = found._replace(candidates=(chosen, *others))
    if refusal is not None:
        return found
    summary = found.summary if choice.is_default else f"{choice.candidate} serves this call"
    return found._replace(summary=summary, chosen=choice.candidate)
