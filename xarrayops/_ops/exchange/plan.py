"""Plans of conversions between libraries, made before any data is moved, and their execution.

A plan answers two separate questions: can the target see the memory of x, and may it alias that memory? Memory that the
target sees but may not alias is copied on the device that holds it. The hooks of the backends (`memory`,
`export_refusal`, `import_refusal`, `alias_refusal`) answer these questions; this file defines their order.
"""

from __future__ import annotations

from functools import partial
from math import prod
from types import ModuleType
from typing import Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.dtype_names import name_of
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes.defaults import Library
from xarrayops._host.sparse.library import DenseBackend
from xarrayops._ops.exchange import loans
from xarrayops.errors import NotAnArray
from xarrayops.plugin.arrays import Array, Memory, Record, compact_strides

ALIAS = "alias"
"""The target makes an array over the memory of x."""
TARGET_COPIES = "the target copies"
"""The target aliases the memory, then copies it on the same device or to another one."""
SOURCE_COPIES = "the source copies"
"""The source copies x on its device into compact, aligned memory, which the target aliases."""
HOST = "host"
"""The source gives a NumPy array, which the target copies to its device."""


class ConversionPlan(Record):
    """The plan of a conversion: ``action`` is "zero-copy", "copy" or "refuse", ``route`` tells which library copies.

    ``device`` is the native device of the target; None means the target's default. ``cast`` is the dtype to which the
    values are cast: by the source if it has this dtype, so before the transfer, else by the target.
    """

    action: str
    reason: str
    nbytes: int | None
    source: Backend
    target: Backend
    device: Any
    route: str
    memory: Memory | None = None
    cast: str | None = None


def target_of(to: Library) -> Backend:
    """The backend of a name, a namespace or an array; a backend is returned as it is."""
    if not isinstance(to, (str, Backend, ModuleType)) and find.if_array(to) is None and find.refusal(to) is None:
        kind = registry.describe_class(type(to))
        raise NotAnArray(
            f"xo.convert: to= must be the name of a backend, a backend, a namespace or an array; it is a {kind}."
        )
    return find.library(to)


def plan_convert(
    x: Array, to: Library, /, *, device: Any = None, copy: bool | None = None, dtype: Any = None
) -> ConversionPlan:
    """The plan of `convert` for these arguments. No data is moved."""
    source, target = find.of(x), target_of(to)
    if dtype is not None:
        cast = name_in(target, dtype)
        if cast != dtype_name(x, source):
            return _plan_cast(x, to, cast, device, copy)
    if device is None and not isinstance(to, (str, Backend, ModuleType)):
        device = target.functions["device"](to)
    elif device is not None:
        device = target.native_device(device)
    if source is target:
        return _plan_within_library(x, source, device, copy)
    memory = source.functions["memory"](x)
    place = _place(x, source, memory)
    here = None if place is None else target.device_at(*place)
    if device is None and here is not None:
        device = here.native

    def plan(action: str, reason: str, route: str, nbytes: int | None = 0) -> ConversionPlan:
        return ConversionPlan(action, reason, nbytes, source, target, device, route, memory)

    refusal = source.functions["export_refusal"](x) or target.functions["import_refusal"](dtype_name(x, source))
    if refusal:
        return plan("refuse", refusal, HOST)
    obstacle = _obstacle(x, source, memory)
    if obstacle is None and memory is not None:
        if device is not None and (here is None or here.native != device):
            obstacle = f"the values are on {memory.device}:{memory.index}, not on {device}"
        else:
            obstacle = target.functions["alias_refusal"](memory, forced=copy is False)
    if obstacle and copy is False:
        return plan("refuse", f"{obstacle}. Instead: copy=None", HOST)
    if obstacle or copy:
        route, nbytes = _copy_route(x, source, target, memory, place), _nbytes(x, memory)
        return plan("copy", _copy_reason(obstacle or "copy=True", route, place, target, device, nbytes), route, nbytes)
    still_written = target.immutable and memory is not None and not (memory.readonly or memory.immutable)
    reason = "aliases memory that you can still write" if still_written else "both arrays share one memory"
    if memory is not None and memory.file and target.functions["alias_refusal"](memory.packed(), forced=True):
        reason = f"the values are read from {memory.file} when they are computed"
    return plan("zero-copy", reason, ALIAS)


def name_in(target: Backend | DenseBackend, dtype: Any) -> str:
    """The name of a dtype that the target has, given as for every function, or by a native dtype of another library."""
    name = name_of(dtype) or target.functions["dtype_name"](target.native_dtype(dtype)) or str(dtype)
    target.native_dtype(name)  # raises if the target has none
    return name


def _plan_cast(x: Array, to: Library, cast: str, device: Any, copy: bool | None) -> ConversionPlan:
    """The plan of a conversion with a cast."""
    source, target = find.of(x), target_of(to)
    have, first = dtype_name(x, source), is_cast_by_source(source, cast)
    place = source.functions["device"](x)
    moved = source.functions["empty"]((0,), dtype=source.native_dtype(cast), device=place) if first else x
    plan = plan_convert(moved, to, device=device, copy=copy)
    refusal = source.functions["export_refusal"](x) if source is not target else None
    if copy is False or refusal:
        reason = refusal or f"the cast from {have} to {cast} is a copy. Instead: copy=None"
        return plan._replace(action="refuse", reason=reason, nbytes=0)
    if plan.action == "refuse":
        return plan
    by = source if first else target
    cast_bytes = _nbytes_of(by.functions["empty"]((0,), dtype=by.native_dtype(cast)), x)
    moved_bytes = 0 if plan.action == "zero-copy" else _nbytes_of(moved, x)
    total = None if cast_bytes is None or moved_bytes is None else cast_bytes + moved_bytes
    steps = [f"{by.name} casts {have} to {cast}"]
    if source is not target:
        shared = f"{target.name} shares {'the result' if first else 'x'} where it can"
        steps.insert(1 if first else 0, shared if plan.action == "zero-copy" else plan.reason)
    return plan._replace(action="copy", reason="; ".join(steps), nbytes=total, cast=cast)


def _nbytes_of(like: Array, x: Array) -> int | None:
    """The number of bytes of an array in the dtype of one array and the shape of another; None if it is unknown."""
    size = prod(x.shape)
    itemsize = getattr(like.dtype, "itemsize", None)
    return None if itemsize is None or size != size else int(size * itemsize)


def is_cast_by_source(source: Backend, cast: str) -> bool:
    """Whether the library of x has the new dtype, so that it casts: the target may lack the dtype of x."""
    return source.functions["import_refusal"](cast) is None


def _plan_within_library(x: Array, own: Backend, device: Any, copy: bool | None) -> ConversionPlan:
    """The plan if x is already an array of the target library."""
    moves = device is not None and device != own.functions["device"](x)
    if not moves and not copy:
        return ConversionPlan("zero-copy", f"x is already a {own.name} array", 0, own, own, device, ALIAS)
    if copy is False:
        reason = f"x is on {own.functions['device'](x)}, not on {device}. Instead: copy=None"
        return ConversionPlan("refuse", reason, 0, own, own, device, ALIAS)
    nbytes = _nbytes(x, own.functions["memory"](x))
    return ConversionPlan("copy", "another device" if moves else "copy=True", nbytes, own, own, device, TARGET_COPIES)


def _place(x: Array, source: Backend, memory: Memory | None) -> tuple[str, int] | None:
    """The kind and index of the single device that holds x; None if there is no such device."""
    if memory is not None:
        return memory.device, memory.index
    held = source.device_of(x)
    return None if held is None else (held.kind, held.index)


def _obstacle(x: Array, source: Backend, memory: Memory | None) -> str | None:
    """The reason why no other library can alias x; None if the memory of x is visible."""
    if memory is not None:
        return None
    lazy = source.functions["is_lazy"](x)
    return f"{source.name} must compute the values first" if lazy else f"{source.name} exposes no memory of x"


def _copy_route(
    x: Array, source: Backend, target: Backend, memory: Memory | None, place: tuple[str, int] | None
) -> str:
    """The route of a copy. Host memory is passed as a NumPy array, which the target copies to its device."""
    if place is None or place[0] == "cpu":
        return HOST
    refusal = partial(target.functions["alias_refusal"], forced=True)  # only the target holds the alias
    if memory is not None and refusal(memory) is None:
        return TARGET_COPIES
    if memory is None:
        shape = tuple(x.shape)
        memory = Memory(dtype_name(x, source), shape, compact_strides(shape, 1), 1, None, *place)
    return SOURCE_COPIES if refusal(memory.packed()) is None else HOST


def _copy_reason(
    obstacle: str, route: str, place: tuple[str, int] | None, target: Backend, device: Any, nbytes: int | None
) -> str:
    """The reason for a copy, and where it is made if a device other than the CPU is involved."""
    if place is None or place[0] == "cpu":
        return obstacle
    here = target.device_at(*place)
    if route == HOST:
        kind = next((d.kind for d in target.devices() if device is None or d.native == device), "cpu")
        return f"{obstacle}; {'copied to' if kind == 'cpu' else 'through'} the host, {nbytes} bytes"
    if here is None or device is None or here.native == device:
        return f"{obstacle}; copied on {place[0]}:{place[1]}"
    return f"{obstacle}; packed on {place[0]}:{place[1]}, then moved" if route == SOURCE_COPIES else obstacle


def carry_out(plan: ConversionPlan, x: Array) -> Array:
    """Execute a plan without a cast. Errors of the libraries are not caught."""
    source, target, device = plan.source, plan.target, plan.device
    if source is target:
        if plan.action == "zero-copy":
            return x
        moved = x if device is None else source.functions["to_device"](x, device)
        return source.functions["asarray"](x, copy=True) if moved is x else moved
    if plan.route == HOST:
        return target.functions["from_numpy"](source.functions["to_numpy"](x), device)
    if plan.route == SOURCE_COPIES:
        packed = source.functions["packed"](x)
        seen = aliased(packed, source.functions["memory"](packed), source, target)
    else:
        seen = aliased(x, plan.memory, source, target)
    if plan.route == ALIAS:
        return seen
    moved = seen if device is None else target.functions["to_device"](seen, device)
    return target.functions["packed"](seen) if moved is seen and plan.route == TARGET_COPIES else moved


def aliased(x: Array, memory: Memory | None, source: Backend, target: Backend) -> Array:
    """An array of the target over the memory of x."""
    assert memory is not None, "only visible memory can be aliased"
    with source.functions["exporting"](x):
        y = target.functions["alias"](x, memory, partial(source.functions["to_numpy"], x))
    return y if memory.device == "cpu" else loans.keep_owner(x, source, y, target)


def dtype_name(x: Array, source: Any) -> str:
    """The standard's name of the dtype of x, or the library's name if the standard has none."""
    return source.functions["dtype_name"](x.dtype) or str(x.dtype)


def _nbytes(x: Array, memory: Memory | None) -> int | None:
    """The number of bytes of a copy; None if the size is unknown, which Dask reports as NaN."""
    nbytes = memory.nbytes if memory is not None else getattr(x, "nbytes", None)
    return None if nbytes is None or nbytes != nbytes else int(nbytes)
