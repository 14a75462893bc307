"""A variant: one backend, on one device, run in one way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap

if TYPE_CHECKING:
    from xarrayops._core.sparse_backend import SparseBackend

Make = Callable[[NDArray[Any]], Array]


def compact(make: Make, a: NDArray[Any]) -> Array:
    """The array as the library makes it."""
    return make(a)


def strided(make: Make, a: NDArray[Any]) -> Array:
    """A view of every second element along the last axis of a larger array."""
    return make(np.repeat(a, 2, axis=-1))[..., ::2] if a.ndim else make(a)


def reversed_(make: Make, a: NDArray[Any]) -> Array:
    """A view with negative strides, in libraries that have them."""
    backward = (slice(None, None, -1),) * a.ndim
    return make(a[backward])[backward] if a.ndim else make(a)


class Variant:
    """One backend on one device; a subclass may run functions in another way.

    Parameters
    ----------
    library : str or module
        A backend's name, or the namespace module of a library that has no backend of its own.
    label : str
        What test ids show beside the name.
    device : str, optional
        A device by name; default: the library's own.
    lay : callable
        How arrays lie in memory: `compact`, `strided`, `reversed_`, or a function of your own.
    calls : int, optional
        How many calls of each row are made; default: all. For variants that take long over each.
    faults : dict, optional
        Rows (as test ids show them) that the library itself gets wrong, with the reason, where no backend file can mend
        or declare it. They must fail.
    """

    traced = False
    """Whether a compiler, or a ban on computing, is at work, so that names in ``UNTRACEABLE`` must fail."""

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
        """Call the function. Override this to compile it first, or to forbid computation meanwhile."""
        return function(*args, **kwargs)

    def array(self, a: NDArray[Any]) -> Array:
        """An array of the library with the values of a NumPy array, laid out as this variant lays them."""
        return self.lay(self.make, a)

    def make(self, a: NDArray[Any]) -> Array:
        """A plain array of the library, on the device of this variant."""
        return xo.convert(a, self.library, device=self.device_name, copy=True)

    def values(self, x: Array) -> NDArray[Any]:
        """The values of an array as NumPy has them, computed where they are lazy."""
        return np.asarray(xo.convert(xo.compute(x), "numpy"))

    @cached_property
    def sparse(self) -> SparseBackend | None:
        """What serves the library's sparse containers; None where it has none, or lacks what they need."""
        try:
            return self.backend.sparse
        except Unsupported:
            return None

    @property
    def untraceable(self) -> dict[str, Gap]:
        """The functions that must fail under this variant, as the backend's own data says."""
        return self.backend.untraceable if self.traced else {}

    @cached_property
    def device(self) -> Any:
        """The native device of this variant's arrays."""
        return xo.device(self.array(np.zeros(1, dtype="float32")))

    @cached_property
    def dtypes(self) -> frozenset[str]:
        """The standard's dtypes that the library says it has on this device."""
        return frozenset(self.backend.namespace.__array_namespace_info__().dtypes(device=self.device))

    @cached_property
    def defaults(self) -> dict[str, str]:
        """The names of the default dtypes: "real floating", "complex floating", "integral", "indexing"."""
        native = self.backend.namespace.__array_namespace_info__().default_dtypes(device=self.device)
        return {kind: self.backend.functions["dtype_name"](dtype) for kind, dtype in native.items()}

    @property
    def creation(self) -> dict[str, Any]:
        """The keywords that make a creation function create here."""
        if isinstance(self.library, str):
            return {"backend": self.library, "device": self.device_name}
        return {"like": self.make(np.zeros(()))}
