"""Quotients and square roots of float32, rounded once.

XLA's own have errors of up to two units in the last place on GPUs: ``div.full.f32`` and ``sqrt.approx.f32``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array
from xarrayops_backends.jax._compiler import _jit

_lax: Any = jax.lax


def _rounded_once(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function, in float64 on GPUs."""
    in_double = partial(_in_double, function)

    def call(*operands: Array) -> Array:
        if operands[0].dtype != jnp.float32:
            return function(*operands)
        return _lax.platform_dependent(*operands, cuda=in_double, rocm=in_double, default=function)

    return call


def _in_double(function: Callable[..., Array], *operands: Array) -> Array:
    """A quotient or root of float32, computed in float64, which has so many digits that two roundings are as one."""
    with jax.enable_x64(True):
        wide = function(*(_lax.convert_element_type(x, "float64") for x in operands))
        # The selection keeps XLA from narrowing the division to float32.
        return _lax.convert_element_type(jnp.where(wide == wide, wide, jnp.nan), "float32")


_sqrt = _rounded_once(_lax.sqrt)
_divide = _rounded_once(_lax.div)


@_jit
def quotient(x: Array, y: Array, /) -> Array:
    """x / y for one floating-point dtype."""
    return _divide(*jnp.broadcast_arrays(x, y))
