"""The hooks of a backend: names, signatures and laws.

`xarrayops.plugin` says what a backend module may define beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from xarrayops._protocol.attention import Attention
from xarrayops._protocol.devices import Device, Memory, Queue
from xarrayops._protocol.surface import ROLES
from xarrayops._protocol.types import Array, Gap


class Hooks:
    """The hooks: names, signatures and laws. A namespace to read, never instantiated."""

    @staticmethod
    def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
        """What serves a verb in place of the function that would serve it; the function itself to leave it alone.

        Called once for each function of the standard and each of `WRAPPED_HOOKS`, when the backend loads: with the
        backend's own function where it has one, else the library's. A gap is not wrapped. `takes_arrays` says whether
        a verb has operands to check. What is returned keeps the signature, as by ``functools.wraps``.
        """
        raise NotImplementedError

    @staticmethod
    def versions() -> dict[str, str]:
        """Versions of the library and of what it runs on (CUDA, cuDNN, HIP), by name."""
        raise NotImplementedError

    @staticmethod
    def devices() -> list[Device]:
        """The devices that can be used now; a CPU first where there is one."""
        raise NotImplementedError

    @staticmethod
    def device_attributes(device: Any, /) -> dict[str, int | str]:
        """What the library says of a native device: any of `DEVICE_ATTRIBUTES`; what is not known is left out."""
        raise NotImplementedError

    @staticmethod
    def free_bytes(device: Any, /) -> int | None:
        """The memory of a native device that the library could still get; None where that is not known."""
        raise NotImplementedError

    @staticmethod
    def release_memory(device: Any, /) -> None:
        """Give the memory of a native device back that the library holds for reuse, as far as it can."""
        raise NotImplementedError

    @staticmethod
    def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
        """The memory of a native device that a call takes at its peak, beyond what was held before; None if unknown.

        ``call`` waits for its results.
        """
        raise NotImplementedError

    @staticmethod
    def precision_switches() -> dict[str, str]:
        """The library's global settings, as they are now, that decide on the precision of products."""
        raise NotImplementedError

    @staticmethod
    def refine(x: Array, /) -> str | None:
        """The name of the backend of this very array, where its class does not determine it (XLA tensors)."""
        raise NotImplementedError

    @staticmethod
    def refuse(x: Array, /) -> Gap | None:
        """Why this very array is none that we serve (a NumPy array of objects), or None."""
        raise NotImplementedError

    @staticmethod
    def as_dtype(name: str, /) -> Any:
        """The native dtype of that standard name. Law: ``dtype_name(as_dtype(name)) == name``."""
        raise NotImplementedError

    @staticmethod
    def dtype_name(dtype: Any, /) -> str | None:
        """The standard's name of a native dtype; None if it is none of the library's dtypes."""
        raise NotImplementedError

    @staticmethod
    def as_device(device: Any, /) -> Any:
        """The native device for a name such as "cpu" or "cuda:1", or a native device itself.

        Raises ValueError whose message lists the valid names; the caller adds the prefix. So does as_dtype.
        """
        raise NotImplementedError

    @staticmethod
    def device(x: Array, /) -> Any:
        """The native device that holds x; None where x has none yet (a tracer)."""
        raise NotImplementedError

    @staticmethod
    def to_device(x: Array, device: Any, /) -> Array:
        """x on that native device. Law: ``to_device(x, device(x)) is x``."""
        raise NotImplementedError

    @staticmethod
    def is_lazy(x: Array, /) -> bool:
        """Whether x stands for values that are not computed yet (a task graph or a tracer)."""
        raise NotImplementedError

    @staticmethod
    def compute(*arrays: Array) -> tuple[Array, ...]:
        """The arrays with their values computed; the arrays themselves where nothing is lazy."""
        raise NotImplementedError

    @staticmethod
    def synchronize(*arrays: Array) -> None:
        """Wait until the values of the arrays are there."""
        raise NotImplementedError

    @staticmethod
    def einsum(subscripts: str, /, *operands: Array) -> Array:
        """Einstein summation in NumPy's notation."""
        raise NotImplementedError

    @staticmethod
    def attention(a: Attention, /) -> tuple[Array, Array | None]:
        """The result (B, Hq, Lq, Dv) in q's dtype, and the logsumexp (B, Hq, Lq), float32 or wider.

        Law: softmax of the scores times v, in float32 at least, with memory that does not grow with Lq times Lk. A
        query that sees no key gives 0, and a logsumexp of -inf. What the lengths cut off is never read, or never felt.
        """
        raise NotImplementedError

    @staticmethod
    def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
        """x with ``x[index] = op(x[index], value)``; op is set, add, multiply, min or max. Duplicates accumulate."""
        raise NotImplementedError

    @staticmethod
    def memory(x: Array, /) -> Memory | None:
        """Where the values of x lie; None if there is no one such place (a task graph, a tracer, many devices).

        Law: it does not wait for the values.
        """
        raise NotImplementedError

    @staticmethod
    def memory_offset(x: Array, /) -> int:
        """The bytes between the beginning of the memory that x is a view of and the first element of x."""
        raise NotImplementedError

    @staticmethod
    def contiguous(x: Array, /) -> Array:
        """x with its elements in C order without gaps. Law: x itself if already contiguous, or unobservable."""
        raise NotImplementedError

    @staticmethod
    def as_strided(x: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, /) -> Array:
        """A view that is known to stay within x's memory; strides, and offset from x's first element, in items."""
        raise NotImplementedError

    @staticmethod
    def pin_memory(x: Array, /) -> Array:
        """x in page-locked host memory; x itself if it is there."""
        raise NotImplementedError

    @staticmethod
    def export_refusal(x: Array, /) -> str | None:
        """Why x must not leave its library as it is, with the way out in the text; None if it may."""
        raise NotImplementedError

    @staticmethod
    def import_refusal(dtype: str, /) -> str | None:
        """Why this library cannot hold values of the dtype of that name, with the way out; None if it can."""
        raise NotImplementedError

    @staticmethod
    def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
        """Why this library cannot, or without ``copy=False`` (``forced``) should not, alias that memory."""
        raise NotImplementedError

    @staticmethod
    def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
        """An array of this library over the memory of x, which another library owns. No byte moves.

        ``host()`` is the owner's own NumPy view of that memory, where it is host memory: the owner waits for the
        values, keeps the memory alive and flags it read-only as it must. Addresses alone would do none of that.
        """
        raise NotImplementedError

    @staticmethod
    def exporting(x: Array, /) -> AbstractContextManager[Any]:
        """A context in which x may be handed out by DLPack: its device is the current one, host values are there."""
        raise NotImplementedError

    @staticmethod
    def packed(x: Array, /) -> Array:
        """A copy of x in memory of its own, compact and aligned, on the device that holds x."""
        raise NotImplementedError

    @staticmethod
    def queue(x: Array, /) -> Queue | None:
        """The queue of work that uses x; None where work has ended when calls return."""
        raise NotImplementedError

    @staticmethod
    def outlive(x: Array, stream: int, /) -> bool:
        """Keep the memory of x from reuse until what another library's stream holds when x is given up has ended.

        False where the library cannot do so; then the caller keeps x.
        """
        raise NotImplementedError

    @staticmethod
    def tie(x: Array, owner: object, /) -> Array:
        """An array over the memory of x that keeps an object alive as long as anything holds that memory.

        ``x`` itself where the library can do so. Needed where `queue` gives one.
        """
        raise NotImplementedError

    @staticmethod
    def try_as_numpy(x: Array, /) -> Any:
        """A NumPy array over the memory of x, immediately, if no plan is needed; else None.

        Law: only where the plan of ``convert(x, "numpy")`` is zero-copy, and with the same result.
        """
        raise NotImplementedError

    @staticmethod
    def try_from_numpy(a: Any, /) -> Array | None:
        """An array over the memory of a NumPy array, immediately, if no plan is needed; else None.

        Law: only where the plan for ``a`` is zero-copy, and with the same result.
        """
        raise NotImplementedError

    @staticmethod
    def to_numpy(x: Array, /) -> Any:
        """The values of x as a NumPy array in host memory: a view where the memory allows, else a copy."""
        raise NotImplementedError

    @staticmethod
    def from_numpy(a: Any, device: Any, /) -> Array:
        """An array of this library with a copy of the NumPy array's values, on that native device or the default."""
        raise NotImplementedError


HOOKS: dict[str, Callable[..., Any]] = {
    name: member.__func__ for name, member in vars(Hooks).items() if isinstance(member, staticmethod)
}
"""Every hook by name."""
WRAPPED_HOOKS = ("einsum", "update")
"""The hooks that compute as the functions of the standard do, and that `wrap` is given beside these."""


def takes_arrays(verb: str, /) -> bool:
    """Whether a function of the standard, or one of `WRAPPED_HOOKS`, computes with arrays that it is given.

    >>> takes_arrays("matmul"), takes_arrays("zeros"), takes_arrays("einsum")
    (True, False, True)
    """
    return verb in ROLES or verb in WRAPPED_HOOKS
