"""One cell inside a worker: make the array, ask `explain`, convert, and hold what happened against what was said."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core import registry
from xarrayops._core.registry import Backend
from xarrayops._host import views
from xarrayops.errors import ExchangeError, Unsupported
from xarrayops.plugin import Array, Memory
from xarrayops.testing.exchange_matrix import containers
from xarrayops.testing.exchange_matrix.memory_kinds import CannotBeMade, Host, make

_PIECE = 2**26
"""How many bytes are compared at a time, so that a comparison of large arrays needs no memory to speak of."""


def examine(
    producer: Backend, consumer: Backend, dtype: str, kind: str, copy: bool | None, *, device: Any = None
) -> dict[str, Any]:
    """What came of a cell: "outcome", "reason", "action" and "nbytes"; ``device`` is the producer's, native."""
    if kind in containers.CONTAINERS:
        return containers.examine(producer, consumer, dtype, kind, copy, device=device)
    try:
        x, want = make(producer, dtype, kind, device)
    except CannotBeMade as reason:
        return {"outcome": "not made", "reason": str(reason)}
    to = consumer.name if consumer.has_entry_point else consumer.namespace
    plan = xo.explain("convert", x, to, copy=copy)
    told = {"action": plan.action, "reason": plan.reason, "nbytes": plan.nbytes}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            y = xo.convert(x, to, copy=copy)
    except (ExchangeError, Unsupported) as error:
        faults = _faults_of_refusal(str(plan.action), str(error))
        outcome = "refused"
    except Exception as error:
        return told | {"outcome": "fault", "reason": f"convert raised {type(error).__name__}: {error}"}
    else:
        faults = _faults(x, y, want, dtype, consumer, plan)
        outcome = str(plan.action)
    if not _same(read(x), want):
        faults.append("the source was changed")
    return told | ({"outcome": "fault", "reason": "; ".join(faults)} if faults else {"outcome": outcome})


def _faults_of_refusal(action: str, message: str) -> list[str]:
    faults = [] if action == "refuse" else [f"explain said {action}, convert refused: {message}"]
    return faults if "Instead: " in message else [*faults, f"no way out: {message}"]


def _faults(x: Array, y: Array, want: Host, dtype: str, consumer: Backend, plan: xo.Explanation) -> list[str]:
    """Everything that is wrong with a result."""
    faults = []
    if plan.action == "refuse":
        faults.append(f"explain said refuse ({plan.reason}), convert did not")
    if registry.backend_of(y) is not consumer:
        return [*faults, f"the result is a {registry.describe_class(type(y))}"]
    if consumer.functions["dtype_name"](y.dtype) != dtype:
        faults.append(f"the dtype became {y.dtype}")
    if tuple(y.shape) != want.shape:
        return [*faults, f"the shape became {tuple(y.shape)}"]
    for way, values in (("memory", read(y)), ("library", _by_its_library(y))):
        if not _same(values, want):
            faults.append(f"the values differ, read by its {way}")
    moved = want.nbytes if plan.action == "copy" else 0
    if plan.nbytes != moved:
        faults.append(f"explain said {plan.nbytes} bytes, {moved} move")
    return faults + _faults_of_place(x, y, plan) + _faults_of_sharing(x, y, want, plan)


def _faults_of_place(x: Array, y: Array, plan: xo.Explanation) -> list[str]:
    """What is wrong with the device of a result: it is that of x, if the consumer has it, and no byte leaves it."""
    held, consumer = registry.backend_of(x).device_of(x), registry.backend_of(y)
    here = None if held is None else consumer.device_at(held.kind, held.index)
    if here is None or held is None:
        return []
    if consumer.functions["device"](y) != here.native:
        return [f"the result is on {consumer.functions['device'](y)}, not on {here.name}"]
    crosses = held.kind != "cpu" and "through the host" in str(plan.reason)
    return [f"the values pass through the host on their way from {held.name} to {held.name}"] if crosses else []


def _faults_of_sharing(x: Array, y: Array, want: Host, plan: xo.Explanation) -> list[str]:
    """What is wrong with who may write whose memory."""
    faults = []
    source, target = _memory(x), _memory(y)
    shared = xo.shares_memory(x, y)
    expected = plan.action == "zero-copy" and want.size > 0 and source is not None and target is not None
    if y is x and plan.action != "zero-copy":
        faults.append(f"explain said {plan.action}, but the result is the array itself")
    if plan.action == "zero-copy" and y is not x and (source is None or target is None):
        faults.append("explain said zero-copy, but one of the two shows no memory")
    if shared is not expected:
        faults.append(f"explain said {plan.action}, shares_memory says {shared}")
    if shared and source is not None and source.readonly and target is not None and not target.readonly:
        faults.append("a writable alias of read-only memory")
    if plan.action == "copy" and target is not None and target.readonly and not target.immutable:
        faults.append("the copy is read-only")
    return faults


def _memory(x: Array) -> Memory | None:
    memory: Memory | None = registry.backend_of(x).functions["memory"](x)
    return memory


def read(x: Array) -> Host:
    """The values as they lie in memory, past the library; by the library itself where it shows no host memory."""
    xo.synchronize(x)
    memory = _memory(x)
    if memory is None or memory.pointer is None or memory.device != "cpu":
        return _by_its_library(x)
    swapped = memory.dtype.startswith(">")
    typestr = memory.dtype if swapped else f"|V{memory.itemsize}"
    seen = views.over(memory.pointer, memory.shape, memory.strides, typestr, readonly=True, owner=x)
    return seen.astype(seen.dtype.newbyteorder("=")) if swapped else seen


def _by_its_library(x: Array) -> Host:
    (computed,) = registry.backend_of(x).functions["compute"](x)
    values: Host = registry.backend_of(computed).functions["to_numpy"](computed)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _same(values: Host, want: Host) -> bool:
    """Whether two arrays hold the same bits."""
    if values.shape != want.shape or values.itemsize != want.itemsize:
        return False
    first, second = (np.ascontiguousarray(a).reshape(-1).view(np.uint8) for a in (values, want))
    pieces = range(0, first.size, _PIECE)
    return all(np.array_equal(first[i : i + _PIECE], second[i : i + _PIECE]) for i in pieces)
