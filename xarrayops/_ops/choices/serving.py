"""The function of a measured choice for a call, found once for each form of a call.

The look-up is part of each call in a block, so it only reads attributes of the arrays. Calls whose first array is
below the limit, and calls with arguments without a form, have the default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._core.backends.resolved import runs_in_dynamo
from xarrayops._core.modes.settings import blocks_here
from xarrayops._ops.choices.block import current, of_environment, setting
from xarrayops._ops.choices.calls import Description, NotDescribed, describe, key_of
from xarrayops._ops.choices.limits import NEVER, limit_of
from xarrayops._ops.choices.measurements import Measurements
from xarrayops._ops.choices.sentinel import watched
from xarrayops._ops.choices.verdicts import Choice
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops.errors import BackendNotFound, Unsupported
from xarrayops.plugin.arrays import SMALLEST_MEASURED
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.nested import arrays_in, is_array

Serve = Callable[..., Any]
Forms = dict[Any, Serve | None]
"""The functions that were found in the choices of a block, by the form of the call."""
MOST_FORMS = 4096
"""The number of forms of calls after which a table begins anew: options with many values would fill it."""

_PLAIN = frozenset((bool, int, str, type(None)))
"""The classes of options that are their own part of a form."""


class Chooser:
    """The choice for the calls of a verb on the arrays of a library.

    ``plain`` is their class, and ``function_of`` returns the function of a candidate, with the arguments of the verb.
    """

    def __init__(
        self, verb: str, own: Backend, plain: type, function: Serve, function_of: Callable[[str, Call], Serve]
    ) -> None:
        self._verb, self._own, self.plain = verb, own, plain
        self._function, self._function_of = function, function_of
        self._form, self._size = own.functions["form"], own.functions["size"]
        if not runs_in_dynamo():  # it changes tables, and Dynamo must find the same ones when it traces again
            of_environment()
        self.limit = limit_of(verb, own.name)
        self.function_for = self._finder()

    def _finder(self) -> Callable[[tuple[Any, ...], dict[str, Any]], Serve | None]:
        """What returns the function of the choice for the arguments of a call; None if the default serves.

        It is a closure, because attributes take longer to read than its variables.
        """
        plain, form, part = self.plain, self._form, self._part
        forms_here, looked_up = self._forms_here, self._looked_up
        last: tuple[Any, Any, Forms | None] = None, None, None

        def function_for(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
            nonlocal last
            blocks, block, forms = last
            if blocks is not blocks_here() or not block.is_open:
                blocks, block, forms = last = forms_here()
            if forms is None:
                return None
            try:  # the quick way to the key of the most common calls: options are their own parts
                x = args[0]
                key: Any = (form(x) or x) if type(x) is plain else x
                if len(args) > 1:
                    y = args[1]
                    second = (form(y) or y) if type(y) is plain else float if type(y) is float else y
                    key = (key, second, *map(part, args[2:]))
                if kwargs:
                    key = (key, *kwargs, *kwargs.values())
                return forms[key]
            except Exception:  # also of an argument that cannot be hashed, or has no form
                return looked_up(forms, args, kwargs)

        return function_for

    def _looked_up(self, forms: Forms, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
        """The function of the choice, found in the choices of the block if this form of a call is new."""
        key, measurements = self._key(args, kwargs), current()
        if key is None or measurements is None:
            return None
        if key in forms:
            return forms[key]
        if len(forms) >= MOST_FORMS:
            forms.clear()
        found = forms[key] = self._served(measurements, args, kwargs)
        return found

    def _forms_here(self) -> tuple[Any, Any, Forms | None]:
        """The open blocks, the one that decides, and the functions by the forms of calls.

        The functions are None if all calls of the verb have the default.
        """
        blocks, block, _ = setting.here(None)
        measurements = current()
        if measurements is None or measurements.least(self._verb, self._own.name) == NEVER:
            return blocks, block, None
        return blocks, block, measurements.forms.setdefault(self, {})

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The form of a call; None if it has none: an argument is an array of another class, for example."""
        try:
            parts = tuple(map(self._part, args))
            key = parts if len(parts) > 1 else parts[0]
            if kwargs:
                key = (key, *kwargs, *map(self._part, kwargs.values()))
            hash(key)
        except Exception:  # libraries raise various errors
            return None
        return key

    def _part(self, value: Any) -> Any:
        """The part of the form of a call for one argument."""
        kind = type(value)
        if kind is self.plain:
            return self._form(value) or (value.shape, value.dtype, None)
        if kind in _PLAIN:
            return value
        if kind is float or kind is complex:  # a description has no values of these
            return kind
        if is_array(value):
            raise TypeError("an array of another class, which the form would keep alive")
        return tuple(map(self._part, value)) if isinstance(value, (tuple, list)) else value

    def _served(self, measurements: Measurements, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Serve | None:
        found = self.choice(measurements, args, kwargs)
        if found is None:
            return None
        own = f"{self._own.name}:{self._verb}"
        description, measured = found
        choice = measured or Choice(description, own, own, 1.0, 0, "", True)
        if measurements.is_recording:
            measurements.record(description, choice)
        if choice.is_default:
            return None
        try:
            serve = self._function_of(choice.candidate, Call(args, kwargs))
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
            arrays = [x for _, x in arrays_in((args, kwargs)) if type(x) is self.plain]
            if all(self._size(x) < SMALLEST_MEASURED or self._form(x) is None for x in arrays):
                return None
            description = describe(self._verb, self._own, self.plain, args, kwargs)
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
