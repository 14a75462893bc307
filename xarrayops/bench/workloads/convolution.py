"""Convolutions as image networks use them: 64 kernels of 3 by 3, in three layouts, and the pooling after them.

The expected result is a sum over the elements of the kernel.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload, exactly
from xarrayops.plugin import Array

_CHANNELS, _KERNEL, _BLOCK = 64, 3, 16
_SIZES = {"toy": (6,), "default": (56,), "large": (112,)}
_IMAGES = 8


def convolved(x: Array, w: Array, /, layout: str = "NCHW") -> Array:
    """Images of the same extents, by padding with zeros."""
    return xo.conv2d(x, w, padding=1, layout=layout)


def pooled(x: Array, /) -> Array:
    """Half the extents: the largest of 2 by 2."""
    return xo.max_pool2d(x, 2)


def _inputs(random: Any, n: int, layout: str = "NCHW") -> Arrays:
    x = random.standard_normal((_IMAGES, _CHANNELS, n, n))
    w = random.standard_normal((_CHANNELS, _CHANNELS, _KERNEL, _KERNEL)) / 24
    return _as_layout(x, layout), w


def _as_layout(x: Any, layout: str) -> Any:
    if layout == "NHWC":
        return np.ascontiguousarray(np.moveaxis(x, 1, -1))
    if layout == "NCHW16c":
        images, _, height, width = x.shape
        return np.ascontiguousarray(np.moveaxis(x.reshape(images, -1, _BLOCK, height, width), 2, -1))
    return x


def _as_nchw(x: Any, layout: str) -> Any:
    if layout == "NHWC":
        return np.moveaxis(x, -1, 1)
    if layout == "NCHW16c":
        found = np.moveaxis(x, -1, 2)
        return found.reshape(found.shape[0], -1, *found.shape[3:])
    return x


def by_definition(x: Any, w: Any, layout: str = "NCHW") -> Any:
    """The sum over the elements of the kernel of a product along the channels."""
    x = _as_nchw(x, layout)
    n = x.shape[-1]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    found = sum(
        np.einsum("bchw,oc->bohw", padded[:, :, i : i + n, j : j + n], w[:, :, i, j], optimize=True)
        for i in range(_KERNEL)
        for j in range(_KERNEL)
    )
    return _as_layout(found, layout)


def _largest(x: Any) -> Any:
    images, channels, height, width = x.shape
    return x.reshape(images, channels, height // 2, 2, width // 2, 2).max(axis=(3, 5))


WORKLOADS = (
    *(
        Workload(
            f"convolution {layout}",
            partial(convolved, layout=layout),
            inputs=partial(_inputs, layout=layout),
            expected=partial(by_definition, layout=layout),
            sizes=_SIZES,
            timed=f'xo.conv2d(x, w, padding=1, layout="{layout}")',
            operations=lambda n: 2.0 * _IMAGES * n * n * _CHANNELS * _CHANNELS * _KERNEL * _KERNEL,
            tolerance=lambda n: 4.0 * (_CHANNELS * _KERNEL * _KERNEL) ** 0.5,
        )
        for layout in ("NCHW", "NHWC", "NCHW16c")
    ),
    Workload(
        "convolution pooling",
        pooled,
        inputs=lambda random, n: _inputs(random, n)[:1],
        expected=_largest,
        sizes=_SIZES,
        timed="xo.max_pool2d(x, 2)",
        tolerance=exactly,
    ),
)
