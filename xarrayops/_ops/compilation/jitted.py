"""The class of the functions that `jit` returns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

from xarrayops._core.backends.namespace import lookup

if TYPE_CHECKING:
    from xarrayops._ops.compilation.ledger import Ledger


class Jitted(partial[Any]):
    """A function that `jit` returns, with the name, the docstring and the signature of the function that it compiles.

    It is an object because pickle does not save a function that has the name of another one. A partial is called
    quicker than a method ``__call__``, and torch.compile traces it.

    Attributes
    ----------
    ledger : Ledger
        The costs and savings of each signature.
    """

    ledger: Ledger
    programs: Any
    __qualname__: str

    def __new__(cls, call: Callable[..., Any], *args: Any) -> Self:
        """The object that calls ``call``."""
        return super().__new__(cls, call)

    def __init__(self, call: Callable[..., Any], function: Callable[..., Any], made_by: tuple[Any, ...]) -> None:
        """``made_by`` is a function, and the arguments for which it returns an equal object."""
        update_wrapper(self, function)
        self._made_by = made_by

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method if it is an attribute of a class, as for a function."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<xarrayops.jit of {self.__module__}.{self.__qualname__}>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        """The name, if it has one. For ``__main__`` cloudpickle gets the contents: other programs lack the name."""
        by_value = self.__module__ == "__main__" and _is_cloudpickle(sys._getframe(1).f_globals.get("__name__", ""))
        if not by_value and lookup(sys.modules.get(self.__module__), self.__qualname__) is self:
            return self.__qualname__
        return self._made_by


def _is_cloudpickle(module: str) -> bool:
    """Whether a module belongs to cloudpickle, of which other packages contain copies."""
    return "cloudpickle" in module.split(".")
