"""The dtypes of the public namespace: strings that compare equal to the native dtypes of that name."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from xarrayops._core.backends import find
from xarrayops._core.backends.resolved import is_traced
from xarrayops.plugin.candidates import constant_while_tracing

_names: dict[tuple[type, Any], str] = {}
"""Cache: the names of native dtypes that were compared, by the dtype's class and the dtype."""


class DTypeName(str):
    """The name of a dtype. It is a string, and it is also equal to the native dtypes of that name.

    ``x.dtype == xo.float64`` and ``x.dtype in (xo.float32, xo.float64)`` are correct on every library, also under
    torch.compile. The hash is the hash of the string: sets and dicts do not find native dtypes by a name, or names by a
    native dtype.
    """

    name: str
    """The name as a plain string, which Dynamo can read."""

    def __new__(cls, name: str) -> Self:
        self = super().__new__(cls, name)
        self.name = name
        return self

    def __eq__(self, other: object) -> bool:
        return _is_named(other, self.name)

    def __ne__(self, other: object) -> bool:
        equal = _is_named(other, self.name)
        return equal if equal is NotImplemented else not equal

    __hash__ = str.__hash__

    def __call__(self, *values: object) -> NoReturn:
        """Raise: unlike NumPy's scalar classes, a name does not cast."""
        raise TypeError(
            f"xo.{self.name} is the name of a dtype, not a function. "
            f"Instead: xo.astype(x, xo.{self.name}) of an array, xo.asarray(value, dtype=xo.{self.name}) of a number"
        )


@constant_while_tracing
def _is_named(other: object, name: str) -> Any:
    """Whether a string or a native dtype has that name; NotImplemented for all other objects."""
    if isinstance(other, str):
        return str(other) == name
    try:
        return _names[type(other), other] == name
    except (KeyError, TypeError):
        found = name_of(other)
    return NotImplemented if found is None else found == name


def name_of(dtype: Any) -> str | None:
    """The name of a dtype of any library, given by its name, as an instance or as a class; None for other objects."""
    if isinstance(dtype, str):
        return str(dtype)
    is_array = hasattr(dtype, "dtype") and not isinstance(dtype, type)
    backend = None if is_array else find.of_dtype(dtype)
    if backend is None or not getattr(dtype, "isnative", True):  # NumPy's dtypes of non-native byte order have no name
        return None
    try:
        name: str | None = backend.functions["dtype_name"](dtype)
    except (TypeError, ValueError):  # an object of the library that is not a dtype
        return None
    if name is not None and not is_traced():  # torch.compile would guard every name
        _names[type(dtype), dtype] = name
    return name
