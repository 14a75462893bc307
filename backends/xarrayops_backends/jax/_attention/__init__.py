"""The attention candidates: cuDNN for the calls that it supports, and attention by blocks in XLA for all others."""

from __future__ import annotations

from xarrayops.plugin import Call
from xarrayops_backends.jax._attention import blocks, cudnn


def _always(call: Call) -> None:
    """Never refuse: attention by blocks serves every call."""


ATTENTION_CANDIDATES = [("cudnn", cudnn.cudnn, cudnn.cudnn_refusal), ("blocked", blocks.blocked, _always)]
