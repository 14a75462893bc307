"""Dtypes of JAX: their names, what they can hold, and the one check that 64-bit means 64-bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.errors import Unsupported, available_names
from xarrayops.plugin import Array
from xarrayops.plugin.dtypes import finfo as finfo, refuse_discarding

_NATIVE = {
    name: jnp.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    )
}
_NAMES = {dtype: name for name, dtype in _NATIVE.items()}
_CONFIG: Any = jax.config  # its flags are not declared
_HALVES = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
_DEFAULTED = (bool, int, float, complex)


def as_dtype(name: str, /) -> Any:
    """The NumPy or ml_dtypes dtype that JAX arrays bear."""
    if name not in _NATIVE:
        raise ValueError(available_names(name, _NATIVE))
    return _NATIVE[name]


def dtype_name(dtype: Any, /) -> str | None:
    """The name of a dtype, given as an instance or as one of JAX's and NumPy's scalar classes."""
    if isinstance(dtype, type) and (issubclass(dtype, np.generic) or hasattr(dtype, "dtype")):
        dtype = jnp.dtype(dtype)
    return _NAMES.get(dtype) if isinstance(dtype, np.dtype) else None


def _available(dtype: Any) -> Any:
    """The dtype, unless JAX would quietly replace it by one of half the width; Python's types mean the defaults."""
    if type(dtype) is type and dtype in _DEFAULTED:
        return jnp.result_type(dtype)
    if dtype is None or _CONFIG.jax_enable_x64:
        return dtype
    name = jnp.dtype(dtype).name
    if name in _HALVES:
        raise Unsupported(
            f"JAX has no {name} while its 64-bit types are off. Instead: switch them on by JAX_ENABLE_X64=1 in the "
            f'environment or jax.config.update("jax_enable_x64", True) when the program starts, or cast to '
            f"{_HALVES[name]} first"
        )
    return dtype


def _faithful(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, refusing an explicit dtype that JAX would truncate with no more than a warning."""

    @wraps(function)
    def checked(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return function(*args, dtype=_available(dtype), **kwargs)

    return checked


def _refuse_truncating(data: Any) -> None:
    """Refuse NumPy data of 64 bits, also in a sequence; bare Python numbers have no width of their own."""
    if not _CONFIG.jax_enable_x64:
        for leaf in jax.tree.leaves(data):
            if isinstance(leaf, (np.ndarray, np.generic)):
                _available(leaf.dtype)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Refuse what JAX does with a warning: to truncate 64 bits, to drop imaginary parts."""
    target = jnp.dtype(_available(dtype))
    refuse_discarding(x.dtype, target)
    # A cast makes a new array already; JAX would copy it once more.
    return jnp.astype(x, target, copy=copy and x.dtype == target, device=device)


def can_cast(from_: Any, to: Any, /) -> bool:
    """JAX takes no array whose dtype is asked about."""
    return bool(jnp.can_cast(getattr(from_, "dtype", from_), to))


def iinfo(type: Any, /) -> Any:
    """The limits; JAX warns about an array in place of its dtype."""
    return jnp.iinfo(getattr(type, "dtype", type))  # type: ignore[no-untyped-call]
