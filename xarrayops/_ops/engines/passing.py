"""Pass the arguments of a call to another library, and its results back.

All families use these functions. Arrays in sequences and records are passed too; other values are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.exchange.convert import REFUSALS, convert, explain_convert
from xarrayops._ops.exchange.plan import ConversionPlan, aliased, plan_convert
from xarrayops._ops.explanation import Explanation
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import arrays_in, fill, is_array


class NotPassed(Unsupported):
    """An engine cannot serve a call."""


_plain: dict[Backend, type] = {}


def plain_class(backend: Backend) -> type:
    """The class of the arrays that a library creates. Raises if they have no values, such as task graphs.

    Other classes (NumPy scalars, tracers, subclasses) are never passed: the result would not have their class.
    """
    if backend not in _plain:
        sample = backend.functions["empty"]((0,))
        if backend.functions["memory"](sample) is None:
            raise NotPassed(f"arrays of {backend.name} have no values yet, or no memory that other libraries can see")
        _plain[backend] = type(sample)
    return _plain[backend]


def device_in(x: Any, engine: Backend) -> Any:
    """The engine's own name for the device that holds x; None if it cannot use that device."""
    sparse = find.sparse_of(x)
    if sparse is not None:
        return device_in(sparse.values(x), engine)
    own = find.of(x)
    held = own.device_of(x)
    if held is None:
        return None
    found = engine.device_at(held.kind, held.index)
    if found is None:  # a library without a backend file has its own kinds of devices
        memory = own.functions["memory"](x)
        found = None if memory is None else engine.device_at(memory.device, memory.index)
    return None if found is None else found.native


def plan_passing(x: Any, engine: Backend) -> ConversionPlan | Explanation:
    """The plan for passing an array or a container to an engine: action, reason and bytes."""
    if find.sparse_of(x) is not None:
        return explain_convert("convert", x, engine.name)
    device = device_in(x, engine)
    if find.of(x).immutable:  # functions of an engine do not write to their arguments
        plan = plan_convert(x, engine.name, device=device, copy=False)
        if plan.action != "refuse":
            return plan
    return plan_convert(x, engine.name, device=device)


def obstacle(arguments: Any, own: Backend, engine: Backend) -> str | None:
    """Why the arguments of a call cannot be passed; None if they can. Nothing is copied to find that out."""
    try:
        for library in (own, engine):
            plain_class(library)
    except NotPassed as error:
        return str(error)
    for name, x in arrays_in(arguments):
        sparse = find.sparse_of(x)
        if own.functions["is_lazy"](x if sparse is None else sparse.values(x)):
            return f"{own.name} has not computed the values yet"
        if device_in(x, engine) is None:
            return f"{engine.name} cannot use the device of {name}"
        plan = plan_passing(x, engine)
        if plan.action == "refuse":
            return f"{name}: {plan.reason}"
    return None


def sampled(arguments: Any, engine: Backend) -> Any:
    """The arguments as the engine would get them; arrays that would be copied have no values."""
    return fill(arguments, lambda x: _sample(x, engine) if is_array(x) else x)


def passed(x: Any, engine: Backend, *, takes_containers: bool = False) -> Any:
    """An array of the engine with the values of x, over the same memory if possible. Raises if x cannot be passed."""
    device = device_in(x, engine)
    if device is None:
        raise NotPassed(f"{engine.name} cannot use the device of an argument")
    if find.sparse_of(x) is None:
        copy = False if plan_passing(x, engine).action == "zero-copy" else None
    elif takes_containers:
        copy = None
    else:
        raise NotPassed("an argument is sparse")
    return convert(x, engine.name, device=device, copy=copy)


def quick_passing(own: Backend, engine: Backend) -> Callable[[Any], Any]:
    """A function that returns an array of the engine over the memory of x without a plan; None if a plan is needed.

    A plan takes several times the time in which the libraries pass an array.
    """
    by_host, by_device = _over_host_memory(own, engine), _over_device_memory(own, engine)

    def give(x: Any) -> Any:
        found = None if by_host is None else by_host(x)
        return by_device(x) if found is None else found

    return give


def quick_return(own: Backend, engine: Backend) -> Callable[[Any, Any], Any]:
    """A function that gives a result as the caller's library returns it without a plan; None if a plan is needed.

    Its second argument has the arguments of the call. Libraries with immutable arrays often cannot alias memory of
    other libraries, so for them the result is copied, and theirs is for writable ones.
    """
    by_host, by_device = _from_host_memory(own, engine), _over_device_memory(engine, own)
    pack = own.functions["packed"] if engine.immutable else None

    def give(x: Any, arguments: Any) -> Any:
        found = None if by_host is None else by_host(x, arguments)
        if found is None:
            found = by_device(x, partial(device_of, arguments, own))
            found = found if found is None or pack is None else pack(found)
        return found if found is None or own.returned is None else own.returned(found)

    return give


def _over_host_memory(own: Backend, engine: Backend) -> Callable[[Any], Any] | None:
    """Immutable memory is passed by DLPack, because a read-only NumPy array is not accepted."""
    see, take = own.own_hook("try_as_numpy"), engine.own_hook("try_from_numpy")
    if see is None or take is None:
        return None
    borrow = engine.functions["from_dlpack"]

    def give(x: Any) -> Any:
        seen = see(x)
        if seen is None:
            return None
        found = take(seen)
        if found is None and own.immutable:
            try:
                return borrow(x)
            except REFUSALS:
                return None
        return found

    return give


def _from_host_memory(own: Backend, engine: Backend) -> Callable[[Any, Any], Any] | None:
    see, take = engine.own_hook("try_as_numpy"), own.own_hook("try_from_numpy")
    if see is None or take is None:
        return None
    copy, refusal, name = own.functions["from_numpy"], own.functions["import_refusal"], engine.functions["dtype_name"]
    is_copied = own.immutable or engine.immutable

    def give(x: Any, arguments: Any) -> Any:
        seen = see(x)
        if seen is None:
            return None
        found = None if engine.immutable else take(seen)
        if found is None and is_copied and refusal(name(x.dtype)) is None:
            return copy(seen, device_of(arguments, own))
        return found

    return give


def _over_device_memory(source: Backend, target: Backend) -> Callable[..., Any]:
    """A function that returns an array of the target over device memory, with the tests of a plan.

    What depends only on the device and the dtype is looked up once. ``device`` returns the device that the result must
    have.
    """
    see, export_refusal = source.functions["memory"], source.functions["export_refusal"]
    alias_refusal, import_refusal = target.functions["alias_refusal"], target.functions["import_refusal"]
    places: dict[tuple[str, int, str], Any] = {}

    def give(x: Any, device: Callable[[], Any] | None = None) -> Any:
        memory = see(x)
        if memory is None or memory.device == "cpu":
            return None
        key = memory.device, memory.index, memory.dtype
        if key not in places:
            held = target.device_at(memory.device, memory.index)
            places[key] = held.native if held is not None and import_refusal(memory.dtype) is None else None
        place = places[key]
        if place is None or (device is not None and device() != place):
            return None
        if export_refusal(x) is not None or alias_refusal(memory, forced=source.immutable) is not None:
            return None
        try:
            return aliased(x, memory, source, target)
        except REFUSALS:
            return None

    return give


def _sample(x: Array, engine: Backend) -> Array:
    plan = plan_passing(x, engine)
    if not isinstance(plan, ConversionPlan):
        raise NotPassed("a sparse container has no sample")
    if plan.action == "zero-copy":
        return convert(x, engine.name, device=plan.device, copy=False)
    dtype = engine.native_dtype(plan.source.functions["dtype_name"](x.dtype))
    return engine.namespace.empty(tuple(x.shape), dtype=dtype, device=plan.device)


def back(x: Any, own: Backend, engine: Backend, arguments: Any) -> Any:
    """A result as a writable array of the caller's library, on the device of the arguments."""
    library = own.name if own.has_entry_point else own.namespace
    found = convert(x, library, device=device_of(arguments, own), copy=True if engine.immutable else None)
    return found if own.returned is None else own.returned(found)


def device_of(arguments: Any, own: Backend) -> Any:
    """The device of the arrays in the arguments of a call."""
    x = next(x for _, x in arrays_in(arguments))
    sparse = find.sparse_of(x)
    return own.functions["device"](x) if sparse is None else sparse.device(x)


def copies(arguments: Any, engine: Backend, within: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The copies of arguments and results, as lines for `explain`; ``within`` has the copies of the kernel itself."""
    plans = {name: plan_passing(x, engine) for name, x in arrays_in(arguments)}
    coming = (f"copies {name}, {p.nbytes} bytes: {p.reason}" for name, p in plans.items() if p.action == "copy")
    return (*coming, *within, *(("copies the result",) if engine.immutable else ()))
