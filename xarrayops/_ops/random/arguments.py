"""The arguments of random functions: seeds, keys, shapes, dtypes and limits."""

from __future__ import annotations

import operator
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.creation import creation_backend, refuse_both
from xarrayops._core.dispatch.python_scalars import integer
from xarrayops._core.modes.defaults import Library
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.dtypes import INTEGER_LIMITS
from xarrayops.plugin.random import WORD, Draw

KEY = "a key is an array (2,) of uint32, such as xo.random.key(0) or rng.key()"
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATING = ("float64", "float32")


def place(verb: str, like: Any, backend: Library | None, device: Any) -> tuple[Backend, Any]:
    """The backend and the native device of new arrays, as for creation functions; None is the default device."""
    refuse_both(verb, like, backend)
    found, default = creation_backend(like, backend)
    device = default if device is None else device
    if device is not None:
        return found, found.native_device(device)
    if like is None:
        return found, None
    found = find.of(like)  # a library that refines the backend of its arrays
    return found, found.functions["device"](like)


def words_of_seed(seed: Any) -> tuple[int, int]:
    """The two words of a seed."""
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(f"xo.random: a seed is an integer in [0, 2**64), not {seed!r}; {KEY}.") from None
    if not 0 <= number < 1 << 64:
        raise ValueError(f"xo.random: a seed is an integer in [0, 2**64), not {number}.")
    return number >> 32, number & WORD


def key_array(backend: Backend, words: tuple[int, int], device: Any) -> Array:
    """Convert two words to an array."""
    return backend.functions["asarray"](list(words), dtype=backend.native_dtype("uint32"), device=device)


def checked_key(verb: str, backend: Backend, key: Array) -> Array:
    """Raise unless the array is a key."""
    if tuple(key.shape) != (2,) or backend.functions["dtype_name"](key.dtype) != "uint32":
        raise ValueError(f"xo.{verb}: {KEY}; this array has shape {tuple(key.shape)} and dtype {key.dtype}.")
    return key


def checked_counter(backend: Backend, key: Array, data: Any) -> Array:
    """The integer of `fold_in` as an array."""
    if not hasattr(data, "shape"):
        number = operator.index(data)
        if not 0 <= number <= WORD:
            raise ValueError(f"xo.random.fold_in: data must be in [0, 2**32), not {number}.")
        native, device = backend.native_dtype("uint32"), backend.functions["device"](key)
        return backend.functions["asarray"](number, dtype=native, device=device)
    if tuple(data.shape) != () or not backend.is_of_kind(data.dtype, ("integral",)):
        raise ValueError(
            f"xo.random.fold_in: data must be an integer; this array has shape {tuple(data.shape)} and dtype "
            f"{data.dtype}."
        )
    return data


def checked_shape(size: Any) -> tuple[int, ...]:
    """A shape from None, an integer or a tuple."""
    if size is None:
        return ()
    shape = tuple(map(integer, size)) if isinstance(size, (tuple, list)) else (integer(size),)
    if min(shape, default=0) < 0:
        raise ValueError(f"xo.random: sizes must not be negative; the size is {size}.")
    return shape


def number_or_array(method: str, name: str, value: Any) -> Any:
    """A parameter of a distribution: a float, or an unchanged array."""
    if hasattr(value, "shape"):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        what = f"xo.random.Generator.{method}: {name} is {value!r}, but it must be a number or an array"
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{what} of the generator's library.") from None
        fix = f"size={value!r} for a result of that shape, or {name}=xo.asarray({value!r}, like=x)"
        raise TypeError(f"{what} of the generator's library. Instead: {fix}") from None


def dtype_among(verb: str, backend: Backend, dtype: Any, names: tuple[str, ...]) -> str:
    """The name of a dtype, which must be one of these."""
    name = dtype if isinstance(dtype, str) else backend.functions["dtype_name"](backend.native_dtype(dtype))
    if name not in names:
        raise ValueError(f"xo.{verb}: dtype must be {', '.join(names[:-1])} or {names[-1]}, not {dtype}.")
    return str(name)


def bits_draw(verb: str, backend: Backend, dtype: Any) -> Draw:
    """Of random bits."""
    return Draw("bits", dtype_among(verb, backend, dtype, UNSIGNED))


def integers_draw(backend: Backend, low: Any, high: Any, dtype: Any, *, endpoint: bool) -> Draw:
    """The draw of integers from ``low`` to ``high``, or from 0 to ``low``; ``endpoint`` includes the last one."""
    name = dtype_among("random.Generator.integers", backend, dtype, tuple(INTEGER_LIMITS))
    try:
        low, high = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
    except TypeError:
        raise TypeError(
            "xo.random.Generator.integers: the limits are Python integers. Instead of arrays of limits: "
            "xo.astype(low + rng.random(size) * (high - low), xo.int64)"
        ) from None
    width = high - low + bool(endpoint)
    lowest, highest = INTEGER_LIMITS[name]
    if width <= 0:
        raise ValueError(
            f"xo.random.Generator.integers: there is no integer from {low} to below {high + bool(endpoint)}."
        )
    if low < lowest or low + width - 1 > highest:
        raise ValueError(
            f"xo.random.Generator.integers: {low} to {low + width - 1} is out of the range of {name}. "
            f"Instead: another dtype="
        )
    return Draw("integers", name, low, width)
