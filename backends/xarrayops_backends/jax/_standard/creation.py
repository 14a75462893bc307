"""Creation functions."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.plugin import Array, precision as _precision
from xarrayops.plugin.host import refuse_discarding
from xarrayops_backends.jax._devices import _is_at
from xarrayops_backends.jax._dtypes import _available, _refuse_truncating

_ARRAYS = (jax.Array, jax.core.Tracer)
_SCALARS = (int, float, complex)
_REAL = (int, float)
_FEW_NUMBERS = 1 << 16
"""More numbers are not copied from the host, or made constants of compiled functions."""


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Respect ``copy=False``, which JAX ignores; never truncate 64-bit data; return arrays that are not weakly typed.

    JAX's array of a Python scalar is weakly typed: ``int8 + asarray(1)`` would be int8, against the standard.
    """
    dtype = _available(dtype)
    if isinstance(obj, _ARRAYS):
        if copy is False and not _is_unchanged(obj, dtype, device):
            raise ValueError("copy=False, but the requested dtype or device needs a copy")
    elif type(obj) in _SCALARS:
        dtype = jnp.result_type(type(obj)) if dtype is None else dtype
    elif not isinstance(obj, (bool, list, tuple)) and not hasattr(obj, "__jax_array__"):
        obj = np.asarray(obj)
        if copy is False:
            return _alias(obj, dtype, device)
    if copy is False and not isinstance(obj, _ARRAYS):
        raise ValueError("copy=False, but a Python object has no memory that an array could share")
    if dtype is None:
        _refuse_truncating(obj)
    elif hasattr(obj, "dtype"):
        refuse_discarding(obj.dtype, dtype)
    return jnp.asarray(obj, dtype=dtype, device=device, copy=copy)


def _is_unchanged(x: Array, dtype: Any, device: Any) -> bool:
    return (dtype is None or x.dtype == dtype) and (device is None or _is_at(x, device))


def _alias(obj: np.ndarray[Any, Any], dtype: Any, device: Any) -> Array:
    """A JAX array that shares the memory of a NumPy array; a ValueError if that needs a copy."""
    try:
        x = from_dlpack(obj, device=device, copy=False)
    except BufferError as error:
        raise ValueError(f"copy=False: {error}") from error
    if not _is_unchanged(x, dtype, None):
        raise ValueError("copy=False, but the requested dtype needs a copy")
    return x


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Accept tracers, keep 64-bit dtypes, and copy memory that XLA cannot alias (strided, read-only)."""
    if isinstance(x, _ARRAYS):
        if copy is False and not _is_unchanged(x, None, device):
            raise BufferError("copy=False, but the requested device needs a copy")
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
    """Like asarray, return an array that is not weakly typed. NumPy's scalars are numbers, without a width."""
    if isinstance(fill_value, np.generic) and dtype is None:
        fill_value = fill_value.item()
    return jnp.full(shape, asarray(fill_value, dtype=dtype), device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Array:
    """NumPy's integers and real numbers, also while 64-bit types are off; many numbers by jnp.linspace.

    That one counts in the dtype: integers move, 0 between -1 and 1 is 7e-9, and float16 ends at 65504.
    """
    if dtype is not None and jnp.issubdtype(dtype, jnp.integer):
        return jnp.asarray(np.linspace(start, stop, num, endpoint=endpoint, dtype=np.dtype(dtype)), device=device)
    start, stop = (x.item() if isinstance(x, np.generic) else x for x in (start, stop))
    is_few = isinstance(num, (int, np.integer)) and num <= _FEW_NUMBERS
    if is_few and type(start) in _REAL and type(stop) in _REAL and math.isfinite(stop - start):
        made = jnp.dtype(jnp.result_type(float) if dtype is None else dtype)
        if jnp.issubdtype(made, jnp.floating):
            with np.errstate(over="ignore"):  # beyond the dtype is infinity
                on_host = np.linspace(start, stop, num, endpoint=endpoint).astype(made)
            return jnp.asarray(on_host, device=device)
    is_half = dtype is not None and jnp.dtype(dtype).name in _precision.HALVES
    work = jnp.float32 if is_half else dtype
    values = jnp.linspace(start, stop, num, endpoint=endpoint, dtype=work, device=device)
    return values.astype(dtype) if is_half else values


def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Return a tuple, as the standard 2025.12 requires; JAX returns a list."""
    return tuple(jnp.meshgrid(*arrays, indexing=indexing))
