"""The class of the functions that transformations return, such as `jit` and `grad`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, update_wrapper
from types import MethodType
from typing import Any, Self

from xarrayops._core.backends.namespace import lookup
from xarrayops._core.backends.resolved import is_traced


class Transformed(partial[Any]):
    """A function made of another one, with its name, docstring and signature, which can be pickled and copied.

    It is an object because pickle does not save a function that has the name of another one. A partial is called
    quicker than a method ``__call__``, and torch.compile traces it.
    """

    __qualname__: str

    def __new__(cls, call: Callable[..., Any], *args: Any) -> Self:
        """The object that calls ``call``."""
        return super().__new__(cls, call)

    def __init__(self, call: Callable[..., Any], function: Callable[..., Any], make: Callable[[], Any]) -> None:
        """``make`` is the call that returned this: a partial, which can be pickled if ``function`` can."""
        update_wrapper(self, function)
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)
        self._make = make

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method if it is an attribute of a class, as for a function."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.__module__}.{self.__qualname__}>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        """The name, if it has one. For ``__main__`` cloudpickle gets the call: other programs lack the name."""
        by_value = self.__module__ == "__main__" and _is_cloudpickle(sys._getframe(1).f_globals.get("__name__", ""))
        if not by_value and lookup(sys.modules.get(self.__module__), self.__qualname__) is self:
            return self.__qualname__
        return self._make, ()


def transformed(call: Callable[..., Any], function: Callable[..., Any], make: Callable[[], Any]) -> Callable[..., Any]:
    """The object for these arguments; ``call`` itself while torch.compile traces, which cannot create the object."""
    return call if is_traced() else Transformed(call, function, make)


def _is_cloudpickle(module: str) -> bool:
    """Whether a module belongs to cloudpickle, of which other packages contain copies."""
    return "cloudpickle" in module.split(".")
