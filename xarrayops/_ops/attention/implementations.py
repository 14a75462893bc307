"""Choose the kernel of a call that the user restricts, by ``implementation=`` or by engines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.lookup import constant_while_tracing, publish
from xarrayops._ops.engines.serving import Route, serving
from xarrayops.errors import BackendNotFound, Unsupported, available_names
from xarrayops.plugin.candidates import Kernel, always, first_able


def kernels(backend: Backend) -> list[Kernel]:
    """The kernels of a library; the last one is the generic function."""
    return backend.kernels.get("attention", [("generic", backend.functions["attention"], always)])


@cache
def _by_engines(own: Backend) -> Callable[..., Any]:
    """The function for the arrays of a library in modes. Engines use their own kernels, not the generic function."""
    return serving(
        "attention", own, own.functions["attention"], lambda engine: first_able("attention", kernels(engine)[:-1])
    )


@constant_while_tracing
def publish_by_engines(cls: type, name: str) -> str:
    """The name in `resolved` of the function for arrays of a class and a backend while engines are active."""
    return publish(f"attention:engines:{name}", _by_engines(_backend(cls, name)))


def named(own: Backend, implementation: str) -> tuple[Backend, Kernel]:
    """The library and the kernel of an implementation. The library need not be an engine."""
    library = str(implementation).partition(":")[0]
    try:
        engine = own if library not in registry.entry_points() else find.named(library)
    except BackendNotFound as error:
        raise Unsupported(f"implementation={implementation!r}: {error}") from None
    found = {f"{own.name}:{kernel[0]}": (own, kernel) for kernel in kernels(own)}
    if engine is not own:
        found |= {f"{engine.name}:{kernel[0]}": (engine, kernel) for kernel in kernels(engine)[:-1]}
    if implementation not in found:
        raise Unsupported(f"no implementation {implementation!r}: {available_names(implementation, found)}")
    return found[implementation]


@constant_while_tracing
def publish_named(cls: type, name: str, implementation: str) -> str:
    """The name in `resolved` of the function for arrays of a class and a backend with that implementation."""
    own = _backend(cls, name)
    engine, kernel = named(own, implementation)
    if engine is not own:
        route = Route("attention", own, engine, lambda engine: first_able("attention", [kernel]))
        return publish(f"attention:{implementation}:{name}", lambda a: route((a,), {}))
    return publish(f"attention:{implementation}:{name}", first_able("attention", [kernel]))


def _backend(cls: type, name: str) -> Backend:
    """The backend of that name. The class of the arrays is needed for libraries without an entry point."""
    own = find.of_class(cls)
    return own if own is not None and own.name == name else find.named(name)  # an XLA tensor has PyTorch's class
