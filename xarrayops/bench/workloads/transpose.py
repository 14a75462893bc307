"""Axes reordered in memory, not only by strides. Nothing is computed, so the results must be exact."""

from __future__ import annotations

from functools import partial

import xarrayops as xo
from xarrayops.bench.workload import Workload, exactly
from xarrayops.plugin import Array

_CHANNELS = 64
_PIXELS = {"toy": (5,), "default": (56,), "large": (256,)}
"""The width and height of 8 images."""


def transpose(x: Array, /) -> Array:
    """The elements of x in the order of its transpose, as one flat array.

    No stride can express that order in one dimension, so every library must move each element. A library that copies in
    both `permute_dims` and `reshape` (JAX, outside jit) pays for both copies.
    """
    return xo.reshape(xo.permute_dims(x, (1, 0)), (-1,))


def to_channels_last(x: Array, /) -> Array:
    """The channels of each pixel become contiguous."""
    return xo.relayout(x, "NCHW -> NHWC")


def to_channels_first(x: Array, /) -> Array:
    """The pixels of each channel become contiguous."""
    return xo.relayout(x, "NHWC -> NCHW")


_moved = partial(Workload, tolerance=exactly)

WORKLOADS = (
    _moved(
        "transpose",
        transpose,
        inputs=lambda random, n: (random.standard_normal((n, n * 4 // 3)),),
        expected=lambda x: x.T.reshape(-1),
        sizes={"toy": (30,), "default": (1200,), "large": (9000,)},  # powers of two would cause cache conflicts
        timed="xo.reshape(xo.permute_dims(x, (1, 0)), (-1,)): every element is moved, not compiled",
    ),
    _moved(
        "relayout NCHW to NHWC",
        to_channels_last,
        inputs=lambda random, n: (random.standard_normal((8, _CHANNELS, n, n)),),
        expected=lambda x: x.transpose(0, 2, 3, 1),
        sizes=_PIXELS,
        timed='xo.relayout(x, "NCHW -> NHWC"): 8 images of 64 channels',
    ),
    _moved(
        "relayout NHWC to NCHW",
        to_channels_first,
        inputs=lambda random, n: (random.standard_normal((8, n, n, _CHANNELS)),),
        expected=lambda x: x.transpose(0, 3, 1, 2),
        sizes=_PIXELS,
        timed='xo.relayout(x, "NHWC -> NCHW"): 8 images of 64 channels',
    ),
)
