"""The hooks of both stand-in libraries (mutable and immutable), modelled on the PyTorch, CuPy and JAX backends."""

from __future__ import annotations

import weakref
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import numpy as np
from two_devices import ALIGNMENT, DEVICES, copied

from xarrayops.errors import available_names
from xarrayops.plugin import Attention, Device, Memory, Queue, has_band
from xarrayops.plugin.dtypes import STANDARD_DTYPES, dtype_refusal

_KINDS = {"cpu": "cpu", "gpu:0": "gpu", "gpu:1": "gpu"}


def hooks(library: ModuleType) -> dict[str, Any]:
    """The names that the backend of a stand-in library defines."""
    asked: list[Any] = []
    running: dict[str, list[Any]] = {device: [] for device in DEVICES}
    capturing: set[str] = set()

    def versions() -> dict[str, str]:
        return {library.__name__: library.__version__}

    def devices() -> list[Device]:
        asked.append(None)
        return [Device(_KINDS[name], name, name) for name in DEVICES]

    def as_device(device: Any, /) -> str:
        if device not in DEVICES:
            raise ValueError(available_names(device, DEVICES))
        return device

    def memory(x: Any, /) -> Memory | None:
        return Memory(
            dtype=x.dtype.name,
            shape=x.shape,
            strides=x.values.strides,
            itemsize=x.dtype.itemsize,
            pointer=x.values.ctypes.data,
            device=_KINDS[x.device],
            index=int(x.device[-1]) if x.device != "cpu" else 0,
            readonly=x.device == "cpu" and not x.values.flags.writeable,
            immutable=library.immutable,
        )

    def as_dtype(name: str, /) -> Any:
        if name not in STANDARD_DTYPES:
            raise ValueError(available_names(name, STANDARD_DTYPES))
        return np.dtype(name)

    def import_refusal(dtype: str, /) -> str | None:
        return dtype_refusal(library.__name__, as_dtype, dtype)

    def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
        if memory.device not in _KINDS.values():
            return f"{library.__name__} cannot see memory of device {memory.device}"
        if (
            import_refusal(memory.dtype) is not None
            or memory.readonly
            or any(s % memory.itemsize for s in memory.strides)
        ):
            return "memory that cannot be aliased"
        if library.immutable:
            if not memory.is_compact:
                return "strides that are not compact"
            return None if memory.is_aligned(ALIGNMENT) else f"not {ALIGNMENT}-byte aligned"
        if any(stride < 0 for stride in memory.strides):
            return "negative strides"
        if memory.immutable and not forced:
            return "memory that its library treats as immutable"
        return None

    def alias(x: Any, memory: Memory, host: Any, /) -> Any:
        return library.Array(host(), "cpu", x) if memory.device == "cpu" else library.from_dlpack(x)

    def exporting(x: Any, /) -> Any:
        return nullcontext() if x.device == "cpu" else library.on(x.device)

    def packed(x: Any, /) -> Any:
        return library.Array(copied(x.values, x.device, x.device), x.device)

    def to_numpy(x: Any, /) -> Any:
        return x.values if x.device == "cpu" else copied(x.values, x.device, "cpu")

    def from_numpy(a: Any, device: Any, /) -> Any:
        device = device or library.current[-1]
        a = a.astype(a.dtype.newbyteorder("="), copy=False)
        return library.Array(copied(a, "cpu", device), device)

    def queue(x: Any, /) -> Queue | None:
        """A job is running until a test removes it from `running`."""
        return None if x.device == "cpu" else queues[x.device]

    def queue_of(device: str) -> Queue:
        def mark() -> Any:
            pending = list(running[device])
            return lambda: not any(job in running[device] for job in pending)

        return Queue(None, lambda: device in capturing, mark)

    def tie(x: Any, owner: object, /) -> Any:
        weakref.finalize(x, lambda kept: None, owner)
        return x

    def attention(a: Attention, /) -> tuple[Any, Any]:
        q, k, v = (x.values for x in (a.q, a.k, a.v))
        scores = a.scale * (q @ np.swapaxes(np.repeat(k, q.shape[1] // k.shape[1], axis=1), 2, 3))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out = weights / weights.sum(axis=-1, keepdims=True) @ np.repeat(v, q.shape[1] // v.shape[1], axis=1)
        return library.Array(out, a.q.device), None

    def refusal(call: Any, /) -> str | None:
        a = call.args[0]
        plain = a.mask is a.bias is a.softcap is a.q_lengths is a.kv_lengths is None and not has_band(a)
        return None if plain and not a.return_lse else "it supports plain attention only"

    queues = {device: queue_of(device) for device in DEVICES}
    defined = dict(locals())
    names = "versions devices as_device memory as_dtype import_refusal alias_refusal alias exporting packed to_numpy"
    return {
        **{name: defined[name] for name in f"{names} from_numpy queue tie asked running capturing".split()},
        "NAMESPACE": library,
        "ARRAY_TYPES": (library.Array,),
        "IMMUTABLE": library.immutable,
        "ATTENTION_CANDIDATES": [("simple", attention, refusal)],
    }
