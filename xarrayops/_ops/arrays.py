"""Functions around an array: its backend, its namespace, its device, and whether it is computed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops._core import registry
from xarrayops._core.dispatch import (
    function_for,
    native_device,
    require_one_backend,
    served_by,
)
from xarrayops._core.registry import SCALARS, Backend, BackendStatus
from xarrayops._ops.exchange import loans
from xarrayops._ops.verb import Verb
from xarrayops._protocol.types import Array, ArrayT


def array_namespace(*arrays: Array) -> ModuleType:
    """The namespace that serves some arrays: the standard 2025.12 in their library, with native dtypes.

    Parameters
    ----------
    *arrays : array, Python scalar or None
        At least one array; scalars and None belong to any library.

    Returns
    -------
    module
        array-api-compat and array-api-extra take it for their own namespace of the library.

    Raises
    ------
    MixedBackends, BackendNotFound, Unsupported
        The arrays are of several libraries, of none, or of a kind that is not served.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.array_namespace(np.zeros(3), 1.0).__name__
    'numpy'
    """
    return require_one_backend("array_namespace", {f"arrays[{i}]": x for i, x in enumerate(arrays)}).namespace


def backend(name_or_array: str | ModuleType | Array, /) -> Backend:
    """The backend of an array or sparse container, of a name such as ``"torch"``, or of a namespace module.

    Returns
    -------
    Backend
        With ``.name``, ``.namespace``, ``.devices()`` and ``.versions``.

    Raises
    ------
    BackendNotFound, Unsupported
        Nothing serves it; the message says what is known, or how to install what is missing.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.backend(np.zeros(3)).name
    'numpy'
    """
    if isinstance(name_or_array, str):
        return registry.backend_by_name(name_or_array)
    if isinstance(name_or_array, ModuleType):
        return registry.backend_by_namespace(name_or_array)
    return registry.backend_of_container(type(name_or_array)) or registry.backend_of(name_or_array)


def backends() -> list[BackendStatus]:
    """Every backend that is known here, the missing ones with the reason and the way to get them.

    Imports every library that has a backend; `backend` imports one.
    """
    return registry.statuses()


def device(x: Array, /) -> Any:
    """The native device that holds x, fit for ``device=``; None for a tracer, which has none yet."""
    return function_for("device", type(x))(x)


def to_device(x: ArrayT, device: Any, /) -> ArrayT:
    """x on another device of its library; x itself where it is there already.

    ``device`` is a name such as ``"cuda:1"`` or a native device. To another library: `convert`.
    """
    return function_for("to_device", type(x))(x, native_device(type(x), device))


def is_lazy(x: Array, /) -> bool:
    """Whether x stands for values that are not computed yet: a Dask array, a tracer under ``jax.jit``."""
    return bool(function_for("is_lazy", type(x))(x))


def compute(*arrays: Array) -> Array | tuple[Array, ...]:
    """The arrays with their values computed: NumPy arrays for Dask, in one pass; for any other library the same arrays.

    Returns
    -------
    array or tuple of arrays
        One array for one argument, else a tuple.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.compute(np.arange(3))
    array([0, 1, 2])
    """
    results: list[Array] = list(arrays)
    for function, places in _by_library("compute", arrays):
        values = function(*[arrays[i] for i in places])
        for place, value in zip(places, values, strict=True):
            results[place] = value
    return results[0] if len(arrays) == 1 else tuple(results)


def synchronize(*arrays: Array) -> None:
    """Wait until the values of the arrays are there: for the devices that hold them, and for no others.

    Device memory that one library used and another owns is given back here, if its work has ended by now.
    """
    for function, places in _by_library("synchronize", arrays):
        function(*[arrays[i] for i in places])
    loans.settle()


def _by_library(verb: str, arrays: tuple[Array, ...]) -> list[tuple[Callable[..., Any], list[int]]]:
    """What serves a verb in each library, with the places of the library's arrays; scalars have none."""
    groups: dict[str, tuple[Backend, list[int]]] = {}
    for i, x in enumerate(arrays):
        if type(x) not in SCALARS:
            own = served_by(x) or registry.backend_of(x)  # which registers the class of x, or raises
            groups.setdefault(own.name, (own, []))[1].append(i)
    return [(own.functions[verb], places) for own, places in groups.values()]


VERBS = (
    Verb("array_namespace", array_namespace),
    Verb("backend", backend),
    Verb("backends", backends),
    Verb("compute", compute, hook="compute"),
    Verb("device", device, hook="device"),
    Verb("is_lazy", is_lazy, hook="is_lazy"),
    Verb("synchronize", synchronize, hook="synchronize"),
    Verb("to_device", to_device, hook="to_device"),
)
