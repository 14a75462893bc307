"""The attention candidates: fused kernels for the calls that they support, and blocks in XLA for all others."""

from xarrayops.plugin import Array, Attention, Call, has_band
from xarrayops.plugin.candidates import always
from xarrayops_backends.jax._attention.blocks import blocked
from xarrayops_backends.jax._attention.cudnn import cudnn_refusal
from xarrayops_backends.jax._attention.flash import flash_refusal

_REFUSALS = {"cuda": cudnn_refusal, "tpu": flash_refusal}


def fused(a: Attention, /) -> tuple[Array, None]:
    """The kernels that serve the call, each on its platform; elsewhere attention by blocks."""
    from xarrayops_backends.jax._attention.fused_primitives import Form, attended  # they import Pallas: 20 ms

    platforms = tuple(name for name, refusal in _REFUSALS.items() if refusal(Call((a,), {})) is None)
    return attended(a.q, a.k, a.v, Form(a.scale, has_band(a), a.left, platforms)), None


ATTENTION_CANDIDATES = [
    ("cudnn", fused, cudnn_refusal),
    ("flash", fused, flash_refusal),
    ("blocked", blocked, always),
]
