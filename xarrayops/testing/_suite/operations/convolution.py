"""Convolutions and pooling against sums over all windows in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.operations.layout import blocked
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import called, exercises
from xarrayops.testing._suite.variant import Variant

Options = dict[str, Any]
CONVOLUTIONS: list[tuple[str, tuple[int, ...], tuple[int, ...], Options]] = [
    ("conv1d", (2, 3, 9), (4, 3, 3), {}),
    ("conv1d", (2, 4, 9), (6, 2, 2), {"groups": 2, "stride": 2, "padding": [(0, 3)], "dilation": 2}),
    ("conv2d", (2, 3, 7, 6), (5, 3, 3, 2), {"padding": (1, 0)}),
    ("conv2d", (2, 3, 7, 6), (5, 3, 3, 2), {"padding": "same", "stride": (2, 3)}),
    ("conv2d", (1, 4, 6, 6), (4, 1, 3, 3), {"groups": 4, "padding": 2, "dilation": (1, 2)}),
    ("conv2d", (3, 4, 5, 5), (6, 4, 1, 1), {}),
    ("conv2d", (2, 20, 5, 5), (18, 20, 3, 3), {"padding": "same"}),
    ("conv3d", (2, 2, 5, 4, 4), (3, 2, 2, 3, 1), {"padding": [(1, 0), (0, 1), (0, 0)]}),
]
POOLS: list[tuple[str, tuple[int, ...], Any, Options]] = [
    ("max_pool1d", (2, 3, 9), 3, {"stride": 2, "padding": [(1, 2)]}),
    ("max_pool2d", (2, 3, 7, 6), (3, 2), {"padding": (2, 1), "stride": 1}),
    ("max_pool2d", (2, 20, 6, 6), 2, {"dilation": 2}),
    ("max_pool3d", (2, 2, 4, 4, 4), 2, {}),
    ("avg_pool1d", (2, 3, 9), 3, {"stride": 2, "padding": [(1, 2)]}),
    ("avg_pool2d", (2, 20, 7, 6), (3, 2), {"padding": "same", "stride": 1}),
    ("avg_pool3d", (2, 2, 4, 4, 4), 2, {}),
]
LAYOUTS = {3: ("NCW", "NWC", "NCW16c"), 4: ("NCHW", "NHWC", "NCHW16c"), 5: ("NCDHW", "NDHWC", "NCDHW16c")}


class ConvolutionSuite:
    """Every layout, with strides, padding, dilation and groups."""

    @exercises("conv1d", "conv2d", "conv3d")
    @pytest.mark.parametrize("at", [0, 1, 2], ids=["first", "last", "blocked"])
    @pytest.mark.parametrize("case", CONVOLUTIONS, ids=[f"{case[0]}-{i}" for i, case in enumerate(CONVOLUTIONS)])
    def test_convolution(
        self, variant: Variant, case: tuple[str, tuple[int, ...], tuple[int, ...], Options], at: int
    ) -> None:
        """The sums over all windows, with a bias."""
        verb, shape, of_weights, options = case
        x, weights = sample("float32", shape, low=-1, high=1), sample("float32", of_weights, low=-1, high=1)
        bias = sample("float32", of_weights[:1])
        want = convolved(x, weights, options) + bias.reshape(-1, *(1,) * (len(shape) - 2))
        layout = LAYOUTS[len(shape)][at]
        arrays = (variant.array(laid(x, layout)), variant.array(weights), variant.array(bias))
        got = called(variant, verb, lambda *given: getattr(xo, verb)(*given, **options, layout=layout), *arrays)
        check_array(variant, got, laid(want, layout), dtype="float32", ulps=64, normwise=True)

    @exercises("max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d")
    @pytest.mark.parametrize("at", [0, 1, 2], ids=["first", "last", "blocked"])
    @pytest.mark.parametrize("case", POOLS, ids=[f"{case[0]}-{i}" for i, case in enumerate(POOLS)])
    def test_pooling(self, variant: Variant, case: tuple[str, tuple[int, ...], Any, Options], at: int) -> None:
        """The largest element, or the mean of the elements that are not padding."""
        verb, shape, window, options = case
        x, layout = sample("float32", shape, low=-1, high=1), LAYOUTS[len(shape)][at]
        want = pooled(x, window, options, np.nanmax if verb.startswith("max") else np.nanmean)
        function = getattr(xo, verb)
        got = called(
            variant, verb, lambda x: function(x, window, **options, layout=layout), variant.array(laid(x, layout))
        )
        check_array(variant, got, laid(want, layout), dtype="float32", normwise=verb.startswith("avg"))


def laid(x: Any, layout: str) -> Any:
    """An array with channels second, in another layout; blocks are padded with zeros."""
    if layout.endswith("16c"):
        return np.ascontiguousarray(blocked(x, 16))
    return np.ascontiguousarray(np.moveaxis(x, 1, -1)) if layout.endswith("C") else x


def windows_of(x: Any, window: list[int], options: Options, fill: float) -> Any:
    """The elements of all windows in float64, with channels second; the last axes are those of a window."""
    rank = len(window)
    stride, dilation = (_each(options.get(name, 1), rank) for name in ("stride", "dilation"))
    spans = [d * (n - 1) + 1 for d, n in zip(dilation, window, strict=True)]
    padding = options.get("padding", 0)
    if padding == "same":
        totals = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(x.shape[2:], stride, spans, strict=True)]
        padding = [(total // 2, total - total // 2) for total in totals]
    pairs = [pair if isinstance(pair, tuple) else (pair, pair) for pair in _each(padding, rank)]
    padded = np.pad(x.astype("float64"), [(0, 0), (0, 0), *pairs], constant_values=fill)
    found = np.lib.stride_tricks.sliding_window_view(padded, spans, axis=tuple(range(2, 2 + rank)))
    steps: Any = (..., *(slice(None, None, step) for step in (*stride, *dilation)))
    return found[steps]


def convolved(x: Any, weights: Any, options: Options) -> Any:
    """The convolution in float64."""
    groups, (out, _, *window) = options.get("groups", 1), weights.shape
    parts = windows_of(x, window, options, 0.0)
    batch, channels, *positions = parts.shape[: x.ndim]
    parts = parts.reshape(batch, groups, channels // groups, *positions, -1)
    of_groups = weights.astype("float64").reshape(groups, out // groups, channels // groups, -1)
    return np.einsum("ngc...k,gock->ngo...", parts, of_groups).reshape(batch, out, *positions)


def pooled(x: Any, window: Any, options: Options, combine: Any) -> Any:
    """The pooling in float64; padding is NaN, which the function ignores."""
    shape = _each(window, x.ndim - 2)
    parts = windows_of(x, shape, {"stride": shape, **options}, np.nan)
    return combine(parts, axis=tuple(range(-len(shape), 0)))


def _each(value: Any, rank: int) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value] * rank
