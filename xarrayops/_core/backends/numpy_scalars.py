"""NumPy scalars combined with arrays of another library count as Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from xarrayops.plugin.candidates import constant_while_tracing

_CLASSES: dict[str, type] = {"bool": bool, "bool_": bool, "integer": int, "floating": float, "complexfloating": complex}
"""The Python number class of each abstract NumPy scalar class, by name: NumPy need not be imported."""


@cache
def number_class(cls: type) -> type | None:
    """The Python number class of a NumPy scalar class; None for other classes."""
    own = [base.__name__ for base in cls.__mro__ if base.__module__ == "numpy"]
    if "generic" not in own or "timedelta64" in own:
        return None
    return next((_CLASSES[name] for name in own if name in _CLASSES), None)


@constant_while_tracing
def _is_class_of_scalars(cls: type) -> bool:
    return number_class(cls) is not None


def is_numpy_scalar(value: Any) -> bool:
    """Whether a value is a NumPy scalar that counts as a Python number."""
    return _is_class_of_scalars(type(value))


def with_python_numbers(key: tuple[type, ...]) -> tuple[type, ...]:
    """The classes, with NumPy's scalar classes replaced by Python's number classes."""
    return tuple(number_class(cls) or cls for cls in key)


def converting_scalars(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function: NumPy scalars among the arguments become Python numbers."""

    def converted(*args: Any, **kwargs: Any) -> Any:
        return function(*map(as_number, args), **{name: as_number(value) for name, value in kwargs.items()})

    return converted


def as_number(value: Any) -> Any:
    """The Python number of a NumPy scalar; other values are unchanged. The widest scalars have no ``item()``."""
    if not is_numpy_scalar(value):  # which torch.compile need not trace
        return value
    cls: type = type(value)
    number: Any = number_class(cls)
    return number(value)


def with_numbers(obj: Any) -> Any:
    """Replace NumPy scalars in nested lists and tuples by Python numbers."""
    if type(obj) in (list, tuple):
        return type(obj)([with_numbers(member) for member in obj])
    return as_number(obj) if is_numpy_scalar(obj) else obj
