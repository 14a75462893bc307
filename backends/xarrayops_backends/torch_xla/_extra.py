"""Functions beyond the standard on XLA devices: the torch backend's, except where XLA returns wrong results."""

from __future__ import annotations

from xarrayops.plugin import unsupported
from xarrayops_backends.torch import _extra
from xarrayops_backends.torch_xla._standard.linalg import ON_CPU

SEGMENT_MAX_CANDIDATES = SEGMENT_MIN_CANDIDATES = SEGMENT_SUM_CANDIDATES = ()
"""The generic functions: PyTorch's reduction of no axis, which the torch backend uses, is that of XLA."""
linalg_cond = unsupported("PyTorch/XLA (2.9) computes small singular values in single precision", instead=ON_CPU)
linalg_lstsq = unsupported("PyTorch/XLA (2.9) has no least squares, and no singular vectors of stacks", instead=ON_CPU)


def __getattr__(name: str) -> object:
    return getattr(_extra, name)
