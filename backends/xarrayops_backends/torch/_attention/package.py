"""The flash-attn package, if installed: FlashAttention 2, 3 (Hopper) and 4 (Hopper and Blackwell).

Unlike PyTorch's build of FlashAttention-2 it has a softcap, and kernels for later GPUs. The first call on CUDA that may
use it imports it. Signatures are those of flash_attn_interface.py, hopper/flash_attn_interface.py and cute/interface.py
of its sources; the signature of a version determines what it returns. Not yet tested on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple

import torch
from torch.compiler import is_compiling

from xarrayops.plugin import Array, Attention, Call
from xarrayops_backends.torch._attention import alignment, conditions, flash

# The module and the function of each version.
MODULES = {"4": "flash_attn.cute", "3": "flash_attn_interface", "2": "flash_attn"}
# Versions by the major compute capability of NVIDIA's GPU, the best one first. The package for AMD's is version 2.
PREFERRED = {8: ("2",), 9: ("3", "4", "2"), 10: ("4", "2")}
# The names of the argument that requests the logsumexp.
LSE = ("return_attn_probs", "return_lse", "return_softmax_lse")
# With fewer queries PyTorch's build splits the keys over the GPU; the package does that only in other functions.
FEW_QUERIES = 16


class Package(NamedTuple):
    """One version of FlashAttention."""

    version: str
    function: Callable[..., Any]
    arguments: frozenset[str]

    @property
    def lse(self) -> str | None:
        """The argument that requests the logsumexp."""
        return next((name for name in LSE if name in self.arguments), None)


@cache
def package(major: int) -> Package | str:
    """The best version for GPUs of that compute capability, or why there is none."""
    reasons = []
    for version in ("2",) if torch.version.hip else PREFERRED.get(major, ()):
        try:
            function = import_module(MODULES[version]).flash_attn_func
        except (ImportError, AttributeError, OSError, RuntimeError) as error:
            # Not installed, or built for another version of PyTorch.
            reasons.append(f"{MODULES[version]}: {error}")
        else:
            return Package(version, function, frozenset(signature(function).parameters))
    return "; ".join(reasons) or f"the flash-attn package does not support GPUs of compute capability {major}"


def refusal(call: Call) -> str | None:
    """Why the package cannot serve the call."""
    (a,) = call.args
    if not a.q.is_cuda:
        return "it serves CUDA"
    if is_compiling():
        return "some versions of it cannot be traced"
    follows = conditions.requires_grad(a)
    reason = flash.halves_refusal(a, 192 if follows else 256) or conditions.refusal(a, has_softcap=True)
    if reason is not None:
        return reason
    if conditions.has_lengths(a):
        return "it does not accept lengths"
    if a.q.shape[2] < FEW_QUERIES:
        return f"PyTorch's own build is faster for fewer than {FEW_QUERIES} queries"
    limits = flash.band(a)
    if isinstance(limits, str):
        return limits
    found = package(conditions.generation(a.q.device))
    if isinstance(found, str):
        return found
    if a.softcap is not None and "softcap" not in found.arguments:
        return "this version has no softcap"
    if a.return_lse and found.lse is None:
        return "this version does not return the logsumexp"
    if (
        found.version == "4"
        and follows
        and (a.softcap is not None or (flash.hides(limits) and not flash.is_causal(limits)))
    ):
        return "FlashAttention-4 lacks gradients of a softcap or a window on some GPUs"
    return None


def attention(a: Attention, /) -> tuple[Array, Array | None]:
    """Attention for calls that `refusal` accepts, without copies of views such as packed projections."""
    a = alignment.all_aligned(a)
    limits, found = flash.band(a), package(conditions.generation(a.q.device))
    assert isinstance(limits, flash.Band)
    assert isinstance(found, Package)
    # The sign for no limit differs between versions.
    (begin, end), without = limits.keys, None if found.version == "4" else -1
    left, right = (without if n < 0 else n for n in flash.windows(limits).values())
    options: dict[str, Any] = {
        "softmax_scale": a.scale,
        "causal": flash.is_causal(limits),
        "window_size": (left, right),
    }
    if a.softcap is not None:
        options["softcap"] = a.softcap
    if a.return_lse and found.lse is not None:
        options[found.lse] = True
    # Views: the package reads strides, so neither the cut nor the transposes copy.
    arrays = a.q, a.k.narrow(2, begin, end - begin), a.v.narrow(2, begin, end - begin)
    result = found.function(*(x.transpose(1, 2) for x in arrays), **options)
    out, *others = result if isinstance(result, tuple) else (result,)
    return out.transpose(1, 2), flash.without_keys(others[0]) if a.return_lse else None


attention.copies = alignment.copies  # type: ignore[attr-defined]
