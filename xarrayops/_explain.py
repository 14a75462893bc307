"""explain: what a call would do, and why."""

from __future__ import annotations

from typing import Any

from xarrayops import _default, registry
from xarrayops._exchange import explain_convert
from xarrayops._explanation import Candidate, Explanation
from xarrayops._namespace import MAIN_NAMESPACE_ALIASES, candidates
from xarrayops._surface import SURFACE
from xarrayops.dispatch import array_arguments, common_backend, signature
from xarrayops.errors import Unsupported
from xarrayops.plugin import Call, gap_of
from xarrayops.registry import Backend

CREATION = frozenset(
    (
        *("arange", "asarray", "empty", "eye", "from_dlpack", "full", "linspace", "ones", "zeros"),
        *("fft.fftfreq", "fft.rfftfreq"),
    )
)
"""The functions that take ``like=`` and ``backend=``."""


def explain(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """What a call would run, what was rejected and why, and what would be copied; nothing runs.

    Parameters
    ----------
    verb : str
        The verb as users write it: "matmul", "linalg.det", "convert" …
    *args, **kwargs
        The arguments that the verb would be called with.

    Returns
    -------
    Explanation

    Raises
    ------
    Unsupported
        No verb has that name. Errors of the call itself (mixed libraries, no array) are raised as it would raise them.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.explain("convert", np.zeros(3), "numpy").action
    'zero-copy'
    >>> print(xo.explain("matmul", np.eye(2), np.eye(2)))
    matmul: numpy serves its own arrays
        candidate     can  why
    ->  numpy:matmul  yes  the library's own function, completed by the backend
    """
    if verb == "convert":
        return explain_convert(*args, **kwargs)
    if verb in MAIN_NAMESPACE_ALIASES:
        verb = verb.removeprefix("linalg.")
    if verb not in SURFACE and verb != "einsum":
        from difflib import get_close_matches

        near = get_close_matches(verb, [*SURFACE, "convert", "einsum"], n=1)
        raise Unsupported(f"xo.explain knows no verb {verb!r}{f'; did you mean {near[0]!r}?' if near else '.'}")
    backend = _serving(verb, args, kwargs)
    listed = _kernels(backend, verb, Call(args, kwargs))
    chosen = next((c.name for c in listed if c.ok), None)
    summary = f"{backend.name} serves its own arrays" if chosen else f"{backend.name} cannot serve this call"
    return Explanation(verb, summary, tuple(listed), chosen)


def _serving(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Backend:
    """The backend of a call; of a creation function as ``like=``, ``backend=`` or the default say."""
    like, name = (kwargs.pop(option, None) for option in ("like", "backend")) if verb in CREATION else (None, None)
    signature(verb).bind(*args, **kwargs)
    arguments = dict(array_arguments(verb, args, kwargs))
    if verb not in CREATION or (arguments and like is None and name is None):
        return common_backend(verb, arguments)
    return registry.backend_by_name(name or _default.current()[0]) if like is None else registry.backend_of(like)


def _kernels(backend: Backend, verb: str, call: Call) -> list[Candidate]:
    kernels = candidates(backend.module, verb)
    if kernels:
        reasons = [(name, can(call)) for name, _, can in kernels]
        return [Candidate(f"{backend.name}:{name}", reason is None, reason or "") for name, reason in reasons]
    function = backend.functions[verb]
    gap = gap_of(function)
    if gap is not None:
        return [Candidate(f"{backend.name}:{verb}", False, str(gap))]
    own = getattr(function, "__module__", None) or ""
    completed = own.startswith(backend.module.__name__)
    reason = "the library's own function, completed by the backend" if completed else "the library's own function"
    return [Candidate(f"{backend.name}:{verb}", True, reason)]
