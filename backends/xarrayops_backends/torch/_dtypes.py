"""Data types: names, limits and promotion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from itertools import combinations_with_replacement
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils._pytree import register_constant

from xarrayops.errors import Unsupported, available_names
from xarrayops.plugin import Array
from xarrayops.plugin.backends import DTypeName
from xarrayops.plugin.dtypes import COMPLEX_OF, DTYPE_NAMES, FLOATING_DTYPES, INTEGER_LIMITS, REAL_OF
from xarrayops.plugin.precision import DOUBLE
from xarrayops_backends.torch._standard.wide import WIDE, _cast

register_constant(DTypeName)  # Dynamo of PyTorch 2.9 compares dtypes with names correctly only if they are constants

_DTYPE_OF = {name: getattr(torch, name) for name in DTYPE_NAMES}
_NAME_OF = {dtype: name for name, dtype in _DTYPE_OF.items()}
_LIMITS = {_DTYPE_OF[name]: limits for name, limits in INTEGER_LIMITS.items()}
_UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
_SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)
_WIDE_PROMOTION = {
    **{(a, b): max(a, b, key=_UNSIGNED.index) for a in _UNSIGNED for b in _UNSIGNED},
    **{
        pair: _SIGNED[max(_UNSIGNED.index(a) + 1, _SIGNED.index(b))]
        for a in (torch.uint16, torch.uint32)
        for b in _SIGNED
        for pair in ((a, b), (b, a))
    },
}
"""PyTorch does not promote its wide unsigned integers (pytorch#58734)."""
_COMPLEX_OF = {_DTYPE_OF[real]: _DTYPE_OF[name] for real, name in COMPLEX_OF.items()}
"""A table: Dynamo does not trace dtype.to_complex, which also maps float16 to a half complex with few kernels."""
_REAL_OF = {_DTYPE_OF[name]: _DTYPE_OF[real] for name, real in REAL_OF.items()}
_DOUBLE_OF = {_DTYPE_OF[name]: _DTYPE_OF[double] for name, double in DOUBLE.items()}
_SCALARS = (bool, int, float, complex)
_STRIDED = torch.strided
_SPARSE_LAYOUTS = frozenset((torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc))


def _refuse_sparse(verb: str, *arrays: Array) -> None:
    """Raise for a sparse tensor. A nested tensor has another layout."""
    if any(x.layout in _SPARSE_LAYOUTS for x in arrays):
        instead = f"xo.{verb} of the dense array xo.sparse.to_dense(x)"
        raise Unsupported(f"xo.{verb}: an argument is a sparse Tensor. Instead: {instead}")


def as_dtype(name: str, /) -> torch.dtype:
    """The torch dtype of a standard name."""
    try:
        return _DTYPE_OF[name]
    except (KeyError, TypeError):
        by_kind = dict.fromkeys(("bool", *INTEGER_LIMITS, *FLOATING_DTYPES, *REAL_OF, *DTYPE_NAMES))
        raise ValueError(available_names(name, by_kind)) from None


def dtype_name(dtype: Any, /) -> str | None:
    """The standard's name of a torch dtype."""
    return _NAME_OF.get(dtype)


def default_floating_dtype() -> torch.dtype:
    """The dtype that PyTorch uses for Python floats."""
    return torch.get_default_dtype()


_replaced_defaults: list[torch.dtype] = []
"""PyTorch's default dtype before the first call of `set_default_dtype`."""


def set_default_dtype(name: str | None, /) -> None:
    """Set the dtype of tensors made of Python floats, and of quotients of integer tensors."""
    if name is not None:
        _replaced_defaults.append(torch.get_default_dtype())
        torch.set_default_dtype(_DTYPE_OF[name])
    elif _replaced_defaults:
        torch.set_default_dtype(_replaced_defaults[0])
        _replaced_defaults.clear()


def _promote_by_rule(a: torch.dtype, b: torch.dtype) -> torch.dtype:
    """PyTorch's promotion, completed for wide unsigned integers, and for floating dtypes where PyTorch refuses."""
    if a is b or b is torch.bool:
        return a
    if a is torch.bool:
        return b
    if (a, b) in _WIDE_PROMOTION:
        return _WIDE_PROMOTION[a, b]
    inexact = [dtype for dtype in (a, b) if dtype.is_floating_point or dtype.is_complex]
    if len(inexact) == 1:  # PyTorch refuses it with wide unsigned integers
        return inexact[0]
    try:
        return torch.promote_types(a, b)
    except RuntimeError:
        names = " and ".join(str(dtype).removeprefix("torch.") for dtype in (a, b))
        raise Unsupported(f'PyTorch does not promote {names}. Instead: xo.astype(x, "float64") of both') from None


def _promoted() -> Iterator[tuple[tuple[torch.dtype, torch.dtype], torch.dtype]]:
    for a, b in combinations_with_replacement(_NAME_OF, 2):
        with suppress(Unsupported):
            promoted = _promote_by_rule(a, b)
            yield from (((a, b), promoted), ((b, a), promoted))


_PROMOTED = dict(_promoted())


def _promote(a: torch.dtype, b: torch.dtype) -> torch.dtype:
    """The promoted dtype of two dtypes, independent of the ranks of the arrays."""
    return _PROMOTED.get((a, b)) or _promote_by_rule(a, b)


def _with_scalar(dtype: torch.dtype, scalar: complex) -> torch.dtype:
    """The dtype of an array of that dtype combined with a Python scalar."""
    if isinstance(scalar, bool) or dtype.is_complex:
        return dtype
    if isinstance(scalar, int):
        return torch.int64 if dtype is torch.bool else dtype
    default = torch.get_default_dtype()
    if isinstance(scalar, float):
        return dtype if dtype.is_floating_point else default
    return _COMPLEX_OF[dtype if dtype.is_floating_point else default]


def result_type(*arrays_and_dtypes: Any) -> torch.dtype:
    """Promotion by dtype only: PyTorch's function depends on ranks, and rejects dtypes and wide unsigned integers."""
    if len(arrays_and_dtypes) <= 2 and arrays_and_dtypes:  # in half of the time
        a, b = arrays_and_dtypes[0], arrays_and_dtypes[-1]
        dtype = _PROMOTED.get((getattr(a, "dtype", a), getattr(b, "dtype", b)))
        if dtype is not None:
            return dtype
    scalars, dtypes = [], []
    for each in arrays_and_dtypes:
        if isinstance(each, _SCALARS):
            scalars.append(each)
        else:
            dtypes.append(getattr(each, "dtype", each))
    if not dtypes:
        raise TypeError("result_type needs at least one array or dtype")
    if not isinstance(dtypes[0], torch.dtype):
        raise TypeError(f"result_type takes arrays, dtypes and numbers; the first argument is {dtypes[0]!r}")
    return reduce(_with_scalar, scalars, reduce(_promote, dtypes))


def can_cast(from_: Any, to: torch.dtype, /) -> bool:
    """Follows the promotion rules: torch.can_cast allows every cast within a kind, such as int64 to int8."""
    dtype = getattr(from_, "dtype", from_)
    try:
        return _promote(dtype, to) is to
    except RuntimeError:
        return False


class _Limits(SimpleNamespace):  # no dataclass: making two of them takes a millisecond of each import
    """torch.finfo or torch.iinfo with the dtype itself; PyTorch gives its name."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} is read-only")


def finfo(type: Any, /) -> _Limits:
    """The limits, with the dtype itself; arrays are accepted too."""
    dtype = getattr(type, "dtype", type)
    return _FLOAT_LIMITS.get(dtype) or _float_limits(dtype)


def _float_limits(dtype: torch.dtype) -> _Limits:
    real = _REAL_OF.get(dtype, dtype)
    info = torch.finfo(real)
    names = ("bits", "eps", "max", "min", "smallest_normal", "tiny", "resolution")
    return _Limits(**{name: getattr(info, name) for name in names}, dtype=real)


def iinfo(type: Any, /) -> _Limits:
    """The limits, with the dtype itself; arrays are accepted too."""
    dtype = getattr(type, "dtype", type)
    return _INTEGER_LIMITS.get(dtype) or _integer_limits(dtype)


def _integer_limits(dtype: torch.dtype) -> _Limits:
    info = torch.iinfo(dtype)
    return _Limits(bits=info.bits, max=info.max, min=info.min, dtype=dtype)


_INTEGER_LIMITS = {dtype: _integer_limits(dtype) for dtype in _LIMITS}
_FLOAT_LIMITS = {dtype: _float_limits(dtype) for dtype in _NAME_OF if dtype.is_floating_point or dtype.is_complex}


def _accumulator(dtype: torch.dtype, asked: torch.dtype | None) -> tuple[torch.dtype, torch.dtype]:
    """The dtype of the computation and the dtype of the result of a sum or product."""
    if asked is None:
        unsigned = dtype in _UNSIGNED
        asked = torch.uint64 if unsigned else dtype if dtype.is_floating_point or dtype.is_complex else torch.int64
    return (torch.int64 if asked in WIDE else asked), asked


def _tensor(value: Any, dtype: torch.dtype, like: Array) -> Array:
    """A Python scalar as a 0-d array on the device of `like`; arrays are cast."""
    if isinstance(value, torch.Tensor):
        return value if value.dtype is dtype else _cast(value, dtype)
    return torch.full((), value, dtype=dtype, device=like.device)


def _can_hold(dtype: torch.dtype, number: int) -> bool:
    """Whether an integer dtype can hold a Python integer; the other dtypes hold any."""
    low, high = _LIMITS.get(dtype, (number, number))
    return low <= number <= high


def _pair(x1: Any, x2: Any) -> tuple[Array, Array]:
    """Two operands, one of which may be a Python scalar, as arrays of their promoted dtype."""
    dtype = result_type(x1, x2)
    return _tensor(x1, dtype, x2), _tensor(x2, dtype, x1)


def astype(x: Array, dtype: torch.dtype, /, *, copy: bool = True, device: Any = None) -> Array:
    """A cast that does not silently drop imaginary parts, as the standard advises."""
    if x.is_complex() and not dtype.is_complex and dtype is not torch.bool:
        raise Unsupported(f"{x.dtype} to {dtype} would drop the imaginary part. Instead: xo.real(x) first")
    if copy is False and device is None and dtype is x.dtype:
        return x
    return _cast(x, dtype, device=x.device if device is None else device, copy=copy)
