"""Devices, versions, and the inspection API of the namespace."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from array_api_compat.torch import isdtype as _isdtype

from xarrayops.errors import available_names
from xarrayops.plugin import Array, Device, constant_while_tracing
from xarrayops.plugin.dtypes import KINDS, STANDARD_DTYPES
from xarrayops_backends.torch._dtypes import _COMPLEX_OF, _DTYPE_OF


def versions() -> dict[str, str]:
    """The versions of PyTorch, and of the CUDA or ROCm that it was built for."""
    found = {"torch": str(torch.__version__), "cuda": torch.version.cuda, "hip": torch.version.hip}
    if torch.version.cuda and torch.backends.cudnn.is_available():  # type: ignore[no-untyped-call]
        found["cudnn"] = str(torch.backends.cudnn.version())  # type: ignore[no-untyped-call]
    return {name: version for name, version in found.items() if version}


def devices() -> list[Device]:
    """The CPU, then the GPUs that PyTorch sees, of kind rocm if it was built on HIP."""
    kind = "rocm" if torch.version.hip else "cuda"
    gpus = [
        Device(kind, f"cuda:{i}", torch.device("cuda", i), torch.cuda.get_device_name(i))
        for i in range(torch.cuda.device_count())
    ]
    return [Device("cpu", "cpu", torch.device("cpu"), "CPU"), *gpus]


def device_attributes(device: torch.device, /) -> dict[str, int | str]:
    """The attributes of a GPU. Clock rates are in kHz; some builds lack attributes."""
    if device.type != "cuda":
        return {}
    known = torch.cuda.get_device_properties(device)
    found: dict[str, int | str] = {
        "capability": known.gcnArchName if torch.version.hip else f"{known.major}.{known.minor}",
        "multiprocessors": known.multi_processor_count,
        "clock_hz": getattr(known, "clock_rate", 0) * 1000,
        "memory_bytes": known.total_memory,
        "memory_clock_hz": getattr(known, "memory_clock_rate", 0) * 1000,
        "memory_bus_bits": getattr(known, "memory_bus_width", 0),
        "cache_bytes": getattr(known, "L2_cache_size", 0),
    }
    return {name: value for name, value in found.items() if value}


def as_device(device: Any, /) -> torch.device:
    """An existing device with its index: for PyTorch "cuda" and "cuda:0" are not equal."""
    try:
        native = torch.device(device)
        if native.type == "cuda":
            exists = (native.index or 0) < torch.cuda.device_count()
            native = torch.device("cuda", torch.cuda.current_device()) if exists and native.index is None else native
        elif native.type == "cpu":
            return torch.device("cpu")
        else:
            exists = torch.empty(0, device=native).device.type == native.type
    except (RuntimeError, TypeError, AssertionError, NotImplementedError, ImportError):
        exists = False
    if not exists:
        names = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        raise ValueError(available_names(device, names))
    return native


def to_device(x: Array, device: Any, /) -> Array:
    """x on another device; x itself if it is there."""
    return x.to(device)


def synchronize(*arrays: Array) -> None:
    """Wait only for the GPUs that hold the arrays, so that no other CUDA context is created.

    A compiled function does not wait.
    """
    for native in () if torch.compiler.is_compiling() else {x.device for x in arrays if x.is_cuda}:
        torch.cuda.synchronize(native)


class _Info:
    """The inspection API. In array-api-compat it allocates on every device to find it, and always reports cpu."""

    def capabilities(self) -> dict[str, Any]:
        """In eager mode shapes may depend on data; PyTorch allows 64 dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> torch.device:
        """The current default device of creation functions."""
        native = torch.get_default_device()
        return torch.device("cuda", 0) if native == torch.device("cuda") else native

    def devices(self) -> tuple[torch.device, ...]:
        """The existing devices."""
        found = [each.native for each in devices()]
        default = self.default_device()
        return (*found,) if default in found else (*found, default)

    def default_dtypes(self, *, device: Any = None) -> dict[str, torch.dtype]:
        """The dtypes that creation functions choose, the same on every device."""
        real = torch.get_default_dtype()
        return {
            "real floating": real,
            "complex floating": _COMPLEX_OF[real],
            "integral": torch.int64,
            "indexing": torch.int64,
        }

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, torch.dtype]:
        """The standard's dtypes that a device can hold (Apple's has no float64)."""
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        unknown = [each for each in kinds if each not in KINDS]
        if unknown:
            raise ValueError(f"unknown kind of dtypes: {unknown[0]!r}; there are {', '.join(KINDS)}")
        found = {name: _DTYPE_OF[name] for name in STANDARD_DTYPES}
        return {name: dtype for name, dtype in found.items() if _isdtype(dtype, tuple(kinds)) and _holds(device, dtype)}


@constant_while_tracing
def _holds(device: Any, dtype: torch.dtype) -> bool:
    """Whether a device can hold a dtype."""
    native = torch.get_default_device() if device is None else torch.device(device)
    if native.type in ("cpu", "cuda"):
        return True
    try:
        torch.empty(0, dtype=dtype, device=native)
    except (RuntimeError, TypeError):
        return False
    return True


def __array_namespace_info__() -> _Info:  # noqa: N807
    """The inspection API, for the devices of this machine."""
    return _Info()


def free_bytes(device: torch.device, /) -> int | None:
    """The free memory that the driver reports, plus the unused memory that the allocator keeps."""
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def release_memory(device: torch.device, /) -> None:
    """Free the unused memory that the allocator keeps; without a CUDA context there is none."""
    if device.type == "cuda" and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()


def peak_bytes(device: torch.device, call: Callable[[], Any], /) -> int | None:
    """The peak of the allocator's bytes in use."""
    if device.type != "cuda":
        return None
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    call()
    return int(torch.cuda.max_memory_allocated(device) - before)


def precision_switches() -> dict[str, str]:
    """The switches of matrix products on CUDA and of cuDNN: TF32, and reduced-precision sums.

    This reads the newer names, because ``allow_tf32`` raises once any code has used them.
    """
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    known = {
        "float32_matmul_precision": torch.get_float32_matmul_precision,
        "cuda.matmul.fp32_precision": lambda: matmul.fp32_precision,
        "cuda.matmul.allow_fp16_reduced_precision_reduction": lambda: matmul.allow_fp16_reduced_precision_reduction,
        "cuda.matmul.allow_bf16_reduced_precision_reduction": lambda: matmul.allow_bf16_reduced_precision_reduction,
        "cudnn.conv.fp32_precision": lambda: cudnn.conv.fp32_precision,  # type: ignore[attr-defined]
    }
    return {name: str(asked) for name, ask in known.items() if (asked := _asked(ask)) is not None}


def _asked(ask: Callable[[], Any]) -> Any:
    """The value of a switch; None if this version of PyTorch lacks the name, or raises."""
    with warnings.catch_warnings():  # PyTorch 2.9 warns about reads of the older names
        warnings.simplefilter("ignore")
        try:
            return ask()
        except (AttributeError, RuntimeError):
            return None
