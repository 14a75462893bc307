"""Functions that make arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.dtypes import refuse_discarding
from xarrayops_backends.jax._devices import _is_at
from xarrayops_backends.jax._dtypes import _available, _faithful, _refuse_truncating

_ARRAYS = (jax.Array, jax.core.Tracer)
_SCALARS = (int, float, complex)

arange = _faithful(jnp.arange)
empty = _faithful(jnp.empty)
empty_like = _faithful(jnp.empty_like)
eye = _faithful(jnp.eye)
fft_fftfreq = _faithful(jnp.fft.fftfreq)
fft_rfftfreq = _faithful(jnp.fft.rfftfreq)
full_like = _faithful(jnp.full_like)
linspace = _faithful(jnp.linspace)
ones = _faithful(jnp.ones)
ones_like = _faithful(jnp.ones_like)
zeros = _faithful(jnp.zeros)
zeros_like = _faithful(jnp.zeros_like)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Heed ``copy=False``, which JAX ignores; keep 64-bit data; give scalars a dtype that promotes by the standard.

    An array that JAX makes from a Python scalar is weakly typed: ``int8 + asarray(1)`` would be int8.
    """
    dtype = _available(dtype)
    if isinstance(obj, _ARRAYS):
        if copy is False and not _stays(obj, dtype, device):
            raise ValueError("copy=False, but another dtype or device needs a copy")
    elif type(obj) in _SCALARS:
        dtype = jnp.result_type(type(obj)) if dtype is None else dtype
    elif not isinstance(obj, (bool, list, tuple)) and not hasattr(obj, "__jax_array__"):
        obj = np.asarray(obj)
        if copy is False:
            return _alias(obj, dtype, device)
    if copy is False and not isinstance(obj, _ARRAYS):
        raise ValueError("copy=False, but Python objects have no memory that an array could share")
    if dtype is None:
        _refuse_truncating(obj)
    elif hasattr(obj, "dtype"):
        refuse_discarding(obj.dtype, dtype)
    return jnp.asarray(obj, dtype=dtype, device=device, copy=copy)


def _stays(x: Array, dtype: Any, device: Any) -> bool:
    return (dtype is None or x.dtype == dtype) and (device is None or _is_at(x, device))


def _alias(obj: np.ndarray[Any, Any], dtype: Any, device: Any) -> Array:
    """An array over NumPy's memory, or a ValueError."""
    try:
        x = from_dlpack(obj, device=device, copy=False)
    except BufferError as error:
        raise ValueError(f"copy=False: {error}") from error
    if not _stays(x, dtype, None):
        raise ValueError("copy=False, but another dtype needs a copy")
    return x


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Pass tracers, keep 64 bits, and copy what XLA cannot alias (strides, read-only memory) unless ``copy=False``."""
    if isinstance(x, _ARRAYS):
        if copy is False and not _stays(x, None, device):
            raise BufferError("copy=False, but another device needs a copy")
        return jnp.asarray(x, device=device, copy=copy)
    try:
        with jax.enable_x64(True):
            y = jnp.from_dlpack(x, device=device, copy=copy)
    except (BufferError, ValueError, jax.errors.JaxRuntimeError) as error:
        if copy is False:
            raise BufferError(str(error)) from error
        return asarray(np.from_dlpack(x), device=device, copy=True)
    _available(y.dtype)
    return y


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """As asarray does, give a scalar a dtype that is not weak."""
    return jnp.full(shape, asarray(fill_value, dtype=dtype), device=device)


def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """A tuple since the standard of 2025.12; JAX gives a list."""
    return tuple(jnp.meshgrid(*arrays, indexing=indexing))
