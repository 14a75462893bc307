"""explain("attention", ...)."""

from __future__ import annotations

from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.entry_points import names
from xarrayops._core.backends.registry import Backend, by_module
from xarrayops._ops.attention.verb import attention, checked, kernels, named, require_one_library
from xarrayops._ops.engines.explaining import candidates_of, with_engines
from xarrayops._ops.explanation import Explanation, candidates, chosen_name
from xarrayops.plugin.attention import Attention
from xarrayops.plugin.candidates import Call


def explain_attention(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain which kernel `attention` would run."""
    from inspect import signature  # a quarter of the time of `import xarrayops`

    bound = signature(attention).bind(*args, **kwargs)
    bound.apply_defaults()
    options = bound.arguments
    implementation = options.pop("implementation")
    require_one_library(*(options[name] for name in ("q", "k", "v", "mask", "bias", "q_lengths", "kv_lengths")))
    a = checked(*options.values())
    own = find.of(a.q)
    if implementation is not None:
        return _of_implementation(verb, own, a, implementation)
    listed = tuple(
        each._replace(reason=_OF_GENERIC) if each.ok and each.name.endswith(":generic") else each
        for each in candidates(own.name, kernels(own), Call((a,), {}))
    )
    first = chosen_name(listed)
    found = with_engines(Explanation(verb, _summary(first), listed, first), own, (a,), {})
    suggestion = _unused_engines(a, own) if found.chosen == f"{own.name}:generic" else ""
    return found._replace(summary=f"{found.summary}; {suggestion}") if suggestion else found


_OF_GENERIC = "the generic function, written with functions of the standard"


def _summary(chosen: str | None) -> str:
    return f"{chosen} serves this call" if chosen else "no permitted kernel supports this call"


def _of_implementation(verb: str, own: Backend, a: Attention, implementation: str) -> Explanation:
    """The explanation of a call with ``implementation=``."""
    engine, kernel = named(own, implementation)
    if engine is own:
        listed = candidates(own.name, [kernel], Call((a,), {}))
    else:
        listed = tuple(c for c in candidates_of(verb, own, engine, (a,), {}) if c.name == implementation)
    first = chosen_name(listed)
    return Explanation(verb, _summary(first), listed, first)


def _unused_engines(a: Attention, own: Backend) -> str:
    """A clause for `explain`: inactive engines that could serve arrays whose own library has no kernel.

    Libraries that are not imported are only named: importing one may take seconds and device memory.
    """
    from importlib.util import find_spec

    loaded = {backend.name: backend for backend in by_module.values() if backend is not own}
    clauses = []
    for engine in loaded.values():
        if len(kernels(engine)) > 1:
            able = (c for c in candidates_of("attention", own, engine, (a,), {}) if c.ok)
            first = next((c.name for c in able if not c.copies), None)
            if first is not None:
                clauses.append(f'{first} can, without a copy, and is probably faster: with xo.engines("{engine.name}")')
    others = [name for name in names() if name not in loaded and name != own.name and find_spec(name)]
    if not clauses and others:
        clauses.append(f"xo.engines(name) allows the kernels of another installed library: {', '.join(others)}")
    return "; ".join(clauses)
