"""Exchange between libraries: plan first, then alias the memory, copy it, or refuse."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from types import ModuleType
from typing import TYPE_CHECKING, Any, overload

from xarrayops._core import registry
from xarrayops._ops.exchange.plan import Plan, carry_out, dtype_name, plan_convert, target_of
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._protocol.sparse import Parts
from xarrayops._protocol.types import Array, ArrayT
from xarrayops.errors import ExchangeError, Unsupported, XArrayOpsError

if TYPE_CHECKING:
    from xarrayops._core.sparse_backend import SparseBackend

REFUSALS = (BufferError, ValueError, TypeError, RuntimeError)
"""What libraries raise when they refuse an import: not all raise BufferError (pytorch#194267, numpy gh-30937)."""


_CONVERTED = "copied first, because the other library takes one array of coordinates, or another dtype of indices"
_MAX_WORK = 20_000
"""Steps in which NumPy decides whether two views overlap: 10 ms or so. Views of everyday need a few."""
_shortcuts: dict[tuple[type, str], Callable[[Array], Array | None]] = {}
"""By class and target: the array of the target over the same memory, or None where only a plan can tell.

A plan takes 10 µs, several times what the libraries take to pass an array. Filled by the first conversion of a class.
"""


@overload
def convert(x: Array, to: str | ModuleType, /, *, device: Any = None, copy: bool | None = None) -> Array: ...


@overload
def convert(x: Array, to: ArrayT, /, *, device: Any = None, copy: bool | None = None) -> ArrayT: ...


def convert(x: Array, to: str | ModuleType | Array, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """x as an array of another library.

    Parameters
    ----------
    x : array
        Of any library that is served, of any shape and dtype, on any device.
    to : str, namespace module or array
        The library: a backend's name, a namespace, or an array to be like (then on its device, too).
    device : optional
        A device of the target library, by name or native; default: where x is, if the target can see that memory, else
        the target's own default.
    copy : bool, optional
        None copies only when it must; False raises rather than copy; True always copies.

    Returns
    -------
    array
        Same shape, dtype and values. `shares_memory` says whether a byte moved; `explain` says so before.

    Raises
    ------
    ExchangeError
        ``copy=False`` and the memory cannot be shared, or x must not leave its library (it requires a gradient).
    BackendNotFound, Unsupported
        x is no array, the library is not known, or it lacks the dtype or the device.

    Notes
    -----
    Laws: ``convert(convert(x, to), like_x)`` equals x; ``convert(x, library_of_x) is x`` unless copy is True.

    Without ``device`` the result is on the device that holds x, if the other library has that device. NumPy's memory
    reaches JAX and PyTorch on the CPU, and JAX arrays are committed to it; CuPy has no CPU and takes its current
    device. Memory of a device that the other library sees but must not alias is copied on that device; `explain` says
    so where values have to pass through the host.

    Device memory that is shared is not reused before the other library's work in the stream that was current at the
    conversion has ended; it may be held until the next exchange on a device, or `synchronize`. Let that stream wait for
    yours before you give up an array that you use in another one.

    Read-only NumPy memory is aliased by NumPy only. JAX never writes its memory, so NumPy gets a read-only view of it,
    and libraries without a read-only flag get a copy unless ``copy=False`` insists: who then writes into the alias
    changes the JAX array. JAX aliases writable memory that starts on a 64-byte boundary (16 on GPUs), and whoever
    writes into it later changes the JAX array too: convert with ``copy=True`` what you go on writing. A lazy array is
    computed.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.arange(6.0).reshape(2, 3)
    >>> xo.convert(x, "numpy") is x
    True
    >>> xo.shares_memory(x, xo.convert(x, "numpy", copy=True))
    False
    """
    if device is None and not copy and type(to) is str:
        shortcut = _shortcuts.get((type(x), to))
        if shortcut is not None:
            aliased = shortcut(x)
            if aliased is not None:
                return aliased
    if registry.sparse_side(x) is not None:
        return convert_container(x, target_of(to).sparse, device=device, copy=copy)
    plan = plan_convert(x, to, device=device, copy=copy)
    if plan.action == "refuse":
        raise ExchangeError(f"{_asked(x, plan, copy)}: {plan.reason}.")
    try:
        result = carry_out(plan, x)
    except XArrayOpsError:
        raise
    except REFUSALS as error:
        way_out = "another backend, or xo.astype(x, ...) before" if plan.action == "copy" else "copy=True"
        raise ExchangeError(f"{_asked(x, plan, copy)}: {error}. Instead: {way_out}") from error
    if plan.action == "zero-copy" and type(to) is str:
        _remember_shortcut(type(x), to, plan)
    return result


def _remember_shortcut(cls: type, to: str, plan: Plan) -> None:
    """How arrays of a class pass to a library without a plan, where both have the hooks that decide it at once."""
    try_as_numpy, try_from_numpy = plan.source.own_hook("try_as_numpy"), plan.target.own_hook("try_from_numpy")
    if plan.source is plan.target or try_as_numpy is None or try_from_numpy is None:
        return

    def by_way_of_numpy(x: Array) -> Array | None:
        seen = try_as_numpy(x)
        return None if seen is None else try_from_numpy(seen)

    # NumPy's own hooks hand on what they are given: a call that need not be made
    alone = {plan.source.name: try_from_numpy, plan.target.name: try_as_numpy}
    _shortcuts[cls, to] = alone.get("numpy", by_way_of_numpy)


def convert_container(s: Any, target: SparseBackend, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """A sparse container as one of another library, in the same format: array by array."""
    if registry.sparse_side(s) is target and not copy and device is None:
        return s
    p, device = _parts_for(s, target), _place_for(s, target, device)
    converted = _converted_parts(s, p) if copy is False else {}
    if converted:
        asked = f"xo.convert({_side(s).shown(s)}, {target.backend.name!r}, copy=False)"
        raise ExchangeError(f"{asked}: {', '.join(converted)}: {_CONVERTED}. Instead: copy=None")
    over = {name: convert(x, target.backend.name, device=device, copy=copy) for name, x in p.arrays.items()}
    return target.wrap(p._replace(**over))


def _side(s: Any) -> SparseBackend:
    side = registry.sparse_side(s)
    assert side is not None, "the caller has found a sparse container"
    return side


def _place_for(s: Any, target: SparseBackend, device: Any) -> Any:
    """The device that the user names, or that of the container if it is an accelerator that the target has."""
    if device is not None:
        return device
    source = _side(s)
    held = source.backend.device_of(source.values(s))
    here = None if held is None or held.kind == "cpu" else target.backend.device_at(held.kind, held.index)
    return None if here is None else here.native


def _parts_for(s: Any, target: SparseBackend) -> Parts:
    """The parts of a container as another library takes them: in a format, a dtype and indices that it has."""
    source = _side(s)
    source.require_sound(s)
    p, home = source.parts(s), source.backend
    asked = f"xo.convert({source.shown(s)}, {target.backend.name!r})"
    if p.format not in target.formats:
        way_out = f"xo.sparse.convert(s, {target.formats[0]!r}) first"
        raise Unsupported(f"{asked}: {target.backend.name} has no {p.format} containers. Instead: {way_out}")
    refused = target.dtype_refusal(dtype_name(p.data, home))
    if refused is not None:
        raise Unsupported(f"{asked}: {refused}")
    if source.pads:
        p, home = source.on_host(p), registry.backend_by_name("numpy")
    imports = target.backend.functions["import_refusal"]
    widths = [name for name in target.index_dtypes(p.format) if imports(name) is None]  # JAX may be without int64
    fitting = widths if max((*p.shape, p.data.shape[0])) < 1 << 31 else [name for name in widths if name != "int32"]
    if not fitting:
        raise Unsupported(f"{asked}: {target.backend.name} has no indices that are wide enough")
    other = {name: x for name, x in p.arrays.items() if name != "data" and dtype_name(x, home) not in fitting}
    return p._replace(**{name: home.functions["astype"](x, home.native_dtype(fitting[0])) for name, x in other.items()})


def _converted_parts(s: Any, p: Parts) -> dict[str, int]:
    """The parts of `_parts_for` that are not in the memory of the container, with their bytes."""
    source = _side(s)
    converted = {}
    for name, own in source.seen(s).arrays.items():
        x, first = getattr(p, name), own[0] if isinstance(own, tuple) else own
        nbytes = prod(x.shape) * x.dtype.itemsize
        if nbytes and not shares_memory(x, first):
            converted[name] = nbytes
    return converted


def explain_convert(
    verb: str, x: Array, to: str | ModuleType | Array, /, *, device: Any = None, copy: bool | None = None
) -> Explanation:
    """The plan of a conversion as `explain` shows it."""
    if registry.sparse_side(x) is not None:
        return _explain_container(verb, x, target_of(to).sparse, device, copy)
    plan = plan_convert(x, to, device=device, copy=copy)
    name = f"{plan.source.name}->{plan.target.name}"
    copies = (f"copies {plan.nbytes} bytes",) if plan.nbytes else ()
    candidate = Candidate(name, plan.action != "refuse", plan.reason, copies)
    summary = f"{plan.action}: {plan.reason}"
    chosen = None if plan.action == "refuse" else name
    return Explanation(verb, summary, (candidate,), chosen, plan.action, plan.nbytes, plan.reason)


def _explain_container(verb: str, s: Any, target: SparseBackend, device: Any, copy: bool | None) -> Explanation:
    """The plans of its arrays, as one: what any of them needs, the whole needs."""
    source = _side(s)
    if source is target and not copy and device is None:
        reason = f"s is a {target.backend.name} container already"
        name = f"{target.backend.name}->{target.backend.name}"
        return Explanation(verb, reason, (Candidate(name, True, reason),), name, "zero-copy", 0, reason)
    p, to, device = _parts_for(s, target), target.backend.name, _place_for(s, target, device)
    plans = {name: plan_convert(x, to, device=device, copy=copy) for name, x in p.arrays.items()}
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


def shares_memory(a: Array, b: Array, /) -> bool:
    """Whether some element of a and some element of b are in the same memory, whatever their libraries.

    Decided by addresses and strides; False where a library shows no memory (lazy arrays, tracers). Exact, except where
    the strides of two interleaved views make it too hard to decide (the problem is NP-complete): then True if the
    ranges of memory that they span overlap.

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
    """The memory of x with its address, for which the values may have to be there."""
    functions = registry.backend_of(x).functions
    memory = functions["memory"](x)
    if memory is not None and memory.pointer is None:
        functions["synchronize"](x)
        memory = functions["memory"](x)
    return memory


def _asked(x: Array, plan: Plan, copy: bool | None) -> str:
    array = f"{plan.source.name} array of shape {tuple(x.shape)} and dtype {x.dtype}"
    return f"xo.convert({array}, {plan.target.name!r}, {copy=})"
