"""Which subclasses of torch.Tensor are arrays, and which tensors have values.

A subclass is one if PyTorch computes with its own memory: Parameter, Buffer, the tensors of torchvision, and classes
with ``__torch_function__``. A class with a ``__torch_dispatch__`` of its own decides what each operator does. It mostly
wraps other tensors and has no memory (``data_ptr()`` is 0), so that writes to its views are lost.
"""

from __future__ import annotations

import torch

from xarrayops.plugin import Array, Gap

_OF_COMPILERS = "torch._subclasses."
"""The module of FakeTensor and FunctionalTensor, with which compilers trace. They mean what tensors mean."""
_KNOWN = {
    "AsyncCollectiveTensor": Gap("The values of a collective may not have arrived yet", "x.wait()"),
    "DTensor": Gap(
        "A DTensor is split over processes: writes to its views are lost, and numbers differ by process",
        "x.to_local() for the shard, or x.full_tensor() for the whole array",
    ),
    "MaskedTensor": Gap("A masked tensor has a mask that no standard function respects", "x.to_tensor(value)"),
    "NestedTensor": Gap("A nested tensor has rows of several lengths", "x.to_padded_tensor(0.0)"),
    "SparseSemiStructuredTensor": Gap("2:4 sparse tensors serve products of PyTorch only", "x.to_dense()"),
    "XLAShardedTensor": Gap("An XLAShardedTensor is split over devices", "x.global_tensor"),
}
"""By name, because PyTorch imports few of them."""


def refuse_class(cls: type, /) -> Gap | None:
    """Classes with a ``__torch_dispatch__`` of their own, except the compiler's."""
    dispatch = getattr(cls, "__torch_dispatch__", None)
    if dispatch is getattr(torch.Tensor, "__torch_dispatch__", None) or cls.__module__.startswith(_OF_COMPILERS):
        return None
    known = (_KNOWN[base.__name__] for base in cls.__mro__ if base.__name__ in _KNOWN)
    wrapper = Gap(f"{cls.__name__} has its own __torch_dispatch__", "the tensor that it holds, or x.dequantize()")
    return next(known, wrapper)


def is_lazy(x: Array, /) -> bool:
    """Whether x has no values: while torch.compile or torch.export traces, and for fake and meta tensors."""
    return torch.compiler.is_compiling() or _is_without_values(x)


def _is_without_values(x: Array) -> bool:
    """Whether x is a shape and a dtype alone. Constants in a function that is being traced have values."""
    return x.is_meta or type(x).__module__.startswith(_OF_COMPILERS)
