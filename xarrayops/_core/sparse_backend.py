"""The sparse side of a backend: its companion module, and what serves each verb of it."""

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
from xarrayops._protocol.sparse import OF_CONTAINERS, VERBS, Container, Parts, SparseSupport
from xarrayops._protocol.types import Array
from xarrayops.errors import InvalidSparse, Unsupported


class SparseBackend(SparseLibrary):
    """What serves the sparse containers of one library.

    Attributes
    ----------
    kernels : dict
        The kernels of each verb, best first; the last are the host kernels of xarrayops.
    functions : dict
        What serves each verb: the first kernel that can.
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
        """What is wrong with parts, the first place of it; None if nothing is.

        Parts on a device are checked there, with one wait for the answer; where that is no, the host looks for the
        place.
        """
        from xarrayops._host.sparse import host

        device = self.backend.device_of(next(iter(p.single_arrays.values())))
        on_device = device is not None and device.kind != "cpu"
        if on_device and host.form_fault(self.outline(p)) is None and bool(self.is_sound(p, canonical=canonical)):
            return None
        return host.fault(self.structure_on_host(p), canonical=canonical)

    def is_sound(self, p: Parts, *, canonical: bool) -> Array:
        """Whether the indices of parts, whose form is right, are legal; an array () that has not been waited for."""
        own = getattr(self.module, "is_sound", None)
        return own(p, canonical=canonical) if own else is_sound(self.backend.namespace, p, canonical=canonical)

    def require_sound(self, *operands: Any) -> None:
        """Raise if indices of a container in host memory lead out of it, which no library's kernel survives."""
        for x in operands:
            if self.holds(x):
                p = self.seen(x)
                device = self.backend.device_of(next(iter(p.single_arrays.values())))
                fault = self.parts_fault(p, canonical=False) if device and device.kind == "cpu" else None
                if fault is not None:
                    raise InvalidSparse(fault)

    def _call(self, verb: str, *args: Any) -> Any:
        """What serves a verb, called after a look at the operands, which any error shows."""
        try:
            self.require_sound(*args)
            return self.functions[verb](*args)
        except _COMPLETED as error:
            name = verb if verb in OF_CONTAINERS else f"sparse.{verb}"
            kind = next(cls for cls in _COMPLETED if isinstance(error, cls))
            raise kind(f"xo.{name}({', '.join(map(self.shown, args))}): {error}") from error

    def shown(self, x: Any) -> str:
        """An operand as an error shows it."""
        if not hasattr(x, "dtype"):
            return str(x)
        layout = f"{getattr(x, 'format', type(x).__name__)} " if self.holds(x) else ""
        with suppress(Unsupported):  # a container that we do not serve is named by its own word
            layout = f"{self.seen(x).format} " if layout else ""
        dtype = self.backend.functions["dtype_name"](x.dtype) or x.dtype
        return f"{self.backend.name} {layout}{dtype} {tuple(x.shape)}"

    def matmul(self, a: Container | Array, b: Container | Array, /) -> Container | Array:
        """The product, where at least one operand is sparse."""
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
        """The device that holds the values."""
        return self.backend.functions["device"](self.values(s))

    def is_lazy(self, s: Container, /) -> bool:
        """Whether the values are not computed yet."""
        return bool(self.backend.functions["is_lazy"](self.values(s)))


_COMPLETED = (InvalidSparse, Unsupported, MemoryError, OverflowError, ValueError)
"""The errors to which the verb and its operands are added."""


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _companion(name: str, support: SparseSupport) -> ModuleType:
    try:
        return import_module(support.module)
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"sparse containers beside {name} arrays need a library that is missing: {error}. "
            f"Instead: pip install 'xarrayops[{support.extra}]'"
        ) from error
