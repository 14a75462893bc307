"""Arrays: their functions and classes, and the computation of their values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from math import prod
from types import ModuleType
from typing import Any

from xarrayops._generic import library
from xarrayops.plugin.arrays import Array, Gap
from xarrayops.plugin.candidates import Call


def wrap(xp: ModuleType, verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function to use for a verb instead of ``function``; ``function`` itself if it needs no wrapper.

    Called once for each function of the standard and each of `WRAPPED_HOOKS` when the backend loads, and for each
    function of `EXTRA` when it is first needed. The argument is the function of the backend, of the library, or the
    generic one. A gap is not wrapped. `takes_arrays` returns whether a verb has array arguments to check. A wrapper
    keeps the signature, as with ``functools.wraps``.
    """
    return function


def refine(xp: ModuleType, x: Array, /) -> str | None:
    """The name of the backend of this array, if its class does not determine it (XLA tensors)."""
    return None  # the class determines it


def refuse(xp: ModuleType, x: Array, /) -> Gap | None:
    """Why this array is not supported (a NumPy array of objects), or None."""
    return None


def refuse_class(xp: ModuleType, cls: type, /) -> Gap | None:
    """Why a subclass of ``ARRAY_TYPES`` is not supported (``np.matrix``), or None. Called once for each class.

    It imports nothing: a class that no module has imported needs no answer.
    """
    return None


def failure_cause(xp: ModuleType, x: Array, error: Exception, /) -> Gap | None:
    """What makes functions of the library fail on this array (a nested tensor, a key of random numbers), or None.

    Called only after a call with x has raised ``error``. What to do instead is an expression of ``x``, if there is one.
    An error of the machine, such as a full device, must keep its class: the hook may add a note to it.
    """
    return None


def returned(xp: ModuleType, x: Array, /) -> Array:
    """An array as functions of the library return it: NumPy's functions return scalars instead of 0-d arrays."""
    return x


def serving_others(xp: ModuleType) -> AbstractContextManager[Any]:
    """A context for serving arrays of other libraries: suppresses warnings that those libraries would not give."""
    return nullcontext()


def is_lazy(xp: ModuleType, x: Array, /) -> bool:
    """Whether x has no values yet (a task graph or a tracer).

    The standard has no such query. It lets ``bool`` raise for arrays without values. Libraries with task graphs (cubed)
    compute there, so that they are known by their method ``compute`` first; and only one element is asked.
    """
    if _has_method(x, "compute") or any(extent is None or extent != extent for extent in x.shape):
        return True
    try:
        bool(xp.any(x[(0,) * x.ndim] if all(x.shape) else x))
    except Exception:  # each library raises its own
        return True
    return False


def compute(xp: ModuleType, *arrays: Array) -> tuple[Array, ...]:
    """The arrays with their values computed; the arrays themselves if none is lazy."""
    return _by_library("compute", xp, arrays)


def persist(xp: ModuleType, *arrays: Array) -> tuple[Array, ...]:
    """The arrays with their values computed, of the same library; the arrays themselves if none is a task graph."""
    return _by_library("persist", xp, arrays)


def _by_library(name: str, xp: ModuleType, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """The arrays as the library's function of that name returns them, in one pass if it takes several."""
    if not all(_has_method(x, name) for x in arrays):
        return arrays
    together = getattr(sys.modules.get(library(xp).partition(".")[0]), name, None)
    return tuple(together(*arrays)) if together is not None else tuple(getattr(x, name)() for x in arrays)


def _has_method(x: Array, name: str) -> bool:
    return callable(getattr(type(x), name, None))


def planned(xp: ModuleType, function: Callable[..., Any], call: Call, /) -> str:
    """What the library knows about the memory of a call before it runs, for ``explain``; empty if nothing.

    ``function`` serves the call. It must not compute: raises `Unsupported` if the library would refuse the plan.
    """
    return ""


def size(xp: ModuleType, x: Array, /) -> int:
    """The number of elements. Law: it only reads attributes."""
    return prod(x.shape)


def form(xp: ModuleType, x: Array, /) -> Hashable | None:
    """What the time of a kernel on x depends on: shape, layout, dtype and device, with no loss.

    None for an array on which other libraries never compute: one that requires a gradient. Law: it only reads
    attributes, and takes less than 0.3 microseconds.
    """
    return x.shape, str(x.dtype), str(x.device)


def synchronize(xp: ModuleType, *arrays: Array) -> None:
    """Wait until the values of the arrays are computed."""
