"""Which kernel serves a call of attention where the user has a say: by name, or by engines of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from xarrayops._core.backends import registry
from xarrayops._core.backends.entry_points import names
from xarrayops._core.backends.registry import Backend, by_module
from xarrayops._core.dispatch.lookup import constant_while_tracing, publish
from xarrayops._core.modes.precision import of_engine, refusal_of_engine
from xarrayops._ops.engines import active, passing
from xarrayops._ops.explanation import Candidate
from xarrayops.errors import BackendNotFound, Unsupported, available_names
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.attention import Attention
from xarrayops.plugin.candidates import Call, Kernel, NotServed, always, copies_of, first_able, refusal, remember

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
        return self._obstacle(a) or self.refusal_of(passing.sampled(a, self.engine))

    def _obstacle(self, a: Attention) -> str | None:
        """Why no kernel of the engine can serve the call."""
        dtype = self.own.functions["dtype_name"](a.q.dtype)
        return refusal_of_engine(self.engine, dtype) or passing.obstacle(a, self.own, self.engine)

    def refusal_of(self, a: Attention) -> str | None:
        """Why the kernel itself cannot serve a call of its own library's arrays."""
        return refusal(self.kernel, Call((a,), {}))

    def copies(self, a: Attention) -> tuple[str, ...]:
        """What is copied on the way in and out, and by the kernel itself."""
        if not self.is_foreign:
            return copies_of(self.kernel, Call((a,), {}))
        within = copies_of(self.kernel, Call((passing.sampled(a, self.engine),), {}))
        return passing.copies(a, self.engine, within)

    def converted(self, a: Attention) -> Attention | str:
        """The call in arrays of the engine, or why they cannot change hands."""
        if not self.is_foreign:
            return a
        obstacle = self._obstacle(a)
        return passing.taken(a, self.engine) if obstacle is None else obstacle

    def serve(self, taken: Attention, a: Attention) -> tuple[Array, Array | None]:
        """Carry out what was taken; results come back to the device of the caller's arrays."""
        if not self.is_foreign:
            return self.kernel[1](taken)
        with of_engine(self.engine, taken.q):
            results = self.kernel[1](taken)
        return passing.returned(results, self.own, self.engine, a)


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
                return route.serve(taken, a)
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
