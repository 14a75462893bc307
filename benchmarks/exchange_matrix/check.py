"""One cell inside a worker: make the array, ask `explain`, convert, and compare the result with the forecast."""

from __future__ import annotations

import warnings
from typing import Any

import xarrayops as xo
from benchmarks.exchange_matrix import containers
from benchmarks.exchange_matrix.faults import refusal_faults, same_bits
from benchmarks.exchange_matrix.memory_kinds import CannotBeMade, Host, make
from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._host import views
from xarrayops.errors import ExchangeError, Unsupported
from xarrayops.plugin import Array, Memory


def examine(
    producer: Backend, consumer: Backend, dtype: str, kind: str, copy: bool | None, *, device: Any = None
) -> dict[str, Any]:
    """The "outcome", "reason", "action" and "nbytes" of a cell. ``device`` is a native device of the producer."""
    if kind in containers.CONTAINERS:
        return containers.examine(producer, consumer, dtype, kind, copy, device=device)
    try:
        x, want = make(producer, dtype, kind, device)
    except CannotBeMade as reason:
        return {"outcome": "not made", "reason": str(reason)}
    to = consumer.name if consumer.has_entry_point else consumer.namespace
    plan = xo.explain("convert", x, to, copy=copy)
    forecast = {"action": plan.action, "reason": plan.reason, "nbytes": plan.nbytes}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            y = xo.convert(x, to, copy=copy)
    except (ExchangeError, Unsupported) as error:
        faults = refusal_faults(str(plan.action), str(error))
        outcome = "refused"
    except Exception as error:
        return forecast | {"outcome": "fault", "reason": f"convert raised {type(error).__name__}: {error}"}
    else:
        faults = _result_faults(x, y, want, dtype, consumer, plan)
        outcome = str(plan.action)
    if not same_bits(read(x), want):
        faults.append("the source was changed")
    return forecast | ({"outcome": "fault", "reason": "; ".join(faults)} if faults else {"outcome": outcome})


def _result_faults(x: Array, y: Array, want: Host, dtype: str, consumer: Backend, plan: xo.Explanation) -> list[str]:
    """All faults of a result."""
    faults = []
    if plan.action == "refuse":
        faults.append(f"explain said refuse ({plan.reason}), convert succeeded")
    if find.of(y) is not consumer:
        return [*faults, f"the result is a {registry.describe_class(type(y))}"]
    if consumer.functions["dtype_name"](y.dtype) != dtype:
        faults.append(f"the dtype became {y.dtype}")
    if tuple(y.shape) != want.shape:
        return [*faults, f"the shape became {tuple(y.shape)}"]
    for source, values in (("memory", read(y)), ("library", _read_by_library(y))):
        if not same_bits(values, want):
            faults.append(f"the values differ when read from its {source}")
    copied = want.nbytes if plan.action == "copy" else 0
    if plan.nbytes != copied:
        faults.append(f"explain said {plan.nbytes} bytes, {copied} were copied")
    return faults + _device_faults(x, y, plan) + _sharing_faults(x, y, want, plan)


def _device_faults(x: Array, y: Array, plan: xo.Explanation) -> list[str]:
    """The faults of the device: it must be that of x if the consumer has it, and no data may leave it."""
    held, consumer = find.of(x).device_of(x), find.of(y)
    here = None if held is None else consumer.device_at(held.kind, held.index)
    if here is None or held is None:
        return []
    if consumer.functions["device"](y) != here.native:
        return [f"the result is on {consumer.functions['device'](y)}, not on {here.name}"]
    crosses = held.kind != "cpu" and "through the host" in str(plan.reason)
    return [f"the values pass through the host although both arrays are on {held.name}"] if crosses else []


def _sharing_faults(x: Array, y: Array, want: Host, plan: xo.Explanation) -> list[str]:
    """The faults of shared and of writable memory."""
    faults = []
    source, target = _memory(x), _memory(y)
    shared = xo.shares_memory(x, y)
    expected = plan.action == "zero-copy" and want.size > 0 and source is not None and target is not None
    if y is x and plan.action != "zero-copy":
        faults.append(f"explain said {plan.action}, but the result is the array itself")
    if plan.action == "zero-copy" and y is not x and (source is None or target is None):
        faults.append("explain said zero-copy, but one of the arrays exposes no memory")
    if shared is not expected:
        faults.append(f"explain said {plan.action}, shares_memory says {shared}")
    if shared and source is not None and source.readonly and target is not None and not target.readonly:
        faults.append("a writable alias of read-only memory")
    if plan.action == "copy" and target is not None and target.readonly and not target.immutable:
        faults.append("the copy is read-only")
    return faults


def _memory(x: Array) -> Memory | None:
    memory: Memory | None = find.of(x).functions["memory"](x)
    return memory


def read(x: Array) -> Host:
    """The values, read directly from host memory where the library exposes it, otherwise by the library."""
    xo.synchronize(x)
    memory = _memory(x)
    if memory is None or memory.pointer is None or memory.device != "cpu":
        return _read_by_library(x)
    swapped = memory.dtype.startswith(">")
    typestr = memory.dtype if swapped else f"|V{memory.itemsize}"
    seen = views.over(memory.pointer, memory.shape, memory.strides, typestr, readonly=True, owner=x)
    return seen.astype(seen.dtype.newbyteorder("=")) if swapped else seen


def _read_by_library(x: Array) -> Host:
    (computed,) = find.of(x).functions["compute"](x)
    values: Host = find.of(computed).functions["to_numpy"](computed)
    return values.astype(values.dtype.newbyteorder("="), copy=False)
