"""Tokens: hashable values that are equal where compiled code may be used again.

Python values other than arrays are constants of compiled code, so they are compared by content: a list that changed is
another constant, and so is an object whose attributes changed.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Hashable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from xarrayops._core import registry
from xarrayops._core.registry import Backend
from xarrayops._protocol.nested import is_array

ATOMS: frozenset[type] = frozenset((bool, int, str, bytes, type(None), type(...)))
"""Immutable values that are equal only if they are the same constant."""
SMALL = 1 << 16
"""The bytes of an array whose values are compared at each call."""
_MEMBERS = 2000
"""The number of values in one constant that are compared at each call."""
_NUMBERS = frozenset((float, complex))
_FOLDERS = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class NotConstant(TypeError):
    """A value cannot be a constant of compiled code."""


class Same:
    """A token of one object, which it keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return f"<{type(self.value).__name__}>"


class Tokens:
    """Makes the tokens of the constants of one call.

    Parameters
    ----------
    compiler : Backend or None
        The library that compiles; None if it is not known.
    reads : callable
        Gives the tokens of what a function reads beside its arguments.
    """

    def __init__(self, compiler: Backend | None, reads: Callable[[FunctionType, Tokens], Hashable]) -> None:
        self._compiler = compiler
        self._reads = reads
        self._open: set[int] = set()
        self._count = 0

    def of(self, value: Any) -> Hashable:
        """The token of a value. Raises `NotConstant` if it cannot be compared."""
        kind = type(value)
        if kind in ATOMS:
            return kind, value
        if kind in _NUMBERS:
            return kind, repr(value)  # tells -0.0 and 0.0 apart, and nan equals itself
        self._count += 1
        if self._count > _MEMBERS:
            raise NotConstant(f"it has more than {_MEMBERS} values to compare at each call")
        if id(value) in self._open:
            return Same(value)
        self._open.add(id(value))
        try:
            return self._of_object(kind, value)
        finally:
            self._open.discard(id(value))

    def _of_object(self, kind: type, value: Any) -> Hashable:
        if isinstance(value, (tuple, list)):
            return kind, *map(self.of, value)
        if isinstance(value, dict):
            return kind, *((self.of(name), self.of(member)) for name, member in value.items())
        if isinstance(value, (set, frozenset)):
            return kind, frozenset(map(self.of, value))
        if isinstance(value, slice):
            return kind, self.of(value.start), self.of(value.stop), self.of(value.step)
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if isinstance(value, MethodType):
            return kind, self.of(value.__self__), self.of(value.__func__)
        if isinstance(value, partial):
            return kind, self.of(value.func), self.of(value.args), self.of(value.keywords)
        if isinstance(value, (type, ModuleType, BuiltinFunctionType)):
            return Same(value)
        return self._of_array(value) if is_array(value) else self._of_instance(kind, value)

    def _of_function(self, value: FunctionType) -> Hashable:
        if is_of_library(value):
            return Same(value)
        defaults = self.of(value.__defaults__), self.of(value.__kwdefaults__)
        return value.__code__, defaults, self._reads(value, self)

    def _of_array(self, value: Any) -> Hashable:
        """Of an array that is no argument. An immutable one is itself; of others the values are compared."""
        own = registry.backend_of(value)
        if own.immutable or (own is self._compiler and own.reads_captured_arrays):
            return Same(value)
        if own.functions["is_lazy"](value):
            raise NotConstant(f"it is an array of {own.name} that is not computed")
        nbytes = int(value.nbytes)
        if nbytes > SMALL:
            raise NotConstant(
                f"it is an array of {own.name} with {nbytes} bytes, which could change unnoticed. Instead: an argument"
            )
        host = own.functions["to_numpy"](value)
        return type(value), host.shape, host.dtype.str, host.tobytes()

    def _of_instance(self, kind: type, value: Any) -> Hashable:
        if kind.__hash__ is not None and is_of_library(kind):
            return value if "__eq__" in dir(kind) and vars(kind).get("__eq__") else Same(value)
        names = {name for cls in kind.__mro__ for name in _slots(cls)}
        attributes = {name: getattr(value, name) for name in sorted(names) if hasattr(value, name)}
        attributes |= getattr(value, "__dict__", {})
        if not attributes and kind.__hash__ is None:
            raise NotConstant(f"it is a {kind.__name__}, which has no hash")
        held = Same(value) if not attributes else None  # without attributes, only the object itself can be compared
        methods = [f for cls in kind.__mro__ for f in vars(cls).values() if isinstance(f, FunctionType)]
        members = tuple((name, self.of(member)) for name, member in attributes.items())
        return kind, held, members, tuple(self._of_function(method) for method in methods)


def _slots(cls: type) -> tuple[str, ...]:
    found = vars(cls).get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)


def is_of_library(value: Any) -> bool:
    """Whether a function, class or module belongs to the standard library or to an installed package."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    root = (name or "").partition(".")[0]
    if root.startswith("xarrayops") or root in sys.stdlib_module_names:
        return root != "__main__"
    module = value if isinstance(value, ModuleType) else sys.modules.get(name or "")
    file = getattr(module, "__file__", None)
    return file is not None and file.startswith(_FOLDERS)
