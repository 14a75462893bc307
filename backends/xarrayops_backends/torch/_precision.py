"""How PyTorch multiplies: its switches for TF32 and for sums of half types, set for one product and then restored.

The switches affect the whole process. They have older names, such as ``allow_tf32`` and
``set_float32_matmul_precision``, with separate values: reading an old name raises while its value differs from the new
one. Only the new names are written here, so the values of the old names do not change.
"""

from __future__ import annotations

import cmath
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock, local
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, constant_while_tracing
from xarrayops.plugin.precision import refuse_forced_tf32
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._library import operator as _operator

_function_modes, _sum = torch._C._len_torch_function_stack, torch.sum
_torch: Any = torch  # untyped: PyTorch does not declare these functions
# What ``torch.backends`` reads and writes. Writing ``torch.backends.mkldnn.fp32_precision`` sets another switch.
_value, _set_value = _torch._C._get_fp32_precision_getter, _torch._C._set_fp32_precision_setter
_CUBLAS = _torch.backends.cuda.matmul
Switch = tuple[str, str]
_ALL: Switch = ("generic", "all")
_OPERATIONS = ("matmul", "conv", "rnn")
# The switch of each operation, and the switches from which it inherits its value while its own is "none".
_CUDA: tuple[tuple[Switch, ...], ...] = tuple((("cuda", name), ("cuda", "all"), _ALL) for name in _OPERATIONS)
_CPU: tuple[tuple[Switch, ...], ...] = tuple((("mkldnn", name), ("mkldnn", "all"), _ALL) for name in _OPERATIONS)
_CONVOLUTION = _CUDA[1:2]
_IEEE = ("none", "ieee")
_SINGLES = (torch.float32, torch.complex64)
_REDUCED = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")
# Held while a switch differs from its value in the program, so that each product has the value that it needs.
_changing = RLock()
_in_block = local()
"""Whether this thread has set the switches for a product."""


def product_precision(products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
    """The switches of the device, without autocast. On the CPU, both kinds of products are IEEE float32."""
    if any(x.layout is not torch.strided for x in arrays):
        raise Unsupported(
            "xo.precision and xo.autocast do not serve sparse tensors. Instead: the call in a block of "
            "xo.autocast(None), or dense arrays"
        )
    kind, plain = arrays[0].device.type, _tracing.unrounded(arrays[0])
    if kind == "cuda":
        refuse_forced_tf32(products)
    elif kind != "cpu":
        return plain
    if torch.compiler.is_compiling():
        if not _is_kept(kind, products):
            raise Unsupported(
                f"compiled code multiplies on {kind} as PyTorch's own switches say when it runs, and not "
                f'as products="{products}". Instead: torch.backends.fp32_precision = "{products}", and False for '
                f"{' and '.join(_REDUCED)} of torch.backends.cuda.matmul, in the program"
            )
        return plain
    if kind == "cuda":
        return _switched(_CUDA, products, plain)
    # While another thread has changed the switch, its value is not the program's.
    with _changing:
        is_kept = _is_kept(kind, products)
    return plain if is_kept else _switched(_CPU, "ieee", plain)


@constant_while_tracing
def _is_kept(kind: str, products: str) -> bool:
    """Whether the switches are such that products on this kind of device are as required."""
    if kind == "cpu":
        return all(_value(*switches[0]) in _IEEE for switches in _CPU)
    is_wide = not any(getattr(_CUBLAS, name) for name in _REDUCED)
    return is_wide and (products == "tf32" or _value(*_CUDA[0][0]) in _IEEE)


def _convolution_precision(x: Array) -> AbstractContextManager[Any]:
    """A context for a convolution of x: IEEE float32, except in a block. By default PyTorch uses TF32 on CUDA."""
    if not x.is_cuda or x.dtype not in _SINGLES or torch.compiler.is_compiling() or getattr(_in_block, "is_set", False):
        return nullcontext()
    return _switched(_CONVOLUTION, "ieee", nullcontext())


@contextmanager
def _switched(
    places: tuple[tuple[Switch, ...], ...], products: str, plain: AbstractContextManager[Any]
) -> Iterator[None]:
    """Enter the context ``plain``, and set the switches of products to the value that they need."""
    # Held until the product is launched: the switches are global, and would affect another thread's product.
    with _changing, plain:
        found = [(switches[0], _own_value(switches)) for switches in places if _value(*switches[0]) != products]
        reduced = [name for name in _REDUCED if places is _CUDA and getattr(_CUBLAS, name)]
        was_set = getattr(_in_block, "is_set", False)
        try:
            _in_block.is_set = True
            for switch, _ in found:
                _set_value(*switch, products)
            for name in reduced:
                setattr(_CUBLAS, name, False)
            yield
        finally:
            _in_block.is_set = was_set
            # The switch's own value, "none" included: a copy of the inherited one would no longer follow the program's
            # changes.
            for switch, own in found:
                _set_value(*switch, own)
            for name in reduced:
                setattr(_CUBLAS, name, True)


def _own_value(switches: tuple[Switch, ...]) -> str:
    """The value that was set for the first switch; "none" if the switch inherits the value that it shows.

    PyTorch shows one value in both cases, so the others have none for a moment. Products of other threads are not less
    precise meanwhile: without a value float32 is IEEE.
    """
    switch, *others = switches
    shown = str(_value(*switch))
    if shown == "none" or not others or _value(*others[0]) != shown:
        return shown
    own = [_own_value(tuple(others[i:])) for i in range(len(others))]
    try:
        for other in others:
            _set_value(*other, "none")
        return str(_value(*switch))
    finally:
        for other, value in zip(others, own, strict=True):
            _set_value(*other, value)


def rounded(x: Array, dtype: Any, /) -> Array:
    """A cast. torch.compile gets an operator: Inductor computes casts of half types in float32, without rounding."""
    return _rounded(x, dtype) if torch.compiler.is_compiling() else x.to(dtype)


def _round(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    # An operator must not return its argument, which `to` does where nothing changes.
    return x.to(dtype, copy=True)


def _keep_dtype(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.dtype = inputs[0].dtype


def _cast_gradient(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    return gradient.to(ctx.dtype), None


def _cast_batch(info: Any, in_dims: tuple[Any, ...], x: torch.Tensor, dtype: torch.dtype) -> tuple[Any, Any]:
    return _rounded(x, dtype), in_dims[0]


_rounded = _operator(
    "rounded(Tensor x, ScalarType dtype) -> Tensor", _round, batched=_cast_batch, gradient=(_cast_gradient, _keep_dtype)
)


def has_overflowed(x: Array, /) -> bool:
    """By their sum, on the CPU. A sum that overflows itself costs a second computation."""
    if not x.is_cpu or not _tracing.has_values(x):
        return False
    if not _function_modes():
        return not cmath.isfinite((_sum(x) if x.ndim else x).item())
    with torch._C.DisableTorchFunction():  # `xo.profile` counts only waits of the program
        return not torch.isfinite(x).all()
