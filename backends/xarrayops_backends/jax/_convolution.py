"""Convolutions and pooling by XLA, in the full precision of the operands."""

from __future__ import annotations

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.plugin import Array, Call
from xarrayops.plugin.convolution import Windows
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._standard.linalg import _precision

_lax: Any = jax.lax
_SPACE = {1: "W", 2: "HW", 3: "DHW"}


def _native(x: Array, weights: Array, windows: Windows, groups: int, /) -> Array:
    """`jax.lax.conv_general_dilated`; half types are summed in float32."""
    space = _SPACE[len(windows.shape)]
    order = f"N{space}C" if windows.is_channels_last else f"NC{space}"
    return _lax.conv_general_dilated(
        x,
        weights,
        windows.stride,
        windows.padding,
        rhs_dilation=windows.dilation,
        dimension_numbers=(order, f"OI{space}", order),
        feature_group_count=groups,
        precision=_precision(),
    )


def _refusal(call: Call) -> str | None:
    x, weights, _, _ = call.args
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return "XLA's convolutions of integers take long"
    return None if x.size and weights.size else "XLA's convolutions refuse some empty arrays"


def _reduced(x: Array, windows: Windows, kind: Literal["max", "sum"], /) -> Array:
    """`jax.lax.reduce_window`."""

    def of_axes(value: Any, ones: Any) -> tuple[Any, ...]:
        return (ones, *value, ones) if windows.is_channels_last else (ones, ones, *value)

    is_floating = jnp.issubdtype(x.dtype, jnp.floating)
    lowest = -np.inf if is_floating else np.iinfo(x.dtype).min
    start, combine = (lowest, _lax.max) if kind == "max" else (0, _lax.add)
    return _lax.reduce_window(
        x,
        np.asarray(start, x.dtype),
        combine,
        of_axes(windows.shape, 1),
        of_axes(windows.stride, 1),
        of_axes(windows.padding, (0, 0)),
        window_dilation=of_axes(windows.dilation, 1),
    )


def _reduced_refusal(call: Call) -> str | None:
    _, windows, _ = call.args
    return "JAX has no gradient of dilated windows" if any(step > 1 for step in windows.dilation) else None


CONVOLUTION_CANDIDATES = [("native", _shards.serving_explicit_axes("conv", _native), _refusal)]
POOLING_CANDIDATES = [("native", _shards.serving_explicit_axes("pool", _reduced), _reduced_refusal)]
