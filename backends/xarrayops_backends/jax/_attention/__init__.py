"""The attention candidates: fused kernels for the calls that they support, and blocks in XLA for all others."""

from xarrayops.plugin import Array, Attention, Call, has_band
from xarrayops.plugin.candidates import Refusal, always
from xarrayops_backends.jax._attention.blocks import blocked
from xarrayops_backends.jax._attention.cudnn import cudnn_refusal
from xarrayops_backends.jax._attention.flash import flash_refusal
from xarrayops_backends.jax._attention.ring import keys_are_split, ring, ring_refusal

_REFUSALS = {"cuda": cudnn_refusal, "tpu": flash_refusal}


def fused(a: Attention, /) -> tuple[Array, None]:
    """The kernels that serve the call, each on its platform; elsewhere attention by blocks."""
    from xarrayops_backends.jax._attention.fused_primitives import Form, attended  # they import Pallas: 20 ms

    platforms = tuple(name for name, refusal in _REFUSALS.items() if refusal(Call((a,), {})) is None)
    return attended(a.q, a.k, a.v, Form(a.scale, has_band(a), a.left, platforms)), None


def _of_whole_keys(refusal: Refusal) -> Refusal:
    """The refusal of a kernel, which also refuses split keys: XLA would gather them."""

    def refuse(call: Call) -> str | None:
        return refusal(call) or ("the keys are split over devices" if keys_are_split(call.args[0]) else None)

    return refuse


ATTENTION_CANDIDATES = [
    ("cudnn", fused, _of_whole_keys(cudnn_refusal)),
    ("flash", fused, _of_whole_keys(flash_refusal)),
    ("ring", ring, ring_refusal),
    ("blocked", blocked, always),
]
