"""PyTorch/XLA (TPU): the torch backend on XLA devices, with its own synchronisation and device transfers.

The array class is PyTorch's; the torch backend recognises an XLA tensor by its device (`refine`). PyTorch/XLA is in
maintenance mode, so this backend has no kernels: every function is the torch backend's, except functions with wrong
results in PyTorch/XLA, which are in _standard/. _guard refuses complex128, because PyTorch/XLA loses its imaginary
parts.
"""
# ruff: noqa: F401 - the names are the backend's functions

from collections.abc import Callable
from typing import Any

import array_api_compat.torch

from xarrayops.plugin import EXTRA as _FUNCTIONS, unsupported
from xarrayops_backends import torch as _torch
from xarrayops_backends.torch_xla import _guard
from xarrayops_backends.torch_xla._compilation import compiled
from xarrayops_backends.torch_xla._devices import (
    __array_namespace_info__,
    as_device,
    as_dtype,
    devices,
    refine,
    synchronize,
    to_device,
    versions,
)
from xarrayops_backends.torch_xla._exchange import alias_refusal, export_refusal, from_numpy, import_refusal
from xarrayops_backends.torch_xla._layout import NO_STRIDES, as_strided, contiguous, pin_memory
from xarrayops_backends.torch_xla._precision import product_precision, rounded
from xarrayops_backends.torch_xla._random import (
    native_draw,
    native_generator,
    random_draw,
    random_keys,
    random_permutation,
)
from xarrayops_backends.torch_xla._standard.corrections import (
    _TYPED,
    abs,
    bitwise_right_shift,
    ceil,
    count_nonzero,
    divide,
    floor,
    floor_divide,
    isinf,
    isnan,
    log2,
    log10,
    max,
    maximum,
    mean,
    min,
    minimum,
    multiply,
    opaque,
    remainder,
    round,
    square,
    trunc,
)
from xarrayops_backends.torch_xla._standard.creation import _PLACED, full
from xarrayops_backends.torch_xla._standard.linalg import (
    linalg_eigh,
    linalg_inv,
    linalg_matrix_norm,
    linalg_matrix_rank,
    linalg_outer,
    linalg_pinv,
    linalg_slogdet,
    linalg_svd,
    linalg_svdvals,
    linalg_vector_norm,
    vecdot,
)

NAMESPACE = array_api_compat.torch
ARRAY_TYPES = _torch.ARRAY_TYPES
KNOWN_BAD = _torch.KNOWN_BAD
ENVIRONMENT = ("PJRT_DEVICE", "XLA_FLAGS", "XLA_USE_*", "LIBTPU_INIT_ARGS")
ATTENTION_CANDIDATES = ()
"""Without the candidates of the torch backend: the generic implementation serves XLA."""
checkpoint = unsupported(
    "torch.utils.checkpoint does not support XLA devices",
    instead="the function itself, whose intermediate values are then stored",
)
native_kernel = unsupported("XLA owns the memory of its tensors", instead="serve another library")
MATMUL_INT32_CANDIDATES = RANDOM_DRAW_CANDIDATES = ()
EXTRA = "xarrayops_backends.torch_xla._extra"


def exporters() -> tuple[()]:
    """None: functions of XLA tensors are exported as functions of tensors on the CPU."""
    return ()


def __getattr__(name: str) -> object:
    """Take every other name from the torch backend, except SPARSE: there are no sparse tensors on XLA devices."""
    if name == "SPARSE":
        raise AttributeError(name)
    return getattr(_torch, name)


def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """Refuse complex128 in arguments and results, cast operands, and compute some empty arrays on the CPU."""
    for corrected in (_PLACED, _TYPED):
        function = corrected[verb](function) if verb in corrected else function
    if verb in _FUNCTIONS:
        function = _guard.with_correct_operators(function)
    return _guard.guarded(_guard.empty_on_cpu(verb, function) if verb in _guard.EMPTY else function)
