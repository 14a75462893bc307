"""PyTorch/XLA (TPU): PyTorch's backend on XLA devices, and what waiting and moving mean there.

The classes are PyTorch's; the torch backend tells an XLA tensor by its device (`refine`). Upstream is in maintenance,
so there are no kernels of its own here: every function is the torch backend's, but for those that PyTorch/XLA gets
wrong (_elementwise, _reductions, _linalg, _creation). _guard keeps complex128 out, which loses its imaginary parts.
"""

import array_api_compat.torch

from xarrayops._core.namespace import implementation as _implementation, verb_attribute as _verb_attribute
from xarrayops._protocol.surface import SURFACE as _SURFACE
from xarrayops_backends import torch as _torch
from xarrayops_backends.torch._xla import plain_of as _plain_of
from xarrayops_backends.torch_xla import _creation, _elementwise, _guard, _linalg, _reductions
from xarrayops_backends.torch_xla._devices import (
    __array_namespace_info__ as __array_namespace_info__,
    as_device as as_device,
    as_dtype as as_dtype,
    devices as devices,
    refine as refine,
    synchronize as synchronize,
    versions as versions,
)
from xarrayops_backends.torch_xla._exchange import (
    alias_refusal as alias_refusal,
    export_refusal as export_refusal,
    from_numpy as from_numpy,
    import_refusal as import_refusal,
    memory as memory,
)
from xarrayops_backends.torch_xla._layout import (
    NO_STRIDES as NO_STRIDES,
    as_strided as as_strided,
    contiguous as contiguous,
    pin_memory as pin_memory,
)

NAMESPACE = array_api_compat.torch
ARRAY_TYPES = _torch.ARRAY_TYPES
KNOWN_BAD = _torch.KNOWN_BAD
ENVIRONMENT = ("PJRT_DEVICE", "XLA_FLAGS", "XLA_USE_*", "LIBTPU_INIT_ARGS")
ATTENTION_CANDIDATES = ()
"""None of the torch backend's: the generic twin serves XLA."""


def __getattr__(name: str) -> object:
    """The hooks that are not here are the torch backend's; but PyTorch has no sparse tensors on XLA devices."""
    if name == "SPARSE":
        raise AttributeError(name)
    return _plain_of(getattr(_torch, name))


for _verb in (*_SURFACE, "einsum", "to_device", "update"):
    _name, _plain = _verb_attribute(_verb), _plain_of(_implementation(_torch, _verb))
    _own = [vars(_theme)[_name] for _theme in (_creation, _elementwise, _reductions, _linalg) if _name in vars(_theme)]
    _function = _own[0] if _own else _plain
    if _verb in _guard.EMPTY:
        _function = _guard.empty_on_cpu(_function, _plain)
    globals()[_name] = _guard.guarded(_function)
