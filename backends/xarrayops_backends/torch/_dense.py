"""Functions of dense arrays that PyTorch also computes for sparse tensors, which have the class of dense ones.

Its answers differ: `torch.ones_like` of a csr tensor has ones at the stored entries only. As in every library, these
functions refuse sparse tensors. Those of two operands do so in `_standard.elementwise`. PyTorch itself refuses them in
all others. Tests try every function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from torch import Tensor

from xarrayops.plugin import Array
from xarrayops_backends.torch._dtypes import _STRIDED, _refuse_sparse

_UNARY = frozenset(
    (
        *("abs", "asin", "asinh", "atan", "atanh", "ceil", "conj", "expm1", "floor", "imag", "isinf", "isnan"),
        *("log1p", "matrix_transpose", "negative", "positive", "real", "round", "sign", "signbit", "sin", "sinh"),
        *("sqrt", "square", "tan", "tanh", "trunc"),
    )
)
_OF_ONE = frozenset(
    (
        *("asarray", "astype", "clip", "empty_like", "full_like", "linalg.matrix_power", "nan_to_num"),
        *("ones_like", "pad", "unique", "unstack", "zeros_like"),
    )
)
_OF_SEVERAL = frozenset(("array_equal", "compress", "concat", "einsum", "isin", "polyval", "stack", "vecdot"))


def refusing_sparse(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function; if PyTorch computes it for sparse tensors, too, a function that refuses them."""
    if verb in _UNARY:
        return _of_one(verb, function)
    if verb in _OF_ONE:
        return _of_first(verb, function)
    return _of_several(verb, function) if verb in _OF_SEVERAL else function


def _of_one(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def checked(x: Array, /) -> Array:
        if x.layout is not _STRIDED:
            _refuse_sparse(verb, x)
        return function(x)

    return checked


def _of_first(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def checked(x: Any, /, *args: Any, **options: Any) -> Any:
        if isinstance(x, Tensor) and x.layout is not _STRIDED:
            _refuse_sparse(verb, x)
        return function(x, *args, **options)

    return checked


def _of_several(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for given in args:
            for x in given if isinstance(given, (list, tuple)) else (given,):
                if isinstance(x, Tensor) and x.layout is not _STRIDED:
                    _refuse_sparse(verb, x)
        return function(*args, **options)

    return checked
