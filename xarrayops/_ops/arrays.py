"""Functions that describe an array: its backend, namespace and device, and whether its values are computed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.registry import Backend, BackendStatus
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.dispatch.lookup import function_for, native_device
from xarrayops._ops.exchange import loans
from xarrayops._ops.exchange.convert import explain_convert
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.verb import Verb
from xarrayops.plugin.arrays import Array, ArrayT


def array_namespace(*arrays: Array) -> ModuleType:
    """The array API namespace (standard 2025.12) of the arrays' library, with native dtypes.

    Parameters
    ----------
    *arrays : array, Python scalar or None
        At least one array; scalars and None belong to any library.

    Returns
    -------
    module
        It has the functions of the standard and the functions that xarrayops adds, such as `attention`. It has no other
        functions of the library. Packages such as array-api-extra accept it.

    Raises
    ------
    MixedBackends, NotAnArray, Unsupported
        The arrays belong to several libraries, no argument is an array, or a kind of array is not supported.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.array_namespace(np.zeros(3), 1.0).__name__
    'xarrayops.namespaces.numpy'
    """
    return find.one_of("array_namespace", {f"arrays[{i}]": x for i, x in enumerate(arrays)}).namespace


def backend(name_or_array: str | ModuleType | Array, /) -> Backend:
    """The backend of an array or sparse container, of a name such as ``"torch"``, or of a namespace module.

    Returns
    -------
    Backend
        With ``.name``, ``.namespace``, ``.devices()`` and ``.versions``.

    Raises
    ------
    BackendNotFound, Unsupported
        No backend serves it; the message lists the known backends, or says how to install a missing library.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.backend(np.zeros(3)).name
    'numpy'
    """
    return find.library(name_or_array)


def backends() -> list[BackendStatus]:
    """The status of every registered backend; for a missing library the reason and how to install it.

    This imports every library that has a backend; `backend` imports only one.
    """
    return registry.statuses()


@explaining_arrays("device")
def device(x: Array, /) -> Any:
    """The native device that holds x, which ``device=`` accepts; None for a tracer, which has no device yet."""
    return function_for("device", type(x))(x)


@explaining_arrays("to_device")
def to_device(x: ArrayT, device: Any, /) -> ArrayT:
    """x on another device of its library; x itself if it is already on that device.

    ``device`` is a name such as ``"cuda:1"`` or a native device. `convert` moves x to another library.
    """
    return function_for("to_device", type(x))(x, native_device(type(x), device))


def is_lazy(x: Array, /) -> bool:
    """Whether x has no values yet: an array of a task graph (Dask, cubed), a tracer, or a meta tensor of PyTorch."""
    return bool(function_for("is_lazy", type(x))(x))


def compute(*arrays: Array) -> Array | tuple[Array, ...]:
    """The arrays with their values computed: arrays of task graphs (Dask, cubed) become NumPy arrays, in one pass.

    Other arrays are unchanged, also those whose values cannot be computed, such as tracers and meta tensors.

    Returns
    -------
    array or tuple of arrays
        One array for one argument, otherwise a tuple.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.compute(np.arange(3))
    array([0, 1, 2])
    """
    return _replaced("compute", arrays)


def persist(*arrays: Array) -> Array | tuple[Array, ...]:
    """The arrays with their values computed, in their own library: Dask arrays keep their chunks, in memory.

    Later functions start from these values: a loop that tests its result in each step does not compute the earlier
    steps again. Unknown sizes become known. Other arrays are unchanged.

    Returns
    -------
    array or tuple of arrays
        One array for one argument, otherwise a tuple. All are computed in one pass.

    Notes
    -----
    Law: ``compute(persist(x)) == compute(x)``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.persist(np.arange(3))
    array([0, 1, 2])
    """
    return _replaced("persist", arrays)


def _replaced(verb: str, arrays: tuple[Array, ...]) -> Array | tuple[Array, ...]:
    """The results of a verb for the arrays of each library, in their order; numbers are unchanged."""
    results: list[Array] = list(arrays)
    for function, indices in _by_library(verb, arrays):
        values = function(*[arrays[i] for i in indices])
        for i, value in zip(indices, values, strict=True):
            results[i] = value
    return results[0] if len(arrays) == 1 else tuple(results)


def synchronize(*arrays: Array) -> None:
    """Wait until the values of the arrays are computed. This waits only for the devices that hold the arrays.

    This also releases device memory that one library owns and another has finished using.
    """
    for function, indices in _by_library("synchronize", arrays):
        function(*[arrays[i] for i in indices])
    loans.settle()


def _by_library(verb: str, arrays: tuple[Array, ...]) -> list[tuple[Callable[..., Any], list[int]]]:
    """The function of a verb in each library, and the indices of its arrays; scalars are omitted."""
    groups: dict[str, tuple[Backend, list[int]]] = {}
    for i, x in enumerate(arrays):
        if type(x) not in SCALARS:
            own = find.of(x)
            groups.setdefault(own.name, (own, []))[1].append(i)
    return [(own.functions[verb], indices) for own, indices in groups.values()]


def explain_to_device(verb: str, x: Array, device: Any, /) -> Explanation:
    """Explain `to_device`, which is a conversion within a library."""
    return explain_convert("convert", x, backend(x).name, device=device)._replace(verb=verb)


VERBS = (
    Verb("array_namespace", array_namespace),
    Verb("backend", backend),
    Verb("backends", backends),
    Verb("compute", compute, hook="compute"),
    Verb("device", device, hook="device"),
    Verb("is_lazy", is_lazy, hook="is_lazy"),
    Verb("persist", persist, hook="persist"),
    Verb("synchronize", synchronize, hook="synchronize"),
    Verb("to_device", to_device, hook="to_device", explain=explain_to_device),
)
