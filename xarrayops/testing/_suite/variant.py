"""A variant: one backend on one device, with one way to run functions."""

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
    from xarrayops._core.backends.sparse_backend import SparseBackend

Make = Callable[[NDArray[Any]], Array]


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
        A backend's name, or the namespace module of a library that has no backend of its own.
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

    @cached_property
    def sparse(self) -> SparseBackend | None:
        """The backend of the library's sparse containers; None if it has no containers or a dependency is missing."""
        try:
            return self.backend.sparse
        except Unsupported:
            return None

    @property
    def untraceable(self) -> dict[str, Gap]:
        """The functions that must fail under this variant, as the backend declares."""
        return self.backend.untraceable if self.traced else {}

    @cached_property
    def device(self) -> Any:
        """The native device of this variant's arrays."""
        return xo.device(self.array(np.zeros(1, dtype="float32")))

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
