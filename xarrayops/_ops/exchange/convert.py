# Long: conversion, its explanation, and sharing of memory; a third of the lines are docstrings.
"""Conversion between libraries: make a plan, then alias the memory, copy it, or refuse."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from types import ModuleType
from typing import TYPE_CHECKING, Any, overload

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.modes.defaults import Library
from xarrayops._ops.exchange.plan import (
    ConversionPlan,
    carry_out,
    dtype_name,
    is_cast_by_source,
    name_in,
    plan_convert,
    target_of,
)
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops.errors import ExchangeError, Unsupported, XArrayOpsError
from xarrayops.plugin.arrays import Array, ArrayT
from xarrayops.plugin.sparse import Parts

if TYPE_CHECKING:
    from xarrayops._core.backends.sparse_backend import SparseBackend

REFUSALS = (BufferError, ValueError, TypeError, RuntimeError)
"""Errors of libraries that reject an import; not all raise BufferError (pytorch#194267, numpy gh-30937)."""


_CONVERTED = "copied first, because the other library needs one array of coordinates or another dtype of indices"
_MAX_WORK = 20_000
"""The limit of steps for NumPy to decide whether two views overlap, about 10 ms. Ordinary views need a few steps."""
_shortcuts: dict[tuple[type, str], tuple[Callable[[Array], Array | None], Any]] = {}
"""By class and target: a function that returns the target's array over the same memory, and its device.

The function returns None if a plan is needed. A plan takes 10 µs, several times as long as passing an array. The first
conversion of a class adds its function.
"""


@overload
def convert(
    x: Array, to: str | Backend | ModuleType, /, *, device: Any = None, copy: bool | None = None, dtype: Any = None
) -> Array: ...


@overload
def convert(x: Array, to: ArrayT, /, *, device: Any = None, copy: bool | None = None, dtype: Any = None) -> ArrayT: ...


def convert(x: Array, to: Library, /, *, device: Any = None, copy: bool | None = None, dtype: Any = None) -> Array:
    """x as an array of another library.

    Parameters
    ----------
    x : array
        An array of any supported library, of any shape and dtype, on any device.
    to : str, Backend, module or array
        The target library: the name of a backend, a backend, a namespace, or an array of that library. For an array,
        the result is on its device.
    device : optional
        A device of the target library, by name or native. Default: the device of x if the target can see its memory,
        otherwise the default device of the target.
    copy : bool, optional
        None copies only if necessary; False raises instead of copying; True always copies.
    dtype : optional
        The dtype of the result, by default that of x; ``int`` and ``float`` are the widest integers and floating-point
        numbers of the target. The library of x casts, before the transfer, if it has the dtype: so float64 becomes
        float32 in JAX without 64-bit types. Else the target casts. A cast is a copy.

    Returns
    -------
    array
        Same shape and values, and the same dtype unless ``dtype`` names another one. `explain` shows beforehand whether
        the data is copied; `shares_memory` checks the result.

    Raises
    ------
    ExchangeError
        ``copy=False`` and the memory cannot be shared, or x must not leave its library (it requires a gradient).
    BackendNotFound, Unsupported
        x is not an array, the library is unknown, or it lacks the dtype or the device.

    Notes
    -----
    Laws: ``convert(convert(x, to), like_x)`` equals x; ``convert(x, library_of_x) is x`` unless copy is True.

    Without ``device`` the result is on the device that holds x, if the other library has that device. NumPy's memory
    becomes an array on the CPU in JAX (committed to that device) and in PyTorch; CuPy does not support the CPU and
    copies to its current device. Device memory that the other library can see but must not alias is copied on that
    device; `explain` shows where values must pass through the host.

    Shared device memory is not reused before the other library's work has ended, in the stream that was current at the
    conversion. It may be held until the next exchange on a device, or until `synchronize`. If you use the array in
    another stream, make the first stream wait for the other before you delete the array.

    Only NumPy aliases read-only NumPy memory. JAX arrays are immutable, so NumPy gets a read-only view of them, and
    libraries without a read-only flag get a copy. With ``copy=False`` they get an alias; writing into it changes the
    JAX array. JAX aliases writable memory that starts on a 64-byte boundary (16 on GPUs); writing into that memory
    later changes the JAX array, so use ``copy=True`` if you continue to write into x. A lazy array is computed.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.arange(6.0).reshape(2, 3)
    >>> xo.convert(x, "numpy") is x
    True
    >>> xo.shares_memory(x, xo.convert(x, "numpy", copy=True))
    False
    """
    if device is None and not copy and dtype is None:
        name, place = (to, None) if type(to) is str else _target_and_device(to)
        shortcut = _shortcuts.get((type(x), name))
        if shortcut is not None and (place is None or place == shortcut[1]):
            aliased = shortcut[0](x)
            if aliased is not None:
                return aliased
    if find.sparse_of(x) is not None:
        return convert_container(x, target_of(to).sparse, device=device, copy=copy, dtype=dtype)
    plan = plan_convert(x, to, device=device, copy=copy, dtype=dtype)
    if plan.action == "refuse":
        raise ExchangeError(f"{_described_call(x, plan, copy)}: {plan.reason}.")
    try:
        result = carry_out(plan, x) if plan.cast is None else _converted_and_cast(x, to, plan, device, copy)
    except XArrayOpsError:
        raise
    except REFUSALS as error:
        instead = "another backend, or xo.astype(x, ...) before the call" if plan.action == "copy" else "copy=True"
        raise ExchangeError(f"{_described_call(x, plan, copy)}: {error}. Instead: {instead}") from error
    if plan.action == "zero-copy":
        _remember_shortcut(type(x), plan)
    return result


def _converted_and_cast(x: Array, to: Library, plan: ConversionPlan, device: Any, copy: bool | None) -> Array:
    """x in another dtype and library."""
    first = is_cast_by_source(plan.source, str(plan.cast))
    by = plan.source if first else plan.target
    moved = x if first else convert(x, to, device=device, copy=copy)
    cast = by.functions["astype"](moved, by.native_dtype(plan.cast))
    return convert(cast, to, device=device, copy=copy) if first else cast


def _target_and_device(to: Library) -> tuple[str, Any]:
    """The name of the library of an array, and its device; no name for other targets, which need a plan."""
    target = find.of_class(type(to))
    if target is None or (target.refine is not None and target.refine(to) is not None):
        return "", None
    return target.name, target.functions["device"](to)


def _remember_shortcut(cls: type, plan: ConversionPlan) -> None:
    """Store the function that converts arrays of a class without a plan, if both libraries have the hooks for it."""
    try_as_numpy, try_from_numpy = plan.source.own_hook("try_as_numpy"), plan.target.own_hook("try_from_numpy")
    if plan.source is plan.target or try_as_numpy is None or try_from_numpy is None:
        return

    def by_way_of_numpy(x: Array) -> Array | None:
        seen = try_as_numpy(x)
        return None if seen is None else try_from_numpy(seen)

    # NumPy's own hooks return their argument, so one of the two calls is enough
    single_call = {plan.source.name: try_from_numpy, plan.target.name: try_as_numpy}
    _shortcuts[cls, plan.target.name] = single_call.get("numpy", by_way_of_numpy), plan.device


def convert_container(
    s: Any, target: SparseBackend, /, *, device: Any = None, copy: bool | None = None, dtype: Any = None
) -> Any:
    """A sparse container of another library in the same format. Each of its arrays is converted."""
    if find.sparse_of(s) is target and not copy and device is None and dtype is None:
        return s
    p, device = _parts_for(s, target, dtype), _target_device(s, target, device)
    converted = _converted_parts(s, p) if copy is False else {}
    if converted:
        call = f"xo.convert({_side(s).shown(s)}, {target.backend.name!r}, copy=False)"
        raise ExchangeError(f"{call}: {', '.join(converted)}: {_CONVERTED}. Instead: copy=None")
    to, dtypes = target.backend.name, {"data": dtype}
    arrays = {name: convert(x, to, device=device, copy=copy, dtype=dtypes.get(name)) for name, x in p.arrays.items()}
    return target.wrap(p._replace(**arrays))


def _side(s: Any) -> SparseBackend:
    side = find.sparse_of(s)
    assert side is not None, "the caller must pass a sparse container"
    return side


def _target_device(s: Any, target: SparseBackend, device: Any) -> Any:
    """The requested device, or the container's device if it is an accelerator that the target can use."""
    if device is not None:
        return device
    source = _side(s)
    held = source.backend.device_of(source.values(s))
    here = None if held is None or held.kind == "cpu" else target.backend.device_at(held.kind, held.index)
    return None if here is None else here.native


def _parts_for(s: Any, target: SparseBackend, dtype: Any) -> Parts:
    """The parts of a container, with an index dtype that the target supports; format and dtype are checked."""
    source = _side(s)
    source.require_sound(s)
    p, backend = source.parts(s), source.backend
    call = f"xo.convert({source.shown(s)}, {target.backend.name!r})"
    if p.format not in target.formats:
        instead = f"xo.sparse.convert(s, {target.formats[0]!r}) first"
        raise Unsupported(f"{call}: {target.backend.name} has no {p.format} containers. Instead: {instead}")
    refused = target.dtype_refusal(dtype_name(p.data, backend) if dtype is None else name_in(target.backend, dtype))
    if refused is not None:
        raise Unsupported(f"{call}: {refused}")
    if source.pads:
        p, backend = source.on_host(p), find.named("numpy")
    imports = target.backend.functions["import_refusal"]
    widths = [name for name in target.index_dtypes(p.format) if imports(name) is None]  # JAX may be without int64
    fitting = widths if max((*p.shape, p.data.shape[0])) < 1 << 31 else [name for name in widths if name != "int32"]
    if not fitting:
        raise Unsupported(f"{call}: {target.backend.name} has no index dtype that is wide enough")
    other = {name: x for name, x in p.arrays.items() if name != "data" and dtype_name(x, backend) not in fitting}
    return p._replace(
        **{name: backend.functions["astype"](x, backend.native_dtype(fitting[0])) for name, x in other.items()}
    )


def _converted_parts(s: Any, p: Parts) -> dict[str, int]:
    """The names of the parts from `_parts_for` that are copies, each with its number of bytes."""
    source = _side(s)
    converted = {}
    for name, own in source.seen(s).arrays.items():
        x, first = getattr(p, name), own[0] if isinstance(own, tuple) else own
        nbytes = prod(x.shape) * x.dtype.itemsize
        if nbytes and not shares_memory(x, first):
            converted[name] = nbytes
    return converted


def explain_convert(
    verb: str, x: Array, to: Library, /, *, device: Any = None, copy: bool | None = None, dtype: Any = None
) -> Explanation:
    """Explain a conversion by its plan."""
    if find.sparse_of(x) is not None:
        return _explain_container(verb, x, target_of(to).sparse, device, copy, dtype)
    plan = plan_convert(x, to, device=device, copy=copy, dtype=dtype)
    name = f"{plan.source.name}->{plan.target.name}"
    copies = (f"copies {plan.nbytes} bytes",) if plan.nbytes else ()
    candidate = _gathering(Candidate(name, plan.action != "refuse", plan.reason, copies), plan, x)
    summary = f"{plan.action}: {plan.reason}"
    chosen = None if plan.action == "refuse" else name
    return Explanation(verb, summary, (candidate,), chosen, plan.action, plan.nbytes, plan.reason)


def _gathering(candidate: Candidate, plan: ConversionPlan, x: Array) -> Candidate:
    """The candidate; if another library gets an array that is split, with what is gathered."""
    found = None if plan.source is plan.target else plan.source.functions["sharding_of"](x)
    if found is None or found.engine is None or plan.nbytes is None:
        return candidate
    gathers = f"{candidate.reason}; gathers {found.pieces} shards on the host" if found.pieces > 1 else candidate.reason
    return candidate._replace(reason=gathers, moves=plan.nbytes, holds=2 * plan.nbytes, sharding="whole")


def _explain_container(
    verb: str, s: Any, target: SparseBackend, device: Any, copy: bool | None, dtype: Any
) -> Explanation:
    """Explain the conversion of a container: it copies, or is refused, if any of its arrays is."""
    source = _side(s)
    if source is target and not copy and device is None and dtype is None:
        reason = f"s is already a {target.backend.name} container"
        name = f"{target.backend.name}->{target.backend.name}"
        return Explanation(verb, reason, (Candidate(name, True, reason),), name, "zero-copy", 0, reason)
    p, to, device = _parts_for(s, target, dtype), target.backend.name, _target_device(s, target, device)
    dtypes = {"data": dtype}
    plans = {
        name: plan_convert(x, to, device=device, copy=copy, dtype=dtypes.get(name)) for name, x in p.arrays.items()
    }
    for name, nbytes in _converted_parts(s, p).items():
        plan, action = plans[name], "refuse" if copy is False else "copy"
        if plan.action != "refuse":
            plans[name] = plan._replace(action=action, reason=_CONVERTED, nbytes=nbytes + (plan.nbytes or 0))
    name = f"{source.backend.name}->{to}"
    action = next((a for a in ("refuse", "copy") if any(plan.action == a for plan in plans.values())), "zero-copy")
    copies = tuple(f"copies {plan.nbytes} bytes of {part}" for part, plan in plans.items() if plan.nbytes)
    reason = "; ".join(f"{part}: {plan.reason}" for part, plan in plans.items())
    candidate = Candidate(name, action != "refuse", reason, copies)
    nbytes = sum(plan.nbytes or 0 for plan in plans.values())
    chosen = None if action == "refuse" else name
    return Explanation(verb, f"{action}: {reason}", (candidate,), chosen, action, nbytes, reason)


@explaining_arrays("shares_memory")
def shares_memory(a: Array, b: Array, /) -> bool:
    """Whether two arrays of any libraries share an element in memory.

    The addresses and strides decide. The result is False if a library exposes no memory (lazy arrays, tracers). It is
    exact, except for interleaved views with strides that make the problem too hard (it is NP-complete): then the result
    is True if their memory ranges overlap.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.zeros(6)
    >>> xo.shares_memory(x, x[::2]), xo.shares_memory(x[::2], x[1::2])
    (True, False)
    """
    import numpy as np

    from xarrayops._host import views

    places = [_settled_memory(x) for x in (a, b)]
    if any(p is None for p in places) or len({(p.device, p.index) for p in places}) > 1:
        return False
    first, second = (views.over(p.pointer, p.shape, p.strides, f"|V{p.itemsize}", readonly=True) for p in places)
    try:
        return np.shares_memory(first, second, max_work=_MAX_WORK)  # type: ignore[arg-type, unused-ignore]
    except np.exceptions.TooHardError:
        return np.may_share_memory(first, second)


def _settled_memory(x: Array) -> Any:
    """The memory of x with its address. If the address is not known yet, this waits for the values."""
    functions = find.of(x).functions
    memory = functions["memory"](x)
    if memory is not None and memory.pointer is None:
        functions["synchronize"](x)
        memory = functions["memory"](x)
    return memory


def _described_call(x: Array, plan: ConversionPlan, copy: bool | None) -> str:
    array = f"{plan.source.name} array of shape {tuple(x.shape)} and dtype {x.dtype}"
    return f"xo.convert({array}, {plan.target.name!r}, {copy=})"
