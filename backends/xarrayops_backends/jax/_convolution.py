"""Convolutions and pooling by XLA, in the full precision of the operands."""

from __future__ import annotations

from functools import partial, reduce
from itertools import product
from math import prod
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.plugin import Array, Call
from xarrayops.plugin.convolution import Windows
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _platform_of
from xarrayops_backends.jax._standard.linalg import _precision

_lax: Any = jax.lax
_SMALL = 16
"""The elements of a window up to which slices are compiled, one for each."""
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
    """`jax.lax.reduce_window`; for maxima of small windows on a CPU the same from slices, in a fifth of the time."""
    is_small = kind == "max" and prod(windows.shape) <= _SMALL and not isinstance(x, jax.core.Tracer)
    if is_small and len(x.devices()) == 1 and _platform_of(x) == "cpu":
        return _largest(x, windows)
    of_axes = partial(_of_axes, windows.is_channels_last)
    start, combine = (_lowest(x), _lax.max) if kind == "max" else (np.asarray(0, x.dtype), _lax.add)
    return _lax.reduce_window(
        x,
        start,
        combine,
        of_axes(windows.shape, 1),
        of_axes(windows.stride, 1),
        of_axes(windows.padding, (0, 0)),
        window_dilation=of_axes(windows.dilation, 1),
    )


@partial(_jit, static_argnums=1)
def _largest(x: Array, windows: Windows) -> Array:
    """The maximum of slices, one for each position in a window without dilation."""
    of_axes = partial(_of_axes, windows.is_channels_last)
    padded = _lax.pad(x, _lowest(x), of_axes([(*pair, 0) for pair in windows.padding], (0, 0, 0)))
    extents, steps = of_axes(windows.shape, 1), of_axes(windows.stride, 1)

    def part(starts: tuple[int, ...]) -> Array:
        ends = [n - extent + 1 + start for n, extent, start in zip(padded.shape, extents, starts, strict=True)]
        return _lax.slice(padded, starts, ends, steps)

    return reduce(jnp.maximum, map(part, product(*map(range, extents))))


def _of_axes(is_channels_last: bool, value: Any, other: Any) -> tuple[Any, ...]:
    """The values of all axes from those of the spatial axes."""
    return (other, *value, other) if is_channels_last else (other, other, *value)


def _lowest(x: Array) -> Any:
    """The number that is at most each number of the dtype."""
    is_floating = jnp.issubdtype(x.dtype, jnp.floating)
    return np.asarray(-np.inf if is_floating else np.iinfo(x.dtype).min, x.dtype)


def _reduced_refusal(call: Call) -> str | None:
    _, windows, _ = call.args
    return "JAX has no gradient of dilated windows" if any(step > 1 for step in windows.dilation) else None


CONVOLUTION_CANDIDATES = [("native", _shards.serving_explicit_axes("conv", _native), _refusal)]
POOLING_CANDIDATES = [("native", _shards.serving_explicit_axes("pool", _reduced), _reduced_refusal)]
