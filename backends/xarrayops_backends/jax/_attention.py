"""The kernels of attention: cuDNN's for the plain calls that it serves, and for all others blocks in XLA."""

from __future__ import annotations

from xarrayops.plugin import Call
from xarrayops_backends.jax._attention_blocks import blocked
from xarrayops_backends.jax._attention_cudnn import cudnn, cudnn_refusal


def _always(call: Call) -> None:
    """The blocks serve every call."""


ATTENTION_CANDIDATES = [("cudnn", cudnn, cudnn_refusal), ("blocked", blocked, _always)]
