"""PyTorch/XLA (TPU): PyTorch's backend on XLA devices, and what waiting and moving mean there.

The classes are PyTorch's; the torch backend recognises an XLA tensor by its device (`refine`). Upstream is in
maintenance, so there are no kernels of its own here: every function is the torch backend's, but for those that
PyTorch/XLA gets wrong (_elementwise, _statistics, _linalg, _creation). _guard keeps complex128 out, which loses its
imaginary parts.
"""
# ruff: noqa: F401 - the names are the backend's functions

from collections.abc import Callable
from typing import Any

import array_api_compat.torch

from xarrayops_backends import torch as _torch
from xarrayops_backends.torch_xla import _guard
from xarrayops_backends.torch_xla._creation import (
    arange,
    asarray,
    empty,
    eye,
    fft_fftfreq,
    fft_rfftfreq,
    full,
    linspace,
    ones,
    zeros,
)
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
from xarrayops_backends.torch_xla._elementwise import (
    abs,
    add,
    atan2,
    bitwise_and,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    copysign,
    divide,
    equal,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    isinf,
    isnan,
    less,
    less_equal,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    nextafter,
    not_equal,
    pow,
    remainder,
    round,
    square,
    subtract,
    trunc,
)
from xarrayops_backends.torch_xla._exchange import (
    alias_refusal,
    export_refusal,
    from_numpy,
    import_refusal,
    memory,
)
from xarrayops_backends.torch_xla._layout import (
    NO_STRIDES,
    as_strided,
    contiguous,
    pin_memory,
)
from xarrayops_backends.torch_xla._linalg import (
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
from xarrayops_backends.torch_xla._statistics import (
    count_nonzero,
    max,
    mean,
    min,
)

NAMESPACE = array_api_compat.torch
ARRAY_TYPES = _torch.ARRAY_TYPES
KNOWN_BAD = _torch.KNOWN_BAD
ENVIRONMENT = ("PJRT_DEVICE", "XLA_FLAGS", "XLA_USE_*", "LIBTPU_INIT_ARGS")
ATTENTION_CANDIDATES = ()
"""None of the torch backend's: the generic twin serves XLA."""


def __getattr__(name: str) -> object:
    """What is not here is the torch backend's; but PyTorch has no sparse tensors on XLA devices."""
    if name == "SPARSE":
        raise AttributeError(name)
    return getattr(_torch, name)


def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """No function takes or gives complex128, and arrays without elements go where XLA does not fail on them."""
    return _guard.guarded(_guard.empty_on_cpu(verb, function) if verb in _guard.EMPTY else function)
