"""Functions beyond the standard that are faster than the generic twins: each is compiled as a whole.

The twin serves the calls that they refuse, and all other functions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array, Call
from xarrayops.plugin.generic import common, counting, order, padding, shaping, signal
from xarrayops.plugin.precision import DOUBLE as _DOUBLE
from xarrayops_backends.jax._compiler import _jit

_UNROLLED = 16
"""The products that are added in one pass over memory."""
_BLOCK = 128
"""The products that are added one after the other, well within the bound of sums."""


@_jit
def _full(long: Array, short: Array) -> Array:
    """All products, in a loop, so that the time to compile does not depend on the lengths.

    Not jnp.convolve: it gives floating-point numbers for integers, and JAX 0.10 may end the process on the CPU.
    """
    dtype = jnp.result_type(long, short)
    n, m = long.shape[0], short.shape[0]
    block = min(m, _BLOCK)
    ends = m + -m % block - 1
    padded, inside = jnp.pad(long.astype(dtype), ends), jnp.pad(jnp.ones(n, bool), ends)
    short = jnp.pad(short.astype(dtype), (0, ends + 1 - m))
    zeros = jnp.zeros(n + m - 1, dtype)

    def add(i: Any, total: Array) -> Array:
        part, is_inside = (jax.lax.dynamic_slice(x, (ends - i,), total.shape) for x in (padded, inside))
        return total + jnp.where(is_inside & (i < m), part * short[i], jnp.zeros((), dtype))

    def add_block(b: Any, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        """Kahan's sum of the blocks: what an addition loses is added with the next block."""
        total, lost = sums
        part = lost + jax.lax.fori_loop(0, block, lambda i, x: add(b * block + i, x), zeros, unroll=_UNROLLED)
        new = total + part
        return new, jnp.where(jnp.isfinite(new), part - (new - total), jnp.zeros((), dtype))

    return jax.lax.fori_loop(0, (ends + 1) // block, add_block, (zeros, zeros))[0]


def convolve(x1: Array, x2: Array, /, mode: str = "full") -> Array:
    """The products in a compiled loop."""
    return signal.convolved(_full, x1, x2, mode)


def correlate(x1: Array, x2: Array, /, mode: str = "valid") -> Array:
    """The products in a compiled loop."""
    return signal.correlated(_full, x1, jnp.conj(x2), mode, jnp.flip)


def polyval(p: Array, x: Any, /) -> Array:
    """jnp.polyval."""
    signal.require_coefficients(p)
    return jnp.polyval(p, x)


def erf(x: Array, /) -> Array:
    """XLA's erf."""
    common.require_real(jnp, x)
    return jax.lax.erf(common.floating(jnp, x))


def sigmoid(x: Array, /) -> Array:
    """XLA's logistic function."""
    common.require_real(jnp, x)
    return jax.lax.logistic(common.floating(jnp, x))


def _gradient(x: Array, /, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    x = x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.result_type(float))  # of int8 it makes float32
    found = jnp.gradient(x, *spacing, axis=common.checked_axes(axis, x.ndim))
    return found if isinstance(found, jax.Array) else tuple(found) if len(found) != 1 else found[0]


def _simple_gradient(call: Call, /) -> str | None:
    x, *spacing = call.args
    if call.kwargs["edge_order"] != 1 or spacing:
        return "jnp.gradient has no second order"
    if not x.ndim or min(x.shape) < 2:
        return "an axis is too short"
    return None


_PADDED = ("edge", "reflect", "symmetric", "wrap")


def _pad(x: Array, /, pad_width: Any, mode: str = "constant", **options: Any) -> Array:
    values = {"constant_values": options["constant_values"]} if mode == "constant" else {}
    return jnp.pad(x, padding.pad_widths(x, pad_width, mode), mode, **values)


def _paddable(call: Call, /) -> str | None:
    x, mode, value = call.args[0], (*call.args, "constant")[2], call.kwargs["constant_values"]
    if call.kwargs["reflect_type"] != "even":
        return "it reflects evenly"
    if mode == "constant":
        is_number = type(value) in (int, float) and (value == 0 or x.dtype.kind == "f")
        return None if is_number and x.ndim else "it serves numbers around arrays with axes"
    return None if mode in _PADDED else f"it serves the modes {', '.join(_PADDED)} and constant"


@partial(_jit, static_argnums=(1, 2, 3))
def _greatest(x: Array, k: int, axis: int, largest: bool) -> tuple[Array, Array]:
    keys = jnp.moveaxis(x, axis, -1)
    if jnp.issubdtype(x.dtype, jnp.floating):
        keys = jnp.where(jnp.isnan(keys), jnp.nan, keys)  # jax.lax.top_k takes a NaN with a sign for the least element
        keys = keys if largest else -keys
    elif not largest:
        keys = ~keys  # in reverse order, without overflow
    indices = jnp.moveaxis(jax.lax.top_k(keys, k)[1], -1, axis).astype(jnp.result_type(int))
    return jnp.take_along_axis(x, indices, axis), indices


def _topk(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    return _greatest(x, int(k), order.require_count(x, k, axis), largest)


def _has_order(call: Call, /) -> str | None:
    dtype = call.args[0].dtype
    if dtype.kind == "b" or jnp.issubdtype(dtype, jnp.complexfloating):
        return f"it has no code for {dtype}"
    return None


@partial(_jit, static_argnums=(1, 2, 3))
def _windows(x: Array, window_shape: Any, axis: Any, step: Any) -> Array:
    return shaping.sliding_window_view(jnp, x, window_shape, axis, step=step)


def sliding_window_view(x: Array, /, window_shape: Any, axis: Any = None, *, step: Any = 1) -> Array:
    """The generic function, compiled: eagerly it is seven calls of JAX."""
    return _windows(x, *(tuple(each) if isinstance(each, list) else each for each in (window_shape, axis, step)))


@partial(_jit, static_argnums=(2, 3))
def _segmented(x: Array, ids: Array, count: int, is_mean: bool) -> Array:
    with jax.enable_x64(True):  # numbers are added one after the other, by index
        wide = x.astype(_DOUBLE.get(x.dtype.name, x.dtype))
        ids = jnp.where((ids < 0) | (ids >= count), count, ids.astype("int64"))
        target = jnp.zeros((count, *x.shape[1:]), wide.dtype).at[ids]
        total = target.add(wide, mode="drop")
        if is_mean:
            sizes = jnp.zeros(count, "int64").at[ids].add(1, mode="drop")
            total = total / sizes.reshape(-1, *(1,) * (x.ndim - 1))
        return total.astype(x.dtype)


def segment_sum(x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
    """Sums in double precision."""
    count = counting.segments(jnp, x, segment_ids, num_segments)
    return _segmented(counting.counted_booleans(jnp, x), segment_ids, count, False)


def segment_mean(x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
    """Sums in double precision, divided before they are rounded."""
    count = counting.segments(jnp, x, segment_ids, num_segments)
    return _segmented(common.floating(jnp, x), segment_ids, count, True)


GRADIENT_CANDIDATES = [("gradient", _gradient, _simple_gradient)]
PAD_CANDIDATES = [("pad", _pad, _paddable)]
TOPK_CANDIDATES = [("top_k", _topk, _has_order)]
