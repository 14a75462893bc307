"""How values and calls are written in an answer: arrays by their names, short values as they are."""

from __future__ import annotations

import inspect
import math
from typing import Any

from xarrayops._core.backends.dtype_names import name_of
from xarrayops._core.numpy_names.positions import is_default, parameters

_LONGEST = 40
"""The longest value that is written as it is."""


def shown_value(name: str, value: Any) -> str:
    """A value as it is written in a call: numbers, strings, sequences of them and dtypes; others by the name."""
    text = _dtype(value) if name == "dtype" else _plain(value)
    return name if text is None or len(text) > _LONGEST else text


def _dtype(value: Any) -> str | None:
    """The text of a dtype: its name; None for other values."""
    if value is None or any(value is cls for cls in (bool, int, float, complex)):
        return getattr(value, "__name__", "None")
    name = name_of(value)
    return None if name is None else repr(name)


def _plain(value: Any) -> str | None:
    """The text of None, of a number, a string or a sequence of them; None for other values."""
    if type(value) in (list, tuple):
        members = [_plain(member) for member in value]
        text = ", ".join(member for member in members if member is not None)
        if None in members:
            return None
        return f"[{text}]" if type(value) is list else f"({text},)" if len(members) == 1 else f"({text})"
    if isinstance(value, float) and not math.isfinite(value):
        return "xo.nan" if math.isnan(value) else "xo.inf" if value > 0 else "-xo.inf"
    return repr(value) if value is None or isinstance(value, (int, float, complex, str)) else None


class Call:
    """A call that an answer rewrites until it has no argument that our function does not take.

    ``arguments`` and ``options`` are texts, by the names of our parameters. ``result`` is an expression with ``{call}``
    in the place of the call; ``before`` is a line that it needs, ``first`` and ``last`` are remarks around it.
    """

    def __init__(self, verb: str, given: dict[str, Any], moved: dict[str, Any]) -> None:
        self.verb, self.given = verb, given
        self.arguments: dict[str, str] = {}
        self.options: dict[str, str] = {}
        self.result = "{call}"
        self.before = self.first = self.last = ""
        in_place = True
        for name, p in parameters(verb).items():
            if name not in given:
                continue
            value, default = given[name], is_default(p, given[name])
            if p.kind is p.VAR_POSITIONAL:
                self.arguments |= {f"x{i}": f"x{i}" for i, _ in enumerate(value, 1)}
            elif p.kind is not p.KEYWORD_ONLY and in_place and not default:
                self.arguments[name] = shown_value(name, value)
            elif not default or name in list(moved)[:1]:
                self.options[name] = "x" if name == "like" else shown_value(name, value)
            in_place &= p.default is inspect.Parameter.empty or not default

    def call(self) -> str:
        """The call alone, with its options in the order of the signature."""
        order = list(parameters(self.verb))
        options = sorted(self.options, key=order.index)
        return written(self.verb, *self.arguments.values(), **{name: self.options[name] for name in options})

    def text(self) -> str:
        """The whole expression."""
        return self.result.replace("{call}", self.call())

    def wrap(self, template: str) -> None:
        """Put the result into another expression, in the place of ``{call}``."""
        self.result = template.replace("{call}", self.result)

    def shape_of(self, name: str) -> tuple[Any, ...] | None:
        """The shape of an argument; None for other objects."""
        return getattr(self.given.get(name), "shape", None)


def written(verb: str, *arguments: str, **options: str) -> str:
    """The text of a call."""
    return f"xo.{verb}({', '.join([*arguments, *(f'{name}={value}' for name, value in options.items())])})"
