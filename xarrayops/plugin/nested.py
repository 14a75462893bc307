"""Pytrees: arrays in nested tuples, lists, dictionaries and records, in arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

VALUES: frozenset[type] = frozenset((bool, int, float, complex, str, type(None), slice, type(...)))
"""The classes of arguments that mean the same in every library."""


def is_array(value: Any) -> bool:
    """Whether a value has a shape and a dtype and is not a class. NumPy's dtypes have a shape."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type)


def fill(value: Any, replace: Callable[[Any], Any], kept: Container[type] = VALUES) -> Any:
    """The value with each array in it replaced, in sequences and records too.

    Values of the classes in ``kept`` are not replaced.
    """
    if type(value) in kept:
        return value
    if isinstance(value, dict):
        filled = {name: fill(member, replace, kept) for name, member in value.items()}
        if type(value) is dict:
            return filled
        from copy import copy  # not needed by `import xarrayops`

        found = copy(value)  # an instance of a subclass, with its attributes
        found.update(filled)
        return found
    if isinstance(value, (tuple, list)):
        members = [fill(member, replace, kept) for member in value]
        if isinstance(value, tuple) and hasattr(value, "__dict__"):  # a record of SciPy
            made = tuple.__new__(type(value), members)
            vars(made).update({name: fill(member, replace, kept) for name, member in vars(value).items()})
            return made
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


def leaves_as(form: Any, value: Any) -> Iterator[Any]:
    """The members of a value in the order of a form, whose dictionaries may have another order.

    Raises `TypeError` if the structure of the value differs.
    """
    if isinstance(form, dict):
        if not isinstance(value, dict) or value.keys() != form.keys():
            raise TypeError(f"{_shown(value)} instead of {_shown(form)}")
        for name, member in form.items():
            yield from leaves_as(member, value[name])
    elif isinstance(form, (tuple, list)):
        if not isinstance(value, (tuple, list)) or len(value) != len(form):
            raise TypeError(f"{_shown(value)} instead of {_shown(form)}")
        for member, given in zip(form, value, strict=True):
            yield from leaves_as(member, given)
    else:
        yield value


def _shown(value: Any) -> str:
    """The nested structure of a value as text."""
    if isinstance(value, dict):
        return f"a dict of {', '.join(map(repr, value))}"
    return f"{len(value)} values" if isinstance(value, (tuple, list)) else type(value).__name__


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


def members(obj: Any) -> list[Any]:
    """The members of nested sequences, in order. Any other object is a single member."""
    if not isinstance(obj, (list, tuple)):
        return [obj]
    if not any(issubclass(cls, (list, tuple)) for cls in {*map(type, obj)}):  # quick for a long list
        return list(obj)
    return [leaf for member in obj for leaf in members(member)]


def named_members(name: str, obj: Any, skipped: Container[Any]) -> Iterator[tuple[str, Any]]:
    """The members of nested sequences, each with a name for error messages, such as ``obj[0]``.

    Objects of the skipped classes are omitted.
    """
    if isinstance(obj, (list, tuple)):
        for i, member in enumerate(obj):
            if type(member) not in skipped:
                yield from named_members(f"{name}[{i}]", member, skipped)
    elif type(obj) not in skipped:
        yield name, obj
