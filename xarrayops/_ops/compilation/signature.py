"""The signature of a call of a compiled function: the cache key of its code, from its arrays and constants."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable
from operator import attrgetter
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.compilation.captured import token_of
from xarrayops._ops.compilation.tokens import ATOMS, NotConstant
from xarrayops._ops.engines import passing
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import VALUES, fill, is_array, leaves

_plain: dict[type, tuple[Backend, Callable[[Array], Hashable]]] = {}
"""The classes of arrays that have values, each with its library and a function that returns the key of a device.

Tracers and subclasses are excluded.
"""


class Slot:
    """Stands for a traced array in the form of a call."""

    __slots__ = ()


class Signature:
    """Finds the signatures of the calls of one function.

    Parameters
    ----------
    function : callable
        The function that is compiled.
    static : iterable of str
        The parameters whose arrays are constants, compared by their values.
    dynamic : iterable of str
        The axes whose length may change, as ``"name:axis"``.
    """

    def __init__(self, call: str, function: Callable[..., Any], static: Iterable[str], dynamic: Iterable[str]) -> None:
        self.call = call
        names, keywords = _parameters(function)
        self.static = frozenset(static)
        self.dynamic: dict[str, tuple[int, ...]] = {}
        for each in dynamic:
            name, _, axis = each.partition(":")
            self.dynamic[name] = (*self.dynamic.get(name, ()), int(axis))
        self._names = names
        unknown = (self.static | self.dynamic.keys()) - {*names, *keywords}
        if unknown and (names or keywords):
            raise ValueError(f"{call}: it has no parameter {sorted(unknown)[0]!r}")
        self._is_special = bool(self.static or self.dynamic)

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Hashable], list[Array]]:
        """The cache key of the call, and its traced arrays. Raises `NotConstant` for values that cannot be compared."""
        arrays: list[Array] = []
        if self._is_special:
            return self._special(args, kwargs, arrays), arrays
        parts: list[Any] = []
        for value in args:
            kind = type(value)
            if kind in _plain:
                arrays.append(value)
                parts += kind, value.shape, value.dtype, _plain[kind][1](value)
            elif kind in ATOMS:
                parts.append((kind, value))
            else:
                parts.append(self._part("", value, arrays))
        for name in sorted(kwargs) if kwargs else ():
            parts += [name, self._part(name, kwargs[name], arrays)]
        return parts, arrays

    def _special(self, args: tuple[Any, ...], kwargs: dict[str, Any], arrays: list[Array]) -> list[Hashable]:
        """Like `of`, for parameters that are static or have dynamic axes."""
        parts: list[Hashable] = []
        for name, value in (*zip(self._names, args, strict=False), *sorted(kwargs.items())):
            if name in self.static:
                parts.append((name, _constant(self.call, name, value)))
                continue
            part = self._part(name, value, arrays)
            if name in self.dynamic and is_array(value):
                kind, shape, *others = part
                if any(not -len(shape) <= axis < len(shape) for axis in self.dynamic[name]):
                    raise ValueError(f"{self.call}: dynamic names an axis that {name} of shape {shape} does not have")
                free = {axis % len(shape) for axis in self.dynamic[name]}
                part = kind, tuple(n if i not in free or n < 2 else None for i, n in enumerate(shape)), *others
            parts.append((name, part))
        parts += [self._part("", value, arrays) for value in args[len(self._names) :]]
        return parts

    def dynamic_axes(self, form: tuple[tuple[Any, ...], dict[str, Any]]) -> tuple[tuple[int, int], ...]:
        """The traced arrays, by position, and the dynamic axes of each."""
        found: list[tuple[int, int]] = []
        count = 0
        for name, value in (*zip(self._names, form[0], strict=False), *form[1].items()):
            if type(value) is Slot:
                found += [(count, axis) for axis in self.dynamic.get(name, ())]
            count += sum(type(x) is Slot for x in leaves(value))
        return tuple(found)

    def _part(self, name: str, value: Any, arrays: list[Array]) -> Any:
        """The part of the key for one argument; its arrays are added to the list."""
        kind = type(value)
        if kind in _plain:
            arrays.append(value)
            return kind, tuple(value.shape), value.dtype, _plain[kind][1](value)
        if kind in ATOMS:
            return kind, value
        if isinstance(value, dict):
            return kind, *((key, self._part(name, member, arrays)) for key, member in value.items())
        if isinstance(value, (tuple, list)):
            return kind, *(self._part(name, member, arrays) for member in value)
        if is_traced(value):
            arrays.append(value)
            functions = find.of(value).functions
            place = None if functions["is_lazy"](value) else functions["device_key"](value)
            return kind, tuple(value.shape), value.dtype, place
        return _constant(self.call, name, value)

    def form(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with slots for the traced arrays."""

        def slots(name: str, value: Any) -> Any:
            return value if name in self.static else fill(value, lambda x: Slot() if is_traced(x) else x)

        names = (*self._names, *[""] * len(args))
        positional = tuple(slots(name, value) for name, value in zip(names, args, strict=False))
        return positional, {name: slots(name, value) for name, value in sorted(kwargs.items())}

    def has_objects(self, form: tuple[tuple[Any, ...], dict[str, Any]]) -> bool:
        """Whether constants of a form can change: later objects may have the same content."""
        return any(type(value) is not Slot and type(value) not in VALUES for value in leaves(form))

    def described(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, str]:
        """The arguments as text, by name."""
        return {name: _text(value) for name, value in self.named(args, kwargs).items()}

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by name."""
        names = (*self._names, *(f"argument {i}" for i in range(len(args))))
        return dict(zip(names, args, strict=False)) | dict(sorted(kwargs.items()))


def filled(form: tuple[tuple[Any, ...], dict[str, Any]], arrays: Iterable[Array]) -> Any:
    """The arguments of a form, with arrays for its slots."""
    given = iter(arrays)
    return fill(form, lambda x: next(given) if type(x) is Slot else x)


def is_traced(value: Any) -> bool:
    """Whether an argument is an array that compiled code takes as an argument. NumPy's scalars are constants."""
    if not is_array(value):
        return False
    kind = type(value)
    if kind in _plain:
        return True
    own = find.of(value)
    try:
        plain = passing.plain_class(own)
    except passing.NotPassed:
        return True
    if kind is plain:
        quick = attrgetter("device") if isinstance(value.device, Hashable) else own.functions["device_key"]
        _plain[kind] = own, own.own_hook("device_key") or quick
        return True
    return isinstance(value, plain) or own.functions["is_lazy"](value)


def library_of_class(kind: type) -> Backend | None:
    """The library of a class of arrays, cached."""
    return _plain[kind][0] if kind in _plain else None


def all_plain(arrays: Iterable[Array]) -> bool:
    """Whether all arrays have values."""
    return all(type(x) in _plain or not find.of(x).functions["is_lazy"](x) for x in arrays)


def _constant(call: str, name: str, value: Any) -> Hashable:
    try:
        return token_of(value)
    except NotConstant as error:
        raise TypeError(f"{call}: the argument {name or type(value).__name__!r} is not an array, and {error}") from None


def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the positional and of the keyword-only parameters; empty if they are unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return (), ()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(each.name for each in parameters if each.kind in positional)
    return names, tuple(each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY)


def _place(x: Array) -> str:
    """The device of an array as text; nothing for the CPU and for tracers."""
    own = find.of(x)
    known, native = own.device_of(x), own.functions["device"](x)
    name = native if known is None else known.name
    return "" if name in (None, "cpu") else f" on {name}"


def _text(value: Any) -> str:
    if is_array(value):
        return f"{str(value.dtype).removeprefix('torch.')}[{','.join(map(str, value.shape))}]{_place(value)}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_text(member)}" for name, member in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(_text, value)) + ")"
    text = repr(value)
    return text if len(text) <= 30 else text[:27] + "..."
