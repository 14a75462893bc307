"""The attention candidates: cuDNN for the calls that it supports, and attention by blocks in XLA for all others."""

from xarrayops.plugin.candidates import always
from xarrayops_backends.jax._attention import blocks, cudnn

ATTENTION_CANDIDATES = [("cudnn", cudnn.cudnn, cudnn.cudnn_refusal), ("blocked", blocks.blocked, always)]
