"""PyTorch/XLA (TPU): the torch backend on XLA devices, with its own synchronisation and device transfers.

The array class is PyTorch's; the torch backend recognises an XLA tensor by its device (`refine`). PyTorch/XLA is in
maintenance mode, so this backend has no kernels: every function is the torch backend's, except functions with wrong
results in PyTorch/XLA, which are in _standard/. _guard refuses complex128, because PyTorch/XLA loses its imaginary
parts.
"""
# The backend's functions are the public functions of the files that are imported with a star.
# ruff: noqa: F401, F403

from collections.abc import Callable
from typing import Any

import array_api_compat.torch

from xarrayops.plugin import EXTRA as _FUNCTIONS, unsupported
from xarrayops_backends import torch as _torch
from xarrayops_backends.torch_xla import _guard, _precision
from xarrayops_backends.torch_xla._compilation import *
from xarrayops_backends.torch_xla._devices import *
from xarrayops_backends.torch_xla._devices import __array_namespace_info__
from xarrayops_backends.torch_xla._exchange import *
from xarrayops_backends.torch_xla._layout import *
from xarrayops_backends.torch_xla._precision import *
from xarrayops_backends.torch_xla._random import *
from xarrayops_backends.torch_xla._standard.corrections import *
from xarrayops_backends.torch_xla._standard.corrections import _TYPED
from xarrayops_backends.torch_xla._standard.creation import *
from xarrayops_backends.torch_xla._standard.creation import _PLACED
from xarrayops_backends.torch_xla._standard.linalg import *

NAMESPACE = array_api_compat.torch
ARRAY_TYPES = _torch.ARRAY_TYPES
KNOWN_BAD = _torch.KNOWN_BAD
ENVIRONMENT = ("PJRT_DEVICE", "XLA_FLAGS", "XLA_USE_*", "LIBTPU_INIT_ARGS")
FLUSHES_SUBNORMALS = True
HOOK_MODULES = {"failure_cause": _torch.HOOK_MODULES["failure_cause"]}
"""Without the torch backend's kernels for attention, which the generic function replaces, and its exporters."""
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
    if verb in _precision.MULTIPLYING:
        function = _precision._in_single(verb, function)
    if verb in _FUNCTIONS or verb == "searchsorted":
        function = _guard.with_correct_operators(function)
    return _guard.guarded(_guard.empty_on_cpu(verb, function) if verb in _guard.EMPTY else function)
