"""The function of a measured choice for a call, found once for each form of a call.

The look-up is part of each call in a block, so it only reads attributes of the arrays. Calls whose first array is
small, and calls with arguments without a form, have the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._ops.choices.block import current, setting
from xarrayops._ops.choices.calls import Description, NotDescribed, describe, key_of
from xarrayops._ops.choices.measurements import Measurements
from xarrayops._ops.choices.sentinel import watched
from xarrayops._ops.choices.verdicts import Choice
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops.errors import BackendNotFound, Unsupported
from xarrayops.plugin.nested import arrays_in, is_array

Serve = Callable[..., Any]
MOST_FORMS = 4096
"""The number of forms of calls after which a table begins anew: options with many values would fill it."""

_PLAIN = frozenset((bool, int, str, type(None)))
"""The classes of options that are their own part of a form."""


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
        self._last: tuple[Any, Any, int] = self, None, 0
        """The value of the setting at the last call, and what `_forms` found for it."""

    def function_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
        """The function of the choice; None if the default serves."""
        value = setting.untraced_value(None)
        last, forms, least = self._last
        if value is not last:
            forms, least = self._forms(current())
            self._last = value, forms, least
        if forms is None or not args:
            return None
        x = args[0]
        try:
            key = self._form(x, least) if type(x) is self._plain else self._part(x)
            if key is None:
                return None
            count = len(args)
            if count == 2:  # most calls of several arrays: `map` takes longer
                key = key, self._part(args[1])
            elif count > 2:
                key = (key, *map(self._part, args[1:]))
            if kwargs:
                named: Iterable[Any] = kwargs.items()
                for option in kwargs.values():
                    if type(option) not in _PLAIN:
                        named = [(name, self._part(each)) for name, each in named]
                        break
                key = (key, *named)
            return forms[key]
        except KeyError:
            pass
        except Exception:  # an argument cannot be hashed, or has no form: an array of another class, for example
            return None
        if len(forms) >= MOST_FORMS:
            forms.clear()
        found = forms[key] = self._served(args, kwargs)
        return found

    def _forms(self, measurements: Measurements | None) -> tuple[dict[Any, Serve | None] | None, int]:
        """The functions by the forms of calls, None if all calls of the verb have the default; and the least size."""
        least = None if measurements is None else measurements.least(self._verb, self._own.name)
        if measurements is None or least is None:
            return None, 0
        return measurements.forms.setdefault(self, {}), least

    def _part(self, value: Any) -> Any:
        """The part of the form of a call for one argument."""
        kind = type(value)
        if kind is self._plain:
            return self._form(value) or (value.shape, value.dtype)
        if kind in _PLAIN:
            return value
        if kind is float or kind is complex:  # a description has no values of these
            return kind
        if is_array(value):
            raise TypeError("an array of another class, which the form would keep alive")
        return tuple(map(self._part, value)) if isinstance(value, (tuple, list)) else value

    def _served(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
        measurements = current()
        found = None if measurements is None else self.choice(measurements, args, kwargs)
        if found is None or measurements is None:
            return None
        description, known = found
        own = f"{self._own.name}:{self._verb}"
        choice = known or Choice(description, own, own, 1.0, 0, "", True)
        if measurements.is_recording:
            measurements.record(description, choice)
        if choice.is_default:
            return None
        try:
            serve = self._function_of(choice.candidate)
        except BackendNotFound as error:
            error.add_note(f"{measurements} chose {choice.candidate} for {self._verb}")
            raise
        except ValueError as error:
            if measurements.is_pinned:
                raise ValueError(f"{measurements}: {error}") from None
            return None
        except Unsupported:  # this library cannot serve the call
            return None
        is_watched = choice.exact and not measurements.is_pinned
        return watched(serve, self._function, choice) if is_watched else serve

    def choice(
        self, measurements: Measurements, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Description, Choice | None] | None:
        """A call as plain data, and its choice if it has one; None for small arrays and calls without a description."""
        try:
            if all(self._form(x) is None for _, x in arrays_in((args, kwargs)) if type(x) is self._plain):
                return None
            description = describe(self._verb, self._own, self._plain, args, kwargs)
        except NotDescribed:
            return None
        return description, measurements.table.choice(key_of(description))


def with_choice(found: Explanation, choice: Choice, refusal: str | None, measurements: Measurements) -> Explanation:
    """The explanation with the measured choice first: its gain and its date, or why it does not serve this call."""
    name = found.chosen if choice.is_default else choice.candidate
    if name is None:
        return found
    others = [each for each in found.candidates if each.name != name]
    reason = f"pinned by {measurements}" if measurements.is_pinned else str(choice)
    found = found._replace(candidates=(Candidate(name, refusal is None, refusal or reason), *others))
    if refusal is not None or choice.is_default:
        return found
    return found._replace(summary=f"{name} serves this call", chosen=name)
