"""The faults of PyTorch's attention kernels, and the calls that they affect."""

from __future__ import annotations

from xarrayops.plugin import Call, KnownBad, has_band
from xarrayops_backends.torch._attention import conditions


def _has_few_heads_of_keys(call: Call) -> bool:
    """Whether keys have fewer than 8 heads on B200 (compute capability 10.0), the only GPU known to be affected."""
    (a,) = call.args
    return bool(a.k.shape[1] < 8 and conditions.generation(a.q.device) == 10)


def _has_half_a_tile_and_a_mask(call: Call) -> bool:
    (a,) = call.args
    masked = a.mask is not None or a.bias is not None or a.kv_lengths is not None or has_band(a)
    return bool(masked and a.k.shape[2] % 128 == 64 and conditions.requires_grad(a))


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
