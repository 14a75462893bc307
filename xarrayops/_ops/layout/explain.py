"""explain for the layout verbs."""

from __future__ import annotations

from typing import Any

from xarrayops import standard
from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.engines.explaining import with_engines
from xarrayops._ops.explained import explain_call, explain_with_dry_run
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._ops.layout.layout import as_strided, axes_by_format, axes_by_order, pin_memory
from xarrayops._ops.layout.relayout import LayoutForecast, forecast
from xarrayops.plugin.arrays import Array


def explain_contiguous(verb: str, /, x: Array, order: str = "C") -> Explanation:
    """Explain whether `contiguous` would copy."""
    backend = find.one_of(verb, {"x": x})
    return _explain_order(verb, backend, x, _forecast_of_order(backend, x, axes_by_order(x, order)))


def explain_relayout(verb: str, /, x: Array, pattern: str, *, channels: int | None = None) -> Explanation:
    """Explain whether `relayout` would copy. It changes the shape, so it also supports libraries without strides."""
    backend = find.one_of(verb, {"x": x})
    found = _explain_order(verb, backend, x, forecast(backend, x, pattern, channels), needs_strides=False)
    return with_engines(found, backend, (x,), {}) if found.action == "copy" else found


def explain_with_memory_format(verb: str, x: Array, memory_format: str, /) -> Explanation:
    """Explain whether `with_memory_format` would copy."""
    backend = find.one_of(verb, {"x": x})
    return _explain_order(verb, backend, x, _forecast_of_order(backend, x, axes_by_format(backend, x, memory_format)))


def explain_as_strided(verb: str, /, x: Array, shape: Any, strides: Any, offset: Any = 0) -> Explanation:
    """Explain `as_strided`. A dry run, which makes a view and reads no elements, shows whether these strides fail."""
    found = explain_call(verb, x, shape, strides, offset)
    return explain_with_dry_run(found, lambda: as_strided(x, shape, strides, offset))


def explain_pin_memory(verb: str, /, x: Array) -> Explanation:
    """Explain `pin_memory`. A dry run on an empty slice of x, which copies nothing, shows whether it fails."""
    return explain_with_dry_run(explain_call(verb, x), lambda: pin_memory(standard.expand_dims(x, axis=0)[:0, ...]))


def _forecast_of_order(backend: Backend, x: Array, axes: tuple[int, ...]) -> LayoutForecast:
    """The forecast for a verb that makes x C-contiguous after a permutation of its axes."""
    memory, keeps_axes = backend.functions["memory"](x), axes == tuple(range(x.ndim))
    if memory is None:
        return LayoutForecast(keeps_axes, False, None)
    return LayoutForecast(keeps_axes, memory.permuted(axes).is_compact, memory.nbytes)


def _explain_order(
    verb: str, backend: Backend, x: Array, found: LayoutForecast, *, needs_strides: bool = True
) -> Explanation:
    """Explain whether a verb that reorders the elements of x would copy them."""
    gap, has_memory = backend.no_strides, found.nbytes is not None
    name = f"{backend.name}:{verb}"
    if gap is not None and needs_strides and not found.keeps_axes:
        return Explanation(verb, f"{backend.name} cannot serve this call", (Candidate(name, False, str(gap)),), None)
    unchanged = not has_memory and found.keeps_axes and (gap is not None or not x.shape)
    if unchanged and backend.functions["contiguous"](x) is x:
        action, nbytes, reason = "zero-copy", 0, "x exposes no memory, and its library returns x unchanged"
    elif not has_memory:
        action, nbytes, reason = "copy", None, "x exposes no memory, so its library decides the layout"
    elif found.is_view and (gap is None or found.keeps_axes):
        action, nbytes, reason = "zero-copy", 0, "x is already in this layout"
    else:
        action, nbytes, reason = "copy", found.nbytes, "the elements are in another order"
    copies = (f"copies {nbytes} bytes",) if nbytes else ()
    candidate = Candidate(name, True, reason, copies)
    return Explanation(verb, f"{action}: {reason}", (candidate,), name, action=action, nbytes=nbytes, reason=reason)
