"""The sparse containers of a library: the interface for the host kernels and the verbs."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array, Device
from xarrayops.plugin.sparse import INDICES, Container, Parts


class DenseBackend(Protocol):
    """The members of a library's dense backend that its sparse backend needs."""

    name: str
    functions: dict[str, Callable[..., Any]]
    namespace: ModuleType

    def native_dtype(self, dtype: Any) -> Any:
        """The native dtype with that name."""

    def native_device(self, device: Any) -> Any:
        """The native device with that name."""

    def device_of(self, x: Array) -> Device | None:
        """The device of x."""

    def device_at(self, kind: str, index: int) -> Device | None:
        """The device of that kind and index."""


class SparseLibrary:
    """The containers of one library: its companion module (see `xarrayops.plugin.sparse`) and the hooks of its backend.

    Attributes
    ----------
    backend : Backend
        The backend of the library's dense arrays.
    module : module
        The companion.
    formats : tuple of str
        The formats of its containers.
    pads : bool
        Whether containers may have padding entries.
    functions : dict
        The function of each verb. `xarrayops._core.backends.sparse_backend` chooses the kernels.
    """

    functions: dict[str, Callable[..., Any]]

    def __init__(self, backend: DenseBackend, module: ModuleType) -> None:
        self.backend = backend
        self.module = module
        self.formats: tuple[str, ...] = module.FORMATS
        self.pads = hasattr(module, "unpadded")
        self.holds: Callable[[Any], bool] = module.holds
        self.parts: Callable[[Container], Parts] = module.parts
        self.seen: Callable[[Container], Parts] = getattr(module, "seen", module.parts)
        self.wrap: Callable[[Parts], Container] = module.wrap
        self.dtype_refusal: Callable[[str], str | None] = getattr(module, "dtype_refusal", _no_refusal)
        """Why the containers of the library cannot hold a dtype; None if they can."""
        self.place_refusal: Callable[[Array], str | None] | None = getattr(module, "place_refusal", None)
        """Why results of host kernels would not be on the device of an array in host memory; None if they are."""
        self._values: Callable[[Container], Array] = getattr(module, "values", lambda s: self.seen(s).data)
        self._with_values: Callable[[Container, Array], Container] = getattr(module, "with_values", self._wrapped)

    def canonical(self, s: Container) -> Container:
        """The container itself if it is canonical, else a canonical copy. Raises if it is invalid."""
        raise NotImplementedError

    def index_dtypes(self, format: str) -> tuple[str, ...]:
        """The names of the index dtypes of a format, the narrowest first."""
        own: dict[str, tuple[str, ...]] = getattr(self.module, "INDEX_DTYPES", {})
        return own.get(format, INDICES)

    def integer_dtype(self) -> str:
        """The name of the widest integer dtype that the library currently has."""
        return "int64" if self.backend.functions["import_refusal"]("int64") is None else "int32"

    def values(self, x: Container | Array) -> Array:
        """The values of a container; x itself if it is dense. The indices are on the same device."""
        return self._values(x) if self.holds(x) else x

    def with_values(self, s: Container, data: Array) -> Container:
        """A canonical container with the indices of another canonical one and new values."""
        refused = self.dtype_refusal(self.backend.functions["dtype_name"](data.dtype))
        if refused is not None:
            raise Unsupported(refused)
        return self._with_values(s, data)

    def _wrapped(self, s: Container, data: Array) -> Container:
        return self.wrap(self.seen(s)._replace(data=data, sorted=True, unique=True))

    def on_host(self, p: Parts) -> Parts:
        """The parts as NumPy arrays, views if possible, without padding."""
        p = p.map(self.backend.functions["to_numpy"])
        return self.module.unpadded(p) if self.pads else p

    def structure_on_host(self, p: Parts) -> Parts:
        """Like `on_host`, for the indices only: unless the values are a NumPy array, an outline replaces them."""
        import numpy as np

        # The check of indices reads only the shape of the values, so values on a device stay there.
        data = p.data if isinstance(p.data, np.ndarray) else _outline(p.data, "bool")
        p = p.map(self.backend.functions["to_numpy"], values=False)._replace(data=data)
        return self.module.unpadded(p) if self.pads else p

    def outline(self, p: Parts) -> Parts:
        """NumPy arrays with the shapes of the parts and the dtypes of their indices, without their values."""
        name = self.backend.functions["dtype_name"]
        outlined = p.map(lambda x: _outline(x, name(x.dtype) if name(x.dtype) in INDICES else "object"), values=False)
        return outlined._replace(data=_outline(p.data, "bool"))

    def native(self, a: Any) -> Array:
        """A NumPy array that has no other reference as an array of the library, without a copy if possible."""
        shared = self.backend.functions["try_from_numpy"](a)
        if shared is not None:
            return shared
        # The operands were in host memory, so the result is too, whatever the library's default device is.
        return self.backend.functions["from_numpy"](a, self.backend.native_device("cpu"))


def _no_refusal(dtype: str) -> None:
    """Every dtype is supported."""


def _outline(x: Array, dtype: str) -> Any:
    """A NumPy array with the shape of x that takes the memory of one element."""
    import numpy as np

    # Strides of 0: any shape over one element.
    return np.broadcast_to(np.zeros((), dtype), tuple(x.shape))
