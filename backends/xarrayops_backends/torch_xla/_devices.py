"""Devices, dtypes, versions and synchronisation."""

from __future__ import annotations

import os
from typing import Any

import torch
import torch_xla
import torch_xla.core.xla_model as xm

from xarrayops.plugin import Array, Device
from xarrayops_backends.torch import _devices, _dtypes
from xarrayops_backends.torch_xla._guard import COMPLEX128, guarded as _guarded


def versions() -> dict[str, str]:
    """The versions of PyTorch and PyTorch/XLA, and the device of the PJRT runtime."""
    return {
        "torch": torch.__version__,
        "torch_xla": torch_xla.__version__,
        "pjrt_device": os.environ.get("PJRT_DEVICE", "unset"),
    }


def devices() -> list[Device]:
    """The XLA devices that this process can address. Their kind is "tpu" on a TPU and "xla" otherwise."""
    kind = "tpu" if xm.xla_device_hw(torch_xla.device()) == "TPU" else "xla"
    return [Device(kind, f"xla:{i}", torch.device("xla", i), kind) for i in range(len(xm.get_xla_supported_devices()))]


def refine(x: Array, /) -> str | None:
    """None: an XLA tensor needs no further refinement."""
    return None


def as_device(device: Any, /) -> torch.device:
    """The device with this name, such as "xla", "xla:0" or "tpu"."""
    found = torch.device(str(device).replace("tpu", "xla"))
    if found.type != "xla" or (found.index or 0) >= len(devices()):
        raise ValueError(f"the XLA devices are {', '.join(d.name for d in devices())}")
    return torch.device("xla", found.index or 0)


def as_dtype(name: str, /) -> torch.dtype:
    """The torch dtypes, without complex128."""
    if name == "complex128":
        raise ValueError(str(COMPLEX128))
    return _dtypes.as_dtype(name)


@_guarded
def to_device(x: Array, device: Any, /) -> Array:
    """x on another device; x itself if it is there."""
    return x.to(device)


def synchronize(*arrays: Array) -> None:
    """Run the recorded operations and wait until they are done."""
    torch_xla.sync()
    xm.wait_device_ops()


class _XlaInfo(_devices._Info):
    """The inspection API of the XLA devices."""

    def default_device(self) -> torch.device:
        """The first XLA device."""
        return torch.device("xla", 0)

    def devices(self) -> tuple[torch.device, ...]:
        """The XLA devices."""
        return tuple(each.native for each in devices())

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, torch.dtype]:
        """The standard's dtypes, without complex128."""
        found = super().dtypes(device=self.default_device() if device is None else device, kind=kind)
        return {name: dtype for name, dtype in found.items() if dtype is not torch.complex128}


def __array_namespace_info__() -> _XlaInfo:  # noqa: N807
    """The inspection API, for the devices of this machine."""
    return _XlaInfo()
