"""A warm-up: the first call of each function of MKL's vector library (VML), while no other thread uses it.

MKL 2024.2, which PyTorch bundles, selects the kernel of a function at its first call. If several threads make that call
concurrently, one of them may get a kernel of low accuracy, with an error of hundreds of units in the last place or
more, for its part of the array and for that call only (https://github.com/pytorch/pytorch/issues/188792). PyTorch
computes a single element on one thread.
"""

import torch

_FUNCTIONS = (
    *(torch.acos, torch.asin, torch.atan, torch.cos, torch.erf, torch.erfc, torch.erfinv, torch.exp, torch.log),
    *(torch.log2, torch.log10, torch.sin, torch.sqrt, torch.tan, torch.tanh, torch.trunc),
)
"""The functions that PyTorch computes with VML, from ATen/cpu/vml.h."""


def warm_up_mkl() -> None:
    """Call each function on one element of each of its dtypes: about a millisecond in total."""
    if torch.backends.mkl.is_available():  # type: ignore[no-untyped-call]
        for dtype in (torch.float32, torch.float64):
            one = torch.ones(1, dtype=dtype, device="cpu")
            for function in _FUNCTIONS:
                function(one)
