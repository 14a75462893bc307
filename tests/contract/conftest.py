"""The variants of the contract suite: every available backend, with each way to run its functions."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

import xarrayops as xo
from xarrayops._ops.engines import serving
from xarrayops.testing import Variant, reversed_, strided

# The switch is global to the process and read when JAX is imported; test_jax_x64_off.py has a process of its own.
os.environ.setdefault("JAX_ENABLE_X64", "1")
if "jax" in sys.modules:
    sys.modules["jax"].config.update("jax_enable_x64", True)


class Jitted(Variant):
    """Functions run under jax.jit: arrays are traced; all other arguments and results are static."""

    traced = True

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        import jax

        leaves, tree = jax.tree.flatten((args, kwargs))
        arrays = [isinstance(leaf, jax.Array) for leaf in leaves]

        def traced(*arrays_in: Any) -> Any:
            remaining = iter(arrays_in)
            filled = [next(remaining) if is_array else leaf for leaf, is_array in zip(leaves, arrays, strict=True)]
            args, kwargs = jax.tree.unflatten(tree, filled)
            results, shape = jax.tree.flatten(function(*args, **kwargs))
            returned[:] = [shape, results]
            return [x for x in results if isinstance(x, jax.Array)]

        returned: list[Any] = []
        values = iter(jax.jit(traced)(*(leaf for leaf, is_array in zip(leaves, arrays, strict=True) if is_array)))
        shape, results = returned
        return jax.tree.unflatten(shape, [next(values) if isinstance(x, jax.Array) else x for x in results])


class Compiled(Variant):
    """Functions run under torch.compile, in one graph."""

    traced = True

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        import torch

        logging.getLogger("torch.__trace").propagate = False  # its log would fill the report of a failure
        _skip_profiles_of_guards()
        torch.compiler.reset()
        with _wide_sums():
            return torch.compile(function, fullgraph=True, backend="eager")(*args, **kwargs)


@contextmanager
def _wide_sums() -> Iterator[None]:
    """PyTorch's switches as a program must set them where compiled products obey `xo.precision` on CUDA."""
    import torch

    switches: Any = torch.backends.cuda.matmul
    names = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")
    before = [getattr(switches, name) for name in names]
    try:
        for name in names:
            setattr(switches, name, False)
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(switches, name, value)


@cache
def _skip_profiles_of_guards() -> None:
    """Do not measure the time of guards, which takes a quarter of Dynamo's time for small programs."""
    from torch._dynamo import guards

    if hasattr(guards, "profile_guard_manager"):  # the name is private
        guards.profile_guard_manager = lambda *args: 0.0


class Uncomputed(Variant):
    """Dask arrays of several chunks; the function must not compute."""

    traced = True

    def make(self, a: Any) -> Any:
        return xo.convert(a, self.library).rechunk(2)

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        import dask

        with dask.config.set(scheduler=_refuse_to_compute):
            return super().run(function, *args, **kwargs)

    def values(self, x: Any) -> Any:
        import dask

        with dask.config.set(scheduler="synchronous"):
            return super().values(x)

    def compute(self, *arrays: Any) -> Any:
        import dask

        with dask.config.set(scheduler="synchronous"):
            return super().compute(*arrays)


class Eager(Uncomputed):
    """Dask arrays of one chunk, computed in this thread."""

    traced = False
    make = Variant.make

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        import dask

        with dask.config.set(scheduler="synchronous"):
            return Variant.run(self, function, *args, **kwargs)


class ByEngines(Variant):
    """Functions run in a block of engines, which serve the calls that they can."""

    def __init__(self, library: Any, *, engines: tuple[str, ...], **options: Any) -> None:
        super().__init__(library, **options)
        self.engines = engines
        self.served: Counter[str] = Counter()
        """How many calls the engines served, by verb."""

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with xo.engines(*self.engines), counting(self.served):
            return function(*args, **kwargs)


@pytest.fixture
def by_engines() -> type[ByEngines]:
    return ByEngines


@contextmanager
def counting(served: Counter[str]) -> Iterator[None]:
    """Count the calls that engines serve, by verb."""
    serve = serving.Route.__call__

    def counted(route: Any, *args: Any) -> Any:
        result = serve(route, *args)
        served[route.verb] += 1
        return result

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(serving.Route, "__call__", counted)
        yield


def _refuse_to_compute(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("the function computed")


def _readonly(make: Callable[[Any], Any], a: Any) -> Any:
    x = make(a)
    x.flags.writeable = False
    return x


WAYS_TO_RUN: dict[str, list[tuple[str, type[Variant], dict[str, Any]]]] = {
    "dask": [("", Eager, {}), ("uncomputed", Uncomputed, {})],
    "jax": [
        ("", Variant, {"calls": 4}),
        ("jit", Jitted, {"calls": 2}),
        ("by-numpy-torch", ByEngines, {"engines": ("numpy", "torch"), "calls": 4}),
    ],
    "numpy": [
        ("", Variant, {}),
        ("readonly", Variant, {"lay": _readonly}),
        ("strided", Variant, {"lay": strided}),
        ("reversed", Variant, {"lay": reversed_}),
        ("by-torch", ByEngines, {"engines": ("torch",)}),
        ("by-jax", ByEngines, {"engines": ("jax",)}),
    ],
    "torch_xla": [("", Variant, {"faults": {"linalg.eigh": "eigenvectors of float64 are refused, of float32 given"}})],
    "torch": [
        ("", Variant, {}),
        ("strided", Variant, {"lay": strided}),
        ("compile", Compiled, {"calls": 2}),
        ("by-numpy", ByEngines, {"engines": ("numpy",)}),
        ("by-jax", ByEngines, {"engines": ("jax",)}),
    ],
}
"""The variants of each library: a label, the class and its options. Other libraries have one plain variant."""
GENERIC = {"array_api_strict": {"isin": "2.6.1 drops invert="}}
"""Libraries without a backend, and the rows that fail because of their bugs."""


def _variants() -> Iterator[tuple[Variant, str]]:
    """Each variant, and the kind of its device."""
    for status in xo.backends():
        if status.available:
            kinds = {d.kind: d for d in reversed(status.backend.devices())}
            for device in kinds.values():
                for label, way, options in WAYS_TO_RUN.get(status.name, [("", Variant, {})]):
                    place = "" if device.kind == "cpu" else device.kind
                    label = "-".join(filter(None, (place, label)))
                    yield way(status.name, label=label, device=device.name, **options), device.kind
    for name, faults in GENERIC.items():
        if importlib.util.find_spec(name) is not None:
            yield Variant(importlib.import_module(name), faults=faults), "cpu"


KINDS = dict(_variants())
VARIANTS = list(KINDS)
ON_DEVICES = [variant for variant, kind in KINDS.items() if kind != "cpu"]


def _marked(variant: Variant) -> Any:
    return pytest.param(variant, marks=[pytest.mark.device] if variant in ON_DEVICES else [])


@pytest.fixture(scope="session", params=map(_marked, VARIANTS), ids=str)
def variant(request: pytest.FixtureRequest) -> Variant:
    return request.param


def pytest_report_header() -> list[str]:
    missing = [f"{s.name}: {s.reason}. {s.hint}" for s in xo.backends() if not s.available]
    missing += [f"{name}: not installed" for name in GENERIC if importlib.util.find_spec(name) is None]
    kinds = {status.name: {d.kind for d in status.backend.devices()} for status in xo.backends() if status.available}
    idle = [name for name in ("torch", "jax") if kinds.get(name) == {"cpu"}]
    return [
        f"contract suite: {', '.join(map(str, VARIANTS))}",
        f"contract suite on devices: {', '.join(map(str, ON_DEVICES)) or 'none'}",
        *(f"contract suite lacks {line}" for line in missing),
        *(f"contract suite lacks a device of {name}, which would add {', '.join(_labels(name))}" for name in idle),
    ]


def _labels(name: str) -> list[str]:
    return ["-".join(filter(None, (name, "KIND", label))) for label, _, _ in WAYS_TO_RUN[name]]
