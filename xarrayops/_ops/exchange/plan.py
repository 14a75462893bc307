"""A conversion between libraries: what it will do, found before anything moves, and how it is carried out.

Two questions are kept apart: can the target see the memory of x, and may it alias that memory. What it sees but may not
alias is copied on the device that holds it. What a library sees and may alias is said by the hooks of its backend file
(`memory`, `export_refusal`, `import_refusal`, `alias_refusal`); here is only the order in which they are asked.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

from xarrayops._core import registry
from xarrayops._core.registry import Backend
from xarrayops._ops.exchange import loans
from xarrayops._protocol.devices import Memory, compact_strides
from xarrayops._protocol.types import Array
from xarrayops.errors import BackendNotFound

ALIAS = "alias"
"""The target has an array over the memory of x."""
TARGET_COPIES = "the target copies"
"""The target aliases the memory, and copies it on its device or to another one."""
SOURCE_COPIES = "the source copies"
"""The source copies x on its device, compact and aligned, and the target takes over that memory."""
HOST = "host"
"""The values come as a NumPy array, of which the target makes a copy where it wants it."""


class Plan(NamedTuple):
    """What a conversion will do: ``action`` is "zero-copy", "copy" or "refuse", ``route`` who copies.

    ``device`` is the target's native device; None for the target's default.
    """

    action: str
    reason: str
    nbytes: int | None
    source: Backend
    target: Backend
    device: Any
    route: str
    memory: Memory | None = None


def target_of(to: str | ModuleType | Array) -> Backend:
    """The backend that a name, a namespace or an array stands for."""
    if isinstance(to, str):
        return registry.backend_by_name(to)
    if isinstance(to, ModuleType):
        return registry.backend_by_namespace(to)
    if registry.register_conforming(to) is None:
        kind = registry.describe_class(type(to))
        raise BackendNotFound(f"xo.convert: to must be a backend's name, a namespace or an array; it is a {kind}.")
    return registry.backend_of(to)


def plan_convert(x: Array, to: str | ModuleType | Array, /, *, device: Any = None, copy: bool | None = None) -> Plan:
    """What `convert` would do with these arguments, before anything moves."""
    source, target = registry.backend_of(x), target_of(to)
    if device is None and not isinstance(to, (str, ModuleType)):
        device = target.functions["device"](to)
    elif device is not None:
        device = target.native_device(device)
    if source is target:
        return _plan_at_home(x, source, device, copy)
    memory = source.functions["memory"](x)
    place = _place(x, source, memory)
    here = None if place is None else target.device_at(*place)
    if device is None and here is not None:
        device = here.native

    def plan(action: str, reason: str, route: str, nbytes: int | None = 0) -> Plan:
        return Plan(action, reason, nbytes, source, target, device, route, memory)

    refusal = source.functions["export_refusal"](x) or target.functions["import_refusal"](dtype_name(x, source))
    if refusal:
        return plan("refuse", refusal, HOST)
    obstacle = _obstacle(x, source, memory)
    if obstacle is None and memory is not None:
        if device is not None and (here is None or here.native != device):
            obstacle = f"the values lie on {memory.device}:{memory.index}, not on {device}"
        else:
            obstacle = target.functions["alias_refusal"](memory, forced=copy is False)
    if obstacle and copy is False:
        return plan("refuse", f"{obstacle}. Instead: copy=None", HOST)
    if obstacle or copy:
        route, nbytes = _copy_route(x, source, target, memory, place), _nbytes(x, memory)
        return plan("copy", _explained(obstacle or "copy=True", route, place, target, device, nbytes), route, nbytes)
    still_written = target.immutable and memory is not None and not (memory.readonly or memory.immutable)
    reason = "aliases memory that you can still write" if still_written else "one memory serves both"
    return plan("zero-copy", reason, ALIAS)


def _plan_at_home(x: Array, home: Backend, device: Any, copy: bool | None) -> Plan:
    """The plan where x is of the target library already."""
    moves = device is not None and device != home.functions["device"](x)
    if not moves and not copy:
        return Plan("zero-copy", f"x is a {home.name} array already", 0, home, home, device, ALIAS)
    if copy is False:
        reason = f"x is on {home.functions['device'](x)}, not on {device}. Instead: copy=None"
        return Plan("refuse", reason, 0, home, home, device, ALIAS)
    nbytes = _nbytes(x, home.functions["memory"](x))
    return Plan("copy", "another device" if moves else "copy=True", nbytes, home, home, device, TARGET_COPIES)


def _place(x: Array, source: Backend, memory: Memory | None) -> tuple[str, int] | None:
    """The kind and index of the one device that holds x; None where there is none."""
    if memory is not None:
        return memory.device, memory.index
    held = source.device_of(x)
    return None if held is None else (held.kind, held.index)


def _obstacle(x: Array, source: Backend, memory: Memory | None) -> str | None:
    """Why no other library can alias x; None where its memory is visible."""
    if memory is not None:
        return None
    lazy = source.functions["is_lazy"](x)
    return f"{source.name} must compute the values first" if lazy else f"{source.name} shows no memory of x"


def _copy_route(
    x: Array, source: Backend, target: Backend, memory: Memory | None, place: tuple[str, int] | None
) -> str:
    """Who copies. Host memory goes by NumPy, whose copy the target places where it wants it."""
    if place is None or place[0] == "cpu":
        return HOST
    refusal = partial(target.functions["alias_refusal"], forced=True)  # only the target holds the alias
    if memory is not None and refusal(memory) is None:
        return TARGET_COPIES
    if memory is None:
        shape = tuple(x.shape)
        memory = Memory(dtype_name(x, source), shape, compact_strides(shape, 1), 1, None, *place)
    return SOURCE_COPIES if refusal(memory.packed()) is None else HOST


def _explained(
    obstacle: str, route: str, place: tuple[str, int] | None, target: Backend, device: Any, nbytes: int | None
) -> str:
    """Why there is a copy, and where it is made if that is on a device or between two."""
    if place is None or place[0] == "cpu":
        return obstacle
    here = target.device_at(*place)
    if route == HOST:
        lands = next((d.kind for d in target.devices() if device is None or d.native == device), "cpu")
        return obstacle if lands == "cpu" else f"{obstacle}; through the host, {nbytes} bytes"
    if here is None or device is None or here.native == device:
        return f"{obstacle}; copied on {place[0]}:{place[1]}"
    return f"{obstacle}; packed on {place[0]}:{place[1]}, then moved" if route == SOURCE_COPIES else obstacle


def carry_out(plan: Plan, x: Array) -> Array:
    """What a plan says, done. The libraries' own errors pass."""
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
        aliased = _aliased(packed, source.functions["memory"](packed), source, target)
    else:
        aliased = _aliased(x, plan.memory, source, target)
    if plan.route == ALIAS:
        return aliased
    moved = aliased if device is None else target.functions["to_device"](aliased, device)
    return target.functions["packed"](aliased) if moved is aliased and plan.route == TARGET_COPIES else moved


def _aliased(x: Array, memory: Memory | None, source: Backend, target: Backend) -> Array:
    """An array of the target over the memory of x."""
    assert memory is not None, "only memory that is shown is aliased"
    with source.functions["exporting"](x):
        y = target.functions["alias"](x, memory, partial(source.functions["to_numpy"], x))
    return y if memory.device == "cpu" else loans.keep_owner(x, source, y, target)


def dtype_name(x: Array, source: Any) -> str:
    """The standard's name of a dtype, or the library's own."""
    return source.functions["dtype_name"](x.dtype) or str(x.dtype)


def _nbytes(x: Array, memory: Memory | None) -> int | None:
    """The bytes that a copy takes; None while a size is unknown, which Dask shows as NaN."""
    nbytes = memory.nbytes if memory is not None else getattr(x, "nbytes", None)
    return None if nbytes is None or nbytes != nbytes else int(nbytes)
