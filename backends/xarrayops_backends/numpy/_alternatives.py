"""Kernels that measured choice may use: NumPy's loops in several threads, and our kernels in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import host
from xarrayops_backends.numpy import _standard
from xarrayops_backends.numpy._attention import ATTENTION_CANDIDATES
from xarrayops_backends.numpy._convolution import CONVOLUTION_CANDIDATES

_UFUNCS = (
    *("abs", "add", "atan2", "cos", "divide", "exp", "expm1", "hypot", "log", "log10", "log1p", "log2", "logaddexp"),
    *("maximum", "minimum", "multiply", "sin", "sqrt", "square", "subtract", "tan", "tanh"),
)
_NAMES = {"abs": "absolute", "atan2": "arctan2"}
_ALONG: dict[str, tuple[Callable[..., Any], int]] = {
    "sort": (_standard.sort, -1),
    "argsort": (_standard.argsort, -1),
    "fft.fft": (np.fft.fft, -1),
}
KERNELS = {
    **{verb: [host.parts.of_elements(getattr(np, _NAMES.get(verb, verb)))] for verb in _UFUNCS},
    **{verb: [host.parts.of_rows(*given)] for verb, given in _ALONG.items()},
    "attention": [host.parts.in_one_thread(*kernel[1:]) for kernel in ATTENTION_CANDIDATES],
    "convolution": [host.parts.in_one_thread(*kernel[1:]) for kernel in CONVOLUTION_CANDIDATES],
}
