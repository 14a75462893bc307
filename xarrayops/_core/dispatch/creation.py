"""Choose the function, device and dtype of a new array, by ``like=``, ``backend=`` or the defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.creation_values import NUMBERS, PLAIN, is_array, number_like
from xarrayops._core.backends.mixed import another_library
from xarrayops._core.backends.registry import Backend, describe_class
from xarrayops._core.backends.resolved import enter
from xarrayops._core.modes import defaults
from xarrayops._core.modes.defaults import Library
from xarrayops._surface import SURFACE
from xarrayops.errors import NotAnArray, Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.dtypes import COMPLEX_OF

_INTEGER, _FLOATING, _COMPLEX, _UNKNOWN = range(4)
"""Kinds of values. The library chooses the dtype of integers, booleans and values that are not numbers."""
_KIND_OF_CLASS: dict[type, int] = {
    bool: _INTEGER,
    int: _INTEGER,
    type(None): _INTEGER,
    float: _FLOATING,
    complex: _COMPLEX,
}
_OF_THEIR_VALUES = ("arange", "asarray", "full")
"""Functions that return integers for integers. The others return floating-point or complex numbers."""


def creation(
    verb: str, like: Any, backend: Library | None, dtype: Any, device: Any, *values: Any
) -> tuple[Callable[..., Any], Any, Any]:
    """How to create an array of the values: the function, the native dtype and the native device.

    ``like`` gives the library, the device and the floating-point dtype, ``backend`` the library. `xarrayops.use` gives
    the rest. The dtype is None where the library's own default applies.

    The values may contain arrays. Without ``like`` and ``backend`` these give the library and the device.
    """
    if verb in NUMBERS:
        for value in values:
            if type(value) not in PLAIN:
                like, values = _beside_arrays(verb, like, backend, values)
                break
    library, default_device, floating = defaults.of_new_arrays()
    if like is not None:
        refuse_both(verb, like, backend)
        found, default_device = _backend_of_like(like), None
    else:
        if backend is not None:
            library, default_device = defaults.library_and_device(backend)
        found = find.named(library) if isinstance(library, str) else library
        if dtype is None and floating is None and device is None and default_device is None:
            return found.functions[verb] if verb in SURFACE else found.resolve(verb), None, None
    device = default_device if device is None else device
    if device is not None:
        device = found.native_device(device)
    elif like is not None:
        device = found.functions["device"](like)
    if dtype is not None:
        dtype = found.native_dtype(dtype)
    elif like is not None or floating is not None:
        dtype = _default_dtype(found, verb, like, values, floating)
    return found.functions[verb] if verb in SURFACE else found.resolve(verb), dtype, device


def _beside_arrays(
    verb: str, like: Any, backend: Library | None, values: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...]]:
    """``like``, by default one of the arrays among the values; and the values with arrays replaced by numbers.

    Raises
    ------
    MixedBackends
        The arrays belong to several libraries, or not to the requested one.
    """
    given = dict(zip(NUMBERS[verb], values, strict=True))
    arrays = {name: value for name, value in given.items() if is_array(value)}
    if not arrays:
        return like, values
    place = {} if like is None else {"like": like}
    owner = find.one_of(verb, {**place, **arrays})
    if backend is not None and creation_backend(None, backend)[0] is not owner:
        raise another_library(verb, arrays, owner, find.library(backend))
    kinds = {name: number_like(owner.functions["dtype_name"](x.dtype)) for name, x in arrays.items()}
    if like is None and backend is None:
        like = arrays[max(kinds, key=lambda name: type(kinds[name]) is float)]
    return like, tuple(kinds.get(name, value) for name, value in given.items())


def refuse_both(verb: str, like: Any, backend: Library | None) -> None:
    """Raise if both ``like=`` and ``backend=`` are given."""
    if like is not None and backend is not None:
        raise TypeError(f"xo.{verb} takes like= or backend=, not both.")


def creation_backend(like: Any, backend: Library | None) -> tuple[Backend, Any]:
    """The backend that creates the array, and the default device."""
    if like is not None:
        return _backend_of_like(like), None
    found, device = defaults.of_new_arrays()[:2] if backend is None else defaults.library_and_device(backend)
    return find.named(found) if isinstance(found, str) else found, device


def _backend_of_like(like: Any) -> Backend:
    """The backend of the class of ``like``. It is not refined: a creation function serves all arrays of the class."""
    backend = find.if_array(like)
    if backend is None:
        kind, gap = describe_class(type(like)), find.refusal(like)
        if gap is not None:
            raise Unsupported(f"like= is a {kind}. {gap}.")
        named = f"backend={like!r}" if isinstance(like, str) else "backend= with it"
        is_library = isinstance(like, (str, Backend, ModuleType))
        fix = f" Instead: {named}." if is_library else ""
        raise NotAnArray(f"like= must be an array of a known library; it is a {kind}.{fix}")
    return backend


def _default_dtype(
    backend: Backend, verb: str, like: Array | None, values: tuple[Any, ...], floating: str | None
) -> Any:
    """The native dtype for values without one: the dtype of a floating-point ``like``, else the default ``floating``.

    None lets the library choose; an array keeps its own dtype.
    """
    kind = _kind(values, _INTEGER if verb in _OF_THEIR_VALUES else _FLOATING) if values else _FLOATING
    if kind not in (_FLOATING, _COMPLEX):
        return None
    native = None if like is None else backend.dtype_like(like.dtype, is_complex=kind == _COMPLEX)
    default = floating if native is None else None
    return native if default is None else backend.native_dtype(COMPLEX_OF[default] if kind == _COMPLEX else default)


def _kind(values: Iterable[Any], kind: int) -> int:
    """The highest kind of the values, which may be nested sequences."""
    for value in values:
        cls: type = type(value)
        if cls is list or cls is tuple:
            found = _kind_of_members(value, kind)
        else:
            found = _KIND_OF_CLASS[cls] if cls in _KIND_OF_CLASS else _remembered_kind(cls)
        if found > kind:
            kind = found
    return kind


def _kind_of_members(sequence: list[Any] | tuple[Any, ...], kind: int) -> int:
    """The highest kind of the members of a sequence. Empty ones are floating-point, as in NumPy."""
    classes = set(map(type, sequence))  # one pass in C: the sequence may be long
    if not classes:
        return _FLOATING
    if list in classes or tuple in classes:
        return _kind(sequence, kind)
    return max(kind, *(_KIND_OF_CLASS[cls] if cls in _KIND_OF_CLASS else _remembered_kind(cls) for cls in classes))


@constant_while_tracing
def _remembered_kind(cls: type) -> int:
    """The kind of a class of numbers that is not one of Python's, such as NumPy's scalars. It is remembered."""
    import numbers

    kinds = ((numbers.Integral, _INTEGER), (numbers.Real, _FLOATING), (numbers.Complex, _COMPLEX))
    found = next((kind for number, kind in kinds if issubclass(cls, number)), _UNKNOWN)
    enter(_KIND_OF_CLASS, cls, found)
    return found
