"""Tokens: hashable cache keys, which are equal if compiled code can be reused.

Python values other than arrays are constants of compiled code, so they are compared by content: a list that changed is
a new constant, as is an object whose attributes changed, or a class whose methods read a variable that changed.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from functools import cached_property, partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin.nested import is_array

ATOMS: frozenset[type] = frozenset((bool, int, str, bytes, type(None), type(...)))
"""The classes of immutable values that are equal only if they are the same constant."""
SMALL = 1 << 16
"""The limit in bytes for arrays whose values are compared at each call."""
_MEMBERS = 2000
"""The limit of values in one constant that are compared at each call."""
_NUMBERS = frozenset((float, complex))
_CONTENTS = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset)
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
        Returns the tokens of the variables that a function reads.
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
        if isinstance(value, _CONTENTS):
            found = self._contents(value)
            return (kind, found) if kind in _CONTENTS else (kind, found, self._of_instance(kind, value))
        if isinstance(value, slice):
            return kind, self.of(value.start), self.of(value.stop), self.of(value.step)
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if isinstance(value, MethodType):
            return kind, self.of(value.__self__), self.of(value.__func__)
        if isinstance(value, partial):
            return kind, self.of(value.func), self.of(value.args), self.of(value.keywords)
        if isinstance(value, BuiltinFunctionType):
            owner = value.__self__
            return Same(value) if owner is None or isinstance(owner, ModuleType) else (value.__name__, self.of(owner))
        if isinstance(value, ModuleType):
            if not is_of_library(value):
                raise NotConstant(f"it is the module {value.__name__}, whose variables could change unnoticed")
            return Same(value)
        if isinstance(value, type):
            return self._of_class(value)
        if isinstance(value, (ContextVar, threading.local)):
            raise NotConstant(f"it is a {kind.__name__}, whose value could change unnoticed")
        return self._of_array(value) if is_array(value) else self._of_instance(kind, value)

    def _contents(self, value: Any) -> Hashable:
        """The content of a number, a string or a container, without attributes of a subclass."""
        if isinstance(value, dict):
            return tuple((self.of(name), self.of(dict.__getitem__(value, name))) for name in dict.__iter__(value))
        if isinstance(value, (set, frozenset)):
            return frozenset(map(self.of, value))
        if isinstance(value, (tuple, list)):
            return tuple(map(self.of, value))
        exact = next(base for base in _CONTENTS if isinstance(value, base))
        return exact.__repr__(value)

    def _of_function(self, value: FunctionType) -> Hashable:
        inner = getattr(value, "_torchdynamo_inline", None)  # the original of a function that `jit` returned
        if inner is not None:
            return "jit", self.of(inner)
        if is_of_library(value):
            return Same(value)
        defaults = self.of(value.__defaults__), self.of(value.__kwdefaults__)
        attributes = tuple((name, self.of(member)) for name, member in vars(value).items())
        return value.__code__, defaults, attributes, self._reads(value, self)

    def _of_array(self, value: Any) -> Hashable:
        """The token of a captured array. Immutable arrays are compared by identity, others by value."""
        try:
            own = find.of(value)
        except XArrayOpsError as error:  # an array of Python objects
            raise NotConstant(str(error)) from None
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
        return type(value), host.shape, host.dtype.str, host.tobytes(), own.functions["device_key"](value)

    def _of_class(self, kind: type) -> Hashable:
        """The token of a user's class: its attributes, and the variables that its methods and properties read."""
        return Same(kind), *(
            (name, self.of(member))
            for cls in kind.__mro__
            if not is_of_library(cls)
            for name, value in vars(cls).items()
            if not name.startswith("__") or callable(value)
            for member in _functions_of(value)
        )

    def _of_instance(self, kind: type, value: Any) -> Hashable:
        if kind.__hash__ is not None and is_of_library(kind):
            return value if vars(kind).get("__eq__") else Same(value)
        names = {name for cls in kind.__mro__ for name in _slots(cls)}
        attributes = {name: getattr(value, name) for name in sorted(names) if hasattr(value, name)}
        attributes |= getattr(value, "__dict__", {})
        has_hash = getattr(kind, "__hash__", None) is not None
        if not attributes and not has_hash and not isinstance(value, _CONTENTS):
            raise NotConstant(f"it is a {kind.__name__}, which has no hash")
        is_known = attributes or isinstance(value, _CONTENTS)
        held = None if is_known else Same(value)  # without attributes, only the object itself can be compared
        members = tuple((name, self.of(member)) for name, member in attributes.items())
        return kind, held, members, self._of_class(kind)


def _functions_of(value: Any) -> Iterator[Any]:
    """The functions of a member of a class, or its value."""
    if isinstance(value, (staticmethod, classmethod)):
        yield value.__func__
    elif isinstance(value, property):
        yield from (each for each in (value.fget, value.fset) if each is not None)
    elif isinstance(value, cached_property):
        yield value.func
    elif not hasattr(type(value), "__set__"):  # descriptors such as slots have no value of their own
        yield value


def _slots(cls: type) -> tuple[str, ...]:
    """The names of the slots of a class, as they are stored."""
    found = vars(cls).get("__slots__", ())
    names = (found,) if isinstance(found, str) else tuple(found)
    private = cls.__name__.lstrip("_")
    return tuple(f"_{private}{n}" if n.startswith("__") and not n.endswith("__") else n for n in names)


def is_of_library(value: Any) -> bool:
    """Whether a function, class or module belongs to the standard library or to an installed package."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    root = (name or "").partition(".")[0]
    if root == "xarrayops" or root in sys.stdlib_module_names:
        return root != "__main__"
    module = value if isinstance(value, ModuleType) else sys.modules.get(name or "")
    file = getattr(module, "__file__", None)
    return file is not None and file.startswith(_FOLDERS)
