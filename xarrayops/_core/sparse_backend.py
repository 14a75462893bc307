"""The sparse backend of a library: its companion module, and the kernels of each verb."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from xarrayops._core.namespace import candidates
from xarrayops._generic.sparse import is_sound
from xarrayops._host.sparse.library import DenseBackend, SparseLibrary
from xarrayops._protocol.candidates import Kernel, first_able
from xarrayops._protocol.install import install_command
from xarrayops._protocol.sparse import CONTAINER_VERBS, VERBS, Container, Parts, SparseSupport
from xarrayops._protocol.types import Array
from xarrayops.errors import InvalidSparse, Unsupported


class SparseBackend(SparseLibrary):
    """The functions that serve the sparse containers of one library.

    Attributes
    ----------
    kernels : dict
        The kernels of each verb, best first; the last ones are the host kernels of xarrayops.
    functions : dict
        The function of each verb. It calls the first kernel that can serve the call.
    """

    def __init__(self, backend: DenseBackend, support: SparseSupport) -> None:
        super().__init__(backend, _companion(backend.name, support))
        self.kernels: dict[str, list[Kernel]] = {
            verb: [*candidates(self.module, verb), self._on_host(verb)] for verb in VERBS
        }
        self.functions: dict[str, Callable[..., Any]] = {
            verb: first_able(f"sparse.{verb}", kernels) for verb, kernels in self.kernels.items()
        }
        self.call = getattr(self.module, "untraced", _as_it_is)(self._call)

    def _on_host(self, verb: str) -> Kernel:
        from xarrayops._host.sparse import host

        return "host", partial(getattr(host, verb), self), partial(host.refusal, self, verb)

    def parts_fault(self, p: Parts, *, canonical: bool) -> str | None:
        """What is wrong with the parts, with the first invalid entry; None if they are valid.

        Parts on an accelerator are checked there, with one synchronisation. If they are invalid, a copy on the host is
        searched for the entry.
        """
        from xarrayops._host.sparse import host

        device = self.backend.device_of(next(iter(p.single_arrays.values())))
        on_device = device is not None and device.kind != "cpu"
        if on_device and host.form_fault(self.outline(p)) is None and bool(self.is_sound(p, canonical=canonical)):
            return None
        return host.fault(self.structure_on_host(p), canonical=canonical)

    def is_sound(self, p: Parts, *, canonical: bool) -> Array:
        """Whether the indices of well-formed parts are valid, as an array of shape (), without synchronisation."""
        own = getattr(self.module, "is_sound", None)
        return own(p, canonical=canonical) if own else is_sound(self.backend.namespace, p, canonical=canonical)

    def require_sound(self, *operands: Any) -> None:
        """Raise if indices of a container in host memory are out of bounds, which would crash kernels."""
        for x in operands:
            if self.holds(x):
                p = self.seen(x)
                device = self.backend.device_of(next(iter(p.single_arrays.values())))
                fault = self.parts_fault(p, canonical=False) if device and device.kind == "cpu" else None
                if fault is not None:
                    raise InvalidSparse(fault)

    def _call(self, verb: str, *args: Any) -> Any:
        """Check the operands and call the function of a verb; errors describe the operands."""
        try:
            self.require_sound(*args)
            return self.functions[verb](*args)
        except _COMPLETED as error:
            name = verb if verb in CONTAINER_VERBS else f"sparse.{verb}"
            kind = next(cls for cls in _COMPLETED if isinstance(error, cls))
            raise kind(f"xo.{name}({', '.join(map(self.shown, args))}): {error}") from error

    def shown(self, x: Any) -> str:
        """Describe an operand for an error."""
        if not hasattr(x, "dtype"):
            return str(x)
        layout = f"{getattr(x, 'format', type(x).__name__)} " if self.holds(x) else ""
        with suppress(Unsupported):  # an unsupported container keeps the library's word for its format
            layout = f"{self.seen(x).format} " if layout else ""
        dtype = self.backend.functions["dtype_name"](x.dtype) or x.dtype
        return f"{self.backend.name} {layout}{dtype} {tuple(x.shape)}"

    def matmul(self, a: Container | Array, b: Container | Array, /) -> Container | Array:
        """The product of two operands, of which at least one is sparse."""
        first, second = (tuple(getattr(x, "shape", ())) for x in (a, b))
        ranks = [(2,) if self.holds(x) else (1, 2) for x in (a, b)]
        if len(first) not in ranks[0] or len(second) not in ranks[1] or first[-1] != second[0]:
            fits = len(first) in ranks[0] and len(second) in ranks[1]
            rule = (
                f"{first[-1]} and {second[0]}, the inner extents, differ" if fits else "it takes a matrix or a vector"
            )
            raise ValueError(f"xo.matmul({self.shown(a)}, {self.shown(b)}) with a sparse operand: {rule}")
        return self.call("matmul", a, b)

    def device(self, s: Container, /) -> Any:
        """The device of the values."""
        return self.backend.functions["device"](self.values(s))

    def is_lazy(self, s: Container, /) -> bool:
        """Whether the values are not computed yet."""
        return bool(self.backend.functions["is_lazy"](self.values(s)))


_COMPLETED = (InvalidSparse, Unsupported, MemoryError, OverflowError, ValueError)
"""The errors to whose messages `call` adds the verb and the operands."""


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _companion(name: str, support: SparseSupport) -> ModuleType:
    try:
        return import_module(support.module)
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"sparse containers of {name} need a library that is not installed: {error}. "
            f"Instead: {install_command(support.extra)}"
        ) from error
