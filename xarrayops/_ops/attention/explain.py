"""explain("attention", ...)."""

from __future__ import annotations

from typing import Any

from xarrayops._core.backends import find
from xarrayops._ops import engines
from xarrayops._ops.attention.routes import candidates, named, routes, unused_engines
from xarrayops._ops.attention.verb import attention, checked, require_one_library
from xarrayops._ops.explanation import Explanation, chosen_name


def explain_attention(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """What `attention` would run, for `explain`."""
    from inspect import signature  # a quarter of the time of `import xarrayops`

    bound = signature(attention).bind(*args, **kwargs)
    bound.apply_defaults()
    options = bound.arguments
    implementation = options.pop("implementation")
    require_one_library(*(options[name] for name in ("q", "k", "v", "mask", "bias", "q_lengths", "kv_lengths")))
    a = checked(*options.values())
    own = find.of(a.q)
    found = routes(own, engines.active()) if implementation is None else [named(own, implementation)]
    listed = tuple(candidates(a, found))
    first = chosen_name(listed)
    summary = f"{first} serves this call" if first else "nothing that was allowed can serve this call"
    if first == f"{own.name}:generic" and implementation is None:
        suggestion = unused_engines(a, own)
        summary = f"{summary}; {suggestion}" if suggestion else summary
    return Explanation(verb, summary, listed, first)
