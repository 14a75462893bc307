"""Convolutions and pooling by XLA, in the full precision of the operands."""

from __future__ import annotations

from collections.abc import Iterator
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
_SMALL, _FEW = 16, 49
"""The elements of a window up to which slices are compiled, one for each: of the largest ones, and of sums."""
_WIDE = ("float32", "float64", "complex64", "complex128")
_LARGE = 1 << 13
"""The number of elements from which the compilation of sums of slices is worth it."""
_REPEATS = 8
"""The output channels for each input channel up to which sums of slices are faster in both orders of channels."""
_SPACE = {1: "W", 2: "HW", 3: "DHW"}


def _native(x: Array, weights: Array, windows: Windows, groups: int, /) -> Array:
    """`jax.lax.conv_general_dilated`; half types are summed in float32.

    Of one input channel for each output channel, on a CPU, it takes 2 to 30 times as long as sums of slices.
    """
    is_depthwise = weights.shape[1] == 1 and weights.shape[0] <= _REPEATS * groups and x.size >= _LARGE
    if is_depthwise and prod(windows.shape) <= _FEW and _is_on_one_cpu(x) and _is_on_one_cpu(weights):
        return _depthwise(x, weights, windows, groups)
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
    if kind == "max" and prod(windows.shape) <= _SMALL and _is_on_one_cpu(x):
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
    """The maximum of slices, one for each position in a window."""
    return reduce(jnp.maximum, (part for _, part in _slices(x, windows, _lowest(x))))


@partial(_jit, static_argnums=(2, 3))
def _depthwise(x: Array, weights: Array, windows: Windows, groups: int) -> Array:
    """The sum of slices times weights. Output channel c sees input channel c // repeats."""
    repeats, wide = weights.shape[0] // groups, x.dtype if x.dtype in _WIDE else jnp.float32
    each = jnp.repeat(x, repeats, axis=-1 if windows.is_channels_last else 1).astype(wide)
    shape = (-1,) if windows.is_channels_last else (-1, *(1,) * len(windows.shape))

    def of_channels(at: tuple[int, ...]) -> Array:
        return weights[(slice(None), 0, *at)].reshape(shape).astype(wide)

    parts = (part * of_channels(at) for at, part in _slices(each, windows, np.asarray(0, wide)))
    return reduce(jnp.add, parts).astype(x.dtype)


def _slices(x: Array, windows: Windows, edge: Any) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Each position in a window, and the elements of all windows at that position."""
    of_axes = partial(_of_axes, windows.is_channels_last)
    padded = _lax.pad(x, edge, of_axes([(*pair, 0) for pair in windows.padding], (0, 0, 0)))
    for at in product(*map(range, windows.shape)):
        starts = [i * step for i, step in zip(at, windows.dilation, strict=True)]
        after = [(n - 1) * step - a for n, step, a in zip(windows.shape, windows.dilation, starts, strict=True)]
        ends = [n - behind for n, behind in zip(padded.shape, of_axes(after, 0), strict=True)]
        yield at, _lax.slice(padded, of_axes(starts, 0), ends, of_axes(windows.stride, 1))


def _is_on_one_cpu(x: Array) -> bool:
    """Whether x has values, in the memory of one CPU device."""
    return not isinstance(x, jax.core.Tracer) and len(x.devices()) == 1 and _platform_of(x) == "cpu"


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
