"""The candidates of attention, best first: the fused kernels, then blocks of queries, which serve all calls."""

from __future__ import annotations

from xarrayops.plugin import Array, Attention, Call, KnownBad, has_band
from xarrayops_backends.torch._attention import alignment, blocks, cpu, cuda, export, flash, flex, modes, package
from xarrayops_backends.torch._attention.failures import or_next


def _flash_refusal(call: Call) -> str | None:
    q = call.args[0].q
    if q.is_cpu:
        return cpu.refusal(call)
    return flash.flash_refusal(call) if q.is_cuda else f"it serves the CPU and CUDA, not {q.device.type}"


def _flash(a: Attention, /) -> tuple[Array, Array | None]:
    return cpu.attention(a) if a.q.is_cpu else flash.flash(a)


def _flash_copies(call: Call) -> tuple[str, ...]:
    return () if call.args[0].q.is_cpu else alignment.copies(call)


_flash.copies = _flash_copies  # type: ignore[attr-defined]


def _always(call: Call) -> None:
    """None: the blocks serve every call."""


ATTENTION_CANDIDATES = [
    ("sdpa", export.attention, export.refusal),
    ("sdpa-cudnn", or_next(cuda.cudnn), cuda.cudnn_refusal),
    ("flash-attn", or_next(package.attention), package.refusal),
    ("sdpa-flash", or_next(_flash), _flash_refusal),
    ("sdpa-efficient", or_next(cuda.efficient), cuda.efficient_refusal),
    ("flex", or_next(flex.attention), flex.refusal),
    ("blocked", blocks.attention, _always),
]


def _has_few_heads_of_keys(call: Call) -> bool:
    """Whether keys have fewer than 8 heads on B200 (compute capability 10.0), the only GPU known to be affected."""
    (a,) = call.args
    return bool(a.k.shape[1] < 8 and modes.generation(a.q.device) == 10)


def _has_half_a_tile_and_a_mask(call: Call) -> bool:
    (a,) = call.args
    masked = a.mask is not None or a.bias is not None or a.kv_lengths is not None or has_band(a)
    return bool(masked and a.k.shape[2] % 128 == 64 and modes.requires_grad(a))


KNOWN_BAD = (
    KnownBad(
        "torch",
        ">=2.9",
        "cuda",
        "cuDNN's attention gives wrong values on B200 if keys have fewer than 8 heads",
        "https://github.com/pytorch/pytorch/issues/193893",
        kernel="sdpa-cudnn",
        when=_has_few_heads_of_keys,
    ),
    KnownBad(
        "torch",
        ">=2.11",
        "cuda",
        "cuDNN's attention with a mask gives NaN gradients if Lk % 128 == 64",
        "https://github.com/pytorch/pytorch/issues/196678",
        kernel="sdpa-cudnn",
        when=_has_half_a_tile_and_a_mask,
    ),
)
