"""Products in the full precision of their operands.

By default JAX multiplies float32 in TF32 or bfloat16 on GPU and TPU. The option ``jax_default_matmul_precision`` takes
precedence if it is set.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from string import ascii_letters
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array
from xarrayops.plugin.host import finfo
from xarrayops.plugin.products import MAGNITUDES, multiplications
from xarrayops_backends.jax._dtypes import _CONFIG
from xarrayops_backends.jax._products import _matmul_bytes

_SMALL = 1 << 18
"""The number of multiplications of 8-bit integers up to which JAX's own product serves."""
_SUBSCRIPTS = frozenset(f"{ascii_letters} ,.->")


def _precision() -> Any:
    return jax.lax.Precision.HIGHEST if _CONFIG.jax_default_matmul_precision is None else None


def matmul(x1: Array, x2: Array, /) -> Array:
    """In full precision."""
    if x1.dtype.name in MAGNITUDES and x2.dtype.name in MAGNITUDES and multiplications(x1, x2) > _SMALL:
        return _matmul_bytes(x1, x2)
    return jnp.matmul(x1, x2, precision=_precision())


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """In full precision."""
    return jnp.tensordot(x1, x2, axes=axes, precision=_precision())


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """In full precision."""
    return jnp.vecdot(x1, x2, axis=axis, precision=_precision())


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """In full precision. Labels are letters, as in NumPy: JAX accepts any character.

    Products of several operands of half precision would be rounded after each product.
    """
    for label in subscripts:
        if label not in _SUBSCRIPTS:
            raise ValueError(f"the subscripts {subscripts!r} have the label {label!r}, which is not an ASCII letter")
    if len(operands) > 2 and jnp.result_type(*operands).name in ("float16", "bfloat16"):
        wide = (x.astype(jnp.float32) for x in operands)
        return jnp.einsum(subscripts, *wide, precision=_precision()).astype(jnp.result_type(*operands))
    return jnp.einsum(subscripts, *operands, precision=_precision())


def _precise(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with all products, also in its derivative, in full precision; it has no precision argument."""

    @wraps(function)
    def precise(*args: Any, **kwargs: Any) -> Any:
        with jax.default_matmul_precision(_CONFIG.jax_default_matmul_precision or "highest"):
            return function(*args, **kwargs)

    return precise


linalg_matrix_power = _precise(jnp.linalg.matrix_power)
linalg_qr = _precise(jnp.linalg.qr)


def linalg_pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Use the standard's default tolerance; JAX's default is ten times as large."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(x.dtype).eps
    return jnp.linalg.pinv(x, rtol=rtol)
