"""PyTorch/XLA (TPU): PyTorch's backend on XLA devices, and what waiting and moving mean there.

The classes are PyTorch's; the torch backend tells an XLA tensor by its device (`refine`). Upstream is in maintenance,
so there are no kernels of its own here: every function is the torch backend's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
import torch_xla
import torch_xla.core.xla_model as xm

from xarrayops._namespace import implementation, verb_attribute
from xarrayops.plugin import Array, Device, Memory
from xarrayops_backends import torch as _torch


def __getattr__(name: str) -> Any:
    """Whatever is not here is the torch backend's."""
    return getattr(_torch, name)


def versions() -> dict[str, str]:
    """Both distributions, and the runtime's device."""
    return {
        "torch": torch.__version__,
        "torch_xla": torch_xla.__version__,
        "pjrt_device": os.environ.get("PJRT_DEVICE", "unset"),
    }


def devices() -> list[Device]:
    """The XLA devices that this process can address; the kind is tpu on a TPU, else xla."""
    kind = "tpu" if xm.xla_device_hw(torch_xla.device()) == "TPU" else "xla"
    return [Device(kind, f"xla:{i}", torch.device("xla", i), kind) for i in range(len(xm.get_xla_supported_devices()))]


def refine(x: Array, /) -> str | None:
    """Already refined."""
    return None


def as_device(device: Any, /) -> torch.device:
    """The device of a name: "xla", "xla:0" or "tpu"."""
    found = torch.device(str(device).replace("tpu", "xla"))
    if found.type != "xla" or (found.index or 0) >= len(devices()):
        raise ValueError(f"there is {', '.join(d.name for d in devices())}")
    return torch.device("xla", found.index or 0)


def synchronize(*arrays: Array) -> None:
    """Run what was recorded and wait for it."""
    torch_xla.sync()
    xm.wait_device_ops()


def memory(x: Array, /) -> Memory | None:
    """None: XLA shows no addresses."""
    return None


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """PyTorch/XLA's from_dlpack takes the CPU only, and the values would leave the device."""
    return "PyTorch/XLA shares no memory; values go through the CPU"


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy through the CPU."""
    return _torch.from_numpy(a, torch.device("cpu")).to(device or torch_xla.device())


def _on_xla(verb: str) -> Callable[..., Array]:
    """PyTorch's creation function with an XLA device as its default; asarray leaves a tensor where it is."""
    function = implementation(_torch, verb)
    assert function is not None

    @wraps(function)
    def created(*args: Any, device: Any = None, **kwargs: Any) -> Array:
        stays = bool(args) and isinstance(args[0], torch.Tensor)
        return function(*args, device=device if device is not None or stays else torch_xla.device(), **kwargs)

    return created


for _verb in ("arange", "asarray", "empty", "eye", "fft.fftfreq", "fft.rfftfreq", "full", "linspace", "ones", "zeros"):
    globals()[verb_attribute(_verb)] = _on_xla(_verb)
