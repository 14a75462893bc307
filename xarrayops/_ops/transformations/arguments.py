"""The arrays in the arguments and results of a transformed function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import fill, is_array, leaves


class _Place:
    """A placeholder for an array in the form of a result, so that the form keeps no array alive."""

    shape = ()
    dtype = None


def arrays_of(value: Any) -> tuple[Array, ...]:
    """The arrays in a value, in the order of `rebuilt`."""
    return tuple(filter(is_array, leaves(value)))


def form_of(value: Any) -> Any:
    """The value without its arrays, for `rebuilt`."""
    return fill(value, lambda x: _Place() if is_array(x) else x)


def rebuilt(value: Any, arrays: Iterable[Array]) -> Any:
    """The value with other arrays."""
    given = iter(arrays)
    return fill(value, lambda x: next(given) if is_array(x) else x)


def library_of(verb: str, arguments: Any) -> Backend | None:
    """The library of all arrays in the arguments; None without an array."""
    named = {f"arrays[{i}]": x for i, x in enumerate(arrays_of(arguments))}
    return find.one_of(verb, named) if named else None


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function in messages."""
    return getattr(function, "__name__", type(function).__name__)
