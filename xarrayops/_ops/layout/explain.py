"""explain for the layout verbs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops import standard
from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.engines.explain import with_engines
from xarrayops._ops.explained import bound_arguments, explain_call, explain_with_dry_run
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._ops.layout.layout import (
    as_strided,
    axes_by_format,
    axes_by_order,
    contiguous,
    pin_memory,
    with_memory_format,
)
from xarrayops._ops.layout.relayout import LayoutForecast, forecast, relayout
from xarrayops.plugin.arrays import Array, Memory

Predict = Callable[..., LayoutForecast]
"""A function that predicts a call from the backend, x, the memory of x and the other arguments."""


def explain_contiguous(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain whether `contiguous` would copy."""
    bound = bound_arguments(verb, contiguous, args, kwargs)
    return _explain_order(verb, _predict_order(axes_by_order), *bound.args, **bound.kwargs)


def explain_relayout(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain whether `relayout` would copy. It changes the shape, so it also supports libraries without strides."""
    bound = bound_arguments(verb, relayout, args, kwargs)
    found = _explain_order(verb, forecast, *bound.args, **bound.kwargs, needs_strides=False)
    x = bound.args[0]
    return with_engines(found, find.one_of(verb, {"x": x}), (x,), {}) if found.action == "copy" else found


def explain_with_memory_format(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain whether `with_memory_format` would copy."""
    bound = bound_arguments(verb, with_memory_format, args, kwargs)
    return _explain_order(verb, _predict_order(axes_by_format), *bound.args, **bound.kwargs)


def explain_as_strided(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain `as_strided`. A dry run, which makes a view and reads no elements, shows whether these strides fail."""
    bound = bound_arguments(verb, as_strided, args, kwargs)
    bound.apply_defaults()
    return explain_with_dry_run(explain_call(verb, *bound.args), lambda: as_strided(*bound.args))


def explain_pin_memory(verb: str, /, x: Array) -> Explanation:
    """Explain `pin_memory`. A dry run on an empty slice of x, which copies nothing, shows whether it fails."""
    return explain_with_dry_run(explain_call(verb, x), lambda: pin_memory(standard.expand_dims(x, axis=0)[:0, ...]))


def _explain_order(
    verb: str, predict: Predict, x: Array, /, *args: Any, needs_strides: bool = True, **kwargs: Any
) -> Explanation:
    """Explain whether a verb that reorders the elements of x would copy them."""
    backend = find.one_of(verb, {"x": x})
    memory, gap = backend.functions["memory"](x), backend.no_strides
    name = f"{backend.name}:{verb}"
    found = predict(backend, x, memory, *args, **kwargs)
    if gap is not None and needs_strides and not found.keeps_axes:
        return Explanation(verb, f"{backend.name} cannot serve this call", (Candidate(name, False, str(gap)),), None)
    unchanged = memory is None and found.keeps_axes and (gap is not None or not x.shape)
    if unchanged and backend.functions["contiguous"](x) is x:
        action, nbytes, reason = "zero-copy", 0, "x exposes no memory, and its library returns x unchanged"
    elif memory is None:
        action, nbytes, reason = "copy", None, "x exposes no memory, so its library decides the layout"
    elif found.is_view and (gap is None or found.keeps_axes):
        action, nbytes, reason = "zero-copy", 0, "x is already in this layout"
    else:
        action, nbytes, reason = "copy", found.nbytes, "the elements are in another order"
    copies = (f"copies {nbytes} bytes",) if nbytes else ()
    candidate = Candidate(name, True, reason, copies)
    return Explanation(verb, f"{action}: {reason}", (candidate,), name, action=action, nbytes=nbytes, reason=reason)


def _predict_order(axes: Callable[..., tuple[int, ...]]) -> Predict:
    """The prediction for a verb that makes x C-contiguous after the permutation that ``axes`` returns."""

    def predict(backend: Backend, x: Array, memory: Memory | None, /, *args: Any, **kwargs: Any) -> LayoutForecast:
        order = axes(backend, x, *args, **kwargs)
        keeps_axes = order == tuple(range(x.ndim))
        if memory is None:
            return LayoutForecast(keeps_axes, False, None)
        return LayoutForecast(keeps_axes, memory.permuted(order).is_compact, memory.nbytes)

    return predict
