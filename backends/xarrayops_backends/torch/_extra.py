# Long: a function for each name; the XLA backend reads this module as a whole.
"""Functions beyond the standard for which PyTorch has faster kernels than the generic twins use.

The twin serves the calls that a kernel refuses: other dtypes, several axes, other devices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import array_api_compat.torch as aac
import torch

from xarrayops.plugin import Array, Call
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import common, counting, order, padding, quantiles, sets, shaping, signal
from xarrayops_backends.torch import _extra_devices as _devices
from xarrayops_backends.torch._dtypes import _DOUBLE_OF, result_type
from xarrayops_backends.torch._precision import has_overflowed as _has_overflowed
from xarrayops_backends.torch._standard.wide import WIDE, _rank, _unrank
from xarrayops_backends.torch._tracing import has_values, is_traced, transforms

_Axes = int | tuple[int, ...] | None
_REAL = (torch.float32, torch.float64)
_HALVES = (torch.float16, torch.bfloat16)
_SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)


def _of_dtypes(*dtypes: torch.dtype) -> Callable[[Call], str | None]:
    """The capability test of a kernel for some dtypes of its arrays."""

    def refusal(call: Call, /) -> str | None:
        for x in call.args:
            if isinstance(x, torch.Tensor) and x.dtype not in dtypes:
                return f"it has no code for {x.dtype}"
        return None

    return refusal


_of_reals = _of_dtypes(*_REAL)
_of_floats = _of_dtypes(*_REAL, *_HALVES)
_of_numbers = _of_dtypes(*_REAL, *_SIGNED)


def _above(values: Array, low: Array, position: int | Array) -> Array:
    """The element of each row at a position in the sorted order: ``low`` or the next one."""
    column = low.unsqueeze(-1)
    is_low = torch.sum(values <= column, -1) > position
    return torch.where(is_low, low, torch.amin(torch.where(values > column, values, math.inf), -1))


def _selectable(call: Call, /) -> str | None:
    """Why the kernels that select one element of each row cannot serve a call."""
    x = call.args[0]
    if x.is_cuda:
        return "a sort takes fewer kernels"
    return _of_reals(call) or ("x has no elements" if not x.numel() else None)


def _selectable_quantile(call: Call, /) -> str | None:
    if isinstance(call.args[1], torch.Tensor):
        return "it selects one quantile, and q is an array"
    if not call.args[0].is_cpu:
        return "a sort is faster on an accelerator"
    return _selectable(call)


def _median(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """torch.median gives the lower one of the two values in the middle."""
    flat = common.rows(aac, x, axis, keepdims=keepdims)
    n, low = flat.values.shape[-1], torch.median(flat.values, -1).values
    found = low if n % 2 else quantiles.middle(aac, low, _above(flat.values, low, n // 2))
    return torch.where(torch.isnan(low), low, found).reshape(flat.shape)


def _nanmedian(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """torch.nanmedian gives the lower one of the two values in the middle."""
    flat = common.rows(aac, x, axis, keepdims=keepdims)
    low = torch.nanmedian(flat.values, -1).values
    count = torch.sum(~torch.isnan(flat.values), -1)
    found = quantiles.middle(aac, low, _above(flat.values, low, count // 2))
    return torch.where(count % 2 == 1, low, found).reshape(flat.shape)


def _quantile(x: Array, /, q: float, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """Selection instead of a sort: torch.kthvalue for the element below, and the least element above it."""
    quantiles.require_method(method)
    quantiles.require_probability(q)
    flat = common.rows(aac, x, axis, keepdims=keepdims)
    first, second, weight = quantiles.neighbours(math, flat.values.shape[-1], float(q), method)
    low = torch.kthvalue(flat.values, int(first) + 1, -1).values
    found = low
    if weight is not None and second > first:
        found = quantiles.between(aac, low, _above(flat.values, low, int(second)), weight)
    is_nan = torch.isnan(flat.values).any(-1)
    return torch.where(is_nan, math.nan, found).reshape(flat.shape)


def _percentile(x: Array, /, q: float, **options: Any) -> Array:
    """See `_quantile`."""
    return _quantile(x, q / 100, **options)


_PADDED = {"constant": "constant", "edge": "replicate", "reflect": "reflect"}
"""NumPy's names of modes and PyTorch's."""


def _paddable(call: Call, /) -> str | None:
    """Why torch.nn.functional.pad cannot serve a call."""
    x, width, mode = (*call.args, "constant")[:3]
    if x.ndim < 2:
        return "a concatenation is as fast along one axis"
    if mode not in _PADDED or call.kwargs["reflect_type"] != "even":
        return f"it has no code for mode={mode!r}"
    if not isinstance(call.kwargs["constant_values"], int | float):
        return "the values differ by side"
    if not x.numel():
        return "x has no elements"
    widths = padding.pad_widths(x, width, mode)
    if _padded_axes(x, widths) not in (2, 3):
        return "it pads the last two or three axes"
    if mode == "reflect" and any(max(w) >= n for w, n in zip(widths, x.shape, strict=True)):
        return "the values repeat"
    return _of_reals(call)


def _padded_axes(x: Array, widths: list[tuple[int, int]]) -> int:
    """The number of axes from the first one that is padded."""
    return x.ndim - next((axis for axis, width in enumerate(widths) if width != (0, 0)), x.ndim)


def _pad(x: Array, /, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, **options: Any) -> Array:
    """All padded axes in one pass; the axes before them become one."""
    widths = padding.pad_widths(x, pad_width, mode)
    count = _padded_axes(x, widths)
    images = x.reshape(-1, *x.shape[-count:])
    amounts = [n for width in reversed(widths[-count:]) for n in width]
    padded = torch.nn.functional.pad(images, amounts, _PADDED[mode], constant_values if mode == "constant" else None)
    return padded.reshape(*x.shape[:-count], *padded.shape[1:])


_LONG = 4096
"""The number of elements of a row from which selection, row by row, is faster than one sort."""


def _selectable_nanquantile(call: Call, /) -> str | None:
    if (reason := _selectable_quantile(call)) is not None:
        return reason
    if is_traced() or transforms():
        return "it looks at values, which traced arrays do not have"
    x = call.args[0]
    length = math.prod(x.shape[a] for a in common.normal_axes(call.kwargs["axis"], x.ndim))
    return None if length >= _LONG else f"one sort is faster for rows of less than {_LONG} elements"


def _nanquantile(x: Array, /, q: float, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """As `_quantile`, among the numbers of each row: their count determines which element is selected."""
    flat = common.rows(aac, x, axis, keepdims=keepdims)
    is_number = ~torch.isnan(flat.values)
    if is_number.all():
        return _quantile(x, q, axis=axis, method=method, keepdims=keepdims)
    n = flat.values.shape[-1]
    numbers = (row[chosen] for row, chosen in zip(flat.values.reshape(-1, n), is_number.reshape(-1, n), strict=True))
    nan = x.new_full((), math.nan)
    found = [_quantile(row, q, method=method) if row.numel() else nan for row in numbers]
    return torch.stack(found).reshape(flat.shape)


def _nanpercentile(x: Array, /, q: float, **options: Any) -> Array:
    """See `_nanquantile`."""
    return _nanquantile(x, q / 100, **options)


def _places(ids: Array, count: int) -> Array:
    """The ids, from 1; those out of range get the places before and after all others."""
    return ids.to(torch.int64).clamp(-1, count) + 1


def bincount(x: Array, /, weights: Array | None = None, *, minlength: int = 0, length: int | None = None) -> Array:
    """torch.bincount has no fixed length, which a compiled function needs, and no gradient of the weights."""
    counting.require_counts(aac, x, weights, minlength, length)
    x = x.to(torch.int64)
    if length is None and torch.compiler.is_compiling():
        raise counting.length_unknown("length")
    if weights is None and (x.is_cpu or length is None) and not is_traced() and not x.is_meta:
        return _counts(x, minlength, length)  # on a GPU it waits for the greatest value
    if length is None:
        if x.numel() and counting.known(x.min(), "length") < 0:
            raise ValueError("x has negative values")
        length = max(int(x.max()) + 1 if x.numel() else 0, minlength)
    if weights is None:
        weights = torch.ones((), dtype=torch.int64, device=x.device).expand(x.shape)
    elif not (weights.is_floating_point() or weights.is_complex()):
        weights = weights.to(torch.get_default_dtype())
    dtype = weights.dtype
    weights = weights.to(_DOUBLE_OF.get(dtype, dtype))
    total = torch.zeros(length + 2, dtype=weights.dtype, device=x.device)
    return total.scatter_add(0, _places(x, length), weights)[1:-1].to(dtype)


def _counts(x: Array, minlength: int, length: int | None) -> Array:
    try:
        if length is None:
            return torch.bincount(x, minlength=minlength)
        if x.numel() and int(x.max()) >= length:
            x = x.clamp(max=length)
        return torch.bincount(x, minlength=length)[:length]
    except RuntimeError as error:
        if "non-negative" in str(error):
            raise ValueError("x has negative values") from error
        raise


def _segmentable(call: Call, /) -> str | None:
    """Why the kernels of segments cannot serve a call.

    Raises for a length that depends on values while Dynamo traces, for all dtypes: its own error names no option.
    """
    if call.kwargs.get("num_segments", (*call.args, None)[2]) is None and torch.compiler.is_compiling():
        raise counting.length_unknown("num_segments")
    return _of_numbers(call)


def _segmented(reduce: str, start: Callable[[torch.dtype], Any]) -> Callable[..., Array]:
    """The elements of each segment combined by a reduction of torch.scatter_reduce."""

    def function(x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
        count = counting.segments(aac, x, segment_ids, num_segments)
        ids, dtype = _places(segment_ids, count), x.dtype
        x = x.to(_DOUBLE_OF.get(dtype, dtype)) if reduce == "sum" else x
        result = torch.full((count + 2, *x.shape[1:]), start(x.dtype), dtype=x.dtype, device=x.device)
        if x.ndim > 1 and reduce == "sum":
            return result.index_add(0, ids, x)[1:-1].to(dtype)
        ids = ids.reshape(-1, *(1,) * (x.ndim - 1)).expand(x.shape)
        if reduce == "sum":
            return result.scatter_add(0, ids, x)[1:-1].to(dtype)
        return result.scatter_reduce(0, ids, x, reduce)[1:-1]

    return function


_segment_sum = _segmented("sum", lambda dtype: 0)


def _segment_mean(x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
    """The sums divided by the numbers of elements, which are counted as integers."""
    count = counting.segments(aac, x, segment_ids, num_segments)
    sizes = _segment_sum(torch.ones_like(segment_ids, dtype=torch.int64), segment_ids, count)
    dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    total = _segment_sum(x.to(_DOUBLE_OF.get(dtype, dtype)), segment_ids, count)
    return (total / sizes.reshape(-1, *(1,) * (x.ndim - 1))).to(dtype)


def _least(dtype: torch.dtype) -> Any:
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _greatest(dtype: torch.dtype) -> Any:
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


def _convolved(call: Call, /) -> str | None:
    x1, x2 = call.args[:2]
    if x1.dtype != x2.dtype or not all(x.ndim == 1 and x.numel() for x in (x1, x2)):
        return "the vectors have two dtypes, or no elements"
    if x1.device.type != "cpu":
        return "convolutions of float32 may be approximate on this device"
    short = x2 if x1.shape[0] >= x2.shape[0] else x1
    if not is_traced() and not transforms() and not torch.isfinite(short).all():
        return "it multiplies zeros at both ends by values that are not finite"
    return _of_reals(call)


_TERMS = 256
"""The products that are added one after the other, well within the bound of sums."""


def _full(x1: Array, x2: Array) -> Array:
    """All products, by torch.conv1d, which does not reverse its kernel, and adds one product after the other."""
    size = x1.shape[0] + x2.shape[0] - 1
    parts = []
    for start in range(0, x2.shape[0], _TERMS):
        kernel = x2[start : start + _TERMS].flip(0)[None, None]
        part = torch.conv1d(x1[None, None], kernel, padding=kernel.shape[-1] - 1)[0, 0]
        parts.append(torch.nn.functional.pad(part, (start, size - start - part.shape[0])))
    if len(parts) == 1:
        return parts[0]
    wide = _DOUBLE_OF.get(x1.dtype, x1.dtype)
    return reduce(torch.add, [part.to(wide) for part in parts]).to(x1.dtype)


def _convolve(x1: Array, x2: Array, /, mode: str = "full") -> Array:
    return signal.convolved(_full, x1, x2, mode)


def _correlate(x1: Array, x2: Array, /, mode: str = "valid") -> Array:
    return signal.correlated(_full, x1, x2, mode, lambda x: x.flip(0))


def _topk(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    values, indices = torch.topk(x, k, order.require_count(x, k, axis), largest, True)
    return values, indices


def sliding_window_view(x: Array, /, window_shape: Any, axis: Any = None, *, step: Any = 1) -> Array:
    """Tensor.unfold of each axis, which puts the window last."""
    for window in shaping.windows(x, window_shape, axis, step):
        x = x.unfold(*window)
    return x


def _softmax(x: Array, /, *, axis: int = -1) -> Array:
    return torch.softmax(x, axis)


def _log_softmax(x: Array, /, *, axis: int = -1) -> Array:
    return torch.log_softmax(x, axis)


def _of_one_axis(call: Call, /) -> str | None:
    is_one = isinstance(call.kwargs["axis"], int) and call.args[0].ndim > 0
    return _of_reals(call) if is_one else "torch.softmax takes one axis"


def _is_ranked(call: Call, /) -> str | None:
    """Why a selection of elements needs no ranks."""
    return None if any(x.dtype in WIDE for x in call.args) else "masks select elements of this dtype"


def _ranked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The generic function for signed integers in the same order: CUDA has no masks for wide unsigned integers."""

    def selected(*arrays: Array, **options: Any) -> Any:
        dtype = result_type(*(x for x in arrays if x.dtype is not torch.bool))
        given = [x if x.dtype is torch.bool else _rank(x.to(dtype)) for x in arrays]
        found = function(backend_by_name("torch").namespace, *given, **options)
        return _unrank(found, dtype) if isinstance(found, torch.Tensor) else (_unrank(found[0], dtype), *found[1:])

    return selected


def _interp(
    x: Array, points: Array, values: Array, /, *, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """A lerp of the neighbouring values, which gives each of them at its point, and the outer ones beyond."""
    first, last = points[0], points[-1]
    inside = torch.clamp(x, first, last)
    low = torch.searchsorted(points[1:-1], inside.detach(), right=True)
    high, start = low + 1, points[low]
    found = torch.lerp(values[low], values[high], (inside - start) / (points[high] - start))
    if left is not None:
        found = torch.where(x < first, left, found)
    return found if right is None else torch.where(x > last, right, found)


def _interpolable(call: Call, /) -> str | None:
    """Why the interpolation by torch.lerp cannot serve a call: all points increase, and no difference overflows."""
    _, points, values = call.args
    if call.kwargs.get("period") is not None:
        return "it has no period"
    if not all(isinstance(a, torch.Tensor) and a.dtype is points.dtype and has_values(a) for a in call.args):
        return "it reads the points of tensors of one dtype"
    if points.dtype not in _REAL or not points.is_cpu or points.ndim != 1 or points.shape != values.shape:
        return "it takes vectors of points and values in float32 or float64 on the CPU"
    p, v = (a.detach().resolve_neg().numpy() for a in (points, values))  # checked in half of PyTorch's time
    most = torch.finfo(points.dtype).max
    outer = [y for y in (call.kwargs.get("left"), call.kwargs.get("right")) if y is not None]
    if not all(type(y) in (int, float) and abs(y) <= most for y in outer):
        return "it takes finite numbers of the dtype as left and right"
    if len(p) < 2 or not (p[1:] > p[:-1]).all() or not float(p[-1]) - float(p[0]) <= most:
        return "the points do not increase, or their distance is not finite"
    return None if float(v.max()) - float(v.min()) <= most else "a value or the difference of two is not finite"


PAD_CANDIDATES = [("pad", _pad, _paddable)]
MEDIAN_CANDIDATES = [("selection", _median, _selectable)]
NANMEDIAN_CANDIDATES = [("selection", _nanmedian, _selectable)]
QUANTILE_CANDIDATES = [("selection", _quantile, _selectable_quantile)]
PERCENTILE_CANDIDATES = [("selection", _percentile, _selectable_quantile)]
NANQUANTILE_CANDIDATES = [("selection", _nanquantile, _selectable_nanquantile)]
NANPERCENTILE_CANDIDATES = [("selection", _nanpercentile, _selectable_nanquantile)]
SEGMENT_SUM_CANDIDATES = [("scatter", _segment_sum, _segmentable)]
SEGMENT_MEAN_CANDIDATES = [("scatter", _segment_mean, _segmentable)]
SEGMENT_MAX_CANDIDATES = [("scatter", _segmented("amax", _least), _segmentable)]
SEGMENT_MIN_CANDIDATES = [("scatter", _segmented("amin", _greatest), _segmentable)]
INTERSECT1D_CANDIDATES = [("ranks", _ranked(sets.intersect1d), _is_ranked)]
SETDIFF1D_CANDIDATES = [("ranks", _ranked(sets.setdiff1d), _is_ranked)]
SETXOR1D_CANDIDATES = [("ranks", _ranked(sets.setxor1d), _is_ranked)]
COMPRESS_CANDIDATES = [("ranks", _ranked(shaping.compress), _is_ranked)]
CONVOLVE_CANDIDATES = [("conv1d", _convolve, _convolved), _devices.CONVOLVE]
CORRELATE_CANDIDATES = [("conv1d", _correlate, _convolved), _devices.CORRELATE]
ISCLOSE_CANDIDATES, ALLCLOSE_CANDIDATES = [_devices.ISCLOSE], [_devices.ALLCLOSE]
LOGSUMEXP_CANDIDATES, POLYVAL_CANDIDATES = [_devices.LOGSUMEXP], [_devices.POLYVAL]
TOPK_CANDIDATES = [("topk", _topk, _of_numbers)]


def _nan_to_num(x: Array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Array:
    return torch.nan_to_num(x, nan, posinf, neginf)


def _replaceable(call: Call, /) -> str | None:
    for name, number in call.kwargs.items():
        if type(number) not in (int, float) and (number is not None or name == "nan"):
            return "it replaces them by numbers"
    return _of_floats(call)


def _nansum(x: Array, /, *, axis: _Axes = None, dtype: None = None, keepdims: bool = False) -> Array:
    """torch.nansum, again in double precision if it overflows, as `sum` does."""
    axes = common.checked_axes(axis, x.ndim)
    total = torch.nansum(x, axes, keepdim=keepdims)
    if x.dtype is torch.float32 and _has_overflowed(total):
        return torch.nansum(x, axes, keepdim=keepdims, dtype=torch.float64).to(torch.float32)
    return total


def _summable(call: Call, /) -> str | None:
    if call.kwargs.get("dtype") is not None or call.kwargs.get("axis") == ():
        return "it has no dtype of the sum, and takes no axes for all axes"
    return _of_reals(call)


NAN_TO_NUM_CANDIDATES = [("nan_to_num", _nan_to_num, _replaceable)]
NANSUM_CANDIDATES = [("nansum", _nansum, _summable)]
INTERP_CANDIDATES = [("lerp", _interp, _interpolable), _devices.INTERP]
SOFTMAX_CANDIDATES = [("softmax", _softmax, _of_one_axis)]
LOG_SOFTMAX_CANDIDATES = [("log_softmax", _log_softmax, _of_one_axis)]
SIGMOID_CANDIDATES = [("sigmoid", torch.sigmoid, _of_reals)]
ERF_CANDIDATES = [("erf", torch.erf, _of_reals)]
