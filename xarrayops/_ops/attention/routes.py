"""Which kernel serves a call of attention where the user has a say: by name, or by engines of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from xarrayops._core import registry
from xarrayops._core.dispatch import constant_while_tracing, publish
from xarrayops._core.entry_points import names
from xarrayops._core.precision import of_engine
from xarrayops._core.registry import Backend, by_module
from xarrayops._ops.engines import active
from xarrayops._ops.exchange.convert import convert
from xarrayops._ops.exchange.plan import plan_convert
from xarrayops._ops.explanation import Candidate
from xarrayops._protocol.attention import Attention
from xarrayops._protocol.candidates import Call, Kernel, NotServed, always, copies_of, first_able, refusal, remember
from xarrayops._protocol.records import Record
from xarrayops._protocol.types import Array
from xarrayops.errors import BackendNotFound, Unsupported, available_names

FIELDS = ("q", "k", "v", "mask", "bias", "offset", "q_lengths", "kv_lengths")
"""Where a call may hold arrays."""
NOTES = {"generic": "written on the standard alone, for what no other serves"}
"""What `explain` says of kernels that can serve."""


class Route(Record):
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
        return _obstacle(a, self.own, self.engine) or self.refusal_of(_call_for(a, self.engine))

    def refusal_of(self, a: Attention) -> str | None:
        """Why the kernel itself cannot serve a call of its own library's arrays."""
        return refusal(self.kernel, Call((a,), {}))

    def copies(self, a: Attention) -> tuple[str, ...]:
        """What is copied on the way in and out, and by the kernel itself."""
        if not self.is_foreign:
            return copies_of(self.kernel, Call((a,), {}))
        plans = {name: _plan(x, self.engine) for name, x in _arrays(a)}
        coming = (f"copies {name}, {p.nbytes} bytes: {p.reason}" for name, p in plans.items() if p.action == "copy")
        own = copies_of(self.kernel, Call((_call_for(a, self.engine),), {}))
        return (*coming, *own, *(("copies the result",) if self.engine.immutable else ()))

    def converted(self, a: Attention) -> Attention | str:
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
        if not self.is_foreign:
            return self.kernel[1](taken)
        with of_engine(self.engine, taken.q):
            out, lse = self.kernel[1](taken)
        back = {"device": device, "copy": True if self.engine.immutable else None}  # results are the caller's to write
        library = self.own.name if self.own.has_entry_point else self.own.namespace
        return convert(out, library, **back), None if lse is None else convert(lse, library, **back)


def routes(own: Backend, engines: Iterable[str]) -> list[Route]:
    """All ways, best first: those of the engines, then those of the arrays' own library."""
    libraries = [registry.backend_by_name(name) for name in engines if name != own.name]
    foreign = [Route(own, engine, kernel) for engine in libraries for kernel in _kernels(engine)[:-1]]
    return [*foreign, *(Route(own, own, kernel) for kernel in _kernels(own))]


def _kernels(backend: Backend) -> list[Kernel]:
    """The kernels of a library; the last one is the generic twin."""
    return backend.kernels.get("attention", [("generic", backend.functions["attention"], always)])


def serve_by_first(found: Iterable[Route], a: Attention) -> tuple[Array, Array | None]:
    """Serve a call by the first of some routes that can. All kernels of an engine are given the same arrays."""
    reasons = []
    converted: dict[str, Attention | str] = {}
    for route in found:
        if route.engine.name not in converted:
            converted[route.engine.name] = route.converted(a)
        taken = converted[route.engine.name]
        reason = taken if isinstance(taken, str) else route.refusal_of(taken)
        if reason is None and not isinstance(taken, str):
            try:
                return route.serve(taken, route.own.functions["device"](a.q))
            except NotServed as error:
                reason = remember(route.kernel, Call((taken,), {}), error)
        reasons.append(f"{route.name}: {reason}")
    raise Unsupported("; ".join(reasons))


def serve_by_engines(a: Attention) -> tuple[Array, Array | None]:
    """Serve a call by an engine, or by the arrays' own library where none can."""
    return serve_by_first(routes(registry.backend_of(a.q), active()), a)


@constant_while_tracing
def publish_named(cls: type, name: str, implementation: str) -> str:
    """The name in `resolved` of what serves arrays of a class and a backend by that implementation, or raises."""
    own = registry.backend_of_class(cls)
    if own is None or own.name != name:  # an XLA tensor, say, which bears PyTorch's class
        own = registry.backend_by_name(name)
    route = named(own, implementation)
    serve = partial(serve_by_first, [route]) if route.is_foreign else first_able("attention", [route.kernel])
    return publish(f"attention:{implementation}:{name}", serve)


def named(own: Backend, implementation: str) -> Route:
    """The route of that name, whether or not its library is among the engines."""
    library = str(implementation).partition(":")[0]
    try:
        found = routes(own, [library] if library in registry.entry_points() else [])
    except BackendNotFound as error:
        raise Unsupported(f"implementation={implementation!r}: {error}") from None
    by_name = {route.name: route for route in found}
    if implementation not in by_name:
        raise Unsupported(f"no implementation {implementation!r}: {available_names(implementation, by_name)}")
    return by_name[implementation]


def candidates(a: Attention, found: Iterable[Route]) -> Iterator[Candidate]:
    """The routes as `explain` shows them."""
    for route in found:
        reason = route.refusal(a)
        yield Candidate(
            route.name, reason is None, reason or NOTES.get(route.kernel[0], ""), () if reason else route.copies(a)
        )


def unused_engines(a: Attention, own: Backend) -> str:
    """What engines that are not active could do for arrays whose own library has no kernel, in a clause for `explain`.

    Libraries that are not imported are named and not asked: to import one may take seconds and memory of the device.
    """
    from importlib.util import find_spec

    loaded = {backend.name: backend for backend in by_module.values() if backend is not own}
    clauses = []
    for engine in loaded.values():
        able = (route for route in routes(own, [engine.name]) if route.is_foreign and route.refusal(a) is None)
        first = next((route.name for route in able if not route.copies(a)), None)
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


def _call_for(a: Attention, engine: Backend) -> Attention:
    """The call as the engine would get it; arrays that would be copied have their shape and dtype, and no values."""
    converted = {}
    for name, x in _arrays(a):
        plan = _plan(x, engine)
        if plan.action == "zero-copy":
            converted[name] = convert(x, engine.name, device=plan.device)
        else:
            dtype = engine.native_dtype(plan.source.functions["dtype_name"](x.dtype))
            converted[name] = engine.namespace.empty(tuple(x.shape), dtype=dtype, device=plan.device)
    return a._replace(**converted)
