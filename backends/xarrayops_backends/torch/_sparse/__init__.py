"""The sparse part of the PyTorch backend.

The host kernels serve tensors in host memory without gradients. PyTorch's own functions serve all others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Call
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.host import sparse as host
from xarrayops.plugin.sparse import FORMATS as FORMATS, Container, Parts
from xarrayops_backends.torch._sparse import operations, products
from xarrayops_backends.torch._sparse.parts import coalesced, holds as holds, parts as parts, wrap as wrap

INDEX_DTYPES = {"coo": ("int64",)}


def seen(s: Container, /) -> Parts:
    """The parts; a coo tensor of PyTorch that needs a gradient is coalesced, as its duplicates have no gradients."""
    return parts(coalesced(s))


def untraced(function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function, never compiled by torch.compile. Eager calls skip PyTorch's wrapper, which takes 2 microseconds."""
    disabled: Callable[..., Any] = torch.compiler.disable(function)  # type: ignore[no-untyped-call]

    def call(*args: Any, **options: Any) -> Any:
        return (disabled if torch.compiler.is_compiling() else function)(*args, **options)

    return call


def _refusal(verb: str, call: Call) -> str | None:
    """Refuse calls that the host kernels can serve, because they are faster."""
    if host.refusal(backend_by_name("torch").sparse, verb, call) is None:
        return "the host kernels serve it, and are faster"
    return None


def _candidates(function: Callable[..., Any]) -> list[tuple[str, Callable[..., Any], Callable[[Call], str | None]]]:
    return [("torch", partial(_explain_missing_kernels, function), partial(_refusal, function.__name__))]


def _explain_missing_kernels(function: Callable[..., Any], *args: Any) -> Any:
    """Call the function; if PyTorch has no kernel for the dtype, the error says what to do instead."""
    try:
        return function(*args)
    except Unsupported:
        raise
    except NotImplementedError as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise Unsupported(f"PyTorch: {reason}. Instead: another dtype, by xo.astype, or tensors on the CPU") from error


FROM_DENSE_CANDIDATES = _candidates(operations.from_dense)
TO_DENSE_CANDIDATES = _candidates(operations.to_dense)
CONVERT_CANDIDATES = _candidates(operations.convert)
MATMUL_CANDIDATES = _candidates(products.matmul)
TRANSPOSE_CANDIDATES = _candidates(operations.transpose)
ADD_CANDIDATES = _candidates(operations.add)
MULTIPLY_CANDIDATES = _candidates(operations.multiply)
SUM_CANDIDATES = _candidates(operations.sum)
SDDMM_CANDIDATES = _candidates(products.sddmm)
