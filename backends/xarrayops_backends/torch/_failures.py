"""Why PyTorch's functions fail on some tensors. Asked only after a call failed."""

from __future__ import annotations

import torch

from xarrayops.plugin import Array, Gap
from xarrayops_backends.torch._subclasses import _is_without_values

_NO_VALUES = ("meta", "fake", "item()", "data-dependent", "local_scalar", "has no data", "no data!", "storage")
"""Parts of the messages, in lower case, of errors whose cause is that the tensor has no values."""
_WIDER = {torch.complex32: "complex64", torch.uint16: "int32", torch.uint32: "int64", torch.uint64: "int64"}
"""Dtypes that few functions have, with a dtype that all have. The others are narrow floating-point dtypes."""
_COMMON = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64}
_COMMON |= {torch.float16, torch.bfloat16, torch.complex64, torch.complex128}
_OF_DTYPES = ("not implemented for", "unsupported dtype", "not support", "types other than", "data type", "dtype")


def failure_cause(x: Array, error: Exception, /) -> Gap | None:
    """Nested, quantized and oneDNN tensors, tensors without values, and dtypes that few functions have."""
    text = str(error).lower()
    if x.is_nested:
        return Gap("a nested tensor has rows of several lengths", "torch.nested.to_padded_tensor(x, 0.0)")
    if x.is_quantized:
        return Gap("functions of numbers do not take quantized tensors", "x.dequantize()")
    if x.layout is torch._mkldnn:  # type: ignore[attr-defined]  # the public name of the layout
        return Gap("functions of dense arrays do not take tensors of oneDNN", "x.to_dense()")
    if _is_without_values(x) and any(part in text for part in _NO_VALUES):
        return Gap("a meta or fake tensor has no values, which this call needs", "the same call of a real tensor")
    is_refusal = isinstance(error, (NotImplementedError, RuntimeError, TypeError))
    if x.dtype not in _COMMON and is_refusal and any(part in text for part in _OF_DTYPES):
        wider = _WIDER.get(x.dtype, "float32")
        return Gap(f"PyTorch's function does not support {x.dtype}", f'xo.astype(x, "{wider}")')
    return None
