"""max_pool and avg_pool along one, two or three axes: the largest element or the mean of each window."""

from __future__ import annotations

from math import prod
from typing import Any

from xarrayops import standard
from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._ops.convolution import arguments
from xarrayops._ops.convolution.arguments import FIRST, Extents, Padding, Request
from xarrayops._ops.engines.serving import by_engines
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.layout.relayout import relayout
from xarrayops.plugin.arrays import Array, ArrayT
from xarrayops.plugin.convolution import Windows
from xarrayops.plugin.dtypes import FLOATING_DTYPES, INTEGER_LIMITS
from xarrayops.plugin.precision import HALVES


@explaining_arrays("max_pool1d")
def max_pool1d(
    x: ArrayT,
    window: Extents,
    /,
    *,
    stride: Extents | None = None,
    padding: Padding = 0,
    dilation: Extents = 1,
    layout: str = "NCW",
) -> ArrayT:
    """The largest element of each window along one axis. `max_pool2d` has the parameters."""
    return _pooled(x, window, Request("max_pool1d", 1, stride, padding, dilation, layout))


@explaining_arrays("max_pool2d")
def max_pool2d(
    x: ArrayT,
    window: Extents,
    /,
    *,
    stride: Extents | None = None,
    padding: Padding = 0,
    dilation: Extents = 1,
    layout: str = "NCHW",
) -> ArrayT:
    """The largest element of each window of each channel; NaN if the window has a NaN.

    Parameters
    ----------
    x : array
        The batch, in the order of ``layout``: (N, C, H, W) by default; real numbers.
    window : int or sequence of int
        The extents of a window.
    stride : int or sequence of int, optional
        The distance between windows. Default: the extents of the window.
    padding, dilation, layout
        As for `conv2d`. Padding is ignored; each window must contain an element of x, so padding must be smaller than
        the window.

    Returns
    -------
    array
        In x's dtype, with the extents as for `conv2d`.

    Raises
    ------
    ValueError
        No window fits into the array, or a number is invalid.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> xo.max_pool2d(x, 2)
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """
    return _pooled(x, window, Request("max_pool2d", 2, stride, padding, dilation, layout))


@explaining_arrays("max_pool3d")
def max_pool3d(
    x: ArrayT,
    window: Extents,
    /,
    *,
    stride: Extents | None = None,
    padding: Padding = 0,
    dilation: Extents = 1,
    layout: str = "NCDHW",
) -> ArrayT:
    """The largest element of each window along three axes. `max_pool2d` has the parameters."""
    return _pooled(x, window, Request("max_pool3d", 3, stride, padding, dilation, layout))


@explaining_arrays("avg_pool1d")
def avg_pool1d(
    x: ArrayT, window: Extents, /, *, stride: Extents | None = None, padding: Padding = 0, layout: str = "NCW"
) -> ArrayT:
    """The mean of each window along one axis. `avg_pool2d` has the parameters."""
    return _pooled(x, window, Request("avg_pool1d", 1, stride, padding, 1, layout))


@explaining_arrays("avg_pool2d")
def avg_pool2d(
    x: ArrayT, window: Extents, /, *, stride: Extents | None = None, padding: Padding = 0, layout: str = "NCHW"
) -> ArrayT:
    """The mean of the elements of x in each window of each channel, ignoring padding.

    The parameters are the same as for `max_pool2d`; x must be floating-point. PyTorch counts padding by default.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.avg_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]])
    """
    return _pooled(x, window, Request("avg_pool2d", 2, stride, padding, 1, layout))


@explaining_arrays("avg_pool3d")
def avg_pool3d(
    x: ArrayT, window: Extents, /, *, stride: Extents | None = None, padding: Padding = 0, layout: str = "NCDHW"
) -> ArrayT:
    """The mean of each window along three axes. `avg_pool2d` has the parameters."""
    return _pooled(x, window, Request("avg_pool3d", 3, stride, padding, 1, layout))


def _pooled(x: Any, window: Extents, request: Request) -> Any:
    """The pooling of any rank."""
    verb, rank, layout = request.verb, request.rank, request.layout
    if arguments.layout_of(f"xo.{verb}", layout, rank).block:
        plain = relayout(x, f"{layout} -> {FIRST[rank]}")
        found = _pooled(plain, window, request._replace(layout=FIRST[rank]))
        return relayout(found, f"{FIRST[rank]} -> {layout}")
    backend, given = _planned(x, window, request)
    _, windows, kind = given
    if kind == "max":
        return _by_engines(backend, *given)
    astype, dtype = backend.functions["astype"], x.dtype
    is_half = backend.functions["dtype_name"](dtype) in HALVES
    x = astype(x, backend.native_dtype("float32")) if is_half else x
    mean = _means(backend, x, windows)
    return astype(mean, dtype) if is_half else mean


def _means(backend: Backend, x: Array, windows: Windows) -> Array:
    """The means, from sums of a share of x that do not overflow.

    A power of two changes no bit of a product, unless that is subnormal. XLA replaces subnormal numbers by 0, so there
    the share is used for arrays with large numbers only.
    """
    share = 2.0 ** -(prod(windows.shape) - 1).bit_length()
    elements = _elements(backend, x, windows)
    if not backend.flushes_subnormals:
        return standard.divide(_by_engines(backend, x * share, windows, "sum"), elements * share)
    is_large = standard.any(standard.abs(x) > _LARGE)
    total = _by_engines(backend, standard.where(is_large, x * share, x), windows, "sum")
    mean = standard.divide(total, elements)
    return standard.where(is_large, mean / share, mean)


def explain_pooling(verb: str, /, x: Any, window: Extents, **options: Any) -> Explanation:
    """The kernels of the arrays' library and of the engines."""
    request = arguments.request_of(verb, {"stride": None} | options)
    return arguments.explain_request("pooling", request, x, lambda: _planned(x, window, request))


def _planned(x: Any, window: Extents, request: Request) -> tuple[Backend, tuple[Array, Windows, str]]:
    """The library that serves a call without blocks, and the arguments of its hook. Raises for invalid arguments."""
    backend = find.one_of(request.verb, {"x": x})
    call = arguments.described_call(request.verb, backend, x)
    rank, kind = request.rank, "max" if request.verb.startswith("max") else "sum"
    is_last = arguments.layout_of(call, request.layout, rank).is_last
    if x.ndim != rank + 2:
        raise ValueError(f"{call}: x must have {rank + 2} axes")
    dtype = backend.functions["dtype_name"](x.dtype)
    if dtype not in FLOATING_DTYPES and (kind == "sum" or dtype not in INTEGER_LIMITS):
        raise TypeError(f"{call}: x must have real {'floating-point ' if kind == 'sum' else ''}numbers")
    shape = arguments.per_axis(call, "window", window, rank, 1)
    given = request if request.stride is not None else request._replace(stride=shape)
    windows = arguments.windows_for(call, x, shape, given, is_last=is_last)
    extents = tuple(x.shape[1:-1] if is_last else x.shape[2:])
    is_beyond = any(max(pair) >= n for pair, n in zip(windows.padding, windows.spans, strict=True))
    if is_beyond or not all(_has_elements(windows, axis, n) for axis, n in enumerate(extents)):
        raise ValueError(f"{call}: padding must be smaller than the window, and each window must have an element of x")
    return backend, (x, windows, kind)


def _has_elements(windows: Windows, axis: int, extent: int) -> bool:
    """Whether each window along an axis has an element of x; the padding is smaller than the window."""
    dilation, (before, after), span = windows.dilation[axis], windows.padding[axis], windows.spans[axis]
    if not before + after or (dilation == 1 and extent):
        return True
    starts = range(-before, extent + after - span + 1, windows.stride[axis])
    return all(any(0 <= place < extent for place in range(start, start + span, dilation)) for start in starts)


_by_engines = by_engines("pooling")
_LARGE = 2.0**96
"""The sum of 2**32 smaller numbers is in the range of float32."""


def _elements(backend: Any, x: Array, windows: Any) -> Any:
    """The number of elements of x in each window: an integer, or an array if padding makes them differ."""
    if not any(map(any, windows.padding)):
        return prod(windows.shape)
    extents = tuple(x.shape[1:-1] if windows.is_channels_last else x.shape[2:])
    counts = [_of_axis(*each) for each in zip(extents, windows.shape, windows.stride, windows.padding, strict=True)]
    product: Any = 1
    for axis, each in enumerate(counts):
        shape = [len(each) if i == axis else 1 for i in range(len(counts))]
        column = backend.functions["asarray"](each, dtype=x.dtype, device=backend.functions["device"](x))
        product = standard.reshape(column, tuple(shape)) * product
    return standard.reshape(product, (*product.shape, 1)) if windows.is_channels_last else product


def _of_axis(extent: int, window: int, stride: int, padding: tuple[int, int]) -> list[int]:
    """The number of elements of x in each window along one axis."""
    count = (extent + sum(padding) - window) // stride + 1
    starts = [i * stride - padding[0] for i in range(count)]
    return [min(start + window, extent) - max(start, 0) for start in starts]
