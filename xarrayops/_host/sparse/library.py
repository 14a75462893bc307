"""A library's sparse containers, as the host kernels and the verbs see them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

from xarrayops._protocol.devices import Device, Memory
from xarrayops._protocol.sparse import INDICES, Container, Parts
from xarrayops._protocol.types import Array


class DenseBackend(Protocol):
    """The backend of a library's dense arrays, as far as its sparse side needs it."""

    name: str
    functions: dict[str, Callable[..., Any]]
    namespace: ModuleType

    def native_dtype(self, dtype: Any) -> Any:
        """The native dtype for a name."""

    def native_device(self, device: Any) -> Any:
        """The native device for a name."""

    def device_of(self, x: Array) -> Device | None:
        """The device that holds x."""

    def device_at(self, kind: str, index: int) -> Device | None:
        """The device of that kind and index."""


class SparseLibrary:
    """The containers of one library: a companion module (see `xarrayops.plugin.sparse`) beside the hooks of a backend.

    Attributes
    ----------
    backend : Backend
        The backend of the library's dense arrays.
    module : module
        The companion.
    formats : tuple of str
        Those that its containers can hold.
    pads : bool
        Whether containers may hold entries that only fill them up.
    """

    def __init__(self, backend: DenseBackend, module: ModuleType) -> None:
        self.backend = backend
        self.module = module
        self.formats: tuple[str, ...] = module.FORMATS
        self.pads = hasattr(module, "unpadded")
        self.holds: Callable[[Any], bool] = module.holds
        self.parts: Callable[[Container], Parts] = module.parts
        self.seen: Callable[[Container], Parts] = getattr(module, "seen", module.parts)
        self.wrap: Callable[[Parts], Container] = module.wrap
        self._values: Callable[[Container], Array] = getattr(module, "values", lambda s: self.seen(s).data)

    def index_dtypes(self, format: str) -> tuple[str, ...]:
        """The dtypes of a format's indices, the narrowest first."""
        own: dict[str, tuple[str, ...]] = getattr(self.module, "INDEX_DTYPES", {})
        return own.get(format, INDICES)

    def dtype_refusal(self, dtype: str) -> str | None:
        """Why no container of the library can hold that dtype, or None."""
        own = getattr(self.module, "dtype_refusal", None)
        return None if own is None else own(dtype)

    def values(self, x: Container | Array) -> Array:
        """The values of a container, beside which its indices lie; or the array that x is."""
        return self._values(x) if self.holds(x) else x

    def memory(self, x: Array) -> Memory | None:
        """Where an array is; its values are not waited for."""
        found: Memory | None = self.backend.functions["memory"](x)
        return found

    def on_host(self, p: Parts) -> Parts:
        """The parts as NumPy arrays, views where the memory allows, without what only fills a container up."""
        p = p.map(self.backend.functions["to_numpy"])
        return self.module.unpadded(p) if self.pads else p

    def structure_on_host(self, p: Parts) -> Parts:
        """The same of the indices; in place of values, unless they are NumPy's, there is an array of their shape."""
        import numpy as np

        data = p.data if isinstance(p.data, np.ndarray) else _outline(p.data, "bool")
        p = p.map(self.backend.functions["to_numpy"], values=False)._replace(data=data)
        return self.module.unpadded(p) if self.pads else p

    def outline(self, p: Parts) -> Parts:
        """NumPy arrays of the same shapes and dtypes of indices, without any value of theirs."""
        name = self.backend.functions["dtype_name"]
        outlined = p.map(lambda x: _outline(x, name(x.dtype) if name(x.dtype) in INDICES else "object"), values=False)
        return outlined._replace(data=_outline(p.data, "bool"))

    def native(self, a: Any) -> Array:
        """An array of the library with the values of a NumPy array that nobody else holds: its memory, where it can."""
        borrowed = self.backend.functions["try_from_numpy"](a)
        if borrowed is not None:
            return borrowed
        return self.backend.functions["from_numpy"](a, self.backend.native_device("cpu"))  # where the operands are


def _outline(x: Array, dtype: str) -> Any:
    """A NumPy array of the shape of x in the memory of one element."""
    import numpy as np

    return np.broadcast_to(np.zeros((), dtype), tuple(x.shape))
