"""Exchange: the memory of tensors, and the memory that PyTorch can wrap."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch.autograd import forward_ad

from xarrayops.errors import ExchangeError
from xarrayops.plugin import Array, Memory, Queue
from xarrayops.plugin.dtypes import dtype_refusal
from xarrayops.plugin.host import views
from xarrayops_backends.torch._dtypes import as_dtype, dtype_name
from xarrayops_backends.torch._subclasses import _is_without_values

_from_dlpack: Any = torch.from_dlpack  # type: ignore[attr-defined]  # public, but not exported for type checkers
_torch: Any = torch  # untyped: PyTorch does not declare these functions
_BITS = {torch.bfloat16: torch.int16, torch.float8_e4m3fn: torch.uint8, torch.float8_e5m2: torch.uint8}
"""The NumPy dtype for the bits of a dtype that NumPy lacks."""


def _is_exported(dtype: torch.dtype) -> bool:
    try:
        torch.empty(0, dtype=dtype).__dlpack__()
    except (BufferError, RuntimeError):
        return False
    return True


_NOT_EXPORTED = frozenset(dtype for dtype in _BITS if not _is_exported(dtype))
"""Float8 in older versions (pytorch#150691)."""


def memory(x: Array, /) -> Memory | None:
    """The storage of a dense tensor; the values of a conjugated or negated view differ from its memory."""
    if x.is_nested and x.layout is torch.strided:
        raise ExchangeError("a nested tensor has rows of several lengths. Instead: convert x.to_padded_tensor(0.0)")
    if x.layout is not torch.strided or x.device.type not in ("cpu", "cuda") or x.is_conj() or x.is_neg():
        return None
    if type(x) is not torch.Tensor and _is_without_values(x):
        return None
    try:
        pointer = x.data_ptr()
    except RuntimeError:  # tensors inside torch.func have no memory
        return None
    kind = "rocm" if x.device.type == "cuda" and torch.version.hip else x.device.type
    return Memory(
        dtype=dtype_name(x.dtype) or str(x.dtype),
        shape=tuple(x.shape),
        strides=tuple(stride * x.itemsize for stride in x.stride()),
        itemsize=x.itemsize,
        pointer=pointer,
        device=kind,
        index=x.device.index or 0,
        exported=x.dtype not in _NOT_EXPORTED,
    )


def _has_tangent(x: Array) -> bool:
    """Whether x carries a forward-mode tangent."""
    if getattr(forward_ad, "_current_level", 0) < 0:  # unpack_dual reads it too, and takes several times as long
        return False
    return forward_ad.unpack_dual(x).tangent is not None  # type: ignore[no-untyped-call]


def export_refusal(x: Array, /) -> str | None:
    """Refuse tensors with a gradient, which cannot flow into another library, and tensors without values."""
    if _is_without_values(x):
        return "x has no values: it is a meta or fake tensor. Instead: convert the real tensor"
    if x.requires_grad:
        return "x requires a gradient, which another library cannot record. Instead: convert x.detach()"
    if _has_tangent(x):
        return "x carries a tangent, which another library cannot propagate. Instead: convert x.detach()"
    if x.layout is not torch.strided:
        return f"x has the layout {x.layout}. Instead: convert x.to_dense()"
    return None


def import_refusal(dtype: str, /) -> str | None:
    """PyTorch has no dtypes for extended precision, strings or dates."""
    return dtype_refusal("PyTorch", as_dtype, dtype)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """PyTorch has no read-only tensors, no negative strides and no strides that split an item."""
    if memory.device != "cpu" and not memory.exported:
        return f"memory of {memory.device} that its library does not export by DLPack in a form that PyTorch accepts"
    if import_refusal(memory.dtype) is not None:
        return f"memory of {memory.dtype}, a byte order that PyTorch lacks"
    if memory.readonly:
        return "read-only memory, which PyTorch would make writable"
    if memory.immutable and not forced:
        return "memory that its library assumes immutable, which PyTorch would make writable"
    if any(stride < 0 for stride in memory.strides):
        return "negative strides, which PyTorch lacks (pytorch#188023)"
    if not memory.is_aligned(memory.itemsize) or (memory.nbytes and any(s % memory.itemsize for s in memory.strides)):
        return "memory that is not aligned to its items"
    ours = "rocm" if torch.version.hip else "cuda"
    if memory.device != "cpu" and not (memory.device == ours and torch.cuda.is_available()):
        return f"PyTorch cannot see memory of device {memory.device}"
    return None


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """PyTorch aborts the process on a negative stride (pytorch#188023), and makes read-only memory writable."""
    flags = getattr(x, "flags", None)
    backward = any(stride < 0 for stride in getattr(x, "strides", None) or ())
    if not backward and getattr(flags, "writeable", True):
        return _from_dlpack(x, device=device, copy=copy)
    if copy is False:
        raise BufferError("PyTorch has neither read-only memory nor negative strides. Instead: copy=None")
    return _from_dlpack(x.copy(), device=device)


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """By DLPack; for dtypes that NumPy does not export, through the owner's view of the bits."""
    dtype = as_dtype(memory.dtype)
    if dtype not in _BITS or memory.device != "cpu":
        return _from_dlpack(x)
    with warnings.catch_warnings():  # with copy=False, memory that its library assumes immutable
        warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
        return torch.from_numpy(host().view(str(_BITS[dtype]).removeprefix("torch."))).view(dtype)


def exporting(x: Array, /) -> AbstractContextManager[Any]:
    """PyTorch exports only tensors of the current device."""
    return torch.cuda.device(x.device) if x.is_cuda else nullcontext()


def packed(x: Array, /) -> Array:
    """A copy, with conjugation and negation resolved."""
    return torch.empty_like(x, memory_format=torch.contiguous_format, requires_grad=False).copy_(x.detach())


def queue(x: Array, /) -> Queue | None:
    """The current stream of a GPU."""
    return _queue(x.device, torch.cuda.current_stream(x.device).cuda_stream) if x.is_cuda else None


@cache
def _queue(device: torch.device, pointer: int) -> Queue:
    def capturing() -> bool:
        with torch.cuda.device(device):
            return torch.cuda.is_current_stream_capturing()

    def mark() -> Callable[[], bool]:
        return _stream(device, pointer).record_event().query

    return Queue(pointer, capturing, mark)


def _stream(device: torch.device, pointer: int) -> Any:
    """The stream at an address; the default one is at 0."""
    made: Any = torch.cuda.ExternalStream
    return made(pointer, device) if pointer else torch.cuda.default_stream(device)


def outlive(x: Array, stream: int, /) -> bool:
    """record_stream: PyTorch's allocator waits for that stream before it reuses memory that is its own."""
    if not _torch._C._has_Standard_Deleter(x.untyped_storage()._cdata):
        return False
    x.record_stream(_stream(x.device, stream))
    return True


def tie(x: Array, owner: object, /) -> Array:
    """A weak reference to the storage, which all views of x and tensors saved by autograd share."""
    weakref.finalize(x.untyped_storage(), _nothing, owner).atexit = False
    return x


def _nothing(owner: object) -> None:
    """The caller releases its reference to x."""


def try_as_numpy(x: Array, /) -> Any:
    """PyTorch's own view of a detached tensor, because the storage of x may be replaced; or PyTorch's error."""
    if not x.is_cpu or x.requires_grad or _has_tangent(x):
        return None
    try:
        return x.detach().numpy()
    except (TypeError, RuntimeError):
        return None


def try_from_numpy(a: Any, /) -> Array | None:
    """PyTorch's own view; it raises on strides, byte orders and dtypes that PyTorch lacks.

    Not for complex items, which NumPy aligns to half of the item size and PyTorch to the item size.
    """
    if not a.flags.behaved or a.dtype.kind == "c":
        return None
    try:
        return torch.from_numpy(a)
    except (TypeError, ValueError):
        return None


def to_numpy(x: Array, /) -> Any:
    """A view of host memory; a copy of device memory and of conjugated or negated views."""
    host = x.detach().resolve_conj().resolve_neg().cpu()
    if host.dtype not in _BITS:
        return host.numpy()
    import ml_dtypes

    return host.view(_BITS[host.dtype]).numpy().view(getattr(ml_dtypes, dtype_name(host.dtype) or ""))


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy in C order and native byte order; a move to another device does not make a second copy."""
    import numpy as np

    device = torch.get_default_device() if device is None else device
    stays = device.type == "cpu"
    # NumPy keeps the negative stride of an axis with one element, which PyTorch refuses.
    copies = stays or min(a.strides, default=0) < 0
    a = np.array(a, dtype=a.dtype.newbyteorder("="), order="C", copy=True if copies else None)
    a = a.view(a.dtype.name)  # NumPy's unsigned long long is uint64 too, and PyTorch supports only one of them
    dtype = as_dtype(a.dtype.name)
    bits = _BITS.get(dtype)
    if not a.flags.writeable:  # read only, but PyTorch warns
        a = views.over(a.ctypes.data, a.shape, a.strides, f"|V{a.itemsize}", readonly=False, owner=a).view(a.dtype)
    host = torch.from_numpy(a if bits is None else a.view(str(bits).removeprefix("torch.")))
    return _sent(host if bits is None else host.view(dtype), device)


def _sent(x: Array, device: Any) -> Array:
    """x on a device. No mode sees the move: copies from NumPy do not count as transfers."""
    with torch._C.DisableTorchFunction():
        return x.to(device)


size = torch.Tensor.numel


def form(x: Array, /) -> Hashable | None:
    """Shape, strides, dtype and device of a strided tensor that requires no gradient."""
    return None if x.requires_grad else (x.shape, x.stride(), x.dtype, x.device)
