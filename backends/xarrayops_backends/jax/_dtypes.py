"""The dtypes of JAX, their names and limits, and checks that 64-bit dtypes are not truncated."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.errors import Unsupported, available_names
from xarrayops.plugin import Array
from xarrayops.plugin.dtypes import DTYPE_NAMES
from xarrayops.plugin.host import refuse_discarding

_NATIVE = {name: jnp.dtype(name) for name in DTYPE_NAMES}
_NAMES = {dtype: name for name, dtype in _NATIVE.items()}
_CONFIG: Any = jax.config  # untyped: JAX does not declare its options as attributes
_HALVES = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
_DEFAULTED = (bool, int, float, complex)


def as_dtype(name: str, /) -> Any:
    """The dtype of JAX arrays with this name, from NumPy or ml_dtypes."""
    if name not in _NATIVE:
        raise ValueError(available_names(name, _NATIVE))
    return _NATIVE[name]


def dtype_name(dtype: Any, /) -> str | None:
    """The name of a dtype, which may be an instance or a scalar class of JAX or NumPy."""
    if isinstance(dtype, type) and (issubclass(dtype, np.generic) or hasattr(dtype, "dtype")):
        dtype = jnp.dtype(dtype)
    return _NAMES.get(dtype) if isinstance(dtype, np.dtype) else None


def iinfo(type: Any, /) -> Any:
    """NumPy's iinfo accepts no 2-bit or 4-bit integers, which come from ml_dtypes, and JAX warns about arrays."""
    return jnp.iinfo(getattr(type, "dtype", type))  # type: ignore[no-untyped-call]


def _available(dtype: Any) -> Any:
    """Return the dtype, or refuse it if JAX would silently use half its width. Python types mean the default dtypes."""
    if type(dtype) is type and dtype in _DEFAULTED:
        return jnp.result_type(dtype)
    if dtype is None or _CONFIG.jax_enable_x64:
        return dtype
    name = jnp.dtype(dtype).name
    if name in _HALVES:
        raise Unsupported(
            f"JAX has no {name} while its 64-bit types are off. Instead: enable them by JAX_ENABLE_X64=1 in the "
            f'environment or jax.config.update("jax_enable_x64", True) when the program starts, or cast to '
            f"{_HALVES[name]} first"
        )
    return dtype


_WITH_DTYPE = (
    *("arange", "empty", "empty_like", "eye", "fft.fftfreq", "fft.rfftfreq", "full_like", "linalg.trace", "linspace"),
    *("ones", "ones_like", "prod", "sum", "zeros", "zeros_like"),
)
"""JAX's functions whose dtype argument is checked, by `_checked_dtype`."""


def _checked_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a check of its dtype argument: JAX would truncate 64-bit dtypes with only a warning."""

    @wraps(function)
    def checked(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return function(*args, dtype=_available(dtype), **kwargs)

    return checked


def _refuse_truncating(data: Any) -> None:
    """Refuse 64-bit NumPy data, also within a sequence. Python numbers have no width and are accepted."""
    if not _CONFIG.jax_enable_x64:
        for leaf in jax.tree.leaves(data):
            if isinstance(leaf, (np.ndarray, np.generic)):
                _available(leaf.dtype)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Refuse what JAX does with only a warning: truncation of 64-bit dtypes and loss of imaginary parts."""
    target = jnp.dtype(_available(dtype))
    refuse_discarding(x.dtype, target)
    # A cast always creates a new array; with copy=True JAX would copy it once more.
    return jnp.astype(x, target, copy=copy and x.dtype == target, device=device)
