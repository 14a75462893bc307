"""conv1d, conv2d and conv3d: convolutions of a batch, as neural networks use them."""

from __future__ import annotations

from typing import Any

from xarrayops import standard
from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.modes.precision import of_policy
from xarrayops._ops.convolution import arguments
from xarrayops._ops.convolution.arguments import FIRST, Extents, Padding, Request
from xarrayops._ops.engines.serving import by_engines
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.layout.relayout import relayout
from xarrayops.plugin.arrays import Array, ArrayT
from xarrayops.plugin.convolution import Windows


@explaining_arrays("conv1d")
def conv1d(
    x: ArrayT,
    weights: ArrayT,
    bias: ArrayT | None = None,
    /,
    *,
    stride: Extents = 1,
    padding: Padding = 0,
    dilation: Extents = 1,
    groups: int = 1,
    layout: str = "NCW",
) -> ArrayT:
    """The convolution of a batch along one axis. `conv2d` has the parameters; layouts are NCW, NWC and NCW16c.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.asarray([[[1.0, 2.0, 3.0, 4.0]]])
    >>> xo.conv1d(x, np.asarray([[[1.0, 10.0]]]))
    array([[[21., 32., 43.]]])
    """
    return _convolved(x, weights, bias, Request("conv1d", 1, stride, padding, dilation, layout, groups))


@explaining_arrays("conv2d")
def conv2d(
    x: ArrayT,
    weights: ArrayT,
    bias: ArrayT | None = None,
    /,
    *,
    stride: Extents = 1,
    padding: Padding = 0,
    dilation: Extents = 1,
    groups: int = 1,
    layout: str = "NCHW",
) -> ArrayT:
    """The convolution of a batch of images: for each window, the sum of the products with the weights.

    As in neural networks, the weights are not reversed: this is the cross-correlation of signal processing.

    Parameters
    ----------
    x : array
        The batch, in the order of ``layout``: (N, C, H, W) by default.
    weights : array
        (O, C / groups, KH, KW) in every layout, of x's dtype: O output channels.
    bias : array, optional
        (O,): a number that is added to each output channel.
    stride, dilation : int or sequence of int
        The distance between windows, and between elements of a window, for each spatial axis or for all.
    padding : int, sequence of int, sequence of pairs, "same" or "valid"
        The zeros before and after each spatial axis. "valid" adds none; "same" gives H / stride windows, rounded up,
        with an odd zero after the axis.
    groups : int
        The number of groups of channels: each group of O / groups output channels sees its C / groups input channels.
    layout : {"NCHW", "NHWC", "NCHW16c"}
        The order of the axes of x and of the result. A number before c, here 16, is the size of blocks of channels,
        as `relayout` makes them; PyTorch and JAX compute NHWC as it is, and blocked arrays are reordered.

    Returns
    -------
    array
        (N, O, OH, OW) in the order of ``layout``, with OH = (H + padding - dilation * (KH - 1) - 1) // stride + 1.

    Raises
    ------
    ValueError
        Shapes do not fit, no window fits into the array, or a number is invalid.
    TypeError
        The dtypes differ.

    Notes
    -----
    PyTorch and JAX use their own convolutions, in the full precision of float32, on CUDA also in TF32 inside a block of
    ``xo.precision(products="tf32")``. Functions of `torch.compile` follow PyTorch's switch. NumPy multiplies blocks of
    windows by BLAS (Chellapilla, Puri and Simard 2006), using only as much memory as fits a cache. Other libraries add
    one product for each element of a window. Half types are summed in float32 there. Law: the sum over a window is
    linear in x and in the weights, so ``conv2d(x, 2 * w) == 2 * conv2d(x, w)``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.ones((1, 3, 8, 8), np.float32)
    >>> w = np.ones((5, 3, 3, 3), np.float32)
    >>> y = xo.conv2d(x, w, padding="same")
    >>> y.shape, float(y[0, 0, 4, 4]), float(y[0, 0, 0, 0])
    ((1, 5, 8, 8), 27.0, 12.0)
    """
    return _convolved(x, weights, bias, Request("conv2d", 2, stride, padding, dilation, layout, groups))


@explaining_arrays("conv3d")
def conv3d(
    x: ArrayT,
    weights: ArrayT,
    bias: ArrayT | None = None,
    /,
    *,
    stride: Extents = 1,
    padding: Padding = 0,
    dilation: Extents = 1,
    groups: int = 1,
    layout: str = "NCDHW",
) -> ArrayT:
    """The convolution of a batch of volumes. `conv2d` has the parameters; layouts are NCDHW, NDHWC and NCDHW16c.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.conv3d(np.ones((1, 1, 3, 3, 3)), np.ones((1, 1, 3, 3, 3))).ravel()
    array([27.])
    """
    return _convolved(x, weights, bias, Request("conv3d", 3, stride, padding, dilation, layout, groups))


def _convolved(x: Any, weights: Any, bias: Any, request: Request) -> Any:
    """The convolution of any rank."""
    verb, rank, layout = request.verb, request.rank, request.layout
    order = arguments.layout_of(f"xo.{verb}", layout, rank)
    if order.block:
        channels = weights.shape[1] * request.groups if weights.ndim == rank + 2 else None
        plain = relayout(x, f"{layout} -> {FIRST[rank]}", channels=channels)
        found = _convolved(plain, weights, bias, request._replace(layout=FIRST[rank]))
        return relayout(found, f"{FIRST[rank]} -> {layout}")
    backend, given = _planned(x, weights, bias, request)
    with of_policy(backend, x):
        result = _by_engines(backend, *given)
    if bias is None:
        return result
    return standard.add(result, bias if order.is_last else standard.reshape(bias, (-1, *(1,) * rank)))


def explain_convolution(verb: str, /, x: Any, weights: Any, bias: Any = None, **options: Any) -> Explanation:
    """The kernels of the arrays' library and of the engines."""
    request = arguments.request_of(verb, options)
    return arguments.explain_request("convolution", request, x, lambda: _planned(x, weights, bias, request))


def _planned(x: Any, weights: Any, bias: Any, request: Request) -> tuple[Backend, tuple[Array, Array, Windows, int]]:
    """The library that serves a call without blocks, and the arguments of its hook. Raises for invalid arguments."""
    named = {"x": x, "weights": weights} | ({} if bias is None else {"bias": bias})
    backend = find.one_of(request.verb, named)
    call = arguments.described_call(request.verb, backend, *named.values())
    is_last = arguments.layout_of(call, request.layout, request.rank).is_last
    _require_shapes(call, request.rank, x, weights, bias, request.groups, is_last=is_last)
    _require_dtypes(call, backend, named)
    windows = arguments.windows_for(call, x, tuple(weights.shape[2:]), request, is_last=is_last)
    return backend, (x, weights, windows, request.groups)


_by_engines = by_engines("convolution")


def _require_shapes(call: str, rank: int, x: Array, weights: Array, bias: Any, groups: int, *, is_last: bool) -> None:
    if x.ndim != rank + 2 or weights.ndim != rank + 2:
        raise ValueError(f"{call}: x and the weights must have {rank + 2} axes")
    channels, out = x.shape[-1 if is_last else 1], weights.shape[0]
    if type(groups) is not int or groups < 1 or channels % groups or out % groups:
        raise ValueError(f"{call}: groups={groups!r} does not divide {channels} input and {out} output channels")
    if weights.shape[1] * groups != channels:
        raise ValueError(
            f"{call}: the weights take {weights.shape[1]} channels in each of {groups} groups, and x has {channels} on "
            f"axis {x.ndim - 1 if is_last else 1}. Instead: layout=, if the channels are on another axis"
        )
    if bias is not None and tuple(bias.shape) != (out,):
        raise ValueError(f"{call}: the bias must have shape ({out},)")


def _require_dtypes(call: str, backend: Backend, named: dict[str, Any]) -> None:
    names = {name: backend.functions["dtype_name"](x.dtype) for name, x in named.items()}
    if len(set(names.values())) > 1:
        shown = ", ".join(f"{name} {dtype}" for name, dtype in names.items())
        raise TypeError(f"{call}: the dtypes differ: {shown}. Instead: xo.astype(weights, x.dtype)")
    if "bool" in names.values():
        raise TypeError(f"{call}: booleans are not supported. Instead: xo.astype(x, 'int32')")
