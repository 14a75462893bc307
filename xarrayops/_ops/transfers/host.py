"""on_host: functions that take NumPy's arrays only, called with the arrays of any library."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.resolved import is_traced, resolved, untraced
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._ops.arrays import is_lazy
from xarrayops._ops.exchange.convert import convert
from xarrayops._ops.transfers.blocks import counted_as_one
from xarrayops._ops.transformations.arguments import name_of
from xarrayops._ops.transformed import transformed
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.dtypes import INTEGER_LIMITS
from xarrayops.plugin.nested import VALUES, arrays_in, fill, is_array

_NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
"""The dtypes of results on a library that lacks those of 64 bits, as JAX does by default."""
_BREAK = (
    "xo.on_host calls a function of NumPy's arrays, which cannot be part of a graph of PyTorch. "
    "Instead: torch.compile without fullgraph=True, or the call outside of the compiled function"
)


def on_host(function: Callable[..., Any], /, *, result: Any = None) -> Callable[..., Any]:
    """Call a function that takes NumPy's arrays only, such as those of SciPy, with the arrays of any library.

    Each array among the arguments becomes NumPy's, in nested lists, tuples and dictionaries too, and each array of
    numbers in the result moves to the library and the device of the first array that is not NumPy's. NumPy's scalars
    become 0-d arrays, and results of 64 bits have 32 on JAX while its 64-bit types are off. If all arrays are
    NumPy's, the function is simply called. The moves are transfers: they
    wait for the device and count in `profile` and `strict`.

    Parameters
    ----------
    function : callable
        Any function. Its arguments that are not arrays stay as they are.
    result : array, or a nested structure of arrays, or a callable, optional
        Arrays with the shapes and dtypes of the result, such as `jax.ShapeDtypeStruct`, or a function that gives them
        for the arguments. `jax.jit` needs them: it calls the function when the compiled program runs. Outside of
        ``jax.jit`` it is not used. torch.compile does not need them: the call is a graph break.

    Returns
    -------
    callable
        It has the arguments of the function.

    Raises
    ------
    MixedBackends
        By a call: the arguments hold arrays of two libraries besides NumPy's.
    ExchangeError
        By a call: an array cannot move without losing something, such as a tensor that requires grad.
    Unsupported
        By a call: JAX traces the arguments, and ``result`` is not given; or the function wrote into an array of which
        it got a copy, because NumPy cannot write the memory of the library.

    Notes
    -----
    Law: ``on_host(f)(x)`` equals ``convert(f(convert(x, "numpy")), x)``. It has no gradient. Functions among the
    arguments, such as the one that an optimiser minimises, get NumPy's arrays and return NumPy's.

    Examples
    --------
    >>> import numpy as np, torch
    >>> import xarrayops as xo
    >>> xo.on_host(np.polynomial.polynomial.polyroots)(torch.tensor([-6.0, 1.0, 1.0], dtype=torch.float64))
    tensor([-3.,  2.], dtype=torch.float64)
    """
    if not callable(function):
        raise TypeError(f"xo.on_host takes a function, not {type(function).__name__}")

    return transformed(partial(_called, function, result), function, partial(on_host, function, result=result))


def _called(function: Callable[..., Any], result: Any, /, *args: Any, **kwargs: Any) -> Any:
    call = getattr(resolved, untraced("on_host", _call, _BREAK)) if is_traced() else _call
    return call(function, result, *args, **kwargs)


def _call(function: Callable[..., Any], result: Any, /, *args: Any, **kwargs: Any) -> Any:
    call = explaining_arrays("on_host")(lambda *args, **kwargs: _of_arrays(function, result, args, kwargs))
    return call(*args, **kwargs)


def _of_arrays(function: Callable[..., Any], result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = {name: x for name, x in arrays_in({"args": args, **kwargs}) if not _is_numpys(x)}
    if not given:
        return function(*args, **kwargs)
    backend = find.one_of("on_host", given)
    like = next(iter(given.values()))

    def of_numpy(*arrays: Any) -> Any:
        """The result for the arrays of ``given`` in NumPy's memory."""
        moved = iter(arrays)
        positional, named = fill([args, kwargs], lambda x: x if not _is_foreign(x) else next(moved))
        return function(*positional, **named)

    expected = result(*args, **kwargs) if callable(result) and not is_array(result) else result
    traced = backend.functions["host_callback"](of_numpy, tuple(given.values()), expected)
    if traced is not None:
        return traced
    kind = "compute" if any(map(is_lazy, given.values())) else "transfer"
    with counted_as_one(kind, f"xo.on_host({name_of(function)})", sum(map(_nbytes, given.values()))):
        views = [convert(x, "numpy") for x in given.values()]
    host = [view if _is_memory_of(view, x) else view.copy() for view, x in zip(views, given.values(), strict=True)]
    found = of_numpy(*host)
    for name, view, copy in zip(given, views, host, strict=True):
        if copy is not view and not _has_same_bytes(view, copy):
            raise Unsupported(
                f"xo.on_host: {name_of(function)} wrote into {name}, of which it got a copy. "
                f"Instead: let it return the result"
            )
    return _moved(found, like)


def _is_memory_of(view: Array, x: Array) -> bool:
    """Whether writes into a view of NumPy change the array, as on the CPU with PyTorch."""
    memory = find.of(x).functions["memory"](x)
    is_shared = memory is not None and memory.device == "cpu" and memory.pointer == view.ctypes.data
    return bool(is_shared and view.flags.writeable)


def _has_same_bytes(a: Array, b: Array) -> bool:
    """Whether two arrays of NumPy have the same bytes."""
    return bool(a.tobytes() == b.tobytes())


def _nbytes(x: Array) -> int:
    memory = find.of(x).functions["memory"](x)
    return 0 if memory is None else int(memory.nbytes)


def _is_numpys(x: Any) -> bool:
    return find.of_class(type(x)) in (None, find.named("numpy"))


def _is_foreign(x: Any) -> bool:
    return type(x) not in VALUES and is_array(x) and not _is_numpys(x)


def _moved(value: Any, like: Array) -> Any:
    """A result with its arrays of numbers in the library of another array."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {each.name: _moved(getattr(value, each.name), like) for each in dataclasses.fields(value) if each.init}
        return dataclasses.replace(value, **fields)
    if isinstance(value, (list, tuple, dict)):
        return fill(value, lambda x: _moved(x, like))
    numpy = find.named("numpy")
    if find.of_class(type(value)) is not numpy or numpy.functions["dtype_name"](value.dtype) is None:
        return value
    lacks = find.of(like).functions["import_refusal"](value.dtype.name) is not None
    narrow = _NARROW.get(value.dtype.name) if lacks else None
    if narrow is None or (value.dtype.kind in "iu" and not _fits(value, narrow)):
        return convert(value, like)  # raises where the library lacks the dtype
    return convert(value.astype(narrow), like)


def _fits(value: Array, dtype: str) -> bool:
    low, high = INTEGER_LIMITS[dtype]
    return not value.size or bool(low <= value.min() and value.max() <= high)
