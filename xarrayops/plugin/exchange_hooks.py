"""The hooks of a backend for the exchange of arrays: names, signatures and laws."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from xarrayops.plugin.arrays import Array, Memory, Queue


class ExchangeHooks:
    """The hooks for the memory of arrays, their layout and exchange; the class is a part of `Hooks`."""

    @staticmethod
    def memory(x: Array, /) -> Memory | None:
        """The memory of x; None if x has no single memory (a task graph, a tracer, several devices).

        Law: it does not wait for the values.
        """
        raise NotImplementedError

    @staticmethod
    def memory_offset(x: Array, /) -> int:
        """The offset in bytes of the first element of x from the start of the memory that x is a view of."""
        raise NotImplementedError

    @staticmethod
    def contiguous(x: Array, /) -> Array:
        """x, C-contiguous. Law: x itself if it already is, or if the layout is not observable."""
        raise NotImplementedError

    @staticmethod
    def as_strided(x: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, /) -> Array:
        """A view of x; the caller has checked the bounds. Strides, and offset from the first element, are in items."""
        raise NotImplementedError

    @staticmethod
    def pin_memory(x: Array, /) -> Array:
        """x in page-locked host memory; x itself if it already is."""
        raise NotImplementedError

    @staticmethod
    def export_refusal(x: Array, /) -> str | None:
        """Why x cannot be exported as it is, and what to do instead; None if it can."""
        raise NotImplementedError

    @staticmethod
    def import_refusal(dtype: str, /) -> str | None:
        """Why this library cannot hold values of a dtype (by name), and what to do instead; None if it can."""
        raise NotImplementedError

    @staticmethod
    def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
        """Why this library cannot alias that memory or, unless ``forced`` by ``copy=False``, should not; else None."""
        raise NotImplementedError

    @staticmethod
    def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
        """An array of this library over the memory of x, an array of another library, without a copy.

        For host memory, ``host()`` gives the owner's NumPy view: the owner waits for the values, keeps the memory alive
        and sets the read-only flag if needed. A bare address would guarantee none of that.
        """
        raise NotImplementedError

    @staticmethod
    def exporting(x: Array, /) -> AbstractContextManager[Any]:
        """A context in which x can be exported by DLPack: its device is current, host memory has the values."""
        raise NotImplementedError

    @staticmethod
    def packed(x: Array, /) -> Array:
        """A copy of x in its own memory, compact and aligned, on the device of x."""
        raise NotImplementedError

    @staticmethod
    def queue(x: Array, /) -> Queue | None:
        """The queue of work that uses x; None if calls are synchronous."""
        raise NotImplementedError

    @staticmethod
    def outlive(x: Array, stream: int, /) -> bool:
        """Once x is freed, keep its memory from reuse until the pending work of another library's stream is done.

        False if the library cannot do so; then the caller keeps a reference to x.
        """
        raise NotImplementedError

    @staticmethod
    def tie(x: Array, owner: object, /) -> Array:
        """An array over the memory of x that keeps ``owner`` alive as long as that memory is in use.

        It is x itself if the library allows that. Required if `queue` returns a queue.
        """
        raise NotImplementedError

    @staticmethod
    def try_as_numpy(x: Array, /) -> Any:
        """A NumPy array over the memory of x if that needs no plan of the conversion, else None.

        Law: only if the plan of ``convert(x, "numpy")`` is zero-copy, and with the same result.
        """
        raise NotImplementedError

    @staticmethod
    def try_from_numpy(a: Any, /) -> Array | None:
        """An array over the memory of a NumPy array if that needs no plan of the conversion, else None.

        Law: only if the plan for ``a`` is zero-copy, and with the same result.
        """
        raise NotImplementedError

    @staticmethod
    def to_numpy(x: Array, /) -> Any:
        """x as a NumPy array in host memory: a view if possible, else a copy."""
        raise NotImplementedError

    @staticmethod
    def from_numpy(a: Any, device: Any, /) -> Array:
        """A copy of a NumPy array as an array of this library, on the native device, or on the default one for None."""
        raise NotImplementedError
