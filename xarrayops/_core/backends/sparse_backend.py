"""The sparse backend of a library: its companion module, and the kernels of each verb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from xarrayops._core.backends.namespace import candidates
from xarrayops._generic.sparse import FUNCTIONS, is_sound
from xarrayops._host.sparse import check, host
from xarrayops._host.sparse.library import DenseBackend, SparseLibrary
from xarrayops.errors import InvalidSparse, Unsupported, install_command
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import Kernel, always, first_able
from xarrayops.plugin.dtypes import FLOATING_RESULTS, INTEGER_LIMITS
from xarrayops.plugin.sparse import (
    CANONICAL_OPERANDS,
    CONTAINER_VERBS,
    ELEMENTWISE,
    MERGED,
    READ_IN_PART,
    VERBS,
    Container,
    Parts,
    SparseSupport,
)


class SparseBackend(SparseLibrary):
    """The functions that serve the sparse containers of one library.

    Attributes
    ----------
    kernels : dict
        The kernels of each verb, best first: the companion's kernels, the host kernel and the generic function.
    functions : dict
        The function of each verb. It calls the first kernel that can serve the call.
    """

    def __init__(self, backend: DenseBackend, support: SparseSupport) -> None:
        super().__init__(backend, _companion(backend.name, support))
        self.kernels: dict[str, list[Kernel]] = {
            verb: [*candidates(self.module, verb), *self._our_kernels(verb)] for verb in VERBS
        }
        for verb in READ_IN_PART:
            self.kernels[verb] = list(map(self._with_canonical_operands, self.kernels[verb]))
        self.functions = {verb: first_able(f"sparse.{verb}", kernels) for verb, kernels in self.kernels.items()}
        self.call = getattr(self.module, "untraced", lambda call: call)(self._call)

    def _our_kernels(self, verb: str) -> list[Kernel]:
        found: list[Kernel] = []
        if hasattr(host, verb):
            found.append(("host", partial(getattr(host, verb), self), partial(host.refusal, self, verb)))
        if verb in FUNCTIONS:
            found.append(("generic", partial(FUNCTIONS[verb], self), always))
        return found

    def _with_canonical_operands(self, kernel: Kernel) -> Kernel:
        """Wrap a kernel so that it gets canonical containers. The host kernel is not wrapped."""
        name, function, refusal = kernel
        if name == "host":
            return kernel
        return name, lambda *args: function(*(self.canonical(x) if self.holds(x) else x for x in args)), refusal

    def parts_fault(self, p: Parts, *, canonical: bool) -> str | None:
        """What is wrong with the parts, with the first invalid entry; None if they are valid.

        Parts on an accelerator are checked there, with one synchronisation. Only if they are invalid are they copied to
        the host to find the entry.
        """
        if self._device_kind(p) not in (None, "cpu") and self._is_sound_there(p, canonical=canonical):
            return None
        return check.fault(self.structure_on_host(p), canonical=canonical)

    def _device_kind(self, p: Parts) -> str | None:
        device = self.backend.device_of(next(iter(p.single_arrays.values())))
        return None if device is None else device.kind

    def _is_sound_there(self, p: Parts, *, canonical: bool) -> bool:
        """Whether parts on an accelerator are valid, with one synchronisation."""
        return check.form_fault(self.outline(p)) is None and bool(self.is_sound(p, canonical=canonical))

    def is_sound(self, p: Parts, *, canonical: bool) -> Array:
        """Whether the indices of well-formed parts are valid, as an array of shape (), without synchronisation."""
        own = getattr(self.module, "is_sound", None)
        return own(p, canonical=canonical) if own else is_sound(self.backend.namespace, p, canonical=canonical)

    def require_sound(self, *operands: Any) -> None:
        """Raise if indices of a container in host memory are out of bounds, which would crash kernels."""
        for x in operands:
            if self.holds(x):
                p = self.seen(x)
                fault = self.parts_fault(p, canonical=False) if self._device_kind(p) == "cpu" else None
                if fault is not None:
                    raise InvalidSparse(fault)

    def canonical(self, s: Container) -> Container:
        """The container itself if it is canonical, else a canonical copy.

        Traced indices are canonical if the container records it. Raises for indices in host memory that are invalid.
        """
        p = self.seen(s)
        if self._is_canonical(p):
            return s
        self.require_sound(s)
        return self.functions["convert"](s, p.format, p.block)

    def _is_canonical(self, p: Parts) -> bool:
        is_lazy = self.backend.functions["is_lazy"]
        if any(is_lazy(x) for name, x in p.single_arrays.items() if name != "data"):
            return bool(p.sorted and p.unique)
        if self._device_kind(p) not in (None, "cpu"):
            return self._is_sound_there(p, canonical=True)
        return self.parts_fault(p, canonical=True) is None

    def _checked(self, verb: str, args: tuple[Any, ...]) -> Iterator[Any]:
        """The arguments with `_operand` applied. An operand that is given twice is checked once."""
        made: dict[int, Any] = {}
        for x in args:
            if id(x) not in made:
                made[id(x)] = self._operand(verb, x)
            yield made[id(x)]

    def _operand(self, verb: str, x: Any) -> Any:
        """An operand, canonical if the kernels of the verb rely on it. Raises if its indices are out of bounds."""
        if verb in READ_IN_PART:
            return x
        if self.holds(x) and (
            verb in CANONICAL_OPERANDS or (verb in MERGED and self._device_kind(self.seen(x)) == "cpu")
        ):
            return self.canonical(x)
        self.require_sound(x)
        return x

    def _call(self, verb: str, *args: Any, dtype: str | None = None) -> Any:
        """Check the operands and call the function of a verb; errors describe the operands.

        ``dtype`` is the default floating-point dtype of `use` or `set_default`; None for the library's own.
        """
        try:
            if dtype is not None:
                args = tuple(self._in_default_dtype(verb, dtype, args))
            return self.functions[verb](*(args if verb == "from_dense" else self._checked(verb, args)))
        except _COMPLETED as error:
            name = verb if verb in CONTAINER_VERBS else f"sparse.{verb}"
            kind = next(cls for cls in _COMPLETED if isinstance(error, cls))
            raise kind(f"xo.{name}({', '.join(map(self.shown, args))}): {error}") from error

    def _in_default_dtype(self, verb: str, name: str, args: tuple[Any, ...]) -> Iterator[Any]:
        """The arguments, with containers of integers in that dtype where the result of the verb is floating-point."""
        functions = self.backend.functions
        is_floating = verb in _FLOATING or (verb in _ARITHMETIC and any(type(x) is float for x in args))
        for x in args:
            if not is_floating or not self.holds(x) or functions["dtype_name"](x.dtype) not in _INTEGERS:
                yield x
            else:
                canonical = self.canonical(x)
                yield self.with_values(
                    canonical, functions["astype"](self.values(canonical), functions["as_dtype"](name))
                )

    def shown(self, x: Any) -> str:
        """Describe an operand for an error."""
        if not hasattr(x, "dtype"):
            return str(x)
        layout = f"{getattr(x, 'format', type(x).__name__)} " if self.holds(x) else ""
        with suppress(Unsupported):  # an unsupported container shows the library's own name of its format
            layout = f"{self.seen(x).format} " if layout else ""
        dtype = self.backend.functions["dtype_name"](x.dtype) or x.dtype
        return f"{self.backend.name} {layout}{dtype} {tuple(x.shape)}"

    def matmul(self, a: Container | Array, b: Container | Array, /) -> Container | Array:
        """The product of two operands, of which at least one is sparse."""
        first, second = (tuple(getattr(x, "shape", ())) for x in (a, b))
        ranks = [(2,) if self.holds(x) else (1, 2) for x in (a, b)]
        if len(first) not in ranks[0] or len(second) not in ranks[1] or first[-1] != second[0]:
            fits = len(first) in ranks[0] and len(second) in ranks[1]
            rule = f"the inner sizes {first[-1]} and {second[0]} differ" if fits else "it takes a matrix or a vector"
            raise ValueError(f"xo.matmul({self.shown(a)}, {self.shown(b)}) with a sparse operand: {rule}")
        return self.call("matmul", a, b)

    def device(self, s: Container, /) -> Any:
        """The device of the values."""
        return self.backend.functions["device"](self.values(s))

    def is_lazy(self, s: Container, /) -> bool:
        """Whether the values are traced or lazy."""
        return bool(self.backend.functions["is_lazy"](self.values(s)))


_FLOATING = frozenset(
    ("divide", "mean", "norm", *(verb for verb, function in ELEMENTWISE.items() if function in FLOATING_RESULTS))
)
_ARITHMETIC = ("multiply", "power")
"""The verbs whose result is floating-point for integers combined with a Python float."""
_INTEGERS = ("bool", *INTEGER_LIMITS)
_COMPLETED = (InvalidSparse, Unsupported, MemoryError, OverflowError, IndexError, ValueError)
"""The errors to whose messages `call` adds the verb and the operands."""


def _companion(name: str, support: SparseSupport) -> ModuleType:
    try:
        return import_module(support.module)
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"sparse containers of {name} need a library that is not installed: {error}. "
            f"Instead: {install_command(support.extra)}"
        ) from error
