"""Transfers of values to the host, and waits for them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any


def crossings(xp: ModuleType, report: Callable[..., None], /) -> AbstractContextManager[Any]:
    """A context in which the library reports transfers of values out of it, and waits for values.

    ``report(kind, what, nbytes)`` takes "transfer", "wait" or "compute", the name of the call, and the bytes, 0 if they
    are unknown. It may be called from any thread, and may raise: the error must reach the program. The context belongs
    to one thread, and contexts of this hook are not nested in a thread.
    """
    return nullcontext()  # the standard reports no transfers


def host_callback(xp: ModuleType, function: Callable[..., Any], arrays: tuple[Any, ...], result: Any, /) -> Any:
    """The result of a function of NumPy's arrays, while the library traces one of its arrays; None if it does not.

    The function runs with the values of the arrays when the traced program runs. ``result`` has the shapes and dtypes
    of its results; without it, raise `xarrayops.Unsupported`.
    """
    return None  # the standard traces nothing


def require(xp: ModuleType, condition: Any, error: Exception, /) -> None:
    """Raise the error unless a 0-d boolean array is true.

    A library whose own functions fail on the device for such arguments, later and without an exception at the call, may
    do the same here, so that no call waits.
    """
    if not bool(condition):
        raise error
