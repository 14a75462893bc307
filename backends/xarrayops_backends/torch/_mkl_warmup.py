"""The first call of each function of MKL's vector library (VML), made while nothing else runs.

MKL 2024.2, which PyTorch brings, chooses the kernel of a function at its first call. Where several threads make that
call at once, one of them may get a kernel of low accuracy, off by hundreds of units in the last place or more, for its
part of the array and for that call alone (https://github.com/pytorch/pytorch/issues/188792). One element is calculated
by one thread.
"""

import torch

_FUNCTIONS = (
    *(torch.acos, torch.asin, torch.atan, torch.cos, torch.erf, torch.erfc, torch.erfinv, torch.exp, torch.log),
    *(torch.log2, torch.log10, torch.sin, torch.sqrt, torch.tan, torch.tanh, torch.trunc),
)
"""Those that PyTorch hands to VML, as ATen/cpu/vml.h lists them."""


def warm_up_mkl() -> None:
    """Call each of them on one element of each of its dtypes: about a millisecond in all."""
    if torch.backends.mkl.is_available():  # type: ignore[no-untyped-call]
        for dtype in (torch.float32, torch.float64):
            one = torch.ones(1, dtype=dtype, device="cpu")
            for function in _FUNCTIONS:
                function(one)
