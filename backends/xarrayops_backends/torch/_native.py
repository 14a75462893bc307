"""Native kernels of users' operations on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xarrayops.plugin import Array, NotServed
from xarrayops.plugin.native import NativeKernel, Results, eager_kernel


def native_kernel(native: NativeKernel, /) -> Callable[..., Any]:
    """A native kernel. Shapes and dtypes come from the reference on tensors without values.

    tvm-ffi takes tensors without a call of ``__dlpack__``, and passes the current stream of their device.
    """

    def results(*arrays: Array, **options: Any) -> Results:
        with torch.no_grad():
            shapes = (torch.empty(x.shape, dtype=x.dtype, device="meta") for x in arrays)
            return Results.of(native.reference(*shapes, **options))

    return eager_kernel(native, results=results, empty=_empty, lent=_lent)


def _empty(shape: tuple[int, ...], dtype: Any, x: Array) -> Array:
    return torch.empty(shape, dtype=dtype, device=x.device)


def _lent(x: Array) -> Array:
    """x; `NotServed` if its conjugation or negation is lazy, for which DLPack has no flags."""
    if x.is_conj() or x.is_neg():
        raise NotServed("the conjugate or the negative of a tensor is lazy. Instead: x.resolve_conj().resolve_neg()")
    return x
