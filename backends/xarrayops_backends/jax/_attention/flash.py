"""The calls that JAX's fused attention for TPUs serves: compiled for a TPU, not run on one yet."""

from __future__ import annotations

from importlib.util import find_spec

import jax.numpy as jnp

from xarrayops.plugin import Call, has_band, has_one_offset
from xarrayops_backends.jax._devices import _platform_of

_BLOCK = 128
"""The least number of queries and of keys in a block, which divides their numbers."""


def flash_refusal(call: Call, /) -> str | None:
    """Why the kernel does not serve a call."""
    (a,) = call.args
    platform, size = _platform_of(a.q, a.k, a.v), a.q.shape[3]
    if platform not in (None, "tpu"):
        return f"it supports TPUs, not {platform}"
    if platform is None and find_spec("libtpu") is None:
        return "this JAX has no plug-in for TPUs"
    if a.q.dtype not in (jnp.bfloat16, jnp.float32):
        return f"it supports bfloat16 and float32, not {a.q.dtype}"
    if size not in (64, 128, 256) or a.v.shape[3] != size:
        return f"it supports equal head sizes of 64, 128 or 256, not {size} and {a.v.shape[3]}"
    for name, x in (("queries", a.q), ("keys", a.k)):
        if not x.size or x.shape[2] % _BLOCK:
            return f"the number of {name} must be a multiple of {_BLOCK}, not {x.shape[2]}"
    for name in ("mask", "bias", "softcap", "q_lengths", "kv_lengths", "left"):
        if getattr(a, name) is not None:
            return f"it does not support {name}"
    if a.return_lse:
        return "it does not return the logsumexp"
    if has_band(a) and not (a.right == 0 and has_one_offset(a) and a.offset == 0):
        return "it supports only a causal band from the top left"
    return None
