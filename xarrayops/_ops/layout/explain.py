"""explain for the verbs of layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops import standard
from xarrayops._core.dispatch import require_one_backend
from xarrayops._core.registry import Backend
from xarrayops._ops.explanation import Candidate, Explanation, bound_arguments, explain_call, explain_tried
from xarrayops._ops.layout.layout import (
    as_strided,
    axes_by_format,
    axes_by_order,
    contiguous,
    pin_memory,
    with_memory_format,
)
from xarrayops._ops.layout.relayout import LayoutForecast, forecast, relayout
from xarrayops._protocol.devices import Memory
from xarrayops._protocol.types import Array

Predict = Callable[..., LayoutForecast]
"""What a call would do, from its backend, x, its memory and the other arguments."""


def explain_contiguous(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Whether `contiguous` would copy."""
    bound = bound_arguments(verb, contiguous, args, kwargs)
    return _explain_order(verb, _in_order_of(axes_by_order), *bound.args, **bound.kwargs)


def explain_relayout(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Whether `relayout` would copy; it changes the shape, and so serves libraries without strides, too."""
    bound = bound_arguments(verb, relayout, args, kwargs)
    return _explain_order(verb, forecast, *bound.args, **bound.kwargs, needs_strides=False)


def explain_with_memory_format(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Whether `with_memory_format` would copy."""
    bound = bound_arguments(verb, with_memory_format, args, kwargs)
    return _explain_order(verb, _in_order_of(axes_by_format), *bound.args, **bound.kwargs)


def explain_as_strided(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """What serves `as_strided`; an attempt, which gives a view and reads nothing, finds refusals of these strides."""
    bound = bound_arguments(verb, as_strided, args, kwargs)
    bound.apply_defaults()
    return explain_tried(explain_call(verb, *bound.args), lambda: as_strided(*bound.args))


def explain_pin_memory(verb: str, /, x: Array) -> Explanation:
    """What serves `pin_memory`; an attempt on none of its elements, which copies nothing, finds refusals."""
    return explain_tried(explain_call(verb, x), lambda: pin_memory(standard.expand_dims(x, axis=0)[:0, ...]))


def _explain_order(
    verb: str, predict: Predict, x: Array, /, *args: Any, needs_strides: bool = True, **kwargs: Any
) -> Explanation:
    """Whether a verb that brings the elements of x into an order would copy them."""
    backend = require_one_backend(verb, {"x": x})
    memory, gap = backend.functions["memory"](x), backend.no_strides
    name = f"{backend.name}:{verb}"
    found = predict(backend, x, memory, *args, **kwargs)
    if gap is not None and needs_strides and not found.idle:
        return Explanation(verb, f"{backend.name} cannot serve this call", (Candidate(name, False, str(gap)),), None)
    kept = memory is None and found.idle and (gap is not None or not x.shape)
    if kept and backend.functions["contiguous"](x) is x:
        action, nbytes, reason = "zero-copy", 0, "x shows no memory, and its library leaves it as it is"
    elif memory is None:
        action, nbytes, reason = "copy", None, "x shows no memory, so its library lays it out"
    elif found.stays and (gap is None or found.idle):
        action, nbytes, reason = "zero-copy", 0, "x is already in this layout"
    else:
        action, nbytes, reason = "copy", found.nbytes, "the elements are in another order"
    copies = (f"copies {nbytes} bytes",) if nbytes else ()
    candidate = Candidate(name, True, reason, copies)
    return Explanation(verb, f"{action}: {reason}", (candidate,), name, action=action, nbytes=nbytes, reason=reason)


def _in_order_of(axes: Callable[..., tuple[int, ...]]) -> Predict:
    """What a verb would do that brings elements into C order of the axes that a function gives."""

    def predict(backend: Backend, x: Array, memory: Memory | None, /, *args: Any, **kwargs: Any) -> LayoutForecast:
        order = axes(backend, x, *args, **kwargs)
        idle = order == tuple(range(x.ndim))
        if memory is None:
            return LayoutForecast(idle, False, None)
        return LayoutForecast(idle, memory.permuted(order).is_compact, memory.nbytes)

    return predict
