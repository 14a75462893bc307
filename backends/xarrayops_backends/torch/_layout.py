"""Layout: the host kernels copy tensors on the CPU, PyTorch those on other devices."""

from __future__ import annotations

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.host import permute, views

_BITS = {1: "u1", 2: "i2", 4: "i4", 8: "i8", 16: "c16"}
"""NumPy dtypes by item size, for the bits of dtypes that NumPy lacks."""


def memory_offset(x: Array, /) -> int:
    """The offset counts from the beginning of the storage."""
    return int(x.storage_offset() * x.itemsize)


def contiguous(x: Array, /) -> Array:
    """PyTorch copies transposed tensors below the memory bandwidth; autograd and torch.compile need its copy."""
    if x.layout is not torch.strided:
        raise Unsupported(f"a tensor of the layout {x.layout} has no strides. Instead: x.to_dense()")
    if x.is_contiguous():
        return x
    if torch.compiler.is_compiling() or not _is_plain(x):
        return x.clone(memory_format=torch.contiguous_format)  # x.contiguous() needs the GPU of a FakeTensor
    strides = tuple(stride * x.itemsize for stride in x.stride())
    # By address: x.numpy() would permanently disable resizing the storage of x.
    source = views.over(x.data_ptr(), tuple(x.shape), strides, f"|V{x.itemsize}", readonly=True, owner=x)
    # NumPy requests huge pages, PyTorch does not: a copy into PyTorch's memory takes three times as long.
    return torch.from_numpy(permute.contiguous(source).view(_BITS[x.itemsize])).view(x.dtype)


def _is_plain(x: Array) -> bool:
    """Whether host memory holds the values of x, and no gradient or transform records operations on them."""
    return (
        x.numel() > permute.SMALL
        and type(x) in (torch.Tensor, torch.nn.Parameter)
        and x.device.type == "cpu"
        and not (x.requires_grad and torch.is_grad_enabled())
        and not (x.is_conj() or x.is_neg())
        and not (x.is_quantized or x._is_zerotensor())
        and not (torch._C._get_tracing_state() or torch.autograd.forward_ad._current_level >= 0)
        and not torch._C._len_torch_dispatch_stack()  # a dispatch mode, which records or fakes calls
        and not torch._C._functorch.is_functorch_wrapped_tensor(x)
    )


def as_strided(x: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, /) -> Array:
    """PyTorch counts the offset from the beginning of the storage."""
    if any(stride < 0 for stride in strides):
        raise Unsupported("PyTorch has no negative strides. Instead: xo.flip, which copies, or xo.convert to NumPy")
    return x.as_strided(shape, strides, x.storage_offset() + offset)


def pin_memory(x: Array, /) -> Array:
    """Page-locked by CUDA's or HIP's driver."""
    if x.device.type != "cpu":
        raise Unsupported(
            f"x is on {x.device}, and only host memory can be pinned. Instead: xo.to_device(x, 'cpu') first"
        )
    if not torch.cuda.is_available():
        raise Unsupported("there is no GPU that can read pinned memory. Instead: use x as it is")
    return x.pin_memory()
