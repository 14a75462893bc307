"""The flash-attn package, where it is installed: FlashAttention 2, 3 (Hopper) and 4 (Hopper and Blackwell).

It has what PyTorch's build of FlashAttention-2 lacks: a softcap, and the kernels of later GPUs. It is imported when a
call on CUDA first asks for it. Signatures are those of flash_attn_interface.py, hopper/flash_attn_interface.py and
cute/interface.py of its sources; what a version returns is read from its signature. No GPU has run this file yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple

from torch.compiler import is_compiling

from xarrayops.plugin import Array, Attention, Call
from xarrayops_backends.torch import (
    _attention_alignment as alignment,
    _attention_flash as flash,
    _attention_modes as modes,
)

MODULES = {"4": "flash_attn.cute", "3": "flash_attn_interface", "2": "flash_attn"}
"""Where each version is found."""
PREFERRED = {8: ("2",), 9: ("3", "4", "2"), 10: ("4", "2")}
"""Versions by the generation of the GPU, the best one first."""
LSE = ("return_attn_probs", "return_lse", "return_softmax_lse")
"""The names of the argument that asks for the logsumexp."""
FEW_QUERIES = 16
"""For fewer, PyTorch's own build splits the keys over the GPU, which here is a matter of other functions."""


class Package(NamedTuple):
    """One version of FlashAttention."""

    version: str
    function: Callable[..., Any]
    arguments: frozenset[str]

    @property
    def lse(self) -> str | None:
        """The argument that asks for the logsumexp."""
        return next((name for name in LSE if name in self.arguments), None)


@cache
def package(major: int) -> Package | str:
    """The best version for GPUs of that generation, or why there is none."""
    reasons = []
    for version in PREFERRED.get(major, ()):
        try:
            function = import_module(MODULES[version]).flash_attn_func
        except (
            ImportError,
            AttributeError,
            OSError,
            RuntimeError,
        ) as error:  # not installed, or built for another torch
            reasons.append(f"{MODULES[version]}: {error}")
        else:
            return Package(version, function, frozenset(signature(function).parameters))
    return "; ".join(reasons) or f"the flash-attn package serves no GPUs of compute capability {major}"


def refusal(call: Call) -> str | None:
    """Why the package cannot serve the call."""
    (a,) = call.args
    if not a.q.is_cuda:
        return "it serves CUDA"
    if is_compiling():
        return "not every version of it can be traced"
    follows = modes.requires_grad(a)
    reason = flash.halves_refusal(a, 192 if follows else 256) or modes.refusal(a, has_softcap=True)
    if reason is not None:
        return reason
    if modes.has_lengths(a):
        return "it takes no lengths"
    if a.q.shape[2] < FEW_QUERIES:
        return f"PyTorch's own build is better for fewer than {FEW_QUERIES} queries"
    limits = flash.band(a)
    if isinstance(limits, str):
        return limits
    found = package(modes.generation(a.q.device))
    if isinstance(found, str):
        return found
    if a.softcap is not None and "softcap" not in found.arguments:
        return "this version has no softcap"
    if a.return_lse and found.lse is None:
        return "this version gives no logsumexp"
    if (
        found.version == "4"
        and follows
        and (a.softcap is not None or (flash.hides(limits) and not flash.is_causal(limits)))
    ):
        return "FlashAttention-4 has no gradients of a softcap or a window everywhere"
    return None


def attention(a: Attention, /) -> tuple[Array, Array | None]:
    """Serve what `refusal` lets pass: views go in as they are, packed projections too."""
    a = alignment.all_aligned(a)
    limits, found = flash.band(a), package(modes.generation(a.q.device))
    assert isinstance(limits, flash.Band)
    assert isinstance(found, Package)
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
    arrays = a.q, a.k.narrow(2, begin, end - begin), a.v.narrow(2, begin, end - begin)
    result = found.function(*(x.transpose(1, 2) for x in arrays), **options)
    out, *others = result if isinstance(result, tuple) else (result,)
    return out.transpose(1, 2), flash.without_keys(others[0]) if a.return_lse else None


attention.copies = alignment.copies  # type: ignore[attr-defined]
