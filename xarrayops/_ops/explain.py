"""explain: what a call would do, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xarrayops import standard
from xarrayops._core import default_backend, registry
from xarrayops._core.arguments import PUBLIC_NAMES, array_arguments, common_backend, signature
from xarrayops._core.creation import creation, creation_backend
from xarrayops._core.namespace import MAIN_NAMESPACE_ALIASES
from xarrayops._core.registry import SCALARS, Backend
from xarrayops._ops import at, dtypes
from xarrayops._ops.attention.explain import explain_attention
from xarrayops._ops.creation import _as_buffer, broadcast_shapes
from xarrayops._ops.exchange.convert import explain_convert
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._ops.layout.layout import LAID_OUT, as_strided, explain_layout, pin_memory
from xarrayops._protocol.candidates import Call, refusal
from xarrayops._protocol.surface import SURFACE
from xarrayops._protocol.types import Array, gap_of
from xarrayops.errors import Unsupported

if TYPE_CHECKING:
    import inspect

HOOK_OF = {verb: verb for verb in ("einsum", "as_strided", "pin_memory")} | {
    verb: hook for hook, verb in PUBLIC_NAMES.items()
}
"""The verbs beyond the standard that a hook serves."""
OF_DTYPES = frozenset(("can_cast", "finfo", "iinfo", "isdtype", "result_type"))
CREATION = frozenset(
    (
        *("arange", "asarray", "empty", "eye", "from_dlpack", "full", "linspace", "ones", "zeros"),
        *("fft.fftfreq", "fft.rfftfreq"),
    )
)
"""The functions that take ``like=`` and ``backend=``."""


def explain(verb: str | Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """What a call would run, what was rejected and why, and what would be copied; nothing runs.

    Parameters
    ----------
    verb : str or function
        The verb as users write it, "matmul", "linalg.det", "convert" …, or the function itself, ``xo.matmul``.
    *args, **kwargs
        The arguments that the verb would be called with. For "at" they are x, the index, the operation, the value, and
        ``copy=``: ``explain("at", x, index, "add", 1.0)`` explains ``at(x)[index].add(1.0)``.

    Returns
    -------
    Explanation

    Raises
    ------
    Unsupported
        No verb has that name. Errors of the call itself (mixed libraries, no array, an unknown dtype or device) are
        raised as it would raise them.

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
    if not isinstance(verb, str):
        verb = _name_of(verb)
    if verb == "convert":
        return explain_convert(*args, **kwargs)
    if verb == "attention":
        return explain_attention(*args, **kwargs)
    if verb.startswith("sparse."):
        from xarrayops._ops.sparse.explain import explain_sparse

        return explain_sparse(verb, *args, **kwargs)
    sparse = next(filter(None, map(registry.sparse_side, args)), None) if verb == "matmul" else None
    if sparse is not None:
        from xarrayops._ops.sparse.explain import explained

        return explained("matmul", sparse, "matmul", *args)
    if verb in LAID_OUT:
        bound = _bound(verb, LAID_OUT[verb][0], args, kwargs)
        return explain_layout(verb, *bound.args, **bound.kwargs)
    if verb in MAIN_NAMESPACE_ALIASES:
        verb = verb.removeprefix("linalg.")
    if verb not in SURFACE and verb not in HOOK_OF:
        from difflib import get_close_matches

        extended = [name for name in SURFACE if name.endswith(f".{verb}")]
        near = extended or get_close_matches(verb, [*SURFACE, *HOOK_OF, *LAID_OUT, "attention", "convert"], n=1)
        raise Unsupported(f"xo.explain knows no verb {verb!r}{f'; did you mean {near[0]!r}?' if near else '.'}")
    if verb == "broadcast_shapes":
        return _without_library(verb, *args)
    if verb in CREATION:
        backend, call = _creation_call(verb, *args, **kwargs)
        source = _source(verb, call.args[0])
        if source is not None and (verb == "from_dlpack" or registry.backend_of(source) is not backend):
            like = kwargs.get("like")
            where = {option: kwargs.get(option) for option in ("device", "copy")}
            return explain_convert(source, backend.name if like is None else like, **where)._replace(verb=verb)
    elif verb in OF_DTYPES:
        backend, call = _dtype_call(verb, *args, **kwargs)
    else:
        backend, call = _array_call(verb, args, kwargs)
    listed = _kernels(backend, verb, call)
    chosen = next((c.name for c in listed if c.ok), None)
    summary = f"{backend.name} serves its own arrays" if chosen else f"{backend.name} cannot serve this call"
    return Explanation(verb, summary, tuple(listed), chosen)


def _name_of(function: Callable[..., Any]) -> str:
    """The name of one of our functions, as users write it."""
    package, _, extension = getattr(function, "__module__", "").rpartition(".")
    name = getattr(function, "__name__", repr(function))
    if package.endswith("._sparse"):
        return f"sparse.{name}"
    return f"{extension}.{name}" if f"{extension}.{name}" in SURFACE else name


def _without_library(verb: str, *shapes: tuple[int, ...]) -> Explanation:
    broadcast_shapes(*shapes)
    candidate = Candidate(f"xarrayops:{verb}", True, "shapes are Python numbers, which need no library")
    return Explanation(verb, "no library is needed", (candidate,), candidate.name)


def _source(verb: str, x: Any) -> Any:
    """The array that asarray or from_dlpack would convert; None where the library takes x as it is."""
    if verb not in ("asarray", "from_dlpack") or type(x) in SCALARS or isinstance(x, (list, tuple)):
        return None
    if registry.register_conforming(x) is not None or registry.refusal(x) is not None:
        return x
    return _as_buffer(x) if verb == "asarray" else None


def _creation_call(
    verb: str, /, *args: Any, like: Any = None, backend: str | None = None, **kwargs: Any
) -> tuple[Backend, Call]:
    """What a creation function hands to its library: that of ``like=``, of ``backend=`` or the default."""
    bound = signature(verb).bind(*args, **kwargs)
    if verb == "asarray" and like is None and backend is None:
        found = dict(array_arguments(verb, args, kwargs))
        if found:
            common_backend(verb, found)
            like = next(iter(found.values()))
    _, dtype, device = creation(verb, like, backend, kwargs.get("dtype"), kwargs.get("device"))
    bound.apply_defaults()
    bound.arguments |= {n: v for n, v in (("dtype", dtype), ("device", device)) if n in bound.arguments}
    name = backend or (default_backend.current()[0] if like is None else None)
    return creation_backend(like, name), Call(bound.args, bound.kwargs)


def _dtype_call(verb: str, /, *args: Any, **kwargs: Any) -> tuple[Backend, Call]:
    bound = signature(verb).bind(*args, **kwargs)
    items = bound.args[:1] if verb == "isdtype" else bound.args
    backend = dtypes._backend(verb, *items)
    for item in items:
        if type(item) not in SCALARS and not dtypes._is_array(item):
            backend.native_dtype(item)
    return backend, Call(bound.args, bound.kwargs)


def _array_call(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Backend, Call]:
    """What a function hands to the library of its arrays: every argument, with native dtype and device."""
    inner = HOOK_OF.get(verb, verb)
    if verb == "at":
        kwargs = {"copy": None} | kwargs
    if verb == "as_strided":
        bound = _bound(verb, as_strided, args, kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, {}
    bound = signature(inner).bind(*args, **kwargs)
    if verb == "at":
        at.server(*bound.args)
    backend = common_backend(verb, dict(array_arguments(inner, args, kwargs)))
    bound.apply_defaults()
    for name, native in (("dtype", backend.native_dtype), ("device", backend.native_device)):
        if bound.arguments.get(name) is not None:
            bound.arguments[name] = native(bound.arguments[name])
    return backend, Call(bound.args, bound.kwargs)


def _bound(
    verb: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """The arguments in the places that they have in a function of ours."""
    from inspect import signature as signature_of

    try:
        return signature_of(function).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"xo.{verb}: {error}") from None


def _pin_nothing(x: Array) -> Array:
    """What pinning x would raise, raised for none of its elements: nothing is copied."""
    return pin_memory(standard.expand_dims(x, axis=0)[:0, ...])


TRIED: dict[str, Callable[..., Array]] = {"as_strided": as_strided, "pin_memory": _pin_nothing}
"""The verbs whose refusals hang on the values, and are found out by a call that copies nothing and reads nothing."""


def _tried(verb: str, candidate: Candidate, call: Call) -> Candidate:
    """The candidate, or why it cannot after all."""
    try:
        TRIED[verb](*call.args, **call.kwargs)
    except Unsupported as error:
        return candidate._replace(ok=False, reason=str(error))
    return candidate


def _kernels(backend: Backend, verb: str, call: Call) -> list[Candidate]:
    inner = HOOK_OF.get(verb, verb)
    kernels = backend.kernels.get(inner)
    if kernels:
        reasons = [(kernel[0], refusal(kernel, call)) for kernel in kernels]
        return [Candidate(f"{backend.name}:{name}", reason is None, reason or "") for name, reason in reasons]
    gap = gap_of(backend.functions[inner])
    reason = backend.origins[inner] if gap is None else str(gap)
    candidate = Candidate(f"{backend.name}:{verb}", gap is None, reason)
    return [_tried(verb, candidate, call) if candidate.ok and verb in TRIED else candidate]
