"""explain for convolutions and pooling."""

from __future__ import annotations

from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.convolution import convolution, pooling
from xarrayops._ops.convolution.arguments import FIRST, layout_of
from xarrayops._ops.engines.explain import with_engines
from xarrayops._ops.explained import bound_arguments, explain_served
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops.plugin.candidates import Call

_ARGUMENTS = ("stride", "padding", "dilation", "groups", "layout")


def explain_convolution(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """The kernels of the arrays' library and of the engines."""
    rank = int(verb[-2])
    given = _bound(verb, getattr(convolution, verb), args, kwargs)
    blocked = _of_blocks(verb, rank, given)
    if blocked is not None:
        return blocked
    arrays = (given[name] for name in ("x", "weights", "bias"))
    found = convolution.planned(verb, rank, *arrays, *(given[name] for name in _ARGUMENTS))
    return _explained(verb, "convolution", *found)


def explain_pooling(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """The kernels of the arrays' library and of the engines."""
    rank = int(verb[-2])
    given = {"dilation": 1} | _bound(verb, getattr(pooling, verb), args, kwargs)
    blocked = _of_blocks(verb, rank, given)
    if blocked is not None:
        return blocked
    kind: Any = "max" if verb.startswith("max") else "sum"
    arguments = (given[name] for name in ("x", "window", "stride", "padding", "dilation", "layout"))
    return _explained(verb, "pooling", *pooling.planned(verb, kind, rank, *arguments))


def _bound(verb: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    bound = bound_arguments(verb, function, args, kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _explained(verb: str, hook: str, backend: Backend, given: tuple[Any, ...]) -> Explanation:
    found = explain_served(verb, backend, Call(given, {}), hook=hook)._replace(verb=hook)
    return with_engines(found, backend, given, {})._replace(verb=verb)


def _of_blocks(verb: str, rank: int, given: dict[str, Any]) -> Explanation | None:
    """The explanation for blocks of channels, which are reordered; None for other layouts."""
    layout = given["layout"]
    if not layout_of(f"xo.{verb}", layout, rank).block:
        return None
    name = find.one_of(verb, {"x": given["x"]}).name
    reason = f"{layout} is reordered to {FIRST[rank]}, and the result is reordered back"
    listed = (Candidate(f"{name}:{verb}", True, reason, ("x: copy", "result: copy")),)
    return Explanation(verb, f"{name} serves its own arrays", listed, listed[0].name)
