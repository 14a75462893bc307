"""The calls that cuDNN's fused attention serves in JAX: compiled for a GPU, not run on one yet."""

from __future__ import annotations

import re
from typing import Any

import jax.numpy as jnp

from xarrayops.plugin import Attention, Call, has_band, has_one_offset
from xarrayops_backends.jax._devices import _kind, _natives, is_lazy


def cudnn_refusal(call: Call, /) -> str | None:
    """Why cuDNN does not serve a call. For a query without keys it would return a mean instead of zeros."""
    (a,) = call.args
    kinds, capability = _device_kinds(a)
    size = a.q.shape[3]
    if not kinds:
        return "this JAX has no plug-in for CUDA"
    if kinds != {"cuda"} or capability < 8:
        return f"it supports CUDA with compute capability 8.0 or later, not {', '.join(sorted(kinds))}"
    if a.q.dtype not in (jnp.float16, jnp.bfloat16):
        return f"it supports float16 and bfloat16, not {a.q.dtype}"
    if size > 128 or size % 8 or a.v.shape[3] != size:
        return f"it supports equal head sizes, a multiple of 8 up to 128, not {size} and {a.v.shape[3]}"
    if 0 in a.q.shape or 0 in a.k.shape:
        return "it does not support empty arrays"
    for name in ("mask", "bias", "softcap", "q_lengths", "kv_lengths"):
        if getattr(a, name) is not None:
            return f"it does not support {name}"
    if a.return_lse:
        return "JAX rounds its logsumexp to the dtype of the keys"
    if a.scale <= 0:
        return "it multiplies masked scores of -inf by the scale, which must be positive"
    if has_band(a) and not (a.right == 0 and has_one_offset(a) and a.offset == 0):
        return "it supports only a causal band from the top left, with or without a left window"
    if a.left is not None and a.q.shape[2] - a.left > a.k.shape[2]:
        return "some queries see no keys through the window"
    return None


def _device_kinds(a: Attention) -> tuple[set[str], float]:
    """The kinds of the arrays' devices, and their lowest compute capability.

    The device of a tracer is unknown until its program is lowered, which may be for CUDA if JAX has a plug-in for it.
    The devices of this process tell the capability, or else it is that of the oldest GPU that the plug-in supports.
    """
    arrays = (a.q, a.k, a.v)
    if not any(is_lazy(x) for x in arrays):
        held = [d for x in arrays for d in x.devices()]
        return {_kind(d) for d in held}, min(_capability(d) for d in held)
    if not _has_cudnn():
        return set(), 0.0
    return {"cuda"}, min((_capability(d) for d in _natives() if _kind(d) == "cuda"), default=8.0)


def _has_cudnn() -> bool:
    """Whether JAX can lower a program with cuDNN: it has the plug-in for CUDA and cuDNN's library."""
    try:
        from jax._src.cudnn import fused_attention_stablehlo  # private: there is no public question

        return bool(fused_attention_stablehlo.check_cudnn_version())  # type: ignore[no-untyped-call]
    except Exception:
        return False


def _capability(device: Any) -> float:
    """The compute capability of a CUDA device; 0 for other devices (AMD's have names such as "gfx942")."""
    found = re.fullmatch(r"\d+\.\d+", str(getattr(device, "compute_capability", "")))
    return float(found[0]) if found else 0.0
