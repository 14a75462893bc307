"""Which kernel serves a call of attention where the user has a say: by name, or by engines of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from xarrayops import _engines, registry
from xarrayops._candidates import Call, Kernel, NotServed, always, first_able, refusal, remember
from xarrayops._entry_points import names
from xarrayops._exchange import convert
from xarrayops._exchange_plan import plan_convert
from xarrayops._explanation import Candidate
from xarrayops._loading import by_module
from xarrayops.dispatch import constant_while_tracing, creator, hold
from xarrayops.errors import BackendNotFound, Unsupported, what_there_is
from xarrayops.plugin import Array, Attention
from xarrayops.registry import Backend

FIELDS = ("q", "k", "v", "mask", "bias", "offset", "q_lengths", "kv_lengths")
"""Where a call may hold arrays."""
NOTES = {"generic": "written on the standard alone, for what no other serves"}
"""What `explain` says of kernels that can serve."""


class Road(NamedTuple):
    """One way to serve a call: a kernel of the arrays' own library, or of an engine."""

    own: Backend
    engine: Backend
    kernel: Kernel

    @property
    def name(self) -> str:
        """As users name it."""
        return f"{self.engine.name}:{self.kernel[0]}"

    @property
    def is_foreign(self) -> bool:
        """Whether arrays change hands."""
        return self.engine is not self.own

    def refusal(self, a: Attention) -> str | None:
        """Why it cannot serve the call; None if it can. Nothing is copied to find that out."""
        if not self.is_foreign:
            return self.refusal_of(a)
        return _obstacle(a, self.own, self.engine) or self.refusal_of(_stand_in(a, self.engine))

    def refusal_of(self, a: Attention) -> str | None:
        """Why the kernel itself cannot serve a call of its own library's arrays."""
        return refusal(self.kernel, Call((a,), {}))

    def copies(self, a: Attention) -> tuple[str, ...]:
        """What is copied on the way in and out, and by the kernel itself."""
        inner = getattr(self.kernel[1], "copies", None)
        if not self.is_foreign:
            return inner(Call((a,), {})) if inner else ()
        plans = {name: _plan(x, self.engine) for name, x in _arrays(a)}
        coming = (f"copies {name}, {p.nbytes} bytes: {p.reason}" for name, p in plans.items() if p.action == "copy")
        own = inner(Call((_stand_in(a, self.engine),), {})) if inner else ()
        return (*coming, *own, *(("copies the result",) if self.engine.immutable else ()))

    def lent(self, a: Attention) -> Attention | str:
        """The call in arrays of the engine, or why they cannot change hands."""
        if not self.is_foreign:
            return a
        obstacle = _obstacle(a, self.own, self.engine)
        if obstacle is not None:
            return obstacle
        to = self.engine.name
        return a._replace(**{name: convert(x, to, device=_device(x, self.engine)) for name, x in _arrays(a)})

    def serve(self, taken: Attention, device: Any) -> tuple[Array, Array | None]:
        """Carry out what was taken; results come back to the device of the caller's arrays."""
        out, lse = self.kernel[1](taken)
        if not self.is_foreign:
            return out, lse
        back = {"device": device, "copy": True if self.engine.immutable else None}  # results are the caller's to write
        home = self.own.name if self.own.has_entry_point else self.own.namespace
        return convert(out, home, **back), None if lse is None else convert(lse, home, **back)


def roads(own: Backend, engines: Iterable[str]) -> list[Road]:
    """All ways, best first: those of the engines, then those of the arrays' own library."""
    lending = [registry.backend_by_name(name) for name in engines if name != own.name]
    foreign = [Road(own, engine, kernel) for engine in lending for kernel in _kernels(engine)[:-1]]
    return [*foreign, *(Road(own, own, kernel) for kernel in _kernels(own))]


def _kernels(backend: Backend) -> list[Kernel]:
    """The kernels of a library; the last one is the generic twin."""
    return backend.kernels.get("attention", [("generic", backend.functions["attention"], always)])


def serve_by_first(found: Iterable[Road], a: Attention) -> tuple[Array, Array | None]:
    """Serve a call by the first of some roads that can. All kernels of an engine are given the same arrays."""
    reasons = []
    lent: dict[str, Attention | str] = {}
    for road in found:
        if road.engine.name not in lent:
            lent[road.engine.name] = road.lent(a)
        taken = lent[road.engine.name]
        reason = taken if isinstance(taken, str) else road.refusal_of(taken)
        if reason is None and not isinstance(taken, str):
            try:
                return road.serve(taken, road.own.functions["device"](a.q))
            except NotServed as error:
                reason = remember(road.kernel, Call((taken,), {}), error)
        reasons.append(f"{road.name}: {reason}")
    raise Unsupported("; ".join(reasons))


def serve_by_engines(a: Attention) -> tuple[Array, Array | None]:
    """Serve a call by an engine, or by the arrays' own library where none can."""
    return serve_by_first(roads(registry.backend_of(a.q), _engines.active()), a)


@constant_while_tracing
def hold_named(cls: type, name: str | None, implementation: str) -> str:
    """The name in `resolved` of what serves arrays of a class by the implementation of that name, or raises."""
    road = named(creator(cls, name), implementation)
    serve = partial(serve_by_first, [road]) if road.is_foreign else first_able("attention", [road.kernel])
    return hold(f"attention:{implementation}:{road.own.name}", serve)


def named(own: Backend, implementation: str) -> Road:
    """The road of that name, whether or not its library is among the engines."""
    library = str(implementation).partition(":")[0]
    try:
        found = roads(own, [library] if library in registry.entry_points() else [])
    except BackendNotFound as error:
        raise Unsupported(f"implementation={implementation!r}: {error}") from None
    by_name = {road.name: road for road in found}
    if implementation not in by_name:
        raise Unsupported(f"no implementation {implementation!r}: {what_there_is(implementation, by_name)}")
    return by_name[implementation]


def candidates(a: Attention, found: Iterable[Road]) -> Iterator[Candidate]:
    """The roads as `explain` shows them."""
    for road in found:
        reason = road.refusal(a)
        yield Candidate(
            road.name, reason is None, reason or NOTES.get(road.kernel[0], ""), () if reason else road.copies(a)
        )


def idle_engines(a: Attention, own: Backend) -> str:
    """What engines that are not active could do for arrays whose own library has no kernel, in a clause for `explain`.

    Libraries that are not imported are named and not asked: to import one may take seconds and memory of the device.
    """
    from importlib.util import find_spec

    loaded = {backend.name: backend for backend in by_module.values() if backend is not own}
    clauses = []
    for engine in loaded.values():
        able = (road for road in roads(own, [engine.name]) if road.is_foreign and road.refusal(a) is None)
        first = next((road.name for road in able if not road.copies(a)), None)
        if first is not None:
            clauses.append(f'{first} can, without a copy, and is most likely quicker: with xo.engines("{engine.name}")')
    others = [name for name in names() if name not in loaded and name != own.name and find_spec(name)]
    if not clauses and others:
        clauses.append(f"xo.engines(name) lets kernels of a library serve that is installed: {', '.join(others)}")
    return "; ".join(clauses)


def _arrays(a: Attention) -> Iterator[tuple[str, Array]]:
    for name in FIELDS:
        value = getattr(a, name)
        if hasattr(value, "shape"):
            yield name, value


def _plan(x: Array, engine: Backend) -> Any:
    return plan_convert(x, engine.name, device=_device(x, engine))


def _device(x: Array, engine: Backend) -> Any:
    """The engine's own name for the device that holds x; None if it cannot use that device."""
    own = registry.backend_of(x)
    held = own.device_of(x)
    if held is None:
        return None
    found = engine.device_at(held.kind, held.index)
    if found is None:  # a library without a backend file has kinds of devices of its own
        memory = own.functions["memory"](x)
        found = None if memory is None else engine.device_at(memory.device, memory.index)
    return None if found is None else found.native


def _obstacle(a: Attention, own: Backend, engine: Backend) -> str | None:
    """Why arrays of the call cannot change hands."""
    if own.functions["is_lazy"](a.q):
        return f"{own.name} has not computed the values yet"
    for name, x in _arrays(a):
        if _device(x, engine) is None:
            return f"{engine.name} cannot use the device of {name}"
        plan = _plan(x, engine)
        if plan.action == "refuse":
            return f"{name}: {plan.reason}"
    return None


def _stand_in(a: Attention, engine: Backend) -> Attention:
    """The call as the engine would get it; arrays that would be copied have their shape and dtype, and no values."""
    lent = {}
    for name, x in _arrays(a):
        plan = _plan(x, engine)
        if plan.action == "zero-copy":
            lent[name] = convert(x, engine.name, device=plan.device)
        else:
            dtype = engine.native_dtype(plan.source.functions["dtype_name"](x.dtype))
            lent[name] = engine.namespace.empty(tuple(x.shape), dtype=dtype, device=plan.device)
    return a._replace(**lent)
