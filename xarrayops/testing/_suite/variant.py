"""A variant: one backend on one device, with one way to run functions; and which variants run which tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap

if TYPE_CHECKING:
    from xarrayops._core.backends.sparse_backend import SparseBackend

Test = TypeVar("Test", bound=Callable[..., Any])
Make = Callable[[NDArray[Any]], Array]
ASPECTS = ("run", "memory")
"""What variants of one library can differ in: how functions run, and how arrays lie in memory (layout, chunks)."""


def compact(make: Make, a: NDArray[Any]) -> Array:
    """An array in the library's default layout."""
    return make(a)


def strided(make: Make, a: NDArray[Any]) -> Array:
    """A view of every second element along the last axis of a larger array."""
    return make(np.repeat(a, 2, axis=-1))[..., ::2] if a.ndim else make(a)


def reversed_(make: Make, a: NDArray[Any]) -> Array:
    """A view with negative strides, in libraries that support them."""
    backward = (slice(None, None, -1),) * a.ndim
    return make(a[backward])[backward] if a.ndim else make(a)


class Variant:
    """One backend on one device. A subclass can change how functions run.

    Parameters
    ----------
    library : str or module
        A backend's name, or the namespace module of a library without a backend.
    label : str
        A label that test ids show after the name.
    device : str, optional
        The name of a device; default: the library's default device.
    lay : callable
        The memory layout of the arrays: `compact`, `strided`, `reversed_`, or a function with the same signature.
    calls : int, optional
        The maximum number of calls for each row; default: all. Use it for slow variants.
    faults : dict, optional
        Rows (as test ids show them) that fail because of a bug in the library, with the reason. These rows
        must fail. Use it only for bugs that the backend can neither fix nor declare.
    """

    traced = False
    """Whether functions are traced or must not compute, so that names in ``UNTRACEABLE`` must fail."""

    def __init__(
        self,
        library: str | ModuleType,
        *,
        label: str = "",
        device: str | None = None,
        lay: Callable[[Make, NDArray[Any]], Array] = compact,
        calls: int | None = None,
        faults: dict[str, str] | None = None,
    ) -> None:
        self.library = library
        self.backend = xo.backend(library)
        self.label = label
        self.device_name = device
        self.lay = lay
        self.calls = calls
        self.faults = faults or {}

    def __str__(self) -> str:
        return "-".join(filter(None, (self.backend.name, self.label)))

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call the function. A subclass can override this to compile the function, or to forbid computation."""
        return function(*args, **kwargs)

    def array(self, a: NDArray[Any]) -> Array:
        """An array of the library with the values of a NumPy array, in this variant's memory layout."""
        return self.lay(self.make, a)

    def make(self, a: NDArray[Any]) -> Array:
        """An array of the library in its default layout, on this variant's device."""
        return xo.convert(a, self.library, device=self.device_name, copy=True)

    def values(self, x: Array) -> NDArray[Any]:
        """The values of an array as a NumPy array; lazy arrays are computed."""
        return np.asarray(xo.convert(xo.compute(x), "numpy"))

    def values_of(self, arrays: list[Any]) -> list[NDArray[Any] | None]:
        """The values of several arrays; None for other objects. Lazy arrays are computed in one pass.

        One pass is faster than several, and an input shares its chunks with the results, so its values show whether a
        function wrote to them.
        """
        lazy = [x for x in arrays if isinstance(x, self.backend.module.ARRAY_TYPES) and xo.is_lazy(x)]
        if len(lazy) > 1:
            computed = {id(x): value for x, value in zip(lazy, self.compute(*lazy), strict=True)}
            arrays = [computed.get(id(x), x) for x in arrays]
        known = (np.ndarray, np.generic, *self.backend.module.ARRAY_TYPES)
        return [self.values(x) if isinstance(x, known) else None for x in arrays]

    def compute(self, *arrays: Any) -> Any:
        """Several lazy arrays with their values computed in one pass."""
        return xo.compute(*arrays)

    @cached_property
    def sparse(self) -> SparseBackend | None:
        """The backend of the library's sparse containers; None if it has no containers or a dependency is missing."""
        try:
            return self.backend.sparse
        except Unsupported:
            return None

    @cached_property
    def has_containers(self) -> bool:
        """Whether the library's sparse containers are installed; unlike `sparse`, it imports little."""
        support = getattr(self.backend.module, "SPARSE", None)
        return support is not None and (not support.classes or find_spec(support.classes.partition(".")[0]) is not None)

    @property
    def untraceable(self) -> dict[str, Gap]:
        """The functions that must fail under this variant, as the backend declares."""
        return self.backend.untraceable if self.traced else {}

    @cached_property
    def device(self) -> Any:
        """The native device of this variant's arrays."""
        return xo.device(self.make(np.zeros(1, dtype="float32")))

    @cached_property
    def dtypes(self) -> frozenset[str]:
        """The standard's dtypes that the library supports on this device."""
        return frozenset(self.backend.namespace.__array_namespace_info__().dtypes(device=self.device))

    @cached_property
    def defaults(self) -> dict[str, str]:
        """The names of the default dtypes: "real floating", "complex floating", "integral", "indexing"."""
        native = self.backend.namespace.__array_namespace_info__().default_dtypes(device=self.device)
        return {kind: self.backend.functions["dtype_name"](dtype) for kind, dtype in native.items()}

    @property
    def creation(self) -> dict[str, Any]:
        """The keywords that make a creation function use this library and device."""
        if isinstance(self.library, str):
            return {"backend": self.library, "device": self.device_name}
        return {"like": self.make(np.zeros(()))}

    def way(self, aspect: str) -> Any:
        """How this variant does one of `ASPECTS`; equal for variants that do it in the same way."""
        if aspect == "memory":
            return type(self).array, type(self).make, self.lay
        return None if type(self).run is Variant.run and not self.traced else self


def declare(test: Test, **facts: Any) -> Test:
    """Attach facts to a test, or to those tests of a class that do not have them."""
    members = vars(test).items() if isinstance(test, type) else [("test_", test)]
    for each in (member for name, member in members if name.startswith("test_")):
        for name, fact in facts.items():
            vars(each).setdefault(name, fact)
    return test


def depends_on(*aspects: str, containers: bool | None = None) -> Callable[[Test], Test]:
    """Declare which of `ASPECTS` a test depends on, so that variants that differ in none of them do not repeat it.

    A declaration of a class holds for its tests without one. A test's own declaration replaces it, also ``containers``,
    whose default is any library. A test without a declaration depends on all aspects.

    Parameters
    ----------
    *aspects : str
        "run" if the test calls `Variant.run` or asks whether functions are traced, "memory" if it tests arrays of
        `Variant.array` and not only of `Variant.make`.
    containers : bool, optional
        True: the test needs a library with sparse containers. False: it needs one without.
    """
    return lambda test: declare(test, aspects=aspects, containers=containers)


def distinct(variants: list[Variant], test: Callable[..., None]) -> list[Variant]:
    """The variants that run a test: the first of those that differ in nothing that the test depends on."""
    needed = getattr(test, "containers", None)
    kept: dict[Any, Variant] = {}
    for variant in variants:
        if needed is None or needed is variant.has_containers:
            ways = (variant.way(aspect) for aspect in getattr(test, "aspects", ASPECTS))
            kept.setdefault((variant.library, variant.device_name, *ways), variant)
    return list(kept.values())


def select_variants(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each of the `distinct` variants among the ``params`` of the fixture ``variant``.

    It does nothing if the fixture has no ``params``, or if they are not variants.
    """
    fixtures: Any = metafunc._arg2fixturedefs.get("variant")
    if not fixtures or not fixtures[-1].params:
        return
    fixture = fixtures[-1]
    params = [param if isinstance(param, _Param) else pytest.param(param) for param in fixture.params]
    variants = [param.values[0] for param in params]
    if not all(isinstance(variant, Variant) for variant in variants):
        return
    kept: list[Any] = distinct(variants, metafunc.function)  # type: ignore[arg-type]
    chosen = [param for param in params if any(param.values[0] is variant for variant in kept)]
    # The mark takes precedence over the fixture's own params, which pytest would otherwise add.
    mark = pytest.mark.parametrize("variant", chosen, indirect=True, ids=fixture.ids, scope=fixture.scope)
    metafunc.definition.add_marker(mark, append=False)  # first, so that ids begin with the variant


_Param = type(pytest.param(None))
