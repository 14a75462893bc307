"""The creation functions that take an object: asarray and from_dlpack; and broadcast_shapes, which needs no library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

from xarrayops._core import default_backend, registry
from xarrayops._core.arguments import array_arguments, common_backend, described, signature
from xarrayops._core.creation import creation, creation_backend, refuse_both
from xarrayops._core.default_backend import use
from xarrayops._core.dispatch import constant_while_tracing
from xarrayops._core.registry import SCALARS, Backend
from xarrayops._ops.exchange.convert import convert, explain_convert
from xarrayops._ops.explanation import Candidate, Explanation, explain_served
from xarrayops._ops.verb import Verb
from xarrayops._protocol.candidates import Call
from xarrayops._protocol.types import Array, ArrayT
from xarrayops.errors import BackendNotFound, ExchangeError, MixedBackends, Unsupported


@overload
def asarray(
    obj: Any,
    /,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    like: ArrayT,
    backend: None = None,
) -> ArrayT: ...


@overload
def asarray(
    obj: Any,
    /,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    like: None = None,
    backend: str | None = None,
) -> Array: ...


def asarray(
    obj: Any,
    /,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    like: Array | None = None,
    backend: str | None = None,
) -> Array:
    """An array of the values of obj: a scalar, a nested sequence, a buffer, or an array.

    An array stays in its library, unless ``backend=`` or ``like=`` names another: then it is converted.

    Raises
    ------
    MixedBackends
        A sequence holds arrays of several libraries, or of another than the one that was asked for.
    Unsupported
        The values are no numbers.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.asarray.html>
    """
    refuse_both("asarray", like, backend)
    owner = _owner(type(obj))
    if like is None and owner is not None and backend in (None, owner):
        like, backend = obj, None
    elif isinstance(obj, (list, tuple)):
        members = dict(_arrays_within(obj))
        if members:
            _check_members(members, like, backend)
            like = next(iter(members.values())) if like is None and backend is None else like
    elif type(obj) not in SCALARS:
        if registry.refusal(obj) is not None:
            raise Unsupported(f"xo.asarray: {registry.refusal(obj)}.")
        source = obj if registry.register_conforming(obj) is not None else _as_buffer(obj)
        if like is None and backend is None:
            backend = default_backend.current()[0] if source is not obj else None
            like = obj if source is obj else None
        obj = convert(source, backend if like is None else like, device=device, copy=copy)
        copy = None if copy else copy
    function, dtype, device = creation("asarray", like, backend, dtype, device)
    return function(obj, dtype=dtype, device=device, copy=copy)


def _check_members(members: dict[str, Array], like: Array | None, backend: str | None) -> None:
    """Arrays inside a sequence must be of one library, and of the one that was asked for."""
    found = common_backend("asarray", members if like is None else {"like": like, **members})
    if backend not in (None, found.name):
        listing = "; ".join(f"{name}: {described(x, found)}" for name, x in members.items())
        fixes = " and ".join(f'{name} -> xo.convert({name}, "{backend}")' for name in members)
        raise MixedBackends(
            f"xo.asarray was asked for {backend} and given a sequence of others: {listing}. Convert: {fixes}."
        )


@constant_while_tracing
def _owner(cls: type) -> str | None:
    """The name of the backend of a class, which torch.compile takes for a constant; it cannot trace the registry."""
    backend = registry.backend_of_class(cls)
    return None if backend is None else backend.name


def _as_buffer(obj: Any) -> Array:
    """A buffer as a NumPy array, which reads the items by their format; other libraries take the bytes for numbers."""
    import numpy as np

    if hasattr(obj, "__array_interface__") or _has_buffer(obj):
        return np.asarray(obj)
    if hasattr(obj, "__dlpack__"):
        return np.from_dlpack(obj)
    raise BackendNotFound(
        f"xo.asarray cannot make an array of a {registry.describe_class(type(obj))}. "
        f"It takes numbers, nested lists and tuples of numbers, buffers and arrays."
    )


def _has_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def _arrays_within(obj: Any, place: str = "obj") -> Iterator[tuple[str, Any]]:
    """The arrays inside nested sequences, which a library would take in silently, each with its place.

    Those that are not served, too: NumPy drops the mask of a masked array.
    """
    if isinstance(obj, (list, tuple)):
        for i, member in enumerate(obj):
            if type(member) not in SCALARS:
                yield from _arrays_within(member, f"{place}[{i}]")
    elif registry.register_conforming(obj) is not None or registry.refusal(obj) is not None:
        yield place, obj


@overload
def from_dlpack(
    x: Any, /, *, device: Any = None, copy: bool | None = None, like: ArrayT, backend: None = None
) -> ArrayT: ...


@overload
def from_dlpack(
    x: Any, /, *, device: Any = None, copy: bool | None = None, like: None = None, backend: str | None = None
) -> Array: ...


def from_dlpack(
    x: Any,
    /,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Array | None = None,
    backend: str | None = None,
) -> Array:
    """An array over the memory of any object with ``__dlpack__``; by default of the default library.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.from_dlpack.html>
    """
    refuse_both("from_dlpack", like, backend)
    if registry.register_conforming(x) is not None:
        return convert(
            x, like if like is not None else backend or default_backend.current()[0], device=device, copy=copy
        )
    if not hasattr(type(x), "__dlpack__"):
        kind = registry.describe_class(type(x))
        raise ExchangeError(f"xo.from_dlpack needs an object with __dlpack__; {kind} has none. Instead: xo.asarray(x)")
    function, _, device = creation("from_dlpack", like, backend, None, device)
    return function(x, device=device, copy=copy)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that some shapes broadcast to.

    Raises
    ------
    ValueError
        The shapes do not fit; the message names the axis.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.broadcast_shapes.html>
    """
    result: list[int] = []
    for shape in shapes:
        result[:0] = [1] * (len(shape) - len(result))
        for axis in range(-len(shape), 0):
            if result[axis] == 1:
                result[axis] = shape[axis]
            elif shape[axis] not in (1, result[axis]):
                listing = ", ".join(map(str, shapes))
                raise ValueError(f"shapes {listing} do not broadcast: axis {axis} is {result[axis]} and {shape[axis]}")
    return tuple(result)


def explain_creation(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """What creates an array: a function of the library, or a conversion where an array is given to another library."""
    backend, call = _creation_call(verb, *args, **kwargs)
    source = _source(verb, call.args[0])
    if source is not None and (verb == "from_dlpack" or registry.backend_of(source) is not backend):
        like = kwargs.get("like")
        where = {option: kwargs.get(option) for option in ("device", "copy")}
        target = backend.name if like is None else like
        return explain_convert("convert", source, target, **where)._replace(verb=verb)
    return explain_served(verb, backend, call)


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


def _source(verb: str, x: Any) -> Any:
    """The array that asarray or from_dlpack would convert; None where the library takes x as it is."""
    if verb not in ("asarray", "from_dlpack") or type(x) in SCALARS or isinstance(x, (list, tuple)):
        return None
    if registry.register_conforming(x) is not None or registry.refusal(x) is not None:
        return x
    return _as_buffer(x) if verb == "asarray" else None


def explain_broadcast_shapes(verb: str, /, *shapes: tuple[int, ...]) -> Explanation:
    """No library is needed; shapes that do not fit raise."""
    broadcast_shapes(*shapes)
    candidate = Candidate(f"xarrayops:{verb}", True, "shapes are Python numbers, which need no library")
    return Explanation(verb, "no library is needed", (candidate,), candidate.name)


VERBS = (
    Verb("asarray", asarray, explain=explain_creation, creates=True),
    Verb("broadcast_shapes", broadcast_shapes, explain=explain_broadcast_shapes),
    Verb("from_dlpack", from_dlpack, explain=explain_creation, creates=True),
    Verb("use", use),
)
