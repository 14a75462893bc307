"""Arrays in nested arguments and results: in tuples, lists, dictionaries and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

VALUES = frozenset((bool, int, float, complex, str, type(None), slice, type(...)))
"""The classes of arguments that mean the same in every library."""


def is_array(value: Any) -> bool:
    """Whether a value counts as an array: it has a shape and a dtype, and is no class. NumPy's dtypes have a shape."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type)


def fill(value: Any, replace: Callable[[Any], Any]) -> Any:
    """The value with each array in it replaced, in sequences and records too."""
    if type(value) in VALUES:
        return value
    if isinstance(value, dict):
        return {name: fill(member, replace) for name, member in value.items()}
    if isinstance(value, (tuple, list)):
        members = [fill(member, replace) for member in value]
        make: Callable[[Any], Any] = getattr(type(value), "_make", type(value))
        return make(members)
    return replace(value)


def leaves(value: Any) -> Iterator[Any]:
    """The members that are not containers, in the order of `fill`."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        yield value
        return
    for member in value:
        yield from leaves(member)


def arrays_in(values: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays among the arguments, each with its name."""
    if isinstance(values, dict):
        for key, member in values.items():
            yield from arrays_in(member, key)
    elif isinstance(values, (tuple, list)):
        names = getattr(values, "_fields", None) or [f"{name}[{i}]" for i in range(len(values))]
        for each, member in zip(names, values, strict=True):
            yield from arrays_in(member, each)
    elif type(values) not in VALUES and is_array(values):
        yield name, values
