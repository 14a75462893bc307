"""The explanations of calls that a function of a backend or of an engine serves."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.narrow_inputs import IN_SINGLE
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.arguments import array_arguments, signature
from xarrayops._core.dispatch.refused import wrong_call
from xarrayops._core.modes.limits import cost_of, excess, place_of
from xarrayops._ops.choices.block import current
from xarrayops._ops.engines.block import active
from xarrayops._ops.explanation import Candidate, Explanation, candidates, chosen_name
from xarrayops._surface import OWN
from xarrayops._system.texts import amount
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import gap_of
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.costs import RULES, Whole
from xarrayops.plugin.precision import widened


def explain_call(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain a standard function, or a verb that a hook serves: the candidates are those of the arrays' library.

    Each candidate checks the call that it would get: every argument, with native dtype and device.
    """
    hook = hook_of(verb)
    bound = signature(hook).bind(*args, **kwargs)
    backend = find.one_of(verb, dict(array_arguments(hook, args, kwargs)))
    bound.apply_defaults()
    for name, native in (("dtype", backend.native_dtype), ("device", backend.native_device)):
        if bound.arguments.get(name) is not None:
            bound.arguments[name] = native(bound.arguments[name])
    return explain_served(verb, backend, Call(bound.args, bound.kwargs))


def explain_served(verb: str, backend: Backend, call: Call, *, hook: str | None = None) -> Explanation:
    """The candidates of a backend for a verb, or for a hook that serves some of the verb's calls."""
    name, hook = hook or verb, hook or hook_of(verb)
    kernels = backend.kernels(hook)
    call = widened(call, backend.functions) if hook in IN_SINGLE else call
    if kernels:
        listed = candidates(backend.name, kernels, call, lambda: cost_of(hook, backend.functions[hook], call))
    else:
        listed = (_only(f"{backend.name}:{name}", backend, hook, call),)
    chosen = chosen_name(listed)
    found = Explanation(verb, _summary(backend.name, chosen), listed, chosen)
    if not active() and current() is None:
        return found
    from xarrayops._ops.engines.explaining import with_engines
    from xarrayops._ops.engines.functions import OWN_LIBRARY_ONLY, SERVED

    may_be_served = hook in SERVED or hook in OWN_LIBRARY_ONLY
    return with_engines(found, backend, call.args, call.kwargs) if may_be_served else found


def _only(name: str, backend: Backend, hook: str, call: Call) -> Candidate:
    """The one candidate of a library, with what it moves and holds if arrays of the call are split."""
    function = backend.functions[hook]
    gap = gap_of(function)
    if gap is not None:
        return Candidate(name, False, str(gap))
    try:
        cost = cost_of(hook, function, call)
    except Unsupported as error:  # of a function that makes its results first
        return Candidate(name, False, str(error))
    if cost is None:
        return _planned(name, backend, hook, call)
    is_gathering = isinstance(RULES.get(hook), Whole)
    is_limited = is_gathering or hasattr(function, "rule")
    reason = excess(hook, function, call, cost) if is_limited else None
    gathers = f"; gathers {amount(cost.moves)} {place_of(hook, call)}" if is_gathering and cost.moves else ""
    return Candidate(name, reason is None, reason or f"{backend.origins[hook]}{gathers}").costing(cost)


def _planned(name: str, backend: Backend, hook: str, call: Call) -> Candidate:
    """The only candidate of a library, with what the library knows about the memory of the call."""
    try:
        plan = backend.functions["planned"](backend.functions[hook], call)
    except Unsupported as error:
        return Candidate(name, False, str(error))
    return Candidate(name, True, "; ".join(filter(None, (backend.origins[hook], plan))))


def explain_with_dry_run(found: Explanation, dry_run: Callable[[], Any]) -> Explanation:
    """The explanation, corrected by a dry run, which does not copy or read elements.

    For verbs that may reject a call because of the values of its arguments.
    """
    if found.chosen is None:
        return found
    try:
        dry_run()
    except Unsupported as error:
        library, _, _ = found.chosen.partition(":")
        refused = tuple(c._replace(ok=False, reason=str(error)) for c in found.candidates)
        return Explanation(found.verb, _summary(library, None), refused, None)
    return found


def refuse_wrong_arguments(
    verb: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Raise the error of the call itself if it has arguments of NumPy's function that ours does not take."""
    from inspect import signature as signature_of  # imported here: it takes a quarter of `import xarrayops`

    inner = getattr(function, "__wrapped__", None)  # of `explaining_arrays`; others hide the refused parameters
    whole = signature_of(inner if isinstance(inner, FunctionType) else function, follow_wrapped=False)
    refused = [name for name, parameter in whole.parameters.items() if parameter.annotation == "Refused"]
    try:
        bound = whole.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"xo.{verb}: {error}") from None
    bound.apply_defaults()
    given = bound.arguments
    if any(given[name] is not whole.parameters[name].default for name in refused):
        raise wrong_call(verb, given)


def hook_of(verb: str) -> str:
    """The name of the backend's function that serves a verb."""
    return OWN.get(verb) or verb


def _summary(library: str, chosen: str | None) -> str:
    return f"{library} serves its own arrays" if chosen else f"{library} cannot serve this call"
